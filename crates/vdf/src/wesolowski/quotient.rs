//! The bits of ⌊2^T/ℓ⌋, many of them from one remainder.
//!
//! The bits of the quotient from bit s on are those of 2^(T − s)/ℓ. So the K bits below s are
//! ⌊2^K·r/ℓ⌋ with r = 2^(T − s) mod ℓ, one multiplication by a reciprocal; and one multiplication
//! modulo ℓ gives the r of another place.

use crate::field256::Field256;

/// A remainder comes from the one so many places above it: they do not wait for each other.
const APART: usize = 4;

/// The quotient for one T and one ℓ, of which bits are computed W − 1 limbs at a time.
pub(super) struct Quotient<const W: usize> {
    iterations: u64,
    field: Field256,
    inverse: [u64; W],
}

impl<const W: usize> Quotient<W> {
    /// Bits that are computed at once.
    pub(super) const EXPANDED: u64 = 64 * (W as u64 - 1);

    pub(super) fn new(iterations: u64, prime: &[u64; 4]) -> Self {
        let field = Field256::new(*prime);
        Self { iterations, inverse: field.inverse(), field }
    }

    /// Hands out the [`Quotient::EXPANDED`] bits below bit step·i + above, for each i below `count`, the highest
    /// first, above a limb that means nothing; but not those of places above T.
    #[inline(always)]
    pub(super) fn expand_each(
        &self,
        count: u64,
        (step, above): (u64, u64),
        mut take: impl FnMut(u64, [u64; W]),
    ) {
        let factor = self.field.power_of_two(step);
        let far = self.field.pow(&factor, &[APART as u64]);
        let mut remainders = [[0; 4]; APART];
        let end = |i: u64| step * i + above;
        let places = (0..count).rev().skip_while(|&i| end(i) > self.iterations);
        for (nth, i) in places.enumerate() {
            let now = match nth {
                0 => self.field.leave(&self.field.power_of_two(self.iterations - end(i))),
                1..APART => self.field.mul(&remainders[nth - 1], &factor),
                _ => self.field.mul(&remainders[nth % APART], &far),
            };
            remainders[nth % APART] = now;
            take(i, self.field.expand(&self.inverse, &now));
        }
    }
}
