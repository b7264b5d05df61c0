//! The suites on edwards25519, after RFC 9381's sections; [`EdwardsRules`] says where they differ.

use crate::error::{Error, Part};
use crate::hash_to_curve::{self, Digest64};
use crate::suite::{EdwardsRules, Format, Map, Negation};
use curve25519_dalek::Scalar;
use sha2::{Digest, Sha512};
use subtle::ConstantTimeEq;
use tetralith_kernels::ct;
use tetralith_kernels::edwards25519::{DecodeError, NegativeZero, PendingPoint, Point};
use tetralith_kernels::edwards25519x2::{
    double_mul_base_and_vartime, encode, mul_base, mul_pair, sqrt_ratios,
};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A secret key with what is derived from it.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Secret {
    /// The secret scalar x, clamped and not reduced.
    x: [u8; 32],
    /// The second half of the hashed key, from which nonces are made.
    prefix: [u8; 32],
    #[zeroize(skip)]
    public_key: [u8; 32],
}

/// A decoded proof.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parsed {
    pub(crate) gamma: Point,
    /// s, below L.
    pub(crate) s: [u8; 32],
}

impl Secret {
    /// Derives x, the nonce prefix and Y from a seed. RFC 8032 §5.1.5
    pub(crate) fn new(seed: &[u8; 32]) -> Secret {
        let mut hash: [u8; 64] = Sha512::digest(seed).into();
        let mut secret = Secret { x: first_32(&hash), prefix: last_32(&hash), public_key: [0; 32] };
        hash.zeroize();
        secret.x[0] &= 0xf8;
        secret.x[31] = secret.x[31] & 0x7f | 0x40;
        [secret.public_key] = ct::public(encode(&[mul_base(&secret.x)]));
        secret
    }

    pub(crate) fn public_key(&self) -> &[u8; 32] {
        &self.public_key
    }

    /// The secret scalar mod L.
    pub(crate) fn scalar(&self) -> Zeroizing<Scalar> {
        Zeroizing::new(Scalar::from_bytes_mod_order(self.x))
    }

    /// The nonce k. RFC 9381 §5.4.2.2
    pub(crate) fn nonce(&self, h: &[u8; 32]) -> Zeroizing<Scalar> {
        let mut hasher = Sha512::new();
        hasher.update(self.prefix);
        hasher.update(h);
        let mut hash: [u8; 64] = hasher.finalize().into();
        let k = Scalar::from_bytes_mod_order_wide(&hash);
        hash.zeroize();
        Zeroizing::new(k)
    }

    /// Proves; the proof is as long as the suite's format says. RFC 9381 §5.1
    pub(crate) fn prove(&self, rules: &EdwardsRules, alpha: &[u8]) -> Result<Proven, Error> {
        let h_point = hash_to_curve::edwards(rules, &self.public_key, alpha)?;
        let [h] = encode(&[h_point]);
        let k = self.nonce(&h);
        let k_bytes = Zeroizing::new(k.to_bytes());
        let [gamma_point, v_point] = mul_pair(&h_point, &self.x, &k_bytes);
        let [gamma, u, v] = encode(&[gamma_point, mul_base(&k_bytes), v_point]);
        let c = challenge(rules, &self.public_key, &h, &gamma, &u, &v);
        let s = (*k + scalar(&c) * *self.scalar()).to_bytes();
        Ok(Proven { gamma_point, gamma, u, v, c, s, h, k: k_bytes })
    }
}

impl Secret {
    /// The output alone, for less than half of a proof's work.
    pub(crate) fn output(&self, rules: &EdwardsRules, alpha: &[u8]) -> Result<[u8; 64], Error> {
        let h_point = hash_to_curve::edwards(rules, &self.public_key, alpha)?;
        let [gamma, _] = mul_pair(&h_point, &self.x, &self.x);
        Ok(proof_to_hash(rules, &gamma))
    }
}

/// All that proving computes; `k` is secret.
pub(crate) struct Proven {
    pub(crate) gamma_point: Point,
    pub(crate) gamma: [u8; 32],
    pub(crate) u: [u8; 32],
    pub(crate) v: [u8; 32],
    pub(crate) c: [u8; 16],
    pub(crate) s: [u8; 32],
    #[cfg_attr(not(test), allow(dead_code))] // held against RFC 9381's examples
    pub(crate) h: [u8; 32],
    #[cfg_attr(not(test), allow(dead_code))] // likewise
    pub(crate) k: Zeroizing<[u8; 32]>,
}

impl Proven {
    /// The proof string. RFC 9381 §5.1, step 8
    pub(crate) fn to_bytes(&self, format: Format) -> Vec<u8> {
        proof_string(format, &self.gamma, [&self.u, &self.v], &self.c, &self.s)
    }
}

/// The proof string from its parts. RFC 9381 §5.1, step 8
pub(crate) fn proof_string(
    format: Format,
    gamma: &[u8; 32],
    [u, v]: [&[u8; 32]; 2],
    c: &[u8; 16],
    s: &[u8; 32],
) -> Vec<u8> {
    match format {
        Format::Challenge => [&gamma[..], c, s].concat(),
        Format::Commitments => [*gamma, *u, *v, *s].concat(),
    }
}

/// Decodes and validates a public key. RFC 9381 §5.4.5
pub(crate) fn decode_public_key(rules: &EdwardsRules, bytes: &[u8; 32]) -> Result<Point, Error> {
    let point = decode_point(rules, bytes, Part::PublicKey)?;
    if point.is_small_order().into() {
        return Err(Error::SmallOrder);
    }
    Ok(point)
}

/// Decodes a proof as far as a verifier does before it computes. RFC 9381 §5.4.4
pub(crate) fn decode_proof(rules: &EdwardsRules, proof: &[u8]) -> Result<Parsed, Error> {
    let gamma = decode_point(rules, &take_32(proof, 0), Part::Gamma)?;
    let s = decode_s(rules, proof).ok_or(Error::NonCanonicalScalar(Part::S))?;
    Ok(Parsed { gamma, s })
}

/// s as the suite takes it, below L; none where the suite refuses it.
pub(crate) fn decode_s(rules: &EdwardsRules, proof: &[u8]) -> Option<[u8; 32]> {
    let s = take_32(proof, proof.len() - 32);
    if s[31] < 0x10 {
        return Some(s); // below 2^252, so below L
    }
    if rules.reduce_s {
        return Some(Scalar::from_bytes_mod_order(s).to_bytes());
    }
    bool::from(Scalar::from_canonical_bytes(s).is_some()).then_some(s)
}

pub(crate) fn negative_zero(rules: &EdwardsRules) -> NegativeZero {
    if rules.refuse_negative_zero { NegativeZero::Refuse } else { NegativeZero::Accept }
}

fn decode_point(rules: &EdwardsRules, bytes: &[u8; 32], part: Part) -> Result<Point, Error> {
    Point::decode(bytes, negative_zero(rules)).map_err(|error| match error {
        DecodeError::NonCanonical => Error::NonCanonicalPoint(part),
        DecodeError::NegativeZero => Error::NegativeZero(part),
        _ => Error::NotOnCurve(part),
    })
}

/// Verifies a decoded proof with a validated key and gives its output. RFC 9381 §5.3
pub(crate) fn verify(
    rules: &EdwardsRules,
    key: (&Point, &[u8; 32]),
    alpha: &[u8],
    proof: (&Parsed, &[u8]),
) -> Result<[u8; 64], Error> {
    let h_point = hash_to_curve::edwards(rules, key.1, alpha)?;
    verify_with(rules, key, &h_point, proof)
}

/// Decodes and verifies with all square roots taken at once; none where anything is malformed, or
/// try-and-increment takes long, which [`verify`] sees to.
pub(crate) fn verify_encoded(
    rules: &EdwardsRules,
    key: &[u8; 32],
    alpha: &[u8],
    proof: &[u8],
) -> Option<Result<[u8; 64], Error>> {
    let y = PendingPoint::new(key).ok()?;
    let g = PendingPoint::new(&take_32(proof, 0)).ok()?;
    let s = decode_s(rules, proof)?;
    let (y_root, g_root, h_point) = if rules.map == Map::TryAndIncrement {
        let candidates = hash_to_curve::edwards_candidates::<4>(rules, key, alpha, 0);
        let [a, b, c, d] = candidates.map(|candidate| candidate.ratio());
        let [y_root, g_root, roots @ ..] = sqrt_ratios(&[y.ratio(), g.ratio(), a, b, c, d]);
        (y_root, g_root, hash_to_curve::first_point(&candidates, roots)?)
    } else {
        let map = hash_to_curve::edwards_map(rules, key, alpha);
        let [y_root, g_root, h_root] = sqrt_ratios(&[y.ratio(), g.ratio(), map.ratio()]);
        (y_root, g_root, map.finish(h_root))
    };
    let y_point = y.finish(y_root, negative_zero(rules)).ok()?;
    let gamma = g.finish(g_root, negative_zero(rules)).ok()?;
    if y_point.is_small_order().into() {
        return None;
    }
    Some(verify_with(rules, (&y_point, key), &h_point, (&Parsed { gamma, s }, proof)))
}

/// Verifies from H on: U = s B - c Y and V = s H - c Γ are computed as the suite's verifier does,
/// with integers.
fn verify_with(
    rules: &EdwardsRules,
    key: (&Point, &[u8; 32]),
    h_point: &Point,
    (parsed, proof): (&Parsed, &[u8]),
) -> Result<[u8; 64], Error> {
    let gamma = take_32(proof, 0);
    let commitments = |c: &[u8; 16]| {
        let (points, minus_c) = match rules.negation {
            Negation::Integer => ([key.0.neg(), parsed.gamma.neg()], scalar(c)),
            Negation::ModOrder => ([*key.0, parsed.gamma], -scalar(c)),
        };
        double_mul_base_and_vartime(&minus_c.to_bytes(), &points, &parsed.s, h_point)
    };
    let gamma8 = parsed.gamma.mul_by_cofactor();
    let (same, gamma8) = match rules.format {
        Format::Challenge => {
            let c: [u8; 16] = core::array::from_fn(|i| proof[32 + i]);
            let [u, v] = commitments(&c);
            let [u, v, h, gamma8] = encode(&[u, v, *h_point, gamma8]);
            (challenge(rules, key.1, &h, &gamma, &u, &v).ct_eq(&c), gamma8)
        }
        Format::Commitments => {
            let [h, gamma8] = encode(&[*h_point, gamma8]);
            let given = [take_32(proof, 32), take_32(proof, 64)];
            let c = challenge(rules, key.1, &h, &gamma, &given[0], &given[1]);
            let [u, v] = encode(&commitments(&c));
            (u.ct_eq(&given[0]) & v.ct_eq(&given[1]), gamma8)
        }
    };
    if bool::from(same) { Ok(output(rules, &gamma8)) } else { Err(Error::Invalid) }
}

/// The challenge c of sixteen bytes. RFC 9381 §5.4.3
pub(crate) fn challenge(
    rules: &EdwardsRules,
    y: &[u8; 32],
    h: &[u8; 32],
    gamma: &[u8; 32],
    u: &[u8; 32],
    v: &[u8; 32],
) -> [u8; 16] {
    let prefix = [rules.suite_string, 2];
    let hash = if rules.domain_separated {
        Digest64::of(rules.hash, &[&prefix, y, h, gamma, u, v, &[0]])
    } else {
        Digest64::of(rules.hash, &[&prefix, h, gamma, u, v])
    };
    core::array::from_fn(|i| hash[i])
}

/// The output of a decoded proof. RFC 9381 §5.2
pub(crate) fn proof_to_hash(rules: &EdwardsRules, gamma: &Point) -> [u8; 64] {
    let [gamma8] = encode(&[gamma.mul_by_cofactor()]);
    output(rules, &gamma8)
}

/// The output from the encoding of 8 Γ.
pub(crate) fn output(rules: &EdwardsRules, gamma8: &[u8; 32]) -> [u8; 64] {
    let end: &[u8] = if rules.domain_separated { &[0] } else { &[] };
    Digest64::of(rules.hash, &[&[rules.suite_string, 3], gamma8, end])
}

pub(crate) fn scalar(c: &[u8; 16]) -> Scalar {
    Scalar::from(u128::from_le_bytes(*c))
}

pub(crate) fn take_32(bytes: &[u8], at: usize) -> [u8; 32] {
    core::array::from_fn(|i| bytes[at + i])
}

fn first_32(bytes: &[u8; 64]) -> [u8; 32] {
    core::array::from_fn(|i| bytes[i])
}

fn last_32(bytes: &[u8; 64]) -> [u8; 32] {
    core::array::from_fn(|i| bytes[32 + i])
}
