//! A party whose messages are changed: the honest ones blame it, or stop safely.

#![allow(clippy::unwrap_used)] // helpers outside test functions unwrap as well

use tetralith_tss::engine::{Abort, Check, Evidence, PartyId, Session, SessionId, Threshold};
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::KeyShare;
use tetralith_tss::sign::{Sign, Signature};
use tetralith_tss::sim::{Network, Outcome, rng};

/// Bytes of a message header; the round stands at byte 6, the recipient at byte 8.
const HEADER: usize = 41;
const LIAR: u8 = 2;

fn party(id: u8) -> PartyId {
    PartyId::new(id).unwrap()
}

fn keygens(t: u8, n: u8) -> Vec<(PartyId, Keygen)> {
    let threshold = Threshold::new(t, n).unwrap();
    let one = |me: PartyId| {
        let mut rng = rng(u64::from(me.get()));
        (me, Keygen::new(SessionId([1; 32]), me, threshold, &mut rng).unwrap())
    };
    threshold.parties().map(one).collect()
}

fn signs(shares: &[KeyShare]) -> Vec<(PartyId, Sign)> {
    let signers: Vec<PartyId> = shares.iter().map(KeyShare::me).collect();
    let one = |share: &KeyShare| {
        let mut rng = rng(100 + u64::from(share.me().get()));
        let sign = Sign::new(SessionId([2; 32]), share, &signers, [9; 32], &mut rng);
        (share.me(), sign.unwrap())
    };
    shares.iter().map(one).collect()
}

/// A change of one message of the liar.
#[derive(Clone, Copy, Debug)]
struct Lie {
    round: u8,
    broadcast: bool,
    /// Bit 0 of this byte of the payload is turned; counted from the end if negative.
    at: isize,
    /// Only the copy for this party is changed.
    only: Option<u8>,
}

impl Lie {
    fn apply(self, from: PartyId, to: PartyId, bytes: &mut [u8]) {
        let broadcast = bytes[8] == 0;
        let wanted = from.get() == LIAR && bytes[6] == self.round && broadcast == self.broadcast;
        if !wanted || self.only.is_some_and(|only| only != to.get()) {
            return;
        }
        let payload = &mut bytes[HEADER..];
        let len = payload.len() as isize;
        let at = if self.at < 0 { len + self.at } else { self.at };
        if (0..len).contains(&at) {
            payload[at as usize] ^= 1;
        }
    }
}

fn run<S: Session>(sessions: Vec<(PartyId, S)>, lie: Lie) -> Outcome<S::Output> {
    let change = &mut |from, to, bytes: &mut Vec<u8>| {
        lie.apply(from, to, bytes);
        true
    };
    Network::new(1).run_with(sessions, change)
}

/// What the honest parties find; panics if one of them suspects only honest ones.
fn findings<T>(outcome: &Outcome<T>, lie: Lie) -> Vec<(Check, Option<Evidence>)> {
    let honest = outcome.aborts().into_iter().filter(|(me, _)| me.get() != LIAR);
    honest
        .map(|(me, abort)| match abort {
            Abort::Blamed(blame) => {
                assert_eq!(blame.party.get(), LIAR, "party {me}: {abort}, {lie:?}");
                (blame.check, Some(blame.evidence))
            }
            Abort::Unattributed { check, suspects, .. } => {
                assert!(suspects.contains(&party(LIAR)), "party {me}: {abort}, {lie:?}");
                (*check, None)
            }
            other => panic!("party {me}: {other}, {lie:?}"),
        })
        .collect()
}

#[test]
fn each_lie_in_key_generation_is_named() {
    use Check::*;
    let (proof, accusation) = (Some(Evidence::Proof), Some(Evidence::Accusation));
    // Three parties: the echo is 96 bytes, the polynomial 66, the proof 65, its opening 32.
    let cases = [
        (1, true, 0, Broadcast, accusation),
        (2, true, 32, Broadcast, accusation),
        (2, true, 96 + 40, Commitment, proof),
        (2, true, -1, Commitment, proof),
        (1, false, -1, Commitment, accusation),
        (2, false, 31, VerifiableShare, accusation),
        (2, false, 32, Commitment, accusation),
        (2, false, -1, BaseTransfer, accusation),
        (3, false, 0, BaseTransfer, accusation),
        (4, true, 0, Confirmation, accusation),
    ];
    for (round, broadcast, at, check, evidence) in cases {
        let lie = Lie { round, broadcast, at, only: None };
        let found = findings(&run(keygens(2, 3), lie), lie);
        assert!(!found.is_empty(), "{lie:?}");
        assert!(found.iter().all(|&(c, e)| c == check && e == evidence), "{lie:?}: {found:?}");
    }
}

#[test]
fn each_lie_in_signing_is_named() {
    use Check::*;
    let (proof, accusation) = (Some(Evidence::Proof), Some(Evidence::Accusation));
    let shares = Network::new(1).run(keygens(3, 3)).outputs();
    let cases = [
        (1, true, 0, Broadcast, accusation),
        (1, false, 0, TransferExtension, accusation),
        (1, false, 40, TransferExtension, accusation),
        (1, false, -1, TransferExtension, accusation),
        (2, true, 96 + 33, Commitment, proof),
        (2, false, 0, Multiplication, accusation),
        (2, false, 63, Multiplication, accusation),
        (2, false, -99, Multiplication, accusation),
        (2, false, -98, NonceConsistency, accusation),
        (2, false, -65, KeyConsistency, accusation),
        (2, true, 96 + 65, KeyConsistency, accusation),
        (2, false, -1, Signature, None),
        (3, true, -1, Signature, None),
        (3, true, 96 + 31, Signature, None),
    ];
    for (round, broadcast, at, check, evidence) in cases {
        let lie = Lie { round, broadcast, at, only: None };
        let found = findings(&run(signs(&shares), lie), lie);
        assert!(!found.is_empty(), "{lie:?}");
        assert!(found.iter().all(|&(c, e)| c == check && e == evidence), "{lie:?}: {found:?}");
    }
}

#[test]
fn two_versions_of_a_broadcast_are_found_by_the_echo() {
    let shares = Network::new(1).run(keygens(3, 3)).outputs();
    for only in [1, 3] {
        for round in 1..=3 {
            let lie = Lie { round, broadcast: true, at: -1, only: Some(only) };
            let outcome = run(keygens(2, 3), lie);
            assert!(!findings(&outcome, lie).is_empty());
            // In signing the last round is not echoed: who got the wrong version has no signature.
            let outcome = run(signs(&shares), lie);
            assert!(!findings(&outcome, lie).is_empty());
        }
    }
}

/// Whatever byte is changed: no panic, no wrong blame, no wrong signature.
#[test]
fn any_changed_byte_is_survived() {
    let shares = Network::new(1).run(keygens(3, 3)).outputs();
    let digest = [9; 32];
    let lengths = [[32, 12_352], [161, 40_130], [160, 0]];
    let valid = |signature: &Signature| {
        assert!(signature.verify(&shares[0].public().group_key(), &digest));
    };
    for round in 1..=3u8 {
        for broadcast in [true, false] {
            let len = lengths[usize::from(round) - 1][usize::from(!broadcast)];
            for k in 0..6 {
                let at = (k * 7919 + k * k * 104_729) % len.max(1);
                let lie = Lie { round, broadcast, at, only: None };
                let outcome = run(signs(&shares), lie);
                findings(&outcome, lie);
                let ended = outcome.results.iter().filter_map(|(_, result)| result.as_ref());
                ended.filter_map(|result| result.as_ref().ok()).for_each(valid);
            }
        }
    }
    for round in 1..=4u8 {
        for (broadcast, len) in [(true, 190), (false, 4288)] {
            for k in 0..6 {
                let at = (k * 7919 + k * k * 104_729) % len;
                let lie = Lie { round, broadcast, at, only: None };
                findings(&run(keygens(2, 3), lie), lie);
            }
        }
    }
}
