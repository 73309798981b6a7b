//! A slot while it is read: whose its tuples are, and the numbers of their values.

use crate::Plan;
use crate::dense::Dense;
use crate::route::Act;
use crate::scan::tuples;
use crate::state::State;
use crate::values::{Handle, NONE, Values, near_hash, text_hash, value_hash};
use std::ops::Range;
use tw_core::{Batch, Column};

/// A slot that is read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub slot: usize,
    pub classes: Vec<usize>,
    /// Groups with what the slot's events are to them, and which of `divided` says whose they are.
    pub acts: Vec<(usize, Act, Option<usize>)>,
    /// The columns by which tuples are divided.
    pub divided: Vec<Divided>,
    /// The same where all are plain, and every tuple that is wanted is wanted by all: the group, the event, and how many values.
    pub plain: Option<Vec<(u32, u32, u32)>>,
    /// Whether every tuple is wanted.
    all: bool,
    /// Otherwise the places of those that are, in a stretch.
    own: Vec<u32>,
    columns: Vec<ReadColumn>,
    /// The first tuple of the stretch, and the numbers of the values of its tuples, one after the other.
    pub first: usize,
    handles: Vec<Handle>,
}

/// A column by which tuples are divided.
#[derive(Clone, Debug)]
pub(crate) struct Divided {
    pub column: usize,
    /// Of each tuple of the stretch whether it is this thread's.
    pub own: Vec<bool>,
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

impl Reading {
    /// Of a slot, for the groups that are the thread's, if some read it.
    pub fn new(plan: &Plan, slot: usize, shards: u32, own: impl Fn(usize) -> bool) -> Option<Self> {
        let route = &plan.routes[slot];
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
        let all = acts.iter().any(|(_, _, divided): &(usize, Act, Option<usize>)| divided.is_none());
        let alike = if all { divided.is_empty() } else { divided.len() == 1 };
        let plain = |(group, act, _): &(usize, Act, Option<usize>)| {
            (alike && act.plain).then_some((*group as u32, act.number as u32, act.columns.len() as u32))
        };
        (!acts.is_empty()).then(|| Self {
            slot,
            plain: acts.iter().map(plain).collect(),
            classes: route.classes.clone(),
            all,
            own: Vec::new(),
            acts,
            divided,
            columns: vec![ReadColumn::default(); route.classes.len()],
            first: 0,
            handles: Vec::new(),
        })
    }

    /// The numbers of the first values of a tuple. What is no tuple has none.
    #[inline]
    pub fn row(&self, tuple: usize, len: usize) -> &[Handle] {
        match self.classes.len() {
            0 => &[],
            arity => &self.handles[(tuple - self.first) * arity..][..len],
        }
    }

    /// Which tuples are this thread's, where not all are wanted.
    pub fn wanted(&self) -> Option<&[u32]> {
        (!self.all).then_some(&self.own)
    }

    /// Looks at what the events of a stretch will ask for, so that memory answers many questions at a time.
    pub fn ask_ahead(&self, plan: &Plan, states: &[Option<State>], asked: &mut Vec<u32>) {
        let arity = self.classes.len();
        if arity == 0 || self.handles.is_empty() {
            return;
        }
        for (group, act, _) in self.acts.iter().filter(|(_, act, _)| act.plain) {
            let Some(state) = &states[*group] else { continue };
            let len = act.columns.len();
            let group = &plan.groups[*group];
            match self.all {
                true => {
                    let rows = self.handles.chunks_exact(arity).map(|row| &row[..len]);
                    state.ask_ahead(group, act.number, rows, asked);
                }
                false => {
                    let rows = self.own.iter().map(|&place| &self.handles[place as usize * arity..][..len]);
                    state.ask_ahead(group, act.number, rows, asked);
                }
            }
        }
    }

    /// Forgets the numbers of a dictionary's texts.
    pub fn forget(&mut self) {
        self.columns.iter_mut().for_each(|column| column.known = Dense::default());
    }

    /// Before the first position of a batch; whether something may happen in it.
    pub fn open(&mut self, batch: &Batch) -> bool {
        let Column::Tuples(relation) = &batch.slots[self.slot] else { return true };
        if relation.starts().last() == Some(&0) {
            return false;
        }
        for (own, column) in self.columns.iter_mut().zip(relation.columns()) {
            own.known = Dense::default();
            own.ints = matches!(column, Column::Int { values, valid } if valid.count_ones() == values.len());
        }
        self.divided.iter_mut().for_each(|own| own.owners = Dense::default());
        true
    }

    /// Numbers the values of the tuples that are wanted, at a stretch of positions.
    pub fn read(
        &mut self,
        batch: &Batch,
        positions: &Range<usize>,
        values: &mut [Values],
        shard: u32,
        shards: u32,
    ) {
        let Column::Tuples(relation) = &batch.slots[self.slot] else { return };
        let tuples = tuples(&batch.slots[self.slot], positions);
        let arity = self.classes.len();
        self.first = tuples.start;
        self.handles.resize(tuples.len() * arity, NONE);
        if tuples.is_empty() {
            return;
        }
        for divided in &mut self.divided {
            let ints = self.columns[divided.column].ints;
            divided.read(&relation.columns()[divided.column], ints, tuples.clone(), shard, shards);
        }
        if !self.all {
            self.find_own(tuples.len());
        }
        for (nth, (column, class)) in relation.columns().iter().zip(&self.classes).enumerate() {
            let values = &mut values[*class];
            let own = &mut self.columns[nth];
            let out = self.handles.iter_mut().skip(nth).step_by(arity);
            match column {
                Column::Int { values: ints, .. } if own.ints && self.all => {
                    let ints = &ints[tuples.clone()];
                    ints.iter().zip(out).for_each(|(&int, out)| *out = values.int(int));
                }
                Column::Int { values: ints, .. } if own.ints => {
                    let ints = &ints[tuples.clone()];
                    for &place in &self.own {
                        self.handles[place as usize * arity + nth] = values.int(ints[place as usize]);
                    }
                }
                column if self.all => {
                    let known = &mut own.known;
                    tuples.clone().zip(out).for_each(|(at, out)| *out = values.at(column, at, known));
                }
                column => {
                    for &place in &self.own {
                        let at = tuples.start + place as usize;
                        self.handles[place as usize * arity + nth] = values.at(column, at, &mut own.known);
                    }
                }
            }
        }
    }

    /// Finds the tuples that some monitor's bindings of this thread want.
    fn find_own(&mut self, tuples: usize) {
        // Whose the next is is not to be guessed: all are written, and those of others are written over.
        self.own.resize(tuples, 0);
        let mut count = 0;
        let mut put = |place: usize, own: bool| {
            self.own[count] = place as u32;
            count += usize::from(own);
        };
        match &self.divided[..] {
            [divided] => divided.own.iter().enumerate().for_each(|(place, own)| put(place, *own)),
            several => (0..tuples).for_each(|place| put(place, several.iter().any(|own| own.own[place]))),
        }
        self.own.truncate(count);
    }
}

impl Divided {
    fn read(&mut self, column: &Column, ints: bool, tuples: Range<usize>, shard: u32, shards: u32) {
        self.own.clear();
        match column {
            Column::Int { values, .. } if ints => {
                let owns = |int: &i64| shard_of(near_hash(*int), shards) == shard;
                self.own.extend(values[tuples].iter().map(owns));
            }
            column => {
                let owns = |at: usize| owner(column, at, shards, &mut self.owners) == shard;
                self.own.extend(tuples.map(owns));
            }
        }
    }
}

/// Which thread a value with this hash belongs to.
#[inline]
fn shard_of(hash: u32, shards: u32) -> u32 {
    // The leading bits of the product of a hash and a count are a number below the count.
    ((u64::from(hash) * u64::from(shards)) >> 32) as u32
}

/// Which thread a value belongs to.
fn owner(column: &Column, at: usize, shards: u32, owners: &mut Dense<NONE>) -> u32 {
    let shard = |hash: u32| shard_of(hash, shards);
    match column {
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
