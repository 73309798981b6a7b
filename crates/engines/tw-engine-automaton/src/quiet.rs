//! Symbols that change nothing, and the next position that has another.

use tw_monitor::Stretch;

/// Positions in turn that change nothing before the next that does is looked for.
pub(crate) const PATIENCE: usize = 8;

/// Most atoms whose columns are combined word by word, 64 positions at a time.
pub(crate) const WORDS: usize = 3;

/// Symbols over at most [`WORDS`] atoms that change nothing.
pub(crate) struct Quiet<'a> {
    atoms: &'a [u32],
    /// By symbol: all bits or none.
    symbols: [u64; 1 << WORDS],
}

impl<'a> Quiet<'a> {
    /// Those with which everything `stays` as it is.
    pub(crate) fn new(atoms: &'a [u32], stays: impl Fn(usize) -> bool) -> Self {
        let mut symbols = [0; 1 << WORDS];
        for (symbol, bits) in symbols.iter_mut().enumerate().take(1 << atoms.len()) {
            *bits = if stays(symbol) { u64::MAX } else { 0 };
        }
        Self { atoms, symbols }
    }

    /// The first position from `from` on that has another symbol.
    pub(crate) fn next(&self, stretch: &Stretch<'_>, from: usize) -> usize {
        let mut word = from / 64;
        // Positions before `from` count as quiet.
        let mut passed = (1u64 << (from % 64)) - 1;
        while 64 * word < stretch.len() {
            // Each atom halves the table, the first one neighbours.
            let (mut table, mut size) = (self.symbols, 1 << self.atoms.len());
            for &atom in self.atoms {
                let column = stretch.word(atom as usize, word);
                size /= 2;
                for half in 0..size {
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
                let stretch = Stretch::new(&columns, 0, len);
                let numbers: Vec<u32> = (0..atoms as u32).collect();
                let quiet = Quiet::new(&numbers, |symbol| set >> symbol & 1 == 1);
                for from in 0..len {
                    let expected = (from..len).find(|&at| set >> symbol(at) & 1 == 0).unwrap_or(len);
                    assert_eq!(quiet.next(&stretch, from), expected, "{set:b} from {from}");
                }
            }
        }
    }
}
