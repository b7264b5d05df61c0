//! XMSS signing: key files with a durable state, by the rules of `tetralith-keyring`.

use crate::errors::{malformed, of_xmss};
use crate::refusals::of_keyring;
use crate::system_rng;
use crate::watch::watched;
use crate::xmss::PublicKey;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tetralith_keyfile::Protection;
use tetralith_keyring::{Keyring, NewKey, Options, Secret, Store};
use tetralith_xmss::qrl::{Descriptor, ExtendedSeed};
use tetralith_xmss::state::{self, StateError};
use tetralith_xmss::{Params, Seeds};
use zeroize::Zeroizing;

/// Seconds since 1970, for the record; no decision depends on them.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// A passphrase, as Python has it: `bytes`, `str` in UTF-8, or `None`.
#[derive(FromPyObject)]
enum Passphrase {
    Text(PyBackedStr),
    Bytes(Zeroized),
}

/// A copy of bytes that is wiped; Python's own is not.
struct Zeroized(Zeroizing<Vec<u8>>);

impl<'a, 'py> FromPyObject<'a, 'py> for Zeroized {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Zeroizing::new(value.extract::<&[u8]>()?.to_vec())))
    }
}

impl Passphrase {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Passphrase::Text(text) => text.as_bytes(),
            Passphrase::Bytes(bytes) => &bytes.0,
        }
    }
}

fn options(store: Option<String>, wait: f64) -> PyResult<Options> {
    let wait = Duration::try_from_secs_f64(wait).map_err(|_| {
        let message = format!("wait is {wait}, expected seconds from 0");
        malformed("usage.arguments", message, "give a number of seconds that is not negative")
    })?;
    Ok(Options { store, wait, ..Options::default() })
}

/// The counts of a status, for the tuple that Python makes of them.
type Counts = (u64, u64, u64, u64, u64, u64, u64, u64, u64);

fn counts(status: &state::Status) -> Counts {
    let state::Status { limit, until, used, lost, leased, skipped, left, next, epoch, .. } = status;
    (*limit, *until, *used, *lost, *leased, *skipped, *left, *next, *epoch)
}

/// The trees that a key above this height has take long enough to be watched.
const SHORT: u32 = 10;
/// The height of the tallest tree that is computed.
const MAX_HEIGHT: u32 = 20;

/// A key file that is open for signing, with its durable state.
#[pyclass(frozen, module = "tetralith.xmss", name = "NativeSigner")]
struct Signer {
    /// `None` after it was closed. Never waited for while the interpreter is attached: whoever has it
    /// may be waiting for the interpreter.
    signer: Mutex<Option<tetralith_xmss::Signer<Store>>>,
    keyring: Keyring,
    /// The process that opened it.
    owner: u32,
}

impl Signer {
    fn open_with(keyring: Keyring, secret: Secret) -> PyResult<Self> {
        let signer = keyring.sign_with(secret).map_err(of_keyring)?;
        Ok(Self { signer: Mutex::new(Some(signer)), keyring, owner: std::process::id() })
    }

    /// Does something with the open signer, detached from the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut tetralith_xmss::Signer<Store>) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        self.check_process()?;
        py.detach(|| {
            let mut signer = self.signer.lock().unwrap_or_else(|error| error.into_inner());
            act(signer.as_mut().ok_or_else(closed)?)
        })
    }

    /// Refuses a forked child before the lock is asked for: a thread that does not exist in the child
    /// may have it.
    fn check_process(&self) -> PyResult<()> {
        if std::process::id() == self.owner {
            return Ok(());
        }
        Err(of_keyring(StateError::Forked { owner: self.owner }.into()))
    }
}

fn closed() -> PyErr {
    malformed("usage.arguments", "the signer is closed", "open the key again")
}

impl Drop for Signer {
    fn drop(&mut self) {
        // The child of a fork must not touch its parent's database, not even to close it.
        if std::process::id() != self.owner
            && let Ok(signer) = self.signer.get_mut()
        {
            core::mem::forget(signer.take());
        }
    }
}

#[pymethods]
impl Signer {
    /// Opens a key file and its state.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<Passphrase>,
        store: Option<String>,
        wait: f64,
    ) -> PyResult<Self> {
        let options = options(store, wait)?;
        py.detach(|| {
            let keyring = Keyring::open(&path, &options).map_err(of_keyring)?;
            let secret = keyring.secret(passphrase.as_ref().map(Passphrase::as_bytes));
            Self::open_with(keyring, secret.map_err(of_keyring)?)
        })
    }

    /// Makes a key, writes it with its state, and opens it.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<Passphrase>,
        params: &str,
        store: Option<String>,
        wait: f64,
        qrl_seed: Option<QrlSeed>,
        resume_at: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = options(store, wait)?;
        let (seeds, qrl) = draw(params, qrl_seed)?;
        check_free(&path)?;
        let key = watched(py, progress.as_ref(), |progress| seeds.build(progress))?;
        let secret = Secret { key, qrl };
        py.detach(|| {
            let protection = passphrase.as_ref().map_or(Protection::None, |passphrase| {
                Protection::Passphrase(passphrase.as_bytes())
            });
            let mut new = NewKey::new(&secret, protection);
            new.resume_at = resume_at;
            let made = Keyring::create(&path, &options, new, now(), &mut system_rng());
            Self::open_with(made.map_err(of_keyring)?, secret)
        })
    }

    /// Signs a message with the next index, which is spent durably before.
    fn sign<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let signature = self.with(py, |signer| {
            if signer.params().tree_height() > SHORT {
                Python::attach(|py| watched(py, None, |progress| signer.prepare(progress)))?;
            }
            signer.sign(message, now()).map_err(of_xmss)
        })?;
        Ok(PyBytes::new(py, &signature))
    }

    /// Computes, or reads, the trees that the next signature needs.
    fn prepare(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        self.with(py, |signer| {
            let prepare = |step: &tetralith_xmss::Progress<'_>| signer.prepare(step);
            Python::attach(|py| watched(py, progress.as_ref(), prepare))
        })
    }

    /// Leases indices, so that the next signatures need no commit: the first, and the one after the last.
    fn reserve(&self, py: Python<'_>, count: u64) -> PyResult<(u64, u64)> {
        self.with(py, |signer| {
            let lease = signer.reserve(count, now()).map_err(of_xmss)?;
            Ok((lease.range.start, lease.range.end))
        })
    }

    fn status(&self, py: Python<'_>) -> PyResult<Counts> {
        self.with(py, |signer| Ok(counts(&signer.status())))
    }

    /// The number of signatures that this signer can still make: leased here, or not leased at all.
    #[getter]
    fn left(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |signer| Ok(signer.left()))
    }

    #[getter]
    fn public_key(&self) -> PublicKey {
        PublicKey(self.keyring.public_key().clone())
    }

    /// Accounts for what was leased. Closing again does nothing, and in a forked child neither does this.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.check_process().is_err() {
            return Ok(());
        }
        py.detach(|| {
            let mut signer = self.signer.lock().unwrap_or_else(|error| error.into_inner());
            let closed = signer.take().map(|signer| signer.close(now()));
            closed.transpose().map(drop).map_err(of_xmss)
        })
    }

    fn __repr__(&self) -> String {
        format!("<tetralith.xmss.Signer of {}>", self.keyring.public_key().params())
    }
}

/// A QRL seed as its 51 bytes, or as its 34 words.
#[derive(FromPyObject)]
enum QrlSeed {
    Words(PyBackedStr),
    Bytes(Zeroized),
}

/// Draws the seeds of a new key, or takes QRL's.
fn draw(params: &str, given: Option<QrlSeed>) -> PyResult<(Seeds, Option<ExtendedSeed>)> {
    let qrl = match given {
        Some(QrlSeed::Words(words)) => Some(ExtendedSeed::from_mnemonic(&words).map_err(of_xmss)?),
        Some(QrlSeed::Bytes(bytes)) => Some(ExtendedSeed::from_bytes(&bytes.0).map_err(of_xmss)?),
        None => None,
    };
    if let Some(qrl) = qrl {
        check_height(qrl.descriptor().params())?;
        return Ok((qrl.seeds(), Some(qrl)));
    }
    let params = Params::from_name(params).map_err(of_xmss)?;
    check_height(params)?;
    if params.oid().is_some() {
        return Ok((Seeds::generate(params, &mut system_rng()), None));
    }
    let descriptor = Descriptor::new(params.hash(), params.height() as u8).map_err(of_xmss)?;
    let mut seed = Zeroizing::new([0; 48]);
    rand_core::Rng::fill_bytes(&mut system_rng(), &mut *seed);
    let qrl = ExtendedSeed::new(descriptor, &seed);
    Ok((qrl.seeds(), Some(qrl)))
}

fn check_height(params: Params) -> PyResult<()> {
    if params.tree_height() <= MAX_HEIGHT {
        return Ok(());
    }
    Err(of_xmss(tetralith_xmss::Error::TooTall(params)))
}

/// Refuses a name that is taken before a key is computed for it; the keyring looks again.
fn check_free(path: &Path) -> PyResult<()> {
    if !path.exists() {
        return Ok(());
    }
    let source = std::io::ErrorKind::AlreadyExists.into();
    Err(of_keyring(tetralith_keyring::Error::File { path: path.to_owned(), source }))
}

/// The counts of a key that is not opened for signing, and why it would not sign, if so.
#[pyfunction]
fn xmss_status(
    py: Python<'_>,
    path: PathBuf,
    store: Option<String>,
) -> PyResult<(Counts, Option<PyErr>)> {
    let options = options(store, 0.0)?;
    let found = py.detach(|| Keyring::open(&path, &options)?.status()).map_err(of_keyring)?;
    Ok((counts(&found.status), found.refused.map(|refused| of_keyring(refused.into()))))
}

/// Makes a state usable from an index on.
#[pyfunction]
fn xmss_restore(
    py: Python<'_>,
    path: PathBuf,
    resume_at: u64,
    store: Option<String>,
    wait: f64,
) -> PyResult<Counts> {
    let options = options(store, wait)?;
    let restored = py.detach(|| {
        Keyring::open(&path, &options)?.restore(resume_at, None, now(), &mut system_rng())
    });
    Ok(counts(&restored.map_err(of_keyring)?))
}

/// The public key of a key file.
#[pyfunction]
fn xmss_public_key(path: PathBuf) -> PyResult<PublicKey> {
    let keyring = Keyring::open(&path, &Options::default()).map_err(of_keyring)?;
    Ok(PublicKey(keyring.public_key().clone()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Signer>()?;
    module.add_function(wrap_pyfunction!(xmss_status, module)?)?;
    module.add_function(wrap_pyfunction!(xmss_restore, module)?)?;
    module.add_function(wrap_pyfunction!(xmss_public_key, module)?)
}
