//! The storage of SHA-2 lanes, and the scalar work done once for many hashes.

use crate::wipe::wipe;
use zeroize::{DefaultIsZeroes, Zeroize};

/// What many messages share: everything up to their last 16 bytes, hashed as far as it goes.
///
/// Holds a secret where the prefix is one; it is wiped on drop.
#[derive(Clone)]
pub(crate) struct PrefixWords<W: DefaultIsZeroes> {
    /// The state after the prefix's whole blocks.
    pub(crate) feed: [W; 8],
    /// `feed` after the rounds of the words in `words`, or of as many as the family's kernels take.
    pub(crate) mid: [W; 8],
    /// The prefix's words in the last block; zero from `r0` on.
    pub(crate) words: [W; 12],
    /// How many words of `words` are used.
    pub(crate) r0: usize,
}

impl<W: DefaultIsZeroes> Drop for PrefixWords<W> {
    fn drop(&mut self) {
        self.feed.zeroize();
        self.mid.zeroize();
        self.words.zeroize();
    }
}

/// One word of each lane in a row: `rows[i] = (word i of lane 0, word i of lane 1, …)`.
#[repr(C, align(64))]
pub(crate) struct Rows<W: DefaultIsZeroes, const L: usize, const R: usize> {
    pub(crate) feed: [[W; L]; 8],
    pub(crate) mid: [[W; L]; 8],
    pub(crate) words: [[W; L]; 12],
    pub(crate) tail: [[W; L]; 4],
    pub(crate) x: [[W; L]; 8],
    pub(crate) y: [[W; L]; 8],
    /// The block's schedule.
    pub(crate) w: [[W; L]; R],
    /// A key and its masks.
    pub(crate) keys: [[[W; L]; 8]; 3],
    /// States on the way.
    pub(crate) s: [[W; L]; 8],
    pub(crate) t: [[W; L]; 8],
    /// Constants: the first state, and those after the fixed words of `masked` and `pair`.
    pub(crate) iv: [[W; L]; 8],
    pub(crate) half_f: [[W; L]; 8],
    pub(crate) half_h: [[W; L]; 8],
}

impl<W: DefaultIsZeroes, const L: usize, const R: usize> Drop for Rows<W, L, R> {
    fn drop(&mut self) {
        let states =
            [&mut self.feed, &mut self.mid, &mut self.x, &mut self.y, &mut self.s, &mut self.t];
        states.into_iter().for_each(|rows| wipe(rows.as_flattened_mut()));
        wipe(self.words.as_flattened_mut());
        wipe(self.w.as_flattened_mut());
        wipe(self.keys.as_flattened_mut().as_flattened_mut());
    }
}

impl<W: DefaultIsZeroes, const L: usize, const R: usize> Rows<W, L, R> {
    /// Makes lanes of zeros.
    pub(crate) fn new(fixed: &HashShape<W, R>) -> Box<Self> {
        let zero = [W::default(); L];
        Box::new(Self {
            feed: [zero; 8],
            mid: [zero; 8],
            words: [zero; 12],
            tail: [zero; 4],
            x: [zero; 8],
            y: [zero; 8],
            w: [zero; R],
            keys: [[zero; 8]; 3],
            s: [zero; 8],
            t: [zero; 8],
            iv: fixed.iv.map(|word| [word; L]),
            half_f: fixed.half_f.map(|word| [word; L]),
            half_h: fixed.half_h.map(|word| [word; L]),
        })
    }

    /// Gives a lane its prefix.
    pub(crate) fn set_prefix(&mut self, lane: usize, prefix: &PrefixWords<W>) {
        for i in 0..8 {
            self.feed[i][lane] = prefix.feed[i];
            self.mid[i][lane] = prefix.mid[i];
        }
        for i in 0..prefix.r0 {
            self.words[i][lane] = prefix.words[i];
        }
    }
}

/// The padding that follows `prefix ‖ tail`: its length in bits, and the schedule of a block that
/// holds nothing else, round constants added.
pub(crate) struct PrfShape<W, const R: usize> {
    pub(crate) r0: usize,
    pub(crate) bits: W,
    pub(crate) pad: [W; R],
}

/// Constants of the two keyed hashes with one or two masked values.
pub(crate) struct HashShape<W, const R: usize> {
    /// The first state.
    pub(crate) iv: [W; 8],
    /// The state after eight rounds of the words `0 … 0`.
    pub(crate) half_f: [W; 8],
    /// The state after eight rounds of the words `0 … 0 1`.
    pub(crate) half_h: [W; 8],
    pub(crate) bits_f: W,
    pub(crate) bits_h: W,
    pub(crate) pad_h: [W; R],
}

/// Expands to scalar helpers over `W`, `K`, `IV` and `ROUNDS` in scope.
macro_rules! sha2_scalar {
    ($W:ty, $ROUNDS:literal, align: $ALIGN:literal) => {
        fn turn(word: $W, by: i32) -> $W {
            word.rotate_right(by as u32)
        }

        /// Runs the rounds of `kw`, whose elements are schedule word + round constant.
        fn scalar_rounds(state: &[$W; 8], kw: &[$W]) -> [$W; 8] {
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
            for &k in kw {
                let big1 = turn(e, BIG1[0]) ^ turn(e, BIG1[1]) ^ turn(e, BIG1[2]);
                let t = h.wrapping_add(k).wrapping_add(big1).wrapping_add((e & f) ^ (!e & g));
                let big0 = turn(a, BIG0[0]) ^ turn(a, BIG0[1]) ^ turn(a, BIG0[2]);
                let u = big0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
                (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t), c, b, a, t.wrapping_add(u));
            }
            [a, b, c, d, e, f, g, h]
        }

        /// Expands a block to the schedule, round constants added.
        fn schedule(block: &[$W; 16]) -> [$W; $ROUNDS] {
            let mut w = [0; $ROUNDS];
            w[..16].copy_from_slice(block);
            for i in 16..$ROUNDS {
                let (x, y) = (w[i - 15], w[i - 2]);
                let small0 = turn(x, SMALL0[0]) ^ turn(x, SMALL0[1]) ^ (x >> SMALL0[2]);
                let small1 = turn(y, SMALL1[0]) ^ turn(y, SMALL1[1]) ^ (y >> SMALL1[2]);
                w[i] = w[i - 16].wrapping_add(w[i - 7]).wrapping_add(small0).wrapping_add(small1);
            }
            core::array::from_fn(|i| K[i].wrapping_add(w[i]))
        }

        fn scalar_compress(state: &[$W; 8], block: &[$W; 16]) -> [$W; 8] {
            let s = scalar_rounds(state, &schedule(block));
            core::array::from_fn(|i| state[i].wrapping_add(s[i]))
        }

        /// The schedule of a block that is padding alone after a message of `bytes` bytes.
        fn padding(bytes: usize) -> [$W; $ROUNDS] {
            let mut block = [0; 16];
            let full = bytes % (16 * size_of::<$W>()) == 0;
            block[0] = if full { TOP } else { 0 };
            block[15] = 8 * bytes as $W;
            schedule(&block)
        }

        /// Hashes a prefix of whole words as far as it goes.
        fn prefix_words(bytes: &[u8]) -> $crate::sha2::PrefixWords<$W> {
            let (chunks, rest) = bytes.as_chunks::<{ size_of::<$W>() }>();
            assert!(rest.is_empty(), "a prefix is a whole number of words");
            let mut feed = IV;
            let (blocks, rest) = chunks.as_chunks::<16>();
            for block in blocks {
                feed = compress(&feed, &block.map(<$W>::from_be_bytes));
            }
            let mut words = [0; 12];
            for (word, chunk) in words.iter_mut().zip(rest) {
                *word = <$W>::from_be_bytes(*chunk);
            }
            assert!(rest.len() <= 12, "a prefix leaves room for its tail");
            let r0 = rest.len();
            let kw: [$W; 12] = core::array::from_fn(|i| K[i].wrapping_add(words[i]));
            let mid = scalar_rounds(&feed, &kw[..r0 / $ALIGN * $ALIGN]);
            $crate::sha2::PrefixWords { feed, mid, words, r0 }
        }

        fn prf_shape(prefix_bytes: usize) -> $crate::sha2::PrfShape<$W, $ROUNDS> {
            $crate::sha2::PrfShape {
                r0: prefix_bytes / size_of::<$W>() % 16,
                bits: 8 * (prefix_bytes + 16) as $W,
                pad: padding(prefix_bytes + 16),
            }
        }

        fn hash_shape(pad: usize, n: usize) -> $crate::sha2::HashShape<$W, $ROUNDS> {
            let mut kw = [0; 8];
            kw.copy_from_slice(&K[..8]);
            let half_f = scalar_rounds(&IV, &kw);
            kw[7] = kw[7].wrapping_add(1);
            let half_h = scalar_rounds(&IV, &kw);
            $crate::sha2::HashShape {
                iv: IV,
                half_f,
                half_h,
                bits_f: 8 * (pad + 2 * n) as $W,
                bits_h: 8 * (pad + 3 * n) as $W,
                pad_h: padding(pad + 3 * n),
            }
        }
    };
}
pub(crate) use sha2_scalar;
