//! The published vectors, byte for byte.

#![allow(clippy::unwrap_used)] // the helpers of tests may panic as tests do

use serde_json::Value;
use tetralith_vrf::{Error, PublicKey, Row, SecretKey, Suite, proof_to_hash, verify, verify_many};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vrf");

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{VECTORS}/{name}")).unwrap()
}

fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

/// One "name: value" a line.
fn praos(name: &str, field: &str) -> Vec<u8> {
    let text = read(&format!("praos/{name}"));
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{field}: ")));
    match line.unwrap() {
        "empty" => Vec::new(),
        hex => unhex(hex),
    }
}

fn check(suite: Suite, secret: &[u8], public: &[u8], alpha: &[u8], pi: &[u8], beta: &[u8]) {
    let secret = SecretKey::from_bytes(suite, secret).unwrap();
    assert_eq!(secret.public_key().as_bytes(), public);
    let proof = secret.prove(alpha).unwrap();
    assert_eq!(hex::encode(proof.as_bytes()), hex::encode(pi));
    assert_eq!(proof.to_hash().as_bytes(), beta);
    assert_eq!(secret.output(alpha).unwrap().as_bytes(), beta);
    let output = verify(suite, public, alpha, pi).unwrap();
    assert_eq!(output.as_bytes(), beta);
    assert_eq!(proof_to_hash(suite, pi).unwrap(), output);
    for other in Suite::ALL.into_iter().filter(|&other| other != suite) {
        if let Ok(key) = PublicKey::from_bytes(other, public) {
            assert!(matches!(key.verify(alpha, &proof), Err(Error::SuiteMismatch { .. })));
        }
        let same = [Suite::Draft03Cardano, Suite::Draft03Algorand];
        if !(same.contains(&suite) && same.contains(&other)) {
            assert!(verify(other, public, alpha, pi).is_err(), "{suite} as {other}");
        }
    }
}

#[test]
fn praos_vectors() {
    let names = [1, 2, 3, 4].map(|i| format!("generated_{i}"));
    let names = names.into_iter().chain([10, 11, 12].map(|i| format!("standard_{i}")));
    for name in names {
        for (version, suite) in [
            ("03", Suite::Draft03Cardano),
            ("03", Suite::Draft03Algorand),
            ("13", Suite::Draft13BatchCompat),
        ] {
            let field = |field: &str| praos(&format!("vrf_ver{version}_{name}"), field);
            let (alpha, pi) = (field("alpha"), field("pi"));
            check(suite, &field("sk"), &field("pk"), &alpha, &pi, &field("beta"));
        }
    }
}

#[test]
fn rfc9381_examples() {
    let json: Value = serde_json::from_str(&read("rfc9381/ecvrf_vectors.json")).unwrap();
    let examples = json["vectors"].as_array().unwrap();
    assert_eq!(examples.len(), 12);
    for example in examples {
        let suite = match example["suite"].as_str().unwrap() {
            "ECVRF-P256-SHA256-TAI" => Suite::P256Tai,
            "ECVRF-P256-SHA256-SSWU" => Suite::P256Sswu,
            "ECVRF-EDWARDS25519-SHA512-TAI" => Suite::Edwards25519Tai,
            "ECVRF-EDWARDS25519-SHA512-ELL2" => Suite::Edwards25519Ell2,
            other => panic!("{other}"),
        };
        let field = |name: &str| unhex(example[name].as_str().unwrap());
        let (alpha, pi) = (field("alpha"), field("pi"));
        check(suite, &field("SK"), &field("PK"), &alpha, &pi, &field("beta"));
        let key = PublicKey::from_bytes(suite, &field("PK")).unwrap();
        assert_eq!(tetralith_vrf::encode_to_curve(&key, &alpha).unwrap(), field("H"));
    }
}

/// The first proof on secp256k1 of the `vrf` crate's documentation.
#[test]
fn secp256k1_as_deployed() {
    check(
        Suite::Secp256k1Tai,
        &unhex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"),
        &unhex("032c8c31fc9f990c6b55e3865a184a4ce50e09481f2eaeb3e60ec1cea13a6ae645"),
        b"sample",
        &unhex(
            "031f4dbca087a1972d04a07a779b7df1caa99e0f5db2aa21f3aecc4f9e10e85d08748c9fbe6b95d17359\
             707bfb8e8ab0c93ba0c515333adcb8b64f372c535e115ccf66ebf5abe6fadb01b5efb37c0a0ec9",
        ),
        &unhex("612065e309e937ef46c2ef04d5886b9c6efd2991ac484ec64a9b014366fc5d81"),
    );
}

#[test]
fn header_proofs() {
    let text = read("cardano-headers/header_proofs.txt");
    let fields: Vec<Vec<Vec<u8>>> =
        text.lines().map(|line| line.split(' ').skip(1).map(unhex).collect()).collect();
    assert_eq!(fields.len(), 60);
    let rows: Vec<Row<'_>> = fields
        .iter()
        .map(|row| Row { public_key: &row[0], alpha: &row[1], proof: &row[2] })
        .collect();
    for suite in [Suite::Draft03Cardano, Suite::Draft03Algorand] {
        for (output, row) in verify_many(suite, &rows).iter().zip(&fields) {
            assert_eq!(output.as_ref().unwrap().as_bytes(), row[3]);
        }
    }
}

#[test]
fn torsion_forgeries_are_refused() {
    let text = read("torsion_forged_draft13bc.txt");
    for line in text.lines() {
        let [label, key, alpha, proof] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let (key, alpha, proof) = (unhex(key), unhex(alpha), unhex(proof));
        let row = Row { public_key: &key, alpha: &alpha, proof: &proof };
        let suite = Suite::Draft13BatchCompat;
        for n in [1, 2, 8, 9, 64] {
            for verdict in verify_many(suite, &vec![row; n]) {
                assert_eq!(verdict.is_ok(), label == "honest", "{label}");
                assert!(label == "honest" || verdict == Err(Error::Invalid));
            }
        }
        assert_eq!(verify(suite, &key, &alpha, &proof).is_ok(), label == "honest");
    }
}
