//! The kernels that SHA-256 and SHA-512 both have, which differ in the word alone.

/// Expands to the modules of the kernels that know nothing but vectors of words, to `one_stream`, and to
/// the types that all kernels take from their function's module, which has `K`, the rotations' lengths
/// and `sha2_entries`. The operations are named in the order of each kernel's macro.
macro_rules! sha2_kernels {
    (
        word: $word:ty;
        avx2: $($avx2:ident),+;
        avx512: $($avx512:ident),+;
        simd128: $($simd128:ident),+;
    ) => {
        type W = $word;
        pub(crate) const TOP: W = 1 << (W::BITS - 1);
        type Shape = $crate::sha2::PrfShape<W, { K.len() }>;
        type Fixed = $crate::sha2::HashShape<W, { K.len() }>;

        mod portable {
            $crate::sha2::sha2_portable!(lanes: 4);
        }

        #[cfg(target_arch = "x86_64")]
        mod avx2 {
            $crate::sha2::sha2_avx2!($($avx2),+);
        }

        #[cfg(target_arch = "x86_64")]
        mod avx512 {
            $crate::sha2::sha2_avx512!($($avx512),+);
        }

        /// The compression of as many blocks as a vector has words, for those who hash whole messages.
        #[cfg(target_arch = "x86_64")]
        #[allow(dead_code)] // it needs the whole block's compression alone
        pub(crate) mod one_stream {
            $crate::sha2::sha2_avx512_rounds!(streams: [0: __m512i], $($avx512),+);
        }

        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        mod simd128 {
            $crate::sha2::sha2_simd128!($($simd128),+);
        }
    };
}
pub(crate) use sha2_kernels;
