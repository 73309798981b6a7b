//! Monitors that share their records.
//!
//! Monitors with the same parameters, events and ends, whose bindings come to be in the same way, have the same records at all times:
//! which there are does not depend on the states of automata. Such monitors are one *group*. A record then has one word per monitor, a
//! *lane*, and an event looks for records once.

use crate::shape::{DomainShape, EventShape, IndexShape, Shape, StateShape};
use crate::slab::{SPENT, STATE};

/// A move after which something has to be done beside noting the state.
pub(crate) const RARE: u32 = 1 << 31;
/// Monitors that may share records: a step collects those with rare moves in a word.
const LANES: usize = 64;
/// Lists of a domain that records enter and leave; the others have every record.
const LISTS: usize = 64;

/// Monitors that share their records.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The first of them, its records laid out for all.
    pub shape: Shape,
    pub lanes: Vec<Lane>,
    /// Of each event the domain where it steps one record, found by the number of a value, and nothing else, if that is so.
    pub quick: Vec<Option<usize>>,
}

/// One of the monitors.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Its number.
    pub monitor: usize,
    events: usize,
    /// By state, then by event: the next state, perhaps `RARE`.
    moves: Vec<u32>,
    pub outputs: Vec<StateShape>,
    /// Of each state whether something may yet be told of a binding in it, whatever was told, if all its things are alive.
    stays: Vec<bool>,
    /// Of each state the sets of things of which one has to be alive for another report.
    pub useful: Vec<Vec<u32>>,
    /// Of each domain and state the lists by which an event would change or tell something.
    needs: Vec<Vec<u64>>,
}

impl Lane {
    fn new(monitor: usize, shape: &Shape) -> Self {
        let states = shape.automaton.len();
        let events = shape.monitor.events.len();
        let needs: Vec<Vec<u64>> = shape
            .domains
            .iter()
            .map(|domain| {
                let lists = || domain.indexes.iter().take(LISTS).enumerate();
                let list = |state: usize| {
                    let needs = |own: &IndexShape| own.needs.get(state).copied().unwrap_or(false);
                    lists().filter(|(_, own)| needs(own)).fold(0, |all, (index, _)| all | 1 << index)
                };
                (0..states).map(list).collect()
            })
            .collect();
        let optional = |domain: &DomainShape| {
            let lists = domain.indexes.iter().take(LISTS).enumerate().filter(|(_, own)| !own.fixed);
            lists.fold(0u64, |all, (index, _)| all | 1 << index)
        };
        let optional: Vec<u64> = shape.domains.iter().map(optional).collect();
        let useful = shape.enables.useful.clone();
        let moves = (0..states).flat_map(|state| (0..events).map(move |event| (state, event)));
        let moves = moves.map(|(state, event)| {
            let next = shape.automaton.step(state as u32, event);
            let mut lists = needs.iter().zip(&optional);
            let enters = lists.any(|(own, optional)| own[next as usize] & !own[state] & optional != 0);
            let rare = next as usize != state && (enters || useful[next as usize].is_empty())
                || shape.outputs[next as usize].report.is_some();
            next | if rare { RARE } else { 0 }
        });
        let stays = (0..states).map(|state| !useful[state].is_empty() && shape.outputs[state].once == 0);
        Self {
            stays: stays.collect(),
            monitor,
            events,
            moves: moves.collect(),
            outputs: shape.outputs.clone(),
            useful,
            needs,
        }
    }

    /// Whether something may yet be told of a binding with this word, if all its things are alive.
    #[inline]
    pub fn stays(&self, word: u32) -> bool {
        self.stays[(word & STATE) as usize]
    }

    /// Where an event leads from a state, perhaps with `RARE`.
    #[inline]
    pub fn step(&self, word: u32, event: usize) -> u32 {
        self.moves[(word & STATE) as usize * self.events + event]
    }

    /// The lists by which an event would change or tell something of a binding with this word.
    #[inline]
    pub fn needs(&self, domain: usize, word: u32) -> u64 {
        if word & SPENT == 0 { self.needs[domain][(word & STATE) as usize] } else { 0 }
    }
}

impl Group {
    fn new(shape: &Shape, lanes: Vec<Lane>) -> Self {
        let mut shape = shape.clone();
        shape.lay_out(lanes.len());
        // Of the lists that have no bit, everything is a member.
        let lists = shape.domains.iter_mut().flat_map(|domain| domain.indexes.iter_mut().skip(LISTS));
        lists.for_each(|index| index.fixed = true);
        let quick = |event: &EventShape| {
            let domain = &shape.domains[event.own?];
            let alone = lanes.len() == 1 && domain.direct && domain.on == domain.dead;
            (alone && !event.ended && event.steps.is_empty()).then_some(event.own?)
        };
        let quick = shape.events.iter().map(quick).collect();
        Self { shape, lanes, quick }
    }

    /// The lists by which something has to reach a record.
    #[inline]
    pub fn needs(&self, domain: usize, record: &[u32]) -> u64 {
        self.lanes.iter().zip(record).fold(0, |all, (lane, &word)| all | lane.needs(domain, word))
    }

    /// Whether events by an index change or tell something of a record.
    #[inline]
    pub fn is_needed(&self, domain: usize, index: usize, record: &[u32]) -> bool {
        match index < LISTS {
            true => self.needs(domain, record) >> index & 1 == 1,
            false => !self.is_spent(record),
        }
    }

    /// Whether nothing is reported of a record again.
    #[inline]
    pub fn is_spent(&self, record: &[u32]) -> bool {
        record[..self.lanes.len()].iter().all(|word| word & SPENT != 0)
    }
}

/// Whether the bindings of two monitors are the same at all times.
fn share(a: &Shape, b: &Shape) -> bool {
    let events =
        |shape: &Shape| -> Vec<_> { shape.monitor.events.iter().map(|own| own.source.clone()).collect() };
    let ends = |shape: &Shape| -> Vec<_> {
        shape.monitor.ends.iter().map(|own| (own.source.clone(), own.parameters.clone())).collect()
    };
    a.monitor.parameters.len() == b.monitor.parameters.len()
        && a.monitor.strict == b.monitor.strict
        && a.monitor.constraint == b.monitor.constraint
        && (a.injective, a.checked, a.timed) == (b.injective, b.checked, b.timed)
        && (&a.ended, &a.rejoin, &a.stamps) == (&b.ended, &b.rejoin, &b.stamps)
        && a.events == b.events
        && a.domains.len() == b.domains.len()
        && a.domains.iter().zip(&b.domains).all(|(a, b)| a.is_like(b))
        && events(a) == events(b)
        && ends(a) == ends(b)
}

/// The groups of monitors, in the order of their first ones. Where `sharing` is not wanted, each is alone.
pub(crate) fn groups(shapes: &[Shape], sharing: bool) -> Vec<Group> {
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (number, shape) in shapes.iter().enumerate() {
        let fits = |own: &&mut Vec<usize>| sharing && own.len() < LANES && share(&shapes[own[0]], shape);
        match members.iter_mut().find(fits) {
            Some(own) => own.push(number),
            None => members.push(vec![number]),
        }
    }
    let group = |own: Vec<usize>| {
        let lanes = own.iter().map(|&number| Lane::new(number, &shapes[number])).collect();
        Group::new(&shapes[own[0]], lanes)
    };
    members.into_iter().map(group).collect()
}
