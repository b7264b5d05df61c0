//! Real nodes on loopback against a proposer that lies: the test speaks for it over a transport of
//! its own.

use super::*;
use crate::events::Events;
use crate::folder::Folder;
use crate::proof::Proof;
use crate::transport::{self, Incoming};
use crate::wire::{Join, Proposal, Resharing, Start};
use crate::{Ecdsa, Node};
use serde_json::{Value, json};
use std::net::TcpListener;
use tetralith_keyfile::{Cost, Protection};
use tokio::sync::mpsc;

const NODES: usize = 4;

struct Cluster {
    root: tempfile::TempDir,
    nodes: Vec<Node>,
    liar: Liar,
    key: KeyId,
}

/// The last node: its identity and its transport, without the program behind them.
struct Liar {
    identity: Identity,
    transport: Transport,
    incoming: mpsc::Receiver<(PeerId, Frame)>,
    _stop: watch::Sender<bool>,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

async fn start(root: &Folder, seed: u8) -> Node {
    Node::start(root, None, Arc::new(Ecdsa), &mut rng(seed)).await.unwrap()
}

async fn request(node: &Node, path: &str, token: String, body: Option<Value>) -> Value {
    let url = format!("http://{}{path}", node.api());
    let call = move || {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let answer = match body {
            Some(body) => {
                agent.post(url).header("authorization", format!("Bearer {token}")).send_json(body)
            }
            None => agent.get(url).header("authorization", format!("Bearer {token}")).call(),
        };
        answer.unwrap().body_mut().read_json::<Value>().unwrap()
    };
    tokio::task::spawn_blocking(call).await.unwrap()
}

impl Cluster {
    /// Four nodes make a 3-of-4 key; then the liar takes the last one's place.
    async fn new(round_ms: u64) -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = |index: usize| Folder::new(&root.path().join(index.to_string()));
        let ids: Vec<_> = (0..NODES)
            .map(|index| {
                let mut rng = rng(index as u8);
                folder(index).create(Protection::None, Cost::LEAST, &mut rng).unwrap().id()
            })
            .collect();
        let ports: Vec<_> = (0..NODES).map(|_| free_port()).collect();
        for index in 0..NODES {
            let mut text = format!(
                "name = \"node-{index}\"\nlisten = \"/ip4/127.0.0.1/tcp/{}\"\napi = \"127.0.0.1:0\"\n\
                 [timeouts]\nround_ms = {round_ms}\n[policy]\nsign = \"peers\"\n",
                ports[index]
            );
            for other in (0..NODES).filter(|other| *other != index) {
                text += &format!(
                    "[[peers]]\nname = \"node-{other}\"\nid = \"{}\"\n\
                     address = \"/ip4/127.0.0.1/tcp/{}\"\n",
                    ids[other], ports[other]
                );
            }
            folder(index).write_config(&Config::from_toml(&text).unwrap()).unwrap();
        }
        let mut nodes = Vec::new();
        for index in 0..NODES {
            nodes.push(start(&folder(index), 10 + index as u8).await);
        }
        for node in &nodes {
            while request(node, "/readyz", String::new(), None).await["ok"] != true {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        let token = folder(0).token().unwrap().to_string();
        let made = request(&nodes[0], "/v1/keygen", token, Some(json!({ "threshold": 3 }))).await;
        let key =
            KeyId::from_hex(made["key"].as_str().unwrap_or_else(|| panic!("{made}"))).unwrap();
        nodes.pop().unwrap().stop().await;
        let (config, secrets) =
            (folder(NODES - 1).config().unwrap(), folder(NODES - 1).open(None).unwrap());
        let (stop, stopped) = watch::channel(false);
        let budgets = Budgets::new(config.peers.iter().map(|peer| peer.id), &config.limits);
        let (transport, queues, _swarm) =
            transport::start(&config, &secrets.identity, (budgets, Events::new()), stopped)
                .unwrap();
        let (sender, incoming) = mpsc::channel(64);
        for Incoming { from, mut queue } in queues {
            let sender = sender.clone();
            tokio::spawn(async move {
                while let Some(frame) = queue.recv().await {
                    let _ = sender.send((from, frame)).await;
                }
            });
        }
        transport.listening().await.unwrap();
        while transport.connected().len() < NODES - 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let identity = secrets.identity;
        Cluster { root, nodes, liar: Liar { identity, transport, incoming, _stop: stop }, key }
    }

    /// All, in the order of their numbers.
    fn all(&self) -> Vec<PeerId> {
        let all = self.nodes.iter().map(Node::id).chain([self.liar.identity.id()]);
        crate::identity::sorted(all.collect())
    }

    /// The liar proposes a job to all, whose answers follow.
    async fn ask(&self, job: Job, nonce: [u8; 32]) -> (CeremonyId, [u8; 32]) {
        let id = CeremonyId::new(&self.liar.identity.id(), &nonce);
        let proposal = Proposal {
            job,
            candidates: self.all().iter().map(|id| id.to_bytes().into()).collect(),
            nonce: nonce.into(),
            speaks: None,
        };
        let proposal = Envelope::seal(&self.liar.identity, id, None, 0, &Body::Propose(proposal));
        let hash = Envelope::open(&proposal).unwrap().receipt.payload_hash;
        for node in 0..self.nodes.len() {
            self.send(node, &proposal).await;
        }
        (id, hash)
    }

    /// The liar proposes a signature to all; returns its name and everybody's joins, the liar's last.
    async fn propose(&mut self) -> (CeremonyId, Vec<(PeerId, Vec<u8>)>) {
        let me = self.liar.identity.id();
        let job = Job::Sign { key: self.key.0.into(), digest: [5; 32].into(), sharing: None };
        let (id, hash) = self.ask(job, [3; 32]).await;
        let mut joins = Vec::new();
        while joins.len() < self.nodes.len() {
            let (from, frame) = self.liar.incoming.recv().await.unwrap();
            if matches!(Envelope::open(&frame).unwrap().body, Body::Join(Join::Accept { .. })) {
                joins.push((from, frame.to_vec()));
            }
        }
        let join = Join::Accept { nonce: [4; 32].into(), proposal: hash.into(), without: vec![] };
        joins.push((me, Envelope::seal(&self.liar.identity, id, Some(me), 0, &Body::Join(join))));
        (id, joins)
    }

    /// A start with the liar and two of the nodes.
    fn start(&self, id: CeremonyId, joins: &[(PeerId, Vec<u8>)], nodes: [usize; 2]) -> Vec<u8> {
        let chosen = nodes.map(|node| self.nodes[node].id());
        let chosen = crate::identity::sorted([&chosen[..], &[self.liar.identity.id()]].concat());
        let join =
            |id: &PeerId| joins.iter().find(|(from, _)| from == id).unwrap().1.clone().into();
        let start = Start { joins: chosen.iter().map(join).collect() };
        Envelope::seal(&self.liar.identity, id, None, 0, &Body::Start(start))
    }

    async fn send(&self, node: usize, bytes: &[u8]) {
        self.liar.transport.send(self.nodes[node].id(), bytes.to_vec().into()).await.unwrap();
    }

    /// How the ceremony ended at a node, once it has.
    async fn end(&self, node: usize, id: CeremonyId) -> Value {
        let folder = Folder::new(&self.root.path().join(node.to_string()));
        let token = folder.token().unwrap();
        loop {
            let path = format!("/v1/ceremonies/{id}");
            let record = request(&self.nodes[node], &path, token.to_string(), None).await;
            if record["state"] != "running" {
                return record;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn stop(self) {
        for node in self.nodes {
            node.stop().await;
        }
        drop(self.root);
    }
}

/// Two signed starts convict the proposer, at once and at every node; no honest node is blamed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proposer_that_sends_two_starts_is_convicted() {
    const ROUND_MS: u64 = 60_000;
    let mut cluster = Cluster::new(ROUND_MS).await;
    let (id, joins) = cluster.propose().await;
    let (one, other) = (cluster.start(id, &joins, [0, 1]), cluster.start(id, &joins, [1, 2]));
    let begun = Instant::now();
    cluster.send(0, &one).await;
    cluster.send(1, &other).await;
    cluster.send(2, &other).await;
    for node in 0..3 {
        let record = cluster.end(node, id).await;
        assert_eq!(record["state"], "failed", "{record}");
        let blames = record["blames"].as_array().unwrap();
        assert_eq!(blames.len(), 1, "{record}");
        assert_eq!(blames[0]["peer"]["name"], "node-3", "{record}");
        assert_eq!(blames[0]["evidence"], "proof", "{record}");
        let proof = Proof::from_json(blames[0]["proof"].to_string().as_bytes()).unwrap();
        let found = proof.verify(&Ecdsa).unwrap();
        assert_eq!(found.peer, cluster.liar.identity.id().to_string());
        assert_eq!(found.fault, "sent two different starts");
    }
    assert!(begun.elapsed() < Duration::from_millis(ROUND_MS / 4), "no timeout was waited for");
    cluster.stop().await;
}

/// A node that was told of another start than those that wait for it, and was released, shows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_released_node_convicts_the_proposer_too() {
    const ROUND_MS: u64 = 60_000;
    let mut cluster = Cluster::new(ROUND_MS).await;
    let (id, joins) = cluster.propose().await;
    let (one, other) = (cluster.start(id, &joins, [0, 1]), cluster.start(id, &joins, [1, 2]));
    let begun = Instant::now();
    cluster.send(2, &one).await;
    assert_eq!(cluster.end(2, id).await["state"], "released");
    cluster.send(1, &other).await;
    let record = cluster.end(1, id).await;
    assert_eq!(record["blames"][0]["peer"]["name"], "node-3", "{record}");
    assert_eq!(record["blames"][0]["evidence"], "proof", "{record}");
    assert!(begun.elapsed() < Duration::from_millis(ROUND_MS / 4), "no timeout was waited for");
    cluster.stop().await;
}

/// A node that missed the start gets it from the others, and the liar alone is blamed for its silence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_was_missed_is_passed_on() {
    let mut cluster = Cluster::new(3_000).await;
    let (id, joins) = cluster.propose().await;
    let start = cluster.start(id, &joins, [0, 1]);
    cluster.send(0, &start).await;
    for node in [0, 1] {
        let record = cluster.end(node, id).await;
        assert_eq!(record["participants"].as_array().unwrap().len(), 3, "{record}");
        let blames = record["blames"].as_array().unwrap();
        assert!(!blames.is_empty(), "{record}");
        assert!(blames.iter().all(|blame| blame["peer"]["name"] == "node-3"), "{record}");
    }
    cluster.stop().await;
}

/// Two nodes cannot invent a sharing and have the others replace the real one by it, nor deal from the
/// real one to others without the operators' approval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invented_sharing_is_refused() {
    let mut cluster = Cluster::new(3_000).await;
    let all = cluster.all();
    let bytes = |ids: &[PeerId]| ids.iter().map(|id| id.to_bytes().into()).collect::<Vec<_>>();
    let folder = Folder::new(&cluster.root.path().join("0"));
    let path = format!("/v1/keys/{}", cluster.key);
    let token = folder.token().unwrap().to_string();
    let key = request(&cluster.nodes[0], &path, token, None).await;
    let group = hex::decode(key["public_key"].as_str().unwrap()).unwrap();
    let threshold = key["threshold"].as_u64().unwrap() as u8;
    // The right key on another polynomial: two of four deal.
    let public = |t: u8| {
        let mut public = b"TTPK".to_vec();
        public.extend([1, t, NODES as u8]);
        public.extend([9; 32]);
        (0..t).for_each(|_| public.extend(&group));
        public
    };
    let liar = all.iter().position(|id| *id == cluster.liar.identity.id()).unwrap();
    let two = crate::identity::sorted(vec![all[liar], all[(liar + 1) % NODES]]);
    let resharing = |from, dealers: &[PeerId], t: u8, new: u8| Resharing {
        key: cluster.key.0.into(),
        from,
        old: bytes(&all),
        public: public(t).into(),
        dealers: bytes(dealers),
        number: from + 1,
        threshold: new,
        parties: bytes(&all),
    };
    let another = "another sharing with that number";
    let cases = [
        (resharing(0, &two, 2, 2), another),
        (resharing(0, &all[..usize::from(threshold)], threshold, threshold), another),
        (resharing(7, &two, 2, NODES as u8), "with other parties or another threshold"),
    ];
    for (number, (asked, why)) in cases.into_iter().enumerate() {
        let (id, _) = cluster.ask(Job::Reshare(asked), [10 + number as u8; 32]).await;
        let mut refused = 0;
        while refused < NODES - 1 {
            let (_, frame) = cluster.liar.incoming.recv().await.unwrap();
            let envelope = Envelope::open(&frame).unwrap();
            if envelope.ceremony != id {
                continue;
            }
            let Body::Join(Join::Refuse(reason, _)) = envelope.body else {
                panic!("{:?}", envelope.body)
            };
            assert!(reason.contains(why), "{reason}");
            refused += 1;
        }
    }
    cluster.stop().await;
}
