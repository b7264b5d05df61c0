//! Strict reading and writing of payload fields: fixed widths, canonical scalars, points of the
//! curve other than the identity; and where values that were made of secrets become public.

use k256::elliptic_curve::group::{CurveAffine, GroupEncoding};
use k256::elliptic_curve::point::AffineCoordinates;
use k256::elliptic_curve::{BatchNormalize, PrimeField};
use k256::{AffinePoint, FieldBytes, ProjectivePoint, Scalar};
use rand_core::CryptoRng;
use subtle::Choice;
use tetralith_kernels::ct;
use zeroize::Zeroizing;

use crate::engine::Check;

/// Bytes of an encoded scalar.
pub(crate) const SCALAR: usize = 32;
/// Bytes of a compressed point.
pub(crate) const POINT: usize = 33;

/// A payload under construction; it may hold secrets and is wiped when dropped.
#[derive(Default)]
pub(crate) struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    /// Makes an empty payload with room for `capacity` bytes, so that secrets are never moved.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(Zeroizing::new(Vec::with_capacity(capacity)))
    }

    /// Appends bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends a scalar, big-endian.
    pub(crate) fn scalar(&mut self, scalar: &Scalar) -> &mut Self {
        let bytes = Zeroizing::new(<[u8; SCALAR]>::from(scalar.to_bytes()));
        self.bytes(&bytes[..])
    }

    /// Appends a compressed point.
    pub(crate) fn point(&mut self, point: &ProjectivePoint) -> &mut Self {
        self.bytes(&encode_point(point))
    }

    /// Ends the payload.
    pub(crate) fn finish(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

/// Compresses a point, in constant time.
pub(crate) fn encode_point(point: &ProjectivePoint) -> [u8; POINT] {
    encode_affine(&point.to_affine())
}

/// Compresses a point, in constant time; the identity has zeros.
pub(crate) fn encode_affine(point: &AffinePoint) -> [u8; POINT] {
    // The encoding of k256 branches on the identity and on the tag.
    let mut bytes = [2 | point.y_is_odd().unwrap_u8(); POINT];
    bytes[1..].copy_from_slice(&point.x());
    let keep = point.is_identity().unwrap_u8().wrapping_sub(1);
    bytes.map(|byte| byte & keep)
}

/// Gives points away: they are sent to all in this step, or their hash is and they follow.
///
/// The coordinates are brought to Z = 1 first, for another Z would tell how a point was computed.
pub(crate) fn publish(points: &[ProjectivePoint]) -> Vec<ProjectivePoint> {
    let affine: Vec<AffinePoint> = ProjectivePoint::batch_normalize(points);
    affine.into_iter().map(|point| ct::public(point).into()).collect()
}

/// Says whether a check of secrets holds. That it does, or that the run ends here, is public.
pub(crate) fn holds(check: Choice) -> bool {
    bool::from(ct::public(check))
}

/// Draws a scalar, uniform up to 2⁻¹²⁸: a draw that is not below the group order is reduced, where
/// k256 would draw again and tell so by its time.
pub(crate) fn random_scalar(rng: &mut impl CryptoRng) -> Scalar {
    let mut bytes = Zeroizing::new([0; SCALAR]);
    rng.fill_bytes(&mut bytes[..]);
    crate::oracle::scalar_of(*bytes)
}

/// Decompresses a point other than the identity.
pub(crate) fn decode_point(bytes: &[u8]) -> Option<ProjectivePoint> {
    let bytes = <[u8; POINT]>::try_from(bytes).ok()?;
    // SEC 1 has a tag 5 too, for a point without its sign, and k256 reads it.
    if !matches!(bytes[0], 2 | 3) {
        return None;
    }
    let point: Option<AffinePoint> = AffinePoint::from_bytes(&bytes.into()).into();
    point.filter(|point| *point != AffinePoint::IDENTITY).map(ProjectivePoint::from)
}

/// Reads a canonical scalar, in constant time but for whether it is one.
pub(crate) fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
    let bytes = <[u8; SCALAR]>::try_from(bytes).ok()?;
    let scalar = Scalar::from_repr(FieldBytes::from(bytes));
    holds(scalar.is_some()).then(|| scalar.unwrap_or(Scalar::ZERO))
}

/// What is left to read of a payload.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Begins to read.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Takes `len` bytes.
    pub(crate) fn slice(&mut self, len: usize) -> Result<&'a [u8], Check> {
        let (head, tail) = self.0.split_at_checked(len).ok_or(Check::Encoding)?;
        self.0 = tail;
        Ok(head)
    }

    /// Takes `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Check> {
        self.slice(N)?.try_into().map_err(|_| Check::Encoding)
    }

    /// Takes a canonical scalar.
    pub(crate) fn scalar(&mut self) -> Result<Scalar, Check> {
        decode_scalar(self.slice(SCALAR)?).ok_or(Check::Encoding)
    }

    /// Takes a point other than the identity.
    pub(crate) fn point(&mut self) -> Result<ProjectivePoint, Check> {
        decode_point(self.slice(POINT)?).ok_or(Check::Encoding)
    }

    /// Ends the reading.
    pub(crate) fn finish(self) -> Result<(), Check> {
        if self.0.is_empty() { Ok(()) } else { Err(Check::Encoding) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_values_are_read() {
        let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
        let order: Vec<u8> =
            (0..32).map(|i| u8::from_str_radix(&order[2 * i..2 * i + 2], 16).unwrap()).collect();
        assert_eq!(decode_scalar(&order), None);
        assert_eq!(decode_scalar(&[0; 32]), Some(Scalar::ZERO));
        assert_eq!(decode_scalar(&[0; 31]), None);

        let good = encode_point(&ProjectivePoint::GENERATOR);
        assert_eq!(decode_point(&good), Some(ProjectivePoint::GENERATOR));
        assert_eq!(decode_point(&[0; POINT]), None, "identity");
        assert_eq!(decode_point(&good[..32]), None, "short");
        for tag in [0, 1, 4, 5, 6, 7] {
            let mut bad = good;
            bad[0] = tag;
            assert_eq!(decode_point(&bad), None, "tag {tag}");
        }
        // x = 5 is not the abscissa of a point of secp256k1.
        let mut off = [0; POINT];
        (off[0], off[32]) = (2, 5);
        assert_eq!(decode_point(&off), None, "off the curve");
        let mut wide = [0xff; POINT];
        wide[0] = 2;
        assert_eq!(decode_point(&wide), None, "x not reduced");
    }

    #[test]
    fn a_reader_wants_all_and_no_more() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.array::<2>(), Ok([1, 2]));
        assert_eq!(reader.slice(2), Err(Check::Encoding));
        assert_eq!(reader.finish(), Err(Check::Encoding));
    }
}
