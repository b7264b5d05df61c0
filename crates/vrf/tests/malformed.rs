//! Malformed and hostile input: what is wrong is said, and no verdict changes by the company.

#![allow(clippy::unwrap_used)] // the helpers of tests may panic as tests do

use curve25519_dalek::Scalar;
use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::CompressedEdwardsY;
use proptest::prelude::*;
use tetralith_vrf::{
    Error, Part, Proof, PublicKey, Row, SecretKey, Suite, validate_key, verify, verify_many,
};

fn edwards_suites() -> impl Iterator<Item = Suite> {
    Suite::ALL.into_iter().filter(|suite| suite.public_key_len() == 32)
}

fn with_first_and_last(fill: u8, first: u8, last: u8) -> [u8; 32] {
    let mut bytes = [fill; 32];
    (bytes[0], bytes[31]) = (first, last);
    bytes
}

#[test]
fn lengths_are_checked() {
    for suite in Suite::ALL {
        let key = SecretKey::from_bytes(suite, &[3; 32]).unwrap();
        let (public, proof) = (key.public_key(), key.prove(b"x").unwrap());
        assert_eq!(proof.as_bytes().len(), suite.proof_len());
        assert_eq!(proof.to_hash().as_bytes().len(), suite.output_len());
        let length = |part, expected, got| Error::Length { part, expected, got };
        for got in [0, 1, 31, 34, 64] {
            let error = PublicKey::from_bytes(suite, &vec![2; got]).unwrap_err();
            assert_eq!(error, length(Part::PublicKey, suite.public_key_len(), got));
            let error = Proof::from_bytes(suite, &vec![2; got]).unwrap_err();
            assert_eq!(error, length(Part::Proof, suite.proof_len(), got));
            if got != 32 {
                let error = SecretKey::from_bytes(suite, &vec![2; got]).unwrap_err();
                assert_eq!(error, length(Part::SecretKey, 32, got));
            }
        }
        let mut long = proof.as_bytes().to_vec();
        long.push(0);
        let (expected, got) = (suite.proof_len(), suite.proof_len() + 1);
        assert_eq!(
            verify(suite, public.as_bytes(), b"x", &long),
            Err(length(Part::Proof, expected, got))
        );
    }
}

#[test]
fn small_order_keys_are_refused() {
    for suite in edwards_suites() {
        for torsion in EIGHT_TORSION {
            let bytes = torsion.compress().to_bytes();
            assert_eq!(validate_key(suite, &bytes), Err(Error::SmallOrder), "{suite}");
        }
    }
}

#[test]
fn non_canonical_points_are_refused() {
    for suite in edwards_suites() {
        for low in 0xed..=0xff {
            for top in [0x7f, 0xff] {
                let bytes = with_first_and_last(0xff, low, top);
                let error = Error::NonCanonicalPoint(Part::PublicKey);
                assert_eq!(validate_key(suite, &bytes), Err(error));
                let mut proof = vec![0; suite.proof_len()];
                proof[..32].copy_from_slice(&bytes);
                let error = Error::NonCanonicalPoint(Part::Gamma);
                assert_eq!(Proof::from_bytes(suite, &proof), Err(error));
            }
        }
        let off_curve = with_first_and_last(0, 2, 0);
        let error = Error::NotOnCurve(Part::PublicKey);
        assert_eq!(validate_key(suite, &off_curve), Err(error));
    }
}

/// x = 0 with the sign bit: RFC 8032 refuses to read it, libsodium reads it.
#[test]
fn negative_zero_follows_the_suite() {
    for suite in edwards_suites() {
        let rfc = suite.name().starts_with("rfc9381");
        for (first, fill, top) in [(1, 0, 0x80), (0xec, 0xff, 0xff)] {
            let bytes = with_first_and_last(fill, first, top);
            let mut proof = vec![0; suite.proof_len()];
            proof[..32].copy_from_slice(&bytes);
            let expected = if rfc {
                assert_eq!(Proof::from_bytes(suite, &proof), Err(Error::NegativeZero(Part::Gamma)));
                Error::NegativeZero(Part::PublicKey)
            } else {
                assert!(Proof::from_bytes(suite, &proof).is_ok());
                Error::SmallOrder
            };
            assert_eq!(validate_key(suite, &bytes), Err(expected));
        }
    }
}

#[test]
fn sec1_points_and_scalars_are_checked() {
    for suite in [Suite::P256Tai, Suite::P256Sswu, Suite::Secp256k1Tai] {
        let mut point = [0xff; 33];
        for tag in [0, 1, 4, 5, 0xff] {
            point[0] = tag;
            let error = Error::PointTag { part: Part::PublicKey, tag };
            assert_eq!(validate_key(suite, &point), Err(error));
        }
        point[0] = 2; // x = 2^256 - 1 is not below p
        assert_eq!(validate_key(suite, &point), Err(Error::NotOnCurve(Part::PublicKey)));
        let error = Error::NonCanonicalScalar(Part::SecretKey);
        assert_eq!(SecretKey::from_bytes(suite, &[0xff; 32]).unwrap_err(), error);
        assert_eq!(SecretKey::from_bytes(suite, &[0; 32]).unwrap_err(), Error::ZeroSecret);
        let key = SecretKey::from_bytes(suite, &[3; 32]).unwrap();
        let mut proof = key.prove(b"x").unwrap().as_bytes().to_vec();
        proof[49..].fill(0xff);
        let error = Error::NonCanonicalScalar(Part::S);
        assert_eq!(Proof::from_bytes(suite, &proof), Err(error));
    }
}

/// s = c x makes U the neutral element, whatever c is; that is no proof, and no panic.
#[test]
fn neutral_commitments_do_not_panic() {
    for suite in [Suite::P256Tai, Suite::P256Sswu, Suite::Secp256k1Tai] {
        let mut one = [0; 32];
        one[31] = 1; // x = 1, so s = c
        let key = SecretKey::from_bytes(suite, &one).unwrap();
        for c in [[0; 16], [7; 16]] {
            let mut proof = key.prove(b"x").unwrap().as_bytes().to_vec();
            proof[33..49].copy_from_slice(&c);
            proof[49..65].fill(0);
            proof[65..].copy_from_slice(&c);
            let verdict = verify(suite, key.public_key().as_bytes(), b"x", &proof);
            assert_eq!(verdict, Err(Error::Invalid));
        }
    }
}

/// s + L: the same proof to Algorand, refused by all others.
#[test]
fn s_plus_the_order_follows_the_suite() {
    for suite in edwards_suites() {
        let key = SecretKey::from_bytes(suite, &[4; 32]).unwrap();
        let mut proof = key.prove(b"x").unwrap().as_bytes().to_vec();
        let at = proof.len() - 32;
        let minus_one = (-Scalar::ONE).to_bytes(); // L - 1
        let mut carry = 1;
        for i in 0..32 {
            carry += u16::from(proof[at + i]) + u16::from(minus_one[i]);
            proof[at + i] = carry as u8;
            carry >>= 8;
        }
        let verdict = verify(suite, key.public_key().as_bytes(), b"x", &proof);
        if suite == Suite::Draft03Algorand {
            assert_eq!(verdict, Ok(key.output(b"x").unwrap()));
        } else {
            assert_eq!(verdict, Err(Error::NonCanonicalScalar(Part::S)));
        }
    }
}

/// Proofs under a key with a torsion part, made by whoever knows x: with the nonce chosen so that
/// c T vanishes, Algorand and RFC 9381 accept; Cardano takes L - c, and L T does not vanish.
#[test]
fn torsion_in_keys_follows_the_suite() {
    let x = Scalar::from(123456789u64);
    for (order, torsion) in [(8, EIGHT_TORSION[1]), (4, EIGHT_TORSION[2]), (2, EIGHT_TORSION[4])] {
        let y = (x * ED25519_BASEPOINT_POINT + torsion).compress().to_bytes();
        for suite in [Suite::Draft03Algorand, Suite::Draft03Cardano, Suite::Edwards25519Ell2] {
            let mut accepted = [0; 8];
            for k in 1..=200u64 {
                let (c, proof) = forge(suite, &x, &y, &Scalar::from(k));
                let row = Row { public_key: &y, alpha: b"t", proof: &proof };
                let verdict = verify(suite, &y, b"t", &proof);
                assert_eq!(verify_many(suite, &[row])[0], verdict);
                if verdict.is_ok() {
                    accepted[usize::from(c % 8)] += 1;
                }
            }
            // U is computed as k B, so the verifier's must not have a torsion part.
            for class in 0..8u8 {
                let class_accepted = accepted[usize::from(class)] > 0;
                let expected = match suite {
                    Suite::Draft03Cardano => (5 + order * 8 - class) % order == 0,
                    _ => class % order == 0,
                };
                assert_eq!(class_accepted, expected, "{suite} order {order} c = {class} mod 8");
            }
        }
    }
}

/// An honest computation with x for a key that is not x B; gives c's low byte and the proof.
fn forge(suite: Suite, x: &Scalar, y: &[u8; 32], k: &Scalar) -> (u8, Vec<u8>) {
    use sha2::{Digest, Sha512};
    let key = PublicKey::from_bytes(suite, y).unwrap();
    let h = tetralith_vrf::encode_to_curve(&key, b"t").unwrap();
    let h_point = CompressedEdwardsY::from_slice(&h).unwrap().decompress().unwrap();
    let gamma = (x * h_point).compress().to_bytes();
    let u = (k * ED25519_BASEPOINT_POINT).compress().to_bytes();
    let v = (k * h_point).compress().to_bytes();
    let mut hasher = Sha512::new();
    hasher.update([4, 2]);
    if suite == Suite::Edwards25519Ell2 {
        hasher.update(y);
    }
    for part in [&h[..], &gamma, &u, &v] {
        hasher.update(part);
    }
    if suite == Suite::Edwards25519Ell2 {
        hasher.update([0]);
    }
    let hash = hasher.finalize();
    let c = u128::from_le_bytes(hash[..16].try_into().unwrap());
    let s = (k + Scalar::from(c) * x).to_bytes();
    (hash[0], [&gamma[..], &hash[..16], &s].concat())
}

#[test]
fn keys_print_no_secret() {
    let key = SecretKey::from_bytes(Suite::P256Tai, &[3; 32]).unwrap();
    assert_eq!(format!("{key:?}"), "SecretKey(rfc9381-p256-sha256-tai)");
}

fn suites() -> impl Strategy<Value = Suite> {
    proptest::sample::select(Suite::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn honest_proofs_verify_and_changed_ones_do_not(
        suite in suites(), seed in any::<[u8; 32]>(), alpha in any::<Vec<u8>>(),
        at in any::<prop::sample::Index>(), bit in 0..8u8,
    ) {
        let Ok(key) = SecretKey::from_bytes(suite, &seed) else { return Ok(()) };
        let public = key.public_key();
        let (output, proof) = key.evaluate(&alpha).unwrap();
        prop_assert_eq!(public.verify(&alpha, &proof), Ok(output));
        let mut bytes = proof.as_bytes().to_vec();
        let i = at.index(bytes.len());
        bytes[i] ^= 1 << bit;
        prop_assert!(verify(suite, public.as_bytes(), &alpha, &bytes).is_err());
        let mut other = alpha.clone();
        other.push(0);
        prop_assert_eq!(public.verify(&other, &proof), Err(Error::Invalid));
    }

    #[test]
    fn nothing_panics(
        suite in suites(), key in any::<[u8; 33]>(), proof in any::<[u8; 16]>(),
        length in 0..140usize, alpha in any::<Vec<u8>>(),
    ) {
        let proof: Vec<u8> = proof.iter().cycle().copied().take(length).collect();
        let _ = verify(suite, &key[..suite.public_key_len()], &alpha, &proof);
    }

    #[test]
    fn many_say_what_one_says(
        suite in suites(),
        rows in prop::collection::vec((any::<[u8; 2]>(), 0..5u8), 0..20),
    ) {
        let rows: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> = rows.iter().map(|(salt, damage)| {
            let key = SecretKey::from_bytes(suite, &[salt[0] % 4 + 1; 32]).unwrap();
            let mut row = (
                key.public_key().as_bytes().to_vec(),
                salt.to_vec(),
                key.prove(salt).unwrap().as_bytes().to_vec(),
            );
            match damage {
                0 => row.0[5] ^= 1,
                1 => row.1.push(1),
                2 => row.2[usize::from(salt[1]) % 80] ^= 4,
                3 => { row.2.pop(); }
                _ => {}
            }
            row
        }).collect();
        let borrowed: Vec<Row<'_>> = rows.iter()
            .map(|(key, alpha, proof)| Row { public_key: key, alpha, proof }).collect();
        let verdicts = verify_many(suite, &borrowed);
        prop_assert_eq!(verdicts.len(), rows.len());
        for (verdict, row) in verdicts.into_iter().zip(&borrowed) {
            prop_assert_eq!(verdict, verify(suite, row.public_key, row.alpha, row.proof));
        }
    }
}
