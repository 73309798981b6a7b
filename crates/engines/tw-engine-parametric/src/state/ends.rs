//! What ends: things, the trace, and bindings of which nothing will be told again.

use super::{Out, State};
use crate::group::Group;
use crate::shape::once;
use crate::slab::{STATE, Slab};
use crate::things::Things;
use crate::values::{Handle, NONE};
use tw_ir::monitor::Category;

impl State {
    /// A thing ends.
    pub fn end(&mut self, group: &Group, parameter: u32, value: Handle, out: &mut Out<'_>) {
        let shape = &group.shape;
        let Some(things) = &mut self.things[parameter as usize] else { return };
        let thing = things.current.get(value);
        if thing == NONE {
            return;
        }
        things.current.set(value, NONE);
        self.ended += 1;
        for (domain, own) in shape.domains.iter().enumerate() {
            let Some(index) = own.indexes.iter().position(|index| index.set == 1 << parameter) else {
                continue;
            };
            let mut at = self.slabs[domain].head(own, index, &[thing]);
            while at != NONE {
                self.judge(group, domain, at, out);
                let spent = group.is_spent(self.slabs[domain].record(at));
                *self.slabs[domain].word_mut(at, own.dead) |= 1 << parameter;
                match spent {
                    // It counts as garbage from its first dead thing on.
                    true if self.slabs[domain].word(at, own.dead) == 1 << parameter => {
                        self.slabs[domain].spent += 1
                    }
                    true => {}
                    false => (0..group.lanes.len()).for_each(|lane| self.spend(group, domain, at, lane)),
                }
                at = self.slabs[domain].next(own, index, at);
            }
        }
        let spent: usize = self.slabs.iter().map(|slab| slab.spent).sum();
        if spent > 1024 + self.live() / 2 || self.ended > 4096 + 2 * self.live() {
            self.sweep(group);
        }
    }

    /// Says so of a binding that is over and violates its formula.
    fn judge(&mut self, group: &Group, domain: usize, id: u32, out: &mut Out<'_>) {
        for (nth, lane) in group.lanes.iter().enumerate() {
            if self.violates(group, domain, id, nth) {
                *self.slabs[domain].word_mut(id, nth) |= once(Category::Violation);
                self.report(group, domain, id, lane, Category::Violation, out);
            }
        }
    }

    /// The trace is over.
    pub fn finish(&self, group: &Group, out: &mut Out<'_>) {
        for (nth, lane) in group.lanes.iter().enumerate() {
            if !lane.outputs.iter().any(|output| output.violated_at_end) {
                continue;
            }
            for domain in 0..self.slabs.len() {
                for id in self.slabs[domain].ids().filter(|&id| self.violates(group, domain, id, nth)) {
                    self.report(group, domain, id, lane, Category::Violation, out);
                }
            }
        }
    }

    /// Whether a binding that is over violates its formula, and nobody was told.
    fn violates(&self, group: &Group, domain: usize, id: u32, lane: usize) -> bool {
        let word = self.slabs[domain].word(id, lane);
        group.lanes[lane].outputs[(word & STATE) as usize].violated_at_end
            && word & once(Category::Violation) == 0
    }

    /// Drops the bindings with dead things of which nothing is reported again, and the things that nobody names.
    ///
    /// A binding that is to be made larger asks for others with the same things, so those of dead things stay as long as such
    /// a binding does.
    pub fn sweep(&mut self, group: &Group) {
        let shape = &group.shape;
        let mut asked: Vec<Vec<bool>> = self
            .things
            .iter()
            .map(|things| vec![false; things.as_ref().map_or(0, |own| own.value.len())])
            .collect();
        for (domain, own) in shape.domains.iter().enumerate().filter(|(_, own)| own.source) {
            let slab = &self.slabs[domain];
            for id in slab.ids().filter(|&id| !group.is_spent(slab.record(id))) {
                for (nth, &parameter) in
                    own.parameters.iter().enumerate().filter(|(_, own)| shape.ended[**own as usize])
                {
                    asked[parameter as usize][slab.value(own, id, nth) as usize] = true;
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
                !group.is_spent(slab.record(id)) || own.parameters.iter().enumerate().all(needed)
            };
            self.slabs[domain].rebuild(group, domain, kept);
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
                if value != NONE && own.current.get(value) == thing {
                    own.current.set(value, NONE);
                }
            }
        }
        self.ended = 0;
    }

    /// Marks the values that are named, by class.
    pub fn mark(&self, group: &Group, classes: &[usize], used: &mut [Vec<bool>]) {
        let shape = &group.shape;
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
