//! What is asked of one model again and again: its transitions both ways, and which paths count.

use tw_core::Bits;
use tw_model::{Graph, Model, State};

/// A model made ready: transitions both ways, every state with a successor, and the fairness that paths must have.
///
/// Paths are infinite. A state that nothing follows is given a loop: where nothing is known, nothing changes.
#[derive(Clone, Debug)]
pub struct Checker<'m> {
    /// The model.
    pub model: &'m Model,
    total: Option<Graph>,
    reverse: Graph,
    /// States given a loop.
    looped: Vec<State>,
    fairness: Vec<Bits>,
}

impl<'m> Checker<'m> {
    /// For a model in which all paths count.
    pub fn new(model: &'m Model) -> Self {
        let graph = &model.graph;
        let looped: Vec<State> =
            (0..graph.states() as State).filter(|&state| graph.successors(state).is_empty()).collect();
        let total = (!looped.is_empty()).then(|| with_loops(graph, &looped));
        let reverse = total.as_ref().unwrap_or(graph).reverse();
        Self { model, total, reverse, looped, fairness: Vec::new() }
    }

    /// Of the paths, only those count on which each of these sets of states is met again and again.
    #[must_use]
    pub fn fairness(mut self, sets: Vec<Bits>) -> Self {
        self.fairness = sets;
        self
    }

    /// The transitions; every state has one. Their numbers are the model's where no loop was added.
    pub fn graph(&self) -> &Graph {
        self.total.as_ref().unwrap_or(&self.model.graph)
    }

    /// The transitions backwards.
    pub fn reverse(&self) -> &Graph {
        &self.reverse
    }

    /// Initial states.
    pub fn initial(&self) -> &[State] {
        &self.model.initial
    }

    /// Sets of states of which each is met again and again on every path that counts.
    pub fn fair_sets(&self) -> &[Bits] {
        &self.fairness
    }

    /// States that were given a loop, ascending.
    pub fn looped(&self) -> &[State] {
        &self.looped
    }
}

/// The graph with a loop at each of these states, which have no successors.
fn with_loops(graph: &Graph, at: &[State]) -> Graph {
    let mut offsets = Vec::with_capacity(graph.states() + 1);
    let mut targets = Vec::with_capacity(graph.edges() + at.len());
    let mut copied = 0;
    for &state in at {
        let end = graph.row(state).end as usize;
        targets.extend_from_slice(&graph.targets()[copied..end]);
        targets.push(state);
        copied = end;
    }
    targets.extend_from_slice(&graph.targets()[copied..]);
    let mut added = 0;
    for (state, &start) in graph.offsets().iter().enumerate() {
        offsets.push(start + added);
        added += u32::from(at.get(added as usize) == Some(&(state as State)));
    }
    Graph::from_rows(offsets, targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::Rng;

    #[test]
    fn states_that_nothing_follows_loop() {
        let mut random = Rng::new(3);
        for _ in 0..500 {
            let states = 1 + random.below(12);
            let edges: Vec<(State, State)> = (0..random.below(2 * states))
                .map(|_| (random.below(states) as State, random.below(states) as State))
                .collect();
            let model = Model { graph: Graph::from_edges(states, edges.into_iter()), ..Model::default() };
            let checker = Checker::new(&model);
            let loops = (0..states as State).filter(|&state| model.graph.successors(state).is_empty());
            let all = model.graph.iter().chain(loops.clone().map(|state| (state, state)));
            assert_eq!(*checker.graph(), Graph::from_edges(states, all.collect::<Vec<_>>().into_iter()));
            assert_eq!(*checker.reverse(), checker.graph().reverse());
            assert!(checker.looped().iter().copied().eq(loops));
        }
    }
}
