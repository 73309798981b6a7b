//! What properties with quantified variables ask of a position beside its atoms, and what is told of them.

use crate::Error;
use crate::run::beside::{Beside, BesideReader};
use tw_core::{Batch, Time};
use tw_ir::{NodeId, Program, What};
use tw_monitor::{Monitor, Sink, Unsupported};

pub(super) struct Bound {
    reader: BesideReader,
    /// Whether event patterns have variables, which no row has a place for.
    patterns: bool,
    /// Of each root whether it has quantified variables.
    quantified: Vec<bool>,
}

impl Bound {
    /// Of a program with quantified variables.
    pub(super) fn new(program: &Program) -> Option<Self> {
        let reader = BesideReader::new(program)?;
        let first_order = |id: &NodeId| program.dag.node(*id).is_first_order();
        let quantified =
            program.roots.iter().map(|root| program.reachable(&[root.node]).iter().any(first_order));
        Some(Self {
            reader,
            patterns: program.slots.iter().any(|slot| matches!(slot.what, What::Tuples { .. })),
            quantified: quantified.collect(),
        })
    }

    /// Rows have a place for each variable of the trace, none for the arguments of any number of events.
    pub(super) fn accepts_rows(&self) -> Result<(), Error> {
        match self.patterns {
            false => Ok(()),
            true => Err(Error::refused(
                "a property has variables for the arguments of events, so events are given by name: `event` or \
                 `event_at` instead of `push` or `push_at`",
            )),
        }
    }

    pub(super) fn read(&self, program: &Program, batch: &Batch) -> Beside {
        self.reader.read(program, batch)
    }

    /// Feeds one position to the monitor.
    pub(super) fn step(
        &self,
        beside: &Beside,
        monitor: &mut dyn Monitor,
        time: Option<Time>,
        atoms: &[u64],
        sink: &mut Sink,
    ) -> Result<(), Unsupported> {
        let done = beside.step(monitor, time, (atoms, self.reader.atoms), sink);
        self.once(sink);
        done
    }

    /// Leaves out the verdict of a property whose violations say the same, with the values.
    pub(super) fn once(&self, sink: &mut Sink) {
        let mut told = vec![false; self.quantified.len()];
        for settled in sink.settled.iter().filter(|settled| settled.about.is_some()) {
            told[settled.root] = true;
        }
        sink.settled.retain(|settled| match settled.about {
            None => !(settled.fails() && told[settled.root]),
            Some(_) => self.quantified[settled.root],
        });
    }
}
