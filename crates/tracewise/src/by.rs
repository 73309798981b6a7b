//! `check --by COL`: every property once per value of a column, in one pass.
//!
//! Positions are sorted by key (stably, by counting), laid end to end and evaluated as segments: the engine runs once,
//! whatever the number of keys. Positions where the column is null belong to no key.

use crate::check::{Finding, LOCATED, is_invariant, newlines, properties_of, property, refuse_empty, report};
use crate::load::{Keys, Loaded, Need, load};
use crate::narrate::Narrator;
use crate::{CheckReport, Error, Session, Specification, Violation, check, plan, statistics};
use tw_core::Value;
use tw_ir::Root;
use tw_monitor::{Answer, Trace};
use tw_trace::Stamp;

pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    files: &[String],
    column: &str,
) -> Result<CheckReport, Error> {
    let spec = &*properties_of(spec)?;
    let chosen = plan::choose(session, spec, &session.evaluate_options())?;
    let times = session.violations > LOCATED;
    let need = Need { times, key: Some(column), ..Need::of(chosen.evaluator.wanted()) };
    let mut loaded = load(session, spec, files, need)?;
    refuse_empty(&loaded)?;
    let keys = loaded.keys.take().unwrap_or_default();
    if loaded.trace.len > u32::MAX as usize {
        return Err(Error::Usage(format!(
            "--by handles up to {} positions; this trace has {}",
            u32::MAX,
            loaded.trace.len
        )));
    }
    let groups = Groups::of(keys.names.len(), &keys.ids);
    if groups.order.is_empty() {
        return Err(Error::Usage(format!(
            "the column `{column}` of --by has no value anywhere in {}",
            loaded.name
        )));
    }
    loaded.trace = groups.apply(&loaded.trace);
    let (mut chosen, options) = check::replan(session, spec, &loaded, chosen)?;
    let answers = chosen.evaluate(spec, &options, &loaded.trace, usize::MAX)?;

    let narrator = Narrator::new(session, spec, &loaded, Some(&groups.order));
    let newlines = newlines(spec);
    let mut findings = Vec::with_capacity(answers.len());
    for (root, answer) in spec.program.roots.iter().zip(answers) {
        let mut finding = Finding::new(property(spec, &newlines, root, check::verdict(&answer)));
        let violations = Violations { spec, loaded: &loaded, keys: &keys, groups: &groups, column };
        let first = violations.list(&mut finding, root, &answer, session.violations.max(1));
        // The first violation's own key is the one to explain; a satisfied property is explained on the first key.
        let segment = first.or(session.witness.then_some(0));
        if let Some(segment) = segment.filter(|_| session.explain) {
            finding.explain = Some((root.node, groups.starts[segment]));
        }
        if let Some(statistic) = session.statistic {
            let verdict = finding.report.verdict;
            finding.report.statistic =
                Some(statistics::statistic(session, spec, root, statistic, &loaded, verdict)?);
        }
        findings.push(finding);
    }
    let unexplained = narrator.explain(chosen.evaluator.as_mut(), &mut findings);
    let properties = narrator.tell(findings);
    loaded.warnings.extend(chosen.notes);
    loaded.warnings.extend(unexplained);
    let by = Some((column.to_string(), groups.starts.len()));
    Ok(report(session, spec, loaded, chosen.engine, properties, by))
}

/// Positions sorted by key.
pub(crate) struct Groups {
    /// Original position of each sorted one.
    pub order: Vec<u32>,
    /// Where each key's stretch starts in `order`; the n-th stretch is the n-th key's.
    pub starts: Vec<usize>,
}

impl Groups {
    /// Of that many keys, from the key's number of each position (`u32::MAX`: no key).
    pub(crate) fn of(keys: usize, ids: &[u32]) -> Self {
        let mut counts = vec![0usize; keys];
        for &id in ids {
            if id != u32::MAX {
                counts[id as usize] += 1;
            }
        }
        let mut next = 0;
        let starts: Vec<usize> = counts
            .iter()
            .map(|count| {
                next += count;
                next - count
            })
            .collect();
        let mut fill = starts.clone();
        let mut order = vec![0u32; next];
        for (at, &id) in ids.iter().enumerate() {
            if id != u32::MAX {
                order[fill[id as usize]] = at as u32;
                fill[id as usize] += 1;
            }
        }
        Self { order, starts }
    }

    pub(crate) fn apply(&self, trace: &Trace) -> Trace {
        trace.gather(&self.order, self.starts.clone())
    }

    /// The stretch that holds a sorted position.
    fn segment(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at) - 1
    }
}

/// What the violations of a property are taken from.
struct Violations<'a> {
    spec: &'a Specification,
    loaded: &'a Loaded,
    keys: &'a Keys,
    groups: &'a Groups,
    column: &'a str,
}

impl Violations<'_> {
    /// Lists violations in the order of the log and returns the stretch of the first one.
    fn list(&self, finding: &mut Finding, root: &Root, answer: &Answer, limit: usize) -> Option<usize> {
        let groups = self.groups;
        let invariant = is_invariant(self.spec, root);
        // (original position, sorted position): where φ fails for `G φ`, else where a failing key first appears.
        let mut failing: Vec<(u32, usize)> = if invariant {
            answer.violations.iter().map(|&at| (groups.order[at], at)).collect()
        } else {
            let starts = groups.starts.iter().enumerate().filter(|(segment, _)| {
                !answer.holds.get(*segment) && !answer.open.as_ref().is_some_and(|open| open.get(*segment))
            });
            starts.map(|(_, &at)| (groups.order[at], at)).collect()
        };
        finding.report.violation_count = if invariant { answer.violation_count } else { failing.len() };
        failing.sort_unstable();
        let first = failing.first().map(|&(_, at)| groups.segment(at));
        let times = self.loaded.trace.times.as_ref().zip(self.loaded.summary.style);
        for &(position, at) in failing.iter().take(limit) {
            let key = self.keys.names[groups.segment(at)].clone();
            let violation = Violation {
                // Without a position of its own, a violation has no time either.
                position: invariant.then_some(position as usize),
                time: times.filter(|_| invariant).map(|(times, style)| Stamp { time: times[at], style }),
                bindings: vec![(self.column.to_string(), Value::Str(key))],
                line: None,
            };
            finding.add(position as usize, violation);
        }
        first
    }
}
