//! A whole automaton at work: transitions as a table where the goal uses few atoms, as trees otherwise.

use crate::leap::Leaps;
use crate::quiet::{PATIENCE, Quiet, WORDS};
use tw_automata::deterministic::{Deterministic, Tree};
use tw_monitor::{Run, State, Stretch, Waiting};

/// Most atoms of a goal whose transitions are a table: a symbol is a byte.
const ATOMS: usize = 8;
/// Most entries of a table.
const ENTRIES: usize = 1 << 20;

/// In a state that a bank has just reached: it is settled, and the one before was not. The bank leaves it there, since
/// a settled state is of no further use.
pub(crate) const SETTLED: State = 1 << 31;

/// An automaton with its transitions laid out. In a table, states are *cells*: the number of the state times the number
/// of symbols, which is where its row begins.
pub(crate) struct Table {
    automaton: Deterministic,
    /// By cell and symbol, the next cell. A symbol has one bit per atom of the goal.
    dense: Option<Vec<State>>,
    leaps: Option<Leaps>,
    /// From state to cell; 0 where there is no table.
    shift: u32,
    /// The cell of the first state: where the table stands among those of a bank.
    origin: State,
    bits: Vec<Bits>,
    check: u64,
}

/// Atoms of the goal that are neighbours in the program: part of a row, and where it goes in the symbol.
#[derive(Clone, Copy)]
struct Bits {
    word: usize,
    shift: u32,
    mask: u64,
    to: u32,
}

impl Table {
    pub(crate) fn new(automaton: Deterministic) -> Self {
        let atoms = automaton.atoms();
        let fits = atoms.len() <= ATOMS && automaton.len() << atoms.len() <= ENTRIES;
        let shift = if fits { atoms.len() as u32 } else { 0 };
        let dense = fits.then(|| {
            let mut table = Vec::with_capacity(automaton.len() << shift);
            for state in 0..automaton.len() as State {
                for symbol in 0..1u32 << shift {
                    let holds = |atom: u32| symbol >> atoms.partition_point(|&other| other < atom) & 1 == 1;
                    table.push(automaton.forest().walk(automaton.tree(state), holds) << shift);
                }
            }
            table
        });
        let mut bits: Vec<Bits> = Vec::new();
        for (place, &atom) in atoms.iter().enumerate() {
            let (word, shift) = (atom as usize / 64, atom % 64);
            match bits.last_mut() {
                Some(run) if run.word == word && run.shift + run.mask.count_ones() == shift => {
                    run.mask = run.mask << 1 | 1;
                }
                _ => bits.push(Bits { word, shift, mask: 1, to: place as u32 }),
            }
        }
        let leaps = dense.as_ref().and_then(|next| Leaps::new(automaton.len(), atoms, next));
        let check = check(&automaton);
        Self { automaton, dense, leaps, shift, origin: 0, bits, check }
    }

    /// Moves the table to `origin`. No state may have been handed out before.
    pub(crate) fn place(&mut self, origin: State) {
        for next in self.dense.iter_mut().flatten() {
            *next = *next - self.origin + origin;
        }
        self.origin = origin;
    }

    pub(crate) fn automaton(&self) -> &Deterministic {
        &self.automaton
    }

    /// The atoms that the goal uses, ascending.
    pub(crate) fn atoms(&self) -> &[u32] {
        self.automaton.atoms()
    }

    /// The table, if there is one.
    pub(crate) fn dense(&self) -> Option<&[State]> {
        self.dense.as_deref()
    }

    /// A number that other automata are unlikely to have.
    pub(crate) fn check(&self) -> u64 {
        self.check
    }

    /// Where the row of a state begins.
    #[inline]
    pub(crate) fn cell(&self, state: State) -> usize {
        (state - self.origin) as usize
    }

    /// The state of the automaton that a state here is.
    #[inline]
    pub(crate) fn number(&self, state: State) -> u32 {
        ((state & !SETTLED) - self.origin) >> self.shift
    }

    /// The state here of a number.
    pub(crate) fn state(&self, number: u32) -> State {
        (number << self.shift) + self.origin
    }

    #[inline]
    pub(crate) fn step(&self, state: State, row: &[u64]) -> State {
        match &self.dense {
            Some(table) => table[self.cell(state) + self.symbol(row)],
            None => self.automaton.step(state, row),
        }
    }

    /// The atoms of the goal in a row, close together.
    #[inline]
    fn symbol(&self, row: &[u64]) -> usize {
        let add = |symbol, run: &Bits| symbol | (row[run.word] >> run.shift & run.mask) << run.to;
        self.bits.iter().fold(0, add) as usize
    }

    #[inline]
    pub(crate) fn settled(&self, state: State) -> Option<bool> {
        self.automaton.settled(self.number(state))
    }

    /// As `Machine::follow`.
    pub(crate) fn follow(
        &self,
        fresh: State,
        waiting: &mut Option<Waiting>,
        stretch: &Stretch<'_>,
        from: usize,
    ) -> usize {
        let Some(next) = &self.dense else { return from };
        let atoms = self.atoms();
        let (mut words, mut block) = ([0u64; ATOMS], usize::MAX);
        // Positions in turn that changed nothing: after some of them it pays to look for the next that does.
        let (mut at, mut same) = (from, 0);
        while at < stretch.len() {
            if same >= PATIENCE && atoms.len() <= WORDS {
                let open = waiting.map(|waiting| waiting.state);
                let stays = |symbol: usize| {
                    let holds = self.settled(next[self.cell(fresh) + symbol]) == Some(true);
                    holds && open.is_none_or(|state| next[self.cell(state) + symbol] == state)
                };
                at = Quiet::new(atoms, stays).next(stretch, at);
                same = 0;
                continue;
            }
            if at / 64 != block {
                block = at / 64;
                words
                    .iter_mut()
                    .zip(atoms)
                    .for_each(|(word, &atom)| *word = stretch.word(atom as usize, block));
            }
            let bits = words[..atoms.len()].iter().enumerate();
            let symbol =
                bits.fold(0, |symbol, (place, word)| symbol | ((word >> (at % 64) & 1) as usize) << place);
            let moved = waiting.map(|waiting| next[self.cell(waiting.state) + symbol]);
            let started = next[self.cell(fresh) + symbol];
            let (old, new) = (moved.and_then(|state| self.settled(state)), self.settled(started));
            if old == Some(false) || new == Some(false) {
                return at;
            }
            let open = moved.filter(|_| old.is_none());
            same = if open == waiting.map(|waiting| waiting.state) && new.is_some() { same + 1 } else { 0 };
            *waiting = match (open, new) {
                (None, Some(_)) => None,
                (None, None) => Some(Waiting { state: started, before: 0, first: at, count: 1 }),
                (Some(state), Some(_)) => waiting.map(|waiting| Waiting { state, ..waiting }),
                (Some(state), None) if state == started => waiting.map(|waiting| Waiting {
                    state,
                    first: if waiting.count == 0 { at } else { waiting.first },
                    count: waiting.count + 1,
                    ..waiting
                }),
                _ => return at,
            };
            at += 1;
        }
        at
    }

    pub(crate) fn run(&self, state: State, stretch: &Stretch<'_>, from: usize, to: usize) -> Run {
        if let (Some(next), Some(leaps)) = (&self.dense, &self.leaps) {
            return leaps.run(self, next, state, stretch, from, to);
        }
        let (mut state, mut changed) = (state, None);
        for at in from..to {
            let next = self.step(state, stretch.row(at));
            if next != state {
                (state, changed) = (next, Some(at));
            }
            if self.settled(state).is_some() {
                return Run { state, end: at + 1, changed };
            }
        }
        Run { state, end: to, changed }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let dense = self.dense.as_ref().map_or(0, |table| table.len() * size_of::<State>());
        self.automaton.heap_bytes() + dense + self.leaps.as_ref().map_or(0, Leaps::heap_bytes)
    }
}

/// Mixes the transitions and outputs of all states, which are numbered in a fixed order.
fn check(automaton: &Deterministic) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut mix = |number: u64| hash = (hash ^ number).wrapping_mul(0x0000_0100_0000_01b3);
    mix(automaton.len() as u64);
    for state in 0..automaton.len() as u32 {
        mix(automaton.holds_at_end(state).map_or(2, u64::from));
        mix(automaton.settled(state).map_or(2, u64::from));
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo: Vec<Tree> = vec![automaton.tree(state)];
        while let Some(tree) = todo.pop() {
            match automaton.forest().test(tree) {
                Some(test) if seen.insert(tree) => {
                    mix(u64::from(test.atom));
                    todo.extend([test.low, test.high]);
                }
                Some(_) => mix(1 << 32),
                None => mix(tree.state().map_or(1 << 33, u64::from) | 1 << 34),
            }
        }
    }
    hash
}
