//! Feldman's verifiable secret sharing: polynomials, shares, and their check in the exponent.
//!
//! Each party deals a random polynomial of degree t − 1 whose coefficients it commits to as points;
//! the key is the sum of all constant terms, a party's share the sum of all dealers' polynomials at
//! its number (DKLs23 §6; Feldman, FOCS 1987).

use k256::{ProjectivePoint, Scalar};
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::engine::PartyId;
use crate::wire::{POINT, Writer, publish, random_scalar};

/// A dealer's secret polynomial, constant term first.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Polynomial(Vec<Scalar>);

impl Polynomial {
    /// Draws a polynomial with `t` coefficients.
    pub(crate) fn random(t: u8, rng: &mut impl CryptoRng) -> Self {
        Self((0..t).map(|_| random_scalar(rng)).collect())
    }

    /// Draws a polynomial with `t` coefficients whose constant term is given.
    pub(crate) fn random_from(constant: &Scalar, t: u8, rng: &mut impl CryptoRng) -> Self {
        let mut polynomial = Self::random(t, rng);
        polynomial.0[0] = *constant;
        polynomial
    }

    /// The constant term: the dealer's part of the secret key.
    pub(crate) fn constant(&self) -> &Scalar {
        &self.0[0]
    }

    /// The share of `party`.
    pub(crate) fn evaluate(&self, party: PartyId) -> Scalar {
        let x = abscissa(party);
        self.0.iter().rev().fold(Scalar::ZERO, |sum, coefficient| sum * x + coefficient)
    }

    /// The points of the coefficients, which are public: all parties are told them.
    pub(crate) fn commit(&self) -> Commitments {
        let points: Vec<_> = self.0.iter().map(ProjectivePoint::mul_by_generator).collect();
        Commitments(publish(&points))
    }
}

/// A polynomial in the exponent, constant term first: a dealer's, or the sum of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commitments(pub(crate) Vec<ProjectivePoint>);

impl Commitments {
    /// The polynomial at the number of `party`: the point of its share. Public, variable time.
    pub(crate) fn evaluate_vartime(&self, party: PartyId) -> ProjectivePoint {
        let x = party.get();
        self.0
            .iter()
            .rev()
            .fold(ProjectivePoint::IDENTITY, |sum, point| multiply_small_vartime(&sum, x) + point)
    }

    /// Adds another dealer's polynomial.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, point)| *sum += point);
    }

    /// The encoding: the compressed points in order.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.tail_to_bytes(0)
    }

    /// The encoding without the first `skip` points.
    pub(crate) fn tail_to_bytes(&self, skip: usize) -> Vec<u8> {
        let mut bytes = Writer::with_capacity(self.0.len() * POINT);
        self.0.iter().skip(skip).for_each(|point| {
            bytes.point(point);
        });
        bytes.finish().to_vec()
    }
}

/// Multiplies by a number of eight bits.
fn multiply_small_vartime(point: &ProjectivePoint, factor: u8) -> ProjectivePoint {
    let mut product = ProjectivePoint::IDENTITY;
    for bit in (0..8 - factor.leading_zeros()).rev() {
        product = product.double();
        if factor >> bit & 1 == 1 {
            product += point;
        }
    }
    product
}

/// Lagrange's coefficient at 0 of `party` among `parties`, which are distinct and have it.
pub(crate) fn lagrange(party: PartyId, parties: &[PartyId]) -> Scalar {
    let x = abscissa(party);
    let (mut numerator, mut denominator) = (Scalar::ONE, Scalar::ONE);
    for &other in parties.iter().filter(|&&other| other != party) {
        numerator *= abscissa(other);
        denominator *= abscissa(other) - x;
    }
    // Distinct parties have distinct abscissas below the group order: the denominator is not zero.
    numerator * denominator.invert().unwrap_or(Scalar::ZERO)
}

fn abscissa(party: PartyId) -> Scalar {
    Scalar::from(u32::from(party.get()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;

    #[test]
    fn shares_meet_their_commitments_and_the_secret() {
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let polynomial = Polynomial::random(4, &mut rng);
        let commitments = polynomial.commit();
        for x in [1, 2, 30, 255] {
            let party = PartyId::new(x).unwrap();
            let share = ProjectivePoint::GENERATOR * polynomial.evaluate(party);
            assert_eq!(commitments.evaluate_vartime(party), share);
        }
        let parties: Vec<_> = [1, 3, 7, 255].map(|x| PartyId::new(x).unwrap()).into();
        let secret = parties.iter().fold(Scalar::ZERO, |sum, &party| {
            sum + lagrange(party, &parties) * polynomial.evaluate(party)
        });
        assert_eq!(secret, *polynomial.constant());
    }
}
