//! Malformed input, each with the error it must get.

#![allow(clippy::unwrap_used)] // helpers of tests

use tetralith_vdf::timelock::{Header, seal};
use tetralith_vdf::{Checkpoint, Error, Modulus, Options, Proof, Prover, System, parse_hex};

#[test]
fn moduli() {
    // (2^61 − 1)^2, and its cube
    let p = (1u128 << 61) - 1;
    let square = p * p;
    let cube = {
        let low = (square & u128::from(u64::MAX)) * p;
        let high = (square >> 64) * p + (low >> 64);
        [&high.to_be_bytes()[..], &(low as u64).to_be_bytes()].concat()
    };
    type Refused = (&'static str, &'static [u8], fn(&Error) -> bool);
    let cases: &[Refused] = &[
        ("empty", &[], |e| matches!(e, Error::ModulusZero)),
        ("zero", &[0; 32], |e| matches!(e, Error::ModulusZero)),
        ("one", &[0, 0, 1], |e| matches!(e, Error::ModulusOne)),
        ("two", &[2], |e| matches!(e, Error::ModulusEven)),
        ("even", &[0xfe; 32], |e| matches!(e, Error::ModulusEven)),
        ("63 bits", &[0x7f; 8], |e| matches!(e, Error::ModulusSize { bits: 63 })),
        ("8200 bits", &[0xff; 1025], |e| matches!(e, Error::ModulusSize { bits: 8200 })),
        (
            "a prime",
            &[0x7f, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
            |e| matches!(e, Error::ModulusPrime),
        ),
        ("a cube", cube.leak(), |e| matches!(e, Error::ModulusPower { exponent: 3 })),
        ("a square", square.to_be_bytes().to_vec().leak(), |e| {
            matches!(e, Error::ModulusPower { exponent: 2 })
        }),
        // 2^67 - 1 and 2^128 + 1 are composite and have no small factor.
        ("a Mersenne number", &[7, 255, 255, 255, 255, 255, 255, 255, 255], |e| {
            matches!(e, Error::ModulusSpecial { exponent: 67, sign: '-' })
        }),
        ("a Fermat number", &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], |e| {
            matches!(e, Error::ModulusSpecial { exponent: 2, sign: '+' })
        }),
        ("3 times something", &[0xff; 16], |e| matches!(e, Error::ModulusSmallFactor)),
    ];
    for (name, bytes, expected) in cases {
        match Modulus::from_bytes(bytes).and_then(|modulus| modulus.check_provable()) {
            Err(error) if expected(&error) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Numbers of another modulus: wider, narrower, and as wide and too large.
#[test]
fn residues_of_another_modulus() {
    let modulus = Modulus::parse("cfa92a1c6559dd55bb75027437309ad3").unwrap();
    let all = |other: &Modulus| other.reduce(&[0xff; 300]).0;
    let wide = all(&Modulus::rsa2048());
    let narrow = Modulus::parse("cfa92a1c6559dd55bb7502743731").unwrap().reduce(&[2]).0;
    let large = Modulus::parse("ffffffffffffffffffffffffffffffc5").unwrap();
    let large = large.reduce(&[0xf0; 16]).0;
    for x in [wide, narrow, large] {
        let foreign = |error| matches!(error, Err(Error::ForeignResidue { what: "x", .. }));
        assert!(foreign(tetralith_vdf::Evaluation::new(&modulus, &x, 9).map(drop)), "{x}");
        for system in [System::Wesolowski, System::Segmented, System::Pietrzak] {
            let prover = Prover::new(system, &modulus, &x, 9, Options::default());
            assert!(foreign(prover.map(drop)), "{x}");
        }
        // What is compared with such a number differs from it.
        let _ = x.element(&modulus);
        let own = modulus.reduce(&[5]).0;
        let mut prover =
            Prover::new(System::Wesolowski, &modulus, &own, 9, Options::default()).unwrap();
        let (_, proof) = prover.run(&mut |_| std::ops::ControlFlow::Continue(())).unwrap();
        assert!(matches!(proof.expect_output(&x), Err(Error::OtherOutput)));
        assert!(matches!(proof.expect_input(&x), Err(Error::OtherInput)));
        let _ = x.is_unit(&modulus);
    }
    // A number that fits is a number modulo this modulus, whoever read it.
    let fits = Modulus::parse("ffffffffffffffffffffffffffffffc5").unwrap().reduce(&[7]).0;
    assert!(tetralith_vdf::Evaluation::new(&modulus, &fits, 9).is_ok());
}

#[test]
fn hex() {
    assert_eq!(parse_hex("0xABC", "x").unwrap(), [0x0a, 0xbc]);
    let message = |text| parse_hex(text, "x").unwrap_err().to_string();
    assert_eq!(message(""), "x is not a number in hex: there are no digits");
    assert_eq!(message("0x"), "x is not a number in hex: there are no digits");
    assert_eq!(message("12g4"), "x is not a number in hex: 'g' stands at position 2");
    assert_eq!(message("-1"), "x is not a number in hex: '-' stands at position 0");
    assert_eq!(message("é"), "x is not a number in hex: 'é' stands at position 0");
}

/// Changes an encoding and says what the error must be.
type Case = (&'static str, fn(&mut Vec<u8>), fn(&Error) -> bool);

fn run(bytes: &[u8], cases: &[Case], read: impl Fn(&[u8]) -> Result<(), Error>) {
    read(bytes).unwrap();
    for (name, alter, expected) in cases {
        let mut altered = bytes.to_vec();
        alter(&mut altered);
        match read(&altered) {
            Err(error) if expected(&error) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    for len in 0..bytes.len().min(700) {
        assert!(read(&bytes[..len]).is_err(), "{len} bytes");
    }
}

fn proof(system: System) -> Vec<u8> {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(&[5]);
    let mut prover = Prover::new(system, &modulus, &x, 600, Options::default()).unwrap();
    prover.run(&mut |_| std::ops::ControlFlow::Continue(())).unwrap().1.to_bytes()
}

const W: usize = 256;

#[test]
fn proofs() {
    let common: &[Case] = &[
        ("empty", |b| b.clear(), |e| matches!(e, Error::TooShort { .. })),
        ("wrong magic", |b| b[0] = b'X', |e| matches!(e, Error::Magic { expected: "proof" })),
        ("a newer version", |b| b[4] = 2, |e| matches!(e, Error::Version { version: 2, .. })),
        ("an unknown system", |b| b[5] = 9, |e| matches!(e, Error::System(9))),
        ("no modulus", |b| b[6..8].fill(0), |e| matches!(e, Error::ModulusZero)),
        ("a huge modulus", |b| b[6..8].fill(255), |e| matches!(e, Error::TooShort { .. })),
        ("an even modulus", |b| b[7 + W] &= 0xfe, |e| matches!(e, Error::ModulusEven)),
        ("a modulus with zeros in front", |b| b[8] = 0, |e| matches!(e, Error::Field { .. })),
        (
            "x not reduced",
            |b| b[8 + W..8 + 2 * W].fill(255),
            |e| matches!(e, Error::NotReduced { what: "the proof's x" }),
        ),
        (
            "y not reduced",
            |b| b[16 + 2 * W..16 + 3 * W].fill(255),
            |e| matches!(e, Error::NotReduced { what: "the proof's y" }),
        ),
        (
            "y zero",
            |b| b[16 + 2 * W..16 + 3 * W].fill(0),
            |e| matches!(e, Error::NotCanonical { what: "the proof's y" }),
        ),
        (
            "too many squarings",
            |b| b[8 + 2 * W..16 + 2 * W].fill(255),
            |e| matches!(e, Error::TooManySquarings(u64::MAX)),
        ),
        ("a byte too many", |b| b.push(0), |e| matches!(e, Error::Length { .. })),
        ("a byte too few", |b| b.truncate(b.len() - 1), |e| matches!(e, Error::TooShort { .. })),
    ];
    for system in [System::Wesolowski, System::Segmented, System::Pietrzak] {
        run(&proof(system), common, |bytes| Proof::from_bytes(bytes).map(|_| ()));
    }
    let segmented: &[Case] = &[
        ("no segments", |b| b[16 + 3 * W] = 0, |e| matches!(e, Error::Field { .. })),
        ("65 segments", |b| b[16 + 3 * W] = 65, |e| matches!(e, Error::Field { .. })),
        (
            "an empty segment",
            |b| b[17 + 3 * W..25 + 3 * W].fill(0),
            |e| matches!(e, Error::Field { .. }),
        ),
        ("a long segment", |b| b[24 + 3 * W] ^= 1, |e| matches!(e, Error::Field { .. })),
        ("another T", |b| b[15 + 2 * W] ^= 1, |e| matches!(e, Error::Field { .. })),
        ("another end", |b| b[15 + 3 * W] ^= 1, |e| matches!(e, Error::Field { .. })),
    ];
    run(&proof(System::Segmented), segmented, |bytes| Proof::from_bytes(bytes).map(|_| ()));
}

#[test]
fn sealed_files() {
    use rand_core::SeedableRng;
    let mut rng = chacha20::ChaCha20Rng::seed_from_u64(6);
    let mut bytes = Vec::new();
    seal(&mut &b"x"[..], &mut bytes, 5, 256, &mut rng).unwrap();
    let cases: &[Case] = &[
        ("wrong magic", |b| b[3] = b'P', |e| matches!(e, Error::Magic { expected: "sealed" })),
        ("a newer version", |b| b[4] = 7, |e| matches!(e, Error::Version { version: 7, .. })),
        ("a long modulus", |b| b[5] = 1, |e| matches!(e, Error::TooShort { .. })),
        ("an even modulus", |b| b[6 + 32] ^= 1, |e| matches!(e, Error::ModulusEven)),
        (
            "a not reduced",
            |b| b[7 + 32..7 + 64].fill(255),
            |e| matches!(e, Error::NotReduced { .. }),
        ),
        ("too many squarings", |b| b[7 + 64] = 255, |e| matches!(e, Error::TooManySquarings(_))),
        (
            "no salt",
            |b| b.truncate(7 + 64 + 31),
            |e| matches!(e, Error::TooShort { least: 119, got: 102, .. }),
        ),
    ];
    let head = 7 + 64 + 32;
    for (name, alter, expected) in cases {
        let mut altered = bytes.clone();
        alter(&mut altered);
        match Header::read(&mut &altered[..]) {
            Err(error) if expected(&error) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    (0..head).for_each(|len| assert!(Header::read(&mut &bytes[..len]).is_err()));
    let header = Header::read(&mut &bytes[..]).unwrap();
    for len in 0..head as u64 + 16 {
        let refused = header.file_len(len).unwrap_err();
        assert!(matches!(refused, Error::TooShort { least: 119, got, .. } if got == len));
    }
}

/// What is said of a file reads well, whatever kind it is of.
#[test]
fn words() {
    let say = |result: Result<(), Error>| result.expect_err("refused").to_string();
    let sealed = |bytes: &[u8]| say(Header::read(&mut &*bytes).map(drop));
    let proof = |bytes: &[u8]| say(Proof::from_bytes(bytes).map(drop));
    let checkpoint = |bytes: &[u8]| say(Checkpoint::from_bytes(bytes).map(drop));
    for (said, expected) in [
        (sealed(b""), "a sealed file of 0 bytes: expected at least "),
        (sealed(b"TVDX\x01\x00\x08"), "this is not a sealed file"),
        (
            sealed(b"TVDS\x03\x00\x08"),
            "a sealed file of version 3: this program knows versions 1 and 2",
        ),
        (sealed(&[&b"TVDS\x01\x00\x08"[..], &[0; 80]].concat()), "the modulus is zero"),
        (proof(b""), "a proof of 0 bytes: expected at least "),
        (proof(b"TVDX\x01\x00\x08\x00"), "this is not a proof file"),
        (checkpoint(b""), "a checkpoint of 0 bytes: expected at least "),
        (checkpoint(b"TVDX\x01\x00\x08"), "this is not a checkpoint file"),
        (
            say(Modulus::rsa2048().decode(b"", "the proof's x").map(drop)),
            "the proof's x of 0 bytes: expected 256",
        ),
    ] {
        assert!(said.starts_with(expected), "{said:?}, not {expected:?}");
    }
}

#[test]
fn checkpoints() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(&[5]);
    let mut evaluation = tetralith_vdf::Evaluation::new(&modulus, &x, 100).unwrap();
    let bytes = evaluation.checkpoint().unwrap().0.to_bytes();
    let cases: &[Case] = &[
        ("empty", |b| b.clear(), |e| matches!(e, Error::TooShort { .. })),
        ("a proof", |b| b[3] = b'P', |e| matches!(e, Error::Magic { expected: "checkpoint" })),
        ("a newer version", |b| b[4] = 2, |e| matches!(e, Error::Version { version: 2, .. })),
        ("another width", |b| b[6] ^= 1, |e| matches!(e, Error::Length { .. })),
        ("a flipped bit", |b| b[400] ^= 1, |e| matches!(e, Error::CheckpointDamaged(_))),
        (
            "a wrong checksum",
            |b| *b.last_mut().unwrap() ^= 1,
            |e| matches!(e, Error::CheckpointDamaged(_)),
        ),
        // Whoever makes a new checksum still meets the checks of the content.
        ("done beyond T", |b| reseal(b, 7 + 2 * W + 8, 1), |e| matches!(e, Error::Field { .. })),
        (
            "another check prime",
            |b| reseal(b, 7 + 2 * W + 19, 1),
            |e| matches!(e, Error::Field { .. }),
        ),
        (
            "a value not reduced",
            |b| reseal(b, 7 + 2 * W + 20, 255),
            |e| matches!(e, Error::Field { .. }),
        ),
        (
            "a wrong value",
            |b| reseal(b, 7 + 2 * W + 60, 1),
            |e| matches!(e, Error::CheckpointDamaged("its value fails the check")),
        ),
    ];
    run(&bytes, cases, |bytes| Checkpoint::from_bytes(bytes).map(|_| ()));
}

/// Changes a byte and mends the checksum.
fn reseal(bytes: &mut [u8], at: usize, by: u8) {
    use sha2::{Digest, Sha256};
    let body = bytes.len() - 32;
    bytes[at] ^= by;
    let digest = Sha256::digest(&bytes[..body]);
    bytes[body..].copy_from_slice(&digest);
}
