//! vrf (witnet) over OpenSSL: draft-05 on P-256 and secp256k1.

use super::{Known, Suite, single};
use crate::measure::Runner;
use std::cell::RefCell;
use vrf::VRF;
use vrf::openssl::{CipherSuite, ECVRF};

thread_local! {
    // The crate's own use keeps one context for many proofs.
    static P256: RefCell<ECVRF> =
        RefCell::new(ECVRF::from_suite(CipherSuite::P256_SHA256_TAI).expect("a known suite"));
    static SECP256K1: RefCell<ECVRF> =
        RefCell::new(ECVRF::from_suite(CipherSuite::SECP256K1_SHA256_TAI).expect("a known suite"));
}

macro_rules! suite {
    ($name:ident, $context:ident, $suite:literal, $nearest:expr, $known:expr) => {
        struct $name;

        impl Suite for $name {
            const SUITE: &'static str = $suite;
            const NEAREST: Option<&'static str> = $nearest;
            const PEER: &'static str = "vrf 0.2.5 (OpenSSL)";
            const KNOWN: Option<Known> = Some($known);
            type Secret = ([u8; 32], Vec<u8>);

            fn secret(seed: &[u8; 32]) -> Self::Secret {
                let public = $context.with_borrow_mut(|context| context.derive_public_key(seed));
                (*seed, public.expect("a seed is a valid scalar"))
            }

            fn public(secret: &Self::Secret) -> Vec<u8> {
                secret.1.clone()
            }

            fn prove(secret: &Self::Secret, alpha: &[u8]) -> Vec<u8> {
                $context
                    .with_borrow_mut(|context| context.prove(&secret.0, alpha))
                    .expect("a valid key proves")
            }

            fn verify(public: &[u8], alpha: &[u8], proof: &[u8]) -> Option<Vec<u8>> {
                $context.with_borrow_mut(|context| context.verify(public, proof, alpha)).ok()
            }
        }
    };
}

suite!(
    P256Tai,
    P256,
    "draft05-p256-sha256-tai",
    Some("rfc9381-p256-sha256-tai"),
    Known {
        // draft-irtf-cfrg-vrf-05, A.1.
        seed: "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
        alpha: "73616d706c65",
        proof: "029bdca4cc39e57d97e2f42f88bcf0ecb1120fb67eb408a856050dbfbcbf57c5\
                24347fc46ccd87843ec0a9fdc090a407c6fbae8ac1480e240c58854897eabbc3\
                a7bb61b201059f89186e7175af796d65e7",
        output: "59ca3801ad3e981a88e36880a3aee1df38a0472d5be52d6e39663ea0314e594c",
    }
);

suite!(
    Secp256k1Tai,
    SECP256K1,
    "secp256k1-sha256-tai",
    None,
    Known {
        // The crate's own published answer.
        seed: "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
        alpha: "73616d706c65",
        proof: "031f4dbca087a1972d04a07a779b7df1caa99e0f5db2aa21f3aecc4f9e10e85d\
                08748c9fbe6b95d17359707bfb8e8ab0c93ba0c515333adcb8b64f372c535e11\
                5ccf66ebf5abe6fadb01b5efb37c0a0ec9",
        output: "612065e309e937ef46c2ef04d5886b9c6efd2991ac484ec64a9b014366fc5d81",
    }
);

/// Checks and measures.
pub fn run(runner: &mut Runner) -> Result<(), String> {
    single::<P256Tai>(runner)?;
    single::<Secp256k1Tai>(runner)
}
