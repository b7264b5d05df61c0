//! `tetralith tss`: threshold keys and signatures, by asking a node's API.

mod blame;
mod client;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{Access, Output};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

pub(crate) use client::Client;

/// The verbs of `tetralith tss`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    /// Make a key that any T of the nodes can sign with
    Keygen(Keygen),
    /// Sign a file's SHA-256 digest, or a digest, with a quorum of nodes
    Sign(Sign),
    /// Approve a digest at one node, so that it helps to sign it when another proposes it
    Approve(Approve),
    /// Give a key's nodes new shares, and one that lost its share a share again; the key stays the same
    Refresh(Refresh),
    /// Give other nodes shares of a key, or change how many sign; the key stays the same
    Reshare(Reshare),
    /// Approve at one node that it helps to share a key among other nodes
    ApproveReshare(Reshare),
    /// Delete a node's share of a key for good
    Delete(Delete),
    /// List the keys that a node has a share of
    Keys(OfNode),
    /// List a node's latest ceremonies
    Ceremonies(OfNode),
    /// List whom failed ceremonies blame, who says so, and with what evidence
    Blame(Blame),
    /// Check a proof of blame: no node, key or configuration is needed
    VerifyBlame(VerifyBlame),
}

/// Which node is asked.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct OfNode {
    /// The folder of the node to ask: it names the API's address and holds its token
    #[arg(long, value_name = "FOLDER", required_unless_present = "url")]
    node: Option<PathBuf>,
    /// The API of the node to ask, such as `https://sign.example:7200`, instead of the folder's
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The file with the token [default: the environment's TETRALITH_TOKEN, else the folder's api.token]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificates in PEM of who may have signed the node's [default: the folder's, else the system's]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// This client's certificate in PEM, for a node that wants one
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_certificate: Option<PathBuf>,
    /// The private key of it in PEM
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    client_key: Option<PathBuf>,
}

/// Makes a key.
#[derive(clap::Args, Debug)]
pub(crate) struct Keygen {
    #[command(flatten)]
    of: OfNode,
    /// Number of nodes that a signature needs
    #[arg(short, long, value_name = "T")]
    threshold: u8,
    /// The nodes that get a share, by name [default: the node and all its peers]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    parties: Option<Vec<String>>,
}

/// What is to be signed.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct What {
    /// The file whose SHA-256 digest is signed; `-` is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The digest itself, 32 bytes
    #[arg(long, value_name = "HEX")]
    digest: Option<String>,
}

/// Signs.
#[derive(clap::Args, Debug)]
pub(crate) struct Sign {
    #[command(flatten)]
    of: OfNode,
    /// The key's name, as `tss keys` lists it [default: the node's only key]
    #[arg(short, long, value_name = "KEY")]
    key: Option<String>,
    #[command(flatten)]
    what: What,
    /// The nodes that may sign, by name [default: all that have a share]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    signers: Option<Vec<String>>,
    /// Write the 65 bytes r, s, recovery number to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file where it exists
    #[arg(long)]
    force: bool,
}

/// Approves.
#[derive(clap::Args, Debug)]
pub(crate) struct Approve {
    #[command(flatten)]
    of: OfNode,
    /// The key's name [default: the node's only key]
    #[arg(short, long, value_name = "KEY")]
    key: Option<String>,
    #[command(flatten)]
    what: What,
}

/// Refreshes.
#[derive(clap::Args, Debug)]
pub(crate) struct Refresh {
    #[command(flatten)]
    of: OfNode,
    /// The key's name, as `tss keys` lists it [default: the node's only key]
    #[arg(value_name = "KEY")]
    key: Option<String>,
}

/// Shares anew.
#[derive(clap::Args, Debug)]
pub(crate) struct Reshare {
    #[command(flatten)]
    of: OfNode,
    /// The key's name, as `tss keys` lists it [default: the node's only key]
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Number of nodes that a signature needs from then on [default: as before]
    #[arg(short, long, value_name = "T")]
    threshold: Option<u8>,
    /// The nodes that have a share from then on, by name [default: as before]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    parties: Option<Vec<String>>,
}

/// Deletes.
#[derive(clap::Args, Debug)]
pub(crate) struct Delete {
    #[command(flatten)]
    of: OfNode,
    /// The key's name, as `tss keys` lists it
    #[arg(value_name = "KEY")]
    key: String,
    /// The key's public key, to confirm that its share is to be deleted
    #[arg(long, value_name = "HEX")]
    public_key: Option<String>,
}

/// Lists blame, or writes a proof.
#[derive(clap::Args, Debug)]
pub(crate) struct Blame {
    #[command(flatten)]
    of: OfNode,
    /// Write the proof of this ceremony's blame to --output instead
    #[arg(long, value_name = "CEREMONY", requires = "output")]
    proof: Option<String>,
    /// The file for the proof
    #[arg(short, long, value_name = "FILE", requires = "proof")]
    output: Option<PathBuf>,
    /// Replace the file where it exists
    #[arg(long)]
    force: bool,
}

/// Checks a proof.
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyBlame {
    /// The proof, as `tss blame --proof` writes it; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs one of them.
pub(crate) fn run(context: Context, command: Command) -> Outcome {
    match command {
        Command::Keygen(command) => keygen(context, &command),
        Command::Sign(command) => sign(context, &command),
        Command::Approve(command) => approve(context, &command),
        Command::Refresh(command) => {
            reshared(context, &Client::of(&command.of)?, command.key.as_deref(), &|_| ())
        }
        Command::Reshare(command) => reshare(context, &command),
        Command::ApproveReshare(command) => approve_reshare(context, &command),
        Command::Delete(command) => delete(context, &command),
        Command::Keys(of) => keys(context, &of),
        Command::Ceremonies(of) => ceremonies(context, &of),
        Command::Blame(command) => blame::list(context, &command),
        Command::VerifyBlame(command) => blame::verify(context, &command),
    }
}

/// A message longer than this is hashed by its owner and given as a digest.
const MAX_MESSAGE: u64 = 1 << 30;

impl What {
    fn digest(&self) -> Outcome<String> {
        match (&self.digest, &self.file) {
            (Some(hex), _) => Ok(hex.trim().to_owned()),
            (None, Some(path)) => {
                Ok(hex::encode(Sha256::digest(crate::io::read(path, MAX_MESSAGE)?)))
            }
            (None, None) => Err(Failure::usage("input.missing", "nothing to sign is given")),
        }
    }
}

fn keygen(context: Context, command: &Keygen) -> Outcome {
    let client = Client::of(&command.of)?;
    let key = client.keygen(command.threshold, command.parties.as_deref())?;
    let text = format!("{}\npublic key {}", text(&key["key"]), text(&key["public_key"]));
    context.answer(text, key)
}

fn sign(context: Context, command: &Sign) -> Outcome {
    let output =
        command.output.as_ref().map(|path| Output { output: path.clone(), force: command.force });
    output.as_ref().map_or(Ok(()), Output::check)?;
    let client = Client::of(&command.of)?;
    let key = client.key(command.key.as_deref())?;
    let mut request = json!({ "key": key, "digest": command.what.digest()? });
    if let Some(signers) = &command.signers {
        request["signers"] = json!(signers);
    }
    let signed = client.post("/v1/sign", &request)?;
    let signature = text(&signed["signature"]);
    if let Some(output) = output {
        output.write(&crate::io::from_hex("the signature", signature)?, Access::Public)?;
    }
    context.answer(signature.to_owned(), signed.clone())
}

fn approve(context: Context, command: &Approve) -> Outcome {
    let client = Client::of(&command.of)?;
    let key = client.key(command.key.as_deref())?;
    let request = json!({ "key": key, "digest": command.what.digest()? });
    let approved = client.post("/v1/approvals", &request)?;
    context.answer(format!("approved {}", text(&approved["digest"])), approved)
}

impl Reshare {
    /// Puts what is to change into a request.
    fn fill(&self, request: &mut Value) {
        if let Some(threshold) = self.threshold {
            request["threshold"] = json!(threshold);
        }
        if let Some(parties) = &self.parties {
            request["parties"] = json!(parties);
        }
    }

    fn check(&self) -> Outcome {
        match self.threshold.is_some() || self.parties.is_some() {
            true => Ok(()),
            false => Err(Failure::usage("reshare.nothing", "nothing is to change")
                .hint("give --threshold or --parties, or run tetralith tss refresh")),
        }
    }
}

fn reshare(context: Context, command: &Reshare) -> Outcome {
    command.check()?;
    let client = Client::of(&command.of)?;
    reshared(context, &client, command.key.as_deref(), &|request| command.fill(request))
}

fn reshared(
    context: Context,
    client: &Client,
    key: Option<&str>,
    fill: &dyn Fn(&mut Value),
) -> Outcome {
    let mut request = json!({ "key": client.key(key)? });
    fill(&mut request);
    let made = client.post("/v1/reshare", &request)?;
    let text = match made["left"] == true {
        true => format!("{} is shared among other nodes", text(&made["key"])),
        false => format!(
            "{}\nsharing {}: {}-of-{}  {}",
            text(&made["key"]),
            made["sharing"],
            made["threshold"],
            list(&made["parties"]).count(),
            names(&made["parties"])
        ),
    };
    context.answer(text, made)
}

fn approve_reshare(context: Context, command: &Reshare) -> Outcome {
    command.check()?;
    let client = Client::of(&command.of)?;
    let mut request = json!({ "key": client.key(command.key.as_deref())? });
    command.fill(&mut request);
    let approved = client.post("/v1/approvals", &request)?;
    context.answer(format!("approved the resharing {}", text(&approved["resharing"])), approved)
}

fn delete(context: Context, command: &Delete) -> Outcome {
    let client = Client::of(&command.of)?;
    let query = command.public_key.as_ref().map(|key| format!("?public_key={key}"));
    let path = format!("/v1/keys/{}{}", command.key, query.unwrap_or_default());
    let deleted = client.delete(&path)?;
    context.answer(format!("deleted the share of {}", text(&deleted["key"])), deleted)
}

fn keys(context: Context, of: &OfNode) -> Outcome {
    let answer = Client::of(of)?.get("/v1/keys")?;
    let lines = list(&answer["keys"]).map(|key| {
        let parties = names(&key["parties"]);
        let of = list(&key["parties"]).count();
        let (id, public) = (text(&key["key"]), text(&key["public_key"]));
        format!("{id}  {}-of-{of}  {public}  {parties}", key["threshold"])
    });
    let lines: Vec<String> = lines.collect();
    context
        .answer(if lines.is_empty() { "no keys".into() } else { lines.join("\n") }, answer.clone())
}

fn ceremonies(context: Context, of: &OfNode) -> Outcome {
    let answer = Client::of(of)?.get("/v1/ceremonies?limit=50")?;
    let lines = list(&answer["ceremonies"]).map(|ceremony| {
        let (id, kind) = (text(&ceremony["id"]), text(&ceremony["kind"]));
        format!("{id}  {kind}  {}  {}", text(&ceremony["state"]), names(&ceremony["participants"]))
    });
    let lines: Vec<String> = lines.collect();
    context.answer(if lines.is_empty() { "none".into() } else { lines.join("\n") }, answer.clone())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn names(parties: &Value) -> String {
    list(parties).map(|party| text(&party["name"])).collect::<Vec<_>>().join(",")
}
