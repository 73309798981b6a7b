//! The machine: states are sets of slices, transitions are looked up where they were taken before.

use super::build::Goal;
use super::family::{Limits, Slice};
use super::intern::Interned;
use super::settle::Ahead;
use super::table::Table;
use super::unfold::Unfold;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use tw_automata::alternating::Alternating;
use tw_automata::emptiness::Emptiness;
use tw_automata::past::Past;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::{NodeId, Program};
use tw_monitor::{Machine, Run, State, Stretch, Unsupported, words};

/// No set of slices (the negation is followed under three-valued semantics alone), or no automaton of verdicts.
pub(super) const NONE: u32 = u32::MAX;

/// Transitions remembered per state allowed, before they are forgotten and found again.
const TRANSITIONS: usize = 64;

/// What a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The goal: states are not shared, so that one goal's can be forgotten.
    pub(super) owner: u32,
    /// The set of slices of the goal, and of its negation.
    pub(super) slices: u32,
    pub(super) negation: u32,
    /// What is remembered of the past.
    pub(super) memory: u32,
    /// Where the goal's automaton of verdicts is ([`super::settle::Ahead`]), or [`NONE`].
    pub(super) ahead: u32,
    /// Whether the goal holds if the trace ends here.
    pub(super) ends: bool,
}

pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) table: Table,
    settled: Option<Option<bool>>,
}

/// Breadth-first traversal, one position at a time.
pub(super) struct Slices {
    pub(super) program: Program,
    pub(super) automaton: Alternating,
    pub(super) goals: Vec<Goal>,
    pub(super) past: Past,
    pub(super) atoms: usize,
    pub(super) limits: Limits,
    /// Literals stay in slices, as published.
    pub(super) published: bool,
    pub(super) slices: Interned,
    pub(super) sets: Interned,
    pub(super) memories: Interned,
    /// What each history turns into, and the atoms that decide it.
    pub(super) histories: Vec<Table>,
    pub(super) reads: Box<[u64]>,
    pub(super) entered: FxHashMap<(u32, State), State>,
    pub(super) states: Vec<Kept>,
    /// Numbers of states that were forgotten.
    pub(super) free: Vec<State>,
    /// States and bytes from which on it is worth forgetting some.
    pub(super) crowd: (usize, usize),
    pub(super) index: FxHashMap<Key, State>,
    pub(super) transitions: usize,
    /// Published successors of a slice.
    pub(super) successors: FxHashMap<u32, Vec<Slice>>,
    pub(super) emptiness: Option<Emptiness>,
    /// Whether a verdict was left open for want of budget.
    pub(super) undecided: bool,
    pub(super) bytes: usize,
    pub(super) memory_budget: usize,
    pub(super) texts: RefCell<FxHashMap<u32, String>>,
}

impl Slices {
    /// Makes room for one more transition, by forgetting all if there are many.
    fn make_room(&mut self) {
        if self.transitions >= TRANSITIONS * self.limits.slices {
            self.states.iter_mut().for_each(|kept| kept.table.clear());
            self.histories.iter_mut().for_each(Table::clear);
            self.transitions = 0;
        }
        self.transitions += 1;
    }

    /// The number of a memory.
    pub(super) fn remembered(&mut self, memory: &[bool]) -> u32 {
        let set: Vec<u32> = (0..memory.len() as u32).filter(|&index| memory[index as usize]).collect();
        self.memories.add(&set)
    }

    pub(super) fn memory(&self, id: u32) -> Vec<bool> {
        let mut memory = vec![false; self.past.memories().len()];
        self.memories.get(id).iter().for_each(|&index| memory[index as usize] = true);
        memory
    }

    /// What a goal needs of a memory: goals that share a machine do not multiply each other's states.
    pub(super) fn own(&self, goal: usize, memory: &mut [bool]) {
        memory.iter_mut().zip(&self.goals[goal].memories).for_each(|(bit, &own)| *bit &= own);
    }

    pub(super) fn set(&mut self, mut slices: Vec<Slice>) -> u32 {
        self.limits.normalise(&mut slices);
        // In the order of their members, not of their numbers: another process numbers them otherwise.
        let ids: Vec<u32> = slices.iter().map(|slice| self.slices.add(slice)).collect();
        self.sets.add(&ids)
    }

    /// A set of slices to be worked on.
    pub(super) fn listed(&self, set: u32) -> Vec<Slice> {
        self.sets.get(set).iter().map(|&slice| self.slices.get(slice).to_vec()).collect()
    }

    /// Beyond the nodes of the automaton, one number per goal and polarity stands for a goal that was just entered.
    pub(super) fn entry(&self, number: u32) -> Option<(NodeId, bool)> {
        let entry = (number as usize).checked_sub(self.automaton.nodes().len())?;
        Some((self.goals[entry / 2].node, entry % 2 == 1))
    }

    /// Whether there is room for more states.
    fn check_memory(&self) -> Result<(), Unsupported> {
        if self.bytes + self.heap_bytes_shared() <= self.memory_budget {
            return Ok(());
        }
        let what =
            format!("{} states within the memory budget of {} bytes", self.states.len(), self.memory_budget);
        Err(Unsupported::budget(what).help("`reverse` needs memory for the formula alone"))
    }

    pub(super) fn state(&mut self, key: Key) -> Result<State, Unsupported> {
        if let Some(&state) = self.index.get(&key) {
            return Ok(state);
        }
        self.check_memory()?;
        let mask = self.mask(key);
        self.bytes += self.state_bytes();
        let kept = Kept { key, table: Table::new(mask), settled: None };
        let state = match self.free.pop() {
            Some(state) => {
                self.states[state as usize] = kept;
                state
            }
            None => {
                self.states.push(kept);
                (self.states.len() - 1) as State
            }
        };
        self.index.insert(key, state);
        Ok(state)
    }

    /// Bytes of a state, without its slices.
    pub(super) fn state_bytes(&self) -> usize {
        words(self.atoms) * 8 + 2 * size_of::<Key>() + size_of::<Kept>()
    }

    pub(super) fn heap_bytes_shared(&self) -> usize {
        self.slices.bytes() + self.sets.bytes() + self.memories.bytes()
    }

    pub(super) fn key(&self, state: State) -> Key {
        self.states[state as usize].key
    }
}

impl Machine for Slices {
    fn origin(&mut self) -> State {
        let origin = self.past.origin();
        self.remembered(&origin)
    }

    fn remember(&mut self, history: State, atoms: &[u64]) -> Result<State, Unsupported> {
        if self.past.is_empty() {
            return Ok(history);
        }
        if let Some(next) = self.histories.get(history as usize).and_then(|table| table.get(atoms)) {
            return Ok(next);
        }
        let (_, next) = self.past.advance(atoms, &self.memory(history));
        let next = self.remembered(&next);
        self.make_room();
        self.check_memory()?;
        while self.histories.len() <= history as usize {
            self.histories.push(Table::new(self.reads.clone()));
            self.bytes += size_of::<Table>() + self.reads.len() * 8;
        }
        self.histories[history as usize].put(atoms, next);
        Ok(next)
    }

    fn enter(&mut self, goal: usize, history: State) -> Result<State, Unsupported> {
        if let Some(&state) = self.entered.get(&(goal as u32, history)) {
            return Ok(state);
        }
        let mut memory = self.memory(history);
        let ahead = self.goals[goal].ahead.as_ref().map_or(NONE, |ahead| ahead.enter(&memory));
        self.own(goal, &mut memory);
        let memory = self.remembered(&memory);
        let entry = (self.automaton.nodes().len() + 2 * goal) as u32;
        let slices = if self.published {
            let mut unfold = Unfold {
                automaton: &self.automaton,
                limits: self.limits,
                row: None,
                known: FxHashMap::default(),
            };
            let slices = unfold.all(&[self.goals[goal].expr])?;
            self.set(slices)
        } else {
            self.set(vec![vec![entry]])
        };
        let negation = match self.goals[goal].negation {
            Some(_) => self.set(vec![vec![entry + 1]]),
            None => NONE,
        };
        let state = self.state(Key { owner: goal as u32, slices, negation, memory, ahead, ends: false })?;
        self.entered.insert((goal as u32, history), state);
        self.bytes += 24;
        Ok(state)
    }

    fn step(&mut self, goal: usize, state: State, atoms: &[u64]) -> Result<State, Unsupported> {
        let kept = &self.states[state as usize];
        if let Some(next) = kept.table.get(atoms) {
            return Ok(next);
        }
        let next = self.find(goal, kept.key, atoms)?;
        self.make_room();
        self.states[state as usize].table.put(atoms, next);
        Ok(next)
    }

    fn holds_at_end(&self, _: usize, state: State) -> bool {
        self.key(state).ends
    }

    fn settled(&mut self, _: usize, state: State) -> Option<bool> {
        let kept = &self.states[state as usize];
        if let Some(settled) = kept.settled {
            return settled;
        }
        let settled = self.settle(kept.key);
        self.states[state as usize].settled = Some(settled);
        settled
    }

    fn undecided(&self) -> Option<Unsupported> {
        self.undecided.then(|| Unsupported::budget(tw_automata::emptiness::gave_up()))
    }

    fn residual(&self, _: usize, state: State) -> String {
        self.text(self.key(state).slices)
    }

    fn save(&self, _: usize, state: State, out: &mut Vec<u8>) {
        let key = self.key(state);
        put(u64::from(key.ends), out);
        self.save_history(key.memory, out);
        self.save_set(key.slices, out);
        if key.negation != NONE {
            self.save_set(key.negation, out);
        }
        if self.goals[key.owner as usize].ahead.is_some() {
            put(u64::from(key.ahead), out);
        }
    }

    fn load(&mut self, goal: usize, from: &mut &[u8]) -> Result<State, Corrupt> {
        let ends = take(from)? == 1;
        let memory = self.load_history(from)?;
        let slices = self.load_set(goal, from)?;
        let negation = match self.goals[goal].negation {
            Some(_) => self.load_set(goal, from)?,
            None => NONE,
        };
        let ahead = match &self.goals[goal].ahead {
            Some(ahead) => ahead.load(take(from)?)?,
            None => NONE,
        };
        let owner = goal as u32;
        self.state(Key { owner, slices, negation, memory, ahead, ends })
            .map_err(|refusal| Corrupt(refusal.what))
    }

    fn save_history(&self, history: State, out: &mut Vec<u8>) {
        let memory = self.memories.get(history);
        put(memory.len() as u64, out);
        memory.iter().for_each(|&index| put(u64::from(index), out));
    }

    fn load_history(&mut self, from: &mut &[u8]) -> Result<State, Corrupt> {
        let mut memory = vec![false; self.past.memories().len()];
        for _ in 0..take(from)? {
            match memory.get_mut(take(from)? as usize) {
                Some(bit) => *bit = true,
                None => return Err(Corrupt("the saved state remembers more than the formula does".into())),
            }
        }
        Ok(self.remembered(&memory))
    }

    fn heap_bytes(&self) -> usize {
        let emptiness = self.emptiness.as_ref().map_or(0, Emptiness::heap_bytes);
        let ahead: usize =
            self.goals.iter().filter_map(|goal| goal.ahead.as_ref()).map(Ahead::heap_bytes).sum();
        let transitions = self.transitions * (8 * words(self.atoms) + 32);
        self.bytes + self.heap_bytes_shared() + transitions + emptiness + ahead
    }

    fn crowded(&self) -> bool {
        self.is_crowded()
    }

    fn retain(&mut self, live: &[(usize, State)], _: &[State]) {
        let live: FxHashSet<State> = live.iter().map(|&(_, state)| state).collect();
        self.forget(|state, _| live.contains(&state));
    }

    fn run(
        &mut self,
        goal: usize,
        mut state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Result<Run, Unsupported> {
        let mut changed = None;
        for at in from..to {
            let next = self.step(goal, state, stretch.row(at))?;
            // A state that stays was looked at when it was reached, but for the first.
            let look = next != state || at == from;
            if next != state {
                (state, changed) = (next, Some(at));
                if self.is_crowded() {
                    self.forget(|other, key| other == next || key.owner != goal as u32);
                }
            }
            if look && self.settled(goal, state).is_some() {
                return Ok(Run { state, end: at + 1, changed });
            }
        }
        Ok(Run { state, end: to, changed })
    }
}
