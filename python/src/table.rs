//! A table of findings, in Arrow columns.

use crate::arrow_data;
use crate::html;
use crate::values;
use arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray,
};
use arrow::datatypes::{Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;
use tracewise::Value;
use tracewise::trace::{Stamp, TimeStyle};

/// Rows that a notebook shows.
const SHOWN: usize = 20;

/// A table of findings. Whatever takes Arrow data takes it as it is; `to_polars`, `to_pandas` and `to_arrow` are short for that.
#[pyclass(frozen, module = "tracewise")]
pub struct Table {
    schema: SchemaRef,
    batch: RecordBatch,
}

/// Columns on their way into a table.
#[derive(Default)]
pub struct Builder {
    columns: Vec<(String, ArrayRef)>,
}

impl Builder {
    /// A column. A name that is taken gets a mark.
    pub fn add(&mut self, name: &str, column: ArrayRef) {
        let mut name = name.to_string();
        while self.columns.iter().any(|(taken, _)| *taken == name) {
            name.push('_');
        }
        self.columns.push((name, column));
    }

    /// Texts.
    pub fn texts<'t>(&mut self, name: &str, texts: impl Iterator<Item = Option<&'t str>>) {
        self.add(name, Arc::new(texts.collect::<StringArray>()));
    }

    /// Whole numbers.
    pub fn numbers(&mut self, name: &str, numbers: impl Iterator<Item = Option<u64>>) {
        self.add(
            name,
            Arc::new(numbers.map(|number| number.map(|number| number as i64)).collect::<Int64Array>()),
        );
    }

    /// Values, as what they all are: truth, whole numbers, numbers, texts; as texts of JSON where they differ.
    pub fn values(&mut self, name: &str, of: &[Value]) {
        self.add(name, column(of));
    }

    /// Timestamps: instants where the trace writes dates, else numbers.
    pub fn times(&mut self, name: &str, stamps: &[Option<Stamp>]) {
        let written = |stamp: &Option<Stamp>| stamp.is_some_and(|stamp| stamp.style == TimeStyle::Text);
        if stamps.iter().any(written) {
            let nanoseconds = stamps.iter().map(|stamp| stamp.map(|stamp| stamp.time));
            let array = nanoseconds.collect::<TimestampNanosecondArray>().with_timezone("UTC");
            return self.add(name, Arc::new(array));
        }
        let value = |stamp: &Option<Stamp>| match stamp {
            Some(Stamp { time, style: TimeStyle::Number(unit) }) => unit.value((*time).into()),
            _ => Value::Null,
        };
        self.values(name, &stamps.iter().map(value).collect::<Vec<_>>());
    }

    /// The table.
    pub fn finish(self) -> Table {
        let field = |(name, column): &(String, ArrayRef)| Field::new(name, column.data_type().clone(), true);
        let schema = Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()));
        let columns = self.columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns);
        // Columns are made of the same rows.
        Table { batch: batch.unwrap_or_else(|_| RecordBatch::new_empty(Arc::clone(&schema))), schema }
    }
}

fn column(of: &[Value]) -> ArrayRef {
    let all = |fits: fn(&Value) -> bool| of.iter().all(|value| value.is_null() || fits(value));
    if all(|value| matches!(value, Value::Bool(_))) && of.iter().any(|value| !value.is_null()) {
        let truth = |value: &Value| match value {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        };
        return Arc::new(of.iter().map(truth).collect::<BooleanArray>());
    }
    if all(|value| matches!(value, Value::Int(_))) {
        let number = |value: &Value| match value {
            Value::Int(number) => Some(*number),
            _ => None,
        };
        return Arc::new(of.iter().map(number).collect::<Int64Array>());
    }
    if all(|value| matches!(value, Value::Int(_) | Value::Real(_))) {
        let number = |value: &Value| match value {
            Value::Int(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            _ => None,
        };
        return Arc::new(of.iter().map(number).collect::<Float64Array>());
    }
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::Str(text) => Some(text.to_string()),
        other => Some(tracewise::findings::json::value(other)),
    };
    Arc::new(of.iter().map(text).collect::<StringArray>())
}

impl Table {
    fn cell<'py>(&self, py: Python<'py>, column: usize, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let array = self.batch.column(column);
        let any = array.as_any();
        let value = if array.is_null(row) {
            Value::Null
        } else if let Some(array) = any.downcast_ref::<Int64Array>() {
            Value::Int(array.value(row))
        } else if let Some(array) = any.downcast_ref::<Float64Array>() {
            Value::Real(array.value(row))
        } else if let Some(array) = any.downcast_ref::<BooleanArray>() {
            Value::Bool(array.value(row))
        } else if let Some(array) = any.downcast_ref::<StringArray>() {
            Value::text(array.value(row))
        } else if let Some(array) = any.downcast_ref::<TimestampNanosecondArray>() {
            Value::text(&Stamp { time: array.value(row), style: TimeStyle::Text }.format())
        } else {
            Value::Null
        };
        values::value(py, &value)
    }

    /// The first rows as texts.
    fn shown(&self, py: Python<'_>) -> PyResult<Vec<Vec<String>>> {
        let row = |row: usize| {
            let cells = (0..self.batch.num_columns()).map(|column| {
                let cell = self.cell(py, column, row)?;
                Ok(if cell.is_none() { String::new() } else { cell.str()?.to_string() })
            });
            cells.collect::<PyResult<Vec<String>>>()
        };
        (0..self.batch.num_rows().min(SHOWN)).map(row).collect()
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// A row by its number, or a column by its name.
    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.batch.num_rows();
        if let Ok(name) = at.extract::<String>() {
            let column =
                self.schema.index_of(&name).map_err(|_| pyo3::exceptions::PyKeyError::new_err(name))?;
            let cells = (0..rows).map(|row| self.cell(py, column, row)).collect::<PyResult<Vec<_>>>()?;
            return Ok(PyList::new(py, cells)?.into_any());
        }
        let at: isize = at.extract()?;
        let row = if at < 0 { at + rows as isize } else { at };
        match usize::try_from(row).ok().filter(|row| *row < rows) {
            None => Err(pyo3::exceptions::PyIndexError::new_err(format!("row {at} of {rows}"))),
            Some(row) => {
                let dict = PyDict::new(py);
                for (column, field) in self.schema.fields().iter().enumerate() {
                    dict.set_item(field.name(), self.cell(py, column, row)?)?;
                }
                Ok(dict.into_any())
            }
        }
    }

    /// The rows as dictionaries.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..self.batch.num_rows())
            .map(|row| self.__getitem__(py, &row.into_pyobject(py)?.into_any()))
            .collect()
    }

    /// The Arrow stream of the table.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Another schema is a wish, which a producer need not grant.
        drop(requested_schema);
        arrow_data::export(py, Arc::clone(&self.schema), vec![self.batch.clone()])
    }

    /// The Arrow schema of the table.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_data::export_schema(py, &self.schema)
    }

    /// As a data frame of polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// As a table of pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// As a data frame of pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if py.import("pyarrow").is_ok() {
            return Self::to_arrow(slf)?.call_method0("to_pandas");
        }
        let rows = slf.get().to_dicts(py)?;
        let options = PyDict::new(py);
        options.set_item("columns", slf.get().columns())?;
        py.import("pandas")?.getattr("DataFrame")?.call((rows,), Some(&options))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let names = self.columns();
        let rows = self.shown(py)?;
        let width = |at: usize| {
            let cells = rows.iter().map(|row| row[at].chars().count().min(60));
            cells.chain([names[at].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..names.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().zip(&widths).map(|(cell, width)| {
                let cell = tracewise::findings::words::clip(&tracewise::findings::words::printable(cell), 60);
                format!("{cell:width$}")
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        let mut lines = vec![line(&names)];
        lines.extend(rows.iter().map(|row| line(row)));
        if self.batch.num_rows() > rows.len() {
            lines.push(format!("… and {} more", self.batch.num_rows() - rows.len()));
        }
        Ok(lines.join("\n"))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        Ok(html::table(&self.columns(), &self.shown(py)?, self.batch.num_rows()))
    }
}
