//! Verbs about files and specifications: what the commands of these names do.

use crate::data::{self, Data};
use crate::error::{checked, in_python, refused};
use crate::interrupt;
use crate::settings::{Settings, length, named};
use crate::spec::{Meant, Spec};
use crate::values;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;
use std::time::Duration;
use tracewise::convert::ConvertOptions;
use tracewise::diag::{Severity, Sources, to_json};
use tracewise::explain::AutomatonKind;
use tracewise::files::{LONGEST_TEXT, read_input};
use tracewise::findings::json::{Object, array};
use tracewise::findings::{self, json};
use tracewise::language::{self, TraceSettings};
use tracewise::test::TestFile;
use tracewise::{Error, TimeUnit, generate, import};

fn file(of: &Bound<'_, PyAny>) -> PyResult<String> {
    data::path(of)?.ok_or_else(|| refused("expected a path"))
}

/// Name and text of a specification: of a `tw.Spec`, a path or a text.
fn written(of: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    if let Ok(spec) = of.cast::<Spec>() {
        let spec = spec.get();
        return Ok((spec.name(), spec.text()));
    }
    match (of.cast::<PyString>(), data::path(of)?) {
        (Ok(text), _) if !crate::spec::is_file(text.to_str()?) => {
            Ok(("<spec>".into(), text.to_str()?.into()))
        }
        (_, Some(path)) => {
            let unreadable = |error| Error::io(format!("cannot read the specification `{path}`"), error);
            let bytes = checked(read_input(&path, LONGEST_TEXT).map_err(unreadable))?;
            let text = String::from_utf8(bytes)
                .map_err(|_| refused(format!("the specification `{path}` is not UTF-8 text")))?;
            Ok((path, text))
        }
        _ => Err(refused("expected a specification: a tracewise.Spec, its text, or a path")),
    }
}

/// A specification in canonical form: the text.
#[pyfunction]
pub fn fmt(spec: &Bound<'_, PyAny>) -> PyResult<String> {
    let (name, text) = written(spec)?;
    let mut sources = Sources::default();
    let source = sources.add(name.as_str(), text.as_str());
    let parse = if name.ends_with(".elsc") { language::parse_charts } else { language::parse };
    let parsed = parse(&text, source);
    if parsed.has_errors() {
        let diagnostics = parsed.diagnostics;
        return checked(Err(Error::Specification { diagnostics, sources: Box::new(sources) }));
    }
    Ok(language::print(&parsed.value))
}

/// What is wrong with a specification, or doubtful, without a trace: what the command `lint` prints as JSON. It raises nothing.
#[pyfunction]
pub fn lint<'py>(spec: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (name, text) = written(spec)?;
    let mut found = language::look(&name, &text).diagnostics;
    let mut sources = Sources::default();
    sources.add(name.as_str(), text);
    found.sort_by_key(|finding| finding.severity != Severity::Error);
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error).count();
    let told = found.iter().map(|finding| in_python(&to_json(finding, &sources).to_string()));
    let object = Object::new().field("file", name.as_str()).field("errors", errors);
    let object = object.field("warnings", found.len() - errors);
    values::json(spec.py(), &object.raw("findings", &array(told.collect::<Vec<_>>())).end())
}

/// Code that fires the events of a specification's monitors, a function for each: `rust` or `c`.
#[pyfunction(name = "generate")]
#[pyo3(signature = (spec, language = "rust"))]
pub fn code(spec: &Bound<'_, PyAny>, language: &str) -> PyResult<String> {
    let spec = Spec::of(spec, Meant::Formula)?;
    match language {
        "rust" => checked(generate::rust(&spec)),
        "c" => checked(generate::c(&spec)),
        other => Err(refused(format!("language={other:?}: expected rust or c"))),
    }
}

/// Writes the slices of a log as files into a directory, with a manifest that `check` reads: what the command `split` prints as JSON.
#[pyfunction]
#[pyo3(signature = (spec, data, directory, **options))]
pub fn split<'py>(
    spec: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    directory: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let whole = Spec { own: Spec::of(spec, Meant::Formula)? };
    let settings = Settings::new(options, &whole.own.settings)?;
    let spec = whole.asked(&settings)?;
    let slicing = settings.slicing()?;
    let slicing =
        slicing.ok_or_else(|| refused("say how many slices there are: slices=N, or period=\"7d\""))?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let directory = file(directory)?;
    let report = interrupt::run(data.py(), session, move |session| {
        session.split(&spec, &files, &slicing, directory.as_ref())
    })?;
    let object = |(file, positions, events): &(String, u64, u64)| {
        let object = Object::new().field("file", file.as_str()).field("positions", *positions);
        object.field("events", *events).end()
    };
    values::dictionaries(data.py(), &report.files.iter().map(object).collect::<Vec<_>>())
}

/// The formula that is still owed after each event, a dictionary per event and property.
#[pyfunction]
#[pyo3(signature = (spec, data, **options))]
pub fn residuals<'py>(
    spec: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let whole = Spec { own: Spec::of(spec, Meant::Formula)? };
    let settings = Settings::new(options, &whole.own.settings)?;
    let spec = whole.asked(&settings)?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let own = Arc::clone(&spec);
    let reports = interrupt::run(data.py(), session, move |session| session.residuals(&own, &files))?;
    let objects = reports.iter().flat_map(|own| own.steps.iter().map(|step| json::residual(own, step)));
    values::dictionaries(data.py(), &objects.collect::<Vec<_>>())
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

/// The automata of properties and queries by their names: `alternating`, or `dfa`; as Graphviz text, pictures or JSON (`dot`, `svg`,
/// `json`).
#[pyfunction]
#[pyo3(signature = (spec, kind = "alternating", form = "dot", **options))]
pub fn automata<'py>(
    spec: &Bound<'py, PyAny>,
    kind: &str,
    form: &str,
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
        let drawn = match form {
            "dot" => graph.to_dot(),
            "svg" => graph.to_svg().map_err(|large| refused(large.to_string()))?,
            "json" => graph.to_json().to_string(),
            other => return Err(refused(format!("form={other:?}: expected dot, svg or json"))),
        };
        dict.set_item(name, drawn)?;
    }
    Ok(dict)
}

/// The specification of another monitor, or a sequence diagram, as one of ours: the text. `format` is told by the name or the text, if
/// it is left out; `signature` declares the predicates of MonPoly, `period` and `unit` are those of RTAMT.
#[pyfunction]
#[pyo3(signature = (source, *, format = None, signature = None, period = None, unit = None))]
pub fn import_spec(
    source: &Bound<'_, PyAny>,
    format: Option<&str>,
    signature: Option<&Bound<'_, PyAny>>,
    period: Option<&Bound<'_, PyAny>>,
    unit: Option<&Bound<'_, PyAny>>,
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
    let defaults = import::Options::default();
    let unit = unit.map_or(Ok(defaults.unit), |unit| named("unit", unit, &TimeUnit::ALL))?;
    let period =
        period.map(|own| length("period", &own.str()?.to_string(), TimeUnit::Seconds)).transpose()?;
    let period = period.unwrap_or(defaults.period);
    let options = import::Options { signature, period, unit, spell: in_python };
    Ok(checked(import::import(&name, &text, found, &options))?.0)
}
