//! The cells of a stream, from the steps of the formulas asked for.

use super::Online;
use super::cell::{Cell, state};
use super::flat::Flat;
use super::queue::Queue;
use crate::Robust;
use crate::plan::Step;
use tw_core::Time;
use tw_ir::{Clock, NodeId, Semantics};
use tw_monitor::Unsupported;

impl Robust {
    /// The given formulas on a stream, or the operator that would settle nothing before the end of it.
    pub fn online(&self, nodes: &[NodeId]) -> Result<Online, Unsupported> {
        let wanted: Vec<usize> = nodes.iter().map(|&node| self.step(node)).collect::<Result<_, _>>()?;
        let needed = self.plan.needed(wanted.iter().copied());
        let mut place = vec![usize::MAX; needed.len()];
        let (mut cells, mut predicates) = (Vec::new(), Vec::new());
        for at in (0..needed.len()).filter(|&at| needed[at]) {
            if let Step::Scan { past: false, .. } = self.plan.steps[at] {
                let node =
                    self.plan.of.iter().filter(|(_, step)| **step >= at).min_by_key(|(_, step)| **step);
                return Err(Unsupported {
                    node: node.map(|(node, _)| *node),
                    what: "a stream: an operator over an unbounded future settles nothing before its end"
                        .into(),
                    help: Some(
                        "give it an interval (`F[0,10s]`), or ask for what stands below an outer `G`".into(),
                    ),
                    exhausted: false,
                });
            }
            place[at] = cells.len();
            if let Step::Predicate(column) = self.plan.steps[at] {
                predicates.push((column, cells.len()));
            }
            let step = renamed(self.plan.steps[at], &place);
            cells.push(Cell { step, values: Queue::default(), state: state(step) });
        }
        let computes = |at: &usize| !matches!(cells[*at].step, Step::Predicate(_));
        let busy = (0..cells.len()).filter(computes).collect();
        let mut online = Online {
            cells,
            outputs: wanted.iter().map(|&step| place[step]).collect(),
            drained: vec![0; wanted.len()],
            predicates,
            columns: self.plan.predicates.len(),
            index: self.options.clock == Clock::Index,
            timed: self.plan.timed,
            times: Queue::default(),
            watermark: Time::MIN,
            seen: 0,
            trimmed: 0,
            busy,
            flat: None,
            kept: Vec::new(),
            finished: false,
            repeat: self.options.semantics == Semantics::RepeatLast,
            budget: self.options.memory_budget,
        };
        online.flat = Flat::of(&online);
        Ok(online)
    }
}

fn renamed(step: Step, place: &[usize]) -> Step {
    let at = |id: usize| place[id];
    match step {
        Step::Not(a) => Step::Not(at(a)),
        Step::Connect(connective, a, b) => Step::Connect(connective, at(a), at(b)),
        Step::Neighbour { past, dual, ticks, body } => Step::Neighbour { past, dual, ticks, body: at(body) },
        Step::Window { past, dual, ticks, body } => Step::Window { past, dual, ticks, body: at(body) },
        Step::Until { past, dual, ticks, hold, goal } => {
            Step::Until { past, dual, ticks, hold: at(hold), goal: at(goal) }
        }
        Step::Scan { past, dual, hold, goal } => {
            Step::Scan { past, dual, hold: hold.map(at), goal: at(goal) }
        }
        Step::Shift { past, dual, low, hold, inner } => {
            Step::Shift { past, dual, low, hold: hold.map(at), inner: at(inner) }
        }
        leaf => leaf,
    }
}
