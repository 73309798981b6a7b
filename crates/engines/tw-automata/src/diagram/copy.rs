//! Diagrams taken out of one arena and put into another, or into a file.

use super::{Diagram, Diagrams, Node};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Nodes that may be added to a copy.
const ROOM: usize = 1 << 16;

impl Diagrams {
    /// An arena with the given diagrams alone, and their numbers there.
    fn only(&self, keep: &[Diagram], limit: usize) -> (Diagrams, Vec<Diagram>) {
        let mut alive = self.below(keep);
        alive.sort_unstable();
        let mut only = Diagrams::new(limit);
        let mut renumbered =
            FxHashMap::from_iter([0, 1].map(|constant| (Diagram(constant), Diagram(constant))));
        for index in alive {
            let Node { variable, low, high } = self.nodes[index];
            let node = Node { variable, low: renumbered[&low], high: renumbered[&high] };
            let diagram = Diagram(only.nodes.len() as u32);
            only.nodes.push(node);
            only.unique.insert(node, diagram);
            renumbered.insert(Diagram(index as u32), diagram);
        }
        let kept = keep.iter().map(|diagram| renumbered[diagram]).collect();
        (only, kept)
    }

    /// Forgets all but the given diagrams, which are renumbered.
    pub fn compact(&mut self, keep: &mut [Diagram]) {
        let (only, kept) = self.only(keep, self.limit);
        keep.copy_from_slice(&kept);
        *self = only;
    }

    /// A copy of one diagram, with room to work on it.
    pub fn alone(&self, diagram: Diagram) -> (Diagrams, Diagram) {
        let (mut only, kept) = self.only(&[diagram], 0);
        only.limit = only.nodes.len() + ROOM;
        (only, kept[0])
    }

    /// The tests ⟨variable, low, high⟩ of a diagram, branches first, the whole last; 0 and 1 are the constants, 2 is
    /// the first test. Empty for constants.
    pub fn write(&self, diagram: Diagram) -> Vec<(u32, u32, u32)> {
        let (only, _) = self.only(&[diagram], 0);
        only.nodes[2..].iter().map(|node| (node.variable, node.low.0, node.high.0)).collect()
    }

    /// The diagram that was written; `None` if that is none over these variables, or there is no room for it.
    pub fn read(&mut self, tests: &[(u32, u32, u32)], variables: Range<u32>) -> Option<Diagram> {
        let mut read = vec![Diagram::FALSE, Diagram::TRUE];
        for &(variable, low, high) in tests {
            let (low, high) = (*read.get(low as usize)?, *read.get(high as usize)?);
            let ordered = variable < self.top(low) && variable < self.top(high);
            if low == high || !ordered || !variables.contains(&variable) {
                return None;
            }
            read.push(self.node(variable, low, high).ok()?);
        }
        read.last().copied()
    }
}
