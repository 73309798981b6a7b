//! Algorithm D: the bindings of a group of monitors and what an event does to them.
//!
//! An event steps the bindings that contain what it is about, found by an index. Where its own binding is not there, it makes larger
//! ones of those that ENABLE names and creates its own. Stamps say when events about a binding without a state happened, which is
//! what tells whether a binding that is to be made larger missed some.

mod define;
mod ends;

use crate::group::{Group, Lane, RARE};
use crate::shape::{Shape, once};
use crate::slab::{SPENT, STATE, Slab};
use crate::stamps::Stamps;
use crate::things::Things;
use crate::values::{Handle, NONE, Values};
use crate::{Found, Plan};
use tw_core::Value;
use tw_ir::monitor::Category;

/// What a group of monitors keeps.
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
    pub position: Option<u64>,
    pub order: u32,
    pub values: &'a [Values],
    pub plan: &'a Plan,
}

/// Steps a word, unless that is rare: then it says so.
#[inline(always)]
fn advance(lane: &Lane, word: &mut u32, event: usize, dead: u32) -> u64 {
    let spent = *word & SPENT != 0;
    let next = lane.step(*word, event) | dead;
    if next & RARE == 0 && !spent {
        *word = *word & !STATE | next;
    }
    u64::from(next & RARE != 0 && !spent)
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

    /// How many values it names, at most.
    pub fn names(&self) -> usize {
        let things: usize = self.things.iter().flatten().map(|own| own.value.len()).sum();
        self.live() * self.things.len() + things + self.stamps.iter().map(Stamps::names).sum::<usize>()
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.slabs.iter().map(Slab::heap_bytes).sum::<usize>()
            + self.stamps.iter().map(Stamps::heap_bytes).sum::<usize>()
            + self.things.iter().flatten().map(Things::heap_bytes).sum::<usize>()
    }

    fn tick(&mut self, shape: &Shape) -> u32 {
        if self.tick == u32::MAX {
            self.renumber(shape);
        }
        self.tick += 1;
        self.tick
    }

    /// Times close up; only their order matters.
    #[cold]
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

    /// An event about the values in `row`, which are those of the event's parameters, ascending.
    #[inline]
    pub fn event(&mut self, group: &Group, number: usize, row: &[Handle], out: &mut Out<'_>) {
        if let Some(domain) = group.quick[number] {
            let own = row.first().copied().unwrap_or(0);
            if let Some(word) = self.slabs[domain].direct_word(own) {
                if advance(&group.lanes[0], word, number, 0) != 0 {
                    self.step_rarely(group, domain, own, number, 1, out);
                }
            } else if group.shape.events[number].defines {
                self.define(group, number, row, out);
            }
            return;
        }
        if !group.shape.events[number].ended {
            return self.event_about(group, number, row, out);
        }
        let mut key = [0u32; 32];
        let parameters = &group.shape.events[number].parameters;
        for ((key, &(parameter, _)), &value) in key.iter_mut().zip(parameters).zip(row) {
            *key = match &mut self.things[parameter as usize] {
                Some(things) => things.of(value),
                None => value,
            };
        }
        self.event_about(group, number, &key[..row.len()], out);
    }

    /// An event about things.
    #[inline(always)]
    fn event_about(&mut self, group: &Group, number: usize, key: &[u32], out: &mut Out<'_>) {
        let event = &group.shape.events[number];
        let mut own = NONE;
        if let Some(domain) = event.own {
            let shape = &group.shape.domains[domain];
            own = match shape.direct {
                true => self.slabs[domain].direct(key.first().copied().unwrap_or(0)),
                false => self.slabs[domain].likely_head(shape, shape.exact, key),
            };
            if own != NONE {
                self.step(group, domain, own, number, out);
            }
        }
        for &(domain, index) in &event.steps {
            self.walk(group, domain, index, key, number, out);
        }
        if own == NONE && event.defines {
            self.define(group, number, key, out);
        }
    }

    /// Looks at what events about these values will look at. What it finds is not used: it is near when it is.
    pub fn ask_ahead<'r>(
        &self,
        group: &Group,
        number: usize,
        rows: impl Iterator<Item = &'r [Handle]> + Clone,
        asked: &mut Vec<u32>,
    ) {
        let event = &group.shape.events[number];
        if event.ended {
            return;
        }
        if let Some(domain) = event.own {
            let shape = &group.shape.domains[domain];
            let index = (!shape.direct).then_some(shape.exact);
            self.slabs[domain].ask_ahead(shape, index, rows.clone(), asked);
        }
        for &(domain, index) in &event.steps {
            self.slabs[domain].ask_ahead(&group.shape.domains[domain], Some(index), rows.clone(), asked);
        }
        if let Some(stamp) = event.stamp {
            self.stamps[stamp].ask_ahead(rows);
        }
    }

    /// Steps every record in a list.
    fn walk(
        &mut self,
        group: &Group,
        domain: usize,
        index: usize,
        key: &[u32],
        event: usize,
        out: &mut Out<'_>,
    ) {
        let own = &group.shape.domains[domain];
        let fixed = own.indexes[index].fixed;
        let mut before = NONE;
        let mut at = self.slabs[domain].likely_head(own, index, key);
        while at != NONE {
            let next = self.slabs[domain].next(own, index, at);
            let mut needed = group.is_needed(domain, index, self.slabs[domain].record(at));
            if needed {
                self.step(group, domain, at, event, out);
                needed = fixed || group.is_needed(domain, index, self.slabs[domain].record(at));
            }
            match fixed || needed {
                true => before = at,
                false => self.slabs[domain].leave(own, index, key, before, at),
            }
            at = next;
        }
    }

    /// Steps the lanes of a record, and reports.
    #[inline(always)]
    fn step(&mut self, group: &Group, domain: usize, id: u32, event: usize, out: &mut Out<'_>) {
        let own = &group.shape.domains[domain];
        let record = self.slabs[domain].record_mut(id);
        // What is worth keeping depends on what is dead.
        let dead = if own.on > own.dead && record[own.dead] != 0 { RARE } else { 0 };
        let rare = match &group.lanes[..] {
            [lane] => advance(lane, &mut record[0], event, dead),
            lanes => {
                let each = lanes.iter().zip(record).enumerate();
                each.fold(0, |rare, (nth, (lane, word))| rare | advance(lane, word, event, dead) << nth)
            }
        };
        if rare != 0 {
            self.step_rarely(group, domain, id, event, rare, out);
        }
    }

    /// Steps the lanes in which something is to be told, lists are entered, or nothing will be told again.
    fn step_rarely(
        &mut self,
        group: &Group,
        domain: usize,
        id: u32,
        event: usize,
        mut lanes: u64,
        out: &mut Out<'_>,
    ) {
        let mut changed = false;
        while lanes != 0 {
            let nth = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let lane = &group.lanes[nth];
            let word = self.slabs[domain].word(id, nth);
            let state = lane.step(word, event) & !RARE;
            let output = lane.outputs[state as usize];
            let mut after = word & !STATE | state;
            if let Some(category) = output.report
                && (output.once == 0 || word & output.once == 0)
            {
                after |= output.once;
                self.report(group, domain, id, lane, category, out);
            }
            *self.slabs[domain].word_mut(id, nth) = after;
            if after != word {
                changed = true;
                self.spend(group, domain, id, nth);
            }
        }
        if changed {
            self.slabs[domain].enter_all(group, domain, id, false);
        }
    }

    /// Notes that nothing will be reported of a new binding again, where that is so.
    #[inline]
    fn spend_new(&mut self, group: &Group, domain: usize, id: u32) {
        let own = &group.shape.domains[domain];
        for (nth, lane) in group.lanes.iter().enumerate() {
            let record = self.slabs[domain].record(id);
            if own.on > own.dead && record[own.dead] != 0 || !lane.stays(record[nth]) {
                self.spend(group, domain, id, nth);
            }
        }
    }

    /// Notes that nothing will be reported of a binding in a lane again: what could, needs things that are dead.
    fn spend(&mut self, group: &Group, domain: usize, id: u32, nth: usize) {
        let own = &group.shape.domains[domain];
        let lane = &group.lanes[nth];
        let slab = &mut self.slabs[domain];
        let word = slab.word(id, nth);
        let ends = own.on > own.dead;
        let dead = if ends { slab.word(id, own.dead) } else { 0 };
        let output = lane.outputs[(word & STATE) as usize];
        let told = !output.violated_at_end || word & once(Category::Violation) != 0;
        // Who has failed, or violates the formula, does so for good; but a larger binding made of it is told of it anew.
        let settled =
            !own.source && output.once & (once(Category::Fail) | once(Category::Violation)) & word != 0;
        let useful = !settled && lane.useful[(word & STATE) as usize].iter().any(|set| set & dead == 0);
        if word & SPENT == 0 && told && !useful {
            // A category that is told once may lie ahead of a larger binding with this state, but not of this one.
            *slab.word_mut(id, nth) |= SPENT;
            if dead != 0 && group.is_spent(slab.record(id)) {
                slab.spent += 1;
            }
        }
    }

    fn report(
        &self,
        group: &Group,
        domain: usize,
        id: u32,
        lane: &Lane,
        category: Category,
        out: &mut Out<'_>,
    ) {
        let own = &group.shape.domains[domain];
        let mut bindings: Vec<Option<Value>> = vec![None; group.shape.monitor.parameters.len()];
        for (nth, &parameter) in own.parameters.iter().enumerate() {
            let thing = self.slabs[domain].value(own, id, nth);
            bindings[parameter as usize] = Some(self.value(group, parameter, thing, out));
        }
        out.found.push(Found {
            monitor: lane.monitor,
            position: out.position,
            order: out.order,
            bindings,
            category,
        });
    }

    fn value(&self, group: &Group, parameter: u32, thing: u32, out: &Out<'_>) -> Value {
        let handle = match &self.things[parameter as usize] {
            Some(things) => things.value[thing as usize],
            None => thing,
        };
        let classes = &out.plan.classes[group.lanes[0].monitor];
        out.values[classes[parameter as usize]].value(handle)
    }
}
