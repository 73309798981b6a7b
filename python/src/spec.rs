//! Specifications, and their verbs.

use crate::data::{self, Data};
use crate::error::{checked, in_python, raised};
use crate::monitor::Monitor;
use crate::report::Report;
use crate::settings::{Settings, named};
use crate::verbs::{self, EvalReport, QueryReport, RobustReport};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;
use tracewise::Specification;
use tracewise::chart::{ChartOptions, Matching, Reading};
use tracewise::explain::ExplainOptions;
use tracewise::findings::json;
use tracewise::ir::{ArgumentKey, Path, PatternArgument, What};

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
    pub fn asked(&self, settings: &Settings) -> PyResult<Arc<Specification>> {
        match settings.only.as_slice() {
            [] => Ok(Arc::clone(&self.own)),
            names => Ok(Arc::new(checked(self.own.only(names))?.into_owned())),
        }
    }
}

impl Spec {
    /// Where its text stands.
    fn source(&self) -> Option<&tracewise::diag::Source> {
        let root = self.own.program.roots.first().map(|root| root.span);
        let span = root.or_else(|| self.own.tree.declarations.first().map(|own| own.span));
        span.map(|span| self.own.sources.get(span.source))
    }

    /// The name of its text.
    pub fn name(&self) -> String {
        self.source().map_or("<spec>".into(), |own| own.name.to_string())
    }
}

/// Whether a text names a file of a specification.
pub fn is_file(text: &str) -> bool {
    (text.ends_with(".tw") || text.ends_with(".elsc")) && !text.contains(['\n', ';', '"'])
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

    /// Rules that are there: `posix` for recorded calls of libc, `collections` for iterators, readers and locks.
    #[staticmethod]
    fn library(name: &str) -> PyResult<Self> {
        let own = checked(tracewise::library::find(name).and_then(|own| own.specification()))?;
        Ok(Self { own: Arc::new(own) })
    }

    /// The text.
    #[getter]
    pub fn text(&self) -> String {
        self.source().map_or(String::new(), |own| own.text.to_string())
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

    /// The names of its monitors.
    #[getter]
    fn monitors(&self) -> Vec<String> {
        self.own.program.monitors.iter().map(|monitor| monitor.name.clone()).collect()
    }

    /// The columns that it may read, by the first of their names.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.own.program.slots.iter().flat_map(|slot| read(&slot.what)).collect();
        if !self.own.program.templates.is_empty() {
            names.push("text".into());
        }
        names.sort();
        names.dedup();
        names
    }

    /// The variables that it quantifies over, and the parameters of monitors, each with the columns that its values come from.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (program, dict) = (&self.own.program, PyDict::new(py));
        let invariants = program.roots.iter().filter_map(|root| program.invariant(root.node));
        let mut outer: Vec<usize> = invariants.flat_map(|(outer, _)| outer).map(|own| own as usize).collect();
        outer.sort_unstable();
        outer.dedup();
        for number in outer {
            let (name, mut columns) = (&program.dag.variables[number], Vec::new());
            for pattern in &program.dag.patterns {
                let own = pattern.arguments.iter().filter(|(_, argument)| {
                    matches!(argument, PatternArgument::Variable(own) if *own as usize == number)
                });
                columns.extend(own.filter_map(|(key, _)| argument(key)));
            }
            dict.set_item(name, columns)?;
        }
        for parameter in program.monitors.iter().flat_map(|monitor| &monitor.parameters) {
            if !dict.contains(parameter)? {
                dict.set_item(parameter, vec![parameter])?;
            }
        }
        Ok(dict)
    }

    /// Whether it has columns that equations define from other positions.
    #[getter]
    fn derives(&self) -> bool {
        self.own.program.derives()
    }

    /// What its `trace` block says of traces: `time`, `event`, `by`.
    #[getter]
    fn trace_settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (settings, dict) = (&self.own.settings, PyDict::new(py));
        for (name, value) in [("time", &settings.time), ("event", &settings.event), ("by", &settings.by)] {
            value.as_ref().map_or(Ok(()), |value| dict.set_item(name, value))?;
        }
        Ok(dict)
    }

    /// Its charts alone: `reading` is `segment`, `ltl` or `precedes`, `matching` `paper` or `injective`; with `open_end` what is pending
    /// at the end is open; `columns` say whether a message is sent or received, and which it is.
    #[pyo3(signature = (*, reading = None, matching = None, open_end = false, columns = None))]
    fn charts(
        &self,
        reading: Option<&Bound<'_, PyAny>>,
        matching: Option<&Bound<'_, PyAny>>,
        open_end: bool,
        columns: Option<[String; 2]>,
    ) -> PyResult<Self> {
        let reading = reading.map(|own| named("reading", own, &Reading::ALL)).transpose()?;
        let matching = matching.map(|own| named("matching", own, &Matching::ALL)).transpose()?;
        let options = ChartOptions { reading, matching: matching.unwrap_or_default(), open_end, columns };
        Ok(Self { own: Arc::new(checked(self.own.charts(&options))?) })
    }

    /// A picture of its charts, or of the one that is named: `svg`, or `dot` for the order of events; with data, what happened of the
    /// charts is coloured, up to the first violation.
    #[pyo3(signature = (data = None, *, chart = None, form = "svg", **options))]
    fn draw(
        &self,
        py: Python<'_>,
        data: Option<&Bound<'_, PyAny>>,
        chart: Option<&str>,
        form: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        crate::pictures::charts(py, &self.own, data, chart, form, options)
    }

    /// Its charts as formulas over `send(msg)` and `recv(msg)`, by their names.
    fn chart_formulas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for own in checked(self.own.chart_formulas())? {
            dict.set_item(own.property, own.formula)?;
        }
        Ok(dict)
    }

    /// What it consists of, which engine runs it and why: what the command `explain` prints with `--output json`.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let spec = Arc::clone(&self.own);
        let report = crate::interrupt::run(py, tracewise::Session::new(), move |session| {
            session.explain_spec(&spec, ExplainOptions::default())
        })?;
        let mut lines = Vec::new();
        json::explain("<spec>", &report, &mut lines)?;
        crate::others::lines(py, in_python(&String::from_utf8_lossy(&lines)).as_bytes())
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

    fn _repr_html_(&self) -> String {
        crate::pictures::specification(&self.own, &self.text())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().into_any(), (slf.get().text(),)))
    }
}

/// The first name of each column that a slot may be read from.
fn read(what: &What) -> Vec<String> {
    let first = |path: &Path| path.to_string().split(['.', '[']).next().map(str::to_string);
    match what {
        What::Proposition(path) | What::Variable(path, _) => first(path).into_iter().collect(),
        What::Event { name, arguments, .. } => {
            arguments.iter().filter_map(|(key, _)| argument(key)).chain([name.clone()]).collect()
        }
        What::Tuples { name, constants, arguments, .. } => {
            let keys = constants.iter().map(|(key, _)| key).chain(arguments);
            keys.filter_map(argument).chain([name.clone()]).collect()
        }
        What::Timing(timing) => timing.by.iter().filter_map(first).collect(),
        What::Stream { .. } | What::Shift(_) | What::Window(_) => Vec::new(),
    }
}

/// The column that an argument stands in.
fn argument(key: &ArgumentKey) -> Option<String> {
    match key {
        ArgumentKey::Index(_) => None,
        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => Some(name.clone()),
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
