//! Deterministic nonces for scalars of 256 bits: RFC 6979 with HMAC-SHA-256.
//!
//! RFC 6979 §3.2

use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

/// HMAC-SHA-256 with a key of 32 bytes. RFC 2104 §2
fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let pad = |byte: u8| -> Zeroizing<[u8; 64]> {
        Zeroizing::new(core::array::from_fn(|i| byte ^ if i < 32 { key[i] } else { 0 }))
    };
    let mut inner = Sha256::new();
    inner.update(*pad(0x36));
    for part in parts {
        inner.update(part);
    }
    let mut outer = Sha256::new();
    outer.update(*pad(0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

/// Makes candidates from a secret `x` and a reduced message hash `h1`, both big-endian, until
/// `accept` takes one.
///
/// # Security
/// Constant time but for the number of candidates, which says nothing of the one taken.
pub(crate) fn rfc6979<S: Zeroize>(
    x: &[u8; 32],
    h1: &[u8; 32],
    accept: impl Fn(&[u8; 32]) -> Option<S>,
) -> Zeroizing<S> {
    let mut v = Zeroizing::new([1u8; 32]);
    let mut key = Zeroizing::new([0u8; 32]);
    for round in [0, 1] {
        *key = hmac(&key, &[&*v, &[round], x, h1]);
        *v = hmac(&key, &[&*v]);
    }
    loop {
        *v = hmac(&key, &[&*v]);
        if let Some(k) = accept(&v) {
            return Zeroizing::new(k);
        }
        *key = hmac(&key, &[&*v, &[0]]);
        *v = hmac(&key, &[&*v]);
    }
}
