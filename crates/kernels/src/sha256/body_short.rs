//! The lane jobs of SHA-256 with 24-byte values and a 4-byte prefix: nothing ends at a block.

/// Expands to `masked_short` and `pair_short` beside what the jobs of `body`.
macro_rules! sha2_short_body {
    ($(#[$attr:meta])*) => {
        /// `x ← Hash(0 ‖ key ‖ (x ⊕ mask))`, one block of 52 bytes.
        $(#[$attr])*
        #[inline]
        fn masked_short(m: &mut Soa, prf: &Shape, out: &Fixed) {
            let [key, mask] = key_and_masks::<11, 8, 14, 2>(m, prf);
            let mut w = [set1(0); 16];
            w[1..7].copy_from_slice(&key[..6]);
            for i in 0..6 {
                w[7 + i] = xor(load(&m.x[i]), mask[i]);
            }
            w[13] = set1(TOP);
            w[15] = set1(out.bits_f);
            let iv = splat(&IV);
            let s = finish::<0>(&iv, iv, &w);
            for i in 0..6 {
                store(&mut m.x[i], s[i]);
            }
        }

        /// `x ← Hash(1 ‖ key ‖ (x ⊕ mask0) ‖ (y ⊕ mask1))`, two blocks for 76 bytes.
        $(#[$attr])*
        #[inline]
        fn pair_short(m: &mut Soa, prf: &Shape, out: &Fixed) {
            let [key, mask0, mask1] = key_and_masks::<11, 8, 14, 3>(m, prf);
            let mut w = [set1(0); 16];
            w[0] = set1(1);
            w[1..7].copy_from_slice(&key[..6]);
            for i in 0..6 {
                w[7 + i] = xor(load(&m.x[i]), mask0[i]);
            }
            for i in 0..3 {
                w[13 + i] = xor(load(&m.y[i]), mask1[i]);
            }
            let iv = splat(&IV);
            let feed = finish::<0>(&iv, iv, &w);
            let mut w = [set1(0); 16];
            for i in 0..3 {
                w[i] = xor(load(&m.y[3 + i]), mask1[3 + i]);
            }
            w[3] = set1(TOP);
            w[15] = set1(out.bits_h);
            let s = finish::<0>(&feed, feed, &w);
            for i in 0..6 {
                store(&mut m.x[i], s[i]);
            }
        }

        /// Hashes `prefix ‖ tail` in every lane.
        $(#[$attr])*
        pub(super) fn prf(m: &mut Soa, shape: &Shape) {
            let s = match shape.r0 {
                1 => prf_words::<1, 0>(m, shape),
                4 => prf_words::<4, 4>(m, shape),
                11 => prf_words::<11, 8>(m, shape),
                _ => prf_words::<12, 12>(m, shape),
            };
            for i in 0..8 {
                store(&mut m.x[i], s[i]);
            }
        }

        /// Hashes one masked value in every lane.
        $(#[$attr])*
        pub(super) fn masked(m: &mut Soa, prf: &Shape, out: &Fixed) {
            if prf.r0 == 4 { masked_full::<4, 7>(m, prf, out) } else { masked_short(m, prf, out) }
        }

        /// Hashes two masked values in every lane.
        $(#[$attr])*
        pub(super) fn pair(m: &mut Soa, prf: &Shape, out: &Fixed) {
            if prf.r0 == 4 { pair_full::<4, 7>(m, prf, out) } else { pair_short(m, prf, out) }
        }
    };
}
pub(crate) use sha2_short_body;
