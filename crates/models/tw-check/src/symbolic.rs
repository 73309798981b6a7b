//! Model checking where states are not listed: sets of them are decision diagrams ("Symbolic Model Checking: 10^20 States
//! and Beyond", Burch, Clarke, McMillan, Dill, Hwang).
//!
//! - Branching time by the fixpoints of the listed states (`fixpoint`), one diagram for each state formula.
//! - Linear time, CTL* and fairness by the product with a Büchi automaton (`product`): one diagram for each state of the
//!   automaton, whose letters are the subformulas without temporal operators, and the fixpoint of Emerson and Lei.
//! - Paths step from a state to one in the set that is one step nearer. The states met on them get numbers, so that
//!   evidence is told as it is of listed states.
//!
//! Listed states are the definition; what cannot be told here is refused and left to them.

mod fixpoint;
mod labels;
mod linear;
mod paths;
mod product;
#[cfg(test)]
mod tests;

pub use fixpoint::SymbolicBranching;
pub use labels::{SymbolicLabels, Unlabelled};

use rustc_hash::FxHashMap;
use tw_model::symbolic::{Bdd, Exhausted};
use tw_model::{Model, State, Symbolic};
use tw_monitor::Unsupported;

/// Most steps of a loop whose results are all known, and so cost nothing.
const ROUNDS: u64 = 1 << 17;

/// Most marks of an automaton and fairness sets together.
const MARKS: usize = 64;

/// Why there is no answer.
#[derive(Debug)]
enum Stop {
    Full,
    Refused(Unsupported),
}

impl From<Exhausted> for Stop {
    fn from(_: Exhausted) -> Self {
        Stop::Full
    }
}

impl From<Unsupported> for Stop {
    fn from(why: Unsupported) -> Self {
        Stop::Refused(why)
    }
}

impl From<Stop> for Unsupported {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Full => {
                Unsupported::budget("the decision diagrams of its states are larger than the limit")
            }
            Stop::Refused(why) => why,
        }
    }
}

/// A state-space made ready to be asked: its sets, and which paths count.
///
/// Paths are infinite. A state that nothing follows is taken to follow itself.
#[derive(Clone, Debug)]
pub struct SymbolicChecker {
    space: Symbolic,
    fairness: Vec<Bdd>,
    /// The states from which some path counts; `None` where all paths do.
    fair: Option<Bdd>,
    /// States on paths, by number.
    met: Vec<Vec<u32>>,
    numbers: FxHashMap<Vec<u32>, State>,
}

impl SymbolicChecker {
    /// For a state-space in which all paths count.
    pub fn new(space: Symbolic) -> Self {
        Self { space, fairness: Vec::new(), fair: None, met: Vec::new(), numbers: FxHashMap::default() }
    }

    /// Of the paths, only those count on which each of these sets of states is met again and again.
    pub fn fairness(mut self, sets: Vec<Bdd>) -> Result<Self, Unsupported> {
        if sets.len() > MARKS {
            return Err(Unsupported::budget(format!("more than {MARKS} fairness sets")));
        }
        self.fairness = sets;
        if !self.fairness.is_empty() {
            let all = self.space.states;
            self.fair = Some(self.fair_globally(all)?);
        }
        Ok(self)
    }

    /// The state-space.
    pub fn space(&mut self) -> &mut Symbolic {
        &mut self.space
    }

    /// Whether only some paths count.
    pub fn is_fair(&self) -> bool {
        !self.fairness.is_empty()
    }

    /// How many initial states no path that counts begins in.
    pub fn unfair(&mut self) -> Result<u64, Unsupported> {
        let Some(fair) = self.fair else { return Ok(0) };
        let without = self.space.store.minus(self.space.initial, fair).map_err(Stop::from)?;
        Ok(self.space.count(without))
    }

    /// The states met on paths so far, in the order of their numbers.
    pub fn model(&self) -> Model {
        self.space.listed(&self.met)
    }

    /// The number of a state.
    fn number(&mut self, state: Vec<u32>) -> State {
        let next = self.met.len() as State;
        let number = *self.numbers.entry(state.clone()).or_insert(next);
        if number == next {
            self.met.push(state);
        }
        number
    }

    /// A state of a set.
    fn pick(&mut self, set: Bdd) -> Option<State> {
        self.space.pick(set).map(|state| self.number(state))
    }

    fn has(&self, set: Bdd, state: State) -> bool {
        self.space.has(set, &self.met[state as usize])
    }

    fn single(&mut self, state: State) -> Result<Bdd, Exhausted> {
        let state = self.met[state as usize].clone();
        self.space.single(&state)
    }

    fn and(&mut self, a: Bdd, b: Bdd) -> Result<Bdd, Exhausted> {
        self.space.store.and(a, b)
    }

    fn or(&mut self, a: Bdd, b: Bdd) -> Result<Bdd, Exhausted> {
        self.space.store.or(a, b)
    }

    /// The states of a set from which some path counts.
    fn only(&mut self, set: Bdd) -> Result<Bdd, Exhausted> {
        match self.fair {
            Some(fair) => self.and(fair, set),
            None => Ok(set),
        }
    }
}
