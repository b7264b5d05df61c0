//! Inputs that nobody chose: a seed hashed to an element.
//!
//! Outputs of raw inputs multiply: y(18) = y(2)·y(3)², so a few outputs give those of every product of
//! their inputs without a squaring. Hashing takes that away, because nobody knows a product that the
//! hash of a seed is. N and T are part of the hash, so that no work is shared between delays either.

use super::{Modulus, Residue};
use sha2::{Digest, Sha256};

const DOMAIN: &[u8] = b"tetralith vdf seed v1";
const STREAM: &[u8] = b"tetralith vdf seed stream v1";

/// Bits of hash output beyond those of N: the result differs from a uniform one by less than 2^-128.
const EXCESS: u64 = 128;

impl Modulus {
    /// Hashes a seed to the input of a delay of T squarings: a number of at most (N − 1)/2.
    ///
    /// Different seeds, moduli and T give unrelated inputs. The hash is specified in
    /// `docs/vdf-proof.md`, section "The input".
    ///
    /// ```
    /// let modulus = tetralith_vdf::Modulus::rsa2048();
    /// let x = modulus.hash_to_element(1 << 20, b"a public seed");
    /// assert_ne!(x, modulus.hash_to_element(1 << 21, b"a public seed"));
    /// ```
    #[must_use]
    pub fn hash_to_element(&self, iterations: u64, seed: &[u8]) -> Residue {
        let mut hash = Sha256::new();
        for message in [DOMAIN, &self.to_bytes(), &iterations.to_be_bytes(), seed] {
            hash.update((message.len() as u64).to_be_bytes());
            hash.update(message);
        }
        let digest = hash.finalize();
        let block = |i: u64| {
            let hash = Sha256::new_with_prefix(STREAM).chain_update(digest);
            hash.chain_update(i.to_be_bytes()).finalize()
        };
        let blocks = (self.bits() + EXCESS).div_ceil(256);
        let stream: Vec<u8> = (0..blocks).flat_map(block).collect();
        let (number, _) = self.reduce(&stream);
        number.element(self).residue().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_inputs_are_no_inputs() {
        use crate::eval::eval;
        use std::ops::ControlFlow;
        let modulus = Modulus::parse("cfa92a1c6559dd55bb75027437309ad3").unwrap();
        let t = 20;
        let output =
            |x: &Residue| eval(&modulus, x, t, &mut |_| ControlFlow::Continue(())).unwrap();
        let ring = modulus.ring();
        let times =
            |a: &Residue, b: &Residue| modulus.residue(ring.mul(&ring.enter(a.limbs()), b.limbs()));
        let raw = |x: u8| modulus.reduce(&[x]).0;
        // The attack on raw inputs: y(18) = y(2)·y(3)².
        let three = output(&raw(3));
        let forged = times(&output(&raw(2)), &times(&three, &three));
        assert_eq!(forged, output(&raw(18)));
        // The same product of hashed inputs is no hashed input.
        let hashed = |seed: u8| modulus.hash_to_element(t, &[seed]);
        let three = output(&hashed(3));
        let forged = times(&output(&hashed(2)), &times(&three, &three));
        assert_ne!(forged.element(&modulus), output(&hashed(18)).element(&modulus));
    }

    #[test]
    fn inputs_are_spread_over_the_whole_range() {
        let modulus = Modulus::rsa2048();
        // At most (N - 1)/2, and with as many bits as N has but a few.
        let bits = (0..64u8).map(|seed| {
            let x = modulus.hash_to_element(1, &[seed]);
            assert_eq!(x.element(&modulus).residue(), &x);
            crate::nat::bit_len(x.limbs())
        });
        assert!(bits.max() == Some(2047));
    }
}
