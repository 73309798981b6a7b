//! Models: traces merged into one, and what is asked of it.

use crate::arrow_data;
use crate::data::{self, Data};
use crate::error::{checked, in_python, refused};
use crate::interrupt;
use crate::settings::Settings;
use crate::values;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::sync::Arc;
use std::time::Duration;
use tracewise::findings::{self, json};
use tracewise::language::TraceSettings;
use tracewise::merge::{Coverage, Ends, Keep, MergeOptions, StateNames};
use tracewise::model::{FORMATS, Logic, ModelOptions, Question, read_model, write_model};
use tracewise::{Session, model};

/// A state-space: of merged traces, or of a file.
#[pyclass(frozen, module = "tracewise")]
pub struct Model {
    name: String,
    own: Arc<model::Model>,
    session: Session,
    warnings: Vec<String>,
    /// What the command `merge` prints with `--output json`, of a merged model.
    merged: Option<String>,
}

/// One text, or several.
fn texts(object: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    match object {
        None => Ok(Vec::new()),
        Some(object) if object.is_instance_of::<PyString>() => Ok(vec![object.extract()?]),
        Some(object) => object.extract(),
    }
}

#[pymethods]
impl Model {
    /// Reads a model from a file: `.json`, `.smv` or what else the command `merge` writes and can be read.
    #[new]
    fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = data::path(path)?.ok_or_else(|| refused("expected the path of a model"))?;
        let read = name.clone();
        let own = interrupt::run(path.py(), Session::new(), move |_| read_model(&read))?;
        Ok(Self { name, own: Arc::new(own), session: Session::new(), warnings: Vec::new(), merged: None })
    }

    /// How many states it has.
    #[getter]
    fn states(&self) -> usize {
        self.own.states()
    }

    /// How many transitions it has.
    #[getter]
    fn transitions(&self) -> usize {
        self.own.graph.edges()
    }

    /// How many of its states are initial.
    #[getter]
    fn initial(&self) -> usize {
        self.own.initial.len()
    }

    /// What was noticed while traces were merged.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Whether formulas hold of it: `ctl` of branching time, `ltl` of linear time, one text or several each.
    #[pyo3(signature = (*, ctl = None, ltl = None, fair = None, min_count = 1, probability = false))]
    fn check(
        &self,
        py: Python<'_>,
        ctl: Option<&Bound<'_, PyAny>>,
        ltl: Option<&Bound<'_, PyAny>>,
        fair: Option<&Bound<'_, PyAny>>,
        min_count: u64,
        probability: bool,
    ) -> PyResult<Vec<Answer>> {
        let of = |logic| move |text: String| Question::new(logic, text);
        let mut questions: Vec<Question> = texts(ctl)?.into_iter().map(of(Logic::Branching)).collect();
        questions.extend(texts(ltl)?.into_iter().map(of(Logic::Linear)));
        if questions.is_empty() {
            return Err(refused(
                "there is no formula: give one, as in check(ctl=\"AG EF p\") or check(ltl=\"G F p\")",
            ));
        }
        let options = ModelOptions { fairness: texts(fair)?, min_count, probability, origins: false };
        let (own, name) = (Arc::clone(&self.own), self.name.clone());
        let report = interrupt::run(py, self.session.clone(), move |session| {
            let report = session.model_check(&own, &questions, &options)?;
            Ok(findings::Report::of_model(report, &own, &name, &questions, Duration::ZERO))
        })?;
        let warnings: Vec<String> =
            report.warnings.iter().map(|warning| in_python(&warning.diagnostic.message)).collect();
        let holds = |item: &findings::Item| item.verdict == Some(tracewise::Verdict::Satisfied);
        let told = json::objects(&report);
        let answer = |(item, object): (&findings::Item, String)| Answer {
            formula: item.formula.clone(),
            holds: holds(item),
            object,
            warnings: warnings.clone(),
        };
        Ok(report.items.iter().zip(told).map(answer).collect())
    }

    /// How much the traces of a merged model have shown, and what may be missing: what the command `coverage` prints as JSON.
    fn coverage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some((coverage, record)) = Coverage::of(&self.own).zip(self.own.record.as_ref()) else {
            return Err(refused(
                "the model does not say what traces it was merged from; merge them, or read a .json model",
            ));
        };
        let names = |traces: &[u32]| -> Vec<String> {
            traces.iter().filter_map(|&trace| record.traces.get(trace as usize).cloned()).collect()
        };
        values::json(py, &json::coverage(&self.name, &coverage, &names))
    }

    /// Of a merged model, what was merged: what the command `merge` prints as JSON.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.merged.as_ref().map(|merged| values::json(py, merged)).transpose()
    }

    /// Writes it to a file, in the format that its extension names.
    fn save(&self, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = data::path(path)?.ok_or_else(|| refused("expected a path"))?;
        checked(write_model(&self.own, &path))
    }

    /// As a drawing (`svg`, `dot`) or in another format of models (`json`, `smv`).
    #[pyo3(signature = (form = "svg"))]
    fn draw(&self, form: &str) -> PyResult<String> {
        let Some(format) = FORMATS.iter().find(|format| format.name == form) else {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            return Err(refused(format!("there is no form {form:?} (there are {})", known.join(", "))));
        };
        let mut out = Vec::new();
        (format.write)(&self.own, &mut out)
            .map_err(|error| refused(format!("cannot draw the model: {error}")))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    fn _repr_html_(&self) -> PyResult<String> {
        self.draw("svg")
    }

    fn __repr__(&self) -> String {
        format!(
            "Model({} states, {} transitions, {} initial)",
            self.states(),
            self.transitions(),
            self.initial()
        )
    }
}

/// Merges traces into a model: each file, or each table of a list, is one trace; with `by`, each value of a column.
#[pyfunction]
#[pyo3(signature = (data, *, keep = "state", state = None, history = None, ends = None, **options))]
pub fn merge(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    keep: &str,
    state: Option<&Bound<'_, PyAny>>,
    history: Option<u32>,
    ends: Option<&str>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Model> {
    let settings = Settings::new(options, &TraceSettings::default())?;
    let asked = keep;
    let keep = match (keep, history) {
        ("history", steps) => Keep::History(steps.unwrap_or(1)),
        (name, _) => Keep::parse(name).ok_or_else(|| {
            refused(format!("keep={name:?}: expected state, time, change, history or tree"))
        })?,
    };
    let mut merging = MergeOptions { by: settings.by.clone(), ..MergeOptions::new(keep) };
    if let Some(ends) = ends {
        merging.ends = Ends::parse(ends).ok_or_else(|| refused(format!("ends={ends:?} is not known")))?;
    }
    let columns = texts(state)?;
    if !columns.is_empty() {
        merging.states = StateNames::Columns(columns);
    }
    let (session, traces) = many(data, &settings)?;
    let again = session.clone();
    let report = interrupt::run(py, session, move |session| session.merge(&traces, &merging))?;
    let notes = findings::merge_notes(&report, settings.by.as_deref());
    let warnings = notes.iter().map(|found| in_python(&found.message)).collect();
    let merged = Some(json::merged(&report, &[], asked));
    Ok(Model {
        name: "the merged model".into(),
        own: Arc::new(report.model),
        session: again,
        warnings,
        merged,
    })
}

/// Traces, all known to one session.
fn many(object: &Bound<'_, PyAny>, settings: &Settings) -> PyResult<(Session, Vec<Vec<String>>)> {
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        if !items.is_empty() && items.iter().all(arrow_data::offers) {
            let mut session = settings.session()?;
            let mut traces = Vec::new();
            for (number, item) in items.iter().enumerate() {
                let name = format!("data[{number}]");
                let (schema, batches) = arrow_data::batches(item)?;
                session = checked(session.batches(&name, schema, batches))?;
                traces.push(vec![name]);
            }
            return Ok((session, traces));
        }
    }
    let mut all = Data::of(object, settings)?.traces(settings)?;
    let traces = all.iter().map(|(_, files)| files.clone()).collect();
    match all.pop() {
        Some((session, _)) => Ok((session, traces)),
        None => Err(refused("there is no trace to merge")),
    }
}

/// What a model says of a formula.
#[pyclass(frozen, module = "tracewise")]
pub struct Answer {
    formula: String,
    holds: bool,
    object: String,
    warnings: Vec<String>,
}

#[pymethods]
impl Answer {
    /// The formula.
    #[getter]
    fn formula(&self) -> &str {
        &self.formula
    }

    /// Whether every initial state satisfies it, or every path.
    #[getter]
    fn holds(&self) -> bool {
        self.holds
    }

    /// The states of a path that shows it: a witness, or a counterexample.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::json(py, &self.object)?.get_item("trace")
    }

    /// What was noticed and is no error.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The object that the command `model-check` prints with `--output json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::json(py, &self.object)
    }

    fn __bool__(&self) -> bool {
        self.holds
    }

    fn __repr__(&self) -> String {
        format!("{} {}", self.formula, if self.holds { "holds" } else { "does not hold" })
    }
}
