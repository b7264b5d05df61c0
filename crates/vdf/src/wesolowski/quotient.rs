//! The bits of ⌊2^T/ℓ⌋, many of them from one remainder.
//!
//! The bits of the quotient from bit s on are those of 2^(T − s)/ℓ. So the K bits below s are
//! ⌊2^K·r/ℓ⌋ with r = 2^(T − s) mod ℓ, one multiplication by a reciprocal; and one multiplication
//! modulo ℓ gives the r of another place.

use crate::field256::Field256;

/// Bits of the quotient that are computed at once.
pub(super) const EXPANDED: u64 = 192;

/// A remainder comes from the one so many places above it: they do not wait for each other.
const APART: usize = 4;

/// The quotient for one T and one ℓ.
pub(super) struct Quotient {
    iterations: u64,
    field: Field256,
    prime: [u64; 4],
}

impl Quotient {
    pub(super) fn new(iterations: u64, prime: &[u64; 4]) -> Self {
        Self { iterations, field: Field256::expanding(*prime), prime: *prime }
    }

    /// Hands out the [`EXPANDED`] bits below bit step·i + above, for each i below `count`, the highest
    /// first; but not those of places above T, which are zero.
    #[inline(always)]
    pub(super) fn expand_each(
        &self,
        count: u64,
        (step, above): (u64, u64),
        mut take: impl FnMut(u64, [u64; 3]),
    ) {
        let factor = self.field.pow(&self.field.two(), &[step]);
        let far = self.field.pow(&factor, &[APART as u64]);
        let mut remainders = [[0; 4]; APART];
        // 2^T/ℓ has 255 bits less than 2^T.
        let end = |i: u64| step * i + above;
        let places = (0..count).rev().skip_while(|&i| end(i) > self.iterations);
        for (nth, i) in places.enumerate() {
            let now = match nth {
                0 => super::power_of_two_mod(self.iterations - end(i), &self.prime),
                1..APART => self.field.mul(&remainders[nth - 1], &factor),
                _ => self.field.mul(&remainders[nth % APART], &far),
            };
            remainders[nth % APART] = now;
            take(i, self.field.expand(&now));
        }
    }
}
