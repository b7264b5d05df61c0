//! The entries of a SHA-256 kernel, and its jobs with 24-byte values and a 4-byte prefix, where nothing
//! ends at a block.

/// Expands to the jobs that [`Lanes`](super::Lanes) calls, beside the jobs of SHA-2.
macro_rules! sha2_entries {
    ($(#[$attr:meta])*) => {
        /// `x ← Hash(0 ‖ key ‖ (x ⊕ mask))`, one block of 52 bytes.
        $(#[$attr])*
        #[inline]
        fn masked_short(m: &mut Soa, prf: &Shape, out: &Fixed) {
            key_and_masks::<11, 8, 14, 14, 0, 29, 2>(m, prf);
            m.w[0] = [0; L];
            m.w[1..7].copy_from_slice(&m.keys[0][..6]);
            for i in 0..6 {
                store(&mut m.w[7 + i], xor(load(&m.x[i]), load(&m.keys[1][i])));
            }
            pad(&mut m.w, 13, out.bits_f);
            extend::<0x4001, 16, 32>(&mut m.w);
            finish::<0, 32>(&m.iv, &m.iv, &mut m.w, &mut m.x);
        }

        /// `x ← Hash(1 ‖ key ‖ (x ⊕ mask0) ‖ (y ⊕ mask1))`, two blocks for 76 bytes.
        $(#[$attr])*
        #[inline]
        fn pair_short(m: &mut Soa, prf: &Shape, out: &Fixed) {
            key_and_masks::<11, 8, 14, 14, 0, 29, 3>(m, prf);
            m.w[0] = [1; L];
            m.w[1..7].copy_from_slice(&m.keys[0][..6]);
            for i in 0..6 {
                store(&mut m.w[7 + i], xor(load(&m.x[i]), load(&m.keys[1][i])));
            }
            for i in 0..3 {
                store(&mut m.w[13 + i], xor(load(&m.y[i]), load(&m.keys[2][i])));
            }
            finish::<0, 16>(&m.iv, &m.iv, &mut m.w, &mut m.s);
            for i in 0..3 {
                store(&mut m.w[i], xor(load(&m.y[3 + i]), load(&m.keys[2][3 + i])));
            }
            pad(&mut m.w, 3, out.bits_h);
            extend::<0x7ff0, 16, 32>(&mut m.w);
            finish::<0, 32>(&m.s, &m.s, &mut m.w, &mut m.x);
        }

        /// Hashes `prefix ‖ tail` in every lane.
        $(#[$attr])*
        pub(super) fn prf(m: &mut Soa, shape: &Shape) {
            match shape.r0 {
                1 => prf_words::<1, 0>(m, shape),
                4 => prf_words::<4, 4>(m, shape),
                11 => prf_words::<11, 8>(m, shape),
                _ => prf_words::<12, 12>(m, shape),
            }
        }

        /// Hashes one masked value in every lane.
        $(#[$attr])*
        pub(super) fn masked(m: &mut Soa, prf: &Shape, out: &Fixed) {
            if prf.r0 == 4 { masked_full::<4, 8, 7, 0x7e00, 22>(m, prf, out) } else { masked_short(m, prf, out) }
        }

        /// Hashes two masked values in every lane.
        $(#[$attr])*
        pub(super) fn pair(m: &mut Soa, prf: &Shape, out: &Fixed) {
            if prf.r0 == 4 { pair_full::<4, 8, 7, 0x7e00, 22>(m, prf, out) } else { pair_short(m, prf, out) }
        }
    };
}
pub(crate) use sha2_entries;
