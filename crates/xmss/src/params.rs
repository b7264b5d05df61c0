//! The parameter sets of RFC 8391 and SP 800-208, and the further heights that QRL uses.
//!
//! XMSS is XMSS^MT with one layer, and one type describes both. Their object identifiers overlap
//! (both count from 1), so nothing here decodes an identifier without being told the [`Scheme`].
//! Every set has w = 16. Nothing is secret.

use crate::Error;
use core::fmt;

/// Single tree or hypertree: what an object identifier means depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// XMSS, one tree.
    Xmss,
    /// XMSS^MT, a tree of trees.
    XmssMt,
}

/// The hash function of a parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashFunction {
    /// SHA-256 for n = 24 and 32, SHA-512 for n = 64.
    Sha2,
    /// SHAKE128, of RFC 8391 with n = 32.
    Shake128,
    /// SHAKE256, of RFC 8391 with n = 64 and of SP 800-208 with n = 24 and 32.
    Shake256,
}

/// A parameter set.
///
/// RFC 8391 §5.3 and §5.4; SP 800-208 §5.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Params {
    scheme: Scheme,
    hash: HashFunction,
    n: u8,
    h: u8,
    d: u8,
    /// 0 for a QRL set, which has no identifier.
    oid: u32,
}

impl Params {
    /// XMSS-SHA2_10_256, the set that RFC 8391 requires of every implementation.
    pub const XMSS_SHA2_10_256: Params =
        Params { scheme: Scheme::Xmss, hash: HashFunction::Sha2, n: 32, h: 10, d: 1, oid: 1 };

    /// All sets that have an identifier: 21 of XMSS, then 56 of XMSS^MT, each in its order.
    pub fn all() -> impl Iterator<Item = Params> {
        let single = XMSS.iter().enumerate().flat_map(|(group, &(hash, n))| {
            [10, 16, 20].into_iter().enumerate().map(move |(i, h)| Params {
                scheme: Scheme::Xmss,
                hash,
                n,
                h,
                d: 1,
                oid: (3 * group + i + 1) as u32,
            })
        });
        let multi = XMSSMT.iter().enumerate().flat_map(|(group, &(hash, n))| {
            LAYERS.into_iter().enumerate().map(move |(i, (h, d))| Params {
                scheme: Scheme::XmssMt,
                hash,
                n,
                h,
                d,
                oid: (8 * group + i + 1) as u32,
            })
        });
        single.chain(multi)
    }

    /// Finds the set with an identifier of the given scheme.
    ///
    /// # Errors
    /// [`Error::UnknownOid`]: no set has it.
    /// RFC 8391 §8; SP 800-208 §5.
    pub fn from_oid(scheme: Scheme, oid: u32) -> Result<Params, Error> {
        Params::all()
            .find(|p| p.scheme == scheme && p.oid == oid)
            .ok_or(Error::UnknownOid { scheme, oid })
    }

    /// Finds the set with a name such as `XMSS-SHA2_10_256` or `XMSSMT-SHAKE256_20/4_192`.
    ///
    /// # Errors
    /// [`Error::UnknownParams`]: no set has it.
    pub fn from_name(name: &str) -> Result<Params, Error> {
        let found = Params::all().find(|p| p.to_string() == name);
        found.or_else(|| qrl_name(name)).ok_or_else(|| Error::UnknownParams(name.into()))
    }

    /// The single-tree sets that QRL uses: n = 32, even heights from 4 to 30, no identifier.
    ///
    /// # Errors
    /// [`Error::UnknownParams`]: QRL has no such height.
    pub fn qrl(hash: HashFunction, h: u8) -> Result<Params, Error> {
        if !(4..=30).contains(&h) || h % 2 == 1 {
            return Err(Error::UnknownParams(format!("QRL height {h}")));
        }
        Ok(Params { scheme: Scheme::Xmss, hash, n: 32, h, d: 1, oid: 0 })
    }

    /// A set of SHA2 with n = 32 that has no identifier: XMSS where there are no layers, or XMSS^MT.
    #[cfg(feature = "json")]
    pub(crate) fn unnamed(height: u32, layers: u32) -> Option<Params> {
        let scheme = if layers == 0 { Scheme::Xmss } else { Scheme::XmssMt };
        let (h, d) = (height.try_into().ok()?, layers.max(1).try_into().ok()?);
        Some(Params { scheme, hash: HashFunction::Sha2, n: 32, h, d, oid: 0 })
    }

    /// Single tree or hypertree.
    #[must_use]
    pub fn scheme(self) -> Scheme {
        self.scheme
    }

    /// The hash function.
    #[must_use]
    pub fn hash(self) -> HashFunction {
        self.hash
    }

    /// The object identifier, or `None` for a QRL set.
    #[must_use]
    pub fn oid(self) -> Option<u32> {
        (self.oid != 0).then_some(self.oid)
    }

    /// Bytes of a hash value.
    #[must_use]
    pub fn n(self) -> usize {
        self.n.into()
    }

    /// Height of the whole (hyper)tree: a key signs 2^h messages.
    #[must_use]
    pub fn height(self) -> u32 {
        self.h.into()
    }

    /// Layers of trees: 1 for XMSS.
    #[must_use]
    pub fn layers(self) -> u32 {
        self.d.into()
    }

    /// Height of one tree, h/d.
    #[must_use]
    pub fn tree_height(self) -> u32 {
        u32::from(self.h / self.d)
    }

    /// How many signatures a key can make, 2^h.
    #[must_use]
    pub fn signatures(self) -> u64 {
        1 << self.h
    }

    /// Chains of a WOTS+ key, `len = len_1 + len_2`.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // RFC 8391's name for the number of chains
    pub fn len(self) -> usize {
        self.len_1() + LEN_2
    }

    /// Base-16 digits of a hash value.
    #[must_use]
    pub fn len_1(self) -> usize {
        2 * self.n()
    }

    /// Bytes of the number that separates the keyed hash functions.
    pub(crate) fn padding(self) -> usize {
        if self.n == 24 { 4 } else { self.n() }
    }

    /// Bytes of a signature's index: 4, or ⌈h/8⌉ for XMSS^MT.
    #[must_use]
    pub fn index_bytes(self) -> usize {
        match self.scheme {
            Scheme::Xmss => 4,
            Scheme::XmssMt => usize::from(self.h).div_ceil(8),
        }
    }

    /// Bytes of a signature.
    #[must_use]
    pub fn signature_bytes(self) -> usize {
        self.index_bytes()
            + self.n() * (1 + self.layers() as usize * self.len() + usize::from(self.h))
    }

    /// Bytes of a public key, its identifier included.
    #[must_use]
    pub fn public_key_bytes(self) -> usize {
        4 + 2 * self.n()
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = match self.hash {
            HashFunction::Sha2 => "SHA2",
            // RFC 8391 says SHAKE for both of its functions.
            HashFunction::Shake128 => "SHAKE",
            HashFunction::Shake256 if self.n == 64 => "SHAKE",
            HashFunction::Shake256 => "SHAKE256",
        };
        let bits = 8 * self.n();
        match self.scheme {
            Scheme::Xmss if self.oid == 0 => write!(f, "QRL-{hash}_{}_{bits}", self.h),
            Scheme::Xmss => write!(f, "XMSS-{hash}_{}_{bits}", self.h),
            Scheme::XmssMt => write!(f, "XMSSMT-{hash}_{}/{}_{bits}", self.h, self.d),
        }
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn qrl_name(name: &str) -> Option<Params> {
    [HashFunction::Sha2, HashFunction::Shake128, HashFunction::Shake256]
        .into_iter()
        .flat_map(|hash| (4..=30).step_by(2).filter_map(move |h| Params::qrl(hash, h).ok()))
        .find(|p| p.to_string() == name)
}

/// Digits of the checksum: 15·len_1 takes three base-16 digits for every n.
pub(crate) const LEN_2: usize = 3;
/// The most chains that a set has (n = 64).
pub(crate) const MAX_LEN: usize = 131;
/// The most bytes that a hash value has.
pub(crate) const MAX_N: usize = 64;

use HashFunction::{Sha2, Shake128, Shake256};

/// XMSS sets in the order of their identifiers; each stands for heights 10, 16 and 20.
const XMSS: [(HashFunction, u8); 7] = [
    (Sha2, 32),
    (Sha2, 64),
    (Shake128, 32),
    (Shake256, 64),
    (Sha2, 24),
    (Shake256, 32),
    (Shake256, 24),
];

/// XMSS^MT sets in the order of their identifiers; each stands for all of [`LAYERS`].
const XMSSMT: [(HashFunction, u8); 7] = XMSS;

/// Height and layers of the XMSS^MT sets.
const LAYERS: [(u8, u8); 8] =
    [(20, 2), (20, 4), (40, 2), (40, 4), (40, 8), (60, 3), (60, 6), (60, 12)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_names_agree() {
        assert_eq!(Params::all().count(), 21 + 56);
        for p in Params::all() {
            assert_eq!(Params::from_name(&p.to_string()), Ok(p));
            assert_eq!(Params::from_oid(p.scheme(), p.oid().unwrap()), Ok(p));
            assert_eq!(u32::from(p.h) % p.layers(), 0);
            assert!(p.len() <= MAX_LEN && p.n() <= MAX_N);
        }
        let name = |s, oid| Params::from_oid(s, oid).unwrap().to_string();
        assert_eq!(name(Scheme::Xmss, 0x0a), "XMSS-SHAKE_10_512");
        assert_eq!(name(Scheme::Xmss, 0x0d), "XMSS-SHA2_10_192");
        assert_eq!(name(Scheme::Xmss, 0x15), "XMSS-SHAKE256_20_192");
        assert_eq!(name(Scheme::XmssMt, 0x08), "XMSSMT-SHA2_60/12_256");
        assert_eq!(name(Scheme::XmssMt, 0x19), "XMSSMT-SHAKE_20/2_512");
        assert_eq!(name(Scheme::XmssMt, 0x2a), "XMSSMT-SHAKE256_20/4_256");
        assert_eq!(name(Scheme::XmssMt, 0x38), "XMSSMT-SHAKE256_60/12_192");
    }

    #[test]
    fn what_no_set_has_is_refused() {
        for oid in [0, 0x16, u32::MAX] {
            assert_eq!(
                Params::from_oid(Scheme::Xmss, oid),
                Err(Error::UnknownOid { scheme: Scheme::Xmss, oid })
            );
        }
        assert!(Params::from_oid(Scheme::XmssMt, 0x39).is_err());
        assert!(Params::from_name("XMSS-SHA2_10_255").is_err());
        assert!(Params::qrl(Sha2, 5).is_err() && Params::qrl(Sha2, 32).is_err());
        assert_eq!(Params::qrl(Shake128, 10).unwrap().to_string(), "QRL-SHAKE_10_256");
    }

    #[test]
    fn sizes_are_the_standards() {
        let p = Params::XMSS_SHA2_10_256;
        assert_eq!((p.len(), p.signature_bytes(), p.public_key_bytes()), (67, 2500, 68));
        let p = Params::from_name("XMSSMT-SHA2_20/2_256").unwrap();
        assert_eq!((p.index_bytes(), p.signature_bytes()), (3, 4963));
    }
}
