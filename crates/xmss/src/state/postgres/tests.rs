use super::*;
use std::time::Instant;

#[test]
fn a_server_that_says_nothing_is_left() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut store = PostgresStore {
        config: config(&format!("postgres://me:secret@127.0.0.1:{port}/db")).unwrap().0,
        tls: None,
        client: None,
        patience: Duration::from_millis(300),
        key_id: [0; 32],
        at: Default::default(),
        last: None,
    };
    let start = Instant::now();
    let error = store.load().unwrap_err();
    assert!(error.to_string().ends_with("PostgreSQL: no answer within 0.3 seconds"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_url_that_is_refused_does_not_show_its_password() {
    let bad = [
        "postgres://user:secret@host:port/db",
        "postgres://user:secret@host/db?sslmode=require",
        "postgres://user:secret@host/db?sslmode=verify-full",
        "postgres://user:secret@host/db?sslmode=verify-ca&sslrootcert=x",
        "postgres://user:secret@host/db?sslrootcert=x",
        "postgres://user:secret@host/db?sslcert=x",
        "postgres://user:secret@/db",
        "postgres:secret",
    ];
    for url in bad {
        let error = PostgresStore::open(url, [0; 32]).unwrap_err();
        assert!(matches!(error, StateError::Url(_)), "{url}: {error}");
        assert!(!error.to_string().contains("sec"), "{url}: {error}");
    }
}
