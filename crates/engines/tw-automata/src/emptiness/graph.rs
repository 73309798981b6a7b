//! Configurations by number, and what is known about each.

use super::tables::{Tables, Traits};
use crate::alternating::ExprId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether a configuration has an accepting run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Unknown,
    Empty,
    NonEmpty,
}

/// Number of a configuration.
pub(crate) type Configuration = u32;

/// Separates obligations from memory in a key; never the number of an expression.
const END: u32 = u32::MAX;

/// All configurations met so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configurations {
    index: FxHashMap<Box<[u32]>, Configuration>,
    keys: Vec<Box<[u32]>>,
    verdicts: Vec<Verdict>,
    /// Those from which a search ran out of budget. Another one would, too.
    given_up: FxHashSet<Configuration>,
    bytes: usize,
}

impl Configurations {
    /// The number of a configuration. Of the memory only what the obligations rest on counts.
    pub fn intern(
        &mut self,
        tables: &Tables,
        mut obligations: Vec<ExprId>,
        memory: &[bool],
    ) -> Configuration {
        obligations.sort_unstable();
        obligations.dedup();
        let traits = memories(tables, &obligations);
        let mut key: Vec<u32> = obligations.iter().map(|id| id.0).collect();
        key.push(END);
        if traits.memories != 0 {
            for (group, bits) in memory.chunks(32).enumerate() {
                let kept = |at: usize| bits[at] && traits.remembers(group * 32 + at);
                key.push((0..bits.len()).filter(|&at| kept(at)).fold(0, |word, at| word | 1 << at));
            }
        }
        if let Some(&known) = self.index.get(key.as_slice()) {
            return known;
        }
        let number = self.keys.len() as Configuration;
        let key = key.into_boxed_slice();
        self.bytes += 2 * (key.len() * 4 + 24);
        self.index.insert(key.clone(), number);
        self.keys.push(key);
        // With nothing owed, every word will do.
        self.verdicts.push(if obligations.is_empty() { Verdict::NonEmpty } else { Verdict::Unknown });
        number
    }

    /// What is owed in a configuration, ascending.
    pub fn obligations(&self, configuration: Configuration) -> impl Iterator<Item = ExprId> {
        self.keys[configuration as usize].iter().take_while(|&&word| word != END).map(|&word| ExprId(word))
    }

    /// What is remembered in a configuration; nothing if nothing owed rests on it.
    pub fn memory(&self, configuration: Configuration, memories: usize) -> Vec<bool> {
        let key = &self.keys[configuration as usize];
        let words = key.iter().position(|&word| word == END).map_or(&[][..], |end| &key[end + 1..]);
        if words.is_empty() {
            return Vec::new();
        }
        (0..memories).map(|at| words[at / 32] >> (at % 32) & 1 == 1).collect()
    }

    pub fn verdict(&self, configuration: Configuration) -> Verdict {
        self.verdicts[configuration as usize]
    }

    pub fn settle(&mut self, configuration: Configuration, verdict: Verdict) {
        self.verdicts[configuration as usize] = verdict;
    }

    pub fn give_up(&mut self, start: Configuration) {
        self.given_up.insert(start);
    }

    pub fn is_given_up(&self, start: Configuration) -> bool {
        self.given_up.contains(&start)
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn heap_bytes(&self) -> usize {
        self.bytes + self.verdicts.len()
    }
}

/// What obligations rest on together.
pub(crate) fn memories(tables: &Tables, obligations: &[ExprId]) -> Traits {
    let memories = obligations.iter().fold(0, |all, &id| all | tables.of(id).memories);
    Traits { memories, ..Traits::default() }
}
