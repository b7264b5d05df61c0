//! VRF: keys, proofs, and columns of them.

use crate::columns::{Bytes, Column, rows};
use crate::errors::of_vrf;
use crate::system_rng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetralith_vrf::{Error, Output, Proof, Row, SecretKey, Suite};

fn suite(name: &str) -> PyResult<Suite> {
    name.parse().map_err(of_vrf)
}

/// A secret key of one suite, read from its 32 bytes. RFC 9381 §5.5. Wiped when it is freed.
#[pyclass(frozen, module = "tetralith.vrf", name = "SecretKey")]
struct VrfSecretKey(SecretKey);

#[pymethods]
impl VrfSecretKey {
    #[new]
    #[pyo3(signature = (suite, secret))]
    fn new(suite: &str, secret: &[u8]) -> PyResult<Self> {
        SecretKey::from_bytes(self::suite(suite)?, secret).map(Self).map_err(of_vrf)
    }

    /// Makes a key from the system's randomness.
    #[staticmethod]
    fn generate(suite: &str) -> PyResult<Self> {
        Ok(Self(SecretKey::generate(self::suite(suite)?, &mut system_rng())))
    }

    /// The name of the suite.
    #[getter]
    fn suite(&self) -> &'static str {
        self.0.suite().name()
    }

    /// The public key's encoding.
    #[getter]
    fn public_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.public_key().as_bytes())
    }

    /// The 32 secret bytes. Python cannot wipe the copy.
    fn expose_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.expose_bytes())
    }

    /// Makes a proof of the output for an input. Constant time in the key. RFC 9381 §5.1.
    fn prove<'py>(&self, py: Python<'py>, alpha: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let proof = py.detach(|| self.0.prove(alpha)).map_err(of_vrf)?;
        Ok(PyBytes::new(py, proof.as_bytes()))
    }

    fn __repr__(&self) -> String {
        format!("<tetralith.vrf.SecretKey of {}>", self.0.suite())
    }
}

#[pyfunction]
fn vrf_verify<'py>(
    py: Python<'py>,
    suite_name: &str,
    public_key: &[u8],
    alpha: &[u8],
    proof: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let suite = suite(suite_name)?;
    let output = py.detach(|| tetralith_vrf::verify(suite, public_key, alpha, proof));
    Ok(PyBytes::new(py, output.map_err(of_vrf)?.as_bytes()))
}

#[pyfunction]
fn vrf_proof_to_hash<'py>(
    py: Python<'py>,
    suite_name: &str,
    proof: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let output = tetralith_vrf::proof_to_hash(suite(suite_name)?, proof).map_err(of_vrf)?;
    Ok(PyBytes::new(py, output.as_bytes()))
}

#[pyfunction]
fn vrf_validate_key(suite_name: &str, public_key: &[u8]) -> PyResult<()> {
    tetralith_vrf::validate_key(suite(suite_name)?, public_key).map_err(of_vrf)
}

/// Verdicts and outputs of a column of proofs; a row with a null has neither.
#[pyfunction]
fn vrf_verify_many(
    py: Python<'_>,
    suite_name: &str,
    public_key: &Bound<'_, PyAny>,
    alpha: &Bound<'_, PyAny>,
    proof: &Bound<'_, PyAny>,
) -> PyResult<(Column, Column)> {
    let suite = suite(suite_name)?;
    let public_key = Bytes::read("public_key", public_key)?;
    let (alpha, proof) = (Bytes::read("alpha", alpha)?, Bytes::read("proof", proof)?);
    let rows = rows([("public_key", &public_key), ("alpha", &alpha), ("proof", &proof)])?;
    Ok(py.detach(|| {
        let whole = rows.iter().flatten();
        let whole = whole.map(|&[public_key, alpha, proof]| Row { public_key, alpha, proof });
        let verdicts = tetralith_vrf::verify_many(suite, &whole.collect::<Vec<_>>());
        columns(&rows, verdicts)
    }))
}

/// Seconds of verifying columns in Rust alone, from slices to verdicts: what a column's cost is compared
/// with.
#[pyfunction]
fn vrf_verify_seconds(
    py: Python<'_>,
    suite_name: &str,
    public_key: &Bound<'_, PyAny>,
    alpha: &Bound<'_, PyAny>,
    proof: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    let suite = suite(suite_name)?;
    let public_key = Bytes::read("public_key", public_key)?;
    let (alpha, proof) = (Bytes::read("alpha", alpha)?, Bytes::read("proof", proof)?);
    let rows = rows([("public_key", &public_key), ("alpha", &alpha), ("proof", &proof)])?;
    Ok(py.detach(|| {
        let whole = rows.iter().flatten();
        let whole = whole.map(|&[public_key, alpha, proof]| Row { public_key, alpha, proof });
        let whole: Vec<_> = whole.collect();
        let start = std::time::Instant::now();
        std::hint::black_box(tetralith_vrf::verify_many(suite, &whole));
        start.elapsed().as_secs_f64()
    }))
}

/// Puts the verdicts of the whole rows into their places.
fn columns<T>(rows: &[Option<T>], verdicts: Vec<Result<Output, Error>>) -> (Column, Column) {
    let mut verdicts = verdicts.into_iter();
    let placed = rows.iter().map(|row| row.as_ref().and_then(|_| verdicts.next()));
    let placed: Vec<Option<Result<Output, Error>>> = placed.collect();
    let valid = placed.iter().map(|row| row.as_ref().map(Result::is_ok));
    let output = placed.iter().map(|row| Some(row.as_ref()?.as_ref().ok()?.as_bytes()));
    (Column::booleans(valid), Column::bytes(output))
}

/// Proofs of a column of inputs, by one key or by a key a row.
#[pyfunction]
fn vrf_prove_many(
    py: Python<'_>,
    keys: Vec<Py<VrfSecretKey>>,
    alpha: &Bound<'_, PyAny>,
) -> PyResult<Column> {
    let alpha = Bytes::read("alpha", alpha)?;
    let rows = rows([("alpha", &alpha)])?;
    if keys.len() != 1 && keys.len() != rows.len() {
        let message = format!("{} keys for {} inputs", keys.len(), rows.len());
        let hint = "give one key, or as many as there are inputs";
        return Err(crate::errors::malformed("input.column", message, hint));
    }
    let keys: Vec<&SecretKey> = keys.iter().map(|key| &key.get().0).collect();
    let key = |i: usize| if keys.len() == 1 { keys[0] } else { keys[i] };
    let whole = rows.iter().enumerate().filter_map(|(i, row)| Some((key(i), (*row)?[0])));
    let whole: Vec<(&SecretKey, &[u8])> = whole.collect();
    let proofs = py.detach(|| tetralith_vrf::prove_many(&whole));
    let proofs: Vec<Proof> = proofs.into_iter().collect::<Result<_, _>>().map_err(of_vrf)?;
    let mut proofs = proofs.iter();
    let placed = rows.iter().map(|row| row.and_then(|_| proofs.next()).map(Proof::as_bytes));
    Ok(Column::bytes(placed))
}

#[pyfunction]
fn vrf_kernel(suite_name: &str, n: usize) -> PyResult<&'static str> {
    Ok(tetralith_vrf::kernel(suite(suite_name)?, n))
}

#[pyfunction]
fn vrf_suites() -> Vec<&'static str> {
    Suite::ALL.iter().map(|suite| suite.name()).collect()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<VrfSecretKey>()?;
    module.add_function(wrap_pyfunction!(vrf_verify, module)?)?;
    module.add_function(wrap_pyfunction!(vrf_proof_to_hash, module)?)?;
    module.add_function(wrap_pyfunction!(vrf_validate_key, module)?)?;
    module.add_function(wrap_pyfunction!(vrf_verify_many, module)?)?;
    module.add_function(wrap_pyfunction!(vrf_verify_seconds, module)?)?;
    module.add_function(wrap_pyfunction!(vrf_prove_many, module)?)?;
    module.add_function(wrap_pyfunction!(vrf_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(vrf_suites, module)?)
}
