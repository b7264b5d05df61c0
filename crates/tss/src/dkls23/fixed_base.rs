//! Many multiplications of one point by secret scalars.
//!
//! The table has the multiples 1 … 8 of 16^i·P for each of the 64 signed radix-16 digits of a
//! scalar, in affine form: a multiplication is 65 look-ups and mixed additions without doublings.
//! The table costs about seven multiplications, which 128 base transfers repay. In constant time:
//! each look-up reads its whole row.

use k256::elliptic_curve::BatchNormalize;
use k256::{AffinePoint, ProjectivePoint, Scalar};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

const DIGITS: usize = 65;
const ROW: usize = 8;

/// A table of multiples of one point.
pub(crate) struct FixedBase {
    rows: Vec<AffinePoint>,
}

impl FixedBase {
    /// Makes the table of `base`.
    pub(crate) fn new(base: &ProjectivePoint) -> Self {
        let mut multiples = Vec::with_capacity(DIGITS * ROW);
        let mut first = *base;
        for _ in 0..DIGITS {
            let mut multiple = first;
            for _ in 0..ROW {
                multiples.push(multiple);
                multiple += first;
            }
            // 16·first, from its eightfold, which was pushed last.
            first = multiples[multiples.len() - 1].double();
        }
        let rows: Vec<AffinePoint> = ProjectivePoint::batch_normalize(multiples.as_slice());
        Self { rows }
    }

    /// The multiples, row after row.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn multiples(&self) -> &[AffinePoint] {
        &self.rows
    }

    /// Multiplies the point by `scalar`.
    pub(crate) fn mul(&self, scalar: &Scalar) -> ProjectivePoint {
        let digits = Zeroizing::new(radix_16(scalar));
        let mut sum = ProjectivePoint::IDENTITY;
        for (row, &digit) in self.rows.chunks_exact(ROW).zip(digits.iter()) {
            sum += select(row, digit);
        }
        sum
    }
}

/// Picks `digit` times the row's first point, for a digit from -8 to 8.
fn select(row: &[AffinePoint], digit: i8) -> AffinePoint {
    // Wrapping: where a build checks for overflow, the check would branch on the digit.
    let sign = digit >> 7;
    let magnitude = (digit ^ sign).wrapping_sub(sign) as u8;
    let mut point = AffinePoint::IDENTITY;
    for (multiple, candidate) in (1u8..).zip(row) {
        point.conditional_assign(candidate, magnitude.ct_eq(&multiple));
    }
    let negative = Choice::from((sign & 1) as u8);
    AffinePoint::conditional_select(&point, &-point, negative)
}

/// Writes a scalar in radix 16 with digits from -8 to 7, least significant first.
fn radix_16(scalar: &Scalar) -> [i8; DIGITS] {
    let bytes = Zeroizing::new(<[u8; 32]>::from(scalar.to_bytes()));
    let mut digits = [0i8; DIGITS];
    for (i, byte) in bytes.iter().rev().enumerate() {
        digits[2 * i] = (byte & 15) as i8;
        digits[2 * i + 1] = (byte >> 4) as i8;
    }
    for i in 0..DIGITS - 1 {
        // A digit with its carry is at most 16, so the next carry is 0 or 1.
        // Wrapping, for a check would be a branch.
        let carry = digits[i].wrapping_add(8) >> 4;
        digits[i] = digits[i].wrapping_sub(carry << 4);
        digits[i + 1] = digits[i + 1].wrapping_add(carry);
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use k256::elliptic_curve::Field;
    use rand_core::SeedableRng;

    #[test]
    fn agrees_with_plain_multiplication() {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let base = ProjectivePoint::GENERATOR * Scalar::random(&mut rng);
        let table = FixedBase::new(&base);
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(8u32)];
        scalars.extend((0..20).map(|_| Scalar::random(&mut rng)));
        scalars.extend((0..64).map(|i| Scalar::from(8u32) * Scalar::from(16u32).pow([i])));
        for scalar in scalars {
            assert_eq!(table.mul(&scalar), base * scalar);
        }
    }
}
