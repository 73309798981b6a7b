//! A machine's state as bytes, for another process to go on.

use crate::key::Key;
use crate::machine::Machine;
use crate::map::Map;
use crate::rules::Runner;
use crate::sets::State;
use crate::state::{Event, Events, Stamps};
use crate::trie::{Set, Split, Trie};
use crate::truth::Truth;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, put_signed, put_value, take, take_len, take_signed, take_value};
use tw_core::{Position, Value};

/// What can be saved.
pub(crate) trait Saved: Sized {
    fn save(&self, out: &mut Vec<u8>);
    fn load(from: &mut &[u8]) -> Result<Self, Corrupt>;
}

/// A value that may be unknown, which null is not.
pub(crate) fn save_option(value: &Option<Value>, out: &mut Vec<u8>) {
    put(u64::from(value.is_some()), out);
    if let Some(value) = value {
        put_value(value, out);
    }
}

pub(crate) fn load_option(from: &mut &[u8]) -> Result<Option<Value>, Corrupt> {
    if take(from)? == 0 { Ok(None) } else { take_value(from).map(Some) }
}

impl Saved for Key {
    fn save(&self, out: &mut Vec<u8>) {
        put_value(&self.value(), out);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        Key::new(take_value(from)?).ok_or_else(|| Corrupt("the saved state has a null among its keys".into()))
    }
}

impl Saved for Truth {
    fn save(&self, out: &mut Vec<u8>) {
        put(u64::from(self.0), out);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let number = u32::try_from(take(from)?);
        number.map(Truth).map_err(|_| Corrupt("the saved state names an unknown condition".into()))
    }
}

impl Saved for Stamps {
    fn save(&self, out: &mut Vec<u8>) {
        let all = self.entries();
        put(all.len() as u64, out);
        for (time, truth) in all {
            put_signed(time, out);
            truth.save(out);
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let all: Result<Vec<_>, Corrupt> =
            (0..take_len(from)?).map(|_| Ok((take_signed(from)?, Truth::load(from)?))).collect();
        Ok(Stamps::of(all?))
    }
}

impl Saved for Events {
    fn save(&self, out: &mut Vec<u8>) {
        put(self.0.len() as u64, out);
        for event in &self.0 {
            put(event.at as u64, out);
            put_signed(event.time, out);
            event.hold.save(out);
            event.goal.save(out);
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let event = |from: &mut &[u8]| {
            let (at, time) = (take(from)? as Position, take_signed(from)?);
            Ok(Event { at, time, hold: Truth::load(from)?, goal: Truth::load(from)? })
        };
        let all: Result<Vec<_>, Corrupt> = (0..take_len(from)?).map(|_| event(from)).collect();
        Ok(Events(all?))
    }
}

/// Levels of tries that were saved: more than any formula has variables.
const DEEPEST: usize = 10_000;

impl<L: Saved + Clone + PartialEq> Saved for Trie<L> {
    fn save(&self, out: &mut Vec<u8>) {
        match self {
            Trie::Leaf(leaf) => {
                put(0, out);
                leaf.save(out);
            }
            Trie::Split(split) => {
                put(u64::from(split.level) + 1, out);
                split.rest.save(out);
                put(split.points.len() as u64, out);
                split.points.each(&mut |key, child| {
                    key.save(out);
                    child.save(out);
                    true
                });
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        load_trie(from, 0)
    }
}

fn load_trie<L: Saved + Clone + PartialEq>(from: &mut &[u8], depth: usize) -> Result<Trie<L>, Corrupt> {
    let corrupt = |what: &str| Corrupt(what.into());
    if depth > DEEPEST {
        return Err(corrupt("the saved state is nested too deeply"));
    }
    let Some(level) = take(from)?.checked_sub(1) else { return Ok(Trie::Leaf(L::load(from)?)) };
    let level = u32::try_from(level).map_err(|_| corrupt("the saved state names an unknown variable"))?;
    let rest = load_trie(from, depth + 1)?;
    let mut points = Map::default();
    for _ in 0..take_len(from)? {
        let key = Key::load(from)?;
        points.insert(&key, load_trie(from, depth + 1)?);
    }
    Ok(Trie::Split(Arc::new(Split { level, rest, points })))
}

impl Saved for Vec<Key> {
    fn save(&self, out: &mut Vec<u8>) {
        put(self.len() as u64, out);
        self.iter().for_each(|key| key.save(out));
    }

    fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        (0..take_len(from)?).map(|_| Key::load(from)).collect()
    }
}

impl State {
    fn save(&self, out: &mut Vec<u8>) {
        match self {
            State::None => put(0, out),
            State::Since(since) => {
                put(1, out);
                put_signed(since.now, out);
                since.state.save(out);
                put(since.queue.len() as u64, out);
                for (time, keys) in &since.queue {
                    put_signed(*time, out);
                    keys.save(out);
                }
            }
            State::Before(before) => {
                put(2, out);
                put(u64::from(before.is_some()), out);
                if let Some((set, time)) = before {
                    set.save(out);
                    put_signed(*time, out);
                }
            }
            State::Until(until) => {
                put(3, out);
                until.state.save(out);
                put(until.queue.len() as u64, out);
                for (at, keys) in &until.queue {
                    put(*at as u64, out);
                    keys.save(out);
                }
            }
        }
    }

    /// Becomes what was saved.
    fn restore(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        match (self, take(from)?) {
            (State::None, 0) => {}
            (State::Since(since), 1) => {
                since.now = take_signed(from)?;
                since.state = Trie::load(from)?;
                for _ in 0..take_len(from)? {
                    since.queue.push_back((take_signed(from)?, Vec::load(from)?));
                }
            }
            (State::Before(before), 2) => {
                *before = None;
                if take(from)? == 1 {
                    let set = Set::load(from)?;
                    *before = Some((set, take_signed(from)?));
                }
            }
            (State::Until(until), 3) => {
                until.state = Trie::load(from)?;
                for _ in 0..take_len(from)? {
                    until.queue.push_back((take(from)? as Position, Vec::load(from)?));
                }
            }
            _ => return Err(Corrupt("the saved state is of another formula".into())),
        }
        Ok(())
    }
}

impl Machine {
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        self.truths.save(out);
        put(self.states.len() as u64, out);
        self.states.iter().for_each(|state| state.save(out));
        put(self.len as u64, out);
        put(self.oldest as u64, out);
        put_signed(self.passed, out);
        put(self.times.len() as u64, out);
        for (time, number) in self.times.iter().zip(&self.numbers) {
            put_signed(*time, out);
            put(*number as u64, out);
        }
        for line in self.lines.iter().flatten() {
            line.save(out);
        }
        if let Some(runner) = &self.runner {
            runner.save(out);
        }
    }

    pub(crate) fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        self.truths.load(from)?;
        if take(from)? != self.states.len() as u64 {
            return Err(Corrupt("the saved state is of another formula".into()));
        }
        for state in &mut self.states {
            state.restore(from)?;
        }
        self.len = take(from)? as Position;
        self.oldest = take(from)? as Position;
        self.passed = take_signed(from)?;
        for _ in 0..take_len(from)? {
            self.times.push_back(take_signed(from)?);
            self.numbers.push_back(take(from)? as Position);
        }
        if self.oldest.checked_add(self.times.len()) != Some(self.len) {
            return Err(Corrupt("the saved state counts its positions wrong".into()));
        }
        for (line, state) in self.lines.iter_mut().zip(&self.states) {
            let Some(line) = line else { continue };
            line.load(from, self.len)?;
            // An until that only others read puts nothing out itself.
            if !matches!(state, State::Until(_)) && !line.within(self.oldest, self.len) {
                return Err(Corrupt("the saved state waits at positions that it does not have".into()));
            }
        }
        if let Some(runner) = &mut self.runner {
            runner.load(&self.plan, from)?;
        }
        Ok(())
    }

    /// Bytes held, about: what a valuation and its keys take in a trie and in a queue.
    pub(crate) fn heap_bytes(&self) -> usize {
        const ENTRY: usize = 96;
        let state = |state: &State| match state {
            State::None => 0,
            State::Since(since) => since.state.entries() + since.queue.len(),
            State::Before(before) => before.as_ref().map_or(0, |(set, _)| set.entries()),
            State::Until(until) => until.state.entries() + until.queue.len(),
        };
        let lines: usize = self.lines.iter().flatten().map(|line| line.entries()).sum();
        (self.states.iter().map(state).sum::<usize>() + lines) * ENTRY
            + self.times.len() * 16
            + self.runner.as_ref().map_or(0, Runner::heap_bytes)
    }
}

impl<L: Clone + PartialEq> Trie<L> {
    /// Points in all.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Trie::Leaf(_) => 0,
            Trie::Split(split) => {
                let mut all = split.rest.entries();
                split.points.each(&mut |_, child| {
                    all += 1 + child.entries();
                    true
                });
                all
            }
        }
    }
}
