//! Deterministic automata of formulas: the residual graph, made explicit and minimal.
//!
//! "Monitoring Programs using Rewriting" makes a formula its own monitor: each event rewrites it to what is owed for
//! the rest of the trace. There are finitely many residuals up to Boolean equality, so they are the states of an
//! automaton. Here a residual is a decision diagram over the obligations of the goal ([`crate::diagram`]); composing it
//! with the progress of each obligation gives its successors for all events at once, as a *binary transition tree* that
//! tests only the atoms that matter in that state.
//!
//! - [`Deterministic`]: all states, settled verdicts, then minimised. One event costs one walk down a tree, a verdict
//!   one look-up. Memory: the trees. In the worst case there are doubly exponentially many states, hence a [`Budget`].
//! - [`Lazy`]: states on demand, when the whole is too large; forgets what is no longer used.
//! - [`parts`]: the conjuncts (or disjuncts) of a goal, whose automata may be small where their product is not.
//!
//! Verdicts. Under the finite semantics a state is settled when all end values that can still come agree. Under
//! `Ltl3` it is settled false when no infinite continuation satisfies its residual and true when none satisfies its
//! negation ([`crate::emptiness`]); the states without end values are then the three-valued Moore machine of the goal.

mod build;
mod explore;
mod lazy;
mod minimise;
mod obligation;
mod parts;
mod progress;
mod settle;
mod step;
mod text;
mod tree;

#[cfg(test)]
mod tests;

pub use lazy::Lazy;
pub use parts::{Parts, parts};
pub(crate) use text::condition;
pub use tree::{Forest, Test, Tree};

use crate::alternating::Refused;
use crate::diagram::{Diagram, Diagrams, Full};
use obligation::Obligations;
use rustc_hash::FxHashMap;
use tw_ir::{Program, Semantics};

/// What may be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// States.
    pub states: usize,
    /// Nodes of decision diagrams, and tests in transition trees.
    pub nodes: usize,
}

impl Budget {
    /// Nodes of transition trees that may be walked while building an automaton: shared trees are walked again and
    /// again.
    fn work(self) -> usize {
        self.nodes.saturating_mul(4)
    }
}

/// Configurations explored per question about infinite continuations.
const CONFIGURATIONS: usize = 10_000;

/// Why there is no automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The formula has a construct that automata do not have.
    Refused(Refused),
    /// A budget ran out; what and how much.
    Budget(String),
}

impl Stop {
    fn states(limit: usize) -> Self {
        Stop::Budget(format!("more than {limit} states of a deterministic automaton"))
    }
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Stop::Refused(refused)
    }
}

impl From<Full> for Stop {
    fn from(Full(limit): Full) -> Self {
        Stop::Budget(format!("more than {limit} nodes of decision diagrams"))
    }
}

/// What to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How the end of the trace is read.
    pub semantics: Semantics,
    /// Limits.
    pub budget: Budget,
    /// Whether the goal may be entered at any position, not only at the first: after every memory that past operators
    /// can have.
    pub anywhere: bool,
    /// Whether states that differ in their end value alone are one: the three-valued Moore machine.
    pub verdicts_only: bool,
}

/// What a state says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Output {
    verdict: Option<bool>,
    end: Option<bool>,
}

/// A minimal deterministic automaton. States are numbered from 0, the initial one; atoms are those of the program.
#[derive(Clone, Debug)]
pub struct Deterministic {
    forest: Forest,
    trees: Vec<Tree>,
    outputs: Vec<Output>,
    /// By what is remembered: where the goal is entered.
    entries: FxHashMap<Vec<bool>, u32>,
    /// Which of the bits matter to that.
    entry_mask: u64,
    /// States and residuals before minimisation.
    explored: (usize, usize),
    /// Of each state the residual that it is named after, with the diagrams that hold them.
    residuals: Vec<Diagram>,
    diagrams: Diagrams,
    obligations: Obligations,
    semantics: Semantics,
}

impl Deterministic {
    /// Number of states.
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// There is always a state.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// How many states there were before minimisation, and how many different residuals they had.
    pub fn explored(&self) -> (usize, usize) {
        self.explored
    }

    /// The atoms of the program that the goal uses, ascending.
    pub fn atoms(&self) -> &[u32] {
        &self.obligations.atoms
    }

    /// The past operators whose bits decide where the goal is entered.
    pub fn past(&self) -> &crate::past::Past {
        &self.obligations.past
    }

    /// How the end of the trace is read.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// The program of the goal.
    pub fn program(&self) -> &Program {
        &self.obligations.program
    }

    /// The state before the first position.
    pub fn initial(&self) -> u32 {
        0
    }

    /// The state in which the goal is to hold next, after what past operators remember. `None` for a memory that no
    /// prefix leaves, or any but that of the empty prefix if the automaton is not for [`Options::anywhere`].
    pub fn enter(&self, memory: &[bool]) -> Option<u32> {
        let matters = |index: usize| index >= 64 || self.entry_mask >> index & 1 == 1;
        let memory: Vec<bool> =
            memory.iter().enumerate().map(|(index, &bit)| bit && matters(index)).collect();
        self.entries.get(&memory).copied()
    }

    /// The transition tree of a state; its leaves are states, its atoms those of the program.
    pub fn tree(&self, state: u32) -> Tree {
        self.trees[state as usize]
    }

    /// The forest of all transition trees.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The state after a position whose atoms are packed 64 to a word.
    #[inline]
    pub fn step(&self, state: u32, row: &[u64]) -> u32 {
        self.forest.walk(self.trees[state as usize], |atom| row[atom as usize / 64] >> (atom % 64) & 1 == 1)
    }

    /// Whether the goal holds if the trace ends with the position that led to the state. Under `Ltl3` that is the
    /// finite semantics, but for settled states; `None` where it is not known, as before the first position.
    pub fn holds_at_end(&self, state: u32) -> Option<bool> {
        self.outputs[state as usize].end
    }

    /// The verdict of the state, if it has one for good.
    #[inline]
    pub fn settled(&self, state: u32) -> Option<bool> {
        self.outputs[state as usize].verdict
    }

    /// What is owed in a state, as a formula.
    pub fn residual(&self, state: u32) -> String {
        text::residual(&self.diagrams, &self.obligations, self.residuals[state as usize])
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.forest.heap_bytes() + self.trees.len() * 16 + self.diagrams.heap_bytes()
    }
}
