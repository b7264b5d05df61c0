//! What etcd alone does: users, who log in.

use super::servers::Etcd;
use super::{key, signer};
use tetralith_xmss::state::{EtcdStore, Reservations, StateError, create, key_id};

#[test]
fn etcd_logs_in() {
    let server = Etcd::start();
    let tester = r#"{"name":"root","password":"sec:ret"}"#;
    server.ask("auth/user/add", tester).unwrap();
    server.ask("auth/role/add", r#"{"name":"root"}"#).unwrap();
    server.ask("auth/user/grant", r#"{"user":"root","role":"root"}"#).unwrap();
    server.ask("auth/enable", "{}").unwrap();
    let open = |url: String| EtcdStore::open(&url, key_id(&key()));
    let port = server.port;
    let mut store = open(format!("etcd://root:sec%3Aret@127.0.0.1:{port}/some/where")).unwrap();
    create(&mut store, &key(), 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key(), signer("user")).unwrap();
    assert_eq!(state.reserve(3, 0).unwrap().range, 0..3);
    // A log-in ends, as it does when it was not used for some minutes.
    let answer = server.ask("auth/authenticate", tester).unwrap();
    let token = answer.split(r#""token":""#).nth(1).unwrap().split('"').next().unwrap();
    server.ask_as(token, "auth/disable", "{}").unwrap();
    server.ask("auth/enable", "{}").unwrap();
    assert_eq!(state.reserve(3, 0).unwrap().range, 3..6);
    for wrong in ["root:secret@", ""] {
        let refused = open(format!("etcd://{wrong}127.0.0.1:{port}")).unwrap_err();
        assert!(matches!(refused, StateError::Denied(_) | StateError::Io(_)), "{refused}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
}
