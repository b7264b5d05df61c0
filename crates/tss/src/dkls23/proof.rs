//! Schnorr's proof of knowledge of a discrete logarithm, made non-interactive by Fiat and Shamir.
//!
//! In key generation each proof is committed to before any is opened, so a prover cannot take part
//! of another's.

use k256::{ProjectivePoint, Scalar};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::engine::Check;
use crate::oracle::Oracle;
use crate::wire::{POINT, SCALAR, encode_point, random_scalar};

/// A proof that its maker knows the discrete logarithm of a point.
#[derive(Clone, Copy)]
pub(crate) struct Proof {
    pub(crate) commitment: ProjectivePoint,
    pub(crate) response: Scalar,
}

impl Proof {
    /// Bytes of an encoded proof.
    pub(crate) const LEN: usize = POINT + SCALAR;

    /// Proves knowledge of `secret`, of which `public` is the point.
    pub(crate) fn new(
        label: &[u8],
        secret: &Scalar,
        public: &ProjectivePoint,
        rng: &mut impl CryptoRng,
    ) -> Self {
        let nonce = Zeroizing::new(random_scalar(rng));
        let commitment = ProjectivePoint::mul_by_generator(&nonce);
        let response = *nonce + challenge(label, public, &commitment) * secret;
        Self { commitment, response }
    }

    /// Verifies the proof.
    pub(crate) fn verify(&self, label: &[u8], public: &ProjectivePoint) -> Result<(), Check> {
        let expected = self.commitment + *public * challenge(label, public, &self.commitment);
        if ProjectivePoint::mul_by_generator(&self.response) == expected {
            Ok(())
        } else {
            Err(Check::ProofOfKnowledge)
        }
    }
}

fn challenge(label: &[u8], public: &ProjectivePoint, commitment: &ProjectivePoint) -> Scalar {
    Oracle::new("proof-of-knowledge")
        .absorb(label)
        .absorb(&encode_point(public))
        .absorb(&encode_point(commitment))
        .scalar()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use k256::elliptic_curve::Field;
    use rand_core::SeedableRng;

    #[test]
    fn a_proof_is_bound_to_all_it_says() {
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let secret = Scalar::random(&mut rng);
        let public = ProjectivePoint::GENERATOR * secret;
        let proof = Proof::new(b"label", &secret, &public, &mut rng);
        assert_eq!(proof.verify(b"label", &public), Ok(()));
        assert!(proof.verify(b"other", &public).is_err());
        assert!(proof.verify(b"label", &(public + ProjectivePoint::GENERATOR)).is_err());
        let bent = Proof { response: proof.response + Scalar::ONE, ..proof };
        assert!(bent.verify(b"label", &public).is_err());
    }
}
