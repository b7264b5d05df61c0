//! Ceremonies between real nodes: they end with a result, or with blame, whatever one node does.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod support;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};
use support::Cluster;
use support::coin::{BABBLER, HONEST, LIAR, SILENT};
use tetralith_node::config::{KeygenPolicy, SignPolicy, Timeouts};

fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> =
        value.as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

/// The blames of a ceremony as (who, fault, evidence).
fn blames(ceremony: &Value) -> Vec<(&str, &str, &str)> {
    let blames = ceremony["blames"].as_array().unwrap().iter();
    let text = |value: &'_ Value| -> &'static str { value.as_str().unwrap().to_owned().leak() };
    blames.map(|b| (text(&b["peer"]["name"]), text(&b["fault"]), text(&b["evidence"]))).collect()
}

async fn keygen(cluster: &Cluster, threshold: u8) -> String {
    let (status, key) =
        cluster.members[0].post("/v1/keygen", json!({ "threshold": threshold })).await;
    assert_eq!(status, 200, "{key}");
    assert_eq!(key["confirmed"], true);
    key["key"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_nodes_make_a_key_and_any_three_sign() {
    const JOIN_MS: u64 = 5_000;
    let mut cluster = Cluster::start(4, |config| config.timeouts.join_ms = JOIN_MS).await;
    let key = keygen(&cluster, 3).await;
    for member in &cluster.members {
        let held = confirmed(member, &key).await;
        assert_eq!(held["threshold"], 3);
    }
    let request = json!({ "key": key, "message": "a message" });
    let (status, signed) = cluster.members[1].post("/v1/sign", request.clone()).await;
    assert_eq!(status, 200, "{signed}");
    assert_eq!(signed["digest"], hex::encode(Sha256::digest("a message")));
    assert_eq!(names(&signed["signers"]).len(), 3);
    assert!(names(&signed["signers"]).contains(&"node-2"), "who is asked signs");

    // One node stops: the others sign, and nobody waits long.
    cluster.members[3].stop().await;
    cluster.members[0].connected(2).await;
    let begun = Instant::now();
    let (status, signed) = cluster.members[0].post("/v1/sign", request.clone()).await;
    assert_eq!(status, 200, "{signed}");
    assert_eq!(names(&signed["signers"]), ["node-1", "node-2", "node-3"]);
    assert!(begun.elapsed().as_millis() < u128::from(JOIN_MS), "no timeout was waited for");

    // Two of four cannot sign, and the failure says who was missing.
    cluster.members[2].stop().await;
    let (status, failed) = cluster.members[0].post("/v1/sign", request.clone()).await;
    assert_eq!((status, &failed["code"]), (502, &json!("ceremony.failed")), "{failed}");
    let mut missing: Vec<_> = blames(&failed["ceremony"]).iter().map(|b| b.0).collect();
    missing.sort_unstable();
    assert_eq!(missing, ["node-3", "node-4"]);

    // After a restart the share is there.
    cluster.members[3].start().await;
    cluster.members[3].connected(2).await;
    let (status, signed) = cluster.members[3].post("/v1/sign", request).await;
    assert_eq!(status, 200, "{signed}");
    assert_eq!(names(&signed["signers"]), ["node-1", "node-2", "node-4"]);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_node_is_blamed_and_costs_one_timeout() {
    let cluster = Cluster::start(3, |_| ()).await;
    let key = keygen(&cluster, 2).await;
    cluster.members[2].engine.behave(SILENT);
    let signers = ["node-1", "node-2", "node-3"];
    let mut blamed = 0;
    // Whoever is chosen with node 1, the signature is made; node 3 fails when it is chosen first.
    for count in 0..20 {
        let request = json!({ "key": key, "message": count.to_string(), "signers": signers });
        let begun = Instant::now();
        let (status, signed) = cluster.members[0].post("/v1/sign", request).await;
        assert_eq!(status, 200, "{signed}");
        assert_eq!(names(&signed["signers"]), ["node-1", "node-2"]);
        assert!(begun.elapsed().as_millis() < 9_000, "one timeout of 5 s, and some slack");
        let (_, log) = cluster.members[0].get("/v1/ceremonies?limit=2").await;
        let before = &log["ceremonies"][1];
        if before["state"] == "failed" {
            assert_eq!(blames(before), [("node-3", "sent no message in time", "absence")]);
            blamed += 1;
            break;
        }
    }
    assert_eq!(blamed, 1);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_keygen_blames_the_same_node_everywhere() {
    let cases = [
        (SILENT, "sent no message in time", "absence"),
        (LIAR, "failed commitment", "accusation"),
        (BABBLER, "sent no acceptable message (expected 33 bytes, got 1)", "accusation"),
    ];
    let cluster = Cluster::start(3, |_| ()).await;
    for (behaviour, fault, evidence) in cases {
        cluster.members[1].engine.behave(behaviour);
        let (status, failed) =
            cluster.members[0].post("/v1/keygen", json!({ "threshold": 2 })).await;
        assert_eq!((status, &failed["code"]), (502, &json!("ceremony.failed")), "{failed}");
        let id = failed["ceremony"]["id"].as_str().unwrap();
        for member in [&cluster.members[0], &cluster.members[2]] {
            let record = ended(member, id).await;
            assert_eq!(record["state"], "failed", "{record}");
            let found = blames(&record);
            assert!(!found.is_empty() && found.iter().all(|blame| blame.0 == "node-2"), "{record}");
            assert!(
                found.iter().any(|b| *b == ("node-2", fault, evidence) || b.1 == fault),
                "{record}"
            );
            let receipts = record["blames"][0]["receipts"].as_array().unwrap();
            let own = record["blames"][0]["reporter"]["name"] == member.config.name;
            assert_eq!(receipts.is_empty(), behaviour == SILENT || !own, "{record}");
        }
    }
    cluster.members[1].engine.behave(HONEST);
    keygen(&cluster, 2).await;
    cluster.stop().await;
}

/// A key once the node has confirmed it: the others may do so a little after the proposer.
async fn confirmed(member: &support::Member, key: &str) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let (status, held) = member.get(&format!("/v1/keys/{key}")).await;
        assert_eq!(status, 200, "{held}");
        if held["confirmed"] == true {
            return held;
        }
        assert!(Instant::now() < end, "{held}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A ceremony of the log once it has ended.
async fn ended(member: &support::Member, id: &str) -> Value {
    loop {
        let (_, record) = member.get(&format!("/v1/ceremonies/{id}")).await;
        if record["state"] != "running" {
            return record;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_sign_only_what_they_approved() {
    let cluster = Cluster::start(3, |config| config.policy.sign = SignPolicy::Approved).await;
    let key = keygen(&cluster, 2).await;
    let request = json!({ "key": key, "message": "pay" });
    let (status, failed) = cluster.members[0].post("/v1/sign", request.clone()).await;
    assert_eq!(status, 502, "{failed}");
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("node-2 refused: this node has not approved the digest"), "{message}");
    let (status, approved) = cluster.members[2].post("/v1/approvals", request.clone()).await;
    assert_eq!((status, &approved["digest"]), (200, &json!(hex::encode(Sha256::digest("pay")))));
    let (status, signed) = cluster.members[0].post("/v1/sign", request).await;
    assert_eq!(status, 200, "{signed}");
    assert_eq!(names(&signed["signers"]), ["node-1", "node-3"]);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_ceremonies_run_at_the_same_time() {
    let cluster = Cluster::start(4, |config| {
        config.limits.ceremonies = 20;
        // Every node works for all of them at once: on a busy machine that takes its time.
        config.timeouts = Timeouts { join_ms: 60_000, round_ms: 60_000 };
    })
    .await;
    let key = keygen(&cluster, 3).await;
    let requests = (0..16).map(|count| {
        let member = &cluster.members[count % 4];
        member.post("/v1/sign", json!({ "key": key, "message": count.to_string() }))
    });
    for (status, signed) in libp2p::futures::future::join_all(requests).await {
        assert_eq!(status, 200, "{signed}");
    }
    let token = cluster.members[0].folder.token().unwrap();
    let (_, metrics) = cluster.members[0].request("/metrics", None, Some(&token)).await;
    assert!(metrics.contains("tetralith_ceremonies_running"), "{metrics}");
    cluster.stop().await;
}

/// A failed check may have cost a bit of the pairwise setup: it is not used again, whoever proposes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retired_setup_is_refused_whoever_proposes() {
    let mut cluster = Cluster::start(4, |_| ()).await;
    let key = keygen(&cluster, 3).await;
    let (_, status) = cluster.members[2].get("/v1/status").await;
    let retired = status["id"].as_str().unwrap().to_owned();
    cluster.members[0].stop().await;
    // As the first version of the log had it.
    let log = rusqlite::Connection::open(cluster.members[0].folder.root().join("node.db")).unwrap();
    log.execute("CREATE TABLE retired (key TEXT, peer TEXT, ceremony TEXT)", []).unwrap();
    log.execute("INSERT INTO retired VALUES (?, ?, ?)", [&key, &retired, "a test"]).unwrap();
    drop(log);
    cluster.members[0].start().await;
    cluster.members[0].connected(3).await;
    cluster.members[1].connected(3).await;

    let mut request = json!({ "key": key, "message": "a message" });
    request["signers"] = json!(["node-1", "node-2", "node-3"]);
    let (status, failed) = cluster.members[1].post("/v1/sign", request.clone()).await;
    assert_eq!(status, 502, "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("is retired"), "{failed}");
    request["signers"] = json!(["node-1", "node-2", "node-4"]);
    let (status, signed) = cluster.members[1].post("/v1/sign", request).await;
    assert_eq!(status, 200, "{signed}");
    cluster.stop().await;
}

/// Who may propose a new key, and how often.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_keys_are_made_for_whom_the_policy_names_and_not_without_end() {
    let cluster = Cluster::start(3, |config| match config.name.as_str() {
        "node-1" => config.policy.keygen = KeygenPolicy::None,
        "node-2" => config.policy.keygen = KeygenPolicy::Only(vec!["node-1".into()]),
        _ => config.limits.keygens_per_hour = 2,
    })
    .await;
    let ask = async |member: usize, parties: [&str; 2]| {
        let request = json!({ "threshold": 2, "parties": parties });
        let (status, answer) = cluster.members[member].post("/v1/keygen", request).await;
        (status, answer["message"].as_str().unwrap_or_default().to_owned())
    };
    // What its own API asks for, no policy forbids.
    assert_eq!(ask(0, ["node-1", "node-2"]).await.0, 200);
    let (status, message) = ask(1, ["node-1", "node-2"]).await;
    let refused = "refused: this node makes no keys that this peer proposes";
    assert!(status == 502 && message.contains(&format!("node-1 {refused}")), "{message}");
    let (status, message) = ask(2, ["node-2", "node-3"]).await;
    assert!(status == 502 && message.contains(&format!("node-2 {refused}")), "{message}");
    for _ in 0..2 {
        assert_eq!(ask(0, ["node-1", "node-3"]).await.0, 200);
    }
    let (status, message) = ask(0, ["node-1", "node-3"]).await;
    assert!(status == 502 && message.contains("as many keys as it may in an hour"), "{message}");
    assert_eq!(ask(1, ["node-2", "node-3"]).await.0, 200, "another peer has its own share");
    cluster.stop().await;
}
