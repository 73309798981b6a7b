//! Verdicts when timestamps are accurate up to a known error only.
//!
//! Basin, Klaedtke, Marinovic, Zălinescu: On Real-Time Monitoring with Imprecise Timestamps (RV 2014). A position is an
//! event; it happened at some instant within its error of its timestamp, no two at the same instant. Each atom p is
//! relaxed to "p within the error of here", which is a union of closed intervals [τ − δ, τ + δ] and is built as such;
//! the formula is evaluated on these signals, and the [`label()`]s say what its truth, or falsity, means for the
//! executions that may be behind the trace. Errors may differ from event to event: only the cases of the atoms in the
//! proof mention them.
//!
//! The cost is that of evaluating the formula over signals, O(changes) per operator.

use crate::formula::Formulas;
use crate::label::{Label, Labelled, label};
use crate::reading::columns;
use crate::windows::{Observation, Windows};
use crate::{Run, Signal};
use tw_core::Time;
use tw_ir::{Node, NodeId, Program, Temporal};
use tw_monitor::{EvaluateOptions, Unsupported};

/// What is known about the executions that may be behind a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The formula holds on every possible execution.
    SatisfiedForAll,
    /// It holds on some possible execution.
    SatisfiedForSome,
    /// It fails on every possible execution.
    ViolatedForAll,
    /// It fails on some possible execution.
    ViolatedForSome,
    /// The labels do not tell.
    NoGuarantee,
}

impl Outcome {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::SatisfiedForAll => "satisfied-for-all",
            Outcome::SatisfiedForSome => "satisfied-for-some",
            Outcome::ViolatedForAll => "violated-for-all",
            Outcome::ViolatedForSome => "violated-for-some",
            Outcome::NoGuarantee => "none",
        }
    }
}

/// The verdict over time.
#[derive(Clone, Debug)]
pub struct Report {
    /// The formula that is reported at every instant: φ for a property `G φ`, else the property itself.
    pub formula: NodeId,
    /// Whether the property was `G φ`.
    pub always: bool,
    /// What it guarantees that the relaxed formula is true.
    pub satisfied: Labelled,
    /// What it guarantees that it is false: the label of the negation.
    pub violated: Labelled,
    /// The truth of the relaxed formula, from when time begins to when the last event may have happened at the latest.
    pub signal: Signal,
}

impl Report {
    /// What the truth value of the relaxed formula guarantees.
    pub fn meaning(&self, value: bool) -> Outcome {
        match (value, if value { self.satisfied } else { self.violated }) {
            (true, Ok(Label::All)) => Outcome::SatisfiedForAll,
            (true, Ok(Label::Some)) => Outcome::SatisfiedForSome,
            (false, Ok(Label::All)) => Outcome::ViolatedForAll,
            (false, Ok(Label::Some)) => Outcome::ViolatedForSome,
            (_, Err(_)) => Outcome::NoGuarantee,
        }
    }

    /// The formula's outcome at an instant of the signal's span.
    pub fn at(&self, time: Time) -> Outcome {
        self.meaning(self.signal.at(time))
    }

    /// The formula's outcome at every instant, in maximal runs.
    pub fn outcomes(&self) -> Vec<(Run, Outcome)> {
        let mut runs: Vec<(Run, Outcome)> = Vec::new();
        for (run, value) in self.signal.pieces() {
            let outcome = self.meaning(value);
            match runs.last_mut() {
                // Without labels, true and false mean the same.
                Some((last, same)) if *same == outcome => last.high = run.high,
                _ => runs.push((run, outcome)),
            }
        }
        runs
    }

    /// The outcome of the property, which is asked when time begins: before that nothing has happened.
    ///
    /// `G φ` fails on all (on some) executions if φ does at some instant; it holds on all if φ does at every instant. That
    /// φ holds at each instant on some execution says nothing, for it need not be the same one throughout.
    pub fn outcome(&self) -> Outcome {
        if !self.always {
            return self.at(self.signal.span().start());
        }
        let violated = self.signal.runs(false).next().map(|_| self.meaning(false));
        let satisfied = self.signal.runs(true).next().map(|_| self.meaning(true));
        match (violated, satisfied) {
            (Some(Outcome::NoGuarantee), _) => Outcome::NoGuarantee,
            (Some(outcome), _) => outcome,
            (None, Some(Outcome::SatisfiedForAll)) => Outcome::SatisfiedForAll,
            (None, _) => Outcome::NoGuarantee,
        }
    }
}

/// The formula that a property reports at every instant: outer `G`s say "at every instant", and are left off since a
/// guarantee for some execution would not pass through them.
pub fn reported(program: &Program, root: NodeId) -> (NodeId, bool) {
    let mut formula = root;
    loop {
        match program.dag.node(formula) {
            Node::Unary(Temporal::Globally, None, body) => formula = body,
            Node::Unary(Temporal::Globally, Some(i), body)
                if i.high.is_none() && i.low.billionths == 0 && !i.low.open =>
            {
                formula = body;
            }
            _ => return (formula, formula != root),
        }
    }
}

/// The verdict of the property `root` over time.
pub fn imprecise(
    program: &Program,
    root: NodeId,
    observation: &Observation<'_>,
    options: &EvaluateOptions,
) -> Result<Report, Unsupported> {
    let (formula, always) = reported(program, root);
    let mut formulas = Formulas::new(program, &[formula], options.unit, options.memory_budget)?;
    let windows = Windows::new(observation)?;
    let trace = observation.trace;
    columns(&formulas, trace)?;
    let mut signals =
        formulas.signals(windows.span, |atom, buffer| windows.relax(&trace.atoms[atom], buffer))?;
    Ok(Report {
        formula,
        always,
        satisfied: label(program, formula, false),
        violated: label(program, formula, true),
        signal: signals.swap_remove(0),
    })
}
