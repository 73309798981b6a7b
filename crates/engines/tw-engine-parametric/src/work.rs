//! The work of one thread: the bindings that are its own, and the numbers of the values in them.
//!
//! Bindings of monitors all of whose events name one parameter are divided by its value; other monitors go whole to one thread.
//! Threads share nothing that changes, so each reads the whole batch and takes what is its own.

use crate::reading::Reading;
use crate::route::{Act, When};
use crate::scan::{Happening, Scan, Take};
use crate::state::{Out, State};
use crate::values::Values;
use crate::{Found, Plan};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use tw_core::Batch;

/// Positions that are read together: what is noted of them stays near the processor.
const STRETCH: usize = 1 << 11;
/// Bindings and values after which memory is looked at again.
const UNSEEN: usize = 64;

/// The work of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    shard: u32,
    shards: u32,
    pub values: Vec<Values>,
    /// Of each group its state, where it is this thread's.
    pub states: Vec<Option<State>>,
    readings: Vec<Reading>,
    /// Those in whose slots something happens in the batch.
    awake: Vec<usize>,
    scan: Scan,
    asked: Vec<u32>,
    /// Bindings and values when memory was looked at, and what was held.
    seen: usize,
    bytes: usize,
}

/// What all threads are told of a batch.
pub(crate) struct Shared<'a> {
    pub plan: &'a Plan,
    pub batch: &'a Batch,
    /// Positions before it.
    pub before: u64,
    /// What each thread holds, and what all may hold.
    pub held: &'a [AtomicUsize],
    pub budget: usize,
}

impl Work {
    pub fn new(plan: &Plan, shard: u32, shards: u32) -> Self {
        let own =
            |number: usize| plan.groups[number].shape.shard.is_some() || number as u32 % shards == shard;
        let reading = |slot: usize| Reading::new(plan, slot, shards, own);
        let state = |number: usize| own(number).then(|| State::new(&plan.groups[number].shape));
        Self {
            shard,
            shards,
            values: vec![Values::default(); plan.class_count],
            states: (0..plan.groups.len()).map(state).collect(),
            readings: (0..plan.routes.len()).filter_map(reading).collect(),
            awake: Vec::new(),
            scan: Scan::default(),
            asked: Vec::new(),
            seen: 0,
            bytes: 0,
        }
    }

    /// Bytes held when that was last looked at.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        let states: usize = self.states.iter().flatten().map(State::heap_bytes).sum();
        states + self.values.iter().map(Values::heap_bytes).sum::<usize>()
    }

    /// Takes what is its own of a batch. Fails at a position where all threads hold more than they may.
    pub fn run(&mut self, shared: &Shared<'_>, found: &mut Vec<Found>) -> Result<(), u64> {
        self.awake.clear();
        for (number, reading) in self.readings.iter_mut().enumerate() {
            if reading.open(shared.batch) {
                self.awake.push(number);
            }
        }
        let mut from = 0;
        while from < shared.batch.len {
            let positions = from..shared.batch.len.min(from + STRETCH);
            let Self { readings, scan, values, states, .. } = self;
            for &number in &self.awake {
                let reading = &mut readings[number];
                reading.read(shared.batch, &positions, values, self.shard, self.shards);
            }
            let awake = || self.awake.iter().map(|&number| (number, &readings[number]));
            let slots = awake().map(|(number, reading)| (number, reading.slot, reading.wanted()));
            if scan.read(shared.batch, slots, positions.clone()) {
                for (_, reading) in awake() {
                    reading.ask_ahead(shared.plan, states, &mut self.asked);
                }
                let out = Out { found, position: None, order: 0, values, plan: shared.plan };
                let mut doing = Doing { shared, readings, states, out };
                scan.each(&mut doing);
            }
            from = positions.end;
            self.tidy(shared, from)?;
        }
        Ok(())
    }

    /// Frees numbers where there are many, and looks at the budget.
    fn tidy(&mut self, shared: &Shared<'_>, position: usize) -> Result<(), u64> {
        let values: usize = self.values.iter().map(Values::len).sum();
        let seen = values + self.states.iter().flatten().map(|state| state.created as usize).sum::<usize>();
        let first = self.seen == 0 && seen > 0;
        if seen < self.seen + UNSEEN && !first {
            return Ok(());
        }
        self.seen = seen;
        // As long as there may be somebody to name each of them, going through all is not worth the pause.
        let names = || self.states.iter().flatten().map(State::names).sum::<usize>();
        if self.values.iter().any(Values::grown) && self.values.iter().any(|own| own.used() > names()) {
            self.sweep_values(shared.plan);
        }
        self.bytes = self.heap_bytes();
        shared.held[self.shard as usize].store(self.bytes, Ordering::Relaxed);
        let all: usize = shared.held.iter().map(|held| held.load(Ordering::Relaxed)).sum();
        if all > shared.budget { Err(shared.before + position as u64) } else { Ok(()) }
    }

    /// Frees the numbers of values that nobody names.
    pub fn sweep_values(&mut self, plan: &Plan) {
        let mut used: Vec<Vec<bool>> = self.values.iter().map(|values| vec![false; values.len()]).collect();
        for (state, group) in self.states.iter().zip(&plan.groups) {
            if let Some(state) = state {
                state.mark(group, &plan.classes[group.lanes[0].monitor], &mut used);
            }
        }
        self.values.iter_mut().zip(&used).for_each(|(values, used)| values.sweep(used));
        self.readings.iter_mut().for_each(Reading::forget);
    }
}

/// What is done with the events of a stretch.
struct Doing<'a> {
    shared: &'a Shared<'a>,
    readings: &'a [Reading],
    states: &'a mut [Option<State>],
    out: Out<'a>,
}

impl Take for Doing<'_> {
    #[inline(always)]
    fn one(&mut self, slot: usize, tuple: usize, position: usize) {
        let reading = &self.readings[slot];
        self.out.position = Some(self.shared.before + position as u64);
        let Some(plain) = &reading.plain else {
            return reading.acts.iter().for_each(|(group, act, divided)| {
                self.act(reading, *group, act, *divided, tuple..tuple + 1, position);
            });
        };
        for &(group, number, len) in plain {
            if let Some(state) = &mut self.states[group as usize] {
                self.out.order = number << 20;
                let row = reading.row(tuple, len as usize);
                state.event(&self.shared.plan.groups[group as usize], number as usize, row, &mut self.out);
            }
        }
    }

    fn several(&mut self, happenings: &[Happening]) {
        // Group by group, in the order of its events.
        let readings = self.readings;
        let mut acts: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (nth, own) in happenings.iter().enumerate() {
            let known = readings[own.slot as usize].acts.iter().enumerate();
            acts.extend(known.map(|(place, (group, act, _))| (*group, act.number, nth, place)));
        }
        acts.sort_unstable();
        for (_, _, nth, place) in acts {
            let own = &happenings[nth];
            let reading = &readings[own.slot as usize];
            let (group, act, divided) = &reading.acts[place];
            self.act(reading, *group, act, *divided, own.tuples(), own.position as usize);
        }
    }
}

impl Doing<'_> {
    #[inline(never)]
    fn act(
        &mut self,
        reading: &Reading,
        group: usize,
        act: &Act,
        divided: Option<usize>,
        tuples: Range<usize>,
        position: usize,
    ) {
        let shared = self.shared;
        let Some(state) = &mut self.states[group] else { return };
        let group = &shared.plan.groups[group];
        self.out.position = Some(shared.before + position as u64);
        for tuple in tuples.clone() {
            if divided.is_some_and(|divided| !reading.divided[divided].own[tuple - reading.first]) {
                continue;
            }
            let handles = reading.row(tuple, reading.classes.len());
            let holds =
                |own: &When| own.holds(&shared.plan.program, shared.batch, position, reading.slot, tuple);
            if act.equal.iter().any(|&(a, b)| handles[a] != handles[b])
                || !act.when.as_ref().is_none_or(holds)
            {
                continue;
            }
            if act.end {
                // Ends of one position are one moment.
                self.out.order = u32::MAX;
                for &(parameter, column) in &act.columns {
                    state.end(group, parameter, handles[column], &mut self.out);
                }
                continue;
            }
            self.out.order = (act.number as u32) << 20 | (tuple - tuples.start) as u32;
            let mut row = [0; 32];
            act.columns.iter().zip(&mut row).for_each(|(&(_, column), own)| *own = handles[column]);
            state.event(group, act.number, &row[..act.columns.len()], &mut self.out);
        }
    }
}
