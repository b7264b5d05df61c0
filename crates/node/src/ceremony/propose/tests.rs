use super::*;
use crate::identity::Identity;

const ID: CeremonyId = CeremonyId([9; 32]);

fn join(from: &Identity, to: Option<PeerId>, proposal: u8, nonce: u8) -> Envelope {
    let (nonce, proposal) = ([nonce; 32].into(), [proposal; 32].into());
    let join = Join::Accept { nonce, proposal, without: Vec::new() };
    Envelope::open(&Envelope::seal(from, ID, to, 0, &Body::Join(join))).unwrap()
}

fn gathering(nodes: &[Identity], needed: usize) -> Gathering {
    let me = nodes[0].id();
    Gathering {
        me,
        proposal: [7; 32],
        needed,
        order: nodes.iter().map(Identity::id).collect(),
        joins: HashMap::from([(me, vec![0])]),
        refusals: HashMap::new(),
        codes: HashMap::new(),
        wrong: HashMap::new(),
        unreachable: HashMap::new(),
        late: HashSet::new(),
        suspects: Suspects::default(),
        remembered: Suspects::default(),
        early: Vec::new(),
        begun: Instant::now(),
        expired: false,
    }
}

/// Whoever joins something else is left out and blamed, and the ceremony goes on without it.
#[test]
fn a_wrong_join_is_its_senders_fault() {
    let nodes: Vec<_> = (1..=4).map(|seed| Identity::from_seed(&[seed; 32])).collect();
    let me = Some(nodes[0].id());
    for wrong in [
        join(&nodes[1], me, 8, 1),
        join(&nodes[1], None, 7, 1),
        join(&nodes[1], Some(nodes[2].id()), 7, 1),
    ] {
        let mut gathering = gathering(&nodes, 3);
        let payload = hex::encode(wrong.payload());
        gathering.take(wrong);
        assert!(gathering.chosen(false).is_none());
        gathering.take(join(&nodes[2], me, 7, 2));
        gathering.take(join(&nodes[3], me, 7, 3));
        // A good one afterwards does not help: an honest node sends no other.
        gathering.take(join(&nodes[1], me, 7, 1));
        let Some(Ok(start)) = gathering.chosen(false) else { panic!("a start") };
        let good = [join(&nodes[2], me, 7, 2), join(&nodes[3], me, 7, 3)];
        assert!(good.iter().all(|join| start.joins.contains(&join.to_bytes().into())));
        let blames: Vec<_> = gathering.wrong_joins().collect();
        assert_eq!(blames.len(), 1);
        assert_eq!((&blames[0].peer, blames[0].round), (&nodes[1].id().to_string(), 0));
        assert_eq!(blames[0].fault, WRONG_JOIN);
        assert_eq!(blames[0].receipts[0].payload.as_ref(), Some(&payload));
    }
}

#[test]
fn without_a_quorum_the_wrong_join_is_known() {
    let nodes: Vec<_> = (1..=2).map(|seed| Identity::from_seed(&[seed; 32])).collect();
    let mut gathering = gathering(&nodes, 2);
    gathering.take(join(&nodes[1], Some(nodes[0].id()), 8, 1));
    assert!(matches!(gathering.chosen(false), Some(Err(NoQuorum))));
    assert_eq!(gathering.wrong_joins().count(), 1);
}

#[test]
fn the_first_join_stays() {
    let nodes: Vec<_> = (1..=2).map(|seed| Identity::from_seed(&[seed; 32])).collect();
    let (me, mut gathering) = (Some(nodes[0].id()), gathering(&nodes, 2));
    let first = join(&nodes[1], me, 7, 1);
    let refusal = Body::Join(Join::Refuse("no".into(), None));
    let refusal = Envelope::open(&Envelope::seal(&nodes[1], ID, me, 0, &refusal)).unwrap();
    for envelope in [first.clone(), join(&nodes[1], me, 7, 2), join(&nodes[1], me, 8, 3), refusal] {
        gathering.take(envelope);
    }
    let Some(Ok(start)) = gathering.chosen(false) else { panic!("a start") };
    assert!(start.joins.contains(&first.to_bytes().into()));
    assert_eq!(gathering.wrong_joins().count(), 0);
}

/// Who is busy says so by a code; nodes that speak version 3 have only their words for it.
#[test]
fn a_busy_node_is_known_by_its_code() {
    let nodes: Vec<_> = (1..=5).map(|seed| Identity::from_seed(&[seed; 32])).collect();
    let mut gathering = gathering(&nodes, 5);
    let refusals = [
        ("no place today", Some(refusal::BUSY)),
        (BUSY, None),
        ("no", None),
        ("no, for a reason that a later version has a code for", Some(200)),
    ];
    for (node, (reason, code)) in nodes[1..].iter().zip(refusals) {
        let body = Body::Join(Join::Refuse(reason.into(), code));
        let bytes = Envelope::seal(node, ID, Some(nodes[0].id()), 0, &body);
        gathering.take(Envelope::open(&bytes).unwrap());
    }
    let code = |node: usize| gathering.codes.get(&nodes[node].id()).copied();
    let busy = Some(refusal::BUSY);
    assert_eq!([code(1), code(2), code(3), code(4)], [busy, busy, None, Some(200)]);
    assert_eq!(gathering.refusals.len(), 4);
}

/// A refusal that makes the quorum impossible ends the gathering; who could still have answered, or said
/// that it is busy, is not absent.
#[test]
fn nobody_is_absent_before_the_time_is_up() {
    let nodes: Vec<_> = (1..=4).map(|seed| Identity::from_seed(&[seed; 32])).collect();
    let mut gathering = gathering(&nodes, 4);
    let refusal = Body::Join(Join::Refuse("no".into(), None));
    let refusal = Envelope::seal(&nodes[1], ID, Some(nodes[0].id()), 0, &refusal);
    gathering.take(Envelope::open(&refusal).unwrap());
    assert!(matches!(gathering.chosen(false), Some(Err(NoQuorum))));
    let (silent, other) = (nodes[2].id(), nodes[3].id());
    assert!(!gathering.is_absent(&silent));
    assert_eq!(gathering.absence(&silent), "had not answered yet");
    gathering.unreachable.insert(other, SendError::Busy);
    assert!(!gathering.is_absent(&other));
    gathering.unreachable.insert(other, SendError::Unreachable);
    assert!(gathering.is_absent(&other));
    gathering.expired = true;
    assert!(gathering.is_absent(&silent));
    assert_eq!(gathering.absence(&silent), "did not answer the proposal");
}

/// Lies are remembered; a node that was away, or stopped, is asked again.
#[test]
fn absence_is_not_remembered() {
    let nodes: Vec<_> = (1..=4).map(|seed| Identity::from_seed(&[seed; 32]).id()).collect();
    let job = Job::Keygen { threshold: 2 };
    let record = |peer: usize, reporter: usize, basis| {
        let mut record = new_record(ID, &job, nodes[0], &nodes);
        record.blames.push(blame(nodes[peer], nodes[reporter], 1, "", basis));
        record
    };
    let set = |places: &[usize]| places.iter().map(|place| nodes[*place]).collect::<SuspectSet>();
    for (basis, remembered) in
        [(Basis::Absence, false), (Basis::Accusation, true), (Basis::Proof, true)]
    {
        assert_eq!(lasts(&record(1, 0, basis), &set(&[1])), remembered);
        assert_eq!(lasts(&record(1, 2, basis), &set(&[1, 2])), remembered);
        // A check that named nobody lasts; a node with trouble of its own does not.
        assert!(lasts(&record(1, 0, basis), &set(&[1, 2, 3])));
        assert!(!lasts(&record(1, 0, basis), &set(&[3])));
    }
}
