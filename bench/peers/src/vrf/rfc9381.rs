//! vrf-rfc9381: the four elliptic-curve suites of RFC 9381.

use super::{Known, Suite, single};
use crate::measure::Runner;
use vrf_rfc9381::ec::edwards25519::{elligator2, tai as ed_tai};
use vrf_rfc9381::ec::p256::{sswu, tai as p256_tai};
use vrf_rfc9381::{Proof, Prover, Verifier};

/// A suite of the crate: all have the same shape, by its traits.
macro_rules! suite {
    ($name:ident, $suite:literal, $prover:ty, $verifier:ty, $known:expr, $encode:expr) => {
        struct $name;

        impl Suite for $name {
            const SUITE: &'static str = $suite;
            const PEER: &'static str = "vrf-rfc9381 0.0.7";
            const KNOWN: Option<Known> = Some($known);
            type Secret = ($prover, Vec<u8>);

            fn secret(seed: &[u8; 32]) -> Self::Secret {
                let secret = <$prover>::from_slice(seed).expect("a seed is a valid key");
                (secret, $encode(seed))
            }

            fn public(secret: &Self::Secret) -> Vec<u8> {
                secret.1.clone()
            }

            fn prove(secret: &Self::Secret, alpha: &[u8]) -> Vec<u8> {
                secret.0.prove(alpha).expect("a valid key proves").encode_to_pi()
            }

            fn verify(public: &[u8], alpha: &[u8], proof: &[u8]) -> Option<Vec<u8>> {
                let verifier = <$verifier>::from_slice(public).ok()?;
                let proof = Proof::decode_pi(proof).ok()?;
                verifier.verify(alpha, proof).ok().map(|output| output.to_vec())
            }
        }
    };
}

/// The Ed25519 public key of a seed (RFC 8032); the crate does not hand out its keys' bytes.
fn ed_public(seed: &[u8; 32]) -> Vec<u8> {
    use curve25519_dalek::{EdwardsPoint, scalar::clamp_integer};
    let digest = <sha2::Sha512 as sha2::Digest>::digest(seed);
    let low: [u8; 32] = digest[..32].try_into().expect("half of 64 bytes");
    EdwardsPoint::mul_base_clamped(clamp_integer(low)).compress().to_bytes().to_vec()
}

/// The compressed P-256 public key of a scalar.
fn p256_public(seed: &[u8; 32]) -> Vec<u8> {
    use p256::elliptic_curve::sec1::ToSec1Point;
    let secret = p256::SecretKey::from_slice(seed).expect("a seed is a valid scalar");
    secret.public_key().to_sec1_point(true).as_bytes().to_vec()
}

suite!(
    Tai,
    "rfc9381-edwards25519-sha512-tai",
    ed_tai::EdVrfEdwards25519TaiSecretKey,
    ed_tai::EdVrfEdwards25519TaiPublicKey,
    Known {
        // RFC 9381, example 16.
        seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        alpha: "",
        proof: "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f\
                26f8a57ccaed74ee1b190bed1f479d9727d2d0f9b005a6e456a35d4fb0daab12\
                68a1b0db10836d9826a528ca76567805",
        output: "90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff\
                 66b71dda49d2de59d03450451af026798e8f81cd2e333de5cdf4f3e140fdd8ae",
    },
    ed_public
);

suite!(
    Ell2,
    "rfc9381-edwards25519-sha512-ell2",
    elligator2::EdVrfEdwards25519Ell2SecretKey,
    elligator2::EdVrfEdwards25519Ell2PublicKey,
    Known {
        // RFC 9381, example 19.
        seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        alpha: "",
        proof: "7d9c633ffeee27349264cf5c667579fc583b4bda63ab71d001f89c10003ab46f\
                14adf9a3cd8b8412d9038531e865c341cafa73589b023d14311c331a9ad15ff2\
                fb37831e00f0acaa6d73bc9997b06501",
        output: "9d574bf9b8302ec0fc1e21c3ec5368269527b87b462ce36dab2d14ccf80c53cc\
                 cf6758f058c5b1c856b116388152bbe509ee3b9ecfe63d93c3b4346c1fbc6c54",
    },
    ed_public
);

suite!(
    P256Tai,
    "rfc9381-p256-sha256-tai",
    p256_tai::EcVrfP256TaiSecretKey,
    p256_tai::EcVrfP256TaiPublicKey,
    Known {
        // RFC 9381, example 10.
        seed: "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
        alpha: "73616d706c65",
        proof: "035b5c726e8c0e2c488a107c600578ee75cb702343c153cb1eb8dec77f4b5071\
                b4a53f0a46f018bc2c56e58d383f2305e0975972c26feea0eb122fe7893c15af\
                376b33edf7de17c6ea056d4d82de6bc02f",
        output: "a3ad7b0ef73d8fc6655053ea22f9bede8c743f08bbed3d38821f0e16474b505e",
    },
    p256_public
);

suite!(
    P256Sswu,
    "rfc9381-p256-sha256-sswu",
    sswu::EcVrfP256SswuSecretKey,
    sswu::EcVrfP256SswuPublicKey,
    Known {
        // RFC 9381, example 13.
        seed: "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
        alpha: "73616d706c65",
        proof: "0331d984ca8fece9cbb9a144c0d53df3c4c7a33080c1e02ddb1a96a365394c78\
                88782fffde7b842c38c20c08de6ec6c2e7027a97000f2c9fa4425d5c03e639fb\
                48fde58114d755985498d7eb234cf4aed9",
        output: "21e66dc9747430f17ed9efeda054cf4a264b097b9e8956a1787526ed00dc664b",
    },
    p256_public
);

/// Checks and measures.
pub fn run(runner: &mut Runner) -> Result<(), String> {
    single::<Tai>(runner)?;
    single::<Ell2>(runner)?;
    single::<P256Tai>(runner)?;
    single::<P256Sswu>(runner)
}
