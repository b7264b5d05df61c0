//! Signers side by side: each index once, and whatever went back or was copied is found out.

use super::server::Server;
use super::servers::{Cutter, Etcd, Postgres};
use super::{key, signer, take};
use std::collections::BTreeSet;
use std::time::Duration;
use tetralith_xmss::state::{Reservations, StateError, create, restore};

/// Two signers side by side, step by step.
fn signers_share<T: Server>() {
    let server = T::begin();
    let (url, key) = (server.address(), key());
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("key.seen");
    assert_eq!(T::look(&url, &key).unwrap_err(), StateError::Missing);
    let mut store = T::noted(&url, &key, &note);
    create(&mut store, &key, 0, [7; 16], 5).unwrap();
    assert_eq!(create(&mut store, &key, 0, [7; 16], 5), Err(StateError::Exists));
    let mut first = Reservations::open(store, &key, signer("first")).unwrap();
    let store = T::open(&url, &key).unwrap();
    let mut second = Reservations::open(store, &key, signer("second")).unwrap();
    // Each reads the same record; the later commit is made again on the earlier one.
    let a = first.reserve(10, 1).unwrap();
    let b = second.reserve(5, 1).unwrap();
    assert_eq!((a.range, a.fencing, b.range, b.fencing), (0..10, 2, 10..15, 3));
    // An old lease goes on, whatever the others do, and gives nothing but what it has.
    for index in 0..10 {
        assert_eq!(take(&mut first, 3), Ok(index));
    }
    assert_eq!(take(&mut first, 3), Ok(15));
    assert_eq!(take(&mut second, 3), Ok(10));
    let record = T::look(&url, &key).unwrap();
    let leases: Vec<_> = record.leases.iter().map(|l| (&*l.holder.host, l.from..l.end)).collect();
    assert_eq!(leases, [("second", 10..15), ("first", 15..18)]);
    assert_eq!((record.used, record.lost, record.next), (10, 0, 18));
    // Handed out for good, by the one; accounted for, by the other.
    assert_eq!(second.reserve_for(2, 1).unwrap().range, 18..20);
    let status = first.close(2).unwrap();
    assert_eq!((status.used, status.lost, status.leased), (1 + 10 + 1, 4 + 2, 2));
    // A signer that ends without a word leaves its lease open: nobody knows that it ended.
    drop(second);
    let store = T::noted(&url, &key, &note);
    let mut third = Reservations::open(store, &key, signer("third")).unwrap();
    assert_eq!(take(&mut third, 1), Ok(20));
    third.close(3).unwrap();
    // A record from before is found out by who is at work, and by the note beside the key.
    let store = T::open(&url, &key).unwrap();
    let mut working = Reservations::open(store, &key, signer("working")).unwrap();
    server.save();
    assert_eq!(take(&mut working, 4), Ok(21));
    assert_eq!(take(&mut working, 4), Ok(22));
    let store = T::noted(&url, &key, &note);
    let mut noting = Reservations::open(store, &key, signer("noting")).unwrap();
    assert_eq!(take(&mut noting, 1), Ok(25));
    server.put_back();
    let went_back = working.reserve(1, 0).unwrap_err();
    assert!(matches!(went_back, StateError::RolledBack { what: "epoch", .. }), "{went_back}");
    let store = T::noted(&url, &key, &note);
    let went_back = Reservations::open(store, &key, signer("x")).unwrap_err();
    assert!(matches!(went_back, StateError::RolledBack { what: "epoch", .. }), "{went_back}");
    // It is made usable only past what is known to be spent.
    let mut store = T::noted(&url, &key, &note);
    let backward = StateError::Backward { asked: 25, next: 26 };
    assert_eq!(restore(&mut store, &key, 25, None, [8; 16], 4), Err(backward));
    restore(&mut store, &key, 30, Some(32), [8; 16], 4).unwrap();
    let mut state = Reservations::open(store, &key, signer("last")).unwrap();
    assert_eq!(take(&mut state, 9), Ok(30));
    assert_eq!(take(&mut state, 9), Ok(31));
    assert_eq!(take(&mut state, 9), Err(StateError::Ended { until: 32 }));
    // The same record at another server is a copy.
    let record = T::look(&url, &key).unwrap();
    let (_other, url) = server.copied(&record);
    let store = T::open(&url, &key).unwrap();
    assert_eq!(Reservations::open(store, &key, signer("x")).unwrap_err(), StateError::Copied);
}

#[test]
fn postgres_signers_share_a_key() {
    signers_share::<Postgres>();
}

#[test]
fn etcd_signers_share_a_key() {
    signers_share::<Etcd>();
}

/// The network is cut when the commit is on its way: it may or may not have taken place.
fn cut_in_mid_commit<T: Server>() {
    let server = T::begin();
    let key = key();
    let cutter = Cutter::start(server.port(), T::COMMIT);
    let url = server.through(cutter.port);
    let mut store = T::open(&url, &key).unwrap();
    create(&mut store, &key, 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key, signer("cut")).unwrap();
    let mut used = BTreeSet::new();
    let mut burned = 0;
    for _ in 0..12 {
        assert!(used.insert(take(&mut state, 2).unwrap()));
        assert!(used.insert(take(&mut state, 2).unwrap()));
        let before = T::look(&server.address(), &key).unwrap();
        cutter.arm();
        let failed = state.next(2, 0).unwrap_err();
        assert!(matches!(failed, StateError::Io(_)), "{failed}");
        assert!(!failed.to_string().contains("secret"), "{failed}");
        // The server had all of it: it commits though nobody is told.
        let end = std::time::Instant::now() + Duration::from_secs(60);
        while T::look(&server.address(), &key).unwrap().epoch == before.epoch {
            assert!(std::time::Instant::now() < end, "the commit was not sent");
            std::thread::sleep(Duration::from_millis(2));
        }
        burned += 2;
    }
    assert!(used.insert(take(&mut state, 1).unwrap()));
    let status = state.close(9).unwrap();
    assert_eq!((status.used, status.lost, status.leased), (used.len() as u64, burned, 0));
    assert_eq!(status.next, used.len() as u64 + burned);
}

#[test]
fn postgres_cut_in_mid_commit() {
    cut_in_mid_commit::<Postgres>();
}

#[test]
fn etcd_cut_in_mid_commit() {
    cut_in_mid_commit::<Etcd>();
}
