//! Engine `parametric`: what monitors report, with a small state per binding.
//!
//! "RV-Monitor: Efficient Parametric Runtime Verification with Simultaneous Properties": algorithm D with indexing. Of each binding that
//! events can come to ([`Shape`]) there is a record of a few words: the state of the monitor's automaton, the values by number, and
//! the next record of each list that it is in. Lists take the place of the paper's indexing trees: of every domain one per set of
//! parameters by which events ask for its bindings, the heads in dense arrays where that is one parameter. Values have numbers
//! that all monitors share (`values`). A binding leaves the lists whose events change nothing in its state, and is dropped when no
//! set of COENABLE has all its things alive.
//!
//! An event costs a look at each list that it names and a step per binding there; what no monitor mentions costs nothing.
//! Memory: per binding 4 bytes of state, 4 per parameter, 4 per list, perhaps 4 for the time of its creation, and 4 per value in each
//! dense array. `tw_slicing::monitor` is the definition.

mod explain;
mod feed;
mod save;
mod shape;
mod slab;
mod state;
mod values;

pub use explain::Line;
pub use shape::Shape;

use feed::Route;
use state::State;
use std::sync::Arc;
use tw_automata::deterministic::Stop;
use tw_core::Value;
use tw_ir::Program;
use tw_ir::monitor::Category;
use values::Values;

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Which monitor, by number.
    pub monitor: usize,
    /// Where; `None` is the end of the trace.
    pub position: Option<u64>,
    /// The place of the event among those of the position.
    pub order: u32,
    /// Of each parameter the value, if it is bound.
    pub bindings: Vec<Option<Value>>,
    /// What the trace of the binding has come to.
    pub category: Category,
}

/// More bindings than may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    /// Which monitor has most of them.
    pub monitor: usize,
    /// How many it has.
    pub bindings: usize,
    /// Bytes that all monitors hold.
    pub bytes: usize,
    /// At which position.
    pub position: u64,
}

/// What a monitor holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Bindings that are kept.
    pub bindings: usize,
    /// Bindings that were ever created.
    pub created: u64,
    /// Bytes, without the values.
    pub bytes: usize,
}

/// The monitors of a program, made ready.
#[derive(Clone, Debug)]
pub struct Plan {
    program: Arc<Program>,
    shapes: Vec<Shape>,
    /// Of each monitor the class of each parameter.
    classes: Vec<Vec<usize>>,
    class_count: usize,
    /// Of each slot its columns' classes, and who is concerned.
    routes: Vec<Route>,
}

impl Plan {
    /// Of the monitors of a program, or which of them cannot be run and why.
    pub fn new(program: &Program) -> Result<Self, (usize, Stop)> {
        let shapes = program.monitors.iter().enumerate();
        let shapes = shapes.map(|(number, monitor)| Shape::new(monitor).map_err(|stop| (number, stop)));
        let shapes = shapes.collect::<Result<Vec<_>, _>>()?;
        let (classes, class_count, routes) = feed::routes(program, &shapes);
        Ok(Self { program: Arc::new(program.clone()), shapes, classes, class_count, routes })
    }

    /// The monitors.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }
}

/// Monitors at work on one trace.
#[derive(Clone, Debug)]
pub struct Monitors {
    plan: Arc<Plan>,
    values: Vec<Values>,
    /// Of each monitor one, or one per shard.
    states: Vec<Vec<State>>,
    positions: u64,
    budget: usize,
    /// Columns of numbers, kept for their memory.
    columns: Vec<Vec<Vec<u32>>>,
}

impl Monitors {
    /// Before the first position. `budget` is how many bytes may be held, `threads` how many shards a monitor may have.
    pub fn new(plan: &Arc<Plan>, budget: usize, threads: usize) -> Self {
        let states = |shape: &Shape| {
            let shards = if shape.shard.is_some() { threads.max(1) } else { 1 };
            (0..shards).map(|_| State::new(shape)).collect()
        };
        Self {
            values: vec![Values::default(); plan.class_count],
            states: plan.shapes.iter().map(states).collect(),
            positions: 0,
            budget,
            columns: plan.routes.iter().map(|route| vec![Vec::new(); route.classes.len()]).collect(),
            plan: plan.clone(),
        }
    }

    /// Positions read.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// What a monitor holds.
    pub fn held(&self, monitor: usize) -> Held {
        let states = &self.states[monitor];
        Held {
            bindings: states.iter().map(State::live).sum(),
            created: states.iter().map(|state| state.created).sum(),
            bytes: states.iter().map(State::heap_bytes).sum(),
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        let states: usize = self.states.iter().flatten().map(State::heap_bytes).sum();
        states + self.value_bytes()
    }

    /// Bytes of the values, which all monitors share.
    pub fn value_bytes(&self) -> usize {
        self.values.iter().map(Values::heap_bytes).sum()
    }
}
