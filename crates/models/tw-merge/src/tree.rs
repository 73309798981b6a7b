//! The tree of prefixes: traces part where they first differ, and never meet again.
//!
//! A state has one transition into it, so what is seen of both is kept once. The first child of a state stands in it;
//! further ones, which are few where traces are long, in a hash table.

use crate::layers::Pass;
use crate::merger::{Budget, TooLarge};
use crate::table::{Table, Tally};

/// No state.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
pub(crate) struct Node {
    /// The state before; [`NONE`] for the first of a trace.
    pub parent: u32,
    pub name: u32,
    child: u32,
    pub pass: Pass,
}

/// Number of a child, plus one.
#[derive(Clone, Copy, Default)]
struct Child(u32);

impl Tally for Child {
    #[inline]
    fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

pub(crate) struct Tree {
    /// Parents stand before their children.
    pub nodes: Vec<Node>,
    /// By parent and name: all children but the first, and the first states of traces.
    others: Table<[u32; 2], Child>,
    /// The state in which the trace is; [`NONE`] before its first.
    pub state: u32,
}

impl Tree {
    pub fn new() -> Self {
        Self { nodes: Vec::new(), others: Table::default(), state: NONE }
    }

    /// The child of that name, made if there is none.
    fn child(&mut self, parent: u32, name: u32) -> u32 {
        let new = self.nodes.len() as u32;
        let first = self.nodes.get(parent as usize).map(|node| node.child);
        if let Some(first) = first.filter(|&first| first != NONE)
            && self.nodes[first as usize].name == name
        {
            return first;
        }
        if first == Some(NONE) {
            self.nodes[parent as usize].child = new;
        } else {
            let child = self.others.entry([parent, name]);
            if !child.is_empty() {
                return child.0 - 1;
            }
            *child = Child(new + 1);
        }
        self.nodes.push(Node { parent, name, child: NONE, pass: Pass::default() });
        new
    }

    /// The first state of a trace that begins with a name, if one does.
    pub fn root(&mut self, name: u32) -> u32 {
        self.child(NONE, name)
    }

    /// The trace goes on.
    pub fn extend(&mut self, trace: u32, names: &[u32], budget: &Budget) -> Result<(), TooLarge> {
        for &name in names {
            let state = self.child(self.state, name);
            self.nodes[state as usize].pass.add(Pass::once(trace));
            self.state = state;
            budget.states(self.nodes.len())?;
        }
        Ok(())
    }

    /// Adds what was seen in other traces; returns our states by theirs.
    pub fn absorb(&mut self, other: Tree, rename: &[u32], budget: &Budget) -> Result<Vec<u32>, TooLarge> {
        let mut states = Vec::with_capacity(other.nodes.len());
        for node in other.nodes {
            let parent = if node.parent == NONE { NONE } else { states[node.parent as usize] };
            let state = self.child(parent, rename[node.name as usize]);
            self.nodes[state as usize].pass.add(node.pass);
            states.push(state);
            budget.states(self.nodes.len())?;
        }
        Ok(states)
    }
}
