//! Requirements: values of queries that are compared with numbers, and so have verdicts.
//!
//! A requirement's query runs as any other; its value, or that of each part of the trace, is compared afterwards. A missing value
//! settles nothing.

mod course;
mod divided;
pub(crate) mod parts;
pub(crate) mod stored;

use crate::check::{CheckOptions, CheckReport, PropertyReport, newlines, property};
use crate::query::{Edge, Group, QueryOptions, QueryReport, QueryResult, query};
use crate::{Error, Session, Specification};
use tw_core::{Value, Verdict};
use tw_ir::{Requirement, Semantics};
use tw_monitor::compare;

/// What a requirement's verdict rests on: of the whole trace, or of one part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Required {
    /// The value; null if there is none.
    pub value: Value,
    /// What is required of it: `<= 3`.
    pub relation: String,
    /// The column after `by`, and its value in this part.
    pub by: Option<(String, Value)>,
    /// The window of `every`: from, and up to but not including.
    pub window: Option<(Edge, Edge)>,
    /// Why there is no value.
    pub missing: Option<String>,
}

/// Whether a value is what is required.
pub(crate) fn verdict(spec: &Specification, requirement: &Requirement, value: &Value) -> Verdict {
    match value {
        Value::Int(_) | Value::Real(_) => {
            match compare(requirement.op, value, requirement.limit(&spec.program)) {
                true => Verdict::Satisfied,
                false => Verdict::Violated,
            }
        }
        _ => Verdict::Unknown,
    }
}

/// The worse of two verdicts.
pub(crate) fn worse(a: Verdict, b: Verdict) -> Verdict {
    match (a, b) {
        (Verdict::Violated, _) | (_, Verdict::Violated) => Verdict::Violated,
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => Verdict::Unknown,
        _ => Verdict::Satisfied,
    }
}

/// What is required, as text.
pub(crate) fn relation(spec: &Specification, requirement: &Requirement) -> String {
    format!("{} {}", requirement.op.symbol(), requirement.limit(&spec.program))
}

impl Specification {
    /// The queries of its requirements behind its own.
    pub(crate) fn with_required(&self, roots: Vec<tw_ir::Root>) -> Specification {
        let required = self.program.requirements.iter().map(|requirement| requirement.root.clone());
        self.with_roots(roots.into_iter().chain(required).collect())
    }
}

/// The verdicts of requirements, given the results of their queries: one per part of the trace.
pub(crate) fn verdicts(
    spec: &Specification,
    results: Vec<QueryResult>,
    engine: &'static str,
) -> Vec<PropertyReport> {
    let mut found = Vec::new();
    let spec = &spec.with_required(Vec::new());
    let newlines = newlines(spec);
    for (requirement, result) in spec.program.requirements.iter().zip(results) {
        let relation = relation(spec, requirement);
        for Group { key, window, value, missing, .. } in result.groups {
            let verdict = verdict(spec, requirement, &value);
            let mut report = property(spec, &newlines, &requirement.root, verdict);
            report.formula = format!("{} {relation}", result.expression);
            report.engine = Some(engine);
            let (by, relation) = (result.by.clone().zip(key), relation.clone());
            report.required = Some(Required { value, relation, by, window, missing });
            found.push(report);
        }
    }
    found
}

/// The requirements of a specification on one trace, beside its properties.
pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &CheckOptions,
) -> Result<Option<CheckReport>, Error> {
    if spec.program.requirements.is_empty() {
        return Ok(None);
    }
    let alone = spec.with_roots(Vec::new());
    let asked = QueryOptions { by: options.by.clone(), explain: options.explain, ..QueryOptions::default() };
    // Engines that give verdicts give no values.
    let mut session = session.clone().engine("auto");
    session.evaluate.semantics = Semantics::Finite;
    let mut report = query(&session, &alone, files, &asked, None)?;
    if !report.failures.is_empty() {
        return Err(report.failures.swap_remove(0));
    }
    let QueryReport { trace, positions, bytes, engine, requirements, warnings, .. } = report;
    Ok(Some(CheckReport {
        trace,
        positions,
        bytes,
        skipped: 0,
        engine,
        semantics: session.evaluate.semantics.name(),
        by: None,
        properties: requirements,
        warnings,
        slicing: Vec::new(),
        ticks: Vec::new(),
    }))
}
