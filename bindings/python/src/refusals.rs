//! Failures of key files and states, with the command's codes and with hints for Python.

use crate::errors::{Kind, error, kind, of_xmss};
use pyo3::prelude::*;
use std::io::ErrorKind;
use tetralith_keyring::Error;
use tetralith_xmss::state::StateError;

pub(crate) fn of_keyring(failed: Error) -> PyErr {
    let message = failed.to_string();
    let told = |kind, code, hint: &str| error(kind, code, &message, Some(hint));
    let (of_kind, code) = (kind(failed.exit_code()), failed.code());
    match failed {
        Error::File { source, .. } if source.kind() == ErrorKind::AlreadyExists => {
            told(Kind::Malformed, "output.exists", "choose another path; keys are never replaced")
        }
        Error::File { .. } => error(Kind::Environment, "io.file", &message, None),
        Error::KeyFile { source, .. } => of_keyfile(&source, &message),
        Error::Kind { .. } => told(Kind::Malformed, "key.kind", "name a key file for xmss"),
        Error::Malformed { .. } => {
            told(Kind::Malformed, "key.malformed", "put the key file back from its backup")
        }
        Error::Key(failed) => of_xmss(failed),
        Error::State { source, .. } => of_state(&source, &message),
        Error::Missing { elsewhere: Some(place), .. } => {
            let hint = format!(
                "give store={place:?}; only if that state is lost, call xmss.restore with an index \
                 above every index used"
            );
            told(Kind::State, "state.missing", &hint)
        }
        Error::Missing { .. } => told(Kind::State, "state.missing", RESTORE),
        Error::Linked { .. } => {
            let hint = "use the key by the name that its state has, or name the state with store=";
            told(Kind::State, "state.linked", hint)
        }
        Error::Foreign { .. } => told(
            Kind::State,
            "state.exists",
            "choose another path; if that key is gone for good, delete its state and its .lock",
        ),
        Error::UnknownStore | Error::NotBuilt(_) => told(Kind::Malformed, "store.url", STORES),
        _ => error(of_kind, code, &message, None),
    }
}

fn of_keyfile(source: &tetralith_keyfile::Error, message: &str) -> PyErr {
    use tetralith_keyfile::Error;
    let (code, hint) = match source {
        Error::WrongPassphrase => (
            "key.passphrase",
            Some("try the passphrase again; a key file that was changed needs its backup"),
        ),
        Error::PassphraseNeeded => ("key.passphrase_needed", Some("give passphrase=")),
        Error::NotEncrypted => ("key.not_encrypted", Some("leave the passphrase out")),
        Error::NoSecret => ("key.no_secret", Some("name the secret key's file")),
        _ => ("key.malformed", None),
    };
    error(Kind::Malformed, code, message, hint)
}

/// A refusal of a state, told in the command's words or with a longer message.
pub(crate) fn of_state(source: &StateError, message: &str) -> PyErr {
    use Kind::{Environment, Malformed, State};
    let (kind, code, hint) = match source {
        StateError::Exhausted { .. } => (State, "state.exhausted", "make a new key"),
        StateError::Ended { .. } => (State, "state.ended", "reserve and restore more"),
        StateError::Url(_) => (Malformed, "store.url", STORES),
        StateError::NotEnough { .. } => (State, "state.not_enough", "ask for fewer"),
        StateError::PastEnd { .. } => (Malformed, "state.past_end", "name an index below the end"),
        StateError::Kind(_) => (Malformed, "store.kind", STORES),
        StateError::Held(_) => (State, "state.locked", "wait for that process, or end it"),
        StateError::Missing | StateError::Copied | StateError::RolledBack { .. } => {
            let code = match source {
                StateError::Missing => "state.missing",
                StateError::Copied => "state.copied",
                _ => "state.rolled_back",
            };
            (State, code, RESTORE)
        }
        StateError::Exists => (State, "state.exists", "choose another path or store"),
        StateError::OtherKey => (State, "state.other_key", "give the store of this key"),
        StateError::Backward { next, .. } => {
            let hint = format!("choose an index of at least {next}, above every index used");
            return error(State, "state.backward", message, Some(&hint));
        }
        StateError::Unnoted { .. } => (State, "state.unnoted", RESTORE),
        StateError::Elsewhere { location } => {
            let hint =
                format!("give store={location:?}; a file without a folder is beside the key");
            return error(State, "state.elsewhere", message, Some(&hint));
        }
        StateError::Conflict { .. } => (State, "state.conflict", "open the key again"),
        StateError::Forked { .. } => (State, "state.forked", "open the key in the child"),
        StateError::Damaged(_) => (State, "state.damaged", RESTORE),
        StateError::Denied(_) => (
            Environment,
            "state.denied",
            "check the user and password in the store's URL; no index was used",
        ),
        _ => (Environment, "io.state", "check that the disk of the state has room and is writable"),
    };
    error(kind, code, message, Some(hint))
}

const RESTORE: &str =
    "call xmss.restore with an index above every index that any copy of the key used";
const STORES: &str = "use sqlite:PATH or file:PATH";
