//! Distributed key generation, with the pairwise setup for signing, in four rounds.
//!
//! DKLs23 §6: every party deals a secret by Feldman's scheme and commits to its polynomial before
//! it sees another's, so that nobody can steer the key; proofs of knowledge of the constant terms
//! show that nobody's part cancels another's. The base transfers and the pairs' seeds ride along.
//!
//! | round | to all | to each peer |
//! |---|---|---|
//! | 1 | commitment to the polynomial in the exponent | transfer request; commitment to a seed |
//! | 2 | its opening, with a proof of knowledge | secret share; transfer reply; the seed |
//! | 3 | nothing but the echo | transfer answer |
//! | 4 | the key's name | |
//!
//! The fourth round lets nobody finish before all others have found everything in order.
//!
//! Secret: the polynomial, the shares, the choices and pads of the transfers, the pairs' seeds.

use chacha20::ChaCha20Rng;
use core::mem;
use k256::{ProjectivePoint, Scalar};
use rand_core::{CryptoRng, SeedableRng};
use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::base_ot::{self, Chosen, Offered};
use super::commit::{COMMITMENT, blind, commit, open};
use super::dkg::{Commitments, Polynomial};
use super::pair::{self, Pair};
use super::proof::Proof;
use crate::engine::{Abort, Blame, Check, Error, Evidence, PartyId, SessionId, Threshold};
use crate::keys::{KeyShare, PublicKeyPackage};
use crate::machine::{Inbox, Kind, Letter, Letters, Machine, Rounds, Step, session};
use crate::oracle::Oracle;
use crate::wire::{POINT, Reader, SCALAR, Writer, holds};

const SEED: usize = 32;
const NAME: usize = 32;

/// One party's side of a key generation.
pub struct Keygen(pub(crate) Machine<KeygenRounds>);

session!(Keygen, KeyShare);

impl Keygen {
    /// Begins a key generation among all parties of `threshold`.
    ///
    /// `session`: the same for all parties, and never used before. `rng`: 32 bytes are drawn from
    /// it; everything that follows depends on these and on the messages received alone.
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
        let rng = ChaCha20Rng::from_seed(*seed);
        let context = Oracle::new("context/keygen")
            .absorb(&session.0)
            .absorb(&[threshold.t(), threshold.n()])
            .finish();
        let (rounds, letters) = KeygenRounds::start(context, me, threshold, Given::Nothing, rng);
        let parties = threshold.parties().collect();
        Ok(Self(Machine::new(rounds, me, parties, context, letters)))
    }
}

/// The sharing that a refresh replaces.
#[derive(ZeroizeOnDrop)]
pub(super) struct Previous {
    pub(super) secret: Scalar,
    #[zeroize(skip)]
    pub(super) commitments: Commitments,
}

/// The constant terms that the parties of a resharing deal.
#[derive(ZeroizeOnDrop)]
pub(super) struct Constants {
    /// This party's; zero if it is no dealer.
    pub(super) own: Scalar,
    /// Each party's as a point, in the order of the numbers; the identity where it is no dealer's.
    #[zeroize(skip)]
    pub(super) points: Vec<ProjectivePoint>,
}

impl Constants {
    fn point(&self, party: PartyId) -> ProjectivePoint {
        let index = usize::from(party.get()) - 1;
        self.points.get(index).copied().unwrap_or(ProjectivePoint::IDENTITY)
    }
}

/// What a run starts from.
pub(super) enum Given {
    /// Nothing: the key is new.
    Nothing,
    /// A sharing that all parties have a share of: all deal zero, and the sums are added to what
    /// there was, another polynomial with the same constant term.
    Sharing(Box<Previous>),
    /// Constant terms whose sum is the key, and whose points everybody knows.
    Constants(Box<Constants>),
}

impl Given {
    /// Says whether everybody knows the points of the constant terms, so that nobody opens one.
    fn is_known(&self) -> bool {
        !matches!(self, Self::Nothing)
    }
}

/// The state that all rounds share, and the one of the current round.
///
/// Parties with numbers above n get no share: they deal a part of the old one, and leave.
pub(crate) struct KeygenRounds {
    context: [u8; 32],
    me: PartyId,
    threshold: Threshold,
    given: Given,
    rng: ChaCha20Rng,
    state: State,
}

enum State {
    Committed(Box<Committed>),
    Opened(Box<Opened>),
    Answered(Box<Answered>),
    Confirmed(KeyShare),
    Ended,
}

/// After round 1 was sent.
struct Committed {
    polynomial: Polynomial,
    opening: Vec<u8>,
    /// For each peer.
    receivers: Vec<base_ot::Receiver>,
    seeds: Vec<Zeroizing<[u8; SEED]>>,
}

/// After round 2 was sent.
struct Opened {
    polynomial: Polynomial,
    receivers: Vec<base_ot::Receiver>,
    seeds: Vec<Zeroizing<[u8; SEED]>>,
    senders: Vec<base_ot::Sender>,
    /// The peers' commitments of round 1: to its polynomial and to the pair's seed.
    committed: Vec<([u8; COMMITMENT], [u8; COMMITMENT])>,
}

/// After round 3 was sent.
struct Answered {
    public: PublicKeyPackage,
    secret: Box<Zeroizing<Scalar>>,
    /// The setup with each peer, without the transfers that were offered to it.
    pairs: Vec<Pair>,
    /// The offered transfers, which are only good once the peer's answer has been checked.
    senders: Vec<base_ot::Sender>,
}

/// What one peer revealed in round 2.
struct Revealed {
    commitments: Commitments,
    share: Zeroizing<Scalar>,
    seed: Zeroizing<[u8; SEED]>,
    chosen: Chosen,
    answer: [u8; base_ot::ANSWER],
}

impl Rounds for KeygenRounds {
    type Output = KeyShare;
    const ROUNDS: u8 = 4;

    fn protocol(&self) -> u8 {
        match self.given {
            Given::Nothing => 1,
            Given::Sharing(_) => 3,
            Given::Constants(_) => 6,
        }
    }

    fn payload_len(&self, round: u8, kind: Kind) -> Option<usize> {
        match (round, kind) {
            (1, Kind::Broadcast) => Some(COMMITMENT),
            (1, Kind::Direct) => Some(base_ot::REQUEST + COMMITMENT),
            (2, Kind::Broadcast) => Some(self.opening_len() + COMMITMENT),
            (2, Kind::Direct) => Some(SCALAR + SEED + base_ot::REPLY),
            (3, Kind::Broadcast) => Some(0),
            (3, Kind::Direct) => Some(base_ot::ANSWER),
            (4, Kind::Broadcast) => Some(NAME),
            _ => None,
        }
    }

    fn advance(&mut self, round: u8, inbox: Inbox) -> Result<Step<KeyShare>, Abort> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Committed(state) => self.open(*state, &inbox.letters),
            State::Opened(state) => self.combine(*state, &inbox.letters),
            State::Answered(state) => self.confirm(*state, &inbox.letters),
            State::Confirmed(share) => finish(share, &inbox.letters),
            State::Ended => Err(Abort::Internal { round }),
        }
    }
}

impl KeygenRounds {
    /// Bytes of an opened polynomial, with its proof where there is one.
    fn opening_len(&self) -> usize {
        let points = usize::from(self.threshold.t()) * POINT;
        if self.given.is_known() { points - POINT } else { points + Proof::LEN }
    }

    /// Round 1: deals, commits, and asks for the transfers.
    pub(super) fn start(
        context: [u8; 32],
        me: PartyId,
        threshold: Threshold,
        given: Given,
        mut rng: ChaCha20Rng,
    ) -> (Self, Letters) {
        let constant = match &given {
            Given::Nothing => None,
            Given::Sharing(_) => Some(Zeroizing::new(Scalar::ZERO)),
            Given::Constants(constants) => Some(Zeroizing::new(constants.own)),
        };
        let (polynomial, mut opening) = match constant {
            None => deal_secret(&context, me, threshold, &mut rng),
            Some(constant) => {
                let polynomial = Polynomial::random_from(&constant, threshold.t(), &mut rng);
                // The constant term's point is known, and goes without saying.
                let opening = polynomial.commit().tail_to_bytes(1);
                (polynomial, opening)
            }
        };
        let parties = match &given {
            Given::Constants(constants) => constants.points.len(),
            _ => usize::from(threshold.n()),
        };
        let opener = blind(&mut rng);
        let broadcast = commit(&label(&context, "polynomial", me, None), &opening, &opener);
        opening.extend(opener);

        let peers = parties - 1;
        let (mut receivers, mut seeds) = (Vec::with_capacity(peers), Vec::with_capacity(peers));
        let mut direct = Vec::with_capacity(peers);
        let numbers = (1..=u8::MAX).take(parties).filter_map(|number| PartyId::new(number).ok());
        for peer in numbers.filter(|&party| party != me) {
            let (receiver, request) =
                base_ot::Receiver::new(&pair::label(&context, me, peer), &mut rng);
            // A seed of 32 random bytes hides itself: the commitment needs no further blinding.
            let seed = Zeroizing::new(blind(&mut rng));
            let commitment = commit(&label(&context, "seed", me, Some(peer)), &[], &seed);
            let mut letter = Writer::with_capacity(base_ot::REQUEST + COMMITMENT);
            letter.bytes(&request).bytes(&commitment);
            receivers.push(receiver);
            seeds.push(seed);
            direct.push(letter.finish());
        }
        let state = State::Committed(Box::new(Committed { polynomial, opening, receivers, seeds }));
        let rounds = Self { context, me, threshold, given, rng, state };
        (rounds, Letters { broadcast: broadcast.to_vec(), direct })
    }

    /// Round 2: opens the commitments, deals the shares, and answers the transfer requests.
    fn open(&mut self, state: Committed, letters: &[Letter]) -> Result<Step<KeyShare>, Abort> {
        let peers = letters.len();
        let (mut senders, mut direct) = (Vec::with_capacity(peers), Vec::with_capacity(peers));
        let mut committed = Vec::with_capacity(peers);
        for (letter, seed) in letters.iter().zip(&state.seeds) {
            let read = |bytes| Reader::new(bytes).array::<COMMITMENT>();
            let polynomial = read(&letter.broadcast).map_err(fault(letter, 1))?;
            let (request, commitment) = letter.direct.split_at(base_ot::REQUEST);
            let commitment = read(commitment).map_err(fault(letter, 1))?;
            let pair_label = pair::label(&self.context, letter.from, self.me);
            let (sender, reply) = base_ot::Sender::reply(&pair_label, request, &mut self.rng)
                .map_err(fault(letter, 1))?;
            // Whoever leaves gets no share.
            let share = Zeroizing::new(match self.threshold.contains(letter.from) {
                true => state.polynomial.evaluate(letter.from),
                false => Scalar::ZERO,
            });
            let mut answer = Writer::with_capacity(SCALAR + SEED + base_ot::REPLY);
            answer.scalar(&share).bytes(&seed[..]).bytes(&reply);
            senders.push(sender);
            committed.push((polynomial, commitment));
            direct.push(answer.finish());
        }
        let Committed { polynomial, opening, receivers, seeds } = state;
        let state = Opened { polynomial, receivers, seeds, senders, committed };
        self.state = State::Opened(Box::new(state));
        Ok(Step::Send(Letters { broadcast: opening, direct }))
    }

    /// Round 3: checks what was dealt, adds it up, and answers the transfers' challenges.
    fn combine(&mut self, state: Opened, letters: &[Letter]) -> Result<Step<KeyShare>, Abort> {
        let Opened { polynomial, receivers, seeds, senders, committed } = state;
        let mut revealed = Vec::with_capacity(letters.len());
        for ((letter, committed), receiver) in letters.iter().zip(&committed).zip(&receivers) {
            revealed.push(self.reveal(letter, committed, receiver)?);
        }
        let stays = self.threshold.contains(self.me);
        let own = if stays { polynomial.evaluate(self.me) } else { Scalar::ZERO };
        let mut secret = Box::new(Zeroizing::new(own));
        let mut commitments = polynomial.commit();
        if let Given::Sharing(previous) = &self.given {
            **secret += previous.secret;
            commitments.add(&previous.commitments);
        }
        for peer in &revealed {
            commitments.add(&peer.commitments);
            **secret += *peer.share;
        }
        // One check for all shares; who dealt a wrong one is only asked if it fails.
        let point = ProjectivePoint::mul_by_generator(&secret);
        if stays && !holds(point.ct_eq(&commitments.evaluate_vartime(self.me))) {
            return Err(self.find_wrong_share(letters, &revealed));
        }
        let public = PublicKeyPackage::new(self.threshold, self.context, commitments);
        let suspects = || letters.iter().map(|letter| letter.from).collect();
        let public = public.ok_or_else(|| Abort::Unattributed {
            round: 2,
            check: Check::GroupKey,
            suspects: suspects(),
        })?;

        let mut pairs = Vec::with_capacity(letters.len());
        let mut direct = Vec::with_capacity(letters.len());
        for ((letter, theirs), mine) in letters.iter().zip(&mut revealed).zip(&seeds) {
            let peer = letter.from;
            let seed = pair::seed(&self.context, (self.me, mine), (peer, &theirs.seed));
            direct.push(Zeroizing::new(theirs.answer.to_vec()));
            let as_alice = mem::take(&mut theirs.chosen);
            pairs.push(Pair { peer, seed, as_alice, as_bob: Offered::default() });
        }
        self.state = State::Answered(Box::new(Answered { public, secret, pairs, senders }));
        Ok(Step::Send(Letters { broadcast: Vec::new(), direct }))
    }

    /// Reads and checks one peer's messages of round 2, all but the share.
    fn reveal(
        &self,
        letter: &Letter,
        committed: &([u8; COMMITMENT], [u8; COMMITMENT]),
        receiver: &base_ot::Receiver,
    ) -> Result<Revealed, Abort> {
        let from = letter.from;
        let proved = |check| blame(from, 2, check, Evidence::Proof);
        let (t, known) = (self.threshold.t(), self.given.is_known());
        let dealt = read_opening(&self.context, from, t, known, &committed.0, &letter.broadcast);
        let mut commitments = dealt.map_err(proved)?;
        if let Given::Constants(constants) = &self.given {
            commitments.0[0] = constants.point(from);
        }

        let mut reader = Reader::new(&letter.direct);
        let share = Zeroizing::new(reader.scalar().map_err(fault(letter, 2))?);
        let seed = Zeroizing::new(reader.array().map_err(fault(letter, 2))?);
        let seed_label = label(&self.context, "seed", from, Some(self.me));
        open(&committed.1, &seed_label, &[], &seed).map_err(fault(letter, 2))?;
        let reply = reader.slice(base_ot::REPLY).map_err(fault(letter, 2))?;
        let (chosen, answer) = receiver.answer(reply).map_err(fault(letter, 2))?;
        Ok(Revealed { commitments, share, seed, chosen, answer })
    }

    /// Finds the dealer whose share is not on its polynomial.
    fn find_wrong_share(&self, letters: &[Letter], revealed: &[Revealed]) -> Abort {
        let wrong = letters.iter().zip(revealed).find(|(_, peer)| {
            let point = ProjectivePoint::mul_by_generator(&peer.share);
            !holds(point.ct_eq(&peer.commitments.evaluate_vartime(self.me)))
        });
        match wrong {
            Some((letter, _)) => fault(letter, 2)(Check::VerifiableShare),
            None => Abort::Internal { round: 2 },
        }
    }

    /// Round 4: checks the transfers' answers, and says that all is well.
    fn confirm(&mut self, state: Answered, letters: &[Letter]) -> Result<Step<KeyShare>, Abort> {
        let Answered { public, secret, mut pairs, mut senders } = state;
        for ((letter, pair), sender) in letters.iter().zip(&mut pairs).zip(&mut senders) {
            pair.as_bob = sender.finish(&letter.direct).map_err(fault(letter, 3))?;
        }
        pairs.retain(|pair| self.threshold.contains(pair.peer));
        let broadcast = public.key_id().to_vec();
        self.state = State::Confirmed(KeyShare::new(public, self.me, secret, pairs));
        Ok(Step::Send(Letters { broadcast, direct: Vec::new() }))
    }
}

/// Deals a random secret; returns the polynomial, and what opens it: its points, and the proof of
/// knowledge of its constant term.
fn deal_secret(
    context: &[u8; 32],
    me: PartyId,
    threshold: Threshold,
    rng: &mut ChaCha20Rng,
) -> (Polynomial, Vec<u8>) {
    let polynomial = Polynomial::random(threshold.t(), rng);
    let commitments = polynomial.commit();
    let label = label(context, "knowledge", me, None);
    let proof = Proof::new(&label, polynomial.constant(), &commitments.0[0], rng);
    let mut opening = Writer::with_capacity(commitments.0.len() * POINT + Proof::LEN);
    opening.bytes(&commitments.to_bytes()).point(&proof.commitment).scalar(&proof.response);
    (polynomial, opening.finish().to_vec())
}

/// The end: all parties have the same key.
fn finish(share: KeyShare, letters: &[Letter]) -> Result<Step<KeyShare>, Abort> {
    for letter in letters {
        if letter.broadcast != share.public().key_id() {
            return Err(fault(letter, 4)(Check::Confirmation));
        }
    }
    Ok(Step::Done(share))
}

/// Opens a dealer's commitment, reads its polynomial in the exponent, and checks the proof of its
/// constant term. If the constant term is `known` it is not in the opening, nor is a proof; the identity
/// stands for it in the result.
pub(super) fn read_opening(
    context: &[u8; 32],
    from: PartyId,
    t: u8,
    known: bool,
    commitment: &[u8; COMMITMENT],
    broadcast: &[u8],
) -> Result<Commitments, Check> {
    let length = broadcast.len().checked_sub(COMMITMENT).ok_or(Check::Encoding)?;
    let (opening, opener) = broadcast.split_at(length);
    let opener = Reader::new(opener).array()?;
    open(commitment, &label(context, "polynomial", from, None), opening, &opener)?;
    let mut reader = Reader::new(opening);
    let mut points = Vec::with_capacity(usize::from(t));
    if known {
        points.push(ProjectivePoint::IDENTITY);
    }
    while points.len() < usize::from(t) {
        points.push(reader.point()?);
    }
    if !known {
        let proof = Proof { commitment: reader.point()?, response: reader.scalar()? };
        proof.verify(&label(context, "knowledge", from, None), &points[0])?;
    }
    reader.finish()?;
    Ok(Commitments(points))
}

/// Names a value that `from` commits to or proves, for `to` or for all.
pub(super) fn label(
    context: &[u8; 32],
    purpose: &str,
    from: PartyId,
    to: Option<PartyId>,
) -> [u8; 32] {
    Oracle::new("keygen/label")
        .absorb(context)
        .absorb(purpose.as_bytes())
        .absorb(&[from.get(), to.map_or(0, PartyId::get)])
        .finish()
}

fn blame(party: PartyId, round: u8, check: Check, evidence: Evidence) -> Abort {
    Abort::Blamed(Blame { party, round, check, evidence })
}

/// Accuses the letter's sender.
fn fault(letter: &Letter, round: u8) -> impl Fn(Check) -> Abort + use<> {
    let from = letter.from;
    move |check| blame(from, round, check, Evidence::Accusation)
}

#[cfg(test)]
pub(crate) mod tests;
