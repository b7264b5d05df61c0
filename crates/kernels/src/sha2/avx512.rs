//! AVX-512 lanes: one stream of vectors of 64 bytes, or two, interleaved.
//!
//! One stream is bound by latency: a round's additions depend on each other, and a vector addition
//! takes two cycles on the newest cores. Two independent streams fill the gaps (SHA-256 on Zen 5: 46.6
//! cycles per compression with one, 30.6 with two); three no longer fit into 32 registers (54).
//!
//! `V = (lanes of the first stream, lanes of the second)`. Rotations are one instruction, Ch, Maj and the
//! three-way exclusive or one ternary each.

/// Expands to the compression function in `streams` of vectors: the module has `W`, `K` and the
/// rotations' lengths.
macro_rules! sha2_avx512_rounds {
    (streams: [$($s:tt: $v:ty),+], $set1:ident, $add:ident, $ror:ident, $srl:ident, $ternary:ident) => {
        use super::{BIG0, BIG1, K, SMALL0, SMALL1, W};
        use $crate::sha2::sha2_rounds;
        use core::arch::x86_64::*;

        /// Lanes of one stream, and of all.
        const STREAM: usize = 64 / size_of::<W>();
        pub(super) const L: usize = [$($s),+].len() * STREAM;

        /// Rounds wait for each other more than for the ports: an addition more is cheaper than one
        /// that the next round waits for. Beside the schedule two streams fill the ports.
        const AHEAD: bool = true;
        const FULL: bool = [$($s),+].len() > 1;

        #[derive(Clone, Copy)]
        struct V($($v),+);

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn load(row: &[W; L]) -> V {
            let (streams, _) = row.as_chunks::<STREAM>();
            // SAFETY: a stream is 64 readable bytes.
            V($(unsafe { _mm512_loadu_si512(streams[$s].as_ptr().cast()) }),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn store(row: &mut [W; L], v: V) {
            let (streams, _) = row.as_chunks_mut::<STREAM>();
            $(
                // SAFETY: a stream is 64 writable bytes.
                unsafe { _mm512_storeu_si512(streams[$s].as_mut_ptr().cast(), v.$s) };
            )+
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn set1(word: W) -> V {
            let v = $set1(word.cast_signed());
            V($(($s, v).1),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn add(a: V, b: V) -> V {
            V($($add(a.$s, b.$s)),+)
        }

        /// The same value, of which the compiler does not know how it came about: it may not put off to
        /// the last what was added first, as it else does with sums.
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn hold(mut v: V) -> V {
            $(
                // SAFETY: there is no instruction in it.
                unsafe {
                    core::arch::asm!(
                        "/* {0} */",
                        inout(zmm_reg) v.$s,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
            )+
            v
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn xor(a: V, b: V) -> V {
            V($(_mm512_xor_si512(a.$s, b.$s)),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            $ternary::<0x96>(a, b, c)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn ch(e: V, f: V, g: V) -> V {
            V($($ternary::<0xCA>(e.$s, f.$s, g.$s)),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn maj(a: V, b: V, c: V) -> V {
            V($($ternary::<0xE8>(a.$s, b.$s, c.$s)),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn turn3<const X: i32, const Y: i32, const Z: i32>(v: __m512i) -> __m512i {
            xor3($ror::<X>(v), $ror::<Y>(v), $ror::<Z>(v))
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn turn2<const X: i32, const Y: i32, const Z: u32>(v: __m512i) -> __m512i {
            xor3($ror::<X>(v), $ror::<Y>(v), $srl::<Z>(v))
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn big0(v: V) -> V {
            V($(turn3::<{ BIG0[0] }, { BIG0[1] }, { BIG0[2] }>(v.$s)),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn big1(v: V) -> V {
            V($(turn3::<{ BIG1[0] }, { BIG1[1] }, { BIG1[2] }>(v.$s)),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn small0(v: V) -> V {
            V($(turn2::<{ SMALL0[0] }, { SMALL0[1] }, { SMALL0[2] as u32 }>(v.$s)),+)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn small1(v: V) -> V {
            V($(turn2::<{ SMALL1[0] }, { SMALL1[1] }, { SMALL1[2] as u32 }>(v.$s)),+)
        }

        sha2_rounds!(#[target_feature(enable = "avx512f")]);
    };
}
pub(crate) use sha2_avx512_rounds;

/// Expands to the lanes of a SHA-2 function, whose module has the shapes and `sha2_entries` as well.
macro_rules! sha2_avx512 {
    ($($operation:ident),+) => {
        use super::{Fixed, Shape, TOP, sha2_entries};
        use $crate::sha2::{Rows, sha2_avx512_rounds, sha2_vector_jobs};

        pub(super) type Soa = Rows<W, L, { K.len() }>;

        sha2_avx512_rounds!(streams: [0: __m512i, 1: __m512i], $($operation),+);
        sha2_vector_jobs!(#[target_feature(enable = "avx512f")]);
        sha2_entries!(#[target_feature(enable = "avx512f")]);
    };
}
pub(crate) use sha2_avx512;
