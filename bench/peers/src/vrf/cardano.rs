//! cardano-crypto: draft-03. Its draft-13 proofs are not those of cardano-base, so they are not timed.

use super::{DRAFT03, Known, Suite, single};
use crate::measure::Runner;
use cardano_crypto::vrf::VrfDraft03;

struct Draft03;

impl Suite for Draft03 {
    const SUITE: &'static str = "draft03-cardano";
    const PEER: &'static str = "cardano-crypto 1.0.8";
    const KNOWN: Option<Known> = Some(DRAFT03);
    type Secret = [u8; 64];

    fn secret(seed: &[u8; 32]) -> [u8; 64] {
        VrfDraft03::keypair_from_seed(seed).0
    }

    fn public(secret: &[u8; 64]) -> Vec<u8> {
        secret[32..].to_vec()
    }

    fn prove(secret: &[u8; 64], alpha: &[u8]) -> Vec<u8> {
        VrfDraft03::prove(secret, alpha).expect("a valid key proves").to_vec()
    }

    fn verify(public: &[u8], alpha: &[u8], proof: &[u8]) -> Option<Vec<u8>> {
        let (public, proof) = (public.try_into().ok()?, proof.try_into().ok()?);
        VrfDraft03::verify(public, proof, alpha).ok().map(Vec::from)
    }
}

/// Checks and measures.
pub fn run(runner: &mut Runner) -> Result<(), String> {
    single::<Draft03>(runner)
}
