//! What holds, and what fails, on every execution that imprecise timestamps allow.
//!
//! The labels of the paper speak of a formula as a whole: `G (request -> F[0,5] answer)` has none that tells about all
//! executions, for `answer` happens at no certain instant. But it happens, somewhere in its window: if the whole window
//! lies within reach, the answer comes in time on every execution. So here each formula and each negation gets the
//! instants at which it holds on *all* executions, an under-approximation, from those of its operands:
//!
//! - connectives by cases: nothing happens, or one of the events that may (see [`crate::cases`]);
//! - `φ U[I] ψ` and `φ S[I] ψ`, too, at t if for some event the whole window lies in t + I (t − I), φ holds on all
//!   executions from t to its end, and ψ holds wherever in the window the event happens, its atoms being known then;
//! - they fail on all executions if they do however φ and ψ turn out where these are not certain.
//!
//! Whatever the label A guarantees is found, and more. An operator costs O(changes + events · log changes), times the
//! number of different events (at most 64; more are not told apart) for a connective over temporal operators.

use crate::algebra::{Operand as Side, finally, once, since, until};
use crate::cases::{Cases, Context, block};
use crate::formula::Formulas;
use crate::imprecise::Outcome;
use crate::reading::columns;
use crate::steps::{Operand, Step, Steps};
use crate::windows::{Observation, Windows};
use crate::{Signal, Window};
use std::rc::Rc;
use tw_ir::{NodeId, Program};
use tw_monitor::{EvaluateOptions, Unsupported};

/// What is certain about a formula. A property `G φ` as a whole is asked at the beginning of the span.
#[derive(Clone, Debug)]
pub struct Certain {
    /// The instants at which the formula holds on every possible execution.
    pub satisfied: Signal,
    /// Those at which it fails on every possible execution. At the others executions differ, or it is not known.
    pub violated: Signal,
}

impl Certain {
    /// For all executions, at an instant; [`Outcome::NoGuarantee`] where that is not known.
    pub fn at(&self, time: tw_core::Time) -> Outcome {
        match (self.satisfied.at(time), self.violated.at(time)) {
            (true, _) => Outcome::SatisfiedForAll,
            (_, true) => Outcome::ViolatedForAll,
            _ => Outcome::NoGuarantee,
        }
    }
}

/// When `node` holds, and fails, on every execution that may be behind the trace.
pub fn certain(
    program: &Program,
    node: NodeId,
    observation: &Observation<'_>,
    options: &EvaluateOptions,
) -> Result<Certain, Unsupported> {
    let windows = Windows::new(observation)?;
    let [satisfied, violated] = cases(program, node, observation, &windows, options)?.sure;
    Ok(Certain { satisfied, violated })
}

/// The formula at `node` in every case.
pub(crate) fn cases(
    program: &Program,
    node: NodeId,
    observation: &Observation<'_>,
    windows: &Windows<'_>,
    options: &EvaluateOptions,
) -> Result<Cases, Unsupported> {
    let formulas = Formulas::new(program, &[node], options.unit, options.memory_budget)?;
    columns(&formulas, observation.trace)?;
    let steps = Steps::new(&formulas, node);
    // How many operands still read each temporal operator.
    let mut readers = vec![0usize; steps.list.len()];
    let temporal = |operand: Operand| {
        let parts = block(&steps.list, operand.step).into_iter();
        parts.filter(|&step| matches!(steps.list[step], Step::Reach { .. }))
    };
    for step in &steps.list {
        if let Step::Reach { hold, goal, .. } = *step {
            hold.into_iter().chain([goal]).flat_map(temporal).for_each(|step| readers[step] += 1);
        }
    }
    temporal(steps.formula).for_each(|step| readers[step] += 1);

    let mut made: Vec<Option<Rc<[Signal; 2]>>> = vec![None; steps.list.len()];
    let over = |bytes: usize| match bytes > options.memory_budget {
        true => Err(Unsupported::budget("continuous time within the memory budget")
            .help("raise the memory budget, or ask fewer formulas at once")),
        false => Ok(()),
    };
    let size = |pair: &[Signal; 2]| pair[0].heap_bytes() + pair[1].heap_bytes();
    let mut held = 0;
    for index in 0..steps.list.len() {
        let Step::Reach { hold, goal, window, ahead } = steps.list[index] else { continue };
        if readers[index] == 0 {
            continue;
        }
        let context = Context { list: &steps.list, trace: observation.trace, windows, made: &made };
        let (hold_cases, goal_cases) = (hold.map(|hold| context.cases(hold)), context.cases(goal));
        let bytes = goal_cases.heap_bytes() + hold_cases.as_ref().map_or(0, Cases::heap_bytes);
        over(bytes + held)?;
        let reach = Reach { windows, hold: hold_cases.as_ref(), goal: &goal_cases, window, ahead };
        let pair = [reach.holds(), reach.fails()];
        for step in hold.into_iter().chain([goal]).flat_map(temporal) {
            readers[step] -= 1;
            if readers[step] == 0
                && let Some(done) = made[step].take()
            {
                held -= size(&done);
            }
        }
        held += size(&pair);
        made[index] = Some(Rc::new(pair));
    }
    let context = Context { list: &steps.list, trace: observation.trace, windows, made: &made };
    let cases = context.cases(steps.formula);
    over(cases.heap_bytes() + held)?;
    Ok(cases)
}

/// Until, or since; without `hold`, finally or once.
struct Reach<'r, 't> {
    windows: &'r Windows<'t>,
    hold: Option<&'r Cases>,
    goal: &'r Cases,
    window: Window,
    ahead: bool,
}

impl Reach<'_, '_> {
    /// When it certainly holds: at a certain instant of the goal, or at a certain event.
    fn holds(&self) -> Signal {
        let hold = self.hold.map(|hold| &hold.sure[0]);
        self.reach(hold.map(|hold| Side(hold, true)), Side(&self.goal.sure[0], true)).or(&self.events(hold))
    }

    /// When it certainly fails: though whatever may hold does.
    fn fails(&self) -> Signal {
        let hold = self.hold.map(|hold| Side(&hold.sure[1], false));
        self.reach(hold, Side(&self.goal.sure[1], false)).complement()
    }

    fn reach(&self, hold: Option<Side<'_>>, goal: Side<'_>) -> Signal {
        let window = self.window;
        match (hold, self.ahead) {
            (None, true) => finally(goal.0, goal.1, window, Vec::new()),
            (None, false) => once(goal.0, goal.1, window, Vec::new()),
            (Some(hold), true) => until(hold, goal, window, &mut Vec::new()),
            (Some(hold), false) => since(hold, goal, window, &mut Vec::new()),
        }
    }

    /// The instants from which some event is certainly within reach.
    fn events(&self, hold: Option<&Signal>) -> Signal {
        let (span, window) = (self.windows.span, self.window);
        let mut ranges = Vec::new();
        for event in 0..self.windows.times.len() {
            let (low, high) = self.windows.cells(event);
            if !self.goal.at_event(event, true, (low, high)) {
                continue;
            }
            // From where all of the window is seen, and φ holds up to its far end.
            let range = if self.ahead {
                let held = match hold {
                    None => 0,
                    Some(hold) => high.checked_sub(1).and_then(|c| hold.around(c)).map_or(high, |run| run.0),
                };
                (window.before_from(high).max(held), window.before_to(low + 1))
            } else {
                let held = match hold {
                    None => span.cells(),
                    Some(hold) => hold.around(low + 1).map_or(low + 1, |run| run.1),
                };
                let from = window.after_from(high, span.cells());
                (from, window.after_to(low + 1, span.cells()).min(held))
            };
            ranges.push(range);
        }
        Signal::from_ranges(span, ranges)
    }
}
