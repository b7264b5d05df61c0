//! Proofs: right ones pass, in every system and for every kind of T; forgeries do not.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::ControlFlow;
use tetralith_vdf::{Error, Modulus, Options, Proof, Prover, Residue, System};

const SYSTEMS: [System; 3] = [System::Wesolowski, System::Segmented, System::Pietrzak];

fn small() -> Modulus {
    // The product of two primes of 128 bits that were thrown away.
    use rand_core::SeedableRng;
    let mut rng = chacha20::ChaCha20Rng::seed_from_u64(11);
    tetralith_vdf::timelock::random_modulus(256, &mut rng).unwrap()
}

fn prove(
    system: System,
    modulus: &Modulus,
    x: &Residue,
    t: u64,
    options: Options,
) -> (Residue, Proof) {
    let mut prover = Prover::new(system, modulus, x, t, options).unwrap();
    prover.run(&mut |_| ControlFlow::Continue(())).unwrap()
}

fn naive(modulus: &Modulus, x: &Residue, t: u64) -> Residue {
    tetralith_vdf::eval(modulus, x, t, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Offsets of the fields of an encoded proof.
struct Fields {
    x: usize,
    t: usize,
    y: usize,
    body: usize,
}

fn fields(modulus: &Modulus) -> Fields {
    let w = modulus.width();
    Fields { x: 8 + w, t: 8 + 2 * w, y: 16 + 2 * w, body: 16 + 3 * w }
}

#[test]
fn every_length_verifies() {
    let modulus = small();
    let (x, _) = modulus.reduce(b"every length");
    for system in SYSTEMS {
        for t in (0..20).chain([255, 256, 257, 258, 511, 513, 515, 1000, 1023, 2047, 4099, 20_001])
        {
            for memory in [0, 1 << 12, 1 << 16, 1 << 24] {
                let options = Options { memory, ..Options::default() };
                let (y, proof) = prove(system, &modulus, &x, t, options);
                assert_eq!(y, naive(&modulus, &x, t));
                proof.verify().unwrap_or_else(|e| panic!("{system:?} T = {t}, {memory}: {e}"));
                let read = Proof::from_bytes(&proof.to_bytes()).unwrap();
                assert_eq!(read, proof);
            }
        }
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let modulus = small();
    let (x, _) = modulus.reduce(b"threads");
    for system in SYSTEMS {
        let reference = prove(system, &modulus, &x, 5000, Options::default());
        for threads in [1, 2, 3] {
            for memory in [1 << 13, 1 << 18] {
                let options = Options { memory, threads, ..Options::default() };
                assert_eq!(prove(system, &modulus, &x, 5000, options), reference);
            }
        }
    }
}

#[test]
fn rsa2048_proofs() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"2048 bits");
    for system in SYSTEMS {
        let (_, proof) = prove(system, &modulus, &x, 1 << 12, Options::default());
        proof.verify().unwrap();
        let bytes = proof.to_bytes();
        // Every bit flipped in the proof's own part is refused.
        for at in [fields(&modulus).body, fields(&modulus).body + 100, bytes.len() - 1] {
            let mut altered = bytes.clone();
            altered[at] ^= 4;
            assert!(Proof::from_bytes(&altered).and_then(|proof| proof.verify()).is_err());
        }
    }
}

#[test]
fn the_negative_output_is_not_canonical() {
    let modulus = small();
    let (x, _) = modulus.reduce(b"negative");
    for system in SYSTEMS {
        let (_, proof) = prove(system, &modulus, &x, 1000, Options::default());
        let (w, f) = (modulus.width(), fields(&modulus));
        let mut bytes = proof.to_bytes();
        let minus = subtract(&modulus.to_bytes(), &bytes[f.y..f.y + w]);
        bytes[f.y..f.y + w].copy_from_slice(&minus);
        assert!(matches!(Proof::from_bytes(&bytes), Err(Error::NotCanonical { .. })));
        let mut bytes = proof.to_bytes();
        let last = bytes.len() - w;
        let minus = subtract(&modulus.to_bytes(), &bytes[last..]);
        bytes[last..].copy_from_slice(&minus);
        assert!(matches!(Proof::from_bytes(&bytes), Err(Error::NotCanonical { .. })));
    }
}

fn subtract(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = a.to_vec();
    let mut borrow = 0i16;
    for i in (0..a.len()).rev() {
        let d = i16::from(a[i]) - i16::from(b[i]) - borrow;
        borrow = i16::from(d < 0);
        out[i] = (d & 255) as u8;
    }
    out
}

#[test]
fn a_proof_moved_to_another_statement() {
    let modulus = small();
    let (x, _) = modulus.reduce(b"moved");
    let (other, _) = modulus.reduce(b"elsewhere");
    for system in SYSTEMS {
        let (_, proof) = prove(system, &modulus, &x, 1024, Options::default());
        let (w, f) = (modulus.width(), fields(&modulus));
        let mut moved = proof.to_bytes();
        moved[f.x..f.x + w].copy_from_slice(&other.to_bytes());
        assert!(matches!(Proof::from_bytes(&moved).unwrap().verify(), Err(Error::Invalid)));
        if system != System::Segmented {
            let mut longer = proof.to_bytes();
            longer[f.t..f.t + 8].copy_from_slice(&1025u64.to_be_bytes());
            assert!(matches!(Proof::from_bytes(&longer).unwrap().verify(), Err(Error::Invalid)));
        }
        let mut moved = proof.to_bytes();
        moved[f.y + w - 1] ^= 1;
        assert!(Proof::from_bytes(&moved).and_then(|proof| proof.verify()).is_err());
    }
}

#[test]
fn mismatches_say_which() {
    let modulus = small();
    let (x, _) = modulus.reduce(b"mismatch");
    let (y, proof) = prove(System::Wesolowski, &modulus, &x, 1 << 11, Options::default());
    proof.expect_modulus(&modulus).unwrap();
    proof.expect_input(&x).unwrap();
    proof.expect_output(&y).unwrap();
    proof.expect_iterations(1 << 11).unwrap();
    let error = proof.expect_iterations(1 << 12).unwrap_err().to_string();
    assert_eq!(error, "this proof is for 2^11 squarings, not 2^12");
    assert!(matches!(proof.expect_modulus(&Modulus::rsa2048()), Err(Error::OtherModulus)));
    assert!(matches!(proof.expect_input(&y), Err(Error::OtherInput)));
    assert!(matches!(proof.expect_output(&x), Err(Error::OtherOutput)));
}

#[test]
fn inputs_with_a_factor_of_the_modulus() {
    // (2^61 − 1)·(2^127 − 1)
    let modulus = Modulus::parse("fffffffffffffff7fffffffffffffffe000000000000001").unwrap();
    let (x, _) = modulus.reduce(&((1u64 << 61) - 1).to_be_bytes());
    let refused = Prover::new(System::Wesolowski, &modulus, &x, 10, Options::default());
    assert!(matches!(refused.err(), Some(Error::NotUnit { what: "x" })));
}

/// Of 3·M everybody knows the element that is −1 modulo 3 and 1 modulo M, and could prove y times it.
#[test]
fn a_modulus_with_a_small_factor_is_squared_by_and_not_proved_by() {
    let text = "17ffffffffffffffffffffffffffffffd"; // 3·(2^127 − 1)
    let modulus = Modulus::parse(text).unwrap();
    let (x, _) = modulus.reduce(&[2]);
    naive(&modulus, &x, 10);
    for system in SYSTEMS {
        let refused = Prover::new(system, &modulus, &x, 10, Options::default());
        assert!(matches!(refused.err(), Some(Error::ModulusSmallFactor)));
        // (2^61 − 1)·(2^89 − 1)
        let sound = Modulus::parse("3ffffffffffffffdffffffe000000000000001").unwrap();
        let (x, _) = sound.reduce(&[2]);
        let (_, proof) = prove(system, &sound, &x, 10, Options::default());
        let mut bytes = proof.to_bytes();
        let width = sound.width();
        // The low byte becomes that of a multiple of three of the same length.
        let last = 8 + width - 1;
        let multiple = |byte: u8| {
            let n =
                bytes[8..last].iter().chain([&byte]).fold(0, |n, &b| (n * 256 + u32::from(b)) % 3);
            n == 0 && byte & 1 == 1
        };
        let byte = (0..=255).find(|&byte| multiple(byte)).unwrap();
        bytes[last] = byte;
        assert!(matches!(Proof::from_bytes(&bytes), Err(Error::ModulusSmallFactor)), "{system:?}");
    }
}

/// The encodings that `vectors/vdf/proofs.json` holds, byte for byte: T = 1000, x = "frozen". How T is
/// divided into segments is a prover's own choice, so of n-Wesolowski a proof is read and none compared.
#[test]
fn encodings_are_frozen() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vdf/proofs.json");
    let vectors: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"frozen");
    for system in SYSTEMS {
        let (_, proof) = prove(system, &modulus, &x, 1000, Options::default());
        let expected = vectors[system.name()].as_str().unwrap();
        if system != System::Segmented {
            assert_eq!(hex::encode(proof.to_bytes()), expected, "{system:?}");
        }
        let read = Proof::from_bytes(&hex::decode(expected).unwrap()).unwrap();
        read.verify().unwrap();
        assert_eq!(hex::encode(read.to_bytes()), expected, "{system:?}");
    }
}

#[test]
fn many_proofs_at_once() {
    let (modulus, other) = (small(), Modulus::rsa2048());
    let mut proofs = Vec::new();
    for (i, system) in SYSTEMS.into_iter().cycle().take(9).enumerate() {
        let modulus = if i % 4 == 3 { &other } else { &modulus };
        let (x, _) = modulus.reduce(&[b'm', i as u8]);
        proofs.push(prove(system, modulus, &x, 300 + i as u64, Options::default()).1);
    }
    assert!(Proof::verify_many(&proofs, 2).iter().all(Result::is_ok));
    assert!(Proof::verify_many(&[], 4).is_empty());
    // One false proof of each system is found, and the others stay right.
    for bad in 0..3 {
        let mut bytes = proofs[bad].to_bytes();
        let w = modulus.width();
        let x = fields(&modulus).x;
        bytes[x..x + w].copy_from_slice(&modulus.reduce(b"another").0.to_bytes());
        let mut some = proofs.clone();
        some[bad] = Proof::from_bytes(&bytes).unwrap();
        for (i, result) in Proof::verify_many(&some, 1).iter().enumerate() {
            assert_eq!(result.is_ok(), i != bad, "{i} {bad}");
        }
    }
}

/// Two false proofs whose errors cancel when they are multiplied as they are.
#[test]
fn errors_do_not_cancel_in_a_batch() {
    let modulus = small();
    let (x, _) = modulus.reduce(b"cancel");
    let proof = prove(System::Wesolowski, &modulus, &x, 500, Options::default()).1;
    let (w, f) = (modulus.width(), fields(&modulus));
    // The outputs of two proofs exchanged: the product of all equations is still true.
    let other =
        prove(System::Wesolowski, &modulus, &modulus.reduce(b"other").0, 500, Options::default()).1;
    let (mut a, mut b) = (proof.to_bytes(), other.to_bytes());
    a[f.y..f.y + w].swap_with_slice(&mut b[f.y..f.y + w]);
    let swapped = [a, b].map(|bytes| Proof::from_bytes(&bytes).unwrap());
    assert!(Proof::verify_many(&swapped, 1).iter().all(Result::is_err));
}
