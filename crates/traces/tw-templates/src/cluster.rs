//! Signatures that are of one template.
//!
//! Among signatures of one length, a word at its place occurs in so many lines. The words of a line that occur equally often belong
//! together; the largest such group is the line's *root*. Lines of one root have what occurs more often in common, or it varies;
//! what occurs less often varies if it takes many values, and is a choice of the program if it takes few.

use rustc_hash::{FxHashMap, FxHashSet};

/// What stays of a line: its words with what varies masked, by number.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The words.
    pub words: Vec<u32>,
    /// Whether each is masked as a whole: it says nothing.
    pub blank: Vec<bool>,
    /// Whether each looks like a name that somebody gave.
    pub identifier: Vec<bool>,
    /// Whether each is a pair of parentheses with nothing inside.
    pub bare: Vec<bool>,
    /// Lines.
    pub count: u64,
}

/// The words of a root, each at its place.
type Root = Vec<(u32, u32)>;

/// A place with at most so many words is a choice of the program; with more, it varies.
const CHOICES: usize = 4;
/// The words of a root occur at least so often, as a share of the most frequent word.
const ROOT: f64 = 0.4;

/// The cluster of each signature, numbered in the order of the signatures.
pub fn clusters(signatures: &[Signature]) -> Vec<u32> {
    let mut by_length: FxHashMap<usize, Vec<u32>> = FxHashMap::default();
    for (number, signature) in signatures.iter().enumerate() {
        by_length.entry(signature.words.len()).or_default().push(number as u32);
    }
    let mut lengths: Vec<_> = by_length.into_iter().collect();
    lengths.sort_unstable_by_key(|(length, _)| *length);
    let mut found: Vec<Vec<u32>> = Vec::new();
    for (_, members) in lengths {
        of_length(signatures, &members, &mut found);
    }
    number(signatures.len(), found)
}

fn number(signatures: usize, mut found: Vec<Vec<u32>>) -> Vec<u32> {
    for cluster in &mut found {
        cluster.sort_unstable();
    }
    found.sort_unstable();
    let mut clusters = vec![0; signatures];
    for (number, cluster) in found.iter().enumerate() {
        for &signature in cluster {
            clusters[signature as usize] = number as u32;
        }
    }
    clusters
}

/// Clusters of signatures that have as many words as each other.
fn of_length(signatures: &[Signature], members: &[u32], found: &mut Vec<Vec<u32>>) {
    let mut frequency: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    for &member in members {
        let signature = &signatures[member as usize];
        for (place, &word) in signature.words.iter().enumerate() {
            if !signature.blank[place] {
                *frequency.entry((place as u32, word)).or_default() += signature.count;
            }
        }
    }
    let mut roots: FxHashMap<Root, (u64, Vec<u32>)> = FxHashMap::default();
    let mut order = Vec::new();
    for &member in members {
        let (often, root) = root(&signatures[member as usize], &frequency);
        let entry = roots.entry(root.clone()).or_insert_with(|| {
            order.push(root);
            (often, Vec::new())
        });
        entry.1.push(member);
    }
    for root in order {
        let (often, group) = &roots[&root];
        split(signatures, group, &frequency, *often, found);
    }
}

/// The words of a signature that occur equally often and are most, and how often.
fn root(signature: &Signature, frequency: &FxHashMap<(u32, u32), u64>) -> (u64, Root) {
    let mut words: Vec<(u64, (u32, u32))> = signature
        .words
        .iter()
        .enumerate()
        .filter(|(place, _)| !signature.blank[*place])
        .map(|(place, &word)| (frequency[&(place as u32, word)], (place as u32, word)))
        .collect();
    words.sort_by_key(|(often, _)| std::cmp::Reverse(*often));
    let least = words.first().map_or(0.0, |(often, _)| *often as f64 * ROOT);
    let mut best: &[(u64, (u32, u32))] = &[];
    for group in words.chunk_by(|a, b| a.0 == b.0) {
        if group[0].0 as f64 >= least && group.len() > best.len() {
            best = group;
        }
    }
    let often = best.first().map_or(0, |(often, _)| *often);
    (often, best.iter().map(|(_, word)| *word).collect())
}

/// Splits a group by the places where few words stand that occur less often than the root.
fn split(
    signatures: &[Signature],
    group: &[u32],
    frequency: &FxHashMap<(u32, u32), u64>,
    often: u64,
    found: &mut Vec<Vec<u32>>,
) {
    let mut work = vec![group.to_vec()];
    while let Some(group) = work.pop() {
        let length = signatures[group[0] as usize].words.len();
        let mut best: Option<(usize, usize)> = None;
        for place in 0..length {
            let mut words: FxHashSet<u32> = FxHashSet::default();
            let mut rarer = false;
            let mut blank = false;
            let mut identifiers = true;
            let (mut bare, mut filled) = (false, false);
            let mut lines = 0;
            for &member in &group {
                let signature = &signatures[member as usize];
                bare |= signature.bare[place];
                filled |= !signature.bare[place];
                lines += signature.count;
                identifiers &= signature.identifier[place];
                if signature.blank[place] {
                    blank = true;
                    continue;
                }
                words.insert(signature.words[place]);
                rarer |= frequency[&(place as u32, signature.words[place])] < often;
            }
            // Where some line has a number or a name, words are values too.
            // So are names that each line has another of.
            let names = identifiers && lines <= words.len() as u64;
            let few = words.len() > 1 && words.len() <= CHOICES && !blank && !names;
            if bare && filled {
                best = Some((0, place));
            }
            if few && rarer && best.is_none_or(|(least, _)| words.len() < least) {
                best = Some((words.len(), place));
            }
        }
        let Some((least, place)) = best else {
            found.push(group);
            continue;
        };
        let mut parts: Vec<(u32, Vec<u32>)> = Vec::new();
        for member in group {
            let signature = &signatures[member as usize];
            let word = if least == 0 { u32::from(signature.bare[place]) } else { signature.words[place] };
            match parts.iter_mut().find(|(own, _)| *own == word) {
                Some((_, part)) => part.push(member),
                None => parts.push((word, vec![member])),
            }
        }
        work.extend(parts.into_iter().map(|(_, part)| part));
    }
}
