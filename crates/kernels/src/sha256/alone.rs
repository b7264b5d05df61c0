//! The job of SHA-256's instructions that is done for one message alone.

/// Expands to `pair_first`, beside [`sha2_instructions`](crate::sha2) and the jobs of SHA-2.
macro_rules! sha256_alone {
    ($(#[$attr:meta])*) => {
        use super::IV;

        /// One message's state from its words.
        $(#[$attr])*
        #[inline]
        fn one(s: &[W; 8]) -> Turned<1> {
            let mut t = [[set1(0)]; 8 / L];
            for (part, of) in t.iter_mut().zip(PARTS) {
                *part = [load(&of.map(|i| s[i]))];
            }
            Turned(t)
        }

        /// One message's words from its state.
        $(#[$attr])*
        #[inline]
        fn one_back(t: &Turned<1>) -> [W; 8] {
            let mut s = [0; 8];
            for (part, of) in t.0.iter().zip(PARTS) {
                let mut words = [0; L];
                store(&mut words, part[0]);
                for (i, word) in of.into_iter().zip(words) {
                    s[i] = word;
                }
            }
            s
        }

        /// Hashes one block of one message, of which the rounds of the first `L·from` words led to `s`.
        $(#[$attr])*
        #[inline]
        pub(super) fn block(feed: &[W; 8], s: &[W; 8], w: &[W; 16], from: usize) -> [W; 8] {
            let mut t = one(s);
            let mut ring = [[set1(0)]; RING];
            for (vector, words) in ring.iter_mut().zip(w.as_chunks::<L>().0) {
                *vector = [load(words)];
            }
            groups(&mut t, ring, from);
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
            m.w[7] = core::array::from_fn(|i| last.wrapping_add(i as W));
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
            for g in 0..K.len() / L {
                group_rounds(&mut t, [constants(&out.pad_h, g)]);
            }
            let s = sum(&s, &one_back(&t));
            for i in 0..8 {
                m.x[i][0] = s[i];
            }
        }
    };
}
pub(crate) use sha256_alone;
