//! SIMD128 lanes of WebAssembly: one word of each message in a vector of 16 bytes.

/// Expands to the lanes of a SHA-2 function: its module has `W`, `K`, the rotations' lengths, the shapes
/// and `sha2_entries`.
macro_rules! sha2_simd128 {
    ($set1:ident, $add:ident, $srl:ident, $sll:ident) => {
        use super::{
            BIG0, BIG1, Fixed, K, SMALL0, SMALL1, Shape, TOP, W, sha2_entries,
        };
        use $crate::lanes::row_memory;
        use $crate::sha2::{Rows, sha2_vector_jobs, sha2_rounds};
        use core::arch::wasm32::*;

        pub(super) const L: usize = 16 / size_of::<W>();
        type V = v128;
        pub(super) type Soa = Rows<W, L, { K.len() }>;
        /// The ports are full: no addition more than it takes.
        const AHEAD: bool = false;
        const FULL: bool = true;

        row_memory!(#[target_feature(enable = "simd128")] W; v128_load, v128_store);

        #[target_feature(enable = "simd128")]
        #[inline]
        fn set1(word: W) -> V {
            $set1(word)
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn add(a: V, b: V) -> V {
            $add(a, b)
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn hold(v: V) -> V {
            v
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn xor(a: V, b: V) -> V {
            v128_xor(a, b)
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn xor3(a: V, b: V, c: V) -> V {
            xor(xor(a, b), c)
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn ch(e: V, f: V, g: V) -> V {
            v128_bitselect(f, g, e)
        }

        /// Where `a` and `b` differ, `c` decides.
        #[target_feature(enable = "simd128")]
        #[inline]
        fn maj(a: V, b: V, c: V) -> V {
            v128_bitselect(c, a, xor(a, b))
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn turn(v: V, by: i32) -> V {
            let by = by as u32;
            v128_or($srl(v, by), $sll(v, W::BITS - by))
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn big0(a: V) -> V {
            xor3(turn(a, BIG0[0]), turn(a, BIG0[1]), turn(a, BIG0[2]))
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn big1(e: V) -> V {
            xor3(turn(e, BIG1[0]), turn(e, BIG1[1]), turn(e, BIG1[2]))
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn small0(w: V) -> V {
            xor3(turn(w, SMALL0[0]), turn(w, SMALL0[1]), $srl(w, SMALL0[2] as u32))
        }

        #[target_feature(enable = "simd128")]
        #[inline]
        fn small1(w: V) -> V {
            xor3(turn(w, SMALL1[0]), turn(w, SMALL1[1]), $srl(w, SMALL1[2] as u32))
        }

        sha2_rounds!(#[target_feature(enable = "simd128")]);
        sha2_vector_jobs!(#[target_feature(enable = "simd128")]);
        sha2_entries!(#[target_feature(enable = "simd128")]);
    };
}
pub(crate) use sha2_simd128;
