//! Between memory and lanes: loads, stores, transpositions.

use core::arch::x86_64::*;

/// Reads eight lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// Writes eight lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(lanes: &mut [u64; 8], v: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), v) }
}

/// Reads four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_half(lanes: &[u64; 4]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

/// Writes four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_half(lanes: &mut [u64; 4], v: __m256i) {
    // SAFETY: the reference is to 32 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), v) }
}

/// The lanes of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn lanes(v: __m512i) -> [u64; 8] {
    let mut out = [0; 8];
    store(&mut out, v);
    out
}

/// `low` shifted right by R, with `high` shifted left by L above it.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn joined<const R: u32, const L: u32>(low: __m512i, high: __m512i) -> __m512i {
    _mm512_or_si512(_mm512_srli_epi64::<R>(low), _mm512_slli_epi64::<L>(high))
}

/// Transposes eight rows of eight words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose(rows: &[__m512i; 8]) -> [__m512i; 8] {
    let mut pairs = *rows; // (r0[k], r1[k]) for even k in pairs[0], for odd k in pairs[1], ...
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    let mut quads = pairs; // two columns of rows 0..4 or 4..8 in each
    for half in 0..2 {
        for odd in 0..2 {
            let (a, b) = (pairs[4 * half + odd], pairs[4 * half + 2 + odd]);
            let even_of = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let odd_of = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            quads[4 * half + odd] = _mm512_permutex2var_epi64(a, even_of, b);
            quads[4 * half + 2 + odd] = _mm512_permutex2var_epi64(a, odd_of, b);
        }
    }
    let mut out = quads;
    for k in 0..4 {
        out[k] = _mm512_shuffle_i64x2::<0x44>(quads[k], quads[4 + k]);
        out[k + 4] = _mm512_shuffle_i64x2::<0xee>(quads[k], quads[4 + k]);
    }
    out
}

/// Transposes the 4 x 4 words of the lower halves and those of the upper halves: between four columns
/// of eight lanes, and four rows of lanes 0 to 3 with those of lanes 4 to 7 beside them.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose_halves(rows: &[__m512i; 4]) -> [__m512i; 4] {
    let even_of = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let odd_of = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let (a, b) = (_mm512_unpacklo_epi64(rows[0], rows[1]), _mm512_unpackhi_epi64(rows[0], rows[1]));
    let (c, d) = (_mm512_unpacklo_epi64(rows[2], rows[3]), _mm512_unpackhi_epi64(rows[2], rows[3]));
    [
        _mm512_permutex2var_epi64(a, even_of, c),
        _mm512_permutex2var_epi64(b, even_of, d),
        _mm512_permutex2var_epi64(a, odd_of, c),
        _mm512_permutex2var_epi64(b, odd_of, d),
    ]
}

/// The little-endian 64-bit words of eight encodings.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn words(bytes: &[[u8; 32]; 8]) -> [__m512i; 4] {
    let mut rows = [[0u64; 8]; 4];
    for (lane, encoding) in bytes.iter().enumerate() {
        for (row, chunk) in rows.iter_mut().zip(encoding.chunks_exact(8)) {
            row[lane] = u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
        }
    }
    [load(&rows[0]), load(&rows[1]), load(&rows[2]), load(&rows[3])]
}
