//! Values, truths and robustness as objects over the findings.

use crate::data::{Data, Traced};
use crate::error::raised;
use crate::html;
use crate::interrupt;
use crate::settings::Settings;
use crate::table::{Builder, Table};
use crate::values;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::sync::Arc;
use std::time::Duration;
use tracewise::findings::{self, json, words};
use tracewise::plot::{Axis, Panel, Panels, Series, Thinner, WIDTH};
use tracewise::query::{Edge, QueryOptions, QueryResult};
use tracewise::robust::RobustOptions;
use tracewise::trace::Stamp;
use tracewise::{Specification, Value};

/// The values of queries.
#[pyclass(frozen, module = "tracewise")]
pub struct QueryReport {
    own: Arc<Answered>,
}

struct Answered {
    spec: Arc<Specification>,
    traced: Vec<Traced>,
    options: QueryOptions,
    reports: Vec<findings::Report>,
}

impl Answered {
    fn results(&self) -> impl Iterator<Item = (&findings::Report, &QueryResult)> {
        self.reports.iter().flat_map(|report| report.values().map(move |result| (report, result)))
    }
}

/// Answers every query on every trace.
pub fn query(
    py: Python<'_>,
    spec: &Arc<Specification>,
    data: Data,
    settings: Settings,
) -> PyResult<QueryReport> {
    let options = QueryOptions {
        by: settings.by.clone(),
        witness: settings.witness,
        explain: settings.explain.unwrap_or(true),
        ..QueryOptions::default()
    };
    let traced = data.traces(&settings)?;
    let reports =
        traced.iter().map(|traced| ask(py, spec, traced, &options)).collect::<PyResult<Vec<_>>>()?;
    Ok(QueryReport { own: Arc::new(Answered { spec: Arc::clone(spec), traced, options, reports }) })
}

fn ask(
    py: Python<'_>,
    spec: &Arc<Specification>,
    traced: &Traced,
    options: &QueryOptions,
) -> PyResult<findings::Report> {
    let (session, files) = traced.clone();
    let (spec, options) = (Arc::clone(spec), options.clone());
    let (report, failures) = interrupt::run(py, session, move |session| {
        let mut report = session.query(&spec, &files, &options)?;
        let failures = std::mem::take(&mut report.failures);
        Ok((findings::Report::of_query(report, &spec, Duration::ZERO), failures))
    })?;
    match failures.first() {
        Some(error) => Err(raised(error)),
        None => Ok(report),
    }
}

#[pymethods]
impl QueryReport {
    /// The queries in their order.
    #[getter]
    fn queries(&self) -> Vec<Query> {
        (0..self.own.results().count()).map(|at| Query { own: Arc::clone(&self.own), at }).collect()
    }

    /// The value of the one query there is.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.queries().as_slice() {
            [one] => one.value(py),
            several => Err(PyValueError::new_err(format!(
                "there are {} queries: name one, as in report[\"name\"]",
                several.len()
            ))),
        }
    }

    /// The values at every position of the one query there is, as an array of numpy.
    #[getter]
    fn at_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.queries().as_slice() {
            [one] => one.at_all(py),
            several => Err(PyValueError::new_err(format!(
                "there are {} queries: name one, as in report[\"name\"]",
                several.len()
            ))),
        }
    }

    /// All values in one table: a row per query and part of the trace.
    #[getter]
    fn table(&self) -> Table {
        let rows: Vec<_> = self
            .own
            .results()
            .flat_map(|(report, result)| result.groups.iter().map(move |group| (report, result, group)))
            .collect();
        let mut table = Builder::default();
        table.texts("query", rows.iter().map(|(_, result, _)| Some(result.name.as_str())));
        if self.own.reports.len() > 1 {
            table.texts("trace", rows.iter().map(|(report, ..)| Some(report.subject.as_str())));
        }
        let mut columns: Vec<&str> = Vec::new();
        for (_, result) in self.own.results() {
            if let Some(by) = result.by.as_deref().filter(|by| !columns.contains(by)) {
                columns.push(by);
            }
        }
        for by in columns {
            let keys: Vec<Value> = rows
                .iter()
                .map(|(_, result, group)| match result.by.as_deref() == Some(by) {
                    true => group.key.clone().unwrap_or(Value::Null),
                    false => Value::Null,
                })
                .collect();
            table.values(by, &keys);
        }
        if rows.iter().any(|(_, _, group)| group.window.is_some()) {
            let edges: Vec<_> = rows.iter().map(|(_, _, group)| group.window).collect();
            edge_column(&mut table, "from", edges.iter().map(|window| window.map(|(from, _)| from)));
            edge_column(&mut table, "to", edges.iter().map(|window| window.map(|(_, to)| to)));
        }
        let worth: Vec<Value> = rows.iter().map(|(_, _, group)| group.value.clone()).collect();
        table.values("value", &worth);
        table.finish()
    }

    /// What was noticed and is no error.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let all = self.own.reports.iter().flat_map(|report| &report.warnings);
        all.map(|warning| crate::error::in_python(&warning.diagnostic.message)).collect()
    }

    /// As a data frame of polars.
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, self.table())?.call_method0("to_polars")
    }

    /// As a data frame of pandas.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, self.table())?.call_method0("to_pandas")
    }

    /// As a table of pyarrow.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, self.table())?.call_method0("to_arrow")
    }

    /// The Arrow stream of the table.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        Ok(Bound::new(py, self.table())?.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?)
    }

    /// The objects that the command `query` prints with `--output json`.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let objects: Vec<String> = self.own.reports.iter().flat_map(json::objects).collect();
        values::dictionaries(py, &objects)
    }

    fn __len__(&self) -> usize {
        self.own.results().count()
    }

    /// A query by its name or number.
    fn __getitem__(&self, which: &Bound<'_, PyAny>) -> PyResult<Query> {
        let at = place(which, self.own.results().map(|(_, result)| result.name.as_str()))?;
        Ok(Query { own: Arc::clone(&self.own), at })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(Bound::new(py, self.table())?.repr()?.to_string())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        Bound::new(py, self.table())?.call_method0("_repr_html_")?.extract()
    }
}

/// Where a name or number is in a list of names.
fn place<'n>(which: &Bound<'_, PyAny>, names: impl Iterator<Item = &'n str>) -> PyResult<usize> {
    let names: Vec<&str> = names.collect();
    if let Ok(name) = which.extract::<String>() {
        return names.iter().position(|known| *known == name).ok_or_else(|| PyKeyError::new_err(name));
    }
    let at: isize = which.extract()?;
    let number = if at < 0 { at + names.len() as isize } else { at };
    let found = usize::try_from(number).ok().filter(|number| *number < names.len());
    found.ok_or_else(|| PyIndexError::new_err(format!("{at} of {}", names.len())))
}

fn edge_column(table: &mut Builder, name: &str, edges: impl Iterator<Item = Option<Edge>>) {
    let edges: Vec<Option<Edge>> = edges.collect();
    match edges.iter().flatten().next() {
        Some(Edge::Position(_)) => table.numbers(
            name,
            edges.iter().map(|edge| match edge {
                Some(Edge::Position(position)) => Some(*position as u64),
                _ => None,
            }),
        ),
        _ => {
            let stamp = |edge: &Option<Edge>| match edge {
                Some(Edge::Time(stamp)) => Some(*stamp),
                _ => None,
            };
            table.times(name, &edges.iter().map(stamp).collect::<Vec<Option<Stamp>>>());
        }
    }
}

/// The value of one query.
#[pyclass(frozen, module = "tracewise")]
pub struct Query {
    own: Arc<Answered>,
    at: usize,
}

impl Query {
    fn result(&self) -> PyResult<(&findings::Report, &QueryResult)> {
        self.own.results().nth(self.at).ok_or_else(|| PyIndexError::new_err(self.at))
    }
}

#[pymethods]
impl Query {
    /// Its name; of a query alone, its text.
    #[getter]
    fn name(&self) -> PyResult<&str> {
        Ok(&self.result()?.1.name)
    }

    /// The sentence after the name.
    #[getter]
    fn title(&self) -> PyResult<Option<&str>> {
        Ok(self.result()?.1.title.as_deref())
    }

    /// The value; divided by a column, a dictionary of values.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let result = self.result()?.1;
        if result.by.is_none() && result.every.is_none() {
            return values::value(py, result.groups.first().map_or(&Value::Null, |group| &group.value));
        }
        let dict = PyDict::new(py);
        for group in &result.groups {
            let key = group.key.as_ref().map(|key| values::value(py, key)).transpose()?;
            let from = match group.window {
                None => None,
                Some((Edge::Time(stamp), _)) => Some(values::time(py, Some(stamp))?),
                Some((Edge::Position(position), _)) => Some(position.into_pyobject(py)?.into_any()),
            };
            let own = values::value(py, &group.value)?;
            match (key, from) {
                (Some(key), Some(from)) => dict.set_item((key, from), own)?,
                (Some(key), None) => dict.set_item(key, own)?,
                (None, Some(from)) => dict.set_item(from, own)?,
                (None, None) => dict.set_item(py.None(), own)?,
            }
        }
        Ok(dict.into_any())
    }

    /// The value at every position, as an array of numpy: reals where all values are numbers (NaN where there is none).
    #[getter]
    fn at_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let name = self.result()?.1.name.clone();
        let each = self.own.reports.first().map_or(1, |report| report.items.len().max(1));
        let traced = self.own.traced.get(self.at / each).ok_or_else(|| PyIndexError::new_err(self.at))?;
        let options = QueryOptions { everywhere: true, ..self.own.options.clone() };
        let report = ask(py, &self.own.spec, traced, &options)?;
        let result = report.values().find(|result| result.name == name);
        let everywhere = result.and_then(|result| result.everywhere.as_deref()).unwrap_or_default();
        let real = |value: &Value| match value {
            Value::Null => Some(f64::NAN),
            Value::Int(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            _ => None,
        };
        match everywhere.iter().map(real).collect::<Option<Vec<f64>>>() {
            Some(numbers) => values::reals(py, &numbers),
            None => {
                let objects =
                    everywhere.iter().map(|own| values::value(py, own)).collect::<PyResult<Vec<_>>>()?;
                let options = PyDict::new(py);
                options.set_item("dtype", "object")?;
                py.import("numpy")?.getattr("array")?.call((objects,), Some(&options))
            }
        }
    }

    /// Why there is no value, where there is none.
    #[getter]
    fn missing(&self) -> PyResult<Option<&str>> {
        Ok(self.result()?.1.groups.iter().find_map(|group| group.missing.as_deref()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{} = {}", self.result()?.1.name, self.value(py)?.repr()?))
    }
}

/// The truth of a formula at every position.
#[pyclass(frozen, module = "tracewise")]
pub struct EvalReport {
    own: tracewise::eval::EvalReport,
}

/// Evaluates the first formula.
pub fn eval(
    py: Python<'_>,
    spec: &Arc<Specification>,
    data: Data,
    settings: Settings,
) -> PyResult<EvalReport> {
    let (session, files) = data.trace(&settings)?;
    let spec = Arc::clone(spec);
    Ok(EvalReport { own: interrupt::run(py, session, move |session| session.eval(&spec, &files))? })
}

#[pymethods]
impl EvalReport {
    /// The truth at every position, as an array of numpy.
    #[getter]
    fn at_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bits = &self.own.values;
        let bytes: Vec<u8> = (0..bits.len()).map(|at| u8::from(bits.get(at))).collect();
        values::array(py, &bytes, "?")
    }

    /// The same.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.at_all(py)
    }

    /// The engine that ran.
    #[getter]
    fn engine(&self) -> &'static str {
        self.own.engine
    }

    /// The objects that the command `eval` prints with `--output json`.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut out = Vec::new();
        json::eval(&self.own, &mut out)?;
        crate::others::lines(py, &out)
    }

    fn __len__(&self) -> usize {
        self.own.values.len()
    }

    fn __getitem__(&self, at: isize) -> PyResult<bool> {
        let all = self.own.values.len();
        let position = if at < 0 { at + all as isize } else { at };
        match usize::try_from(position).ok().filter(|position| *position < all) {
            Some(position) => Ok(self.own.values.get(position)),
            None => Err(PyIndexError::new_err(format!("position {at} of {all}"))),
        }
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // It is made anew each time.
        let _ = copy;
        let array = self.at_all(py)?;
        dtype.map_or(Ok(array.clone()), |dtype| array.call_method1("astype", (dtype,)))
    }

    fn __repr__(&self) -> String {
        let (bits, trace) = (&self.own.values, &self.own.trace);
        format!(
            "true at {} of {} of {trace}",
            bits.count_ones(),
            words::counted(bits.len() as u64, "position")
        )
    }
}

/// By how much properties hold.
#[pyclass(frozen, module = "tracewise")]
pub struct RobustReport {
    own: Arc<findings::Report>,
}

/// By how much one property holds.
#[pyclass(frozen, module = "tracewise")]
pub struct Robustness {
    own: Arc<findings::Report>,
    at: usize,
}

/// Computes the robustness of every property, at every position.
pub fn robust(
    py: Python<'_>,
    spec: &Arc<Specification>,
    data: Data,
    settings: Settings,
) -> PyResult<RobustReport> {
    let options = RobustOptions {
        by: settings.by.clone(),
        everywhere: true,
        explain: settings.explain.unwrap_or(true),
        interpolate: settings.interpolate,
        ..RobustOptions::default()
    };
    let (session, files) = data.trace(&settings)?;
    let spec = Arc::clone(spec);
    let own = interrupt::run(py, session, move |session| {
        let report = session.robust(&spec, &files, &options)?;
        Ok(findings::Report::of_robust(report, &spec, None, Duration::ZERO))
    })?;
    Ok(RobustReport { own: Arc::new(own) })
}

fn found(report: &findings::Report, at: usize) -> Option<&tracewise::robust::Robustness> {
    match &report.items.get(at)?.detail {
        findings::Detail::Robustness(found) => Some(found),
        _ => None,
    }
}

#[pymethods]
impl RobustReport {
    /// One per property; with `by`, one per property and value of the column.
    #[getter]
    fn properties(&self) -> Vec<Robustness> {
        (0..self.own.items.len()).map(|at| Robustness { own: Arc::clone(&self.own), at }).collect()
    }

    /// The value of the first property, at position 0.
    #[getter]
    fn value(&self) -> Option<f64> {
        found(&self.own, 0).map(|found| found.value)
    }

    /// The values of the first property at every position, as an array of numpy.
    #[getter]
    fn at_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Robustness { own: Arc::clone(&self.own), at: 0 }.at_all(py)
    }

    /// What was noticed and is no error.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.own.warnings.iter().map(|warning| crate::error::in_python(&warning.diagnostic.message)).collect()
    }

    /// The objects that the command `robust` prints with `--output json`.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut report = findings::Report::clone(&self.own);
        for item in &mut report.items {
            if let findings::Detail::Robustness(found) = &mut item.detail {
                found.everywhere = None;
            }
        }
        values::dictionaries(py, &json::objects(&report))
    }

    fn __len__(&self) -> usize {
        self.own.items.len()
    }

    /// A property by its name or number.
    fn __getitem__(&self, which: &Bound<'_, PyAny>) -> PyResult<Robustness> {
        let at = place(which, self.own.items.iter().map(|item| item.name.as_str()))?;
        Ok(Robustness { own: Arc::clone(&self.own), at })
    }

    fn __repr__(&self) -> String {
        self.properties().iter().map(Robustness::__repr__).collect::<Vec<_>>().join("\n")
    }

    fn _repr_html_(&self) -> String {
        let texts: String = self
            .properties()
            .iter()
            .map(|own| format!("<div>{}</div>", html::escape(&own.__repr__())))
            .collect();
        html::pictures(&[self.svg()], &texts)
    }

    /// The robustness over time as a picture, SVG.
    fn svg(&self) -> String {
        let style = self.own.times.as_ref().map(|(_, style)| *style);
        let label = match style {
            Some(tracewise::trace::TimeStyle::Number(unit)) => format!("time ({})", unit.name()),
            Some(tracewise::trace::TimeStyle::Text) => "seconds since the beginning".to_string(),
            None => "position".to_string(),
        };
        let per = match style {
            Some(tracewise::trace::TimeStyle::Number(unit)) => unit.nanoseconds() as f64,
            _ => 1e9,
        };
        let first = match (&self.own.times, style) {
            (Some((times, _)), Some(tracewise::trace::TimeStyle::Text)) => {
                times.first().copied().unwrap_or(0)
            }
            _ => 0,
        };
        let at = |position: usize| match &self.own.times {
            Some((times, _)) => times.get(position).map_or(0.0, |time| (*time - first) as f64 / per),
            None => position as f64,
        };
        let series = |number: usize| {
            let found = found(&self.own, number)?;
            let mut thinner = Thinner::new(2 * WIDTH as usize);
            let everywhere = found.everywhere.as_deref().unwrap_or_default();
            thinner.extend(everywhere.iter().map(|&(position, value)| (at(position), Some(value))));
            Some(Series { name: found.name.clone(), points: thinner.finish(), step: false })
        };
        let panel = Panel {
            label: "robustness".into(),
            signed: true,
            series: (0..self.own.items.len().min(8)).filter_map(series).collect(),
            ..Panel::default()
        };
        let title = match self.own.items.as_slice() {
            [one] => words::clip(&one.name, 80),
            // Names stand beside the lines.
            _ => String::new(),
        };
        let panels =
            Panels { title, x: Axis { label, ..Axis::default() }, panels: vec![panel], ..Panels::default() };
        tracewise::plot::svg_panels(&panels, WIDTH, 320)
    }
}

#[pymethods]
impl Robustness {
    /// Its name; of a formula alone, its text.
    #[getter]
    fn name(&self) -> &str {
        &self.own.items[self.at].name
    }

    /// The value of the `by` column.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::value(
            py,
            found(&self.own, self.at).and_then(|found| found.key.as_ref()).unwrap_or(&Value::Null),
        )
    }

    /// The value at position 0, or at the first position of the key.
    #[getter]
    fn value(&self) -> Option<f64> {
        found(&self.own, self.at).map(|found| found.value)
    }

    /// The values at every position, as an array of numpy; with `by`, at the key's own positions.
    #[getter]
    fn at_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let everywhere =
            found(&self.own, self.at).and_then(|found| found.everywhere.as_deref()).unwrap_or_default();
        values::reals(py, &everywhere.iter().map(|(_, value)| *value).collect::<Vec<_>>())
    }

    /// What decides the value, in words.
    fn explain(&self) -> String {
        match found(&self.own, self.at) {
            Some(found) => match &found.weakest {
                Some(link) => words::decided(link, found.value),
                None => words::number(found.value),
            },
            None => String::new(),
        }
    }

    fn __repr__(&self) -> String {
        let value = self.value().map_or(String::new(), words::number);
        format!("{}: robustness {value}", self.name())
    }
}
