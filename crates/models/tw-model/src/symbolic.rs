//! State-spaces whose states are not listed: sets of them are decision diagrams.
//!
//! A state is a valuation of variables, whose numbers are written in bits. Each bit has two levels side by side, for the
//! state and for the one after it, so that a set is moved from one to the other without changing its shape. Transitions
//! are a conjunction of relations that is never multiplied out ("Symbolic Model Checking with Partitioned Transition
//! Relations", Burch, Clarke, Long): bits are forgotten as soon as no further part speaks of them.

pub use tw_bdd::{Bdd, Exhausted, Store};
pub(crate) use tw_bdd::{Levels, Relation, cube};

use crate::{Cells, Domain, Graph, Model, State, Variable};

/// Most nodes of a diagram that is made for a number alone, that of transitions.
const COUNTING: usize = 1 << 20;

/// Bits of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits {
    pub first: u32,
    pub width: u32,
}

impl Bits {
    /// As many as numbers below `size` need.
    pub fn of(first: u32, size: u32) -> Self {
        Self { first, width: u32::BITS - size.saturating_sub(1).leading_zeros() }
    }

    /// Levels and what they are for a number, the highest bit first; of the next state if `later`.
    pub fn levels(self, code: u32, later: bool) -> impl Iterator<Item = (u32, bool)> {
        let level = move |bit: u32| 2 * (self.first + bit) + u32::from(later);
        (0..self.width).map(move |bit| (level(bit), code >> (self.width - 1 - bit) & 1 == 1))
    }
}

/// What is known of states: a variable with bits, or one that is defined by others.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// What it can be.
    pub domain: Domain,
    /// Its bits; `None` if it is defined.
    pub(crate) bits: Option<Bits>,
    /// Of what is defined, the states that have each value.
    pub(crate) sets: Vec<Bdd>,
    /// The one variable, by index, that decides a defined one.
    pub(crate) of: Option<usize>,
}

/// A state-space as sets.
#[derive(Clone, Debug)]
pub struct Symbolic {
    /// The diagrams.
    pub store: Store,
    /// Variables and definitions.
    pub known: Vec<Known>,
    /// Initial states.
    pub initial: Bdd,
    /// The states that the initial ones lead to: all there are.
    pub states: Bdd,
    /// States without successors; paths stay there.
    pub dead: Bdd,
    pub(crate) relation: Relation,
}

impl Symbolic {
    /// Finds the states that the initial ones lead to.
    pub(crate) fn new(
        store: Store,
        known: Vec<Known>,
        initial: Bdd,
        relation: Relation,
    ) -> Result<Self, Exhausted> {
        let mut space = Self { store, known, initial, states: initial, dead: Bdd::FALSE, relation };
        let mut new = initial;
        while !new.is_empty() {
            let found = space.relation.after(&mut space.store, new)?;
            new = space.store.minus(found, space.states)?;
            space.states = space.store.or(space.states, new)?;
        }
        let live = space.relation.before(&mut space.store, Bdd::TRUE)?;
        space.dead = space.store.minus(space.states, live)?;
        Ok(space)
    }

    /// The states with a successor in the set.
    pub fn before(&mut self, set: Bdd) -> Result<Bdd, Exhausted> {
        let found = self.relation.before(&mut self.store, set)?;
        let stay = self.store.and(self.dead, set)?;
        let found = self.store.and(found, self.states)?;
        self.store.or(found, stay)
    }

    /// The states that follow one in the set.
    pub fn after(&mut self, set: Bdd) -> Result<Bdd, Exhausted> {
        let found = self.relation.after(&mut self.store, set)?;
        let stay = self.store.and(self.dead, set)?;
        self.store.or(found, stay)
    }

    /// The states that are not in the set.
    pub fn others(&mut self, set: Bdd) -> Result<Bdd, Exhausted> {
        self.store.minus(self.states, set)
    }

    /// The states in which a variable has the value of a number.
    pub fn having(&mut self, variable: usize, code: u32) -> Result<Bdd, Exhausted> {
        let set = match self.known[variable].bits {
            Some(bits) => cube(&mut self.store, bits.levels(code, false))?,
            None => self.known[variable].sets[code as usize],
        };
        self.store.and(set, self.states)
    }

    /// How many states there are in a set.
    pub fn count(&self, set: Bdd) -> u64 {
        saturated(self.store.count(set, &self.levels(false)))
    }

    /// How many transitions there are, if that is not too much to find out.
    pub fn transitions(&mut self) -> Option<u64> {
        let (parts, states, levels) = (self.relation.parts(), self.states, self.levels(true));
        let all = self
            .store
            .within(COUNTING, |store| parts.into_iter().try_fold(states, |all, part| store.and(all, part)));
        Some(saturated(self.store.count(all.ok()?, &levels)))
    }

    /// The levels of all bits, ascending: of the state, or also of the next.
    fn levels(&self, both: bool) -> Vec<u32> {
        let bits = self.known.iter().filter_map(|known| known.bits);
        let count = bits.map(|bits| bits.first + bits.width).max().unwrap_or(0);
        (0..2 * count).filter(|level| both || level % 2 == 0).collect()
    }

    /// One state of a set: the numbers of the variables' values.
    pub fn pick(&self, set: Bdd) -> Option<Vec<u32>> {
        let ones = self.store.pick(set)?;
        let is_one = |level: u32| ones.binary_search(&(level, true)).is_ok();
        let codes = self.known.iter().filter_map(|known| known.bits).map(|bits| {
            bits.levels(0, false).fold(0, |code, (level, _)| code << 1 | u32::from(is_one(level)))
        });
        Some(codes.collect())
    }

    /// Whether a state is in a set.
    pub fn has(&self, set: Bdd, state: &[u32]) -> bool {
        let ones = self.ones(state);
        self.store.has(set, |level| ones.get(level as usize).copied().unwrap_or(false))
    }

    fn ones(&self, state: &[u32]) -> Vec<bool> {
        let mut ones = vec![false; self.levels(true).len()];
        for (bits, &code) in self.known.iter().filter_map(|known| known.bits).zip(state) {
            bits.levels(code, false).for_each(|(level, one)| ones[level as usize] = one);
        }
        ones
    }

    /// The set of one state.
    pub fn single(&mut self, state: &[u32]) -> Result<Bdd, Exhausted> {
        let levels: Vec<(u32, bool)> = self
            .known
            .iter()
            .filter_map(|known| known.bits)
            .zip(state)
            .flat_map(|(bits, &code)| bits.levels(code, false))
            .collect();
        cube(&mut self.store, levels.into_iter())
    }

    /// A few states as a model, without transitions: what is told about them is what is told about listed ones.
    pub fn listed(&self, states: &[Vec<u32>]) -> Model {
        let code = |known: &Known, state: &[u32], own: usize| match known.bits {
            Some(_) => state[own],
            None => known.sets.iter().position(|&set| self.has(set, state)).unwrap_or(0) as u32,
        };
        let mut own = 0;
        let variables = self.known.iter().map(|known| {
            let cells: Vec<u32> = states.iter().map(|state| code(known, state, own)).collect();
            own += usize::from(known.bits.is_some());
            let cells = match known.of {
                Some(variable) => {
                    // What it is for values that no state here has is not asked.
                    let size = self.known[variable].domain.size() as usize;
                    let mut table = vec![0; size];
                    states.iter().zip(cells).for_each(|(state, cell)| table[state[variable] as usize] = cell);
                    Cells::Of(variable, table.into())
                }
                None => Cells::Own(cells),
            };
            Variable { name: known.name.clone(), domain: known.domain.clone(), cells }
        });
        let variables = variables.collect();
        let graph = Graph::from_edges(states.len(), std::iter::empty::<(State, State)>());
        Model { variables, graph, ..Model::default() }
    }
}

fn saturated(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
