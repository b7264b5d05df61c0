//! AVX-512 lanes: two streams of vectors of 64 bytes, interleaved.
//!
//! One stream is bound by latency: a round's additions depend on each other, and a vector addition
//! takes two cycles on the newest cores. Two independent streams fill the gaps (SHA-256 on Zen 5: 46.6
//! cycles per compression with one, 30.6 with two); three no longer fit into 32 registers (54).
//!
//! `V = (lanes of the first half, lanes of the second)`. Rotations are one instruction, Ch, Maj and the
//! three-way exclusive or one ternary each.

/// Expands to the lanes of a SHA-2 function: its module has `W`, `K`, the rotations' lengths, the shapes
/// and `sha2_entries`.
macro_rules! sha2_avx512 {
    (lanes: $lanes:literal, $set1:ident, $add:ident, $ror:ident, $srl:ident, $ternary:ident) => {
        use super::{
            BIG0, BIG1, Fixed, K, SMALL0, SMALL1, Shape, TOP, W, sha2_entries,
        };
        use $crate::sha2::{Rows, sha2_jobs, sha2_rounds};
        use core::arch::x86_64::*;

        pub(super) const L: usize = $lanes;
        #[derive(Clone, Copy)]
        struct V(__m512i, __m512i);
        pub(super) type Soa = Rows<W, L, { K.len() }>;

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn load(row: &[W; L]) -> V {
            let (a, b) = (row.as_ptr(), row[L / 2..].as_ptr());
            // SAFETY: `row` is 128 readable bytes, `a` points at the first 64.
            let a = unsafe { _mm512_loadu_si512(a.cast()) };
            // SAFETY: `b` points at the last 64.
            let b = unsafe { _mm512_loadu_si512(b.cast()) };
            V(a, b)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn store(row: &mut [W; L], v: V) {
            let (a, b) = row.split_at_mut(L / 2);
            // SAFETY: `a` is 64 writable bytes.
            unsafe { _mm512_storeu_si512(a.as_mut_ptr().cast(), v.0) };
            // SAFETY: `b` is 64 writable bytes.
            unsafe { _mm512_storeu_si512(b.as_mut_ptr().cast(), v.1) };
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn set1(word: W) -> V {
            let v = $set1(word.cast_signed());
            V(v, v)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn add(a: V, b: V) -> V {
            V($add(a.0, b.0), $add(a.1, b.1))
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn xor(a: V, b: V) -> V {
            V(_mm512_xor_si512(a.0, b.0), _mm512_xor_si512(a.1, b.1))
        }

        /// The function of three bits whose table is `F`.
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn ternary<const F: i32>(a: V, b: V, c: V) -> V {
            V($ternary::<F>(a.0, b.0, c.0), $ternary::<F>(a.1, b.1, c.1))
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn xor3(a: V, b: V, c: V) -> V {
            ternary::<0x96>(a, b, c)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn ch(e: V, f: V, g: V) -> V {
            ternary::<0xCA>(e, f, g)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn maj(a: V, b: V, c: V) -> V {
            ternary::<0xE8>(a, b, c)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn turn<const R: i32>(v: V) -> V {
            V($ror::<R>(v.0), $ror::<R>(v.1))
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn shift<const R: u32>(v: V) -> V {
            V($srl::<R>(v.0), $srl::<R>(v.1))
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn big0(a: V) -> V {
            let [x, y, z] = [
                turn::<{ BIG0[0] }>(a),
                turn::<{ BIG0[1] }>(a),
                turn::<{ BIG0[2] }>(a),
            ];
            xor3(x, y, z)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn big1(e: V) -> V {
            let [x, y, z] = [
                turn::<{ BIG1[0] }>(e),
                turn::<{ BIG1[1] }>(e),
                turn::<{ BIG1[2] }>(e),
            ];
            xor3(x, y, z)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn small0(w: V) -> V {
            let [x, y, z] = [
                turn::<{ SMALL0[0] }>(w),
                turn::<{ SMALL0[1] }>(w),
                shift::<{ SMALL0[2] as u32 }>(w),
            ];
            xor3(x, y, z)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn small1(w: V) -> V {
            let [x, y, z] = [
                turn::<{ SMALL1[0] }>(w),
                turn::<{ SMALL1[1] }>(w),
                shift::<{ SMALL1[2] as u32 }>(w),
            ];
            xor3(x, y, z)
        }

        sha2_rounds!(#[target_feature(enable = "avx512f")]);
        sha2_jobs!(#[target_feature(enable = "avx512f")]);
        sha2_entries!(#[target_feature(enable = "avx512f")]);
    };
}
pub(crate) use sha2_avx512;
