//! Signing in three rounds: DKLs23 §3, Protocol 3.6.
//!
//! A signer i has an additive share sk_i of the key (its Shamir share by Lagrange's coefficient,
//! plus a share of zero), and draws a nonce share r_i and a mask φ_i. With each peer it multiplies
//! its r_i and sk_i by the peer's random χ. In the end u_i and w_i are additive shares of r·φ and of
//! (m + r_x·sk)·φ, and s is their sums' quotient.
//!
//! | round | to all | to each peer |
//! |---|---|---|
//! | 1 | commitment to R_i = r_i·G | Bob's message of the multiplication by χ |
//! | 2 | R_i and its opening, pk_i = sk_i·G | Alice's message, Γ^u, Γ^v, ψ = φ − χ |
//! | 3 | w_i, u_i | |
//!
//! Γ^u = c^u·G and Γ^v = c^v·G let the peer check in the exponent that the multiplied values are
//! those of R_i and pk_i; that the pk_i add up to the group key completes the check.
//!
//! The digest is bound to the session from its beginning, so that no part of a run is of use for
//! another message. All secrets of a run come from a hash of the caller's randomness, the key share
//! and the context, so that broken randomness repeats no nonce for another digest; and each step
//! consumes its state.
//!
//! Secret: everything but what is sent to all.

use chacha20::ChaCha20Rng;
use core::mem;
use k256::elliptic_curve::ops::LinearCombination;
use k256::elliptic_curve::point::AffineCoordinates;
use k256::{ProjectivePoint, Scalar};
use rand_core::{CryptoRng, SeedableRng};
use subtle::ConstantTimeEq;
use tetralith_kernels::ct;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::commit::{COMMITMENT, blind, commit, open};
use super::dkg::lagrange;
use super::multiplication::{self, Bob, Gadget};
use super::pair::{self, Pair};
use super::zero_share;
use crate::engine::{Abort, Blame, Check, Error, Evidence, PartyId, SessionId};
use crate::keys::KeyShare;
use crate::machine::{Inbox, Kind, Letter, Letters, Machine, Rounds, Step, session};
use crate::oracle::Oracle;
use crate::signature::reduce;
use crate::wire::{POINT, Reader, SCALAR, Writer, holds, publish, random_scalar};

pub use crate::signature::Signature;

/// One party's side of a signature.
pub struct Sign(Machine<SignRounds>);

session!(Sign, Signature);

impl Sign {
    /// Begins to sign a 32-byte message digest.
    ///
    /// `session`: the same for all signers, and never used before. `signers`: exactly t different
    /// parties in ascending order, this one among them. `rng`: 32 bytes are drawn from it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `signers` is not as described.
    ///
    /// # Security
    /// Signs whatever digest it is given: the caller decides what may be signed.
    pub fn new(
        session: SessionId,
        share: &KeyShare,
        signers: &[PartyId],
        digest: [u8; 32],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        check_signers(share, signers)?;
        let ids: Vec<u8> = signers.iter().map(|party| party.get()).collect();
        let context = Oracle::new("context/sign")
            .absorb(&session.0)
            .absorb(&share.public().key_id())
            .absorb(&ids)
            .absorb(&digest)
            .finish();
        let mut entropy = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut entropy[..]);
        let secret = Zeroizing::new(<[u8; 32]>::from(share.secret().to_bytes()));
        let seed = Oracle::new("sign/seed").absorb(&entropy[..]).absorb(&secret[..]);
        let seed = Zeroizing::new(seed.absorb(&context).finish());
        let rng = ChaCha20Rng::from_seed(*seed);
        let (rounds, letters) = SignRounds::start(context, share, signers, digest, rng)?;
        Ok(Self(Machine::new(rounds, share.me(), signers.to_vec(), context, letters)))
    }
}

fn check_signers(share: &KeyShare, signers: &[PartyId]) -> Result<(), Error> {
    let threshold = share.public().threshold();
    let refuse = |reason| Err(Error::InvalidArgument(reason));
    if signers.len() != usize::from(threshold.t()) {
        return refuse("the number of signers is not the threshold");
    }
    if !signers.windows(2).all(|pair| pair[0] < pair[1]) {
        return refuse("the signers are not in ascending order");
    }
    if !signers.iter().all(|&party| threshold.contains(party)) {
        return refuse("a signer is no party of this key");
    }
    if !signers.contains(&share.me()) {
        return refuse("this party is not one of the signers");
    }
    Ok(())
}

/// The state that all rounds share, and the one of the current round.
struct SignRounds {
    context: [u8; 32],
    me: PartyId,
    key: ProjectivePoint,
    message: Scalar,
    rng: ChaCha20Rng,
    state: State,
}

enum State {
    Committed(Box<Committed>),
    Multiplied(Box<Multiplied>),
    Shared(Box<Shared>),
    Ended,
}

/// The secrets of one signature.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Secrets {
    /// r_i: this party's part of the nonce.
    nonce: Scalar,
    /// φ_i: this party's part of the mask of the nonce's inverse.
    mask: Scalar,
    /// sk_i without its share of zero, then with it.
    key: Scalar,
}

/// After round 1 was sent.
struct Committed {
    secrets: Box<Secrets>,
    nonce_point: ProjectivePoint,
    opening: [u8; COMMITMENT],
    peers: Vec<Peer>,
}

/// One peer: the setup with it, and this party as Bob.
struct Peer {
    pair: Pair,
    gadget: Gadget,
    bob: Bob,
}

/// After round 2 was sent.
struct Multiplied {
    secrets: Box<Secrets>,
    nonce_point: ProjectivePoint,
    key_point: ProjectivePoint,
    peers: Vec<Peer>,
    replies: Vec<Reply>,
}

/// What is kept of a peer's round 1, and of the answer to it.
struct Reply {
    /// The peer's commitment to its nonce.
    commitment: [u8; COMMITMENT],
    /// c^u and c^v: this party's outputs as Alice.
    outputs: Zeroizing<[Scalar; multiplication::WIDTH]>,
}

/// After round 3 was sent.
struct Shared {
    nonce_point: ProjectivePoint,
    numerator: Scalar,
    denominator: Scalar,
}

/// What one peer's round 2 contributes.
struct Contribution {
    nonce_point: ProjectivePoint,
    key_point: ProjectivePoint,
    /// ψ: the peer's mask less the factor it multiplied by.
    difference: Zeroizing<Scalar>,
    /// d^u and d^v: this party's outputs as Bob.
    outputs: Zeroizing<[Scalar; multiplication::WIDTH]>,
}

impl Rounds for SignRounds {
    type Output = Signature;
    const ROUNDS: u8 = 3;

    fn protocol(&self) -> u8 {
        2
    }

    fn payload_len(&self, round: u8, kind: Kind) -> Option<usize> {
        match (round, kind) {
            (1, Kind::Broadcast) => Some(COMMITMENT),
            (1, Kind::Direct) => Some(multiplication::FIRST),
            (2, Kind::Broadcast) => Some(POINT + COMMITMENT + POINT),
            (2, Kind::Direct) => Some(multiplication::SECOND + 2 * POINT + SCALAR),
            (3, Kind::Broadcast) => Some(2 * SCALAR),
            _ => None,
        }
    }

    fn advance(&mut self, round: u8, inbox: Inbox) -> Result<Step<Signature>, Abort> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Committed(state) => self.multiply(*state, &inbox),
            State::Multiplied(state) => self.share(*state, &inbox.letters),
            State::Shared(state) => self.finish(&state, &inbox.letters),
            State::Ended => Err(Abort::Internal { round }),
        }
    }
}

impl SignRounds {
    /// Round 1: draws the nonce and begins the multiplications as Bob.
    fn start(
        context: [u8; 32],
        share: &KeyShare,
        signers: &[PartyId],
        digest: [u8; 32],
        mut rng: ChaCha20Rng,
    ) -> Result<(Self, Letters), Error> {
        let me = share.me();
        let secrets = Box::new(Secrets {
            nonce: random_scalar(&mut rng),
            mask: random_scalar(&mut rng),
            key: lagrange(me, signers) * share.secret(),
        });
        let nonce_point = ProjectivePoint::mul_by_generator(&secrets.nonce);
        let opening = blind(&mut rng);
        let encoded = crate::wire::encode_point(&nonce_point);
        let broadcast = commit(&nonce_label(&context, me), &encoded, &opening);

        let mut peers = Vec::with_capacity(signers.len());
        let mut direct = Vec::with_capacity(signers.len());
        for &peer in signers.iter().filter(|&&party| party != me) {
            let pair = share.pair(peer).ok_or(Error::Bug("a key share lacks a pair"))?.clone();
            let gadget = pair.gadget(peer);
            let label = pair::label(&context, peer, me);
            let (bob, letter) = Bob::new(&pair.as_bob, &gadget, &label, &mut rng);
            peers.push(Peer { pair, gadget, bob });
            direct.push(letter);
        }
        let key = share.public().commitments().0[0];
        let state = State::Committed(Box::new(Committed { secrets, nonce_point, opening, peers }));
        let rounds = Self { context, me, key, message: reduce(&digest), rng, state };
        Ok((rounds, Letters { broadcast: broadcast.to_vec(), direct }))
    }

    /// Round 2: multiplies as Alice, and opens the nonce.
    fn multiply(&mut self, state: Committed, inbox: &Inbox) -> Result<Step<Signature>, Abort> {
        let Committed { mut secrets, nonce_point, opening, peers } = state;
        // The digest of round 1 has everybody's fresh commitment: the share of zero is never reused.
        let seed = |Peer { pair, .. }: &Peer| (pair.peer, Zeroizing::new(pair.zero_seed()));
        let seeds: Vec<_> = peers.iter().map(seed).collect();
        let seeds = seeds.iter().map(|(peer, seed)| (*peer, &**seed));
        secrets.key += zero_share::share(&inbox.digest, self.me, seeds);
        let key_point = ProjectivePoint::mul_by_generator(&secrets.key);
        let published = publish(&[nonce_point, key_point]);
        let (nonce_point, key_point) = (published[0], published[1]);

        let inputs = Zeroizing::new([secrets.nonce, secrets.key]);
        let mut replies = Vec::with_capacity(peers.len());
        let mut direct = Vec::with_capacity(peers.len());
        for (letter, Peer { pair, bob, .. }) in inbox.letters.iter().zip(&peers) {
            let commitment = Reader::new(&letter.broadcast).array().map_err(fault(letter, 1))?;
            let label = pair::label(&self.context, self.me, letter.from);
            let (outputs, reply) = multiplication::alice(
                &pair.as_alice,
                &pair.gadget(self.me),
                &label,
                &letter.direct,
                &inputs,
                &mut self.rng,
            )
            .map_err(fault(letter, 1))?;
            let outputs = Zeroizing::new(outputs);
            let mut message = Writer::with_capacity(multiplication::SECOND + 2 * POINT + SCALAR);
            message.bytes(&reply);
            for output in outputs.iter() {
                message.point(&ProjectivePoint::mul_by_generator(output));
            }
            message.scalar(&(secrets.mask - bob.factor));
            replies.push(Reply { commitment, outputs });
            direct.push(message.finish());
        }
        let mut broadcast = Writer::with_capacity(POINT + COMMITMENT + POINT);
        broadcast.point(&nonce_point).bytes(&opening).point(&key_point);
        let state = Multiplied { secrets, nonce_point, key_point, peers, replies };
        self.state = State::Multiplied(Box::new(state));
        Ok(Step::Send(Letters { broadcast: broadcast.finish().to_vec(), direct }))
    }

    /// Round 3: checks the multiplications, and shares numerator and denominator of s.
    fn share(&mut self, state: Multiplied, letters: &[Letter]) -> Result<Step<Signature>, Abort> {
        let Multiplied { secrets, mut nonce_point, mut key_point, peers, replies } = state;
        // φ_i + Σ ψ, then u_i and v_i without it.
        let mut mask = Zeroizing::new(secrets.mask);
        let (mut u, mut v) = (Zeroizing::new(Scalar::ZERO), Zeroizing::new(Scalar::ZERO));
        for ((letter, peer), reply) in letters.iter().zip(&peers).zip(&replies) {
            let alice = &reply.outputs;
            let theirs = self.contribution(letter, peer, reply)?;
            nonce_point += theirs.nonce_point;
            key_point += theirs.key_point;
            *mask += *theirs.difference;
            *u += alice[0] + theirs.outputs[0];
            *v += alice[1] + theirs.outputs[1];
        }
        let parties = || letters.iter().map(|letter| letter.from).collect();
        let unattributed = |check| Abort::Unattributed { round: 2, check, suspects: parties() };
        if key_point != self.key {
            return Err(unattributed(Check::GroupKey));
        }
        if nonce_point == ProjectivePoint::IDENTITY {
            return Err(unattributed(Check::Degenerate));
        }
        *u += secrets.nonce * *mask;
        *v += secrets.key * *mask;
        let r = reduce(&nonce_point.to_affine().x().into());
        if bool::from(r.is_zero()) {
            return Err(unattributed(Check::Degenerate));
        }
        let numerator = self.message * secrets.mask + r * *v;
        let mut broadcast = Writer::with_capacity(2 * SCALAR);
        broadcast.scalar(&numerator).scalar(&u);
        // All are told both.
        let (numerator, denominator) = (ct::public(numerator), ct::public(*u));
        self.state = State::Shared(Box::new(Shared { nonce_point, numerator, denominator }));
        Ok(Step::Send(Letters { broadcast: broadcast.finish().to_vec(), direct: Vec::new() }))
    }

    /// Reads and checks one peer's messages of round 2.
    fn contribution(
        &self,
        letter: &Letter,
        peer: &Peer,
        reply: &Reply,
    ) -> Result<Contribution, Abort> {
        let from = letter.from;
        let proved = |check| blame(from, check, Evidence::Proof);
        let mut reader = Reader::new(&letter.broadcast);
        let encoded = reader.slice(POINT).map_err(proved)?;
        let opening = reader.array().map_err(proved)?;
        let key_point = reader.point().map_err(proved)?;
        open(&reply.commitment, &nonce_label(&self.context, from), encoded, &opening)
            .map_err(proved)?;
        let nonce_point = Reader::new(encoded).point().map_err(proved)?;

        let mut reader = Reader::new(&letter.direct);
        let second = reader.slice(multiplication::SECOND).map_err(fault(letter, 2))?;
        let gammas =
            [reader.point().map_err(fault(letter, 2))?, reader.point().map_err(fault(letter, 2))?];
        let difference = Zeroizing::new(reader.scalar().map_err(fault(letter, 2))?);
        let outputs = peer.bob.finish(&peer.gadget, second).map_err(fault(letter, 2))?;
        let outputs = Zeroizing::new(outputs);
        let checks = [(nonce_point, Check::NonceConsistency), (key_point, Check::KeyConsistency)];
        for (k, (point, check)) in checks.into_iter().enumerate() {
            // χ·R − d·G = Γ, as c + d = χ·r.
            let terms = [(point, peer.bob.factor), (ProjectivePoint::GENERATOR, -outputs[k])];
            if !holds(ProjectivePoint::lincomb(&terms).ct_eq(&gammas[k])) {
                return Err(fault(letter, 2)(check));
            }
        }
        Ok(Contribution { nonce_point, key_point, difference, outputs })
    }

    /// The end: adds up the shares of s.
    fn finish(&self, state: &Shared, letters: &[Letter]) -> Result<Step<Signature>, Abort> {
        let (mut numerator, mut denominator) = (state.numerator, state.denominator);
        for letter in letters {
            let proved = |check| {
                let blame =
                    Blame { party: letter.from, round: 3, check, evidence: Evidence::Proof };
                Abort::Blamed(blame)
            };
            let mut reader = Reader::new(&letter.broadcast);
            numerator += reader.scalar().map_err(proved)?;
            denominator += reader.scalar().map_err(proved)?;
        }
        let unattributed = || Abort::Unattributed {
            round: 3,
            check: Check::Signature,
            suspects: letters.iter().map(|letter| letter.from).collect(),
        };
        let inverse: Option<Scalar> = denominator.invert().into();
        let s = numerator * inverse.ok_or_else(unattributed)?;
        let signature = Signature::new(&state.nonce_point, s);
        if signature.verifies(&self.key, &self.message) {
            Ok(Step::Done(signature))
        } else {
            Err(unattributed())
        }
    }
}

/// Names the nonce that `from` commits to.
pub(super) fn nonce_label(context: &[u8; 32], from: PartyId) -> [u8; 32] {
    Oracle::new("sign/nonce").absorb(context).absorb(&[from.get()]).finish()
}

fn blame(party: PartyId, check: Check, evidence: Evidence) -> Abort {
    Abort::Blamed(Blame { party, round: 2, check, evidence })
}

/// Accuses the letter's sender.
fn fault(letter: &Letter, round: u8) -> impl Fn(Check) -> Abort + use<> {
    let party = letter.from;
    let evidence = Evidence::Accusation;
    move |check| Abort::Blamed(Blame { party, round, check, evidence })
}

#[cfg(test)]
pub(crate) mod tests;
