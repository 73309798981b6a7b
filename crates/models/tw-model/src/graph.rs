//! Transitions as compressed sparse rows.

/// Number of a state.
pub type State = u32;

/// Number of a transition: its place in the rows.
pub type Edge = u32;

/// Who follows whom. The successors of a state stand together, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the successors of each state begin; one more entry than states.
    offsets: Vec<Edge>,
    targets: Vec<State>,
}

impl Default for Graph {
    fn default() -> Self {
        Self { offsets: vec![0], targets: Vec::new() }
    }
}

impl Graph {
    /// From rows: where the successors of each state begin (one more entry than states, the first 0, none below the one
    /// before), and the successors, ascending in each row, each once.
    pub fn from_rows(offsets: Vec<Edge>, targets: Vec<State>) -> Self {
        debug_assert!(
            offsets.first() == Some(&0) && offsets.last().is_some_and(|&end| end as usize == targets.len())
        );
        debug_assert!(offsets.windows(2).all(|row| {
            let row = &targets[row[0] as usize..row[1] as usize];
            row.is_sorted_by(|a, b| a < b)
                && row.last().is_none_or(|&last| (last as usize) < offsets.len() - 1)
        }));
        Self { offsets, targets }
    }

    /// From transitions in any order; those that are given more than once count once.
    pub fn from_edges(states: usize, edges: impl Iterator<Item = (State, State)> + Clone) -> Self {
        let mut offsets = vec![0u32; states + 1];
        edges.clone().for_each(|(from, _)| offsets[from as usize + 1] += 1);
        for at in 0..states {
            offsets[at + 1] += offsets[at];
        }
        let mut targets = vec![0; offsets[states] as usize];
        let mut next = offsets.clone();
        for (from, to) in edges {
            targets[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        let (mut kept, mut start) = (0, 0);
        for at in 0..states {
            let end = offsets[at + 1] as usize;
            targets[start..end].sort_unstable();
            let first = kept;
            for index in start..end {
                if kept == first || targets[kept - 1] != targets[index] {
                    targets[kept] = targets[index];
                    kept += 1;
                }
            }
            start = end;
            offsets[at + 1] = kept as u32;
        }
        targets.truncate(kept);
        Self { offsets, targets }
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of transitions.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The states that follow `state`, ascending.
    pub fn successors(&self, state: State) -> &[State] {
        &self.targets[self.offsets[state as usize] as usize..self.offsets[state as usize + 1] as usize]
    }

    /// The numbers of the transitions that leave `state`, in the order of [`Graph::successors`].
    pub fn row(&self, state: State) -> std::ops::Range<Edge> {
        self.offsets[state as usize]..self.offsets[state as usize + 1]
    }

    /// The state that a transition leads to.
    pub fn target(&self, edge: Edge) -> State {
        self.targets[edge as usize]
    }

    /// The transition from one state to another, if there is one.
    pub fn edge(&self, from: State, to: State) -> Option<Edge> {
        self.successors(from).binary_search(&to).ok().map(|at| self.offsets[from as usize] + at as Edge)
    }

    /// All transitions in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (State, State)> + Clone + '_ {
        (0..self.states() as State).flat_map(|from| self.successors(from).iter().map(move |&to| (from, to)))
    }

    /// Where rows begin: one more entry than states.
    pub fn offsets(&self) -> &[Edge] {
        &self.offsets
    }

    /// All rows, end to end.
    pub fn targets(&self) -> &[State] {
        &self.targets
    }

    /// The same transitions, backwards. Rows come out ascending, as rows are read in order.
    #[must_use]
    pub fn reverse(&self) -> Graph {
        // States by the thousands: what is written for those of one block stays in the cache. First the transitions
        // are put down block by block, then each block is sorted by counting.
        const BLOCK: u32 = 15;
        let blocks = (self.states() >> BLOCK) + 1;
        let mut starts = vec![0u32; blocks + 1];
        for &to in &self.targets {
            starts[(to >> BLOCK) as usize + 1] += 1;
        }
        for block in 0..blocks {
            starts[block + 1] += starts[block];
        }
        let mut next = starts.clone();
        let mut pairs = vec![(0, 0); self.targets.len()];
        for (from, to) in self.iter() {
            let place = &mut next[(to >> BLOCK) as usize];
            pairs[*place as usize] = (from, to);
            *place += 1;
        }
        let mut offsets = vec![0u32; self.states() + 1];
        let mut targets = vec![0; self.targets.len()];
        let mut next = vec![0u32; (1 << BLOCK) + 1];
        for block in 0..blocks {
            let pairs = &pairs[starts[block] as usize..starts[block + 1] as usize];
            let first = block << BLOCK;
            let states = (self.states() - first).min(1 << BLOCK);
            next[..=states].fill(0);
            pairs.iter().for_each(|&(_, to)| next[to as usize - first + 1] += 1);
            next[0] = starts[block];
            for at in 0..states {
                next[at + 1] += next[at];
            }
            offsets[first..=first + states].copy_from_slice(&next[..=states]);
            for &(from, to) in pairs {
                let place = &mut next[to as usize - first];
                targets[*place as usize] = from;
                *place += 1;
            }
        }
        Graph { offsets, targets }
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        (self.offsets.capacity() + self.targets.capacity()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_hold_each_successor_once() {
        let edges = [(2, 1), (0, 2), (0, 1), (0, 2), (2, 2), (2, 0), (0, 1)];
        let graph = Graph::from_edges(4, edges.into_iter());
        assert_eq!(graph.successors(0), [1, 2]);
        assert!(graph.successors(1).is_empty());
        assert_eq!(graph.successors(2), [0, 1, 2]);
        assert!(graph.successors(3).is_empty());
        assert_eq!((graph.states(), graph.edges()), (4, 5));
        assert_eq!((graph.edge(2, 1), graph.edge(1, 1)), (Some(3), None));
        assert_eq!(Graph::from_rows(graph.offsets().to_vec(), graph.targets().to_vec()), graph);
    }

    #[test]
    fn backwards_twice_is_forwards() {
        let graph = Graph::from_edges(5, [(0, 4), (4, 0), (3, 3), (1, 2), (0, 1), (2, 4)].into_iter());
        let reverse = graph.reverse();
        assert_eq!(reverse.successors(4), [0, 2]);
        assert_eq!(reverse.reverse(), graph);
        assert_eq!(
            graph.iter().map(|(a, b)| (b, a)).collect::<std::collections::BTreeSet<_>>(),
            reverse.iter().collect()
        );
    }

    #[test]
    fn backwards_across_blocks() {
        for states in [32_767u32, 32_768, 32_769, 70_000] {
            let edges = (0..states).flat_map(|from| [(from, from.wrapping_mul(7919) % states), (from, 5)]);
            let graph = Graph::from_edges(states as usize, edges);
            let mut expected: Vec<(State, State)> = graph.iter().map(|(from, to)| (to, from)).collect();
            expected.sort_unstable();
            let reverse = graph.reverse();
            assert!(reverse.iter().eq(expected), "{states}");
            assert_eq!(reverse.states(), states as usize);
        }
    }

    #[test]
    fn an_empty_graph_has_no_states() {
        assert_eq!(Graph::default().states(), 0);
        assert_eq!(Graph::from_edges(0, std::iter::empty()), Graph::default());
    }
}
