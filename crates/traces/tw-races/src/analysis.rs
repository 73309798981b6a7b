//! The analysis: who holds what, and what follows from each event.

use crate::clock::{Clocks, Thread};
use crate::cycle::{Limits, cycles};
use crate::eraser::{Point, Unprotected, Variable};
use crate::lockset::{EMPTY, Lock, LockSet, LockSets};
use crate::order::Order;
use crate::{
    Access, Action, Deadlock, Exceeded, Oddity, OddityKind, Place, Race, Report, Search, Seen, Turn, Use,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Locks one thread may hold at once. Who holds more has lost its `unlock` events.
const HELD: usize = 1000;
/// Oddities listed.
const ODDITIES: usize = 100;

/// Follows the events of a program; see the [crate](crate) for what it looks for.
#[derive(Debug, Default)]
pub struct Analysis {
    limits: Limits,
    threads: Names,
    locks: Names,
    variables: Names,
    holdings: Vec<Holding>,
    /// Who holds each lock, and since where.
    holders: Vec<Option<(Thread, Place)>>,
    states: Vec<Variable>,
    sets: LockSets,
    clocks: Clocks,
    order: Order,
    races: Vec<(u32, Unprotected)>,
    oddities: Vec<Oddity>,
    oddity_count: u64,
    accesses: u64,
}

/// What a thread holds: its locks in the order it got them, and the set of them.
#[derive(Debug, Default)]
struct Holding {
    locks: Vec<Held>,
    set: LockSet,
}

#[derive(Debug)]
struct Held {
    lock: Lock,
    /// How often it was got without being given back.
    depth: u32,
    place: Place,
    /// The set of those got before it.
    below: LockSet,
}

/// Names with numbers in the order of appearance.
#[derive(Debug, Default)]
struct Names {
    numbers: FxHashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let (name, number): (Arc<str>, u32) = (name.into(), self.names.len() as u32);
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    fn name(&self, number: u32) -> String {
        self.names[number as usize].to_string()
    }
}

/// The entry of a number, made if there is none.
fn entry<T: Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    if list.len() <= number as usize {
        list.resize_with(number as usize + 1, T::default);
    }
    &mut list[number as usize]
}

impl Analysis {
    /// An analysis that has seen nothing, with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with other limits on the search for cycles.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Follows one event. An error says which limit was reached; the analysis is of no use then.
    pub fn event(&mut self, access: &Access<'_>, place: Place) -> Result<(), Exceeded> {
        self.accesses += 1;
        let thread = self.threads.number(access.thread);
        match access.action {
            Action::Lock => {
                let lock = self.locks.number(access.object);
                self.lock(thread, lock, place)
            }
            Action::Unlock => {
                let lock = self.locks.number(access.object);
                self.unlock(thread, lock, place)
            }
            Action::Read | Action::Write => {
                let variable = self.variables.number(access.object);
                let changes = self.clocks.changes();
                let now = self.clocks.now(thread);
                let set = self.holdings.get(thread as usize).map_or(EMPTY, |holding| holding.set);
                let write = access.action == Action::Write;
                let point = Point { thread, epoch: now.epoch, set, write, place };
                let state = entry(&mut self.states, variable);
                if let Some(finding) = state.access(point, now, changes, &mut self.sets)? {
                    self.races.push((variable, finding));
                }
                Ok(())
            }
            Action::Fork => {
                let child = self.threads.number(access.object);
                self.clocks.fork(thread, child);
                Ok(())
            }
            Action::Join => {
                let child = self.threads.number(access.object);
                self.clocks.join(thread, child);
                Ok(())
            }
        }
    }

    fn lock(&mut self, thread: Thread, lock: Lock, place: Place) -> Result<(), Exceeded> {
        let holding = entry(&mut self.holdings, thread);
        if let Some(held) = holding.locks.iter_mut().rev().find(|held| held.lock == lock) {
            held.depth += 1;
            return Ok(());
        }
        if holding.locks.len() >= HELD {
            let thread = self.threads.name(thread);
            return Err(Exceeded::new(format!(
                "thread `{thread}` holds {HELD} locks at once, the limit; are `unlock` events missing?"
            )));
        }
        let held = holding.locks.iter().map(|held| (held.lock, held.place));
        self.order.got(lock, holding.set, self.clocks.now(thread), place, held);
        let below = holding.set;
        holding.set = self.sets.with(below, lock)?;
        holding.locks.push(Held { lock, depth: 1, place, below });
        let holder = entry(&mut self.holders, lock).replace((thread, place));
        if let Some((other, since)) = holder {
            let kind = OddityKind::GotWhileHeld(self.threads.name(other), since);
            self.odd(kind, thread, lock, place);
        }
        Ok(())
    }

    fn unlock(&mut self, thread: Thread, lock: Lock, place: Place) -> Result<(), Exceeded> {
        let holder = entry(&mut self.holders, lock);
        let holding = entry(&mut self.holdings, thread);
        let Some(at) = holding.locks.iter().rposition(|held| held.lock == lock) else {
            let kind = match *holder {
                Some((other, since)) => OddityKind::HeldByOther(self.threads.name(other), since),
                None => OddityKind::NotHeld,
            };
            self.odd(kind, thread, lock, place);
            return Ok(());
        };
        if holding.locks[at].depth > 1 {
            holding.locks[at].depth -= 1;
            return Ok(());
        }
        if holder.is_some_and(|(holder, _)| holder == thread) {
            *holder = None;
        }
        holding.set = holding.locks.remove(at).below;
        for later in &mut holding.locks[at..] {
            later.below = holding.set;
            holding.set = self.sets.with(holding.set, later.lock)?;
        }
        Ok(())
    }

    fn odd(&mut self, kind: OddityKind, thread: Thread, lock: Lock, at: Place) {
        self.oddity_count += 1;
        if self.oddities.len() < ODDITIES {
            let (thread, lock) = (self.threads.name(thread), self.locks.name(lock));
            self.oddities.push(Oddity { kind, thread, lock, at });
        }
    }

    /// What was found. The search for cycles is done here.
    pub fn finish(self) -> Report {
        let (found, incomplete) = cycles(&self.order.dependencies, &self.sets, self.limits);
        let mut deadlocks: Vec<Deadlock> = found.iter().map(|cycle| self.deadlock(cycle)).collect();
        deadlocks.sort_by_key(|deadlock| {
            let places: Vec<Place> = deadlock.turns.iter().map(|turn| turn.at).collect();
            (places.len(), places)
        });
        Report {
            deadlocks,
            races: self.races.iter().map(|(variable, finding)| self.race(*variable, finding)).collect(),
            search: Search {
                incomplete: self.order.limit().or(incomplete),
                unordered: self.clocks.exhausted(),
            },
            seen: Seen {
                accesses: self.accesses,
                threads: self.threads.names.len() as u64,
                locks: self.locks.names.len() as u64,
                variables: self.variables.names.len() as u64,
            },
            oddities: self.oddities,
            oddity_count: self.oddity_count,
        }
    }

    /// A cycle in words, from its earliest step on.
    fn deadlock(&self, cycle: &[usize]) -> Deadlock {
        let of = |at: usize| &self.order.dependencies[cycle[at % cycle.len()]];
        let first = (0..cycle.len()).min_by_key(|&at| of(at).place).unwrap_or(0);
        let turns = (first..first + cycle.len()).map(|at| {
            let (own, before) = (of(at), of(at + cycle.len() - 1));
            let held_at = own.held.iter().find(|(lock, _)| *lock == before.lock).map(|(_, place)| *place);
            Turn {
                thread: self.threads.name(own.stretch.thread),
                holds: self.locks.name(before.lock),
                held_at: held_at.unwrap_or(own.place),
                wants: self.locks.name(own.lock),
                at: own.place,
                held: own.held.iter().map(|(lock, _)| self.locks.name(*lock)).collect(),
            }
        });
        Deadlock { turns: turns.collect() }
    }

    fn race(&self, variable: u32, finding: &Unprotected) -> Race {
        Race {
            variable: self.variables.name(variable),
            access: self.usage(finding.access),
            earlier: self.usage(finding.earlier),
            write: finding.write.map(|write| self.usage(write)),
            protected_by: self.lock_names(finding.candidates),
        }
    }

    fn usage(&self, point: Point) -> Use {
        let Point { thread, set, write, place, .. } = point;
        Use { thread: self.threads.name(thread), write, locks: self.lock_names(set), at: place }
    }

    fn lock_names(&self, set: LockSet) -> Vec<String> {
        self.sets.locks(set).iter().map(|&lock| self.locks.name(lock)).collect()
    }
}
