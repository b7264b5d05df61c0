//! The routes of go-tss at real nodes: every party posts the same request to its own node.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use k256::ecdsa::VerifyingKey;
use nodes::{Nodes, request};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A public key of each node, by which clients name it, and its text.
fn party(index: usize) -> String {
    let secret = k256::SecretKey::from_slice(&[index as u8 + 1; 32]).unwrap();
    encode(&secret.public_key().to_sec1_bytes())
}

fn encode(key: &[u8]) -> String {
    let bytes = [&[0xeb, 0x5a, 0xe9, 0x87, 33], key].concat();
    let prefix = bech32::Hrp::parse("tthorpub").unwrap();
    bech32::encode::<bech32::Bech32>(prefix, &bytes).unwrap()
}

fn decode(text: &str) -> Vec<u8> {
    let (prefix, bytes) = bech32::decode(text).unwrap();
    assert_eq!(prefix.as_str(), "tthorpub");
    bytes[5..].to_vec()
}

fn base64(text: &Value) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.as_str().unwrap().trim_end_matches('=').bytes();
    let mut bits = Vec::new();
    for digit in digits {
        let value = DIGITS.iter().position(|d| *d == digit).unwrap();
        bits.extend((0..6).rev().map(|bit| (value >> bit & 1) as u8));
    }
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | bit)).collect()
}

/// `count` nodes with the routes, of which those of `running` run.
fn start(count: usize, running: &[usize], settings: &str) -> Nodes {
    let mut nodes = Nodes::new(count);
    for index in 0..count {
        let path = nodes.folder(index).join("node.toml");
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += &format!("\n[clients.gotss]\nprefix = \"tthorpub\"\n{settings}\n");
        text += "[clients.gotss.parties]\n";
        for other in 0..count {
            text += &format!("node-{} = \"{}\"\n", other + 1, party(other));
        }
        std::fs::write(&path, text).unwrap();
        nodes.set(index, "sign", "\"approved\"");
    }
    running.iter().for_each(|index| nodes.run(*index));
    running.iter().for_each(|index| nodes.wait_connected(*index, running.len() - 1));
    nodes
}

/// What each of these nodes answers to the same request, which they get at the same time.
fn post_all(nodes: &Nodes, indices: &[usize], path: &str, body: &Value) -> Vec<Value> {
    post_after(nodes, &indices.iter().map(|index| (*index, 0)).collect::<Vec<_>>(), path, body)
}

/// The same, each after so many milliseconds.
fn post_after(nodes: &Nodes, at: &[(usize, u64)], path: &str, body: &Value) -> Vec<Value> {
    std::thread::scope(|scope| {
        let asking = at.iter().map(|(index, after)| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(*after));
                let (status, answer) = nodes.post(*index, path, body.clone());
                assert_eq!(status, 200, "{answer}");
                answer
            })
        });
        let asking: Vec<_> = asking.collect();
        asking.into_iter().map(|answer| answer.join().unwrap()).collect()
    })
}

fn keygen(count: usize) -> Value {
    let keys: Vec<_> = (0..count).map(party).collect();
    json!({ "keys": keys, "block_height": 1, "tss_version": "0.14.0", "algo": "ecdsa" })
}

fn keysign(pool: &Value, messages: &[&str], signers: &[usize], height: u64) -> Value {
    let signers: Vec<_> = signers.iter().map(|index| party(*index)).collect();
    json!({ "pool_pub_key": pool, "messages": messages, "signer_pub_keys": signers,
        "block_height": height, "tss_version": "0.14.0" })
}

/// Checks the signatures of an answer, as a verifier of ECDSA that is not ours does.
fn verify(answer: &Value, pool: &Value, messages: &[&str]) {
    use k256::ecdsa::signature::hazmat::PrehashVerifier;
    assert_eq!(answer["status"], 1, "{answer}");
    assert_eq!(answer["blame"], json!({ "fail_reason": "", "is_broadcast": false, "round": "" }));
    let key = VerifyingKey::from_sec1_bytes(&decode(pool.as_str().unwrap())).unwrap();
    let signatures = answer["signatures"].as_array().unwrap();
    assert_eq!(signatures.len(), messages.len());
    let mut signed: Vec<&str> = Vec::new();
    for signature in signatures {
        let parts = [base64(&signature["r"]), base64(&signature["s"])].concat();
        let parsed = k256::ecdsa::Signature::from_slice(&parts).unwrap();
        let digest = base64(&signature["signed_msg"]);
        key.verify_prehash(&digest, &parsed).unwrap();
        let id = base64(&signature["recovery_id"])[0];
        let id = k256::ecdsa::RecoveryId::from_byte(id).unwrap();
        assert_eq!(VerifyingKey::recover_from_prehash(&digest, &parsed, id).unwrap(), key);
        signed.push(signature["signed_msg"].as_str().unwrap());
    }
    let values: Vec<_> = signatures.iter().map(|s| base64(&s["signed_msg"])).collect();
    assert!(values.is_sorted_by(|a, b| a >= b), "the greatest first, as in go-tss");
    let mut expected = messages.to_vec();
    expected.sort_unstable();
    signed.sort_unstable();
    assert_eq!(signed, expected);
}

/// Two digests in base64.
const MESSAGES: [&str; 2] = [
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
    "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=",
];

#[test]
fn four_parties_make_a_key_and_sign_a_batch() {
    let nodes = start(4, &[0, 1, 2, 3], "");
    let made = post_all(&nodes, &[0, 1, 2, 3], "/keygen", &keygen(4));
    let pool = made[0]["pub_key"].clone();
    for answer in &made {
        assert_eq!((&answer["status"], &answer["algo"]), (&json!(1), &json!("ecdsa")), "{answer}");
        assert_eq!(answer["pub_key"], pool, "all have one key");
        assert!(answer["pool_address"].as_str().unwrap().starts_with("tthor1"), "{answer}");
    }
    let (_, keys) = nodes.get(0, "/v1/keys");
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1, "one ceremony for all: {keys}");
    assert_eq!(keys["keys"][0]["threshold"], 3);
    assert_eq!(hex::encode(decode(pool.as_str().unwrap())), keys["keys"][0]["public_key"]);

    // One of them comes late; all have the same signatures, those that did not sign too.
    let body = keysign(&pool, &MESSAGES, &[0, 1, 2, 3], 7);
    let at = [(0, 0), (1, 40), (2, 0), (3, 300)];
    let signed = post_after(&nodes, &at, "/keysign", &body);
    signed.iter().for_each(|answer| verify(answer, &pool, &MESSAGES));
    assert!(signed.iter().all(|answer| *answer == signed[0]), "{signed:?}");
    // A client that asks again has the same answer, from its own node alone.
    let again = post_all(&nodes, &[2], "/keysign", &body);
    assert_eq!(again[0], signed[0]);

    let (_, status) = nodes.get(1, "/status");
    assert_eq!(status["successful_keygen"], 1, "{status}");
    assert_eq!(status["successful_keysign"], 1, "{status}");
    assert_eq!((&status["failed_keysign"], &status["current_keysign"]), (&json!(0), &json!("")));
    let (_, id) = nodes.get(1, "/p2pid");
    let (_, own) = nodes.get(1, "/v1/status");
    assert_eq!(id, own["id"]);
    assert_eq!(nodes.get(0, "/ping"), (200, json!("")));
}

/// Whoever leads: each of the others is enough, with one party away or killed.
#[test]
fn a_party_that_is_away_is_replaced() {
    let mut nodes = start(4, &[0, 1, 2, 3], "");
    let pool = post_all(&nodes, &[0, 1, 2, 3], "/keygen", &keygen(4))[0]["pub_key"].clone();
    nodes.kill(3);
    // Of six requests the dead node would lead one or two.
    for height in 0..6 {
        let begun = Instant::now();
        let body = keysign(&pool, &MESSAGES[..1], &[0, 1, 2, 3], height);
        let signed = post_all(&nodes, &[0, 1, 2], "/keysign", &body);
        signed.iter().for_each(|answer| verify(answer, &pool, &MESSAGES[..1]));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
    // A party whose client never asks is not needed either.
    nodes.run(3);
    (0..4).for_each(|index| nodes.wait_connected(index, 3));
    for height in 10..13 {
        let body = keysign(&pool, &MESSAGES[1..], &[], height);
        let signed = post_all(&nodes, &[1, 2, 3], "/keysign", &body);
        signed.iter().for_each(|answer| verify(answer, &pool, &MESSAGES[1..]));
    }
}

#[test]
fn too_few_parties_fail_with_blame_and_without_a_signature() {
    let nodes = start(4, &[0, 1, 2, 3], "party_ms = 1500");
    let pool = post_all(&nodes, &[0, 1, 2, 3], "/keygen", &keygen(4))[0]["pub_key"].clone();
    let body = keysign(&pool, &MESSAGES[..1], &[0, 1, 2, 3], 1);
    for answer in post_all(&nodes, &[0, 1], "/keysign", &body) {
        assert_eq!((&answer["status"], &answer["signatures"]), (&json!(2), &Value::Null));
        let reason = "signers fail to sync before keygen/keysign";
        assert_eq!(answer["blame"]["fail_reason"], reason, "{answer}");
        let blamed = answer["blame"]["blame_peers"].as_array().unwrap();
        let mut blamed: Vec<_> = blamed.iter().map(|b| b["pubkey"].as_str().unwrap()).collect();
        blamed.sort_unstable();
        let mut expected = [party(2), party(3)];
        expected.sort_unstable();
        assert_eq!(blamed, expected);
    }
    // Nobody signs what the clients of too few have asked for.
    let (_, refused) = nodes.post(
        0,
        "/v1/sign",
        json!({ "key": nodes.get(0, "/v1/keys").1["keys"][0]["key"], "digest": "01".repeat(32) }),
    );
    assert_eq!(refused["code"], "ceremony.failed", "{refused}");
    // With the others the same request succeeds.
    for answer in post_all(&nodes, &[0, 1, 2, 3], "/keysign", &body) {
        verify(&answer, &pool, &MESSAGES[..1]);
    }
    let (_, status) = nodes.get(0, "/nodestatus");
    assert_eq!((&status["failed_keysign"], &status["successful_keysign"]), (&json!(1), &json!(1)));
}

#[test]
fn wrong_requests_are_refused_and_browsers_kept_out() {
    let nodes = start(2, &[0, 1], "without_token = true");
    let url = |path: &str| format!("http://{}{path}", nodes.api(0));
    let ask = |path: &str, headers: &[(&str, &str)], body: &Value| {
        let (status, answer) = request("POST", &url(path), headers, Some(body.clone()));
        (status, answer["code"].as_str().unwrap_or_default().to_owned())
    };
    let refused = |path: &str, body: Value| ask(path, &[], &body);
    let message = MESSAGES[0];
    let pool = json!(party(0));
    let cases = [
        ("/keygen", json!({ "keys": [party(0)] }), 400, "request.invalid"),
        ("/keygen", json!({ "keys": [party(1)] }), 400, "request.party"),
        ("/keygen", json!({ "keys": [party(0), party(7)] }), 400, "request.party"),
        ("/keygen", json!({ "keys": [party(0), party(1)], "algo": "eddsa" }), 400, "request.algo"),
        ("/keygen", json!(3), 400, "request.malformed"),
        ("/keysign", json!({ "pool_pub_key": "x", "messages": [message] }), 400, "key.malformed"),
        ("/keysign", json!({ "pool_pub_key": pool, "messages": [message] }), 404, "key.unknown"),
    ];
    for (path, body, status, code) in cases {
        assert_eq!(refused(path, body.clone()), (status, code.to_owned()), "{path} {body}");
    }
    // No token is needed, but a page of a browser needs one.
    let page = [("origin", "https://evil.example")];
    assert_eq!(ask("/keygen", &page, &keygen(2)), (401, "api.token".into()));
    assert_eq!(request("GET", &url("/v1/keys"), &[], None).0, 401, "other routes need theirs");
    let without = |index: usize| {
        let url = format!("http://{}/keygen", nodes.api(index));
        request("POST", &url, &[], Some(keygen(2)))
    };
    let made = std::thread::scope(|scope| {
        let other = scope.spawn(|| without(1));
        (without(0), other.join().unwrap())
    });
    assert_eq!(made.0.1["status"], 1, "{made:?}");
    assert_eq!(made.0, made.1);
    let pool = &made.0.1["pub_key"];
    for messages in [json!([]), json!(["!"]), json!([""]), json!(["A".repeat(48)])] {
        let body = json!({ "pool_pub_key": pool, "messages": messages });
        assert_eq!(refused("/keysign", body), (400, "request.messages".into()));
    }
    let one = json!({ "pool_pub_key": pool, "messages": [message], "signer_pub_keys": [party(0)] });
    assert_eq!(refused("/keysign", one), (400, "request.signers".into()));
}
