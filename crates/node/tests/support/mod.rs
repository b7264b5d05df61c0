//! Nodes in this process, on real loopback sockets, each with its own folder.

pub(crate) mod coin;

use chacha20::ChaCha20Rng;
use coin::Coin;
use rand_core::SeedableRng;
use serde_json::Value;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};
use tetralith_keyfile::{Cost, Protection};
use tetralith_node::Node;
use tetralith_node::config::{Clients, Config, Limits, Peer, Policy, SignPolicy, Timeouts};
use tetralith_node::engine::Engine;
use tetralith_node::folder::Folder;

pub(crate) const PASSPHRASE: &[u8] = b"pass";

/// A cluster of nodes, some of which run.
pub(crate) struct Cluster<E = Coin> {
    _root: tempfile::TempDir,
    pub(crate) members: Vec<Member<E>>,
}

pub(crate) struct Member<E = Coin> {
    pub(crate) folder: Folder,
    pub(crate) config: Config,
    pub(crate) engine: Arc<E>,
    pub(crate) node: Option<Node>,
}

/// Ports that are free now and that the system gives to no connection of its own accord.
fn free_ports(count: usize) -> Vec<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Each process begins elsewhere, for tests of several may run side by side.
    let first = std::process::id().wrapping_mul(97);
    let candidates = std::iter::repeat_with(|| {
        let step = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        10_000 + (first.wrapping_add(step) % 20_000) as u16
    });
    let free = candidates.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.take(count).collect()
}

impl Cluster {
    /// Makes and starts `count` nodes, and waits until all are connected.
    pub(crate) async fn start(count: usize, edit: impl Fn(&mut Config)) -> Self {
        Self::start_with(count, edit).await
    }
}

impl<E: Engine + Default> Cluster<E> {
    /// Makes the folders of `count` nodes; none runs yet.
    pub(crate) fn new(count: usize, edit: impl Fn(&mut Config)) -> Self {
        let root = tempfile::tempdir().unwrap();
        let ports = free_ports(2 * count);
        let mut rng = ChaCha20Rng::from_seed([count as u8; 32]);
        let made: Vec<_> = (0..count)
            .map(|index| {
                let folder = Folder::new(&root.path().join(format!("node-{}", index + 1)));
                let protection = Protection::Passphrase(PASSPHRASE);
                let identity = folder.create(protection, Cost::LEAST, &mut rng).unwrap();
                (folder, identity)
            })
            .collect();
        let peer = |index: usize| Peer {
            name: format!("node-{}", index + 1),
            id: made[index].1.id(),
            address: format!("/ip4/127.0.0.1/tcp/{}", ports[index]).parse().unwrap(),
        };
        let configs: Vec<_> = (0..count)
            .map(|index| {
                let mut config = Config {
                    name: format!("node-{}", index + 1),
                    listen: peer(index).address,
                    api: SocketAddr::from(([127, 0, 0, 1], ports[count + index])),
                    api_hosts: Vec::new(),
                    timeouts: Timeouts { join_ms: 5_000, round_ms: 5_000 },
                    limits: Limits::default(),
                    policy: Policy { sign: SignPolicy::Peers, ..Policy::default() },
                    clients: Clients::default(),
                    peers: (0..count).filter(|other| *other != index).map(peer).collect(),
                };
                edit(&mut config);
                config
            })
            .collect();
        let members = made.into_iter().zip(configs).map(|((folder, _), config)| {
            folder.write_config(&config).unwrap();
            Member { folder, config, engine: Arc::default(), node: None }
        });
        let members = members.collect();
        Cluster { _root: root, members }
    }

    /// Makes and starts `count` nodes with an engine, and waits until all are connected.
    pub(crate) async fn start_with(count: usize, edit: impl Fn(&mut Config)) -> Self {
        let mut cluster = Self::new(count, edit);
        for member in &mut cluster.members {
            member.start().await;
        }
        for index in 0..count {
            cluster.members[index].connected(count - 1).await;
        }
        cluster
    }

    pub(crate) async fn stop(self) {
        for member in self.members {
            if let Some(node) = member.node {
                node.stop().await;
            }
        }
    }
}

impl<E: Engine> Member<E> {
    pub(crate) async fn start(&mut self) {
        let mut seed = [0; 32];
        seed[..2].copy_from_slice(&self.config.api.port().to_be_bytes());
        // So would one node that was started twice.
        static STARTS: AtomicU16 = AtomicU16::new(0);
        seed[2..4].copy_from_slice(&STARTS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        self.start_seeded(seed).await;
    }

    pub(crate) async fn start_seeded(&mut self, seed: [u8; 32]) {
        let mut rng = ChaCha20Rng::from_seed(seed);
        let engine = self.engine.clone();
        let node = Node::start(&self.folder, Some(PASSPHRASE), engine, &mut rng).await;
        self.node = Some(node.unwrap());
    }

    pub(crate) async fn stop(&mut self) {
        self.node.take().unwrap().stop().await;
    }

    /// Waits until `count` peers are connected.
    pub(crate) async fn connected(&self, count: usize) {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let (_, status) = self.get("/v1/status").await;
            let peers = status["peers"].as_array().unwrap().iter();
            if peers.filter(|peer| peer["connected"] == true).count() == count {
                return;
            }
            assert!(Instant::now() < end, "{status}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let token = self.folder.token().unwrap();
        let (status, text) = self.request(path, None, Some(&token)).await;
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")))
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let token = self.folder.token().unwrap();
        let (status, text) = self.request(path, Some(body.to_string()), Some(&token)).await;
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")))
    }

    /// Sends a request; a body makes it a POST.
    pub(crate) async fn request(
        &self,
        path: &str,
        body: Option<String>,
        token: Option<&str>,
    ) -> (u16, String) {
        let token = token.map(|token| format!("Bearer {token}"));
        self.request_as(path, body.map(String::into_bytes), token).await
    }

    /// Sends a request with any bytes as its body, and any text as its authorization.
    pub(crate) async fn request_as(
        &self,
        path: &str,
        body: Option<Vec<u8>>,
        token: Option<String>,
    ) -> (u16, String) {
        let url = format!("http://{}{path}", self.config.api);
        let call = move || {
            let agent: ureq::Agent =
                ureq::Agent::config_builder().http_status_as_error(false).build().into();
            let mut response = match body {
                Some(body) => {
                    let mut request = agent.post(&url);
                    if let Some(token) = &token {
                        request = request.header("authorization", token);
                    }
                    request.send(body)
                }
                None => {
                    let mut request = agent.get(&url);
                    if let Some(token) = &token {
                        request = request.header("authorization", token);
                    }
                    request.call()
                }
            }
            .unwrap();
            (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
        };
        tokio::task::spawn_blocking(call).await.unwrap()
    }
}
