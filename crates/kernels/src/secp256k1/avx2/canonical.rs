//! The numbers that elements stand for.

use super::field::Fe;
use super::words::{M24, M29, Mask, V, equal, mask_bits, splat};
use core::arch::x86_64::*;

/// What exceeds 2^256 is folded in, and every limb below the top one gets 29 bits, one after another.
#[inline]
#[target_feature(enable = "avx2")]
fn exact(mut t: [V; 9]) -> [V; 9] {
    let over = _mm256_srli_epi64::<24>(t[8]);
    t[8] = _mm256_and_si256(t[8], splat(M24));
    t[0] = _mm256_add_epi64(t[0], _mm256_mul_epu32(over, splat(977)));
    t[1] = _mm256_add_epi64(t[1], _mm256_slli_epi64::<3>(over));
    chain(t)
}

#[inline]
#[target_feature(enable = "avx2")]
fn chain(mut t: [V; 9]) -> [V; 9] {
    for i in 0..8 {
        t[i + 1] = _mm256_add_epi64(t[i + 1], _mm256_srli_epi64::<29>(t[i]));
        t[i] = _mm256_and_si256(t[i], splat(M29));
    }
    t
}

impl Fe {
    /// The representative below p.
    ///
    /// # Correctness
    /// What exceeds 2^256 is folded in, and what that leaves once more. x + 2^32 + 977 reaches 2^256 just
    /// when x ≥ p, and then less 2^256 it is x − p.
    #[target_feature(enable = "avx2")]
    pub(super) fn freeze(&self) -> Fe {
        let x = exact(exact(self.0));
        let mut y = x;
        y[0] = _mm256_add_epi64(y[0], splat(977));
        y[1] = _mm256_add_epi64(y[1], splat(8));
        let mut y = chain(y);
        let over = _mm256_cmpgt_epi64(y[8], splat(M24));
        y[8] = _mm256_and_si256(y[8], splat(M24));
        Fe(x).select(&Fe(y), over)
    }

    /// The lanes that hold zero.
    #[target_feature(enable = "avx2")]
    pub(super) fn is_zero(&self) -> Mask {
        let frozen = self.freeze().0;
        let mut any = frozen[0];
        for i in 1..9 {
            any = _mm256_or_si256(any, frozen[i]);
        }
        equal(any, splat(0))
    }

    /// The lanes in which two elements are equal.
    #[target_feature(enable = "avx2")]
    pub(super) fn equal(&self, b: &Fe) -> Mask {
        self.add(&b.neg()).is_zero()
    }

    /// The lanes whose number is odd, of frozen elements.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn odd(&self) -> u8 {
        mask_bits(_mm256_slli_epi64::<63>(self.0[0]))
    }
}
