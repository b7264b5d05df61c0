//! The keys behind `tetralith.compat.pyqrllib`: made from a seed, with an index in memory and, if the
//! program asked for it, a state in a file.

use crate::errors::of_xmss;
use crate::refusals::of_state;
use crate::system_rng;
use crate::watch::watched;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand_core::Rng;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tetralith_keyring::Options;
use tetralith_xmss::qrl::{self, ExtendedSeed};
use tetralith_xmss::state::{
    self, FileStore, Holder, Reservations, StateError, StateStore, Volatile,
};
use tetralith_xmss::{Error, Signer};
use zeroize::Zeroizing;

/// A QRL key in memory.
#[pyclass(frozen, module = "tetralith.compat.pyqrllib", name = "QrlKey")]
struct QrlKey {
    /// Never waited for while the interpreter is attached.
    signer: Mutex<Signer<Volatile>>,
    seed: ExtendedSeed,
    public: tetralith_xmss::PublicKey,
    /// SK_SEED ‖ SK_PRF ‖ SEED ‖ root.
    secret: Zeroizing<Vec<u8>>,
    /// The durable state, where there is one.
    state: Option<PathBuf>,
    /// The process that made it.
    owner: u32,
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn holder() -> Holder {
    Holder::new(&Options::default().host)
}

fn refused(error: &StateError) -> PyErr {
    of_state(error, &error.to_string())
}

impl QrlKey {
    fn lock(&self) -> PyResult<MutexGuard<'_, Signer<Volatile>>> {
        // Before the lock: a thread that does not exist in a forked child may have it.
        if std::process::id() != self.owner {
            return Err(refused(&StateError::Forked { owner: self.owner }));
        }
        Ok(self.signer.lock().unwrap_or_else(|error| error.into_inner()))
    }

    /// Does something with the durable state, which is made where there is none and locked meanwhile.
    fn durable<T>(
        &self,
        path: &std::path::Path,
        from: u64,
        act: impl FnOnce(&mut Reservations<FileStore>) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let mut store = FileStore::open_within(path, &holder(), Duration::from_secs(10))?;
        if store.load()?.is_none() {
            let mut id = [0; 16];
            system_rng().fill_bytes(&mut id);
            state::create(&mut store, &self.public, from, id, now())?;
        }
        let mut state = Reservations::open(store, &self.public, holder())?;
        if state.upcoming() < from {
            state.resume_at(from, now())?;
        }
        let done = act(&mut state)?;
        state.close(now())?;
        Ok(done)
    }

    /// Moves the index in memory up to one that the durable state says is unused.
    fn follow(&self, signer: &mut Signer<Volatile>) -> Result<(), StateError> {
        let Some(path) = &self.state else { return Ok(()) };
        match FileStore::peek(path) {
            Ok(record) if record.next > signer.status().next => {
                signer.resume_at(record.next, now()).map_err(state_of)
            }
            Ok(_) | Err(StateError::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The refusal in an error of a signer, which has no other kind here.
fn state_of(error: Error) -> StateError {
    match error {
        Error::State(error) => error,
        error => StateError::Io(error.to_string()),
    }
}

#[pymethods]
impl QrlKey {
    #[new]
    /// ``state_of``: called with the address, names the file of the state or returns ``None``.
    fn new(py: Python<'_>, extended_seed: &[u8], state_of: Py<PyAny>) -> PyResult<Self> {
        let seed = ExtendedSeed::from_bytes(extended_seed).map_err(of_xmss)?;
        if seed.descriptor().params().tree_height() > 20 {
            return Err(of_xmss(Error::TooTall(seed.descriptor().params())));
        }
        let key = watched(py, None, |progress| seed.secret_key(progress))?;
        let public = key.public_key();
        let bytes = key.to_bytes();
        let secret = Zeroizing::new(bytes[bytes.len() - 4 * public.params().n()..].to_vec());
        let address = qrl::Address::of(&public).map_err(of_xmss)?.to_string();
        let state = state_of.call1(py, (address,))?.extract::<Option<PathBuf>>(py)?;
        let mut store = Volatile::new();
        state::create(&mut store, &public, 0, [0; 16], now()).map_err(|error| refused(&error))?;
        let signer = Signer::open(key, store, holder()).map_err(of_xmss)?;
        let key = QrlKey {
            signer: Mutex::new(signer),
            seed,
            public,
            secret,
            state,
            owner: std::process::id(),
        };
        py.detach(|| {
            let mut signer = key.lock()?;
            key.follow(&mut signer).map_err(|error| refused(&error))
        })?;
        Ok(key)
    }

    /// Signs with the next index: spent durably before if there is a state, else in memory alone.
    fn sign<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let signature = py.detach(|| {
            let mut signer = self.lock()?;
            let at = signer.status().next;
            if let Some(path) = &self.state {
                let index = self.durable(path, at, |state| {
                    let index = state.upcoming();
                    state.next(1, now()).map(|_| index)
                });
                let index = index.map_err(|error| refused(&error))?;
                signer.resume_at(index, now()).map_err(of_xmss)?;
            }
            signer.sign(message, now()).map_err(of_xmss)
        })?;
        Ok(PyBytes::new(py, &signature))
    }

    /// The index of the next signature.
    fn index(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| {
            let mut signer = self.lock()?;
            self.follow(&mut signer).map_err(|error| refused(&error))?;
            Ok(signer.status().next)
        })
    }

    /// Raises the index of the next signature, also in the durable state.
    fn set_index(&self, py: Python<'_>, index: u64) -> PyResult<()> {
        py.detach(|| {
            let mut signer = self.lock()?;
            if let Some(path) = &self.state {
                let raised = self.durable(path, index, |state| match state.upcoming() {
                    next if next > index => Err(StateError::Backward { asked: index, next }),
                    _ => Ok(()),
                });
                raised.map_err(|error| refused(&error))?;
            }
            signer.resume_at(index, now()).map_err(of_xmss)
        })
    }

    /// Whether indices are committed to a file before they sign.
    fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// ``descriptor ‖ root ‖ SEED``.
    fn public_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &qrl::public_key_to_bytes(&self.public).map_err(of_xmss)?))
    }

    /// ``SK_SEED ‖ SK_PRF ‖ SEED ‖ root``. Python cannot wipe the copy.
    fn expose_secret<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.secret)
    }

    /// ``descriptor ‖ seed``. Python cannot wipe the copy.
    fn expose_seed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.seed.to_bytes())
    }
}

/// QRL's 4096 words, in order.
#[pyfunction]
fn qrl_words() -> Vec<&'static str> {
    qrl::word_list()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<QrlKey>()?;
    module.add_function(wrap_pyfunction!(qrl_words, module)?)
}
