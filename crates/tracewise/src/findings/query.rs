//! Findings of `query`: values, not verdicts.

use super::warning::{divide, owned};
use super::{About, Detail, Item, Report, Statistics, words};
use crate::Specification;
use crate::query::{Approximation, Edge, Group, QueryReport, QueryResult};
use std::time::Duration;
use tw_core::Value;
use tw_ir::{RootKind, Semantics};

/// Parts of a divided query that are put in words.
const TOLD: usize = 100;

impl Report {
    /// The values of queries on a trace. Errors of single values are the caller's to tell, before.
    pub fn of_query(report: QueryReport, spec: &Specification, elapsed: Duration) -> Self {
        let mut items: Vec<Item> = report.queries.into_iter().map(Item::from).collect();
        for (item, (name, span)) in items.iter_mut().zip(owned(spec, RootKind::Query)) {
            if item.name == name {
                item.source = Some(words::source(span, &spec.sources));
            }
        }
        let warnings = divide(report.warnings, spec, RootKind::Query, &mut items);
        let required: Vec<Item> = report.requirements.into_iter().map(Item::from).collect();
        Self {
            command: "query",
            subject: report.trace,
            statistics: Statistics {
                positions: Some(report.positions),
                bytes: Some(report.bytes),
                engine: Some(report.engine),
                semantics: (!required.is_empty()).then(|| Semantics::Finite.name()),
                elapsed,
                ..Statistics::default()
            },
            items: items.into_iter().chain(required).collect(),
            warnings,
            ..Self::default()
        }
    }

    /// The values over all traces: for each query of `first`, its total, if it has one.
    pub fn of_totals(
        first: &Report,
        traces: usize,
        totals: Vec<Option<(Value, Vec<Approximation>)>>,
    ) -> Self {
        let item = |(of, total): (&Item, Option<(Value, Vec<Approximation>)>)| Item {
            about: About::Query,
            name: of.name.clone(),
            title: of.title.clone(),
            formula: of.formula.clone(),
            source: of.source.clone(),
            remarks: total.iter().map(|(value, _)| words::value(value)).collect(),
            detail: Detail::Total(traces, total),
            ..Item::default()
        };
        let items = first.items.iter().zip(totals).map(item).collect();
        Self { command: "query", subject: "total".into(), items, ..Self::default() }
    }

    /// The values of queries, where there are any.
    pub fn values(&self) -> impl Iterator<Item = &QueryResult> {
        self.items.iter().filter_map(|item| match &item.detail {
            Detail::Value(result) => Some(&**result),
            _ => None,
        })
    }
}

impl From<QueryResult> for Item {
    fn from(result: QueryResult) -> Self {
        Self {
            about: About::Query,
            name: result.name.clone(),
            title: result.title.clone(),
            formula: result.expression.clone(),
            remarks: remarks(&result),
            detail: Detail::Value(Box::new(result)),
            ..Self::default()
        }
    }
}

fn remarks(result: &QueryResult) -> Vec<String> {
    if let Some(values) = &result.everywhere {
        let first = values.first().map_or(String::new(), words::value);
        return vec![format!(
            "{first} at position 0, of {}",
            words::counted(values.len() as u64, "position")
        )];
    }
    let told = |group: &Group| {
        let key = group.key.as_ref().map(words::value);
        let window = group.window.map(|(from, to)| format!("{} to {}", edge(from), edge(to)));
        let part = [key, window].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let value = words::value(&group.value);
        let missing = group.missing.as_ref().map_or(String::new(), |why| format!(" (no value: {why})"));
        if part.is_empty() { format!("{value}{missing}") } else { format!("{part}: {value}{missing}") }
    };
    let mut lines: Vec<String> = result.groups.iter().take(TOLD).map(told).collect();
    if result.groups.len() > TOLD {
        lines.push(format!("… and {} more", words::count((result.groups.len() - TOLD) as u64)));
    }
    lines.extend(
        result.approximate.iter().map(|part| format!("{} is approximate: {}", part.part, part.bound)),
    );
    lines
}

/// An end of a window, as the trace writes time.
pub(super) fn edge(edge: Edge) -> String {
    match edge {
        Edge::Time(stamp) => stamp.format(),
        Edge::Position(position) => position.to_string(),
    }
}
