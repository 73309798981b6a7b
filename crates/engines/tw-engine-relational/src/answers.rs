//! Sets of valuations as lists: what violations are told with.

use crate::key::Key;
use crate::predicate::Level;
use crate::trie::{Set, Trie};
use crate::truth::{Refused, Truth, Truths};
use std::cmp::Ordering;

/// Valuations that violate at a position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    /// Of each the values of the variables that have finitely many, in the order of the quantifiers.
    pub(crate) entries: Vec<Vec<(Level, Key)>>,
    /// Whether they stand for infinitely many.
    pub(crate) infinite: bool,
    /// Of the first variable, values that are named, whether or not there are infinitely many beside them.
    pub(crate) named: Vec<(Level, Key)>,
}

/// The valuations of the outer variables in a set.
pub(crate) fn list(truths: &mut Truths, set: &Set, outer: &[Level]) -> Result<Listed, Refused> {
    if let Trie::Leaf(Truth::NO) = set {
        return Ok(Listed::default());
    }
    // Mostly, it is one valuation.
    if let Some(path) = only(set)
        && path.len() == outer.len()
    {
        let place = |level: &Level| path.iter().position(|(own, _)| own == level);
        if let Some(order) = outer.iter().map(place).collect::<Option<Vec<usize>>>() {
            let entry: Vec<(Level, Key)> = order.into_iter().map(|at| path[at].clone()).collect();
            let named = entry.first().cloned().into_iter().collect();
            return Ok(Listed { entries: vec![entry], infinite: false, named });
        }
    }
    let mut paths: Vec<Vec<(Level, Key)>> = Vec::new();
    walk(truths, set, &mut Vec::new(), &mut Vec::new(), &mut paths)?;
    let first = |path: &Vec<(Level, Key)>| path.iter().find(|(own, _)| outer.first() == Some(own)).cloned();
    let mut named: Vec<(Level, Key)> = paths.iter().filter_map(first).collect();
    named.sort_by(|(_, a), (_, b)| a.listed(b));
    let everywhere = |level: &Level| paths.iter().all(|path| path.iter().any(|(own, _)| own == level));
    let finite: Vec<Level> = outer.iter().copied().filter(everywhere).collect();
    let infinite = !paths.is_empty() && finite.len() < outer.len();
    let pick = |path: Vec<(Level, Key)>| -> Vec<(Level, Key)> {
        let value = |level: &Level| path.iter().find(|(own, _)| own == level).cloned();
        finite.iter().filter_map(value).collect()
    };
    let mut entries: Vec<_> = paths.into_iter().map(pick).collect();
    entries.sort_by(|a: &Vec<_>, b| in_order(a.iter().map(|(_, key)| key), b.iter().map(|(_, key)| key)));
    entries.dedup();
    Ok(Listed { entries, infinite, named })
}

/// The path of a set of one valuation.
fn only(mut set: &Set) -> Option<Vec<(Level, Key)>> {
    let mut path = Vec::new();
    loop {
        match set {
            Trie::Leaf(Truth::YES) => return Some(path),
            Trie::Split(split) if split.points.len() == 1 && matches!(split.rest, Trie::Leaf(Truth::NO)) => {
                split.points.each(&mut |key, child| {
                    path.push((split.level, key.clone()));
                    set = child;
                    false
                });
            }
            _ => return None,
        }
    }
}

/// Values in the order in which valuations are told.
pub(crate) fn in_order<'k>(a: impl Iterator<Item = &'k Key>, b: impl Iterator<Item = &'k Key>) -> Ordering {
    a.zip(b).map(|(a, b)| a.listed(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// `taken` are the values that the path passed by.
fn walk(
    truths: &mut Truths,
    set: &Set,
    taken: &mut Vec<(Level, Key)>,
    path: &mut Vec<(Level, Key)>,
    found: &mut Vec<Vec<(Level, Key)>>,
) -> Result<(), Refused> {
    match set {
        Trie::Leaf(leaf) => solutions(truths, *leaf, taken, path, found),
        Trie::Split(split) => {
            let before = taken.len();
            if truths.any() {
                split.points.each(&mut |key, _| {
                    taken.push((split.level, key.clone()));
                    true
                });
            }
            let mut result = walk(truths, &split.rest, taken, path, found);
            taken.truncate(before);
            split.points.each(&mut |key, child| {
                if result.is_ok() {
                    path.push((split.level, key.clone()));
                    result = walk(truths, child, taken, path, found);
                    path.pop();
                }
                result.is_ok()
            });
            result
        }
    }
}

/// The valuations that satisfy a condition, but for these values.
fn solutions(
    truths: &mut Truths,
    leaf: Truth,
    taken: &[(Level, Key)],
    path: &mut Vec<(Level, Key)>,
    found: &mut Vec<Vec<(Level, Key)>>,
) -> Result<(), Refused> {
    match leaf.known() {
        Some(true) => found.push(path.clone()),
        Some(false) => {}
        None if truths.levels(leaf).is_empty() => return Err(truths.reason(leaf)),
        None => {
            let mut some = false;
            for level in truths.levels(leaf).to_vec() {
                let Some(solution) = truths.project(leaf, level, taken) else {
                    return Err(truths.reason(leaf));
                };
                if solution.infinite {
                    some = true;
                    continue;
                }
                for key in solution.points {
                    let below = truths.put(leaf, level, &key.value());
                    path.push((level, key));
                    let result = solutions(truths, below, taken, path, found);
                    path.pop();
                    result?;
                }
                return Ok(());
            }
            if some {
                found.push(path.clone());
            }
        }
    }
    Ok(())
}
