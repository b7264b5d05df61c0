//! The Fiat–Shamir transcript: every challenge is a hash of the whole statement.
//!
//! A weak transcript is how proofs of delay have been broken: one that leaves out T or the group lets
//! a prover choose them after the challenge is known. Ours absorbs, each with its length in front, a
//! domain with the version, the name of the proof system, N, x, T and y, and then every message of
//! the prover before the next challenge is drawn. The exact bytes are in `docs/vdf-proof.md`.

use crate::prime::{self, Candidates};
use crate::{Element, Modulus, Residue, nat};
use sha2::{Digest, Sha256};
use tetralith_kernels::sha256x16::hash_16;

/// A kind of proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum System {
    /// Wesolowski's: one group element.
    Wesolowski,
    /// Wesolowski's in consecutive segments, all but the last of which are proved while squaring.
    Segmented,
    /// Pietrzak's: one group element for each halving of T.
    Pietrzak,
}

impl System {
    /// The name on the command line and in the transcript.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            System::Wesolowski => "wesolowski",
            System::Segmented => "n-wesolowski",
            System::Pietrzak => "pietrzak",
        }
    }

    /// The system's number in encoded proofs.
    pub(crate) fn number(self) -> u8 {
        match self {
            System::Wesolowski => 1,
            System::Segmented => 2,
            System::Pietrzak => 3,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        [System::Wesolowski, System::Segmented, System::Pietrzak]
            .into_iter()
            .find(|system| system.number() == number)
    }
}

/// What a proof is about: y = ±x^(2^T) mod N.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The modulus N.
    pub modulus: Modulus,
    /// The input x, which has no factor in common with N.
    pub x: Residue,
    /// The number of squarings T.
    pub iterations: u64,
    /// The output's class in (Z/N)*/{±1}.
    pub y: Element,
}

/// The running hash of a statement and of what the prover said about it.
#[derive(Clone)]
pub(crate) struct Transcript(Sha256);

impl Transcript {
    /// Starts with the whole statement.
    pub(crate) fn new(system: System, statement: &Statement) -> Self {
        let mut transcript = Self(Sha256::new());
        transcript.absorb(b"tetralith vdf proof v1");
        transcript.absorb(system.name().as_bytes());
        transcript.absorb(&statement.modulus.to_bytes());
        transcript.absorb(&statement.x.to_bytes());
        transcript.absorb(&statement.iterations.to_be_bytes());
        transcript.absorb(&statement.y.to_bytes());
        transcript
    }

    /// Appends a message with its length.
    pub(crate) fn absorb(&mut self, message: &[u8]) {
        self.0.update((message.len() as u64).to_be_bytes());
        self.0.update(message);
    }

    /// The hash of all that was absorbed.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.0.clone().finalize().into()
    }

    /// A challenge of 128 bits as limbs, which is absorbed too.
    pub(crate) fn challenge(&mut self) -> [u64; 2] {
        let digest = self.digest();
        self.absorb(&digest);
        let limb = |i: usize| nat::from_bytes(&digest[8 * i..8 * i + 8]);
        [1, 0].map(|i| limb(i).first().copied().unwrap_or(0))
    }

    /// The challenge prime of 256 bits.
    pub(crate) fn challenge_prime(&self) -> [u64; 4] {
        verifiers_prime(&Hashes::new(&self.digest()))
    }

    /// The same for who makes a proof, with fewer rounds: where a composite passes, the verifier finds another
    /// prime, and the proof is refused.
    pub(crate) fn challenge_prime_for_proof(&self) -> [u64; 4] {
        prime::first_probable_prime(&Hashes::new(&self.digest()), ROUNDS_FOR_PROOF)
    }
}

/// The first candidate that is a prime, as a verifier tests it. Deterministic, so that every verifier finds the
/// same one by himself.
///
/// With fewer rounds no known transcript gives another prime: a composite that passes one round would have to
/// come out of SHA-256, which is expected once in about 2^70 searches. The tests therefore put a composite that
/// passes several rounds among the candidates.
fn verifiers_prime(candidates: &impl Candidates) -> [u64; 4] {
    prime::first_probable_prime(candidates, PRIME_ROUNDS)
}

/// The candidates for a challenge prime.
struct Hashes {
    /// label ‖ seed.
    prefix: [u8; 54],
}

impl Hashes {
    fn new(seed: &[u8; 32]) -> Self {
        let mut prefix = *b"tetralith vdf prime v1................................";
        prefix[22..].copy_from_slice(seed);
        Self { prefix }
    }
}

impl Candidates for Hashes {
    fn one(&self, counter: u64) -> [u64; 4] {
        let hash = Sha256::new_with_prefix(self.prefix).chain_update(counter.to_be_bytes());
        let bytes: [u8; 32] = hash.finalize().into();
        let limb = |i: usize| u64::from_be_bytes(std::array::from_fn(|k| bytes[8 * i + k]));
        [limb(3) | 1, limb(2), limb(1), limb(0) | 1 << 63]
    }

    fn sixteen(&self, first: u64) -> [[u32; 16]; 8] {
        let counters: [u64; 16] = std::array::from_fn(|lane| first + lane as u64);
        let mut words = hash_16(&self.prefix, &counters.map(u64::to_be_bytes));
        words[0].iter_mut().for_each(|word| *word |= 1 << 31);
        words[7].iter_mut().for_each(|word| *word |= 1);
        words
    }
}

/// Rounds of Miller–Rabin for a challenge prime. Candidates come out of a hash, so the bound of
/// Damgård, Landrock and Pomerance holds: a composite passes with a probability below 2^-127.
const PRIME_ROUNDS: u32 = 28;

/// Rounds for who makes a proof: none but the test that ends nearly all composites, with base 2 where there are
/// lanes. Of hashed numbers of 256 bits that pass it, fewer than one in 2^70 is composite, by what C. Pomerance
/// conjectures (On the distribution of pseudoprimes, Mathematics of Computation 37, 1981), which is far above what
/// there are below 2^64.
const ROUNDS_FOR_PROOF: u32 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(t: u64) -> Statement {
        let modulus = Modulus::rsa2048();
        let (x, _) = modulus.reduce(&[3]);
        let y = x.element(&modulus);
        Statement { modulus, x, iterations: t, y }
    }

    #[test]
    fn every_part_changes_the_challenge() {
        let base = Transcript::new(System::Wesolowski, &statement(8));
        let mut others = vec![
            Transcript::new(System::Pietrzak, &statement(8)),
            Transcript::new(System::Wesolowski, &statement(9)),
        ];
        let mut changed = statement(8);
        changed.x = changed.modulus.reduce(&[4]).0;
        others.push(Transcript::new(System::Wesolowski, &changed));
        let mut changed = statement(8);
        changed.y = changed.modulus.reduce(&[4]).0.element(&changed.modulus);
        others.push(Transcript::new(System::Wesolowski, &changed));
        let mut changed = statement(8);
        changed.modulus = Modulus::lcs35();
        others.push(Transcript::new(System::Wesolowski, &changed));
        for (i, other) in others.iter().enumerate() {
            assert_ne!(base.digest(), other.digest(), "{i}");
        }
    }

    #[test]
    fn challenge_primes_are_primes_of_256_bits() {
        let prime = Transcript::new(System::Wesolowski, &statement(8)).challenge_prime();
        assert_eq!(nat::bit_len(&prime), 256);
        assert!(prime::is_probable_prime(&prime, 64));
    }

    /// p·(2p − 1) for primes p and 2p − 1: it passes Fermat's test with base 2 and the first three rounds.
    const COMPOSITE: [u64; 4] = [
        0xf8d1_a1d8_22bf_9f35,
        0x984e_92e9_2b76_7c01,
        0xbe4f_9044_3101_2332,
        0xd54c_958b_0b57_e44e,
    ];
    /// 2^256 − 2^32 − 977.
    const PRIME: [u64; 4] = [0xffff_fffe_ffff_fc2f, u64::MAX, u64::MAX, u64::MAX];

    /// A composite first, and then primes only.
    struct Planted;

    impl Candidates for Planted {
        fn one(&self, counter: u64) -> [u64; 4] {
            if counter == 0 { COMPOSITE } else { PRIME }
        }

        fn sixteen(&self, first: u64) -> [[u32; 16]; 8] {
            let word = |t: usize, lane: usize| {
                let limb = self.one(first + lane as u64)[3 - t / 2];
                (if t.is_multiple_of(2) { limb >> 32 } else { limb }) as u32
            };
            std::array::from_fn(|t| std::array::from_fn(|lane| word(t, lane)))
        }
    }

    #[test]
    fn a_verifier_takes_no_composite() {
        // With few rounds the composite is taken, so that the test can fail.
        for rounds in [1, 2, 3] {
            assert!(prime::is_probable_prime(&COMPOSITE, rounds));
            assert_eq!(prime::first_probable_prime(&Planted, rounds), COMPOSITE);
        }
        assert_eq!(verifiers_prime(&Planted), PRIME);
        assert_eq!(PRIME_ROUNDS, 28, "docs/vdf-proof.md states the bound for this number");
    }

    #[test]
    fn the_first_primes_of_many_seeds() {
        let mut all = Sha256::new();
        for i in 0..200u32 {
            let seed = Sha256::digest(i.to_be_bytes()).into();
            let hashes = Hashes::new(&seed);
            let prime = verifiers_prime(&hashes);
            let mut before = (0..).map(|counter| hashes.one(counter));
            assert!(i > 20 || before.find(|n| prime::is_probable_prime(n, 28)) == Some(prime));
            assert_eq!(prime::first_probable_prime(&hashes, ROUNDS_FOR_PROOF), prime);
            all.update(prime.map(u64::to_be_bytes).as_flattened());
        }
        // As they were when they were looked for one after another.
        let digest = "b4fc64dcd8f8aec1c78c65d6de350f014d91bee428b5cd7631275b979acc3c5c";
        assert_eq!(hex::encode(all.finalize()), digest);
    }

    #[test]
    fn challenges_follow_one_another() {
        let mut transcript = Transcript::new(System::Pietrzak, &statement(8));
        let first = transcript.challenge();
        assert_ne!(first, transcript.challenge());
    }
}
