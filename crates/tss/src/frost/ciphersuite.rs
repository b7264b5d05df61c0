//! FROST(Ed25519, SHA-512): the group's encodings and the hashes H1 to H5.
//!
//! RFC 9591 §6.1

use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rand_core::CryptoRng;
use sha2::{Digest, Sha512};
use subtle::ConstantTimeEq;
use tetralith_kernels::ct;
use zeroize::Zeroizing;

use crate::engine::PartyId;
use crate::wire::holds;

/// Bytes of an encoded element, and of an encoded scalar.
pub(crate) const LEN: usize = 32;
const CONTEXT: &[u8] = b"FROST-ED25519-SHA512-v1";

/// Binding factors.
pub(crate) fn h1(parts: &[&[u8]]) -> Scalar {
    to_scalar(hash(&[CONTEXT, b"rho"], parts))
}

/// The challenge: Ed25519's own, without a context.
pub(crate) fn h2(parts: &[&[u8]]) -> Scalar {
    to_scalar(hash(&[], parts))
}

/// Nonces.
pub(crate) fn h3(parts: &[&[u8]]) -> Scalar {
    to_scalar(hash(&[CONTEXT, b"nonce"], parts))
}

/// The message.
pub(crate) fn h4(parts: &[&[u8]]) -> [u8; 64] {
    *hash(&[CONTEXT, b"msg"], parts)
}

/// The list of commitments.
pub(crate) fn h5(parts: &[&[u8]]) -> [u8; 64] {
    *hash(&[CONTEXT, b"com"], parts)
}

fn hash(prefix: &[&[u8]], parts: &[&[u8]]) -> Zeroizing<[u8; 64]> {
    let mut hash = Sha512::new();
    prefix.iter().chain(parts).for_each(|part| hash.update(part));
    Zeroizing::new(hash.finalize().into())
}

fn to_scalar(wide: Zeroizing<[u8; 64]>) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&wide)
}

/// A random scalar.
pub(crate) fn random(rng: &mut impl CryptoRng) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    rng.fill_bytes(&mut wide[..]);
    to_scalar(wide)
}

/// The party's number as a scalar.
pub(crate) fn identifier(party: PartyId) -> Scalar {
    Scalar::from(party.get())
}

/// The point of a secret scalar, which all parties are told; what is computed from it, encodings and
/// comparisons, does not depend on its Z, which they are not told.
pub(crate) fn publish(scalar: &Scalar) -> EdwardsPoint {
    ct::public(EdwardsPoint::mul_base(scalar))
}

/// `SerializeElement`.
pub(crate) fn encode(element: &EdwardsPoint) -> [u8; LEN] {
    element.compress().to_bytes()
}

/// `DeserializeElement`: canonical, of prime order, not the identity.
pub(crate) fn decode(bytes: &[u8; LEN]) -> Option<EdwardsPoint> {
    let element = CompressedEdwardsY(*bytes).decompress()?;
    let good = element.is_torsion_free() && !element.is_identity() && encode(&element) == *bytes;
    good.then_some(element)
}

/// `DeserializeScalar`, in constant time but for whether it is canonical.
pub(crate) fn decode_scalar(bytes: [u8; LEN]) -> Option<Scalar> {
    let scalar = Scalar::from_bytes_mod_order(bytes);
    holds(scalar.as_bytes().ct_eq(&bytes)).then_some(scalar)
}

/// Lagrange's coefficient at 0 of `party` among `parties`, which are distinct and have it.
///
/// `derive_interpolating_value`, RFC 9591 §4.2
pub(crate) fn lagrange(party: PartyId, parties: &[PartyId]) -> Scalar {
    let x = identifier(party);
    let (mut numerator, mut denominator) = (Scalar::ONE, Scalar::ONE);
    for &other in parties.iter().filter(|&&other| other != party) {
        numerator *= identifier(other);
        denominator *= identifier(other) - x;
    }
    // Distinct parties have distinct identifiers below the group order.
    numerator * denominator.invert()
}

/// A polynomial with coefficients `points` in the exponent, constant term first, at `party`.
pub(crate) fn evaluate_vartime(points: &[EdwardsPoint], party: PartyId) -> EdwardsPoint {
    let x = party.get();
    points.iter().rev().fold(EdwardsPoint::default(), |sum, point| {
        let product = (0..8 - x.leading_zeros()).rev().fold(EdwardsPoint::default(), |acc, bit| {
            let twice = acc + acc;
            if x >> bit & 1 == 1 { twice + sum } else { twice }
        });
        product + point
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_elements_of_the_group_are_read() {
        let base = encode(&EdwardsPoint::mul_base(&Scalar::ONE));
        assert!(decode(&base).is_some());
        let mut identity = [0; 32];
        identity[0] = 1;
        assert_eq!(decode(&identity), None, "identity");
        assert_eq!(decode(&[0; 32]), None, "a point of order four");
        assert_eq!(decode(&[0xff; 32]), None, "not reduced");
        let mut negative_zero = identity;
        negative_zero[31] = 0x80;
        assert_eq!(decode(&negative_zero), None, "x = -0");
        let torsion = CompressedEdwardsY([0; 32]).decompress().unwrap();
        let mixed = EdwardsPoint::mul_base(&Scalar::ONE) + torsion;
        assert_eq!(decode(&encode(&mixed)), None, "a torsion component");
        assert_eq!(decode_scalar([0xff; 32]), None);
    }
}
