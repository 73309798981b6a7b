//! Verbs about files and specifications: what the commands of these names do.

use crate::data::{self, Data};
use crate::error::{checked, refused};
use crate::interrupt;
use crate::settings::Settings;
use crate::spec::{Meant, Spec};
use crate::values;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Duration;
use tracewise::convert::ConvertOptions;
use tracewise::explain::AutomatonKind;
use tracewise::findings::{self, json};
use tracewise::import;
use tracewise::language::TraceSettings;
use tracewise::test::TestFile;

fn file(of: &Bound<'_, PyAny>) -> PyResult<String> {
    data::path(of)?.ok_or_else(|| refused("expected a path"))
}

/// Writes a trace to a file, in the format of its extension or in the one named by `to`; how many positions it has.
#[pyfunction]
#[pyo3(signature = (data, path, *, to = None, **options))]
pub fn convert(
    data: &Bound<'_, PyAny>,
    path: &Bound<'_, PyAny>,
    to: Option<String>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<u64> {
    let settings = Settings::new(options, &TraceSettings::default())?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let (output, asked) = (file(path)?, ConvertOptions { to, csv_guard: false });
    let report = interrupt::run(data.py(), session, move |session| session.convert(&files, &output, &asked))?;
    Ok(report.positions)
}

/// A specification of what holds in a trace, to begin with.
#[pyfunction]
#[pyo3(signature = (data, **options))]
pub fn draft(data: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
    let settings = Settings::new(options, &TraceSettings::default())?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    Ok(interrupt::run(data.py(), session, move |session| session.init(&files))?.text)
}

/// Runs a file of tests of a specification; what the command `test` prints as JSON.
#[pyfunction]
#[pyo3(signature = (path, **options))]
pub fn test<'py>(
    path: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = Settings::new(options, &TraceSettings::default())?;
    let name = file(path)?;
    let report = interrupt::run(path.py(), settings.session()?, move |session| {
        let report = session.test(&TestFile::from_file(&name)?)?;
        Ok(findings::Report::of_test(report, Duration::ZERO))
    })?;
    values::dictionaries(path.py(), &json::objects(&report))
}

/// The automata of properties and queries as Graphviz text, by their names: `alternating`, or `dfa`.
#[pyfunction]
#[pyo3(signature = (spec, kind = "alternating", **options))]
pub fn automata<'py>(
    spec: &Bound<'py, PyAny>,
    kind: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = spec.py();
    let whole = Spec { own: Spec::of(spec, Meant::Formula)? };
    let settings = Settings::new(options, &whole.own.settings)?;
    let spec = whole.asked(&settings)?;
    let kind = AutomatonKind::ALL
        .iter()
        .find(|(name, _)| *name == kind)
        .map(|(_, kind)| *kind)
        .ok_or_else(|| refused(format!("kind={kind:?}: expected alternating or dfa")))?;
    let session = settings.session()?;
    let drawn = interrupt::run(py, session, move |session| session.automata(&spec, kind))?;
    let dict = PyDict::new(py);
    for (name, graph) in drawn {
        dict.set_item(name, graph.to_dot())?;
    }
    Ok(dict)
}

/// The specification of another monitor as one of ours: the text. `format` is told by the name or the text, if it is left out.
#[pyfunction]
#[pyo3(signature = (source, *, format = None, signature = None))]
pub fn import_spec(
    source: &Bound<'_, PyAny>,
    format: Option<&str>,
    signature: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let read = |object: &Bound<'_, PyAny>| -> PyResult<(String, String)> {
        let name = file(object)?;
        let text = std::fs::read_to_string(&name)
            .map_err(|error| refused(format!("cannot read `{name}`: {error}")))?;
        Ok((name, text))
    };
    let (name, text) = read(source)?;
    let found = match format {
        Some(format) => import::FORMATS.iter().find(|own| own.name == format),
        None => import::guess(&name, &text),
    };
    let Some(found) = found else {
        let known: Vec<&str> = import::FORMATS.iter().map(|format| format.name).collect();
        return Err(refused(format!("`{name}`: name its format, one of {}", known.join(", "))));
    };
    let signature = signature.map(read).transpose()?.map(|(name, text)| import::Signature { name, text });
    let options = import::Options { signature, ..import::Options::default() };
    Ok(checked(import::import(&name, &text, found, &options))?.0)
}
