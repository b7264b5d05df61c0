//! Keys of AidosKuneen/xmss, as that library wrote them (see vectors/xmss/PROVENANCE.md).
#![cfg(feature = "json")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use tetralith_xmss::aidos::unprotected::{UnprotectedKey, verify};
use tetralith_xmss::aidos::{Key, public_key_from_bytes, public_key_to_bytes, to_json};
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{Derivation, Error, Params, Progress, SecretKey, Signer};

fn vector(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/xmss/aidos");
    fs::read_to_string(PathBuf::from(folder).join(name)).unwrap()
}

fn bytes(name: &str) -> Vec<u8> {
    hex::decode(vector(name).trim()).unwrap()
}

fn secret(key: &Key) -> SecretKey {
    key.seeds().build(&Progress::silent()).unwrap()
}

#[test]
fn keys_signatures_and_exports_are_the_librarys() {
    for leaf in [0, 5, 100, 700, 1023, 1024] {
        let text = vector(&format!("key-{leaf}.json"));
        let key = Key::from_json(&text).unwrap();
        assert_eq!((key.leaf(), key.params()), (leaf, Params::XMSS_SHA2_10_256));
        let mut secret = secret(&key);
        key.check(&mut secret).unwrap();
        let public = secret.public_key();
        assert_eq!(public_key_to_bytes(&public).unwrap(), bytes("public.hex"));
        assert_eq!(public_key_from_bytes(&bytes("public.hex")), Ok(public.clone()));
        if leaf == 1024 {
            let past = Error::IndexOutOfRange { index: 1024, limit: 1024 };
            assert_eq!(to_json(&mut secret, leaf).unwrap_err(), past);
            continue;
        }
        let written = to_json(&mut secret, leaf).unwrap();
        if leaf < 512 {
            // Later some stacks run past the end of the tree, where we have no nodes and need none.
            assert_eq!(*written, text);
        }
        Key::from_json(&written).unwrap().check(&mut secret).unwrap();
        if [0, 700].contains(&leaf) {
            let mut store = Volatile::new();
            create(&mut store, &public, leaf, [0; 16], 0).unwrap();
            let mut signer = Signer::open(secret, store, Holder::new("test")).unwrap();
            let signature = signer.sign(b"tetralith", 0).unwrap();
            assert_eq!(signature, bytes(&format!("sig-{leaf}.hex")));
        }
    }
}

/// HMAC-SHA256 of 1, 2 and 3 with the vectors' seed.
const SEEDS: [&str; 3] = [
    "9b4c8120a4823a95f47cde17a244f4507244ee6e3957d1fab9fa29b44d3829b7",
    "4304c22c84a53755ab08ead8d97a8d429be5efa480682d7ad1da27f73e1fbe1d",
    "2a24d008789d3c74daf5e02636c675df8f09ec5e740c1bdf6305f9261f7b1c32",
];

/// Also where the traversal has run past the end of the tree.
#[test]
fn a_key_signs_by_index_and_writes_what_the_library_writes() {
    let mut key = UnprotectedKey::new(10, 0, &hex::decode(SEEDS.concat()).unwrap()).unwrap();
    for leaf in [0, 5, 100, 700, 1023, 1024] {
        assert_eq!(*key.tree_json(0, 0, leaf).unwrap(), vector(&format!("key-{leaf}.json")));
    }
    for index in [700, 0, 700] {
        let signature = key.sign_at(index, b"tetralith").unwrap();
        assert_eq!(signature, bytes(&format!("sig-{index}.hex")));
    }
    let public = bytes("public.hex");
    assert_eq!(key.root(), &public[1..33]);
    assert_eq!(verify(10, 0, &public[1..], b"tetralith", &bytes("sig-0.hex")), Ok(()));
    assert_eq!(
        verify(10, 0, &public[1..], b"other", &bytes("sig-0.hex")),
        Err(Error::Verification)
    );
    let past = Error::IndexOutOfRange { index: 1024, limit: 1024 };
    assert_eq!(key.sign_at(1024, b"").unwrap_err(), past);
    assert!(key.tree_json(0, 0, 1025).is_err() && key.tree_json(1, 0, 0).is_err());
    assert!(key.tree_json(0, 1, 0).is_err());
}

#[test]
fn every_height_and_its_hypertrees_sign_by_index() {
    for (height, layers) in [(1, 0), (2, 0), (3, 0), (7, 0), (20, 10), (20, 4), (40, 8), (60, 15)] {
        let mut key = UnprotectedKey::new(height, layers, &[7; 96]).unwrap();
        let public = [key.root(), &[7; 32]].concat();
        for index in [0, 1, (1 << height) - 1] {
            let signature = key.sign_at(index, b"m").unwrap();
            assert_eq!(signature.len(), key.signature_bytes());
            assert_eq!(
                verify(height, layers, &public, b"m", &signature),
                Ok(()),
                "{height}/{layers}"
            );
            assert!(verify(height, layers, &public, b"n", &signature).is_err());
            assert!(verify(height, layers, &public, b"m", &signature[1..]).is_err());
        }
    }
    for (height, layers) in [(0, 0), (21, 0), (40, 1), (40, 16), (20, 3), (80, 4), (30, 3)] {
        assert!(UnprotectedKey::new(height, layers, &[7; 96]).is_err(), "{height}/{layers}");
    }
}

#[test]
fn spacing_and_order_are_free() {
    let text = vector("key-5.json").replace(',', " ,\n  ");
    let text = text.replacen("\"Leaf\":5 ,\n  \"Height\":10", "\"Height\":10, \"Leaf\":5", 1);
    assert_eq!(Key::from_json(&text).unwrap().leaf(), 5);
}

/// Each case: what is replaced in a good key, by what, and the error.
#[test]
fn malformed_keys_are_refused() {
    let good = vector("key-5.json");
    let field = "a field is missing, unknown or of another type";
    let root = "\"Root\":\"/WDAmaBktk3tbNM7uRUtIRRrkrx3cWUBHTR38YIkRso=\"";
    let path = "\"Auth\":[\"BwhGiPQWO9601r2xAFfrtdgpstZSh6bQeY/e3QhXOcE=\",";
    let cases = [
        ("{\"Leaf\"", "{,\"Leaf\"", "not JSON"),
        ("\"Leaf\":5", "\"Leaf\":-5", field),
        ("\"Leaf\":5", "\"Leaf\":5.0", field),
        ("\"Leaf\":5", "\"Leaf\":4294967301", field),
        ("\"Leaf\":5", "\"Leaf\":\"5\"", field),
        ("\"Leaf\":5,", "", field),
        ("\"Leaf\":5,", "\"Leaf\":5,\"Leaf\":6,", field),
        ("\"Leaf\":5,", "\"Leaf\":5,\"Leef\":6,", field),
        ("\"Leaf\":5,", "\"leaf\":5,", field),
        ("\"Height\":10,\"Auth\"", "\"Height\":11,\"Auth\"", "not of height 10, 16 or 20"),
        ("\"Height\":10,\"Auth\"", "\"Height\":16,\"Auth\"", "a path of another height"),
        ("\"Height\":10,\"Auth\"", "\"Height\":266,\"Auth\"", "not of height 10, 16 or 20"),
        (path, "\"Auth\":[", "a path of another height"),
        (path, "\"Auth\":[null,", field),
        (root, "\"Root\":\"/WDA\"", field),
        (root, "\"Root\":\"/WDAmaBktk3tbNM7uRUtIRRrkrx3cWUBHTR38YIkRsp=\"", field),
        (root, "\"Root\":\"_WDAmaBktk3tbNM7uRUtIRRrkrx3cWUBHTR38YIkRso=\"", field),
        (root, "\"Root\":null", field),
        ("\"Stacks\":[", "\"Stacks\":[],\"x\":[", field),
        (
            "\"Stacks\":[",
            "\"Stacks\":[{\"Stack\":[],\"Height\":0,\"Leaf\":0,\"Layer\":0,\"Tree\":0},",
            "stacks of another height",
        ),
        ("\"Height\":1,\"Leaf\":6", "\"Height\":2,\"Leaf\":6", "a stack out of its place"),
        ("\"Leaf\":8,\"Layer\":0", "\"Leaf\":8,\"Layer\":1", "a stack out of its place"),
        ("\"Height\":0,\"Index\":7", "\"Height\":1,\"Index\":7", "a node above its stack"),
    ];
    for (from, to, why) in cases {
        assert!(good.contains(from), "{from}");
        let error = Key::from_json(&good.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error, Error::Malformed { what: "AidosKuneen key", why }, "{from} → {to}");
    }
    let last = good.rfind("\"Layer\":0").unwrap();
    let layered = format!("{}\"Layer\":1{}", &good[..last], &good[last + 9..]);
    let what = "AidosKuneen key";
    let malformed = |why| Error::Malformed { what, why };
    assert_eq!(Key::from_json(&layered).unwrap_err(), malformed("a tree of a hypertree"));
    assert_eq!(Key::from_json(&good[..1000]).unwrap_err(), malformed("cut short"));
    assert_eq!(Key::from_json(&format!("{good}x")).unwrap_err(), malformed("not JSON"));
    let long = " ".repeat(1 << 16) + &good;
    assert_eq!(Key::from_json(&long).unwrap_err(), malformed("longer than a key of height 20"));
    let past = good.replacen("\"Leaf\":5", "\"Leaf\":1025", 1);
    let expected = Error::IndexOutOfRange { index: 1025, limit: 1024 };
    assert_eq!(Key::from_json(&past).unwrap_err(), expected);
    assert_eq!(
        public_key_from_bytes(&[10; 64]).unwrap_err(),
        Error::Length { what: "AidosKuneen public key", expected: 65, actual: 64 }
    );
    assert!(public_key_from_bytes(&[11; 65]).is_err());
}

/// A leaf that was set back by hand no longer has its path; a changed seed no longer its root.
#[test]
fn what_does_not_fit_together_is_found() {
    let good = vector("key-5.json");
    let mut whole = secret(&Key::from_json(&good).unwrap());
    let back = Key::from_json(&good.replacen("\"Leaf\":5", "\"Leaf\":4", 1)).unwrap();
    let what = "AidosKuneen key";
    let error = Error::Malformed { what, why: "the path is not that of the leaf" };
    assert_eq!(back.check(&mut whole).unwrap_err(), error);
    let seed = good.replacen("QwTCLISl", "QwTCLISm", 1);
    let same_root = Key::from_json(&seed).unwrap();
    // SK_PRF is not in the root: it only makes the signatures' random values.
    same_root.check(&mut secret(&same_root)).unwrap();
    let other = Key::from_json(&good.replacen("m0yBIKSC", "m0yBIKSD", 1)).unwrap();
    let error = Error::Malformed { what, why: "the root is not that of the seeds" };
    assert_eq!(other.check(&mut secret(&other)).unwrap_err(), error);
}

#[test]
fn other_keys_cannot_be_written() {
    let params = Params::XMSS_SHA2_10_256;
    let make = |params, derivation| {
        SecretKey::from_seeds(params, derivation, &[3; 96], &Progress::silent()).unwrap()
    };
    let newer = to_json(&mut make(params, Derivation::PrfKeygen), 0).unwrap_err();
    assert!(matches!(newer, Error::NotAidos { .. }), "{newer}");
    let other = Params::from_name("QRL-SHA2_10_256").unwrap();
    let other = to_json(&mut make(other, Derivation::PrfCounter), 0).unwrap_err();
    assert!(matches!(other, Error::NotAidos { .. }), "{other}");
    let mut bare = SecretKey::from_bytes(&make(params, Derivation::PrfCounter).to_bytes()).unwrap();
    assert!(matches!(to_json(&mut bare, 0), Err(Error::Cache(_))));
    bare.prepare(None, &Progress::silent()).unwrap();
    to_json(&mut bare, 0).unwrap();
}
