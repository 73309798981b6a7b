//! Logs that lie elsewhere, in parts: which slices need which rows, and what a slice says.

use crate::data::Data;
use crate::error::checked;
use crate::interrupt;
use crate::listed;
use crate::settings::Settings;
use crate::spec::{Meant, Spec};
use crate::table::Table;
use crate::values;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;
use std::time::Duration;
use tracewise::Specification;
use tracewise::check::CheckOptions;
use tracewise::findings;
use tracewise::slicing::{Filter, Plan, Slicing};

/// How a log is cut into slices by the values of variables, found by looking at the specification alone. Runners send
/// what `save` gives to who holds the rows.
#[pyclass(frozen, module = "tracewise")]
pub struct Slices {
    spec: Arc<Specification>,
    own: Arc<Plan>,
    settings: Settings,
}

#[pymethods]
impl Slices {
    /// Of a specification; `on` names the variables to slice on, `state` is a plan that was made before.
    #[new]
    #[pyo3(signature = (spec, slices = 1, *, on = None, state = None, **options))]
    fn new(
        spec: &Bound<'_, PyAny>,
        slices: usize,
        on: Option<Vec<String>>,
        state: Option<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let whole = Spec { own: Spec::of(spec, Meant::Formula)? };
        let settings = Settings::new(options, &whole.own.settings)?;
        let spec = whole.asked(&settings)?;
        let own = match state {
            Some(state) => checked(Plan::from_json(&state))?,
            None => {
                let slicing = Slicing {
                    slices,
                    on: on.unwrap_or_default(),
                    filter: Filter::Auto,
                    ..Slicing::default()
                };
                checked(settings.session()?.plan_slices(&spec, &slicing))?
            }
        };
        Ok(Self { spec, own: Arc::new(own), settings })
    }

    /// How many there are.
    fn __len__(&self) -> usize {
        self.own.slices as usize
    }

    /// The variables that a property is sliced on.
    fn variables(&self, property: &str) -> Vec<String> {
        self.own.variables(property).into_iter().map(str::to_string).collect()
    }

    /// The plan as text.
    fn save(&self) -> String {
        self.own.to_json()
    }

    /// Which slices need which rows of a part of the log: two arrays of numpy, numbers of rows and of slices.
    fn rows<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let py = data.py();
        let (session, files) = Data::of(data, &self.settings)?.trace(&self.settings)?;
        let (spec, plan) = (Arc::clone(&self.spec), Arc::clone(&self.own));
        let pairs = interrupt::run(py, session, move |session| session.slices_of(&spec, &plan, &files))?;
        let rows = values::bytes_of(pairs.iter().map(|(row, _)| row.to_ne_bytes()));
        let slices = values::bytes_of(pairs.iter().map(|(_, slice)| slice.to_ne_bytes()));
        PyTuple::new(py, [values::array(py, &rows, "u8")?, values::array(py, &slices, "u4")?])
    }

    /// What one slice says: `data` are its rows in the order of the log, `positions` (bytes of 64-bit numbers) where each is. The
    /// violations as a table, and how many there are of each property.
    fn check<'py>(
        &self,
        slice: u32,
        data: &Bound<'py, PyAny>,
        positions: Vec<u8>,
    ) -> PyResult<(Table, Bound<'py, PyDict>)> {
        let py = data.py();
        let (session, files) = Data::of(data, &self.settings)?.trace(&self.settings)?;
        let positions: Vec<u64> = positions
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
            .collect();
        let (spec, plan) = (Arc::clone(&self.spec), Arc::clone(&self.own));
        let asked = CheckOptions { violations: usize::MAX, explain: false, ..CheckOptions::default() };
        let counted = positions.len() as u64;
        let report = interrupt::run(py, session, move |session| {
            let partial = session.check_slice(&spec, &plan, slice, (&files, &positions), &asked)?;
            let report = session.check_together(&spec, vec![partial], ("data", counted), &asked)?;
            Ok(findings::Report::of_check(report, &spec, Duration::ZERO))
        })?;
        let counts = PyDict::new(py);
        for item in &report.items {
            counts.set_item(&item.name, item.violation_count)?;
        }
        let items = report.items.iter().map(|item| ("data", item));
        Ok((listed::violations(items)?, counts))
    }

    fn __repr__(&self) -> String {
        format!("Slices({})", self.own.slices)
    }
}
