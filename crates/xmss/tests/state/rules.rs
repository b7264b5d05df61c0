//! Where indices begin and end, and whose they are.

use super::{holder, public, take};
use tetralith_xmss::state::{Reservations, StateError, Volatile, create, restore};

#[test]
fn a_range_restored_elsewhere_ends() {
    let key = public("QRL-SHA2_4_256");
    let mut store = Volatile::new();
    let past_end = StateError::PastEnd { asked: 17, limit: 16 };
    assert_eq!(restore(&mut store, &key, 5, Some(17), [0; 16], 0), Err(past_end));
    let ended = |until| Err(StateError::Ended { until });
    assert_eq!(restore(&mut store, &key, 5, Some(4), [0; 16], 0), ended(4));
    restore(&mut store, &key, 5, Some(8), [0; 16], 0).unwrap();
    // Restored again without an end, it keeps the one that it had.
    restore(&mut store, &key, 6, None, [0; 16], 0).unwrap();
    assert_eq!(restore(&mut store, &key, 9, None, [0; 16], 0), ended(8));
    let mut state = Reservations::open(store, &key, holder()).unwrap();
    assert_eq!(state.status().left, 2);
    assert_eq!(take(&mut state, 4), Ok(6));
    assert_eq!(state.reserve_for(1, 0), Err(StateError::Ended { until: 8 }));
    assert_eq!(take(&mut state, 4), Ok(7));
    for _ in 0..2 {
        assert_eq!(take(&mut state, 4).map(drop), ended(8).map(drop));
        assert_eq!(state.resume_at(9, 0), ended(8));
    }
}

#[test]
fn exhaustion_is_sticky() {
    let key = public("QRL-SHA2_4_256");
    let mut store = Volatile::new();
    create(&mut store, &key, 0, [0; 16], 0).unwrap();
    let mut state = Reservations::open(store, &key, holder()).unwrap();
    assert_eq!(state.reserve(17, 0), Err(StateError::NotEnough { asked: 17, left: 16 }));
    assert_eq!(state.reserve(0, 0), Err(StateError::NotEnough { asked: 0, left: 16 }));
    // The last lease is cut to what is left; the last index is used, once.
    for index in 0..16 {
        assert_eq!(take(&mut state, 5), Ok(index));
    }
    for _ in 0..3 {
        assert_eq!(take(&mut state, 5), Err(StateError::Exhausted { limit: 16 }));
        assert_eq!(state.reserve(1, 0), Err(StateError::Exhausted { limit: 16 }));
        assert_eq!(state.resume_at(0, 0), Err(StateError::Backward { asked: 0, next: 16 }));
    }
    assert_eq!(state.close(0).unwrap().used, 16);
}

#[test]
fn resuming_goes_forward_only() {
    let key = public("XMSS-SHA2_10_256");
    let mut store = Volatile::new();
    assert_eq!(
        create(&mut store, &key, 1025, [0; 16], 0),
        Err(StateError::PastEnd { asked: 1025, limit: 1024 })
    );
    create(&mut store, &key, 300, [0; 16], 0).unwrap();
    assert_eq!(create(&mut store, &key, 400, [0; 16], 0), Err(StateError::Exists));
    let mut state = Reservations::open(store, &key, holder()).unwrap();
    assert_eq!(take(&mut state, 1), Ok(300));
    assert_eq!(state.resume_at(300, 0), Err(StateError::Backward { asked: 300, next: 301 }));
    state.resume_at(500, 0).unwrap();
    assert_eq!(take(&mut state, 1), Ok(500));
    let lease = state.reserve_for(10, 0).unwrap();
    assert_eq!(lease.range, 501..511);
    assert_eq!(take(&mut state, 1), Ok(511));
    let status = state.close(0).unwrap();
    assert_eq!((status.skipped, status.used, status.leased), (300 + 199, 3, 10));
}

#[test]
fn a_state_is_its_keys() {
    let (a, b) = (public("XMSS-SHA2_10_256"), public("XMSS-SHAKE_10_256"));
    let mut store = Volatile::new();
    create(&mut store, &a, 0, [0; 16], 0).unwrap();
    assert_eq!(Reservations::open(store, &b, holder()).unwrap_err(), StateError::OtherKey);
    let none = Reservations::open(Volatile::new(), &a, holder()).unwrap_err();
    assert_eq!(none, StateError::Missing);
}

/// What a commit leaves of an open lease is counted as lost, so it must not be given afterwards.
#[test]
fn a_lease_ends_with_the_next_commit() {
    let key = public("XMSS-SHA2_10_256");
    type Change = fn(&mut Reservations<Volatile>);
    let changes: [(Change, u64); 3] = [
        (|state| assert_eq!(state.reserve_for(3, 0).unwrap().range, 5..8), 8),
        (|state| state.resume_at(20, 0).unwrap(), 20),
        (|state| assert_eq!(state.reserve(2, 0).unwrap().range, 5..7), 5),
    ];
    for (change, next) in changes {
        let mut store = Volatile::new();
        create(&mut store, &key, 0, [0; 16], 0).unwrap();
        let mut state = Reservations::open(store, &key, holder()).unwrap();
        assert_eq!(state.reserve(5, 0).unwrap().range, 0..5);
        assert_eq!(take(&mut state, 1), Ok(0));
        change(&mut state);
        assert_eq!(take(&mut state, 1), Ok(next));
        let status = state.close(0).unwrap();
        assert_eq!((status.used, status.lost), (2, if next == 5 { 5 } else { 4 }));
    }
}
