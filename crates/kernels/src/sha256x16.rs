//! SHA-256's compression of sixteen blocks at once, one in each 32-bit lane, with AVX-512.
//!
//! All blocks are compressed from one state, as a hash with a common prefix needs. Word t of the
//! sixteen blocks is one row; the caller lays them out so, because its blocks differ in few words.
//!
//! FIPS 180-4 §6.2.2. Constant time.

use core::arch::x86_64::*;

use crate::lanes8::Lanes8;

/// Blocks that are compressed together.
pub const LANES: usize = 16;

/// Compresses block l, whose word t is `blocks[t][l]`, from `state`; word t of its result is
/// `result[t][l]`.
#[must_use]
pub fn compress_16(_: Lanes8, state: &[u32; 8], blocks: &[[u32; LANES]; 16]) -> [[u32; LANES]; 8] {
    // SAFETY: the token shows that the CPU has the instructions.
    unsafe { compress(state, blocks) }
}

#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(x: u32) -> __m512i {
    _mm512_set1_epi32(x as i32)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(a, b)
}

/// The exclusive or of three.
#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0x96>(a, b, c)
}

/// σ and Σ differ in whether the third term is shifted or rotated.
macro_rules! sigma {
    ($x:expr, $a:literal, $b:literal, shift $c:literal) => {
        xor3(_mm512_ror_epi32::<$a>($x), _mm512_ror_epi32::<$b>($x), _mm512_srli_epi32::<$c>($x))
    };
    ($x:expr, $a:literal, $b:literal, $c:literal) => {
        xor3(_mm512_ror_epi32::<$a>($x), _mm512_ror_epi32::<$b>($x), _mm512_ror_epi32::<$c>($x))
    };
}

#[target_feature(enable = "avx512f")]
fn compress(state: &[u32; 8], blocks: &[[u32; LANES]; 16]) -> [[u32; LANES]; 8] {
    let mut w = [splat(0); 16];
    for t in 0..16 {
        // SAFETY: the row is 64 readable bytes, and the instruction asks for no alignment.
        w[t] = unsafe { _mm512_loadu_si512(blocks[t].as_ptr().cast()) };
    }
    let mut first = [splat(0); 8];
    for t in 0..8 {
        first[t] = splat(state[t]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = first;
    for t in 0..64 {
        if t >= 16 {
            let (w15, w2) = (w[(t + 1) % 16], w[(t + 14) % 16]);
            let sum = add(w[t % 16], sigma!(w15, 7, 18, shift 3));
            w[t % 16] = add(sum, add(w[(t + 9) % 16], sigma!(w2, 17, 19, shift 10)));
        }
        // Ch and Maj by their truth tables.
        let ch = _mm512_ternarylogic_epi32::<0xca>(e, f, g);
        let maj = _mm512_ternarylogic_epi32::<0xe8>(a, b, c);
        let t1 = add(add(h, add(splat(K[t]), w[t % 16])), add(sigma!(e, 6, 11, 25), ch));
        let t2 = add(sigma!(a, 2, 13, 22), maj);
        (h, g, f, e, d, c, b, a) = (g, f, e, add(d, t1), c, b, a, add(t1, t2));
    }
    let mut out = [[0; LANES]; 8];
    for (t, v) in [a, b, c, d, e, f, g, h].into_iter().enumerate() {
        let sum = add(v, first[t]);
        // SAFETY: the row is 64 writable bytes, and the instruction asks for no alignment.
        unsafe { _mm512_storeu_si512(out[t].as_mut_ptr().cast(), sum) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_messages_of_one_block() {
        let Some(token) = Lanes8::detect() else {
            println!("left out: this CPU, or TETRALITH_KERNEL, has no AVX-512");
            return;
        };
        // "abc" in lane 3 (FIPS 180-2 appendix B.1), the empty message in all others.
        let iv = [
            0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
            0x5be0cd19,
        ];
        let mut blocks = [[0; LANES]; 16];
        blocks[0] = [0x8000_0000; LANES];
        (blocks[0][3], blocks[15][3]) = (0x6162_6380, 24);
        let out = compress_16(token, &iv, &blocks);
        let lane = |l: usize| [0, 1, 2, 3, 4, 5, 6, 7].map(|t: usize| out[t][l]);
        let abc = [
            0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61,
            0xf20015ad,
        ];
        let empty = [
            0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924, 0x27ae41e4, 0x649b934c, 0xa495991b,
            0x7852b855,
        ];
        assert_eq!(lane(3), abc);
        (0..LANES).filter(|&l| l != 3).for_each(|l| assert_eq!(lane(l), empty));
    }
}
