//! What a node agrees to when others propose it.

use serde::{Deserialize, Serialize};

/// Which signatures this node helps to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignPolicy {
    /// Those that its own API has approved: t operators or applications must each agree.
    #[default]
    Approved,
    /// Those that any configured peer proposes: whoever holds one node's API token can sign.
    Peers,
}

/// Whose proposals of new keys this node follows. What its own API asks for is not meant.
///
/// A new key lets nobody sign, for that is another policy; it costs work and a file that stays. So
/// peers may, at a bounded rate: see [`Limits::keygens_per_hour`](super::Limits).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub enum KeygenPolicy {
    /// Those of any configured peer.
    #[default]
    Peers,
    /// Nobody's.
    None,
    /// Those of the peers of these names.
    Only(Vec<String>),
}

impl KeygenPolicy {
    /// Says whether the peer of this name may propose a new key.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        match self {
            KeygenPolicy::Peers => true,
            KeygenPolicy::None => false,
            KeygenPolicy::Only(names) => names.iter().any(|allowed| allowed == name),
        }
    }
}

/// A word, or names.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Word(String),
    Names(Vec<String>),
}

impl TryFrom<Form> for KeygenPolicy {
    type Error = String;

    fn try_from(form: Form) -> Result<Self, String> {
        match form {
            Form::Names(names) => Ok(KeygenPolicy::Only(names)),
            Form::Word(word) if word == "peers" => Ok(KeygenPolicy::Peers),
            Form::Word(word) if word == "none" => Ok(KeygenPolicy::None),
            Form::Word(word) => {
                Err(format!("{word:?} is neither \"peers\" nor \"none\" nor a list of names"))
            }
        }
    }
}

impl From<KeygenPolicy> for Form {
    fn from(policy: KeygenPolicy) -> Self {
        match policy {
            KeygenPolicy::Peers => Form::Word("peers".into()),
            KeygenPolicy::None => Form::Word("none".into()),
            KeygenPolicy::Only(names) => Form::Names(names),
        }
    }
}

/// What a node agrees to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Which signatures it helps to make.
    pub sign: SignPolicy,
    /// Whose proposals of new keys it follows.
    pub keygen: KeygenPolicy,
    /// The least threshold of a new key, whoever asks for it: with a lower one, fewer nodes could sign.
    pub least_threshold: u8,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { sign: SignPolicy::default(), keygen: KeygenPolicy::default(), least_threshold: 2 }
    }
}
