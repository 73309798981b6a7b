//! Verdicts of roots without intervals that informative prefixes show late or never, as early as all continuations agree.
//!
//! - Under `ltl3`, roots whose past looks at the future ([`tw_automata::guess`]): no machine that reads forward knows such
//!   formulas, and here the verdict is the answer, so that a budget that runs out refuses.
//! - Under the finite semantics, roots that [`informative`] does not vouch for (`F last`, `F a | G !a`): a small
//!   deterministic automaton runs beside progression. One that is not small is left out, and so is one that settles
//!   nothing; the verdict then comes when progression shows it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tw_automata::deterministic::{Budget, Deterministic, Options, Stop};
use tw_automata::guess::{Guesses, Guessing};
use tw_automata::informative::informative;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, Unsupported};

/// Nodes of diagrams for one root that is guessed.
const NODES: usize = 1 << 17;
/// What a small automaton has.
const SMALL: Budget = Budget { states: 1 << 10, nodes: 1 << 14 };

/// A root on its way: what is made of it is there once for all traces, its state is one trace's.
#[derive(Clone)]
pub(super) struct Foresight {
    shared: Shared,
    pub(super) ahead: Ahead,
}

#[derive(Clone)]
enum Shared {
    Guessing(Arc<Mutex<Guessing>>),
    Automaton(Arc<Deterministic>),
}

/// Where a trace is.
#[derive(Clone, Debug)]
pub(super) enum Ahead {
    Guesses(Guesses),
    State(u32),
}

impl fmt::Debug for Foresight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Foresight({:?})", self.ahead)
    }
}

impl Foresight {
    /// For a root whose past looks at the future, under `ltl3`.
    pub(super) fn guessing(
        program: &Program,
        root: NodeId,
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        let budget = Budget { states: options.state_budget, nodes: NODES };
        let build = Options { semantics: Semantics::Ltl3, budget, anywhere: false, verdicts_only: false };
        let mut guessing = Guessing::new(program, root, &build).map_err(refuse)?;
        let guesses = guessing.origin().map_err(refuse)?;
        Ok(Self { shared: Shared::Guessing(Arc::new(Mutex::new(guessing))), ahead: Ahead::Guesses(guesses) })
    }

    /// For a root without intervals whose past does not look at the future, under another semantics. `None` where there
    /// is nothing to be gained.
    pub(super) fn automaton(program: &Arc<Program>, root: NodeId, options: &EvaluateOptions) -> Option<Self> {
        if informative(program, root) {
            return None;
        }
        let budget = Budget { states: SMALL.states.min(options.state_budget), ..SMALL };
        let build = Options { semantics: options.semantics, budget, anywhere: false, verdicts_only: false };
        let automaton = Deterministic::new(program, root, &build).ok()?;
        (0..automaton.len() as u32).find(|&state| automaton.settled(state).is_some())?;
        let ahead = Ahead::State(automaton.initial());
        Some(Self { shared: Shared::Automaton(Arc::new(automaton)), ahead })
    }

    /// Reads a position; the verdict, if it is settled with it.
    pub(super) fn step(&mut self, atoms: &[u64]) -> Result<Option<bool>, Unsupported> {
        match (&self.shared, &mut self.ahead) {
            (Shared::Automaton(automaton), Ahead::State(state)) => {
                *state = automaton.step(*state, atoms);
                Ok(automaton.settled(*state))
            }
            (Shared::Guessing(guessing), Ahead::Guesses(guesses)) => {
                let mut guessing = guessing.lock().unwrap_or_else(PoisonError::into_inner);
                guessing.step(guesses, atoms).map_err(refuse)
            }
            // Each goes with its own.
            _ => Ok(None),
        }
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        match (&self.shared, &self.ahead) {
            (Shared::Guessing(guessing), Ahead::Guesses(guesses)) => {
                guessing.lock().unwrap_or_else(PoisonError::into_inner).save(guesses, out);
            }
            (_, Ahead::State(state)) => put(u64::from(*state), out),
            _ => {}
        }
    }

    pub(super) fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        self.ahead = match &self.shared {
            Shared::Guessing(guessing) => {
                Ahead::Guesses(guessing.lock().unwrap_or_else(PoisonError::into_inner).load(from)?)
            }
            Shared::Automaton(automaton) => {
                let state = take(from)?;
                let known = u32::try_from(state).ok().filter(|&state| (state as usize) < automaton.len());
                Ahead::State(known.ok_or_else(|| Corrupt("the saved state is of another automaton".into()))?)
            }
        };
        Ok(())
    }

    /// Bytes held by all traces together.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.shared {
            Shared::Guessing(guessing) => {
                guessing.lock().unwrap_or_else(PoisonError::into_inner).heap_bytes()
            }
            Shared::Automaton(automaton) => automaton.heap_bytes(),
        }
    }
}

fn refuse(stop: Stop) -> Unsupported {
    match stop {
        Stop::Refused(refused) => Unsupported::construct(refused.node, refused.what),
        Stop::Budget(what) => Unsupported::budget(what),
    }
}
