//! Signing in two rounds.
//!
//! | round | to all |
//! |---|---|
//! | 1 | commitments D_i and E_i to a hiding and a binding nonce |
//! | 2 | signature share z_i |
//!
//! Both nonces are hashed from fresh randomness and the share (`nonce_generate`), live in one session,
//! and are consumed by its only signature share. Every party aggregates; if the sum does not verify, it
//! verifies the shares one by one and names who sent a wrong one, which the broadcasts prove.
//!
//! RFC 9591 §5

use chacha20::ChaCha20Rng;
use core::mem;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul;
use rand_core::{CryptoRng, Rng, SeedableRng};
use tetralith_kernels::ct;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::ciphersuite::{
    LEN, decode, decode_scalar, encode, h1, h2, h3, h4, h5, identifier, lagrange, publish,
};
use super::keys::{FrostPublic, FrostShare};
use crate::engine::{Abort, Blame, Check, Error, Evidence, PartyId, SessionId};
use crate::machine::{Inbox, Kind, Letter, Letters, Machine, Rounds, Step, session};
use crate::oracle::Oracle;
use crate::wire::Reader;

/// One party's side of an Ed25519 signature.
pub struct FrostSign(Machine<SignRounds>);

session!(FrostSign, [u8; 64]);

impl FrostSign {
    /// Begins to sign `message`; the output is the signature as RFC 8032 encodes it.
    ///
    /// `session`: the same for all signers, and never used before. `signers`: at least t different
    /// parties in ascending order, this one among them. `rng`: 32 bytes are drawn from it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `signers` is not as described.
    pub fn new(
        session: SessionId,
        share: &FrostShare,
        signers: &[PartyId],
        message: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        check_signers(share, signers)?;
        let ids: Vec<u8> = signers.iter().map(|party| party.get()).collect();
        let context = Oracle::new("context/frost-sign")
            .absorb(&session.0)
            .absorb(&share.public().key_id())
            .absorb(&ids)
            .absorb(message)
            .finish();
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut seed[..]);
        // A repeated seed must not repeat a nonce for another message or other signers.
        let seed = Oracle::new("frost/seed").absorb(&seed[..]).absorb(&context).finish();
        let mut rng = ChaCha20Rng::from_seed(*Zeroizing::new(seed));
        let nonces = Nonces::new(share.secret(), &mut rng);
        let commitments = nonces.commit();
        let rounds = SignRounds {
            public: share.public().clone(),
            me: share.me(),
            signers: signers.to_vec(),
            message: message.to_vec(),
            state: State::Committed(nonces, Box::new(Zeroizing::new(*share.secret()))),
        };
        let letters = Letters { broadcast: commitments.to_vec(), direct: Vec::new() };
        Ok(Self(Machine::new(rounds, share.me(), signers.to_vec(), context, letters)))
    }
}

fn check_signers(share: &FrostShare, signers: &[PartyId]) -> Result<(), Error> {
    let threshold = share.public().threshold();
    let refuse = |reason| Err(Error::InvalidArgument(reason));
    if signers.len() < usize::from(threshold.t()) {
        return refuse("there are fewer signers than the threshold");
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

/// Hiding and binding nonce of one signature.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Nonces {
    hiding: Scalar,
    binding: Scalar,
}

impl Nonces {
    /// `nonce_generate` twice, RFC 9591 §4.1.
    fn new(secret: &Scalar, rng: &mut ChaCha20Rng) -> Box<Self> {
        let mut draw = || {
            let mut random = Zeroizing::new([0; 32]);
            rng.fill_bytes(&mut random[..]);
            h3(&[&random[..], secret.as_bytes()])
        };
        Box::new(Self { hiding: draw(), binding: draw() })
    }

    /// D ‖ E.
    fn commit(&self) -> [u8; 2 * LEN] {
        let mut bytes = [0; 2 * LEN];
        bytes[..LEN].copy_from_slice(&encode(&EdwardsPoint::mul_base(&self.hiding)));
        bytes[LEN..].copy_from_slice(&encode(&EdwardsPoint::mul_base(&self.binding)));
        bytes
    }
}

/// One signer's commitments.
struct Commitments {
    party: PartyId,
    hiding: EdwardsPoint,
    binding: EdwardsPoint,
}

/// What the list of all commitments determines.
struct Package {
    commitments: Vec<Commitments>,
    binding_factors: Vec<Scalar>,
    group_commitment: EdwardsPoint,
    challenge: Scalar,
}

impl Package {
    /// `compute_binding_factors`, `compute_group_commitment` and `compute_challenge`, RFC 9591
    /// §4.4 to §4.6.
    fn new(public: &FrostPublic, commitments: Vec<Commitments>, message: &[u8]) -> Self {
        let key = public.group_key();
        let mut list = Vec::with_capacity(commitments.len() * 3 * LEN);
        for one in &commitments {
            list.extend(identifier(one.party).to_bytes());
            list.extend(encode(&one.hiding));
            list.extend(encode(&one.binding));
        }
        let (message_hash, list_hash) = (h4(&[message]), h5(&[&list]));
        let factor = |one: &Commitments| {
            h1(&[&key, &message_hash, &list_hash, identifier(one.party).as_bytes()])
        };
        let binding_factors: Vec<Scalar> = commitments.iter().map(factor).collect();
        // Commitments and factors are public.
        let bound = EdwardsPoint::vartime_multiscalar_mul(
            &binding_factors,
            commitments.iter().map(|one| one.binding),
        );
        let hiding = commitments.iter().map(|one| one.hiding);
        let group_commitment = hiding.fold(bound, |sum, hiding| sum + hiding);
        let challenge = h2(&[&encode(&group_commitment), &key, message]);
        Self { commitments, binding_factors, group_commitment, challenge }
    }

    fn place(&self, party: PartyId) -> Option<usize> {
        self.commitments.iter().position(|one| one.party == party)
    }
}

struct SignRounds {
    public: FrostPublic,
    me: PartyId,
    signers: Vec<PartyId>,
    message: Vec<u8>,
    state: State,
}

enum State {
    Committed(Box<Nonces>, Box<Zeroizing<Scalar>>),
    Shared(Box<(Package, Scalar)>),
    Ended,
}

impl Rounds for SignRounds {
    type Output = [u8; 64];
    const ROUNDS: u8 = 2;

    fn protocol(&self) -> u8 {
        5
    }

    fn payload_len(&self, round: u8, kind: Kind) -> Option<usize> {
        match (round, kind) {
            (1, Kind::Broadcast) => Some(2 * LEN),
            (2, Kind::Broadcast) => Some(LEN),
            _ => None,
        }
    }

    fn advance(&mut self, round: u8, inbox: Inbox) -> Result<Step<[u8; 64]>, Abort> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Committed(nonces, secret) => self.share(&nonces, &secret, &inbox.letters),
            State::Shared(state) => self.aggregate(&state.0, state.1, &inbox.letters),
            State::Ended => Err(Abort::Internal { round }),
        }
    }
}

impl SignRounds {
    /// `sign`, RFC 9591 §5.2.
    fn share(
        &mut self,
        nonces: &Nonces,
        secret: &Scalar,
        letters: &[Letter],
    ) -> Result<Step<[u8; 64]>, Abort> {
        let mut commitments = vec![Commitments {
            party: self.me,
            hiding: publish(&nonces.hiding),
            binding: publish(&nonces.binding),
        }];
        for letter in letters {
            let mut reader = Reader::new(&letter.broadcast);
            let mut element = || {
                let bytes = reader.array()?;
                decode(&bytes).ok_or(Check::Encoding)
            };
            let (hiding, binding) =
                (element().map_err(proved(letter, 1))?, element().map_err(proved(letter, 1))?);
            commitments.push(Commitments { party: letter.from, hiding, binding });
        }
        commitments.sort_by_key(|one| one.party);
        let package = Package::new(&self.public, commitments, &self.message);
        let place = package.place(self.me).ok_or(Abort::Internal { round: 1 })?;
        let share = nonces.hiding
            + nonces.binding * package.binding_factors[place]
            + lagrange(self.me, &self.signers) * secret * package.challenge;
        // All are told it.
        let share = ct::public(share);
        let broadcast = share.to_bytes().to_vec();
        self.state = State::Shared(Box::new((package, share)));
        Ok(Step::Send(Letters { broadcast, direct: Vec::new() }))
    }

    /// `aggregate`, RFC 9591 §5.3, and the search for who is wrong, §5.4.
    fn aggregate(
        &self,
        package: &Package,
        own: Scalar,
        letters: &[Letter],
    ) -> Result<Step<[u8; 64]>, Abort> {
        let (mut sum, mut shares) = (own, Vec::with_capacity(letters.len()));
        for letter in letters {
            let bytes = Reader::new(&letter.broadcast).array().map_err(proved(letter, 2))?;
            let share = decode_scalar(bytes).ok_or(Check::Encoding).map_err(proved(letter, 2))?;
            sum += share;
            shares.push(share);
        }
        let public = self.public.group_point();
        let expected = package.group_commitment + public * package.challenge;
        if EdwardsPoint::mul_base(&sum) != expected {
            return Err(self.find_wrong_share(package, letters, &shares));
        }
        let mut signature = [0; 64];
        signature[..LEN].copy_from_slice(&encode(&package.group_commitment));
        signature[LEN..].copy_from_slice(sum.as_bytes());
        Ok(Step::Done(signature))
    }

    /// `verify_signature_share` of every peer.
    fn find_wrong_share(&self, package: &Package, letters: &[Letter], shares: &[Scalar]) -> Abort {
        for (letter, share) in letters.iter().zip(shares) {
            let Some(place) = package.place(letter.from) else { break };
            let commitments = &package.commitments[place];
            let nonce = commitments.hiding + commitments.binding * package.binding_factors[place];
            let factor = package.challenge * lagrange(letter.from, &self.signers);
            let expected = nonce + self.public.party_point(letter.from) * factor;
            if EdwardsPoint::mul_base(share) != expected {
                return proved(letter, 2)(Check::Signature);
            }
        }
        Abort::Internal { round: 2 }
    }
}

fn proved(letter: &Letter, round: u8) -> impl Fn(Check) -> Abort + use<> {
    let (party, evidence) = (letter.from, Evidence::Proof);
    move |check| Abort::Blamed(Blame { party, round, check, evidence })
}

#[cfg(test)]
pub(crate) mod tests;
