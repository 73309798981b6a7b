//! The state of a shard as bytes. Each property's state stands with its fingerprint, so that it goes on under another
//! specification wherever that means the same, and nowhere else.

use super::shard::Place;
use super::{Fingerprint, ShardMonitor};
use crate::Error;
use rustc_hash::FxHashSet;
use tw_core::codec::Corrupt;
use tw_core::codec::{
    put, put_bytes, put_option, put_text, take, take_bytes, take_len, take_option, take_text,
};

const HEADER: &[u8] = b"tracewise shard 3\n";

/// What became of the state that was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Properties and queries that go on, by number in [`Plan::properties`](super::Plan::properties).
    pub kept: Vec<usize>,
    /// Those that begin anew, at the next position of each key: they are new, or mean something else than before.
    pub anew: Vec<usize>,
    /// The names of those whose state belongs to nothing in this plan.
    pub dropped: Vec<String>,
}

/// The saved state of one property.
struct Saved<'s> {
    name: std::sync::Arc<str>,
    fingerprint: Fingerprint,
    engine: std::sync::Arc<str>,
    states: &'s [u8],
    taken: bool,
}

impl ShardMonitor {
    /// The whole state.
    pub fn snapshot(&mut self) -> Vec<u8> {
        let mut out = HEADER.to_vec();
        put_text(&self.manner(), &mut out);
        put(self.positions as u64, &mut out);
        put_option(self.now, &mut out);
        // Numbers that nobody has are kept, so that keys get the same ones as without an interruption.
        put(self.keys.bound() as u64, &mut out);
        (0..self.keys.bound()).for_each(|key| put_text(self.keys.text(key), &mut out));
        put(self.keys.free().len() as u64, &mut out);
        self.keys.free().iter().for_each(|&key| put(u64::from(key), &mut out));
        (0..self.keys.bound()).for_each(|key| put_option(self.idles.last(key), &mut out));
        put(self.last.len() as u64, &mut out);
        self.last.iter().for_each(|last| put_option(*last, &mut out));
        put(self.monitors.len() as u64, &mut out);
        let (mut states, mut state) = (Vec::new(), Vec::new());
        for (property, planned) in self.plan.properties().iter().enumerate() {
            put_text(&planned.name, &mut out);
            out.extend(planned.fingerprint.0);
            put_text(planned.engine, &mut out);
            states.clear();
            for key in 0..self.keys.bound() {
                let place = self.places[key * self.monitors.len() + property];
                match (place.trace(), place.verdict()) {
                    (Some(trace), _) => {
                        state.clear();
                        self.monitors[property].select(trace);
                        self.monitors[property].save(&mut state);
                        put(3, &mut states);
                        put_bytes(&state, &mut states);
                    }
                    (None, Some(holds)) => put(1 + u64::from(holds), &mut states),
                    (None, None) => put(0, &mut states),
                }
            }
            put_bytes(&states, &mut out);
        }
        if let Some(parametric) = &self.parametric {
            out.extend(self.plan.meaning());
            states.clear();
            (0..self.keys.bound() as u32).for_each(|key| parametric.save(key, &mut states));
            put_bytes(&states, &mut out);
        }
        let hash = blake3::hash(&out);
        out.extend(hash.as_bytes());
        out
    }

    /// Goes on from a snapshot, of this plan or of another: properties and queries that mean what they meant keep their state,
    /// whatever they are called now and wherever they stand, as long as the same engine runs them. After an error the monitor
    /// is as new.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<Restored, Error> {
        self.clear()?;
        match self.load(snapshot) {
            Ok(restored) => Ok(restored),
            Err(Corrupt(why)) => {
                self.clear()?;
                Err(Error::refused(format!("cannot resume: {why}")))
            }
        }
    }

    fn load(&mut self, snapshot: &[u8]) -> Result<Restored, Corrupt> {
        let damaged = || Corrupt("the snapshot is damaged, or is none".into());
        let (body, hash) = snapshot.split_last_chunk::<32>().ok_or_else(damaged)?;
        let mut from =
            body.strip_prefix(HEADER).filter(|_| blake3::hash(body) == *hash).ok_or_else(damaged)?;
        let from = &mut from;
        let (manner, mine) = (take_text(from)?, self.manner());
        if *manner != *mine {
            return Err(Corrupt(format!("the snapshot is of {manner}, this monitor is of {mine}")));
        }
        self.positions = take(from)? as usize;
        self.now = take_option(from)?;
        let keys = take_len(from)?;
        let mut texts = Vec::with_capacity(keys.min(from.len()));
        for _ in 0..keys {
            texts.push(take_text(from)?);
        }
        let mut free = Vec::new();
        for _ in 0..take_len(from)? {
            let number = u32::try_from(take(from)?).ok().filter(|&number| (number as usize) < keys);
            free.push(number.ok_or_else(damaged)?);
        }
        let mut nobodys: FxHashSet<u32> = FxHashSet::default();
        if free.iter().any(|&number| !nobodys.insert(number)) {
            return Err(damaged());
        }
        for (number, text) in texts.iter().enumerate() {
            // A text that no other has, until the number is free again.
            let unique = format!("\0{number}");
            let text = if nobodys.contains(&(number as u32)) { &unique } else { &**text };
            if self.number(text) as usize != number {
                return Err(Corrupt("the snapshot has a key twice".into()));
            }
        }
        self.keys.put_free(free);
        for key in 0..keys as u32 {
            if let Some(last) = take_option(from)? {
                self.idles.seen(key, last, self.ending.idle);
            }
        }
        let last = take_len(from)?;
        if last > keys {
            return Err(damaged());
        }
        self.last = (0..last).map(|_| take_option(from)).collect::<Result<_, _>>()?;
        let mut saved = Vec::new();
        for _ in 0..take_len(from)? {
            let name = take_text(from)?;
            let (fingerprint, rest) = from.split_first_chunk::<32>().ok_or_else(damaged)?;
            *from = rest;
            let (fingerprint, engine) = (Fingerprint(*fingerprint), take_text(from)?);
            saved.push(Saved { name, fingerprint, engine, states: take_bytes(from)?, taken: false });
        }
        let mut monitors = None;
        if !from.is_empty() {
            let (meaning, rest) = from.split_first_chunk::<32>().ok_or_else(damaged)?;
            *from = rest;
            monitors = Some((*meaning, take_bytes(from)?));
        }
        if !from.is_empty() {
            return Err(damaged());
        }
        let mut restored = Restored::default();
        let plan = self.plan.clone();
        for (property, planned) in plan.properties().iter().enumerate() {
            let same = |saved: &Saved<'_>| {
                !saved.taken && saved.fingerprint == planned.fingerprint && *saved.engine == *planned.engine
            };
            // Of several that mean the same, the one of the same name.
            let named = saved.iter().position(|saved| same(saved) && *saved.name == planned.name);
            match named.or_else(|| saved.iter().position(same)) {
                Some(found) => {
                    saved[found].taken = true;
                    self.load_property(property, saved[found].states)?;
                    restored.kept.push(property);
                }
                None => restored.anew.push(property),
            }
        }
        if let Some(parametric) = &mut self.parametric {
            // They share their values, and go on together or not at all.
            let numbers = (0..plan.program().monitors.len()).map(|own| plan.properties().len() + own);
            match monitors.filter(|(meaning, _)| *meaning == plan.meaning()) {
                Some((_, mut states)) => {
                    for key in 0..keys as u32 {
                        parametric.load(key, &mut states)?;
                    }
                    if !states.is_empty() {
                        return Err(damaged());
                    }
                    restored.kept.extend(numbers);
                }
                None => restored.anew.extend(numbers),
            }
        }
        let dropped = saved.iter().filter(|saved| !saved.taken);
        restored.dropped = dropped.map(|saved| saved.name.to_string()).collect();
        Ok(restored)
    }

    fn load_property(&mut self, property: usize, mut from: &[u8]) -> Result<(), Corrupt> {
        let from = &mut from;
        for key in 0..self.keys.bound() {
            let place = match take(from)? {
                0 => Place::NEW,
                1 => Place::FAILS,
                2 => Place::HOLDS,
                _ => {
                    let state = take_bytes(from)?;
                    let monitor = &mut self.monitors[property];
                    let trace = monitor.open();
                    monitor.select(trace);
                    monitor.restore(state)?;
                    self.deadlines.set(key as u32, property, monitor.next_deadline());
                    Place::of(trace)
                }
            };
            self.places[key * self.monitors.len() + property] = place;
        }
        if from.is_empty() { Ok(()) } else { Err(Corrupt("the snapshot is longer than it should be".into())) }
    }

    /// What two monitors must have in common for one to go on where the other stopped, beside the properties.
    fn manner(&self) -> String {
        let options = self.plan.options();
        let key = self.key.as_ref().map_or("no key".to_string(), |key| format!("the key `{key}`"));
        format!(
            "{key}, semantics {}, clock {:?}, unit {}, telling {:?}",
            options.semantics.name(),
            options.clock,
            options.unit.name(),
            options.telling
        ) + &self.ending.idle.map_or(String::new(), |idle| format!(", idle {idle} ns"))
    }
}
