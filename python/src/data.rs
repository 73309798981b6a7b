//! What is asked about: files, Arrow data, columns, rows.

use crate::arrow_data::{self, Batches};
use crate::error::{checked, refused};
use crate::settings::Settings;
use crate::{columns, values};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::path::PathBuf;
use tracewise::Session;

/// As reports call data that have no name.
const NAME: &str = "data";

/// A trace, or several.
pub enum Data {
    /// Files.
    Files(Vec<String>),
    /// Record batches in memory.
    Records(Batches),
    /// Rows, as lines of JSON, and whether what divides them are numbers.
    Lines(Vec<u8>, bool),
}

/// One trace: a session that knows it, and the names to give a verb.
pub type Traced = (Session, Vec<String>);

impl Data {
    /// Of whatever Python hands over.
    pub fn of(object: &Bound<'_, PyAny>, settings: &Settings) -> PyResult<Self> {
        if let Some(path) = path(object)? {
            return Ok(Data::Files(vec![path]));
        }
        if arrow_data::offers(object) {
            return arrow_data::batches(object).map(Data::Records);
        }
        if object.hasattr("collect_schema")? && object.hasattr("collect")? {
            return arrow_data::batches(&object.call_method0("collect")?).map(Data::Records);
        }
        if let Ok(columns) = object.cast::<PyDict>() {
            return match columns::batch(columns)? {
                Some(batches) => Ok(Data::Records(batches)),
                None => Self::of_columns(columns, settings),
            };
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let paths = object.try_iter()?.map(|item| path(&item?)).collect::<PyResult<Option<Vec<_>>>>()?;
            if let Some(paths) = paths.filter(|paths| !paths.is_empty()) {
                return Ok(Data::Files(paths));
            }
        }
        match object.try_iter() {
            Ok(items) if !object.is_instance_of::<PyBytes>() => Self::of_items(items, settings),
            _ => Err(PyTypeError::new_err(format!(
                "found {}, expected a path, a list of paths, Arrow data (polars, pandas, pyarrow, duckdb), a dict of columns or \
                 an iterable of dicts",
                object.get_type().name()?
            ))),
        }
    }

    /// Rows, or record batches, one after the other.
    fn of_items<'py>(
        items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
        settings: &Settings,
    ) -> PyResult<Self> {
        let mut lines = Vec::new();
        let mut numeric = true;
        let mut records: Option<Batches> = None;
        for (number, item) in items.enumerate() {
            let item = item?;
            if let Ok(row) = item.cast::<PyDict>() {
                numeric = numeric && keyed_by_number(row, settings)?;
                values::write_row(row, settings.clock_column(), &mut lines)?;
                lines.push(b'\n');
            } else if arrow_data::offers(&item) {
                let (schema, batches) = arrow_data::batches(&item)?;
                match &mut records {
                    None => records = Some((schema, batches)),
                    Some((_, all)) => all.extend(batches),
                }
            } else if let Ok(row) = item.call_method0("_asdict") {
                values::write_row(row.cast::<PyDict>()?, settings.clock_column(), &mut lines)?;
                lines.push(b'\n');
            } else {
                let kind = item.get_type().name()?.to_string();
                return Err(PyTypeError::new_err(format!(
                    "item {number}: found {kind}, expected a dict (a row) or Arrow data"
                )));
            }
        }
        match records {
            Some(_) if !lines.is_empty() => Err(refused("some items are rows, others are Arrow data")),
            Some(records) => Ok(Data::Records(records)),
            None => Ok(Data::Lines(lines, numeric)),
        }
    }

    /// Columns that are no Arrow columns, as rows.
    fn of_columns(columns: &Bound<'_, PyDict>, settings: &Settings) -> PyResult<Self> {
        let py = columns.py();
        let lists = columns.values().iter().map(|values| match values.call_method0("tolist") {
            Ok(list) => Ok(list),
            Err(_) => Ok(PyList::new(py, values.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        });
        let lists = lists.collect::<PyResult<Vec<Bound<'_, PyAny>>>>()?;
        let lengths = lists.iter().map(|list| list.len()).collect::<PyResult<Vec<_>>>()?;
        if let Some(other) = lengths.iter().find(|length| **length != lengths[0]) {
            return Err(refused(format!("columns have {} and {other} values", lengths[0])));
        }
        let mut lines = Vec::new();
        let row = PyDict::new(py);
        let mut numeric = true;
        for at in 0..lengths.first().copied().unwrap_or(0) {
            for (name, list) in columns.keys().iter().zip(&lists) {
                row.set_item(name, list.get_item(at)?)?;
            }
            numeric = numeric && keyed_by_number(&row, settings)?;
            values::write_row(&row, settings.clock_column(), &mut lines)?;
            lines.push(b'\n');
        }
        Ok(Data::Lines(lines, numeric))
    }

    /// Whether the values of a column are numbers: reports of a division by it have them as such.
    pub fn numeric(&self, column: &str) -> bool {
        match self {
            Data::Files(_) => false,
            Data::Lines(_, numeric) => *numeric,
            Data::Records((schema, _)) => {
                schema.field_with_name(column).is_ok_and(|field| field.data_type().is_numeric())
            }
        }
    }

    /// As traces: each file is one, or all together.
    pub fn traces(self, settings: &Settings) -> PyResult<Vec<Traced>> {
        let name = settings.name.clone().unwrap_or_else(|| NAME.into());
        Ok(match self {
            Data::Files(files) if settings.concat => vec![(settings.session()?, files)],
            Data::Files(files) => {
                let session = settings.session()?;
                files.into_iter().map(|file| (session.clone(), vec![file])).collect()
            }
            Data::Records(records) => {
                let (time, digits) = settings.clock_column();
                let (schema, batches) = arrow_data::on_grid(records, time, digits)?;
                let session = checked(settings.session()?.batches(&name, schema, batches))?;
                vec![(session, vec![name])]
            }
            Data::Lines(lines, _) => {
                let mut settings = settings.clone();
                settings.format = Some("jsonl".into());
                vec![(settings.session()?.text(&name, lines), vec![name])]
            }
        })
    }

    /// As one trace.
    pub fn trace(self, settings: &Settings) -> PyResult<Traced> {
        let mut traces = self.traces(settings)?;
        match (traces.pop(), traces.is_empty()) {
            (Some(trace), true) => Ok(trace),
            _ => Err(refused("this takes one trace; `concat=True` reads several files as one")),
        }
    }
}

/// Whether a row's key is a number, or missing.
fn keyed_by_number(row: &Bound<'_, PyDict>, settings: &Settings) -> PyResult<bool> {
    let Some(by) = settings.by.as_deref() else { return Ok(false) };
    let key = row.get_item(by)?;
    Ok(key.is_none_or(|key| {
        let number = key.is_instance_of::<PyInt>() || key.is_instance_of::<PyFloat>();
        key.is_none() || (number && !key.is_instance_of::<PyBool>())
    }))
}

/// The path that an object is, if it is one.
pub fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Some(text.to_str()?.to_string()));
    }
    if object.hasattr("__fspath__")? {
        let path: PathBuf = object.extract()?;
        return match path.into_os_string().into_string() {
            Ok(path) => Ok(Some(path)),
            Err(path) => Err(refused(format!("the path {path:?} is not Unicode"))),
        };
    }
    Ok(None)
}
