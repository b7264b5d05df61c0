//! States that are put back, moved or made a second time, at the command.

use super::Place;
use std::fs;

/// What a place of the state is called, and the options that name it.
const STORES: [&str; 2] = ["sqlite:k.state", "file:k.state"];

impl Place {
    /// A key whose state is in a store of that name.
    fn with_store(store: &str) -> Self {
        let place = Place::new();
        place.done(&format!("keygen -o k --params QRL-SHA2_4_256 --no-passphrase --store {store}"));
        place
    }

    pub(super) fn sign_at(&self, store: &str) -> u64 {
        let line = format!("sign -k k --force m --store {store}");
        self.done(&line).object["index"].as_u64().unwrap()
    }

    fn sign_refused(&self, store: &str, code: &str) -> super::Told {
        let line = format!("sign -k k --force m --store {store}");
        self.refused(&line, 4, code)
    }
}

#[test]
fn restore_looks_at_everything_beside_the_key() {
    for store in STORES {
        let place = Place::with_store(store);
        for index in 0..3 {
            assert_eq!(place.sign_at(store), index);
        }
        let restore = "restore k --store file:o.state --resume-at";
        // The note of the key, the state itself and the note in its lock file each know.
        for gone in ["none", "k.seen", "k.state"] {
            let _ = fs::remove_file(place.at(gone));
            place.refused(&format!("{restore} 2"), 4, "state.backward").says("at least 3");
            assert!(!place.at("o.state").exists() && !place.at("o.state.lock").exists());
        }
        place.done(&format!("{restore} 3"));
        assert_eq!(place.sign_at("file:o.state"), 3);
        // A state of another name, in the key's folder.
        place.refused("restore k --store file:third --resume-at 3", 4, "state.backward");
    }
}

#[test]
fn restore_finds_a_state_by_any_name() {
    for store in STORES {
        let place = Place::with_store(store);
        for index in 0..3 {
            assert_eq!(place.sign_at(store), index);
        }
        for gone in ["k.seen", "k.state.lock"] {
            fs::remove_file(place.at(gone)).unwrap();
        }
        // The database of another key is looked at, and nothing is written to it or beside it.
        place.done("keygen -o other --params QRL-SHA2_4_256 --no-passphrase");
        fs::rename(place.at("other.state"), place.at("other.db")).unwrap();
        let before = fs::read(place.at("other.db")).unwrap();
        for (from, to) in [("k.state", "k.state"), ("k.state", "put.aside")] {
            fs::rename(place.at(from), place.at(to)).unwrap();
            let names = place.names();
            for elsewhere in ["file:o.state", "sqlite:o.state"] {
                let line = format!("restore k --store {elsewhere} --resume-at 2");
                place.refused(&line, 4, "state.backward").says("at least 3");
            }
            assert_eq!(place.names(), names);
        }
        assert_eq!(fs::read(place.at("other.db")).unwrap(), before);
        place.done("restore k --store file:o.state --resume-at 3");
    }
}

#[test]
fn a_key_has_one_state_at_a_time() {
    for store in STORES {
        let place = Place::with_store(store);
        assert_eq!(place.sign_at(store), 0);
        place.done("restore k --store file:o.state --resume-at 1");
        // Nothing was signed there yet: both states would give the same index.
        let told = place.sign_refused(store, "state.elsewhere");
        told.says("--store file:o.state");
        let status = place.done(&format!("status k --store {store}"));
        assert_eq!(status.object["refused"]["code"], "state.elsewhere");
        assert_eq!(place.sign_at("file:o.state"), 1);
        place.sign_refused(store, "state.rolled_back");
        // The folder moves, and the state with it.
        let moved = Place::new();
        for name in place.names() {
            fs::rename(place.at(&name), moved.at(&name)).unwrap();
        }
        assert_eq!(moved.sign_at("file:o.state"), 2);
    }
}

#[test]
fn a_missing_state_is_named_before_restore_is() {
    let place = Place::with_store("file:s");
    let told = place.refused("sign -k k m", 4, "state.missing");
    told.says("no state for this key at sqlite:k.state; its state is at file:s");
    let hint = told.object["hint"].as_str().unwrap();
    assert!(hint.starts_with("give --store file:s"), "{hint}");
    place.refused("status k", 4, "state.missing").says("file:s");
    // From another folder, by another name.
    fs::create_dir(place.at("sub")).unwrap();
    let mut command = place.command("status ../k");
    let told = super::told(command.current_dir(place.at("sub")).output().unwrap());
    told.says("file:../s");
}

#[test]
fn a_damaged_note_hides_no_old_state() {
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [Damage; 5] = [
        |_| Vec::new(),
        |_| b"garbage\n".to_vec(),
        |note| note[..note.len() / 4].to_vec(),
        // The index, one lower.
        |note| [&note[..19], b"1", &note[20..]].concat(),
        |note| note.iter().map(|byte| byte ^ 0x80).collect(),
    ];
    for (store, damage) in
        STORES.into_iter().flat_map(|store| damages.map(|damage| (store, damage)))
    {
        let place = Place::with_store(store);
        assert_eq!(place.sign_at(store), 0);
        let old = fs::read(place.at("k.state")).unwrap();
        assert_eq!(place.sign_at(store), 1);
        fs::write(place.at("k.state"), old).unwrap();
        let lock = fs::read(place.at("k.state.lock")).unwrap();
        fs::write(place.at("k.state.lock"), damage(&lock)).unwrap();
        // With the note beside the key, and without.
        place.sign_refused(store, "state.unnoted").says("k.state.lock");
        fs::remove_file(place.at("k.seen")).unwrap();
        place.sign_refused(store, "state.unnoted");
        let status = place.done(&format!("status k --store {store}"));
        assert_eq!(status.object["refused"]["code"], "state.unnoted");
        place.done(&format!("restore k --resume-at 2 --store {store}"));
        assert_eq!(place.sign_at(store), 2);
        // The note beside the key likewise.
        let seen = fs::read(place.at("k.seen")).unwrap();
        fs::write(place.at("k.seen"), damage(&seen)).unwrap();
        place.sign_refused(store, "state.unnoted").says("k.seen");
        place.done(&format!("restore k --resume-at 3 --store {store}"));
        assert_eq!(place.sign_at(store), 3);
    }
}
