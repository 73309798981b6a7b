//! Engine `parametric`: what monitors report, with a small state per binding.
//!
//! "RV-Monitor: Efficient Parametric Runtime Verification with Simultaneous Properties": algorithm D with indexing. Of each binding that
//! events can come to ([`Shape`]) there is a record of a few words: the state of the monitor's automaton, the values by number, and
//! the next record of each list that it is in. Lists take the place of the paper's indexing trees: of every domain one per set of
//! parameters by which events ask for its bindings, the heads in dense arrays where that is one parameter, else in tables. Values
//! have numbers that all monitors share (`values`). Monitors whose bindings are the same at all times share records (`group`). A
//! binding leaves the lists whose events change nothing in its state, and is dropped when no set of COENABLE has all its
//! things alive.
//!
//! Positions are read in stretches (`scan`, `reading`): the values of a stretch are numbered slot by slot, memory is asked ahead for
//! what its events will look at, and then they happen in order. Threads (`work`) share nothing that changes: bindings are divided by
//! the value of a parameter that all events of a monitor name.
//!
//! An event costs a look at each list that it names, with the last key of a table kept, and a step per binding there and monitor of the
//! group; what no monitor mentions costs a look per 128 positions and slot. Arrays grow by pages and tables by segments, so nothing
//! is ever moved as a whole; where things end, a sweep goes through all records once half of them are garbage. Memory: per
//! binding 4 bytes of state for each monitor of the group, 4 per value (none where it is the only one), 4 per list and 4 for which
//! those are, perhaps 4 for the time of its creation and 4 for what is dead; 4 per value in each dense array; 10 to 21 per key in each
//! table. A whole number that monitors name takes 12 bytes, once. In all 17 bytes for a monitor of one parameter, 30 for one of a pair, 96 for
//! UnsafeMapIterator (`cargo bench -p tw-engine-parametric`). `tw_slicing::monitor` is the definition.

mod dense;
mod explain;
mod feed;
mod group;
mod reading;
mod route;
mod save;
mod scan;
mod shape;
mod slab;
mod stamps;
mod state;
mod table;
mod things;
mod values;
mod work;

pub use explain::Line;
pub use shape::Shape;

use group::Group;
use route::Route;
use state::State;
use std::sync::Arc;
use tw_automata::deterministic::Stop;
use tw_core::Value;
use tw_ir::Program;
use tw_ir::monitor::Category;
use values::Values;
use work::Work;

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
    /// Monitors that share their records.
    groups: Vec<Group>,
    /// Of each monitor its group.
    group_of: Vec<usize>,
    /// Of each monitor the class of each parameter.
    classes: Vec<Vec<usize>>,
    class_count: usize,
    /// Of each slot its columns' classes, and who is concerned.
    routes: Vec<Route>,
}

impl Plan {
    /// Of the monitors of a program, or which of them cannot be run and why.
    pub fn new(program: &Program) -> Result<Self, (usize, Stop)> {
        Self::shared(program, true)
    }

    /// The same, and no two monitors share records: to measure what sharing is worth.
    pub fn apart(program: &Program) -> Result<Self, (usize, Stop)> {
        Self::shared(program, false)
    }

    fn shared(program: &Program, sharing: bool) -> Result<Self, (usize, Stop)> {
        let shapes = program.monitors.iter().enumerate();
        let shapes = shapes.map(|(number, monitor)| Shape::new(monitor).map_err(|stop| (number, stop)));
        let shapes = shapes.collect::<Result<Vec<_>, _>>()?;
        let (classes, class_count, routes) = route::routes(program, &shapes);
        let groups = group::groups(&shapes, sharing);
        let mut group_of = vec![0; shapes.len()];
        for (number, group) in groups.iter().enumerate() {
            group.lanes.iter().for_each(|lane| group_of[lane.monitor] = number);
        }
        Ok(Self {
            program: Arc::new(program.clone()),
            shapes,
            groups,
            group_of,
            classes,
            class_count,
            routes,
        })
    }

    /// How many groups of monitors there are that share records.
    pub fn groups(&self) -> usize {
        self.groups.len()
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
    /// One per thread.
    works: Vec<Work>,
    positions: u64,
    budget: usize,
}

impl Monitors {
    /// Before the first position. `budget` is how many bytes may be held, `threads` how many shards a monitor may have.
    pub fn new(plan: &Arc<Plan>, budget: usize, threads: usize) -> Self {
        let divides = plan.groups.len() > 1 || plan.groups.iter().any(|group| group.shape.shard.is_some());
        let shards = if divides { threads.max(1) as u32 } else { 1 };
        let works = (0..shards).map(|shard| Work::new(plan, shard, shards)).collect();
        Self { plan: plan.clone(), works, positions: 0, budget }
    }

    /// How many monitors there are.
    pub fn monitors(&self) -> usize {
        self.plan.shapes.len()
    }

    /// Positions read.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// The next position has this number; before any has come.
    pub fn skip_to(&mut self, position: u64) {
        self.positions = self.positions.max(position);
    }

    /// What a monitor holds. Of records that several share, each holds a part.
    pub fn held(&self, monitor: usize) -> Held {
        let group = self.plan.group_of[monitor];
        let lanes = self.plan.groups[group].lanes.len();
        let states = || self.works.iter().filter_map(|work| work.states[group].as_ref());
        Held {
            bindings: states().map(State::live).sum(),
            created: states().map(|state| state.created).sum(),
            bytes: states().map(State::heap_bytes).sum::<usize>() / lanes,
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.works.iter().map(Work::heap_bytes).sum()
    }

    /// Bytes of the values, which all monitors share.
    pub fn value_bytes(&self) -> usize {
        self.works.iter().flat_map(|work| &work.values).map(Values::heap_bytes).sum()
    }
}
