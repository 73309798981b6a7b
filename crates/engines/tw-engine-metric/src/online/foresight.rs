//! Exact three-valued verdicts of roots whose past looks at the future ([`tw_automata::guess`]): informative prefixes leave
//! open what all continuations agree on, and no machine that reads forward knows such formulas.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tw_automata::deterministic::{Budget, Options, Stop};
use tw_automata::guess::{Guesses, Guessing};
use tw_core::codec::Corrupt;
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, Unsupported};

/// Nodes of diagrams for one root.
const NODES: usize = 1 << 17;

/// A root on its way: what is made of it is there once for all traces, its states are one trace's.
#[derive(Clone)]
pub(super) struct Foresight {
    guessing: Arc<Mutex<Guessing>>,
    pub(super) guesses: Guesses,
}

impl fmt::Debug for Foresight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Foresight({:?})", self.guesses)
    }
}

impl Foresight {
    /// For a root whose past looks at the future, under `ltl3`.
    pub(super) fn new(
        program: &Program,
        root: NodeId,
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        let budget = Budget { states: options.state_budget, nodes: NODES };
        let build = Options { semantics: Semantics::Ltl3, budget, anywhere: false, verdicts_only: false };
        let mut guessing = Guessing::new(program, root, &build).map_err(refuse)?;
        let guesses = guessing.origin().map_err(refuse)?;
        Ok(Self { guessing: Arc::new(Mutex::new(guessing)), guesses })
    }

    /// Reads a position; the verdict, if it is settled with it.
    pub(super) fn step(&mut self, atoms: &[u64]) -> Result<Option<bool>, Unsupported> {
        let mut guessing = self.guessing.lock().unwrap_or_else(PoisonError::into_inner);
        guessing.step(&mut self.guesses, atoms).map_err(refuse)
    }

    fn shared(&self) -> MutexGuard<'_, Guessing> {
        self.guessing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        self.shared().save(&self.guesses, out);
    }

    pub(super) fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        let loaded = self.shared().load(from)?;
        self.guesses = loaded;
        Ok(())
    }

    /// Bytes held by all traces together.
    pub(super) fn heap_bytes(&self) -> usize {
        self.shared().heap_bytes()
    }
}

fn refuse(stop: Stop) -> Unsupported {
    match stop {
        Stop::Refused(refused) => Unsupported::construct(refused.node, refused.what),
        Stop::Budget(what) => Unsupported::budget(what),
    }
}
