//! The smallest machine with the same outputs.
//!
//! Partition refinement on transition trees: two states stay together while their trees, with states replaced by
//! classes, are equal. When a class breaks up its largest part keeps the name, and only states that lead into the
//! renamed parts are looked at again, so that a state is renamed at most log n times.

use super::tree::{Forest, Tree};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The class of every state. States with different outputs are in different classes; a state with `absorbing` output
/// is left for no other class, so its tree does not matter.
pub(super) fn classes<O: Copy + Eq + Hash>(
    forest: &Forest,
    trees: &[Tree],
    outputs: &[O],
    absorbing: impl Fn(O) -> bool,
) -> Vec<u32> {
    let mut names: FxHashMap<O, u32> = FxHashMap::default();
    let mut class: Vec<u32> = Vec::with_capacity(trees.len());
    let mut members: Vec<Vec<u32>> = Vec::new();
    for (state, &output) in outputs.iter().enumerate() {
        let name = *names.entry(output).or_insert_with(|| {
            members.push(Vec::new());
            (members.len() - 1) as u32
        });
        members[name as usize].push(state as u32);
        class.push(name);
    }
    let absorbs: Vec<bool> = outputs.iter().map(|&output| absorbing(output)).collect();
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); trees.len()];
    for (state, &tree) in trees.iter().enumerate() {
        if !absorbs[state] {
            forest.leaves(tree).into_iter().for_each(|next| predecessors[next as usize].push(state as u32));
        }
    }

    let mut signatures = Forest::default();
    // Classes with states whose trees changed, and those states.
    let mut dirty: FxHashMap<u32, Vec<u32>> =
        members.iter().enumerate().map(|(name, states)| (name as u32, states.clone())).collect();
    while !dirty.is_empty() {
        let mut done = FxHashMap::default();
        let mut signature = |state: u32| {
            signatures.copy(
                forest,
                trees[state as usize],
                &|atom| atom,
                &|next| class[next as usize],
                &mut done,
            )
        };
        let mut breaks: Vec<(u32, Vec<Vec<u32>>)> = Vec::new();
        for (&name, changed) in &dirty {
            if members[name as usize].len() == 1 || absorbs[members[name as usize][0] as usize] {
                continue;
            }
            let mut parts: FxHashMap<Tree, Vec<u32>> = FxHashMap::default();
            changed.iter().for_each(|&state| parts.entry(signature(state)).or_default().push(state));
            if changed.len() < members[name as usize].len() {
                // The others still agree with each other.
                let mut same = members[name as usize].clone();
                let moved: rustc_hash::FxHashSet<u32> = changed.iter().copied().collect();
                same.retain(|state| !moved.contains(state));
                parts.entry(signature(same[0])).or_default().extend(same);
            }
            if parts.len() > 1 {
                let mut parts: Vec<Vec<u32>> = parts.into_values().collect();
                parts
                    .sort_unstable_by_key(|part| (std::cmp::Reverse(part.len()), part.iter().min().copied()));
                breaks.push((name, parts));
            }
        }
        let mut renamed = Vec::new();
        breaks.sort_unstable_by_key(|(name, _)| *name);
        for (name, mut parts) in breaks {
            for part in parts.drain(1..) {
                let fresh = members.len() as u32;
                part.iter().for_each(|&state| class[state as usize] = fresh);
                renamed.extend_from_slice(&part);
                members.push(part);
            }
            members[name as usize] = parts.remove(0);
        }
        dirty.clear();
        let mut again: Vec<u32> =
            renamed.iter().flat_map(|&state| predecessors[state as usize].iter().copied()).collect();
        again.sort_unstable();
        again.dedup();
        for state in again {
            dirty.entry(class[state as usize]).or_default().push(state);
        }
    }
    class
}
