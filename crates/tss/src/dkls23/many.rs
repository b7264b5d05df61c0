//! Multiplications in bulk for the base transfers: in lanes where the CPU has them, else by `k256`.
//!
//! Both ways are in constant time in scalars and choices, and give the same bytes: compressed
//! points, zeros for the identity.

use std::sync::OnceLock;

use k256::elliptic_curve::BatchNormalize;
use k256::{AffinePoint, ProjectivePoint, Scalar};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use super::fixed_base::FixedBase;
use crate::wire::{POINT, decode_point, encode_affine};

/// Compressed points, secret in the general case.
pub(crate) type Points = Zeroizing<Vec<[u8; POINT]>>;

/// A point that is multiplied by many scalars.
pub(crate) struct Base {
    table: FixedBase,
    #[cfg(target_arch = "x86_64")]
    lanes: Option<lanes::Base>,
}

impl Base {
    /// Prepares `point`, which is not the identity.
    pub(crate) fn new(point: &ProjectivePoint) -> Self {
        let table = FixedBase::new(point);
        Self {
            #[cfg(target_arch = "x86_64")]
            lanes: lanes::Base::new(&table),
            table,
        }
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
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = &self.lanes {
            return lanes.mul_all(scalars, added);
        }
        self.mul_all_portable(scalars, added)
    }

    fn mul_all_portable(
        &self,
        scalars: &[Scalar],
        added: Option<(&ProjectivePoint, u128)>,
    ) -> Points {
        let (shift, choices) = added.unwrap_or((&ProjectivePoint::IDENTITY, 0));
        let product = |(i, scalar): (usize, &Scalar)| {
            let choice = Choice::from((choices >> (i % 128) & 1) as u8);
            let zero = ProjectivePoint::IDENTITY;
            self.table.mul(scalar) + ProjectivePoint::conditional_select(&zero, shift, choice)
        };
        compress(scalars.iter().enumerate().map(product).collect())
    }
}

/// Reads compressed points one after another; returns `scalar` times each, and these plus `added`,
/// which is not the identity. `None` if one is no point.
pub(crate) fn mul_points(
    points: &[u8],
    scalar: &Scalar,
    added: &ProjectivePoint,
) -> Option<[Points; 2]> {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = tetralith_kernels::lanes8::Lanes8::detect() {
        return lanes::mul_points(token, points, scalar, added);
    }
    mul_points_portable(points, scalar, added)
}

fn mul_points_portable(
    points: &[u8],
    scalar: &Scalar,
    added: &ProjectivePoint,
) -> Option<[Points; 2]> {
    let mut products = Vec::with_capacity(points.len() / POINT);
    for point in points.chunks(POINT) {
        products.push(decode_point(point)? * scalar);
    }
    let sums = products.iter().map(|product| product + added).collect();
    Some([compress(products), compress(sums)])
}

fn compress(mut points: Vec<ProjectivePoint>) -> Points {
    let mut affine: Vec<AffinePoint> = ProjectivePoint::batch_normalize(points.as_slice());
    let bytes = affine.iter().map(encode_affine).collect();
    points.zeroize();
    affine.zeroize();
    Zeroizing::new(bytes)
}

#[cfg(target_arch = "x86_64")]
mod lanes {
    //! The same jobs for [`tetralith_kernels::secp256k1x8`].

    use k256::elliptic_curve::point::AffineCoordinates;
    use tetralith_kernels::lanes8::Lanes8;
    use tetralith_kernels::secp256k1x8::{Affine, Table, mul_points_all, mul_table_all};

    use super::*;

    pub(super) struct Base {
        token: Lanes8,
        table: Table,
    }

    impl Base {
        pub(super) fn new(table: &FixedBase) -> Option<Self> {
            let token = Lanes8::detect()?;
            let multiples: Vec<Affine> = table.multiples().iter().map(coordinates).collect();
            Some(Self { token, table: Table::new(&multiples) })
        }

        pub(super) fn mul_all(
            &self,
            scalars: &[Scalar],
            added: Option<(&ProjectivePoint, u128)>,
        ) -> Points {
            let scalars: Zeroizing<Vec<[u8; 32]>> =
                Zeroizing::new(scalars.iter().map(|scalar| scalar.to_bytes().into()).collect());
            let mut choices = Zeroizing::new(Vec::new());
            let mut addend = [[0; 32]; 2];
            if let Some((point, bits)) = added {
                addend = coordinates(&point.to_affine());
                choices.extend((0..scalars.len()).map(|i| (bits >> (i % 128) & 1) as u8));
            }
            Zeroizing::new(mul_table_all(self.token, &self.table, &scalars, &addend, &choices))
        }
    }

    pub(super) fn mul_points(
        token: Lanes8,
        points: &[u8],
        scalar: &Scalar,
        added: &ProjectivePoint,
    ) -> Option<[Points; 2]> {
        let mut encodings = Vec::with_capacity(points.len() / POINT);
        for point in points.chunks(POINT) {
            encodings.push(point.try_into().ok()?);
        }
        let scalar = Zeroizing::new(<[u8; 32]>::from(scalar.to_bytes()));
        let added = coordinates(&added.to_affine());
        Some(mul_points_all(token, &encodings, &scalar, &added)?.map(Zeroizing::new))
    }

    /// The coordinates of a point that is not the identity.
    fn coordinates(point: &AffinePoint) -> Affine {
        [point.x(), point.y()].map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng;
    use crate::wire::encode_point;
    use k256::elliptic_curve::Field;

    #[test]
    fn both_ways_agree_on_one_point() {
        let mut rng = rng(1);
        let point = ProjectivePoint::GENERATOR * Scalar::random(&mut rng);
        let other = ProjectivePoint::GENERATOR * Scalar::random(&mut rng);
        let mut scalars: Vec<Scalar> = (0..40).map(|_| Scalar::random(&mut rng)).collect();
        scalars.extend([Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(8u32)]);
        scalars.extend((0..256).step_by(7).map(|i| Scalar::from(2u32).pow([i])));
        let choices = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978;
        for base in [&Base::new(&point), Base::generator()] {
            for added in [None, Some((&other, choices)), Some((&point, choices))] {
                let expected = base.mul_all_portable(&scalars, added);
                assert_eq!(base.mul_all(&scalars, added), expected);
                // Counts that do not fill the lanes.
                for count in [1, 7, 9] {
                    let some = base.mul_all(&scalars[..count], added);
                    assert_eq!(some[..], expected[..count]);
                }
            }
            let exact = base.mul_all(&scalars[..4], None);
            let first = if core::ptr::eq(base, Base::generator()) {
                ProjectivePoint::GENERATOR
            } else {
                point
            };
            assert_eq!(exact[3], encode_point(&(first * scalars[3])));
        }
    }

    #[test]
    fn both_ways_agree_on_many_points() {
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
            let expected = mul_points_portable(&points, &scalar, &added).unwrap();
            assert_eq!(mul_points(&points, &scalar, &added).unwrap(), expected);
        }
        let mut bad = points.clone();
        bad[18 * POINT] = 5;
        for bad in [&bad[..], &points[..POINT - 1], &[]] {
            let expected = mul_points_portable(bad, &scalars[0], &added);
            assert_eq!(mul_points(bad, &scalars[0], &added), expected);
        }
    }
}
