//! Resharing among honest parties, with a lying dealer, and what old shares are worth afterwards.

use super::*;
use crate::dkls23::refute::refute;
use crate::engine::{Check, Recipient};
use crate::keygen::Keygen;
use crate::sign::Sign;
use crate::sim::{Network, rng};

const SESSION: SessionId = SessionId([7; 32]);

fn party(number: u8) -> PartyId {
    PartyId::new(number).unwrap()
}

fn dealers(numbers: &[(u8, u8)]) -> Vec<Dealer> {
    numbers.iter().map(|(old, new)| Dealer { old: party(*old), new: party(*new) }).collect()
}

fn keygen(t: u8, n: u8) -> Vec<KeyShare> {
    let threshold = Threshold::new(t, n).unwrap();
    let one = |me: PartyId| {
        let mut rng = rng(100 + u64::from(me.get()));
        (me, Keygen::new(SessionId([1; 32]), me, threshold, &mut rng).unwrap())
    };
    Network::new(1).run(threshold.parties().map(one).collect()).outputs()
}

/// The sessions of all parties of a resharing.
fn sessions(old: &[KeyShare], dealers: &[Dealer], new: Threshold) -> Vec<(PartyId, Reshare)> {
    let leave = dealers.iter().map(|dealer| dealer.new.get()).filter(|number| *number > new.n());
    let parties = leave.max().unwrap_or(new.n());
    let one = |me: u8| {
        let dealer = dealers.iter().find(|dealer| dealer.new.get() == me);
        let share = dealer.map(|dealer| &old[usize::from(dealer.old.get()) - 1]);
        let (public, mut rng) = (old[0].public(), rng(200 + u64::from(me)));
        let session = Reshare::new(SESSION, party(me), public, share, dealers, new, &mut rng);
        (party(me), session.unwrap())
    };
    (1..=parties).map(one).collect()
}

fn reshare(old: &[KeyShare], dealers: &[Dealer], new: Threshold) -> Vec<KeyShare> {
    let outputs = Network::new(3).reordering().run(sessions(old, dealers, new)).outputs();
    let of = |output| match output {
        Reshared::Share(share) => Some(*share),
        Reshared::Left(_) => None,
    };
    outputs.into_iter().filter_map(of).collect()
}

/// Says whether these shares sign together.
fn signs(shares: &[&KeyShare]) -> bool {
    let signers: Vec<_> = shares.iter().map(|share| share.me()).collect();
    let start = |share: &&KeyShare| {
        let mut rng = rng(u64::from(share.me().get()));
        (share.me(), Sign::new(SessionId([9; 32]), share, &signers, [5; 32], &mut rng).unwrap())
    };
    let outcome = Network::new(2).run(shares.iter().map(start).collect());
    let key = shares[0].public().group_key();
    let signed = |result: &Option<Result<crate::sign::Signature, Abort>>| match result {
        Some(Ok(signature)) => signature.verify(&key, &[5; 32]),
        _ => false,
    };
    outcome.results.iter().all(|(_, result)| signed(result))
}

/// What the shares of these parties add up to: the key, if they are of one sharing.
fn combined(shares: &[&KeyShare]) -> Scalar {
    let parties: Vec<_> = shares.iter().map(|share| share.me()).collect();
    let part = |share: &&KeyShare| lagrange(share.me(), &parties) * share.secret();
    shares.iter().map(part).fold(Scalar::ZERO, |sum, part| sum + part)
}

#[test]
fn other_parties_and_another_threshold_have_the_same_key() {
    let old = keygen(2, 3);
    // (old, new) numbers of the dealers, and the new threshold.
    let cases: [(&[(u8, u8)], (u8, u8)); 5] = [
        (&[(1, 1), (2, 2)], (2, 3)),
        (&[(1, 4), (3, 2)], (2, 3)),
        (&[(2, 6), (3, 5)], (3, 4)),
        (&[(1, 3), (3, 1)], (3, 5)),
        (&[(1, 1), (2, 2)], (2, 2)),
    ];
    for (numbers, (t, n)) in cases {
        let threshold = Threshold::new(t, n).unwrap();
        let new = reshare(&old, &dealers(numbers), threshold);
        assert_eq!(new.len(), usize::from(n), "{numbers:?}");
        for share in &new {
            assert_eq!(share.public().group_key(), old[0].public().group_key());
            assert_eq!(share.public().threshold(), threshold);
            assert_ne!(share.public().key_id(), old[0].public().key_id());
            let decoded = KeyShare::from_bytes(&share.to_bytes()).unwrap();
            assert_eq!(decoded.public(), share.public());
        }
        let quorum: Vec<_> = new.iter().rev().take(usize::from(t)).rev().collect();
        assert!(signs(&quorum), "{numbers:?}");
        let quorum: Vec<_> = new.iter().take(usize::from(t)).collect();
        assert!(signs(&quorum), "{numbers:?}");
    }
}

/// A share that is lost comes back from the others'; what signed before signs no more with it.
#[test]
fn old_shares_are_of_no_use() {
    let old = keygen(3, 4);
    let same = Threshold::new(3, 4).unwrap();
    let new = reshare(&old, &dealers(&[(1, 1), (3, 3), (4, 4)]), same);
    let key = combined(&[&old[0], &old[1], &old[2]]);
    assert_eq!(combined(&[&new[0], &new[1], &new[3]]), key);
    assert!(signs(&[&new[1], &new[2], &new[3]]), "the share that was lost is back");
    // Whoever stole t − 1 old shares, and one new one, has nothing.
    for (mine, theirs) in [([0, 1], 2), ([0, 2], 3), ([1, 3], 0)] {
        let mixed = [&old[mine[0]], &old[mine[1]], &new[theirs]];
        assert_ne!(combined(&mixed), key);
        let mixed = [&new[mine[0]], &new[mine[1]], &old[theirs]];
        assert_ne!(combined(&mixed), key);
    }
    assert!(!signs(&[&old[0], &old[1], &new[2]]));
}

#[test]
fn parties_that_disagree_about_the_resharing_do_not_begin() {
    let old = keygen(2, 3);
    let threshold = Threshold::new(2, 3).unwrap();
    let mut parties = sessions(&old, &dealers(&[(1, 1), (2, 2)]), threshold);
    let others = sessions(&old, &dealers(&[(2, 2), (3, 3)]), threshold);
    parties[2] = others.into_iter().nth(2).unwrap();
    let outcome = Network::new(1).run(parties);
    assert!(!outcome.refused.is_empty());
    assert!(outcome.results.iter().all(|(_, result)| result.is_none()));
}

/// A dealer that shares another value than its part of the key is found by all that get a share.
#[test]
fn a_dealer_of_another_value_is_blamed() {
    let old = keygen(2, 3);
    let threshold = Threshold::new(2, 3).unwrap();
    let context = [3; 32];
    let numbers = dealers(&[(1, 1), (2, 2)]);
    let olds: Vec<_> = numbers.iter().map(|dealer| dealer.old).collect();
    let mut points = vec![ProjectivePoint::IDENTITY; 3];
    for dealer in &numbers {
        points[usize::from(dealer.new.get()) - 1] =
            old[0].public().commitments().evaluate_vartime(dealer.old)
                * lagrange(dealer.old, &olds);
    }
    let start = |me: PartyId| {
        let index = usize::from(me.get()) - 1;
        let dealt = |dealer: &&Dealer| dealer.new == me;
        let own = numbers.iter().find(dealt).map(|d| lagrange(d.old, &olds) * old[index].secret());
        // Party 2 deals one more than it should.
        let lie = if me.get() == 2 { Scalar::ONE } else { Scalar::ZERO };
        let own = own.unwrap_or(Scalar::ZERO) + lie;
        let given = Given::Constants(Box::new(Constants { own, points: points.clone() }));
        let rng = ChaCha20Rng::from_seed([me.get(); 32]);
        let (rounds, letters) = KeygenRounds::start(context, me, threshold, given, rng);
        let all = threshold.parties().collect();
        let machine = Machine::new(rounds, me, all, context, letters);
        (me, Reshare { machine, stays: true })
    };
    let outcome = Network::new(1).run(threshold.parties().map(start).collect());
    for index in [0, 2] {
        let Some(Err(Abort::Blamed(blame))) = &outcome.results[index].1 else {
            panic!("{:?}", outcome.results[index])
        };
        assert_eq!((blame.party, blame.check), (party(2), Check::VerifiableShare));
    }
}

/// A broken commitment is a proof against the dealer here too; an honest dealer is not refuted.
#[test]
fn an_opening_can_be_refuted() {
    let old = keygen(2, 3);
    let threshold = Threshold::new(2, 3).unwrap();
    let mut parties = sessions(&old, &dealers(&[(1, 4), (2, 2)]), threshold);
    let mut sent: Vec<Vec<Vec<u8>>> = vec![Vec::new(); 4];
    loop {
        let mut moved = false;
        for index in 0..parties.len() {
            let from = parties[index].0;
            for letter in parties[index].1.outgoing() {
                moved = true;
                if letter.to == Recipient::All {
                    sent[index].push(letter.bytes.to_vec());
                }
                let to = |party: &PartyId| match letter.to {
                    Recipient::All => *party != from,
                    Recipient::One(one) => *party == one,
                };
                for (_, session) in parties.iter_mut().filter(|(party, _)| to(party)) {
                    session.receive(from, &letter.bytes).unwrap();
                }
            }
        }
        if !moved {
            break;
        }
    }
    for broadcasts in &sent {
        assert_eq!(refute(&[&broadcasts[0], &broadcasts[1]]), None);
        let mut bent = broadcasts[1].clone();
        *bent.last_mut().unwrap() ^= 1;
        assert_eq!(refute(&[&broadcasts[0], &bent]), Some(Check::Commitment));
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let old = keygen(2, 3);
    let threshold = Threshold::new(2, 3).unwrap();
    let start = |me: u8, share: Option<&KeyShare>, numbers: &[(u8, u8)]| {
        let (public, dealers) = (old[0].public(), dealers(numbers));
        Reshare::new(SESSION, party(me), public, share, &dealers, threshold, &mut rng(1)).err()
    };
    assert_eq!(start(1, Some(&old[0]), &[(1, 1), (2, 2)]), None);
    assert_eq!(start(3, None, &[(1, 1), (2, 2)]), None);
    let wrong: [(u8, Option<&KeyShare>, &[(u8, u8)]); 10] = [
        (1, None, &[(1, 1), (2, 2)]),
        (1, Some(&old[1]), &[(1, 1), (2, 2)]),
        (4, None, &[(1, 1), (2, 2)]),
        (1, Some(&old[0]), &[(1, 1)]),
        (1, Some(&old[0]), &[(1, 1), (2, 2), (3, 3)]),
        (1, Some(&old[0]), &[(2, 2), (1, 1)]),
        (1, Some(&old[0]), &[(1, 1), (1, 2)]),
        (1, Some(&old[0]), &[(1, 1), (2, 1)]),
        (1, Some(&old[0]), &[(1, 1), (4, 2)]),
        (1, Some(&old[0]), &[(1, 1), (2, 5)]),
    ];
    for (me, share, numbers) in wrong {
        assert!(start(me, share, numbers).is_some(), "{me} {numbers:?}");
    }
    let other = keygen_of_another_key();
    assert!(start(1, Some(&other[0]), &[(1, 1), (2, 2)]).is_some());
}

fn keygen_of_another_key() -> Vec<KeyShare> {
    let threshold = Threshold::new(2, 3).unwrap();
    let one = |me: PartyId| {
        let mut rng = rng(300 + u64::from(me.get()));
        (me, Keygen::new(SessionId([2; 32]), me, threshold, &mut rng).unwrap())
    };
    Network::new(1).run(threshold.parties().map(one).collect()).outputs()
}
