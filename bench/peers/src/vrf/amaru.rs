//! amaru-vrf-dalek: draft-03, and batches of its draft-10 batch-compatible proofs.

use super::{BATCHES, DRAFT03, Known, Suite, inputs, single};
use crate::measure::{Case, Runner};
use vrf_dalek::vrf03::{PublicKey03, SecretKey03, VrfProof03};
use vrf_dalek::vrf10::{PublicKey10, SecretKey10};
use vrf_dalek::vrf10_batchcompat::{BatchItem, BatchVerifier, VrfProof10BatchCompat};

const PEER: &str = "amaru-vrf-dalek 0.1.0";

struct Draft03;

impl Suite for Draft03 {
    const SUITE: &'static str = "draft03-cardano";
    const PEER: &'static str = PEER;
    const KNOWN: Option<Known> = Some(DRAFT03);
    type Secret = (SecretKey03, PublicKey03);

    fn secret(seed: &[u8; 32]) -> Self::Secret {
        let secret = SecretKey03::from_bytes(seed);
        let public = PublicKey03::from(&secret);
        (secret, public)
    }

    fn public(secret: &Self::Secret) -> Vec<u8> {
        secret.1.as_bytes().to_vec()
    }

    fn prove(secret: &Self::Secret, alpha: &[u8]) -> Vec<u8> {
        VrfProof03::generate(&secret.1, &secret.0, alpha).to_bytes().to_vec()
    }

    fn verify(public: &[u8], alpha: &[u8], proof: &[u8]) -> Option<Vec<u8>> {
        let public = PublicKey03::from_bytes(public.try_into().ok()?);
        let proof = VrfProof03::from_bytes(proof.try_into().ok()?).ok()?;
        proof.verify(&public, alpha).ok().map(Vec::from)
    }
}

struct Batchable {
    key: [u8; 32],
    alpha: Vec<u8>,
    proof: [u8; 128],
    output: [u8; 64],
}

/// Verifies proofs from their bytes, all at once.
fn batch(items: &[Batchable]) -> bool {
    let mut verifier = BatchVerifier::new(items.len());
    for item in items {
        let Ok(proof) = VrfProof10BatchCompat::from_bytes(&item.proof) else { return false };
        let key = PublicKey10::from_bytes(&item.key);
        let item = BatchItem { proof, key, msg: item.alpha.clone(), output: item.output };
        if verifier.insert(item).is_err() {
            return false;
        }
    }
    verifier.verify().is_ok()
}

/// Checks and measures.
pub fn run(runner: &mut Runner) -> Result<(), String> {
    single::<Draft03>(runner)?;
    let (name, suite) = ("vrf.verify_batchcompat", "draft10-batchcompat-tai");
    if !runner.wants(name, suite, PEER) {
        return Ok(());
    }
    let item = |input: &super::Input| {
        let secret = SecretKey10::from_bytes(&input.seed);
        let key = PublicKey10::from(&secret);
        let proof = VrfProof10BatchCompat::generate(&key, &secret, &input.alpha);
        let (proof, output) = (proof.to_bytes(), proof.proof_to_hash());
        Batchable { key: key.to_bytes(), alpha: input.alpha.to_vec(), proof, output }
    };
    let mut items: Vec<_> = inputs(1024).iter().map(item).collect();
    items[3].alpha[0] ^= 1;
    if batch(&items[..8]) {
        return Err(format!("{PEER}: a batch with a forged proof is accepted"));
    }
    items[3].alpha[0] ^= 1;
    for n in BATCHES {
        let case = Case::new(name, suite, PEER).nearest("draft13-batchcompat").n(n).bytes(128);
        runner.measure(case, n as u64, || assert!(batch(&items[..n]), "valid proofs verify"));
    }
    Ok(())
}
