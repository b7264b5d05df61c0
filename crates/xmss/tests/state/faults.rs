//! Commits that fail: the state closes, and what was leased is spent.

use super::{holder, public, take};
use std::collections::BTreeSet;
use tetralith_xmss::state::{Record, Reservations, StateError, StateStore, Volatile, create};

/// A store in memory that fails at a chosen commit, before or after it took place.
struct Faulty<'a> {
    inner: &'a mut Volatile,
    commits_left: u32,
    fails_after: bool,
}

impl StateStore for Faulty<'_> {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        self.inner.load()
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        if self.commits_left > 0 {
            self.commits_left -= 1;
            return self.inner.commit(expected, record);
        }
        if self.fails_after {
            self.inner.commit(expected, record)?;
        }
        Err(StateError::Io("injected".into()))
    }
}

#[test]
fn no_index_twice_when_any_commit_fails() {
    let key = public("XMSS-SHA2_10_256");
    for fails_after in [false, true] {
        for batch in [1, 3, 7] {
            let mut store = Volatile::new();
            create(&mut store, &key, 0, [0; 16], 0).unwrap();
            let mut used = BTreeSet::new();
            let mut signed = 0;
            for commits_left in 0..30 {
                let faulty =
                    Faulty { inner: &mut store, commits_left: commits_left % 5, fails_after };
                let mut state = Reservations::open(faulty, &key, holder()).unwrap();
                loop {
                    match take(&mut state, batch) {
                        Ok(index) => {
                            signed += 1;
                            assert!(used.insert(index), "index {index} twice");
                        }
                        Err(StateError::Io(_)) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                // Having failed, it stays closed: nobody knows what the store holds.
                if take(&mut state, batch).is_ok() {
                    panic!("signs on after a failed commit");
                }
            }
            let record = store.load().unwrap().unwrap();
            assert!(used.last().is_none_or(|last| *last < record.next));
            assert!(signed > 0 && record.used + record.lost <= record.next);
        }
    }
}

#[test]
fn a_crash_loses_what_was_leased_and_says_so() {
    let key = public("XMSS-SHA2_10_256");
    let mut store = Volatile::new();
    create(&mut store, &key, 0, [0; 16], 100).unwrap();
    let mut state = Reservations::open(
        Faulty { inner: &mut store, commits_left: 99, fails_after: false },
        &key,
        holder(),
    )
    .unwrap();
    let lease = state.reserve(50, 101).unwrap();
    assert_eq!((lease.range, lease.fencing), (0..50, 2));
    for index in 0..10 {
        assert_eq!(take(&mut state, 1), Ok(index));
    }
    assert_eq!(state.status().leased, 50);
    drop(state); // A crash: nothing is written.
    let mut state = Reservations::open(
        Faulty { inner: &mut store, commits_left: 99, fails_after: false },
        &key,
        holder(),
    )
    .unwrap();
    assert_eq!(state.status().leases[0].holder, holder());
    assert_eq!(take(&mut state, 4), Ok(50));
    assert_eq!(take(&mut state, 4), Ok(51));
    let status = state.close(102).unwrap();
    // Of the first lease nobody knows how many were used; of the second, two of four.
    assert_eq!((status.used, status.lost, status.leased, status.left), (2, 52, 0, 970));
    assert_eq!((status.created, status.updated, status.leases), (100, 102, vec![]));
}

/// What the tests above are for: a store that acknowledges and forgets is found out.
#[test]
fn a_store_that_forgets_gives_an_index_twice() {
    struct Forgetful<'a>(&'a mut Volatile, Option<Record>);
    impl StateStore for Forgetful<'_> {
        fn load(&mut self) -> Result<Option<Record>, StateError> {
            self.0.load()
        }
        fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
            // Every other record is kept for the next commit, as a write cache would.
            match self.1.take() {
                Some(first) => {
                    self.0.commit(expected.map(|epoch| epoch - 1), &first)?;
                    self.0.commit(expected, record)
                }
                None => {
                    self.1 = Some(record.clone());
                    Ok(())
                }
            }
        }
    }
    let key = public("XMSS-SHA2_10_256");
    let mut store = Volatile::new();
    create(&mut store, &key, 0, [0; 16], 0).unwrap();
    let mut given = Vec::new();
    for _ in 0..2 {
        let mut state = Reservations::open(Forgetful(&mut store, None), &key, holder()).unwrap();
        given.extend((0..3).map(|_| take(&mut state, 1).unwrap()));
    }
    assert_eq!(given, [0, 1, 2, 2, 3, 4]);
}
