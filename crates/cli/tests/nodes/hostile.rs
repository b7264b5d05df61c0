//! A node that does not follow the protocol: a small libp2p client with another node's identity.
//!
//! It encodes messages by itself, from `docs/node.md`, and floods, or never reads an answer.

use libp2p::futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, StreamExt};
use libp2p::identity::Keypair;
use libp2p::request_response::{Behaviour, Codec, Config, ProtocolSupport};
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, SwarmBuilder, noise, tcp, yamux};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tetralith_keyfile::KeyFile;

/// The version of the envelope that the nodes speak.
fn version() -> u64 {
    static VERSION: OnceLock<u64> = OnceLock::new();
    *VERSION.get_or_init(|| {
        let keypair = Keypair::generate_ed25519();
        // A body that every version has: the sender is done.
        let payload = list(&[uint(0, 5), list(&[bytes(&[0; 32])])]);
        let spoken = |version: &u64| {
            tetralith_node::decodes(&sealed(&keypair, *version, &[0; 32], &payload))
        };
        (1..=255).find(spoken).expect("the nodes speak some version")
    })
}

/// The identity of a node's folder without a passphrase.
pub fn identity(folder: &Path) -> Keypair {
    let text = std::fs::read_to_string(folder.join("node.key")).unwrap();
    let secret = KeyFile::from_text(&text).unwrap().open(None).unwrap();
    Keypair::ed25519_from_bytes(secret[..32].to_vec()).unwrap()
}

/// What a hostile node does on its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// Reads what it is sent and acknowledges it.
    Polite,
    /// Never reads a message, so that it acknowledges none.
    Deaf,
}

/// A hostile node that sends messages at a rate until it is dropped.
pub struct Hostile {
    stop: Arc<AtomicBool>,
    pub sent: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Hostile {
    /// Connects as `keypair` to `to` and sends what `message` makes, `per_second` of them.
    pub fn start(
        keypair: Keypair,
        to: (PeerId, Multiaddr),
        habit: Habit,
        per_second: u32,
        message: impl Fn(&Keypair, u64) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, counted) = (stop.clone(), sent.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let flood = flood(keypair, to, habit, per_second, message, &stopped, &counted);
            runtime.unwrap().block_on(flood);
        });
        Hostile { stop, sent, thread: Some(thread) }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

async fn flood(
    keypair: Keypair,
    (peer, address): (PeerId, Multiaddr),
    habit: Habit,
    per_second: u32,
    message: impl Fn(&Keypair, u64) -> Vec<u8>,
    stop: &AtomicBool,
    sent: &AtomicU64,
) {
    let mut swarm = swarm(&keypair, habit);
    swarm.dial(address.clone()).unwrap();
    let mut tick = tokio::time::interval(Duration::from_secs(1) / per_second);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let mut connected = false;
    while !stop.load(Ordering::Relaxed) {
        tokio::select! {
            event = swarm.select_next_some() => match event {
                SwarmEvent::ConnectionEstablished { .. } => connected = true,
                SwarmEvent::ConnectionClosed { num_established: 0, .. } => {
                    connected = false;
                    let _ = swarm.dial(address.clone());
                }
                _ => {}
            },
            _ = tick.tick() => if connected {
                let count = sent.fetch_add(1, Ordering::Relaxed);
                swarm.behaviour_mut().send_request(&peer, message(&keypair, count));
            },
        }
    }
}

fn swarm(keypair: &Keypair, habit: Habit) -> Swarm<Behaviour<Frames>> {
    let protocol = StreamProtocol::new("/tetralith/ceremony/1");
    let config = Config::default()
        .with_request_timeout(Duration::from_secs(30))
        .with_max_concurrent_streams(10_000);
    let requests =
        Behaviour::with_codec(Frames { habit }, [(protocol, ProtocolSupport::Full)], config);
    SwarmBuilder::with_existing_identity(keypair.clone())
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|_| requests)
        .unwrap()
        .with_swarm_config(|config| config.with_idle_connection_timeout(Duration::from_secs(600)))
        .build()
}

#[derive(Clone)]
struct Frames {
    habit: Habit,
}

impl Codec for Frames {
    type Protocol = StreamProtocol;
    type Request = Vec<u8>;
    type Response = u8;

    async fn read_request<T: AsyncRead + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
    ) -> std::io::Result<Vec<u8>> {
        if self.habit == Habit::Deaf {
            return std::future::pending().await;
        }
        let mut length = [0; 4];
        io.read_exact(&mut length).await?;
        let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
        io.read_exact(&mut bytes).await?;
        Ok(bytes)
    }

    async fn read_response<T: AsyncRead + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
    ) -> std::io::Result<u8> {
        let mut byte = [0];
        io.read_exact(&mut byte).await?;
        Ok(byte[0])
    }

    async fn write_request<T: AsyncWrite + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        frame: Vec<u8>,
    ) -> std::io::Result<()> {
        io.write_all(&(frame.len() as u32).to_be_bytes()).await?;
        io.write_all(&frame).await
    }

    async fn write_response<T: AsyncWrite + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        byte: u8,
    ) -> std::io::Result<()> {
        io.write_all(&[byte]).await
    }
}

/// A proposal that names no candidate: signed, and refused by whoever gets it.
pub fn malformed_proposal(keypair: &Keypair, count: u64) -> Vec<u8> {
    let mut nonce = [0; 32];
    nonce[..8].copy_from_slice(&count.to_be_bytes());
    let job = list(&[uint(0, 1), list(&[uint(0, 2)])]);
    let proposal = list(&[job, list(&[]), bytes(&nonce)]);
    let id = ceremony(&keypair.public().to_peer_id(), &nonce);
    envelope(keypair, &id, &list(&[uint(0, 1), list(&[proposal])]))
}

/// A good proposal of a new key, whose ceremony never starts.
pub fn idle_proposal(keypair: &Keypair, parties: &[PeerId], count: u64) -> Vec<u8> {
    let mut nonce = [1; 32];
    nonce[..8].copy_from_slice(&count.to_be_bytes());
    let mut parties: Vec<_> = parties.iter().map(|id| id.to_bytes()).collect();
    parties.sort_unstable();
    let candidates: Vec<_> = parties.iter().map(|id| bytes(id)).collect();
    let job = list(&[uint(0, 1), list(&[uint(0, 2)])]);
    let proposal = list(&[job, list(&candidates), bytes(&nonce)]);
    let id = ceremony(&keypair.public().to_peer_id(), &nonce);
    envelope(keypair, &id, &list(&[uint(0, 1), list(&[proposal])]))
}

/// Bytes that are no envelope.
pub fn garbage(_: &Keypair, count: u64) -> Vec<u8> {
    count.to_be_bytes().to_vec()
}

fn ceremony(proposer: &PeerId, nonce: &[u8; 32]) -> [u8; 32] {
    domain_hash("tetralith/node/ceremony/1", &[&proposer.to_bytes(), nonce])
}

/// A signed envelope to all, of round 0.
fn envelope(keypair: &Keypair, ceremony: &[u8; 32], payload: &[u8]) -> Vec<u8> {
    sealed(keypair, version(), ceremony, payload)
}

fn sealed(keypair: &Keypair, version: u64, ceremony: &[u8; 32], payload: &[u8]) -> Vec<u8> {
    let from = keypair.public().to_peer_id().to_bytes();
    let hash = Sha256::digest(payload);
    let statement = domain_hash("tetralith/node/envelope/1", &[ceremony, &from, &[], &[0], &hash]);
    let signature = keypair.sign(&statement).unwrap();
    list(&[
        uint(0, version),
        bytes(ceremony),
        bytes(&from),
        vec![0xf6],
        uint(0, 0),
        bytes(payload),
        bytes(&signature),
    ])
}

fn domain_hash(domain: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in std::iter::once(&domain.as_bytes()).chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// A CBOR head: major type and value, in the shortest form.
fn uint(major: u8, value: u64) -> Vec<u8> {
    let major = major << 5;
    match value {
        0..=23 => vec![major | value as u8],
        24..=0xff => vec![major | 24, value as u8],
        0x100..=0xffff => [&[major | 25][..], &(value as u16).to_be_bytes()].concat(),
        _ => [&[major | 26][..], &(value as u32).to_be_bytes()].concat(),
    }
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    [uint(2, bytes.len() as u64), bytes.to_vec()].concat()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [uint(4, items.len() as u64), items.concat()].concat()
}
