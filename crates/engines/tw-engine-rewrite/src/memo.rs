//! Transitions that were computed before, by residual and by the atoms that matter to it.

use rustc_hash::FxHashMap;
use tw_monitor::{State, Stretch, transpose_eight};

/// Tables are dense for at most as many atoms.
pub(crate) const DENSE: usize = 8;
/// An entry that was not computed yet.
pub(crate) const UNKNOWN: u32 = u32::MAX;
/// Set in entries whose state settles the formula.
pub(crate) const STOP: u32 = 1 << 31;
/// Set in entries whose state has not been asked yet whether it settles the formula.
pub(crate) const FRESH: u32 = 1 << 30;
/// The state in an entry.
pub(crate) const STATE: u32 = FRESH - 1;

/// Some atoms of the program as the bits of a letter.
#[derive(Clone, Debug)]
pub(crate) struct Letters {
    atoms: Box<[u32]>,
    /// Atoms that keep their distance move together; often one part is all.
    first: Part,
    others: Box<[Part]>,
}

/// Bits of a letter that come from one word of the row.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    word: usize,
    rotation: u32,
    mask: u64,
}

impl Part {
    fn of(self, row: &[u64]) -> u64 {
        row[self.word].rotate_right(self.rotation) & self.mask
    }
}

impl Letters {
    /// Letters over at most 64 atoms, ascending.
    pub(crate) fn new(atoms: &[u32]) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for (place, &atom) in atoms.iter().enumerate() {
            let (word, rotation) = (atom as usize / 64, (atom % 64).wrapping_sub(place as u32) % 64);
            match parts.iter_mut().find(|part| (part.word, part.rotation) == (word, rotation)) {
                Some(part) => part.mask |= 1 << place,
                None => parts.push(Part { word, rotation, mask: 1 << place }),
            }
        }
        let first = parts.first().copied().unwrap_or_default();
        Self { atoms: atoms.into(), first, others: parts.into_iter().skip(1).collect() }
    }

    /// The letter of a row.
    #[inline]
    pub(crate) fn gather(&self, row: &[u64]) -> usize {
        self.others.iter().fold(self.first.of(row), |letter, part| letter | part.of(row)) as usize
    }

    /// A row with that letter.
    pub(crate) fn scatter(&self, letter: usize, row: &mut [u64]) {
        row.fill(0);
        for (place, &atom) in self.atoms.iter().enumerate() {
            row[atom as usize / 64] |= (letter as u64 >> place & 1) << (atom % 64);
        }
    }

    /// The letters of 64 positions; at most eight atoms.
    fn of_block(&self, stretch: &Stretch<'_>, block: usize) -> [u8; 64] {
        let mut columns = [0u64; DENSE];
        for (column, &atom) in columns.iter_mut().zip(&self.atoms) {
            *column = stretch.word(atom as usize, block);
        }
        let mut letters = [0; 64];
        for (byte, eight) in letters.chunks_exact_mut(8).enumerate() {
            let mut square = 0;
            for (place, column) in columns.iter().enumerate() {
                square |= (column >> (byte * 8) & 0xff) << (place * 8);
            }
            eight.copy_from_slice(&transpose_eight(square).to_le_bytes());
        }
        letters
    }
}

/// The table of a whole formula with few atoms: one row of all letters for each residual.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    pub(crate) letters: Letters,
    width: u32,
    entries: Vec<u32>,
    /// For each residual, which bits of the letter matter.
    masks: Vec<u8>,
}

impl Flat {
    /// For a formula over the given atoms.
    fn new(atoms: &[u32]) -> Self {
        // Neighbours that do not matter cost some room, and save putting the letter together from parts.
        let (low, high) = (atoms.first().copied().unwrap_or(0), atoms.last().copied().unwrap_or(0));
        let range: Vec<u32> = (low..=high).collect();
        let atoms = if !atoms.is_empty() && range.len() <= DENSE { &range[..] } else { atoms };
        Self {
            letters: Letters::new(atoms),
            width: atoms.len() as u32,
            entries: Vec::new(),
            masks: Vec::new(),
        }
    }

    /// A row for a residual, to which `atoms` matter.
    fn set(&mut self, core: u32, atoms: &[u32]) {
        let matters = |atom: &u32| atoms.binary_search(atom).is_ok();
        let bits = self.letters.atoms.iter().enumerate().filter(|(_, atom)| matters(atom));
        let mask = bits.fold(0, |mask, (place, _)| mask | 1 << place);
        if core as usize == self.masks.len() {
            self.masks.push(0);
            self.entries.resize(self.masks.len() << self.width, UNKNOWN);
        }
        self.masks[core as usize] = mask;
    }

    pub(crate) fn mask(&self, core: u32) -> usize {
        self.masks[core as usize].into()
    }

    #[inline]
    pub(crate) fn entry(&mut self, core: u32, letter: usize) -> &mut u32 {
        &mut self.entries[((core as usize) << self.width) | letter]
    }

    /// Follows the table from `*state` at `*at` up to `to`, and stops before the first entry that is unknown, fresh
    /// or settles the formula. That letter is returned.
    pub(crate) fn follow(
        &self,
        stretch: &Stretch<'_>,
        state: &mut State,
        at: &mut usize,
        to: usize,
        changed: &mut Option<usize>,
    ) -> Option<usize> {
        // Kept in registers; a position is never usize::MAX.
        let (mut now, mut last_change) = (*state, usize::MAX);
        let mut found = None;
        'blocks: while *at < to {
            let block = *at / 64;
            let letters = self.letters.of_block(stretch, block);
            let (start, end) = (*at % 64, (to - block * 64).min(64));
            for (offset, &letter) in letters[..end].iter().enumerate().skip(start) {
                let entry = self.entries[((now >> 2) as usize) << self.width | usize::from(letter)];
                if entry >= FRESH {
                    *at = block * 64 + offset;
                    found = Some(letter.into());
                    break 'blocks;
                }
                last_change = if entry == now { last_change } else { block * 64 + offset };
                now = entry;
            }
            *at = block * 64 + end;
        }
        if last_change != usize::MAX {
            *changed = Some(last_change);
        }
        *state = now;
        found
    }
}

/// The table of one residual of a formula with many atoms.
#[derive(Clone, Debug)]
pub(crate) enum Row {
    /// One entry for each letter over the atoms that matter.
    Dense(Letters, Box<[u32]>),
    /// By the row, with what does not matter masked out.
    Sparse(Box<[u64]>, FxHashMap<Box<[u64]>, State>),
}

impl Row {
    /// Without entries; `atoms` matter, and rows have `words` words.
    pub(crate) fn new(atoms: &[u32], words: usize) -> Self {
        if atoms.len() <= DENSE {
            return Row::Dense(Letters::new(atoms), vec![UNKNOWN; 1 << atoms.len()].into());
        }
        let mut mask = vec![0; words];
        for atom in atoms {
            mask[*atom as usize / 64] |= 1 << (atom % 64);
        }
        Row::Sparse(mask.into(), FxHashMap::default())
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Row::Dense(letters, entries) => {
                entries.len() * 4 + letters.atoms.len() * 4 + letters.others.len() * size_of::<Part>()
            }
            Row::Sparse(mask, entries) => entries.capacity() * (24 + mask.len() * 8) + mask.len() * 8,
        }
    }
}

/// Rows of atoms that are remembered over all residuals of a formula. A few residuals can meet any number of them.
const LEARNED: usize = 1 << 17;

/// The memo of a formula.
#[derive(Clone, Debug)]
pub(crate) enum Memo {
    Flat(Flat),
    /// With how many rows of atoms are remembered.
    Rows(Vec<Row>, usize),
}

impl Memo {
    /// Without residuals; `atoms` are those of the formula.
    pub(crate) fn new(atoms: &[u32]) -> Self {
        if atoms.len() <= DENSE { Memo::Flat(Flat::new(atoms)) } else { Memo::Rows(Vec::new(), 0) }
    }

    /// Room for a residual, to which `atoms` matter: the next number, or one that was forgotten.
    pub(crate) fn set(&mut self, core: u32, atoms: &[u32], words: usize) {
        match self {
            Memo::Flat(flat) => flat.set(core, atoms),
            Memo::Rows(rows, _) if core as usize == rows.len() => rows.push(Row::new(atoms, words)),
            Memo::Rows(rows, _) => rows[core as usize] = Row::new(atoms, words),
        }
    }

    /// Forgets all transitions.
    pub(crate) fn clear(&mut self) {
        match self {
            Memo::Flat(flat) => flat.entries.fill(UNKNOWN),
            Memo::Rows(rows, learned) => {
                *learned = 0;
                rows.iter_mut().for_each(|row| match row {
                    Row::Dense(_, entries) => entries.fill(UNKNOWN),
                    Row::Sparse(_, entries) => *entries = FxHashMap::default(),
                });
            }
        }
    }

    /// Remembers the transition under a row of atoms, masked to what matters.
    pub(crate) fn learn(&mut self, core: u32, row: &[u64], next: State) {
        if matches!(self, Memo::Rows(_, LEARNED..)) {
            self.clear();
        }
        if let Memo::Rows(rows, learned) = self
            && let Row::Sparse(_, entries) = &mut rows[core as usize]
        {
            entries.insert(row.into(), next);
            *learned += 1;
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Memo::Flat(flat) => flat.entries.capacity() * 4 + flat.masks.capacity(),
            Memo::Rows(rows, _) => rows.iter().map(Row::heap_bytes).sum(),
        }
    }
}
