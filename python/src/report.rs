//! Verdicts as objects over the findings of `check`.

use crate::data::{Data, Traced};
use crate::error::in_python;
use crate::html;
use crate::interrupt;
use crate::listed::violations;
use crate::settings::Settings;
use crate::table::Table;
use crate::values;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tracewise::check::CheckOptions;
use tracewise::findings::{self, Item, Severity, json, words};
use tracewise::trace::Stamp;
use tracewise::{Specification, Value};

/// What was found on one trace, and how to ask it again.
pub struct Examined {
    spec: Arc<Specification>,
    traced: Traced,
    options: CheckOptions,
    /// Whether keys are numbers.
    numeric: bool,
    found: findings::Report,
    /// The same with all violations, once somebody asks for those that `found` does not list.
    all: OnceLock<findings::Report>,
}

/// Violations that are listed at once of data in memory. The others are found when they are asked for.
const AT_ONCE: usize = 10;

impl Examined {
    /// What was found, with every violation that a caller may see.
    fn whole(&self, py: Python<'_>) -> PyResult<&findings::Report> {
        let told = |item: &Item| item.listing.as_ref().map_or(item.violations.len(), |all| all.len());
        let lacks = |item: &Item| told(item) < item.violation_count.min(self.options.violations);
        if !self.found.items.iter().any(lacks) {
            return Ok(&self.found);
        }
        if let Some(all) = self.all.get() {
            return Ok(all);
        }
        let options = CheckOptions { explain: false, witness: false, listing: true, ..self.options.clone() };
        let all = examine(py, &self.spec, &self.traced, &options, self.numeric)?;
        Ok(self.all.get_or_init(|| all))
    }
}

/// Verdicts of the properties of a specification, on one trace or on several.
#[pyclass(frozen, module = "tracewise")]
pub struct Report {
    traces: Vec<Arc<Examined>>,
}

impl Report {
    /// Checks every trace.
    pub fn check(
        py: Python<'_>,
        spec: &Arc<Specification>,
        data: Data,
        settings: Settings,
    ) -> PyResult<Self> {
        let options = CheckOptions {
            violations: settings.violations.unwrap_or(usize::MAX),
            explain: settings.explain.unwrap_or(true),
            witness: settings.witness,
            by: settings.by.clone(),
            statistic: settings.statistic,
            clock_error: settings.clock_error()?,
            slicing: settings.slicing()?,
            ..CheckOptions::default()
        };
        let mut traces = Vec::new();
        // A file may be another one when it is read again.
        let most = if matches!(data, Data::Files(_)) { usize::MAX } else { AT_ONCE };
        let numeric = options.by.as_deref().is_some_and(|by| data.numeric(by));
        for traced in data.traces(&settings)? {
            let first = CheckOptions {
                violations: options.violations.min(most),
                listing: most == usize::MAX,
                ..options.clone()
            };
            let found = examine(py, spec, &traced, &first, numeric)?;
            traces.push(Arc::new(Examined {
                spec: Arc::clone(spec),
                traced,
                options: options.clone(),
                numeric,
                found,
                all: OnceLock::new(),
            }));
        }
        Ok(Self { traces })
    }

    /// The objects of all traces. Explanations are those of the first run, violations all there are.
    fn objects(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut objects = Vec::new();
        for trace in &self.traces {
            let whole = trace.whole(py)?;
            let mut report = trace.found.clone();
            for (item, all) in report.items.iter_mut().zip(&whole.items) {
                item.violations = listed(all).into_owned();
            }
            objects.extend(json::objects(&report));
        }
        Ok(objects)
    }

    fn items(&self) -> impl Iterator<Item = (&Arc<Examined>, usize)> {
        self.traces.iter().flat_map(|trace| (0..trace.found.items.len()).map(move |at| (trace, at)))
    }
}

fn examine(
    py: Python<'_>,
    spec: &Arc<Specification>,
    traced: &Traced,
    options: &CheckOptions,
    numeric: bool,
) -> PyResult<findings::Report> {
    let (session, files) = traced.clone();
    let (spec, options) = (Arc::clone(spec), options.clone());
    interrupt::run(py, session, move |session| {
        let started = Instant::now();
        let report = session.check(&spec, &files, &options)?;
        let mut report = findings::Report::of_check(report, &spec, started.elapsed());
        if let Some(by) = options.by.as_deref().filter(|_| numeric) {
            report.items.iter_mut().for_each(|item| as_numbers(item, by));
        }
        Ok(report)
    })
}

/// Keys that are numbers in the data are numbers in what is found.
fn as_numbers(item: &mut Item, by: &str) {
    let number = |value: &mut Value| {
        if let Value::Str(text) = value {
            *value = crate::monitor::key_value(text, true);
        }
    };
    let own = item.violations.iter_mut().flat_map(|own| &mut own.bindings);
    own.filter(|(name, _)| name == by).for_each(|(_, value)| number(value));
    if let Some(listing) = item.listing.as_mut().and_then(Arc::get_mut)
        && let Some((_, _, keys)) = &mut listing.keys
    {
        keys.iter_mut().for_each(number);
    }
}

#[pymethods]
impl Report {
    /// The properties in their order; of several traces, those of the first trace first.
    #[getter]
    fn properties(&self) -> Vec<Property> {
        self.items().map(|(of, at)| Property { of: Arc::clone(of), at }).collect()
    }

    /// All violations that are listed, in one table.
    #[getter]
    fn violations(&self, py: Python<'_>) -> PyResult<Table> {
        let whole = self.traces.iter().map(|trace| trace.whole(py)).collect::<PyResult<Vec<_>>>()?;
        let items =
            whole.iter().flat_map(|report| report.items.iter().map(|item| (report.subject.as_str(), item)));
        violations(items)
    }

    /// `violated` if a property is, else `unknown` if one is, else `satisfied`.
    #[getter]
    fn verdict(&self) -> &'static str {
        let has = |verdict| self.traces.iter().any(|trace| trace.found.with(verdict).next().is_some());
        match (has(tracewise::Verdict::Violated), has(tracewise::Verdict::Unknown)) {
            (true, _) => "violated",
            (false, true) => "unknown",
            (false, false) => "satisfied",
        }
    }

    /// Whether every property is satisfied.
    #[getter]
    fn ok(&self) -> bool {
        self.verdict() == "satisfied"
    }

    /// How many positions were read.
    #[getter]
    fn events(&self) -> u64 {
        self.traces.iter().filter_map(|trace| trace.found.statistics.positions).sum()
    }

    /// The engine that ran.
    #[getter]
    fn engine(&self) -> Option<&'static str> {
        self.traces.first().and_then(|trace| trace.found.statistics.engine)
    }

    /// The semantics.
    #[getter]
    fn semantics(&self) -> Option<&'static str> {
        self.traces.first().and_then(|trace| trace.found.statistics.semantics)
    }

    /// What was noticed and is no error.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for trace in &self.traces {
            let own = trace.found.items.iter().flat_map(|item| &item.warnings).chain(&trace.found.warnings);
            for warning in own {
                let text = in_python(&warning.diagnostic.message);
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        texts
    }

    /// The objects that the command `check` prints with `--output json`.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::dictionaries(py, &self.objects(py)?)
    }

    /// The same as text, an object on each line.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.objects(py)?.join("\n"))
    }

    fn __len__(&self) -> usize {
        self.items().count()
    }

    /// A property by its name or number.
    fn __getitem__(&self, which: &Bound<'_, PyAny>) -> PyResult<Property> {
        if let Ok(name) = which.extract::<String>() {
            let found = self.items().find(|(of, at)| of.found.items[*at].name == name);
            return match found {
                Some((of, at)) => Ok(Property { of: Arc::clone(of), at }),
                None => Err(PyKeyError::new_err(name)),
            };
        }
        let (at, all) = (which.extract::<isize>()?, self.__len__());
        let number = if at < 0 { at + all as isize } else { at };
        let found = usize::try_from(number).ok().and_then(|number| self.items().nth(number));
        found
            .map(|(of, at)| Property { of: Arc::clone(of), at })
            .ok_or_else(|| PyIndexError::new_err(format!("property {at} of {all}")))
    }

    fn __repr__(&self) -> String {
        let mut text = String::new();
        for trace in &self.traces {
            trace.found.items.iter().for_each(|item| text.push_str(&told(item)));
            text.push_str(&html::summary(&trace.found));
            text.push('\n');
        }
        text.trim_end().to_string()
    }

    fn _repr_html_(&self) -> String {
        html::reports(self.traces.iter().map(|trace| &trace.found))
    }
}

/// A property in words: its verdict, where it fails, why.
fn told(item: &Item) -> String {
    let mark = match item.verdict {
        Some(tracewise::Verdict::Satisfied) => "✓",
        Some(tracewise::Verdict::Violated) => "✗",
        _ => "?",
    };
    let title = item.title.as_ref().map_or(String::new(), |title| format!("  {}", words::printable(title)));
    let mut text = format!("{mark} {}{title}\n", words::clip(&words::printable(&item.name), 200));
    if let Some(undecided) = words::undecided(item) {
        text.push_str(&format!("    {undecided}\n"));
    }
    if let Some(first) = item.violations.first() {
        let more =
            if item.violation_count > 1 { format!(" (of {})", item.violation_count) } else { String::new() };
        text.push_str(&format!("    {}{more}\n", place(first)));
    }
    if let Some(explanation) = words::core(item) {
        words::explanation(explanation).lines().for_each(|line| text.push_str(&format!("    {line}\n")));
    }
    text
}

/// Where a violation is, and what is said of it.
fn place(violation: &findings::Violation) -> String {
    let place = words::place(violation, ", ");
    let place = if place.is_empty() { "the trace".to_string() } else { place };
    let log = violation
        .line
        .as_ref()
        .map_or(String::new(), |log| format!(": {}", words::clip(&words::printable(&log.text), 300)));
    let said = violation.text.as_ref().map_or(String::new(), |said| format!(" — {}", words::printable(said)));
    format!("{place}{log}{said}")
}

/// The violations of an item, each as an object.
fn listed(item: &Item) -> Cow<'_, [findings::Violation]> {
    match &item.listing {
        Some(listing) => Cow::Owned(listing.violations(&item.violations)),
        None => Cow::Borrowed(&item.violations),
    }
}

/// The verdict on one property.
#[pyclass(frozen, module = "tracewise")]
pub struct Property {
    of: Arc<Examined>,
    at: usize,
}

impl Property {
    fn item(&self) -> &Item {
        &self.of.found.items[self.at]
    }

    /// The same property once more, for the explanation of another violation. Monitors say themselves what they report.
    fn ask_again(&self, py: Python<'_>, violation: usize) -> PyResult<Option<findings::Report>> {
        let item = self.item();
        if item.engine.is_some() || item.verdict == Some(tracewise::Verdict::Unknown) {
            return Ok(None);
        }
        let spec = self.of.spec.only(std::slice::from_ref(&item.name));
        let spec = Arc::new(crate::error::checked(spec)?.into_owned());
        let options = CheckOptions {
            explain: true,
            witness: true,
            explained: violation,
            violations: violation + 1,
            ..self.of.options.clone()
        };
        examine(py, &spec, &self.of.traced, &options, self.of.numeric).map(Some)
    }
}

#[pymethods]
impl Property {
    /// Its name; of a formula alone, its text.
    #[getter]
    fn name(&self) -> &str {
        &self.item().name
    }

    /// The sentence after the name.
    #[getter]
    fn title(&self) -> Option<&str> {
        self.item().title.as_deref()
    }

    /// The formula as it was written.
    #[getter]
    fn formula(&self) -> &str {
        &self.item().formula
    }

    /// The trace.
    #[getter]
    fn trace(&self) -> &str {
        &self.of.found.subject
    }

    /// `satisfied`, `violated` or `unknown`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.item().verdict.map_or("unknown", |verdict| verdict.as_str())
    }

    /// How much a violation weighs: `error`, `warning` or `suggestion`.
    #[getter]
    fn severity(&self) -> &'static str {
        self.item().severity.name()
    }

    /// The engine that ran it.
    #[getter]
    fn engine(&self) -> Option<&'static str> {
        self.item().engine.or(self.of.found.statistics.engine)
    }

    /// Of `G φ`, the first position where φ fails.
    #[getter]
    fn position(&self) -> Option<usize> {
        self.item().position
    }

    /// The timestamp there.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::time(py, self.item().time)
    }

    /// The violations that are listed.
    #[getter]
    fn violations(&self, py: Python<'_>) -> PyResult<Vec<Violation>> {
        let item = &self.of.whole(py)?.items[self.at];
        let name: Arc<str> = item.name.as_str().into();
        let own = |own| Violation::found(&name, item.severity, own);
        Ok(listed(item).into_owned().into_iter().map(own).collect())
    }

    /// How many there are in all.
    #[getter]
    fn violation_count(&self) -> usize {
        self.item().violation_count
    }

    /// Why, as nested dictionaries: `formula`, `holds`, `reason`, `because` and what else there is.
    #[getter]
    fn explanation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.item().explanation.as_ref().map(|step| values::json(py, &json::step(step))).transpose()
    }

    /// Why, in words: of a violation by its number, or of a property that holds. A text, which a notebook shows as a tree.
    #[pyo3(signature = (violation = 0))]
    fn explain<'py>(&self, py: Python<'py>, violation: isize) -> PyResult<Bound<'py, PyAny>> {
        let item = self.item();
        let at = if violation < 0 { violation + item.violation_count as isize } else { violation };
        let at = usize::try_from(at).ok().filter(|at| *at == 0 || *at < item.violation_count);
        let Some(at) = at else {
            return Err(PyIndexError::new_err(format!("violation {violation} of {}", item.violation_count)));
        };
        let mut head = format!("{} is {}", item.name, self.verdict());
        if let Some(own) = item.violations.get(at) {
            head.push_str(&format!(": {}", place(own)));
        }
        let again = match &item.explanation {
            Some(_) if at == 0 => None,
            _ => self.ask_again(py, at)?,
        };
        let step = match &again {
            Some(report) => report.items.first().and_then(|item| item.explanation.as_ref()),
            None => item.explanation.as_ref().filter(|_| at == 0),
        };
        let words = step.map_or(String::new(), words::explanation);
        let shown = html::explanation(&head, step);
        py.import("tracewise._explanation")?
            .getattr("Explanation")?
            .call1((format!("{head}\n{words}"), shown))
    }

    fn __repr__(&self) -> String {
        told(self.item()).trim_end().to_string()
    }

    fn _repr_html_(&self) -> String {
        html::property(self.item())
    }
}

/// One place where a property fails.
#[pyclass(frozen, module = "tracewise")]
pub struct Violation {
    name: Arc<str>,
    severity: Severity,
    own: findings::Violation,
    /// Of a monitor: for how many positions it stands, and what settled it.
    count: u64,
    settled: Option<(usize, Option<Stamp>)>,
}

impl Violation {
    fn found(name: &Arc<str>, severity: Severity, own: findings::Violation) -> Self {
        Self { name: Arc::clone(name), severity, own, count: 1, settled: None }
    }

    /// One that a monitor tells: of so many positions, settled there.
    pub fn told(
        name: &Arc<str>,
        severity: Severity,
        own: findings::Violation,
        count: u64,
        settled: (usize, Option<Stamp>),
    ) -> Self {
        Self { name: Arc::clone(name), severity, own, count, settled: Some(settled) }
    }
}

#[pymethods]
impl Violation {
    /// The property.
    #[getter]
    fn property(&self) -> &str {
        &self.name
    }

    /// The position that fails.
    #[getter]
    fn position(&self) -> Option<usize> {
        self.own.position
    }

    /// Its timestamp.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::time(py, self.own.time)
    }

    /// What quantified variables and the key are there.
    #[getter]
    fn bindings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::bindings(py, &self.own.bindings)
    }

    /// Whether infinitely many values fail here.
    #[getter]
    fn infinite(&self) -> bool {
        self.own.infinite
    }

    /// Of a monitor: what the trace of the bindings has come to.
    #[getter]
    fn category(&self) -> Option<&str> {
        self.own.category.as_deref()
    }

    /// Of a monitor: what it says.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.own.text.as_deref()
    }

    /// How much it weighs: `error`, `warning` or `suggestion`.
    #[getter]
    fn severity(&self) -> &'static str {
        self.severity.name()
    }

    /// The line of the file, or the row from 1.
    #[getter]
    fn line(&self) -> Option<u64> {
        self.own.line.as_ref().map(|log| log.line)
    }

    /// What stands on that line; of data in memory, the row as JSON.
    #[getter]
    fn line_text(&self) -> Option<&str> {
        self.own.line.as_ref().map(|log| &*log.text)
    }

    /// Live: for how many positions it stands, which were settled together; `position` is the first.
    #[getter]
    fn count(&self) -> u64 {
        self.count
    }

    /// Live: the position that settled it.
    #[getter]
    fn settled_position(&self) -> Option<usize> {
        self.settled.map(|(position, _)| position)
    }

    /// Live: when it was settled, the time of a position or a deadline.
    #[getter]
    fn settled_time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::time(py, self.settled.and_then(|(_, time)| time))
    }

    fn __repr__(&self) -> String {
        format!("{} violated at {}", self.name, place(&self.own))
    }
}
