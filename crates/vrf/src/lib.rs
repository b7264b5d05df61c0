//! Elliptic-curve verifiable random functions (RFC 9381 and the deployed drafts).
