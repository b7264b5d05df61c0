//! Threshold ECDSA by a party that lies: the real engine, with its messages changed on the way.

use std::sync::atomic::{AtomicU8, Ordering};
use tetralith_node::Ecdsa;
use tetralith_node::engine::{Engine, KeygenSession, ReshareSession, Resharing, SignSession};
use tetralith_tss::engine::{
    Abort, Blame, Check, Error, Evidence, Outgoing, PartyId, Recipient, Session, SessionId,
    Threshold,
};
use zeroize::Zeroizing;

/// An engine whose lie may change while the node runs; 0 is the truth.
#[derive(Debug, Default)]
pub(crate) struct Liar {
    lie: AtomicU8,
}

/// A wrong w in round 3.
pub(crate) const NUMERATOR: u8 = 1;
/// A wrong u in round 3.
pub(crate) const DENOMINATOR: u8 = 2;
/// A wrong ψ in round 2.
pub(crate) const MASK: u8 = 3;
/// A key share that does not add up to the key, used throughout.
pub(crate) const KEY_SHARE: u8 = 4;
/// An attempt at the peers' transfer setup in round 1.
pub(crate) const TRANSFER: u8 = 5;
/// The word that another failed a multiplication.
pub(crate) const ACCUSATION: u8 = 6;
/// An opening of the nonce that does not match its commitment: anybody can see it.
pub(crate) const OPENING: u8 = 7;
/// Two versions of the broadcast of round 1.
pub(crate) const TWO_VERSIONS: u8 = 8;

/// Bytes of an engine message's header; the round stands at byte 6, the recipient at byte 8.
const HEADER: usize = 41;

impl Liar {
    pub(crate) fn tell(&self, lie: u8) {
        self.lie.store(lie, Ordering::Relaxed);
    }
}

impl Engine for Liar {
    fn scheme(&self) -> &'static str {
        Ecdsa.scheme()
    }

    fn keygen(
        &self,
        session: SessionId,
        me: PartyId,
        threshold: Threshold,
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<KeygenSession, Error> {
        Ecdsa.keygen(session, me, threshold, seed)
    }

    fn sign(
        &self,
        session: SessionId,
        share: &[u8],
        signers: &[PartyId],
        digest: &[u8; 32],
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<SignSession, Error> {
        let session = Ecdsa.sign(session, share, signers, digest, seed)?;
        let lie = self.lie.load(Ordering::Relaxed);
        let others = signers.len() - 1;
        Ok(Box::new(Lying { session, lie, others, victim: None, held: None, echo: None }))
    }

    fn reshare(
        &self,
        session: SessionId,
        me: PartyId,
        resharing: Resharing<'_>,
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<ReshareSession, Error> {
        Ecdsa.reshare(session, me, resharing, seed)
    }

    fn public(&self, share: &[u8]) -> Result<Vec<u8>, Error> {
        Ecdsa.public(share)
    }

    fn sharing(&self, public: &[u8]) -> Result<(Vec<u8>, Threshold), Error> {
        Ecdsa.sharing(public)
    }

    fn refute(&self, broadcasts: &[&[u8]]) -> Option<Check> {
        Ecdsa.refute(broadcasts)
    }
}

struct Lying {
    session: SignSession,
    lie: u8,
    others: usize,
    /// Whose commitment this party pretends to have received otherwise.
    victim: Option<PartyId>,
    /// This party's broadcast of round 2 until the others' echo is known.
    held: Option<Outgoing>,
    echo: Option<Vec<u8>>,
}

impl Lying {
    /// The same message with the lie in it.
    fn bend(&self, bytes: &mut [u8]) {
        let (round, direct, end) = (bytes[6], bytes[8] != 0, bytes.len());
        match (self.lie, round, direct) {
            (NUMERATOR, 3, false) => bytes[end - 33] ^= 1,
            (DENOMINATOR, 3, false) | (MASK, 2, true) => bytes[end - 1] ^= 1,
            (TRANSFER, 1, true) => bytes[HEADER + 40] ^= 1,
            // The opening lies before the last point.
            (OPENING, 2, false) => bytes[end - 34] ^= 1,
            _ => {}
        }
    }
}

impl Session for Lying {
    type Output = Vec<u8>;

    fn outgoing(&mut self) -> Vec<Outgoing> {
        let mut outgoing = self.session.outgoing();
        outgoing.iter_mut().for_each(|message| self.bend(&mut message.bytes));
        if self.lie == TWO_VERSIONS {
            let first = |m: &&Outgoing| m.bytes[6] == 1 && m.to == Recipient::All;
            let mut other = outgoing.iter().find(first).cloned();
            other.iter_mut().for_each(|message| message.bytes[HEADER] ^= 1);
            outgoing.extend(other);
        }
        if self.lie == KEY_SHARE {
            let second = |m: &Outgoing| m.bytes[6] == 2 && m.to == Recipient::All;
            if let Some(at) = outgoing.iter().position(second) {
                self.held = Some(outgoing.remove(at));
            }
            if let Some(echo) = &self.echo
                && let Some(mut held) = self.held.take()
            {
                held.bytes[HEADER..HEADER + echo.len()].copy_from_slice(echo);
                outgoing.push(held);
            }
        }
        outgoing
    }

    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        let mut bytes = bytes.to_vec();
        if self.lie == KEY_SHARE && bytes.len() > HEADER && bytes[8] == 0 {
            // Another commitment gives another share of zero; the echo that would betray it is copied
            // from an honest party.
            if bytes[6] == 1 && *self.victim.get_or_insert(from) == from {
                bytes[HEADER] ^= 1;
            }
            if bytes[6] == 2 && self.echo.is_none() {
                let len = 32 * (self.others + 1);
                self.echo = Some(bytes[HEADER..HEADER + len].to_vec());
            }
        }
        self.session.receive(from, &bytes)
    }

    fn round(&self) -> u8 {
        self.session.round()
    }

    fn waiting_for(&self) -> Vec<PartyId> {
        self.session.waiting_for()
    }

    fn take_output(&mut self) -> Option<Result<Vec<u8>, Abort>> {
        if self.lie == ACCUSATION && self.session.round() == 2 {
            let party = self.session.waiting_for().last().copied()?;
            let (check, evidence) = (Check::Multiplication, Evidence::Accusation);
            return Some(Err(Abort::Blamed(Blame { party, round: 1, check, evidence })));
        }
        let output = self.session.take_output()?;
        // A liar that finds its own lie keeps silent.
        (output.is_ok() || self.lie != KEY_SHARE).then_some(output)
    }
}
