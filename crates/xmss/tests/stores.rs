//! The stores that several signers share, on real servers: no index twice, whoever is killed.

#![cfg(all(unix, feature = "postgres", feature = "etcd"))]
#![allow(clippy::unwrap_used)]

mod servers;

use servers::{Cutter, Etcd, Killed, Postgres};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use tetralith_xmss::state::{
    EtcdStore, Holder, PostgresStore, Record, Reservations, StateError, StateStore, create, key_id,
    restore,
};
use tetralith_xmss::{Params, PublicKey};

fn public(name: &str) -> PublicKey {
    let params = Params::from_name(name).unwrap();
    PublicKey::from_parts(params, &vec![1; 2 * params.n()]).unwrap()
}

fn key() -> PublicKey {
    public("XMSS-SHA2_20_256")
}

fn signer(name: &str) -> Holder {
    Holder { pid: 7, host: name.into() }
}

/// What the two stores have in common for the tests.
trait Server: Sized {
    type Store: StateStore + std::fmt::Debug;
    /// What a commit sends and nothing else does.
    const COMMIT: &'static str;
    fn begin() -> Self;
    fn address(&self) -> String;
    fn through(&self, port: u16) -> String;
    fn port(&self) -> u16;
    fn stop(&mut self);
    fn again(&mut self);
    fn open(url: &str, key: &PublicKey, note: Option<&Path>) -> Result<Self::Store, StateError>;
    fn look(url: &str, key: &PublicKey) -> Result<Record, StateError>;
    /// Puts the stored record aside, and back.
    fn save(&self);
    fn put_back(&self);
    /// Another server, or database, with the same record.
    fn copied(&self, record: &Record) -> (Self, String);
}

impl Server for Postgres {
    type Store = PostgresStore;
    const COMMIT: &'static str = "UPDATE tetralith_xmss_state";
    fn begin() -> Self {
        Postgres::start()
    }
    fn address(&self) -> String {
        self.url("postgres")
    }
    fn through(&self, port: u16) -> String {
        self.tcp_url(port)
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
    fn open(url: &str, key: &PublicKey, note: Option<&Path>) -> Result<PostgresStore, StateError> {
        PostgresStore::open(url, key_id(key), note)
    }
    fn look(url: &str, key: &PublicKey) -> Result<Record, StateError> {
        PostgresStore::peek(url, key_id(key))
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
    type Store = EtcdStore;
    const COMMIT: &'static str = "/v3/kv/txn";
    fn begin() -> Self {
        Etcd::start()
    }
    fn address(&self) -> String {
        self.url()
    }
    fn through(&self, port: u16) -> String {
        format!("etcd://127.0.0.1:{port}")
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
    fn open(url: &str, key: &PublicKey, note: Option<&Path>) -> Result<EtcdStore, StateError> {
        EtcdStore::open(url, key_id(key), note)
    }
    fn look(url: &str, key: &PublicKey) -> Result<Record, StateError> {
        EtcdStore::peek(url, key_id(key))
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

fn take<S: StateStore>(state: &mut Reservations<S>, batch: u64) -> Result<u64, StateError> {
    state.next(batch, 0).map(|index| index.value())
}

/// Two signers side by side, step by step.
fn signers_share<T: Server>() {
    let server = T::begin();
    let (url, key) = (server.address(), key());
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("key.seen");
    assert_eq!(T::look(&url, &key).unwrap_err(), StateError::Missing);
    let mut store = T::open(&url, &key, Some(&note)).unwrap();
    create(&mut store, &key, 0, [7; 16], 5).unwrap();
    assert_eq!(create(&mut store, &key, 0, [7; 16], 5), Err(StateError::Exists));
    let mut first = Reservations::open(store, &key, signer("first")).unwrap();
    let store = T::open(&url, &key, None).unwrap();
    let mut second = Reservations::open(store, &key, signer("second")).unwrap();
    // Each reads the same record; the later commit is made again on the earlier one.
    let a = first.reserve(10, 1).unwrap();
    let b = second.reserve(5, 1).unwrap();
    assert_eq!((a.range, a.fencing, b.range, b.fencing), (0..10, 2, 10..15, 3));
    // An old lease goes on, whatever the others do, and gives nothing but what it has.
    for index in 0..10 {
        assert_eq!(take(&mut first, 3), Ok(index));
    }
    assert_eq!(take(&mut first, 3), Ok(15));
    assert_eq!(take(&mut second, 3), Ok(10));
    let record = T::look(&url, &key).unwrap();
    let leases: Vec<_> = record.leases.iter().map(|l| (&*l.holder.host, l.from..l.end)).collect();
    assert_eq!(leases, [("second", 10..15), ("first", 15..18)]);
    assert_eq!((record.used, record.lost, record.next), (10, 0, 18));
    // Handed out for good, by the one; accounted for, by the other.
    assert_eq!(second.reserve_for(2, 1).unwrap().range, 18..20);
    let status = first.close(2).unwrap();
    assert_eq!((status.used, status.lost, status.leased), (1 + 10 + 1, 4 + 2, 2));
    // A signer that ends without a word leaves its lease open: nobody knows that it ended.
    drop(second);
    let store = T::open(&url, &key, Some(&note)).unwrap();
    let mut third = Reservations::open(store, &key, signer("third")).unwrap();
    assert_eq!(take(&mut third, 1), Ok(20));
    third.close(3).unwrap();
    // A record from before is found out by who is at work, and by the note beside the key.
    let mut store = T::open(&url, &key, None).unwrap();
    let mut working = Reservations::open(store, &key, signer("working")).unwrap();
    server.save();
    assert_eq!(take(&mut working, 4), Ok(21));
    assert_eq!(take(&mut working, 4), Ok(22));
    store = T::open(&url, &key, Some(&note)).unwrap();
    let mut noting = Reservations::open(store, &key, signer("noting")).unwrap();
    assert_eq!(take(&mut noting, 1), Ok(25));
    server.put_back();
    let went_back = working.reserve(1, 0).unwrap_err();
    assert!(matches!(went_back, StateError::RolledBack { what: "epoch", .. }), "{went_back}");
    let store = T::open(&url, &key, Some(&note)).unwrap();
    let went_back = Reservations::open(store, &key, signer("x")).unwrap_err();
    assert!(matches!(went_back, StateError::RolledBack { what: "epoch", .. }), "{went_back}");
    // It is made usable only past what is known to be spent.
    let mut store = T::open(&url, &key, Some(&note)).unwrap();
    let backward = StateError::Backward { asked: 25, next: 26 };
    assert_eq!(restore(&mut store, &key, 25, None, [8; 16], 4), Err(backward));
    restore(&mut store, &key, 30, Some(32), [8; 16], 4).unwrap();
    let mut state = Reservations::open(store, &key, signer("last")).unwrap();
    assert_eq!(take(&mut state, 9), Ok(30));
    assert_eq!(take(&mut state, 9), Ok(31));
    assert_eq!(take(&mut state, 9), Err(StateError::Ended { until: 32 }));
    // The same record at another server is a copy.
    let record = T::look(&url, &key).unwrap();
    let (_other, url) = server.copied(&record);
    let store = T::open(&url, &key, None).unwrap();
    assert_eq!(Reservations::open(store, &key, signer("x")).unwrap_err(), StateError::Copied);
}

#[test]
fn postgres_signers_share_a_key() {
    signers_share::<Postgres>();
}

#[test]
fn etcd_signers_share_a_key() {
    signers_share::<Etcd>();
}

/// The network is cut when the commit is on its way: it may or may not have taken place.
fn cut_in_mid_commit<T: Server>() {
    let server = T::begin();
    let key = key();
    let cutter = Cutter::start(server.port(), T::COMMIT);
    let url = server.through(cutter.port);
    let mut store = T::open(&url, &key, None).unwrap();
    create(&mut store, &key, 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key, signer("cut")).unwrap();
    let mut used = BTreeSet::new();
    let mut burned = 0;
    for _ in 0..12 {
        assert!(used.insert(take(&mut state, 2).unwrap()));
        assert!(used.insert(take(&mut state, 2).unwrap()));
        let before = T::look(&server.address(), &key).unwrap();
        cutter.arm();
        let failed = state.next(2, 0).unwrap_err();
        assert!(matches!(failed, StateError::Io(_)), "{failed}");
        assert!(!failed.to_string().contains("secret"), "{failed}");
        // The server had all of it: it commits though nobody is told.
        let end = std::time::Instant::now() + Duration::from_secs(5);
        while T::look(&server.address(), &key).unwrap().epoch == before.epoch {
            assert!(std::time::Instant::now() < end, "the commit was not sent");
            std::thread::sleep(Duration::from_millis(2));
        }
        burned += 2;
    }
    assert!(used.insert(take(&mut state, 1).unwrap()));
    let status = state.close(9).unwrap();
    assert_eq!((status.used, status.lost, status.leased), (used.len() as u64, burned, 0));
    assert_eq!(status.next, used.len() as u64 + burned);
}

#[test]
fn postgres_cut_in_mid_commit() {
    cut_in_mid_commit::<Postgres>();
}

#[test]
fn etcd_cut_in_mid_commit() {
    cut_in_mid_commit::<Etcd>();
}

/// The child of the tests below: takes indices and says so, until it is killed.
#[test]
fn child_signs_until_killed() {
    let Ok(url) = std::env::var("TETRALITH_TEST_STORE_URL") else { return };
    fn run<T: Server>(url: &str) {
        let key = key();
        // A server that is down comes again.
        let mut state = loop {
            let opened = T::open(url, &key, None);
            match opened.and_then(|store| Reservations::open(store, &key, Holder::new("test"))) {
                Ok(state) => break state,
                Err(StateError::Io(_)) => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => panic!("{error}"),
            }
        };
        for i in 0u64.. {
            match state.next(1 + i % 4, 0) {
                Ok(index) => println!("signed {} {}", index.value(), index.fencing()),
                Err(StateError::Io(_)) => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => {
                    println!("refused {error}");
                    return;
                }
            }
        }
    }
    match url.starts_with("postgres") {
        true => run::<Postgres>(&url),
        false => run::<Etcd>(&url),
    }
}

/// A signer's process, whose lines go to a channel.
fn spawn(url: &str, lines: &mpsc::Sender<String>) -> Killed {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_signs_until_killed", "--nocapture"])
        .env("TETRALITH_TEST_STORE_URL", url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (output, lines) = (BufReader::new(child.stdout.take().unwrap()), lines.clone());
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
    Killed(child)
}

/// Two signers race, each is killed at random again and again, and so is the server.
fn killed_in_a_loop<T: Server>() {
    let mut server = T::begin();
    let (url, key) = (server.address(), key());
    create(&mut T::open(&url, &key, None).unwrap(), &key, 0, [7; 16], 0).unwrap();
    let slow = std::env::var_os("TETRALITH_SLOW").is_some();
    let rounds: u64 = if slow { 1000 } else { 200 };
    if !slow {
        println!("{rounds} kills; 1000 with TETRALITH_SLOW=1");
    }
    let (sender, lines) = mpsc::channel();
    let mut signers = [spawn(&url, &sender), spawn(&url, &sender)];
    let mut used = BTreeMap::new();
    let mut fences = BTreeMap::new();
    let mut seed = 88172645463325252u64;
    for round in 0..rounds {
        // Wait for some work, so that each kill meets one.
        for _ in 0..8 {
            let line = lines.recv_timeout(Duration::from_secs(20)).expect("a signer works");
            note(&line, round, &mut used, &mut fences);
        }
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        std::thread::sleep(Duration::from_micros(seed % 6000));
        signers[(seed >> 32) as usize % 2] = spawn(&url, &sender);
        if round % 50 == 25 {
            server.stop();
            server.again();
        }
    }
    drop(signers);
    drop(sender);
    for line in lines {
        note(&line, rounds, &mut used, &mut fences);
    }
    let record = T::look(&url, &key).unwrap();
    assert!(used.len() as u64 >= 8 * rounds / 2 && used.last_key_value().unwrap().0 < &record.next);
    // Of two leases the one with the greater fencing number has the greater indices.
    let mut end = 0;
    for (fencing, (first, last)) in fences {
        assert!(first >= end && fencing <= record.epoch, "lease {fencing} begins at {first}");
        end = last + 1;
    }
}

/// Reads a line of a signer's, whose index nobody else may have.
fn note(
    line: &str,
    round: u64,
    used: &mut BTreeMap<u64, u64>,
    fences: &mut BTreeMap<u64, (u64, u64)>,
) {
    assert!(!line.contains("refused"), "{line}");
    let Some((_, text)) = line.split_once("signed ") else { return };
    let mut numbers = text.split(' ');
    let mut number = || numbers.next().unwrap().parse::<u64>().unwrap();
    let (index, fencing) = (number(), number());
    assert_eq!(used.insert(index, fencing), None, "index {index} twice, round {round}");
    let range = fences.entry(fencing).or_insert((index, index));
    *range = (range.0.min(index), range.1.max(index));
}

#[test]
fn postgres_signers_are_killed_in_a_loop() {
    killed_in_a_loop::<Postgres>();
}

#[test]
fn etcd_signers_are_killed_in_a_loop() {
    killed_in_a_loop::<Etcd>();
}

#[test]
fn postgres_on_another_timeline_is_a_copy() {
    let mut server = Postgres::start_with(&["restore_command = 'false'"], &[]);
    let open = |server: &Postgres| PostgresStore::open(&server.address(), key_id(&key()), None);
    let mut store = open(&server).unwrap();
    create(&mut store, &key(), 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key(), signer("timeline")).unwrap();
    assert_eq!(take(&mut state, 2), Ok(0));
    // A server that crashed is itself.
    server.kill();
    server.up();
    assert_eq!(take(&mut state, 2), Ok(1));
    assert!(matches!(take(&mut state, 2), Err(StateError::Io(_))));
    assert_eq!(take(&mut state, 2), Ok(2));
    server.kill();
    server.promote();
    assert_eq!(take(&mut state, 1), Ok(3));
    assert!(matches!(take(&mut state, 1), Err(StateError::Io(_))));
    for _ in 0..2 {
        assert_eq!(take(&mut state, 1), Err(StateError::Copied));
    }
    let mut store = open(&server).unwrap();
    restore(&mut store, &key(), 10, None, [8; 16], 6).unwrap();
    assert_eq!(take(&mut state, 1), Ok(10));
}

/// Where transactions are serializable the server tells the slower of two otherwise.
#[test]
fn postgres_signers_race_in_serializable_transactions() {
    let server = Postgres::start_with(&["default_transaction_isolation = 'serializable'"], &[]);
    let open = || PostgresStore::open(&server.address(), key_id(&key()), None).unwrap();
    create(&mut open(), &key(), 0, [7; 16], 5).unwrap();
    let mut indices = BTreeSet::new();
    std::thread::scope(|scope| {
        let racing = ["a", "b", "c"].map(|name| {
            let store = open();
            scope.spawn(move || {
                let mut state = Reservations::open(store, &key(), signer(name)).unwrap();
                (0..60).map(|_| take(&mut state, 1).unwrap()).collect::<Vec<_>>()
            })
        });
        for index in racing.into_iter().flat_map(|thread| thread.join().unwrap()) {
            assert!(indices.insert(index), "{index} twice");
        }
    });
    assert_eq!(indices, (0..180).collect());
}

#[test]
fn postgres_must_sync() {
    let server = Postgres::start_with(&["fsync = off"], &[]);
    let mut store = PostgresStore::open(&server.address(), key_id(&key()), None).unwrap();
    let refused = create(&mut store, &key(), 0, [7; 16], 5).unwrap_err();
    assert!(refused.to_string().contains("fsync = off"), "{refused}");
    // A server that would acknowledge before it syncs is asked for more at each commit.
    let server = Postgres::start_with(&["synchronous_commit = off"], &[]);
    let mut store = PostgresStore::open(&server.address(), key_id(&key()), None).unwrap();
    create(&mut store, &key(), 0, [7; 16], 5).unwrap();
    let mut state = Reservations::open(store, &key(), signer("sync")).unwrap();
    assert_eq!(state.reserve(3, 0).unwrap().range, 0..3);
}

#[test]
fn etcd_logs_in() {
    let server = Etcd::start();
    let tester = r#"{"name":"root","password":"sec:ret"}"#;
    server.ask("auth/user/add", tester).unwrap();
    server.ask("auth/role/add", r#"{"name":"root"}"#).unwrap();
    server.ask("auth/user/grant", r#"{"user":"root","role":"root"}"#).unwrap();
    server.ask("auth/enable", "{}").unwrap();
    let open = |url: String| EtcdStore::open(&url, key_id(&key()), None);
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
        assert!(matches!(refused, StateError::Io(_)), "{refused}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
}
