//! Key shares and public key packages, with their encodings.
//!
//! A share's encoding holds secrets and belongs into an encrypted file. Both encodings are strict:
//! one value has one encoding, and what is decoded has been checked against itself, so that a
//! damaged file is refused here and not in the middle of a signature.

use core::fmt;

use k256::{ProjectivePoint, Scalar};
use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::dkls23::base_ot::{COUNT, Chosen, Offered, PAD};
use crate::dkls23::dkg::Commitments;
use crate::dkls23::pair::Pair;
use crate::engine::{Check, DecodeError, Error, PartyId, Threshold};
use crate::oracle::Oracle;
use crate::wire::{POINT, Reader, SCALAR, Writer, encode_point, holds};

const PUBLIC_MAGIC: [u8; 4] = *b"TTPK";
const SHARE_MAGIC: [u8; 4] = *b"TTKS";
const VERSION: u8 = 1;
const ORIGIN: usize = 32;
const SEED: usize = 32;
const DELTA: usize = COUNT / 8;
const PAIR: usize = SEED + DELTA + COUNT * PAD + COUNT * 2 * PAD;

/// All that is public about a shared key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKeyPackage {
    threshold: Threshold,
    /// The context of the run that made the shares.
    origin: [u8; ORIGIN],
    /// The sharing polynomial in the exponent: its constant term is the group key.
    commitments: Commitments,
    group_key: [u8; POINT],
    key_id: [u8; 32],
}

impl PublicKeyPackage {
    /// Joins the parts; `None` if the group key is the identity.
    pub(crate) fn new(
        threshold: Threshold,
        origin: [u8; ORIGIN],
        commitments: Commitments,
    ) -> Option<Self> {
        let group = *commitments.0.first()?;
        if group == ProjectivePoint::IDENTITY {
            return None;
        }
        let key_id = Oracle::new("key-id")
            .absorb(&origin)
            .absorb(&[threshold.t(), threshold.n()])
            .absorb(&commitments.to_bytes())
            .finish();
        Some(Self { threshold, origin, group_key: encode_point(&group), commitments, key_id })
    }

    /// How many parties there are and how many sign.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// The name of this sharing of the key: the same for all its parties, another one after every
    /// refresh.
    #[must_use]
    pub fn key_id(&self) -> [u8; 32] {
        self.key_id
    }

    /// The public key as a compressed SEC1 point.
    #[must_use]
    pub fn group_key(&self) -> [u8; 33] {
        self.group_key
    }

    /// The public key for verification with `k256`.
    ///
    /// # Errors
    /// [`Error::Bug`] if the key is no point, which construction excludes.
    pub fn verifying_key(&self) -> Result<k256::ecdsa::VerifyingKey, Error> {
        k256::ecdsa::VerifyingKey::from_sec1_bytes(&self.group_key)
            .map_err(|_| Error::Bug("a group key is not a point"))
    }

    /// The point of one party's share, compressed; `None` if it is no party of this key.
    #[must_use]
    pub fn party_key(&self, party: PartyId) -> Option<[u8; 33]> {
        self.threshold
            .contains(party)
            .then(|| encode_point(&self.commitments.evaluate_vartime(party)))
    }

    /// The sharing polynomial in the exponent.
    pub(crate) fn commitments(&self) -> &Commitments {
        &self.commitments
    }

    /// The encoding: `TTPK`, version, t, n, origin, and the t coefficients of the sharing
    /// polynomial as compressed points.
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
        bytes.extend(self.commitments.to_bytes());
        bytes
    }

    /// Reads [`PublicKeyPackage::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Decode`] if the bytes are not exactly such an encoding.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read_all(bytes).map_err(Error::Decode)
    }

    fn read_all(bytes: &[u8]) -> Result<Self, DecodeError> {
        let got = bytes.len();
        let mut reader = header(bytes, PUBLIC_MAGIC)?;
        let threshold = read_threshold(&mut reader, got)?;
        let expected = 7 + ORIGIN + usize::from(threshold.t()) * POINT;
        if got != expected {
            return Err(DecodeError::Length { expected, got });
        }
        Self::read(&mut reader, threshold)
    }

    /// Reads the body after the threshold; the length has been checked.
    fn read(reader: &mut Reader<'_>, threshold: Threshold) -> Result<Self, DecodeError> {
        let name = "a coefficient";
        let origin = reader.array().map_err(|_| DecodeError::Point(name))?;
        let mut points = Vec::with_capacity(usize::from(threshold.t()));
        for _ in 0..threshold.t() {
            points.push(reader.point().map_err(|_| DecodeError::Point(name))?);
        }
        Self::new(threshold, origin, Commitments(points)).ok_or(DecodeError::Point("the group key"))
    }
}

impl fmt::Debug for PublicKeyPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        write!(f, "PublicKeyPackage({}, {})", self.threshold, hex(&self.group_key))
    }
}

/// One party's share of a key, with its setup for signing with each of the others.
///
/// # Security
/// It is wiped from memory when dropped; copies that the compiler made while computing are not.
#[derive(ZeroizeOnDrop)]
pub struct KeyShare {
    #[zeroize(skip)]
    public: PublicKeyPackage,
    #[zeroize(skip)]
    me: PartyId,
    /// In a box, so that a share that is moved leaves no copy behind; it wipes itself.
    #[zeroize(skip)]
    secret: Box<Zeroizing<Scalar>>,
    pairs: Vec<Pair>,
}

impl KeyShare {
    /// Joins the parts, whose agreement the caller has checked.
    pub(crate) fn new(
        public: PublicKeyPackage,
        me: PartyId,
        secret: Box<Zeroizing<Scalar>>,
        pairs: Vec<Pair>,
    ) -> Self {
        Self { public, me, secret, pairs }
    }

    /// Whose share this is.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The public part.
    #[must_use]
    pub fn public(&self) -> &PublicKeyPackage {
        &self.public
    }

    pub(crate) fn secret(&self) -> &Scalar {
        &self.secret
    }

    /// All secrets, with their names.
    #[cfg(test)]
    pub(crate) fn secrets(&self) -> Vec<crate::wiped::Secret> {
        use crate::wiped::secret;
        let mut all = vec![secret("share", self.secret.to_bytes())];
        for pair in &self.pairs {
            all.push(secret("pair seed", pair.seed));
            all.push(secret("zero seed", pair.zero_seed()));
            all.push(secret("choices", pair.as_alice.choices));
            all.extend(pair.as_alice.pads.iter().map(|pad| secret("chosen pad", pad)));
            all.extend(pair.as_bob.pads.iter().flatten().map(|pad| secret("offered pad", pad)));
        }
        all
    }

    /// The setup with `peer`.
    pub(crate) fn pair(&self, peer: PartyId) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.peer == peer)
    }

    /// The encoding: `TTKS`, version, party, the public package's body, the secret share, and for
    /// each other party in ascending order the pair's seed, Δ, the chosen and the offered pads.
    ///
    /// # Security
    /// The bytes are secret. They are wiped when dropped.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let body = self.public.body();
        let len = 6 + body.len() + SCALAR + self.pairs.len() * PAIR;
        let mut bytes = Writer::with_capacity(len);
        bytes.bytes(&SHARE_MAGIC).bytes(&[VERSION, self.me.get()]).bytes(&body);
        bytes.scalar(&self.secret);
        for pair in &self.pairs {
            bytes.bytes(&pair.seed).bytes(&pair.as_alice.choices);
            pair.as_alice.pads.iter().chain(pair.as_bob.pads.iter().flatten()).for_each(|pad| {
                bytes.bytes(pad);
            });
        }
        bytes.finish()
    }

    /// Reads [`KeyShare::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Decode`] if the bytes are not exactly such an encoding, or if the secret share is
    /// not the one of the public package.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(bytes).map_err(Error::Decode)
    }

    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let got = bytes.len();
        let mut reader = header(bytes, SHARE_MAGIC)?;
        let short = |expected| move |_: Check| DecodeError::Length { expected, got };
        let [me] = reader.array().map_err(short(8))?;
        let me = PartyId::new(me).map_err(|_| DecodeError::Parameters)?;
        let threshold = read_threshold(&mut reader, got)?;
        if !threshold.contains(me) {
            return Err(DecodeError::Parameters);
        }
        let peers = usize::from(threshold.n()) - 1;
        let points = usize::from(threshold.t()) * POINT;
        let expected = 8 + ORIGIN + points + SCALAR + peers * PAIR;
        if got != expected {
            return Err(DecodeError::Length { expected, got });
        }
        let public = PublicKeyPackage::read(&mut reader, threshold)?;
        let secret = reader.scalar().map_err(|_| DecodeError::Scalar("the share"))?;
        let secret = Box::new(Zeroizing::new(secret));
        let point = ProjectivePoint::mul_by_generator(&secret);
        if !holds(point.ct_eq(&public.commitments.evaluate_vartime(me))) {
            return Err(DecodeError::Inconsistent("the share"));
        }
        let mut pairs = Vec::with_capacity(peers);
        for peer in threshold.parties().filter(|&party| party != me) {
            pairs.push(read_pair(&mut reader, peer).map_err(short(expected))?);
        }
        reader.finish().map_err(short(expected))?;
        Ok(Self { public, me, secret, pairs })
    }
}

impl fmt::Debug for KeyShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyShare(party {} of {:?})", self.me, self.public)
    }
}

fn header<'a>(bytes: &'a [u8], magic: [u8; 4]) -> Result<Reader<'a>, DecodeError> {
    let mut reader = Reader::new(bytes);
    let short = |_| DecodeError::Length { expected: 5, got: bytes.len() };
    if reader.array::<4>().map_err(short)? != magic {
        return Err(DecodeError::Magic);
    }
    match reader.array().map_err(short)? {
        [VERSION] => Ok(reader),
        [version] => Err(DecodeError::Version(version)),
    }
}

fn read_threshold(reader: &mut Reader<'_>, got: usize) -> Result<Threshold, DecodeError> {
    let [t, n] = reader.array().map_err(|_| DecodeError::Length { expected: 8, got })?;
    Threshold::new(t, n).map_err(|_| DecodeError::Parameters)
}

fn read_pair(reader: &mut Reader<'_>, peer: PartyId) -> Result<Pair, Check> {
    let seed = reader.array()?;
    let choices = reader.array::<DELTA>()?;
    let mut chosen = Vec::with_capacity(COUNT);
    for _ in 0..COUNT {
        chosen.push(reader.array()?);
    }
    let mut offered = Vec::with_capacity(COUNT);
    for _ in 0..COUNT {
        offered.push([reader.array()?, reader.array()?]);
    }
    let as_alice = Chosen { choices, pads: chosen };
    Ok(Pair { peer, seed, as_alice, as_bob: Offered { pads: offered } })
}
