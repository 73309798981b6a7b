//! Which fragment of a template is looked for: one that is rare in texts like those at hand.

use super::grams::GRAM;
use super::one::One;
use rustc_hash::FxHashMap;

/// Bytes of the texts that are looked at to find out what is rare in them.
const SAMPLE: usize = 128 << 10;
/// Bytes of the fragments of one pass, at least and at most.
const LEAST: usize = 7;
const MOST: usize = 12;
/// Shorter ones are looked for otherwise, by so many bytes at most.
const SHORT: usize = 6;

/// Where a template is tried when its fragment is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The template begins so many bytes before the fragment.
    Before(usize),
    /// The literal behind the run that the template begins with does.
    BehindRun(usize),
    /// It may begin anywhere.
    Anywhere,
}

/// A fragment of a template, and where it is tried.
pub(super) struct Chosen {
    pub fragment: Vec<u8>,
    pub start: Start,
}

/// What is rare.
pub(super) struct Choice {
    /// How often runs of bytes that templates have occur in the sample.
    seen: FxHashMap<[u8; GRAM], u32>,
    /// How many templates have a window.
    shared: FxHashMap<Vec<u8>, u32>,
    /// Bytes of long fragments.
    window: usize,
}

impl Choice {
    /// Looks at a sample of the texts.
    pub fn new(ones: &[One], text: &[u8]) -> Self {
        let longest = |one: &One| one.literals().map(|(_, literal)| literal.len()).max().unwrap_or(0);
        let long = ones.iter().map(longest).filter(|len| *len >= LEAST);
        let window = long.min().unwrap_or(LEAST).min(MOST);
        let mut seen: FxHashMap<[u8; GRAM], u32> = FxHashMap::default();
        let mut shared: FxHashMap<Vec<u8>, u32> = FxHashMap::default();
        for (_, literal) in ones.iter().flat_map(One::literals) {
            for gram in literal.windows(GRAM) {
                seen.insert([gram[0], gram[1], gram[2], gram[3]], 0);
            }
            for window in literal.windows(window) {
                *shared.entry(window.to_vec()).or_default() += 1;
            }
        }
        for gram in text[..text.len().min(SAMPLE)].windows(GRAM) {
            if let Some(count) = seen.get_mut(gram) {
                *count += 1;
            }
        }
        Self { seen, shared, window }
    }

    /// The fragment of a template; none if it has no text. Fragments that are long are all of one length.
    pub fn of(&self, one: &One) -> Option<(Chosen, bool)> {
        let best = |len: usize| {
            let starts = one.literals().flat_map(|(piece, literal)| {
                literal.windows(len).enumerate().map(move |(at, window)| (piece, at, window))
            });
            let costs = starts.map(|(piece, at, window)| (self.cost(one, piece, window), piece, at, window));
            let least = costs.min_by_key(|(cost, piece, at, _)| (*cost, *piece, *at))?;
            let (_, piece, at, window) = least;
            Some(Chosen { fragment: window.to_vec(), start: start(one, piece, at) })
        };
        if let Some(chosen) = best(self.window) {
            return Some((chosen, true));
        }
        let longest = one.literals().map(|(_, literal)| literal.len()).max()?;
        best(longest.min(SHORT)).map(|chosen| (chosen, false))
    }

    /// What a fragment costs, about, in a sample's worth of text: the runs that are looked up, the templates that are tried.
    fn cost(&self, one: &One, piece: usize, window: &[u8]) -> u64 {
        let counts = || window.windows(GRAM).map(|gram| self.seen.get(gram).copied().unwrap_or(0));
        let looked: u32 = counts().sum();
        let tried = counts().min().unwrap_or(0);
        let shared = self.shared.get(window).copied().unwrap_or(1);
        let each = if start(one, piece, 0) == Start::Anywhere { 8 } else { 1 };
        let runs = (window.len() + 1).saturating_sub(GRAM).max(1) as u64;
        let found = u64::from(looked) * 3 / runs + u64::from(tried) * u64::from(4 + 2 * shared * each);
        let common: u32 = window.iter().map(|&byte| commonness(byte)).sum();
        found * 1000 + u64::from(common) + 12 * u64::from(each)
    }
}

fn start(one: &One, piece: usize, at: usize) -> Start {
    match piece {
        0 => Start::Before(at),
        1 if one.begins_with_run() => Start::BehindRun(at),
        _ => Start::Anywhere,
    }
}

/// How often a byte stands in logs, about: the logarithm of its share.
fn commonness(byte: u8) -> u32 {
    match byte {
        b' ' => 60,
        b'0'..=b'9' => 50,
        b'e' | b't' | b'o' | b'a' | b'i' | b'n' | b's' | b'r' => 48,
        b'd' | b'c' | b'l' | b'p' | b'm' | b'u' | b'f' | b'.' | b':' => 42,
        b'h' | b'g' | b'b' | b'k' | b'w' | b'v' | b'y' | b'-' | b'/' | b'_' | b'=' | b',' => 34,
        b'x' | b'j' | b'q' | b'z' | b'[' | b']' | b'(' | b')' | b'"' => 26,
        b'A'..=b'Z' => 24,
        _ => 16,
    }
}
