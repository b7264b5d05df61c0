//! `tetralith vdf daemon`: challenges over HTTP and sockets, squared by workers, kept in a folder.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tetralith_daemon::{Error, Kind, List, Settings};

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
    cores: Option<List>,
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

impl Daemon {
    fn settings(&self) -> Outcome<Settings> {
        let save_every = Duration::try_from_secs_f64(self.save_every.clamp(0.01, 86_400.0));
        Ok(Settings {
            folder: self.folder.clone(),
            http: self.http,
            lines: self.lines,
            socket: self.socket.clone(),
            workers: self.workers,
            cores: self.cores.clone(),
            provers: self.provers,
            memory: u64::from(self.memory) << 20,
            queue: self.queue,
            keep: self.keep,
            connections: self.connections,
            most: 1 << self.most,
            hosts: self.host.clone(),
            private: self.private,
            log_requests: self.log_requests,
            save_every: save_every.map_err(|error| Failure::usage("daemon.save_every", error))?,
        })
    }
}

/// Runs `tetralith vdf daemon` until it is interrupted.
pub(super) fn run(context: Context, command: &Daemon) -> Outcome {
    let tell =
        Arc::new(move |event: &'static str, text: &str, fields| context.event(event, text, fields));
    let stop = async { interrupt::wait().await.map_err(|failure| caught(&failure)) };
    Ok(tetralith_daemon::run(&command.settings()?, tell, stop)?)
}

/// Signals that cannot be waited for end the daemon.
fn caught(failure: &Failure) -> Error {
    let message = failure.message.clone();
    Error { kind: Kind::Environment, code: failure.code, message, hint: None }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Failure::of(error.exit_code(), error.code, &error);
        match error.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
