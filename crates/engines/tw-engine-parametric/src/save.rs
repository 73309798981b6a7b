//! States as bytes, for another process to go on from.

use crate::shape::Shape;
use crate::slab::{SPENT, STATE, Slab, USED};
use crate::state::{State, Things};
use crate::values::{NONE, Values, number};
use crate::{Monitors, Plan};
use tw_core::codec::{Corrupt, put, take, take_len};

impl Monitors {
    /// Writes what it has come to.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.positions, out);
        self.values.iter().for_each(|values| values.save(out));
        for (states, shape) in self.states.iter().zip(&self.plan.shapes) {
            put(states.len() as u64, out);
            states.iter().for_each(|state| save(state, shape, out));
        }
    }

    /// Goes on from what another wrote with the same monitors.
    pub fn restore(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        let plan = self.plan.clone();
        self.positions = take(from)?;
        for values in &mut self.values {
            *values = Values::load(from)?;
        }
        for (monitor, shape) in plan.shapes.iter().enumerate() {
            let shards = take_len(from)?;
            if shards == 0 || shards > 1 && shape.shard.is_none() {
                return Err(Corrupt("the saved state of a monitor is divided otherwise".into()));
            }
            let states = (0..shards).map(|_| load(&plan, monitor, &self.values, from));
            self.states[monitor] = states.collect::<Result<_, _>>()?;
        }
        Ok(())
    }
}

fn save(state: &State, shape: &Shape, out: &mut Vec<u8>) {
    put(u64::from(state.tick), out);
    put(state.created, out);
    for things in state.things.iter().flatten() {
        put(things.value.len() as u64, out);
        for (thing, &value) in things.value.iter().enumerate() {
            let free = value == NONE;
            put(if free { 0 } else { u64::from(value) + 1 }, out);
            out.push(u8::from(!free && things.current[value as usize] == thing as u32));
        }
    }
    for (slab, own) in state.slabs.iter().zip(&shape.domains) {
        put(slab.used as u64, out);
        for id in slab.ids() {
            put(u64::from(slab.word(id, 0)), out);
            for place in 1..own.on {
                put(u64::from(slab.word(id, place)), out);
            }
            (0..own.parameters.len()).for_each(|nth| put(u64::from(slab.value(own, id, nth)), out));
        }
    }
    for stamps in &state.stamps {
        let all = stamps.all();
        put(all.len() as u64, out);
        for (key, time) in all {
            key.iter().for_each(|&part| put(u64::from(part), out));
            put(u64::from(time), out);
        }
    }
}

fn load(plan: &Plan, monitor: usize, values: &[Values], from: &mut &[u8]) -> Result<State, Corrupt> {
    let shape = &plan.shapes[monitor];
    let mut state = State::new(shape);
    let word = |from: &mut &[u8]| number(from, u32::MAX as usize + 1);
    let len = |parameter: usize| values[plan.classes[monitor][parameter]].len();
    (state.tick, state.created) = (word(from)?, take(from)?);
    for (parameter, things) in state.things.iter_mut().enumerate() {
        let Some(things) = things else { continue };
        *things = Things { current: vec![NONE; len(parameter)], ..Things::default() };
        for thing in 0..take_len(from)? as u32 {
            match number(from, len(parameter) + 1)?.checked_sub(1) {
                None => {
                    things.value.push(NONE);
                    things.free.push(thing);
                    tw_core::codec::take_byte(from)?;
                }
                Some(value) => {
                    things.value.push(value);
                    if tw_core::codec::take_byte(from)? == 1 {
                        things.current[value as usize] = thing;
                    }
                }
            }
        }
    }
    // How many things a parameter has.
    let limits: Vec<usize> = (0..shape.ended.len())
        .map(|parameter| state.things[parameter].as_ref().map_or(len(parameter), |own| own.value.len()))
        .collect();
    for (slab, own) in state.slabs.iter_mut().zip(&shape.domains) {
        for _ in 0..take_len(from)? {
            let first = word(from)?;
            if (first & STATE) as usize >= shape.automaton.len()
                || first & USED == 0
                || first & !(STATE | USED | SPENT | 7 << 16) != 0
            {
                return Err(Corrupt(
                    "the saved state of a monitor holds a state that its automaton lacks".into(),
                ));
            }
            let rest: Vec<u32> = (1..own.on).map(|_| word(from)).collect::<Result<_, _>>()?;
            let parts = own.parameters.iter().map(|&parameter| number(from, limits[parameter as usize]));
            let parts: Vec<u32> = parts.collect::<Result<_, _>>()?;
            if own.direct && slab.direct(parts.first().copied().unwrap_or(0)) != NONE {
                return Err(Corrupt("the saved state of a monitor holds a binding twice".into()));
            }
            let id = slab.add(own, &parts);
            *slab.word_mut(id, 0) = first;
            rest.iter().enumerate().for_each(|(nth, &word)| *slab.word_mut(id, nth + 1) = word);
        }
        let keep = |_: &Slab, _: u32| true;
        slab.rebuild(own, keep);
    }
    for (stamps, parameters) in state.stamps.iter_mut().zip(&shape.stamps) {
        for _ in 0..take_len(from)? {
            let key = match &parameters[..] {
                [] => vec![number(from, 1)?],
                several => {
                    let parts = several.iter().map(|&parameter| number(from, limits[parameter as usize]));
                    parts.collect::<Result<Vec<u32>, _>>()?
                }
            };
            stamps.set(&key, word(from)?);
        }
    }
    Ok(state)
}
