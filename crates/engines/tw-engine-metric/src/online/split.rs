//! Roots as conjunctions, so that each conjunct waits for its own subformulas alone.
//!
//! `G (x < 9 & (req -> F[0,1h] ack))` is violated the moment x is 9: as one formula it would be read an hour late, as
//! `G x < 9` and `G (req -> F[0,1h] ack)` each is read as soon as it can be.

use super::graph::{ALWAYS, Edge, Graph, Kind};
use rustc_hash::FxHashSet;

/// Conjuncts of one root.
const CONJUNCTS: usize = 64;
/// Clauses of one `G`, and literals of a clause.
const CLAUSES: usize = 16;

/// Edges whose conjunction is the formula, or its negation if the flag is set.
pub(super) fn split(graph: &mut Graph, edge: Edge) -> (Vec<Edge>, bool) {
    for negated in [false, true] {
        match conjuncts(graph, edge.negate_if(negated)) {
            Some(parts) if parts.len() > 1 => return (parts, negated),
            _ => {}
        }
    }
    (vec![edge], false)
}

/// The conjuncts of a formula; `None` if there are too many.
fn conjuncts(graph: &mut Graph, edge: Edge) -> Option<Vec<Edge>> {
    let (mut todo, mut seen, mut found) = (vec![edge], FxHashSet::default(), Vec::new());
    while let Some(edge) = todo.pop() {
        if !seen.insert(edge) {
            continue;
        }
        if seen.len() > 4 * CONJUNCTS || found.len() >= CONJUNCTS {
            return None;
        }
        match (graph.operators[edge.op()].kind, edge.negated()) {
            (Kind::And(a, b), false) => todo.extend([b, a]),
            (Kind::Until(ALWAYS, Edge::TRUE, b), true) => match clauses(graph, !b) {
                Some(clauses) if clauses.len() > 1 => {
                    for clause in clauses {
                        let any = clause.into_iter().fold(Edge::FALSE, |any, literal| graph.or(any, literal));
                        found.push(!graph.until(ALWAYS, Edge::TRUE, !any));
                    }
                }
                _ => found.push(edge),
            },
            _ => found.push(edge),
        }
    }
    Some(found)
}

/// Disjunctions whose conjunction is the formula; `None` if there are too many.
fn clauses(graph: &Graph, edge: Edge) -> Option<Vec<Vec<Edge>>> {
    let (mut todo, mut found) = (vec![vec![edge]], Vec::new());
    while let Some(mut clause) = todo.pop() {
        if todo.len() + found.len() >= CLAUSES || clause.len() > CLAUSES {
            return None;
        }
        let compound = |edge: &Edge| matches!(graph.operators[edge.op()].kind, Kind::And(..));
        let Some(at) = clause.iter().position(compound) else {
            found.push(clause);
            continue;
        };
        let literal = clause.swap_remove(at);
        if let Kind::And(a, b) = graph.operators[literal.op()].kind {
            if literal.negated() {
                clause.extend([!a, !b]);
                todo.push(clause);
            } else {
                let mut other = clause.clone();
                other.push(b);
                clause.push(a);
                todo.extend([other, clause]);
            }
        }
    }
    Some(found)
}
