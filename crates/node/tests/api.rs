//! What the API refuses: every endpoint, with wrong tokens and malformed bodies, paths and queries.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]
#![allow(dead_code, reason = "the support is shared with the ceremonies")]

mod support;

use serde_json::{Value, json};
use support::{Cluster, Member};

const CHANGING: [&str; 3] = ["/v1/keygen", "/v1/sign", "/v1/approvals"];
const READING: [&str; 7] = [
    "/v1/status",
    "/v1/keys",
    "/v1/keys/00",
    "/v1/ceremonies",
    "/v1/ceremonies/00",
    "/v1/events",
    "/metrics",
];

/// Status and code of a refusal, which has a message and is not ok.
fn refusal(path: &str, (status, text): (u16, String)) -> (u16, String) {
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {text}"));
    assert_eq!(value["ok"], false, "{path}: {value}");
    assert!(!value["message"].as_str().unwrap().is_empty(), "{path}: {value}");
    (status, value["code"].as_str().unwrap().to_owned())
}

async fn post(member: &Member, path: &str, body: &[u8], token: Option<&str>) -> (u16, String) {
    let answer = member.request_as(path, Some(body.to_vec()), token.map(str::to_owned)).await;
    refusal(path, answer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_changes_without_the_token() {
    let cluster = Cluster::start(2, |_| ()).await;
    let node = &cluster.members[0];
    let token = node.folder.token().unwrap().to_string();
    let other = cluster.members[1].folder.token().unwrap().to_string();
    let tokens = [
        None,
        Some(String::new()),
        Some("Bearer".into()),
        Some("Bearer ".into()),
        Some(token.clone()),
        Some(format!("Basic {token}")),
        Some(format!("Bearer {token}x")),
        Some(format!("Bearer {}", &token[1..])),
        Some(format!("Bearer {}", &token[..token.len() - 1])),
        Some(format!("Bearer {}", token.to_uppercase())),
        Some(format!("Bearer {other}")),
        Some(format!("Bearer {token}, Bearer {other}")),
    ];
    for path in CHANGING {
        for token in &tokens {
            // Whatever the body: who has no token learns nothing of it.
            for body in [&b"{}"[..], b"", b"{\"threshold\":2}"] {
                let found = post(node, path, body, token.as_deref()).await;
                assert_eq!(found, (401, "api.token".into()), "{path} {token:?}");
            }
        }
    }
    for path in READING {
        for token in &tokens {
            let found = refusal(path, node.request_as(path, None, token.clone()).await);
            assert_eq!(found, (401, "api.token".into()), "{path} {token:?}");
        }
    }
    // The scheme may be in any case, with more than one space after it (RFC 9110).
    for good in [format!("bearer {token}"), format!("BEARER  {token}")] {
        assert_eq!(node.request_as("/v1/keys", None, Some(good)).await.0, 200);
    }
    let (_, log) = node.get("/v1/ceremonies").await;
    assert_eq!(log["ceremonies"], json!([]));
    let (_, keys) = node.get("/v1/keys").await;
    assert_eq!(keys["keys"], json!([]));
    cluster.stop().await;
}

/// Each case: the endpoint, the body, and the status and code that it gets.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_bodies_are_named() {
    let cluster = Cluster::start(2, |_| ()).await;
    let node = &cluster.members[0];
    let (status, made) = node.post("/v1/keygen", json!({ "threshold": 2 })).await;
    assert_eq!(status, 200, "{made}");
    let key = made["key"].as_str().unwrap();
    let token = format!("Bearer {}", node.folder.token().unwrap().as_str());
    let refused = async |path: &str, body: &[u8]| post(node, path, body, Some(&token)).await;

    let long = vec![b' '; (1 << 20) + 1];
    let deep = [b"[".repeat(200), b"]".repeat(200)].concat();
    let malformed: [&[u8]; 10] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"3",
        b"\"text\"",
        b"\xff\xfe",
        b"{} {}",
        &deep,
        b"{\"threshold\":2,\"key\":\"\",\"unknown\":1}",
    ];
    for path in CHANGING {
        for body in malformed {
            let found = refused(path, body).await;
            assert_eq!(found, (400, "request.malformed".into()), "{path} {body:?}");
        }
        assert_eq!(refused(path, &long).await, (413, "request.body".into()), "{path}");
    }

    let digest = "ab".repeat(32);
    let cases = [
        ("/v1/keygen", json!({}), 400, "request.malformed"),
        ("/v1/keygen", json!({ "threshold": 256 }), 400, "request.malformed"),
        ("/v1/keygen", json!({ "threshold": -1 }), 400, "request.malformed"),
        ("/v1/keygen", json!({ "threshold": "2" }), 400, "request.malformed"),
        ("/v1/keygen", json!({ "threshold": 2, "parties": "node-1" }), 400, "request.malformed"),
        ("/v1/keygen", json!({ "threshold": 2, "parties": [1] }), 400, "request.malformed"),
        ("/v1/keygen", json!({ "threshold": 2, "partys": [] }), 400, "request.malformed"),
        ("/v1/keygen", json!({ "threshold": 0 }), 400, "request.invalid"),
        ("/v1/keygen", json!({ "threshold": 1 }), 400, "request.invalid"),
        ("/v1/keygen", json!({ "threshold": 3 }), 400, "request.invalid"),
        ("/v1/keygen", json!({ "threshold": 2, "parties": [] }), 400, "request.invalid"),
        ("/v1/keygen", json!({ "threshold": 2, "parties": ["node-1"] }), 400, "request.invalid"),
        (
            "/v1/keygen",
            json!({ "threshold": 2, "parties": ["node-1", "node-9"] }),
            400,
            "request.party",
        ),
        ("/v1/sign", json!({}), 400, "request.malformed"),
        ("/v1/sign", json!({ "key": key }), 400, "request.digest"),
        ("/v1/sign", json!({ "key": 7, "digest": digest }), 400, "request.malformed"),
        ("/v1/sign", json!({ "key": "x", "digest": digest }), 400, "key.malformed"),
        ("/v1/sign", json!({ "key": &key[2..], "digest": digest }), 400, "key.malformed"),
        ("/v1/sign", json!({ "key": "00".repeat(16), "digest": digest }), 404, "key.unknown"),
        ("/v1/sign", json!({ "key": key, "digest": &digest[2..] }), 400, "request.digest"),
        ("/v1/sign", json!({ "key": key, "digest": "xy".repeat(32) }), 400, "request.digest"),
        ("/v1/sign", json!({ "key": key, "message_hex": "abc" }), 400, "request.digest"),
        (
            "/v1/sign",
            json!({ "key": key, "message": "a", "digest": digest }),
            400,
            "request.digest",
        ),
        ("/v1/sign", json!({ "key": key, "message": 3 }), 400, "request.malformed"),
        (
            "/v1/sign",
            json!({ "key": key, "message": "a", "signers": ["node-9"] }),
            400,
            "request.party",
        ),
        (
            "/v1/sign",
            json!({ "key": key, "message": "a", "signers": ["node-1"] }),
            400,
            "request.invalid",
        ),
        ("/v1/sign", json!({ "key": key, "message": "a", "signers": [] }), 400, "request.invalid"),
        ("/v1/approvals", json!({}), 400, "request.malformed"),
        ("/v1/approvals", json!({ "key": key }), 400, "request.digest"),
        ("/v1/approvals", json!({ "key": "00".repeat(16), "digest": digest }), 404, "key.unknown"),
        ("/v1/approvals", json!({ "key": key, "digest": "" }), 400, "request.digest"),
        (
            "/v1/approvals",
            json!({ "key": key, "digest": digest, "signers": [] }),
            400,
            "request.malformed",
        ),
    ];
    for (path, body, status, code) in cases {
        let found = refused(path, body.to_string().as_bytes()).await;
        assert_eq!(found, (status, code.to_owned()), "{path} {body}");
    }
    // Nothing of it was held, and the key signs.
    let (_, log) = node.get("/v1/ceremonies").await;
    assert_eq!(log["ceremonies"].as_array().unwrap().len(), 1);
    let (status, signed) = node.post("/v1/sign", json!({ "key": key, "digest": digest })).await;
    assert_eq!(status, 200, "{signed}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_paths_queries_and_methods_are_refused() {
    let cluster = Cluster::start(2, |_| ()).await;
    let node = &cluster.members[0];
    let token = format!("Bearer {}", node.folder.token().unwrap().as_str());
    let gets = [
        ("/v1/keys/x", 400, "key.malformed"),
        ("/v1/keys/%2e%2e%2fnode.key", 400, "key.malformed"),
        ("/v1/keys/00000000000000000000000000000000", 404, "key.unknown"),
        ("/v1/ceremonies/x", 404, "ceremony.unknown"),
        ("/v1/ceremonies/%27%20OR%201=1", 404, "ceremony.unknown"),
        ("/v1/ceremonies?limit=0", 400, "request.query"),
        ("/v1/ceremonies?limit=-1", 400, "request.query"),
        ("/v1/ceremonies?limit=1001", 400, "request.query"),
        ("/v1/ceremonies?limit=99999999999999999999", 400, "request.query"),
        ("/v1/ceremonies?limit=1&limit=2", 400, "request.query"),
        ("/v1/ceremonies?offset=1", 400, "request.query"),
        ("/v1", 404, "route.unknown"),
        ("/v2/status", 404, "route.unknown"),
        ("/screen", 404, "route.unknown"),
        ("/screen/../node.key", 404, "route.unknown"),
        ("/v1/keygen", 405, "route.method"),
        ("/v1/sign", 405, "route.method"),
        ("/v1/approvals", 405, "route.method"),
    ];
    for (path, status, code) in gets {
        let found = refusal(path, node.request_as(path, None, Some(token.clone())).await);
        assert_eq!(found, (status, code.to_owned()), "{path}");
    }
    for path in READING {
        assert_eq!(post(node, path, b"{}", Some(&token)).await, (405, "route.method".into()));
    }
    cluster.stop().await;
}

/// The read token reads and changes nothing; the probes need no token; another host is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_and_hosts() {
    let cluster = Cluster::start(2, |config| config.api_hosts = vec!["sign.example".into()]).await;
    let node = &cluster.members[0];
    let read = std::fs::read_to_string(node.folder.root().join("read.token")).unwrap();
    for path in ["/v1/status", "/v1/keys", "/v1/ceremonies", "/metrics"] {
        assert_eq!(node.request(path, None, Some(&read)).await.0, 200, "{path}");
    }
    for path in CHANGING {
        let found = post(node, path, b"{}", Some(&format!("Bearer {read}"))).await;
        assert_eq!(found, (403, "api.role".into()), "{path}");
    }
    assert_eq!(node.request("/healthz", None, None).await.0, 200);
    assert_eq!(node.request("/readyz", None, None).await.0, 200);
    let port = node.config.api.port();
    let token = node.folder.token().unwrap().to_string();
    let cases = [
        (format!("127.0.0.1:{port}"), 200),
        (format!("LOCALHOST:{port}"), 200),
        ("sign.example".into(), 200),
        ("127.0.0.1".into(), 421),
        (format!("evil.example:{port}"), 421),
        ("sign.example.evil".into(), 421),
        (String::new(), 421),
    ];
    for (host, expected) in cases {
        for path in ["/v1/status", "/healthz"] {
            let head = format!(
                "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
                 connection: close\r\n\r\n"
            );
            let mut stream = std::net::TcpStream::connect(node.config.api).unwrap();
            std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
            let text = std::io::read_to_string(stream).unwrap();
            assert!(text.starts_with(&format!("HTTP/1.1 {expected} ")), "{host:?}: {text}");
            assert!(expected == 200 || text.contains("\"api.host\""), "{text}");
        }
    }
    cluster.stop().await;
}

/// A key that some party did not confirm signs at the wish of no API, and can be deleted; a signature
/// that another node proposes shows that a quorum has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unconfirmed_keys_do_not_sign_and_can_be_deleted() {
    let mut cluster = Cluster::start(2, |_| ()).await;
    let keys: Vec<String> = {
        let node = &cluster.members[0];
        let mut keys = Vec::new();
        for _ in 0..2 {
            let (status, made) = node.post("/v1/keygen", json!({ "threshold": 2 })).await;
            assert_eq!(status, 200, "{made}");
            keys.push(made["key"].as_str().unwrap().to_owned());
        }
        keys
    };
    // As after a crash between storing and confirming.
    cluster.members[0].stop().await;
    let log = rusqlite::Connection::open(cluster.members[0].folder.root().join("node.db")).unwrap();
    log.execute("DELETE FROM confirmed", []).unwrap();
    drop(log);
    cluster.members[0].start().await;
    cluster.members[0].connected(1).await;
    cluster.members[1].connected(1).await;
    let (node, other) = (&cluster.members[0], &cluster.members[1]);
    let request = |key: &str| json!({ "key": key, "message": "a message" });
    let (status, refused) = node.post("/v1/sign", request(&keys[0])).await;
    assert_eq!((status, &refused["code"]), (409, &json!("key.unconfirmed")), "{refused}");
    let (status, signed) = other.post("/v1/sign", request(&keys[0])).await;
    assert_eq!(status, 200, "{signed}");
    let (status, signed) = node.post("/v1/sign", request(&keys[0])).await;
    assert_eq!(status, 200, "{signed}");
    let delete = async |key: &str| {
        let url = format!("http://{}/v1/keys/{key}", node.config.api);
        let token = format!("Bearer {}", node.folder.token().unwrap().as_str());
        let call = move || {
            let agent: ureq::Agent =
                ureq::Agent::config_builder().http_status_as_error(false).build().into();
            let answer = agent.delete(&url).header("authorization", &token).call().unwrap();
            answer.status().as_u16()
        };
        tokio::task::spawn_blocking(call).await.unwrap()
    };
    assert_eq!(delete(&keys[0]).await, 409, "it is confirmed again");
    assert_eq!(delete(&keys[1]).await, 200);
    assert_eq!(delete(&keys[1]).await, 404);
    let (_, list) = node.get("/v1/keys").await;
    assert_eq!(list["keys"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(node.request("/readyz", None, None).await.0, 200);
    cluster.stop().await;
}

/// Copies of a machine that runs have one state of their generators; their ceremonies differ all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_one_seed_draw_differently() {
    let mut names = Vec::new();
    for _ in 0..2 {
        let mut cluster = <Cluster>::new(2, |_| ());
        for member in &mut cluster.members {
            member.start_seeded([7; 32]).await;
        }
        cluster.members[0].connected(1).await;
        let (_, made) = cluster.members[0].post("/v1/keygen", json!({ "threshold": 2 })).await;
        names.push((made["ceremony"].clone(), made["public_key"].clone()));
        cluster.stop().await;
    }
    assert!(names[0].0 != names[1].0 && names[0].1 != names[1].1, "{names:?}");
}

/// Every route of the OpenAPI document exists, and answers have the types that it says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_says_what_the_node_does() {
    use tetralith_node::types;
    let cluster = Cluster::start(2, |_| ()).await;
    let node = &cluster.members[0];
    let (status, text) = node.request("/openapi.json", None, None).await;
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &document["openapi"]), (200, &json!("3.1.0")));
    for (path, methods) in document["paths"].as_object().unwrap() {
        // A stream has no end to wait for.
        if path == "/v1/events" {
            continue;
        }
        let path = path.replace("{id}", "00");
        let found = if methods.get("get").is_some() {
            node.request(&path, None, None).await
        } else {
            node.request(&path, Some("{}".into()), None).await
        };
        let open = methods["get"]["security"] == json!([]);
        // Without a token a route that wants one says so; one that did not exist would answer 404.
        let expected: &[u16] = if open { &[200, 503] } else { &[401] };
        assert!(expected.contains(&found.0), "{path}: {found:?}");
    }
    let (_, made) = node.post("/v1/keygen", json!({ "threshold": 2 })).await;
    let made: types::KeyInfo = serde_json::from_value(made).unwrap();
    let digest = Some("0c".repeat(32));
    let sign = types::SignRequest { key: made.key.clone(), digest, ..Default::default() };
    let (_, signed) = node.post("/v1/sign", serde_json::to_value(&sign).unwrap()).await;
    let signed: types::Signed = serde_json::from_value(signed).unwrap();
    let (_, keys) = node.get("/v1/keys").await;
    let keys: types::KeyList = serde_json::from_value(keys).unwrap();
    assert_eq!(keys.keys[0].key, made.key);
    let (_, key) = node.get(&format!("/v1/keys/{}", made.key)).await;
    assert_eq!(serde_json::from_value::<types::KeyInfo>(key).unwrap().threshold, 2);
    let (_, ceremonies) = node.get("/v1/ceremonies").await;
    let ceremonies: types::CeremonyList = serde_json::from_value(ceremonies).unwrap();
    assert_eq!(ceremonies.ceremonies[0].id, signed.ceremony);
    let (_, status) = node.get("/v1/status").await;
    let status: types::StatusInfo = serde_json::from_value(status).unwrap();
    assert_eq!(status.peers.len(), 1);
    let (_, approved) = node.post("/v1/approvals", serde_json::to_value(&sign).unwrap()).await;
    assert_eq!(serde_json::from_value::<types::Approved>(approved).unwrap().digest, sign.digest);
    let (_, failed) = node.get("/v1/keys/00").await;
    assert_eq!(serde_json::from_value::<types::FailureInfo>(failed).unwrap().code, "key.malformed");
    cluster.stop().await;
}
