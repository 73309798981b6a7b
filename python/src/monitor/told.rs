//! What a monitor says when it is asked.

use crate::values;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use tracewise::trace::Stamp;
use tracewise::{Value, findings};

/// What a property is worth if the trace ends.
#[pyclass(frozen, module = "tracewise")]
pub struct Verdict {
    pub(super) property: Arc<str>,
    pub(super) bindings: Vec<(String, Value)>,
    pub(super) holds: Option<bool>,
    pub(super) settled: bool,
    pub(super) value: Value,
    pub(super) violations: Vec<usize>,
    pub(super) texts: Vec<String>,
}

#[pymethods]
impl Verdict {
    /// The property or query.
    #[getter]
    fn property(&self) -> &str {
        &self.property
    }

    /// `satisfied` or `violated`; nothing of a query.
    #[getter]
    fn verdict(&self) -> Option<&'static str> {
        self.holds.map(|holds| if holds { "satisfied" } else { "violated" })
    }

    /// The key.
    #[getter]
    fn bindings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::bindings(py, &self.bindings)
    }

    /// Whether nothing that comes would change it.
    #[getter]
    fn settled(&self) -> bool {
        self.settled
    }

    /// Of a query, its value.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::value(py, &self.value)
    }

    /// The positions that fail because the trace ends.
    #[getter]
    fn violations(&self) -> Vec<usize> {
        self.violations.clone()
    }

    /// What a monitor of the specification says of the end.
    #[getter]
    fn texts(&self) -> Vec<String> {
        self.texts.clone()
    }

    fn __repr__(&self) -> String {
        let with = match self.bindings.as_slice() {
            [] => String::new(),
            bindings => format!(" with {}", findings::words::bindings(bindings)),
        };
        match self.verdict() {
            Some(verdict) => format!("{} is {verdict}{with}", self.property),
            None => format!("{} = {}{with}", self.property, findings::words::value(&self.value)),
        }
    }
}

/// What a property waits for.
#[pyclass(frozen, module = "tracewise")]
pub struct Pending {
    pub(super) property: Arc<str>,
    pub(super) bindings: Vec<(String, Value)>,
    pub(super) since: usize,
    pub(super) owed: String,
    pub(super) deadline: Option<Stamp>,
}

#[pymethods]
impl Pending {
    /// The property.
    #[getter]
    fn property(&self) -> &str {
        &self.property
    }

    /// The key, and what quantified variables are.
    #[getter]
    fn bindings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::bindings(py, &self.bindings)
    }

    /// The position since which it waits for this.
    #[getter]
    fn since(&self) -> usize {
        self.since
    }

    /// What is owed, as a formula.
    #[getter]
    fn owed(&self) -> &str {
        &self.owed
    }

    /// By when it is settled at the latest.
    #[getter]
    fn deadline<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::time(py, self.deadline)
    }

    fn __repr__(&self) -> String {
        format!("{} waits for {} since position {}", self.property, self.owed, self.since)
    }
}
