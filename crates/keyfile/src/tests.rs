use super::*;
use rand_core::SeedableRng;

fn sealed() -> KeyFile {
    let mut rng = chacha20::ChaCha20Rng::from_seed([1; 32]);
    KeyFile::public("vrf", "draft03-cardano", &[1, 2, 3])
        .seal(b"secret", Protection::Passphrase(b"pass"), Cost::LEAST, &mut rng)
        .unwrap()
}

#[test]
fn the_format_is_frozen() {
    assert_eq!(sealed().to_text().as_str(), include_str!("../../../vectors/keyfile/sealed.json"));
}

#[test]
fn opens_with_its_passphrase_only() {
    let file = KeyFile::from_text(&sealed().to_text()).unwrap();
    assert_eq!(file.open(Some(b"pass")).unwrap().as_slice(), b"secret");
    assert!(matches!(file.open(Some(b"Pass")), Err(Error::WrongPassphrase)));
    assert!(matches!(file.open(None), Err(Error::PassphraseNeeded)));
}

#[test]
fn the_readable_part_is_bound_to_the_secret() {
    let text = sealed().to_text();
    for (from, to) in [("010203", "010204"), ("cardano", "algoran"), ("\"vrf\"", "\"vrg\"")] {
        let file = KeyFile::from_text(&text.replace(from, to)).unwrap();
        assert!(matches!(file.open(Some(b"pass")), Err(Error::WrongPassphrase)), "{from}");
    }
}

#[test]
fn malformed_texts_are_refused() {
    let text = sealed().to_text();
    type Expected = fn(&Error) -> bool;
    let cases: [(&str, String, Expected); 8] = [
        ("empty", String::new(), |e| matches!(e, Error::Malformed(_))),
        ("truncated", text[..text.len() / 2].into(), |e| matches!(e, Error::Malformed(_))),
        ("trailing", format!("{}x", *text), |e| matches!(e, Error::Malformed(_))),
        ("respaced", text.replace("  ", " "), |e| matches!(e, Error::NotCanonical)),
        ("version", text.replace("\"version\": 1", "\"version\": 2"), |e| {
            matches!(e, Error::Version(2))
        }),
        ("unknown field", text.replace("\"kind\"", "\"sort\": 1, \"kind\""), |e| {
            matches!(e, Error::Malformed(_))
        }),
        ("huge cost", text.replace("\"memory_kib\": 8", "\"memory_kib\": 4000000000"), |e| {
            matches!(e, Error::CostOutOfBounds { .. })
        }),
        ("wrong format", text.replace("tetralith-key", "other"), |e| {
            matches!(e, Error::Malformed(_))
        }),
    ];
    for (name, text, expected) in cases {
        let error = KeyFile::from_text(&text).expect_err(name);
        assert!(expected(&error), "{name}: {error}");
    }
}

#[test]
fn an_unencrypted_file_says_so() {
    let mut rng = chacha20::ChaCha20Rng::from_seed([1; 32]);
    let file = KeyFile::public("xmss", "XMSS-SHA2_10_256", &[9])
        .seal(b"secret", Protection::None, Cost::STANDARD, &mut rng)
        .unwrap();
    let file = KeyFile::from_text(&file.to_text()).unwrap();
    assert!(!file.is_encrypted());
    assert_eq!(file.open(None).unwrap().as_slice(), b"secret");
    assert!(matches!(file.open(Some(b"x")), Err(Error::NotEncrypted)));
}
