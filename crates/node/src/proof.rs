//! Proofs of blame: a node's own signed messages, which an honest node never signs together.
//!
//! A proof names nobody and claims nothing: everything that it shows follows from the messages and
//! from the sender's signatures on them. So anybody can check one who knows the node's identity.
//!
//! | messages of one node and one ceremony | what they show |
//! |---|---|
//! | two starts that differ | it told the participants different things |
//! | two broadcasts of one round, after the same start, that differ | the same |
//! | broadcasts after the same start that fail a check of the engine | what [`Engine::refute`] says |
//!
//! The start that a message follows contains a fresh random value of every participant. A node that
//! was restored from a backup and runs a ceremony of the same name again follows another start, so
//! that it cannot be convicted by its messages from before.

use crate::engine::Engine;
use crate::wire::{Body, Envelope};
use serde::{Deserialize, Serialize};

/// The most messages of a proof.
const MOST_MESSAGES: usize = 8;
const FORMAT: &str = "tetralith-blame/1";

/// Signed messages that prove a fault of their sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The name of this format.
    format: String,
    /// The envelopes as they were sent, in hex.
    messages: Vec<String>,
}

/// What a proof shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The identity of the node at fault.
    pub peer: String,
    /// The ceremony in which it failed.
    pub ceremony: String,
    /// The round in which it failed; 0 is the start.
    pub round: u8,
    /// What it did.
    pub fault: String,
}

/// Why something is not a proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// It is not of the form of a proof.
    #[error("not a proof of blame: {0}")]
    Malformed(String),
    /// A message is not signed by its sender.
    #[error("messages[{0}]: the signature does not verify")]
    Signature(usize),
    /// The messages are genuine and show no fault.
    #[error("the messages show no fault of their sender: {0}")]
    NoFault(&'static str),
}

impl Proof {
    /// Makes a proof of envelopes, which may show nothing.
    pub(crate) fn new<'a>(envelopes: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let messages = envelopes.into_iter().map(hex::encode).collect();
        Proof { format: FORMAT.to_owned(), messages }
    }

    /// The envelopes.
    pub(crate) fn envelopes(&self) -> Vec<Vec<u8>> {
        self.messages.iter().filter_map(|text| hex::decode(text).ok()).collect()
    }

    /// Reads the JSON of a proof.
    ///
    /// # Errors
    /// [`ProofError::Malformed`] if the text is not a proof in the known format.
    pub fn from_json(text: &[u8]) -> Result<Self, ProofError> {
        let malformed = |error: &dyn ToString| ProofError::Malformed(error.to_string());
        let proof: Proof = serde_json::from_slice(text).map_err(|error| malformed(&error))?;
        if proof.format != FORMAT {
            let reason = format!("format {:?}, expected {FORMAT:?}", proof.format);
            return Err(ProofError::Malformed(reason));
        }
        Ok(proof)
    }

    /// Checks the messages and says what they show; `engine` is the one that the ceremony ran.
    ///
    /// # Errors
    /// The messages do not decode, are not signed by their sender, or show no fault.
    pub fn verify(&self, engine: &dyn Engine) -> Result<Finding, ProofError> {
        if !(1..=MOST_MESSAGES).contains(&self.messages.len()) {
            let reason = format!("{} messages, expected 1 to {MOST_MESSAGES}", self.messages.len());
            return Err(ProofError::Malformed(reason));
        }
        let open = |(index, text): (usize, &String)| {
            let malformed =
                |error: String| ProofError::Malformed(format!("messages[{index}]: {error}"));
            let bytes = hex::decode(text).map_err(|error| malformed(error.to_string()))?;
            Envelope::open(&bytes).map_err(|error| match error {
                crate::wire::WireError::Signature => ProofError::Signature(index),
                other => malformed(other.to_string()),
            })
        };
        let messages: Vec<_> =
            self.messages.iter().enumerate().map(open).collect::<Result<_, _>>()?;
        let first = &messages[0];
        if messages.iter().any(|m| (m.from, m.ceremony) != (first.from, first.ceremony)) {
            return Err(ProofError::NoFault("they are of several senders or ceremonies"));
        }
        // Only a broadcast is the same for everybody.
        if messages.iter().any(|message| message.to.is_some()) {
            return Err(ProofError::NoFault("one was sent to one node only"));
        }
        let (round, fault) = fault(&messages, engine)?;
        Ok(Finding {
            peer: first.from.to_string(),
            ceremony: first.ceremony.to_string(),
            round,
            fault,
        })
    }
}

/// The fault that messages of one sender and ceremony show.
fn fault(messages: &[Envelope], engine: &dyn Engine) -> Result<(u8, String), ProofError> {
    let differ = |a: &Envelope, b: &Envelope| a.receipt.payload_hash != b.receipt.payload_hash;
    if let [a, b] = messages
        && let (Body::Start(_), Body::Start(_)) = (&a.body, &b.body)
    {
        return match differ(a, b) {
            true => Ok((0, "sent two different starts".to_owned())),
            false => Err(ProofError::NoFault("the starts are the same")),
        };
    }
    let protocol = |envelope: &Envelope| match &envelope.body {
        Body::Protocol(message) => Some((message.start, message.bytes.to_vec())),
        _ => None,
    };
    let steps: Option<Vec<_>> = messages.iter().map(protocol).collect();
    let steps = steps.ok_or(ProofError::NoFault("they are neither starts nor broadcasts"))?;
    if steps.iter().any(|(start, _)| *start != steps[0].0) {
        return Err(ProofError::NoFault("they follow different starts"));
    }
    if let [a, b] = messages
        && a.round == b.round
    {
        return match differ(a, b) {
            true => Ok((a.round, "sent two different broadcasts".to_owned())),
            false => Err(ProofError::NoFault("the broadcasts are the same")),
        };
    }
    if !messages.is_sorted_by(|a, b| a.round < b.round) {
        return Err(ProofError::NoFault("they are not in the order of their rounds"));
    }
    let broadcasts: Vec<&[u8]> = steps.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let check = engine.refute(&broadcasts);
    let check = check.ok_or(ProofError::NoFault("the broadcasts pass every public check"))?;
    Ok((messages[messages.len() - 1].round, format!("failed {check}")))
}

#[cfg(test)]
mod tests;
