//! The work of one thread: the bindings that are its own, and the numbers of the values in them.
//!
//! Bindings of monitors all of whose events name one parameter are divided by its value; other monitors go whole to one thread.
//! Threads share nothing that changes, so each reads the whole batch and takes what is its own.

use crate::dense::Dense;
use crate::route::{Act, When};
use crate::scan::{Happening, Scan, Take, tuples};
use crate::state::{Out, State};
use crate::values::{Handle, NONE, Values, int_hash, text_hash, value_hash};
use crate::{Found, Plan};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use tw_core::{Batch, Column};

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
    scan: Scan,
    asked: Vec<u32>,
    /// Bindings and values when memory was looked at, and what was held.
    seen: usize,
    bytes: usize,
}

/// A slot that is read.
#[derive(Clone, Debug)]
struct Reading {
    slot: usize,
    classes: Vec<usize>,
    /// Groups with what the slot's events are to them, and which of `divided` says whose they are.
    acts: Vec<(usize, Act, Option<usize>)>,
    /// The columns by which tuples are divided.
    divided: Vec<Divided>,
    /// Whether every tuple is wanted.
    all: bool,
    columns: Vec<ReadColumn>,
    /// The first tuple of the stretch, and the numbers of the values of its tuples, one after the other.
    first: usize,
    handles: Vec<Handle>,
}

/// A column by which tuples are divided.
#[derive(Clone, Debug)]
struct Divided {
    column: usize,
    /// Of each tuple of the stretch whether it is this thread's, and one more.
    own: Vec<bool>,
    /// Of a dictionary's texts the thread that they belong to.
    owners: Dense<NONE>,
}

/// A column while a batch is read.
#[derive(Clone, Debug, Default)]
struct ReadColumn {
    /// The numbers of a dictionary's texts.
    known: Dense<NONE>,
    /// Whether it is whole numbers without gaps.
    ints: bool,
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
        let mut readings = Vec::new();
        for (slot, route) in plan.routes.iter().enumerate() {
            let mut divided: Vec<Divided> = Vec::new();
            let mut acts = Vec::new();
            for (number, group) in plan.groups.iter().enumerate().filter(|(number, _)| own(*number)) {
                for act in route.acts(group.lanes[0].monitor) {
                    let column = act.shard.filter(|_| shards > 1 && group.shape.shard.is_some());
                    let place = column.map(|column| {
                        divided.iter().position(|own| own.column == column).unwrap_or_else(|| {
                            divided.push(Divided { column, own: Vec::new(), owners: Dense::default() });
                            divided.len() - 1
                        })
                    });
                    acts.push((number, act.clone(), place));
                }
            }
            if !acts.is_empty() {
                readings.push(Reading {
                    slot,
                    classes: route.classes.clone(),
                    all: acts.iter().any(|(_, _, divided)| divided.is_none()),
                    acts,
                    divided,
                    columns: vec![ReadColumn::default(); route.classes.len()],
                    first: 0,
                    handles: Vec::new(),
                });
            }
        }
        let state = |number: usize| own(number).then(|| State::new(&plan.groups[number].shape));
        Self {
            shard,
            shards,
            values: vec![Values::default(); plan.class_count],
            states: (0..plan.groups.len()).map(state).collect(),
            readings,
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
        self.readings.iter_mut().for_each(|reading| reading.open(shared.batch));
        let mut from = 0;
        while from < shared.batch.len {
            let positions = from..shared.batch.len.min(from + STRETCH);
            let Self { readings, scan, values, states, .. } = self;
            for reading in readings.iter_mut() {
                reading.read(shared.batch, &positions, values, self.shard, self.shards);
            }
            let slots = readings.iter().map(|reading| (reading.slot, reading.wanted()));
            if scan.read(shared.batch, slots, positions.clone()) {
                for reading in readings.iter() {
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
        if seen < self.seen + UNSEEN {
            return Ok(());
        }
        self.seen = seen;
        if self.values.iter().any(Values::grown) {
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
        let columns = self.readings.iter_mut().flat_map(|reading| &mut reading.columns);
        columns.for_each(|column| column.known = Dense::default());
    }
}

impl Reading {
    /// The numbers of the first values of a tuple. What is no tuple has none.
    #[inline]
    fn row(&self, tuple: usize, len: usize) -> &[Handle] {
        match self.classes.len() {
            0 => &[],
            arity => &self.handles[(tuple - self.first) * arity..][..len],
        }
    }

    /// Which tuples are this thread's, where all monitors divide them in one way.
    fn wanted(&self) -> Option<&[bool]> {
        match &self.divided[..] {
            [divided] if !self.all => Some(&divided.own),
            _ => None,
        }
    }

    /// Looks at what the events of a stretch will ask for, so that memory answers many questions at a time.
    fn ask_ahead(&self, plan: &Plan, states: &[Option<State>], asked: &mut Vec<u32>) {
        let arity = self.classes.len();
        if arity == 0 || self.handles.is_empty() {
            return;
        }
        for (group, act, _) in self.acts.iter().filter(|(_, act, _)| act.plain) {
            if let Some(state) = &states[*group] {
                let rows = self.handles.chunks_exact(arity).map(|row| &row[..act.columns.len()]);
                let rows = rows.filter(|row| row.first() != Some(&NONE));
                state.ask_ahead(&plan.groups[*group], act.number, rows, asked);
            }
        }
    }

    /// Before the first position of a batch.
    fn open(&mut self, batch: &Batch) {
        let Column::Tuples(relation) = &batch.slots[self.slot] else { return };
        for (own, column) in self.columns.iter_mut().zip(relation.columns()) {
            own.known = Dense::default();
            own.ints = matches!(column, Column::Int { values, valid } if valid.count_ones() == values.len());
        }
        self.divided.iter_mut().for_each(|own| own.owners = Dense::default());
    }

    /// Numbers the values of the tuples that are wanted, at a stretch of positions.
    fn read(
        &mut self,
        batch: &Batch,
        positions: &Range<usize>,
        values: &mut [Values],
        shard: u32,
        shards: u32,
    ) {
        let Column::Tuples(relation) = &batch.slots[self.slot] else { return };
        let tuples = tuples(&batch.slots[self.slot], positions);
        self.handles.clear();
        if tuples.is_empty() {
            return;
        }
        let arity = self.classes.len();
        self.first = tuples.start;
        self.handles.resize(tuples.len() * arity, NONE);
        for divided in &mut self.divided {
            let column = &relation.columns()[divided.column];
            let owner = |at: usize| owner(column, at, shards, &mut divided.owners) == shard;
            divided.own.clear();
            divided.own.extend(tuples.clone().map(owner));
            divided.own.push(false);
        }
        for (nth, (column, class)) in relation.columns().iter().zip(&self.classes).enumerate() {
            let values = &mut values[*class];
            let own = &mut self.columns[nth];
            let out = self.handles.iter_mut().skip(nth).step_by(arity);
            match (column, &self.divided[..]) {
                (Column::Int { values: ints, .. }, _) if own.ints && self.all => {
                    for (&int, out) in ints[tuples.clone()].iter().zip(out) {
                        *out = values.int(int);
                    }
                }
                (Column::Int { values: ints, .. }, [divided]) if own.ints => {
                    let wanted = ints[tuples.clone()].iter().zip(out).zip(&divided.own);
                    for ((&int, out), _) in wanted.filter(|(_, own)| **own) {
                        *out = values.int(int);
                    }
                }
                (column, divided) => {
                    for ((place, at), out) in tuples.clone().enumerate().zip(out) {
                        if self.all || divided.iter().any(|divided| divided.own[place]) {
                            *out = values.at(column, at, &mut own.known);
                        }
                    }
                }
            }
        }
    }
}

/// Which thread a value belongs to.
#[inline]
fn owner(column: &Column, at: usize, shards: u32, owners: &mut Dense<NONE>) -> u32 {
    // The leading bits of the product of a hash and a count are a number below the count.
    let shard = |hash: u32| (u64::from(hash) * u64::from(shards) >> 32) as u32;
    match column {
        Column::Int { values, valid } if valid.get(at) => shard(int_hash(values[at])),
        Column::Text { ids, dictionary, valid } if valid.get(at) => match owners.get(ids[at]) {
            NONE => {
                let own = shard(text_hash(&dictionary.entries[ids[at] as usize]));
                owners.set(ids[at], own);
                own
            }
            own => own,
        },
        Column::Words(words) => shard(text_hash(words.get(at))),
        other => shard(value_hash(&other.value(at))),
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
        for (group, act, divided) in &reading.acts {
            // What is another thread's was left out, unless monitors divide in several ways.
            let own = divided.is_none() || !reading.all && reading.divided.len() == 1;
            match &mut self.states[*group] {
                Some(state) if act.plain && own => {
                    self.out.order = (act.number as u32) << 20;
                    let row = reading.row(tuple, act.columns.len());
                    state.event(&self.shared.plan.groups[*group], act.number, row, &mut self.out);
                }
                _ => self.act(reading, *group, act, *divided, tuple..tuple + 1, position),
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
