//! DKLs23: threshold ECDSA in three rounds from oblivious transfer.
//!
//! Doerner, Kondi, Lee and shelat, "Threshold ECDSA in Three Rounds", ePrint 2023/765. One file is
//! one building block of the paper: [`keygen`] and [`sign`] are its protocols; `dkg` its
//! distributed key generation, `zero_share` the sampling of zero, `multiplication` the random
//! vector OLE, `ot_extension` and `base_ot` what that is made of. How each section of the paper
//! is met is written in `docs/tss-protocol.md`.

pub(crate) mod base_ot;
pub(crate) mod commit;
pub(crate) mod dkg;
pub mod keygen;
pub(crate) mod many;
pub(crate) mod multiplication;
pub(crate) mod ot_extension;
pub(crate) mod pair;
pub(crate) mod proof;
pub mod refresh;
pub mod refute;
pub mod reshare;
pub mod sign;
pub(crate) mod zero_share;
