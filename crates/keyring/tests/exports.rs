//! Exports that are interrupted at every step: nothing is lost, and no index is used twice.

use rand_core::{Rng, SeedableRng};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tetralith_keyfile::Protection;
use tetralith_keyring::{Error, Keyring, NewKey, Options, Secret};
use tetralith_xmss::state::StateError;
use tetralith_xmss::{HashFunction, Progress, qrl};
use zeroize::Zeroizing;

type Random = chacha20::ChaCha20Rng;

/// A key of 16 signatures, of which one was made.
struct Place {
    folder: TempDir,
    keyring: Keyring,
    rng: Random,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut rng = Random::from_seed([7; 32]);
        let mut seed = [0; 48];
        rng.fill_bytes(&mut seed);
        let descriptor = qrl::Descriptor::new(HashFunction::Sha2, 4).expect("of height 4");
        let seed = qrl::ExtendedSeed::new(descriptor, &seed);
        let key = seed.secret_key(&Progress::silent()).expect("computed");
        let secret = Secret { key, qrl: Some(seed) };
        let path = folder.path().join("key");
        let new = NewKey::new(&secret, Protection::None);
        let keyring = Keyring::create(&path, &Options::default(), new, 0, &mut rng);
        let keyring = keyring.expect("created");
        let mut signer = keyring.signer(None).expect("opened");
        signer.sign(b"message", 0).expect("signed");
        signer.close(0).expect("closed");
        Self { folder, keyring, rng }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exports, up to the step before the file gets its name.
    fn begin(&mut self, output: Option<&Path>) -> (bool, u64, u64) {
        let mut export = self.keyring.export(output, "word", false).expect("begun");
        let found = (export.is_waiting(), export.next(), export.left());
        if !found.0 {
            let content = Zeroizing::new(b"the secret".to_vec());
            export.write(content, 0, &mut self.rng).expect("written");
        }
        found
    }

    fn left_aside(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.to_string_lossy().contains(".export-")).collect()
    }
}

#[test]
fn an_export_that_was_interrupted_is_finished() {
    for stream in [false, true] {
        let mut place = Place::new();
        let out = place.at("out");
        let output = (!stream).then_some(out.as_path());
        assert_eq!(place.begin(output), (false, 1, 15));
        // As a kill leaves it: spent, and the content has no name yet.
        assert!(!out.exists());
        assert_eq!(place.left_aside().len(), 1);
        let refused = place.keyring.signer(None).expect("opened").sign(b"message", 0);
        assert!(refused.is_err());
        assert!(matches!(
            place.keyring.export(output, "other", false),
            Err(Error::Interrupted { form, .. }) if form == "word"
        ));
        // By another name it is not there, and to export once more would export a key without indices.
        let other = place.at("other");
        for elsewhere in [Some(other.as_path()), None].into_iter().filter(|at| *at != output) {
            let named = output.map_or("-".into(), |_| out.clone());
            assert!(matches!(
                place.keyring.export(elsewhere, "word", false),
                Err(Error::Interrupted { output, .. }) if output == named
            ));
        }
        // Found again as often as it is interrupted again.
        assert_eq!(place.begin(output), (true, 1, 15));
        let export = place.keyring.export(output, "word", false).expect("begun");
        assert!(export.is_waiting() && export.moves());
        assert_eq!(export.content().expect("read").as_slice(), b"the secret");
        export.finish(false).expect("finished");
        assert_eq!(out.exists(), !stream);
        assert!(place.left_aside().is_empty());
        // Once only.
        let mut export = place.keyring.export(output, "word", false).expect("begun");
        assert_eq!((export.is_waiting(), export.moves(), export.left()), (false, false, 0));
        export.write(Zeroizing::new(Vec::new()), 0, &mut place.rng).expect("written");
    }
}

#[test]
fn an_export_that_never_spent_anything_is_worthless() {
    let place = Place::new();
    let out = place.at("out");
    // As a kill before the commit leaves it.
    let mark = "0123456789abcdef0123456789abcdef";
    let aside = place.at(&format!(".out.export-{mark}"));
    let note = format!("tetralith xmss export 1\n{mark} 1 word\n{}\n", out.display());
    fs::write(place.at("key.exported"), &note).expect("written");
    fs::write(&aside, "an old secret").expect("written");
    let mut signer = place.keyring.signer(None).expect("opened");
    signer.sign(b"message", 0).expect("signed");
    signer.close(0).expect("closed");
    // All that was left is handed out by another command: the old content knows nothing of it.
    let (lease, _) = place.keyring.reserve(14, 0).expect("reserved");
    assert_eq!(lease.range, 2..16);
    let export = place.keyring.export(Some(&out), "word", false).expect("begun");
    assert_eq!((export.is_waiting(), export.left()), (false, 0));
    drop(export);
    // And where indices are left it goes.
    let mut place = Place::new();
    let (out, aside) = (place.at("out"), place.at(&format!(".out.export-{mark}")));
    fs::write(place.at("key.exported"), &note).expect("written");
    fs::write(&aside, "an old secret").expect("written");
    assert_eq!(place.begin(Some(&out)), (false, 1, 15));
    assert!(!aside.exists());
}

#[test]
fn a_copy_spends_nothing_and_a_taken_name_keeps_the_content() {
    let mut place = Place::new();
    let out = place.at("out");
    let mut export = place.keyring.export(Some(&out), "word", true).expect("begun");
    export.write(Zeroizing::new(b"copy".to_vec()), 0, &mut place.rng).expect("written");
    export.finish(false).expect("finished");
    assert_eq!(place.keyring.status().expect("read").status.left, 15);
    place.begin(Some(&out));
    let export = place.keyring.export(Some(&out), "word", false).expect("begun");
    assert!(matches!(export.finish(false), Err(Error::File { .. })));
    let export = place.keyring.export(Some(&out), "word", false).expect("begun");
    assert!(export.is_waiting());
    export.finish(true).expect("finished");
    assert_eq!(fs::read(&out).expect("read"), b"the secret");
}

#[test]
fn a_second_process_is_told_who_has_the_key() {
    let place = Place::new();
    let held = place.keyring.signer(None).expect("opened");
    let options = Options { wait: std::time::Duration::ZERO, ..Options::default() };
    let second = Keyring::open(&place.at("key"), &options).expect("read");
    let refused = second.signer(None).expect_err("held");
    assert!(matches!(refused, Error::State { source: StateError::Held(_), .. }), "{refused}");
    drop(held);
    second.signer(None).expect("free");
}
