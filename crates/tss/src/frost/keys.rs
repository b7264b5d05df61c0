//! Ed25519 key shares and their public packages, with strict encodings.

use core::fmt;

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::ciphersuite::{LEN, decode, decode_scalar, encode, evaluate_vartime};
use crate::engine::{DecodeError, Error, PartyId, Threshold};
use crate::oracle::Oracle;
use crate::wire::{Reader, Writer, holds};

const PUBLIC_MAGIC: [u8; 4] = *b"TTFP";
const SHARE_MAGIC: [u8; 4] = *b"TTFS";
const VERSION: u8 = 1;
const ORIGIN: usize = 32;

/// All that is public about a shared Ed25519 key.
#[derive(Clone, PartialEq, Eq)]
pub struct FrostPublic {
    threshold: Threshold,
    origin: [u8; ORIGIN],
    /// The sharing polynomial in the exponent: its constant term is the group key.
    points: Vec<EdwardsPoint>,
    group_key: [u8; LEN],
    key_id: [u8; 32],
}

impl FrostPublic {
    /// Joins the parts; `None` if a coefficient is the identity.
    pub(crate) fn new(
        threshold: Threshold,
        origin: [u8; ORIGIN],
        points: Vec<EdwardsPoint>,
    ) -> Option<Self> {
        if points.iter().any(IsIdentity::is_identity) {
            return None;
        }
        let group_key = encode(points.first()?);
        let encoded = points.iter().map(encode).collect::<Vec<_>>().concat();
        let key_id = Oracle::new("frost/key-id")
            .absorb(&origin)
            .absorb(&[threshold.t(), threshold.n()])
            .absorb(&encoded)
            .finish();
        Some(Self { threshold, origin, points, group_key, key_id })
    }

    /// How many parties there are and how many sign.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// The name of this sharing of the key, the same for all its parties.
    #[must_use]
    pub fn key_id(&self) -> [u8; 32] {
        self.key_id
    }

    /// The public key, as RFC 8032 encodes it.
    #[must_use]
    pub fn group_key(&self) -> [u8; 32] {
        self.group_key
    }

    pub(crate) fn group_point(&self) -> &EdwardsPoint {
        &self.points[0]
    }

    pub(crate) fn party_point(&self, party: PartyId) -> EdwardsPoint {
        evaluate_vartime(&self.points, party)
    }

    /// The encoding: `TTFP`, version, t, n, origin, and the t coefficients of the sharing polynomial.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = PUBLIC_MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend(self.body());
        bytes
    }

    fn body(&self) -> Vec<u8> {
        let mut bytes = vec![self.threshold.t(), self.threshold.n()];
        bytes.extend(self.origin);
        self.points.iter().for_each(|point| bytes.extend(encode(point)));
        bytes
    }

    /// Reads [`FrostPublic::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Decode`] if the bytes are not exactly such an encoding.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        Self::read(&mut reader, bytes.len(), PUBLIC_MAGIC, None).map_err(Error::Decode)
    }

    /// Reads header and body; `party` is where a share's party goes, and a scalar follows then.
    fn read(
        reader: &mut Reader<'_>,
        got: usize,
        magic: [u8; 4],
        party: Option<&mut u8>,
    ) -> Result<Self, DecodeError> {
        let short = |expected| move |_| DecodeError::Length { expected, got };
        if reader.array::<4>().map_err(short(5))? != magic {
            return Err(DecodeError::Magic);
        }
        let [version] = reader.array().map_err(short(5))?;
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let mut extra = 0;
        if let Some(party) = party {
            [*party] = reader.array().map_err(short(8))?;
            extra = 1 + LEN;
        }
        let [t, n] = reader.array().map_err(short(8))?;
        let threshold = Threshold::new(t, n).map_err(|_| DecodeError::Parameters)?;
        let expected = 7 + ORIGIN + usize::from(t) * LEN + extra;
        if got != expected {
            return Err(DecodeError::Length { expected, got });
        }
        let origin = reader.array().map_err(short(expected))?;
        let mut points = Vec::with_capacity(usize::from(t));
        for _ in 0..t {
            let bytes = reader.array().map_err(short(expected))?;
            points.push(decode(&bytes).ok_or(DecodeError::Point("a coefficient"))?);
        }
        Self::new(threshold, origin, points).ok_or(DecodeError::Point("the group key"))
    }
}

impl fmt::Debug for FrostPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrostPublic({}, ", self.threshold)?;
        self.group_key.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// One party's share of an Ed25519 key; wiped when dropped.
#[derive(ZeroizeOnDrop)]
pub struct FrostShare {
    #[zeroize(skip)]
    public: FrostPublic,
    #[zeroize(skip)]
    me: PartyId,
    /// In a box, so that a share that is moved leaves no copy behind; it wipes itself.
    #[zeroize(skip)]
    secret: Box<Zeroizing<Scalar>>,
}

impl FrostShare {
    /// Joins the parts, whose agreement the caller has checked.
    pub(crate) fn new(public: FrostPublic, me: PartyId, secret: Box<Zeroizing<Scalar>>) -> Self {
        Self { public, me, secret }
    }

    /// Whose share this is.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The public part.
    #[must_use]
    pub fn public(&self) -> &FrostPublic {
        &self.public
    }

    pub(crate) fn secret(&self) -> &Scalar {
        &self.secret
    }

    /// The encoding: `TTFS`, version, party, the public package without its first five bytes, and the
    /// secret share.
    ///
    /// # Security
    /// The bytes are secret. They are wiped when dropped.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let body = self.public.body();
        let mut bytes = Writer::with_capacity(6 + body.len() + LEN);
        bytes.bytes(&SHARE_MAGIC).bytes(&[VERSION, self.me.get()]).bytes(&body);
        bytes.bytes(self.secret.as_bytes());
        bytes.finish()
    }

    /// Reads [`FrostShare::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Decode`] if the bytes are not exactly such an encoding, or if the secret share is not
    /// the one of the public package.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(bytes).map_err(Error::Decode)
    }

    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let mut me = 0;
        let public = FrostPublic::read(&mut reader, bytes.len(), SHARE_MAGIC, Some(&mut me))?;
        let me = PartyId::new(me).map_err(|_| DecodeError::Parameters)?;
        if !public.threshold.contains(me) {
            return Err(DecodeError::Parameters);
        }
        let name = "the share";
        let secret = Zeroizing::new(reader.array().map_err(|_| DecodeError::Scalar(name))?);
        let secret = decode_scalar(*secret).ok_or(DecodeError::Scalar(name))?;
        let secret = Box::new(Zeroizing::new(secret));
        if !holds(EdwardsPoint::mul_base(&secret).ct_eq(&public.party_point(me))) {
            return Err(DecodeError::Inconsistent(name));
        }
        Ok(Self { public, me, secret })
    }
}

impl fmt::Debug for FrostShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrostShare(party {} of {:?})", self.me, self.public)
    }
}
