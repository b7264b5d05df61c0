//! Signers that share a store in memory, which fails as networks do.

use super::{holder, public, take};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use tetralith_xmss::state::{
    Holder, Record, Reservations, StateError, StateStore, Volatile, create,
};

/// A store in memory that signers share, with commits that fail before or after they took place.
struct Shared<'a> {
    inner: &'a RefCell<Volatile>,
    /// 0 for a commit that goes well, 1 and 2 for one that fails before and after.
    fault: &'a Cell<u8>,
}

impl StateStore for Shared<'_> {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        self.inner.borrow_mut().load()
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        let fault = self.fault.take();
        if fault == 1 {
            return Err(StateError::Io("injected before".into()));
        }
        self.inner.borrow_mut().commit(expected, record)?;
        if fault == 2 {
            return Err(StateError::Io("injected after".into()));
        }
        Ok(())
    }

    fn shared(&self) -> bool {
        true
    }
}

/// Three signers of one key do what they please, fail, crash and come again, in a random order.
#[test]
fn no_index_twice_when_signers_share_a_store() {
    let key = public("XMSS-SHA2_20_256");
    for seed in 1..=200u64 {
        let mut random = seed.wrapping_mul(0x9e3779b97f4a7c15);
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let (inner, fault) = (RefCell::new(Volatile::new()), Cell::new(0));
        let open = |name: usize| {
            let store = Shared { inner: &inner, fault: &fault };
            let holder = Holder { pid: name as u32, host: "shared".into() };
            Reservations::open(store, &key, holder).unwrap()
        };
        create(&mut Shared { inner: &inner, fault: &fault }, &key, 0, [0; 16], 0).unwrap();
        let mut signers: Vec<_> = (0..3).map(open).collect();
        let (mut given, mut fence) = (BTreeSet::new(), 0);
        let mut last = [0; 3];
        for _ in 0..300 {
            let who = draw(3) as usize;
            fault.set([0, 0, 0, 1, 2][draw(5) as usize]);
            let batch = 1 + draw(5);
            match draw(8) {
                0 => signers[who] = open(who),
                1 => {
                    if let Ok(lease) = signers[who].reserve_for(batch, 0) {
                        assert!(lease.fencing > fence, "seed {seed}");
                        fence = lease.fencing;
                        assert!(lease.range.into_iter().all(|index| given.insert(index)));
                    }
                }
                2 => {
                    let signer = std::mem::replace(&mut signers[who], open(who));
                    let _ = signer.close(0);
                }
                _ => {
                    if let Ok(index) = signers[who].next(batch, 0) {
                        assert!(given.insert(index.value()), "seed {seed}: {index:?} twice");
                        assert!(index.fencing() >= last[who], "seed {seed}: {index:?}");
                        last[who] = index.fencing();
                    }
                }
            }
            let record = inner.borrow_mut().load().unwrap().unwrap();
            assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record.clone()));
            assert!(given.last().is_none_or(|last| *last < record.next));
        }
    }
}

/// Two histories with the same epochs: a store was put back, and another signer went on from there.
#[test]
fn a_signer_at_work_notices_another_history() {
    let key = public("XMSS-SHA2_10_256");
    let (inner, fault) = (RefCell::new(Volatile::new()), Cell::new(0));
    let shared = || Shared { inner: &inner, fault: &fault };
    create(&mut shared(), &key, 0, [0; 16], 0).unwrap();
    let backup = inner.borrow_mut().load().unwrap().unwrap();
    let mut first = Reservations::open(shared(), &key, Holder::new("first")).unwrap();
    assert_eq!(take(&mut first, 5), Ok(0));
    let mut again = Volatile::new();
    again.commit(None, &backup).unwrap();
    inner.replace(again);
    let mut second = Reservations::open(shared(), &key, Holder::new("second")).unwrap();
    assert_eq!(take(&mut second, 5), Ok(0));
    fault.set(1);
    assert!(matches!(first.reserve(1, 0), Err(StateError::Io(_))));
    assert_eq!(first.reserve(1, 0), Err(StateError::Copied));
}

/// A store was put back while a signer was at work, and has no note of what it held.
#[test]
fn a_signer_at_work_notices_an_older_record() {
    let key = public("XMSS-SHA2_10_256");
    let (inner, fault) = (RefCell::new(Volatile::new()), Cell::new(0));
    let shared = || Shared { inner: &inner, fault: &fault };
    create(&mut shared(), &key, 0, [0; 16], 0).unwrap();
    let backup = inner.borrow_mut().load().unwrap().unwrap();
    let mut signer = Reservations::open(shared(), &key, Holder::new("signer")).unwrap();
    assert_eq!(take(&mut signer, 1), Ok(0));
    let mut again = Volatile::new();
    again.commit(None, &backup).unwrap();
    inner.replace(again);
    // Its next commit finds another record, so it reads that one.
    for _ in 0..2 {
        assert_eq!(
            signer.reserve(1, 0),
            Err(StateError::RolledBack { what: "epoch", found: 1, seen: 2 })
        );
    }
}

#[test]
fn a_shared_record_stays_small() {
    let key = public("XMSS-SHA2_20_256");
    let (inner, fault) = (RefCell::new(Volatile::new()), Cell::new(0));
    create(&mut Shared { inner: &inner, fault: &fault }, &key, 0, [0; 16], 0).unwrap();
    for round in 0..100 {
        // Each crashes with its lease open.
        let store = Shared { inner: &inner, fault: &fault };
        let mut state = Reservations::open(store, &key, holder()).unwrap();
        assert_eq!(take(&mut state, 3), Ok(3 * round));
    }
    let record = inner.borrow_mut().load().unwrap().unwrap();
    assert_eq!((record.leases.len(), record.lost, record.next), (64, 36 * 3, 300));
}
