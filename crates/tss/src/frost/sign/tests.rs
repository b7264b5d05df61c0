//! RFC 9591 Appendix E.1, step by step.

use super::*;
use crate::engine::Threshold;
use crate::frost::ciphersuite::evaluate_vartime;
use crate::wiped::{Secret, secret};
use serde_json::Value;

/// What a session knows and nobody else may.
pub(crate) fn secrets(session: &FrostSign) -> Vec<Secret> {
    match session.0.rounds().map(|rounds| &rounds.state) {
        Some(State::Committed(nonces, share)) => vec![
            secret("hiding nonce", nonces.hiding.as_bytes()),
            secret("binding nonce", nonces.binding.as_bytes()),
            secret("share", share.as_bytes()),
        ],
        _ => Vec::new(),
    }
}

fn vectors() -> Value {
    let text = include_str!("../../../../../vectors/tss/frost_ed25519_rfc9591.json");
    serde_json::from_str(text).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn array(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

fn scalar(value: &Value) -> Scalar {
    decode_scalar(array(value)).unwrap()
}

fn party(value: &Value) -> PartyId {
    PartyId::new(value["identifier"].as_u64().unwrap() as u8).unwrap()
}

#[test]
fn the_rfc_s_example() {
    let vectors = vectors();
    let inputs = &vectors["inputs"];
    let polynomial =
        [scalar(&inputs["group_secret_key"]), scalar(&inputs["share_polynomial_coefficients"][0])];
    let points: Vec<_> = polynomial.iter().map(EdwardsPoint::mul_base).collect();
    assert_eq!(encode(&points[0]), array(&inputs["verifying_key_key"]));
    let shares = inputs["participant_shares"].as_array().unwrap();
    for share in shares {
        let point = EdwardsPoint::mul_base(&scalar(&share["participant_share"]));
        assert_eq!(point, evaluate_vartime(&points, party(share)));
    }
    let threshold = Threshold::new(2, 3).unwrap();
    let public = FrostPublic::new(threshold, [0; 32], points).unwrap();

    let first = vectors["round_one_outputs"]["outputs"].as_array().unwrap();
    let signers: Vec<PartyId> = first.iter().map(party).collect();
    let secret_of = |id: PartyId| scalar(&shares[usize::from(id.get()) - 1]["participant_share"]);
    let mut commitments = Vec::new();
    for output in first {
        let secret = secret_of(party(output));
        for kind in ["hiding", "binding"] {
            let random = bytes(&output[format!("{kind}_nonce_randomness")]);
            let nonce = h3(&[&random, secret.as_bytes()]);
            assert_eq!(nonce, scalar(&output[format!("{kind}_nonce")]));
            let commitment = array(&output[format!("{kind}_nonce_commitment")]);
            assert_eq!(encode(&EdwardsPoint::mul_base(&nonce)), commitment);
        }
        let element = |name: &str| decode(&array(&output[name])).unwrap();
        commitments.push(Commitments {
            party: party(output),
            hiding: element("hiding_nonce_commitment"),
            binding: element("binding_nonce_commitment"),
        });
    }
    let message = bytes(&inputs["message"]);
    let package = Package::new(&public, commitments, &message);
    let second = vectors["round_two_outputs"]["outputs"].as_array().unwrap();
    let mut sum = Scalar::ZERO;
    for (k, (first, second)) in first.iter().zip(second).enumerate() {
        assert_eq!(package.binding_factors[k], scalar(&first["binding_factor"]));
        let me = party(first);
        let share = scalar(&first["hiding_nonce"])
            + scalar(&first["binding_nonce"]) * package.binding_factors[k]
            + lagrange(me, &signers) * secret_of(me) * package.challenge;
        assert_eq!(share, scalar(&second["sig_share"]));
        sum += share;
    }
    let mut signature = encode(&package.group_commitment).to_vec();
    signature.extend(sum.to_bytes());
    assert_eq!(signature, bytes(&vectors["final_output"]["sig"]));
}
