//! Symbols that change nothing, and the next position that has another.

use tw_monitor::{State, Stretch};

/// Positions in turn that change nothing before the next that does is looked for.
pub(crate) const PATIENCE: usize = 8;

/// Most atoms whose columns are combined word by word, 64 positions at a time.
pub(crate) const WORDS: usize = 3;

/// The symbols with which a run that starts in one state holds at once while runs in another stay where they are.
#[derive(Default)]
pub(crate) struct Quiet {
    fresh: State,
    open: Option<State>,
    /// By symbol: all bits or none.
    symbols: Vec<u64>,
}

impl Quiet {
    pub(crate) fn new(fresh: State, open: Option<State>, stays: impl Iterator<Item = bool>) -> Self {
        let symbols = stays.map(|stays| if stays { u64::MAX } else { 0 }).collect();
        Self { fresh, open, symbols }
    }

    /// Whether the symbols are those of these states.
    pub(crate) fn is_of(&self, fresh: State, open: Option<State>) -> bool {
        !self.symbols.is_empty() && self.fresh == fresh && self.open == open
    }

    /// The first position from `from` on that has another symbol, for at most [`WORDS`] atoms.
    pub(crate) fn next(&self, atoms: &[u32], stretch: &Stretch<'_>, from: usize) -> usize {
        let mut word = from / 64;
        // Positions before `from` count as quiet.
        let mut passed = (1u64 << (from % 64)) - 1;
        while 64 * word < stretch.len() {
            // Each atom halves the table, the first one neighbours.
            let mut table = [0; 1 << WORDS];
            table[..self.symbols.len()].copy_from_slice(&self.symbols);
            for (place, &atom) in atoms.iter().enumerate() {
                let column = stretch.word(atom as usize, word);
                for half in 0..self.symbols.len() >> (place + 1) {
                    table[half] = table[2 * half] & !column | table[2 * half + 1] & column;
                }
            }
            let loud = !(table[0] | passed);
            if loud != 0 {
                return (64 * word + loud.trailing_zeros() as usize).min(stretch.len());
            }
            (word, passed) = (word + 1, 0);
        }
        stretch.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_core::Bits;

    /// Every set of symbols of up to three atoms, from every position.
    #[test]
    fn columns_find_what_symbols_find() {
        for atoms in 0..=WORDS {
            for set in 0..1u32 << (1 << atoms) {
                let len = 150;
                let column = |atom: usize| -> Bits {
                    (0..len).map(|at| (at * at + at / 7) >> atom & 1 == 1).collect()
                };
                let columns: Vec<Bits> = (0..atoms).map(column).collect();
                let symbol = |at: usize| {
                    (0..atoms).map(|atom| usize::from(columns[atom].get(at)) << atom).sum::<usize>()
                };
                let quiet = Quiet::new(0, None, (0..1 << atoms).map(|symbol| set >> symbol & 1 == 1));
                let stretch = Stretch::new(&columns, 0, len);
                let numbers: Vec<u32> = (0..atoms as u32).collect();
                for from in 0..len {
                    let expected = (from..len).find(|&at| set >> symbol(at) & 1 == 0).unwrap_or(len);
                    assert_eq!(quiet.next(&numbers, &stretch, from), expected, "{set:b} from {from}");
                }
            }
        }
    }
}
