//! Deterministic automata as graphs.

use super::{Edge, Graph, Kind, Vertex};
use crate::deterministic::{Deterministic, condition};

/// The automaton, states called q0, q1, … and labelled with what they owe, edges with the condition on atoms under
/// which they are taken. A state is accepting if the trace may end in it; settled states are true or false, and the
/// others of a three-valued machine are open.
pub fn deterministic(automaton: &Deterministic, title: &str) -> Graph {
    let mut graph =
        Graph { title: title.to_owned(), initial: vec![automaton.initial() as usize], ..Graph::default() };
    for state in 0..automaton.len() as u32 {
        let kind = match (automaton.settled(state), automaton.holds_at_end(state)) {
            (Some(true), _) => Kind::True,
            (Some(false), _) => Kind::False,
            (None, Some(true)) => Kind::Accepting,
            (None, Some(false)) => Kind::Rejecting,
            (None, None) => Kind::Open,
        };
        graph.vertices.push(Vertex { name: format!("q{state}"), label: automaton.residual(state), kind });
        let tree = automaton.tree(state);
        for to in automaton.forest().leaves(tree) {
            let label = condition(automaton, state, to);
            graph.edges.push(Edge { from: state as usize, to: to as usize, label, ..Edge::default() });
        }
    }
    graph
}
