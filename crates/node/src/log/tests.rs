use super::*;

fn record(id: &str, started_ms: u64) -> CeremonyRecord {
    CeremonyRecord {
        id: id.into(),
        kind: "sign".into(),
        key: Some("k".into()),
        digest: Some("d".into()),
        proposer: "a".into(),
        participants: vec!["a".into(), "b".into()],
        state: State::Running,
        started_ms,
        ended_ms: None,
        result: None,
        reason: None,
        blames: Vec::new(),
    }
}

fn failed(id: &str) -> CeremonyRecord {
    let receipt = ReceiptRecord {
        to: None,
        round: 1,
        payload_hash: "00".into(),
        payload: Some("01".into()),
        signature: "02".into(),
    };
    let blame = BlameRecord {
        peer: "b".into(),
        round: 2,
        fault: "commitment".into(),
        evidence: Basis::Proof,
        reporter: "a".into(),
        receipts: vec![receipt],
        proof: Some(Proof::new([&b"message"[..]])),
    };
    CeremonyRecord {
        state: State::Failed,
        ended_ms: Some(9),
        reason: Some("blamed".into()),
        blames: vec![blame],
        ..record(id, 1)
    }
}

#[test]
fn ceremonies_and_blames_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.db");
    let log = Log::open(&path).unwrap();
    assert!(log.begin(&record("1", 1)).unwrap());
    assert!(!log.begin(&record("1", 2)).unwrap(), "a name is used once");
    log.end(&failed("1")).unwrap();
    assert!(log.begin(&record("2", 2)).unwrap());
    drop(log);
    let log = Log::open(&path).unwrap();
    assert_eq!(log.ceremony("1").unwrap().unwrap(), failed("1"));
    assert_eq!(log.ceremony("2").unwrap().unwrap().state, State::Interrupted);
    assert_eq!(log.ceremony("3").unwrap(), None);
    let latest: Vec<_> = log.latest(10).unwrap().into_iter().map(|r| r.id).collect();
    assert_eq!(latest, ["2", "1"]);
    assert_eq!(log.latest(1).unwrap().len(), 1);
}

/// Of each proposer's ceremonies without a result the latest stay; results, proofs and what others
/// proposed are not pushed out.
#[test]
fn ceremonies_without_a_result_are_pruned() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(&folder.path().join("node.db")).unwrap();
    let released = |id: String| CeremonyRecord { state: State::Released, ..record(&id, 1) };
    let held = |record: CeremonyRecord| {
        assert!(log.begin(&CeremonyRecord { state: State::Running, ..record.clone() }).unwrap());
        log.end(&record).unwrap();
    };
    held(failed("proved"));
    held(CeremonyRecord { proposer: "b".into(), ..released("of another".into()) });
    let result = Some("00".into());
    held(CeremonyRecord { state: State::Done, result, ..record("signed", 1) });
    assert!(log.begin(&record("runs", 1)).unwrap());
    for number in 0..20 {
        held(released(number.to_string()));
    }
    prune(&log.lock(), "a", 5).unwrap();
    let mut left: Vec<_> = log.latest(100).unwrap().into_iter().map(|r| r.id).collect();
    left.sort_unstable();
    assert_eq!(left, ["15", "16", "17", "18", "19", "of another", "proved", "runs", "signed"]);
    prune(&log.lock(), "a", 0).unwrap();
    assert_eq!(log.ceremony("proved").unwrap(), None);
    assert!(log.ceremony("runs").unwrap().is_some());
}

/// It happens by itself.
#[test]
fn idle_proposals_do_not_fill_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(&folder.path().join("node.db")).unwrap();
    log.lock().pragma_update(None, "synchronous", "OFF").unwrap();
    for number in 0..MOST_FAILED + 3 * PRUNE_EVERY {
        let record = record(&number.to_string(), 1);
        log.begin(&record).unwrap();
        log.end(&CeremonyRecord { state: State::Released, ..record }).unwrap();
    }
    let left = log.latest(u32::MAX).unwrap().len() as u32;
    assert!((MOST_FAILED..=MOST_FAILED + PRUNE_EVERY).contains(&left), "{left}");
}

#[test]
fn confirmations_and_approvals_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(&folder.path().join("node.db")).unwrap();
    let key = KeyId([1; 16]);
    assert!(!log.is_confirmed(&key).unwrap());
    log.confirm(&key).unwrap();
    assert!(log.is_confirmed(&key).unwrap());
    log.approve(&key, &[3; 32]).unwrap();
    assert!(log.is_approved(&key, &[3; 32]).unwrap());
    assert!(!log.is_approved(&key, &[4; 32]).unwrap());
    // Who approves a digest has not approved the resharing of that name, nor the other way round.
    assert!(!log.is_reshare_approved(&key, &[3; 32]).unwrap());
    log.approve_reshare(&key, &[4; 32]).unwrap();
    assert!(log.is_reshare_approved(&key, &[4; 32]).unwrap());
    assert!(!log.is_approved(&key, &[4; 32]).unwrap());
}

#[test]
fn another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.db");
    drop(Log::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let error = Log::open(&path).unwrap_err().to_string();
    assert!(error.contains("has version 7"), "{error}");
}

/// The first version's blames stay, and its retirements are found.
#[test]
fn the_first_version_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.db");
    let log = Log::open(&path).unwrap();
    log.begin(&record("1", 1)).unwrap();
    log.end(&CeremonyRecord { blames: Vec::new(), ..failed("1") }).unwrap();
    assert_eq!(log.retired_before().unwrap(), []);
    drop(log);
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "ALTER TABLE blame DROP COLUMN proof;
             INSERT INTO blame VALUES (1, '1', 'b', 2, 'commitment', '\"absence\"', 'a', '[]');
             CREATE TABLE retired (key TEXT, peer TEXT, ceremony TEXT, PRIMARY KEY (key, peer));
             INSERT INTO retired VALUES ('k', 'b', '1');
             PRAGMA user_version = 1;",
        )
        .unwrap();
    for _ in 0..2 {
        let log = Log::open(&path).unwrap();
        let blames = log.ceremony("1").unwrap().unwrap().blames;
        assert_eq!((blames[0].peer.as_str(), &blames[0].proof), ("b", &None));
        assert_eq!(log.retired_before().unwrap(), [("k".to_owned(), "b".to_owned())]);
    }
}
