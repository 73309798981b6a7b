//! The automaton of a specification: it reads inputs, and its accepting runs are the models, one to one.
//!
//! States are those of the reduced [`System`], found as they are reached, and dropped if no end can be reached from them.

use crate::system::{Move, Reading, State, System, TooLarge};
use crate::{Budget, Specification};
use rustc_hash::FxHashMap;

/// Why an analysis did not end: so many states were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaveUp {
    /// How many states there were when the budget ran out, as far as they were counted.
    pub states: usize,
}

impl std::fmt::Display for GaveUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "gave up after {} states", self.states)
    }
}

impl std::error::Error for GaveUp {}

/// A nondeterministic automaton with labels on its edges. State 0 is the start; it is never accepting, since words are
/// not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nfa {
    /// Bits of a letter.
    pub(crate) bits: usize,
    pub(crate) accepting: Vec<bool>,
    /// Where the edges of a state and a letter begin in `edges`.
    starts: Vec<u32>,
    /// Target and label.
    edges: Vec<(u32, u64)>,
}

/// The moves of a position by the registers that look back and by letter.
type Moves = FxHashMap<u64, Vec<Vec<Move>>>;

/// All moves without those into states that can neither go on nor end; nothing if that would be too many to look at.
fn listed(system: &System, letters: u64, limit: usize) -> Option<Moves> {
    let (back, ahead) = system.widths();
    if back + ahead > MOST_PLACES {
        return None;
    }
    let mut moves = Moves::default();
    let (mut todo, mut count) = (vec![system.first], 0);
    let mut seen = tw_core::Bits::repeat(false, 1 << back);
    seen.set(system.first as usize, true);
    while let Some(registers) = todo.pop() {
        let mut all = Vec::with_capacity(letters as usize);
        for letter in 0..letters {
            let found = system.moves(registers, letter, 0, limit.saturating_sub(count)).ok()?;
            count += found.len();
            for one in &found {
                if !seen.get(one.next.back as usize) {
                    seen.set(one.next.back as usize, true);
                    todo.push(one.next.back);
                }
            }
            all.push(found);
        }
        moves.insert(registers, all);
    }
    let place = |state: State| (state.back << ahead | state.ahead) as usize;
    loop {
        let mut kept = tw_core::Bits::repeat(false, 1 << (back + ahead));
        for (&back, own) in &moves {
            own.iter().flatten().for_each(|one| kept.set(place(State { back, ahead: one.kept }), true));
        }
        let mut dropped = false;
        for own in moves.values_mut().flatten() {
            let before = own.len();
            own.retain(|one| system.is_last(one.next) || kept.get(place(one.next)));
            dropped |= own.len() < before;
        }
        if !dropped {
            return Some(moves);
        }
    }
}

/// Bits of the states that are marked when moves are listed.
const MOST_PLACES: usize = 20;

impl Nfa {
    /// The automaton of `members`, whose edges carry the values of `labels`, over letters of `inputs`.
    pub(crate) fn new(
        spec: &Specification,
        members: &[usize],
        labels: &[usize],
        inputs: &[u32],
        budget: &Budget,
    ) -> Result<Self, GaveUp> {
        let system = System::new(spec, members, labels, inputs, Reading::Letters);
        let system = system.map_err(|TooLarge| GaveUp { states: 0 })?;
        Self::explore(&system, inputs.len(), budget).map(Nfa::trimmed)
    }

    fn explore(system: &System, bits: usize, budget: &Budget) -> Result<Self, GaveUp> {
        if bits > 16 {
            return Err(GaveUp { states: 0 });
        }
        let letters = 1u64 << bits;
        let mut nfa = Nfa { bits, accepting: vec![false], starts: Vec::new(), edges: Vec::new() };
        let mut states: Vec<State> = vec![State { back: system.first, ahead: 0 }];
        let mut known: FxHashMap<State, u32> = FxHashMap::default();
        // Most guesses are promises that nobody keeps: where all moves can be listed, those are gone before states are made.
        let mut moves = listed(system, letters, budget.moves / 4).unwrap_or_default();
        let mut listed: usize = moves.values().flatten().map(Vec::len).sum();
        let mut at = 0;
        while at < states.len() {
            let state = states[at];
            let gave_up = GaveUp { states: states.len() };
            if let std::collections::hash_map::Entry::Vacant(place) = moves.entry(state.back) {
                let mut all = Vec::with_capacity(letters as usize);
                for letter in 0..letters {
                    let left = budget.moves.saturating_sub(listed);
                    let found = system.moves(state.back, letter, 0, left).map_err(|TooLarge| gave_up)?;
                    listed += found.len();
                    all.push(found);
                }
                place.insert(all);
            }
            for own in &moves[&state.back] {
                nfa.starts.push(nfa.edges.len() as u32);
                // The start has made no promise; other states have moves that keep theirs.
                let from = if at == 0 { 0 } else { own.partition_point(|one| one.kept < state.ahead) };
                for one in own[from..].iter().take_while(|one| at == 0 || one.kept == state.ahead) {
                    let next = *known.entry(one.next).or_insert_with(|| {
                        states.push(one.next);
                        nfa.accepting.push(system.is_last(one.next));
                        states.len() as u32 - 1
                    });
                    nfa.edges.push((next, one.label));
                }
            }
            if states.len() > budget.states || nfa.edges.len() > budget.moves {
                return Err(gave_up);
            }
            at += 1;
        }
        nfa.starts.push(nfa.edges.len() as u32);
        nfa.tidy();
        Ok(nfa)
    }

    /// Edges of a state and a letter in order, each once.
    fn tidy(&mut self) {
        let mut edges = Vec::with_capacity(self.edges.len());
        let mut starts = Vec::with_capacity(self.starts.len());
        for pair in self.starts.windows(2) {
            starts.push(edges.len() as u32);
            let own = &mut self.edges[pair[0] as usize..pair[1] as usize];
            own.sort_unstable();
            let mut before = None;
            for &edge in own.iter().filter(|&&edge| before.replace(edge) != Some(edge)) {
                edges.push(edge);
            }
        }
        starts.push(edges.len() as u32);
        (self.edges, self.starts) = (edges, starts);
    }

    pub(crate) fn states(&self) -> usize {
        self.accepting.len()
    }

    pub(crate) fn letters(&self) -> usize {
        1 << self.bits
    }

    /// The edges of a state and a letter.
    #[inline]
    pub(crate) fn edges(&self, state: u32, letter: usize) -> &[(u32, u64)] {
        let at = state as usize * self.letters() + letter;
        &self.edges[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The states from which an end can be reached, the start first in any case.
    fn trimmed(self) -> Self {
        let letters = self.letters();
        let count = self.states();
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); count];
        for state in 0..count as u32 {
            for letter in 0..letters {
                self.edges(state, letter).iter().for_each(|&(to, _)| into[to as usize].push(state));
            }
        }
        let mut alive = self.accepting.clone();
        let mut todo: Vec<u32> = (0..count as u32).filter(|&state| alive[state as usize]).collect();
        while let Some(state) = todo.pop() {
            for &from in &into[state as usize] {
                if !alive[from as usize] {
                    alive[from as usize] = true;
                    todo.push(from);
                }
            }
        }
        alive[0] = true;
        let mut number = vec![u32::MAX; count];
        let kept: Vec<u32> = (0..count as u32).filter(|&state| alive[state as usize]).collect();
        kept.iter().zip(0..).for_each(|(&state, new)| number[state as usize] = new);
        let mut trimmed = Nfa { bits: self.bits, ..Nfa::default() };
        for &state in &kept {
            trimmed.accepting.push(self.accepting[state as usize]);
            for letter in 0..letters {
                trimmed.starts.push(trimmed.edges.len() as u32);
                let edges = self.edges(state, letter).iter();
                let live = edges.filter(|(to, _)| alive[*to as usize]);
                trimmed.edges.extend(live.map(|&(to, label)| (number[to as usize], label)));
            }
        }
        trimmed.starts.push(trimmed.edges.len() as u32);
        trimmed.tidy();
        trimmed
    }

    /// The states after a set of states and a letter, in order.
    pub(crate) fn step(&self, set: &[u32], letter: usize) -> Vec<u32> {
        let mut next: Vec<u32> =
            set.iter().flat_map(|&state| self.edges(state, letter)).map(|&(to, _)| to).collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Whether a set holds an accepting state.
    pub(crate) fn accepts(&self, set: &[u32]) -> bool {
        set.iter().any(|&state| self.accepting[state as usize])
    }

    /// The same automaton over letters and labels together: a label's bits stand above the letter's.
    pub(crate) fn with_labels(&self, labels: usize) -> Option<Self> {
        let bits = self.bits + labels;
        if bits > 20 || (self.states() << bits) > 1 << 26 {
            return None;
        }
        let mut wide = Nfa { bits, accepting: self.accepting.clone(), ..Nfa::default() };
        for state in 0..self.states() as u32 {
            for letter in 0..1usize << bits {
                wide.starts.push(wide.edges.len() as u32);
                let label = (letter >> self.bits) as u64;
                let edges = self.edges(state, letter & (self.letters() - 1)).iter();
                wide.edges.extend(edges.filter(|edge| edge.1 == label).map(|&(to, _)| (to, 0)));
            }
        }
        wide.starts.push(wide.edges.len() as u32);
        Some(wide)
    }
}
