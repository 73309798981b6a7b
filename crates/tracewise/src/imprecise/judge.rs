//! The properties of a trace judged, and what was found put into words.

use super::read::{at_line, errors_of, in_order};
use super::{ClockError, Guarantee, Obstacle, Stretch};
use crate::check::ranges;
use crate::check::{CheckOptions, CheckReport, Finding, Violation, newlines, property};
use crate::error::Setting;
use crate::narrate::Narrator;
use crate::plan::Who;
use crate::run::columns::{Loaded, Need};
use crate::run::divide::{Divided, Labels, Order};
use crate::run::faults::{refuse_empty, without_timestamps};
use crate::{Error, Session, Specification, plan};
use std::borrow::Cow;
use tw_core::{Position, Time, Verdict};
use tw_engine_dense::{Judgement, Observation, Outcome};
use tw_ir::{Clock, Division, Expect, Path, Root, Semantics, Slot, SlotId, What};
use tw_monitor::Answers;
use tw_trace::{Stamp, TimeStyle};

/// Options that have no meaning here.
fn refuse_options(session: &Session, asked: &CheckOptions, error: &ClockError) -> Result<(), Error> {
    let refused = |why: &str, setting: String| Err(Error::refused_instead(why, format!("use {setting}")));
    match (session.evaluate.clock, error) {
        (Clock::Index, _) => {
            let counting = format!("{} counts positions", Setting::Clock.to("index"));
            return Err(Error::refused(format!("a clock error is about timestamps, but {counting}")));
        }
        (_, ClockError::Same(..0)) => return Err(Error::refused("a clock error cannot be negative")),
        _ => {}
    }
    if !matches!(session.evaluate.engine.as_str(), "auto" | "dense") {
        let engine = format!("{} or dense", Setting::Engine.to("auto"));
        return refused("a clock error is judged over continuous time", engine);
    }
    if session.evaluate.semantics == Semantics::Ltl3 {
        return refused("a clock error leaves a trace that ends", Setting::Semantics.to("finite"));
    }
    if asked.statistic.is_some() {
        let order = "which are in no certain order with a clock error";
        return Err(Error::refused(format!("{} counts positions, {order}", Setting::Statistic)));
    }
    Ok(())
}

pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    files: &[String],
    asked: &CheckOptions,
    error: &ClockError,
) -> Result<CheckReport, Error> {
    refuse_options(session, asked, error)?;
    let session = &session.clone().clock(Clock::Dense).engine("dense");
    let mut spec = spec.properties()?.into_owned();
    let options = session.evaluate_options();
    let engine = plan::choose(session, &spec, &options, Who::Any(Answers::Verdicts))?.engine;
    let kept: Vec<SlotId> = match error {
        ClockError::Same(_) => Vec::new(),
        ClockError::Column(name) => {
            let what = What::Variable(Path::field(name.as_str()), Expect::Number);
            spec.program.slots.push(Slot { what, declared: false, span: Default::default() });
            vec![spec.program.slots.len() as SlotId - 1]
        }
    };
    let need = Need { times: true, key: asked.by.as_deref(), kept: &kept, ..Need::default() };
    let (mut loaded, read) = in_order(session, &spec, files, need, error)?;
    let session = &read;
    refuse_empty(&loaded)?;
    if !loaded.summary.timed {
        return Err(without_timestamps(loaded.name(), "a clock error is about timestamps"));
    }
    let mut errors = match (error, loaded.kept.first()) {
        (ClockError::Column(name), Some(column)) => errors_of(column, session.read.unit)
            .map_err(|(at, found)| at_line(&loaded, at, format!("the clock error `{name}` {found}")))?,
        _ => Vec::new(),
    };
    let (mut order, mut labels) = (Order::default(), Labels::Whole);
    if let Some(column) = &asked.by {
        let division = Division { by: Some(Path::parse(column)), every: None };
        let trace = Cow::Owned(std::mem::take(&mut loaded.trace));
        let divided = Divided::new(&division, None, &loaded, trace, &options)?;
        (order, labels) = (divided.order, divided.labels);
        loaded.trace = divided.trace.into_owned();
        if !errors.is_empty() {
            errors = order.gather(errors);
        }
    }
    let names = asked.by.as_deref().map(|column| Names { column, labels: &labels });
    let mut findings = Vec::with_capacity(spec.program.roots.len());
    let newlines = newlines(&spec);
    let known =
        Known { session, asked, spec: &spec, loaded: &loaded, error, errors: &errors, order: &order, names };
    for (index, root) in spec.program.roots.iter().enumerate() {
        if index == 0 {
            known.refuse_clashes()?;
        }
        let judgements = known.judge(root, engine, &options)?;
        findings.push(known.finding(property(&spec, &newlines, root, Verdict::Unknown), judgements));
    }
    let properties = Narrator::new(session, &spec, &loaded, &order).tell(findings, asked);
    let by = asked.by.clone().map(|column| (column, labels.len()));
    let mut warnings = spec.warnings.clone();
    warnings.append(&mut loaded.warnings);
    Ok(CheckReport {
        trace: loaded.name().to_string(),
        positions: loaded.summary.positions,
        bytes: loaded.summary.bytes,
        skipped: loaded.summary.skipped,
        engine,
        semantics: session.evaluate.semantics.name(),
        by,
        properties,
        warnings,
        slicing: Vec::new(),
        ticks: Vec::new(),
    })
}

/// The value of `by` of each segment.
#[derive(Clone, Copy)]
struct Names<'a> {
    column: &'a str,
    labels: &'a Labels,
}

/// What is judged.
struct Known<'a> {
    asked: &'a CheckOptions,
    session: &'a Session,
    spec: &'a Specification,
    loaded: &'a Loaded,
    error: &'a ClockError,
    /// One per position if they differ.
    errors: &'a [Time],
    order: &'a Order,
    names: Option<Names<'a>>,
}

impl Known<'_> {
    fn observation(&self, segment: usize) -> Observation<'_> {
        let trace = &self.loaded.trace;
        let error = match self.error {
            ClockError::Same(error) => tw_engine_dense::ClockError::Same(*error),
            ClockError::Column(_) => tw_engine_dense::ClockError::Each(self.errors),
        };
        let segment = trace.starts()[segment]..trace.segment_end(segment);
        Observation { trace, segment, error, origin: None }
    }

    fn refuse_clashes(&self) -> Result<(), Error> {
        for segment in 0..self.loaded.trace.starts().len() {
            let Some(at) = self.observation(segment).clash() else { continue };
            let at = self.order.original(at);
            let message = "this timestamp is exact (its clock error is 0), but another event may have happened at the \
                           same instant, and no two do: give every event a clock error above 0";
            return Err(at_line(self.loaded, at, message.into()));
        }
        Ok(())
    }

    /// What each segment is worth.
    fn judge(
        &self,
        root: &Root,
        engine: &str,
        options: &tw_monitor::EvaluateOptions,
    ) -> Result<Vec<Judgement>, Error> {
        // With several segments, violations are listed in the order of the log.
        let least = if self.asked.overview { ranges::COUNTED } else { 1 };
        let limit = if self.order.by_key() { usize::MAX } else { self.asked.violations.max(least) };
        let judge = |segment| {
            let observation = self.observation(segment);
            tw_engine_dense::judge(&self.spec.program, root.node, &observation, options, limit)
                .map_err(|refusal| plan::refused(self.spec, engine, refusal))
        };
        (0..self.loaded.trace.starts().len()).map(judge).collect()
    }

    fn finding(&self, report: crate::check::PropertyReport, judgements: Vec<Judgement>) -> Finding {
        let mut finding = Finding::new(report);
        let kind = together(judgements.iter().map(|judgement| judgement.outcome));
        finding.report.verdict = match kind {
            Outcome::SatisfiedForAll => Verdict::Satisfied,
            Outcome::ViolatedForAll => Verdict::Violated,
            _ => Verdict::Unknown,
        };
        let style = self.loaded.summary.style.unwrap_or(TimeStyle::Number(self.session.read.unit));
        let stamp = |time| Stamp { time, style };
        let due = judgements.iter().position(|judgement| judgement.outcome == kind);
        let deciding = due.map(|segment| &judgements[segment]);
        let binding = |segment: usize| {
            let names = self.names?;
            Some((names.column.to_string(), names.labels.get(segment).key?))
        };
        let end = |end: tw_engine_dense::End| (stamp(end.time), end.open);
        let instants = deciding.iter().flat_map(|judgement| &judgement.instants);
        finding.report.guarantee = Some(Guarantee {
            kind,
            clock_error: self.error.clone(),
            due_to: due.filter(|_| kind != Outcome::SatisfiedForAll).and_then(binding),
            blocked: deciding
                .and_then(|judgement| judgement.blocked)
                .map(|blocked| Obstacle::new(self.spec, blocked)),
            instants: instants
                .take(self.asked.violations)
                .map(|run| Stretch { from: end(run.low), to: end(run.high) })
                .collect(),
            instant_count: deciding.map_or(0, |judgement| judgement.instant_count),
        });
        if kind != Outcome::ViolatedForAll {
            return finding;
        }
        // In the order of the log: where it is, where it was sorted to, its segment, whether it is an event's own.
        let mut failing: Vec<(Position, Position, usize, bool)> = Vec::new();
        for (segment, judgement) in judgements.iter().enumerate() {
            let original = |at: Position| self.order.original(at);
            failing.extend(judgement.violations.iter().map(|&at| (original(at), at, segment, true)));
            finding.report.violation_count += judgement.violation_count;
            // A value of `by` for which something else fails is named without a position.
            if self.names.is_some()
                && judgement.outcome == Outcome::ViolatedForAll
                && judgement.violations.is_empty()
            {
                let start = self.loaded.trace.starts()[segment];
                failing.push((original(start), start, segment, false));
                finding.report.violation_count += 1;
            }
        }
        failing.sort_unstable();
        if self.asked.overview && !failing.is_empty() {
            let own = failing.iter().filter(|(.., own)| *own).map(|(position, ..)| *position);
            let cut = finding.report.violation_count > failing.len();
            let all = self.loaded.summary.positions;
            finding.report.timeline = Some(ranges::timeline(own, all, cut));
        }
        let times = self.loaded.trace.times.as_deref().unwrap_or_default();
        for (position, at, segment, own) in failing.into_iter().take(self.asked.violations.max(1)) {
            let violation = Violation {
                position: own.then_some(position),
                time: times.get(at).filter(|_| own).map(|&time| stamp(time)),
                bindings: binding(segment).into_iter().collect(),
                ..Violation::default()
            };
            finding.add(position, violation);
        }
        finding
    }
}

/// The answer about traces that are all to have the property. Their events have nothing to do with each other, so any
/// execution of one goes with any of another.
fn together(outcomes: impl Iterator<Item = Outcome> + Clone) -> Outcome {
    let any = |outcome| outcomes.clone().any(|other| other == outcome);
    let satisfied = |outcome| matches!(outcome, Outcome::SatisfiedForAll | Outcome::SatisfiedForSome);
    if any(Outcome::ViolatedForAll) {
        Outcome::ViolatedForAll
    } else if any(Outcome::ViolatedForSome) {
        Outcome::ViolatedForSome
    } else if !outcomes.clone().all(satisfied) {
        Outcome::NoGuarantee
    } else if any(Outcome::SatisfiedForSome) {
        Outcome::SatisfiedForSome
    } else {
        Outcome::SatisfiedForAll
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::*;

    #[test]
    fn traces_together() {
        let all = [SatisfiedForAll, SatisfiedForSome, NoGuarantee, ViolatedForSome, ViolatedForAll];
        for (i, &a) in all.iter().enumerate() {
            for (j, &b) in all.iter().enumerate() {
                assert_eq!(together([a, b].into_iter()), all[i.max(j)], "{a:?} and {b:?}");
            }
        }
    }
}
