//! Public and secret keys and their encodings.
//!
//! Spec: RFC 8391 §4.1.7 (public key), SP 800-208 §6.2 (secret key and its derivation). A secret
//! key's seeds are secret; everything else here is public.

use crate::Error;
use crate::address::TreePlace;
use crate::params::{HashFunction, Params, Scheme};
use crate::seeds::Seeds;
use crate::tree::{Kept, Progress, Tree};
use core::fmt;
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

/// A public key: the root of the hypertree and the public seed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PublicKey {
    params: Params,
    /// root ‖ SEED
    bytes: Vec<u8>,
}

impl PublicKey {
    /// Decodes `OID ‖ root ‖ SEED`.
    ///
    /// # Errors
    /// [`Error::Malformed`] without a whole identifier, [`Error::UnknownOid`], and [`Error::Length`]
    /// where the length is not the parameter set's.
    /// RFC 8391 §4.1.7 and appendix B.3.
    pub fn from_bytes(scheme: Scheme, bytes: &[u8]) -> Result<Self, Error> {
        let (oid, rest) = bytes
            .split_first_chunk::<4>()
            .ok_or(Error::Malformed { what: "public key", why: "shorter than an identifier" })?;
        let params = Params::from_oid(scheme, u32::from_be_bytes(*oid))?;
        length("public key", params.public_key_bytes(), bytes.len())?;
        Ok(Self { params, bytes: rest.to_vec() })
    }

    /// Takes `root ‖ SEED` of a known parameter set.
    ///
    /// # Errors
    /// [`Error::Length`]: not 2n bytes.
    pub fn from_parts(params: Params, root_seed: &[u8]) -> Result<Self, Error> {
        length("root and seed", 2 * params.n(), root_seed.len())?;
        Ok(Self { params, bytes: root_seed.to_vec() })
    }

    /// Encodes as `OID ‖ root ‖ SEED`; the identifier of a QRL set, which has none, is left out.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let oid = self.params.oid().map(u32::to_be_bytes);
        oid.as_slice().concat().into_iter().chain(self.bytes.iter().copied()).collect()
    }

    /// The parameter set.
    #[must_use]
    pub fn params(&self) -> Params {
        self.params
    }

    /// The root of the hypertree.
    #[must_use]
    pub fn root(&self) -> &[u8] {
        &self.bytes[..self.params.n()]
    }

    /// The public seed.
    #[must_use]
    pub fn seed(&self) -> &[u8] {
        &self.bytes[self.params.n()..]
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}, ", self.params)?;
        self.root().iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("…)")
    }
}

/// How the secret starts of the chains follow from SK_SEED.
///
/// Signatures of either verify alike; the same seeds give other keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Derivation {
    /// `PRF_keygen(SK_SEED, SEED ‖ ADRS)` for each chain. SP 800-208 §6.2.
    PrfKeygen = 1,
    /// `PRF(PRF(SK_SEED, ADRS), i)` for chain `i`, as xmss-reference did before 2020 and QRL and
    /// AidosKuneen/xmss do. Not hardened against multi-key attacks.
    PrfCounter = 2,
}

/// A secret key: three seeds of `n` bytes, and the root that follows from them.
///
/// It does not sign: a [`Signer`](crate::Signer) does, with a store of the state.
///
/// # Security
/// Wiped on drop. Not `Clone`: two copies of one key would use its indices twice. What the operating
/// system's swap or a core dump keeps is not covered.
pub struct SecretKey {
    params: Params,
    derivation: Derivation,
    /// SK_SEED ‖ SK_PRF ‖ SEED
    seeds: Zeroizing<Vec<u8>>,
    root: Vec<u8>,
    /// The top tree, where the key was just computed: a signer takes it over.
    tree: Option<Tree>,
}

impl SecretKey {
    /// Generates a key: draws the seeds and computes the top tree.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` said so.
    /// RFC 8391 §4.1.7, Algorithm 10; SP 800-208 §6.2.
    pub fn generate(
        params: Params,
        rng: &mut impl CryptoRng,
        progress: &Progress<'_>,
    ) -> Result<Self, Error> {
        Seeds::generate(params, rng).build(progress)
    }

    /// Computes the key of `SK_SEED ‖ SK_PRF ‖ SEED`.
    ///
    /// # Errors
    /// [`Error::Length`] where that is not 3n bytes, [`Error::Cancelled`] where `progress` said so.
    ///
    /// # Security
    /// The seeds must be uniformly random, and the same seeds must never make a second key file: both
    /// would sign from index 0.
    pub fn from_seeds(
        params: Params,
        derivation: Derivation,
        seeds: &[u8],
        progress: &Progress<'_>,
    ) -> Result<Self, Error> {
        Seeds::from_bytes(params, derivation, seeds)?.build(progress)
    }

    /// A key whose root is still to be computed.
    pub(crate) fn without_root(
        params: Params,
        derivation: Derivation,
        seeds: Zeroizing<Vec<u8>>,
    ) -> Self {
        Self { params, derivation, seeds, root: Vec::new(), tree: None }
    }

    /// Computes the root, and keeps the tree for a signer.
    pub(crate) fn compute_root(
        &mut self,
        kept: &dyn Kept,
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        let tree = Tree::build(self, self.top(), kept, progress)?;
        self.root = tree.root().to_vec();
        self.tree = Some(tree);
        Ok(())
    }

    /// Decodes a secret key; see `docs/xmss.md`.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::UnknownOid`] or [`Error::Length`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let what = "secret key";
        let (header, rest) = bytes
            .split_first_chunk::<HEADER>()
            .ok_or(Error::Malformed { what, why: "shorter than its header" })?;
        let [version, scheme, derivation, hash, height, oid @ ..] = *header;
        if version != VERSION {
            return Err(Error::Malformed { what, why: "not version 1" });
        }
        let oid = u32::from_be_bytes(oid);
        let params = match scheme {
            1 => Params::from_oid(Scheme::Xmss, oid)?,
            2 => Params::from_oid(Scheme::XmssMt, oid)?,
            3 if oid == 0 => Params::qrl(hash_from(hash)?, height)?,
            _ => return Err(Error::Malformed { what, why: "no such scheme" }),
        };
        if params.oid().is_some() && (hash, height) != (0, 0) {
            return Err(Error::Malformed { what, why: "hash and height beside an identifier" });
        }
        let derivation = match derivation {
            1 => Derivation::PrfKeygen,
            2 => Derivation::PrfCounter,
            _ => return Err(Error::Malformed { what, why: "no such derivation" }),
        };
        length(what, HEADER + 4 * params.n(), bytes.len())?;
        let (seeds, root) = rest.split_at(3 * params.n());
        let seeds = Zeroizing::new(seeds.to_vec());
        Ok(Self { params, derivation, seeds, root: root.to_vec(), tree: None })
    }

    /// Encodes the key; see `docs/xmss.md`.
    ///
    /// # Security
    /// Holds every secret of the key and nothing of its state.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let scheme = match (self.params.scheme(), self.params.oid()) {
            (Scheme::Xmss, Some(_)) => 1,
            (Scheme::XmssMt, _) => 2,
            (Scheme::Xmss, None) => 3,
        };
        let (hash, height) = match self.params.oid() {
            Some(_) => (0, 0),
            None => (hash_code(self.params.hash()), self.params.height() as u8),
        };
        let mut bytes = Zeroizing::new(vec![VERSION, scheme, self.derivation as u8, hash, height]);
        bytes.reserve_exact(4 + 4 * self.params.n());
        bytes.extend_from_slice(&self.params.oid().unwrap_or(0).to_be_bytes());
        bytes.extend_from_slice(&self.seeds);
        bytes.extend_from_slice(&self.root);
        bytes
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        let bytes = [&self.root, self.seed()].concat();
        PublicKey { params: self.params, bytes }
    }

    /// The parameter set.
    #[must_use]
    pub fn params(&self) -> Params {
        self.params
    }

    /// How the chains' secrets are derived.
    #[must_use]
    pub fn derivation(&self) -> Derivation {
        self.derivation
    }

    /// Computes the root again and compares it with the stored one.
    ///
    /// # Errors
    /// [`Error::Malformed`] where they differ, [`Error::Cancelled`] where `progress` said so.
    pub fn check(&self, progress: &Progress<'_>) -> Result<(), Error> {
        let tree = Tree::build(self, self.top(), &(), progress)?;
        if tree.root() == self.root {
            return Ok(());
        }
        Err(WRONG_ROOT)
    }

    pub(crate) fn top(&self) -> TreePlace {
        TreePlace { layer: self.params.layers() - 1, tree: 0 }
    }

    pub(crate) fn take_tree(&mut self) -> Option<Tree> {
        self.tree.take()
    }

    /// The top tree, where it was made ready.
    #[cfg(feature = "json")]
    pub(crate) fn tree(&mut self) -> Result<&mut Tree, Error> {
        self.tree.as_mut().ok_or_else(|| Error::Cache("the tree was not made ready".into()))
    }

    /// Makes the top tree ready: takes it from the cache whose files begin with `base`, or computes it.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` said so, [`Error::Malformed`] where the root is not that
    /// of the seeds.
    #[cfg(feature = "file")]
    pub fn prepare(
        &mut self,
        base: Option<&std::path::Path>,
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        let cached = base.and_then(|base| crate::cache::open(self, self.top(), base).ok());
        let tree = match cached.filter(|tree| tree.root() == self.root) {
            Some(tree) => tree,
            None => Tree::build(self, self.top(), &(), progress)?,
        };
        if tree.root() != self.root {
            return Err(WRONG_ROOT);
        }
        self.tree = Some(tree);
        Ok(())
    }

    /// Stores the nodes of the top tree, where this key was computed just now, for a signer's
    /// [`set_cache`](crate::Signer::set_cache) to find.
    ///
    /// # Errors
    /// [`Error::Cache`]: the file cannot be written.
    #[cfg(feature = "file")]
    pub fn save_cache(&self, base: &std::path::Path) -> Result<(), Error> {
        self.tree.as_ref().map_or(Ok(()), |tree| crate::cache::save(self, tree, base))
    }

    /// A secret that follows from everything that the key is, for tags of files that belong to it.
    #[cfg(feature = "file")]
    pub(crate) fn binding(&self, domain: &[u8]) -> Zeroizing<[u8; 32]> {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new_with_prefix(domain);
        hash.update(self.params.to_string());
        hash.update([0, self.derivation as u8]);
        hash.update(&self.seeds[..]);
        hash.update(&self.root);
        Zeroizing::new(hash.finalize().into())
    }

    pub(crate) fn sk_seed(&self) -> &[u8] {
        &self.seeds[..self.params.n()]
    }

    pub(crate) fn sk_prf(&self) -> &[u8] {
        &self.seeds[self.params.n()..2 * self.params.n()]
    }

    pub(crate) fn seed(&self) -> &[u8] {
        &self.seeds[2 * self.params.n()..]
    }

    pub(crate) fn root(&self) -> &[u8] {
        &self.root
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.seeds.zeroize();
    }
}

pub(crate) fn length(what: &'static str, expected: usize, actual: usize) -> Result<(), Error> {
    if expected == actual { Ok(()) } else { Err(Error::Length { what, expected, actual }) }
}

fn hash_code(hash: HashFunction) -> u8 {
    match hash {
        HashFunction::Sha2 => 0,
        HashFunction::Shake128 => 1,
        HashFunction::Shake256 => 2,
    }
}

fn hash_from(code: u8) -> Result<HashFunction, Error> {
    match code {
        0 => Ok(HashFunction::Sha2),
        1 => Ok(HashFunction::Shake128),
        2 => Ok(HashFunction::Shake256),
        _ => Err(Error::Malformed { what: "secret key", why: "no such hash function" }),
    }
}

pub(crate) const WRONG_ROOT: Error =
    Error::Malformed { what: "secret key", why: "the root is not that of the seeds" };
const VERSION: u8 = 1;
/// version ‖ scheme ‖ derivation ‖ QRL hash ‖ QRL height ‖ OID
const HEADER: usize = 9;
