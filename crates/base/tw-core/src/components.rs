//! Strongly connected components: Tarjan's search with its own stack, so that long paths cost no thread's stack.

use crate::Bits;

/// The strongly connected components of a graph, or of a part of it.
///
/// They are numbered in the order in which the search leaves them: edges between components lead from higher numbers to
/// lower ones.
///
/// ```
/// use tw_core::Components;
/// let edges: [&[u32]; 3] = [&[1], &[0, 2], &[]];
/// let components = Components::new(3, None, |node, nth| edges[node as usize].get(nth).copied());
/// assert_eq!((components.of, components.count), (vec![1, 1, 0], 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// The component of each node; [`Components::OUTSIDE`] for nodes outside the part.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

impl Components {
    /// The component of a node that was left out.
    pub const OUTSIDE: u32 = u32::MAX;

    /// The components of a graph with so many nodes, or of those `within` and the edges between them. `target` says where
    /// the nth edge of a node leads, and that there is none.
    pub fn new(nodes: usize, within: Option<&Bits>, target: impl Fn(u32, usize) -> Option<u32>) -> Self {
        let mut of = vec![NEW; nodes];
        if let Some(within) = within {
            (0..nodes).filter(|&node| !within.get(node)).for_each(|node| of[node] = Self::OUTSIDE);
        }
        let (open, path, closed) = (Vec::new(), Vec::new(), Bits::repeat(false, nodes));
        let mut search = Search { target, of, open, path, closed, count: 0 };
        for root in 0..nodes as u32 {
            if search.of[root as usize] == NEW {
                search.enter(root);
                search.explore();
            }
        }
        Components { of: search.of, count: search.count as usize }
    }

    /// Which components have a cycle, given the edges: more than one node, or a node that follows itself.
    pub fn cyclic(&self, edges: impl Iterator<Item = (u32, u32)>) -> Bits {
        let mut cyclic = Bits::repeat(false, self.count);
        for (from, to) in edges {
            let component = self.of[from as usize];
            if component != Self::OUTSIDE && component == self.of[to as usize] {
                cyclic.set(component as usize, true);
            }
        }
        cyclic
    }
}

/// Stands for nodes not met yet.
const NEW: u32 = u32::MAX - 1;

struct Search<F> {
    target: F,
    /// While a node is open: the lowest place on `open` it leads back to. After that: its component, from the top.
    of: Vec<u32>,
    open: Vec<u32>,
    /// The path: node, its place in `open`, the next of its edges.
    path: Vec<(u32, u32, usize)>,
    closed: Bits,
    count: u32,
}

impl<F: Fn(u32, usize) -> Option<u32>> Search<F> {
    fn enter(&mut self, node: u32) {
        let place = self.open.len() as u32;
        self.of[node as usize] = place;
        self.open.push(node);
        self.path.push((node, place, 0));
    }

    fn explore(&mut self) {
        while let Some((node, place, next)) = self.path.last_mut() {
            let (node, place) = (*node, *place);
            if let Some(target) = (self.target)(node, *next) {
                *next += 1;
                match self.of[target as usize] {
                    NEW => self.enter(target),
                    Components::OUTSIDE => {}
                    low if !self.closed.get(target as usize) => self.lower(node, low),
                    _ => {}
                }
                continue;
            }
            self.path.pop();
            let low = self.of[node as usize];
            if low == place {
                for member in self.open.drain(place as usize..) {
                    self.of[member as usize] = self.count;
                    self.closed.set(member as usize, true);
                }
                self.count += 1;
            } else if let Some(&(parent, ..)) = self.path.last() {
                self.lower(parent, low);
            }
        }
    }

    fn lower(&mut self, node: u32, low: u32) {
        let own = &mut self.of[node as usize];
        *own = low.min(*own);
    }
}
