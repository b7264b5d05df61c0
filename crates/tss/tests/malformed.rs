//! Messages and encodings that must be refused, each with its error.

#![allow(clippy::unwrap_used)] // helpers outside test functions unwrap as well

use tetralith_tss::engine::{
    DecodeError, Error, MessageError, PartyId, Session, SessionId, Threshold,
};
use tetralith_tss::keygen::Keygen;
use tetralith_tss::keys::{KeyShare, PublicKeyPackage};
use tetralith_tss::sim::{Network, rng};

const HEADER: usize = 41;

fn party(id: u8) -> PartyId {
    PartyId::new(id).unwrap()
}

fn keygen(me: u8, session: u8) -> Keygen {
    let threshold = Threshold::new(2, 3).unwrap();
    let session = SessionId([session; 32]);
    Keygen::new(session, party(me), threshold, &mut rng(me.into())).unwrap()
}

#[test]
fn messages() {
    // Party 2's broadcast and its message for party 1.
    let sent = keygen(2, 1).outgoing();
    let (broadcast, direct) = (sent[0].bytes.to_vec(), sent[1].bytes.to_vec());
    let set = |at: usize, value: u8| {
        let mut bytes = broadcast.clone();
        bytes[at] = value;
        bytes
    };
    let long = [&broadcast[..], &[0]].concat();
    let other = keygen(2, 9).outgoing()[0].bytes.to_vec();
    let length = |got| MessageError::Length { expected: 32, got };
    let cases: [(&str, Vec<u8>, MessageError); 16] = [
        ("empty", vec![], MessageError::Short { expected: HEADER, got: 0 }),
        (
            "half a header",
            broadcast[..20].into(),
            MessageError::Short { expected: HEADER, got: 20 },
        ),
        ("no payload", broadcast[..HEADER].into(), length(0)),
        ("truncated", broadcast[..broadcast.len() - 1].into(), length(31)),
        ("trailing byte", long, length(33)),
        ("another magic", set(0, b'X'), MessageError::Magic),
        ("another version", set(4, 2), MessageError::Version(2)),
        ("another protocol", set(5, 2), MessageError::Protocol(2)),
        ("round zero", set(6, 0), MessageError::Round(0)),
        ("a round too many", set(6, 5), MessageError::Round(5)),
        ("another sender", set(7, 3), MessageError::Sender),
        ("no sender", set(7, 0), MessageError::Sender),
        ("another recipient", set(8, 3), MessageError::Recipient),
        ("another session", other, MessageError::Session),
        ("a changed context", set(9, broadcast[9] ^ 1), MessageError::Session),
        ("a later round's length", set(6, 2), MessageError::Length { expected: 259, got: 32 }),
    ];
    let mut session = keygen(1, 1);
    for (name, bytes, error) in cases {
        assert_eq!(session.receive(party(2), &bytes), Err(Error::Message(error)), "{name}");
    }
    let error = |error| Err(Error::Message(error));
    assert_eq!(session.receive(party(1), &broadcast), error(MessageError::Sender));
    let mut fourth = broadcast.clone();
    fourth[7] = 4;
    assert_eq!(session.receive(party(4), &fourth), error(MessageError::Sender));
    let mut no_direct = direct.clone();
    no_direct[6] = 4;
    assert_eq!(session.receive(party(2), &no_direct), error(MessageError::Kind(1)));

    assert_eq!(session.receive(party(2), &broadcast), Ok(()));
    assert_eq!(session.receive(party(2), &broadcast), error(MessageError::Duplicate));
    let mut changed = broadcast.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(session.receive(party(2), &changed), error(MessageError::Conflict));
    assert_eq!(session.receive(party(2), &direct), Ok(()));
    assert_eq!(session.waiting_for(), [party(3)]);
}

#[test]
fn key_shares_and_public_packages() {
    let sessions = (1..=3).map(|me| (party(me), keygen(me, 1))).collect();
    let shares = Network::new(1).run(sessions).outputs();
    let good = shares[1].to_bytes().to_vec();
    let again = KeyShare::from_bytes(&good).unwrap();
    assert_eq!((again.me(), again.public()), (party(2), shares[1].public()));
    assert_eq!(*again.to_bytes(), good);

    let full = good.len();
    let length = |got| DecodeError::Length { expected: full, got };
    // Magic 4, version, party, t, n, origin 32, two points of 33, then the secret.
    let secret = 8 + 32 + 66;
    let set = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let fill = |from: usize, len: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[from..from + len].fill(value);
        bytes
    };
    let cases: [(&str, Vec<u8>, DecodeError); 15] = [
        ("empty", vec![], DecodeError::Length { expected: 5, got: 0 }),
        ("four bytes", good[..4].into(), DecodeError::Length { expected: 5, got: 4 }),
        ("no points", good[..40].into(), length(40)),
        ("truncated", good[..full - 1].into(), length(full - 1)),
        ("trailing byte", [&good[..], &[0]].concat(), length(full + 1)),
        ("a public package", set(2, b'P'), DecodeError::Magic),
        ("another version", set(4, 2), DecodeError::Version(2)),
        ("party zero", set(5, 0), DecodeError::Parameters),
        ("party four of three", set(5, 4), DecodeError::Parameters),
        ("one of three", set(6, 1), DecodeError::Parameters),
        ("two of one", set(7, 1), DecodeError::Parameters),
        ("another party's share", set(5, 1), DecodeError::Inconsistent("the share")),
        ("a secret not reduced", fill(secret, 32, 0xff), DecodeError::Scalar("the share")),
        ("a secret of zero", fill(secret, 32, 0), DecodeError::Inconsistent("the share")),
        ("a point at infinity", fill(40, 33, 0), DecodeError::Point("a coefficient")),
    ];
    for (name, bytes, error) in cases {
        let found = KeyShare::from_bytes(&bytes).err();
        assert_eq!(found, Some(Error::Decode(error)), "{name}");
    }

    let public = shares[0].public().to_bytes();
    assert_eq!(&PublicKeyPackage::from_bytes(&public).unwrap(), shares[0].public());
    let cases: [(&str, Vec<u8>); 5] = [
        ("truncated", public[..public.len() - 1].into()),
        ("trailing byte", [&public[..], &[0]].concat()),
        ("a share", good),
        ("an uncompressed tag", [&public[..39], &[4], &public[40..]].concat()),
        ("no party", [&public[..5], &[2, 0], &public[7..]].concat()),
    ];
    for (name, bytes) in cases {
        let found = PublicKeyPackage::from_bytes(&bytes);
        assert!(matches!(found, Err(Error::Decode(_))), "{name}");
    }
}
