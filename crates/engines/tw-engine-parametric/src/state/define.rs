//! What an event makes whose own binding is not there.

use super::{Out, State};
use crate::group::Group;
use crate::shape::{Part, Shape};
use crate::slab::{STATE, USED};
use crate::values::NONE;
use tw_slicing::{Binding, Constraint, Objects as Numbers};

/// By parameter the thing that it is bound to; what is not bound says nothing.
type About = [u32; 32];

impl State {
    /// Larger bindings, its own, and a note that it happened.
    pub(super) fn define(&mut self, group: &Group, number: usize, key: &[u32], out: &mut Out<'_>) {
        let shape = &group.shape;
        let event = &shape.events[number];
        if event.joins.is_empty()
            && !shape.checked
            && event.new.as_ref().is_none_or(|(_, parts)| parts.is_empty())
        {
            // Nothing has to be looked at.
            if let Some((target, _)) = &event.new {
                let time = if shape.timed { self.tick(shape) } else { 0 };
                self.add(group, *target, key, None, time, number, out);
            }
        } else {
            let mut about = [NONE; 32];
            for (&(parameter, _), &thing) in event.parameters.iter().zip(key) {
                about[parameter as usize] = thing;
            }
            if shape.checked && !self.allowed(group, event.set, &about, out) {
                return;
            }
            self.join(group, number, &about, out);
            if let Some((target, parts)) = &event.new
                && self.exact(shape, *target, &about) == NONE
                && !parts.iter().any(|part| self.known(shape, part, &about))
            {
                let time = if shape.timed { self.tick(shape) } else { 0 };
                self.add(group, *target, key, None, time, number, out);
            }
        }
        if let Some(stamp) = event.stamp {
            let time = self.tick(shape);
            self.stamps[stamp].set(key, time);
        }
    }

    /// Makes bindings larger by what an event is about.
    fn join(&mut self, group: &Group, number: usize, about: &About, out: &mut Out<'_>) {
        let shape = &group.shape;
        for join in &shape.events[number].joins {
            let source = &shape.domains[join.source];
            let target = &shape.domains[join.target];
            let mut at = match join.index == NONE as usize {
                true => self.exact(shape, join.source, about),
                false => {
                    let mut part = [0u32; 32];
                    let index = &source.indexes[join.index];
                    for (nth, &place) in index.places.iter().enumerate() {
                        part[nth] = about[source.parameters[place] as usize];
                    }
                    self.slabs[join.source].likely_head(source, join.index, &part[..index.places.len()])
                }
            };
            let mut all = *about;
            while at != NONE {
                let next = match join.index == NONE as usize {
                    true => NONE,
                    false => self.slabs[join.source].next(source, join.index, at),
                };
                for (nth, &parameter) in source.parameters.iter().enumerate() {
                    all[parameter as usize] = self.slabs[join.source].value(source, at, nth);
                }
                let created = self.slabs[join.source].word(at, source.time);
                let defined = self.exact(shape, join.target, &all) != NONE;
                if !defined
                    && !join.parts.iter().any(|part| self.missed(shape, part, &all, created))
                    && (!shape.checked || self.allowed(group, target.set, &all, out))
                {
                    let mut values = [0u32; 32];
                    target
                        .parameters
                        .iter()
                        .zip(&mut values)
                        .for_each(|(&own, value)| *value = all[own as usize]);
                    let values = &values[..target.parameters.len()];
                    self.add(group, join.target, values, Some((join.source, at)), created, number, out);
                }
                at = next;
            }
        }
    }

    /// Adds a binding in the states of another, and steps it.
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        group: &Group,
        domain: usize,
        values: &[u32],
        from: Option<(usize, u32)>,
        created: u32,
        event: usize,
        out: &mut Out<'_>,
    ) {
        let own = &group.shape.domains[domain];
        let id = self.slabs[domain].add(own, values);
        if let Some((source, of)) = from {
            for lane in 0..group.lanes.len() {
                let state = self.slabs[source].word(of, lane) & STATE;
                *self.slabs[domain].word_mut(id, lane) = state | if lane == 0 { USED } else { 0 };
            }
        }
        if group.shape.timed {
            *self.slabs[domain].word_mut(id, own.time) = created;
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
        self.step(group, domain, id, event, out);
        self.spend_new(group, domain, id);
        self.slabs[domain].enter_all(group, domain, id, true);
    }

    /// The record of a binding, all of whose parameters are in `all`.
    #[inline]
    fn exact(&self, shape: &Shape, domain: usize, all: &About) -> u32 {
        let own = &shape.domains[domain];
        let slab = &self.slabs[domain];
        match (own.direct, &own.parameters[..]) {
            (true, &[]) => slab.direct(0),
            (true, &[parameter, ..]) => slab.direct(all[parameter as usize]),
            (false, parameters) => {
                let mut key = [0u32; 32];
                parameters.iter().zip(&mut key).for_each(|(&own, key)| *key = all[own as usize]);
                slab.head(own, own.exact, &key[..parameters.len()])
            }
        }
    }

    /// The stamp of a part.
    fn stamp(&self, shape: &Shape, stamp: usize, all: &About) -> u32 {
        let mut key = [0u32; 32];
        let parameters = &shape.stamps[stamp];
        parameters.iter().zip(&mut key).for_each(|(&own, key)| *key = all[own as usize]);
        self.stamps[stamp].get(&key[..parameters.len()])
    }

    /// Whether a binding created at a time has missed events about a part of what it would become.
    fn missed(&self, shape: &Shape, part: &Part, all: &About, created: u32) -> bool {
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
    fn known(&self, shape: &Shape, part: &Part, all: &About) -> bool {
        part.stamp.is_some_and(|stamp| self.stamp(shape, stamp, all) != 0)
            || part.domain.is_some_and(|domain| self.exact(shape, domain, all) != NONE)
    }

    /// Whether a binding of a set of parameters is injective and satisfies the constraint.
    fn allowed(&self, group: &Group, set: u32, all: &About, out: &Out<'_>) -> bool {
        let shape = &group.shape;
        let bound = || (0..shape.monitor.parameters.len() as u32).filter(|own| set >> own & 1 == 1);
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
        let constraint = Constraint::new(&out.plan.program, condition, &mut numbers);
        let mut binding = Binding::empty(shape.monitor.parameters.len());
        for own in bound() {
            binding.0[own as usize] = Some(numbers.of(&self.value(group, own, all[own as usize], out)));
        }
        constraint.satisfiable(&binding, &numbers)
    }
}
