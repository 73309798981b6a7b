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
}

/// The valuations of the outer variables in a set.
pub(crate) fn list(truths: &mut Truths, set: &Set, outer: &[Level]) -> Result<Listed, Refused> {
    if let Trie::Leaf(Truth::NO) = set {
        return Ok(Listed::default());
    }
    let mut paths: Vec<Vec<(Level, Key)>> = Vec::new();
    walk(truths, set, &mut Vec::new(), &mut paths)?;
    let everywhere = |level: &Level| paths.iter().all(|path| path.iter().any(|(own, _)| own == level));
    let finite: Vec<Level> = outer.iter().copied().filter(everywhere).collect();
    let infinite = !paths.is_empty() && finite.len() < outer.len();
    let pick = |path: Vec<(Level, Key)>| -> Vec<(Level, Key)> {
        let value = |level: &Level| path.iter().find(|(own, _)| own == level).cloned();
        finite.iter().filter_map(value).collect()
    };
    let mut entries: Vec<_> = paths.into_iter().map(pick).collect();
    entries.sort_by(by_values);
    entries.dedup();
    Ok(Listed { entries, infinite })
}

fn by_values(a: &Vec<(Level, Key)>, b: &Vec<(Level, Key)>) -> Ordering {
    let pairs = a.iter().zip(b).map(|((_, a), (_, b))| a.listed(b));
    pairs.fold(Ordering::Equal, Ordering::then)
}

fn walk(
    truths: &mut Truths,
    set: &Set,
    path: &mut Vec<(Level, Key)>,
    found: &mut Vec<Vec<(Level, Key)>>,
) -> Result<(), Refused> {
    match set {
        Trie::Leaf(Truth::NO) => Ok(()),
        Trie::Leaf(Truth::YES) => {
            found.push(path.clone());
            Ok(())
        }
        Trie::Leaf(leaf) => {
            // A condition on one variable has solutions; it is not among those of the path.
            let &[level] = truths.levels(*leaf) else { return Err(truths.reason(*leaf)) };
            let Some(solution) = truths.solve(*leaf, level, &[]) else { return Err(truths.reason(*leaf)) };
            if solution.infinite {
                found.push(path.clone());
            }
            for key in solution.points {
                let mut path = path.clone();
                path.push((level, key));
                found.push(path);
            }
            Ok(())
        }
        Trie::Split(split) => {
            let mut result = walk_rest(truths, split.level, set, path, found);
            split.points.each(&mut |key, child| {
                path.push((split.level, key.clone()));
                result = std::mem::replace(&mut result, Ok(())).and_then(|()| walk(truths, child, path, found));
                path.pop();
                result.is_ok()
            });
            result
        }
    }
}

/// What all values but the points have in common; conditions on the variable itself exclude the points.
fn walk_rest(
    truths: &mut Truths,
    level: Level,
    set: &Set,
    path: &mut Vec<(Level, Key)>,
    found: &mut Vec<Vec<(Level, Key)>>,
) -> Result<(), Refused> {
    let Trie::Split(split) = set else { return Ok(()) };
    if let Trie::Leaf(leaf) = &split.rest
        && truths.levels(*leaf) == [level]
    {
        let mut taken = Vec::new();
        split.points.each(&mut |key, _| {
            taken.push(key.clone());
            true
        });
        let Some(solution) = truths.solve(*leaf, level, &taken) else { return Err(truths.reason(*leaf)) };
        if solution.infinite {
            found.push(path.clone());
        }
        for key in solution.points {
            let mut path = path.clone();
            path.push((level, key));
            found.push(path);
        }
        return Ok(());
    }
    walk(truths, &split.rest, path, found)
}
