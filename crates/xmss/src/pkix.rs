//! Public keys as SubjectPublicKeyInfo, and the X.509 certificates that carry them.
//!
//! RFC 9802: the algorithm identifier has no parameters, the key is the raw encoding of RFC 8391. It
//! says which scheme is meant, so that no caller need know. Certificates are read as far as checking
//! their signature needs; names, dates and extensions are the caller's business. DER is read strictly.
//!
//! Keys and certificates from before RFC 9802 carry older identifiers, one for each scheme, under which
//! the key is wrapped in an OCTET STRING; they are read, and never written.

use crate::{Error, PublicKey, Scheme, Signature, base64};

/// Encodes a key as DER SubjectPublicKeyInfo.
///
/// # Errors
/// [`Error::NoIdentifier`]: a QRL set.
/// RFC 9802 §4 and §5.
pub fn to_der(key: &PublicKey) -> Result<Vec<u8>, Error> {
    let algorithm = algorithm(key)?;
    let bits = element(BITS, &[&[0], &key.to_bytes()[..]].concat());
    Ok(element(SEQUENCE, &[algorithm, bits].concat()))
}

/// The algorithm identifier of a key. RFC 9802 §2 and §3.
pub(crate) fn algorithm(key: &PublicKey) -> Result<Vec<u8>, Error> {
    if key.params().oid().is_none() {
        return Err(Error::NoIdentifier(key.params()));
    }
    let oid = match key.params().scheme() {
        Scheme::Xmss => XMSS,
        Scheme::XmssMt => XMSSMT,
    };
    Ok(element(SEQUENCE, &element(OBJECT, oid)))
}

/// Takes RFC 9802's algorithm identifier of a key.
pub(crate) fn scheme(reader: &mut Reader<'_>) -> Result<Scheme, Error> {
    match Algorithm::read(reader)? {
        Algorithm::OlderXmss | Algorithm::OlderXmssMt => {
            Err(malformed("an identifier from before RFC 9802"))
        }
        algorithm => Ok(algorithm.scheme()),
    }
}

/// Decodes DER SubjectPublicKeyInfo.
///
/// # Errors
/// [`Error::Malformed`], or as [`PublicKey::from_bytes`].
pub fn from_der(der: &[u8]) -> Result<PublicKey, Error> {
    let mut outer = Reader(der);
    let mut info = outer.enter(SEQUENCE)?;
    outer.end()?;
    let algorithm = Algorithm::read(&mut info)?;
    let key = info.bits()?;
    info.end()?;
    if !algorithm.wraps_key() {
        return PublicKey::from_bytes(algorithm.scheme(), key);
    }
    let mut wrapped = Reader(key);
    let key = wrapped.enter(OCTETS)?;
    wrapped.end()?;
    PublicKey::from_bytes(algorithm.scheme(), key.0)
}

/// Encodes a key as PEM with the label `PUBLIC KEY`.
///
/// # Errors
/// As [`to_der`].
/// RFC 7468 §13.
pub fn to_pem(key: &PublicKey) -> Result<String, Error> {
    let mut text = String::from("-----BEGIN PUBLIC KEY-----\n");
    for line in base64::encode(&to_der(key)?).as_bytes().chunks(64) {
        text.extend(line.iter().map(|byte| char::from(*byte)));
        text.push('\n');
    }
    text.push_str("-----END PUBLIC KEY-----\n");
    Ok(text)
}

/// Decodes PEM with the label `PUBLIC KEY`; text around the block is ignored, a second block is not.
///
/// # Errors
/// [`Error::Malformed`], or as [`from_der`].
pub fn from_pem(text: &str) -> Result<PublicKey, Error> {
    from_der(&pem(text, "PUBLIC KEY")?)
}

/// Takes the key of a DER SubjectPublicKeyInfo, or of a certificate, whose signature is not looked at.
///
/// # Errors
/// As [`from_der`] or [`Certificate::from_der`].
pub fn key_of_der(der: &[u8]) -> Result<PublicKey, Error> {
    let mut inside = Reader(der).enter(SEQUENCE)?.enter(SEQUENCE)?;
    // A certificate begins with its version or serial number, a key's algorithm with an identifier.
    match inside.enter(OBJECT) {
        Ok(_) => from_der(der),
        Err(_) => Certificate::from_der(der).map(|certificate| certificate.public_key),
    }
}

/// As [`key_of_der`], from PEM with the label `PUBLIC KEY` or `CERTIFICATE`.
///
/// # Errors
/// As [`from_pem`] or [`Certificate::from_pem`].
pub fn key_of_pem(text: &str) -> Result<PublicKey, Error> {
    match pem(text, "CERTIFICATE") {
        Ok(der) => Ok(Certificate::from_der(&der)?.public_key),
        Err(_) => from_pem(text),
    }
}

/// A certificate, as far as its signature is concerned.
#[derive(Debug)]
pub struct Certificate {
    /// The subject's key.
    pub public_key: PublicKey,
    signed: Vec<u8>,
    scheme: Scheme,
    signature: Vec<u8>,
}

impl Certificate {
    /// Decodes PEM with the label `CERTIFICATE`; text around the block is ignored, a second block is not.
    ///
    /// # Errors
    /// [`Error::Malformed`], or as [`PublicKey::from_bytes`]; also where the subject's key is not of
    /// this scheme.
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        Self::from_der(&pem(text, "CERTIFICATE")?)
    }

    /// Decodes DER.
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem).
    /// RFC 5280 §4.1.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let mut outer = Reader(der);
        let mut certificate = outer.enter(SEQUENCE)?;
        outer.end()?;
        let (signed, mut body) = certificate.element_with_header(SEQUENCE)?;
        let algorithm = Algorithm::read(&mut certificate)?;
        let signature = certificate.bits()?.to_vec();
        certificate.end()?;
        body.skip_if(VERSION)?;
        body.enter(INTEGER)?;
        if Algorithm::read(&mut body)? != algorithm {
            return Err(malformed("the two signature algorithms differ"));
        }
        for _ in ["issuer", "validity", "subject"] {
            body.enter(SEQUENCE)?;
        }
        let (info, _) = body.element_with_header(SEQUENCE)?;
        let public_key = from_der(info)?;
        Ok(Self { public_key, signed: signed.to_vec(), scheme: algorithm.scheme(), signature })
    }

    /// The index of the one-time key that signed it, with an issuer of this parameter set.
    ///
    /// # Errors
    /// As [`Signature::from_bytes`].
    pub fn index(&self, issuer: &PublicKey) -> Result<u64, Error> {
        Ok(Signature::from_bytes(issuer.params(), &self.signature)?.index())
    }

    /// Verifies the certificate's signature under a key; a root's under its own.
    ///
    /// # Errors
    /// As [`PublicKey::verify`]; [`Error::Verification`] also where the key is of another scheme.
    pub fn verify(&self, issuer: &PublicKey) -> Result<(), Error> {
        if issuer.params().scheme() != self.scheme {
            return Err(Error::Verification);
        }
        issuer.verify(&self.signed, &self.signature)
    }
}

/// An AlgorithmIdentifier without parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Xmss,
    XmssMt,
    OlderXmss,
    OlderXmssMt,
}

impl Algorithm {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut inside = reader.enter(SEQUENCE)?;
        let oid = inside.enter(OBJECT)?;
        inside.end()?;
        match oid.0 {
            XMSS => Ok(Algorithm::Xmss),
            XMSSMT => Ok(Algorithm::XmssMt),
            OLDER_XMSS => Ok(Algorithm::OlderXmss),
            OLDER_XMSSMT => Ok(Algorithm::OlderXmssMt),
            _ => Err(malformed("the algorithm is neither XMSS nor XMSS^MT")),
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Algorithm::Xmss | Algorithm::OlderXmss => Scheme::Xmss,
            Algorithm::XmssMt | Algorithm::OlderXmssMt => Scheme::XmssMt,
        }
    }

    /// Whether the key is an OCTET STRING inside the BIT STRING.
    fn wraps_key(self) -> bool {
        match self {
            Algorithm::Xmss | Algorithm::XmssMt => false,
            Algorithm::OlderXmss | Algorithm::OlderXmssMt => true,
        }
    }
}

/// What is left of some DER.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Takes an element with this tag; returns its whole encoding and a reader of its contents.
    fn element_with_header(&mut self, tag: u8) -> Result<(&'a [u8], Reader<'a>), Error> {
        let [found, first, rest @ ..] = self.0 else { return Err(malformed("cut short")) };
        if *found != tag {
            return Err(malformed("an unexpected element"));
        }
        let (len, header) = match *first {
            len @ 0..=0x7f => (usize::from(len), 2),
            count @ 0x81..=0x83 => {
                let count = usize::from(count & 0x7f);
                let bytes = rest.get(..count).ok_or(malformed("cut short"))?;
                let len = bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
                if len < 0x80 || bytes[0] == 0 {
                    return Err(malformed("a length that is not the shortest"));
                }
                (len, 2 + count)
            }
            _ => return Err(malformed("an indefinite or huge length")),
        };
        let (whole, after) = self.0.split_at_checked(header + len).ok_or(malformed("cut short"))?;
        self.0 = after;
        Ok((whole, Reader(&whole[header..])))
    }

    pub(crate) fn enter(&mut self, tag: u8) -> Result<Reader<'a>, Error> {
        Ok(self.element_with_header(tag)?.1)
    }

    pub(crate) fn skip_if(&mut self, tag: u8) -> Result<(), Error> {
        if self.0.first() == Some(&tag) {
            self.enter(tag)?;
        }
        Ok(())
    }

    /// Takes a BIT STRING of whole bytes.
    fn bits(&mut self) -> Result<&'a [u8], Error> {
        self.enter(BITS)?.whole_bytes()
    }

    /// The contents of a BIT STRING of whole bytes.
    pub(crate) fn whole_bytes(self) -> Result<&'a [u8], Error> {
        match self.0 {
            [0, bytes @ ..] => Ok(bytes),
            _ => Err(malformed("a bit string that is not whole bytes")),
        }
    }

    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(malformed("trailing bytes")) }
    }
}

pub(crate) fn malformed(why: &'static str) -> Error {
    Error::Malformed { what: "DER", why }
}

pub(crate) fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    let len = contents.len();
    let mut out = vec![tag];
    match len {
        0..=0x7f => out.push(len as u8),
        0x80..=0xff => out.extend_from_slice(&[0x81, len as u8]),
        _ => out.extend_from_slice(&[0x82, (len >> 8) as u8, len as u8]),
    }
    out.extend_from_slice(contents);
    out
}

/// The bytes of the only PEM block, which has this label.
pub(crate) fn pem(text: &str, label: &str) -> Result<Vec<u8>, Error> {
    let fail = |why| Error::Malformed { what: "PEM", why };
    if text.matches("-----BEGIN ").count() > 1 {
        return Err(fail("more than one block"));
    }
    let (_, after) =
        text.split_once(&format!("-----BEGIN {label}-----")).ok_or(fail("no such block"))?;
    let (body, _) = after
        .split_once(&format!("-----END {label}-----"))
        .ok_or(fail("the block does not end"))?;
    // The block may hold a secret.
    let digits = body.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let digits = zeroize::Zeroizing::new(digits.collect::<Vec<u8>>());
    base64::decode(&digits).map_err(fail)
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BITS: u8 = 0x03;
const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
/// `[0] EXPLICIT`
const VERSION: u8 = 0xa0;
/// id-alg-xmss-hashsig, 1.3.6.1.5.5.7.6.34. RFC 9802 §2.
const XMSS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 6, 34];
/// id-alg-xmssmt-hashsig, 1.3.6.1.5.5.7.6.35. RFC 9802 §3.
const XMSSMT: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 6, 35];
/// 0.4.0.127.0.15.1.1.13.0, XMSS before RFC 9802. draft-vangeest-x509-hash-sigs-03 §2.
const OLDER_XMSS: &[u8] = &[4, 0, 0x7f, 0, 15, 1, 1, 13, 0];
/// 0.4.0.127.0.15.1.1.14.0, XMSS^MT before RFC 9802. draft-vangeest-x509-hash-sigs-03 §2.
const OLDER_XMSSMT: &[u8] = &[4, 0, 0x7f, 0, 15, 1, 1, 14, 0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;

    #[test]
    fn every_set_round_trips() {
        for params in Params::all() {
            let key = PublicKey::from_parts(params, &vec![0xa7; 2 * params.n()]).unwrap();
            let der = to_der(&key).unwrap();
            assert_eq!(from_der(&der), Ok(key.clone()));
            assert_eq!(from_pem(&to_pem(&key).unwrap()), Ok(key));
            for cut in 0..der.len() {
                assert!(from_der(&der[..cut]).is_err());
            }
            assert!(from_der(&[der, vec![0]].concat()).is_err());
        }
    }

    /// The encodings that Bouncy Castle and ISARA's tools wrote before RFC 9802.
    #[test]
    fn older_identifiers_of_both_schemes_are_read() {
        for params in Params::all() {
            let key = PublicKey::from_parts(params, &vec![0xa7; 2 * params.n()]).unwrap();
            let (oid, other) = match params.scheme() {
                Scheme::Xmss => (OLDER_XMSS, OLDER_XMSSMT),
                Scheme::XmssMt => (OLDER_XMSSMT, OLDER_XMSS),
            };
            let older = |oid, key: &[u8]| {
                let algorithm = element(SEQUENCE, &element(OBJECT, oid));
                let bits = element(BITS, &[&[0], key].concat());
                element(SEQUENCE, &[algorithm, bits].concat())
            };
            let wrapped = element(OCTETS, &key.to_bytes());
            let der = older(oid, &wrapped);
            assert_eq!(from_der(&der), Ok(key.clone()), "{params}");
            assert_eq!(key_of_der(&der), Ok(key.clone()), "{params}");
            // The identifier says which scheme is meant: the key's own number does not.
            assert_ne!(from_der(&older(other, &wrapped)), Ok(key.clone()), "{params}");
            assert!(from_der(&older(oid, &key.to_bytes())).is_err(), "{params}: not wrapped");
            assert!(from_der(&older(oid, &[wrapped, vec![0]].concat())).is_err(), "{params}");
        }
    }

    #[test]
    fn malformed_encodings_are_refused() {
        let why = |der: &[u8]| match from_der(der) {
            Err(Error::Malformed { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        let key = PublicKey::from_parts(Params::XMSS_SHA2_10_256, &[7; 64]).unwrap();
        let der = to_der(&key).unwrap();
        let changed = |at: usize, value: u8| {
            let mut der = der.clone();
            der[at] = value;
            der
        };
        assert_eq!(why(&changed(0, 0x31)), "an unexpected element");
        assert_eq!(why(&changed(1, 0x80)), "an indefinite or huge length");
        assert_eq!(why(&changed(13, 33)), "the algorithm is neither XMSS nor XMSS^MT");
        assert_eq!(why(&changed(16, 1)), "a bit string that is not whole bytes");
        assert_eq!(
            why(&[&[0x30, 0x81, der[1]], &der[2..]].concat()),
            "a length that is not the shortest"
        );
        let pem = to_pem(&key).unwrap();
        let twice = Error::Malformed { what: "PEM", why: "more than one block" };
        assert_eq!(from_pem(&pem.repeat(2)), Err(twice));
        assert_eq!(from_pem(&format!("a key\n{pem}\nof mine")), Ok(key));
        assert!(from_pem(&pem.replace("BEGIN PUBLIC", "BEGIN PRIVATE")).is_err());
        assert!(from_pem(&pem.replace('M', "*")).is_err());
        assert!(from_pem(&pem.replace("-----END", "A\n-----END")).is_err());
    }
}
