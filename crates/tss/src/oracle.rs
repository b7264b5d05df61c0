//! Random oracles: SHA-256 with a domain for each use.
//!
//! [`Oracle`] hashes a sequence of byte strings, each with its length before it, so that no two
//! sequences have one encoding. [`Prf`] serves the inner loops: its domain and salt fill SHA-256's
//! first block, which is hashed once, and each call costs one compression.

use k256::elliptic_curve::ff::FromUniformBytes;
use k256::elliptic_curve::ops::Reduce;
use k256::{FieldBytes, Scalar};
use sha2::block_api::compress256;
use sha2::{Digest, Sha256};
use tetralith_kernels::sha256x16;
use zeroize::Zeroizing;

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

/// A pseudorandom function with a 32-byte salt, secret or not, for inputs of up to 55 bytes.
///
/// It is SHA-256 of domain, salt and input, computed on the block directly: the buffering of the
/// general hash costs as much as half a compression.
pub(crate) struct Prf(Zeroizing<[u32; 8]>);

impl Prf {
    /// Makes the function of the domain `tag` and of `salt`.
    pub(crate) fn new(tag: &'static str, salt: &[u8; 32]) -> Self {
        let mut block = Zeroizing::new([0; 64]);
        block[..32].copy_from_slice(&domain(tag));
        block[32..].copy_from_slice(salt);
        let mut state = Zeroizing::new(IV);
        compress256(&mut state, core::slice::from_ref(&block));
        Self(state)
    }

    /// Evaluates it; the inputs of one domain have one length.
    pub(crate) fn block<const N: usize>(&self, input: &[u8; N]) -> [u8; 32] {
        const { assert!(N <= 55, "an input fits one block") };
        self.hash(input)
    }

    /// Evaluates it on at most 55 bytes.
    #[inline]
    fn hash(&self, input: &[u8]) -> [u8; 32] {
        let len = input.len();
        let mut block = Zeroizing::new([0; 64]);
        block[..len].copy_from_slice(input);
        block[len] = 0x80;
        block[56..].copy_from_slice(&(8 * (64 + len as u64)).to_be_bytes());
        let mut state = *self.0;
        compress256(&mut state, core::slice::from_ref(&block));
        let mut out = [0; 32];
        for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        out
    }
}

/// Inputs that [`Prf::block_16`] takes together.
pub(crate) const LANES: usize = 16;

impl Prf {
    /// Evaluates it on sixteen inputs of 4·W bytes each: word w of input l, big-endian, is
    /// `inputs[w][l]`.
    pub(crate) fn block_16<const W: usize>(
        &self,
        inputs: &[[u32; LANES]; W],
    ) -> Zeroizing<[[u8; 32]; LANES]> {
        const { assert!(4 * W <= 55, "an input fits one block") };
        let mut out = Zeroizing::new([[0; 32]; LANES]);
        let mut blocks = Zeroizing::new([[0; LANES]; 16]);
        blocks[..W].copy_from_slice(inputs);
        blocks[W] = [1 << 31; LANES];
        blocks[15] = [8 * (64 + 4 * W as u32); LANES];
        let words = Zeroizing::new(sha256x16::compress_16(&self.0, &blocks));
        for (w, row) in words.iter().enumerate() {
            for (bytes, word) in out.iter_mut().zip(row) {
                bytes[4 * w..4 * w + 4].copy_from_slice(&word.to_be_bytes());
            }
        }
        out
    }
}

/// SHA-256's initial state (FIPS 180-4 §5.3.3).
const IV: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

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

    #[test]
    fn the_function_is_sha_256() {
        let salt = [9; 32];
        let plain = |input: &[u8]| -> [u8; 32] {
            let hash = Sha256::new_with_prefix(domain("t"));
            hash.chain_update(salt).chain_update(input).finalize().into()
        };
        let prf = Prf::new("t", &salt);
        assert_eq!(prf.block(&[]), plain(&[]));
        assert_eq!(prf.block(&[7; 19]), plain(&[7; 19]));
        assert_eq!(prf.block(&[8; 55]), plain(&[8; 55]));

        let inputs = core::array::from_fn(|w| core::array::from_fn(|l| (w * 977 + l * 31) as u32));
        let inputs: [[u32; LANES]; 9] = inputs;
        for (l, block) in prf.block_16(&inputs).iter().enumerate() {
            let input: Vec<u8> = inputs.iter().flat_map(|row| row[l].to_be_bytes()).collect();
            assert_eq!(*block, plain(&input));
        }
    }
}
