//! Strongly connected components of a graph.

use crate::Graph;
use tw_core::{Bits, Components};

impl Graph {
    /// The components of the graph, or of the states in `within` and the transitions between them.
    pub fn components(&self, within: Option<&Bits>) -> Components {
        Components::new(self.states(), within, |state, nth| self.successors(state).get(nth).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
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
            let components = graph.components(Some(&within));
            let (reach, cyclic) = (reaches(&graph, &within), components.cyclic(graph.iter()));
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
        assert_eq!(graph.components(None).count, 1_000_000);
    }
}
