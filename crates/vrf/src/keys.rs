//! Secret and public keys.

use crate::edwards;
use crate::error::{Error, Part};
use crate::sec1::{self, K256, P256, Sec1};
use crate::suite::{EdwardsRules, Group, Sec1Map, Suite};
use core::fmt;
use rand_core::CryptoRng;
use tetralith_kernels::edwards25519::Point;
use tetralith_kernels::weierstrass::Affine;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A secret key of a suite, ready to prove.
///
/// # Security
/// Cleared when dropped; registers and copies the compiler made are out of reach. Not printable.
#[derive(ZeroizeOnDrop)]
pub struct SecretKey {
    #[zeroize(skip)]
    pub(crate) suite: Suite,
    bytes: [u8; 32],
    pub(crate) secret: Secret,
}

#[derive(ZeroizeOnDrop)]
pub(crate) enum Secret {
    Edwards(#[zeroize(skip)] &'static EdwardsRules, edwards::Secret),
    P256(#[zeroize(skip)] Sec1Map, sec1::Secret),
    K256(#[zeroize(skip)] Sec1Map, sec1::Secret),
}

/// A decoded and validated public key of a suite.
#[derive(Clone, Copy)]
pub struct PublicKey {
    suite: Suite,
    bytes: [u8; 33],
    pub(crate) point: KeyPoint,
}

#[derive(Clone, Copy)]
pub(crate) enum KeyPoint {
    Edwards(&'static EdwardsRules, Point),
    P256(Sec1Map, Affine<<P256 as Sec1>::Public>),
    K256(Sec1Map, Affine<<K256 as Sec1>::Public>),
}

pub(crate) fn expect_len(part: Part, bytes: &[u8], expected: usize) -> Result<(), Error> {
    if bytes.len() == expected {
        return Ok(());
    }
    Err(Error::Length { part, expected, got: bytes.len() })
}

impl SecretKey {
    /// Reads a secret key: an Ed25519 seed, or a big-endian scalar on the other curves.
    ///
    /// # Errors
    /// The length is not 32 bytes, or the scalar is zero or not below the group's order.
    ///
    /// RFC 9381 §5.5
    pub fn from_bytes(suite: Suite, bytes: &[u8]) -> Result<SecretKey, Error> {
        expect_len(Part::SecretKey, bytes, suite.secret_key_len())?;
        let mut copy = [0; 32];
        copy.copy_from_slice(bytes);
        let secret = match suite.group() {
            Group::Edwards25519(rules) => Ok(Secret::Edwards(rules, edwards::Secret::new(&copy))),
            Group::P256(map) => {
                sec1::Secret::new::<P256>(&copy).map(|secret| Secret::P256(map, secret))
            }
            Group::Secp256k1(map) => {
                sec1::Secret::new::<K256>(&copy).map(|secret| Secret::K256(map, secret))
            }
        };
        let key = secret.map(|secret| SecretKey { suite, bytes: copy, secret });
        copy.zeroize();
        key
    }

    /// Makes a new secret key.
    #[must_use]
    pub fn generate(suite: Suite, rng: &mut impl CryptoRng) -> SecretKey {
        let mut bytes = Zeroizing::new([0; 32]);
        loop {
            rng.fill_bytes(&mut *bytes);
            if let Ok(key) = SecretKey::from_bytes(suite, &*bytes) {
                return key;
            }
        }
    }

    /// The suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// The secret bytes, as [`SecretKey::from_bytes`] reads them.
    ///
    /// # Security
    /// The copy is the caller's to clear.
    #[must_use]
    pub fn expose_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_bytes(self.suite, self.public_key_bytes())
            .expect("a secret key's own public key is valid: x is neither 0 nor a multiple of L")
    }

    pub(crate) fn public_key_bytes(&self) -> &[u8] {
        match &self.secret {
            Secret::Edwards(_, secret) => secret.public_key(),
            Secret::P256(_, secret) | Secret::K256(_, secret) => secret.public_key(),
        }
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.suite)
    }
}

impl PublicKey {
    /// Decodes and validates a public key.
    ///
    /// # Errors
    /// Says which: length, canonical encoding, curve, or small order.
    ///
    /// RFC 9381 §5.4.5
    pub fn from_bytes(suite: Suite, bytes: &[u8]) -> Result<PublicKey, Error> {
        expect_len(Part::PublicKey, bytes, suite.public_key_len())?;
        let point = match suite.group() {
            Group::Edwards25519(rules) => {
                let point = edwards::decode_public_key(rules, &edwards::take_32(bytes, 0))?;
                KeyPoint::Edwards(rules, point)
            }
            Group::P256(map) => {
                KeyPoint::P256(map, sec1::decode_point::<P256>(bytes, Part::PublicKey)?)
            }
            Group::Secp256k1(map) => {
                KeyPoint::K256(map, sec1::decode_point::<K256>(bytes, Part::PublicKey)?)
            }
        };
        let padded = core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0));
        Ok(PublicKey { suite, bytes: padded, point })
    }

    /// The suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// The encoding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.suite.public_key_len()]
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}, ", self.suite)?;
        hex(self.as_bytes(), f)?;
        f.write_str(")")
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &PublicKey) -> bool {
        self.suite == other.suite && self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

/// Says why bytes are not a valid public key of a suite, if they are not.
///
/// # Errors
/// As [`PublicKey::from_bytes`].
///
/// RFC 9381 §5.4.5
pub fn validate_key(suite: Suite, bytes: &[u8]) -> Result<(), Error> {
    PublicKey::from_bytes(suite, bytes).map(|_| ())
}

pub(crate) fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
