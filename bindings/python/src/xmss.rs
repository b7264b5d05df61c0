//! XMSS: public keys, verification of one signature or of columns, and QRL's formats.

use crate::columns::{Bytes, Column, rows};
use crate::errors::of_xmss;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use tetralith_xmss::qrl::{self, Address};
use tetralith_xmss::{Item, Params, Scheme, Signature, pkix};

/// The root of a key's tree and its public seed.
#[pyclass(frozen, module = "tetralith.xmss", name = "XmssPublicKey")]
#[derive(PartialEq)]
pub(crate) struct PublicKey(pub(crate) tetralith_xmss::PublicKey);

#[pymethods]
impl PublicKey {
    /// Decodes ``OID ‖ root ‖ SEED``; of XMSS^MT if ``multi_tree``. RFC 8391 §4.1.7.
    #[staticmethod]
    #[pyo3(signature = (data, *, multi_tree=false))]
    fn from_bytes(data: &[u8], multi_tree: bool) -> PyResult<Self> {
        let scheme = if multi_tree { Scheme::XmssMt } else { Scheme::Xmss };
        tetralith_xmss::PublicKey::from_bytes(scheme, data).map(Self).map_err(of_xmss)
    }

    /// Reads a SubjectPublicKeyInfo (RFC 9802) or a certificate in PEM.
    #[staticmethod]
    fn from_pem(text: &str) -> PyResult<Self> {
        pkix::key_of_pem(text).map(Self).map_err(of_xmss)
    }

    /// Reads a SubjectPublicKeyInfo (RFC 9802) or a certificate in DER.
    #[staticmethod]
    fn from_der(data: &[u8]) -> PyResult<Self> {
        pkix::key_of_der(data).map(Self).map_err(of_xmss)
    }

    /// Decodes QRL's 67 bytes ``descriptor ‖ root ‖ SEED``.
    #[staticmethod]
    fn from_qrl(data: &[u8]) -> PyResult<Self> {
        qrl::public_key_from_bytes(data).map(Self).map_err(of_xmss)
    }

    /// The name of the parameter set.
    #[getter]
    fn params(&self) -> String {
        self.0.params().to_string()
    }

    /// The length of a signature in bytes.
    #[getter]
    fn signature_size(&self) -> usize {
        self.0.params().signature_bytes()
    }

    /// Encodes ``OID ‖ root ‖ SEED``; a QRL key has no OID, and none is written.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Encodes a SubjectPublicKeyInfo in PEM. RFC 9802.
    fn to_pem(&self) -> PyResult<String> {
        pkix::to_pem(&self.0).map_err(of_xmss)
    }

    /// Encodes a SubjectPublicKeyInfo in DER. RFC 9802.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &pkix::to_der(&self.0).map_err(of_xmss)?))
    }

    /// Encodes QRL's 67 bytes.
    fn to_qrl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &qrl::public_key_to_bytes(&self.0).map_err(of_xmss)?))
    }

    /// The QRL address: ``Q`` and 78 hexadecimal digits.
    fn qrl_address(&self) -> PyResult<String> {
        Ok(Address::of(&self.0).map_err(of_xmss)?.to_string())
    }

    /// Verifies a signature. RFC 8391 §4.1.10. Variable time: all is public.
    ///
    /// Raises ``VerificationError`` if it is not valid, and ``MalformedError`` if it has the wrong
    /// length or an impossible index.
    fn verify(&self, py: Python<'_>, message: &[u8], signature: &[u8]) -> PyResult<()> {
        py.detach(|| self.0.verify(message, signature)).map_err(of_xmss)
    }

    /// The index of the one-time key that made a signature.
    fn signature_index(&self, signature: &[u8]) -> PyResult<u64> {
        let signature = Signature::from_bytes(self.0.params(), signature);
        Ok(signature.map_err(of_xmss)?.index())
    }

    fn __richcmp__(&self, other: &Self, op: CompareOp) -> PyResult<bool> {
        match op {
            CompareOp::Eq => Ok(self == other),
            CompareOp::Ne => Ok(self != other),
            _ => Err(pyo3::exceptions::PyTypeError::new_err("public keys have no order")),
        }
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<tetralith.xmss.{:?}>", self.0)
    }
}

/// Verdicts of columns of messages and signatures, under one key or a key a row.
#[pyfunction]
fn xmss_verify_many(
    py: Python<'_>,
    keys: Vec<Py<PublicKey>>,
    message: &Bound<'_, PyAny>,
    signature: &Bound<'_, PyAny>,
) -> PyResult<Column> {
    let (message, signature) =
        (Bytes::read("message", message)?, Bytes::read("signature", signature)?);
    let rows = rows([("message", &message), ("signature", &signature)])?;
    if keys.len() != 1 && keys.len() != rows.len() {
        let message = format!("{} keys for {} signatures", keys.len(), rows.len());
        let hint = "give one key, or as many as there are signatures";
        return Err(crate::errors::malformed("input.column", message, hint));
    }
    let keys: Vec<&tetralith_xmss::PublicKey> = keys.iter().map(|key| &key.get().0).collect();
    let key = |i: usize| if keys.len() == 1 { keys[0] } else { keys[i] };
    Ok(py.detach(|| {
        let whole = rows.iter().enumerate().filter_map(|(i, row)| {
            let [message, signature] = (*row)?;
            Some(Item { public_key: key(i), message, signature })
        });
        let verdicts = tetralith_xmss::verify_many(&whole.collect::<Vec<_>>());
        let mut verdicts = verdicts.iter();
        let placed = rows.iter().map(|row| row.and_then(|_| verdicts.next()).map(Result::is_ok));
        Column::booleans(placed)
    }))
}

/// Verdicts of columns of public keys in their raw form, messages and signatures. A key or signature that
/// is malformed is not valid.
#[pyfunction]
fn xmss_verify_columns(
    py: Python<'_>,
    public_key: &Bound<'_, PyAny>,
    message: &Bound<'_, PyAny>,
    signature: &Bound<'_, PyAny>,
    multi_tree: bool,
) -> PyResult<Column> {
    let public_key = Bytes::read("public_key", public_key)?;
    let (message, signature) =
        (Bytes::read("message", message)?, Bytes::read("signature", signature)?);
    let named = [("public_key", &public_key), ("message", &message), ("signature", &signature)];
    let rows = rows(named)?;
    let scheme = if multi_tree { Scheme::XmssMt } else { Scheme::Xmss };
    Ok(py.detach(|| {
        // Many rows have few keys.
        let mut keys = HashMap::new();
        for &[key, ..] in rows.iter().flatten() {
            keys.entry(key).or_insert_with(|| tetralith_keyring::decode(key, scheme).ok());
        }
        let items = rows.iter().flatten().filter_map(|&[key, message, signature]| {
            Some(Item { public_key: keys[key].as_ref()?, message, signature })
        });
        let verdicts = tetralith_xmss::verify_many(&items.collect::<Vec<_>>());
        let mut verdicts = verdicts.iter();
        let placed = rows.iter().map(|row| {
            let [key, ..] = (*row)?;
            let whole = keys[key].is_some();
            Some(whole && verdicts.next().is_some_and(Result::is_ok))
        });
        Column::booleans(placed)
    }))
}

/// Whether the text is a QRL address: its form, its descriptor and its checksum.
#[pyfunction]
fn xmss_qrl_address_is_valid(address: &str) -> bool {
    let digits = address.strip_prefix('Q').and_then(|digits| hex::decode(digits).ok());
    digits.is_some_and(|bytes| Address::from_bytes(&bytes).is_ok())
}

#[pyfunction]
fn xmss_params() -> Vec<String> {
    Params::all().map(|params| params.to_string()).collect()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PublicKey>()?;
    module.add_function(wrap_pyfunction!(xmss_verify_many, module)?)?;
    module.add_function(wrap_pyfunction!(xmss_verify_columns, module)?)?;
    module.add_function(wrap_pyfunction!(xmss_qrl_address_is_valid, module)?)?;
    module.add_function(wrap_pyfunction!(xmss_params, module)?)
}
