//! A real two-round protocol that is not ECDSA: commit to a random value, then reveal it to each.
//!
//! "Keygen" yields the hash of all values as public key and this party's value as share; "sign"
//! hashes the digest with the signers' fresh values, so that all signers get the same bytes.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use tetralith_node::engine::{Engine, KeygenSession, NewKey, SignSession};
use tetralith_tss::engine::{
    Abort, Blame, Check, Error, Evidence, MessageError, Outgoing, PartyId, Recipient, Session,
    SessionId, Threshold,
};
use zeroize::Zeroizing;

/// How a node's engine behaves; may change while the node runs.
#[derive(Debug, Default)]
pub(crate) struct Coin {
    behaviour: AtomicU8,
}

/// Follows the protocol.
pub(crate) const HONEST: u8 = 0;
/// Says nothing from the first round on.
pub(crate) const SILENT: u8 = 1;
/// Reveals what it did not commit to.
pub(crate) const LIAR: u8 = 2;
/// Sends bytes that mean nothing.
pub(crate) const BABBLER: u8 = 3;

/// Says that another failed a check.
pub(crate) const ACCUSER: u8 = 4;

impl Coin {
    pub(crate) fn behave(&self, behaviour: u8) {
        self.behaviour.store(behaviour, Ordering::Relaxed);
    }

    fn begin<F>(
        &self,
        me: PartyId,
        all: Vec<PartyId>,
        id: SessionId,
        seed: &[u8; 32],
        end: F,
    ) -> Flip<F> {
        let mut rng = ChaCha20Rng::from_seed(*seed);
        let mut value = [0; 32];
        rng.fill_bytes(&mut value);
        let behaviour = self.behaviour.load(Ordering::Relaxed);
        let mut flip = Flip {
            me,
            id,
            value,
            behaviour,
            end: Some(end),
            round: 1,
            commitments: BTreeMap::new(),
            reveals: BTreeMap::from([(me, value)]),
            outgoing: Vec::new(),
            abort: None,
            others: all.into_iter().filter(|party| *party != me).collect(),
        };
        let commitment = flip.commitment(me, &value);
        flip.say(Recipient::All, commitment.to_vec());
        flip
    }
}

impl Engine for Coin {
    fn scheme(&self) -> &'static str {
        "coin"
    }

    fn keygen(
        &self,
        session: SessionId,
        me: PartyId,
        threshold: Threshold,
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<KeygenSession, Error> {
        let all = threshold.parties().collect();
        let end = move |values: &BTreeMap<PartyId, [u8; 32]>| {
            let share = Zeroizing::new([&[me.get()][..], &values[&me]].concat());
            NewKey { public_key: hash(values.values()).to_vec(), share }
        };
        Ok(Box::new(self.begin(me, all, session, seed, end)))
    }

    fn sign(
        &self,
        session: SessionId,
        share: &[u8],
        signers: &[PartyId],
        digest: &[u8; 32],
        seed: &Zeroizing<[u8; 32]>,
    ) -> Result<SignSession, Error> {
        let me = PartyId::new(share[0])?;
        if share.len() != 33 || !signers.contains(&me) {
            return Err(Error::InvalidArgument("not a signer"));
        }
        let digest = *digest;
        let end = move |values: &BTreeMap<PartyId, [u8; 32]>| {
            hash(std::iter::once(&digest).chain(values.values())).to_vec()
        };
        Ok(Box::new(self.begin(me, signers.to_vec(), session, seed, end)))
    }
}

fn hash<'a>(values: impl Iterator<Item = &'a [u8; 32]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    values.for_each(|value| hash.update(value));
    hash.finalize().into()
}

struct Flip<F> {
    me: PartyId,
    id: SessionId,
    value: [u8; 32],
    behaviour: u8,
    end: Option<F>,
    round: u8,
    commitments: BTreeMap<PartyId, [u8; 32]>,
    reveals: BTreeMap<PartyId, [u8; 32]>,
    outgoing: Vec<Outgoing>,
    abort: Option<Abort>,
    others: Vec<PartyId>,
}

impl<F> Flip<F> {
    fn commitment(&self, party: PartyId, value: &[u8; 32]) -> [u8; 32] {
        Sha256::digest([&self.id.0[..], &[party.get()], value].concat()).into()
    }

    fn say(&mut self, to: Recipient, bytes: Vec<u8>) {
        let bytes = match self.behaviour {
            SILENT => return,
            BABBLER => vec![9],
            _ => [&[self.round][..], &bytes].concat(),
        };
        self.outgoing.push(Outgoing { to, round: self.round, bytes: bytes.into() });
    }

    fn advance(&mut self) {
        if self.round == 1 && self.commitments.len() == self.others.len() {
            self.round = 2;
            let mut value = self.value;
            value[0] ^= u8::from(self.behaviour == LIAR);
            for party in self.others.clone() {
                self.say(Recipient::One(party), value.to_vec());
            }
        }
        if self.round == 2 {
            let lie = self.reveals.iter().find(|(party, value)| {
                **party != self.me
                    && self.commitments.get(party) != Some(&self.commitment(**party, value))
            });
            let blame = |party| Blame {
                party,
                round: 2,
                check: Check::Commitment,
                evidence: Evidence::Accusation,
            };
            self.abort = lie.map(|(party, _)| Abort::Blamed(blame(*party)));
            if self.behaviour == ACCUSER {
                self.abort = self.others.last().map(|party| Abort::Blamed(blame(*party)));
            }
        }
    }

    fn finished(&self) -> bool {
        self.abort.is_some() || (self.round == 2 && self.reveals.len() == self.others.len() + 1)
    }
}

impl<T, F: FnOnce(&BTreeMap<PartyId, [u8; 32]>) -> T + Send> Session for Flip<F> {
    type Output = T;

    fn outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        let refuse = |error| Err(Error::Message(error));
        let (Some(round), Ok(value)) = (bytes.first(), bytes[1..].try_into()) else {
            return refuse(MessageError::Length { expected: 33, got: bytes.len() });
        };
        let kept = match round {
            1 => &mut self.commitments,
            2 => &mut self.reveals,
            other => return refuse(MessageError::Round(*other)),
        };
        match kept.insert(from, value) {
            Some(before) if before != value => return refuse(MessageError::Conflict),
            Some(_) => return refuse(MessageError::Duplicate),
            None => self.advance(),
        }
        Ok(())
    }

    fn round(&self) -> u8 {
        self.round
    }

    fn waiting_for(&self) -> Vec<PartyId> {
        let have = |party: &&PartyId| match self.round {
            1 => !self.commitments.contains_key(party),
            _ => !self.reveals.contains_key(party),
        };
        self.others.iter().filter(have).copied().collect()
    }

    fn take_output(&mut self) -> Option<Result<T, Abort>> {
        if !self.finished() {
            return None;
        }
        let end = self.end.take()?;
        Some(self.abort.take().map_or_else(|| Ok(end(&self.reveals)), Err))
    }
}
