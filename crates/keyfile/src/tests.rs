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
        ("huge cost", with_cost(4_000_000_000, 2), |e| matches!(e, Error::CostOutOfBounds { .. })),
        ("wrong format", text.replace("tetralith-key", "other"), |e| {
            matches!(e, Error::Malformed(_))
        }),
    ];
    for (name, text, expected) in cases {
        let error = KeyFile::from_text(&text).expect_err(name);
        assert!(expected(&error), "{name}: {error}");
    }
}

/// The sealed file, with another cost written into it.
fn with_cost(memory_kib: u32, passes: u32) -> String {
    let text = sealed().to_text();
    let text = text.replace("\"memory_kib\": 19456", &format!("\"memory_kib\": {memory_kib}"));
    text.replace("\"passes\": 2", &format!("\"passes\": {passes}"))
}

#[test]
fn a_cost_outside_its_bounds_is_refused_before_it_is_paid() {
    let bound = Cost::MOST.memory_kib;
    // A gibibyte and 16 passes were accepted once, and a floor was missing.
    for (memory_kib, passes) in [
        (1 << 20, 16),
        (bound + 1, 2),
        (bound, 9),
        (19_455, 2),
        (19_456, 1),
        (9, 1),
        (8, 2),
        (0, 0),
    ] {
        let refused = KeyFile::from_text(&with_cost(memory_kib, passes)).unwrap_err();
        assert!(matches!(refused, Error::CostOutOfBounds { .. }), "{memory_kib} {passes}");
        let told = refused.to_string();
        assert!(told.contains("19456 to 262144 KiB and 2 to 8 passes"), "{told}");
    }
    assert!(KeyFile::from_text(&with_cost(bound, 8)).is_ok());
    let mut rng = chacha20::ChaCha20Rng::from_seed([1; 32]);
    let low = KeyFile::public("vrf", "x", &[]).seal(
        b"secret",
        Protection::Passphrase(b"pass"),
        Cost::KEY,
        &mut rng,
    );
    assert!(matches!(low, Err(Error::CostOutOfBounds { memory_kib: 8, passes: 1 })));
}

#[test]
fn a_random_key_opens_what_it_sealed_and_no_passphrase_does() {
    let mut rng = chacha20::ChaCha20Rng::from_seed([1; 32]);
    let key = [7; 32];
    let file = KeyFile::public("tss-share", "x", &[9])
        .seal(b"share", Protection::Key(&key), Cost::STANDARD, &mut rng)
        .unwrap();
    let file = KeyFile::from_text(&file.to_text()).unwrap();
    assert_eq!(file.open_with_key(&key).unwrap().as_slice(), b"share");
    assert!(matches!(file.open_with_key(&[8; 32]), Err(Error::WrongPassphrase)));
    // A file that costs a guess so little is never opened with a passphrase, whoever made it.
    assert!(matches!(file.open(Some(&key)), Err(Error::CostOutOfBounds { .. })));
    assert!(matches!(sealed().open_with_key(&key), Err(Error::NotOfKey)));
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

/// Neither the secret nor what is readable beside it can have a wrong digit that is not noticed.
#[test]
fn a_wrong_digit_in_an_unencrypted_file_is_found() {
    let mut rng = chacha20::ChaCha20Rng::from_seed([1; 32]);
    let file = KeyFile::public("xmss", "XMSS-SHA2_10_256", &[9; 8])
        .seal(b"secret", Protection::None, Cost::STANDARD, &mut rng)
        .unwrap();
    let text = file.to_text();
    let mut found = 0;
    for (at, digit) in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_hexdigit()) {
        let mut bad = text.as_bytes().to_vec();
        bad[at] = if digit == b'1' { b'2' } else { b'1' };
        let error = KeyFile::from_text(core::str::from_utf8(&bad).unwrap()).unwrap_err();
        found += usize::from(matches!(error, Error::Checksum));
    }
    assert!(found >= 2 * (8 + 6 + 32), "{found}");
}
