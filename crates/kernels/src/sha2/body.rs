//! The body that every SHA-2 kernel shares: the four lane jobs over a vector type.
//!
//! A kernel's module defines `V` (one word of every lane), `W` (its scalar), `L` (lanes), `K`, and the
//! ten operations `load store set1 add xor ch maj big0 big1 small0 small1`, and then expands
//! [`sha2_rounds`] and [`sha2_jobs`] with the attribute that enables its instructions. States and
//! schedules lie in memory, a row for each word: `w[i] = (w_i of lane 0, w_i of lane 1, …)`; a
//! function takes them into registers and leaves its result where the next block wants it.
//!
//! What is left out, compared with hashing each message from its first block:
//! 1. A [`Prefix`](crate::sha256::Prefix) is hashed once, its last words included: `prf` starts at round `R0`
//!    of the last block, or at the multiple of four before it where SHA instructions share the state.
//! 2. The two (or three) hashes that make a key and its masks differ in their last word only, so
//!    the rounds before it, and the schedule's words that do not depend on it, are computed once.
//! 3. Where the fixed leading words of F and H fill half a block, their eight rounds are constants.
//! 4. A block that is padding alone has a constant schedule.
//! 5. In the schedule's first words the terms of words that are zero are left out.

/// Expands to the compression function: `rounds`, `extend`, `finish` and `padding_block`.
macro_rules! sha2_rounds {
    ($(#[$attr:meta])*) => {
        /// The state in registers, and in memory.
        type State = [V; 8];
        pub(crate) type State8 = [[W; L]; 8];
        /// A block's schedule.
        pub(crate) type Words = [[W; L]; K.len()];

        /// Eight rounds, after which the state's names are where they were; `$hkw(i, h)` adds `h`, the
        /// word and the constant of round `i`.
        macro_rules! eight {
            ($s:ident, $ahead:expr, $hkw:expr) => {{
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = $s;
                let hkw = $hkw(0, h);
                step::<{ $ahead }>([a, b, c], &mut d, e, f, g, &mut h, hkw);
                let hkw = $hkw(1, g);
                step::<{ $ahead }>([h, a, b], &mut c, d, e, f, &mut g, hkw);
                let hkw = $hkw(2, f);
                step::<{ $ahead }>([g, h, a], &mut b, c, d, e, &mut f, hkw);
                let hkw = $hkw(3, e);
                step::<{ $ahead }>([f, g, h], &mut a, b, c, d, &mut e, hkw);
                let hkw = $hkw(4, d);
                step::<{ $ahead }>([e, f, g], &mut h, a, b, c, &mut d, hkw);
                let hkw = $hkw(5, c);
                step::<{ $ahead }>([d, e, f], &mut g, h, a, b, &mut c, hkw);
                let hkw = $hkw(6, b);
                step::<{ $ahead }>([c, d, e], &mut f, g, h, a, &mut b, hkw);
                let hkw = $hkw(7, a);
                step::<{ $ahead }>([b, c, d], &mut e, f, g, h, &mut a, hkw);
                $s = [a, b, c, d, e, f, g, h];
            }};
        }

        /// One round; `hkw` is the sum of `h`, the schedule's word and the round's constant.
        ///
        /// # Correctness
        /// `e` decides what comes last: without `AHEAD` two additions follow Σ1, of which the first makes
        /// what `a` needs as well; with it one, for one addition more in all.
        $(#[$attr])*
        #[inline]
        fn step<const AHEAD: bool>(s: [V; 3], d: &mut V, e: V, f: V, g: V, h: &mut V, hkw: V) {
            let [a, b, c] = s;
            if AHEAD {
                let q = hold(add(hold(hkw), ch(e, f, g)));
                let r = hold(add(q, *d));
                let s = big1(e);
                *d = add(r, s);
                let t = hold(add(q, s));
                *h = add(hold(add(t, maj(a, b, c))), big0(a));
            } else {
                let s = big1(e);
                let q = hold(add(hold(hkw), ch(e, f, g)));
                let t = hold(add(q, s));
                *d = add(*d, t);
                *h = add(t, hold(add(big0(a), maj(a, b, c))));
            }
        }

        /// Runs rounds `R0..R1` of the first sixteen, one by one.
        $(#[$attr])*
        #[inline]
        fn rounds<const R0: usize, const R1: usize>(s: &mut State, w: &Words) {
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *s;
            for i in R0..R1 {
                let hkw = add(hold(add(h, set1(K[i]))), load(&w[i]));
                step::<AHEAD>([a, b, c], &mut d, e, f, g, &mut h, hkw);
                [a, b, c, d, e, f, g, h] = [h, a, b, c, d, e, f, g];
            }
            *s = [a, b, c, d, e, f, g, h];
        }

        /// Computes words `FIRST..KNOWN` of the schedule, at most to 32. Those words of the block
        /// whose bits are set in `ZERO` are zero, and the terms that they would make are left out.
        $(#[$attr])*
        #[inline(never)]
        fn extend<const ZERO: u32, const FIRST: usize, const KNOWN: usize>(w: &mut Words) {
            for i in 0..16 {
                debug_assert!(ZERO >> i & 1 == 0 || w[i] == [0; L], "word {i} is zero");
            }
            let mut before = [load(&w[FIRST - 2]), load(&w[FIRST - 1])];
            macro_rules! word {
                ($t:literal) => {
                    if $t >= FIRST && $t < KNOWN {
                        const fn zero(mask: u32, i: usize) -> bool {
                            i < 16 && mask >> i & 1 == 1
                        }
                        let mut sum = load(&w[$t - 16]);
                        if zero(ZERO, $t - 16) {
                            sum = set1(0);
                        }
                        if !zero(ZERO, $t - 15) {
                            sum = add(sum, small0(load(&w[$t - 15])));
                        }
                        if !zero(ZERO, $t - 7) {
                            sum = add(sum, load(&w[$t - 7]));
                        }
                        if !zero(ZERO, $t - 2) {
                            sum = add(sum, small1(before[0]));
                        }
                        store(&mut w[$t], sum);
                        before = [before[1], sum];
                    }
                };
            }
            word!(16);
            word!(17);
            word!(18);
            word!(19);
            word!(20);
            word!(21);
            word!(22);
            word!(23);
            word!(24);
            word!(25);
            word!(26);
            word!(27);
            word!(28);
            word!(29);
            word!(30);
            word!(31);
            let _ = before;
        }

        /// Finishes a block whose first `R0` rounds led to `s` and whose schedule is known up to
        /// word `KNOWN`: `out` is the sum of the result and `feed`.
        $(#[$attr])*
        #[inline]
        fn finish<const R0: usize, const KNOWN: usize>(
            feed: &State8,
            s: &State8,
            w: &mut Words,
            out: &mut State8,
        ) {
            match R0 {
                0 | 8 => run(feed, s, w, R0, KNOWN, out),
                _ => {
                    let mut t = loads(s);
                    let mut then = [[0; L]; 8];
                    if R0 < 8 { rounds::<R0, 8>(&mut t, w) } else { rounds::<R0, 16>(&mut t, w) }
                    stores(&mut then, &t);
                    if R0 > 8 && KNOWN < 24 {
                        extend::<0, 16, 24>(w);
                    }
                    run(feed, &then, w, R0.next_multiple_of(8), KNOWN.max(R0.next_multiple_of(8) + 8), out);
                    // Of a key's hash it is half way to the key.
                    $crate::wipe::wipe(&mut then);
                }
            }
        }

        /// Runs the rounds from `from` on, the schedule being there up to `known`; both are multiples of
        /// eight, and eight words are known that the rounds have not come to.
        ///
        /// Two loops of eight rounds in one function that all jobs share: 6 kB of code. Beside eight rounds
        /// the words of the next eight are computed. What was measured, in cycles of Zen 5 for a step of
        /// 32 chains, which is 2990 of its ports' time:
        ///
        /// | | |
        /// |---|---|
        /// | each round's word just before it, sums in the order that the compiler likes | 3616 |
        /// | sums in the order of [`step`] | 3560 |
        /// | beside the first rounds the words after a padded block's, written out for their zeros | 3530 to 3980 |
        /// | words eight rounds ahead | 3430 |
        /// | and `AHEAD` in all rounds | 3500 |
        ///
        /// What is longer, unrolled or written out for each block of a chain's step, no longer fits into
        /// the first-level caches with the rest of the step, and is slower.
        $(#[$attr])*
        #[inline(never)]
        pub(crate) fn run(
            feed: &State8,
            s: &State8,
            w: &mut Words,
            from: usize,
            known: usize,
            out: &mut State8,
        ) {

            debug_assert!(from % 8 == 0 && known % 8 == 0 && from + 8 <= known && known >= 16);
            // A vector that must lie in memory aligns the whole frame: registers spilled to a frame
            // that is not would cross cache lines with every access.
            core::hint::black_box(&mut set1(0));
            let mut s = loads(s);
            let mut span = from..known - 8;
            loop {
                let words = w[span.clone()].as_chunks::<8>().0;
                for (w, k) in words.iter().zip(K[span.clone()].as_chunks::<8>().0) {
                    eight!(s, AHEAD, |i: usize, h: V| add(hold(add(h, set1(k[i]))), load(&w[i])));
                }
                if span.end == K.len() {
                    break;
                }
                for t in (known - 8..K.len() - 8).step_by(8) {
                    let Some((w, _)) = w[t - 8..].split_first_chunk_mut::<24>() else { break };
                    let Some((k, _)) = K[t..].split_first_chunk::<8>() else { break };
                    let mut next = |i: usize, h: V| {
                        let hkw = add(hold(add(h, set1(k[i]))), load(&w[i + 8]));
                        let (s0, s1) = (small0(load(&w[i + 1])), small1(load(&w[i + 14])));
                        let sum = add(add(load(&w[i]), hold(add(load(&w[i + 9]), s0))), s1);
                        store(&mut w[i + 16], sum);
                        hkw
                    };
                    eight!(s, AHEAD && !FULL, next);
                }
                span = K.len() - 8..K.len();
            }
            plus(feed, &s, out);
        }

        /// Runs all rounds with `kw[i]` = schedule word + round constant already added: a block of
        /// padding.
        $(#[$attr])*
        #[inline]
        fn padding_block(feed: &State8, kw: &[W; K.len()], out: &mut State8) {
            let mut s = loads(feed);
            for k in kw.as_chunks::<8>().0 {
                eight!(s, AHEAD, |i: usize, h: V| add(h, set1(k[i])));
            }
            plus(feed, &s, out);
        }

        $crate::sha2::sha2_rows!($(#[$attr])*);
    };
}
pub(crate) use sha2_rounds;

/// Expands to the jobs over the compression function in scope.
macro_rules! sha2_jobs {
    ($(#[$attr:meta])*) => {
        /// Words of the tail: half of a 32-byte address.
        const T: usize = 16 / size_of::<W>();

        /// Fills a block from word `from` on with padding: the end's mark, zeros, and the length
        /// where it fits.
        $(#[$attr])*
        #[inline]
        fn pad(w: &mut Words, from: usize, bits: W) {
            for i in from..16 {
                w[i] = [0; L];
            }
            if from < 16 {
                w[from] = [TOP; L];
            }
            if from < 14 {
                w[15] = [bits; L];
            }
        }

        /// Writes the block `prefix words ‖ tail ‖ padding`; where the length does not fit, the
        /// caller hashes a padding block after it.
        $(#[$attr])*
        #[inline]
        fn last_block<const R0: usize>(m: &mut Soa, bits: W) {
            copy(&mut m.w[..R0], &m.words[..R0]);
            copy(&mut m.w[R0..R0 + T], &m.tail[..T]);
            pad(&mut m.w, R0 + T, bits);
        }

        /// Hashes `prefix ‖ tail` in every lane, the prefix ending `R0` words into its last block,
        /// of which `RS` rounds are done.
        $(#[$attr])*
        #[inline]
        fn prf_words<const R0: usize, const RS: usize>(m: &mut Soa, shape: &Shape) {
            last_block::<R0>(m, shape.bits);
            if R0 + T < 14 {
                finish::<RS, 16>(&m.feed, &m.mid, &mut m.w, &mut m.x);
            } else {
                finish::<RS, 16>(&m.feed, &m.mid, &mut m.w, &mut m.s);
                padding_block(&m.s, &shape.pad, &mut m.x);
            }
        }

        /// Hashes `prefix ‖ tail` for `COUNT` tails that end in 0, 1, …: a key and its masks.
        ///
        /// `KEPT` rounds are run once: those before the tail's last word, `DIFFERS`, or, where kernels
        /// that share a state can, those up to and with it. A word that is greater by one makes `a` and
        /// `e` of its round greater by one, and nothing else. Of the schedule, the words before `FIRST`
        /// do not depend on it; where no word is zero, it is left to the rounds.
        $(#[$attr])*
        #[inline]
        fn key_and_masks<
            const R0: usize,
            const RS: usize,
            const KEPT: usize,
            const DIFFERS: usize,
            const ZERO: u32,
            const FIRST: usize,
            const COUNT: usize,
        >(
            m: &mut Soa,
            shape: &Shape,
        ) {
            const { assert!(DIFFERS == R0 + T - 1 && KEPT - DIFFERS < 2 && FIRST == DIFFERS + 15) };
            last_block::<R0>(m, shape.bits);
            let mut shared = loads(&m.mid);
            rounds::<RS, KEPT>(&mut shared, &m.w);
            stores(&mut m.s, &shared);
            for i in 0..COUNT {
                if i > 0 {
                    plus_one(&mut m.w[DIFFERS]);
                    if KEPT > DIFFERS {
                        plus_one(&mut m.s[0]);
                        plus_one(&mut m.s[4]);
                    }
                }
                match (ZERO, i) {
                    (0, _) => {}
                    (_, 0) => extend::<ZERO, 16, 32>(&mut m.w),
                    _ => extend::<ZERO, FIRST, 32>(&mut m.w),
                }
                let out = if KEPT < 13 { &mut m.keys[i] } else { &mut m.t };
                if ZERO == 0 {
                    finish::<KEPT, 16>(&m.feed, &m.s, &mut m.w, out);
                } else {
                    finish::<KEPT, 32>(&m.feed, &m.s, &mut m.w, out);
                }
                if KEPT >= 13 {
                    padding_block(&m.t, &shape.pad, &mut m.keys[i]);
                }
            }
        }

        /// Copies rows without the call that slices would make.
        $(#[$attr])*
        #[inline]
        fn copy(to: &mut [[W; L]], from: &[[W; L]]) {
            for (to, from) in to.iter_mut().zip(from) {
                store(to, load(from));
            }
        }

        $(#[$attr])*
        #[inline]
        fn plus_one(row: &mut [W; L]) {
            store(row, add(load(row), set1(1)));
        }

        /// `x ← Hash(0 ‖ key ‖ (x ⊕ mask))` where a whole block precedes the masked value.
        $(#[$attr])*
        #[inline]
        fn masked_full<
            const R0: usize,
            const KEPT: usize,
            const DIFFERS: usize,
            const ZERO: u32,
            const FIRST: usize,
        >(
            m: &mut Soa,
            prf: &Shape,
            out: &Fixed,
        ) {
            key_and_masks::<R0, R0, KEPT, DIFFERS, ZERO, FIRST, 2>(m, prf);
            m.w[..8].fill([0; L]);
            copy(&mut m.w[8..16], &m.keys[0]);
            extend::<0x00ff, 16, 24>(&mut m.w);
            finish::<8, 24>(&m.iv, &m.half_f, &mut m.w, &mut m.s);
            for i in 0..8 {
                store(&mut m.w[i], xor(load(&m.x[i]), load(&m.keys[1][i])));
            }
            pad(&mut m.w, 8, out.bits_f);
            extend::<0x7e00, 16, 32>(&mut m.w);
            finish::<0, 32>(&m.s, &m.s, &mut m.w, &mut m.x);
        }

        /// Steps of chains: masked values, each with the next tail.
        $(#[$attr])*
        pub(super) fn steps(m: &mut Soa, prf: &Shape, out: &Fixed, count: u32) {
            for _ in 0..count {
                masked(m, prf, out);
                let row = &mut m.tail[8 / size_of::<W>()];
                store(row, add(load(row), set1(1 << (W::BITS - 32))));
            }
        }

        /// `x ← Hash(1 ‖ key ‖ (x ⊕ mask0) ‖ (y ⊕ mask1))`, as `masked_full`.
        $(#[$attr])*
        #[inline]
        fn pair_full<
            const R0: usize,
            const KEPT: usize,
            const DIFFERS: usize,
            const ZERO: u32,
            const FIRST: usize,
        >(
            m: &mut Soa,
            prf: &Shape,
            out: &Fixed,
        ) {
            key_and_masks::<R0, R0, KEPT, DIFFERS, ZERO, FIRST, 3>(m, prf);
            m.w[..7].fill([0; L]);
            m.w[7] = [1; L];
            copy(&mut m.w[8..16], &m.keys[0]);
            extend::<0x007f, 16, 24>(&mut m.w);
            finish::<8, 24>(&m.iv, &m.half_h, &mut m.w, &mut m.s);
            for i in 0..8 {
                store(&mut m.w[i], xor(load(&m.x[i]), load(&m.keys[1][i])));
                store(&mut m.w[8 + i], xor(load(&m.y[i]), load(&m.keys[2][i])));
            }
            finish::<0, 16>(&m.s, &m.s, &mut m.w, &mut m.t);
            padding_block(&m.t, &out.pad_h, &mut m.x);
        }
    };
}
pub(crate) use sha2_jobs;

/// Expands to the jobs of a kernel of vectors, in which a lane is not sooner done alone.
macro_rules! sha2_vector_jobs {
    ($(#[$attr:meta])*) => {
        $crate::sha2::sha2_jobs!($(#[$attr])*);

        /// Hashes two masked values in lane 0, and in the others.
        $(#[$attr])*
        pub(super) fn pair_first(m: &mut Soa, prf: &Shape, out: &Fixed) {
            pair(m, prf, out);
        }
    };
}
pub(crate) use sha2_vector_jobs;

/// Expands to the ways of a state between registers and rows.
macro_rules! sha2_rows {
    ($(#[$attr:meta])*) => {
        $(#[$attr])*
        #[inline]
        fn loads(rows: &State8) -> State {
            let mut out = [set1(0); 8];
            for i in 0..8 {
                out[i] = load(&rows[i]);
            }
            out
        }

        $(#[$attr])*
        #[inline]
        fn stores(rows: &mut State8, s: &State) {
            for i in 0..8 {
                store(&mut rows[i], s[i]);
            }
        }

        $(#[$attr])*
        #[inline]
        fn plus(feed: &State8, s: &State, out: &mut State8) {
            for i in 0..8 {
                store(&mut out[i], add(load(&feed[i]), s[i]));
            }
        }
    };
}
pub(crate) use sha2_rows;
