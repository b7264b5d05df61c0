//! Seeds whose tree is not computed yet.
//!
//! A key is its seeds; only its root needs all leaves. Where those take long, [`Seeds::build_with`]
//! keeps them in a file as they are computed. The seeds are secret.

use crate::keys::{Derivation, SecretKey, length};
#[cfg(feature = "file")]
use crate::partial::Partial;
use crate::tree::{Kept, Progress};
use crate::{Error, Params};
use core::fmt;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// SK_SEED ‖ SK_PRF ‖ SEED of a key whose root is not known yet.
///
/// # Security
/// Wiped on drop. Not `Clone`: the same seeds must never make a second key.
pub struct Seeds(SecretKey);

impl Seeds {
    /// Draws seeds.
    /// RFC 8391 §4.1.7, Algorithm 10, lines 4 to 6.
    #[must_use]
    pub fn generate(params: Params, rng: &mut impl CryptoRng) -> Self {
        let mut seeds = Zeroizing::new(vec![0; 3 * params.n()]);
        rng.fill_bytes(&mut seeds);
        Self::of(params, Derivation::PrfKeygen, seeds)
    }

    /// Takes `SK_SEED ‖ SK_PRF ‖ SEED`.
    ///
    /// # Errors
    /// [`Error::Length`]: not 3n bytes.
    ///
    /// # Security
    /// They must be uniformly random.
    pub fn from_bytes(params: Params, derivation: Derivation, seeds: &[u8]) -> Result<Self, Error> {
        length("set of seeds", 3 * params.n(), seeds.len())?;
        Ok(Self::of(params, derivation, Zeroizing::new(seeds.to_vec())))
    }

    /// Takes seeds whose length is right.
    pub(crate) fn of(params: Params, derivation: Derivation, seeds: Zeroizing<Vec<u8>>) -> Self {
        debug_assert_eq!(seeds.len(), 3 * params.n());
        Self(SecretKey::without_root(params, derivation, seeds))
    }

    /// The parameter set.
    #[must_use]
    pub fn params(&self) -> Params {
        self.0.params()
    }

    /// SEED, the one that is not secret.
    #[must_use]
    pub fn public_seed(&self) -> &[u8] {
        self.0.seed()
    }

    /// Computes the key.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` said so, [`Error::TooTall`] for a height of which
    /// no key can be made.
    pub fn build(self, progress: &Progress<'_>) -> Result<SecretKey, Error> {
        self.finish(&(), progress)
    }

    /// Computes the key, keeping its leaves in `partial` and taking those that are there.
    ///
    /// # Errors
    /// As [`build`](Self::build), and [`Error::Partial`] where the file cannot be written.
    #[cfg(feature = "file")]
    pub fn build_with(
        self,
        partial: &Partial,
        progress: &Progress<'_>,
    ) -> Result<SecretKey, Error> {
        self.finish(partial, progress)
    }

    fn finish(mut self, kept: &dyn Kept, progress: &Progress<'_>) -> Result<SecretKey, Error> {
        self.0.compute_root(kept, progress)?;
        Ok(self.0)
    }

    /// The seeds of a key, for what binds a file to them.
    #[cfg(feature = "file")]
    pub(crate) fn key(&self) -> &SecretKey {
        &self.0
    }
}

impl fmt::Debug for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seeds")
    }
}
