//! Columns of bytes in, columns of verdicts out: Arrow's C data interface, lists, and constants.

use crate::errors::malformed;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};
use pyo3_arrow::ffi::to_array_pycapsules;
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};
use pyo3_arrow::{PyChunkedArray, PyTable};
use std::sync::Arc;

/// A column of byte strings, as a caller gave it.
pub(crate) enum Bytes {
    /// The same value for every row.
    Same(PyBackedBytes),
    List(Vec<Option<PyBackedBytes>>),
    Arrow(Vec<ArrayRef>),
}

impl Bytes {
    /// Takes `bytes`, anything with Arrow's C data interface, or an iterable of `bytes` or `None`.
    pub(crate) fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(same) = value.extract() {
            return Ok(Bytes::Same(same));
        }
        let arrow = value.hasattr("__arrow_c_array__")? || value.hasattr("__arrow_c_stream__")?;
        if arrow {
            let (chunks, field) = value.extract::<AnyArray>()?.into_chunked_array()?.into_inner();
            binary(name, field.data_type())?;
            return Ok(Bytes::Arrow(chunks));
        }
        let rows = value.try_iter()?.map(|row| row?.extract().map_err(PyErr::from));
        Ok(Bytes::List(rows.collect::<PyResult<_>>()?))
    }

    /// The number of rows; `None` if every row has the same value.
    fn len(&self) -> Option<usize> {
        match self {
            Bytes::Same(_) => None,
            Bytes::List(rows) => Some(rows.len()),
            Bytes::Arrow(chunks) => Some(chunks.iter().map(|chunk| chunk.len()).sum()),
        }
    }

    fn rows(&self, len: usize) -> Vec<Option<&[u8]>> {
        match self {
            Bytes::Same(value) => vec![Some(value); len],
            Bytes::List(rows) => rows.iter().map(|row| row.as_deref()).collect(),
            Bytes::Arrow(chunks) => chunks.iter().flat_map(values).collect(),
        }
    }
}

/// Refuses a column that does not hold bytes.
fn binary(name: &str, found: &DataType) -> PyResult<()> {
    match found {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Ok(()),
        _ => Err(malformed(
            "input.column",
            format!("column {name:?} has type {found}, expected binary"),
            "cast the column to binary, or decode its text to bytes first",
        )),
    }
}

/// The values of an array whose type [`binary`] accepted.
fn values(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
        DataType::BinaryView => array.as_binary_view().iter().collect(),
        _ => array.as_fixed_size_binary().iter().collect(),
    }
}

/// The rows of several columns side by side; a row with a null is `None`.
///
/// Columns must be equally long. Constants take the length of the others, and are one row alone.
pub(crate) fn rows<'a, const N: usize>(
    columns: [(&str, &'a Bytes); N],
) -> PyResult<Vec<Option<[&'a [u8]; N]>>> {
    let mut len: Option<(&str, usize)> = None;
    for (name, column) in columns {
        match (len, column.len()) {
            (Some((first, expected)), Some(found)) if expected != found => {
                return Err(malformed(
                    "input.column",
                    format!(
                        "column {name:?} has {found} rows, expected {expected} as in {first:?}"
                    ),
                    "give columns of one length",
                ));
            }
            (None, Some(found)) => len = Some((name, found)),
            _ => {}
        }
    }
    let len = len.map_or(1, |(_, len)| len);
    let lists = columns.map(|(_, column)| column.rows(len));
    let row = |i: usize| {
        let mut row = [&[][..]; N];
        for (value, list) in row.iter_mut().zip(&lists) {
            *value = list[i]?;
        }
        Some(row)
    };
    Ok((0..len).map(row).collect())
}

/// A column of results. Whatever reads Arrow's C data interface takes it without a copy.
#[pyclass(frozen, module = "tetralith", sequence)]
pub(crate) struct Column(ArrayRef);

impl Column {
    pub(crate) fn booleans(values: impl IntoIterator<Item = Option<bool>>) -> Self {
        Column(Arc::new(values.into_iter().collect::<BooleanArray>()))
    }

    pub(crate) fn bytes<'a>(values: impl IntoIterator<Item = Option<&'a [u8]>>) -> Self {
        Column(Arc::new(values.into_iter().collect::<BinaryArray>()))
    }
}

#[pymethods]
impl Column {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let field = Arc::new(Field::new("", self.0.data_type().clone(), true));
        Ok(to_array_pycapsules(py, field, &self.0, requested_schema)?)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let len = self.0.len();
        let at = if index < 0 { index.checked_add_unsigned(len) } else { Some(index) };
        let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < len);
        let Some(at) = at else {
            return Err(PyIndexError::new_err(format!("row {index} of {len}")));
        };
        if self.0.is_null(at) {
            return Ok(py.None().into_bound(py));
        }
        match self.0.data_type() {
            DataType::Boolean => {
                Ok(self.0.as_boolean().value(at).into_pyobject(py)?.to_owned().into_any())
            }
            _ => Ok(PyBytes::new(py, self.0.as_binary::<i32>().value(at)).into_any()),
        }
    }

    /// The values as a list of `bool` or `bytes`, with `None` for a null.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..self.0.len()).map(|at| self.__getitem__(py, at.cast_signed())).collect()
    }

    fn __repr__(&self) -> String {
        format!("<tetralith.Column of {} {} values>", self.0.len(), self.0.data_type())
    }
}

/// A table whose named columns hold bytes, to be given back with columns of results.
#[pyclass(module = "tetralith")]
pub(crate) struct Batches(Vec<RecordBatch>);

#[pymethods]
impl Batches {
    #[new]
    fn new(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (batches, schema) = table.extract::<AnyRecordBatch>()?.into_table()?.into_inner();
        let empty = batches.is_empty().then(|| RecordBatch::new_empty(schema));
        Ok(Batches(batches.into_iter().chain(empty).collect()))
    }

    /// One named column, for the functions that take columns.
    fn column(&self, name: &str) -> PyResult<PyChunkedArray> {
        let schema = self.0[0].schema();
        let Some((at, field)) = schema.column_with_name(name) else {
            let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            return Err(malformed(
                "input.column",
                format!("there is no column {name:?}; the columns are {}", names.join(", ")),
                "rename the columns, or name them in the call",
            ));
        };
        binary(name, field.data_type())?;
        let chunks = self.0.iter().map(|batch| batch.column(at).clone()).collect();
        PyChunkedArray::try_new(chunks, Arc::new(field.clone()))
    }

    /// The table with more columns. A column of the same name is replaced.
    fn with_columns(&self, columns: Vec<(String, Bound<'_, Column>)>) -> PyResult<PyTable> {
        let mut at = 0;
        let mut batches = Vec::with_capacity(self.0.len());
        for batch in &self.0 {
            let mut fields: Vec<Arc<Field>> = batch.schema().fields().iter().cloned().collect();
            let mut arrays = batch.columns().to_vec();
            for (name, column) in &columns {
                let values = column.get().0.slice(at, batch.num_rows());
                let field = Arc::new(Field::new(name, values.data_type().clone(), true));
                match fields.iter().position(|field| field.name() == name) {
                    Some(same) => (fields[same], arrays[same]) = (field, values),
                    None => {
                        fields.push(field);
                        arrays.push(values);
                    }
                }
            }
            at += batch.num_rows();
            let schema = Schema::new_with_metadata(fields, batch.schema().metadata().clone());
            let batch = RecordBatch::try_new(Arc::new(schema), arrays);
            batches.push(batch.map_err(|error| malformed("input.column", error, "report this"))?);
        }
        let schema = batches[0].schema();
        PyTable::try_new(batches, schema)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Column>()?;
    module.add_class::<Batches>()
}
