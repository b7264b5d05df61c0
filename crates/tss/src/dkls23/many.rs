//! Multiplications in bulk for the base transfers, by [`tetralith_kernels::secp256k1`].
//!
//! In constant time in scalars and choices. Points leave compressed; the identity as zeros.

use std::sync::OnceLock;

use k256::elliptic_curve::point::AffineCoordinates;
use k256::{ProjectivePoint, Scalar};
use tetralith_kernels::secp256k1::{Affine, Table, mul_points_all, mul_table_all};
use zeroize::Zeroizing;

use crate::wire::POINT;

/// Compressed points, secret in the general case.
pub(crate) type Points = Zeroizing<Vec<[u8; POINT]>>;

/// A point that is multiplied by many scalars.
pub(crate) struct Base(Table);

impl Base {
    /// Prepares `point`, which is not the identity.
    pub(crate) fn new(point: &ProjectivePoint) -> Self {
        Self(Table::new(&coordinates(point)))
    }

    /// The generator, prepared once.
    pub(crate) fn generator() -> &'static Self {
        static GENERATOR: OnceLock<Base> = OnceLock::new();
        GENERATOR.get_or_init(|| Self::new(&ProjectivePoint::GENERATOR))
    }

    /// Each scalar times the point; with `added`, a point not the identity and up to 128 choice bits,
    /// plus that point where the scalar's bit is set.
    pub(crate) fn mul_all(
        &self,
        scalars: &[Scalar],
        added: Option<(&ProjectivePoint, u128)>,
    ) -> Points {
        let scalars: Zeroizing<Vec<[u8; 32]>> =
            Zeroizing::new(scalars.iter().map(|scalar| scalar.to_bytes().into()).collect());
        let mut choices = Zeroizing::new(Vec::new());
        let mut addend = [[0; 32]; 2];
        if let Some((point, bits)) = added {
            addend = coordinates(point);
            choices.extend((0..scalars.len()).map(|i| (bits >> (i % 128) & 1) as u8));
        }
        Zeroizing::new(mul_table_all(&self.0, &scalars, &addend, &choices))
    }
}

/// Reads compressed points one after another; returns `scalar` times each, and these plus `added`,
/// which is not the identity. `None` if one is no point.
pub(crate) fn mul_points(
    points: &[u8],
    scalar: &Scalar,
    added: &ProjectivePoint,
) -> Option<[Points; 2]> {
    let mut encodings = Vec::with_capacity(points.len() / POINT);
    for point in points.chunks(POINT) {
        encodings.push(point.try_into().ok()?);
    }
    let scalar = Zeroizing::new(<[u8; 32]>::from(scalar.to_bytes()));
    Some(mul_points_all(&encodings, &scalar, &coordinates(added))?.map(Zeroizing::new))
}

/// The coordinates of a point that is not the identity.
fn coordinates(point: &ProjectivePoint) -> Affine {
    let point = point.to_affine();
    [point.x(), point.y()].map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng;
    use crate::wire::{decode_point, encode_point};
    use k256::elliptic_curve::Field;

    /// The same by `k256`.
    fn plainly(
        point: &ProjectivePoint,
        scalars: &[Scalar],
        added: Option<(&ProjectivePoint, u128)>,
    ) -> Points {
        let (shift, choices) = added.unwrap_or((&ProjectivePoint::IDENTITY, 0));
        let sum = |(i, scalar): (usize, &Scalar)| {
            let chosen = choices >> (i % 128) & 1 == 1;
            let sum = point * scalar + if chosen { *shift } else { ProjectivePoint::IDENTITY };
            encoding(&sum)
        };
        Zeroizing::new(scalars.iter().enumerate().map(sum).collect())
    }

    /// The same by `k256`.
    fn points_plainly(
        points: &[u8],
        scalar: &Scalar,
        added: &ProjectivePoint,
    ) -> Option<[Points; 2]> {
        let mut both = [Vec::new(), Vec::new()];
        for point in points.chunks(POINT) {
            let product = decode_point(point)? * scalar;
            both[0].push(encoding(&product));
            both[1].push(encoding(&(product + added)));
        }
        Some(both.map(Zeroizing::new))
    }

    fn encoding(point: &ProjectivePoint) -> [u8; POINT] {
        let is_identity = *point == ProjectivePoint::IDENTITY;
        if is_identity { [0; POINT] } else { encode_point(point) }
    }

    #[test]
    fn jobs_agree_with_k256_on_one_point() {
        let mut rng = rng(1);
        let point = ProjectivePoint::GENERATOR * Scalar::random(&mut rng);
        let other = ProjectivePoint::GENERATOR * Scalar::random(&mut rng);
        let mut scalars: Vec<Scalar> = (0..40).map(|_| Scalar::random(&mut rng)).collect();
        scalars.extend([Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(8u32)]);
        scalars.extend((0..256).step_by(7).map(|i| Scalar::from(2u32).pow([i])));
        let choices = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978;
        let generator = ProjectivePoint::GENERATOR;
        for (base, of) in [(&Base::new(&point), &point), (Base::generator(), &generator)] {
            for added in [None, Some((&other, choices)), Some((&point, choices))] {
                let expected = plainly(of, &scalars, added);
                assert_eq!(base.mul_all(&scalars, added), expected);
                // Counts that do not fill the lanes.
                for count in [1, 7, 9] {
                    let some = base.mul_all(&scalars[..count], added);
                    assert_eq!(some[..], expected[..count]);
                }
            }
        }
    }

    #[test]
    fn jobs_agree_with_k256_on_many_points() {
        let mut rng = rng(2);
        let added = ProjectivePoint::GENERATOR * Scalar::random(&mut rng);
        let mut points: Vec<u8> = Vec::new();
        for _ in 0..19 {
            points.extend(encode_point(&(ProjectivePoint::GENERATOR * Scalar::random(&mut rng))));
        }
        let scalars = [Scalar::random(&mut rng), Scalar::ONE, -Scalar::ONE, Scalar::ZERO];
        for scalar in scalars {
            // A point whose product and addend cancel out.
            let mut points = points.clone();
            let inverse = Option::<Scalar>::from(scalar.invert()).unwrap_or(Scalar::ONE);
            points.extend(encode_point(&-(added * inverse)));
            let expected = points_plainly(&points, &scalar, &added).unwrap();
            assert_eq!(mul_points(&points, &scalar, &added).unwrap(), expected);
        }
        let mut bad = points.clone();
        bad[18 * POINT] = 5;
        for bad in [&bad[..], &points[..POINT - 1], &[]] {
            let expected = points_plainly(bad, &scalars[0], &added);
            assert_eq!(mul_points(bad, &scalars[0], &added), expected);
        }
    }
}
