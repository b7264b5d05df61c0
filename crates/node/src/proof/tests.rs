use super::*;
use crate::ecdsa::Ecdsa;
use crate::identity::Identity;
use crate::wire::{CeremonyId, Message, Start};
use libp2p::PeerId;

fn node(seed: u8) -> Identity {
    Identity::from_seed(&[seed; 32])
}

fn sealed(from: u8, to: Option<PeerId>, round: u8, body: &Body) -> Vec<u8> {
    Envelope::seal(&node(from), CeremonyId([9; 32]), to, round, body)
}

fn start(joins: u8) -> Body {
    Body::Start(Start { joins: vec![vec![joins].into()] })
}

fn message(start: u8, bytes: &[u8]) -> Body {
    Body::Protocol(Message { start: [start; 32].into(), bytes: bytes.to_vec().into() })
}

fn verify(messages: &[Vec<u8>]) -> Result<(u8, String), ProofError> {
    let proof = Proof::new(messages.iter().map(Vec::as_slice));
    // It is the same after it was written and read.
    let text = serde_json::to_vec(&proof).unwrap();
    assert_eq!(Proof::from_json(&text), Ok(proof.clone()));
    let found = proof.verify(&Ecdsa)?;
    assert_eq!(found.peer, node(1).id().to_string());
    assert_eq!(found.ceremony, "09".repeat(32));
    Ok((found.round, found.fault))
}

#[test]
fn contradictions_are_proofs() {
    let starts = [sealed(1, None, 0, &start(1)), sealed(1, None, 0, &start(2))];
    assert_eq!(verify(&starts), Ok((0, "sent two different starts".into())));
    let broadcast = |start, text: &[u8]| sealed(1, None, 2, &message(start, text));
    let found = verify(&[broadcast(1, b"a"), broadcast(1, b"b")]);
    assert_eq!(found, Ok((2, "sent two different broadcasts".into())));
}

/// The format is frozen by the file that the command's test checks.
#[test]
fn the_format_is_frozen() {
    let starts = [sealed(1, None, 0, &start(1)), sealed(1, None, 0, &start(2))];
    let proof = Proof::new(starts.iter().map(Vec::as_slice));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/tss/blame/two_starts.json");
    let frozen = std::fs::read_to_string(path).unwrap();
    assert_eq!(serde_json::to_string(&proof).unwrap() + "\n", frozen);
}

/// What an honest node may have signed, or somebody else has.
#[test]
fn nothing_else_is_a_proof() {
    let broadcast = |start, round, text: &[u8]| sealed(1, None, round, &message(start, text));
    let to = Some(node(2).id());
    let cases = [
        ("several senders", vec![sealed(1, None, 0, &start(1)), sealed(2, None, 0, &start(2))]),
        ("the same start", vec![sealed(1, None, 0, &start(1)); 2]),
        ("the same broadcast", vec![broadcast(1, 1, b"a"); 2]),
        ("after another start", vec![broadcast(1, 1, b"a"), broadcast(2, 1, b"b")]),
        ("of two rounds", vec![broadcast(1, 1, b"a"), broadcast(1, 2, b"b")]),
        ("not in order", vec![broadcast(1, 2, b"a"), broadcast(1, 1, b"b")]),
        ("one start", vec![sealed(1, None, 0, &start(1))]),
        ("direct", [b"a", b"b"].map(|text| sealed(1, to, 1, &message(1, text))).to_vec()),
        ("direct starts", [1, 2].map(|joins| sealed(1, to, 0, &start(joins))).to_vec()),
        ("a start and a message", vec![sealed(1, None, 0, &start(1)), broadcast(1, 1, b"a")]),
        ("no word about itself", vec![sealed(1, None, 0, &Body::WhichStart); 2]),
    ];
    for (name, messages) in cases {
        assert!(matches!(verify(&messages), Err(ProofError::NoFault(_))), "{name}");
    }
}

#[test]
fn malformed_and_forged_proofs_are_refused() {
    let mut forged = sealed(1, None, 0, &start(2));
    *forged.last_mut().unwrap() ^= 1;
    let found = verify(&[sealed(1, None, 0, &start(1)), forged]);
    assert_eq!(found, Err(ProofError::Signature(1)));
    let good = sealed(1, None, 0, &start(1));
    for messages in [vec![], vec![good.clone(); 9], vec![good[1..].to_vec()], vec![vec![]]] {
        assert!(matches!(verify(&messages), Err(ProofError::Malformed(_))));
    }
    let texts = [
        "",
        "[]",
        r#"{"format":"tetralith-blame/1"}"#,
        r#"{"format":"tetralith-blame/2","messages":[]}"#,
        r#"{"format":"tetralith-blame/1","messages":[],"peer":"x"}"#,
    ];
    for text in texts {
        assert!(Proof::from_json(text.as_bytes()).is_err(), "{text}");
    }
    let odd = r#"{"format":"tetralith-blame/1","messages":["0"]}"#;
    let odd = Proof::from_json(odd.as_bytes()).unwrap();
    assert!(matches!(odd.verify(&Ecdsa), Err(ProofError::Malformed(_))));
}
