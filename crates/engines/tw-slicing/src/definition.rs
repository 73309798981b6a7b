//! Slices by their definition.

use crate::{Binding, Lattice};
use rustc_hash::FxHashSet;

/// The positions whose events are about nothing but what a binding binds; `trace` has of each position the bindings of its
/// events.
pub fn slice(trace: &[Vec<Binding>], binding: &Binding) -> Vec<usize> {
    let inside = |&at: &usize| trace[at].iter().any(|about| about.leq(binding));
    (0..trace.len()).filter(inside).collect()
}

/// Every binding that is the join of what some events are about, the empty one among them.
pub fn bindings(trace: &[Vec<Binding>], lattice: &impl Lattice<Element = Binding>) -> Vec<Binding> {
    let mut all = vec![lattice.bottom()];
    let mut seen: FxHashSet<Binding> = all.iter().cloned().collect();
    for about in trace.iter().flatten() {
        for number in 0..all.len() {
            if let Some(join) = lattice.join(about, &all[number])
                && seen.insert(join.clone())
            {
                all.push(join);
            }
        }
    }
    all
}
