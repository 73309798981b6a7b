//! By how much a single predicate would have to change for a formula to become false, or true.
//!
//! Adding to what a predicate is worth at every sample changes a formula in one direction only, if the predicate does
//! not stand on both sides of a negation; and its truth can only change where a sample of the predicate passes zero.
//! So the samples' values are the candidates, and bisection finds the first that suffices: O(log n) evaluations.

use crate::plan::is_predicate;
use crate::{Robust, Samples};
use rustc_hash::FxHashMap;
use tw_core::Position;
use tw_ir::{Node, NodeId};
use tw_monitor::Unsupported;

/// What a predicate alone can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The predicate.
    pub node: NodeId,
    /// Added to what it is worth at every sample, brings the formula to zero or beyond; no smaller change does. `None`
    /// if none does, or if the predicate counts both for and against the formula.
    pub change: Option<f64>,
}

impl Robust {
    /// For each predicate below `node`, the least change of it alone that changes the sign of the value at `position`.
    pub fn margins(
        &self,
        samples: &Samples,
        node: NodeId,
        position: Position,
    ) -> Result<Vec<Margin>, Unsupported> {
        let column = self.columns(samples, &[node])?.remove(0);
        let Some(&value) = column.get(position) else {
            return Err(Unsupported {
                node: None,
                what: format!("position {position} of a trace of {} positions", samples.len),
                help: None,
                exhausted: false,
            });
        };
        let counts = self.counts(node);
        let mut predicates = samples.predicates.to_vec();
        let mut margins = Vec::new();
        for (place, &predicate) in self.plan.predicates.iter().enumerate() {
            let Some(&(for_it, against)) = counts.get(&predicate) else { continue };
            if value == 0.0 || (for_it && against) {
                margins.push(Margin { node: predicate, change: (value == 0.0).then_some(0.0) });
                continue;
            }
            // A true formula becomes false when what counts for it goes down.
            let sign = if for_it == (value > 0.0) { -1.0 } else { 1.0 };
            let original = &samples.predicates[place];
            let mut candidates: Vec<f64> = original
                .iter()
                .map(|worth| 0.0 - sign * worth)
                .filter(|c| *c > 0.0 && c.is_finite())
                .collect();
            candidates.sort_unstable_by(f64::total_cmp);
            candidates.dedup();
            let mut suffices = |change: f64| -> Result<bool, Unsupported> {
                let moved = original.iter().map(|worth| worth + sign * change + 0.0);
                predicates[place].clear();
                predicates[place].extend(moved);
                let changed = Samples { predicates: predicates.as_slice().into(), ..samples.clone() };
                let found = self.columns(&changed, &[node])?[0][position];
                Ok(if value > 0.0 { found <= 0.0 } else { found >= 0.0 })
            };
            let (mut low, mut high) = (0, candidates.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if suffices(candidates[middle])? { high = middle } else { low = middle + 1 }
            }
            predicates[place].clone_from(original);
            margins.push(Margin { node: predicate, change: candidates.get(low).map(|c| sign * c) });
        }
        Ok(margins)
    }

    /// Whether each formula below `node` counts for it, and whether against it.
    fn counts(&self, node: NodeId) -> FxHashMap<NodeId, (bool, bool)> {
        let mut counts: FxHashMap<NodeId, (bool, bool)> = FxHashMap::default();
        counts.insert(node, (true, false));
        for &id in self.program.reachable(&[node]).iter().rev() {
            let Some(&(for_it, against)) = counts.get(&id) else { continue };
            let node = self.program.dag.node(id);
            if is_predicate(node) {
                continue;
            }
            for (place, child) in node.children().enumerate() {
                let turned = match node {
                    Node::Not(_) => (against, for_it),
                    Node::Implies(..) if place == 0 => (against, for_it),
                    Node::Iff(..) | Node::Xor(..) => (true, true),
                    _ => (for_it, against),
                };
                let entry = counts.entry(child).or_default();
                *entry = (entry.0 || turned.0, entry.1 || turned.1);
            }
        }
        counts
    }
}
