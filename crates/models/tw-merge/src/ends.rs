//! Transitions as rows, and what is added to them where traces end.

use crate::Ends;
use crate::merger::{Budget, TooLarge};
use tw_model::{Graph, Seen, State};

/// Stands for the state `end` until the number of states is known; higher than all others, as that state's number is.
const END: State = State::MAX;

/// Rows being written, one for each state in order.
pub(crate) struct Rows<'a> {
    ends: Ends,
    /// States in which traces end, ascending; those that are still to come.
    ended: &'a [(State, Seen)],
    budget: Budget,
    offsets: Vec<u32>,
    targets: Vec<State>,
    seen: Vec<Seen>,
}

impl<'a> Rows<'a> {
    pub fn new(ends: Ends, ended: &'a [(State, Seen)], budget: Budget, states: usize, edges: usize) -> Self {
        let mut offsets = Vec::with_capacity(states + 2);
        offsets.push(0);
        let (targets, seen) = (Vec::with_capacity(edges), Vec::with_capacity(edges));
        Self { ends, ended, budget, offsets, targets, seen }
    }

    /// A transition of the state whose row is next. They come in ascending order.
    #[inline]
    pub fn push(&mut self, to: State, seen: Seen) {
        self.targets.push(to);
        self.seen.push(seen);
    }

    /// The row is whole but for what the end of traces adds to it.
    pub fn close(&mut self) -> Result<(), TooLarge> {
        let state = (self.offsets.len() - 1) as State;
        let start = self.offsets[state as usize] as usize;
        let ended = match self.ended.split_first() {
            Some((&(at, seen), rest)) if at == state => {
                self.ended = rest;
                Some(seen)
            }
            _ => None,
        };
        let loops = match self.ends {
            Ends::Dead => self.targets.len() == start,
            Ends::All => ended.is_some(),
            Ends::Nothing | Ends::State => false,
        };
        if loops && let Err(at) = self.targets[start..].binary_search(&state) {
            self.targets.insert(start + at, state);
            self.seen.insert(start + at, Seen::default());
        }
        if let Some(seen) = ended.filter(|_| self.ends == Ends::State) {
            self.push(END, seen);
        }
        self.budget.edges(self.targets.len())?;
        self.offsets.push(self.targets.len() as u32);
        Ok(())
    }

    /// Adds the state `end`: it loops.
    pub fn end(&mut self) -> Result<(), TooLarge> {
        let state = (self.offsets.len() - 1) as State;
        self.targets.iter_mut().filter(|to| **to == END).for_each(|to| *to = state);
        self.push(state, Seen::default());
        self.close()
    }

    pub fn graph(self) -> (Graph, Vec<Seen>) {
        (Graph::from_rows(self.offsets, self.targets), self.seen)
    }
}
