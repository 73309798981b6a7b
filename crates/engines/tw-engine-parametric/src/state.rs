//! Algorithm D: the bindings of one monitor and what an event does to them.
//!
//! An event steps the bindings that contain what it is about, found by an index. Where its own binding is not there, it makes larger
//! ones of those that ENABLE names and creates its own. Stamps say when events about a binding without a state happened, which is
//! what tells whether a binding that is to be made larger missed some.

use crate::Found;
use crate::shape::{EventShape, Part, Shape, once};
use crate::slab::{SPENT, STATE, Slab, USED};
use crate::values::{Handle, NONE, Values};
use rustc_hash::FxHashMap;
use tw_core::Value;
use tw_ir::Program;
use tw_ir::monitor::Category;
use tw_slicing::{Binding, Constraint, Objects as Numbers, by_values};

/// When an event about some things last happened; zero is never.
#[derive(Clone, Debug)]
pub(crate) enum Stamps {
    One(Vec<u32>),
    Two(FxHashMap<u64, u32>),
    Many(FxHashMap<Box<[u32]>, u32>),
}

fn pair(key: &[u32]) -> u64 {
    u64::from(key[0]) << 32 | u64::from(key[1])
}

impl Stamps {
    fn new(parameters: usize) -> Self {
        match parameters {
            0 | 1 => Stamps::One(Vec::new()),
            2 => Stamps::Two(FxHashMap::default()),
            _ => Stamps::Many(FxHashMap::default()),
        }
    }

    #[inline]
    fn get(&self, key: &[u32]) -> u32 {
        match self {
            Stamps::One(times) => times.get(key.first().map_or(0, |&own| own as usize)).copied().unwrap_or(0),
            Stamps::Two(times) => times.get(&pair(key)).copied().unwrap_or(0),
            Stamps::Many(times) => times.get(key).copied().unwrap_or(0),
        }
    }

    pub(crate) fn set(&mut self, key: &[u32], time: u32) {
        match self {
            Stamps::One(times) => {
                let place = key.first().map_or(0, |&own| own as usize);
                if times.len() <= place {
                    times.resize(place + 1, 0);
                }
                times[place] = time;
            }
            Stamps::Two(times) => drop(times.insert(pair(key), time)),
            Stamps::Many(times) => drop(times.insert(key.into(), time)),
        }
    }

    /// Every key with its time.
    pub(crate) fn all(&self) -> Vec<(Vec<u32>, u32)> {
        match self {
            Stamps::One(times) => {
                let known = times.iter().enumerate().filter(|(_, time)| **time != 0);
                known.map(|(key, &time)| (vec![key as u32], time)).collect()
            }
            Stamps::Two(times) => {
                times.iter().map(|(key, &time)| (vec![(key >> 32) as u32, *key as u32], time)).collect()
            }
            Stamps::Many(times) => times.iter().map(|(key, &time)| (key.to_vec(), time)).collect(),
        }
    }

    fn retain(&mut self, kept: impl Fn(&[u32]) -> bool) {
        match self {
            Stamps::One(times) => {
                let gone = |(key, _): &(usize, &mut u32)| !kept(&[*key as u32]);
                times.iter_mut().enumerate().filter(gone).for_each(|(_, time)| *time = 0);
            }
            Stamps::Two(times) => times.retain(|key, _| kept(&[(key >> 32) as u32, *key as u32])),
            Stamps::Many(times) => times.retain(|key, _| kept(key)),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Stamps::One(times) => times.capacity() * 4,
            Stamps::Two(times) => times.capacity() * 8 / 7 * 17,
            Stamps::Many(times) => times.capacity() * 8 / 7 * 25 + times.len() * 16,
        }
    }
}

/// The things of a parameter whose values end: the same value later is another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Things {
    /// Of each value the thing that it is now.
    pub current: Vec<u32>,
    /// Of each thing its value; `NONE` is free.
    pub value: Vec<Handle>,
    pub free: Vec<u32>,
}

impl Things {
    fn get(&self, value: Handle) -> u32 {
        self.current.get(value as usize).copied().unwrap_or(NONE)
    }

    fn of(&mut self, value: Handle) -> u32 {
        let known = self.get(value);
        if known != NONE {
            return known;
        }
        if self.current.len() <= value as usize {
            self.current.resize(value as usize + 1, NONE);
        }
        let thing = self.free.pop().unwrap_or_else(|| {
            self.value.push(NONE);
            (self.value.len() - 1) as u32
        });
        self.value[thing as usize] = value;
        self.current[value as usize] = thing;
        thing
    }

    fn is_dead(&self, thing: u32) -> bool {
        let value = self.value[thing as usize];
        value == NONE || self.current[value as usize] != thing
    }
}

/// What one monitor keeps.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub slabs: Vec<Slab>,
    pub stamps: Vec<Stamps>,
    /// Of parameters whose values end.
    pub things: Vec<Option<Things>>,
    /// The last time used.
    pub tick: u32,
    /// Bindings that were created.
    pub created: u64,
    /// How many things have ended since the last sweep.
    pub ended: usize,
}

/// Where reports go, and what is needed to make them.
pub(crate) struct Out<'a> {
    pub found: &'a mut Vec<Found>,
    pub monitor: usize,
    pub position: Option<u64>,
    pub order: u32,
    pub values: &'a [Values],
    /// The class of each parameter.
    pub classes: &'a [usize],
    pub program: &'a Program,
}

impl State {
    pub fn new(shape: &Shape) -> Self {
        Self {
            slabs: shape.domains.iter().map(Slab::new).collect(),
            stamps: shape.stamps.iter().map(|stamp| Stamps::new(stamp.len())).collect(),
            things: shape.ended.iter().map(|&ended| ended.then(Things::default)).collect(),
            tick: 0,
            created: 0,
            ended: 0,
        }
    }

    /// Bindings that are kept.
    pub fn live(&self) -> usize {
        self.slabs.iter().map(|slab| slab.used).sum()
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        let things = self.things.iter().flatten();
        self.slabs.iter().map(Slab::heap_bytes).sum::<usize>()
            + self.stamps.iter().map(Stamps::heap_bytes).sum::<usize>()
            + things
                .map(|own| (own.current.capacity() + own.value.capacity() + own.free.capacity()) * 4)
                .sum::<usize>()
    }

    fn tick(&mut self, shape: &Shape) -> u32 {
        if self.tick == u32::MAX {
            self.renumber(shape);
        }
        self.tick += 1;
        self.tick
    }

    /// Times close up; only their order matters.
    fn renumber(&mut self, shape: &Shape) {
        let mut times: Vec<u32> = self.stamps.iter().flat_map(Stamps::all).map(|(_, time)| time).collect();
        for (slab, domain) in self.slabs.iter().zip(&shape.domains).filter(|_| shape.timed) {
            times.extend(slab.ids().map(|id| slab.word(id, domain.time)));
        }
        times.sort_unstable();
        times.dedup();
        let place = |time: u32| times.partition_point(|&own| own < time) as u32 + 1;
        for stamps in &mut self.stamps {
            stamps.all().into_iter().for_each(|(key, time)| stamps.set(&key, place(time)));
        }
        for (slab, domain) in self.slabs.iter_mut().zip(&shape.domains).filter(|_| shape.timed) {
            let ids: Vec<u32> = slab.ids().collect();
            for id in ids {
                let time = slab.word_mut(id, domain.time);
                *time = place(*time);
            }
        }
        self.tick = times.len() as u32;
    }

    /// The record of a binding, all of whose parameters are in `all`.
    #[inline]
    fn exact(&self, shape: &Shape, domain: usize, all: &[u32; 32]) -> u32 {
        let own = &shape.domains[domain];
        let slab = &self.slabs[domain];
        match (own.direct, &own.parameters[..]) {
            (true, &[]) => slab.direct(0),
            (true, &[parameter, ..]) => slab.direct(all[parameter as usize]),
            (false, parameters) => {
                let mut key = [0u32; 32];
                parameters.iter().enumerate().for_each(|(nth, &own)| key[nth] = all[own as usize]);
                slab.head(own, own.exact, &key[..parameters.len()])
            }
        }
    }

    /// An event about the values in `row`, which are those of the event's parameters, ascending.
    pub fn event(&mut self, shape: &Shape, number: usize, row: &[Handle], out: &mut Out<'_>) {
        let event = &shape.events[number];
        let mut all = [NONE; 32];
        let mut key = [0u32; 32];
        for (nth, (&(parameter, _), &value)) in event.parameters.iter().zip(row).enumerate() {
            let thing = match &mut self.things[parameter as usize] {
                Some(things) => things.of(value),
                None => value,
            };
            (all[parameter as usize], key[nth]) = (thing, thing);
        }
        let key = &key[..row.len()];
        let from = out.found.len();
        let own = event.own.map_or(NONE, |domain| self.exact(shape, domain, &all));
        if let Some(domain) = event.own.filter(|_| own != NONE) {
            let before = self.slabs[domain].word(own, 0);
            if before & SPENT == 0 {
                let after = self.step(shape, domain, own, number, out);
                if after != before {
                    self.slabs[domain].enter_all(&shape.domains[domain], own, false);
                }
            }
        }
        for &(domain, index) in &event.steps {
            self.walk(shape, domain, index, key, number, out);
        }
        if own == NONE {
            self.define(shape, number, event, &all, key, out);
        }
        if out.found.len() > from + 1 {
            out.found[from..].sort_by(|a, b| by_values(&a.bindings, &b.bindings));
        }
    }

    /// Steps every record in a list.
    fn walk(
        &mut self,
        shape: &Shape,
        domain: usize,
        index: usize,
        key: &[u32],
        event: usize,
        out: &mut Out<'_>,
    ) {
        let own = &shape.domains[domain];
        let needs = &own.indexes[index].needs;
        let fixed = own.indexes[index].fixed;
        let mut before = NONE;
        let mut at = self.slabs[domain].head(own, index, key);
        while at != NONE {
            let next = self.slabs[domain].next(own, index, at);
            let mut word = self.slabs[domain].word(at, 0);
            let needed = |word: u32| word & SPENT == 0 && needs[(word & STATE) as usize];
            if needed(word) {
                let after = self.step(shape, domain, at, event, out);
                if after != word {
                    self.slabs[domain].enter_all(own, at, false);
                }
                word = after;
            }
            match fixed || needed(word) {
                true => before = at,
                false => self.slabs[domain].leave(own, index, key, before, at),
            }
            at = next;
        }
    }

    /// Steps a record and reports; its first word afterwards.
    #[inline]
    fn step(&mut self, shape: &Shape, domain: usize, id: u32, event: usize, out: &mut Out<'_>) -> u32 {
        let word = self.slabs[domain].word(id, 0);
        let state = shape.automaton.step(word & STATE, event);
        let output = shape.outputs[state as usize];
        let mut after = word & !STATE | state;
        if let Some(category) = output.report
            && (output.once == 0 || word & output.once == 0)
        {
            after |= output.once;
            self.report(shape, domain, id, category, out);
        }
        *self.slabs[domain].word_mut(id, 0) = after;
        if after != word { self.spend(shape, domain, id) } else { after }
    }

    /// Notes that nothing will be reported of a binding again: what could, needs things that are dead. Its first word.
    fn spend(&mut self, shape: &Shape, domain: usize, id: u32) -> u32 {
        let own = &shape.domains[domain];
        let slab = &mut self.slabs[domain];
        let word = slab.word(id, 0);
        let ends = own.on > own.dead;
        let dead = if ends { slab.word(id, own.dead) } else { 0 };
        let output = shape.outputs[(word & STATE) as usize];
        let told = !output.violated_at_end || word & once(Category::Violation) != 0;
        // Who has failed, or violates the formula, does so for good; but a larger binding made of it is told of it anew.
        let settled =
            !own.source && output.once & (once(Category::Fail) | once(Category::Violation)) & word != 0;
        let useful =
            !settled && shape.enables.useful[(word & STATE) as usize].iter().any(|set| set & dead == 0);
        if word & SPENT == 0 && told && !useful {
            // A category that is told once may lie ahead of a larger binding with this state, but not of this one.
            slab.spent += usize::from(dead != 0);
            *slab.word_mut(id, 0) |= SPENT;
        }
        slab.word(id, 0)
    }

    fn report(&self, shape: &Shape, domain: usize, id: u32, category: Category, out: &mut Out<'_>) {
        let own = &shape.domains[domain];
        let mut bindings: Vec<Option<Value>> = vec![None; shape.monitor.parameters.len()];
        for (nth, &parameter) in own.parameters.iter().enumerate() {
            let thing = self.slabs[domain].value(own, id, nth);
            bindings[parameter as usize] = Some(self.value(parameter, thing, out).clone());
        }
        out.found.push(Found {
            monitor: out.monitor,
            position: out.position,
            order: out.order,
            bindings,
            category,
        });
    }

    fn value<'v>(&self, parameter: u32, thing: u32, out: &'v Out<'_>) -> &'v Value {
        let handle = match &self.things[parameter as usize] {
            Some(things) => things.value[thing as usize],
            None => thing,
        };
        out.values[out.classes[parameter as usize]].value(handle)
    }

    /// What an event whose own binding is not there makes: larger bindings, its own, and a note that it happened.
    fn define(
        &mut self,
        shape: &Shape,
        number: usize,
        event: &EventShape,
        about: &[u32; 32],
        key: &[u32],
        out: &mut Out<'_>,
    ) {
        if event.joins.is_empty() && event.new.is_none() && event.stamp.is_none() {
            return;
        }
        if shape.checked && !self.allowed(shape, about, out) {
            return;
        }
        for join in &event.joins {
            let source = &shape.domains[join.source];
            let mut at = match join.index == NONE as usize {
                true => self.exact(shape, join.source, about),
                false => {
                    let mut part = [0u32; 32];
                    let index = &source.indexes[join.index];
                    for (nth, &place) in index.places.iter().enumerate() {
                        part[nth] = about[source.parameters[place] as usize];
                    }
                    self.slabs[join.source].head(source, join.index, &part[..index.places.len()])
                }
            };
            while at != NONE {
                let next = match join.index == NONE as usize {
                    true => NONE,
                    false => self.slabs[join.source].next(source, join.index, at),
                };
                let mut all = *about;
                for (nth, &parameter) in source.parameters.iter().enumerate() {
                    all[parameter as usize] = self.slabs[join.source].value(source, at, nth);
                }
                let created = self.slabs[join.source].word(at, source.time);
                let defined = self.exact(shape, join.target, &all) != NONE;
                if !defined
                    && !join.parts.iter().any(|part| self.missed(shape, part, &all, created))
                    && (!shape.checked || self.allowed(shape, &all, out))
                {
                    let state = self.slabs[join.source].word(at, 0) & STATE;
                    self.add(shape, join.target, &all, state, created, number, out);
                }
                at = next;
            }
        }
        if let Some((target, parts)) = &event.new
            && self.exact(shape, *target, about) == NONE
            && !parts.iter().any(|part| self.known(shape, part, about))
        {
            let time = if shape.timed { self.tick(shape) } else { 0 };
            self.add(shape, *target, about, 0, time, number, out);
        }
        if let Some(stamp) = event.stamp {
            let time = self.tick(shape);
            self.stamps[stamp].set(key, time);
        }
    }

    /// Adds a binding in the state of another, and steps it.
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        shape: &Shape,
        domain: usize,
        all: &[u32; 32],
        state: u32,
        created: u32,
        event: usize,
        out: &mut Out<'_>,
    ) {
        let own = &shape.domains[domain];
        let mut values = [0u32; 32];
        own.parameters.iter().enumerate().for_each(|(nth, &own)| values[nth] = all[own as usize]);
        let slab = &mut self.slabs[domain];
        let id = slab.add(own, &values[..own.parameters.len()]);
        *slab.word_mut(id, 0) = USED | state;
        if shape.timed {
            *slab.word_mut(id, own.time) = created;
        }
        if own.on > own.dead {
            let dead = |(nth, &parameter): (usize, &u32)| match &self.things[parameter as usize] {
                Some(things) if things.is_dead(values[nth]) => 1 << parameter,
                _ => 0,
            };
            let dead: u32 = own.parameters.iter().enumerate().map(dead).sum();
            *self.slabs[domain].word_mut(id, own.dead) = dead;
        }
        self.created += 1;
        self.step(shape, domain, id, event, out);
        self.spend(shape, domain, id);
        self.slabs[domain].enter_all(own, id, true);
    }

    /// The stamp of a part.
    fn stamp(&self, shape: &Shape, stamp: usize, all: &[u32; 32]) -> u32 {
        let mut key = [0u32; 32];
        let parameters = &shape.stamps[stamp];
        parameters.iter().enumerate().for_each(|(nth, &own)| key[nth] = all[own as usize]);
        self.stamps[stamp].get(&key[..parameters.len()])
    }

    /// Whether a binding created at a time has missed events about a part of what it would become.
    fn missed(&self, shape: &Shape, part: &Part, all: &[u32; 32], created: u32) -> bool {
        let strict = shape.monitor.strict;
        part.stamp.is_some_and(|stamp| {
            let time = self.stamp(shape, stamp, all);
            if strict { time != 0 } else { time > created }
        }) || part.domain.is_some_and(|domain| {
            let id = self.exact(shape, domain, all);
            id != NONE && (strict || self.slabs[domain].word(id, shape.domains[domain].time) < created)
        })
    }

    /// Whether a part has a state, or happened before.
    fn known(&self, shape: &Shape, part: &Part, all: &[u32; 32]) -> bool {
        part.stamp.is_some_and(|stamp| self.stamp(shape, stamp, all) != 0)
            || part.domain.is_some_and(|domain| self.exact(shape, domain, all) != NONE)
    }

    /// Whether a binding is injective and satisfies the constraint.
    fn allowed(&self, shape: &Shape, all: &[u32; 32], out: &Out<'_>) -> bool {
        let bound = || (0..shape.monitor.parameters.len() as u32).filter(|&own| all[own as usize] != NONE);
        let handle = |own: u32| match &self.things[own as usize] {
            Some(things) => things.value[all[own as usize] as usize],
            None => all[own as usize],
        };
        // Parameters of such a monitor are of one class.
        if shape.injective && bound().any(|a| bound().any(|b| a < b && handle(a) == handle(b))) {
            return false;
        }
        let Some(condition) = &shape.monitor.constraint else { return true };
        let mut numbers = Numbers::default();
        let constraint = Constraint::new(out.program, condition, &mut numbers);
        let mut binding = Binding::empty(shape.monitor.parameters.len());
        for own in bound() {
            binding.0[own as usize] = Some(numbers.of(self.value(own, all[own as usize], out)));
        }
        constraint.satisfiable(&binding, &numbers)
    }

    /// A thing ends.
    pub fn end(&mut self, shape: &Shape, parameter: u32, value: Handle, out: &mut Out<'_>) {
        let Some(things) = &mut self.things[parameter as usize] else { return };
        let thing = things.get(value);
        if thing == NONE {
            return;
        }
        things.current[value as usize] = NONE;
        self.ended += 1;
        for (domain, own) in shape.domains.iter().enumerate() {
            let Some(index) = own.indexes.iter().position(|index| index.set == 1 << parameter) else {
                continue;
            };
            let mut at = self.slabs[domain].head(own, index, &[thing]);
            while at != NONE {
                let word = self.slabs[domain].word(at, 0);
                self.judge(shape, domain, at, out);
                *self.slabs[domain].word_mut(at, own.dead) |= 1 << parameter;
                match word & SPENT != 0 {
                    // It counts as garbage from its first dead thing on.
                    true if self.slabs[domain].word(at, own.dead) == 1 << parameter => {
                        self.slabs[domain].spent += 1
                    }
                    true => {}
                    false => drop(self.spend(shape, domain, at)),
                }
                at = self.slabs[domain].next(own, index, at);
            }
        }
        let spent: usize = self.slabs.iter().map(|slab| slab.spent).sum();
        if spent > 1024 + self.live() / 2 || self.ended > 4096 + 2 * self.live() {
            self.sweep(shape);
        }
    }

    /// Says so of a binding that is over and violates its formula.
    fn judge(&mut self, shape: &Shape, domain: usize, id: u32, out: &mut Out<'_>) {
        if self.violates(shape, domain, id) {
            *self.slabs[domain].word_mut(id, 0) |= once(Category::Violation);
            self.report(shape, domain, id, Category::Violation, out);
        }
    }

    /// The trace is over.
    pub fn finish(&self, shape: &Shape, out: &mut Out<'_>) {
        if !shape.outputs.iter().any(|output| output.violated_at_end) {
            return;
        }
        for domain in 0..self.slabs.len() {
            for id in self.slabs[domain].ids().filter(|&id| self.violates(shape, domain, id)) {
                self.report(shape, domain, id, Category::Violation, out);
            }
        }
    }

    /// Whether a binding that is over violates its formula, and nobody was told.
    fn violates(&self, shape: &Shape, domain: usize, id: u32) -> bool {
        let word = self.slabs[domain].word(id, 0);
        shape.outputs[(word & STATE) as usize].violated_at_end && word & once(Category::Violation) == 0
    }

    /// Drops the bindings with dead things of which nothing is reported again, and the things that nobody names.
    ///
    /// A binding that is to be made larger asks for others with the same things, so those of dead things stay as long as such
    /// a binding does.
    pub fn sweep(&mut self, shape: &Shape) {
        let mut asked: Vec<Vec<bool>> = self
            .things
            .iter()
            .map(|things| vec![false; things.as_ref().map_or(0, |own| own.value.len())])
            .collect();
        for (domain, own) in shape.domains.iter().enumerate().filter(|(_, own)| own.source) {
            for id in self.slabs[domain].ids().filter(|&id| self.slabs[domain].word(id, 0) & SPENT == 0) {
                for (nth, &parameter) in
                    own.parameters.iter().enumerate().filter(|(_, own)| shape.ended[**own as usize])
                {
                    asked[parameter as usize][self.slabs[domain].value(own, id, nth) as usize] = true;
                }
            }
        }
        for (domain, own) in shape.domains.iter().enumerate() {
            let kept = |slab: &Slab, id: u32| {
                let dead = if own.on > own.dead { slab.word(id, own.dead) } else { 0 };
                let needed = |(nth, &parameter): (usize, &u32)| {
                    dead >> parameter & 1 == 0
                        || shape.rejoin[parameter as usize]
                            && asked[parameter as usize][slab.value(own, id, nth) as usize]
                };
                slab.word(id, 0) & SPENT == 0 || own.parameters.iter().enumerate().all(needed)
            };
            self.slabs[domain].rebuild(own, kept);
        }
        // What is named by bindings, or alive.
        let mut named = asked;
        for (domain, own) in shape.domains.iter().enumerate() {
            for id in self.slabs[domain].ids() {
                for (nth, &parameter) in
                    own.parameters.iter().enumerate().filter(|(_, own)| shape.ended[**own as usize])
                {
                    named[parameter as usize][self.slabs[domain].value(own, id, nth) as usize] = true;
                }
            }
        }
        let gone = |parameter: u32, thing: u32, things: &[Option<Things>]| match &things[parameter as usize] {
            Some(own) => own.is_dead(thing) && !named[parameter as usize][thing as usize],
            None => false,
        };
        for (stamps, parameters) in self.stamps.iter_mut().zip(&shape.stamps) {
            let things = &self.things;
            stamps.retain(|key| {
                !parameters.iter().zip(key).any(|(&parameter, &thing)| gone(parameter, thing, things))
            });
        }
        let mut stamped = named;
        for (stamps, parameters) in self.stamps.iter().zip(&shape.stamps) {
            for (key, _) in stamps.all() {
                for (&parameter, thing) in
                    parameters.iter().zip(key).filter(|(own, _)| shape.ended[**own as usize])
                {
                    stamped[parameter as usize][thing as usize] = true;
                }
            }
        }
        for (things, named) in self.things.iter_mut().zip(&stamped) {
            let Some(own) = things else { continue };
            own.free = (0..own.value.len() as u32).filter(|&thing| !named[thing as usize]).collect();
            for &thing in &own.free {
                let value = std::mem::replace(&mut own.value[thing as usize], NONE);
                // One that is alive, and of which nothing is known.
                if value != NONE && own.current[value as usize] == thing {
                    own.current[value as usize] = NONE;
                }
            }
        }
        self.ended = 0;
    }

    /// Marks the values that are named, by class.
    pub fn mark(&self, shape: &Shape, classes: &[usize], used: &mut [Vec<bool>]) {
        let mut mark = |parameter: u32, thing: u32| {
            let handle = match &self.things[parameter as usize] {
                Some(things) => things.value[thing as usize],
                None => thing,
            };
            if let Some(place) = used[classes[parameter as usize]].get_mut(handle as usize) {
                *place = true;
            }
        };
        for (slab, own) in self.slabs.iter().zip(&shape.domains) {
            for id in slab.ids() {
                own.parameters
                    .iter()
                    .enumerate()
                    .for_each(|(nth, &parameter)| mark(parameter, slab.value(own, id, nth)));
            }
        }
        for (stamps, parameters) in self.stamps.iter().zip(&shape.stamps) {
            for (key, _) in stamps.all() {
                parameters.iter().zip(key).for_each(|(&parameter, thing)| mark(parameter, thing));
            }
        }
        for (parameter, things) in self.things.iter().enumerate() {
            let own = things
                .iter()
                .flat_map(|things| (0..things.value.len() as u32).filter(|&thing| !things.is_dead(thing)));
            own.for_each(|thing| mark(parameter as u32, thing));
        }
    }
}
