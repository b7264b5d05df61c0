//! Threshold signatures: one party's side of a run as messages in and out.

use crate::errors::{Kind, error, of_tss};
use crate::system_rng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tetralith_tss::engine::{
    Abort, Error, Outgoing, PartyId, Recipient, Session as Run, SessionId, Threshold,
};
use tetralith_tss::frost::{keygen::FrostKeygen, keys::FrostShare, sign::FrostSign};
use tetralith_tss::keys::KeyShare;
use tetralith_tss::{keygen::Keygen, refresh::Refresh, sign::Sign};
use zeroize::Zeroizing;

/// A run of any protocol, whose output is taken encoded.
trait Encoded: Send {
    fn outgoing(&mut self) -> Vec<Outgoing>;
    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error>;
    fn round(&self) -> u8;
    fn waiting_for(&self) -> Vec<PartyId>;
    fn output(&mut self) -> Option<Result<Zeroizing<Vec<u8>>, Abort>>;
}

/// A run with the encoding of its output.
struct With<S: Run>(S, fn(&S::Output) -> Zeroizing<Vec<u8>>);

impl<S: Run> Encoded for With<S> {
    fn outgoing(&mut self) -> Vec<Outgoing> {
        self.0.outgoing()
    }

    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        self.0.receive(from, bytes)
    }

    fn round(&self) -> u8 {
        self.0.round()
    }

    fn waiting_for(&self) -> Vec<PartyId> {
        self.0.waiting_for()
    }

    fn output(&mut self) -> Option<Result<Zeroizing<Vec<u8>>, Abort>> {
        self.0.take_output().map(|output| output.map(|output| (self.1)(&output)))
    }
}

/// One party's side of a run.
#[pyclass(frozen, module = "tetralith.tss")]
struct Session(Mutex<Box<dyn Encoded>>);

impl Session {
    fn of<S: Run + 'static>(
        run: Result<S, Error>,
        encode: fn(&S::Output) -> Zeroizing<Vec<u8>>,
    ) -> PyResult<Self> {
        let run = run.map_err(of_tss)?;
        Ok(Session(Mutex::new(Box::new(With(run, encode)))))
    }

    /// A panic of another thread leaves a run that refuses messages, which is safe to look at.
    fn run(&self) -> MutexGuard<'_, Box<dyn Encoded>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn party(index: u8) -> PyResult<PartyId> {
    PartyId::new(index).map_err(of_tss)
}

fn parties(indices: &[u8]) -> PyResult<Vec<PartyId>> {
    indices.iter().map(|index| party(*index)).collect()
}

/// As Python wants them: a list of `u8` would become `bytes`.
fn numbers(parties: &[PartyId]) -> Vec<u32> {
    parties.iter().map(|party| party.get().into()).collect()
}

#[pymethods]
impl Session {
    #[staticmethod]
    fn keygen(scheme: &str, id: [u8; 32], me: u8, t: u8, n: u8) -> PyResult<Self> {
        let (id, me, threshold) =
            (SessionId(id), party(me)?, Threshold::new(t, n).map_err(of_tss)?);
        let rng = &mut system_rng();
        match scheme {
            "dkls23" => Self::of(Keygen::new(id, me, threshold, rng), KeyShare::to_bytes),
            _ => Self::of(FrostKeygen::new(id, me, threshold, rng), FrostShare::to_bytes),
        }
    }

    #[staticmethod]
    fn sign(
        scheme: &str,
        id: [u8; 32],
        share: &[u8],
        signers: Vec<u8>,
        message: &[u8],
    ) -> PyResult<Self> {
        let (id, signers, rng) = (SessionId(id), parties(&signers)?, &mut system_rng());
        if scheme == "dkls23" {
            let share = KeyShare::from_bytes(share).map_err(of_tss)?;
            let digest = message.try_into().map_err(|_| {
                let text = format!("a digest of {} bytes, expected 32", message.len());
                let hint = "hash the message first, for example with hashlib.sha256";
                crate::errors::malformed("input.length", text, hint)
            })?;
            let run = Sign::new(id, &share, &signers, digest, rng);
            return Self::of(run, |signature| Zeroizing::new(signature.to_bytes().to_vec()));
        }
        let share = FrostShare::from_bytes(share).map_err(of_tss)?;
        let run = FrostSign::new(id, &share, &signers, message, rng);
        Self::of(run, |signature| Zeroizing::new(signature.to_vec()))
    }

    #[staticmethod]
    fn refresh(id: [u8; 32], share: &[u8]) -> PyResult<Self> {
        let share = KeyShare::from_bytes(share).map_err(of_tss)?;
        let run = Refresh::new(SessionId(id), &share, &mut system_rng());
        Self::of(Ok(run), KeyShare::to_bytes)
    }

    /// The messages that are ready: a recipient, or `None` for all, and the bytes.
    fn outgoing<'py>(&self, py: Python<'py>) -> Vec<(Option<u8>, Bound<'py, PyBytes>)> {
        let messages = py.detach(|| self.run().outgoing());
        let message = |message: Outgoing| {
            let bytes = Zeroizing::new(message.bytes);
            let to = match message.to {
                Recipient::All => None,
                Recipient::One(party) => Some(party.get()),
            };
            (to, PyBytes::new(py, &bytes))
        };
        messages.into_iter().map(message).collect()
    }

    fn receive(&self, py: Python<'_>, from: u8, message: &[u8]) -> PyResult<()> {
        let from = party(from)?;
        py.detach(|| self.run().receive(from, message)).map_err(of_tss)
    }

    #[getter]
    fn round(&self) -> u8 {
        self.run().round()
    }

    #[getter]
    fn waiting_for(&self) -> Vec<u32> {
        numbers(&self.run().waiting_for())
    }

    /// The encoded output once, or `None` while there is none; raises `PeerError` for an abort.
    fn take_output<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let output = self.run().output();
        output.transpose().map_err(aborted).map(|output| Some(PyBytes::new(py, &output?)))
    }
}

/// The exception of a run that ended without output, with the parties among which the fault lies.
fn aborted(abort: Abort) -> PyErr {
    let suspects = match &abort {
        Abort::Blamed(blame) => numbers(&[blame.party]),
        Abort::Unattributed { suspects, .. } => numbers(suspects),
        _ => Vec::new(),
    };
    let hint = "start a new run without the suspects";
    let raised = error(Kind::Peer, "peers.aborted", &abort, Some(hint));
    Python::attach(|py| match raised.value(py).setattr("suspects", suspects) {
        Ok(()) => raised,
        Err(failed) => failed,
    })
}

/// What is public of an encoded share: party, t, n and the group's public key.
#[pyfunction]
fn tss_share_info<'py>(
    py: Python<'py>,
    scheme: &str,
    share: &[u8],
) -> PyResult<(u8, u8, u8, Bound<'py, PyBytes>)> {
    if scheme == "dkls23" {
        let share = KeyShare::from_bytes(share).map_err(of_tss)?;
        let (threshold, key) = (share.public().threshold(), share.public().group_key());
        return Ok((share.me().get(), threshold.t(), threshold.n(), PyBytes::new(py, &key)));
    }
    let share = FrostShare::from_bytes(share).map_err(of_tss)?;
    let (threshold, key) = (share.public().threshold(), share.public().group_key());
    Ok((share.me().get(), threshold.t(), threshold.n(), PyBytes::new(py, &key)))
}

/// Whether a 65-byte signature of DKLs23 is valid for a digest.
#[pyfunction]
fn tss_verify(group_key: [u8; 33], digest: [u8; 32], signature: &[u8]) -> PyResult<bool> {
    let signature = tetralith_tss::sign::Signature::from_bytes(signature).map_err(of_tss)?;
    Ok(signature.verify(&group_key, &digest))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Session>()?;
    module.add_function(wrap_pyfunction!(tss_share_info, module)?)?;
    module.add_function(wrap_pyfunction!(tss_verify, module)?)
}
