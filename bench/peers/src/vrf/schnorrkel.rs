//! schnorrkel: its own VRF on ristretto255, one by one and in batches.

use super::{BATCHES, Known, Suite, inputs, single};
use crate::measure::{Case, Runner};
use schnorrkel::context::{SigningContext, signing_context};
use schnorrkel::vrf::{VRFPreOut, VRFProof, VRFProofBatchable, vrf_verify_batch};
use schnorrkel::{ExpansionMode, Keypair, MiniSecretKey, PublicKey};

const SUITE: &str = "schnorrkel-ristretto255";
const NEAREST: &str = "rfc9381-edwards25519-sha512-ell2";
const PEER: &str = "schnorrkel 0.11.5";

fn context() -> SigningContext {
    signing_context(b"tetralith")
}

fn keypair(seed: &[u8; 32]) -> Keypair {
    let secret = MiniSecretKey::from_bytes(seed).expect("a seed has 32 bytes");
    secret.expand_to_keypair(ExpansionMode::Uniform)
}

struct Ristretto;

impl Suite for Ristretto {
    const SUITE: &'static str = SUITE;
    const NEAREST: Option<&'static str> = Some(NEAREST);
    const PEER: &'static str = PEER;
    const KNOWN: Option<Known> = None; // nonces are random
    type Secret = Keypair;

    fn secret(seed: &[u8; 32]) -> Keypair {
        keypair(seed)
    }

    fn public(secret: &Keypair) -> Vec<u8> {
        secret.public.to_bytes().to_vec()
    }

    fn prove(secret: &Keypair, alpha: &[u8]) -> Vec<u8> {
        let (output, proof, _) = secret.vrf_sign(context().bytes(alpha));
        [&output.to_preout().to_bytes()[..], &proof.to_bytes()].concat()
    }

    fn verify(public: &[u8], alpha: &[u8], proof: &[u8]) -> Option<Vec<u8>> {
        let public = PublicKey::from_bytes(public).ok()?;
        let output = VRFPreOut::from_bytes(&proof[..32]).ok()?;
        let proof = VRFProof::from_bytes(&proof[32..]).ok()?;
        let (output, _) = public.vrf_verify(context().bytes(alpha), &output, &proof).ok()?;
        Some(output.make_bytes::<[u8; 32]>(b"output").to_vec())
    }
}

struct Batchable {
    key: [u8; 32],
    alpha: [u8; 32],
    output: [u8; 32],
    proof: Vec<u8>,
}

/// Verifies proofs from their bytes, all at once.
fn batch(items: &[Batchable]) -> bool {
    let keys: Result<Vec<_>, _> = items.iter().map(|i| PublicKey::from_bytes(&i.key)).collect();
    let outputs: Result<Vec<_>, _> =
        items.iter().map(|item| VRFPreOut::from_bytes(&item.output)).collect();
    let proofs: Result<Vec<_>, _> =
        items.iter().map(|item| VRFProofBatchable::from_bytes(&item.proof)).collect();
    let (Ok(keys), Ok(outputs), Ok(proofs)) = (keys, outputs, proofs) else { return false };
    let transcripts = items.iter().map(|item| context().bytes(&item.alpha));
    vrf_verify_batch(transcripts, &outputs, &proofs, &keys).is_ok()
}

/// Checks and measures.
pub fn run(runner: &mut Runner) -> Result<(), String> {
    single::<Ristretto>(runner)?;
    let name = "vrf.verify_many";
    if !runner.wants(name, SUITE, PEER) {
        return Ok(());
    }
    let item = |input: &super::Input| {
        let pair = keypair(&input.seed);
        let (output, _, proof) = pair.vrf_sign(context().bytes(&input.alpha));
        let (key, proof) = (pair.public.to_bytes(), proof.to_bytes().to_vec());
        Batchable { key, alpha: input.alpha, output: output.to_preout().to_bytes(), proof }
    };
    let mut items: Vec<_> = inputs(1024).iter().map(item).collect();
    items[3].alpha[0] ^= 1;
    if batch(&items[..8]) {
        return Err(format!("{PEER}: a batch with a forged proof is accepted"));
    }
    items[3].alpha[0] ^= 1;
    for n in BATCHES {
        let case = Case::new(name, SUITE, PEER).nearest(NEAREST).n(n).bytes(128);
        runner.measure(case, n as u64, || assert!(batch(&items[..n]), "valid proofs verify"));
    }
    Ok(())
}
