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

pub(crate) fn of_vrf(failed: tetralith_vrf::Error) -> PyErr {
    use tetralith_vrf::Error;
    let (kind, code) = match &failed {
        Error::Invalid => (Kind::Verification, "verification.failed"),
        Error::UnknownSuite(_) | Error::SuiteMismatch { .. } => (Kind::Malformed, "input.suite"),
        Error::Length { .. } => (Kind::Malformed, "input.length"),
        _ => (Kind::Malformed, "input.malformed"),
    };
    error(kind, code, failed, None)
}

pub(crate) fn of_xmss(failed: tetralith_xmss::Error) -> PyErr {
    use tetralith_xmss::Error;
    if let Error::State(refused) = &failed {
        return of_state(refused, &failed.to_string());
    }
    let (kind, code) = match &failed {
        Error::Verification => (Kind::Verification, "verification.failed"),
        Error::UnknownOid { .. } | Error::UnknownParams(_) => (Kind::Malformed, "input.params"),
        Error::Length { .. } => (Kind::Malformed, "input.length"),
        Error::Cancelled => (Kind::Environment, "interrupted"),
        Error::Fault => (Kind::Environment, "machine.faulty"),
        Error::Cache(_) | Error::Partial(_) => (Kind::Environment, "io.file"),
        _ => (Kind::Malformed, "input.malformed"),
    };
    error(kind, code, failed, None)
}

pub(crate) fn of_vdf(failed: tetralith_vdf::Error) -> PyErr {
    use tetralith_vdf::Error;
    let (kind, code) = match &failed {
        Error::Invalid
        | Error::Sealed
        | Error::SealedChunk { .. }
        | Error::SealedEnds { .. }
        | Error::NotResidue { .. } => (Kind::Verification, "verification.failed"),
        Error::OtherModulus
        | Error::OtherInput
        | Error::OtherOutput
        | Error::OtherIterations { .. } => (Kind::Verification, "verification.other_statement"),
        Error::CheckpointOther(_) => (Kind::State, "state.checkpoint"),
        Error::CheckpointMemory => (Kind::State, "state.memory"),
        Error::CheckpointDamaged(_) => (Kind::Environment, "checkpoint.damaged"),
        Error::Faulty(_) => (Kind::Environment, "machine.faulty"),
        Error::Cancelled => (Kind::Environment, "interrupted"),
        Error::Io(_) => (Kind::Environment, "io.file"),
        Error::Hex { .. } => (Kind::Malformed, "input.hex"),
        Error::ModulusZero
        | Error::ModulusOne
        | Error::ModulusEven
        | Error::ModulusSize { .. }
        | Error::ModulusPrime
        | Error::ModulusSmallFactor
        | Error::ModulusPower { .. }
        | Error::ModulusSpecial { .. }
        | Error::ModulusPublished { .. } => (Kind::Malformed, "input.modulus"),
        _ => (Kind::Malformed, "input.malformed"),
    };
    error(kind, code, failed, None)
}

pub(crate) fn of_tss(failed: tetralith_tss::engine::Error) -> PyErr {
    use tetralith_tss::engine::Error;
    let code = match &failed {
        Error::InvalidArgument(_) => "usage.arguments",
        Error::Message(_) => "message.refused",
        _ => "input.malformed",
    };
    error(Kind::Malformed, code, failed, None)
}
