//! The stores on a disk: locks, backups, copies, damage, and commits that were cut off.

use super::{holder, public, take};
use std::collections::BTreeSet;
use std::path::Path;
use tetralith_xmss::state::{
    FileStore, Holder, Record, Reservations, SqliteStore, StateError, StateStore, create, restore,
};

/// The tests that every store on a disk must pass.
pub(crate) trait Disk: StateStore + Sized + std::fmt::Debug {
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
    std::fs::write(folder.path().join(".state.new"), b"half a").unwrap();
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
        std::fs::write(folder.path().join(".state.new"), &bytes[..count]).unwrap();
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
