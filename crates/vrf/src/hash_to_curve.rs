//! Hashing an input to a point of the curve, salted with the public key.
//!
//! Try-and-increment takes a number of tries that depends on the public key and the input; it leaks
//! that much of them, as RFC 9381 §7.5 says. The maps are constant time.
//!
//! RFC 9381 §5.4.1, RFC 9380 §5 and §6

use crate::PublicKey;
use crate::error::Error;
use crate::sec1::{K256, P256, Sec1};
use crate::suite::{EdwardsRules, Group, Hash, Map, Sec1Map};
use blake2::Blake2b512;
use sha2::{Digest, Sha256, Sha512};
use subtle::Choice;
use tetralith_kernels::edwards25519::{NegativeZero, PendingMap, PendingPoint, Point, Sign};
use tetralith_kernels::edwards25519x2::sqrt_ratios;
use tetralith_kernels::field25519::Fe;
use tetralith_kernels::weierstrass::Affine;

/// Hashes an input to the encoding of the point H of a key's suite.
///
/// # Errors
/// [`Error::HashToCurve`], with a probability of 2^-256 for try-and-increment, never otherwise.
///
/// # Security
/// Constant time but for try-and-increment.
///
/// RFC 9381 §5.4.1
pub fn encode_to_curve(key: &PublicKey, alpha: &[u8]) -> Result<Vec<u8>, Error> {
    match key.suite().group() {
        Group::Edwards25519(rules) => {
            let key = crate::edwards::take_32(key.as_bytes(), 0);
            edwards(rules, &key, alpha).map(|h| h.encode().to_vec())
        }
        Group::P256(map) => {
            sec1::<P256>(map, key.as_bytes(), alpha).map(|h| P256::encode(&h).to_vec())
        }
        Group::Secp256k1(map) => {
            sec1::<K256>(map, key.as_bytes(), alpha).map(|h| K256::encode(&h).to_vec())
        }
    }
}

/// A hash of 64 bytes.
pub(crate) struct Digest64;

impl Digest64 {
    pub(crate) fn of(hash: Hash, parts: &[&[u8]]) -> [u8; 64] {
        fn run<D: Digest>(parts: &[&[u8]]) -> D {
            let mut hasher = D::new();
            for part in parts {
                hasher.update(part);
            }
            hasher
        }
        match hash {
            Hash::Sha512 => run::<Sha512>(parts).finalize().into(),
            Hash::Blake2b => run::<Blake2b512>(parts).finalize().into(),
        }
    }
}

/// H for the suites on edwards25519; its cofactor is cleared.
pub(crate) fn edwards(rules: &EdwardsRules, key: &[u8; 32], alpha: &[u8]) -> Result<Point, Error> {
    if rules.map == Map::TryAndIncrement {
        return edwards_tai(rules, key, alpha);
    }
    let map = edwards_map(rules, key, alpha);
    let [root] = sqrt_ratios(&[map.ratio()]);
    Ok(map.finish(root))
}

/// Begins the map of a suite that has one.
pub(crate) fn edwards_map(rules: &EdwardsRules, key: &[u8; 32], alpha: &[u8]) -> PendingMap {
    if rules.map == Map::Elligator2Rfc {
        let u = rfc9380_uniform(rules.suite_string, key, alpha);
        return PendingMap::new(&reduce_48(&u), Sign::Rfc9380);
    }
    let r = draft03_uniform(rules, key, alpha);
    PendingMap::new(&Fe::from_bytes(&r), Sign::EvenX)
}

/// Draft 3's field element: 32 bytes of a hash, without the sign bit.
///
/// draft-irtf-cfrg-vrf-03 §5.4.1.2, step 4
pub(crate) fn draft03_uniform(rules: &EdwardsRules, key: &[u8; 32], alpha: &[u8]) -> [u8; 32] {
    let hash = Digest64::of(rules.hash, &[&[rules.suite_string, 1], key, alpha]);
    let mut r = crate::edwards::take_32(&hash, 0);
    r[31] &= 0x7f;
    r
}

/// RFC 9380's 48 uniform bytes: expand_message_xmd with SHA-512, all of them in its first block.
///
/// RFC 9380 §5.2 and §5.3.1, RFC 9381 §5.4.1.2
pub(crate) fn rfc9380_uniform(suite_string: u8, key: &[u8; 32], alpha: &[u8]) -> [u8; 48] {
    let tag = rfc9380_tag(suite_string);
    let z_pad = [0; 128];
    let length = [0, 48];
    let b0 = Digest64::of(Hash::Sha512, &[&z_pad, key, alpha, &length, &[0], &tag]);
    let b1 = Digest64::of(Hash::Sha512, &[&b0, &[1], &tag]);
    core::array::from_fn(|i| b1[i])
}

/// The domain separation tag of 40 bytes, then its length. RFC 9381 §5.5
pub(crate) fn rfc9380_tag(suite_string: u8) -> [u8; 41] {
    let mut tag = *b"ECVRF_edwards25519_XMD:SHA-512_ELL2_NU_\0\x28";
    tag[39] = suite_string;
    tag
}

/// 48 big-endian bytes mod p: the low 32 bytes and 2^256 times the high 16, 2^256 being 38.
pub(crate) fn reduce_48(bytes: &[u8; 48]) -> Fe {
    let mut low: [u8; 32] = core::array::from_fn(|i| bytes[47 - i]);
    let mut high = [0; 32];
    for i in 0..16 {
        high[i] = bytes[15 - i];
    }
    let top = low[31] >> 7;
    low[31] &= 0x7f;
    let mut small = [0; 32];
    small[0] = 38;
    let mut carry = [0; 32];
    carry[0] = 19 * top;
    Fe::from_bytes(&low)
        .add(&Fe::from_bytes(&high).mul(&Fe::from_bytes(&small)))
        .add(&Fe::from_bytes(&carry))
}

/// RFC 9381 §5.4.1.1
fn edwards_tai(rules: &EdwardsRules, key: &[u8; 32], alpha: &[u8]) -> Result<Point, Error> {
    for first in (0..=252).step_by(4) {
        let candidates = edwards_candidates::<4>(rules, key, alpha, first);
        let roots = sqrt_ratios(&candidates.map(|candidate| candidate.ratio()));
        if let Some(point) = first_point(&candidates, roots) {
            return Ok(point);
        }
    }
    Err(Error::HashToCurve)
}

/// A string that may encode a point.
#[derive(Clone, Copy)]
pub(crate) struct Candidate(Option<PendingPoint>);

impl Candidate {
    /// u and v as [`PendingPoint::ratio`], or any.
    pub(crate) fn ratio(&self) -> (Fe, Fe) {
        self.0.map_or((Fe::ONE, Fe::ONE), |pending| pending.ratio())
    }
}

/// The strings of N counters from `first` on; draft 3 has no zero byte after the counter.
pub(crate) fn edwards_candidates<const N: usize>(
    rules: &EdwardsRules,
    key: &[u8; 32],
    alpha: &[u8],
    first: u8,
) -> [Candidate; N] {
    let end: &[u8] = if rules.domain_separated { &[0] } else { &[] };
    core::array::from_fn(|i| {
        let counter = first + i as u8;
        let parts = [&[rules.suite_string, 1][..], key, alpha, &[counter], end];
        let hash = Digest64::of(rules.hash, &parts);
        Candidate(PendingPoint::new(&crate::edwards::take_32(&hash, 0)).ok())
    })
}

/// H from the first string that encodes a point with a part in the prime-order subgroup.
pub(crate) fn first_point<const N: usize>(
    candidates: &[Candidate; N],
    roots: [(Choice, Fe); N],
) -> Option<Point> {
    candidates.iter().zip(roots).find_map(|(candidate, root)| {
        let point = candidate.0?.finish(root, NegativeZero::Refuse).ok()?;
        let h = point.mul_by_cofactor();
        (!bool::from(h.is_identity())).then_some(h)
    })
}

/// H for the suites on P-256 and secp256k1, for proving.
pub(crate) fn sec1<C: Sec1>(map: Sec1Map, key: &[u8], alpha: &[u8]) -> Result<C::Point, Error> {
    if map == Sec1Map::Sswu {
        return C::map_sswu(&[key, alpha]);
    }
    sec1_tai::<C, _>(key, alpha, |candidate| C::decode(candidate))
}

/// H for verifying.
pub(crate) fn sec1_public<C: Sec1>(
    map: Sec1Map,
    key: &[u8],
    alpha: &[u8],
) -> Result<Affine<C::Public>, Error> {
    if map == Sec1Map::Sswu {
        return C::public(&C::map_sswu(&[key, alpha])?).ok_or(Error::HashToCurve);
    }
    sec1_tai::<C, _>(key, alpha, Affine::decode_vartime)
}

/// RFC 9381 §5.4.1.1
fn sec1_tai<C: Sec1, P>(
    key: &[u8],
    alpha: &[u8],
    decode: impl Fn(&[u8; 33]) -> Option<P>,
) -> Result<P, Error> {
    (0..=255u8)
        .find_map(|counter| decode(&sec1_candidate::<C>(key, alpha, counter)))
        .ok_or(Error::HashToCurve)
}

/// The string of a counter that may encode a point.
pub(crate) fn sec1_candidate<C: Sec1>(key: &[u8], alpha: &[u8], counter: u8) -> [u8; 33] {
    let mut hasher = Sha256::new();
    hasher.update([C::TAI_SUITE_STRING, 1]);
    hasher.update(key);
    hasher.update(alpha);
    hasher.update([counter]);
    if C::DOMAIN_SEPARATED {
        hasher.update([0]);
    }
    let mut candidate = [2; 33];
    candidate[1..].copy_from_slice(&hasher.finalize());
    candidate
}
