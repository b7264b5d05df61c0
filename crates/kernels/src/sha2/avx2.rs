//! AVX2 lanes: one word of each message in a vector of 32 bytes.

/// Expands to the lanes of a SHA-2 function: its module has `W`, `K`, the rotations' lengths, the shapes
/// and `sha2_entries`.
macro_rules! sha2_avx2 {
    ($set1:ident, $add:ident, $srl:ident, $sll:ident) => {
        use super::{
            BIG0, BIG1, Fixed, K, SMALL0, SMALL1, Shape, TOP, W, sha2_entries,
        };
        use $crate::lanes::row_memory;
        use $crate::sha2::{Rows, sha2_vector_jobs, sha2_rounds};
        use core::arch::x86_64::*;

        pub(super) const L: usize = 32 / size_of::<W>();
        type V = __m256i;
        pub(super) type Soa = Rows<W, L, { K.len() }>;
        /// The ports are full: no addition more than it takes.
        const AHEAD: bool = false;
        const FULL: bool = true;

        row_memory!(#[target_feature(enable = "avx2")] W; _mm256_loadu_si256, _mm256_storeu_si256);

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

        macro_rules! turn {
            ($v:ident, $by:expr) => {
                turn::<{ $by }, { W::BITS as i32 - $by }>($v)
            };
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn big0(a: V) -> V {
            xor3(turn!(a, BIG0[0]), turn!(a, BIG0[1]), turn!(a, BIG0[2]))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn big1(e: V) -> V {
            xor3(turn!(e, BIG1[0]), turn!(e, BIG1[1]), turn!(e, BIG1[2]))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn small0(w: V) -> V {
            xor3(turn!(w, SMALL0[0]), turn!(w, SMALL0[1]), $srl::<{ SMALL0[2] }>(w))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn small1(w: V) -> V {
            xor3(turn!(w, SMALL1[0]), turn!(w, SMALL1[1]), $srl::<{ SMALL1[2] }>(w))
        }

        sha2_rounds!(#[target_feature(enable = "avx2")]);
        sha2_vector_jobs!(#[target_feature(enable = "avx2")]);
        sha2_entries!(#[target_feature(enable = "avx2")]);
    };
}
pub(crate) use sha2_avx2;
