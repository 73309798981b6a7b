//! Streams: their values on a trace, and what can be asked of Boolean ones without a trace.

use crate::data::Data;
use crate::error::{checked, refused};
use crate::interrupt;
use crate::others::lines;
use crate::settings::Settings;
use crate::spec::{Meant, Spec};
use crate::values;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use tracewise::findings::json;
use tracewise::stream::{AutomatonForm, StreamOperation, StreamOptions, StreamQuestion};
use tracewise::{Session, Specification};

/// The streams of a specification on a trace: a dictionary per position.
#[pyfunction]
#[pyo3(signature = (spec, data, **options))]
pub fn streams<'py>(
    spec: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let spec = Spec::of(spec, Meant::Formula)?;
    let settings = Settings::new(options, &spec.settings)?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let own = Arc::clone(&spec);
    let report = interrupt::run(data.py(), session, move |session| {
        session.stream_run(&own, &files, &StreamOptions::default())
    })?;
    let mut out = Vec::new();
    json::stream(&report, &mut out)?;
    lines(data.py(), &out)
}

/// What can be said of streams before they run: whether they are well-formed and well-defined, how long they wait, how much they keep.
#[pyfunction]
#[pyo3(signature = (spec, *, states = None))]
pub fn stream_analyse<'py>(spec: &Bound<'py, PyAny>, states: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
    let (py, own) = (spec.py(), Spec::of(spec, Meant::Formula)?);
    let found = interrupt::run(py, Session::new(), move |_| Session::stream_analyse(&own, states))?;
    values::json(py, &json::stream_analysis(&found))
}

/// The answer to a question about Boolean streams: `empty` or `universal` about one specification, `equal` or `includes` about two.
#[pyfunction]
#[pyo3(signature = (question, spec, other = None, *, on = None, states = None))]
pub fn stream_ask<'py>(
    question: &str,
    spec: &Bound<'py, PyAny>,
    other: Option<&Bound<'py, PyAny>>,
    on: Option<Vec<String>>,
    states: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, a) = (spec.py(), Spec::of(spec, Meant::Formula)?);
    let b = second(other)?;
    let (question, on) = (question.to_string(), on.unwrap_or_default());
    let answer = interrupt::run(py, Session::new(), move |_| {
        let asked = match (question.as_str(), &b) {
            ("empty", None) => StreamQuestion::Empty(&a),
            ("universal", None) => StreamQuestion::Universal(&a),
            ("equal", Some(b)) => StreamQuestion::Equal(&a, b, on),
            ("includes", Some(b)) => StreamQuestion::Includes(&a, b),
            (other, _) => {
                let expected = "empty or universal (of one specification), equal or includes (of two)";
                return Err(tracewise::Error::refused(format!("question={other:?}: expected {expected}")));
            }
        };
        Session::stream_ask(&asked, states)
    })?;
    values::json(py, &json::stream_answer(&answer))
}

/// Whether the Boolean streams of a specification have a model on a trace.
#[pyfunction]
#[pyo3(signature = (spec, data, **options))]
pub fn stream_accepts<'py>(
    spec: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let spec = Spec::of(spec, Meant::Formula)?;
    let settings = Settings::new(options, &spec.settings)?;
    let (session, files) = Data::of(data, &settings)?.trace(&settings)?;
    let own = Arc::clone(&spec);
    let answer = interrupt::run(data.py(), session, move |session| session.stream_accepts(&own, &files))?;
    values::json(data.py(), &json::stream_answer(&answer))
}

/// The text of a specification made of others: `union`, `intersect` and `concat` of two; `plus`, `reverse` and `normalise` of one; and
/// `from_ltl` of a formula (with `accept`, of the inputs that satisfy it alone).
#[pyfunction]
#[pyo3(signature = (operation, spec, other = None, *, accept = false, states = None))]
pub fn stream_make(
    operation: &str,
    spec: &Bound<'_, PyAny>,
    other: Option<&Bound<'_, PyAny>>,
    accept: bool,
    states: Option<usize>,
) -> PyResult<String> {
    let (a, b) = (Spec::of(spec, Meant::Formula)?, second(other)?);
    let combined = match operation {
        "union" => StreamOperation::Union,
        "intersect" => StreamOperation::Intersect,
        "concat" => StreamOperation::Concat,
        "plus" => StreamOperation::Plus,
        "reverse" => StreamOperation::Reverse,
        "normalise" => {
            return interrupt::run(spec.py(), Session::new(), move |_| Session::stream_normalise(&a, states));
        }
        "from_ltl" => return checked(Session::stream_from_ltl(&a, accept)),
        wrong => {
            let known = "union, intersect, concat, plus, reverse, normalise or from_ltl";
            return Err(refused(format!("operation={wrong:?}: expected {known}")));
        }
    };
    interrupt::run(spec.py(), Session::new(), move |_| Session::stream_combine(combined, &a, b.as_deref()))
}

/// The automaton of the inputs that have a model: `json`, `hoa` or `dot`.
#[pyfunction]
#[pyo3(signature = (spec, form = "json", *, states = None))]
pub fn stream_automaton(spec: &Bound<'_, PyAny>, form: &str, states: Option<usize>) -> PyResult<String> {
    let own = Spec::of(spec, Meant::Formula)?;
    let form = match form {
        "json" => AutomatonForm::Json,
        "hoa" => AutomatonForm::Hoa,
        "dot" => AutomatonForm::Dot,
        wrong => return Err(refused(format!("form={wrong:?}: expected json, hoa or dot"))),
    };
    interrupt::run(spec.py(), Session::new(), move |_| Session::stream_to_automaton(&own, form, states))
}

/// The equations of an automaton, which a text writes as JSON or HOA.
#[pyfunction]
pub fn stream_from_automaton(text: &str) -> PyResult<String> {
    checked(Session::stream_from_automaton("<automaton>", text))
}

fn second(other: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<Specification>>> {
    other.map(|other| Spec::of(other, Meant::Formula)).transpose()
}
