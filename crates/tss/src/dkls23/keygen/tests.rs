//! Dealers that keep to the message formats and lie.

use super::*;
use crate::sim::{Network, rng};
use crate::wiped::{Secret, secret};

/// What a session knows and nobody else may.
pub(crate) fn secrets(session: &Machine<KeygenRounds>) -> Vec<Secret> {
    let Some(rounds) = session.rounds() else { return Vec::new() };
    let mut all = vec![secret("generator", rounds.rng.get_seed())];
    if let Given::Sharing(previous) = &rounds.given {
        all.push(secret("previous share", previous.secret.to_bytes()));
    }
    if let Given::Constants(constants) = &rounds.given
        && constants.own != Scalar::ZERO
    {
        all.push(secret("part of the key", constants.own.to_bytes()));
    }
    let mut dealt = |polynomial: &Polynomial| {
        let parties = rounds.threshold.parties();
        all.extend(parties.map(|to| secret("dealt share", polynomial.evaluate(to).to_bytes())));
        if !rounds.given.is_known() {
            all.push(secret("constant", polynomial.constant().to_bytes()));
        }
    };
    match &rounds.state {
        State::Committed(state) => {
            dealt(&state.polynomial);
            all.extend(state.seeds.iter().map(|seed| secret("seed", **seed)));
            all.extend(state.receivers.iter().flat_map(base_ot::Receiver::secrets));
        }
        State::Opened(state) => {
            dealt(&state.polynomial);
            all.extend(state.seeds.iter().map(|seed| secret("seed", **seed)));
            all.extend(state.receivers.iter().flat_map(base_ot::Receiver::secrets));
        }
        State::Answered(state) => all.push(secret("share", state.secret.to_bytes())),
        State::Confirmed(share) => all.extend(share.secrets()),
        State::Ended => {}
    }
    // The share of whoever leaves is zero.
    all.retain(|(_, bytes)| bytes.iter().any(|byte| *byte != 0));
    all
}

/// Three parties make a 2-of-3 key, party 2 with `lie` applied to its state after round 1 and to
/// its letters; returns what the honest parties 1 and 3 find.
fn run(lie: impl FnOnce(&mut Committed, &mut Letters)) -> Vec<Option<Abort>> {
    let threshold = Threshold::new(2, 3).unwrap();
    let context = [1; 32];
    let mut lie = Some(lie);
    let one = |me: PartyId| {
        let (mut rounds, mut letters) =
            KeygenRounds::start(context, me, threshold, Given::Nothing, rng(u64::from(me.get())));
        if me.get() == 2
            && let State::Committed(state) = &mut rounds.state
        {
            lie.take().unwrap()(state, &mut letters);
        }
        let parties = threshold.parties().collect();
        (me, Keygen(Machine::new(rounds, me, parties, context, letters)))
    };
    let results = Network::new(1).run(threshold.parties().map(one).collect()).results;
    let found = |k: usize| match &results[k].1 {
        Some(Err(abort)) => Some(abort.clone()),
        Some(Ok(_)) | None => None,
    };
    [found(0), found(2)].into()
}

/// Commits to what party 2 will open.
fn recommit(state: &Committed, letters: &mut Letters) {
    let (opening, opener) = state.opening.split_at(state.opening.len() - COMMITMENT);
    let label = label(&[1; 32], "polynomial", PartyId::new(2).unwrap(), None);
    letters.broadcast = commit(&label, opening, opener.try_into().unwrap()).to_vec();
}

fn blamed(round: u8, check: Check, evidence: Evidence) -> Vec<Option<Abort>> {
    let abort = blame(PartyId::new(2).unwrap(), round, check, evidence);
    vec![Some(abort.clone()), Some(abort)]
}

#[test]
fn honest_parties_finish() {
    assert_eq!(run(|_, _| ()), [None, None]);
}

#[test]
fn an_opening_of_another_polynomial() {
    let found = run(|state, _| state.opening[40] ^= 1);
    assert_eq!(found, blamed(2, Check::Commitment, Evidence::Proof));
}

#[test]
fn a_polynomial_whose_constant_term_is_unknown() {
    let found = run(|state, letters| {
        let last = 2 * POINT + Proof::LEN - 1;
        state.opening[last] ^= 1;
        recommit(state, letters);
    });
    assert_eq!(found, blamed(2, Check::ProofOfKnowledge, Evidence::Proof));
}

#[test]
fn a_polynomial_that_is_no_point() {
    let found = run(|state, letters| {
        state.opening[0] = 5;
        recommit(state, letters);
    });
    assert_eq!(found, blamed(2, Check::Encoding, Evidence::Proof));
}

#[test]
fn shares_of_another_polynomial() {
    let found = run(|state, _| state.polynomial = Polynomial::random(2, &mut rng(99)));
    assert_eq!(found, blamed(2, Check::VerifiableShare, Evidence::Accusation));
}

#[test]
fn another_seed_than_the_committed_one() {
    let found = run(|state, _| state.seeds.iter_mut().for_each(|seed| seed[0] ^= 1));
    assert_eq!(found, blamed(2, Check::Commitment, Evidence::Accusation));
}
