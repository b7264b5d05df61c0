//! Signatures by threshold ECDSA although some nodes lie: real nodes, one of which has a lying engine.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]
#![allow(dead_code, reason = "the support is shared with the ceremonies")]

#[path = "support/liar.rs"]
mod liar;
mod support;

use liar::{
    ACCUSATION, DENOMINATOR, KEY_SHARE, Liar, MASK, NUMERATOR, OPENING, TRANSFER, TWO_VERSIONS,
};
use serde_json::{Value, json};
use std::time::Duration;
use support::{Cluster, Member};
use tetralith_node::Ecdsa;
use tetralith_node::proof::Proof;

async fn cluster(nodes: usize, threshold: u8) -> (Cluster<Liar>, String) {
    let cluster = Cluster::<Liar>::start_with(nodes, |config| {
        config.limits.ceremonies = 64;
        config.limits.ceremonies_per_peer = 64;
    })
    .await;
    let (status, key) =
        cluster.members[0].post("/v1/keygen", json!({ "threshold": threshold })).await;
    assert_eq!(status, 200, "{key}");
    let key = key["key"].as_str().unwrap().to_owned();
    for member in &cluster.members {
        confirmed(member, &key).await;
    }
    (cluster, key)
}

/// Waits until a node knows that every party has stored its share.
async fn confirmed(member: &Member<Liar>, key: &str) {
    while member.get(&format!("/v1/keys/{key}")).await.1["confirmed"] != true {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Asks for a signature, which is made; returns the ceremonies that failed before it.
async fn sign(member: &Member<Liar>, key: &str, message: &str) -> Vec<Value> {
    let failed = |log: &Value| {
        let all = log["ceremonies"].as_array().unwrap().clone();
        all.into_iter().filter(|c| c["state"] == "failed").collect::<Vec<_>>()
    };
    let before = failed(&member.get("/v1/ceremonies?limit=1000").await.1).len();
    let (status, signed) = member.post("/v1/sign", json!({ "key": key, "message": message })).await;
    assert_eq!(status, 200, "{signed}");
    let mut failed = failed(&member.get("/v1/ceremonies?limit=1000").await.1);
    failed.truncate(failed.len() - before);
    failed
}

/// All blames in a node's log: who is blamed, by whom, with what evidence.
async fn blames(member: &Member<Liar>) -> Vec<(String, String, String)> {
    let (_, log) = member.get("/v1/ceremonies?limit=1000").await;
    let ceremonies = log["ceremonies"].as_array().unwrap().iter();
    let all = ceremonies.flat_map(|c| c["blames"].as_array().unwrap().clone());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.map(|b| (text(&b["peer"]["name"]), text(&b["reporter"]["name"]), text(&b["evidence"])))
        .collect()
}

/// A check that names nobody fails: the proposer tries other signers until none of them lies, and
/// remembers what it learned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_anonymous_lie_costs_runs_and_no_signature() {
    for lie in [NUMERATOR, DENOMINATOR, MASK, KEY_SHARE] {
        let (cluster, key) = cluster(4, 3).await;
        cluster.members[3].engine.tell(lie);
        let mut failures = [0; 3];
        for message in 0..6 {
            for (member, failures) in cluster.members.iter().zip(&mut failures) {
                let failed = sign(member, &key, &message.to_string()).await;
                let found = failed.iter().map(|ceremony| ceremony["reason"].as_str().unwrap());
                assert!(found.clone().all(|why| why.contains("at fault is one of")), "{failed:?}");
                *failures += failed.len();
            }
        }
        // Of three possible sets of signers one is honest, and each proposer remembers.
        assert!(failures.iter().all(|failures| *failures <= 2), "{lie}: {failures:?}");
        assert!(failures != [0; 3], "{lie}: the liar took part");
        for member in &cluster.members[..3] {
            assert_eq!(blames(member).await, [], "nobody can be blamed");
        }
        cluster.stop().await;
    }
}

/// Two of five lie in turn, each in its own way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_liars_of_five_stop_no_signature() {
    for lies in [[NUMERATOR, NUMERATOR], [ACCUSATION, DENOMINATOR], [KEY_SHARE, ACCUSATION]] {
        let (cluster, key) = cluster(5, 3).await;
        cluster.members[1].engine.tell(lies[0]);
        cluster.members[3].engine.tell(lies[1]);
        for index in [0, 2, 4] {
            let failed = sign(&cluster.members[index], &key, &index.to_string()).await;
            assert!(failed.len() < 6, "C(4, 2) runs at most: {}", failed.len());
        }
        cluster.stop().await;
    }
}

/// A liar accuses whoever it signs with: every request still ends in a signature, and in nobody's log
/// is an honest node blamed by anybody but the liar.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_false_accusation_is_not_believed() {
    let (cluster, key) = cluster(4, 3).await;
    cluster.members[3].engine.tell(ACCUSATION);
    let mut failures = 0;
    for message in 0..5 {
        for member in &cluster.members[..3] {
            failures += sign(member, &key, &format!("message {message}")).await.len();
        }
    }
    assert!(failures > 0, "the liar took part");
    for member in &cluster.members[..3] {
        for (peer, reporter, evidence) in blames(member).await {
            assert_ne!(peer, member.config.name, "no node blames itself");
            assert!(peer == "node-4" || reporter == "node-4", "{peer} by {reporter}");
            assert_eq!(evidence, "accusation");
        }
    }
    cluster.stop().await;
}

/// Many runs at once are no way to learn more of a pairwise setup than one failed check tells; the
/// retirement survives the loss of the log, and belongs to the share.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_retired_setup_is_tried_no_second_time() {
    let (mut cluster, key) = cluster(3, 2).await;
    cluster.members[2].engine.tell(TRANSFER);
    let request = |message: usize| {
        let signers = ["node-1", "node-3"];
        json!({ "key": key, "message": message.to_string(), "signers": signers })
    };
    let attempts = (0..12).map(|message| cluster.members[2].post("/v1/sign", request(message)));
    for (status, answer) in libp2p::futures::future::join_all(attempts).await {
        assert_eq!(status, 502, "{answer}");
    }
    let tried = |log: &Value| {
        let text = log.to_string();
        text.matches("\"fault\":\"failed oblivious-transfer extension\"").count()
    };
    let (_, log) = settled(&cluster.members[0]).await;
    assert_eq!(tried(&log), 1, "{log}");

    cluster.members[0].stop().await;
    let folder = cluster.members[0].folder.root().to_owned();
    for name in ["node.db", "node.db-wal", "node.db-shm"] {
        let _ = std::fs::remove_file(folder.join(name));
    }
    cluster.members[0].start().await;
    cluster.members[0].connected(2).await;
    cluster.members[2].connected(2).await;
    let (status, answer) = cluster.members[2].post("/v1/sign", request(100)).await;
    assert_eq!(status, 502, "{answer}");
    assert!(answer.to_string().contains("is retired"), "{answer}");
    let (_, log) = settled(&cluster.members[0]).await;
    assert_eq!(tried(&log), 0, "{log}");
    // With the others the key goes on; what they sign confirms the key here, whose log is lost.
    cluster.members[2].engine.tell(0);
    let of_others = json!({ "key": key, "message": "x", "signers": ["node-1", "node-2"] });
    let (status, signed) = cluster.members[1].post("/v1/sign", of_others).await;
    assert_eq!(status, 200, "{signed}");
    confirmed(&cluster.members[0], &key).await;
    assert!(sign(&cluster.members[0], &key, "another").await.is_empty());
    // A refresh gives the two nodes a new setup: they sign together again.
    let (status, made) = cluster.members[1].post("/v1/reshare", json!({ "key": key })).await;
    assert_eq!((status, &made["sharing"]), (200, &json!(1)), "{made}");
    for member in &cluster.members {
        while member.get(&format!("/v1/keys/{key}")).await.1["sharing"] != 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let (status, signed) = cluster.members[2].post("/v1/sign", request(101)).await;
    assert_eq!(status, 200, "{signed}");
    cluster.stop().await;
}

/// The log once no ceremony runs.
async fn settled(member: &Member<Liar>) -> (u16, Value) {
    loop {
        let (status, log) = member.get("/v1/ceremonies?limit=1000").await;
        if log["ceremonies"].as_array().unwrap().iter().all(|c| c["state"] != "running") {
            return (status, log);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Where the liar's own messages show the lie, the blame is a proof, whoever has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_public_lie_is_proved() {
    let cases =
        [(OPENING, 2, "failed commitment"), (TWO_VERSIONS, 1, "sent two different broadcasts")];
    for (lie, round, fault) in cases {
        let (cluster, key) = cluster(4, 3).await;
        cluster.members[3].engine.tell(lie);
        let (_, status) = cluster.members[3].get("/v1/status").await;
        let mut proofs = 0;
        for message in 0..12 {
            for ceremony in sign(&cluster.members[0], &key, &message.to_string()).await {
                for blame in ceremony["blames"].as_array().unwrap() {
                    assert_eq!(blame["peer"]["name"], "node-4", "{ceremony}");
                    assert_eq!(blame["evidence"], "proof", "{ceremony}");
                    let proof = Proof::from_json(blame["proof"].to_string().as_bytes()).unwrap();
                    let found = proof.verify(&Ecdsa).unwrap();
                    assert_eq!(found.peer, status["id"].as_str().unwrap());
                    assert_eq!((found.round, found.fault.as_str()), (round, fault));
                    proofs += 1;
                }
            }
        }
        assert!(proofs > 0, "the liar took part");
        cluster.stop().await;
    }
}
