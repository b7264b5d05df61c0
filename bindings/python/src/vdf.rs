//! Sequential squaring, proofs of it, and time-locks.

use crate::errors::{Kind, error, of_vdf};
use crate::kept::Kept;
use crate::system_rng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tetralith_vdf::timelock::{self, Header};
use tetralith_vdf::{
    Checkpoint, Error, Evaluation, Modulus as N, Next, Options, Progress, Proof, Prover, Residue,
    System,
};

/// An odd modulus of 64 to 8192 bits.
#[pyclass(frozen, module = "tetralith.vdf", name = "Modulus")]
#[derive(Clone)]
struct Modulus(tetralith_vdf::Modulus);

#[pymethods]
impl Modulus {
    /// Reads a preset's name (``rsa2048``) or hexadecimal digits.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        tetralith_vdf::Modulus::parse(text).map(Self).map_err(of_vdf)
    }

    /// Reads a big-endian number.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        tetralith_vdf::Modulus::from_bytes(data).map(Self).map_err(of_vdf)
    }

    /// The number of bits.
    #[getter]
    fn bits(&self) -> u64 {
        self.0.bits()
    }

    /// The length in bytes of every number modulo N.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    /// The number in big-endian bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Raises ``MalformedError`` if everybody can skip the delay modulo this number.
    fn check_provable(&self) -> PyResult<()> {
        self.0.check_provable().map_err(of_vdf)
    }

    fn __repr__(&self) -> String {
        format!("<tetralith.vdf.Modulus of {} bits>", self.0.bits())
    }
}

/// Tells Python of progress, and stops for what Python raises, Ctrl-C among it.
struct Watch<'a> {
    progress: Option<&'a Py<PyAny>>,
    told: Instant,
    raised: Option<PyErr>,
}

/// Between two calls of `progress`.
const PAUSE: Duration = Duration::from_millis(100);

impl<'a> Watch<'a> {
    fn new(progress: Option<&'a Py<PyAny>>) -> Self {
        Watch { progress, told: Instant::now(), raised: None }
    }

    fn step(&mut self, now: Progress) -> ControlFlow<()> {
        let due = now.done == now.iterations || self.told.elapsed() >= PAUSE;
        let called = Python::attach(|py| {
            py.check_signals()?;
            match self.progress {
                Some(progress) if due => {
                    self.told = Instant::now();
                    progress.call1(py, (now.done, now.iterations)).map(drop)
                }
                _ => Ok(()),
            }
        });
        match called {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// The result of a watched run: what Python raised goes before what the library says.
    fn end<T>(self, result: Result<T, Error>) -> PyResult<T> {
        result.map_err(|failed| self.raised.unwrap_or_else(|| of_vdf(failed)))
    }
}

/// What is squared: the element that the seed is hashed to, or the number that it is.
fn input(modulus: &Modulus, seed: &[u8], raw: bool, iterations: u64) -> Residue {
    if raw { modulus.0.reduce(seed).0 } else { modulus.0.hash_to_element(iterations, seed) }
}

/// y = x^(2^iterations) mod N, as wide as N.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn vdf_eval<'py>(
    py: Python<'py>,
    modulus: &Modulus,
    seed: &[u8],
    raw: bool,
    iterations: u64,
    progress: Option<Py<PyAny>>,
    checkpoint: Option<PathBuf>,
    save_every: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let x = input(modulus, seed, raw, iterations);
    let kept = checkpoint.map(|path| Kept::claim(&path, save_every)).transpose()?;
    let mut watch = Watch::new(progress.as_ref());
    let y = py.detach(|| {
        let y = begun(kept.as_ref(), &modulus.0, &x, iterations)
            .and_then(|evaluation| squared(evaluation, &mut watch, kept));
        watch.end(y)
    })?;
    Ok(PyBytes::new(py, &y.to_bytes()))
}

/// Goes on from the checkpoint where there is one, else begins.
fn begun(
    kept: Option<&(Kept, std::fs::File)>,
    modulus: &N,
    x: &Residue,
    iterations: u64,
) -> Result<Evaluation, Error> {
    let found = match kept {
        Some((kept, _)) => Checkpoint::load(kept.path())?,
        None => None,
    };
    let Some((checkpoint, _)) = found else { return Evaluation::new(modulus, x, iterations) };
    checkpoint.expect(modulus, x, iterations)?;
    Evaluation::resume(&checkpoint)
}

/// Squares to the end. The state is saved from time to time, when it is stopped, and at the end.
fn squared(
    mut evaluation: Evaluation,
    watch: &mut Watch<'_>,
    mut kept: Option<(Kept, std::fs::File)>,
) -> Result<Residue, Error> {
    let save = |evaluation: &mut Evaluation, kept: &Option<(Kept, _)>| match kept {
        Some((kept, _)) => evaluation.checkpoint()?.0.save(kept.path()),
        None => Ok(()),
    };
    loop {
        if let Some(y) = evaluation.result() {
            save(&mut evaluation, &kept)?;
            return Ok(y);
        }
        let now = evaluation.advance(tetralith_vdf::eval::CHECK_EVERY)?;
        if watch.step(now).is_break() {
            save(&mut evaluation, &kept)?;
            return Err(Error::Cancelled);
        }
        if kept.as_mut().is_some_and(|(kept, _)| kept.is_due()) {
            save(&mut evaluation, &kept)?;
        }
    }
}

fn system(name: &str) -> PyResult<System> {
    let all = [System::Wesolowski, System::Segmented, System::Pietrzak];
    all.into_iter().find(|system| system.name() == name).ok_or_else(|| {
        let message = format!("no proof system is called {name:?}");
        let hint = "use wesolowski, n-wesolowski or pietrzak";
        error(Kind::Malformed, "usage.arguments", message, Some(hint))
    })
}

/// y and the encoded proof.
#[pyfunction]
#[allow(clippy::type_complexity, clippy::too_many_arguments)]
fn vdf_prove<'py>(
    py: Python<'py>,
    modulus: &Modulus,
    seed: &[u8],
    raw: bool,
    iterations: u64,
    system_name: &str,
    memory: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
    checkpoint: Option<PathBuf>,
    save_every: f64,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let system = system(system_name)?;
    let x = input(modulus, seed, raw, iterations);
    let options = Options { memory, threads, ..Options::default() };
    let mut kept = checkpoint.map(|path| Kept::claim(&path, save_every)).transpose()?;
    let path = kept.as_ref().map(|(kept, _)| kept.path().to_owned());
    let mut watch = Watch::new(progress.as_ref());
    let (y, proof) = py.detach(|| {
        let mut next = |now| match watch.step(now) {
            ControlFlow::Break(()) => Next::Stop,
            _ if kept.as_mut().is_some_and(|(kept, _)| kept.is_due()) => Next::Save,
            _ => Next::GoOn,
        };
        let run = Prover::new(system, &modulus.0, &x, iterations, options)
            .and_then(|mut prover| prover.run_kept(path.as_deref(), &mut next));
        watch.end(run)
    })?;
    Ok((PyBytes::new(py, &y.to_bytes()), PyBytes::new(py, &proof.to_bytes())))
}

/// Checks a proof and that it is of the expected statement.
#[pyfunction]
fn vdf_verify(
    py: Python<'_>,
    proof: &[u8],
    modulus: &Modulus,
    seed: &[u8],
    raw: bool,
    iterations: u64,
    y: Option<&[u8]>,
) -> PyResult<()> {
    let x = input(modulus, seed, raw, iterations);
    let modulus = &modulus.0;
    let y: Option<Residue> = y.map(|y| modulus.decode(y, "y")).transpose().map_err(of_vdf)?;
    let verified = py.detach(|| {
        let proof = Proof::from_bytes_modulo(proof, modulus)?;
        proof.expect_input(&x)?;
        proof.expect_iterations(iterations)?;
        y.map_or(Ok(()), |y| proof.expect_output(&y))?;
        proof.verify()
    });
    verified.map_err(of_vdf)
}

/// Seals bytes for a number of squarings.
#[pyfunction]
fn vdf_seal<'py>(
    py: Python<'py>,
    file: &[u8],
    iterations: u64,
    bits: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut sealed = Vec::new();
    let made =
        py.detach(|| timelock::seal(&mut &*file, &mut sealed, iterations, bits, &mut system_rng()));
    made.map_err(of_vdf)?;
    Ok(PyBytes::new(py, &sealed))
}

/// Opens sealed bytes, however long that takes.
#[pyfunction]
fn vdf_open<'py>(
    py: Python<'py>,
    sealed: &[u8],
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut watch = Watch::new(progress.as_ref());
    let file = py.detach(|| {
        let mut chunks = sealed;
        let opened = Header::read(&mut chunks).and_then(|header| {
            header.file_len(sealed.len() as u64)?;
            let y = squared(header.evaluation()?, &mut watch, None)?;
            let mut file = Vec::new();
            header.open(&y, &mut chunks, &mut file).map(|_| file)
        });
        watch.end(opened)
    })?;
    Ok(PyBytes::new(py, &file))
}

/// Removes the files of a checkpoint.
#[pyfunction]
fn vdf_forget(path: PathBuf) -> PyResult<()> {
    let (kept, _lock) = Kept::claim(&path, 0.0)?;
    Prover::forget(kept.path()).map_err(of_vdf)
}

/// The squarings that a sealed file takes to open.
#[pyfunction]
fn vdf_sealed_iterations(sealed: &[u8]) -> PyResult<u64> {
    Header::read(&mut &*sealed).map(|header| header.iterations()).map_err(of_vdf)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Modulus>()?;
    module.add_function(wrap_pyfunction!(vdf_eval, module)?)?;
    module.add_function(wrap_pyfunction!(vdf_prove, module)?)?;
    module.add_function(wrap_pyfunction!(vdf_verify, module)?)?;
    module.add_function(wrap_pyfunction!(vdf_forget, module)?)?;
    module.add_function(wrap_pyfunction!(vdf_seal, module)?)?;
    module.add_function(wrap_pyfunction!(vdf_open, module)?)?;
    module.add_function(wrap_pyfunction!(vdf_sealed_iterations, module)?)
}
