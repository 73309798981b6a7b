//! Rolling windows: aggregates of the latest positions, of the trace or of each key.
//!
//! A window keeps per key what its aggregate needs of the values inside ([`Rolling`]), how many positions there were, and what
//! the past operators in it remember. A position costs the evaluation of what is aggregated and a step of the aggregate.

use crate::past::{Measure, Memory, Part, Past, take_memories};
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, put_signed, take, take_len, take_signed};
use tw_core::{Batch, Bits, Column, Position, Time, Value};
use tw_ir::{Aggregate, NodeId, Program, SlotId, Window};
use tw_statistics::Rolling;

/// A window, ready to be computed.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    aggregate: Aggregate,
    reach: i64,
    timed: bool,
    past: Past,
    body: Part,
    guard: Option<Part>,
    node: NodeId,
    text: String,
}

/// What a window knows of one key.
#[derive(Clone, Debug)]
pub(crate) struct State {
    rolling: Rolling,
    seen: i64,
    past: Vec<Memory>,
}

/// States by key; a copy shares those that it does not touch.
pub(crate) type States = Vec<Arc<State>>;

/// Where a position is.
#[derive(Clone, Copy)]
pub(crate) struct Here {
    pub time: Option<Time>,
    pub measure: Measure,
}

impl Plan {
    pub fn new(program: &Program, window: &Window) -> Option<Self> {
        let count = window.aggregate == Aggregate::Count;
        let nodes: Vec<(NodeId, bool)> =
            std::iter::once((window.body, count)).chain(window.guard.map(|guard| (guard, true))).collect();
        let (past, parts) = Past::new(program, &nodes);
        let mut parts = parts.into_iter();
        let reach = window.over.reach().ok()?;
        Rolling::new(window.aggregate, reach)?;
        Some(Self {
            aggregate: window.aggregate,
            reach,
            timed: window.over.is_time(),
            past,
            body: parts.next()?,
            guard: parts.next(),
            node: window.body,
            text: window.text.clone(),
        })
    }

    /// The node that messages are about.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// How it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What a key's window takes at most: bytes for each value inside, and in all, if the number of values is known.
    pub fn room(&self) -> (usize, Option<usize>) {
        let state = self.state();
        let each = state.rolling.bytes_per_value() + if self.past.is_metric() { 8 } else { 0 };
        let counted = !self.timed && !self.past.is_metric();
        // A queue that grows is doubled.
        let most = usize::try_from(self.reach).ok().and_then(|reach| reach.checked_add(1));
        let most = most.and_then(usize::checked_next_power_of_two).filter(|_| counted);
        let own = size_of::<State>() + size_of_val(state.past.as_slice());
        (each, most.map(|most| most.max(4).saturating_mul(each).saturating_add(own)))
    }

    fn state(&self) -> State {
        let rolling = Rolling::new(self.aggregate, self.reach).unwrap_or_else(|| {
            // Asked when the plan was made.
            unreachable!("the aggregate has windows")
        });
        State { rolling, seen: 0, past: self.past.memory() }
    }

    /// The state of a key.
    pub fn of_key<'s>(&self, states: &'s mut States, key: u32) -> &'s mut State {
        while states.len() <= key as usize {
            states.push(Arc::new(self.state()));
        }
        Arc::make_mut(&mut states[key as usize])
    }

    /// The window's value at the next position of a key.
    pub fn value(
        &self,
        program: &Program,
        state: &mut State,
        here: Here,
        slot: &impl Fn(SlotId) -> Value,
    ) -> Result<Value, String> {
        let seen = state.seen;
        let past = match self.past.is_empty() {
            true => Vec::new(),
            false => self.past.step(program, &mut state.past, (seen, here.time, here.measure), slot)?,
        };
        let at = (seen == 0, past.as_slice());
        let inside = match &self.guard {
            Some(guard) => guard.value(program, at, slot)? == Value::Bool(true),
            None => true,
        };
        let stamp = self.stamp(seen, here.time)?;
        state.rolling.advance(stamp);
        state.seen += 1;
        if inside {
            match self.body.value(program, at, slot)? {
                Value::Null => {}
                Value::Bool(holds) if self.aggregate == Aggregate::Count => {
                    if holds {
                        state.rolling.push_true(stamp);
                    }
                }
                value => state.rolling.push(stamp, &value)?,
            }
        }
        state.rolling.result()
    }

    fn stamp(&self, seen: i64, time: Option<Time>) -> Result<i64, String> {
        match (self.timed, time) {
            (false, _) => Ok(seen),
            (true, Some(time)) => Ok(time),
            (true, None) => Err(
                "it is a window of time, and the trace has no timestamps (`⟨time: COL⟩` names their column; \
                                 a bare number counts positions)"
                    .to_owned(),
            ),
        }
    }

    /// The whole column of a batch at once, where it is an average of a column of reals.
    pub fn column(
        &self,
        states: &mut States,
        batch: &Batch,
        derived: impl Fn(SlotId) -> bool,
    ) -> Option<Column> {
        let slot = self.body.slot().filter(|&slot| self.guard.is_none() && !derived(slot))?;
        if self.aggregate != Aggregate::Avg || self.timed && batch.times.is_none() {
            return None;
        }
        let Column::Real { values, valid } = &batch.slots[slot as usize] else { return None };
        let state = self.of_key(states, 0);
        let (mut out, mut there) = (Vec::new(), Bits::with_capacity(values.len()));
        let seen = state.seen;
        let done = match (&batch.times, self.timed) {
            (Some(times), true) => {
                state.rolling.averages((false, |at: usize| times[at]), (values, valid), &mut out, &mut there)
            }
            _ => state.rolling.averages(
                (true, |at: usize| seen + at as i64),
                (values, valid),
                &mut out,
                &mut there,
            ),
        };
        state.seen += values.len() as i64;
        done.then_some(Column::Real { values: out, valid: there })
    }

    /// Reads states that [`save`] wrote.
    pub fn load(&self, from: &mut &[u8]) -> Result<States, Corrupt> {
        let mut states = States::new();
        for _ in 0..take_len(from)? {
            let mut state = self.state();
            state.seen = take_signed(from)?;
            state.past = take_memories(from)?;
            if state.past.len() != self.past.memory().len() {
                return Err(Corrupt("a window of another kind".to_owned()));
            }
            state.rolling.load(from)?;
            states.push(Arc::new(state));
        }
        Ok(states)
    }
}

/// Writes the states of a window.
fn save(states: &States, out: &mut Vec<u8>) {
    put(states.len() as u64, out);
    for state in states {
        put_signed(state.seen, out);
        put(state.past.len() as u64, out);
        state.past.iter().for_each(|memory| memory.save(out));
        state.rolling.save(out);
    }
}

/// Bytes held, about.
pub(crate) fn heap_bytes(states: &States) -> usize {
    let past = |state: &State| state.past.iter().map(Memory::heap_bytes).sum::<usize>();
    states.iter().map(|state| size_of::<State>() + state.rolling.heap_bytes() + past(state)).sum()
}

/// The time of a position.
pub(crate) fn time(batch: &Batch, at: Position) -> Option<Time> {
    batch.times.as_ref().map(|times| times[at])
}

/// Writes the states of all windows.
pub(crate) fn save_all(windows: &[States], out: &mut Vec<u8>) {
    put(windows.len() as u64, out);
    windows.iter().for_each(|states| save(states, out));
}

/// Reads what [`save_all`] wrote.
pub(crate) fn load_all(plans: &[Option<Plan>], from: &mut &[u8]) -> Result<Vec<States>, Corrupt> {
    let written = take(from)?;
    let load = |plan: &Option<Plan>| match plan {
        Some(plan) => plan.load(from),
        None => take_len(from).map(|_| States::new()),
    };
    plans.iter().take(written as usize).map(load).collect()
}
