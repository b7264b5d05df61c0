use std::collections::BTreeMap;

use super::*;
use crate::dkls23::commit::{blind, commit};
use crate::dkls23::dkg::Polynomial;
use crate::dkls23::keygen::label;
use crate::dkls23::proof::Proof;
use crate::engine::{Session, SessionId, Threshold};
use crate::keygen::Keygen;
use crate::keys::KeyShare;
use crate::refresh::Refresh;
use crate::sign::Sign;
use crate::sim::{Network, rng};
use crate::wire::encode_point;

/// Each party's broadcasts by round, as they were sent.
type Sent = BTreeMap<u8, BTreeMap<u8, Vec<u8>>>;

fn run<S: Session>(sessions: Vec<(PartyId, S)>) -> (Vec<S::Output>, Sent) {
    let mut sent = Sent::new();
    let outcome = Network::new(1).run_with(sessions, &mut |from, _, bytes| {
        if bytes[8] == 0 {
            sent.entry(from.get()).or_default().insert(bytes[6], bytes.clone());
        }
        true
    });
    (outcome.outputs(), sent)
}

fn keygen(t: u8, n: u8) -> (Vec<KeyShare>, Sent) {
    let threshold = Threshold::new(t, n).unwrap();
    let one = |me: PartyId| {
        (me, Keygen::new(SessionId([1; 32]), me, threshold, &mut rng(me.get().into())).unwrap())
    };
    run(threshold.parties().map(one).collect())
}

fn runs() -> [Sent; 3] {
    let (shares, keygen) = keygen(2, 3);
    let refresh = |share: &KeyShare| {
        (share.me(), Refresh::new(SessionId([2; 32]), share, &mut rng(share.me().get().into())))
    };
    let (_, refreshed) = run(shares.iter().map(refresh).collect());
    let signers = [shares[0].me(), shares[2].me()];
    let sign = |share: &KeyShare| {
        let mut rng = rng(share.me().get().into());
        let sign = Sign::new(SessionId([3; 32]), share, &signers, [4; 32], &mut rng);
        (share.me(), sign.unwrap())
    };
    let (_, signed) = run([&shares[0], &shares[2]].map(sign).into());
    [keygen, refreshed, signed]
}

#[test]
fn honest_messages_are_never_refuted() {
    for sent in runs() {
        for rounds in sent.values() {
            let all: Vec<&[u8]> = rounds.values().map(Vec::as_slice).collect();
            for end in 0..=all.len() {
                for begin in 0..=end {
                    assert_eq!(refute(&all[begin..end]), None);
                }
            }
        }
    }
}

/// Thresholds 32 apart give messages of one length: an honest message passes in its own reading.
#[test]
fn a_length_with_two_readings_convicts_nobody() {
    let (sender, context, mut rng) = (PartyId::new(1).unwrap(), [5; 32], rng(1));
    let message = |round, payload: &[u8]| {
        let header = [VERSION, KEYGEN, round, sender.get(), 0];
        [&MAGIC[..], &header, &context, payload].concat()
    };
    let mut refuted = |n: usize, bend: u8| {
        let polynomial = Polynomial::random(2, &mut rng);
        let (mut opening, opener) = (polynomial.commit().to_bytes(), blind(&mut rng));
        let public = polynomial.commit().0[0];
        let knowledge = label(&context, "knowledge", sender, None);
        let proof = Proof::new(&knowledge, polynomial.constant(), &public, &mut rng);
        opening.extend(encode_point(&proof.commitment));
        opening.extend(<[u8; 32]>::from(proof.response.to_bytes()));
        *opening.last_mut().unwrap() ^= bend;
        let first = commit(&label(&context, "polynomial", sender, None), &opening, &opener);
        let second = [&vec![0; n * HASH][..], &opening, &opener].concat();
        refute(&[&message(1, &first), &message(2, &second)])
    };
    // 2 of 100 and 34 of 67 have messages of one length.
    assert_eq!(100 * HASH + 2 * POINT, 67 * HASH + 34 * POINT);
    assert_eq!(refuted(100, 0), None);
    assert_eq!(refuted(100, 1), Some(Check::ProofOfKnowledge));
    assert_eq!(refuted(3, 1), Some(Check::ProofOfKnowledge));
}

/// Each case: run, round, place from the payload's end, and the check that fails.
#[test]
fn each_public_lie_is_refuted() {
    use Check::*;
    let runs = runs();
    let cases = [
        (0, 2, 1, Commitment),
        (0, 2, COMMITMENT + 1, Commitment),
        (1, 2, 1, Commitment),
        (2, 2, POINT + 1, Commitment),
        (2, 2, POINT, Encoding),
    ];
    for (run, round, place, check) in cases {
        let rounds = &runs[run][&1];
        let mut bent = rounds[&round].clone();
        let at = bent.len() - place;
        bent[at] ^= 0xa5;
        assert_eq!(refute(&[&rounds[&1], &bent]), Some(check), "{run} {round} {place}");
        assert_eq!(refute(&[&bent]), None, "without the commitment nothing is shown");
        // Another's commitment, another session's or a direct message proves nothing.
        let other = &runs[run].values().nth(1).unwrap()[&1];
        assert_eq!(refute(&[other, &bent]), None);
        assert_eq!(refute(&[&runs[(run + 1) % 3][&1][&1], &bent]), None);
        let mut direct = bent.clone();
        direct[8] = 3;
        assert_eq!(refute(&[&rounds[&1], &direct]), None);
    }
    let mut last = runs[2][&1][&3].clone();
    let at = last.len() - SCALAR;
    last[at..].fill(0xff);
    assert_eq!(refute(&[&last]), Some(Encoding));
    assert_eq!(refute(&[&last[..last.len() - 1]]), None, "a length that nobody accepts");
}

#[test]
fn any_bytes_are_met() {
    for length in [0, 1, 40, 41, 42, 200] {
        assert_eq!(refute(&[&vec![0; length]]), None);
        let mut bytes = [&MAGIC[..], &[VERSION, SIGN, 2, 1, 0]].concat();
        bytes.resize(HEADER.max(length), 1);
        assert_eq!(refute(&[&bytes]), None);
    }
    assert_eq!(refute(&[]), None);
}
