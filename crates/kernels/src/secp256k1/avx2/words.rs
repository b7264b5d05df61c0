//! Words of four lanes, choices of lanes, and numbers as they are stored.

use core::arch::x86_64::*;

/// Lanes.
pub(in crate::secp256k1) const L: usize = 4;
/// A word of each lane.
pub(in crate::secp256k1) type V = __m256i;
/// All bits of the chosen lanes.
pub(in crate::secp256k1) type Mask = __m256i;

/// The bits of a limb, and those of the top one.
pub(super) const M29: u64 = (1 << 29) - 1;
pub(super) const M24: u64 = (1 << 24) - 1;

#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn splat(x: u64) -> V {
    _mm256_set1_epi64x(x as i64)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn load(words: &[u64; L]) -> V {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn store(v: V) -> [u64; L] {
    let mut words = [0; L];
    // SAFETY: the reference is to 32 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), v) };
    words
}

/// The lanes in which two words are equal.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn equal(a: V, b: V) -> Mask {
    _mm256_cmpeq_epi64(a, b)
}

/// The lanes in which two words differ.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn differ(a: V, b: V) -> Mask {
    _mm256_xor_si256(equal(a, b), splat(u64::MAX))
}

/// `b` in the lanes of the mask, `a` in the others.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn blend(a: V, b: V, here: Mask) -> V {
    _mm256_blendv_epi8(a, b, here)
}

/// Magnitudes of signed words, and the lanes of the negative ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn negative(digits: V) -> (V, Mask) {
    let minus = _mm256_cmpgt_epi64(_mm256_setzero_si256(), digits);
    (_mm256_sub_epi64(_mm256_xor_si256(digits, minus), minus), minus)
}

/// The mask with these lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn mask(bits: u8) -> Mask {
    let bit = _mm256_setr_epi64x(1, 2, 4, 8);
    equal(_mm256_and_si256(splat(bits.into()), bit), bit)
}

/// The lanes of a mask.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::secp256k1) fn mask_bits(here: Mask) -> u8 {
    _mm256_movemask_pd(_mm256_castsi256_pd(here)) as u8
}

/// A number, big-endian, as it is stored: two limbs in a word.
pub(in crate::secp256k1) fn pack(bytes: &[u8; 32]) -> [u64; 5] {
    let word = |i: usize| u64::from_be_bytes(core::array::from_fn(|j| bytes[8 * (3 - i) + j]));
    let words = [word(0), word(1), word(2), word(3), 0];
    let limb = |i: usize| {
        let (at, shift) = (29 * i / 64, 29 * i % 64);
        let pair = u128::from(words[at + 1]) << 64 | u128::from(words[at]);
        (pair >> shift) as u64 & M29
    };
    core::array::from_fn(|k| if k < 4 { limb(2 * k) | limb(2 * k + 1) << 32 } else { limb(8) })
}

/// The number below 2^256 that is stored, big-endian.
pub(in crate::secp256k1) fn unpack(words: &[u64; 5]) -> [u8; 32] {
    let limb = |i: usize| words[i / 2] >> (32 * (i % 2)) & 0xffff_ffff;
    let (mut bytes, mut rest, mut bits, mut next) = ([0; 32], 0u64, 0, 0);
    for byte in bytes.iter_mut().rev() {
        if bits < 8 && next < 9 {
            rest |= limb(next) << bits;
            (bits, next) = (bits + 29, next + 1);
        }
        *byte = rest as u8;
        (rest, bits) = (rest >> 8, bits - 8);
    }
    bytes
}
