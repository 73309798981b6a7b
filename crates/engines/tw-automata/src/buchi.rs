//! Generalised Büchi automata of formulas: which infinite words satisfy them.
//!
//! The very weak alternating automaton is read as in "Fast LTL to Büchi Automata Translation" (Gastin, Oddoux): states
//! are configurations (what is owed, and what past operators remember), acceptance stands on transitions. This is the
//! machinery of [`crate::emptiness`], here with every configuration and with the literals of every transition.
//!
//! A run begins in state 0 and reads one letter (a valuation of [`Buchi::letters`]) per transition. It is accepting if
//! each mark stands on infinitely many of its transitions. A word is accepted if and only if the formula holds at its
//! first position.
//!
//! - `first` is true at the first position alone, `last` at none, `N` is `X`.
//! - Intervals count positions; they are written out (`window`) as far as the budget goes.
//! - Past operators may stand anywhere. A future formula inside a past one is guessed at each position by a letter of
//!   its own that is bound to it by `G (letter <-> formula)` and hidden from the result (`prepare`).
//!
//! The number of states is exponential in the formula in the worst case, hence the [`Budget`]. What comes out is made
//! smaller (`simplify`): states without accepting runs go, states with the same transitions become one, and so do
//! marks of which one implies the other.

mod explore;
pub(crate) mod prepare;
mod simplify;
#[cfg(test)]
mod tests;
mod window;

use crate::alternating::Refused;
use std::fmt;
use tw_ir::{IntervalError, NodeId, Program};

/// What a translation may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Most states before anything is simplified.
    pub states: usize,
    /// Most transitions before anything is simplified.
    pub transitions: usize,
    /// Most operators that intervals may be written out to.
    pub steps: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { states: 10_000, transitions: 200_000, steps: 10_000 }
    }
}

/// Why a formula has no automaton here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A construct that infinite words give no meaning to.
    Construct(Refused),
    /// An interval that does not count positions.
    Interval(NodeId, IntervalError),
    /// An interval that is too wide to be written out beside those before it; the budget for all of them.
    Window(NodeId, usize),
    /// More states, transitions or marks than the budget allows.
    Size(&'static str, usize),
}

impl Obstacle {
    /// The subformula that is to blame, if one is.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Obstacle::Construct(refused) => Some(refused.node),
            Obstacle::Interval(node, _) | Obstacle::Window(node, _) => Some(*node),
            Obstacle::Size(..) => None,
        }
    }

    /// Whether a budget ran out.
    pub fn is_budget(&self) -> bool {
        matches!(self, Obstacle::Window(..) | Obstacle::Size(..))
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Construct(refused) => f.write_str(refused.what),
            Obstacle::Interval(_, error) => write!(f, "intervals other than in transitions: {error}"),
            Obstacle::Window(_, steps) => {
                write!(
                    f,
                    "intervals that reach further than {steps} transitions, all of the formula together"
                )
            }
            Obstacle::Size(what, limit) => {
                write!(f, "formulas whose Büchi automaton has more than {limit} {what}")
            }
        }
    }
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition {
    /// The letters it reads: those that satisfy all of these (index into [`Buchi::letters`], value), ascending.
    pub literals: Vec<(u32, bool)>,
    /// Where it leads.
    pub target: u32,
    /// The marks that stand on it, one bit each.
    pub marks: u64,
}

/// A generalised Büchi automaton with acceptance on transitions. State 0 is the initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buchi {
    /// The subformulas whose truth at a position makes its letter, ascending.
    pub letters: Vec<NodeId>,
    /// The transitions that leave each state.
    pub states: Vec<Vec<Transition>>,
    /// How many marks there are, at most 64.
    pub marks: u32,
}

impl Buchi {
    /// The automaton of a formula over the program's atoms, or of its negation.
    pub fn new(program: &Program, root: NodeId, negated: bool, budget: Budget) -> Result<Buchi, Obstacle> {
        let atoms = program.atoms();
        Self::over(program, root, negated, |id| atoms.binary_search(&id).is_ok(), budget)
    }

    /// As [`Buchi::new`], where `literal` tells which subformulas are read off the position; of nested ones the
    /// outermost counts.
    pub fn over(
        program: &Program,
        root: NodeId,
        negated: bool,
        literal: impl Fn(NodeId) -> bool,
        budget: Budget,
    ) -> Result<Buchi, Obstacle> {
        let prepared = prepare::prepare(program, root, negated, literal, budget.steps)?;
        let raw = explore::explore(&prepared, budget)?;
        let (states, marks) = simplify::simplify(raw.states, raw.marks);
        Ok(Buchi { letters: prepared.letters, states, marks })
    }

    /// All marks.
    pub fn all_marks(&self) -> u64 {
        if self.marks == 64 { u64::MAX } else { (1 << self.marks) - 1 }
    }

    /// Number of transitions.
    pub fn transitions(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// Which states lie on a cycle of an accepting component: the others are passed finitely often by accepting runs.
    pub fn recurrent(&self) -> Vec<bool> {
        simplify::recurrent(&self.states, self.marks)
    }

    /// States in which every word is accepted: whatever is read, they stay, with all marks.
    pub fn is_universal(&self, state: u32) -> bool {
        let all = self.all_marks();
        let stays = |transition: &Transition| {
            transition.target == state && transition.marks == all && transition.literals.is_empty()
        };
        self.states[state as usize].iter().any(stays)
    }
}

impl Transition {
    /// Whether it can be read where `letter` tells which subformulas hold.
    pub fn reads(&self, letter: impl Fn(u32) -> bool) -> bool {
        self.literals.iter().all(|&(index, value)| letter(index) == value)
    }
}
