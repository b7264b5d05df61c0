//! Eight lanes of AVX-512 IFMA.

pub(crate) mod field;

super::points::secp256k1_points!(#[target_feature(enable = "avx512f,avx512ifma")]);
