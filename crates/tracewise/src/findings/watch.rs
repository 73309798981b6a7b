//! Findings of `watch`, gathered for forms that are one document: violations as they are settled, and at the end what
//! every property came to.

use super::warning::owned;
use super::{About, Detail, Item, Owed, Report, Statistics, Violation, words};
use crate::check::ranges;
use crate::query::{Approximation, Group, QueryResult};
use crate::require::relation;
use crate::watch::{WatchReport, WatchValue, WatchVerdict};
use crate::{Specification, monitors};
use std::time::Duration;
use tw_core::{Position, Verdict};
use tw_ir::RootKind;
use tw_trace::Stamp;

/// Violations of one property that are kept; a stream may have any number, which are counted.
const KEPT: usize = 100;

/// What a watch has said so far.
#[derive(Clone, Debug)]
pub struct Gathered {
    properties: Vec<Item>,
    queries: Vec<Item>,
    monitors: Vec<Item>,
    semantics: &'static str,
    required: Vec<Item>,
    /// Of divided requirements what each part came to, with their numbers.
    parts: Vec<(usize, Item)>,
    /// Of the properties, then the monitors, the positions that failed.
    failing: Vec<Vec<Position>>,
    /// The first and the latest position that were told of, with their timestamps.
    ends: Option<[(Position, Option<Stamp>); 2]>,
}

impl Gathered {
    /// Nothing said yet about any property or query.
    pub fn new(spec: &Specification, semantics: &'static str) -> Self {
        let items = |kind: RootKind, about: About| -> Vec<Item> {
            let roots = spec.program.roots.iter().filter(|root| root.kind == kind);
            let item = |(root, (_, span)): (&tw_ir::Root, (&str, tw_diag::Span))| Item {
                about,
                name: root.name.clone(),
                title: root.title.clone(),
                formula: spec.words(root.node),
                source: Some(words::source(span, &spec.sources)),
                verdict: (kind == RootKind::Property).then_some(Verdict::Unknown),
                ..Item::default()
            };
            roots.zip(owned(spec, kind)).map(item).collect()
        };
        let monitor = |own: &tw_ir::monitor::Monitor| Item {
            name: own.name.clone(),
            title: own.title.clone(),
            formula: format!("monitor {}({})", own.name, own.parameters.join(", ")),
            source: Some(words::source(own.span, &spec.sources)),
            verdict: Some(Verdict::Unknown),
            severity: monitors::severity(own),
            engine: Some(monitors::ENGINE),
            ..Item::default()
        };
        let properties = items(RootKind::Property, About::Property);
        let monitors: Vec<Item> = spec.program.monitors.iter().map(monitor).collect();
        let failing = vec![Vec::new(); properties.len() + monitors.len()];
        let queries = items(RootKind::Query, About::Query);
        let required = |own: &tw_ir::Requirement| Item {
            name: own.root.name.clone(),
            title: own.root.title.clone(),
            formula: format!("{} {}", spec.words(own.root.node), relation(spec, own)),
            source: Some(words::source(own.root.span, &spec.sources)),
            verdict: Some(Verdict::Unknown),
            ..Item::default()
        };
        let required = spec.program.requirements.iter().map(required).collect();
        Self { properties, queries, monitors, required, parts: Vec::new(), semantics, failing, ends: None }
    }

    /// A verdict was told.
    pub fn verdict(&mut self, told: &WatchVerdict<'_>) {
        let now = (told.position, told.time);
        let [first, _] = self.ends.unwrap_or([now; 2]);
        self.ends = Some([first, now]);
        if let Some(found) = &told.required {
            let Some(own) = self.required.iter().position(|item| item.name == told.property) else { return };
            let whole = found.by.is_none() && found.window.is_none();
            let mut item = self.required[own].clone();
            item.verdict = Some(told.verdict);
            item.remarks = vec![words::required(found)];
            item.detail = Detail::Required(Box::new(found.clone()));
            match whole {
                true => self.required[own] = item,
                false => self.parts.push((own, item)),
            }
            return;
        }
        let mut items = self.properties.iter_mut().chain(&mut self.monitors).enumerate();
        let Some((number, item)) = items.find(|(_, item)| item.name == told.property) else { return };
        if let Some(pending) = &told.pending {
            item.pending = Some(Owed {
                owed: pending.owed.clone(),
                since: pending.since,
                deadline: pending.deadline,
                more: told.more_pending,
            });
        }
        if told.verdict != Verdict::Violated {
            return;
        }
        item.violation_count += (told.violation_count as usize).max(1);
        let about = told.violation.as_ref().and_then(|found| found.position).or(told.about);
        if told.settled && self.failing[number].len() < ranges::COUNTED {
            self.failing[number].push(about.unwrap_or(told.position));
        }
        if item.violations.len() == KEPT {
            return;
        }
        // Of `G φ` the earliest position that failed, else where that was settled.
        let failed = told.violation.as_ref();
        let category = failed.and_then(|found| found.category.clone());
        // What a monitor reports where the stream ends has no position.
        let nowhere = category.is_some() && !told.settled;
        let position = failed.and_then(|found| found.position).unwrap_or(told.about.unwrap_or(told.position));
        let position = Some(position).filter(|_| !nowhere);
        let time = failed.and_then(|found| found.time).or(told.time);
        let line = failed.and_then(|found| found.line.clone()).or(told.line.clone());
        let mut bindings = failed.map_or(Vec::new(), |found| found.bindings.clone());
        bindings.extend(told.bindings.iter().cloned());
        let ended = (!told.settled).then(|| "the stream ended".to_string());
        let ended =
            told.ended.map(|ended| format!("the trace of the value ended ({})", ended.name())).or(ended);
        let text = match (&told.due, &told.pending) {
            (Some(due), _) => {
                let (since, by) = (due.since, due.deadline.format());
                Some(format!("`{}` of position {since} came due at {by}", words::printable(&due.owed)))
            }
            (None, Some(pending)) => Some(format!(
                "`{}` was still pending since position {}",
                words::printable(&pending.owed),
                pending.since
            )),
            (None, None) => failed.and_then(|found| found.text.clone()).or(ended),
        };
        if item.violations.is_empty() {
            (item.position, item.time) = (position, time);
        }
        item.violations.push(Violation {
            position,
            time,
            bindings,
            infinite: failed.is_some_and(|found| found.infinite),
            category,
            text,
            line,
            around: Vec::new(),
        });
    }

    /// The value of a query was told; the last one counts.
    pub fn value(&mut self, told: &WatchValue) {
        if let Some(item) = self.queries.iter_mut().find(|item| item.name == told.query) {
            let value = match &told.fault {
                Some(fault) => format!("cannot be computed: {fault}"),
                None => words::value(&told.value),
            };
            item.remarks = vec![format!("{value} (up to position {})", told.position)];
            let group = Group {
                segment: 0,
                key: None,
                window: None,
                value: told.value.clone(),
                missing: told.fault.clone(),
                witness: None,
            };
            let approximate =
                |bound: &String| Approximation { part: told.query.clone(), bound: bound.clone() };
            item.detail = Detail::Value(Box::new(QueryResult {
                name: told.query.clone(),
                title: told.title.clone(),
                expression: item.formula.clone(),
                by: None,
                every: None,
                groups: vec![group],
                everywhere: None,
                times: None,
                approximate: told.approximate.iter().map(approximate).collect(),
                counts: false,
            }));
        }
    }

    /// The stream ended.
    pub fn finish(mut self, trace: &str, report: &WatchReport, elapsed: Duration) -> Report {
        for (item, holds) in self.properties.iter_mut().zip(&report.verdicts) {
            item.verdict = Some(if *holds { Verdict::Satisfied } else { Verdict::Violated });
        }
        for (item, (_, silent)) in self.monitors.iter_mut().zip(&report.monitors) {
            item.verdict = Some(if *silent { Verdict::Satisfied } else { Verdict::Violated });
        }
        // The parts of each requirement in its place.
        self.parts.sort_by_key(|(own, _)| *own);
        let mut parts = self.parts.into_iter().peekable();
        let mut required = Vec::with_capacity(self.required.len());
        for (own, item) in self.required.into_iter().enumerate() {
            let before = required.len();
            while let Some((_, part)) = parts.next_if(|(of, _)| *of == own) {
                required.push(part);
            }
            if required.len() == before {
                required.push(item);
            }
        }
        let items = self.properties.iter_mut().chain(&mut self.monitors);
        for (item, failing) in items.zip(std::mem::take(&mut self.failing)) {
            if !failing.is_empty() {
                let cut = failing.len() == ranges::COUNTED;
                item.timeline = Some(ranges::timeline(failing.into_iter(), report.positions, cut));
            }
        }
        // A stream is not read again: of most positions nobody knows the time.
        let time = |position: Position| {
            let known = self.ends.iter().flatten().find(|(known, _)| *known == position);
            known.and_then(|(_, time)| *time)
        };
        let ticks = ranges::ticks(report.positions);
        Report {
            ticks: ticks.into_iter().map(|position| (position, time(position))).collect(),
            command: "watch",
            subject: trace.to_string(),
            statistics: Statistics {
                positions: Some(report.positions),
                engine: Some(report.engine),
                semantics: Some(self.semantics),
                elapsed,
                ..Statistics::default()
            },
            items: {
                let judged = self.properties.into_iter().chain(self.monitors).chain(required);
                judged.chain(self.queries).collect()
            },
            skipped: report.bad_lines,
            ..Report::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::json;
    use tw_core::Value;

    #[test]
    fn violations_beyond_the_first_are_counted() {
        let spec =
            Specification::from_text("s.tw", "property a : G p;\nproperty b : F p;\nquery c : count[p];")
                .unwrap();
        let mut gathered = Gathered::new(&spec, "ltl3");
        for position in 0..KEPT + 7 {
            gathered.verdict(&WatchVerdict {
                property: "a",
                title: None,
                about: Some(position),
                verdict: Verdict::Violated,
                position,
                time: None,
                due: None,
                overdue: false,
                settled: true,
                line: None,
                pending: None,
                more_pending: 0,
                violation: None,
                violation_count: 0,
                severity: crate::findings::Severity::Error,
                bindings: Vec::new(),
                ended: None,
                required: None,
            });
        }
        gathered.value(&WatchValue {
            query: "c".into(),
            title: None,
            value: Value::Int(3),
            fault: None,
            approximate: Vec::new(),
            position: 9,
            bindings: Vec::new(),
            ended: None,
        });
        let ended = WatchReport {
            requirements: Vec::new(),
            positions: 10,
            bad_lines: 2,
            engine: "metric",
            verdicts: vec![false, true],
            monitors: Vec::new(),
        };
        let report = gathered.finish("t", &ended, Duration::ZERO);
        let [a, b, c] = report.items.as_slice() else { panic!("{report:?}") };
        assert_eq!((a.violations.len(), a.violation_count, a.position), (KEPT, KEPT + 7, Some(0)));
        assert_eq!(
            (a.verdict, b.verdict, c.verdict),
            (Some(Verdict::Violated), Some(Verdict::Satisfied), None)
        );
        assert_eq!(a.source, Some(("s.tw".to_string(), 1)));
        assert_eq!(json::objects(&report)[2], r#"{"query":"c","trace":"t","value":3,"skipped":2}"#);
    }

    #[test]
    fn nothing_read_is_nothing_decided() {
        let spec = Specification::from_formula("G p").unwrap();
        let ended = WatchReport {
            requirements: Vec::new(),
            positions: 0,
            bad_lines: 0,
            engine: "metric",
            verdicts: Vec::new(),
            monitors: Vec::new(),
        };
        let report = Gathered::new(&spec, "ltl3").finish("t", &ended, Duration::ZERO);
        assert_eq!(report.items[0].verdict, Some(Verdict::Unknown));
    }
}
