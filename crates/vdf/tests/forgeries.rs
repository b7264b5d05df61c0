//! Forgeries of every system that need no knowledge of its inside: parts of right proofs, put together
//! wrongly. Those that need it (challenges of truncated statements, composite challenges, elements of
//! low order) stand beside the systems.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::ControlFlow;
use tetralith_vdf::{Error, Expected, Input, Modulus, Options, Proof, Prover, Residue, System};

const SYSTEMS: [System; 3] = [System::Wesolowski, System::Segmented, System::Pietrzak];
const T: u64 = 1 << 11;

fn proof(system: System, modulus: &Modulus, x: &Residue, t: u64) -> (Residue, Proof) {
    let mut prover = Prover::new(system, modulus, x, t, Options::default()).unwrap();
    prover.run(&mut |_| ControlFlow::Continue(())).unwrap()
}

/// Reads and verifies; the error of whichever refuses.
fn judged(bytes: &[u8]) -> Result<(), Error> {
    let proof = Proof::from_bytes(bytes)?;
    let alone = proof.verify();
    // Many at once never say otherwise.
    let right = proof.clone();
    let together = Proof::verify_many(&[proof, right], 1);
    assert!(together.iter().all(|result| result.is_ok() == alone.is_ok()));
    alone
}

fn refused(bytes: &[u8], what: &str) {
    assert!(matches!(judged(bytes), Err(Error::Invalid | Error::NotResidue { .. })), "{what}");
}

/// |N − a|, |2·a| and the like: other elements, canonical.
fn times(modulus: &Modulus, element: &[u8], factor: u8) -> Vec<u8> {
    let mut product = vec![0u8; element.len() + 1];
    let mut carry = 0u16;
    for i in (0..element.len()).rev() {
        carry += u16::from(element[i]) * u16::from(factor);
        product[i + 1] = carry as u8;
        carry >>= 8;
    }
    product[0] = carry as u8;
    modulus.reduce(&product).0.element(modulus).to_bytes()
}

#[test]
fn outputs_and_elements_replaced() {
    let modulus = Modulus::rsa2048();
    let w = modulus.width();
    let (x, _) = modulus.reduce(b"replaced");
    let (y_at, body) = (16 + 2 * w, 16 + 3 * w);
    for system in SYSTEMS {
        let bytes = proof(system, &modulus, &x, T).1.to_bytes();
        judged(&bytes).unwrap();
        for factor in [2, 4, 9] {
            let mut forged = bytes.clone();
            let other = times(&modulus, &bytes[y_at..y_at + w], factor);
            forged[y_at..y_at + w].copy_from_slice(&other);
            if system == System::Segmented {
                // The last segment's output goes along, else the file is malformed.
                let last = forged.len() - 2 * w;
                forged[last..last + w].copy_from_slice(&other);
            }
            refused(&forged, "another y");
            let mut forged = bytes.clone();
            let last = forged.len() - w;
            let other = times(&modulus, &bytes[last..], factor);
            forged[last..].copy_from_slice(&other);
            refused(&forged, "another element");
        }
        // The trivial elements 1, and x in place of the first element.
        let at = if system == System::Segmented { body + 1 + 8 + w } else { body };
        for trivial in [modulus.reduce(&[1]).0, x.clone()] {
            let mut forged = bytes.clone();
            forged[at..at + w].copy_from_slice(&trivial.element(&modulus).to_bytes());
            refused(&forged, "a trivial element");
        }
    }
}

#[test]
fn proofs_of_other_statements() {
    let modulus = Modulus::rsa2048();
    let w = modulus.width();
    let ((x, _), (other, _)) = (modulus.reduce(b"one"), modulus.reduce(b"two"));
    for system in SYSTEMS {
        let [a, b] = [&x, &other].map(|x| proof(system, &modulus, x, T).1.to_bytes());
        let body = 16 + 3 * w;
        // The statement of one with the body of the other.
        let mut mixed = [&a[..body], &b[body..]].concat();
        if system == System::Segmented {
            let last = mixed.len() - 2 * w;
            let y = a[16 + 2 * w..16 + 3 * w].to_vec();
            mixed[last..last + w].copy_from_slice(&y);
        }
        refused(&mixed, "a body of another x");
        // x moved, with y and body of the proof.
        let mut moved = a.clone();
        moved[8 + w..8 + 2 * w].copy_from_slice(&other.to_bytes());
        refused(&moved, "another x");
        // One squaring more claimed, y squared along, the body kept.
        if system != System::Segmented {
            let longer = proof(system, &modulus, &x, T + 1).1.to_bytes();
            let mut moved = a.clone();
            let fields = 8 + 2 * w..16 + 3 * w;
            moved[fields.clone()].copy_from_slice(&longer[fields]);
            refused(&moved, "another T and its y");
        }
        // Read as the proof of another system.
        for number in 1..=3 {
            let mut renamed = a.clone();
            if renamed[5] != number {
                renamed[5] = number;
                assert!(judged(&renamed).is_err(), "{system:?} as {number}");
            }
        }
    }
}

#[test]
fn segments_exchanged() {
    let modulus = Modulus::rsa2048();
    let w = modulus.width();
    let (x, _) = modulus.reduce(b"segments");
    let bytes = proof(System::Segmented, &modulus, &x, T).1.to_bytes();
    let (first, length) = (17 + 3 * w, 8 + 2 * w);
    let element = |i: usize| first + i * length + 8 + w;
    // Proofs of two segments exchanged; of the shortest ones both proofs are 1.
    for (i, j) in [(0, 1), (1, 2)] {
        let mut forged = bytes.clone();
        for k in 0..w {
            forged.swap(element(i) + k, element(j) + k);
        }
        refused(&forged, "proofs exchanged");
    }
    // A squaring moved from one segment to the next.
    let mut forged = bytes.clone();
    for (at, more) in [(first, 1), (first + length, -1)] {
        let field: &mut [u8; 8] = (&mut forged[at..at + 8]).try_into().unwrap();
        *field = u64::from_be_bytes(*field).checked_add_signed(more).unwrap().to_be_bytes();
    }
    refused(&forged, "a squaring moved");
    // The value between two segments replaced.
    let mut forged = bytes.clone();
    let other = times(&modulus, &bytes[first + 8..first + 8 + w], 3);
    forged[first + 8..first + 8 + w].copy_from_slice(&other);
    refused(&forged, "the value between replaced");
    // A plain proof's element is none of a segment: the transcripts name the systems.
    let plain = proof(System::Wesolowski, &modulus, &x, T).1.to_bytes();
    let mut forged = plain[..16 + 3 * w].to_vec();
    forged[5] = 2;
    forged.push(1);
    forged.extend(&plain[8 + 2 * w..16 + 2 * w]);
    forged.extend(&plain[16 + 2 * w..]);
    refused(&forged, "a plain proof as the only segment");
}

#[test]
fn what_differs_is_named() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"named");
    for system in SYSTEMS {
        let (y, proof) = proof(system, &modulus, &x, 1 << 11);
        proof.expect_output(&y).unwrap();
        let error = proof.expect_iterations(1 << 12).unwrap_err().to_string();
        assert_eq!(error, "this proof is for 2^11 squarings, not 2^12");
        assert!(matches!(proof.expect_modulus(&Modulus::lcs35()), Err(Error::OtherModulus)));
        assert!(matches!(proof.expect_input(&y), Err(Error::OtherInput)));
        assert!(matches!(proof.expect_output(&x), Err(Error::OtherOutput)));
        let read = Proof::from_bytes_modulo(&proof.to_bytes(), &modulus).unwrap();
        assert_eq!(read, proof);
        let other = Proof::from_bytes_modulo(&proof.to_bytes(), &Modulus::lcs35());
        assert!(matches!(other, Err(Error::OtherModulus)));
    }
}

/// A hostile file costs little: its modulus is not looked at where another is expected, and is refused
/// soon where none is.
#[test]
fn a_prime_of_many_bits() {
    // 2^4423 − 1 is a prime.
    let mut prime = vec![0xff; 553];
    prime[0] = 0x7f;
    let mut bytes = b"TVDP\x01\x01".to_vec();
    bytes.extend((prime.len() as u16).to_be_bytes());
    bytes.extend(&prime);
    bytes.resize(bytes.len() + 3 * prime.len() + 8, 1);
    let other = Proof::from_bytes_modulo(&bytes, &Modulus::rsa2048());
    assert!(matches!(other, Err(Error::OtherModulus)));
    let start = std::time::Instant::now();
    assert!(matches!(Proof::from_bytes(&bytes), Err(Error::ModulusPrime)));
    let took = start.elapsed();
    assert!(took < std::time::Duration::from_secs(20), "{took:?}");
}

#[test]
fn no_squarings_at_all() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"none");
    for system in SYSTEMS {
        let (y, proof) = proof(system, &modulus, &x, 0);
        assert_eq!(y, x);
        proof.verify().unwrap();
        // Without a squaring there is no segment: that proof is a plain one.
        let plain = if system == System::Segmented { System::Wesolowski } else { system };
        assert_eq!(proof.system(), plain);
    }
}

/// The one call compares all of a statement, and checks the proof.
#[test]
fn all_expectations_in_one_call() {
    let modulus = Modulus::rsa2048();
    let x = modulus.hash_to_element(T, b"seed");
    let other = Modulus::parse("cfa92a1c6559dd55bb75027437309ad3").unwrap();
    for system in SYSTEMS {
        let (y, proof) = proof(system, &modulus, &x, T);
        let bytes = proof.to_bytes();
        let check = |bytes: &[u8], modulus, input, iterations| {
            Proof::verify_encoded(bytes, &Expected { modulus, input, iterations })
        };
        let (seed, raw) = (Input::Seed(b"seed"), Input::Raw(&x));
        for input in [seed, raw] {
            assert_eq!(check(&bytes, &modulus, input, T).unwrap(), y.element(&modulus));
            assert!(matches!(check(&bytes, &other, input, T), Err(Error::OtherModulus)));
            let longer = check(&bytes, &modulus, input, T + 1);
            assert!(matches!(longer, Err(Error::OtherIterations { .. })));
            let mut forged = bytes.clone();
            *forged.last_mut().unwrap() ^= 1;
            assert!(check(&forged, &modulus, input, T).is_err());
        }
        let two = modulus.reduce(&[2]).0;
        for input in [Input::Seed(b"seeds"), Input::Raw(&two)] {
            assert!(matches!(check(&bytes, &modulus, input, T), Err(Error::OtherInput)));
        }
        let published = check(&bytes, &Modulus::lcs35(), seed, T);
        assert!(matches!(published, Err(Error::ModulusPublished { .. })));
    }
}

/// The equation of this proof holds and its output is false: the factors of the modulus are public.
#[test]
fn a_proof_made_with_published_factors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vdf/forged_lcs35.hex");
    let text = std::fs::read_to_string(path).unwrap();
    let bytes = tetralith_vdf::parse_hex(&text, "the proof").unwrap();
    let published = |error| matches!(error, Err(Error::ModulusPublished { name: "lcs35", .. }));
    assert!(published(judged(&bytes)));
    let modulus = Modulus::lcs35();
    assert!(published(Proof::from_bytes_modulo(&bytes, &modulus).map(drop)));
    let (x, _) = modulus.reduce(&[2]);
    for system in SYSTEMS {
        let prover = Prover::new(system, &modulus, &x, T, Options::default());
        assert!(published(prover.map(drop)));
    }
    // By value: as bytes, with leading zeros, and for a multiple of one of the primes.
    let copy = Modulus::from_bytes(&[&[0; 9][..], &modulus.to_bytes()].concat()).unwrap();
    assert!(published(copy.check_provable()));
    let multiple = times_large(&modulus);
    assert!(published(multiple.check_provable()));
}

/// N times a prime of 61 bits.
fn times_large(modulus: &Modulus) -> Modulus {
    let prime = (1u128 << 61) - 1;
    let (mut product, mut carry) = (vec![0; 8], 0u128);
    for byte in modulus.to_bytes().iter().rev() {
        carry += u128::from(*byte) * prime;
        product.push(carry as u8);
        carry >>= 8;
    }
    product.drain(..8);
    (0..8).for_each(|i| product.push((carry >> (8 * i)) as u8));
    product.reverse();
    Modulus::from_bytes(&product).unwrap()
}
