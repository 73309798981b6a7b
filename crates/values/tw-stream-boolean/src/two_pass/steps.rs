//! Single steps of both passes, remembered.

use crate::Unsolved;
use crate::system::{Move, State, System, TooLarge};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What the backward pass finds at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// What is left before the position.
    pub(super) before: u32,
    /// The outputs.
    pub(super) label: u64,
    /// Whether models differ here in what matters.
    pub(super) several: bool,
}

/// The number of the set before the first position; it is no set of states.
pub(super) const START: u32 = 0;

/// The number of the empty set.
pub(super) const NONE: u32 = 1;

type Listed = FxHashMap<(u64, u64, u64), Rc<[Move]>>;

pub(super) struct Steps<'a> {
    system: &'a System,
    matter: u64,
    limit: usize,
    /// States of all sets, and moves of all lists: what the memory is.
    size: usize,
    sets: Vec<Rc<[State]>>,
    numbers: FxHashMap<Rc<[State]>, u32>,
    moves: Listed,
    forwards: FxHashMap<(u32, u64, u64), u32>,
    backwards: FxHashMap<(u32, u64, u64, u32), Found>,
}

/// More moves than that at one position are not listed.
const MOST_MOVES: usize = 1 << 16;

/// So many states and moves may there be for each set that is allowed: with the usual limit some hundred megabytes.
const EACH: usize = 1 << 6;

impl<'a> Steps<'a> {
    pub(super) fn new(system: &'a System, matter: u64, limit: usize) -> Self {
        let mut steps = Steps {
            system,
            matter,
            limit,
            size: 0,
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            moves: FxHashMap::default(),
            forwards: FxHashMap::default(),
            backwards: FxHashMap::default(),
        };
        // No set of states is the start: it stands at its number, but nobody finds it there.
        steps.sets.push(Rc::new([]));
        let none: Rc<[State]> = Rc::new([]);
        steps.sets.push(none.clone());
        steps.numbers.insert(none, NONE);
        steps
    }

    pub(super) fn set(&self, number: u32) -> &[State] {
        &self.sets[number as usize]
    }

    pub(super) fn number(&mut self, mut set: Vec<State>) -> Result<u32, Unsolved> {
        set.sort_unstable();
        set.dedup();
        let set: Rc<[State]> = set.into();
        if let Some(&number) = self.numbers.get(&set) {
            return Ok(number);
        }
        self.size += set.len();
        if self.sets.len() >= self.limit || self.size > self.limit.saturating_mul(EACH) {
            return Err(Unsolved::TooLarge { states: self.sets.len() });
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        Ok(number)
    }

    pub(super) fn moves(&mut self, back: u64, letter: u64, outside: u64) -> Result<Rc<[Move]>, Unsolved> {
        if let Some(moves) = self.moves.get(&(back, letter, outside)) {
            return Ok(moves.clone());
        }
        let states = self.sets.len();
        let most = MOST_MOVES.min(self.limit.saturating_mul(EACH).saturating_sub(self.size));
        let found = self.system.moves(back, letter, outside, most);
        let found: Rc<[Move]> = found.map_err(|TooLarge| Unsolved::TooLarge { states })?.into();
        self.size += found.len();
        self.moves.insert((back, letter, outside), found.clone());
        Ok(found)
    }

    /// The moves from a state that keep its promises.
    pub(super) fn from(
        &mut self,
        state: State,
        letter: u64,
        outside: u64,
    ) -> Result<(Rc<[Move]>, std::ops::Range<usize>), Unsolved> {
        let moves = self.moves(state.back, letter, outside)?;
        let first = moves.partition_point(|one| one.kept < state.ahead);
        let count = moves[first..].partition_point(|one| one.kept == state.ahead);
        Ok((moves, first..first + count))
    }

    /// The set after a position.
    pub(super) fn forwards(&mut self, set: u32, letter: u64, outside: u64) -> Result<u32, Unsolved> {
        let key = (set, letter, outside);
        if let Some(&next) = self.forwards.get(&key) {
            return Ok(next);
        }
        let mut next = Vec::new();
        if set == START {
            next.extend(self.moves(self.system.first, letter, outside)?.iter().map(|one| one.next));
        } else {
            for state in self.sets[set as usize].clone().iter() {
                let (moves, range) = self.from(*state, letter, outside)?;
                next.extend(moves[range].iter().map(|one| one.next));
            }
        }
        let next = self.number(next)?;
        self.forwards.insert(key, next);
        Ok(next)
    }

    /// What is left of a set when so many positions come after the present one: states that promise nothing of positions
    /// beyond the trace but what holds there.
    pub(super) fn within(&mut self, set: u32, left: usize) -> Result<u32, Unsolved> {
        let mask = self.system.beyond(left);
        if mask == 0 {
            return Ok(set);
        }
        let kept = self.set(set).iter().filter(|state| self.system.keeps(**state, mask)).copied().collect();
        self.number(kept)
    }

    /// A step back: `set` is what the forward pass had before the position, `left` what is left after it.
    pub(super) fn backwards(
        &mut self,
        set: u32,
        letter: u64,
        outside: u64,
        left: u32,
    ) -> Result<Found, Unsolved> {
        let key = (set, letter, outside, left);
        if let Some(&found) = self.backwards.get(&key) {
            return Ok(found);
        }
        let after = self.sets[left as usize].clone();
        let mut labels: Option<u64> = None;
        let mut several = false;
        let mut before = Vec::new();
        let matter = self.matter;
        let mut take = |one: &Move| {
            if after.binary_search(&one.next).is_err() {
                return false;
            }
            let first = *labels.get_or_insert(one.label);
            several |= (first ^ one.label) & matter != 0;
            true
        };
        if set == START {
            self.moves(self.system.first, letter, outside)?.iter().for_each(|one| {
                take(one);
            });
        } else {
            for state in self.sets[set as usize].clone().iter() {
                let (moves, range) = self.from(*state, letter, outside)?;
                let mut leads = false;
                moves[range].iter().for_each(|one| leads |= take(one));
                if leads {
                    before.push(*state);
                }
            }
        }
        let label = labels.unwrap_or(0);
        let before = if set == START { START } else { self.number(before)? };
        let found = Found { before, label, several };
        self.backwards.insert(key, found);
        Ok(found)
    }
}
