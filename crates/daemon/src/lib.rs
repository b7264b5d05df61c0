//! The delay daemon: challenges over HTTP and sockets, squared by workers, kept in a folder.
//!
//! A challenge is an input, a modulus and a number of squarings. It is taken once, however often it is
//! submitted, and a run that was stopped, by a signal, a kill or a fault of the machine, goes on from what
//! it saved. Workers are threads of their own: the thread of the sockets never squares. The formats of
//! requests and answers are in `docs/vdf.md`.
//!
//! ```no_run
//! use std::sync::Arc;
//! use tetralith_daemon::{Settings, run};
//!
//! let settings = Settings::new("challenges");
//! let tell = Arc::new(|event: &str, text: &str, _: serde_json::Value| eprintln!("{event}: {text}"));
//! // It serves until this ends.
//! let stop = async { Ok(()) };
//! run(&settings, tell, stop)?;
//! # Ok::<(), tetralith_daemon::Error>(())
//! ```

mod connection;
mod cores;
mod error;
mod files;
mod http;
mod job;
mod lines;
mod listen;
mod log;
mod metrics;
pub mod request;
mod store;
mod tokens;
mod work;

pub use cores::List;
pub use error::{Error, Kind};
pub use log::Tell;

use cores::Reserved;
use error::Outcome;
use log::Log;
use serde_json::json;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use store::{Limits, Store};
use tetralith_vdf::Options;
use tokens::Tokens;

/// What to serve, where, and with how much.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder with the challenges and the tokens, which need not exist.
    pub folder: PathBuf,
    /// Where HTTP is served.
    pub http: SocketAddr,
    /// Where JSON lines are served over TCP.
    pub lines: Option<SocketAddr>,
    /// Where JSON lines are served over a Unix socket; one on which nobody listens is replaced.
    pub socket: Option<PathBuf>,
    /// Challenges squared at once, each by a thread that does nothing else.
    pub workers: u16,
    /// Cores that are reserved: a worker on each, and nothing else of the daemon (Linux). They take the
    /// place of `workers`.
    pub cores: Option<List>,
    /// Threads that a challenge's proof takes beside its worker.
    pub provers: u16,
    /// Bytes for the values that are recorded for a proof, for each worker.
    pub memory: u64,
    /// Challenges that may wait.
    pub queue: usize,
    /// Challenges in the folder, ended ones among them.
    pub keep: usize,
    /// Connections at once, over HTTP and over sockets each; half of HTTP's may listen to events.
    pub connections: u16,
    /// The most squarings of a challenge.
    pub most: u64,
    /// Names for which HTTP is answered beside the address's own.
    pub hosts: Vec<String>,
    /// Whether reading needs a token as well.
    pub private: bool,
    /// Whether every request is told of, at most ten a second for long.
    pub log_requests: bool,
    /// The time between two times that a run's state is saved.
    pub save_every: Duration,
}

impl Settings {
    /// Those of a daemon for one machine: HTTP on 127.0.0.1:7300, one worker.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            http: (Ipv4Addr::LOCALHOST, 7300).into(),
            lines: None,
            socket: None,
            workers: 1,
            cores: None,
            provers: 1,
            memory: 256 << 20,
            queue: 64,
            keep: 4096,
            connections: 256,
            most: 1 << 40,
            hosts: Vec::new(),
            private: false,
            log_requests: false,
            save_every: Duration::from_secs(60),
        }
    }
}

/// Serves until `stop` ends; then the workers save their runs.
///
/// Where cores are reserved, the calling thread leaves them.
///
/// # Errors
/// The folder is another daemon's or cannot be used, a token's file is open to others, a core is not the
/// process's, an address is taken, or `stop` ends with an error.
pub fn run(
    settings: &Settings,
    tell: Arc<Tell>,
    stop: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    let folder = &settings.folder;
    std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
    let lock = folder.join("lock");
    let lock = std::fs::File::create(&lock).map_err(|error| Error::file(&lock, &error))?;
    lock.try_lock().map_err(|_| {
        let message = format!("another daemon works in {}", folder.display());
        Error::new(Kind::State, "state.locked", message)
    })?;
    let token = Arc::new(Tokens::open(folder, settings.private)?);
    let log = Arc::new(Log::new(tell.clone(), settings.log_requests));
    let limits = Limits { queue: settings.queue, kept: settings.keep, iterations: settings.most };
    let damaged = |error: Error| {
        tell("challenge.damaged", &error.message, json!({ "code": error.code }));
    };
    let store = Arc::new(Store::open(folder, limits, damaged)?);
    let work = work::Settings {
        save_every: settings.save_every,
        options: Options {
            memory: settings.memory,
            threads: 1 + usize::from(settings.provers),
            on_thread: cores::leave,
            ..Options::default()
        },
    };
    let reserved = Reserved::new(settings.cores.as_ref())?; // before any thread is started
    if settings.cores.is_some() && !reserved.apart {
        let text = "every core is reserved: sockets and proofs take their time from the workers";
        tell("daemon.cores", text, json!({ "cores": reserved.cores() }));
    }
    let failed = |error: std::io::Error| Error::new(Kind::Environment, "threads.start", error);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .map_err(failed)?;
    std::thread::scope(|scope| {
        let (store, reserved, log) = (&store, &reserved, &log);
        let (began, ready) = std::sync::mpsc::channel();
        let start = |number: usize| {
            let (name, began) = (format!("worker-{number}"), began.clone());
            std::thread::Builder::new().name(name).spawn_scoped(scope, move || {
                reserved.take(number);
                let _ = began.send(());
                work::run(log, store, work);
            })
        };
        let workers = reserved.cores().len().max(usize::from(settings.workers));
        let served = match (0..workers).try_for_each(|number| start(number).map(drop)) {
            Ok(()) => {
                // Nobody is served before each worker is on its core.
                ready.iter().take(workers).for_each(drop);
                runtime.block_on(listen::serve(settings, &*tell, (store, &token, log), stop))
            }
            Err(error) => Err(failed(error)),
        };
        store.stop();
        served
    })
}

/// Does what may take long, or writes files, on a thread apart.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.map_err(|error| Error::new(Kind::Environment, "daemon.internal", error))?
}
