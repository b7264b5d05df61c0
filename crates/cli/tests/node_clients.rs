//! Who may ask a node for what, how fast, and who decides: roles, rates, the hook, TLS, the remote command.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use nodes::{Nodes, request};
use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, KeyPair};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};

fn tetralith(arguments: &[&str], token: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args(arguments).env_remove("TETRALITH_TOKEN");
    token.map(|token| command.env("TETRALITH_TOKEN", token));
    command.output().unwrap()
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn failed(output: &Output, exit: i32) -> String {
    assert_eq!(output.status.code(), Some(exit), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn ask(nodes: &Nodes, token: &str, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
    let url = format!("http://{}{path}", nodes.api(0));
    request(method, &url, &[("authorization", &format!("Bearer {token}"))], body)
}

/// Two nodes that sign only what is approved at each.
fn two_with(settings: &str) -> Nodes {
    let mut nodes = Nodes::new(2);
    for index in 0..2 {
        nodes.set(index, "sign", "\"approved\"");
        nodes.add(index, settings);
        nodes.run(index);
    }
    (0..2).for_each(|index| nodes.wait_connected(index, 1));
    nodes
}

#[test]
fn each_route_wants_its_role() {
    let nodes = two_with("");
    let folder = nodes.folder(0);
    let folder = folder.to_str().unwrap();
    let token = |name: &str, role: &str| {
        out(&tetralith(&["node", "token", folder, name, "--role", role], None))
    };
    let (read, bot, chief) =
        (token("eye", "read"), token("bot", "request"), token("chief", "approve,read"));
    let boss = token("boss", "admin");
    let listed = out(&tetralith(&["node", "token", folder], None));
    assert_eq!(
        listed.lines().collect::<Vec<_>>(),
        [
            "api  admin",
            "read  read",
            "eye  read",
            "bot  request",
            "chief  approve,read",
            "boss  admin"
        ]
    );
    let routes = [
        ("GET", "/v1/status", [200, 200, 200, 200]),
        ("GET", "/metrics", [200, 200, 200, 200]),
        ("POST", "/v1/keygen", [403, 400, 403, 400]),
        ("POST", "/v1/sign", [403, 400, 403, 400]),
        ("POST", "/v1/reshare", [403, 400, 403, 400]),
        ("POST", "/v1/approvals", [403, 403, 400, 400]),
        ("DELETE", "/v1/keys/00", [403, 403, 403, 400]),
    ];
    for (method, path, expected) in routes {
        let body = (method == "POST").then(|| json!({ "wrong": 1 }));
        let tokens = [&read, &bot, &chief, &boss];
        let found = tokens.map(|token| ask(&nodes, token, method, path, body.clone()).0);
        assert_eq!(found, expected, "{method} {path}");
    }
    // Who may only request gets a signature that others have approved, and no other.
    let key = nodes.keygen(0, 2);
    let digest = "05".repeat(32);
    let body = || Some(json!({ "key": key, "digest": digest }));
    let (status, refused) = ask(&nodes, &bot, "POST", "/v1/sign", body());
    assert_eq!((status, &refused["code"]), (403, &json!("approval.missing")), "{refused}");
    assert_eq!(nodes.post(1, "/v1/approvals", body().unwrap()).0, 200);
    assert_eq!(
        ask(&nodes, &bot, "POST", "/v1/sign", body()).0,
        403,
        "this node has not approved it"
    );
    assert_eq!(ask(&nodes, &chief, "POST", "/v1/approvals", body()).0, 200);
    let (status, signed) = ask(&nodes, &bot, "POST", "/v1/sign", body());
    assert_eq!(status, 200, "{signed}");
    let change = json!({ "key": key, "threshold": 2, "parties": ["node-1"] });
    let (_, refused) = ask(&nodes, &bot, "POST", "/v1/reshare", Some(change));
    assert_eq!(refused["code"], "approval.missing", "{refused}");
    assert_eq!(ask(&nodes, &bot, "POST", "/v1/reshare", Some(json!({ "key": key }))).0, 200);
    // A token that is removed is refused at once.
    out(&tetralith(&["node", "token", folder, "bot", "--remove"], None));
    assert_eq!(ask(&nodes, &bot, "GET", "/v1/status", None).0, 401);
    let again = tetralith(&["node", "token", folder, "bot", "--remove"], None);
    assert!(failed(&again, 2).contains("no token has the name"));
}

#[test]
fn a_client_that_asks_too_often_is_told_to_wait() {
    let nodes = two_with("[clients]\nrequests_per_second = 20");
    let folder = nodes.folder(0);
    let other = out(&tetralith(
        &["node", "token", folder.to_str().unwrap(), "other", "--role", "read"],
        None,
    ));
    let flood = || ask(&nodes, &nodes.token(0), "GET", "/v1/status", None);
    let refused = (0..2_000).map(|_| flood()).find(|answer| answer.0 != 200).unwrap();
    assert_eq!((refused.0, &refused.1["code"]), (429, &json!("api.rate")), "{refused:?}");
    assert_eq!(ask(&nodes, &other, "GET", "/v1/status", None).0, 200, "another token has its own");
    // Without a token the address is what counts; the answer says when to come back.
    let raw = || {
        let mut stream = TcpStream::connect(nodes.api(0)).unwrap();
        let api = nodes.api(0);
        write!(stream, "GET /healthz HTTP/1.1\r\nhost: {api}\r\nconnection: close\r\n\r\n")
            .unwrap();
        std::io::read_to_string(stream).unwrap()
    };
    let refused = (0..2_000).map(|_| raw()).find(|text| !text.starts_with("HTTP/1.1 200")).unwrap();
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    assert!(refused.contains("retry-after: 2"), "{refused}");
}

/// A server that denies what has `denied` in it, and keeps what it was asked.
fn policy(denied: &'static str) -> (String, std::sync::mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/policy", listener.local_addr().unwrap());
    let (told, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while stream.read_line(&mut line).unwrap() > 2 {
                let lower = line.to_ascii_lowercase();
                length = lower
                    .strip_prefix("content-length: ")
                    .map_or(length, |n| n.trim().parse().unwrap());
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let text = String::from_utf8(body).unwrap();
            let answer = match text.contains(denied) {
                true => json!({ "allow": false, "reason": "over the limit" }),
                false => json!({ "allow": true }),
            };
            let answer = answer.to_string();
            let _ = told.send(serde_json::from_str(&text).unwrap());
            let length = answer.len();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            stream.get_mut().write_all((head + &answer).as_bytes()).unwrap();
        }
    });
    (url, asked)
}

#[test]
fn the_hook_decides_at_its_own_node_and_for_peers() {
    let (url, asked) = policy("0707");
    let mut nodes = Nodes::new(2);
    nodes.add(0, &format!("[clients.hook]\nurl = \"{url}\""));
    let script = "grep -q '\"digest\":\"0808' && { echo no eights; exit 1; }; exit 0";
    nodes.add(1, &format!("[clients.hook]\ncommand = [\"sh\", \"-c\", '''{script}''']"));
    (0..2).for_each(|index| nodes.run(index));
    (0..2).for_each(|index| nodes.wait_connected(index, 1));
    let key = nodes.keygen(0, 2);
    let made = asked.recv().unwrap();
    assert_eq!((&made["kind"], &made["threshold"]), (&json!("keygen"), &json!(2)), "{made}");
    let sign = |index: usize, byte: &str| {
        nodes.post(index, "/v1/sign", json!({ "key": key, "digest": byte.repeat(32) }))
    };
    assert_eq!(sign(0, "06").0, 200);
    let payload = asked.recv().unwrap();
    assert_eq!((&payload["kind"], &payload["key"]), (&json!("sign"), &json!(key)), "{payload}");
    assert_eq!(payload["digest"], "06".repeat(32));
    assert_eq!(
        (&payload["proposer"]["name"], &payload["node"]),
        (&json!("node-1"), &json!("node-1"))
    );
    assert_eq!(payload["public_key"], nodes.get(0, "/v1/keys").1["keys"][0]["public_key"]);
    // Its own API is denied, and so is a peer that proposes; the reason is said.
    let (status, denied) = sign(0, "07");
    assert_eq!((status, &denied["code"]), (403, &json!("hook.denied")), "{denied}");
    assert!(denied["message"].as_str().unwrap().contains("over the limit"), "{denied}");
    let (status, denied) = sign(1, "07");
    assert_eq!(status, 502, "{denied}");
    assert!(denied["message"].as_str().unwrap().contains("over the limit"), "{denied}");
    assert!(asked.try_iter().any(|payload| payload["proposer"]["name"] == "node-2"));
    let (status, denied) = sign(1, "08");
    assert_eq!(status, 403, "{denied}");
    assert!(denied["message"].as_str().unwrap().contains("no eights"), "{denied}");
    assert_eq!(sign(0, "08").0, 502);
    assert_eq!(sign(1, "09").0, 200);
}

/// An authority of its own.
fn authority() -> (Certificate, KeyPair) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    (params.self_signed(&key).unwrap(), key)
}

/// Writes a certificate that an authority signed, and its key.
fn certify(folder: &Path, name: &str, (authority, key): &(Certificate, KeyPair)) {
    let own = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
    let certificate = params.signed_by(&own, authority, key).unwrap();
    std::fs::write(folder.join(format!("{name}.crt")), certificate.pem()).unwrap();
    let path = folder.join(format!("{name}.key"));
    std::fs::write(&path, own.serialize_pem()).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

#[test]
fn the_command_works_from_elsewhere_over_tls() {
    let mut nodes = Nodes::new(2);
    let files = tempfile::tempdir().unwrap();
    let (servers, clients, strangers) = (authority(), authority(), authority());
    std::fs::write(files.path().join("servers.pem"), servers.0.pem()).unwrap();
    std::fs::write(files.path().join("strangers.pem"), strangers.0.pem()).unwrap();
    certify(files.path(), "client", &clients);
    certify(files.path(), "stranger", &strangers);
    for index in 0..2 {
        certify(&nodes.folder(index), "tls", &servers);
        std::fs::write(nodes.folder(index).join("clients.pem"), clients.0.pem()).unwrap();
        let port = nodes.api(index).rsplit_once(':').unwrap().1.to_owned();
        // Beyond loopback, which is an error without TLS.
        nodes.set(index, "api", &format!("\"0.0.0.0:{port}\""));
    }
    let folder = nodes.folder(0);
    let refused = tetralith(&["node", "run", folder.to_str().unwrap()], None);
    assert!(failed(&refused, 2).contains("clients.tls"), "{refused:?}");
    for index in 0..2 {
        let tls = "[clients.tls]\ncertificate = \"tls.crt\"\nkey = \"tls.key\"";
        // The second one wants a certificate of each client.
        let clients = if index == 1 { "\nclients = \"clients.pem\"" } else { "" };
        nodes.add(index, &format!("{tls}{clients}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        command.args(["node", "run", "--threads", "2"]).arg(nodes.folder(index));
        nodes.spawn(index, &mut command);
    }
    let port = |index: usize| nodes.api(index).rsplit_once(':').unwrap().1.to_owned();
    let url = |index: usize| format!("https://localhost:{}", port(index));
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let token = nodes.token(0);
    let (first, second) = (url(0), url(1));
    let remote = |verb: &[&str], ca: &str| {
        let ca = file(ca);
        let named = [verb, &["--url", &first, "--ca", &ca]].concat();
        tetralith(&named, Some(&token))
    };
    nodes.until(0, "it answers", |_| {
        remote(&["tss", "keys"], "servers.pem").status.code() == Some(0)
    });
    // The folder is enough on its own machine, with its certificate's authority.
    let local = ["tss", "keys", "--node", folder.to_str().unwrap(), "--ca", &file("servers.pem")];
    assert_eq!(out(&tetralith(&local, None)), "no keys");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let made = loop {
        let made = remote(&["tss", "keygen", "-t", "2"], "servers.pem");
        if made.status.success() || std::time::Instant::now() > end {
            break out(&made);
        }
    };
    let key = made.lines().next().unwrap();
    let digest = "0a".repeat(32);
    let signature = out(&remote(&["tss", "sign", "--digest", &digest], "servers.pem"));
    assert_eq!(signature.len(), 130, "{signature}");
    // Another authority's word, plain HTTP, and a wrong token.
    let error = failed(&remote(&["tss", "keys"], "strangers.pem"), 3);
    assert!(error.contains("certificate"), "{error}");
    let plain = format!("http://127.0.0.1:{}", port(0));
    failed(&tetralith(&["tss", "keys", "--url", &plain], Some(&token)), 3);
    let elsewhere = ["tss", "keys", "--url", "http://sign.example:7200"];
    assert!(failed(&tetralith(&elsewhere, Some(&token)), 2).contains("in clear"));
    let ca = file("servers.pem");
    let wrong = ["tss", "keys", "--url", &first, "--ca", &ca];
    assert!(failed(&tetralith(&wrong, Some("x")), 3).contains("bearer token"));
    assert!(failed(&tetralith(&wrong, None), 2).contains("no token is given"));
    // The second node wants a certificate of its own clients' authority.
    let token = nodes.token(1);
    let mutual = |name: Option<&str>| {
        let mut verb = vec!["tss".to_owned(), "keys".into(), "--url".into(), second.clone()];
        verb.extend(["--ca".into(), file("servers.pem")]);
        if let Some(name) = name {
            verb.extend(["--client-certificate".into(), file(&format!("{name}.crt"))]);
            verb.extend(["--client-key".into(), file(&format!("{name}.key"))]);
        }
        tetralith(&verb.iter().map(String::as_str).collect::<Vec<_>>(), Some(&token))
    };
    failed(&mutual(None), 3);
    failed(&mutual(Some("stranger")), 3);
    assert!(out(&mutual(Some("client"))).starts_with(key));
}
