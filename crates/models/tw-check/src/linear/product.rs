//! The product of a model with a Büchi automaton, made as it is asked for.

use crate::Checker;
use rustc_hash::FxHashMap;
use tw_automata::Buchi;
use tw_core::Bits;
use tw_model::{Graph, State};
use tw_monitor::Unsupported;

/// Marks that fit into a word.
const MARKS: usize = 64;
/// Most entries of the table of what can be read where.
const TABLE: usize = 1 << 26;
/// Not looked at yet.
const NEW: (u32, u32) = (u32::MAX, 0);

/// A state of the model and one of the automaton, which is about to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    pub state: State,
    pub automaton: u32,
}

/// What the automaton can do in a state: where it goes, and the marks on the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub target: u32,
    pub marks: u64,
}

/// The columns that the automaton reads: its letters, then the fairness sets.
pub(crate) struct Columns<'a> {
    letters: Vec<&'a Bits>,
    fairness: &'a [Bits],
}

/// The product. Pairs have numbers: those of a state stand together.
pub(crate) struct Product<'a> {
    pub graph: &'a Graph,
    buchi: &'a Buchi,
    columns: Columns<'a>,
    /// All marks, fairness included.
    pub all: u64,
    /// States with the same letter and fairness are in one class.
    class: Vec<u32>,
    /// A state of each class.
    examples: Vec<State>,
    /// For each class and automaton state, where its moves begin and end.
    rows: Vec<(u32, u32)>,
    moves: Vec<Move>,
}

impl<'a> Product<'a> {
    pub fn new(checker: &'a Checker, buchi: &'a Buchi, letters: Vec<&'a Bits>) -> Result<Self, Unsupported> {
        let columns = Columns { letters, fairness: checker.fair_sets() };
        let marks = buchi.marks as usize + columns.fairness.len();
        if marks > MARKS {
            return Err(Unsupported::budget(format!("more than {MARKS} eventualities and fairness sets")));
        }
        let (class, examples) = columns.classes(checker.graph().states());
        let entries = examples.len().saturating_mul(buchi.states.len());
        if entries > TABLE {
            let (letters, states) = (examples.len(), buchi.states.len());
            let what = format!("{letters} letters for an automaton of {states} states");
            return Err(Unsupported::budget(what).help("check the parts of the formula one by one"));
        }
        Ok(Self {
            graph: checker.graph(),
            buchi,
            columns,
            all: if marks == MARKS { u64::MAX } else { (1 << marks) - 1 },
            class,
            examples,
            rows: vec![NEW; entries],
            moves: Vec::new(),
        })
    }

    /// Number of automaton states.
    pub fn width(&self) -> usize {
        self.buchi.states.len()
    }

    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        self.graph.states().saturating_mul(self.width())
    }

    /// The number of a pair.
    #[inline]
    pub fn number(&self, pair: Pair) -> usize {
        pair.state as usize * self.width() + pair.automaton as usize
    }

    /// Where the moves of a pair stand, for [`Product::step`].
    #[inline]
    pub fn moves(&mut self, pair: Pair) -> (u32, u32) {
        let at = self.class[pair.state as usize] as usize * self.width() + pair.automaton as usize;
        if self.rows[at] == NEW { self.look(at, pair) } else { self.rows[at] }
    }

    /// One of the moves.
    #[inline]
    pub fn step(&self, at: u32) -> Move {
        self.moves[at as usize]
    }

    /// Finds out what the automaton can do; of moves to the same state only those with the most marks count.
    #[cold]
    fn look(&mut self, at: usize, pair: Pair) -> (u32, u32) {
        let example = self.examples[self.class[pair.state as usize] as usize] as usize;
        let sets = self.columns.fairness.iter().enumerate();
        let fair =
            |(set, bits): (usize, &Bits)| u64::from(bits.get(example)) << (self.buchi.marks as usize + set);
        let fair: u64 = sets.map(fair).sum();
        let start = self.moves.len();
        for transition in &self.buchi.states[pair.automaton as usize] {
            if !transition.reads(|letter| self.columns.letters[letter as usize].get(example)) {
                continue;
            }
            let new = Move { target: transition.target, marks: transition.marks | fair };
            let better = |a: &Move, b: &Move| a.target == b.target && b.marks & !a.marks == 0;
            if self.moves[start..].iter().any(|known| better(known, &new)) {
                continue;
            }
            let kept: Vec<Move> = self.moves.drain(start..).filter(|known| !better(&new, known)).collect();
            self.moves.extend(kept);
            self.moves.push(new);
        }
        self.rows[at] = (start as u32, self.moves.len() as u32);
        self.rows[at]
    }
}

impl Columns<'_> {
    /// Groups of states that have the same values in all columns: the group of each, and one of each group.
    fn classes(&self, states: usize) -> (Vec<u32>, Vec<State>) {
        /// Columns taken together.
        const GROUP: usize = 8;
        /// Largest table; beyond it classes are hashed.
        const DENSE: usize = 1 << 22;
        let columns: Vec<&Bits> = self.letters.iter().copied().chain(self.fairness).collect();
        let mut class = vec![0u32; states];
        let mut examples: Vec<State> = if states > 0 { vec![0] } else { Vec::new() };
        for group in columns.chunks(GROUP) {
            let mut dense = vec![u32::MAX; (examples.len() << group.len()).min(DENSE)];
            let mut hashed: FxHashMap<usize, u32> = FxHashMap::default();
            let hash = examples.len() << group.len() > DENSE;
            examples.clear();
            for (word, classes) in class.chunks_mut(64).enumerate() {
                let mut words = [0; GROUP];
                group.iter().zip(&mut words).for_each(|(column, bits)| *bits = column.words()[word]);
                for (bit, class) in classes.iter_mut().enumerate() {
                    let letter = |code: usize, word: &u64| code << 1 | (word >> bit & 1) as usize;
                    let code = words[..group.len()].iter().fold(*class as usize, letter);
                    let next = examples.len() as u32;
                    let known = if hash { hashed.entry(code).or_insert(u32::MAX) } else { &mut dense[code] };
                    if *known == u32::MAX {
                        *known = next;
                        examples.push((word * 64 + bit) as State);
                    }
                    *class = *known;
                }
            }
        }
        (class, examples)
    }
}
