//! What the two stores have in common for the tests, and what each does in its own way.

use super::key;
use super::servers::{Etcd, Postgres};
use std::path::Path;
use tetralith_xmss::PublicKey;
use tetralith_xmss::state::{
    EtcdStore, Noted, PostgresStore, Record, StateError, StateStore, key_id,
};

/// What the two stores have in common for the tests.
pub(crate) trait Server: Sized {
    type Store: StateStore + std::fmt::Debug;
    /// What a commit sends and nothing else does.
    const COMMIT: &'static str;
    fn begin() -> Self;
    fn address(&self) -> String;
    fn through(&self, port: u16) -> String;
    fn port(&self) -> u16;
    fn stop(&mut self);
    fn again(&mut self);
    fn open(url: &str, key: &PublicKey) -> Result<Self::Store, StateError>;
    /// As `open`, with the note beside the key.
    fn noted(url: &str, key: &PublicKey, note: &Path) -> Noted<Self::Store> {
        Noted::open(Self::open(url, key).unwrap(), note, "here").unwrap()
    }
    fn look(url: &str, key: &PublicKey) -> Result<Record, StateError>;
    /// Puts the stored record aside, and back.
    fn save(&self);
    fn put_back(&self);
    /// Another server, or database, with the same record.
    fn copied(&self, record: &Record) -> (Self, String);
}

/// What both have under the same names.
macro_rules! named_alike {
    ($store:ident) => {
        type Store = $store;
        fn begin() -> Self {
            Self::start()
        }
        fn port(&self) -> u16 {
            self.port
        }
        fn stop(&mut self) {
            self.kill();
        }
        fn again(&mut self) {
            self.up();
        }
        fn open(url: &str, key: &PublicKey) -> Result<$store, StateError> {
            $store::open(url, key_id(key))
        }
        fn look(url: &str, key: &PublicKey) -> Result<Record, StateError> {
            $store::peek(url, key_id(key))
        }
    };
}

impl Server for Postgres {
    named_alike!(PostgresStore);
    const COMMIT: &'static str = "UPDATE tetralith_xmss_state";
    fn address(&self) -> String {
        self.url("postgres")
    }
    fn through(&self, port: u16) -> String {
        self.tcp_url(port)
    }
    fn save(&self) {
        self.sql("postgres", "CREATE TABLE saved AS TABLE tetralith_xmss_state").unwrap();
    }
    fn put_back(&self) {
        let sql = "UPDATE tetralith_xmss_state t SET epoch = s.epoch, record = s.record
                   FROM saved s WHERE s.key_id = t.key_id";
        self.sql("postgres", sql).unwrap();
    }
    fn copied(&self, record: &Record) -> (Self, String) {
        let other = Postgres::start();
        let hex = |bytes: &[u8]| hex::encode(bytes);
        let sql = format!(
            "CREATE TABLE tetralith_xmss_state (
                key_id bytea PRIMARY KEY, epoch bigint NOT NULL, record bytea NOT NULL);
             INSERT INTO tetralith_xmss_state VALUES ('\\x{}', {}, '\\x{}')",
            hex(&record.key_id),
            record.epoch,
            hex(&record.to_bytes()),
        );
        other.sql("postgres", &sql).unwrap();
        let url = other.url("postgres");
        (other, url)
    }
}

impl Server for Etcd {
    named_alike!(EtcdStore);
    const COMMIT: &'static str = "/v3/kv/txn";
    fn address(&self) -> String {
        self.url()
    }
    fn through(&self, port: u16) -> String {
        format!("etcd://127.0.0.1:{port}")
    }
    fn save(&self) {
        let record = Self::look(&self.url(), &key()).unwrap();
        self.put("saved", &record);
    }
    fn put_back(&self) {
        let answer = self.ask("kv/range", &format!(r#"{{"key":"{}"}}"#, base64(b"saved"))).unwrap();
        let value = answer.split(r#""value":""#).nth(1).unwrap().split('"').next().unwrap();
        self.put_value(&name(), value);
    }
    fn copied(&self, record: &Record) -> (Self, String) {
        let other = Etcd::start();
        other.put(&name(), record);
        let url = other.url();
        (other, url)
    }
}

fn name() -> String {
    format!("tetralith/xmss/{}", hex::encode(key_id(&key())))
}

impl Etcd {
    fn put(&self, name: &str, record: &Record) {
        self.put_value(name, &base64(&record.to_bytes()));
    }

    fn put_value(&self, name: &str, value: &str) {
        let name = base64(name.as_bytes());
        self.ask("kv/put", &format!(r#"{{"key":"{name}","value":"{value}"}}"#)).unwrap();
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = char::from(DIGITS[bits >> (18 - 6 * i) & 63]);
            text.push(if i <= chunk.len() { digit } else { '=' });
        }
    }
    text
}
