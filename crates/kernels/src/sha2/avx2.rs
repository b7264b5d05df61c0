//! AVX2 lanes: one word of each message in a vector of 32 bytes.

/// Expands to the lanes of a SHA-2 function: its module has `W`, `K`, the rotations' lengths, the shapes
/// and `sha2_entries`.
macro_rules! sha2_avx2 {
    (lanes: $lanes:literal, $set1:ident, $add:ident, $srl:ident, $sll:ident) => {
        use super::{
            BIG0, BIG1, Fixed, K, SMALL0, SMALL1, Shape, TOP, W, sha2_entries,
        };
        use $crate::sha2::{Rows, sha2_vector_jobs, sha2_rounds};
        use core::arch::x86_64::*;

        pub(super) const L: usize = $lanes;
        const _: () = assert!(L * size_of::<W>() == 32, "a row is a vector");
        type V = __m256i;
        pub(super) type Soa = Rows<W, L, { K.len() }>;
        /// The ports are full: no addition more than it takes.
        const AHEAD: bool = false;
        const FULL: bool = true;

        #[target_feature(enable = "avx2")]
        #[inline]
        fn load(row: &[W; L]) -> V {
            // SAFETY: `row` is 32 readable bytes.
            unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn store(row: &mut [W; L], v: V) {
            // SAFETY: `row` is 32 writable bytes.
            unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), v) };
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn set1(word: W) -> V {
            $set1(word.cast_signed())
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn add(a: V, b: V) -> V {
            $add(a, b)
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn hold(v: V) -> V {
            v
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn xor(a: V, b: V) -> V {
            _mm256_xor_si256(a, b)
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn xor3(a: V, b: V, c: V) -> V {
            xor(xor(a, b), c)
        }

        /// `g ⊕ (e ∧ (f ⊕ g))`.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn ch(e: V, f: V, g: V) -> V {
            xor(g, _mm256_and_si256(e, xor(f, g)))
        }

        /// `b ⊕ ((a ⊕ b) ∧ (b ⊕ c))`.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn maj(a: V, b: V, c: V) -> V {
            xor(b, _mm256_and_si256(xor(a, b), xor(b, c)))
        }

        /// Turns right by `R`, where `R + LEFT` is the word's length.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn turn<const R: i32, const LEFT: i32>(v: V) -> V {
            _mm256_or_si256($srl::<R>(v), $sll::<LEFT>(v))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn big0(a: V) -> V {
            let [x, y, z] = [
                turn::<{ BIG0[0] }, { W::BITS as i32 - BIG0[0] }>(a),
                turn::<{ BIG0[1] }, { W::BITS as i32 - BIG0[1] }>(a),
                turn::<{ BIG0[2] }, { W::BITS as i32 - BIG0[2] }>(a),
            ];
            xor3(x, y, z)
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn big1(e: V) -> V {
            let [x, y, z] = [
                turn::<{ BIG1[0] }, { W::BITS as i32 - BIG1[0] }>(e),
                turn::<{ BIG1[1] }, { W::BITS as i32 - BIG1[1] }>(e),
                turn::<{ BIG1[2] }, { W::BITS as i32 - BIG1[2] }>(e),
            ];
            xor3(x, y, z)
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn small0(w: V) -> V {
            let [x, y, z] = [
                turn::<{ SMALL0[0] }, { W::BITS as i32 - SMALL0[0] }>(w),
                turn::<{ SMALL0[1] }, { W::BITS as i32 - SMALL0[1] }>(w),
                $srl::<{ SMALL0[2] }>(w),
            ];
            xor3(x, y, z)
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn small1(w: V) -> V {
            let [x, y, z] = [
                turn::<{ SMALL1[0] }, { W::BITS as i32 - SMALL1[0] }>(w),
                turn::<{ SMALL1[1] }, { W::BITS as i32 - SMALL1[1] }>(w),
                $srl::<{ SMALL1[2] }>(w),
            ];
            xor3(x, y, z)
        }

        sha2_rounds!(#[target_feature(enable = "avx2")]);
        sha2_vector_jobs!(#[target_feature(enable = "avx2")]);
        sha2_entries!(#[target_feature(enable = "avx2")]);
    };
}
pub(crate) use sha2_avx2;
