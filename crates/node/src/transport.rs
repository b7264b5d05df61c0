//! Signed envelopes between configured nodes, over libp2p: TCP, Noise, Yamux.
//!
//! One task owns the swarm. Each message is one request on a stream of its own; the other side
//! answers with one byte, once the message is in its queue. So a sender knows what became of its
//! message, a slow stream blocks no other, and a full queue pushes back instead of growing.
//!
//! Only configured peers are talked to: a connection whose handshake proves another identity is
//! closed before any stream is opened. Everything is bounded: connections, streams, the length of a
//! message, and each queue. Each peer has a queue and a budget of its own, so that a peer that floods
//! this node, or acknowledges nothing, delays its own messages only.

mod state;

use crate::budget::{BARRED, Budgets, Kind};
use crate::codec::{Ack, Frame, FrameCodec, PROTOCOL};
use crate::config::{Config, Peer};
use crate::error::Error;
use crate::events::Events;
use crate::identity::{Identity, wipe_stack};
use libp2p::allow_block_list::{AllowedPeers, Behaviour as AllowList};
use libp2p::connection_limits::{Behaviour as Limiter, ConnectionLimits};
use libp2p::core::Transport as _;
use libp2p::core::upgrade::Version;
use libp2p::futures::StreamExt;
use libp2p::request_response::{
    Behaviour as Requests, Config as RequestConfig, Event as RequestEvent, InboundFailure, Message,
    OutboundFailure, OutboundRequestId, ProtocolSupport,
};
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::swarm::{Config as SwarmConfig, NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Swarm, identify, noise, ping, tcp, yamux};
use serde_json::json;
pub(crate) use state::PeerState;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// How long a connection may take to be made and authenticated.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Messages that wait for the swarm.
const QUEUE: usize = 256;
/// Received messages of one peer that wait for its dispatcher.
const RECEIVED: usize = 64;
/// Messages to one peer that it has not acknowledged; further ones fail at once.
const UNACKNOWLEDGED: usize = 256;
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

/// The received messages of one configured peer.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) from: PeerId,
    pub(crate) queue: mpsc::Receiver<Frame>,
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
    #[error("has not acknowledged earlier messages")]
    Backlog,
    #[error("the node is stopping")]
    Stopping,
}

impl SendError {
    /// Says whether the same message may get through later.
    pub(crate) fn is_passing(&self) -> bool {
        use SendError::{Backlog, Busy, Timeout, Unreachable};
        matches!(self, Unreachable | Timeout | Busy | Backlog)
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
    links: watch::Receiver<Links>,
    listening: watch::Receiver<Option<Multiaddr>>,
    states: Arc<HashMap<PeerId, PeerState>>,
    most_bytes: usize,
}

/// Which peers are there.
#[derive(Clone, Debug, Default)]
struct Links {
    /// The peers to which a connection is open.
    connected: HashSet<PeerId>,
    /// The peers without a connection, and when each could last not be dialed.
    gone: HashMap<PeerId, Instant>,
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
        self.links.borrow().connected.clone()
    }

    /// What is measured of a peer's connection.
    pub(crate) fn state(&self, peer: &PeerId) -> Option<&PeerState> {
        self.states.get(peer)
    }

    /// Waits until one of `peers` has no connection and could not be dialed, at `since` or later.
    ///
    /// A process that ended closes its connections, and its machine refuses new ones: this is known
    /// within milliseconds. An older failure says nothing: a peer that was started a moment later
    /// than this node was unreachable then, and nobody may have dialed it again since. Cancel safe.
    pub(crate) async fn gone(&self, peers: &[PeerId], since: Instant) -> PeerId {
        let mut links = self.links.clone();
        let is_lost =
            |links: &Links, peer: &PeerId| links.gone.get(peer).is_some_and(|when| *when >= since);
        let lost = |links: &Links| peers.iter().find(|peer| is_lost(links, peer)).copied();
        let found = links.wait_for(|links| lost(links).is_some()).await;
        if let Some(peer) = found.ok().and_then(|links| lost(&links)) {
            return peer;
        }
        // The swarm has ended; the node's stop tells the caller.
        std::future::pending().await
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

/// Starts the task that owns the swarm, and returns its handle, the queues of received messages and
/// the task, which ends after `stop` turns true.
pub(crate) fn start(
    config: &Config,
    identity: &Identity,
    (budgets, events): (Budgets, Events),
    stop: watch::Receiver<bool>,
) -> Result<(Transport, Vec<Incoming>, tokio::task::JoinHandle<()>), Error> {
    let built = build(config, identity);
    // It signs its key for connections with the identity.
    wipe_stack::<{ 64 << 10 }>();
    let mut swarm = built.map_err(|reason| listen_error(config, reason))?;
    swarm
        .listen_on(config.listen.clone())
        .map_err(|error| listen_error(config, error.to_string()))?;
    let (commands, command_queue) = mpsc::channel(QUEUE);
    let (address, listening) = watch::channel(None);
    let (told, links) = watch::channel(Links::default());
    let now = Instant::now();
    let me = identity.id();
    let mut incoming = Vec::with_capacity(config.peers.len());
    let mut peers = HashMap::with_capacity(config.peers.len());
    let mut states = HashMap::with_capacity(config.peers.len());
    for peer in &config.peers {
        let (received, queue) = mpsc::channel(RECEIVED);
        incoming.push(Incoming { from: peer.id, queue });
        states.insert(peer.id, PeerState::new(received.downgrade()));
        peers.insert(peer.id, Link::new(peer, &me, received, now));
    }
    let states = Arc::new(states);
    let driver = Driver {
        swarm,
        peers,
        links: told,
        pending: HashMap::new(),
        budgets,
        address,
        states: states.clone(),
        events,
    };
    let task = tokio::spawn(driver.run(command_queue, stop));
    let most_bytes = config.limits.message_bytes;
    Ok((Transport { commands, links, listening, states, most_bytes }, incoming, task))
}

fn listen_error(config: &Config, reason: String) -> Error {
    Error::Listen { address: config.listen.to_string(), reason }
}

#[inline(never)]
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
    // Not by libp2p's builder, which moves copies of the identity's key about.
    let transport = tcp::tokio::Transport::new(tcp::Config::default())
        .upgrade(Version::V1Lazy)
        .authenticate(noise::Config::new(identity.keypair()).map_err(|error| error.to_string())?)
        .multiplex(yamux::Config::default())
        .timeout(CONNECT_TIMEOUT)
        .boxed();
    let config = SwarmConfig::with_tokio_executor().with_idle_connection_timeout(KEEP_IDLE);
    Ok(Swarm::new(transport, behaviour, identity.id(), config))
}

const IDENTIFY: &str = "/tetralith/id/1";

/// One peer: where it is dialed and when next, and what is under way.
struct Link {
    name: String,
    address: Multiaddr,
    backoff: Duration,
    next: Instant,
    /// Its received messages.
    received: mpsc::Sender<Frame>,
    /// Messages to it that it has not acknowledged.
    unacknowledged: usize,
    /// Until when it is not accepted again, after an excess.
    barred: Option<Instant>,
}

impl Link {
    fn new(peer: &Peer, me: &PeerId, received: mpsc::Sender<Frame>, now: Instant) -> Self {
        let first = me.to_bytes() < peer.id.to_bytes();
        let delay = if first { Duration::ZERO } else { SECOND_DIALER_DELAY };
        Link {
            name: peer.name.clone(),
            address: peer.address.clone(),
            backoff: FIRST_BACKOFF,
            next: now + delay,
            received,
            unacknowledged: 0,
            barred: None,
        }
    }

    fn retry_later(&mut self) {
        self.next = Instant::now() + self.backoff;
        self.backoff = (self.backoff * 2).min(LAST_BACKOFF);
    }
}

/// The task that owns the swarm.
struct Driver {
    swarm: Swarm<Behaviour>,
    peers: HashMap<PeerId, Link>,
    links: watch::Sender<Links>,
    pending: HashMap<OutboundRequestId, (PeerId, oneshot::Sender<Result<(), SendError>>)>,
    budgets: Budgets,
    address: watch::Sender<Option<Multiaddr>>,
    states: Arc<HashMap<PeerId, PeerState>>,
    events: Events,
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
                _ = tick.tick() => {
                    self.readmit();
                    self.dial_lost();
                }
            }
        }
    }

    fn send(&mut self, Command { to, frame, answer }: Command) {
        let Some(link) = self.peers.get_mut(&to) else {
            let _ = answer.send(Err(SendError::Unreachable));
            return;
        };
        if link.unacknowledged >= UNACKNOWLEDGED {
            let _ = answer.send(Err(SendError::Backlog));
            return;
        }
        link.unacknowledged += 1;
        self.states.get(&to).inspect(|state| state.set_unacknowledged(link.unacknowledged));
        let addresses = vec![link.address.clone()];
        let requests = &mut self.swarm.behaviour_mut().requests;
        let id = requests.send_request_with_addresses(&to, frame, addresses);
        self.pending.insert(id, (to, answer));
    }

    fn handle(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(BehaviourEvent::Requests(event)) => self.handle_request(event),
            SwarmEvent::Behaviour(BehaviourEvent::Ping(ping::Event {
                peer,
                result: Ok(took),
                ..
            })) => {
                self.states.get(&peer).inspect(|state| state.set_round_trip(took));
            }
            SwarmEvent::NewListenAddr { address, .. } => {
                tracing::info!(event = "listening", %address);
                self.address.send_replace(Some(address));
            }
            SwarmEvent::ConnectionEstablished { peer_id, .. } => {
                if self.set_connected(peer_id, true) {
                    tracing::info!(event = "peer_connected", peer = %peer_id);
                    self.tell_peer("peer_connected", &peer_id, None);
                }
                if let Some(link) = self.peers.get_mut(&peer_id) {
                    link.backoff = FIRST_BACKOFF;
                }
            }
            SwarmEvent::ConnectionClosed { peer_id, num_established: 0, cause, .. } => {
                let cause = cause.map(|cause| cause.to_string()).unwrap_or_default();
                tracing::info!(event = "peer_disconnected", peer = %peer_id, cause = %cause);
                if self.set_connected(peer_id, false) {
                    self.tell_peer("peer_disconnected", &peer_id, Some(&cause));
                }
                self.dial_again(&peer_id);
            }
            SwarmEvent::IncomingConnectionError { send_back_addr, error, .. } => {
                tracing::warn!(event = "connection_refused", from = %send_back_addr, %error);
            }
            SwarmEvent::OutgoingConnectionError { peer_id: Some(peer_id), error, .. } => {
                tracing::debug!(event = "dial_failed", peer = %peer_id, %error);
                if !self.swarm.is_connected(&peer_id) {
                    self.links.send_modify(|links| {
                        links.gone.insert(peer_id, Instant::now());
                    });
                }
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
                let ack = if self.receive(peer, request) { Ack::Queued } else { Ack::Busy };
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
                // A connection that closes under its streams is nobody's excess.
                if matches!(error, InboundFailure::Io(_) | InboundFailure::Timeout) {
                    self.budgets.take(&peer, Kind::Invalid, Instant::now());
                    self.bar_excess(peer);
                }
            }
            RequestEvent::ResponseSent { .. } => {}
        }
    }

    /// Puts a received message into its sender's queue, within the sender's budget.
    fn receive(&mut self, peer: PeerId, frame: Frame) -> bool {
        let now = Instant::now();
        if !self.budgets.take(&peer, Kind::Message, now) {
            self.bar_excess(peer);
            return false;
        }
        let taken = self.peers.get(&peer).is_some_and(|link| link.received.try_send(frame).is_ok());
        if !taken {
            self.budgets.note_drop(&peer, now);
        }
        taken
    }

    /// Disconnects a peer that went far beyond its budgets, and does not accept it for a while.
    fn bar_excess(&mut self, peer: PeerId) {
        let now = Instant::now();
        if !self.budgets.is_excessive(&peer, now) {
            return;
        }
        tracing::warn!(event = "peer_barred", %peer, seconds = BARRED.as_secs());
        if let Some(link) = self.peers.get_mut(&peer) {
            link.barred = Some(now + BARRED);
        }
        // This closes the peer's connections too.
        self.swarm.behaviour_mut().allowed.disallow_peer(peer);
    }

    /// Accepts again the peers whose time is up.
    fn readmit(&mut self) {
        let now = Instant::now();
        for (peer, link) in &mut self.peers {
            if link.barred.is_some_and(|until| until <= now) {
                link.barred = None;
                self.swarm.behaviour_mut().allowed.allow_peer(*peer);
            }
        }
    }

    fn answer(&mut self, id: OutboundRequestId, result: Result<(), SendError>) {
        if let Some((peer, answer)) = self.pending.remove(&id) {
            if let Some(link) = self.peers.get_mut(&peer) {
                link.unacknowledged = link.unacknowledged.saturating_sub(1);
                let state = self.states.get(&peer);
                state.inspect(|state| state.set_unacknowledged(link.unacknowledged));
            }
            let _ = answer.send(result);
        }
    }

    /// Notes whether a peer is connected; returns whether that is news.
    fn set_connected(&self, peer: PeerId, connected: bool) -> bool {
        self.links.send_if_modified(|links| {
            if connected {
                links.gone.remove(&peer);
                links.connected.insert(peer)
            } else {
                links.connected.remove(&peer)
            }
        })
    }

    /// Tells those that watch of a configured peer.
    fn tell_peer(&self, kind: &'static str, id: &PeerId, cause: Option<&str>) {
        if let Some(link) = self.peers.get(id) {
            let peer = json!({ "name": link.name, "id": id.to_string() });
            self.events.tell(kind, json!({ "peer": peer, "cause": cause }));
        }
    }

    /// Dials a peer whose last connection was closed, at once: where its process has ended, the failure
    /// says so now.
    fn dial_again(&mut self, id: &PeerId) {
        if let Some(link) = self.peers.get_mut(id) {
            link.backoff = FIRST_BACKOFF;
            link.next = Instant::now();
        }
        self.dial_lost();
    }

    fn dial_lost(&mut self) {
        let now = Instant::now();
        for (id, link) in &mut self.peers {
            if link.next > now || link.barred.is_some() || self.swarm.is_connected(id) {
                continue;
            }
            link.retry_later();
            let options = DialOpts::peer_id(*id)
                .addresses(vec![link.address.clone()])
                .condition(PeerCondition::DisconnectedAndNotDialing)
                .build();
            // Already dialing is the only failure here, and no reason to do more.
            let _ = self.swarm.dial(options);
        }
    }
}

#[cfg(test)]
mod tests;
