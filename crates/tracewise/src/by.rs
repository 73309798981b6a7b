//! `check --by COL`: every property once per value of a column, in one pass.
//!
//! Positions are sorted by key (stably, by counting), laid end to end and evaluated as segments: the engine runs once,
//! whatever the number of keys. Positions where the column is null belong to no key.

use crate::check::{LOCATED, is_invariant, places, property, refuse_empty, refuse_queries, report};
use crate::load::{Keys, Loaded, load};
use crate::narrate::Narrator;
use crate::{CheckReport, Error, PropertyReport, Session, Specification, Violation, check, plan};
use tw_core::{Bits, Value, Verdict};
use tw_ir::Root;
use tw_monitor::{Answer, Segments, Trace};

pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    files: &[String],
    column: &str,
) -> Result<CheckReport, Error> {
    refuse_queries(spec)?;
    let (engine, evaluator) = plan::choose(session, spec, &session.evaluate_options())?;
    let mut loaded = load(session, spec, files, evaluator.wanted(), session.violations > LOCATED, Some(column))?;
    refuse_empty(&loaded)?;
    let keys = loaded.keys.take().unwrap_or_default();
    if loaded.trace.len > u32::MAX as usize {
        return Err(Error::Usage(format!(
            "--by handles up to {} positions; this trace has {}",
            u32::MAX,
            loaded.trace.len
        )));
    }
    let groups = Groups::of(&keys);
    if groups.order.is_empty() {
        return Err(Error::Usage(format!("the column `{column}` of --by has no value anywhere in {}", loaded.name)));
    }
    loaded.trace = groups.apply(&loaded.trace);
    let (engine, mut evaluator) = check::replan(session, spec, &loaded, engine, evaluator)?;
    let answers = evaluator
        .evaluate(&loaded.trace, usize::MAX)
        .map_err(|refusal| plan::refused(spec, engine.name(), refusal))?;

    let mut properties = Vec::with_capacity(answers.len());
    let narrator = Narrator::new(session, spec, &loaded, Some(&groups.order));
    for (root, answer) in spec.program.roots.iter().zip(answers) {
        let failing = answer.holds.find(false, 0);
        let verdict = if failing.is_none() { Verdict::Satisfied } else { Verdict::Violated };
        let mut report = property(spec, root, verdict);
        let first = list_violations(session, spec, root, &mut report, &loaded, &keys, &groups, &answer, column);
        // The first violation's own key is the one to explain; a satisfied property is explained on the first key.
        let segment = first.or(session.witness.then_some(0));
        if let Some(segment) = segment.filter(|_| session.explain) {
            report.explanation = narrator.explain(evaluator.as_mut(), root.node, groups.starts[segment])?;
        }
        properties.push(report);
    }
    let by = Some((column.to_string(), groups.keys.len()));
    Ok(report(session, spec, loaded, engine, properties, by))
}

/// Positions sorted by key.
struct Groups {
    /// Original position of each sorted one.
    order: Vec<u32>,
    /// Where each key's stretch starts in `order`.
    starts: Vec<usize>,
    /// The key of each stretch; keys stand in order of appearance.
    keys: Vec<u32>,
}

impl Groups {
    fn of(keys: &Keys) -> Self {
        let mut counts = vec![0usize; keys.names.len()];
        for &id in &keys.ids {
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
        for (at, &id) in keys.ids.iter().enumerate() {
            if id != u32::MAX {
                order[fill[id as usize]] = at as u32;
                fill[id as usize] += 1;
            }
        }
        Self { order, starts, keys: (0..keys.names.len() as u32).collect() }
    }

    fn apply(&self, trace: &Trace) -> Trace {
        let pick = |bits: &Bits| self.order.iter().map(|&at| bits.get(at as usize)).collect::<Bits>();
        Trace {
            len: self.order.len(),
            atoms: trace.atoms.iter().map(pick).collect(),
            times: trace.times.as_ref().map(|times| self.order.iter().map(|&at| times[at as usize]).collect()),
            slots: trace.slots.as_ref().map(|slots| slots.iter().map(|slot| slot.gather(&self.order)).collect()),
            segments: Some(Segments { starts: self.starts.clone() }),
        }
    }

    /// The stretch that holds a sorted position.
    fn segment(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at) - 1
    }
}

/// Lists violations in the order of the log and returns the stretch of the first one.
#[allow(clippy::too_many_arguments)]
fn list_violations(
    session: &Session,
    spec: &Specification,
    root: &Root,
    report: &mut PropertyReport,
    loaded: &Loaded,
    keys: &Keys,
    groups: &Groups,
    answer: &Answer,
    column: &str,
) -> Option<usize> {
    let invariant = is_invariant(spec, root);
    // (original position, sorted position): where φ fails for `G φ`, else where a failing key first appears.
    let mut failing: Vec<(u32, usize)> = if invariant {
        answer.violations.iter().map(|&at| (groups.order[at], at)).collect()
    } else {
        let starts = groups.starts.iter().enumerate().filter(|(segment, _)| !answer.holds.get(*segment));
        starts.map(|(_, &at)| (groups.order[at], at)).collect()
    };
    report.violation_count = if invariant { answer.violation_count } else { failing.len() };
    failing.sort_unstable();
    let first = failing.first().map(|&(_, at)| groups.segment(at));
    failing.truncate(session.violations.max(1));
    let positions: Vec<usize> = failing.iter().map(|&(position, _)| position as usize).collect();
    let times = loaded.trace.times.as_ref().zip(loaded.summary.style);
    let places = places(session, loaded, &positions);
    report.violations = failing
        .iter()
        .zip(places)
        .map(|(&(position, at), (time, line))| {
            let key = keys.names[groups.keys[groups.segment(at)] as usize].clone();
            Violation {
                position: invariant.then_some(position as usize),
                // Without a position of its own, the violation has no time either.
                time: match times {
                    _ if !invariant => None,
                    Some((times, style)) => Some(tw_trace::Stamp { time: times[at], style }),
                    None => time,
                },
                bindings: vec![(column.to_string(), Value::Str(key))],
                line,
            }
        })
        .collect();
    if let Some(violation) = report.violations.first()
        && invariant
    {
        report.position = violation.position;
        report.time = violation.time;
    }
    report.violations.truncate(session.violations);
    first
}
