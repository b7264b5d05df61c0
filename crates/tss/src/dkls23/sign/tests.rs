//! Signers that keep to the message formats and lie about their secrets.

use super::*;
use crate::engine::{Session, Threshold};
use crate::keygen::Keygen;
use crate::machine::HEADER;
use crate::sim::{Network, rng};
use crate::wiped::{Secret, secret};

/// What a session knows and nobody else may.
pub(crate) fn secrets(session: &Sign) -> Vec<Secret> {
    let Some(rounds) = session.0.rounds() else { return Vec::new() };
    let mut all = vec![secret("generator", rounds.rng.get_seed())];
    let mut own = |secrets: &Secrets| {
        all.push(secret("nonce", secrets.nonce.to_bytes()));
        all.push(secret("mask", secrets.mask.to_bytes()));
        all.push(secret("additive share", secrets.key.to_bytes()));
    };
    match &rounds.state {
        State::Committed(state) => {
            own(&state.secrets);
            for peer in &state.peers {
                all.extend(peer.bob.secrets());
            }
        }
        State::Multiplied(state) => {
            own(&state.secrets);
            for (peer, reply) in state.peers.iter().zip(&state.replies) {
                all.extend(peer.bob.secrets());
                all.extend(reply.outputs.iter().map(|c| secret("Alice's output", c.to_bytes())));
            }
        }
        // What is shared now goes to all.
        State::Shared(_) | State::Ended => {}
    }
    all
}

fn shares(t: u8, n: u8) -> Vec<KeyShare> {
    let threshold = Threshold::new(t, n).unwrap();
    let one = |me: PartyId| {
        let keygen = Keygen::new(SessionId([1; 32]), me, threshold, &mut rng(me.get().into()));
        (me, keygen.unwrap())
    };
    Network::new(1).run(threshold.parties().map(one).collect()).outputs()
}

/// Three of three sign, party 2 after `lie` changed its state of round 1; returns what the honest
/// parties 1 and 3 find.
fn run(lie: impl FnOnce(&mut Committed)) -> Vec<Option<Abort>> {
    let shares = shares(3, 3);
    let signers: Vec<PartyId> = (1..=3).map(|id| PartyId::new(id).unwrap()).collect();
    let mut sessions: Vec<(PartyId, Sign)> = shares
        .iter()
        .map(|share| {
            let mut rng = rng(50 + u64::from(share.me().get()));
            let sign = Sign::new(SessionId([2; 32]), share, &signers, [3; 32], &mut rng);
            (share.me(), sign.unwrap())
        })
        .collect();
    match &mut sessions[1].1.0.rounds_mut().state {
        State::Committed(state) => lie(state),
        _ => panic!("party 2 has sent round 1"),
    }
    let results = Network::new(1).run(sessions).results;
    let found = |k: usize| match &results[k].1 {
        Some(Ok(_)) | None => None,
        Some(Err(abort)) => Some(abort.clone()),
    };
    [found(0), found(2)].into()
}

#[test]
fn honest_signers_finish() {
    assert_eq!(run(|_| ()), [None, None]);
}

#[test]
fn another_nonce_than_the_committed_one() {
    let found = run(|state| state.secrets.nonce += Scalar::ONE);
    let blame = fault_of(2, Check::NonceConsistency);
    assert_eq!(found, [Some(blame.clone()), Some(blame)]);
}

#[test]
fn another_key_share_than_the_own() {
    // Party 2 multiplies by and publishes the same wrong share: only the sum shows it.
    for abort in run(|state| state.secrets.key += Scalar::ONE) {
        let Some(Abort::Unattributed { round: 2, check: Check::GroupKey, suspects }) = abort else {
            panic!("{abort:?}");
        };
        assert!(suspects.contains(&PartyId::new(2).unwrap()));
    }
}

#[test]
fn another_mask_than_the_multiplied_one() {
    // ψ is right for the mask, but the factor of the multiplication is not what it says.
    for abort in run(|state| state.peers[0].bob.factor += Scalar::ONE) {
        // Party 2 itself sees that party 1's message does not fit its factor: it stops, and 1 and 3
        // wait or find the signature wrong. None of them has a signature.
        assert!(abort.is_none_or(|abort| abort.blame().is_none()));
    }
}

#[test]
fn a_wrong_share_of_the_signature() {
    let shares = shares(2, 2);
    let signers: Vec<PartyId> = (1..=2).map(|id| PartyId::new(id).unwrap()).collect();
    let sessions = shares.iter().map(|share| {
        let mut rng = rng(share.me().get().into());
        let sign = Sign::new(SessionId([2; 32]), share, &signers, [3; 32], &mut rng);
        (share.me(), sign.unwrap())
    });
    let bend = &mut |from: PartyId, _: PartyId, bytes: &mut Vec<u8>| {
        if from.get() == 2 && bytes[6] == 3 {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
        }
        true
    };
    let outcome = Network::new(1).run_with(sessions.collect(), bend);
    let suspects = vec![signers[1]];
    let expected = Abort::Unattributed { round: 3, check: Check::Signature, suspects };
    assert_eq!(outcome.results[0].1, Some(Err(expected)));
}

#[test]
fn messages_fit_their_bound() {
    let shares = shares(2, 2);
    let signers: Vec<PartyId> = (1..=2).map(|id| PartyId::new(id).unwrap()).collect();
    let mut sign =
        Sign::new(SessionId([2; 32]), &shares[0], &signers, [3; 32], &mut rng(1)).unwrap();
    let sizes: Vec<_> = sign.outgoing().iter().map(|message| message.bytes.len()).collect();
    assert_eq!(sizes, [HEADER + COMMITMENT, HEADER + multiplication::FIRST]);
    let largest = multiplication::SECOND + 2 * POINT + SCALAR;
    assert!(HEADER + largest <= crate::engine::MAX_MESSAGE);
}

fn fault_of(party: u8, check: Check) -> Abort {
    let party = PartyId::new(party).unwrap();
    Abort::Blamed(Blame { party, round: 2, check, evidence: Evidence::Accusation })
}
