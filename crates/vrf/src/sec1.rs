//! The suites on P-256 and secp256k1, whose points are encoded as SEC 1 says.
//!
//! secp256k1-sha256-tai is draft 5 with suite FE as the `vrf` crate deployed it: no Y in the
//! challenge and no zero bytes. It is no standard.

use crate::error::{Error, Part};
use crate::hash_to_curve;
use crate::nonce::rfc6979;
use crate::suite::Sec1Map;
use p256::elliptic_curve::group::Group as _;
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::point::DecompressPoint;
use p256::elliptic_curve::{Field, PrimeField, sec1::ToSec1Point};
use p256::hash2curve::{ExpandMsgXmd, encode_from_bytes};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tetralith_kernels::ct;
use tetralith_kernels::weierstrass::{self, Affine, Prime, commitments_vartime};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A curve of prime order with points in 33 bytes: constant-time points and scalars for proving, and
/// the points that verifiers compute with.
pub(crate) trait Sec1 {
    type Public: Prime;
    type Point: Copy;
    type Scalar: Copy + Zeroize;
    /// The suite string of try-and-increment.
    const TAI_SUITE_STRING: u8;
    /// RFC 9381's zero bytes and Y in the challenge.
    const DOMAIN_SEPARATED: bool;

    fn decode(bytes: &[u8; 33]) -> Option<Self::Point>;
    fn encode(point: &Self::Point) -> [u8; 33];
    /// A scalar from big-endian bytes below the order.
    fn scalar(bytes: &[u8; 32]) -> Option<Self::Scalar>;
    /// A scalar from big-endian bytes, reduced.
    fn scalar_reduced(bytes: &[u8; 32]) -> Self::Scalar;
    fn scalar_bytes(scalar: &Self::Scalar) -> [u8; 32];
    fn is_zero(scalar: &Self::Scalar) -> bool;
    /// a + b·c.
    fn mul_add(a: &Self::Scalar, b: &Self::Scalar, c: &Self::Scalar) -> Self::Scalar;
    #[cfg(test)]
    fn negate(scalar: &Self::Scalar) -> Self::Scalar;
    fn mul_base(scalar: &Self::Scalar) -> Self::Point;
    fn mul(point: &Self::Point, scalar: &Self::Scalar) -> Self::Point;
    fn map_sswu(message: &[&[u8]]) -> Result<Self::Point, Error>;
    /// The same point for verifiers.
    fn public(point: &Self::Point) -> Option<Affine<Self::Public>>;
}

pub(crate) enum P256 {}
pub(crate) enum K256 {}

macro_rules! sec1 {
    ($name:ident, $curve:ident) => {
        type Public = weierstrass::$name;
        type Point = $curve::ProjectivePoint;
        type Scalar = $curve::Scalar;

        fn decode(bytes: &[u8; 33]) -> Option<Self::Point> {
            let odd = match bytes[0] {
                2 => 0,
                3 => 1,
                _ => return None,
            };
            let x = $curve::FieldBytes::try_from(&bytes[1..]).ok()?;
            let point = $curve::AffinePoint::decompress(&x, subtle::Choice::from(odd));
            point.into_option().map(Into::into)
        }

        fn encode(point: &Self::Point) -> [u8; 33] {
            // Only what the proof holds, or what a verifier computes from it, is ever encoded.
            let point = ct::public(point.to_affine());
            let mut bytes = [0; 33];
            bytes.copy_from_slice(point.to_sec1_point(true).as_bytes());
            bytes
        }

        fn scalar(bytes: &[u8; 32]) -> Option<Self::Scalar> {
            let scalar = $curve::Scalar::from_repr((*bytes).into());
            // That a candidate was refused says nothing of the one taken.
            let valid = ct::public(scalar.is_some().unwrap_u8()) == 1;
            valid.then(|| scalar.unwrap_or($curve::Scalar::ZERO))
        }

        fn scalar_reduced(bytes: &[u8; 32]) -> Self::Scalar {
            <$curve::Scalar as Reduce<$curve::FieldBytes>>::reduce(&(*bytes).into())
        }

        fn scalar_bytes(scalar: &Self::Scalar) -> [u8; 32] {
            scalar.to_bytes().into()
        }

        fn is_zero(scalar: &Self::Scalar) -> bool {
            ct::public(scalar.is_zero().unwrap_u8()) == 1
        }

        fn mul_add(a: &Self::Scalar, b: &Self::Scalar, c: &Self::Scalar) -> Self::Scalar {
            a + &(b * c)
        }

        #[cfg(test)]
        fn negate(scalar: &Self::Scalar) -> Self::Scalar {
            -scalar
        }

        fn mul_base(scalar: &Self::Scalar) -> Self::Point {
            $curve::ProjectivePoint::mul_by_generator(scalar)
        }

        fn mul(point: &Self::Point, scalar: &Self::Scalar) -> Self::Point {
            point * scalar
        }

        fn public(point: &Self::Point) -> Option<Affine<Self::Public>> {
            let encoded = point.to_affine().to_sec1_point(false);
            let (x, y) = (encoded.x()?, encoded.y()?);
            Affine::from_coordinates_vartime(&(*x).into(), &(*y).into())
        }
    };
}

impl Sec1 for P256 {
    const TAI_SUITE_STRING: u8 = 1;
    const DOMAIN_SEPARATED: bool = true;
    sec1!(P256, p256);

    fn map_sswu(message: &[&[u8]]) -> Result<Self::Point, Error> {
        let tag: &[&[u8]] = &[b"ECVRF_P256_XMD:SHA-256_SSWU_NU_\x02"];
        encode_from_bytes::<p256::NistP256, ExpandMsgXmd<Sha256>>(message, tag)
            .map_err(|_| Error::HashToCurve)
    }
}

impl Sec1 for K256 {
    const TAI_SUITE_STRING: u8 = 0xfe;
    const DOMAIN_SEPARATED: bool = false;
    sec1!(K256, k256);

    fn map_sswu(_message: &[&[u8]]) -> Result<Self::Point, Error> {
        Err(Error::HashToCurve) // no suite on secp256k1 asks for it
    }
}

/// The suite string of a map on a curve.
fn suite_string<C: Sec1>(map: Sec1Map) -> u8 {
    if map == Sec1Map::Sswu { 2 } else { C::TAI_SUITE_STRING }
}

/// A secret scalar with its public key.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Secret {
    x: [u8; 32],
    #[zeroize(skip)]
    public_key: [u8; 33],
}

/// A decoded proof.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parsed<C> {
    pub(crate) gamma: Affine<C>,
    c: [u8; 16],
    s: [u8; 32],
}

/// All that proving computes; `k` is secret.
pub(crate) struct Proven {
    pub(crate) proof: [u8; 81],
    #[cfg_attr(not(test), allow(dead_code))] // held against RFC 9381's examples
    pub(crate) huv: [[u8; 33]; 3],
    #[cfg_attr(not(test), allow(dead_code))] // likewise
    pub(crate) k: Zeroizing<[u8; 32]>,
}

impl Secret {
    pub(crate) fn new<C: Sec1>(bytes: &[u8; 32]) -> Result<Secret, Error> {
        let x = Zeroizing::new(C::scalar(bytes).ok_or(Error::NonCanonicalScalar(Part::SecretKey))?);
        if C::is_zero(&x) {
            return Err(Error::ZeroSecret);
        }
        Ok(Secret { x: *bytes, public_key: C::encode(&C::mul_base(&x)) })
    }

    pub(crate) fn public_key(&self) -> &[u8; 33] {
        &self.public_key
    }

    /// RFC 9381 §5.1
    pub(crate) fn prove<C: Sec1>(&self, map: Sec1Map, alpha: &[u8]) -> Result<Proven, Error> {
        let x = Zeroizing::new(C::scalar_reduced(&self.x));
        let h_point = hash_to_curve::sec1::<C>(map, &self.public_key, alpha)?;
        let h = C::encode(&h_point);
        let gamma = C::encode(&C::mul(&h_point, &x));
        let k = self.nonce::<C>(&h);
        let u = C::encode(&C::mul_base(&k));
        let v = C::encode(&C::mul(&h_point, &k));
        let c = challenge::<C>(map, &self.public_key, &h, &gamma, &u, &v);
        let s = C::mul_add(&k, &C::scalar_reduced(&widen(&c)), &x);
        let mut proof = [0; 81];
        proof[..33].copy_from_slice(&gamma);
        proof[33..49].copy_from_slice(&c);
        proof[49..].copy_from_slice(&C::scalar_bytes(&s));
        ct::public_bytes(&mut proof);
        let k = Zeroizing::new(C::scalar_bytes(&k));
        Ok(Proven { proof, huv: [h, u, v], k })
    }

    /// RFC 9381 §5.4.2.1
    fn nonce<C: Sec1>(&self, h: &[u8; 33]) -> Zeroizing<C::Scalar> {
        let h1 = C::scalar_bytes(&C::scalar_reduced(&Sha256::digest(h).into()));
        rfc6979(&self.x, &h1, |t| C::scalar(t).filter(|k| !C::is_zero(k)))
    }
}

/// RFC 9381 §5.4.5; every point of these curves but the neutral element, which has no encoding in
/// 33 bytes, generates the group.
pub(crate) fn decode_point<C: Sec1>(bytes: &[u8], part: Part) -> Result<Affine<C::Public>, Error> {
    let bytes: [u8; 33] = core::array::from_fn(|i| bytes[i]);
    if !matches!(bytes[0], 2 | 3) {
        return Err(Error::PointTag { part, tag: bytes[0] });
    }
    Affine::decode_vartime(&bytes).ok_or(Error::NotOnCurve(part))
}

/// RFC 9381 §5.4.4
pub(crate) fn decode_proof<C: Sec1>(bytes: &[u8]) -> Result<Parsed<C::Public>, Error> {
    let gamma = decode_point::<C>(bytes, Part::Gamma)?;
    let s = crate::edwards::take_32(bytes, 49);
    if C::scalar(&s).is_none() {
        return Err(Error::NonCanonicalScalar(Part::S));
    }
    Ok(Parsed { gamma, c: core::array::from_fn(|i| bytes[33 + i]), s })
}

/// RFC 9381 §5.3
///
/// U or V may be the neutral element, whose encoding is one zero byte (SEC 1 §2.3.3).
pub(crate) fn verify<C: Sec1>(
    map: Sec1Map,
    key: (&Affine<C::Public>, &[u8]),
    alpha: &[u8],
    proof: (&Parsed<C::Public>, &[u8]),
) -> Result<(), Error> {
    let (parsed, bytes) = proof;
    let h = hash_to_curve::sec1_public::<C>(map, key.1, alpha)?;
    let both = commitments_vartime(&parsed.s, &parsed.c, key.0, &h, &parsed.gamma);
    let [u, v] = both.map(|point| point.map_or(vec![0], |point| point.encode().to_vec()));
    let c = challenge::<C>(map, key.1, &h.encode(), &bytes[..33], &u, &v);
    if bool::from(c.ct_eq(&parsed.c)) { Ok(()) } else { Err(Error::Invalid) }
}

/// RFC 9381 §5.4.3
pub(crate) fn challenge<C: Sec1>(
    map: Sec1Map,
    y: &[u8],
    h: &[u8],
    gamma: &[u8],
    u: &[u8],
    v: &[u8],
) -> [u8; 16] {
    let mut hasher = Sha256::new();
    hasher.update([suite_string::<C>(map), 2]);
    if C::DOMAIN_SEPARATED {
        hasher.update(y);
    }
    for part in [h, gamma, u, v] {
        hasher.update(part);
    }
    if C::DOMAIN_SEPARATED {
        hasher.update([0]);
    }
    let hash = hasher.finalize();
    core::array::from_fn(|i| hash[i])
}

/// RFC 9381 §5.2; the cofactor is one, so Γ is hashed as the proof has it.
pub(crate) fn proof_to_hash<C: Sec1>(map: Sec1Map, gamma: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update([suite_string::<C>(map), 3]);
    hasher.update(gamma);
    if C::DOMAIN_SEPARATED {
        hasher.update([0]);
    }
    hasher.finalize().into()
}

fn widen(c: &[u8; 16]) -> [u8; 32] {
    core::array::from_fn(|i| if i < 16 { 0 } else { c[i - 16] })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verifiers' points against the crates that prove.
    fn commitments_agree<C: Sec1>() {
        let order_minus_1 = C::scalar_bytes(&C::mul_add(
            &C::scalar_reduced(&[0; 32]),
            &C::scalar_reduced(&[0xff; 32]),
            &C::scalar_reduced(&[3; 32]),
        ));
        let small = |n: u8| core::array::from_fn(|i| if i == 31 { n } else { 0 });
        let scalars = [[7; 32], [0x5a; 32], order_minus_1, small(1), small(0)];
        let challenges = [[0xff; 16], [0x80; 16], [0; 16], [1; 16], [0x0f; 16]];
        for (i, s) in scalars.iter().enumerate() {
            for (j, c) in challenges.iter().enumerate() {
                let point = |n: usize| C::mul_base(&C::scalar_reduced(&[n as u8 + 1; 32]));
                let points = [point(i), point(j + 5), point(i + j + 10)];
                let [y, h, q] = points.map(|p| C::public(&p).unwrap());
                let [u, v] = commitments_vartime(s, c, &y, &h, &q);
                // s·P - c·Q as C::mul_base of the known logarithms.
                let log = |n: usize| C::scalar_reduced(&[n as u8 + 1; 32]);
                let (s, c) = (C::scalar_reduced(s), C::scalar_reduced(&widen(c)));
                let zero = C::scalar_reduced(&[0; 32]);
                let minus = |x: &C::Scalar| {
                    let mut one = [0; 32];
                    one[31] = 1;
                    C::negate(&C::mul_add(&zero, x, &C::scalar_reduced(&one)))
                };
                let u_log = C::mul_add(&s, &minus(&c), &log(i));
                let sh = C::mul_add(&zero, &s, &log(j + 5));
                let v_log = C::mul_add(&sh, &minus(&c), &log(i + j + 10));
                for (got, log) in [(u, u_log), (v, v_log)] {
                    let expected = (!C::is_zero(&log)).then(|| C::encode(&C::mul_base(&log)));
                    assert_eq!(got.map(|p| p.encode()), expected, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn commitments_agree_with_the_constant_time_crates() {
        commitments_agree::<P256>();
        commitments_agree::<K256>();
    }
}
