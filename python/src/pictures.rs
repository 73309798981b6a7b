//! Pictures of charts, of automata and of what was found, for notebooks and files.

use crate::data::Data;
use crate::error::{checked, refused};
use crate::html;
use crate::interrupt;
use crate::settings::Settings;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use tracewise::check::CheckOptions;
use tracewise::{Specification, plot, sequence};

/// The charts of a specification, or one of them; with data, coloured by what happened.
pub fn charts(
    py: Python<'_>,
    spec: &Arc<Specification>,
    data: Option<&Bound<'_, PyAny>>,
    chart: Option<&str>,
    form: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    match (form, data) {
        ("svg", _) => {}
        ("dot", None) => return checked(sequence::dot(spec, chart)),
        ("dot", Some(_)) => {
            return Err(refused("the order of events says nothing about a trace: draw form=\"svg\""));
        }
        (other, _) => return Err(refused(format!("form={other:?}: expected svg or dot"))),
    }
    let mut drawn = checked(sequence::sequences(spec, chart))?;
    if let Some(data) = data {
        let settings = Settings::new(options, &spec.settings)?;
        let asked = checked(spec.charts(&Default::default()))?;
        let by = settings.by.clone();
        let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
        let wanted = CheckOptions { violations: 1, by, ..CheckOptions::default() };
        let report = interrupt::run(py, session, move |session| session.check(&asked, &files, &wanted))?;
        sequence::colour(&mut drawn, &report);
    }
    Ok(plot::svg_sequences(&drawn))
}

/// A specification: its text, and its charts.
pub fn specification(spec: &Specification, text: &str) -> String {
    let drawn = match spec.written_charts().next() {
        Some(_) => sequence::sequences(spec, None).map_or(String::new(), |drawn| plot::svg_sequences(&drawn)),
        None => String::new(),
    };
    html::page(&format!("<pre>{}</pre>{drawn}", html::text(text.trim_end())))
}
