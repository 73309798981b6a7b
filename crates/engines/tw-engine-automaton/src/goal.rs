//! One property: how it is run.

use crate::split::Split;
use crate::table::Table;
use crate::{Mode, unsupported};
use std::sync::Arc;
use tw_automata::deterministic::{Deterministic, Lazy, Options, Stop, parts};
use tw_automata::past::Past;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{Run, State, Stretch, Unsupported};

/// A property at work. Most are a [`Table`].
pub(crate) enum Goal {
    Complete(Box<Table>),
    Split(Box<Split>),
    OnDemand(Box<Lazy>),
}

impl Goal {
    /// The whole automaton if it fits the budget, else those of its parts, else states on demand.
    pub(crate) fn new(
        program: &Arc<Program>,
        atoms: &Arc<[NodeId]>,
        goal: NodeId,
        options: &Options,
    ) -> Result<Self, Unsupported> {
        match Deterministic::among(program, atoms, goal, options) {
            Ok(automaton) => Ok(Goal::Complete(Box::new(Table::new(automaton)))),
            Err(Stop::Budget(_)) => match parts(program, goal) {
                Some(parts) => Ok(Goal::Split(Box::new(Split::new(&parts, options)?))),
                None => Self::on_demand(program, atoms, goal, options),
            },
            Err(refused) => Err(unsupported(refused)),
        }
    }

    /// As [`Goal::new`], without taking the goal apart.
    pub(crate) fn whole(
        program: &Arc<Program>,
        atoms: &Arc<[NodeId]>,
        goal: NodeId,
        options: &Options,
    ) -> Result<Self, Unsupported> {
        match Deterministic::among(program, atoms, goal, options) {
            Ok(automaton) => Ok(Goal::Complete(Box::new(Table::new(automaton)))),
            Err(Stop::Budget(_)) => Self::on_demand(program, atoms, goal, options),
            Err(refused) => Err(unsupported(refused)),
        }
    }

    fn on_demand(
        program: &Arc<Program>,
        atoms: &Arc<[NodeId]>,
        goal: NodeId,
        options: &Options,
    ) -> Result<Self, Unsupported> {
        let mut lazy = Lazy::among(program, atoms, goal, options).map_err(unsupported)?;
        if options.semantics == Semantics::Ltl3 {
            // What cannot be decided at the start is not left to show in the middle of a trace.
            let start = lazy.enter(&lazy.past().origin()).map_err(unsupported)?;
            lazy.settled(start);
            lazy.undecided().map_or(Ok(()), |stop| Err(unsupported(stop)))?;
        }
        Ok(Goal::OnDemand(Box::new(lazy)))
    }

    /// The whole automaton, if this is one.
    pub(crate) fn table(&mut self) -> Option<&mut Table> {
        match self {
            Goal::Complete(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        match self {
            Goal::Complete(table) => {
                Mode::Complete { states: table.automaton().len(), table: table.dense().is_some() }
            }
            Goal::Split(split) => Mode::Split { parts: split.len(), on_demand: split.on_demand() },
            Goal::OnDemand(_) => Mode::OnDemand,
        }
    }

    /// The past operators whose bits [`Goal::enter`] asks for.
    pub(crate) fn past(&self) -> &Past {
        match self {
            Goal::Complete(table) => table.automaton().past(),
            Goal::Split(split) => split.past(),
            Goal::OnDemand(lazy) => lazy.past(),
        }
    }

    pub(crate) fn enter(&mut self, memory: &[bool]) -> Result<State, Unsupported> {
        match self {
            Goal::Complete(table) => {
                let entry = table.automaton().enter(memory).map(|number| table.state(number));
                entry.ok_or_else(|| Unsupported::budget("a history that no prefix of a trace leaves"))
            }
            Goal::Split(split) => split.enter(memory),
            Goal::OnDemand(lazy) => lazy.enter(memory).map_err(unsupported),
        }
    }

    #[inline]
    pub(crate) fn step(&mut self, state: State, row: &[u64]) -> Result<State, Unsupported> {
        match self {
            Goal::Complete(table) => Ok(table.step(state, row)),
            Goal::Split(split) => split.step(state, row),
            Goal::OnDemand(lazy) => lazy.step(state, row).map_err(unsupported),
        }
    }

    /// As `Machine::run`; `state` is the only one in use.
    pub(crate) fn run(
        &mut self,
        mut state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Result<Run, Unsupported> {
        if let Goal::Complete(table) = self {
            return Ok(table.run(state, stretch, from, to));
        }
        let mut changed = None;
        for at in from..to {
            let next = self.step(state, stretch.row(at))?;
            if next != state {
                (state, changed) = (next, Some(at));
            }
            if self.settled(state).is_some() {
                return Ok(Run { state, end: at + 1, changed });
            }
            if self.crowded() {
                self.retain(&[state]);
            }
        }
        Ok(Run { state, end: to, changed })
    }

    pub(crate) fn holds_at_end(&self, state: State) -> bool {
        match self {
            Goal::Complete(table) => table.automaton().holds_at_end(table.number(state)) == Some(true),
            Goal::Split(split) => split.holds_at_end(state),
            Goal::OnDemand(lazy) => lazy.holds_at_end(state),
        }
    }

    #[inline]
    pub(crate) fn settled(&mut self, state: State) -> Option<bool> {
        match self {
            Goal::Complete(table) => table.settled(state),
            Goal::Split(split) => split.settled(state),
            Goal::OnDemand(lazy) => lazy.settled(state),
        }
    }

    /// As `Machine::undecided`.
    pub(crate) fn undecided(&self) -> Option<Unsupported> {
        match self {
            Goal::Complete(_) => None,
            Goal::Split(split) => split.undecided(),
            Goal::OnDemand(lazy) => lazy.undecided().map(unsupported),
        }
    }

    pub(crate) fn residual(&self, state: State) -> String {
        match self {
            Goal::Complete(table) => table.automaton().residual(table.number(state)),
            Goal::Split(split) => split.residual(state),
            Goal::OnDemand(lazy) => lazy.residual(state),
        }
    }

    #[inline]
    pub(crate) fn crowded(&self) -> bool {
        match self {
            Goal::Complete(_) => false,
            Goal::Split(split) => split.crowded(),
            Goal::OnDemand(lazy) => lazy.crowded(),
        }
    }

    pub(crate) fn misses(&self) -> u64 {
        match self {
            Goal::Complete(_) => 0,
            Goal::Split(split) => split.misses(),
            Goal::OnDemand(lazy) => lazy.misses(),
        }
    }

    pub(crate) fn retain(&mut self, live: &[State]) {
        match self {
            Goal::Complete(_) => {}
            Goal::Split(split) => split.retain(live),
            Goal::OnDemand(lazy) => lazy.retain(live),
        }
    }

    pub(crate) fn save(&self, state: State, out: &mut Vec<u8>) {
        match self {
            Goal::Complete(table) => {
                put(table.check(), out);
                put(u64::from(table.number(state)), out);
            }
            Goal::Split(split) => split.save(state, out),
            Goal::OnDemand(lazy) => lazy.save(state, out),
        }
    }

    pub(crate) fn load(&mut self, from: &mut &[u8]) -> Result<State, Corrupt> {
        let foreign = || Corrupt("the saved state is of another property, or of other options".into());
        match self {
            Goal::Complete(table) => {
                let (check, state) = (take(from)?, take(from)?);
                if check != table.check() || state >= table.automaton().len() as u64 {
                    return Err(foreign());
                }
                Ok(table.state(state as u32))
            }
            Goal::Split(split) => split.load(from),
            Goal::OnDemand(lazy) => lazy.load(from),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Goal::Complete(table) => table.heap_bytes(),
            Goal::Split(split) => split.heap_bytes(),
            Goal::OnDemand(lazy) => lazy.heap_bytes(),
        }
    }
}
