//! The suites: which curve, hash, map to the curve, proof format and acceptance rules.
//!
//! | suite | bytes of key, proof, output | what it is |
//! |---|---|---|
//! | `draft03-cardano` | 32, 80, 64 | draft 3 with Elligator 2 as Cardano runs it; s below L; −c taken as L − c |
//! | `draft03-algorand` | 32, 80, 64 | the same as Algorand runs it; any s, reduced mod L |
//! | `draft13-batchcompat` | 32, 128, 64 | draft 13 with U and V in place of c, as Cardano wrote it |
//! | `rfc9381-edwards25519-sha512-tai` | 32, 80, 64 | RFC 9381, suite 03 |
//! | `rfc9381-edwards25519-sha512-ell2` | 32, 80, 64 | RFC 9381, suite 04 |
//! | `rfc9381-p256-sha256-tai` | 33, 81, 32 | RFC 9381, suite 01 |
//! | `rfc9381-p256-sha256-sswu` | 33, 81, 32 | RFC 9381, suite 02 |
//! | `secp256k1-sha256-tai` | 33, 81, 32 | draft 5 on secp256k1 with suite FE, as deployed; no standard |
//! | `draft03-blake2b` | 32, 80, 64 | draft 3 with BLAKE2b-512 for SHA-512; for measurements |
//! | `draft03-tai` | 32, 80, 64 | draft 3 with try-and-increment; for measurements |
//! | `draft03-blake2b-tai` | 32, 80, 64 | both; for measurements |
//!
//! Two rules tell apart verifiers that agree on every honest proof. Whether s may be L or more; and
//! what −c is when a point has a torsion part: libsodium as Cardano runs it multiplies by the
//! integer L − c, and L times such a point is not the neutral element.

use crate::Error;
use core::fmt;
use core::str::FromStr;

/// A suite; see the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Suite {
    /// `draft03-cardano`.
    Draft03Cardano,
    /// `draft03-algorand`.
    Draft03Algorand,
    /// `draft13-batchcompat`.
    Draft13BatchCompat,
    /// `rfc9381-edwards25519-sha512-tai`.
    Edwards25519Tai,
    /// `rfc9381-edwards25519-sha512-ell2`.
    Edwards25519Ell2,
    /// `rfc9381-p256-sha256-tai`.
    P256Tai,
    /// `rfc9381-p256-sha256-sswu`.
    P256Sswu,
    /// `secp256k1-sha256-tai`; not a standard.
    Secp256k1Tai,
    /// `draft03-blake2b`; not a standard.
    Draft03Blake2b,
    /// `draft03-tai`; not a standard.
    Draft03Tai,
    /// `draft03-blake2b-tai`; not a standard.
    Draft03Blake2bTai,
}

impl Suite {
    /// All suites, in the order of the module's table.
    pub const ALL: [Suite; 11] = [
        Suite::Draft03Cardano,
        Suite::Draft03Algorand,
        Suite::Draft13BatchCompat,
        Suite::Edwards25519Tai,
        Suite::Edwards25519Ell2,
        Suite::P256Tai,
        Suite::P256Sswu,
        Suite::Secp256k1Tai,
        Suite::Draft03Blake2b,
        Suite::Draft03Tai,
        Suite::Draft03Blake2bTai,
    ];

    /// The suite's name, as the command line and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Suite::Draft03Cardano => "draft03-cardano",
            Suite::Draft03Algorand => "draft03-algorand",
            Suite::Draft13BatchCompat => "draft13-batchcompat",
            Suite::Edwards25519Tai => "rfc9381-edwards25519-sha512-tai",
            Suite::Edwards25519Ell2 => "rfc9381-edwards25519-sha512-ell2",
            Suite::P256Tai => "rfc9381-p256-sha256-tai",
            Suite::P256Sswu => "rfc9381-p256-sha256-sswu",
            Suite::Secp256k1Tai => "secp256k1-sha256-tai",
            Suite::Draft03Blake2b => "draft03-blake2b",
            Suite::Draft03Tai => "draft03-tai",
            Suite::Draft03Blake2bTai => "draft03-blake2b-tai",
        }
    }

    /// All names, for messages.
    pub(crate) fn names() -> String {
        Suite::ALL.map(Suite::name).join(", ")
    }

    /// Says whether a standard, or a draft of one that chains run, defines the suite.
    #[must_use]
    pub const fn is_standard(self) -> bool {
        !matches!(
            self,
            Suite::Secp256k1Tai
                | Suite::Draft03Blake2b
                | Suite::Draft03Tai
                | Suite::Draft03Blake2bTai
        )
    }

    /// The length of a secret key: an Ed25519 seed, or a big-endian scalar.
    #[must_use]
    pub const fn secret_key_len(self) -> usize {
        32
    }

    /// The length of a public key in bytes.
    #[must_use]
    pub const fn public_key_len(self) -> usize {
        match self.group() {
            Group::Edwards25519(_) => 32,
            Group::P256(_) | Group::Secp256k1(_) => 33,
        }
    }

    /// The length of a proof in bytes.
    #[must_use]
    pub const fn proof_len(self) -> usize {
        match self.group() {
            Group::Edwards25519(rules) => match rules.format {
                Format::Challenge => 80,
                Format::Commitments => 128,
            },
            Group::P256(_) | Group::Secp256k1(_) => 81,
        }
    }

    /// The length of an output in bytes.
    #[must_use]
    pub const fn output_len(self) -> usize {
        match self.group() {
            Group::Edwards25519(_) => 64,
            Group::P256(_) | Group::Secp256k1(_) => 32,
        }
    }

    pub(crate) const fn group(self) -> Group {
        match self {
            Suite::Draft03Cardano => Group::Edwards25519(&CARDANO),
            Suite::Draft03Algorand => Group::Edwards25519(&ALGORAND),
            Suite::Draft13BatchCompat => Group::Edwards25519(&BATCH_COMPATIBLE),
            Suite::Edwards25519Tai => Group::Edwards25519(&RFC_TAI),
            Suite::Edwards25519Ell2 => Group::Edwards25519(&RFC_ELL2),
            Suite::P256Tai => Group::P256(Sec1Map::TryAndIncrement),
            Suite::P256Sswu => Group::P256(Sec1Map::Sswu),
            Suite::Secp256k1Tai => Group::Secp256k1(Sec1Map::TryAndIncrement),
            Suite::Draft03Blake2b => Group::Edwards25519(&BLAKE2B),
            Suite::Draft03Tai => Group::Edwards25519(&TAI),
            Suite::Draft03Blake2bTai => Group::Edwards25519(&BLAKE2B_TAI),
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Suite {
    type Err = Error;

    fn from_str(name: &str) -> Result<Suite, Error> {
        Suite::ALL
            .into_iter()
            .find(|suite| suite.name() == name)
            .ok_or_else(|| Error::UnknownSuite(name.to_owned()))
    }
}

/// The curve, with what tells apart the suites on it.
#[derive(Clone, Copy)]
pub(crate) enum Group {
    Edwards25519(&'static EdwardsRules),
    P256(Sec1Map),
    Secp256k1(Sec1Map),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sec1Map {
    TryAndIncrement,
    Sswu,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hash {
    Sha512,
    Blake2b,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Map {
    /// Draft 3 as deployed: 32 bytes of a hash, sign bit cleared, even x.
    Elligator2Draft03,
    /// RFC 9380's encode_to_curve, edwards25519_XMD:SHA-512_ELL2_NU_.
    Elligator2Rfc,
    /// Hash of a counter until it is a point.
    TryAndIncrement,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Γ, c, s.
    Challenge,
    /// Γ, U, V, s.
    Commitments,
}

/// What −c is as a factor of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Negation {
    /// The integer −c.
    Integer,
    /// L − c, or 0 for c = 0.
    ModOrder,
}

/// What tells apart the suites on edwards25519.
#[derive(Debug)]
pub(crate) struct EdwardsRules {
    pub(crate) suite_string: u8,
    pub(crate) hash: Hash,
    pub(crate) map: Map,
    pub(crate) format: Format,
    /// RFC 9381 (and drafts from 8 on): Y in the challenge, a zero byte after each hash's input,
    /// and truncated outputs as they are. Draft 3 has neither.
    pub(crate) domain_separated: bool,
    pub(crate) reduce_s: bool,
    pub(crate) negation: Negation,
    /// Whether Γ with x = 0 and the sign bit set is refused (RFC 8032) or read (libsodium).
    pub(crate) refuse_negative_zero: bool,
}

const CARDANO: EdwardsRules = EdwardsRules {
    suite_string: 4,
    hash: Hash::Sha512,
    map: Map::Elligator2Draft03,
    format: Format::Challenge,
    domain_separated: false,
    reduce_s: false,
    negation: Negation::ModOrder,
    refuse_negative_zero: false,
};
const ALGORAND: EdwardsRules =
    EdwardsRules { reduce_s: true, negation: Negation::Integer, ..CARDANO };
const BATCH_COMPATIBLE: EdwardsRules = EdwardsRules {
    map: Map::Elligator2Rfc,
    format: Format::Commitments,
    domain_separated: true,
    ..CARDANO
};
const RFC_ELL2: EdwardsRules = EdwardsRules {
    suite_string: 4,
    hash: Hash::Sha512,
    map: Map::Elligator2Rfc,
    format: Format::Challenge,
    domain_separated: true,
    reduce_s: false,
    negation: Negation::Integer,
    refuse_negative_zero: true,
};
const RFC_TAI: EdwardsRules =
    EdwardsRules { suite_string: 3, map: Map::TryAndIncrement, ..RFC_ELL2 };
const BLAKE2B: EdwardsRules = EdwardsRules { hash: Hash::Blake2b, ..CARDANO };
const TAI: EdwardsRules = EdwardsRules { suite_string: 3, map: Map::TryAndIncrement, ..CARDANO };
const BLAKE2B_TAI: EdwardsRules = EdwardsRules { hash: Hash::Blake2b, ..TAI };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse() {
        for suite in Suite::ALL {
            assert_eq!(suite.name().parse(), Ok(suite));
        }
        let error = Suite::from_str("ed25519").unwrap_err();
        assert_eq!(error, Error::UnknownSuite("ed25519".into()));
        assert!(error.to_string().contains("rfc9381-p256-sha256-sswu"));
    }
}
