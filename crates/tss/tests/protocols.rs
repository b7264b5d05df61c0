//! Key generation and signing among simulated parties.

#![allow(clippy::unwrap_used)] // helpers outside test functions unwrap as well

use k256::ecdsa::signature::hazmat::PrehashVerifier;
use tetralith_tss::engine::{PartyId, Session, SessionId, Threshold};
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::KeyShare;
use tetralith_tss::refresh::Refresh;
use tetralith_tss::sign::{Sign, Signature};
use tetralith_tss::sim::{Network, Outcome, rng};

fn party(id: u8) -> PartyId {
    PartyId::new(id).unwrap()
}

fn keygens(t: u8, n: u8, seed: u64) -> Vec<(PartyId, Keygen)> {
    let threshold = Threshold::new(t, n).unwrap();
    let session = SessionId([seed as u8; 32]);
    let one = |me: PartyId| {
        let mut rng = rng(seed * 1000 + u64::from(me.get()));
        (me, Keygen::new(session, me, threshold, &mut rng).unwrap())
    };
    threshold.parties().map(one).collect()
}

fn keygen(t: u8, n: u8, seed: u64) -> Vec<KeyShare> {
    Network::new(seed).run(keygens(t, n, seed)).outputs()
}

fn signs(shares: &[KeyShare], signers: &[u8], digest: [u8; 32], seed: u64) -> Vec<(PartyId, Sign)> {
    let signers: Vec<PartyId> = signers.iter().map(|&id| party(id)).collect();
    let session = SessionId([seed as u8; 32]);
    let one = |&me: &PartyId| {
        let mut rng = rng(seed * 1000 + 500 + u64::from(me.get()));
        let share = &shares[usize::from(me.get()) - 1];
        (me, Sign::new(session, share, &signers, digest, &mut rng).unwrap())
    };
    signers.iter().map(one).collect()
}

/// Signs and checks the signature with a verifier that is not ours.
fn sign(shares: &[KeyShare], signers: &[u8], seed: u64) -> Signature {
    let digest = [seed as u8 ^ 0x5a; 32];
    let outcome = Network::new(seed).run(signs(shares, signers, digest, seed));
    check(shares, &digest, outcome)
}

fn check(shares: &[KeyShare], digest: &[u8; 32], outcome: Outcome<Signature>) -> Signature {
    let signatures = outcome.outputs();
    assert!(signatures.windows(2).all(|pair| pair[0] == pair[1]));
    let signature = signatures[0];
    let public = shares[0].public();
    assert!(signature.verify(&public.group_key(), digest));
    let theirs = k256::ecdsa::Signature::from_slice(&signature.r_s()).unwrap();
    assert_eq!(theirs.normalize_s(), theirs, "s is low");
    let key = public.verifying_key().unwrap();
    key.verify_prehash(digest, &theirs).unwrap();
    let id = k256::ecdsa::RecoveryId::from_byte(signature.recovery_id()).unwrap();
    let recovered = k256::ecdsa::VerifyingKey::recover_from_prehash(digest, &theirs, id).unwrap();
    assert_eq!(recovered, key);
    assert_eq!(Signature::from_bytes(&signature.to_bytes()), Ok(signature));
    signature
}

#[test]
fn any_t_of_n_up_to_five_sign() {
    for n in 2..=5 {
        for t in 2..=n {
            let shares = keygen(t, n, u64::from(16 * t + n));
            for share in &shares {
                assert_eq!(share.public(), shares[0].public());
            }
            let first: Vec<u8> = (1..=t).collect();
            let last: Vec<u8> = (n - t + 1..=n).collect();
            sign(&shares, &first, 1);
            if first != last {
                sign(&shares, &last, 2);
            }
        }
    }
}

#[test]
fn every_three_of_four_sign_under_one_key() {
    let shares = keygen(3, 4, 1);
    for (seed, signers) in [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]].iter().enumerate() {
        sign(&shares, signers, seed as u64);
    }
}

#[test]
fn order_and_duplicates_do_not_matter() {
    let network = Network::new(7).reordering().duplicating(30);
    let shares = network.run(keygens(3, 5, 1)).outputs();
    assert_eq!(shares[4].public(), keygen(3, 5, 1)[0].public());
    let digest = [1; 32];
    let outcome = network.run(signs(&shares, &[1, 3, 5], digest, 1));
    assert!(outcome.refused.is_empty());
    check(&shares, &digest, outcome);
}

#[test]
fn a_run_can_be_repeated_exactly() {
    let network = Network::new(3).reordering().duplicating(20);
    let run = || {
        let keygen = network.run(keygens(2, 3, 9));
        let transcript = keygen.transcript;
        let shares = keygen.outputs();
        let sign = network.run(signs(&shares, &[1, 3], [4; 32], 2));
        let bytes: Vec<Vec<u8>> = shares.iter().map(|share| share.to_bytes().to_vec()).collect();
        (transcript, sign.transcript, sign.outputs()[0], bytes)
    };
    assert!(run() == run());
}

#[test]
fn a_lost_message_is_waited_for() {
    let outcome = Network::new(1).run_with(keygens(2, 3, 1), &mut |from, to, bytes| {
        // Round 2 from party 2 to party 3: byte 6 is the round.
        !(from.get() == 2 && to.get() == 3 && bytes[6] == 2)
    });
    assert_eq!(outcome.waiting[2], (party(3), vec![party(2)]));
    assert_eq!(outcome.waiting[0], (party(1), vec![party(3)]));
    assert!(outcome.results.iter().all(|(_, result)| result.is_none()));

    let losing = Network::new(5).losing(20).run(keygens(2, 4, 1));
    assert!(losing.waiting.iter().any(|(_, parties)| !parties.is_empty()));
    assert!(losing.aborts().is_empty());
}

#[test]
fn the_name_of_a_session_may_be_repeated_without_harm() {
    let shares = keygen(2, 2, 1);
    let one = sign(&shares, &[1, 2], 1);
    assert_eq!(one, sign(&shares, &[1, 2], 1), "the same seeds: the same run");
    let digest = [1 ^ 0x5a; 32];
    let mut sessions = signs(&shares, &[1, 2], digest, 1);
    let session = SessionId([1; 32]);
    sessions[0].1 =
        Sign::new(session, &shares[0], &[party(1), party(2)], digest, &mut rng(77)).unwrap();
    let other = check(&shares, &digest, Network::new(1).run(sessions));
    assert_ne!(one.r_s()[..32], other.r_s()[..32]);
}

#[test]
fn a_refresh_keeps_the_key_and_replaces_all_shares() {
    let old = keygen(2, 3, 1);
    let session = SessionId([8; 32]);
    let refresh = |share: &KeyShare| {
        let mut rng = rng(900 + u64::from(share.me().get()));
        (share.me(), Refresh::new(session, share, &mut rng))
    };
    let new = Network::new(1).reordering().run(old.iter().map(refresh).collect()).outputs();
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(new.me(), old.me());
        assert_eq!(old.public().group_key(), new.public().group_key());
        assert_ne!(old.public().key_id(), new.public().key_id());
        assert_ne!(old.public().party_key(old.me()), new.public().party_key(old.me()));
        assert_eq!(KeyShare::from_bytes(&new.to_bytes()).unwrap().public(), new.public());
    }
    for signers in [[1, 2], [1, 3], [2, 3]] {
        sign(&new, &signers, 3);
        sign(&old, &signers, 4);
    }
    // An old and a new share do not go together.
    let signers = [party(1), party(2)];
    let start = |share: &KeyShare, seed| {
        let sign = Sign::new(SessionId([5; 32]), share, &signers, [0; 32], &mut rng(seed));
        (share.me(), sign.unwrap())
    };
    let mixed = Network::new(1).run(vec![start(&old[0], 1), start(&new[1], 2)]);
    assert_eq!(mixed.refused.len(), 4);
    assert!(mixed.results.iter().all(|(_, result)| result.is_none()));
}

#[test]
fn wrong_arguments_are_refused() {
    let threshold = Threshold::new(2, 3).unwrap();
    assert!(Keygen::new(SessionId([0; 32]), party(4), threshold, &mut rng(1)).is_err());
    let shares = keygen(2, 3, 1);
    let start = |signers: &[u8]| {
        let signers: Vec<_> = signers.iter().map(|&id| party(id)).collect();
        Sign::new(SessionId([0; 32]), &shares[0], &signers, [0; 32], &mut rng(1)).err()
    };
    for signers in [&[1][..], &[1, 2, 3], &[2, 1], &[1, 1], &[1, 4], &[2, 3], &[]] {
        assert!(start(signers).is_some(), "{signers:?}");
    }
    assert_eq!(start(&[1, 2]), None);
}

#[test]
fn thirty_parties() {
    if std::env::var("TETRALITH_SLOW").as_deref() != Ok("1") {
        println!("left out: thirty parties (TETRALITH_SLOW=1 runs it)");
        return;
    }
    let shares = keygen(20, 30, 1);
    sign(&shares, &(11..=30).collect::<Vec<_>>(), 1);
    for (t, n) in [(2, 30), (30, 30), (7, 10), (16, 20)] {
        let shares = keygen(t, n, u64::from(t));
        sign(&shares, &(1..=t).collect::<Vec<_>>(), 2);
    }
}

#[test]
fn sessions_can_be_boxed() {
    let threshold = Threshold::new(2, 2).unwrap();
    let keygen = Keygen::new(SessionId([0; 32]), party(1), threshold, &mut rng(1)).unwrap();
    let mut boxed: Box<dyn Session<Output = KeyShare>> = Box::new(keygen);
    assert_eq!((boxed.round(), boxed.outgoing().len()), (1, 2));
    assert_eq!(boxed.waiting_for(), [party(2)]);
    assert!(boxed.outgoing().is_empty() && boxed.take_output().is_none());
}
