//! ECDSA signatures on secp256k1: encoding and verification.
//!
//! SEC 1 §4.1, with s in the lower half of its range (BIP 62, EIP-2) and with a recovery number.

use core::fmt;

use k256::elliptic_curve::ops::{LinearCombination, Reduce};
use k256::elliptic_curve::point::AffineCoordinates;
use k256::elliptic_curve::scalar::IsHigh;
use k256::{FieldBytes, ProjectivePoint, Scalar};

use crate::engine::{DecodeError, Error};
use crate::wire::{decode_point, decode_scalar};

/// An ECDSA signature on secp256k1 with s in the lower half, and its recovery number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    r: Scalar,
    s: Scalar,
    recovery_id: u8,
}

impl Signature {
    /// Normalises (r, s), of which `nonce` is R: s or −s, whichever is in the lower half.
    pub(crate) fn new(nonce: &ProjectivePoint, s: Scalar) -> Self {
        let point = nonce.to_affine();
        let x: [u8; 32] = point.x().into();
        let r = reduce(&x);
        let overflow = r.to_bytes() != FieldBytes::from(x);
        let odd = bool::from(point.y_is_odd());
        let high = bool::from(s.is_high());
        let recovery_id = u8::from(odd != high) | u8::from(overflow) << 1;
        Self { r, s: if high { -s } else { s }, recovery_id }
    }

    /// The encoding: r, s, recovery number.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 65] {
        let mut bytes = [self.recovery_id; 65];
        bytes[..64].copy_from_slice(&self.r_s());
        bytes
    }

    /// r and s, each as 32 big-endian bytes.
    #[must_use]
    pub fn r_s(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.r.to_bytes());
        bytes[32..].copy_from_slice(&self.s.to_bytes());
        bytes
    }

    /// The recovery number, 0 to 3: bit 0 is the parity of the nonce's y, bit 1 says that its x is
    /// not below the group order.
    #[must_use]
    pub fn recovery_id(&self) -> u8 {
        self.recovery_id
    }

    /// Reads [`Signature::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Decode`] if the length is wrong, r or s is zero or not reduced, s is in the upper
    /// half, or the recovery number exceeds 3.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let length = DecodeError::Length { expected: 65, got: bytes.len() };
        let bytes = <[u8; 65]>::try_from(bytes).map_err(|_| Error::Decode(length))?;
        let scalar = |bytes: &[u8], name| {
            let scalar = decode_scalar(bytes).filter(|scalar| !bool::from(scalar.is_zero()));
            scalar.ok_or(Error::Decode(DecodeError::Scalar(name)))
        };
        let (r, s) = (scalar(&bytes[..32], "r")?, scalar(&bytes[32..64], "s")?);
        if bool::from(s.is_high()) {
            return Err(Error::Decode(DecodeError::Scalar("s in the lower half")));
        }
        match bytes[64] {
            recovery_id @ 0..=3 => Ok(Self { r, s, recovery_id }),
            _ => Err(Error::Decode(DecodeError::Inconsistent("the recovery number"))),
        }
    }

    /// Says whether this is a signature of `digest` under the compressed public key `group_key`.
    ///
    /// Computes it from the definition, in variable time.
    #[must_use]
    pub fn verify(&self, group_key: &[u8; 33], digest: &[u8; 32]) -> bool {
        decode_point(group_key).is_some_and(|key| self.verifies(&key, &reduce(digest)))
    }

    pub(crate) fn verifies(&self, key: &ProjectivePoint, message: &Scalar) -> bool {
        let Some(inverse) = Option::<Scalar>::from(self.s.invert_vartime()) else { return false };
        let terms = [(ProjectivePoint::GENERATOR, message * &inverse), (*key, self.r * inverse)];
        let nonce = ProjectivePoint::lincomb_vartime(&terms);
        nonce != ProjectivePoint::IDENTITY && reduce(&nonce.to_affine().x().into()) == self.r
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signature(")?;
        self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Reads 32 bytes, a digest or an abscissa, as an integer modulo the group order.
pub(crate) fn reduce(bytes: &[u8; 32]) -> Scalar {
    Scalar::reduce(&FieldBytes::from(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> ([u8; 33], [u8; 32], Signature) {
        let (secret, nonce) = (Scalar::from(7u32), Scalar::from(11u32));
        let digest = [3; 32];
        let point = ProjectivePoint::GENERATOR * nonce;
        let r = reduce(&point.to_affine().x().into());
        let s = nonce.invert_vartime().unwrap() * (reduce(&digest) + r * secret);
        let key = crate::wire::encode_point(&(ProjectivePoint::GENERATOR * secret));
        (key, digest, Signature::new(&point, s))
    }

    #[test]
    fn verifies_what_it_should_and_nothing_else() {
        let (key, digest, signature) = example();
        assert!(signature.verify(&key, &digest));
        assert!(!signature.verify(&key, &[4; 32]));
        assert!(!signature.verify(&[0; 33], &digest));
        let bent = Signature { r: signature.r + Scalar::ONE, ..signature };
        assert!(!bent.verify(&key, &digest));
        assert!(!Signature { s: Scalar::ZERO, ..signature }.verify(&key, &digest));
    }

    #[test]
    fn encodings_are_strict() {
        let (_, _, signature) = example();
        let good = signature.to_bytes();
        assert_eq!(Signature::from_bytes(&good), Ok(signature));
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.to_vec();
            change(&mut bytes);
            assert!(matches!(Signature::from_bytes(&bytes), Err(Error::Decode(_))));
        };
        refused(&|bytes| bytes.push(0));
        refused(&|bytes| bytes.truncate(64));
        refused(&|bytes| bytes[..32].fill(0));
        refused(&|bytes| bytes[32..64].fill(0));
        refused(&|bytes| bytes[..32].fill(0xff));
        refused(&|bytes| bytes[64] = 4);
        refused(&|bytes| bytes[32..64].copy_from_slice(&(-signature.s).to_bytes()));
    }
}
