//! Key generation without a dealer, in three rounds.
//!
//! | round | to all | to each peer |
//! |---|---|---|
//! | 1 | commitment to the polynomial in the exponent | |
//! | 2 | its opening, with a proof of knowledge | secret share |
//! | 3 | the key's name | |
//!
//! As in the ECDSA of this crate (`dkls23::keygen`), without its oblivious transfers.

use chacha20::ChaCha20Rng;
use core::mem;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use rand_core::{CryptoRng, SeedableRng};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::ciphersuite::{
    LEN, decode, decode_scalar, encode, evaluate_vartime, identifier, publish, random,
};
use super::keys::{FrostPublic, FrostShare};
use crate::dkls23::commit::{COMMITMENT, blind, commit, open};
use crate::engine::{Abort, Blame, Check, Error, Evidence, PartyId, SessionId, Threshold};
use crate::machine::{Inbox, Kind, Letter, Letters, Machine, Rounds, Step, session};
use crate::oracle::Oracle;
use crate::wire::{Reader, Writer, holds};

/// One party's side of a key generation for Ed25519.
pub struct FrostKeygen(Machine<KeygenRounds>);

session!(FrostKeygen, FrostShare);

impl FrostKeygen {
    /// Begins a key generation among all parties of `threshold`.
    ///
    /// `session`: the same for all parties, and never used before. `rng`: 32 bytes are drawn from it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `me` is not one of the parties.
    pub fn new(
        session: SessionId,
        me: PartyId,
        threshold: Threshold,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        if !threshold.contains(me) {
            return Err(Error::InvalidArgument("this party is not one of the n"));
        }
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut seed[..]);
        let context = Oracle::new("context/frost-keygen")
            .absorb(&session.0)
            .absorb(&[threshold.t(), threshold.n()])
            .finish();
        let rng = ChaCha20Rng::from_seed(*seed);
        let (rounds, letters) = KeygenRounds::start(context, me, threshold, rng);
        let parties = threshold.parties().collect();
        Ok(Self(Machine::new(rounds, me, parties, context, letters)))
    }
}

struct KeygenRounds {
    context: [u8; 32],
    me: PartyId,
    threshold: Threshold,
    polynomial: Zeroizing<Vec<Scalar>>,
    state: State,
}

enum State {
    /// After round 1: what opens the commitment.
    Committed(Vec<u8>),
    /// After round 2: the peers' commitments.
    Opened(Vec<[u8; COMMITMENT]>),
    Confirmed(FrostShare),
    Ended,
}

impl Rounds for KeygenRounds {
    type Output = FrostShare;
    const ROUNDS: u8 = 3;

    fn protocol(&self) -> u8 {
        4
    }

    fn payload_len(&self, round: u8, kind: Kind) -> Option<usize> {
        match (round, kind) {
            (1, Kind::Broadcast) => Some(COMMITMENT),
            (2, Kind::Broadcast) => Some((usize::from(self.threshold.t()) + 2) * LEN + COMMITMENT),
            (2, Kind::Direct) => Some(LEN),
            (3, Kind::Broadcast) => Some(32),
            _ => None,
        }
    }

    fn advance(&mut self, round: u8, inbox: Inbox) -> Result<Step<FrostShare>, Abort> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Committed(opening) => self.open(opening, &inbox.letters),
            State::Opened(committed) => self.combine(&committed, &inbox.letters),
            State::Confirmed(share) => finish(share, &inbox.letters),
            State::Ended => Err(Abort::Internal { round }),
        }
    }
}

impl KeygenRounds {
    /// Round 1: deals and commits.
    fn start(
        context: [u8; 32],
        me: PartyId,
        threshold: Threshold,
        mut rng: ChaCha20Rng,
    ) -> (Self, Letters) {
        let coefficients = (0..threshold.t()).map(|_| random(&mut rng)).collect();
        let polynomial: Zeroizing<Vec<Scalar>> = Zeroizing::new(coefficients);
        let points: Vec<_> = polynomial.iter().map(publish).collect();
        let nonce = Zeroizing::new(random(&mut rng));
        let commitment = encode(&EdwardsPoint::mul_base(&nonce));
        let challenge = challenge(&context, me, &encode(&points[0]), &commitment);
        let response = *nonce + challenge * polynomial[0];
        let mut opening: Vec<u8> = points.iter().flat_map(encode).collect();
        opening.extend(commitment);
        opening.extend(response.as_bytes());
        let opener = blind(&mut rng);
        let broadcast = commit(&label(&context, me), &opening, &opener).to_vec();
        opening.extend(opener);
        let state = State::Committed(opening);
        let rounds = Self { context, me, threshold, polynomial, state };
        (rounds, Letters { broadcast, direct: Vec::new() })
    }

    /// Round 2: opens the commitment and deals the shares.
    fn open(&mut self, opening: Vec<u8>, letters: &[Letter]) -> Result<Step<FrostShare>, Abort> {
        let (mut committed, mut direct) = (Vec::new(), Vec::new());
        for letter in letters {
            let commitment = Reader::new(&letter.broadcast).array();
            committed.push(commitment.map_err(proved(letter, 1))?);
            let mut share = Writer::with_capacity(LEN);
            share.bytes(Zeroizing::new(self.evaluate(letter.from)).as_bytes());
            direct.push(share.finish());
        }
        self.state = State::Opened(committed);
        Ok(Step::Send(Letters { broadcast: opening, direct }))
    }

    /// This party's polynomial at `party`.
    fn evaluate(&self, party: PartyId) -> Scalar {
        let x = identifier(party);
        self.polynomial.iter().rev().fold(Scalar::ZERO, |sum, coefficient| sum * x + coefficient)
    }

    /// Round 3: checks what was dealt, and adds it up.
    fn combine(
        &mut self,
        committed: &[[u8; COMMITMENT]],
        letters: &[Letter],
    ) -> Result<Step<FrostShare>, Abort> {
        let mut secret = Box::new(Zeroizing::new(self.evaluate(self.me)));
        let mut points: Vec<_> = self.polynomial.iter().map(publish).collect();
        for (letter, committed) in letters.iter().zip(committed) {
            let dealt = self.read_polynomial(letter, committed).map_err(proved(letter, 2))?;
            let accused = |check| blame(letter, 2, check, Evidence::Accusation);
            let bytes = Reader::new(&letter.direct).array().map_err(accused)?;
            let share = decode_scalar(bytes).ok_or_else(|| accused(Check::Encoding))?;
            let share = Zeroizing::new(share);
            if !holds(EdwardsPoint::mul_base(&share).ct_eq(&evaluate_vartime(&dealt, self.me))) {
                return Err(accused(Check::VerifiableShare));
            }
            **secret += *share;
            points.iter_mut().zip(dealt).for_each(|(sum, point)| *sum += point);
        }
        let public = FrostPublic::new(self.threshold, self.context, points);
        let public = public.ok_or_else(|| Abort::Unattributed {
            round: 2,
            check: Check::GroupKey,
            suspects: letters.iter().map(|letter| letter.from).collect(),
        })?;
        let broadcast = public.key_id().to_vec();
        self.state = State::Confirmed(FrostShare::new(public, self.me, secret));
        Ok(Step::Send(Letters { broadcast, direct: Vec::new() }))
    }

    /// Reads and checks a peer's polynomial in the exponent.
    fn read_polynomial(
        &self,
        letter: &Letter,
        committed: &[u8; COMMITMENT],
    ) -> Result<Vec<EdwardsPoint>, Check> {
        let (opening, opener) = letter.broadcast.split_at(letter.broadcast.len() - COMMITMENT);
        let opener = Reader::new(opener).array()?;
        open(committed, &label(&self.context, letter.from), opening, &opener)?;
        let mut reader = Reader::new(opening);
        let mut points = Vec::with_capacity(usize::from(self.threshold.t()));
        for _ in 0..self.threshold.t() {
            points.push(decode(&reader.array()?).ok_or(Check::Encoding)?);
        }
        let commitment = reader.array()?;
        let response = decode_scalar(reader.array()?).ok_or(Check::Encoding)?;
        let nonce = decode(&commitment).ok_or(Check::Encoding)?;
        let challenge = challenge(&self.context, letter.from, &encode(&points[0]), &commitment);
        if EdwardsPoint::mul_base(&response) != nonce + points[0] * challenge {
            return Err(Check::ProofOfKnowledge);
        }
        Ok(points)
    }
}

/// The end: all parties have the same key.
fn finish(share: FrostShare, letters: &[Letter]) -> Result<Step<FrostShare>, Abort> {
    match letters.iter().find(|letter| letter.broadcast != share.public().key_id()) {
        Some(letter) => Err(blame(letter, 3, Check::Confirmation, Evidence::Accusation)),
        None => Ok(Step::Done(share)),
    }
}

/// Names the polynomial that `from` commits to.
fn label(context: &[u8; 32], from: PartyId) -> [u8; 32] {
    Oracle::new("frost/polynomial").absorb(context).absorb(&[from.get()]).finish()
}

/// The challenge of the proof of knowledge.
fn challenge(
    context: &[u8; 32],
    from: PartyId,
    public: &[u8; LEN],
    commitment: &[u8; LEN],
) -> Scalar {
    let oracle = Oracle::new("frost/knowledge").absorb(context).absorb(&[from.get()]);
    h2_of(oracle.absorb(public).absorb(commitment).finish())
}

fn h2_of(seed: [u8; 32]) -> Scalar {
    super::ciphersuite::h2(&[&seed])
}

fn blame(letter: &Letter, round: u8, check: Check, evidence: Evidence) -> Abort {
    Abort::Blamed(Blame { party: letter.from, round, check, evidence })
}

fn proved(letter: &Letter, round: u8) -> impl Fn(Check) -> Abort + use<'_> {
    move |check| blame(letter, round, check, Evidence::Proof)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::wiped::{Secret, secret};

    /// What a session knows and nobody else may.
    pub(crate) fn secrets(session: &FrostKeygen) -> Vec<Secret> {
        let Some(rounds) = session.0.rounds() else { return Vec::new() };
        let coefficient = |scalar: &Scalar| secret("coefficient", scalar.as_bytes());
        let mut all: Vec<Secret> = rounds.polynomial.iter().map(coefficient).collect();
        let parties = rounds.threshold.parties();
        all.extend(parties.map(|to| secret("dealt share", rounds.evaluate(to).as_bytes())));
        all
    }
}
