//! The portable lanes: plain words, which compilers turn into whatever vectors the target has.

/// Expands to the lanes of a SHA-2 function: its module has `W`, `K`, the rotations' lengths, the shapes
/// and `sha2_entries`.
macro_rules! sha2_portable {
    (lanes: $lanes:literal) => {
        use super::{BIG0, BIG1, Fixed, K, SMALL0, SMALL1, Shape, TOP, W, sha2_entries};
        use $crate::sha2::{Rows, sha2_rounds, sha2_vector_jobs};

        pub(super) const L: usize = $lanes;
        type V = [W; L];
        pub(super) type Soa = Rows<W, L, { K.len() }>;
        /// The ports are full: no addition more than it takes.
        const AHEAD: bool = false;
        const FULL: bool = true;

        #[inline]
        fn map(a: V, f: impl Fn(W) -> W) -> V {
            core::array::from_fn(|i| f(a[i]))
        }

        #[inline]
        fn load(row: &[W; L]) -> V {
            *row
        }

        #[inline]
        fn store(row: &mut [W; L], v: V) {
            *row = v;
        }

        #[inline]
        fn set1(word: W) -> V {
            [word; L]
        }

        #[inline]
        fn add(a: V, b: V) -> V {
            core::array::from_fn(|i| a[i].wrapping_add(b[i]))
        }

        #[inline]
        fn hold(v: V) -> V {
            v
        }

        #[inline]
        fn xor(a: V, b: V) -> V {
            core::array::from_fn(|i| a[i] ^ b[i])
        }

        #[inline]
        fn ch(e: V, f: V, g: V) -> V {
            core::array::from_fn(|i| g[i] ^ (e[i] & (f[i] ^ g[i])))
        }

        #[inline]
        fn maj(a: V, b: V, c: V) -> V {
            core::array::from_fn(|i| (a[i] & b[i]) | (c[i] & (a[i] | b[i])))
        }

        #[inline]
        fn turn(a: W, by: i32) -> W {
            a.rotate_right(by as u32)
        }

        #[inline]
        fn big0(a: V) -> V {
            map(a, |a| turn(a, BIG0[0]) ^ turn(a, BIG0[1]) ^ turn(a, BIG0[2]))
        }

        #[inline]
        fn big1(e: V) -> V {
            map(e, |e| turn(e, BIG1[0]) ^ turn(e, BIG1[1]) ^ turn(e, BIG1[2]))
        }

        #[inline]
        fn small0(w: V) -> V {
            map(w, |w| turn(w, SMALL0[0]) ^ turn(w, SMALL0[1]) ^ (w >> SMALL0[2]))
        }

        #[inline]
        fn small1(w: V) -> V {
            map(w, |w| turn(w, SMALL1[0]) ^ turn(w, SMALL1[1]) ^ (w >> SMALL1[2]))
        }

        sha2_rounds!();
        sha2_vector_jobs!();
        sha2_entries!();
    };
}
pub(crate) use sha2_portable;
