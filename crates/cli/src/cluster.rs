//! `tetralith cluster`: some nodes on this machine, each a process with a folder of its own.
//!
//! For trials and tests: all nodes are on loopback, and each helps with whatever another proposes.

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::node::{configuration, create};
use crate::passphrase::NewPassphraseArgs;
use serde_json::json;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};
use tetralith_node::config::{Config, Peer, SignPolicy};
use tetralith_node::folder::Folder;

/// Makes the folders of some nodes on loopback, and runs them until interrupted
#[derive(clap::Args, Debug)]
pub(crate) struct Command {
    /// Number of nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=30))]
    nodes: u8,
    /// Number of nodes that sign; with it, a key is made once all nodes run
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u8).range(2..=30))]
    threshold: Option<u8>,
    /// The folder for the nodes' folders node-1, node-2, …; existing ones are run again
    #[arg(long, value_name = "FOLDER", default_value = "cluster")]
    dir: PathBuf,
    /// Only make the folders
    #[arg(long)]
    init_only: bool,
    #[command(flatten)]
    passphrase: NewPassphraseArgs,
}

/// How long the nodes have to find each other.
const START: Duration = Duration::from_secs(30);
/// Where the nodes' ports are sought.
const FIRST_PORT: u16 = 10_000;
const PORTS: u32 = 20_000;

/// Runs `tetralith cluster`.
pub(crate) fn run(context: Context, command: &Command) -> Outcome {
    let folders: Vec<PathBuf> =
        (1..=command.nodes).map(|i| command.dir.join(format!("node-{i}"))).collect();
    if !folders[0].exists() {
        init(context, command, &folders)?;
    }
    if command.init_only {
        let text = format!("{} folders in {}", folders.len(), command.dir.display());
        return context.answer(text, json!({ "folders": folders }));
    }
    let mut nodes = Nodes::start(context, command, &folders)?;
    let clients: Vec<crate::tss::Client> = folders
        .iter()
        .map(|folder| crate::tss::Client::of_folder(folder))
        .collect::<Outcome<_>>()?;
    let deadline = Instant::now() + START;
    for client in &clients {
        client.wait_ready(deadline, &mut || nodes.check())?;
    }
    let key = match command.threshold {
        None => None,
        Some(threshold) => Some(clients[0].keygen(threshold, None)?),
    };
    let made = key.as_ref().map(|key| key["key"].clone());
    let text = match &made {
        None => format!("{} nodes run; interrupt to stop them", folders.len()),
        Some(key) => {
            format!("{} nodes run and hold key {key}; interrupt to stop them", folders.len())
        }
    };
    context.answer(text, json!({ "folders": folders, "key": made }))?;
    nodes.wait()
}

/// Makes all folders: first the identities, then each one's configuration with the others in it.
fn init(context: Context, command: &Command, folders: &[PathBuf]) -> Outcome {
    let passphrase = command.passphrase.for_new(context)?;
    std::fs::create_dir_all(&command.dir).map_err(|error| Failure::file(&command.dir, &error))?;
    let ports = free_ports(2 * folders.len())?;
    let mut configs: Vec<Config> = Vec::new();
    let mut peers: Vec<Peer> = Vec::new();
    for (i, (folder, port)) in folders.iter().zip(ports.chunks(2)).enumerate() {
        let name = format!("node-{}", i + 1);
        let listen = format!("/ip4/127.0.0.1/tcp/{}", port[0]);
        let api = format!("127.0.0.1:{}", port[1]);
        let mut config = configuration(&name, &listen, &api, Vec::new())?;
        config.policy.sign = SignPolicy::Peers;
        let id = create(folder, passphrase.protection(), &config)?;
        let id = id.parse().map_err(|_| Failure::usage("config.peer", "a malformed identity"))?;
        peers.push(Peer { name, id, address: config.listen.clone() });
        configs.push(config);
    }
    for (i, (folder, mut config)) in folders.iter().zip(configs).enumerate() {
        config.peers =
            peers.iter().enumerate().filter(|(j, _)| *j != i).map(|p| p.1.clone()).collect();
        Folder::new(folder).write_config(&config)?;
    }
    Ok(())
}

/// Ports of loopback that nobody listens on now, and that the system gives to no connection of its own
/// accord: it takes those from 32768 on.
fn free_ports(count: usize) -> Outcome<Vec<u16>> {
    let first = std::process::id().wrapping_mul(97) % PORTS;
    let ports = (0..PORTS).map(|step| FIRST_PORT + ((first + step) % PORTS) as u16);
    let free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    let free: Vec<u16> = free.take(count).collect();
    if free.len() < count {
        return Err(Failure::new(Exit::Environment, "io.listen", "too few free ports on loopback"));
    }
    Ok(free)
}

/// The running processes; they are stopped with this value.
struct Nodes {
    children: Vec<Child>,
    interrupted: Interrupt,
}

impl Nodes {
    fn start(context: Context, command: &Command, folders: &[PathBuf]) -> Outcome<Self> {
        let failed = |error| Failure::new(Exit::Environment, "cluster.start", error);
        let interrupted = Interrupt::catch()?;
        let program = std::env::current_exe().map_err(failed)?;
        let encrypted = Folder::new(&folders[0]).needs_passphrase()?;
        let passphrase = command.passphrase.passphrase.existing(context, encrypted)?;
        let mut nodes = Nodes { children: Vec::new(), interrupted };
        for folder in folders {
            let mut process = Process::new(&program);
            process.args(["node", "run", "--threads", "2"]).arg(folder).stdin(Stdio::null());
            if let Some(passphrase) = &passphrase {
                process.env("TETRALITH_PASSPHRASE", passphrase.as_str());
            }
            process.stdout(Stdio::null()).stderr(log(folder)?);
            nodes.children.push(process.spawn().map_err(failed)?);
        }
        Ok(nodes)
    }

    /// Fails when a node ended, or when the user wants an end.
    fn check(&mut self) -> Outcome {
        if self.interrupted.came() {
            return Err(Failure::new(Exit::Environment, "cluster.interrupted", "interrupted"));
        }
        for (i, child) in self.children.iter_mut().enumerate() {
            if let Ok(Some(status)) = child.try_wait() {
                let message = format!("node-{} ended: {status}", i + 1);
                return Err(Failure::new(Exit::Environment, "cluster.node", message)
                    .hint("the node's folder has its log, node.log"));
            }
        }
        Ok(())
    }

    /// Waits until interrupted; a node that ends is the user's doing and stops nothing.
    fn wait(&self) -> Outcome {
        while !self.interrupted.came() {
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for child in &mut self.children {
            // What has ended cannot be killed again.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The file that a node's log is appended to.
fn log(folder: &Path) -> Outcome<std::fs::File> {
    let path = folder.join("node.log");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    file.map_err(|error| Failure::file(&path, &error))
}
