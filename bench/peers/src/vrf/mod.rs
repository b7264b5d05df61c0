//! Verifiable randomness: proving, verifying one, verifying a batch.
//!
//! A proof is verified from its bytes, a key from its bytes too, as a chain meets them. Each peer's
//! proof and output must be the known ones, and a proof of another message must be refused, before
//! anything is timed. Keys and messages (32 bytes, as in a block header) come from a fixed seed.

#[cfg(feature = "amaru-vrf")]
mod amaru;
#[cfg(feature = "cardano-crypto")]
mod cardano;
#[cfg(feature = "vrf-openssl")]
mod openssl;
#[cfg(feature = "vrf-rfc9381")]
mod rfc9381;
#[cfg(feature = "schnorrkel")]
mod schnorrkel;

use crate::measure::{Case, Runner};
use sha2::{Digest, Sha256};

/// The batch sizes of the batch verifiers.
#[allow(dead_code)] // unused only where both batch verifiers are left out
pub const BATCHES: [usize; 5] = [8, 16, 64, 200, 1024];

/// A key's seed and a message.
#[derive(Clone, Debug)]
pub struct Input {
    pub seed: [u8; 32],
    pub alpha: [u8; 32],
}

/// `count` inputs, always the same.
pub fn inputs(count: usize) -> Vec<Input> {
    let hash = |what: &str, i: usize| Sha256::digest(format!("tetralith vrf {what} {i}")).into();
    (0..count).map(|i| Input { seed: hash("seed", i), alpha: hash("alpha", i) }).collect()
}

/// A known answer: seed, message, proof and output in hex.
pub struct Known {
    pub seed: &'static str,
    pub alpha: &'static str,
    pub proof: &'static str,
    pub output: &'static str,
}

/// One suite of one peer.
pub trait Suite {
    /// The suite as `tetralith` names it, or the peer's own where ours has none such.
    const SUITE: &'static str;
    /// The suite of ours that comes nearest, where it is not the same.
    const NEAREST: Option<&'static str> = None;
    const PEER: &'static str;
    /// A known answer; `None` for a scheme without deterministic proofs.
    const KNOWN: Option<Known>;
    type Secret;
    /// The secret key, with its public key beside it.
    fn secret(seed: &[u8; 32]) -> Self::Secret;
    fn public(secret: &Self::Secret) -> Vec<u8>;
    fn prove(secret: &Self::Secret, alpha: &[u8]) -> Vec<u8>;
    /// The output, if the proof is one of `alpha` under `public`.
    fn verify(public: &[u8], alpha: &[u8], proof: &[u8]) -> Option<Vec<u8>>;
}

/// Checks, then measures, every peer.
pub fn run(runner: &mut Runner) -> Result<(), String> {
    let peers: &[fn(&mut Runner) -> Result<(), String>] = &[
        #[cfg(feature = "amaru-vrf")]
        amaru::run,
        #[cfg(feature = "cardano-crypto")]
        cardano::run,
        #[cfg(feature = "vrf-rfc9381")]
        rfc9381::run,
        #[cfg(feature = "schnorrkel")]
        schnorrkel::run,
        #[cfg(feature = "vrf-openssl")]
        openssl::run,
    ];
    peers.iter().try_for_each(|peer| peer(runner))
}

/// Checks a suite and measures `vrf.prove` and `vrf.verify`.
#[allow(dead_code)] // unused only where every peer is left out
pub fn single<S: Suite>(runner: &mut Runner) -> Result<(), String> {
    if !["vrf.prove", "vrf.verify"].iter().any(|name| runner.wants(name, S::SUITE, S::PEER)) {
        return Ok(());
    }
    check::<S>().map_err(|what| format!("{} {}: {what}", S::PEER, S::SUITE))?;
    let inputs = inputs(64);
    let secrets: Vec<_> = inputs.iter().map(|input| S::secret(&input.seed)).collect();
    let publics: Vec<_> = secrets.iter().map(S::public).collect();
    let prove = |i: usize| S::prove(&secrets[i], &inputs[i].alpha);
    let proofs: Vec<_> = (0..inputs.len()).map(prove).collect();
    let case = |name| {
        let case = Case::new(name, S::SUITE, S::PEER).bytes(proofs[0].len());
        S::NEAREST.map_or(case.clone(), |nearest| case.nearest(nearest))
    };
    // Four in a call: the try-and-increment suites need another number of tries for each input, and a
    // short call escapes preemption.
    const CALL: usize = 4;
    let mut next = 0;
    runner.measure(case("vrf.prove"), CALL as u64, || {
        for i in next..next + CALL {
            std::hint::black_box(prove(i % inputs.len()));
        }
        next += CALL;
    });
    runner.measure(case("vrf.verify"), CALL as u64, || {
        for i in (next..next + CALL).map(|i| i % inputs.len()) {
            let output = S::verify(&publics[i], &inputs[i].alpha, &proofs[i]);
            assert!(output.is_some(), "a proof that was made here verifies");
        }
        next += CALL;
    });
    Ok(())
}

fn check<S: Suite>() -> Result<(), String> {
    if let Some(known) = S::KNOWN {
        let bytes = |text: &str| hex::decode(text).expect("constants are hex");
        let secret = S::secret(&bytes(known.seed).try_into().expect("seeds have 32 bytes"));
        let proof = S::prove(&secret, &bytes(known.alpha));
        if proof != bytes(known.proof) {
            return Err(format!("the proof is not the known one but {}", hex::encode(proof)));
        }
        let output = S::verify(&S::public(&secret), &bytes(known.alpha), &proof);
        if output.as_deref() != Some(&bytes(known.output)) {
            return Err("the output is not the known one".into());
        }
    }
    let (secret, other) = (S::secret(&[7; 32]), S::secret(&[8; 32]));
    let proof = S::prove(&secret, b"one");
    if S::verify(&S::public(&secret), b"one", &proof).is_none() {
        return Err("a valid proof is refused".into());
    }
    let moved = S::verify(&S::public(&secret), b"two", &proof);
    if moved.is_some() || S::verify(&S::public(&other), b"one", &proof).is_some() {
        return Err("a proof of another message or key is accepted".into());
    }
    Ok(())
}

/// cardano-base, test vector `vrf_ver03_standard_11`.
#[allow(dead_code)] // unused only where both draft-03 peers are left out
const DRAFT03: Known = Known {
    seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    alpha: "72",
    proof: "ae5b66bdf04b4c010bfe32b2fc126ead2107b697634f6f7337b9bff8785ee111\
            200095ece87dde4dbe87343f6df3b107d91798c8a7eb1245d3bb9c5aafb093358c13e6ae1111a55717e895fd15f99f07",
    output: "94f4487e1b2fec954309ef1289ecb2e15043a2461ecc7b2ae7d4470607ef82eb\
             1cfa97d84991fe4a7bfdfd715606bc27e2967a6c557cfb5875879b671740b7d8",
};
