//! Failures, each with the stable dotted code that the command prints.

use wasm_bindgen::JsValue;

/// The kinds of failure, as the command's exit codes tell them apart.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // A module of one primitive has not all of them.
pub enum Kind {
    /// Well formed, and not valid.
    Verification,
    /// The input is malformed, or an argument is wrong.
    Malformed,
    /// The machine, or the caller's interruption.
    Environment,
    /// The durable state refuses.
    State,
    /// Another party failed.
    Peer,
}

/// What a function throws: five lines of text, which `package/errors.js` takes apart.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    code: &'static str,
    hint: &'static str,
    suspects: Vec<u8>,
    message: String,
}

impl Failure {
    pub fn new(kind: Kind, code: &'static str, message: impl ToString) -> Self {
        Failure { kind, code, hint: "", suspects: Vec::new(), message: message.to_string() }
    }

    pub fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    #[cfg(feature = "tss")]
    pub fn suspects(mut self, suspects: Vec<u8>) -> Self {
        self.suspects = suspects;
        self
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> JsValue {
        let kind = match failure.kind {
            Kind::Verification => "verification",
            Kind::Malformed => "malformed",
            Kind::Environment => "environment",
            Kind::State => "state",
            Kind::Peer => "peer",
        };
        let suspects: Vec<String> = failure.suspects.iter().map(u8::to_string).collect();
        let Failure { code, hint, message, .. } = &failure;
        let lines = [kind, code, hint, &suspects.join(","), message];
        JsValue::from_str(&lines.join("\n"))
    }
}

/// The kind of failure that a library's exit code stands for.
fn kind(exit: u8) -> Kind {
    match exit {
        1 => Kind::Verification,
        2 => Kind::Malformed,
        4 => Kind::State,
        5 => Kind::Peer,
        _ => Kind::Environment,
    }
}

#[cfg(feature = "vrf")]
impl From<tetralith_vrf::Error> for Failure {
    fn from(failed: tetralith_vrf::Error) -> Self {
        Failure::new(kind(failed.exit_code()), failed.code(), failed)
    }
}

#[cfg(feature = "xmss")]
impl From<tetralith_xmss::Error> for Failure {
    fn from(failed: tetralith_xmss::Error) -> Self {
        if let tetralith_xmss::Error::State(refused) = &failed {
            return of_state(refused);
        }
        Failure::new(kind(failed.exit_code()), failed.code(), failed)
    }
}

/// A refusal of a state, with the command's code.
#[cfg(feature = "xmss")]
fn of_state(refused: &tetralith_xmss::state::StateError) -> Failure {
    use tetralith_xmss::state::StateError;
    const RESTORE: &str =
        "call Signer.restore with an index above every index that any copy of the key used";
    let hint = match refused {
        StateError::Exhausted { .. } => "make a new key",
        StateError::Missing
        | StateError::Copied
        | StateError::RolledBack { .. }
        | StateError::Damaged(_) => RESTORE,
        StateError::Backward { .. } => "choose an index above every index used",
        StateError::PastEnd { .. } => "name an index below the end",
        StateError::OtherKey => "give the store of this key",
        StateError::Exists => "choose another store",
        StateError::Conflict { .. } => "open the key again",
        _ => "",
    };
    Failure::new(kind(refused.exit_code()), refused.code(), refused).hint(hint)
}

#[cfg(feature = "vdf")]
impl From<tetralith_vdf::Error> for Failure {
    fn from(failed: tetralith_vdf::Error) -> Self {
        Failure::new(kind(failed.exit_code()), failed.code(), failed)
    }
}

#[cfg(feature = "tss")]
impl From<tetralith_tss::engine::Error> for Failure {
    fn from(failed: tetralith_tss::engine::Error) -> Self {
        Failure::new(kind(failed.exit_code()), failed.code(), failed)
    }
}
