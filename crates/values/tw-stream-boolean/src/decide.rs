//! Questions about automata, each answered with a shortest witness: searches in breadth over pairs of states, sets of
//! states, or both.

use crate::nfa::{GaveUp, Nfa};
use rustc_hash::{FxHashMap, FxHashSet};

/// A search in breadth: what was found, and by which letter from where.
struct Search<T> {
    found: Vec<T>,
    from: Vec<(u32, u32)>,
    limit: usize,
}

impl<T> Search<T> {
    fn new(first: T, limit: usize) -> Self {
        Search { found: vec![first], from: vec![(0, 0)], limit }
    }

    fn push(&mut self, next: T, by: usize, letter: usize) -> Result<(), GaveUp> {
        if self.found.len() >= self.limit {
            return Err(GaveUp { states: self.found.len() });
        }
        self.found.push(next);
        self.from.push((by as u32, letter as u32));
        Ok(())
    }

    /// The letters that lead to what was found at a place, and one more.
    fn word(&self, mut at: usize, last: usize) -> Vec<u64> {
        let mut word = vec![last as u64];
        while at != 0 {
            word.push(self.from[at].1.into());
            at = self.from[at].0 as usize;
        }
        word.reverse();
        word
    }
}

/// A shortest input on which two accepting runs have different labels, if there is one.
pub(crate) fn ambiguous(nfa: &Nfa, limit: usize) -> Result<Option<Vec<u64>>, GaveUp> {
    if is_deterministic(nfa) {
        return Ok(None);
    }
    let mut seen: FxHashSet<(u32, u32, bool)> = FxHashSet::default();
    let mut search = Search::new((0u32, 0u32, false), limit);
    let mut at = 0;
    while at < search.found.len() {
        let (p, q, apart) = search.found[at];
        for letter in 0..nfa.letters() {
            let (first, second) = (nfa.edges(p, letter), nfa.edges(q, letter));
            for (nth, &(left, label)) in first.iter().enumerate() {
                // Of a state with itself each pair once.
                let from = if p == q { nth } else { 0 };
                for &(right, other) in &second[from..] {
                    let apart = apart || label != other;
                    if apart && nfa.accepting[left as usize] && nfa.accepting[right as usize] {
                        return Ok(Some(search.word(at, letter)));
                    }
                    let (left, right) = (left.min(right), left.max(right));
                    if seen.contains(&(left, right, true)) || !seen.insert((left, right, apart)) {
                        continue;
                    }
                    search.push((left, right, apart), at, letter)?;
                }
            }
        }
        at += 1;
    }
    Ok(None)
}

fn is_deterministic(nfa: &Nfa) -> bool {
    (0..nfa.states() as u32).all(|state| (0..nfa.letters()).all(|letter| nfa.edges(state, letter).len() <= 1))
}

/// A shortest word that `of` accepts and `within` does not, if there is one. Without `of`: that `within` does not accept.
pub(crate) fn not_within(of: Option<&Nfa>, within: &Nfa, limit: usize) -> Result<Option<Vec<u64>>, GaveUp> {
    // What was found for a state of `of`: sets of `within`, of which only the smallest count.
    let mut smallest: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let mut search: Search<(u32, Vec<u32>)> = Search::new((0, vec![0]), limit);
    let mut at = 0;
    while at < search.found.len() {
        for letter in 0..within.letters() {
            let set = within.step(&search.found[at].1, letter);
            let accepted = within.accepts(&set);
            let mut targets: Vec<u32> = match of {
                Some(of) => of.edges(search.found[at].0, letter).iter().map(|&(to, _)| to).collect(),
                None => vec![0],
            };
            targets.dedup();
            for target in targets {
                if !accepted && of.is_none_or(|of| of.accepting[target as usize]) {
                    return Ok(Some(search.word(at, letter)));
                }
                let known = smallest.entry(target).or_default();
                if known.iter().any(|&known| is_subset(&search.found[known].1, &set)) {
                    continue;
                }
                known.retain(|&known| !is_subset(&set, &search.found[known].1));
                known.push(search.found.len());
                search.push((target, set.clone()), at, letter)?;
            }
        }
        at += 1;
    }
    Ok(None)
}

fn is_subset(small: &[u32], large: &[u32]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut large = large.iter();
    small.iter().all(|one| large.by_ref().find(|other| *other >= one) == Some(one))
}

/// A shortest word that one of the two accepts and the other does not; whether it is the first. Sets are merged as they
/// turn out to have to agree (Hopcroft and Karp), which drops no shortest word: a pair that follows from others
/// has a difference only if one of those has one that is no longer.
pub(crate) fn different(a: &Nfa, b: &Nfa, limit: usize) -> Result<Option<(Vec<u64>, bool)>, GaveUp> {
    let mut numbers: FxHashMap<(bool, Vec<u32>), usize> = FxHashMap::default();
    let mut class: Vec<usize> = Vec::new();
    fn root(class: &mut [usize], mut at: usize) -> usize {
        while class[at] != at {
            class[at] = class[class[at]];
            at = class[at];
        }
        at
    }
    let mut search: Search<(Vec<u32>, Vec<u32>)> = Search::new((vec![0], vec![0]), limit);
    let mut at = 0;
    while at < search.found.len() {
        for letter in 0..a.letters() {
            let left = a.step(&search.found[at].0, letter);
            let right = b.step(&search.found[at].1, letter);
            if a.accepts(&left) != b.accepts(&right) {
                return Ok(Some((search.word(at, letter), a.accepts(&left))));
            }
            let mut number = |second: bool, set: &Vec<u32>| {
                let next = class.len();
                let number = *numbers.entry((second, set.clone())).or_insert(next);
                if number == next {
                    class.push(next);
                }
                number
            };
            let (one, other) = (number(false, &left), number(true, &right));
            let (one, other) = (root(&mut class, one), root(&mut class, other));
            if one != other {
                class[one] = other;
                search.push((left, right), at, letter)?;
            }
        }
        at += 1;
    }
    Ok(None)
}

/// A shortest word that the automaton accepts, if there is one.
pub(crate) fn accepted(nfa: &Nfa) -> Option<Vec<u64>> {
    let mut seen = vec![false; nfa.states()];
    let mut search = Search::new(0u32, usize::MAX);
    let mut at = 0;
    while at < search.found.len() {
        for letter in 0..nfa.letters() {
            for &(to, _) in nfa.edges(search.found[at], letter) {
                if nfa.accepting[to as usize] {
                    return Some(search.word(at, letter));
                }
                if !std::mem::replace(&mut seen[to as usize], true) {
                    search.push(to, at, letter).ok()?;
                }
            }
        }
        at += 1;
    }
    None
}
