//! The state: no index twice, whatever fails or is killed.

#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tetralith_xmss::state::{
    FileStore, Holder, Record, Reservations, SqliteStore, StateError, StateStore, Volatile, create,
    restore,
};
use tetralith_xmss::{
    Derivation, Error, HashFunction, Params, Progress, PublicKey, SecretKey, Signer,
};

/// A public key of a height; states do not care whether anybody has its secret.
fn public(name: &str) -> PublicKey {
    let params = Params::from_name(name).unwrap();
    PublicKey::from_parts(params, &vec![1; 2 * params.n()]).unwrap()
}

fn holder() -> Holder {
    Holder::new("test")
}

/// Takes an index; what it would sign is of no matter here.
fn take<S: StateStore>(state: &mut Reservations<S>, batch: u64) -> Result<u64, StateError> {
    state.next(batch, 0).map(|index| index.value())
}

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

/// The tests that every store on a disk must pass.
trait Disk: StateStore + Sized + std::fmt::Debug {
    const NAME: &'static str;
    fn at(path: &Path, holder: &Holder) -> Result<Self, StateError>;
    fn look(path: &Path) -> Result<Record, StateError>;
}

impl Disk for FileStore {
    const NAME: &'static str = "file";
    fn at(path: &Path, holder: &Holder) -> Result<Self, StateError> {
        FileStore::open(path, holder)
    }
    fn look(path: &Path) -> Result<Record, StateError> {
        FileStore::peek(path)
    }
}

impl Disk for SqliteStore {
    const NAME: &'static str = "sqlite";
    fn at(path: &Path, holder: &Holder) -> Result<Self, StateError> {
        SqliteStore::open(path, holder)
    }
    fn look(path: &Path) -> Result<Record, StateError> {
        SqliteStore::peek(path)
    }
}

fn disk_store_keeps_its_promises<D: Disk>() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let key = public("XMSS-SHA2_20_256");
    assert_eq!(D::look(&path).unwrap_err(), StateError::Missing);
    let mut store = D::at(&path, &holder()).unwrap();
    create(&mut store, &key, 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key, holder()).unwrap();
    assert_eq!(take(&mut state, 10), Ok(0));
    // A second opening is told who has it; reading is allowed.
    let held = D::at(&path, &Holder { pid: 1, host: "other".into() }).err().unwrap();
    assert_eq!(held, StateError::Held(holder()));
    assert_eq!(D::look(&path).unwrap().next, 10);
    drop(state);
    // It is all there when opened again, and a commit on an old epoch is refused.
    let mut store = D::at(&path, &holder()).unwrap();
    let record = store.load().unwrap().unwrap();
    assert_eq!((record.next, record.epoch, record.store_id), (10, 2, [7; 16]));
    let mut stale = record.clone();
    stale.epoch = 3;
    assert_eq!(store.commit(Some(1), &stale), Err(StateError::Conflict { expected: Some(1) }));
    assert_eq!(store.commit(None, &stale), Err(StateError::Conflict { expected: None }));
    assert_eq!(store.load().unwrap(), Some(record));
    drop(store);
    // What a crash may leave aside is no obstacle.
    std::fs::write(folder.path().join("state.new"), b"half a").unwrap();
    let mut state = Reservations::open(D::at(&path, &holder()).unwrap(), &key, holder()).unwrap();
    assert_eq!(take(&mut state, 10), Ok(10));
    state.close(0).unwrap();
    // A record put back from a backup is found out, and goes on only past what is spent.
    let old = std::fs::read(&path).unwrap();
    let mut state = Reservations::open(D::at(&path, &holder()).unwrap(), &key, holder()).unwrap();
    assert_eq!(take(&mut state, 10), Ok(20));
    state.close(0).unwrap();
    std::fs::write(&path, old).unwrap();
    let rolled = Reservations::open(D::at(&path, &holder()).unwrap(), &key, holder());
    assert_eq!(rolled.unwrap_err(), StateError::RolledBack { what: "epoch", found: 4, seen: 6 });
    let mut store = D::at(&path, &holder()).unwrap();
    // Not even the state of the backup: this place knows of more.
    let backward = StateError::Backward { asked: 29, next: 30 };
    assert_eq!(restore(&mut store, &key, 29, None, [8; 16], 0), Err(backward));
    restore(&mut store, &key, 30, None, [8; 16], 0).unwrap();
    drop(store);
    let mut state = Reservations::open(D::at(&path, &holder()).unwrap(), &key, holder()).unwrap();
    assert_eq!(take(&mut state, 10), Ok(30));
    state.close(0).unwrap();
    // So is one whose epochs another copy of it has raised since, with fewer indices.
    let mut raised = D::look(&path).unwrap();
    raised.epoch += 100;
    raised.skipped -= 5;
    raised.next -= 5;
    let mut store = D::at(&path, &holder()).unwrap();
    let epoch = store.load().unwrap().unwrap().epoch;
    let lock = folder.path().join("state.lock");
    let noted = std::fs::read(&lock).unwrap();
    store.commit(Some(epoch), &raised).unwrap();
    drop(store);
    std::fs::write(&lock, noted).unwrap();
    let rolled = Reservations::open(D::at(&path, &holder()).unwrap(), &key, holder());
    let went_back =
        StateError::RolledBack { what: "index", found: raised.next, seen: raised.next + 5 };
    assert_eq!(rolled.unwrap_err(), went_back);
    // A copy of the whole folder is found out.
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    let store = D::at(&copy.path().join("state"), &holder()).unwrap();
    assert_eq!(Reservations::open(store, &key, holder()).unwrap_err(), StateError::Copied);
    let mut store = D::at(&copy.path().join("state"), &holder()).unwrap();
    restore(&mut store, &key, 40, None, [9; 16], 0).unwrap();
    let mut state = Reservations::open(store, &key, holder()).unwrap();
    assert_eq!(take(&mut state, 1), Ok(40));
    drop(state);
    // Damage is found out.
    std::fs::write(&path, b"tetralith xmss state 1\nnothing").unwrap();
    for aside in ["state-wal", "state-shm"] {
        let _ = std::fs::remove_file(folder.path().join(aside));
    }
    let damaged = D::at(&path, &holder()).and_then(|mut store| store.load());
    let other_kind = matches!(damaged, Err(StateError::Kind(_))) && D::NAME == "sqlite";
    assert!(other_kind || matches!(damaged, Err(StateError::Damaged(_))), "{damaged:?}");
    // A store of the other kind is named, and nothing of it is touched.
    let other = folder.path().join("other");
    let kind = if D::NAME == "sqlite" {
        let mut store = FileStore::open(&other, &holder()).unwrap();
        create(&mut store, &key, 0, [7; 16], 5).unwrap();
        drop(store);
        SqliteStore::glance(&other).unwrap_err()
    } else {
        let mut store = SqliteStore::open(&other, &holder()).unwrap();
        create(&mut store, &key, 0, [7; 16], 5).unwrap();
        drop(store);
        FileStore::glance(&other).unwrap_err()
    };
    assert!(matches!(kind, StateError::Kind(_)), "{kind:?}");
}

#[test]
fn file_store_keeps_its_promises() {
    disk_store_keeps_its_promises::<FileStore>();
}

#[test]
fn sqlite_store_keeps_its_promises() {
    disk_store_keeps_its_promises::<SqliteStore>();
}

/// What a kill may leave of a commit, at every byte that was written and at every step between.
#[test]
fn file_store_is_whole_at_every_write() {
    let key = public("XMSS-SHA2_10_256");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let mut store = FileStore::open(&path, &holder()).unwrap();
    create(&mut store, &key, 0, [7; 16], 0).unwrap();
    let old = store.load().unwrap().unwrap();
    let mut state = Reservations::open(store, &key, holder()).unwrap();
    state.reserve(5, 0).unwrap();
    drop(state);
    let new = FileStore::peek(&path).unwrap();
    let bytes = new.to_bytes();
    for count in 0..=bytes.len() {
        // The file aside is partly or wholly written, and not renamed yet.
        std::fs::write(&path, old.to_bytes()).unwrap();
        std::fs::write(folder.path().join("state.new"), &bytes[..count]).unwrap();
        let mut store = FileStore::open(&path, &holder()).unwrap();
        assert_eq!(store.load().unwrap(), Some(old.clone()), "{count} bytes");
        // Whatever lies there, the commit that is made again is whole.
        store.commit(Some(old.epoch), &new).unwrap();
        assert_eq!(FileStore::peek(&path), Ok(new.clone()), "{count} bytes");
    }
}

/// As above for SQLite: the log of writes is cut at every hundred bytes.
#[test]
fn sqlite_store_is_whole_at_every_write() {
    let key = public("XMSS-SHA2_10_256");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let mut store = SqliteStore::open(&path, &holder()).unwrap();
    create(&mut store, &key, 0, [7; 16], 0).unwrap();
    let before = std::fs::metadata(folder.path().join("state-wal")).unwrap().len() as usize;
    let old = store.load().unwrap().unwrap();
    let mut state = Reservations::open(store, &key, holder()).unwrap();
    state.reserve(5, 0).unwrap();
    // As the files are while the connection is open: a kill leaves them so.
    let (database, wal) =
        (std::fs::read(&path).unwrap(), std::fs::read(folder.path().join("state-wal")).unwrap());
    let new = SqliteStore::peek(&path).unwrap();
    assert!(new.epoch == old.epoch + 1 && wal.len() > before);
    let mut found = BTreeSet::new();
    for end in (before..wal.len()).step_by(100).chain([wal.len()]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        std::fs::write(&path, &database).unwrap();
        std::fs::write(folder.path().join("state-wal"), &wal[..end]).unwrap();
        let record = SqliteStore::peek(&path).unwrap();
        assert!(record == old || record == new, "{end} bytes");
        found.insert(record.epoch);
    }
    assert_eq!(found, BTreeSet::from([old.epoch, new.epoch]));
}

/// The child of `killed_in_a_loop`: takes indices and says so, until it is killed.
#[test]
fn child_signs_until_killed() {
    let Ok(path) = std::env::var("TETRALITH_TEST_STATE") else { return };
    let kind = std::env::var("TETRALITH_TEST_STORE").unwrap();
    fn run<D: Disk>(path: &Path) {
        let key = public("XMSS-SHA2_20_256");
        let store = D::at(path, &holder()).unwrap();
        let mut state = Reservations::open(store, &key, holder()).unwrap();
        for i in 0.. {
            let index = take(&mut state, 1 + i % 4).unwrap();
            // The signature leaves: written at once, as one line.
            println!("signed {index}");
        }
    }
    if kind == FileStore::NAME {
        run::<FileStore>(Path::new(&path));
    } else {
        run::<SqliteStore>(Path::new(&path));
    }
}

fn killed_in_a_loop<D: Disk>() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let key = public("XMSS-SHA2_20_256");
    create(&mut D::at(&path, &holder()).unwrap(), &key, 0, [7; 16], 0).unwrap();
    let slow = std::env::var_os("TETRALITH_SLOW").is_some();
    let rounds: u64 = if slow { 2000 } else { 400 };
    if !slow {
        println!("{rounds} kills; 2000 with TETRALITH_SLOW=1");
    }
    let mut used = BTreeSet::new();
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_signs_until_killed", "--nocapture"])
            .env("TETRALITH_TEST_STATE", &path)
            .env("TETRALITH_TEST_STORE", D::NAME)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Wait until it works, then kill it somewhere within a few commits.
        let first = lines.by_ref().map_while(Result::ok).find(|line| line.contains("signed "));
        std::thread::sleep(Duration::from_micros(round * 977 % 9000));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in first.into_iter().chain(lines.map_while(Result::ok)) {
            let Some((_, index)) = line.split_once("signed ") else { continue };
            let index: u64 = index.parse().unwrap();
            assert!(used.insert(index), "{}: index {index} twice, round {round}", D::NAME);
        }
    }
    let record = D::look(&path).unwrap();
    assert!(used.len() as u64 >= rounds && used.last().is_some_and(|last| *last < record.next));
}

#[cfg(unix)]
#[test]
fn file_store_survives_kills() {
    killed_in_a_loop::<FileStore>();
}

#[cfg(unix)]
#[test]
fn sqlite_store_survives_kills() {
    killed_in_a_loop::<SqliteStore>();
}

fn small_key() -> SecretKey {
    let params = Params::qrl(HashFunction::Sha2, 6).unwrap();
    SecretKey::from_seeds(params, Derivation::PrfCounter, &[3; 96], &Progress::silent()).unwrap()
}

#[test]
fn a_signer_signs_each_index_once_and_keeps_its_trees() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("key");
    let key = small_key();
    let public = key.public_key();
    key.save_cache(&base).unwrap();
    let bytes = key.to_bytes();
    let mut store = Volatile::new();
    create(&mut store, &public, 0, [0; 16], 0).unwrap();
    let mut signer = Signer::open(SecretKey::from_bytes(&bytes).unwrap(), store, holder()).unwrap();
    signer.set_cache(&base);
    signer.set_batch(7);
    let cache = folder.path().join("key.layer0");
    let good = std::fs::read(&cache).unwrap();
    for index in 0..64u32 {
        if index == 40 {
            // A damaged cache is found and made anew, in the middle of work.
            let mut bad = good.clone();
            bad[100] ^= 1;
            std::fs::write(&cache, bad).unwrap();
        }
        let message = index.to_be_bytes();
        if index % 3 == 0 {
            // Prepared ahead, a signature is the same; the vectors hold for those that are not.
            signer.prepare_ahead(2).unwrap();
        }
        let signature = signer.sign(&message, 0).unwrap();
        assert_eq!(signature[..4], message);
        assert_eq!(public.verify(&message, &signature), Ok(()));
    }
    let exhausted = StateError::Exhausted { limit: 64 };
    assert_eq!(signer.sign(b"one more", 0), Err(Error::State(exhausted)));
    assert_eq!(signer.close(0).unwrap().used, 64);
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("key");
    let key = small_key();
    let public = key.public_key();
    key.save_cache(&base).unwrap();
    let cache = folder.path().join("key.layer0");
    let good = std::fs::read(&cache).unwrap();
    let bytes = key.to_bytes();
    let damages: [&dyn Fn(&mut Vec<u8>); 4] = [
        &|bytes| bytes[0] ^= 1,
        &|bytes| bytes[50] ^= 1,
        &|bytes| bytes.truncate(bytes.len() - 1),
        &|bytes| bytes.clear(),
    ];
    for damage in damages {
        let mut bad = good.clone();
        damage(&mut bad);
        std::fs::write(&cache, bad).unwrap();
        let mut store = Volatile::new();
        create(&mut store, &public, 5, [0; 16], 0).unwrap();
        let mut signer =
            Signer::open(SecretKey::from_bytes(&bytes).unwrap(), store, holder()).unwrap();
        signer.set_cache(&base);
        let signature = signer.sign(b"m", 0).unwrap();
        assert_eq!(public.verify(b"m", &signature), Ok(()));
        assert_eq!(std::fs::read(&cache).unwrap(), good);
    }
}
