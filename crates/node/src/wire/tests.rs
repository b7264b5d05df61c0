use super::*;

fn sample(body: &Body) -> (Identity, PeerId, Vec<u8>) {
    let (a, b) = (Identity::from_seed(&[1; 32]), Identity::from_seed(&[2; 32]).id());
    let bytes = Envelope::seal(&a, CeremonyId([3; 32]), Some(b), 4, body);
    (a, b, bytes)
}

fn fail(cause: Cause) -> Body {
    Body::Fail(Fail { reason: "x".into(), cause })
}

fn accused() -> Accused {
    let proof = vec![vec![2].into()];
    Accused { peer: vec![1].into(), round: 2, check: "y".into(), absent: false, proof }
}

#[test]
fn what_is_sealed_is_received() {
    let bodies = [
        Body::Propose(Proposal {
            job: Job::Sign { key: [5; 16].into(), digest: [6; 32].into(), sharing: Some(1) },
            candidates: vec![vec![1].into(), vec![2].into()],
            nonce: [4; 32].into(),
            speaks: Some(VERSION),
        }),
        Body::Join(Join::Accept {
            nonce: [9; 32].into(),
            proposal: [10; 32].into(),
            without: vec![vec![1].into()],
        }),
        Body::Join(Join::Refuse("busy".into(), None)),
        Body::Join(Join::Refuse("busy".into(), Some(refusal::BUSY))),
        Body::Start(Start { joins: vec![vec![1, 2].into()] }),
        Body::Protocol(Message { start: [4; 32].into(), bytes: vec![7; 1000].into() }),
        Body::Done([8; 32].into()),
        fail(Cause::Own),
        fail(Cause::Accusation(vec![accused()])),
        fail(Cause::Unattributed(vec![vec![1].into()])),
        fail(Cause::Heard(vec![1].into())),
        Body::Started(vec![1].into()),
        Body::WhichStart,
    ];
    for body in bodies {
        let (a, b, bytes) = sample(&body);
        let envelope = Envelope::receive(&bytes, a.id(), b).unwrap();
        assert_eq!((envelope.from, envelope.to, envelope.round), (a.id(), Some(b), 4));
        assert_eq!(envelope.body, body);
        assert_eq!(envelope.to_bytes(), bytes);
    }
}

#[test]
fn an_envelope_is_for_its_recipient_from_its_sender() {
    let (a, b, bytes) = sample(&Body::Done([0; 32].into()));
    assert_eq!(Envelope::receive(&bytes, a.id(), a.id()), Err(WireError::Recipient));
    let stranger = Envelope::receive(&bytes, b, b);
    assert_eq!(stranger, Err(WireError::Sender));
}

#[test]
fn every_changed_byte_is_noticed() {
    let (a, b, bytes) = sample(&Body::Done([0; 32].into()));
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 1;
        assert!(Envelope::receive(&changed, a.id(), b).is_err(), "byte {index}");
        assert!(Envelope::open(&bytes[..index]).is_err(), "cut at {index}");
    }
    let trailing = [bytes.as_slice(), &[0]].concat();
    assert_eq!(Envelope::open(&trailing), Err(WireError::NotCanonical));
}

#[test]
fn other_encodings_of_the_same_value_are_refused() {
    let (_, _, bytes) = sample(&Body::Done([0; 32].into()));
    // 0x87 is an array of seven; 0x9f … 0xff the same of indefinite length.
    let indefinite = [&[0x9f], &bytes[1..], &[0xff]].concat();
    assert_eq!(Envelope::open(&indefinite), Err(WireError::NotCanonical));
    let version = [&[bytes[0], 1], &bytes[2..]].concat();
    assert_eq!(Envelope::open(&version), Err(WireError::Version(1)));
}

/// What version 3 can say is said as version 3 said it; what it cannot say has version 4, and no other.
#[test]
fn both_versions_are_understood() {
    let version = |body: &Body| {
        let (a, b, bytes) = sample(body);
        assert_eq!(Envelope::receive(&bytes, a.id(), b).unwrap().body, *body);
        let other = [&[bytes[0], bytes[1] ^ 3 ^ 4], &bytes[2..]].concat();
        assert_eq!(Envelope::open(&other), Err(WireError::NotCanonical));
        bytes[1]
    };
    assert_eq!(version(&Body::Join(Join::Refuse("busy".into(), None))), 3);
    assert_eq!(version(&Body::Join(Join::Refuse("busy".into(), Some(refusal::BUSY)))), 4);
    let proposal = |speaks| {
        let job = Job::Sign { key: [5; 16].into(), digest: [6; 32].into(), sharing: None };
        Body::Propose(Proposal { job, candidates: vec![], nonce: [4; 32].into(), speaks })
    };
    assert_eq!((version(&proposal(None)), version(&proposal(Some(VERSION)))), (3, 4));
    // A job of version 3 has two fields: the sharing is left out.
    let plain = to_bytes(&Job::Sign { key: [5; 16].into(), digest: [6; 32].into(), sharing: None });
    assert_eq!(plain[..3], [0x82, 2, 0x82]);
    assert_eq!((version(&Body::WhoStored), version(&Body::Stored(vec![]))), (4, 4));
}

#[test]
fn lists_are_bounded() {
    let job = Job::Keygen { threshold: 2 };
    let item = || ByteVec::from(vec![1]);
    let bodies = |count: usize| {
        let candidates = (0..count).map(|_| item()).collect();
        let joins = (0..count).map(|_| item()).collect();
        let accused_all = (0..count).map(|_| accused()).collect();
        let items = || (0..count).map(|_| item()).collect::<Vec<_>>();
        let (nonce, proposal) = ([9; 32].into(), [10; 32].into());
        let proven = Accused { proof: items(), ..accused() };
        vec![
            Body::Propose(Proposal {
                job: job.clone(),
                candidates,
                nonce: [4; 32].into(),
                speaks: None,
            }),
            Body::Start(Start { joins }),
            Body::Join(Join::Accept { nonce, proposal, without: items() }),
            fail(Cause::Accusation(accused_all)),
            fail(Cause::Accusation(vec![proven])),
            fail(Cause::Unattributed(items())),
        ]
    };
    for body in bodies(255) {
        assert_eq!(from_bytes::<Body>(&to_bytes(&body)), Ok(body));
    }
    for body in bodies(256) {
        let Err(WireError::Malformed(why)) = from_bytes::<Body>(&to_bytes(&body)) else {
            panic!("{body:?}")
        };
        assert!(why.contains("a list of more than 255"), "{why}");
    }
    // A length that no message can hold takes no memory.
    let huge = [&[0x82, 3, 0x81, 0x81, 0x9b][..], &[0x7f; 8]].concat();
    let Err(WireError::Malformed(why)) = from_bytes::<Body>(&huge) else { panic!("accepted") };
    assert!(why.contains("a list of more than 255"), "{why}");
}

#[test]
fn the_encoding_is_frozen() {
    let (_, _, bytes) = sample(&Body::Join(Join::Refuse("busy".into(), None)));
    let hash = hex::encode(Sha256::digest(&bytes));
    assert_eq!(hash, "1539b7ccb87b9d75262f66516211c55c4c28ec6f9a9fbad4b21a539abe5634cf");
}
