//! Freed memory holds no secret of a folder: not of its identity, its storage key or its shares.

use crate::folder::Folder;
use crate::identity::Identity;
use crate::shares::{Key, KeyId, Shares};
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use tetralith_kernels::freed::Freed;
use tetralith_keyfile::{Cost, Protection};

const PASSPHRASE: &[u8; 16] = b"sixteen letters!";

/// The 32 bytes that a generator of this seed draws at `place`.
fn drawn(seed: u8, place: usize) -> [u8; 32] {
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let mut bytes = [0; 32];
    (0..=place).for_each(|_| rng.fill_bytes(&mut bytes));
    bytes
}

#[test]
fn nothing_is_left_of_a_folder_and_its_shares() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::new(&root.path().join("node"));
    let share: Vec<u8> = (0..40).flat_map(|i| drawn(2, i)).collect();
    let mut secrets = vec![
        ("identity".to_owned(), drawn(1, 0).to_vec()),
        ("storage key".to_owned(), drawn(1, 1).to_vec()),
        ("passphrase".to_owned(), PASSPHRASE.to_vec()),
        ("share".to_owned(), share.clone()),
    ];
    let mut freed = Freed::default();
    freed.watch(|| {
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let protection = Protection::Passphrase(PASSPHRASE);
        folder.create(protection, Cost::LEAST, &mut rng).unwrap();
    });
    let token = folder.token().unwrap();
    secrets.push(("token".to_owned(), token.as_bytes().to_vec()));
    freed.watch(|| {
        assert_eq!(folder.token().unwrap(), token);
        let opened = folder.open(Some(PASSPHRASE)).unwrap();
        let parties = vec![opened.identity.id(), Identity::from_seed(&[9; 32]).id()];
        // It moves, as it does on the way into a node's state.
        let moved = vec![opened];
        let opened = moved.into_iter().next().unwrap();
        let shares = Shares::open(&folder.shares_path(), opened.storage).unwrap();
        let key = Key {
            id: KeyId::of("scheme", &[7; 33]),
            number: 0,
            scheme: "scheme".into(),
            public_key: vec![7; 33],
            threshold: 2,
            parties,
        };
        let id = key.sharing();
        shares.insert(key, &share, &mut ChaCha20Rng::from_seed([3; 32])).unwrap();
        assert_eq!(*shares.share(&id).unwrap(), share);
    });
    assert_eq!(freed.found(&secrets), Vec::<String>::new());
}
