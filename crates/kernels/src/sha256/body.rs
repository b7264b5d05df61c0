//! The body that every SHA-2 kernel shares: the four lane jobs over a vector type.
//!
//! A kernel's module defines `V` (one word of every lane), `W` (its scalar), `L` (lanes), `IV`, `K`,
//! and the ten operations `load store set1 add xor ch maj big0 big1 small0 small1`, and then expands
//! [`sha2_rounds`] and [`sha2_jobs`] with the attribute that enables its instructions. The words of one message are
//! `[V; 16]`, lane `j` of `V` being lane `j`'s word: `w[i] = (w_i of lane 0, w_i of lane 1, …)`.
//!
//! What is left out, compared with hashing each message from its first block:
//! 1. A [`Prefix`](super::Prefix) is hashed once, its last words included: `prf` starts at round `R0`
//!    of the last block, or at the multiple of four before it where SHA instructions share the state.
//! 2. The two (or three) hashes that make a key and its masks differ in their last word only, so
//!    the rounds before it are run once.
//! 3. Where the fixed leading words of F and H fill half a block, their eight rounds are constants.
//! 4. A block that is padding alone has a constant schedule.

/// Expands to the compression function: `rounds`, `finish` and `padding_block`.
macro_rules! sha2_rounds {
    ($(#[$attr:meta])*) => {
        type State = [V; 8];
        type Block = [V; 16];

        $(#[$attr])*
        #[inline]
        fn step(s: [V; 3], d: &mut V, e: V, f: V, g: V, h: &mut V, kw: V) {
            let [a, b, c] = s;
            let t = add(add(add(*h, kw), ch(e, f, g)), big1(e));
            *d = add(*d, t);
            *h = add(t, add(big0(a), maj(a, b, c)));
        }

        /// Runs rounds `R0..R1` of the first sixteen, which take the message's words as they are.
        ///
        /// In round `i` the variable that is `a` by name is `−i mod 8` places further.
        $(#[$attr])*
        #[inline]
        fn rounds<const R0: usize, const R1: usize>(s: &mut State, w: &Block) {
            let mut turned = *s;
            for i in 0..8 {
                turned[(i + 16 - R0) % 8] = s[i];
            }
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = turned;
            macro_rules! r {
                ($i:literal, $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
                    if R0 <= $i && $i < R1 {
                        step([$a, $b, $c], &mut $d, $e, $f, $g, &mut $h, add(w[$i], set1(K[$i])));
                    }
                };
            }
            r!(0, a b c d e f g h);
            r!(1, h a b c d e f g);
            r!(2, g h a b c d e f);
            r!(3, f g h a b c d e);
            r!(4, e f g h a b c d);
            r!(5, d e f g h a b c);
            r!(6, c d e f g h a b);
            r!(7, b c d e f g h a);
            r!(8, a b c d e f g h);
            r!(9, h a b c d e f g);
            r!(10, g h a b c d e f);
            r!(11, f g h a b c d e);
            r!(12, e f g h a b c d);
            r!(13, d e f g h a b c);
            r!(14, c d e f g h a b);
            r!(15, b c d e f g h a);
            let turned = [a, b, c, d, e, f, g, h];
            for i in 0..8 {
                s[i] = turned[(i + 16 - R1) % 8];
            }
        }

        /// Runs sixteen rounds, computing the schedule in place.
        $(#[$attr])*
        #[inline]
        fn sixteen(s: &mut State, w: &mut Block, k: &[W; 16]) {
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *s;
            macro_rules! r {
                ($i:literal, $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
                    w[$i] = add(
                        add(w[$i], w[($i + 9) & 15]),
                        add(small0(w[($i + 1) & 15]), small1(w[($i + 14) & 15])),
                    );
                    let kw = add(w[$i], set1(k[$i]));
                    step([$a, $b, $c], &mut $d, $e, $f, $g, &mut $h, kw);
                };
            }
            r!(0, a b c d e f g h);
            r!(1, h a b c d e f g);
            r!(2, g h a b c d e f);
            r!(3, f g h a b c d e);
            r!(4, e f g h a b c d);
            r!(5, d e f g h a b c);
            r!(6, c d e f g h a b);
            r!(7, b c d e f g h a);
            r!(8, a b c d e f g h);
            r!(9, h a b c d e f g);
            r!(10, g h a b c d e f);
            r!(11, f g h a b c d e);
            r!(12, e f g h a b c d);
            r!(13, d e f g h a b c);
            r!(14, c d e f g h a b);
            r!(15, b c d e f g h a);
            *s = [a, b, c, d, e, f, g, h];
        }

        /// Runs the rounds after the first sixteen.
        ///
        /// A loop over sixteen rounds, in one function that all jobs share: 9 kB of code. Unrolled
        /// whole it is 5 % faster alone (23 kB) and 10 % slower in its place, where the code of a
        /// chain's step no longer fits into a first-level cache of 32 kB; unrolled in each job, half
        /// as slow again.
        $(#[$attr])*
        #[inline(never)]
        fn scheduled(s: &mut State, w: &Block) {
            // A vector that must lie in memory aligns the whole frame: registers spilled to a frame
            // that is not would cross cache lines with every access.
            core::hint::black_box(&mut set1(0));
            let mut w = *w;
            let mut t = *s;
            for k in K.as_chunks::<16>().0.iter().skip(1) {
                sixteen(&mut t, &mut w, k);
            }
            *s = t;
        }

        /// Runs all rounds with `kw[i]` = schedule word + round constant already added: a block of
        /// padding.
        $(#[$attr])*
        #[inline]
        fn padding_block(feed: &State, kw: &[W; K.len()]) -> State {
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *feed;
            for k in kw.as_chunks::<8>().0 {
                step([a, b, c], &mut d, e, f, g, &mut h, set1(k[0]));
                step([h, a, b], &mut c, d, e, f, &mut g, set1(k[1]));
                step([g, h, a], &mut b, c, d, e, &mut f, set1(k[2]));
                step([f, g, h], &mut a, b, c, d, &mut e, set1(k[3]));
                step([e, f, g], &mut h, a, b, c, &mut d, set1(k[4]));
                step([d, e, f], &mut g, h, a, b, &mut c, set1(k[5]));
                step([c, d, e], &mut f, g, h, a, &mut b, set1(k[6]));
                step([b, c, d], &mut e, f, g, h, &mut a, set1(k[7]));
            }
            plus(feed, &[a, b, c, d, e, f, g, h])
        }

        /// Finishes a block whose first `R0` rounds led to `s`: the result is added to `feed`.
        $(#[$attr])*
        #[inline]
        fn finish<const R0: usize>(feed: &State, mut s: State, w: &Block) -> State {
            rounds::<R0, 16>(&mut s, w);
            scheduled(&mut s, w);
            plus(feed, &s)
        }

        $(#[$attr])*
        #[inline]
        fn plus(feed: &State, s: &State) -> State {
            let mut out = *feed;
            for i in 0..8 {
                out[i] = add(feed[i], s[i]);
            }
            out
        }
    };
}
pub(crate) use sha2_rounds;

/// Expands to the jobs over the compression function in scope.
macro_rules! sha2_jobs {
    ($(#[$attr:meta])*; tail: $T:literal) => {
        /// Words of the tail: half of a 32-byte address.
        const T: usize = $T;

        $(#[$attr])*
        #[inline]
        fn loads<const N: usize>(rows: &[[W; L]]) -> [V; N] {
            let mut out = [set1(0); N];
            for i in 0..N {
                out[i] = load(&rows[i]);
            }
            out
        }

        $(#[$attr])*
        #[inline]
        fn splat<const N: usize>(words: &[W; N]) -> [V; N] {
            let mut out = [set1(0); N];
            for i in 0..N {
                out[i] = set1(words[i]);
            }
            out
        }

        /// Builds the block `prefix words ‖ tail ‖ padding`; where the length does not fit, the
        /// caller hashes a padding block after it.
        $(#[$attr])*
        #[inline]
        fn last_block<const R0: usize>(m: &Soa, tail: &[V; T], bits: W) -> Block {
            let mut w = [set1(0); 16];
            for i in 0..R0 {
                w[i] = load(&m.words[i]);
            }
            w[R0..R0 + T].copy_from_slice(tail);
            if R0 + T < 16 {
                w[R0 + T] = set1(TOP);
            }
            if R0 + T < 14 {
                w[15] = set1(bits);
            }
            w
        }

        /// Hashes `prefix ‖ tail` in every lane, the prefix ending `R0` words into its last block,
        /// of which `RS` rounds are done.
        $(#[$attr])*
        #[inline]
        fn prf_words<const R0: usize, const RS: usize>(m: &Soa, shape: &Shape) -> State {
            let tail: [V; T] = loads(&m.tail);
            let w = last_block::<R0>(m, &tail, shape.bits);
            let feed = loads(&m.feed);
            let s = finish::<RS>(&feed, loads(&m.mid), &w);
            if R0 + T >= 14 { padding_block(&s, &shape.pad) } else { s }
        }

        /// Hashes `prefix ‖ tail` for `COUNT` tails that end in 0, 1, …: a key and its masks.
        ///
        /// The rounds before the word that differs are run once.
        $(#[$attr])*
        #[inline]
        fn key_and_masks<
            const R0: usize,
            const RS: usize,
            const R1: usize,
            const COUNT: usize,
        >(
            m: &Soa,
            shape: &Shape,
        ) -> [State; COUNT] {
            debug_assert_eq!(R1, R0 + T - 1);
            let tail: [V; T] = loads(&m.tail);
            let mut head = last_block::<R0>(m, &tail, shape.bits);
            let mut shared = loads(&m.mid);
            rounds::<RS, R1>(&mut shared, &head);
            let feed = loads(&m.feed);
            let last = tail[T - 1];
            let mut out = [feed; COUNT];
            for i in 0..COUNT {
                head[R1] = add(last, set1(i as W));
                let s = finish::<R1>(&feed, shared, &head);
                out[i] = if R0 + T >= 14 { padding_block(&s, &shape.pad) } else { s };
            }
            out
        }

        /// `x ← Hash(0 ‖ key ‖ (x ⊕ mask))` where a whole block precedes the masked value.
        $(#[$attr])*
        #[inline]
        fn masked_full<const R0: usize, const R1: usize>(m: &mut Soa, prf: &Shape, out: &Fixed) {
            let [key, mask] = key_and_masks::<R0, R0, R1, 2>(m, prf);
            let mut w = [set1(0); 16];
            w[8..].copy_from_slice(&key);
            let feed = finish::<8>(&splat(&IV), splat(&out.half_f), &w);
            let mut w = [set1(0); 16];
            for i in 0..8 {
                w[i] = xor(load(&m.x[i]), mask[i]);
            }
            w[8] = set1(TOP);
            w[15] = set1(out.bits_f);
            let s = finish::<0>(&feed, feed, &w);
            for i in 0..8 {
                store(&mut m.x[i], s[i]);
            }
        }

        /// `x ← Hash(1 ‖ key ‖ (x ⊕ mask0) ‖ (y ⊕ mask1))`, as `masked_full`.
        $(#[$attr])*
        #[inline]
        fn pair_full<const R0: usize, const R1: usize>(m: &mut Soa, prf: &Shape, out: &Fixed) {
            let [key, mask0, mask1] = key_and_masks::<R0, R0, R1, 3>(m, prf);
            let mut w = [set1(0); 16];
            w[7] = set1(1);
            w[8..].copy_from_slice(&key);
            let feed = finish::<8>(&splat(&IV), splat(&out.half_h), &w);
            let mut w = [set1(0); 16];
            for i in 0..8 {
                w[i] = xor(load(&m.x[i]), mask0[i]);
                w[8 + i] = xor(load(&m.y[i]), mask1[i]);
            }
            let feed = finish::<0>(&feed, feed, &w);
            let s = padding_block(&feed, &out.pad_h);
            for i in 0..8 {
                store(&mut m.x[i], s[i]);
            }
        }
    };
}
pub(crate) use sha2_jobs;
