//! Transitions between states that do not know when they are: the state-preserving merger, and the one that keeps a few
//! states of history.
//!
//! Internally a state is a number: of its name, or of its window of names where history is kept. A transition is found by
//! the state that it leaves and the name that it leads to.

use crate::merger::{Budget, TooLarge};
use crate::table::{Table, Tally};
use crate::windows::Windows;
use tw_model::{Place, Seen};

/// Stands for a name in a window where there was none yet.
pub(crate) const NONE: u32 = u32::MAX;

/// What was seen of a transition.
#[derive(Clone, Copy, Default)]
pub(crate) struct Walk {
    pub seen: Seen,
    /// The trace, by its number in the order of arrival, that was counted last.
    mark: u32,
    /// The state that it leads to.
    pub target: u32,
}

impl Tally for Walk {
    #[inline]
    fn is_empty(&self) -> bool {
        self.seen.count == 0
    }
}

#[derive(Clone, Copy, Default)]
struct Node {
    traces: u32,
    mark: u32,
}

pub(crate) struct Chain {
    pub edges: Table<[u32; 2], Walk>,
    nodes: Vec<Node>,
    /// Windows of names, the present one last; unused where no history is kept, as a state is its name then.
    windows: Windows,
    /// The last names of the trace, oldest first.
    window: Vec<u32>,
    /// The state in which the trace is.
    pub state: u32,
    /// Number of the trace in the order of arrival, from 1.
    serial: u32,
}

impl Chain {
    pub fn new(history: u32) -> Self {
        Self {
            edges: Table::default(),
            nodes: Vec::new(),
            windows: Windows::new(history as usize + 1),
            window: vec![NONE; history as usize + 1],
            state: 0,
            serial: 0,
        }
    }

    /// How many names before the present one are kept.
    pub fn history(&self) -> usize {
        self.window.len() - 1
    }

    /// In how many traces a state was.
    pub fn traces(&self, state: u32) -> u32 {
        self.nodes[state as usize].traces
    }

    /// Number of states; without history, of names that there may be.
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// The name that was there so many positions before a state; [`NONE`] if there was none.
    pub fn before(&self, state: u32, back: usize) -> u32 {
        if self.history() == 0 { state } else { self.windows.get(state)[self.history() - back] }
    }

    /// The state of the window.
    fn node(&mut self) -> u32 {
        let history = self.history();
        let state = if history == 0 { self.window[0] } else { self.windows.number(&self.window) };
        if self.nodes.len() <= state as usize {
            self.nodes.resize(state as usize + 1, Node::default());
        }
        state
    }

    /// The state of a window that holds only its last name.
    pub fn root(&mut self, name: u32) -> u32 {
        self.window.fill(NONE);
        *self.window.last_mut().expect("a window holds the present name") = name;
        self.node()
    }

    fn visit(&mut self) {
        let node = &mut self.nodes[self.state as usize];
        if node.mark != self.serial {
            *node = Node { traces: node.traces + 1, mark: self.serial };
        }
    }

    /// A trace begins.
    pub fn begin(&mut self, name: u32) {
        self.serial += 1;
        self.state = self.root(name);
        self.visit();
    }

    /// It goes on, from `position` on.
    pub fn extend(
        &mut self,
        trace: u32,
        position: u64,
        names: &[u32],
        budget: &Budget,
    ) -> Result<(), TooLarge> {
        let mut place = Place::new(trace, position);
        let history = self.history();
        for (index, &name) in names.iter().enumerate() {
            self.window.copy_within(1.., 0);
            self.window[history] = name;
            let walk = self.edges.entry([self.state, name]);
            if walk.mark == self.serial {
                walk.seen.count += 1;
                walk.seen.last = walk.seen.last.max(place);
                // Without history the next look-up need not wait for this one.
                self.state = if history == 0 { name } else { walk.target };
            } else {
                walk.mark = self.serial;
                let new = walk.is_empty();
                walk.seen.add(&Seen { count: 1, first: place, last: place, traces: 1 });
                if new {
                    // Counted above, so that the table is whole when the window is looked up.
                    let from = self.state;
                    let target = self.node();
                    self.edges.entry([from, name]).target = target;
                    self.state = target;
                    budget.edges(self.edges.len())?;
                    budget.states(self.windows.len())?;
                } else {
                    self.state = walk.target;
                }
                // A state is new to the trace only if the transition is.
                self.visit();
            }
            place = Place::new(trace, position + index as u64 + 1);
        }
        Ok(())
    }

    /// Adds what was seen in other traces; returns our states by theirs.
    pub fn absorb(&mut self, other: Chain, rename: &[u32], budget: &Budget) -> Result<Vec<u32>, TooLarge> {
        let mut states = Vec::with_capacity(other.nodes.len());
        let history = self.history();
        for (id, node) in (0u32..).zip(&other.nodes) {
            // Without history, a name that was never seen may have a node all the same.
            if node.traces == 0 {
                states.push(NONE);
                continue;
            }
            for back in 0..=history {
                let name = other.before(id, back);
                self.window[history - back] = if name == NONE { NONE } else { rename[name as usize] };
            }
            let state = self.node();
            self.nodes[state as usize].traces += node.traces;
            states.push(state);
            budget.states(self.windows.len())?;
        }
        for ([from, name], walk) in other.edges.scattered() {
            let edge = self.edges.entry([states[from as usize], rename[name as usize]]);
            edge.seen.add(&walk.seen);
            edge.target = states[walk.target as usize];
            budget.edges(self.edges.len())?;
        }
        Ok(states)
    }
}
