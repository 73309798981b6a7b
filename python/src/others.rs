//! Verbs that tell of a trace alone, as lists of dictionaries: what the commands print as JSON.

use crate::data::Data;
use crate::error::refused;
use crate::interrupt;
use crate::settings::Settings;
use crate::spec::{Meant, Spec};
use crate::values;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::Duration;
use tracewise::classify::{Classes, ClassifyOptions, Rules};
use tracewise::findings::{self, json};
use tracewise::language::TraceSettings;
use tracewise::races::RacesOptions;
use tracewise::slice::SliceOptions;
use tracewise::templates::TemplatesOptions;

/// Lines of JSON as dictionaries.
pub fn lines<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let text = String::from_utf8_lossy(text);
    values::dictionaries(py, &text.lines().map(str::to_string).collect::<Vec<_>>())
}

/// What a trace has: columns with their types, event names, how long it is.
#[pyfunction]
#[pyo3(signature = (data, **options))]
pub fn inspect<'py>(
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let settings = Settings::new(options, &TraceSettings::default())?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let report = interrupt::run(py, session, move |session| session.inspect(&files))?;
    values::json(py, &json::inspect(&report))
}

/// The templates of a text log, most frequent first; with `each`, the template of every position.
#[pyfunction]
#[pyo3(signature = (data, *, column = "text", each = false, **options))]
pub fn templates<'py>(
    data: &Bound<'py, PyAny>,
    column: &str,
    each: bool,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = Settings::new(options, &TraceSettings::default())?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let asked = TemplatesOptions { column: column.into(), each };
    let report = interrupt::run(data.py(), session, move |session| session.templates(&files, &asked))?;
    let mut out = Vec::new();
    json::templates(&report, &mut out)?;
    lines(data.py(), &out)
}

/// A trace cut by what its events are about: one slice per binding of the variables in patterns.
#[pyfunction]
#[pyo3(signature = (patterns, data, *, r#where = None, allow_equal = false, partial = false, **options))]
pub fn slice<'py>(
    patterns: &str,
    data: &Bound<'py, PyAny>,
    r#where: Option<String>,
    allow_equal: bool,
    partial: bool,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = Settings::new(options, &TraceSettings::default())?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let asked = SliceOptions { patterns: patterns.into(), constraint: r#where, allow_equal, partial };
    let report = interrupt::run(data.py(), session, move |session| session.slice(&files, &asked))?;
    let mut out = Vec::new();
    json::slice(&report, &mut out)?;
    lines(data.py(), &out)
}

/// Ways to fail: traces, or with `by` those of every key, sorted into classes that fail or hold in the same way.
#[pyfunction]
#[pyo3(signature = (spec, data, *, rules = None, weights = None, examples = 10, shrink = false, **options))]
pub fn classify<'py>(
    spec: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    rules: Option<String>,
    weights: Option<Vec<(String, f64)>>,
    examples: usize,
    shrink: bool,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let whole = Spec { own: Spec::of(spec, Meant::Formula)? };
    let settings = Settings::new(options, &whole.own.settings)?;
    let spec = whole.asked(&settings)?;
    let rules = rules.map_or(Ok(Rules::default()), |text| Rules::parse(&text).map_err(refused))?;
    let weights = weights.unwrap_or_default();
    let asked = ClassifyOptions { rules: vec![rules], by: settings.by.clone(), weights, examples, shrink };
    let mut classes = Classes::new();
    for (session, files) in Data::of(data, &settings)?.traces(&settings)? {
        let (spec, asked) = (Arc::clone(&spec), asked.clone());
        classes = interrupt::run(data.py(), session, move |session| {
            session.classify(&spec, &files, &asked, &mut classes)?;
            Ok(classes)
        })?;
    }
    classes.sort(&spec);
    values::dictionaries(
        data.py(),
        &json::objects(&findings::Report::of_classes(&classes, &spec, Duration::ZERO)),
    )
}

/// Deadlocks and data races that other schedules of the same program could have.
#[pyfunction]
#[pyo3(signature = (data, **options))]
pub fn races<'py>(
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = Settings::new(options, &TraceSettings::default())?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let report = interrupt::run(data.py(), session, move |session| {
        let report = session.races(&files, &RacesOptions::default())?;
        Ok(findings::Report::of_races(&report, Duration::ZERO))
    })?;
    values::dictionaries(data.py(), &json::objects(&report))
}
