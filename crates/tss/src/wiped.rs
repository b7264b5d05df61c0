//! Freed memory holds no secret of a run: not of key generation, of refresh, or of signing.
//!
//! Three parties run in one thread, whose freed memory is kept (`tetralith_kernels::freed`). What a
//! session knows is noted at its start and after each message that it took; when all is done and
//! dropped, the freed memory is searched for all of it.

use tetralith_kernels::freed::{Freed, Keeping};

use crate::dkls23::{keygen, sign};
use crate::engine::{Outgoing, PartyId, Recipient, Session, SessionId, Threshold};
use crate::frost;
use crate::keys::KeyShare;
use crate::refresh::Refresh;
use crate::reshare::{Dealer, Reshare, Reshared};
use crate::sim::rng;

#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

/// A secret with its name.
pub(crate) type Secret = (String, Vec<u8>);

/// One secret, if it is there yet.
pub(crate) fn secret(name: &str, bytes: impl AsRef<[u8]>) -> Secret {
    (name.to_owned(), bytes.as_ref().to_vec())
}

fn party(id: u8) -> PartyId {
    PartyId::new(id).unwrap()
}

/// The memory of a test and the secrets that it has met.
#[derive(Default)]
struct Watch {
    freed: Freed,
    secrets: Vec<Secret>,
}

impl Watch {
    /// Runs sessions to their end; `known` lists what one knows.
    fn run<S: Session>(
        &mut self,
        start: impl Fn(PartyId) -> S,
        parties: &[PartyId],
        known: impl Fn(&S) -> Vec<Secret>,
    ) -> Vec<S::Output> {
        let mut sessions = self.freed.watch(|| {
            // It grows, as an owner's collection may: what moves with a session is seen as well.
            let mut sessions = Vec::new();
            parties.iter().for_each(|&me| sessions.push((me, start(me))));
            sessions
        });
        for (_, session) in &sessions {
            self.secrets.extend(known(session));
        }
        loop {
            let letters = self.freed.watch(|| {
                let mut letters: Vec<(PartyId, Outgoing)> = Vec::new();
                for (me, session) in &mut sessions {
                    letters.extend(session.outgoing().into_iter().map(|letter| (*me, letter)));
                }
                letters
            });
            if letters.is_empty() {
                break;
            }
            for (from, letter) in &letters {
                for (me, session) in &mut sessions {
                    if *me == *from || matches!(letter.to, Recipient::One(to) if to != *me) {
                        continue;
                    }
                    self.freed.watch(|| session.receive(*from, &letter.bytes)).unwrap();
                    self.secrets.extend(known(session));
                }
            }
            self.freed.watch(|| drop(letters));
        }
        self.freed.watch(|| {
            let outputs = sessions.iter_mut().map(|(_, session)| session.take_output());
            let outputs = outputs.map(|output| output.unwrap().unwrap()).collect();
            drop(sessions);
            outputs
        })
    }

    /// Drops what is left, and searches.
    fn end<T>(mut self, left: T) {
        self.freed.watch(|| drop(left));
        let mut kinds: Vec<&str> = self.secrets.iter().map(|(name, _)| name.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert!(kinds.len() > 3, "{kinds:?}");
        assert_eq!(self.freed.found(&self.secrets), Vec::<String>::new());
    }
}

fn shares(watch: &mut Watch) -> Vec<KeyShare> {
    let threshold = Threshold::new(2, 3).unwrap();
    let parties: Vec<PartyId> = threshold.parties().collect();
    let start = |me: PartyId| {
        let mut rng = rng(me.get().into());
        keygen::Keygen::new(SessionId([1; 32]), me, threshold, &mut rng).unwrap()
    };
    let shares = watch.run(start, &parties, |session| keygen::tests::secrets(&session.0));
    shares.iter().for_each(|share| watch.secrets.extend(share.secrets()));
    shares
}

#[test]
fn what_is_left_is_found() {
    let mut watch = Watch::default();
    let kept = secret("kept", b"sixteen bytes of");
    watch.freed.watch(|| drop(kept.1.clone()));
    assert_eq!(watch.freed.found(&[kept]), ["kept"]);
    let reversed: Vec<u8> = b"sixteen bytes of".iter().rev().copied().collect();
    assert_eq!(watch.freed.found(&[secret("reversed", reversed)]), ["reversed"]);
    assert!(watch.freed.found(&[secret("other", b"another sixteen!")]).is_empty());
}

#[test]
fn nothing_is_left_of_a_key_generation() {
    let mut watch = Watch::default();
    let shares = shares(&mut watch);
    watch.end(shares);
}

#[test]
fn nothing_is_left_of_an_encoded_share() {
    let mut watch = Watch::default();
    let shares = shares(&mut watch);
    let decoded = watch.freed.watch(|| KeyShare::from_bytes(&shares[0].to_bytes()).unwrap());
    watch.end((shares, decoded));
}

#[test]
fn nothing_is_left_of_a_refresh() {
    let mut watch = Watch::default();
    let shares = shares(&mut watch);
    let parties = [1, 2, 3].map(party);
    let start = |me: PartyId| {
        let share = &shares[usize::from(me.get()) - 1];
        Refresh::new(SessionId([2; 32]), share, &mut rng(10 + u64::from(me.get())))
    };
    let refreshed = watch.run(start, &parties, |session| keygen::tests::secrets(&session.0));
    refreshed.iter().for_each(|share| watch.secrets.extend(share.secrets()));
    watch.end((shares, refreshed));
}

#[test]
fn nothing_is_left_of_a_resharing() {
    let mut watch = Watch::default();
    let shares = shares(&mut watch);
    // Parties 1 and 3 deal; 1 leaves, 2 has lost its share.
    let dealers = [(1, 4), (3, 2)].map(|(old, new)| Dealer { old: party(old), new: party(new) });
    let start = |me: PartyId| {
        let share = dealers.iter().find(|dealer| dealer.new == me);
        let share = share.map(|dealer| &shares[usize::from(dealer.old.get()) - 1]);
        let (old, threshold) = (shares[0].public(), Threshold::new(2, 3).unwrap());
        let mut rng = rng(60 + u64::from(me.get()));
        Reshare::new(SessionId([6; 32]), me, old, share, &dealers, threshold, &mut rng).unwrap()
    };
    let known = |session: &Reshare| keygen::tests::secrets(session.machine());
    let reshared = watch.run(start, &[1, 2, 3, 4].map(party), known);
    for reshared in &reshared {
        if let Reshared::Share(share) = reshared {
            watch.secrets.extend(share.secrets());
        }
    }
    watch.end((shares, reshared));
}

#[test]
fn nothing_is_left_of_a_signature() {
    let mut watch = Watch::default();
    let shares = shares(&mut watch);
    let signers = [1, 3].map(party);
    let start = |me: PartyId| {
        let share = &shares[usize::from(me.get()) - 1];
        let mut rng = rng(20 + u64::from(me.get()));
        sign::Sign::new(SessionId([3; 32]), share, &signers, [7; 32], &mut rng).unwrap()
    };
    watch.run(start, &signers, sign::tests::secrets);
    watch.end(shares);
}

#[test]
fn nothing_is_left_of_frost() {
    let mut watch = Watch::default();
    let threshold = Threshold::new(2, 3).unwrap();
    let parties = [1, 2, 3].map(party);
    let start = |me: PartyId| {
        let mut rng = rng(30 + u64::from(me.get()));
        frost::keygen::FrostKeygen::new(SessionId([4; 32]), me, threshold, &mut rng).unwrap()
    };
    let shares = watch.run(start, &parties, frost::keygen::tests::secrets);
    shares.iter().for_each(|share| watch.secrets.push(secret("share", share.secret().as_bytes())));
    let decoded =
        watch.freed.watch(|| frost::keys::FrostShare::from_bytes(&shares[0].to_bytes()).unwrap());
    let signers = [2, 3].map(party);
    let start = |me: PartyId| {
        let share = &shares[usize::from(me.get()) - 1];
        let mut rng = rng(40 + u64::from(me.get()));
        frost::sign::FrostSign::new(SessionId([5; 32]), share, &signers, b"text", &mut rng).unwrap()
    };
    watch.run(start, &signers, frost::sign::tests::secrets);
    watch.end((shares, decoded));
}
