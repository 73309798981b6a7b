//! Traces in, merged transitions kept.

use crate::chain::Chain;
use crate::layers::{Last, Layers};
use crate::tree::{self, Tree};
use crate::{Ends, Keep, Names};
use rustc_hash::FxHashMap;
use std::fmt;
use tw_model::{Model, Place, Seen};

/// How large a merged model may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most states.
    pub states: usize,
    /// Most transitions, those included that are assumed where traces end.
    pub edges: usize,
}

impl Default for Limits {
    /// As many as have numbers.
    fn default() -> Self {
        Self { states: Budget::MOST, edges: Budget::MOST }
    }
}

/// A merged model is larger than its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// It has more states than this.
    States(usize),
    /// It has more transitions than this.
    Edges(usize),
    /// A trace has more instants than can be numbered.
    Instants(u64),
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::States(most) => write!(f, "the merged model has more than {most} states"),
            TooLarge::Edges(most) => write!(f, "the merged model has more than {most} transitions"),
            TooLarge::Instants(most) => write!(f, "a trace has more than {most} instants"),
        }
    }
}

impl std::error::Error for TooLarge {}

/// Limits in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(Limits);

impl Budget {
    /// Numbers have 32 bits, of which the highest few stand for "none".
    const MOST: usize = u32::MAX as usize - 8;
    /// Most instants: the one after the longest trace has a number too.
    const INSTANTS: u64 = Self::MOST as u64;

    #[inline]
    pub fn states(&self, states: usize) -> Result<(), TooLarge> {
        if states > self.0.states { Err(TooLarge::States(self.0.states)) } else { Ok(()) }
    }

    #[inline]
    pub fn edges(&self, edges: usize) -> Result<(), TooLarge> {
        if edges > self.0.edges { Err(TooLarge::Edges(self.0.edges)) } else { Ok(()) }
    }
}

/// The transitions, as each way of merging keeps them.
pub(crate) enum Engine {
    Time(Layers<[u32; 2]>),
    Change(Layers<[u32; 3]>),
    Chain(Chain),
    Tree(Tree),
}

/// Merges traces as they are read. It holds the merged transitions and, but for a few megabytes on their way there, nothing
/// of the traces themselves.
///
/// Traces are given one after the other, in any order and any number of pieces; several mergers can each be given some
/// of them and absorb one another. The model is the same in all cases.
pub struct Merger {
    pub(crate) keep: Keep,
    pub(crate) budget: Budget,
    pub(crate) engine: Engine,
    /// Traces that begin with a name.
    pub(crate) starts: FxHashMap<u32, Seen>,
    /// Traces that end in a state: position and name where instants are kept, else its number and 0. Places are those of
    /// the traces' last positions.
    pub(crate) ends: FxHashMap<[u32; 2], Seen>,
    /// Length of the longest trace.
    pub(crate) longest: u64,
    /// The trace being read, how much of it has been, and its last state where instants are kept.
    trace: u32,
    position: u64,
    last: Last,
}

impl Merger {
    /// Without traces.
    pub fn new(keep: Keep, limits: Limits) -> Self {
        let engine = match keep {
            Keep::Time => Engine::Time(Layers::new()),
            Keep::Change => Engine::Change(Layers::new()),
            Keep::State => Engine::Chain(Chain::new(0)),
            Keep::History(length) => Engine::Chain(Chain::new(length)),
            Keep::Tree => Engine::Tree(Tree::new()),
        };
        let limits =
            Limits { states: limits.states.min(Budget::MOST), edges: limits.edges.min(Budget::MOST) };
        Self {
            keep,
            budget: Budget(limits),
            engine,
            starts: FxHashMap::default(),
            ends: FxHashMap::default(),
            longest: 0,
            trace: 0,
            position: 0,
            last: (0, 0),
        }
    }

    /// A trace begins. Its index must be below [`Place::MAX_TRACES`], and no other trace of the model may have it.
    pub fn begin(&mut self, trace: u32) {
        self.trace = trace;
        self.position = 0;
        if let Engine::Tree(tree) = &mut self.engine {
            tree.state = tree::NONE;
        }
    }

    /// The trace goes on through states of these names. Codes of names are small numbers, from 0, that mean the same in
    /// all traces of this merger.
    pub fn extend(&mut self, names: &[u32]) -> Result<(), TooLarge> {
        let mut rest = names;
        if self.position == 0 {
            let Some((&first, others)) = names.split_first() else { return Ok(()) };
            self.start(first)?;
            rest = others;
        }
        if rest.is_empty() {
            return Ok(());
        }
        let (trace, position, budget) = (self.trace, self.position, &self.budget);
        if self.keep.instants() && position + rest.len() as u64 > Budget::INSTANTS {
            return Err(TooLarge::Instants(Budget::INSTANTS));
        }
        match &mut self.engine {
            Engine::Time(layers) => self.last = layers.extend(trace, self.last, position, rest, budget)?,
            Engine::Change(layers) => self.last = layers.extend(trace, self.last, position, rest, budget)?,
            Engine::Chain(chain) => chain.extend(trace, position, rest, budget)?,
            Engine::Tree(tree) => tree.extend(trace, rest, budget)?,
        }
        self.position += rest.len() as u64;
        Ok(())
    }

    fn start(&mut self, name: u32) -> Result<(), TooLarge> {
        let place = Place::new(self.trace, 0);
        let seen = Seen { count: 1, first: place, last: place, traces: 1 };
        self.starts.entry(name).or_default().add(&seen);
        self.position = 1;
        self.last = (0, name);
        match &mut self.engine {
            Engine::Chain(chain) => chain.begin(name),
            Engine::Tree(tree) => tree.extend(self.trace, &[name], &self.budget)?,
            Engine::Time(_) | Engine::Change(_) => {}
        }
        Ok(())
    }

    /// The trace has ended. A trace without states leaves nothing behind.
    pub fn end(&mut self) {
        if self.position == 0 {
            return;
        }
        let state = match &self.engine {
            Engine::Time(_) | Engine::Change(_) => self.last.into(),
            Engine::Chain(chain) => [chain.state, 0],
            Engine::Tree(tree) => [tree.state, 0],
        };
        let place = Place::new(self.trace, self.position - 1);
        let seen = Seen { count: 1, first: place, last: place, traces: 1 };
        self.ends.entry(state).or_default().add(&seen);
        self.longest = self.longest.max(self.position);
        self.position = 0;
    }

    /// Adds the traces of another merger that keeps the same; both are between traces. `rename` has our codes for its names: to each of its own,
    /// and different ones for different names.
    ///
    /// # Panics
    ///
    /// If the other merger keeps something else.
    pub fn absorb(&mut self, other: Merger, rename: &[u32]) -> Result<(), TooLarge> {
        assert_eq!(self.keep, other.keep, "mergers must keep the same");
        let budget = &self.budget;
        let states = match (&mut self.engine, other.engine) {
            (Engine::Time(ours), Engine::Time(theirs)) => {
                ours.absorb(theirs, rename, budget)?;
                None
            }
            (Engine::Change(ours), Engine::Change(theirs)) => {
                ours.absorb(theirs, rename, budget)?;
                None
            }
            (Engine::Chain(ours), Engine::Chain(theirs)) => Some(ours.absorb(theirs, rename, budget)?),
            (Engine::Tree(ours), Engine::Tree(theirs)) => Some(ours.absorb(theirs, rename, budget)?),
            _ => unreachable!("what is kept decides on the engine"),
        };
        for (name, seen) in other.starts {
            self.starts.entry(rename[name as usize]).or_default().add(&seen);
        }
        for (state, seen) in other.ends {
            let state = match &states {
                Some(states) => [states[state[0] as usize], 0],
                None => [state[0], rename[state[1] as usize]],
            };
            self.ends.entry(state).or_default().add(&seen);
        }
        self.longest = self.longest.max(other.longest);
        Ok(())
    }

    /// The merged model of the traces, whose names are given in the order of their indices.
    ///
    /// Names are numbered anew in the order in which they first appear. States are in the order of instant and name where
    /// instants are kept, else in the order in which they first appear. [`Place`]s hold positions, from 0. The second
    /// variable is `time` where instants are kept; `back1`, `back2`… are the names before, where history is; `node` is
    /// the number of the state in a tree. Names that no trace has are left out.
    ///
    /// # Panics
    ///
    /// If a name has no value.
    pub fn finish(self, names: Names, ends: Ends, traces: Vec<String>) -> Result<Model, TooLarge> {
        crate::finish::finish(self, names, ends, traces)
    }
}
