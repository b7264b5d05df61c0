//! Four lanes of AVX2.

mod canonical;
mod field;
pub(super) mod words;

super::points::secp256k1_points!(#[target_feature(enable = "avx2")]);
