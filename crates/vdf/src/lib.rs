//! Verifiable delay: sequential squaring, Wesolowski and Pietrzak proofs, time-lock encryption.
