//! Columns of bytes in, columns of verdicts out: Arrow's C data interface, lists, and constants.

use crate::errors::malformed;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray,
    LargeBinaryArray, RecordBatch, RecordBatchIterator, RecordBatchReader,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule};
use pyo3_arrow::PyField;
use pyo3_arrow::error::PyArrowError;
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};
use std::sync::Arc;

// pyo3-arrow reads, and `Column` and `Batches` write: its own classes would link casts between all types of
// Arrow and NumPy, which are most of such a module's size.

/// The error of a reader, which may hold an exception of Python.
fn failed(error: ArrowError) -> PyErr {
    PyArrowError::from(error).into()
}

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
        if let Ok(chunks) = value.cast::<Chunks>() {
            return Ok(Bytes::Arrow(chunks.get().0.clone()));
        }
        let arrow = value.hasattr("__arrow_c_array__")? || value.hasattr("__arrow_c_stream__")?;
        if arrow {
            let reader = value.extract::<AnyArray>()?.into_reader()?;
            binary(name, reader.field().data_type())?;
            return Ok(Bytes::Arrow(reader.collect::<Result<_, _>>().map_err(failed)?));
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

    /// The values with another type that holds bytes, or as they are.
    fn cast(&self, to: &DataType) -> ArrayRef {
        let Some(values) = self.0.as_binary_opt::<i32>() else { return self.0.clone() };
        match to {
            DataType::LargeBinary => Arc::new(values.iter().collect::<LargeBinaryArray>()),
            DataType::BinaryView => Arc::new(values.iter().collect::<BinaryViewArray>()),
            DataType::FixedSizeBinary(width) => {
                let fixed =
                    FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.iter(), *width);
                fixed.map_or_else(|_| self.0.clone(), |fixed| Arc::new(fixed))
            }
            _ => self.0.clone(),
        }
    }

    pub(crate) fn bytes<'a>(values: impl IntoIterator<Item = Option<&'a [u8]>>) -> Self {
        Column(Arc::new(values.into_iter().collect::<BinaryArray>()))
    }
}

#[pymethods]
impl Column {
    /// The capsules of Arrow's C data interface, of the requested type where the values can have it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let values = match requested_schema {
            Some(capsule) => {
                self.cast(PyField::from_arrow_pycapsule(&capsule)?.into_inner().data_type())
            }
            None => self.0.clone(),
        };
        let array = FFI_ArrowArray::new(&values.to_data());
        let field = Field::new("", values.data_type().clone(), true);
        Ok((schema(py, field)?, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, Field::new("", self.0.data_type().clone(), true))
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

/// A schema for Python, as Arrow's C data interface has it.
fn schema<T>(py: Python<'_>, of: T) -> PyResult<Bound<'_, PyCapsule>>
where
    FFI_ArrowSchema: TryFrom<T, Error = ArrowError>,
{
    let schema = FFI_ArrowSchema::try_from(of).map_err(failed)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// A named column of a table, for the functions that take columns.
#[pyclass(frozen, module = "tetralith")]
pub(crate) struct Chunks(Vec<ArrayRef>);

/// A table whose named columns hold bytes, or such a table with columns of results.
#[pyclass(frozen, module = "tetralith")]
pub(crate) struct Batches {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Batches {
    #[new]
    fn new(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let reader = table.extract::<AnyRecordBatch>()?.into_reader()?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(failed)?;
        Ok(Batches { schema, batches })
    }

    /// One named column.
    fn column(&self, name: &str) -> PyResult<Chunks> {
        let Some((at, field)) = self.schema.column_with_name(name) else {
            return Err(malformed(
                "input.column",
                format!(
                    "there is no column {name:?}; the columns are {}",
                    self.column_names().join(", ")
                ),
                "rename the columns, or name them in the call",
            ));
        };
        binary(name, field.data_type())?;
        Ok(Chunks(self.batches.iter().map(|batch| batch.column(at).clone()).collect()))
    }

    /// The table with more columns. A column of the same name is replaced.
    fn with_columns(&self, columns: Vec<(String, Bound<'_, Column>)>) -> PyResult<Self> {
        let mut fields: Vec<Arc<Field>> = self.schema.fields().iter().cloned().collect();
        let places: Vec<usize> = columns
            .iter()
            .map(|(name, column)| {
                let field = Arc::new(Field::new(name, column.get().0.data_type().clone(), true));
                match fields.iter().position(|field| field.name() == name) {
                    Some(same) => {
                        fields[same] = field;
                        same
                    }
                    None => {
                        fields.push(field);
                        fields.len() - 1
                    }
                }
            })
            .collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        let mut batches = Vec::with_capacity(self.batches.len());
        let mut at = 0;
        for batch in &self.batches {
            let mut arrays = batch.columns().to_vec();
            for ((_, column), place) in columns.iter().zip(&places) {
                let values = column.get().0.slice(at, batch.num_rows());
                if *place < arrays.len() {
                    arrays[*place] = values;
                } else {
                    arrays.push(values);
                }
            }
            at += batch.num_rows();
            let batch = RecordBatch::try_new(schema.clone(), arrays);
            batches.push(batch.map_err(|error| malformed("input.column", error, "report this"))?);
        }
        Ok(Batches { schema, batches })
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// The capsule of Arrow's C stream interface. A requested type is advice, which the reader casts to.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = Box::new(RecordBatchIterator::new(batches, self.schema.clone()));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, self.schema.as_ref())
    }

    fn __repr__(&self) -> String {
        format!(
            "<tetralith.Batches of {} rows: {}>",
            self.num_rows(),
            self.column_names().join(", ")
        )
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Column>()?;
    module.add_class::<Chunks>()?;
    module.add_class::<Batches>()
}
