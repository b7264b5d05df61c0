//! A running node: opens the folder, starts the transport, the dispatcher and the API, and stops all.

use crate::api;
use crate::budget::{Budgets, Kind};
use crate::ceremony::{
    KeygenQuota, Mailboxes, Memory, Resharings, Retired, Shared, Starts, Stray, Turns, Words,
};
use crate::disk::Disk;
use crate::engine::Engine;
use crate::error::Error;
use crate::events::Events;
use crate::folder::Folder;
use crate::log::Log;
use crate::meeting::Meetings;
use crate::metrics::Metrics;
use crate::shares::Shares;
use crate::stall::Stalls;
use crate::tokens::Tokens;
use crate::transport::{self, Incoming};
use crate::wire::{Body, Envelope};
use libp2p::{Multiaddr, PeerId};
use rand_core::{CryptoRng, SeedableRng};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use zeroize::Zeroizing;

/// How long a stopping node lets its ceremonies tell the others.
const GRACE: Duration = Duration::from_secs(2);
/// Refusals to one peer that it has not acknowledged; further ones are not sent.
const REFUSALS_PER_PEER: usize = 8;
/// Proposals of one peer that are looked at or run at the same time, beyond its ceremonies.
const SPARE_ANSWERS: usize = 8;

/// A node that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Node {
    id: PeerId,
    api: SocketAddr,
    address: Multiaddr,
    stop: watch::Sender<bool>,
    mailboxes: Mailboxes,
    tasks: Vec<JoinHandle<()>>,
    /// Held so that no second process runs this folder.
    _lock: std::fs::File,
}

impl Node {
    /// Starts the node of a folder; returns once it listens.
    ///
    /// `rng` seeds all of the node's randomness.
    ///
    /// # Errors
    /// The configuration, a key file, a share or the log cannot be used, the passphrase is wrong,
    /// another process runs the folder, or an address cannot be listened on.
    ///
    /// Not cancel safe: dropping the future may leave tasks that run until the runtime ends.
    pub async fn start(
        folder: &Folder,
        passphrase: Option<&[u8]>,
        engine: Arc<dyn Engine>,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        let config = folder.config()?;
        let lock = folder.lock()?;
        let secrets = folder.open(passphrase)?;
        let id = secrets.identity.id();
        if let Some(index) = config.peers.iter().position(|peer| peer.id == id) {
            return Err(Error::config(format!("peers[{index}].id"), "is this node itself"));
        }
        let tokens = Tokens::open(folder, rng)?;
        let tls = api::acceptor(folder, config.clients.tls.as_ref())?;
        let shares = Shares::open(&folder.shares_path(), secrets.storage)?;
        let log = Log::open(&folder.database_path())?;
        shares.expect(&log.confirmed()?);
        for (file, reason) in shares.damaged() {
            tracing::error!(event = "share_damaged", file, reason);
        }
        for key in shares.lost() {
            tracing::error!(event = "share_lost", %key);
        }
        let retired = Retired::open(&shares, &log, rng)?;
        let listener = tokio::net::TcpListener::bind(config.api).await;
        let listener = listener.map_err(|error| Error::Listen {
            address: config.api.to_string(),
            reason: error.to_string(),
        })?;
        let api_address = listener.local_addr().map_err(Error::file(folder.root()))?;
        let (stop, stopped) = watch::channel(false);
        let budgets = Budgets::new(config.peers.iter().map(|peer| peer.id), &config.limits);
        let events = Events::new();
        let watchers = (budgets.clone(), events.clone());
        let (transport, incoming, swarm) =
            transport::start(&config, &secrets.identity, watchers, stopped.clone())?;
        let mailboxes = Mailboxes::new(&config.limits);
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(seed.as_mut_slice());
        let shared = Arc::new(Shared {
            identity: secrets.identity,
            engine,
            transport: transport.clone(),
            shares,
            log,
            mailboxes: mailboxes.clone(),
            metrics: Metrics::new(&id, &config.peers),
            events,
            stop: stopped.clone(),
            rng: Mutex::new(chacha20::ChaCha20Rng::from_seed(*seed)),
            absent: Mutex::default(),
            keygens: KeygenQuota::new(config.limits.keygens_per_hour),
            retired,
            starts: Starts::default(),
            suspects: Memory::default(),
            words: Words::default(),
            resharings: Resharings::default(),
            meetings: Meetings::default(),
            budgets,
            stalls: Stalls::new(),
            turns: Turns::new(&config.limits),
            disk: Disk::new(folder.clone()),
            config,
        });
        let dispatcher = tokio::spawn(dispatch(shared.clone(), incoming));
        let server = tokio::spawn(api::serve(shared, listener, tls, tokens, stopped));
        let address = transport.listening().await?;
        let tasks = vec![swarm, dispatcher, server];
        tracing::info!(event = "node_started", %id, api = %api_address, %address);
        Ok(Node { id, api: api_address, address, stop, mailboxes, tasks, _lock: lock })
    }

    /// The node's identity.
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.id
    }

    /// Where the HTTP API listens.
    #[must_use]
    pub fn api(&self) -> SocketAddr {
        self.api
    }

    /// Where peers connect.
    #[must_use]
    pub fn address(&self) -> &Multiaddr {
        &self.address
    }

    /// Stops: running ceremonies end with an entry in the log, then everything is closed.
    ///
    /// Not cancel safe: dropping the future closes everything at once.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let until = Instant::now() + GRACE;
        while self.mailboxes.running() > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        for task in self.tasks {
            // A server waits for its open connections, which may stay open for long.
            if tokio::time::timeout_at(until, task).await.is_err() {
                break;
            }
        }
        tracing::info!(event = "node_stopped", id = %self.id);
    }
}

/// Hands each received message to its ceremony, and proposals to tasks of their own, until the
/// transport ends; watches meanwhile whether this node runs.
async fn dispatch(shared: Arc<Shared>, incoming: Vec<Incoming>) {
    let mut dispatchers = JoinSet::new();
    for incoming in incoming {
        dispatchers.spawn(dispatch_peer(shared.clone(), incoming));
    }
    tokio::select! {
        () = shared.stalls.watch() => {}
        () = shared.clone().settle_sharings() => {}
        _ = dispatchers.join_all() => {}
    }
}

/// Dispatches the messages of one peer, in a task of its own: a peer with many messages, or one that
/// acknowledges no answer, delays nobody else's.
///
/// Cancel safe: a message is handed over without waiting.
async fn dispatch_peer(shared: Arc<Shared>, Incoming { from, mut queue }: Incoming) {
    // Those that run, and as many that wait.
    let most = 2 * shared.config.limits.ceremonies_per_peer + SPARE_ANSWERS;
    let answers = Arc::new(Semaphore::new(most));
    let refusals = Arc::new(Semaphore::new(REFUSALS_PER_PEER));
    while let Some(frame) = queue.recv().await {
        shared.metrics.received(&from, frame.len());
        let drop_it = |reason: &dyn core::fmt::Display| {
            shared.metrics.dropped();
            tracing::debug!(event = "message_dropped", from = %shared.name(&from), %reason);
        };
        let envelope = match Envelope::receive(&frame, from, shared.me()) {
            Ok(envelope) => envelope,
            Err(error) => {
                shared.budgets.take(&from, Kind::Invalid, Instant::now());
                drop_it(&error);
                continue;
            }
        };
        if let Body::Propose(proposal) = &envelope.body {
            let proposal = proposal.clone();
            if !shared.budgets.take(&from, Kind::Proposal, Instant::now()) {
                drop_it(&"more proposals than limits.proposals_per_second");
                continue;
            }
            let Ok(permit) = answers.clone().try_acquire_owned() else {
                drop_it(&"too many proposals at the same time");
                continue;
            };
            let answering =
                shared.clone().participate(envelope, proposal, permit, refusals.clone());
            tokio::spawn(answering);
            continue;
        }
        if matches!(envelope.body, Body::WhoStored | Body::Stored(_)) {
            if !shared.budgets.take(&from, Kind::Proposal, Instant::now()) {
                drop_it(&"more questions than limits.proposals_per_second");
                continue;
            }
            match &envelope.body {
                Body::Stored(words) => shared.hear_stored(envelope.ceremony, words),
                _ => shared.tell_stored(envelope.ceremony, from),
            }
            continue;
        }
        if let Body::Request(said) = &envelope.body {
            if shared.config.clients.gotss.is_none() {
                drop_it(&"a request of go-tss, whose routes are off");
            } else if !shared.budgets.take(&from, Kind::Proposal, Instant::now()) {
                drop_it(&"more words on requests than limits.proposals_per_second");
            } else {
                shared.meetings.hear(envelope.ceremony, from, said.clone());
            }
            continue;
        }
        let stray = Stray::of(&envelope);
        if let Err(dropped) = shared.mailboxes.put(envelope, frame.len()) {
            drop_it(&dropped);
            shared.answer_stray(stray);
        }
    }
}
