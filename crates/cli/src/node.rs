//! `tetralith node`: make a node's folder, and run the node.

mod events;
mod token;
mod top;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::passphrase::{NewPassphraseArgs, PassphraseArgs};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tetralith_keyfile::{Cost, Protection};
use tetralith_node::config::{Clients, Config, Limits, Peer, Policy, SignPolicy, Timeouts};
use tetralith_node::folder::Folder;
use tetralith_node::{Ecdsa, Error, Node};

/// The verbs of `tetralith node`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    /// Make a node's folder: identity, API token and configuration
    Init(Init),
    /// Run the node of a folder until it is interrupted
    Run(Run),
    /// Make a token of the API with the roles that it needs, or list or remove tokens
    Token(token::Token),
    /// Watch a node: peers, keys, ceremonies as they run, and blame
    Top(top::Command),
}

/// Makes a folder.
#[derive(clap::Args, Debug)]
pub(crate) struct Init {
    /// The folder, which need not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// What people call the node
    #[arg(long, default_value = "node")]
    name: String,
    /// Where peers connect
    #[arg(long, value_name = "MULTIADDR", default_value = "/ip4/0.0.0.0/tcp/7100")]
    listen: String,
    /// Where the HTTP API listens; beyond loopback node.toml needs clients.tls
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:7200")]
    api: String,
    /// A peer as NAME=IDENTITY@MULTIADDR; may be given again, or added to node.toml later
    #[arg(long = "peer", value_name = "PEER")]
    peers: Vec<String>,
    #[command(flatten)]
    passphrase: NewPassphraseArgs,
}

/// Runs a node.
#[derive(clap::Args, Debug)]
pub(crate) struct Run {
    /// The node's folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// Runs one of them.
pub(crate) fn run(context: Context, command: Command) -> Outcome {
    match command {
        Command::Init(command) => init(context, &command),
        Command::Run(command) => run_node(context, &command),
        Command::Token(command) => token::run(context, &command),
        Command::Top(command) => top::run(context, &command),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Config { .. } => Failure::usage("config.invalid", message)
                .hint("fix node.toml; docs/node.md lists its fields"),
            Error::KeyFile { source, .. } => Failure { message, ..source.into() },
            Error::Malformed { .. } => Failure::usage("input.malformed", message),
            Error::Exposed { path, .. } => crate::io::exposed(&path, message),
            Error::Exists(_) => Failure::new(Exit::Environment, "io.exists", message)
                .hint("choose another folder: an identity is never replaced"),
            Error::Listen { .. } => Failure::new(Exit::Environment, "io.listen", message)
                .hint("is another program using the port? node.toml names it"),
            Error::Log(_) => Failure::new(Exit::Environment, "io.database", message),
            _ => Failure::new(Exit::Environment, "io.file", message),
        }
    }
}

fn init(context: Context, command: &Init) -> Outcome {
    let passphrase = command.passphrase.for_new(context)?;
    let peers: Outcome<Vec<Peer>> = command.peers.iter().map(|text| peer(text)).collect();
    let config = configuration(&command.name, &command.listen, &command.api, peers?)?;
    let id = create(&command.folder, passphrase.protection(), &config)?;
    let text = format!("{id}\n{} names its peers", command.folder.join("node.toml").display());
    context.answer(text, json!({ "id": id, "folder": command.folder, "name": command.name }))
}

/// Makes a node's folder with this configuration, and returns the node's identity.
pub(crate) fn create(
    folder: &Path,
    protection: Protection<'_>,
    config: &Config,
) -> Outcome<String> {
    // What is written must be readable: the checks of reading are made before anything exists.
    Config::from_toml(&config.to_toml())?;
    let folder = Folder::new(folder);
    let identity = folder.create(protection, Cost::STANDARD, &mut crate::random::system())?;
    folder.write_config(config)?;
    Ok(identity.id().to_string())
}

/// A configuration with the standard limits.
pub(crate) fn configuration(
    name: &str,
    listen: &str,
    api: &str,
    peers: Vec<Peer>,
) -> Outcome<Config> {
    let wrong = |field: &str, text: &str, error: &dyn std::fmt::Display| {
        Failure::usage("config.invalid", format!("{field} {text:?}: {error}"))
    };
    Ok(Config {
        name: name.to_owned(),
        listen: listen.parse().map_err(|error| wrong("--listen", listen, &error))?,
        api: api.parse().map_err(|error| wrong("--api", api, &error))?,
        api_hosts: Vec::new(),
        timeouts: Timeouts::default(),
        limits: Limits::default(),
        policy: Policy { sign: SignPolicy::Approved, ..Policy::default() },
        clients: Clients::default(),
        peers,
    })
}

/// Reads `NAME=IDENTITY@MULTIADDR`.
fn peer(text: &str) -> Outcome<Peer> {
    let malformed = |what: &str| {
        let message = format!("--peer {text:?}: {what}");
        Failure::usage("config.peer", message).hint("write NAME=IDENTITY@MULTIADDR")
    };
    let (name, rest) = text.split_once('=').ok_or_else(|| malformed("no = after the name"))?;
    let (id, address) = rest.split_once('@').ok_or_else(|| malformed("no @ after the identity"))?;
    Ok(Peer {
        name: name.to_owned(),
        id: id.parse().map_err(|_| malformed("the identity is malformed"))?,
        address: address.parse().map_err(|_| malformed("the address is malformed"))?,
    })
}

fn run_node(context: Context, command: &Run) -> Outcome {
    let limited = (!context.quiet).then(events::start);
    let folder = Folder::new(&command.folder);
    let passphrase = command.passphrase.existing(context, folder.needs_passphrase()?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(context.threads)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Environment, "threads.start", error))?;
    runtime.block_on(async move {
        let engine = Arc::new(Ecdsa);
        let mut rng = crate::random::system();
        limited.map(|limited| tokio::spawn(limited.summarize()));
        let given = passphrase.as_ref().map(|text| text.as_bytes());
        let node = Node::start(&folder, given, engine, &mut rng).await?;
        // A running node needs it no more.
        drop(passphrase);
        let fields = json!({
            "id": node.id().to_string(),
            "address": node.address().to_string(),
            "api": node.api().to_string(),
        });
        let text = format!("{} listens on {}, API on {}", node.id(), node.address(), node.api());
        context.answer(text, fields)?;
        crate::interrupt::wait().await?;
        node.stop().await;
        Ok(())
    })
}
