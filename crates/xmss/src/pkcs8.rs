//! Secret keys as PKCS#8, for transport between programs.
//!
//! No standard encodes an XMSS private key: RFC 9802 has identifiers for public keys and signatures, and
//! NIST SP 800-208 wants private keys to stay where they were made. So the envelope is standard, and
//! its content is the one that implementations have in common:
//!
//! - RFC 5958's `OneAsymmetricKey`, version 2, with RFC 9802's algorithm identifier, no attributes, and
//!   the raw public key;
//! - in it as `privateKey` `OID ‖ idx ‖ SK_SEED ‖ SK_PRF ‖ root ‖ SEED`, as xmss-reference writes a
//!   secret key without its traversal state. `idx`, in as many bytes as a signature has, is the next
//!   index that may be used.
//!
//! The chains are derived by PRF_keygen, for nothing in it says otherwise. DER is read strictly.
//!
//! # Security
//! The encoding holds all secrets and an index. Two programs that go on from it make a key forgeable.

use crate::pkix::{Reader, element, malformed, pem, scheme};
use crate::{Derivation, Error, Params, PublicKey, SecretKey, Seeds, base64};
use zeroize::Zeroizing;

/// A secret key that was read, whose root is not checked yet.
#[derive(Debug)]
pub struct Key {
    seeds: Seeds,
    public_key: PublicKey,
    next: u64,
}

impl Key {
    /// Decodes DER.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::UnknownOid`], [`Error::Length`] or [`Error::IndexOutOfRange`].
    /// RFC 5958 §2.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let mut outer = Reader(der);
        let mut key = outer.enter(SEQUENCE)?;
        outer.end()?;
        let version = key.enter(INTEGER)?;
        if !matches!(version.0, [0] | [1]) {
            return Err(malformed("neither version 1 nor 2 of PKCS#8"));
        }
        let (has_public, scheme) = (version.0 == [1], scheme(&mut key)?);
        let secret = key.enter(OCTETS)?.0;
        // Attributes say nothing that is needed here.
        key.skip_if(ATTRIBUTES)?;
        let given = match has_public && !key.0.is_empty() {
            true => Some(key.enter(PUBLIC_KEY)?.whole_bytes()?),
            false => None,
        };
        key.end()?;
        let why = "the secret is shorter than an identifier";
        let (oid, rest) = secret.split_first_chunk::<4>().ok_or(malformed(why))?;
        let params = Params::from_oid(scheme, u32::from_be_bytes(*oid))?;
        let (n, width) = (params.n(), params.index_bytes());
        crate::keys::length("PKCS#8 XMSS key", width + 4 * n, rest.len())?;
        let (index, rest) = rest.split_at(width);
        let next = index.iter().fold(0, |index, byte| index << 8 | u64::from(*byte));
        let limit = params.signatures();
        if next >= limit {
            return Err(Error::IndexOutOfRange { index: next, limit });
        }
        let (secrets, public) = rest.split_at(2 * n);
        let (root, seed) = public.split_at(n);
        let public_key = PublicKey::from_parts(params, &[root, seed].concat())?;
        if given.is_some_and(|given| given != public_key.to_bytes()) {
            return Err(malformed("the public key is not the secret's"));
        }
        let seeds = Zeroizing::new([secrets, seed].concat());
        let seeds = Seeds::from_bytes(params, Derivation::PrfKeygen, &seeds)?;
        Ok(Self { seeds, public_key, next })
    }

    /// Decodes PEM with the label `PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    /// RFC 7468 §10.
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        Self::from_der(&Zeroizing::new(pem(text, LABEL)?))
    }

    /// The public key that it claims: its root is checked by computing the key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// The next index that may be used.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The seeds, of which the key is computed.
    #[must_use]
    pub fn into_seeds(self) -> Seeds {
        self.seeds
    }
}

/// Encodes a key, with the next index that may be used, as DER.
///
/// # Errors
/// [`Error::NoIdentifier`] for a QRL set, [`Error::NotPkcs8`] for the older derivation,
/// [`Error::IndexOutOfRange`] where no index is left.
/// RFC 5958 §2.
pub fn to_der(key: &SecretKey, next: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (public_key, params) = (key.public_key(), key.params());
    if key.derivation() != Derivation::PrfKeygen {
        return Err(Error::NotPkcs8);
    }
    let limit = params.signatures();
    if next >= limit {
        return Err(Error::IndexOutOfRange { index: next, limit });
    }
    let public = public_key.to_bytes();
    let algorithm = crate::pkix::algorithm(&public_key)?;
    let oid = params.oid().ok_or(Error::NoIdentifier(params))?;
    let mut secret = Zeroizing::new(Vec::with_capacity(4 + 8 + 4 * params.n()));
    secret.extend_from_slice(&oid.to_be_bytes());
    secret.extend_from_slice(&next.to_be_bytes()[8 - params.index_bytes()..]);
    for part in [key.sk_seed(), key.sk_prf(), key.root(), key.seed()] {
        secret.extend_from_slice(part);
    }
    let secret = Zeroizing::new(element(OCTETS, &secret));
    let version = element(INTEGER, &[1]);
    let public = element(PUBLIC_KEY, &[&[0], &public[..]].concat());
    let body = Zeroizing::new([&version[..], &algorithm, &secret, &public].concat());
    Ok(Zeroizing::new(element(SEQUENCE, &body)))
}

/// As [`to_der`], as PEM with the label `PRIVATE KEY`.
///
/// # Errors
/// As [`to_der`].
///
/// # Security
/// Base64 digits are looked up in a table: the time and the cache show which.
/// RFC 7468 §10.
pub fn to_pem(key: &SecretKey, next: u64) -> Result<Zeroizing<String>, Error> {
    let digits = Zeroizing::new(base64::encode(&to_der(key, next)?));
    let mut text = Zeroizing::new(String::with_capacity(digits.len() + digits.len() / 64 + 64));
    text.push_str("-----BEGIN PRIVATE KEY-----\n");
    for line in digits.as_bytes().chunks(64) {
        text.extend(line.iter().map(|byte| char::from(*byte)));
        text.push('\n');
    }
    text.push_str("-----END PRIVATE KEY-----\n");
    Ok(text)
}

const LABEL: &str = "PRIVATE KEY";
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
/// `[0] IMPLICIT SET`
const ATTRIBUTES: u8 = 0xa0;
/// `[1] IMPLICIT BIT STRING`
const PUBLIC_KEY: u8 = 0x81;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HashFunction, Progress, Scheme};

    fn key(name: &str) -> SecretKey {
        let params = Params::from_name(name).unwrap();
        let seeds: Vec<u8> = (0..3 * params.n()).map(|i| i as u8).collect();
        let silent = Progress::silent();
        SecretKey::from_seeds(params, Derivation::PrfKeygen, &seeds, &silent).unwrap()
    }

    #[test]
    fn keys_round_trip() {
        for name in ["XMSS-SHA2_10_256", "XMSS-SHAKE256_10_192", "XMSSMT-SHAKE_40/8_512"] {
            let key = key(name);
            let der = to_der(&key, 77).unwrap();
            let read = Key::from_der(&der).unwrap();
            assert_eq!((read.next(), read.public_key()), (77, &key.public_key()), "{name}");
            assert_eq!(Key::from_pem(&to_pem(&key, 77).unwrap()).unwrap().next(), 77);
            let again = read.into_seeds().build(&Progress::silent()).unwrap();
            assert_eq!(*again.to_bytes(), *key.to_bytes(), "{name}");
            for cut in 0..der.len() {
                assert!(Key::from_der(&der[..cut]).is_err(), "{name} {cut}");
            }
            assert!(Key::from_der(&[&der[..], &[0]].concat()).is_err());
            let limit = key.params().signatures();
            assert!(to_der(&key, limit - 1).is_ok());
            let past = Err(Error::IndexOutOfRange { index: limit, limit });
            assert_eq!(to_der(&key, limit), past, "{name}");
        }
    }

    /// The layout is fixed: another program reads it.
    #[test]
    fn the_content_is_that_of_xmss_reference() {
        let key = key("XMSS-SHA2_10_256");
        let der = to_der(&key, 0x0102).unwrap();
        let head = [
            &[0x30, 0x81, 225, 2, 1, 1, 0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 6, 34, 4, 0x81, 136],
            &[0, 0, 0, 1, 0, 0, 1, 2][..],
        ];
        let head = head.concat();
        assert_eq!(der[..head.len()], head);
        let secret = &der[head.len()..][..128];
        let counted: Vec<u8> = (0..96).collect();
        assert_eq!(secret[..64], counted[..64]);
        assert_eq!(secret[64..96], *key.root());
        assert_eq!(secret[96..], counted[64..]);
        let public = &der[head.len() + 128..];
        assert_eq!(public[..3], [0x81, 69, 0]);
        assert_eq!(public[3..], key.public_key().to_bytes());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let key = key("XMSS-SHA2_10_256");
        let der = to_der(&key, 5).unwrap();
        let changed = |at: usize, value: u8| {
            let mut der = der.to_vec();
            der[at] = value;
            Key::from_der(&der).unwrap_err()
        };
        let why = |error| match error {
            Error::Malformed { why, .. } => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(changed(5, 2)), "neither version 1 nor 2 of PKCS#8");
        // Without its version a public key is out of place.
        assert_eq!(why(changed(5, 0)), "trailing bytes");
        assert_eq!(why(changed(der.len() - 1, 0)), "the public key is not the secret's");
        assert_eq!(changed(24, 99), Error::UnknownOid { scheme: Scheme::Xmss, oid: 99 });
        assert_eq!(changed(27, 4), Error::IndexOutOfRange { index: 0x405, limit: 1024 });
        let silent = Progress::silent();
        let older = Derivation::PrfCounter;
        let older = SecretKey::from_seeds(key.params(), older, &[7; 96], &silent).unwrap();
        assert_eq!(to_der(&older, 0), Err(Error::NotPkcs8));
        let qrl = Params::qrl(HashFunction::Sha2, 4).unwrap();
        let way = Derivation::PrfKeygen;
        let qrl_key = SecretKey::from_seeds(qrl, way, &[7; 96], &silent).unwrap();
        assert_eq!(to_der(&qrl_key, 0), Err(Error::NoIdentifier(qrl)));
    }
}
