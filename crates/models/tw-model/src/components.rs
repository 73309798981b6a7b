//! Strongly connected components: Tarjan's search with its own stack, so that long paths cost no thread's stack.

use crate::{Graph, State};
use tw_core::Bits;

/// The strongly connected components of a graph, or of a part of it.
///
/// They are numbered in the order in which the search leaves them: transitions between components lead from higher
/// numbers to lower ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// The component of each state; [`Components::OUTSIDE`] for states outside the part.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

impl Components {
    /// The component of a state that was left out.
    pub const OUTSIDE: u32 = u32::MAX;

    /// The components of the graph, or of the states in `within` and the transitions between them.
    pub fn new(graph: &Graph, within: Option<&Bits>) -> Self {
        Search::new(graph, within).run()
    }

    /// Which components have a cycle: more than one state, or a state that follows itself.
    pub fn cyclic(&self, graph: &Graph) -> Bits {
        let mut cyclic = Bits::repeat(false, self.count);
        for (from, to) in graph.iter() {
            let component = self.of[from as usize];
            if component != Self::OUTSIDE && component == self.of[to as usize] {
                cyclic.set(component as usize, true);
            }
        }
        cyclic
    }
}

/// Stands for states not met yet.
const NEW: u32 = u32::MAX - 1;

struct Search<'a> {
    graph: &'a Graph,
    /// While a state is open: the lowest place on `open` it leads back to. After that: its component, from the top.
    of: Vec<u32>,
    open: Vec<State>,
    /// The path: state, its place in `open`, the next of its transitions.
    path: Vec<(State, u32, u32)>,
    closed: Bits,
    count: u32,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, within: Option<&Bits>) -> Self {
        let states = graph.states();
        let mut of = vec![NEW; states];
        if let Some(within) = within {
            (0..states).filter(|&state| !within.get(state)).for_each(|state| of[state] = Components::OUTSIDE);
        }
        Self { graph, of, open: Vec::new(), path: Vec::new(), closed: Bits::repeat(false, states), count: 0 }
    }

    fn run(mut self) -> Components {
        for root in 0..self.of.len() as State {
            if self.of[root as usize] == NEW {
                self.enter(root);
                self.explore();
            }
        }
        Components { of: self.of, count: self.count as usize }
    }

    fn enter(&mut self, state: State) {
        let place = self.open.len() as u32;
        self.of[state as usize] = place;
        self.open.push(state);
        self.path.push((state, place, self.graph.row(state).start));
    }

    fn explore(&mut self) {
        while let Some((state, place, next)) = self.path.last_mut() {
            let (state, place) = (*state, *place);
            if *next < self.graph.row(state).end {
                let target = self.graph.target(*next);
                *next += 1;
                match self.of[target as usize] {
                    NEW => self.enter(target),
                    Components::OUTSIDE => {}
                    low if !self.closed.get(target as usize) => {
                        let own = &mut self.of[state as usize];
                        *own = low.min(*own);
                    }
                    _ => {}
                }
                continue;
            }
            self.path.pop();
            let low = self.of[state as usize];
            if low == place {
                for member in self.open.drain(place as usize..) {
                    self.of[member as usize] = self.count;
                    self.closed.set(member as usize, true);
                }
                self.count += 1;
            } else if let Some((parent, ..)) = self.path.last() {
                let own = &mut self.of[*parent as usize];
                *own = low.min(*own);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::Rng;

    /// Who reaches whom, by trying again until nothing changes.
    fn reaches(graph: &Graph, within: &Bits) -> Vec<Vec<bool>> {
        let states = graph.states();
        let mut reach = vec![vec![false; states]; states];
        for (from, to) in graph.iter() {
            reach[from as usize][to as usize] = within.get(from as usize) && within.get(to as usize);
        }
        for via in 0..states {
            for from in 0..states {
                for to in 0..states {
                    reach[from][to] |= reach[from][via] && reach[via][to];
                }
            }
        }
        reach
    }

    #[test]
    fn states_are_together_when_each_reaches_the_other() {
        let mut random = Rng::new(7);
        for _ in 0..2_000 {
            let states = 1 + random.below(9);
            let count = random.below(3 * states);
            let edges: Vec<(State, State)> =
                (0..count).map(|_| (random.below(states) as State, random.below(states) as State)).collect();
            let graph = Graph::from_edges(states, edges.into_iter());
            let mut within = Bits::new();
            (0..states).for_each(|_| within.push(random.below(4) > 0));
            let components = Components::new(&graph, Some(&within));
            let (reach, cyclic) = (reaches(&graph, &within), components.cyclic(&graph));
            for (a, &own) in components.of.iter().enumerate() {
                assert_eq!(own == Components::OUTSIDE, !within.get(a));
                if !within.get(a) {
                    continue;
                }
                assert_eq!(cyclic.get(own as usize), reach[a][a]);
                for (b, &other) in components.of.iter().enumerate().filter(|(b, _)| within.get(*b)) {
                    let together = a == b || reach[a][b] && reach[b][a];
                    assert_eq!(own == other, together, "{graph:?} {a} {b}");
                    assert!(!reach[a][b] || other <= own);
                }
            }
        }
    }

    #[test]
    fn a_long_path_needs_no_stack() {
        let graph = Graph::from_edges(1_000_000, (0..999_999).map(|state| (state, state + 1)));
        assert_eq!(Components::new(&graph, None).count, 1_000_000);
    }
}
