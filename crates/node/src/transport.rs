//! Signed envelopes between configured nodes, over libp2p: TCP, Noise, Yamux.
//!
//! One task owns the swarm. Each message is one request on a stream of its own; the other side
//! answers with one byte, once the message is in its queue. So a sender knows what became of its
//! message, a slow stream blocks no other, and a full queue pushes back instead of growing.
//!
//! Only configured peers are talked to: a connection whose handshake proves another identity is
//! closed before any stream is opened. Everything is bounded: connections, streams, the length of a
//! message, and each queue.

use crate::codec::{Ack, Frame, FrameCodec, PROTOCOL};
use crate::config::{Config, Peer};
use crate::error::Error;
use crate::identity::Identity;
use libp2p::allow_block_list::{AllowedPeers, Behaviour as AllowList};
use libp2p::connection_limits::{Behaviour as Limiter, ConnectionLimits};
use libp2p::futures::StreamExt;
use libp2p::request_response::{
    Behaviour as Requests, Config as RequestConfig, Event as RequestEvent, Message,
    OutboundFailure, OutboundRequestId, ProtocolSupport,
};
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Swarm, SwarmBuilder, identify, noise, ping, tcp, yamux};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Messages that wait for the swarm, and received ones that wait for the dispatcher.
const QUEUE: usize = 256;
/// Streams of one connection at the same time.
const STREAMS: usize = 64;
/// Connections whose handshake is not finished.
const PENDING_CONNECTIONS: u32 = 64;
/// Both sides may dial at the same moment, so a peer may have two connections.
const CONNECTIONS_PER_PEER: u32 = 2;
/// How long one message and its acknowledgement may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How often lost peers are looked after.
const DIAL_TICK: Duration = Duration::from_millis(250);
const FIRST_BACKOFF: Duration = Duration::from_millis(250);
const LAST_BACKOFF: Duration = Duration::from_secs(15);
/// The node with the larger identity gives the other this long to dial first.
const SECOND_DIALER_DELAY: Duration = Duration::from_secs(2);
/// Peers are few and wanted: their connections are kept.
const KEEP_IDLE: Duration = Duration::from_secs(365 * 24 * 3600);

/// A message that a configured peer sent.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) from: PeerId,
    pub(crate) frame: Frame,
}

/// Why a message did not reach its peer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    #[error("cannot be reached")]
    Unreachable,
    #[error("did not acknowledge in time")]
    Timeout,
    #[error("does not speak this protocol")]
    Protocol,
    #[error("the message of {0} bytes is longer than the limit")]
    TooLong(usize),
    #[error("has a full queue")]
    Busy,
    #[error("the node is stopping")]
    Stopping,
}

impl SendError {
    /// Says whether the same message may get through later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, SendError::Unreachable | SendError::Timeout | SendError::Busy)
    }
}

struct Command {
    to: PeerId,
    frame: Frame,
    answer: oneshot::Sender<Result<(), SendError>>,
}

/// The handle by which messages are sent; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    commands: mpsc::Sender<Command>,
    connected: Arc<Mutex<HashSet<PeerId>>>,
    listening: watch::Receiver<Option<Multiaddr>>,
    most_bytes: usize,
}

impl Transport {
    /// Sends one message and waits until it is in the peer's queue.
    ///
    /// Cancel safe: dropping the future forgets the answer; the message may still arrive.
    pub(crate) async fn send(&self, to: PeerId, frame: Frame) -> Result<(), SendError> {
        if frame.len() > self.most_bytes {
            return Err(SendError::TooLong(frame.len()));
        }
        let (answer, answered) = oneshot::channel();
        let command = Command { to, frame, answer };
        self.commands.send(command).await.map_err(|_| SendError::Stopping)?;
        answered.await.unwrap_or(Err(SendError::Stopping))
    }

    /// The peers to which a connection is open.
    pub(crate) fn connected(&self) -> HashSet<PeerId> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The address that is listened on, once it is known.
    ///
    /// Cancel safe.
    pub(crate) async fn listening(&self) -> Result<Multiaddr, Error> {
        let mut listening = self.listening.clone();
        let address = listening.wait_for(Option::is_some).await.map_err(|_| Error::Stopping)?;
        address.clone().ok_or(Error::Stopping)
    }
}

#[derive(NetworkBehaviour)]
struct Behaviour {
    allowed: AllowList<AllowedPeers>,
    limits: Limiter,
    requests: Requests<FrameCodec>,
    identify: identify::Behaviour,
    ping: ping::Behaviour,
}

/// Starts the task that owns the swarm, and returns its handle, the queue of received messages and
/// the task, which ends after `stop` turns true.
pub(crate) fn start(
    config: &Config,
    identity: &Identity,
    stop: watch::Receiver<bool>,
) -> Result<(Transport, mpsc::Receiver<Incoming>, tokio::task::JoinHandle<()>), Error> {
    let mut swarm = build(config, identity).map_err(|reason| listen_error(config, reason))?;
    swarm
        .listen_on(config.listen.clone())
        .map_err(|error| listen_error(config, error.to_string()))?;
    let (commands, command_queue) = mpsc::channel(QUEUE);
    let (incoming, incoming_queue) = mpsc::channel(QUEUE);
    let (address, listening) = watch::channel(None);
    let connected = Arc::new(Mutex::new(HashSet::new()));
    let now = Instant::now();
    let me = identity.id();
    let peers = config.peers.iter().map(|peer| (peer.id, Dialing::new(peer, &me, now))).collect();
    let driver = Driver {
        swarm,
        peers,
        connected: connected.clone(),
        pending: HashMap::new(),
        incoming,
        address,
    };
    let task = tokio::spawn(driver.run(command_queue, stop));
    let most_bytes = config.limits.message_bytes;
    Ok((Transport { commands, connected, listening, most_bytes }, incoming_queue, task))
}

fn listen_error(config: &Config, reason: String) -> Error {
    Error::Listen { address: config.listen.to_string(), reason }
}

fn build(config: &Config, identity: &Identity) -> Result<Swarm<Behaviour>, String> {
    let limits = ConnectionLimits::default()
        .with_max_pending_incoming(Some(PENDING_CONNECTIONS))
        .with_max_pending_outgoing(Some(PENDING_CONNECTIONS))
        .with_max_established_per_peer(Some(CONNECTIONS_PER_PEER));
    let mut allowed = AllowList::<AllowedPeers>::default();
    for peer in &config.peers {
        allowed.allow_peer(peer.id);
    }
    let codec = FrameCodec::new(config.limits.message_bytes);
    let timing = RequestConfig::default()
        .with_request_timeout(REQUEST_TIMEOUT)
        .with_max_concurrent_streams(STREAMS);
    let requests = Requests::with_codec(codec, [(PROTOCOL, ProtocolSupport::Full)], timing);
    let who = identify::Config::new(IDENTIFY.into(), identity.keypair().public())
        .with_agent_version(format!("tetralith/{}", env!("CARGO_PKG_VERSION")));
    let behaviour = Behaviour {
        allowed,
        limits: Limiter::new(limits),
        requests,
        identify: identify::Behaviour::new(who),
        ping: ping::Behaviour::default(),
    };
    let swarm = SwarmBuilder::with_existing_identity(identity.keypair().clone())
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .map_err(|error| error.to_string())?
        .with_behaviour(|_| behaviour)
        .map_err(|error| error.to_string())?
        .with_swarm_config(|swarm| swarm.with_idle_connection_timeout(KEEP_IDLE))
        .build();
    Ok(swarm)
}

const IDENTIFY: &str = "/tetralith/id/1";

/// When a lost peer is dialled next.
struct Dialing {
    address: Multiaddr,
    backoff: Duration,
    next: Instant,
}

impl Dialing {
    fn new(peer: &Peer, me: &PeerId, now: Instant) -> Self {
        let first = me.to_bytes() < peer.id.to_bytes();
        let delay = if first { Duration::ZERO } else { SECOND_DIALER_DELAY };
        Dialing { address: peer.address.clone(), backoff: FIRST_BACKOFF, next: now + delay }
    }

    fn retry_later(&mut self) {
        self.next = Instant::now() + self.backoff;
        self.backoff = (self.backoff * 2).min(LAST_BACKOFF);
    }

    fn retry_soon(&mut self) {
        self.backoff = FIRST_BACKOFF;
        self.next = Instant::now() + self.backoff;
    }
}

/// The task that owns the swarm.
struct Driver {
    swarm: Swarm<Behaviour>,
    peers: HashMap<PeerId, Dialing>,
    connected: Arc<Mutex<HashSet<PeerId>>>,
    pending: HashMap<OutboundRequestId, oneshot::Sender<Result<(), SendError>>>,
    incoming: mpsc::Sender<Incoming>,
    address: watch::Sender<Option<Multiaddr>>,
}

impl Driver {
    /// Runs until `stop` turns true or every handle is gone.
    ///
    /// Not cancel safe: dropping it closes all connections.
    async fn run(mut self, mut commands: mpsc::Receiver<Command>, mut stop: watch::Receiver<bool>) {
        let mut tick = tokio::time::interval(DIAL_TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                command = commands.recv() => match command {
                    Some(command) => self.send(command),
                    None => break,
                },
                event = self.swarm.select_next_some() => self.handle(event),
                _ = tick.tick() => self.dial_lost(),
            }
        }
    }

    fn send(&mut self, Command { to, frame, answer }: Command) {
        let Some(dialing) = self.peers.get(&to) else {
            let _ = answer.send(Err(SendError::Unreachable));
            return;
        };
        let addresses = vec![dialing.address.clone()];
        let requests = &mut self.swarm.behaviour_mut().requests;
        let id = requests.send_request_with_addresses(&to, frame, addresses);
        self.pending.insert(id, answer);
    }

    fn handle(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(BehaviourEvent::Requests(event)) => self.handle_request(event),
            SwarmEvent::NewListenAddr { address, .. } => {
                tracing::info!(event = "listening", %address);
                self.address.send_replace(Some(address));
            }
            SwarmEvent::ConnectionEstablished { peer_id, .. } => {
                if self.set_connected(peer_id, true) {
                    tracing::info!(event = "peer_connected", peer = %peer_id);
                }
                if let Some(dialing) = self.peers.get_mut(&peer_id) {
                    dialing.backoff = FIRST_BACKOFF;
                }
            }
            SwarmEvent::ConnectionClosed { peer_id, num_established: 0, cause, .. } => {
                let cause = cause.map(|cause| cause.to_string()).unwrap_or_default();
                tracing::info!(event = "peer_disconnected", peer = %peer_id, cause);
                self.set_connected(peer_id, false);
                if let Some(dialing) = self.peers.get_mut(&peer_id) {
                    dialing.retry_soon();
                }
            }
            SwarmEvent::IncomingConnectionError { send_back_addr, error, .. } => {
                tracing::warn!(event = "connection_refused", from = %send_back_addr, %error);
            }
            SwarmEvent::OutgoingConnectionError { peer_id: Some(peer_id), error, .. } => {
                tracing::debug!(event = "dial_failed", peer = %peer_id, %error);
            }
            _ => {}
        }
    }

    fn handle_request(&mut self, event: RequestEvent<Frame, Ack>) {
        match event {
            RequestEvent::Message {
                peer,
                message: Message::Request { request, channel, .. },
                ..
            } => {
                let incoming = Incoming { from: peer, frame: request };
                let taken = self.incoming.try_send(incoming).is_ok();
                let ack = if taken { Ack::Queued } else { Ack::Busy };
                // A failure here means that the peer has gone; it will send again.
                let _ = self.swarm.behaviour_mut().requests.send_response(channel, ack);
            }
            RequestEvent::Message {
                message: Message::Response { request_id, response }, ..
            } => {
                let result = match response {
                    Ack::Queued => Ok(()),
                    Ack::Busy => Err(SendError::Busy),
                };
                self.answer(request_id, result);
            }
            RequestEvent::OutboundFailure { request_id, error, .. } => {
                let error = match error {
                    OutboundFailure::DialFailure
                    | OutboundFailure::ConnectionClosed
                    | OutboundFailure::Io(_) => SendError::Unreachable,
                    OutboundFailure::Timeout => SendError::Timeout,
                    OutboundFailure::UnsupportedProtocols => SendError::Protocol,
                };
                self.answer(request_id, Err(error));
            }
            RequestEvent::InboundFailure { peer, error, .. } => {
                tracing::warn!(event = "message_refused", peer = %peer, %error);
            }
            RequestEvent::ResponseSent { .. } => {}
        }
    }

    fn answer(&mut self, id: OutboundRequestId, result: Result<(), SendError>) {
        if let Some(answer) = self.pending.remove(&id) {
            let _ = answer.send(result);
        }
    }

    /// Notes whether a peer is connected; returns whether that is news.
    fn set_connected(&self, peer: PeerId, connected: bool) -> bool {
        let mut set = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if connected { set.insert(peer) } else { set.remove(&peer) }
    }

    fn dial_lost(&mut self) {
        let now = Instant::now();
        for (id, dialing) in &mut self.peers {
            if dialing.next > now || self.swarm.is_connected(id) {
                continue;
            }
            dialing.retry_later();
            let options = DialOpts::peer_id(*id)
                .addresses(vec![dialing.address.clone()])
                .condition(PeerCondition::DisconnectedAndNotDialing)
                .build();
            // Already dialling is the only failure here, and no reason to do more.
            let _ = self.swarm.dial(options);
        }
    }
}

#[cfg(test)]
mod tests;
