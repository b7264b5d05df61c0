//! The entries of a SHA-512 kernel.

/// Expands to the jobs that [`Lanes`](super::Lanes) calls, beside the jobs of SHA-2.
macro_rules! sha2_entries {
    ($(#[$attr:meta])*) => {
        /// Hashes `prefix ‖ tail` in every lane.
        $(#[$attr])*
        pub(super) fn prf(m: &mut Soa, shape: &Shape) {
            match shape.r0 {
                2 => prf_words::<2, 2>(m, shape),
                _ => prf_words::<10, 10>(m, shape),
            }
        }

        /// Hashes one masked value in every lane.
        $(#[$attr])*
        pub(super) fn masked(m: &mut Soa, prf: &Shape, out: &Fixed) {
            masked_full::<2, 4, 3, 0x7fe0, 18>(m, prf, out);
        }

        /// Hashes two masked values in every lane.
        $(#[$attr])*
        pub(super) fn pair(m: &mut Soa, prf: &Shape, out: &Fixed) {
            pair_full::<2, 4, 3, 0x7fe0, 18>(m, prf, out);
        }
    };
}
pub(crate) use sha2_entries;
