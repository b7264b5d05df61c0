//! The package's exceptions, each with the stable dotted code that the command prints.

use crate::refusals::of_state;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The kinds of failure, as the command's exit codes tell them apart.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Well formed, and not valid.
    Verification,
    /// The input is malformed, or an argument is wrong.
    Malformed,
    /// The machine, a file or the caller's interruption.
    Environment,
    /// The durable state refuses.
    State,
    /// Another party failed.
    Peer,
}

impl Kind {
    fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static CLASSES: [PyOnceLock<Py<PyType>>; 5] = [const { PyOnceLock::new() }; 5];
        let name = match self {
            Kind::Verification => "VerificationError",
            Kind::Malformed => "MalformedError",
            Kind::Environment => "EnvironmentFailure",
            Kind::State => "StateError",
            Kind::Peer => "PeerError",
        };
        CLASSES[self as usize].import(py, "tetralith._errors", name)
    }
}

/// Makes an exception of a kind, or what went wrong while making it.
pub(crate) fn error(kind: Kind, code: &str, message: impl ToString, hint: Option<&str>) -> PyErr {
    let message = message.to_string();
    Python::attach(|py| {
        let made = kind.class(py).and_then(|class| class.call1((message, code, hint)));
        made.map_or_else(|failed| failed, PyErr::from_value)
    })
}

/// A malformed argument, with its hint.
pub(crate) fn malformed(code: &str, message: impl ToString, hint: &str) -> PyErr {
    error(Kind::Malformed, code, message, Some(hint))
}

/// The kind of failure that a library's exit code stands for.
pub(crate) fn kind(exit: u8) -> Kind {
    match exit {
        1 => Kind::Verification,
        2 => Kind::Malformed,
        4 => Kind::State,
        5 => Kind::Peer,
        _ => Kind::Environment,
    }
}

pub(crate) fn of_vrf(failed: tetralith_vrf::Error) -> PyErr {
    error(kind(failed.exit_code()), failed.code(), failed, None)
}

pub(crate) fn of_xmss(failed: tetralith_xmss::Error) -> PyErr {
    if let tetralith_xmss::Error::State(refused) = &failed {
        return of_state(refused, &failed.to_string());
    }
    error(kind(failed.exit_code()), failed.code(), failed, None)
}

pub(crate) fn of_vdf(failed: tetralith_vdf::Error) -> PyErr {
    error(kind(failed.exit_code()), failed.code(), failed, None)
}

pub(crate) fn of_tss(failed: tetralith_tss::engine::Error) -> PyErr {
    error(kind(failed.exit_code()), failed.code(), failed, None)
}
