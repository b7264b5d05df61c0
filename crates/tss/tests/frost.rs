//! Threshold Ed25519 among simulated parties, verified by ed25519-dalek.

#![allow(clippy::unwrap_used)] // helpers outside test functions unwrap as well

use tetralith_tss::engine::{
    Abort, Blame, Check, DecodeError, Error, Evidence, PartyId, SessionId, Threshold,
};
use tetralith_tss::frost::keygen::FrostKeygen;
use tetralith_tss::frost::keys::{FrostPublic, FrostShare};
use tetralith_tss::frost::sign::FrostSign;
use tetralith_tss::sim::{Network, rng};

const MESSAGE: &[u8] = b"a message of any length";

fn party(id: u8) -> PartyId {
    PartyId::new(id).unwrap()
}

fn keygens(t: u8, n: u8) -> Vec<(PartyId, FrostKeygen)> {
    let threshold = Threshold::new(t, n).unwrap();
    let one = |me: PartyId| {
        let mut rng = rng(me.get().into());
        (me, FrostKeygen::new(SessionId([1; 32]), me, threshold, &mut rng).unwrap())
    };
    threshold.parties().map(one).collect()
}

fn keygen(t: u8, n: u8) -> Vec<FrostShare> {
    Network::new(1).reordering().duplicating(10).run(keygens(t, n)).outputs()
}

fn signs(shares: &[FrostShare], signers: &[u8]) -> Vec<(PartyId, FrostSign)> {
    let signers: Vec<PartyId> = signers.iter().map(|&id| party(id)).collect();
    let one = |&me: &PartyId| {
        let share = &shares[usize::from(me.get()) - 1];
        let mut rng = rng(100 + u64::from(me.get()));
        let sign = FrostSign::new(SessionId([2; 32]), share, &signers, MESSAGE, &mut rng);
        (me, sign.unwrap())
    };
    signers.iter().map(one).collect()
}

fn verify(share: &FrostShare, signature: &[u8; 64]) {
    let key = ed25519_dalek::VerifyingKey::from_bytes(&share.public().group_key()).unwrap();
    key.verify_strict(MESSAGE, &ed25519_dalek::Signature::from_bytes(signature)).unwrap();
}

#[test]
fn any_t_of_n_up_to_five_sign() {
    for n in 2..=5 {
        for t in 2..=n {
            let shares = keygen(t, n);
            for signers in t..=n {
                let first: Vec<u8> = (1..=signers).collect();
                let last: Vec<u8> = (n - signers + 1..=n).collect();
                for signers in [first, last] {
                    let signatures = Network::new(2).run(signs(&shares, &signers)).outputs();
                    assert!(signatures.windows(2).all(|pair| pair[0] == pair[1]));
                    verify(&shares[0], &signatures[0]);
                }
            }
        }
    }
}

#[test]
fn thirty_parties_of_whom_twenty_sign() {
    let shares = keygen(20, 30);
    let signers: Vec<u8> = (11..=30).collect();
    verify(&shares[0], &Network::new(2).run(signs(&shares, &signers)).outputs()[0]);
}

#[test]
fn a_run_can_be_repeated_exactly() {
    let run = || Network::new(3).reordering().run(keygens(3, 4));
    assert_eq!(run().transcript, run().transcript);
}

/// What party 1 finds when bit 0 of a byte of party 2's payload is turned.
fn keygen_lie(round: u8, direct: bool, at: usize) -> Option<Abort> {
    let outcome = Network::new(1).run_with(keygens(2, 3), &mut |from, _, bytes: &mut Vec<u8>| {
        if from.get() == 2 && bytes[6] == round && (bytes[8] != 0) == direct {
            bytes[41 + at] ^= 1;
        }
        true
    });
    outcome.results[0].1.as_ref().and_then(|result| result.as_ref().err().cloned())
}

fn blamed(round: u8, check: Check, evidence: Evidence) -> Option<Abort> {
    Some(Abort::Blamed(Blame { party: party(2), round, check, evidence }))
}

#[test]
fn each_lie_is_named() {
    use Check::*;
    use Evidence::*;
    // In round 2: the echo 96 bytes, two points, the proof's point and scalar, and the opening.
    assert_eq!(keygen_lie(1, false, 0), blamed(2, Broadcast, Accusation));
    assert_eq!(keygen_lie(2, false, 32), blamed(2, Broadcast, Accusation));
    assert_eq!(keygen_lie(2, false, 96), blamed(2, Commitment, Proof));
    assert_eq!(keygen_lie(2, true, 0), blamed(2, VerifiableShare, Accusation));
    assert_eq!(keygen_lie(3, false, 96), blamed(3, Confirmation, Accusation));

    let shares = keygen(2, 3);
    let sign_lie = |round: u8, at: usize| {
        let change = &mut |from: PartyId, _: PartyId, bytes: &mut Vec<u8>| {
            if from.get() == 2 && bytes[6] == round {
                bytes[41 + at] ^= 1;
            }
            true
        };
        let outcome = Network::new(1).run_with(signs(&shares, &[1, 2, 3]), change);
        outcome.results[0].1.as_ref().and_then(|result| result.as_ref().err().cloned())
    };
    // A share of the signature, after the echo.
    assert_eq!(sign_lie(2, 96), blamed(2, Signature, Proof));
    assert!(sign_lie(1, 0).is_some_and(|abort| abort.blame().unwrap().party == party(2)));
}

#[test]
fn arguments_and_encodings_are_checked() {
    let shares = keygen(2, 3);
    let start = |signers: &[u8]| {
        let signers: Vec<_> = signers.iter().map(|&id| party(id)).collect();
        let sign = FrostSign::new(SessionId([0; 32]), &shares[0], &signers, b"", &mut rng(1));
        sign.err()
    };
    for signers in [&[1][..], &[2, 1], &[1, 1], &[1, 4], &[2, 3]] {
        assert!(start(signers).is_some(), "{signers:?}");
    }
    assert_eq!(start(&[1, 2, 3]), None);

    let good = shares[1].to_bytes().to_vec();
    assert_eq!(FrostShare::from_bytes(&good).unwrap().public(), shares[1].public());
    let public = shares[1].public().to_bytes();
    assert_eq!(&FrostPublic::from_bytes(&public).unwrap(), shares[1].public());
    let len = good.len();
    let set = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let secret_too_large = [&good[..len - 32], &[0xff; 32]].concat();
    let length = |got| DecodeError::Length { expected: len, got };
    let cases: [(&str, Vec<u8>, DecodeError); 9] = [
        ("empty", vec![], DecodeError::Length { expected: 5, got: 0 }),
        ("truncated", good[..len - 1].into(), length(len - 1)),
        ("trailing byte", [&good[..], &[0]].concat(), length(len + 1)),
        ("a public package", set(3, b'P'), DecodeError::Magic),
        ("another version", set(4, 9), DecodeError::Version(9)),
        ("another party", set(5, 3), DecodeError::Inconsistent("the share")),
        ("party zero", set(5, 0), DecodeError::Parameters),
        ("two of one", set(7, 1), DecodeError::Parameters),
        ("a secret not reduced", secret_too_large, DecodeError::Scalar("the share")),
    ];
    for (name, bytes, error) in cases {
        assert_eq!(FrostShare::from_bytes(&bytes).err(), Some(Error::Decode(error)), "{name}");
    }
    let mut low_order = public.clone();
    low_order[39..71].fill(0);
    let error = DecodeError::Point("a coefficient");
    assert_eq!(FrostPublic::from_bytes(&low_order), Err(Error::Decode(error)));
}
