//! `tetralith vdf daemon`: challenges over HTTP and sockets, squared by workers, kept in a folder.
//!
//! It lives in the command because sockets, the clock and signals do; the library below knows none.
//! Workers are threads of their own: the sockets' thread never squares.

mod connection;
mod cores;
mod http;
mod job;
mod lines;
mod log;
mod metrics;
mod request;
mod store;
mod work;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::io::{self, Access};
use crate::random;
use clap::Args;
use cores::Reserved;
use rand_core::Rng;
use request::Fault;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::{Limits, Store};
use tetralith_vdf::Options;
use tokio::net::TcpListener;

/// What to serve, where, and with how much.
#[derive(Args, Debug)]
pub(crate) struct Daemon {
    /// The folder with the challenges and the token, which need not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Where HTTP is served
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:7300")]
    http: SocketAddr,
    /// Where JSON lines are served over TCP
    #[arg(long, value_name = "IP:PORT")]
    lines: Option<SocketAddr>,
    /// Where JSON lines are served over a Unix socket; one on which nobody listens is replaced
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Challenges squared at once, each by a thread that does nothing else
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,
    /// Reserve these cores, as in 2,4-7: a worker on each, and nothing else of the daemon (Linux)
    #[arg(long, value_name = "LIST", conflicts_with = "workers")]
    cores: Option<cores::List>,
    /// Threads that a challenge's proof takes beside its worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=1024))]
    provers: u16,
    /// Mebibytes for the values that are recorded for a proof, for each worker
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = super::parse_memory)]
    memory: u32,
    /// Challenges that may wait
    #[arg(long, default_value_t = 64, value_name = "N")]
    queue: usize,
    /// Challenges in the folder, ended ones among them
    #[arg(long, default_value_t = 4096, value_name = "N")]
    keep: usize,
    /// Connections at once, over HTTP and over sockets each; half of HTTP's may listen to events
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u16).range(2..))]
    connections: u16,
    /// The most squarings of a challenge, as a power of two
    #[arg(long, default_value_t = 40, value_name = "LOG2", value_parser = clap::value_parser!(u8).range(0..=63))]
    most: u8,
    /// Answer over HTTP for this host name too; on a loopback address other names than its own are refused
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Reading needs a token as well: that of FOLDER/read.token, or of FOLDER/api.token
    #[arg(long)]
    private: bool,
    /// Tell of every request on standard error (at most 10 a second for long)
    #[arg(long)]
    log_requests: bool,
    /// Seconds between two times that a run's state is saved
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    save_every: f64,
}

/// Runs `tetralith vdf daemon` until it is interrupted.
pub(super) fn run(context: Context, command: &Daemon) -> Outcome {
    let folder = &command.folder;
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
    let lock = folder.join("lock");
    let lock = std::fs::File::create(&lock).map_err(|error| Failure::file(&lock, &error))?;
    lock.try_lock().map_err(|_| {
        let message = format!("another daemon works in {}", folder.display());
        Failure::new(Exit::State, "state.locked", message)
    })?;
    let token = Arc::new(Tokens::open(folder, command.private)?);
    let log = Arc::new(log::Log::new(context, command.log_requests));
    let limits = Limits { queue: command.queue, kept: command.keep, iterations: 1 << command.most };
    let damaged = |failure: Failure| {
        context.event("challenge.damaged", failure.message, json!({ "code": failure.code }));
    };
    let store = Arc::new(Store::open(folder, limits, damaged)?);
    let settings = work::Settings {
        save_every: Duration::try_from_secs_f64(command.save_every.clamp(0.01, 86_400.0))
            .map_err(|error| Failure::usage("daemon.save_every", error))?,
        options: Options {
            memory: u64::from(command.memory) << 20,
            threads: 1 + usize::from(command.provers),
            on_thread: cores::leave,
            ..Options::default()
        },
    };
    let reserved = Reserved::new(command.cores.as_ref())?; // before any thread is started
    if command.cores.is_some() && !reserved.apart {
        let text = "every core is reserved: sockets and proofs take their time from the workers";
        context.event("daemon.cores", text, json!({ "cores": reserved.cores() }));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .map_err(|error| Failure::new(Exit::Environment, "threads.start", error))?;
    std::thread::scope(|scope| {
        let (store, reserved, log) = (&store, &reserved, &log);
        let (tell, ready) = std::sync::mpsc::channel();
        let start = |number: usize| {
            let (name, tell) = (format!("worker-{number}"), tell.clone());
            std::thread::Builder::new().name(name).spawn_scoped(scope, move || {
                reserved.take(number);
                let _ = tell.send(());
                work::run(log, store, settings);
            })
        };
        let workers = reserved.cores().len().max(usize::from(command.workers));
        let started = (0..workers).try_for_each(|number| start(number).map(|_| ()));
        let served = match started {
            Ok(()) => {
                // Nobody is served before each worker is on its core.
                ready.iter().take(workers).for_each(drop);
                runtime.block_on(serve(context, command, store, &token, log))
            }
            Err(error) => Err(Failure::new(Exit::Environment, "threads.start", error)),
        };
        store.stop();
        served
    })
}

/// Listens until a signal comes.
async fn serve(
    context: Context,
    command: &Daemon,
    store: &Arc<Store>,
    token: &Arc<Tokens>,
    log: &Arc<log::Log>,
) -> Outcome {
    let listener = bind(command.http).await?;
    let mut listening = json!({ "http": address(&listener) });
    let most = usize::from(command.connections);
    let hosts = http::Hosts::new(listener.local_addr().ok(), &command.host);
    let (store, token, log) = (store.clone(), token.clone(), log.clone());
    // Each kind of socket has places of its own: strangers on TCP leave those of the owner's socket free.
    let service = || lines::Service::new(store.clone(), token.clone(), log.clone(), most);
    let shared =
        http::Shared { store: store.clone(), token: token.clone(), log: log.clone(), hosts };
    tokio::spawn(http::serve(listener, shared, most));
    warn_plaintext(context, "http", Some(command.http));
    warn_plaintext(context, "lines", command.lines);
    if let Some(place) = command.lines {
        let listener = bind(place).await?;
        listening["lines"] = json!(address(&listener));
        let service = service();
        tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => service.take(stream),
                    // Out of descriptors: wait for some to close.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
    }
    #[cfg(unix)]
    let _socket = match &command.socket {
        Some(path) => {
            listening["socket"] = json!(path);
            Some(serve_socket(path, service()).await?)
        }
        None => None,
    };
    #[cfg(not(unix))]
    if command.socket.is_some() {
        return Err(Failure::usage("usage.socket", "this system has no Unix sockets"));
    }
    context.event("daemon.listening", listening_text(&listening), listening);
    interrupt::wait().await
}

/// Warns of an address that other machines reach: what goes there and back is not encrypted, tokens included.
fn warn_plaintext(context: Context, option: &str, place: Option<SocketAddr>) {
    let Some(place) = place.filter(|place| !place.ip().is_loopback()) else { return };
    let text = format!(
        "--{option} {place} is open to other machines in plaintext, tokens included: listen on 127.0.0.1 and \
         put a proxy with TLS before it"
    );
    context.event("daemon.plaintext", text, json!({ "option": option, "address": place }));
}

/// Each address and what is spoken there.
fn listening_text(listening: &serde_json::Value) -> String {
    let kinds = [("http", "HTTP"), ("lines", "JSON lines"), ("socket", "JSON lines")];
    let told = kinds.iter().filter_map(|(name, spoken)| {
        let address = listening[name].as_str()?;
        Some(format!("{address} ({spoken})"))
    });
    format!("listening on {}", told.collect::<Vec<_>>().join(", "))
}

async fn bind(place: SocketAddr) -> Outcome<TcpListener> {
    TcpListener::bind(place).await.map_err(|error| {
        Failure::new(Exit::Environment, "daemon.listen", format!("{place}: {error}"))
    })
}

fn address(listener: &TcpListener) -> String {
    listener.local_addr().map_or_else(|_| String::new(), |address| address.to_string())
}

#[cfg(unix)]
async fn serve_socket(path: &Path, service: lines::Service) -> Outcome<SocketFile> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let failed = |error: std::io::Error| Failure::file(path, &error);
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        // Refused is what nobody listens on; whatever else comes of it, it is somebody's.
        match tokio::net::UnixStream::connect(path).await {
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(failed)?;
            }
            _ => {
                let message = format!("{}: the address is in use", path.display());
                return Err(Failure::new(Exit::Environment, "daemon.listen", message)
                    .hint("name another --socket, or stop what listens there"));
            }
        }
    }
    let listener = tokio::net::UnixListener::bind(path).map_err(failed)?;
    let file = SocketFile::of(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => service.take(stream),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    });
    Ok(file)
}

/// The socket's file, removed when the daemon ends, unless another has taken its name meanwhile.
#[cfg(unix)]
struct SocketFile {
    path: PathBuf,
    /// Its device and its number there.
    identity: (u64, u64),
}

#[cfg(unix)]
impl SocketFile {
    fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: Self::identity(path)? })
    }

    fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::symlink_metadata(path)?;
        Ok((found.dev(), found.ino()))
    }
}

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        if Self::identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What clients must know: one token to change anything, and where the daemon is private, one to read.
pub(super) struct Tokens {
    change: Token,
    read: Option<Token>,
}

impl Tokens {
    fn open(folder: &Path, private: bool) -> Outcome<Self> {
        let change = Token::open(&folder.join("api.token"))?;
        let read = private.then(|| Token::open(&folder.join("read.token"))).transpose()?;
        Ok(Self { change, read })
    }

    /// Refuses who may not change anything.
    pub(super) fn check(&self, given: &[u8]) -> Outcome {
        if self.change.is(given) {
            return Ok(());
        }
        Err(Failure::usage("api.token", "the token is missing or wrong")
            .hint("send the token of the daemon's api.token file"))
    }

    /// Refuses who may not read.
    pub(super) fn check_reader(&self, given: &[u8]) -> Outcome {
        match &self.read {
            Some(read) if !read.is(given) && !self.change.is(given) => {
                Err(Failure::usage("api.token", "the token is missing or wrong")
                    .hint("send the token of the daemon's read.token file"))
            }
            _ => Ok(()),
        }
    }
}

/// The hash of 32 random bytes in hex, which lie in a file of the owner's.
struct Token([u8; 32]);

impl Token {
    fn open(path: &Path) -> Outcome<Self> {
        if !path.exists() {
            let mut bytes = [0; 32];
            random::system().fill_bytes(&mut bytes);
            io::write(path, format!("{}\n", hex::encode(bytes)).as_bytes(), Access::Owner, false)?;
        }
        check_owner(path)?;
        let text = io::read_text(path, 1 << 10)?;
        if text.trim().len() < 32 {
            let message = format!("{}: a token has 32 characters or more", path.display());
            return Err(Failure::usage("api.token", message));
        }
        Ok(Self(Sha256::digest(text.trim()).into()))
    }

    /// Compares hashes, whose difference tells nothing of the token.
    fn is(&self, given: &[u8]) -> bool {
        <[u8; 32]>::from(Sha256::digest(given)) == self.0
    }
}

/// Refuses a token that others can read or change.
fn check_owner(path: &Path) -> Outcome {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let found = std::fs::metadata(path).map_err(|error| Failure::file(path, &error))?;
        let mode = found.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let name = path.display();
            let message =
                format!("{name} has mode {mode:o}: other users can read or change the token");
            return Err(Failure::usage("api.token", message).hint(format!("run chmod 600 {name}")));
        }
    }
    Ok(())
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Form(code, message) => Failure::usage(code, message),
            Fault::Vdf(error) => error.into(),
        }
    }
}

/// Does what may take long, or writes files, on a thread apart.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.map_err(|error| Failure::new(Exit::Environment, "daemon.internal", error))?
}
