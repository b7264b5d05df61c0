//! The body of the kernels that have instructions for a SHA-2 function: as many messages as a vector has
//! words, interleaved.
//!
//! The instructions take one message at a time and some rounds each, and their latency leaves room for
//! others. Rows hold one word of each message; before a block is hashed they are turned into one message's
//! words each: `(w0 of all messages), (w1 of all messages), … → (w0, w1, … of message 0), …`.
//!
//! A kernel's module defines `V`, a vector; which words of the state its instructions take together, in
//! their order (`PARTS`); the operations `load store set1 add xor turn`; `group_rounds`, as many rounds as
//! a vector has words; and `schedule`, the next vector of a schedule from those of the block before it.

/// Expands to the compression function and the entries of a kernel, which has jobs beside.
macro_rules! sha2_instructions {
    ($(#[$attr:meta])*) => {
        use super::{Fixed, K, Shape, TOP, W, sha2_entries};
        use $crate::sha2::Rows;

        pub(super) const L: usize = 16 / size_of::<W>();
        pub(super) type Soa = Rows<W, L, { K.len() }>;
        type State = [V; 8];
        type State8 = [[W; L]; 8];
        type Words = [[W; L]; K.len()];
        /// Vectors of a block.
        const RING: usize = 16 / L;

        /// The state of each of `N` messages as the instructions want it.
        struct Turned<const N: usize>([[V; N]; 8 / L]);
        /// Some words of the schedule of each of `N` messages.
        type Ring<const N: usize> = [[V; N]; RING];

        $(#[$attr])*
        #[inline]
        fn turned(s: &State) -> Turned<L> {
            let mut t = [[set1(0); L]; 8 / L];
            for (part, of) in t.iter_mut().zip(PARTS) {
                *part = turn(of.map(|i| s[i]));
            }
            Turned(t)
        }

        $(#[$attr])*
        #[inline]
        fn turned_back(t: &Turned<L>) -> State {
            let mut s = [set1(0); 8];
            for (part, of) in t.0.iter().zip(PARTS) {
                for (i, row) in of.into_iter().zip(turn(*part)) {
                    s[i] = row;
                }
            }
            s
        }

        /// Turns words `L·g ‥` of the block into each message's.
        $(#[$attr])*
        #[inline]
        fn words(w: &Words, g: usize) -> [V; L] {
            let mut rows = [set1(0); L];
            for i in 0..L {
                rows[i] = load(&w[L * g + i]);
            }
            turn(rows)
        }

        /// Turns a block.
        $(#[$attr])*
        #[inline]
        fn ring(w: &Words) -> Ring<L> {
            let mut ring = [[set1(0); L]; RING];
            for g in 0..RING {
                ring[g] = words(w, g);
            }
            ring
        }

        /// Runs the rounds from `R0 / L` to `R1 / L` in groups, of the first sixteen.
        $(#[$attr])*
        #[inline]
        fn rounds<const R0: usize, const R1: usize>(s: &mut State, w: &Words) {
            let mut t = turned(s);
            for g in R0 / L..R1 / L {
                group_rounds(&mut t, add_k(words(w, g), g));
            }
            *s = turned_back(&t);
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
        fn constants(k: &[W; K.len()], g: usize) -> V {
            let (k, _) = k.as_chunks::<L>();
            load(&k[g])
        }

        /// Runs the rounds from `L·from` on, of which the first sixteen have the words `m`, with the
        /// schedule.
        $(#[$attr])*
        #[inline]
        fn groups<const N: usize>(t: &mut Turned<N>, mut m: Ring<N>, from: usize) {
            // Written out: a loop is slower by a twentieth with SHA-NI.
            macro_rules! each {
                ($do:ident) => {
                    $do!(0);
                    $do!(1);
                    $do!(2);
                    $do!(3);
                    if RING == 8 {
                        $do!(4);
                        $do!(5);
                        $do!(6);
                        $do!(7);
                    }
                };
            }
            macro_rules! known {
                ($g:literal) => {
                    if $g >= from {
                        group_rounds(t, add_k(m[$g % RING], $g));
                    }
                };
            }
            each!(known);
            let mut first = RING;
            macro_rules! next {
                ($g:literal) => {
                    m[$g % RING] = schedule(&m, $g);
                    group_rounds(t, add_k(m[$g % RING], first + $g));
                };
            }
            each!(next);
            first += RING;
            each!(next);
            first += RING;
            each!(next);
            if K.len() == 5 * 16 {
                first += RING;
                each!(next);
            }
        }

        /// Finishes a block whose first rounds, `R0 / L` groups of them, led to `s`.
        $(#[$attr])*
        #[inline]
        fn finish<const R0: usize, const KNOWN: usize>(
            feed: &State8,
            s: &State8,
            w: &mut Words,
            out: &mut State8,
        ) {
            let mut t = turned(&loads(s));
            groups(&mut t, ring(w), R0 / L);
            plus(feed, &turned_back(&t), out);
        }

        /// Runs all rounds with `kw[i]` = schedule word + round constant already added.
        $(#[$attr])*
        #[inline]
        fn padding_block(feed: &State8, kw: &[W; K.len()], out: &mut State8) {
            let mut t = turned(&loads(feed));
            for g in 0..K.len() / L {
                group_rounds(&mut t, [constants(kw, g); L]);
            }
            plus(feed, &turned_back(&t), out);
        }

        $crate::sha2::sha2_rows!($(#[$attr])*);
        sha2_entries!($(#[$attr])*);
    };
}
pub(crate) use sha2_instructions;
