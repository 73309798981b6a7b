//! Specifications, and their verbs.

use crate::data::{self, Data};
use crate::error::{checked, in_python, raised};
use crate::monitor::Monitor;
use crate::report::Report;
use crate::settings::Settings;
use crate::verbs::{self, EvalReport, QueryReport, RobustReport};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;
use tracewise::Specification;

/// A specification: its text, parsed and checked.
#[pyclass(frozen, module = "tracewise")]
pub struct Spec {
    pub own: Arc<Specification>,
}

/// How a text that is nothing as it stands was most likely meant.
#[derive(Clone, Copy, PartialEq)]
pub enum Meant {
    /// As a formula.
    Formula,
    /// As a query.
    Query,
}

/// Words with which declarations begin.
const DECLARATIONS: &[&str] = &[
    "property", "query", "let", "var", "event", "stream", "observe", "trigger", "require", "monitor",
    "chart", "after", "trace",
];

/// A specification, one formula or one query, whichever the text is.
fn of_text(name: Option<&str>, text: &str, meant: Meant) -> Result<Specification, tracewise::Error> {
    let whole = Specification::from_text(name.unwrap_or("<spec>"), text);
    let Err(error) = whole else { return whole };
    if let Ok(formula) = Specification::from_formula(text) {
        return Ok(formula);
    }
    if let Ok(query) = Specification::from_query(text) {
        return Ok(query);
    }
    let first = text.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty());
    if text.contains(';') || first.is_some_and(|word| DECLARATIONS.contains(&word)) {
        return Err(error);
    }
    match meant {
        Meant::Formula => Specification::from_formula(text),
        Meant::Query => Specification::from_query(text),
    }
}

impl Spec {
    /// Of a specification, a path or a text.
    pub fn of(object: &Bound<'_, PyAny>, meant: Meant) -> PyResult<Arc<Specification>> {
        if let Ok(spec) = object.cast::<Spec>() {
            return Ok(Arc::clone(&spec.get().own));
        }
        match object.cast::<PyString>() {
            Ok(text) if !is_file(text.to_str()?) => {
                checked(of_text(None, text.to_str()?, meant)).map(Arc::new)
            }
            _ => match data::path(object)? {
                Some(path) => checked(Specification::from_file(&path)).map(Arc::new),
                None => Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "found {}, expected a tracewise.Spec, the text of a specification, or the path of a `.tw` file",
                    object.get_type().name()?
                ))),
            },
        }
    }
}

impl Spec {
    /// A monitor of what is asked for.
    pub fn followed(&self, settings: Settings, state: Option<Vec<u8>>) -> PyResult<Monitor> {
        Monitor::over(&self.asked(&settings)?, settings, state)
    }

    /// Of its properties and queries, those that are asked for.
    fn asked(&self, settings: &Settings) -> PyResult<Arc<Specification>> {
        match settings.only.as_slice() {
            [] => Ok(Arc::clone(&self.own)),
            names => Ok(Arc::new(checked(self.own.only(names))?.into_owned())),
        }
    }
}

/// Whether a text names a file of a specification.
fn is_file(text: &str) -> bool {
    text.ends_with(".tw") && !text.contains(['\n', ';', '"'])
}

#[pymethods]
impl Spec {
    /// A specification, one formula or one query; a text that ends with `.tw`, or a path, names a file.
    #[new]
    #[pyo3(signature = (text, *, name = None))]
    fn new(text: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<Self> {
        match (text.cast::<PyString>(), name) {
            (Ok(text), Some(name)) => {
                let own =
                    of_text(Some(&name), text.to_str()?, Meant::Formula).map_err(|error| raised(&error))?;
                Ok(Self { own: Arc::new(own) })
            }
            _ => Ok(Self { own: Self::of(text, Meant::Formula)? }),
        }
    }

    /// The text.
    #[getter]
    fn text(&self) -> String {
        let program = &self.own.program;
        let root = program
            .roots
            .first()
            .map(|root| root.span)
            .or_else(|| program.monitors.first().map(|own| own.span));
        root.map_or(String::new(), |span| self.own.sources.get(span.source).text.to_string())
    }

    /// The names of its properties and monitors.
    #[getter]
    fn properties(&self) -> Vec<String> {
        let program = &self.own.program;
        let roots = program.roots.iter().filter(|root| root.kind == tracewise::ir::RootKind::Property);
        roots
            .map(|root| root.name.clone())
            .chain(program.monitors.iter().map(|monitor| monitor.name.clone()))
            .collect()
    }

    /// The names of its queries.
    #[getter]
    fn queries(&self) -> Vec<String> {
        let roots = self.own.program.roots.iter().filter(|root| root.kind == tracewise::ir::RootKind::Query);
        roots.map(|root| root.name.clone()).collect()
    }

    /// What was noticed in the text and is no error.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let render = |found| {
            in_python(
                tracewise::diag::render(std::slice::from_ref(found), &self.own.sources, false).trim_end(),
            )
        };
        self.own.warnings.iter().map(render).collect()
    }

    /// The verdict of every property on data.
    #[pyo3(signature = (data, **options))]
    fn check(&self, data: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Report> {
        let settings = Settings::new(options, &self.own.settings)?;
        Report::check(data.py(), &self.asked(&settings)?, Data::of(data, &settings)?, settings)
    }

    /// The value of every query on data.
    #[pyo3(signature = (data, **options))]
    fn query(&self, data: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<QueryReport> {
        let settings = Settings::new(options, &self.own.settings)?;
        verbs::query(data.py(), &self.asked(&settings)?, Data::of(data, &settings)?, settings)
    }

    /// The truth of the first formula at every position of data.
    #[pyo3(signature = (data, **options))]
    fn eval(&self, data: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<EvalReport> {
        let settings = Settings::new(options, &self.own.settings)?;
        verbs::eval(data.py(), &self.asked(&settings)?, Data::of(data, &settings)?, settings)
    }

    /// By how much every property holds on data.
    #[pyo3(signature = (data, **options))]
    fn robust(&self, data: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<RobustReport> {
        let settings = Settings::new(options, &self.own.settings)?;
        verbs::robust(data.py(), &self.asked(&settings)?, Data::of(data, &settings)?, settings)
    }

    /// A monitor to feed with positions as they come.
    #[pyo3(signature = (*, state = None, **options))]
    fn monitor(&self, state: Option<Vec<u8>>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Monitor> {
        let settings = Settings::new(options, &self.own.settings)?;
        self.followed(settings, state)
    }

    fn __repr__(&self) -> String {
        let text = self.text();
        format!("Spec({:?})", tracewise::findings::words::clip(text.trim(), 200))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().into_any(), (slf.get().text(),)))
    }
}

/// The verbs of the package, which take any of what [`Spec::of`] does.
#[pyfunction]
#[pyo3(signature = (spec, data, **options))]
pub fn check(
    spec: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Report> {
    Spec { own: Spec::of(spec, Meant::Formula)? }.check(data, options)
}

/// The value of every query.
#[pyfunction]
#[pyo3(signature = (spec, data, **options))]
pub fn query(
    spec: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<QueryReport> {
    Spec { own: Spec::of(spec, Meant::Query)? }.query(data, options)
}

/// The truth of a formula at every position.
#[pyfunction]
#[pyo3(signature = (spec, data, **options))]
pub fn eval(
    spec: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<EvalReport> {
    Spec { own: Spec::of(spec, Meant::Formula)? }.eval(data, options)
}

/// By how much properties hold.
#[pyfunction]
#[pyo3(signature = (spec, data, **options))]
pub fn robust(
    spec: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<RobustReport> {
    Spec { own: Spec::of(spec, Meant::Formula)? }.robust(data, options)
}
