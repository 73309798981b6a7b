//! The verdict of a property on a trace whose timestamps are imprecise, and what stands in the way of a better one.

use crate::Run;
use crate::certain::cases;
use crate::imprecise::{Outcome, imprecise, reported};
use crate::label::{Blocked, Label, Why, uncertain};
use crate::windows::{Observation, Windows};
use tw_core::Position;
use tw_ir::{NodeId, Program};
use tw_monitor::{EvaluateOptions, Unsupported};

/// What is known about a property.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The answer.
    pub outcome: Outcome,
    /// Unless the answer is about all executions: what prevents that.
    pub blocked: Option<Blocked>,
    /// The formula that is reported at every instant: φ for a property `G φ`, else the property itself.
    pub formula: NodeId,
    /// Whether the property is `G φ`. Only then there is something in the fields below.
    pub always: bool,
    /// The events at which φ fails on every execution, by position; no more than asked for.
    pub violations: Vec<Position>,
    /// How many there are in all.
    pub violation_count: usize,
    /// The instants at which φ fails on every execution or, if there is no event and no instant of that kind, on some;
    /// no more runs than asked for.
    pub instants: Vec<Run>,
    /// How many runs there are in all.
    pub instant_count: usize,
}

/// Judges the property `root`: by what is certain ([`crate::certain()`]), else by the labels ([`imprecise()`]).
///
/// A property is asked when time begins, at the earliest instant at which an event of the trace may have happened. `G φ`
/// holds on all executions if φ does at every instant. It fails on all of them if φ does at some instant, or at some
/// event wherever in its window that happens.
pub fn judge(
    program: &Program,
    root: NodeId,
    observation: &Observation<'_>,
    options: &EvaluateOptions,
    limit: usize,
) -> Result<Judgement, Unsupported> {
    let (formula, always) = reported(program, root);
    let mut judgement = Judgement {
        outcome: Outcome::NoGuarantee,
        blocked: None,
        formula,
        always,
        violations: Vec::new(),
        violation_count: 0,
        instants: Vec::new(),
        instant_count: 0,
    };
    let windows = Windows::new(observation)?;
    let cases = cases(program, formula, observation, &windows, options)?;
    let [satisfied, violated] = &cases.sure;
    if always {
        for event in 0..windows.times.len() {
            if cases.at_event(event, false, windows.cells(event)) {
                judgement.violation_count += 1;
                if judgement.violations.len() < limit {
                    judgement.violations.push(observation.segment.start + event);
                }
            }
        }
        judgement.list(violated.runs(true), limit);
        if judgement.violation_count + judgement.instant_count > 0 {
            judgement.outcome = Outcome::ViolatedForAll;
        } else if satisfied.runs(false).next().is_none() {
            judgement.outcome = Outcome::SatisfiedForAll;
        }
    } else if satisfied.at_cell(0) {
        judgement.outcome = Outcome::SatisfiedForAll;
    } else if violated.at_cell(0) {
        judgement.outcome = Outcome::ViolatedForAll;
    }
    if judgement.outcome != Outcome::NoGuarantee {
        return Ok(judgement);
    }
    drop(cases);

    let report = imprecise(program, root, observation, options)?;
    judgement.outcome = report.outcome();
    let fails = if always { report.signal.runs(false).next().is_some() } else { !report.signal.at_cell(0) };
    judgement.blocked = match if fails { report.violated } else { report.satisfied } {
        Err(blocked) => Some(blocked),
        // φ holds at each instant on some execution.
        Ok(Label::Some) if always && !fails => {
            Some(Blocked { node: formula, negated: false, why: Why::Throughout })
        }
        Ok(_) => uncertain(program, formula, fails),
    };
    if always && judgement.outcome == Outcome::ViolatedForSome {
        judgement.list(report.signal.runs(false), limit);
    }
    Ok(judgement)
}

impl Judgement {
    fn list(&mut self, runs: impl Iterator<Item = Run>, limit: usize) {
        for run in runs {
            self.instant_count += 1;
            if self.instants.len() < limit {
                self.instants.push(run);
            }
        }
    }
}
