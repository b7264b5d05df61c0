//! Random oracles: SHA-256 with a domain for each use.
//!
//! [`Oracle`] hashes a sequence of byte strings, each with its length before it, so that no two
//! sequences have one encoding. [`Prf`] serves the inner loops: its domain and salt fill SHA-256's
//! first block, which is hashed once, and each call costs one compression.

use k256::elliptic_curve::ff::FromUniformBytes;
use k256::elliptic_curve::ops::Reduce;
use k256::{FieldBytes, Scalar};
use sha2::{Digest, Sha256};

/// A hash of a sequence of byte strings in one domain.
pub(crate) struct Oracle(Sha256);

impl Oracle {
    /// Begins a hash in the domain `tag`.
    pub(crate) fn new(tag: &'static str) -> Self {
        Self(Sha256::new_with_prefix(domain(tag)))
    }

    /// Adds one byte string.
    pub(crate) fn absorb(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Returns the hash.
    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// Returns the hash as a scalar, uniform up to 2⁻²⁵⁶: 512 bits are reduced.
    pub(crate) fn scalar(self) -> Scalar {
        let prf = Prf::new("scalar", &self.finish());
        let mut wide = [0; 64];
        wide[..32].copy_from_slice(&prf.block(&[0]));
        wide[32..].copy_from_slice(&prf.block(&[1]));
        Scalar::from_uniform_bytes(&wide)
    }
}

/// A pseudorandom function with a 32-byte salt, secret or not, for short inputs.
#[derive(Clone)]
pub(crate) struct Prf(Sha256);

impl Prf {
    /// Makes the function of the domain `tag` and of `salt`.
    pub(crate) fn new(tag: &'static str, salt: &[u8; 32]) -> Self {
        let mut hash = Sha256::new();
        hash.update(domain(tag));
        hash.update(salt);
        Self(hash)
    }

    /// Evaluates it; the inputs of one domain have one length, up to 55 bytes for full speed.
    pub(crate) fn block(&self, input: &[u8]) -> [u8; 32] {
        let mut hash = self.0.clone();
        hash.update(input);
        hash.finalize().into()
    }
}

/// Reads 32 uniform bytes as a scalar, uniform up to 2⁻¹²⁸, as the group order is that close to 2²⁵⁶.
pub(crate) fn scalar_of(bytes: [u8; 32]) -> Scalar {
    Scalar::reduce(&FieldBytes::from(bytes))
}

fn domain(tag: &'static str) -> [u8; 32] {
    Sha256::new_with_prefix(b"tetralith-tss-v1/").chain_update(tag).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_do_not_run_together() {
        let one = Oracle::new("t").absorb(b"ab").absorb(b"c").finish();
        assert_ne!(one, Oracle::new("t").absorb(b"a").absorb(b"bc").finish());
        assert_ne!(one, Oracle::new("t").absorb(b"abc").finish());
        assert_ne!(one, Oracle::new("u").absorb(b"ab").absorb(b"c").finish());
        assert_ne!(Prf::new("t", &[0; 32]).block(b"x"), Prf::new("t", &[1; 32]).block(b"x"));
    }
}
