//! The body of the kernels that have instructions for SHA-256: four messages, interleaved.
//!
//! The instructions take one message at a time and some rounds each, and their latency leaves room for
//! three others. Rows hold one word of each message; before a block is hashed they are turned into
//! one message's four words each: `(w0 of 4 messages), …, (w3 of 4 messages) → (w0 … w3 of message 0), …`.
//!
//! A kernel's module defines `V`, four words; which words of the state its instructions take together, in
//! their order (`LOW`, `HIGH`); the operations `load store set1 add xor turn`; `four_rounds`; and
//! `schedule`, the next four words of a schedule from the sixteen before them.

/// Expands to the kernel's jobs.
macro_rules! sha256_instructions {
    ($(#[$attr:meta])*) => {
        use super::{Fixed, IV, K, Shape, TOP, W, sha2_entries};
        use $crate::sha2::{Rows, sha2_jobs};

        pub(super) const L: usize = 4;
        pub(super) type Soa = Rows<W, L, { K.len() }>;
        type State = [V; 8];
        type State8 = [[W; L]; 8];
        type Words = [[W; L]; K.len()];

        /// The state of each of `N` messages as the instructions want it.
        struct Turned<const N: usize> {
            low: [V; N],
            high: [V; N],
        }

        $(#[$attr])*
        #[inline]
        fn turned(s: &State) -> Turned<4> {
            let [i, j, k, l] = LOW;
            let [m, n, o, p] = HIGH;
            Turned { low: turn([s[i], s[j], s[k], s[l]]), high: turn([s[m], s[n], s[o], s[p]]) }
        }

        $(#[$attr])*
        #[inline]
        fn turned_back(t: Turned<4>) -> State {
            let (low, high) = (turn(t.low), turn(t.high));
            let mut s = [set1(0); 8];
            for i in 0..4 {
                s[LOW[i]] = low[i];
                s[HIGH[i]] = high[i];
            }
            s
        }

        /// Turns words `4·g ‥` of the block into each message's.
        $(#[$attr])*
        #[inline]
        fn words(w: &Words, g: usize) -> [V; 4] {
            turn([load(&w[4 * g]), load(&w[4 * g + 1]), load(&w[4 * g + 2]), load(&w[4 * g + 3])])
        }

        /// Runs the rounds from `R0 / 4` to `R1 / 4` in fours, of the first sixteen.
        $(#[$attr])*
        #[inline]
        fn rounds<const R0: usize, const R1: usize>(s: &mut State, w: &Words) {
            let mut t = turned(s);
            for g in R0 / 4..R1 / 4 {
                four_rounds(&mut t, add_k(words(w, g), g));
            }
            *s = turned_back(t);
        }

        /// The schedule is computed along the rounds, by instructions that take no notice of zeros.
        $(#[$attr])*
        #[inline]
        fn extend<const ZERO: u32, const FIRST: usize, const KNOWN: usize>(_: &mut Words) {}

        $(#[$attr])*
        #[inline]
        fn add_k<const N: usize>(mut m: [V; N], g: usize) -> [V; N] {
            let k = constants(&K, g);
            for i in 0..N {
                m[i] = add(m[i], k);
            }
            m
        }

        $(#[$attr])*
        #[inline]
        fn constants(k: &[W; 64], g: usize) -> V {
            load(&[k[4 * g], k[4 * g + 1], k[4 * g + 2], k[4 * g + 3]])
        }

        /// Runs the rounds from `4·from` on, with the schedule.
        $(#[$attr])*
        #[inline]
        fn groups<const N: usize>(t: &mut Turned<N>, mut m: [[V; N]; 4], from: usize) {
            macro_rules! group {
                ($g:literal) => {
                    if $g >= 4 {
                        let [a, b, c, d] = [m[$g & 3], m[($g + 1) & 3], m[($g + 2) & 3], m[($g + 3) & 3]];
                        for i in 0..N {
                            m[$g & 3][i] = schedule(a[i], b[i], c[i], d[i]);
                        }
                    }
                    if $g >= from {
                        four_rounds(t, add_k(m[$g & 3], $g));
                    }
                };
            }
            group!(0);
            group!(1);
            group!(2);
            group!(3);
            group!(4);
            group!(5);
            group!(6);
            group!(7);
            group!(8);
            group!(9);
            group!(10);
            group!(11);
            group!(12);
            group!(13);
            group!(14);
            group!(15);
        }

        /// Finishes a block whose first rounds, `R0 / 4` fours of them, led to `s`.
        $(#[$attr])*
        #[inline]
        fn finish<const R0: usize, const KNOWN: usize>(
            feed: &State8,
            s: &State8,
            w: &mut Words,
            out: &mut State8,
        ) {
            let mut t = turned(&loads(s));
            groups(&mut t, [words(w, 0), words(w, 1), words(w, 2), words(w, 3)], R0 / 4);
            plus(feed, &turned_back(t), out);
        }

        /// Runs all rounds with `kw[i]` = schedule word + round constant already added.
        $(#[$attr])*
        #[inline]
        fn padding_block(feed: &State8, kw: &[W; 64], out: &mut State8) {
            let mut t = turned(&loads(feed));
            for g in 0..16 {
                four_rounds(&mut t, [constants(kw, g); 4]);
            }
            plus(feed, &turned_back(t), out);
        }


        /// One message's state from its words.
        $(#[$attr])*
        #[inline]
        fn one(s: &[W; 8]) -> Turned<1> {
            Turned { low: [load(&LOW.map(|i| s[i]))], high: [load(&HIGH.map(|i| s[i]))] }
        }

        /// One message's words from its state.
        $(#[$attr])*
        #[inline]
        fn one_back(t: &Turned<1>) -> [W; 8] {
            let (mut low, mut high) = ([0; 4], [0; 4]);
            store(&mut low, t.low[0]);
            store(&mut high, t.high[0]);
            let mut s = [0; 8];
            for i in 0..4 {
                s[LOW[i]] = low[i];
                s[HIGH[i]] = high[i];
            }
            s
        }

        /// Hashes one block of one message, of which the rounds of the first `4·from` words led to `s`.
        $(#[$attr])*
        #[inline]
        fn block(feed: &[W; 8], s: &[W; 8], w: &[W; 16], from: usize) -> [W; 8] {
            let mut t = one(s);
            let [m0, m1, m2, m3] =
                [0, 1, 2, 3].map(|g| [w[4 * g], w[4 * g + 1], w[4 * g + 2], w[4 * g + 3]]);
            groups(&mut t, [[load(&m0)], [load(&m1)], [load(&m2)], [load(&m3)]], from);
            sum(feed, &one_back(&t))
        }

        fn sum(a: &[W; 8], b: &[W; 8]) -> [W; 8] {
            core::array::from_fn(|i| a[i].wrapping_add(b[i]))
        }

        /// Hashes two masked values in lane 0 alone.
        ///
        /// The key and the masks are hashed in three lanes, and what depends on them by itself: a third of
        /// the time of four lanes that wait for each other.
        $(#[$attr])*
        pub(super) fn pair_first(m: &mut Soa, prf: &Shape, out: &Fixed) {
            if prf.r0 != 4 {
                return pair(m, prf, out);
            }
            for i in 0..8 {
                m.s[i] = [m.feed[i][0]; L];
                m.t[i] = [m.mid[i][0]; L];
            }
            for i in 0..4 {
                m.w[i] = [m.words[i][0]; L];
                m.w[4 + i] = [m.tail[i][0]; L];
            }
            let last = m.tail[3][0];
            m.w[7] = [0, 1, 2, 2].map(|i| last.wrapping_add(i));
            pad(&mut m.w, 8, prf.bits);
            finish::<4, 16>(&m.s, &m.t, &mut m.w, &mut m.keys[0]);
            let (mut first, mut second) = ([0; 16], [0; 16]);
            first[7] = 1;
            for i in 0..8 {
                first[8 + i] = m.keys[0][i][0];
                second[i] = m.x[i][0] ^ m.keys[0][i][1];
                second[8 + i] = m.y[i][0] ^ m.keys[0][i][2];
            }
            let s = block(&IV, &out.half_h, &first, 2);
            let s = block(&s, &s, &second, 0);
            let mut t = one(&s);
            for g in 0..16 {
                four_rounds(&mut t, [constants(&out.pad_h, g)]);
            }
            let s = sum(&s, &one_back(&t));
            for i in 0..8 {
                m.x[i][0] = s[i];
            }
        }

        sha2_jobs!($(#[$attr])*);
        sha2_entries!($(#[$attr])*);
    };
}
pub(crate) use sha256_instructions;
