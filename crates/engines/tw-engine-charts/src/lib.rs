//! Sequence charts, stored and live.
//!
//! "Monitoring Systems with Extended Live Sequence Charts" (Chai, Schlingloff) translates charts to linear temporal logic, or
//! counts executions of iterated ones by dividing the whole trace. Here every reading has an algorithm that takes one event
//! after the other: windows of the projection (`window`, as an automaton that is built as needed: `lazy`), cuts for the
//! one-shot reading (`oneshot`), and numbered executions (`counting`).
//!
//! State: a number per pair of basic charts, or a sequence of at most as many events as the larger has; of iterated charts the
//! executions that are not complete. An event costs one look-up for each pair that has it; positions without events of charts
//! cost nothing. Memory is bounded by the charts, but for executions of iterated charts that are never completed, which end in
//! a refusal at the memory budget.

mod bank;
mod counting;
mod feed;
mod lazy;
mod live;
mod oneshot;
mod shape;
mod stored;
mod window;

pub use bank::{Bank, Ending, Question, States};
pub use feed::Feed;

use live::Live;
use stored::Stored;
use tw_ir::chart::Check;
use tw_ir::{NodeId, Program};
use tw_monitor::{Engine, EvaluateOptions, PlannedEvaluator, PlannedMonitor, Telling, Unsupported};

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Charts;

impl Engine for Charts {
    fn name(&self) -> &'static str {
        "charts"
    }

    fn about(&self) -> &'static str {
        "sequence charts: one step per event for each chart that has it"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Ok(Box::new(Stored::new(program, options)?))
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(&self, program: &Program, options: &EvaluateOptions, telling: Telling) -> PlannedMonitor {
        Ok(Box::new(Live::new(program, options, telling)?))
    }
}

/// A check with its root and the formulas of its events.
type Asked<'p> = (usize, &'p Check, Vec<NodeId>);

/// The checks of a program, or the first root that is none.
fn checks(program: &Program) -> Result<Vec<Asked<'_>>, Unsupported> {
    let one = |(number, root): (usize, &tw_ir::Root)| match program.chart(root.node) {
        Some((_, check, events)) => Ok((number, check, events)),
        None => {
            let refused = Unsupported::construct(root.node, "what is no chart");
            Err(refused.help("use ⟨engine: auto⟩: charts have this engine anyway"))
        }
    };
    program.roots.iter().enumerate().map(one).collect()
}
