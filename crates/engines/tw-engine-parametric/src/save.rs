//! States as bytes, for another process to go on from.

use crate::group::{Group, Lane};
use crate::slab::{SPENT, STATE, Slab, USED};
use crate::state::State;
use crate::things::Things;
use crate::values::{NONE, Values, number};
use crate::work::Work;
use crate::{Monitors, Plan};
use tw_core::codec::{Corrupt, put, take, take_len};

impl Monitors {
    /// Writes what it has come to.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.positions, out);
        put(self.works.len() as u64, out);
        for work in &self.works {
            work.values.iter().for_each(|values| values.save(out));
            for (state, group) in work.states.iter().zip(&self.plan.groups) {
                state.iter().for_each(|state| save(state, group, out));
            }
        }
    }

    /// Goes on from what another wrote with the same monitors. It stays divided as it was.
    pub fn restore(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        let plan = self.plan.clone();
        self.positions = take(from)?;
        let shards = take_len(from)? as u32;
        if shards == 0 {
            return Err(Corrupt("the saved state of monitors has no parts".into()));
        }
        self.works.clear();
        for shard in 0..shards {
            let mut work = Work::new(&plan, shard, shards);
            for values in &mut work.values {
                *values = Values::load(from)?;
            }
            for (state, group) in work.states.iter_mut().zip(&plan.groups) {
                if let Some(state) = state {
                    *state = load(&plan, group, &work.values, from)?;
                }
            }
            self.works.push(work);
        }
        Ok(())
    }
}

fn save(state: &State, group: &Group, out: &mut Vec<u8>) {
    put(u64::from(state.tick), out);
    put(state.created, out);
    for things in state.things.iter().flatten() {
        put(things.value.len() as u64, out);
        for (thing, &value) in things.value.iter().enumerate() {
            let free = value == NONE;
            put(if free { 0 } else { u64::from(value) + 1 }, out);
            out.push(u8::from(!free && things.current.get(value) == thing as u32));
        }
    }
    for (slab, own) in state.slabs.iter().zip(&group.shape.domains) {
        put(slab.used as u64, out);
        for id in slab.ids() {
            slab.record(id)[..own.on].iter().for_each(|&word| put(u64::from(word), out));
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

fn load(plan: &Plan, group: &Group, values: &[Values], from: &mut &[u8]) -> Result<State, Corrupt> {
    let shape = &group.shape;
    let mut state = State::new(shape);
    let word = |from: &mut &[u8]| number(from, u32::MAX as usize + 1);
    let len = |parameter: usize| values[plan.classes[group.lanes[0].monitor][parameter]].len();
    (state.tick, state.created) = (word(from)?, take(from)?);
    for (parameter, things) in state.things.iter_mut().enumerate() {
        let Some(things) = things else { continue };
        *things = Things::default();
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
                        things.current.set(value, thing);
                    }
                }
            }
        }
    }
    // How many things a parameter has.
    let limits: Vec<usize> = (0..shape.ended.len())
        .map(|parameter| state.things[parameter].as_ref().map_or(len(parameter), |own| own.value.len()))
        .collect();
    for (domain, (slab, own)) in state.slabs.iter_mut().zip(&shape.domains).enumerate() {
        for _ in 0..take_len(from)? {
            let words: Vec<u32> = (0..own.on).map(|_| word(from)).collect::<Result<_, _>>()?;
            let wrong = |(nth, lane): (usize, &Lane)| {
                let used = if nth == 0 { USED } else { 0 };
                let told = words[nth] & !(STATE | SPENT | 7 << 16);
                (words[nth] & STATE) as usize >= lane.outputs.len() || told != used
            };
            if group.lanes.iter().enumerate().any(wrong) {
                return Err(Corrupt(
                    "the saved state of a monitor holds a state that its automaton lacks".into(),
                ));
            }
            let parts = own.parameters.iter().map(|&parameter| number(from, limits[parameter as usize]));
            let parts: Vec<u32> = parts.collect::<Result<_, _>>()?;
            if own.direct && slab.direct(parts.first().copied().unwrap_or(0)) != NONE {
                return Err(Corrupt("the saved state of a monitor holds a binding twice".into()));
            }
            let id = slab.add(own, &parts);
            slab.record_mut(id)[..own.on].copy_from_slice(&words);
        }
        let keep = |_: &Slab, _: u32| true;
        slab.rebuild(group, domain, keep);
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
