//! TLS to real servers of the stores that signers share: who is let in, and who is not.

use super::key;
use super::servers::{Etcd, Postgres};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair};
use std::path::Path;
use tetralith_xmss::state::{EtcdStore, PostgresStore, StateError, create, key_id};

/// An authority and what it signed, as PEM text: a server's certificate for 127.0.0.1 and one for
/// another name, and a client's for the user `tester`.
struct Authority {
    own: String,
    server: (String, String),
    elsewhere: (String, String),
    client: (String, String),
}

impl Authority {
    fn new() -> Self {
        let (key, mut own) = (KeyPair::generate().unwrap(), CertificateParams::default());
        own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = own.self_signed(&key).unwrap();
        let signed = |names: &[&str], common: &str| {
            let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
            let mut params = CertificateParams::new(names).unwrap();
            params.distinguished_name.push(DnType::CommonName, common);
            let its = KeyPair::generate().unwrap();
            (params.signed_by(&its, &certificate, &key).unwrap().pem(), its.serialize_pem())
        };
        Self {
            own: certificate.pem(),
            server: signed(&["127.0.0.1"], "server"),
            elsewhere: signed(&["elsewhere.example"], "server"),
            client: signed(&[], "tester"),
        }
    }
}

/// Files of a client: the authority's certificate, the client's and its key, and another authority's.
struct Files(tempfile::TempDir);

impl Files {
    fn new(authority: &Authority) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        let other = Authority::new();
        for (name, text) in [
            ("ca", &authority.own),
            ("own-cert", &authority.client.0),
            ("own-key", &authority.client.1),
            ("other", &other.own),
            ("other-cert", &other.client.0),
            ("other-key", &other.client.1),
        ] {
            std::fs::write(files.0.path().join(name), text).unwrap();
        }
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// The files of `own` or of the `other` client.
    fn client(&self, which: &str) -> (String, String) {
        (self.path(&format!("{which}-cert")), self.path(&format!("{which}-key")))
    }
}

fn refused<S>(opened: Result<S, StateError>, why: &str) {
    let Err(error) = opened else { panic!("let in, not refused: {why}") };
    assert!(matches!(error, StateError::Denied(_) | StateError::Io(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains(why) && !text.contains("secret"), "{text}");
}

fn postgres(authority: &Authority, server: &(String, String)) -> Postgres {
    let settings =
        ["ssl = on", "ssl_cert_file = 'cert'", "ssl_key_file = 'key'", "ssl_ca_file = 'ca'"];
    // By TCP with TLS alone, and only who shows a certificate of the user's name.
    let allowed =
        "local all all trust\nhostssl all all 127.0.0.1/32 trust clientcert=verify-full\n";
    let files = [
        ("cert", &*server.0),
        ("key", &*server.1),
        ("ca", &*authority.own),
        ("pg_hba.conf", allowed),
    ];
    Postgres::start_with(&settings, &files)
}

#[test]
fn postgres_over_tls() {
    let authority = Authority::new();
    let files = Files::new(&authority);
    let server = postgres(&authority, &authority.server);
    let open = |port: u16, roots: &str, client: &str| {
        let mut url = format!("postgres://tester:secret@127.0.0.1:{port}/postgres");
        if !roots.is_empty() {
            url += &format!("?sslmode=verify-full&sslrootcert={}", files.path(roots));
        }
        if !client.is_empty() {
            let (certificate, key) = files.client(client);
            url += &format!("&sslcert={certificate}&sslkey={key}");
        }
        PostgresStore::open(&url, key_id(&key()))
    };
    let mut store = open(server.port, "ca", "own").unwrap();
    create(&mut store, &key(), 0, [7; 16], 5).unwrap();
    let seen = server.sql("postgres", "SELECT version FROM pg_stat_ssl WHERE ssl");
    assert_eq!(seen.as_deref(), Some("TLSv1.3"));
    refused(open(server.port, "other", ""), "invalid peer certificate");
    refused(open(server.port, "", ""), "no encryption");
    refused(open(server.port, "ca", ""), "client certificate");
    refused(open(server.port, "ca", "other"), "PostgreSQL");
    refused(open(server.port, "missing", ""), "missing");
    refused(open(server.port, "own-key", ""), "the PEM file");
    let elsewhere = postgres(&authority, &authority.elsewhere);
    refused(open(elsewhere.port, "ca", ""), "not valid for name");
    let plain = Postgres::start();
    refused(open(plain.port, "ca", ""), "TLS");
}

fn etcd(folder: &Path, authority: &Authority, server: &(String, String)) -> Etcd {
    let mut tls = vec!["--client-cert-auth".to_owned()];
    for (option, name, text) in [
        ("--cert-file", "cert", &server.0),
        ("--key-file", "key", &server.1),
        ("--trusted-ca-file", "ca", &authority.own),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        tls.extend([option.to_owned(), path.display().to_string()]);
    }
    Etcd::start_with(tls)
}

#[test]
fn etcd_over_tls() {
    let authority = Authority::new();
    let files = Files::new(&authority);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let server = etcd(folders[0].path(), &authority, &authority.server);
    let open = |port: u16, roots: &str, client: &str| {
        let mut url = format!("etcds://127.0.0.1:{port}/p?cacert={}", files.path(roots));
        if !client.is_empty() {
            let (certificate, key) = files.client(client);
            url += &format!("&cert={certificate}&key={key}");
        }
        EtcdStore::open(&url, key_id(&key()))
    };
    let mut store = open(server.port, "ca", "own").unwrap();
    create(&mut store, &key(), 0, [7; 16], 5).unwrap();
    refused(open(server.port, "other", ""), "invalid peer certificate");
    refused(open(server.port, "ca", ""), "etcd");
    refused(open(server.port, "ca", "other"), "etcd");
    refused(open(server.port, "missing", ""), "missing");
    let elsewhere = etcd(folders[1].path(), &authority, &authority.elsewhere);
    refused(open(elsewhere.port, "ca", ""), "not valid for name");
    let plain = Etcd::start();
    refused(open(plain.port, "ca", ""), "etcd");
}
