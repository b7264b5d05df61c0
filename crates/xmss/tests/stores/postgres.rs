//! What PostgreSQL alone does: timelines, isolation, and settings that lose commits.

use super::server::Server;
use super::servers::Postgres;
use super::{key, signer, take};
use std::collections::BTreeSet;
use tetralith_xmss::state::{PostgresStore, Reservations, StateError, create, key_id, restore};

#[test]
fn postgres_on_another_timeline_is_a_copy() {
    let mut server = Postgres::start_with(&["restore_command = 'false'"], &[]);
    let open = |server: &Postgres| PostgresStore::open(&server.address(), key_id(&key()));
    let mut store = open(&server).unwrap();
    create(&mut store, &key(), 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key(), signer("timeline")).unwrap();
    assert_eq!(take(&mut state, 2), Ok(0));
    // A server that crashed is itself.
    server.kill();
    server.up();
    assert_eq!(take(&mut state, 2), Ok(1));
    assert!(matches!(take(&mut state, 2), Err(StateError::Io(_))));
    assert_eq!(take(&mut state, 2), Ok(2));
    server.kill();
    server.promote();
    assert_eq!(take(&mut state, 1), Ok(3));
    assert!(matches!(take(&mut state, 1), Err(StateError::Io(_))));
    for _ in 0..2 {
        assert_eq!(take(&mut state, 1), Err(StateError::Copied));
    }
    let mut store = open(&server).unwrap();
    restore(&mut store, &key(), 10, None, [8; 16], 6).unwrap();
    assert_eq!(take(&mut state, 1), Ok(10));
}

/// Where transactions are serializable the server tells the slower of two otherwise.
#[test]
fn postgres_signers_race_in_serializable_transactions() {
    let server = Postgres::start_with(&["default_transaction_isolation = 'serializable'"], &[]);
    let open = || PostgresStore::open(&server.address(), key_id(&key())).unwrap();
    create(&mut open(), &key(), 0, [7; 16], 5).unwrap();
    let mut indices = BTreeSet::new();
    std::thread::scope(|scope| {
        let racing = ["a", "b", "c"].map(|name| {
            let store = open();
            scope.spawn(move || {
                let mut state = Reservations::open(store, &key(), signer(name)).unwrap();
                (0..60).map(|_| take(&mut state, 1).unwrap()).collect::<Vec<_>>()
            })
        });
        for index in racing.into_iter().flat_map(|thread| thread.join().unwrap()) {
            assert!(indices.insert(index), "{index} twice");
        }
    });
    assert_eq!(indices, (0..180).collect());
}

#[test]
fn postgres_must_sync() {
    let server = Postgres::start_with(&["fsync = off"], &[]);
    let mut store = PostgresStore::open(&server.address(), key_id(&key())).unwrap();
    let refused = create(&mut store, &key(), 0, [7; 16], 5).unwrap_err();
    assert!(refused.to_string().contains("fsync = off"), "{refused}");
    // A server that would acknowledge before it syncs is asked for more at each commit.
    let server = Postgres::start_with(&["synchronous_commit = off"], &[]);
    let mut store = PostgresStore::open(&server.address(), key_id(&key())).unwrap();
    create(&mut store, &key(), 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key(), signer("sync")).unwrap();
    assert_eq!(state.reserve(3, 0).unwrap().range, 0..3);
}
