//! Equations over numbers and truth values, compiled: operations on cells in place of nodes on values.
//!
//! What does not depend on its own past goes through each operation 64 positions at a time; what does goes position by position
//! through the operations of all such equations together, so that the processor overlaps them. A register keeps the cells before
//! its block as far as they are looked back to: an offset is an address, and costs nothing.
//!
//! The definition ([`crate::equation`]) decides what is rare: where a whole number overflows or is too large, the machine says how
//! far it came, and hands over what it holds.

mod cells;
mod compile;
mod numbers;
mod ops;

use crate::Streams;
use crate::graph::Derived;
use cells::{Building, cells, reals, spread};
use compile::Compiler;
use ops::{BLOCK, Cell, Op, Segment, TRUE};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Node, NodeId, Program, SlotId, What};
use tw_monitor::Predicates;

/// Cells of a machine at most: 16 MB.
const MOST_CELLS: usize = 1 << 21;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Truth,
    Int,
    Real,
    /// Whole numbers and reals.
    Mixed,
}

/// A register, some positions ago; in a machine, the place of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    register: u32,
    back: u32,
}

impl At {
    /// Its cell, once registers have places.
    fn place(self, at: usize) -> usize {
        self.register as usize + at - self.back as usize
    }
}

/// What a value is made of.
#[derive(Clone, Copy, Debug)]
enum Val {
    Null,
    Truth(At),
    Int {
        value: At,
        valid: At,
    },
    Real {
        value: At,
        /// How large a whole number it may be, if it may be one.
        whole: Option<u64>,
    },
}

impl Val {
    /// With the places of registers.
    fn placed(self, bases: &[u32]) -> Self {
        let place = |at: At| At { register: bases[at.register as usize], back: at.back };
        match self {
            Val::Null => Val::Null,
            Val::Truth(at) => Val::Truth(place(at)),
            Val::Int { value, valid } => Val::Int { value: place(value), valid: place(valid) },
            Val::Real { value, whole } => Val::Real { value: place(value), whole },
        }
    }

    fn registers(self) -> impl Iterator<Item = u32> {
        let [a, b] = match self {
            Val::Null => [None, None],
            Val::Truth(at) | Val::Real { value: at, .. } => [Some(at), None],
            Val::Int { value, valid } => [Some(value), Some(valid)],
        };
        a.into_iter().chain(b).map(|at| at.register)
    }
}

#[derive(Clone, Copy, Debug)]
enum Load {
    Slot(SlotId),
    /// A predicate over the trace.
    Formula(NodeId),
    /// The first position.
    First,
}

#[derive(Clone, Debug, Default)]
struct Register {
    constant: bool,
    /// What stands before the first position.
    before: Option<Cell>,
    /// How far it is looked back to.
    history: u32,
}

/// A look back.
#[derive(Clone, Debug)]
struct Held {
    member: usize,
    val: Val,
    by: usize,
    /// Whether nobody else keeps it.
    alone: bool,
}

/// Compiled equations and the cells they hold.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Of which kinds the columns of the trace are.
    kinds: Vec<Option<Kind>>,
    segments: Vec<Segment>,
    loads: Vec<(Load, Val)>,
    /// Formulas among the loads.
    formulas: Vec<NodeId>,
    /// What is computed for others, its derived number and slot.
    outputs: Vec<(usize, SlotId, Val)>,
    held: Vec<Held>,
    registers: Vec<Register>,
    /// Where the cells of each register begin, without those that are looked back to.
    bases: Vec<u32>,
    file: Vec<Cell>,
    /// Positions since the file was last moved to its beginning.
    at: usize,
    /// Derived slots that need nobody else.
    done: Vec<bool>,
    /// Whether all of them do, and no predicate is evaluated before.
    alone: bool,
}

impl Machine {
    /// For columns of these kinds; `None` if no stream can be compiled, or what is held does not fit.
    pub fn new(
        streams: &Streams,
        program: &Program,
        kinds: &[Option<Kind>],
        last: &[Vec<VecDeque<Value>>],
    ) -> Option<Self> {
        let mut compiler = Compiler::new(kinds);
        let graph = &streams.graph;
        let mut compiled = vec![false; graph.derived.len()];
        for component in &graph.components {
            let known = component.members.iter().flat_map(|&member| &graph.derived[member].reads);
            let inside = |read: &usize| compiled[*read] || component.members.contains(read);
            if known.map(|(read, _)| read).all(inside) && compiler.component(program, streams, component) {
                component.members.iter().for_each(|&member| compiled[member] = true);
            }
        }
        let slot_of = |member: usize| graph.derived[member].slot;
        let read = streams.read_outside(program, &compiled);
        // Who is looked back to has a column if somebody reads it; neither that nor what is held says which of a column's numbers
        // were whole.
        let mixed = |source: SlotId| kinds[source as usize] == Some(Kind::Mixed);
        let apart = |val: Val| !matches!(val, Val::Null | Val::Real { whole: Some(_), .. });
        let mut done = compiled;
        let (mut outputs, mut held) = (Vec::new(), Vec::new());
        for member in (0..done.len()).filter(|&member| compiler.slots.contains_key(&slot_of(member))) {
            if !done[member] {
                continue;
            }
            let val = compiler.slots[&slot_of(member)];
            if let What::Shift(shift) = &program.slots[slot_of(member) as usize].what {
                done[member] = !mixed(shift.slot) && (!read[member] || apart(val));
                let by = shift.by.unsigned_abs() as usize;
                held.push(Held { member, val, by, alone: done[member] });
            }
            if done[member] && read[member] {
                outputs.push((member, slot_of(member), val));
            }
        }
        if !done.contains(&true) {
            return None;
        }
        let shifts: Vec<Val> =
            (0..done.len()).filter_map(|member| compiler.slots.get(&slot_of(member)).copied()).collect();
        let drafts = compiler.needed(shifts.iter().copied());
        let parts = drafts.iter().flat_map(|draft| draft.parts).map(|part| part.register);
        let used: FxHashSet<u32> = parts.chain(shifts.into_iter().flat_map(Val::registers)).collect();
        compiler.loads.retain(|(_, val)| val.registers().any(|register| used.contains(&register)));
        let mut bases = Vec::with_capacity(compiler.registers.len());
        let mut size = 0u32;
        for register in &compiler.registers {
            bases.push(size.checked_add(register.history)?);
            size = size.checked_add(register.history + BLOCK as u32)?;
        }
        // Cells of more registers than a cache holds are no gain, and are copied with every live batch.
        if size as usize > MOST_CELLS {
            return None;
        }
        let place = |at: At| bases[at.register as usize] - at.back;
        let mut segments: Vec<(u32, Segment)> = Vec::new();
        for draft in drafts {
            if segments.last().is_none_or(|(stage, _)| *stage != draft.stage) {
                segments.push((draft.stage, Segment { ops: Vec::new(), serial: draft.stage % 2 == 1 }));
            }
            let [a, b, c] = draft.parts.map(place);
            let out = bases[draft.out as usize];
            if let Some((_, segment)) = segments.last_mut() {
                segment.ops.push(Op { code: draft.code, out, a, b, c });
            }
        }
        let formula = |(load, _): &(Load, Val)| match load {
            Load::Formula(id) => Some(*id),
            _ => None,
        };
        let outputs = outputs.into_iter().map(|(member, slot, val)| (member, slot, val.placed(&bases)));
        let held = held.into_iter().map(|held| Held { val: held.val.placed(&bases), ..held });
        let mut machine = Self {
            kinds: kinds.to_vec(),
            segments: segments.into_iter().map(|(_, segment)| segment).collect(),
            formulas: compiler.loads.iter().filter_map(formula).collect(),
            loads: compiler.loads.into_iter().map(|(load, val)| (load, val.placed(&bases))).collect(),
            outputs: outputs.collect(),
            held: held.collect(),
            registers: compiler.registers,
            bases,
            file: vec![0; size as usize],
            at: 0,
            alone: done.iter().all(|done| *done),
            done,
        };
        machine.alone &= machine.formulas.is_empty();
        machine.begin();
        machine.restore(last)?;
        Some(machine)
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.file.len() * size_of::<Cell>()
    }

    /// Whether it was made for these kinds.
    pub fn fits(&self, kinds: &[Option<Kind>]) -> bool {
        self.kinds == kinds
    }

    /// Whether a derived slot is left to nobody else.
    pub fn is_done(&self, member: usize) -> bool {
        self.done[member]
    }

    fn begin(&mut self) {
        for (register, &base) in self.registers.iter().zip(&self.bases) {
            let (from, base) = (base as usize - register.history as usize, base as usize);
            let to = if register.constant { base + BLOCK } else { base };
            self.file[from..to].fill(register.before.unwrap_or(0));
        }
    }

    /// Puts what others kept into the registers.
    fn restore(&mut self, last: &[Vec<VecDeque<Value>>]) -> Option<()> {
        for held in &self.held {
            let Some(values) = last.get(held.member).and_then(|keys| keys.first()) else { continue };
            for (back, value) in (1..).zip(values.iter().rev()) {
                for (at, cell) in cells(held.val, value)? {
                    self.file[at.register as usize - back] = cell;
                }
            }
        }
        Some(())
    }

    /// Gives away what is held after `seen` positions.
    pub fn keep(&self, seen: u64, last: &mut [Vec<VecDeque<Value>>]) {
        for held in self.held.iter().filter(|held| held.alone) {
            let count = held.by.min(usize::try_from(seen).unwrap_or(usize::MAX));
            let value = |back: usize| self.value(held.val, |at| at.register as usize + self.at - back);
            last[held.member] = vec![(1..=count).rev().map(value).collect()];
        }
    }

    fn value(&self, val: Val, place: impl Fn(At) -> usize) -> Value {
        let cell = |at: At| self.file[place(at)];
        match val {
            Val::Null => Value::Null,
            Val::Truth(at) => Value::Bool(cell(at) == TRUE),
            Val::Int { valid, .. } if cell(valid) == 0 => Value::Null,
            Val::Int { value, .. } => Value::Int(cell(value) as i64),
            Val::Real { value, .. } => match f64::from_bits(cell(value)) {
                null if null.is_nan() => Value::Null,
                number => Value::Real(number),
            },
        }
    }

    /// Moves what is looked back to to the beginning.
    fn rewind(&mut self) {
        if self.at == 0 {
            return;
        }
        for (register, &base) in self.registers.iter().zip(&self.bases) {
            if register.history > 0 && !register.constant {
                let (base, history) = (base as usize, register.history as usize);
                self.file.copy_within(base + self.at - history..base + self.at, base - history);
            }
        }
        self.at = 0;
    }

    /// Computes the streams of a batch after `seen` positions. Gives their columns, and how many positions were computed:
    /// not all, if one needs the definition.
    pub fn run(&mut self, program: &Program, batch: &mut Batch, seen: u64) -> (Vec<(usize, Column)>, usize) {
        let new = |(_, slot, val): &(usize, SlotId, Val)| {
            // What stood there has its place already.
            let old = std::mem::replace(&mut batch.slots[*slot as usize], Column::Truth(Bits::new()));
            Building::new(*val, batch.len, old)
        };
        let mut columns: Vec<Building> = self.outputs.iter().map(new).collect();
        let truths = match self.formulas.is_empty() {
            true => Vec::new(),
            false => match Predicates::of(program, &self.formulas).evaluate(batch) {
                Ok(truths) => truths,
                Err(_) => return (self.finish(columns), 0),
            },
        };
        let mut from = 0;
        while from < batch.len {
            let rest = batch.len - from;
            if self.at == BLOCK || rest >= BLOCK {
                self.rewind();
            }
            let count = rest.min(BLOCK - self.at);
            if !self.load(batch, &truths, (from, count), seen)
                || ops::run(&self.segments, &mut self.file, self.at, count) != 0
            {
                break;
            }
            for ((.., val), column) in self.outputs.iter().zip(&mut columns) {
                column.push(&self.file, *val, |at| at.place(self.at), count);
            }
            self.at += count;
            from += count;
        }
        (self.finish(columns), from)
    }

    /// Computes the streams of one position, if that is all there is to be done and values are of the kinds known.
    pub fn row(&mut self, row: &mut [Value], seen: u64) -> bool {
        if !self.alone {
            return false;
        }
        if self.at == BLOCK {
            self.rewind();
        }
        for &(load, val) in &self.loads {
            match (load, val) {
                (Load::Slot(slot), val) => {
                    let Some(cells) = cells(val, &row[slot as usize]) else { return false };
                    for (to, cell) in cells {
                        self.file[to.register as usize + self.at] = cell;
                    }
                }
                (Load::First, Val::Truth(to)) => {
                    self.file[to.register as usize + self.at] = if seen == 0 { TRUE } else { 0 };
                }
                _ => return false,
            }
        }
        if ops::run(&self.segments, &mut self.file, self.at, 1) != 0 {
            return false;
        }
        for (_, slot, val) in &self.outputs {
            let cell = |at: At| self.file[at.place(self.at)];
            let out = &mut row[*slot as usize];
            // Each written where it belongs: a value that is moved there waits for its parts.
            match *val {
                Val::Real { value, .. } => match f64::from_bits(cell(value)) {
                    number if number.is_nan() => *out = Value::Null,
                    number => *out = Value::Real(number),
                },
                Val::Truth(at) => *out = Value::Bool(cell(at) != 0),
                Val::Int { value, valid } => match cell(valid) {
                    0 => *out = Value::Null,
                    _ => *out = Value::Int(cell(value) as i64),
                },
                Val::Null => *out = Value::Null,
            }
        }
        self.at += 1;
        true
    }

    fn finish(&self, columns: Vec<Building>) -> Vec<(usize, Column)> {
        let members = self.outputs.iter().map(|(member, ..)| *member);
        members.zip(columns.into_iter().map(|column| column.finish())).collect()
    }

    /// Puts positions of the trace into registers; false if there is a value that the definition has to read.
    fn load(&mut self, batch: &Batch, truths: &[Bits], (from, count): (usize, usize), seen: u64) -> bool {
        let (file, at) = (&mut self.file, self.at);
        let mut truths = truths.iter();
        for &(load, val) in &self.loads {
            let place = |at_register: At| {
                let base = at_register.register as usize + at;
                base..base + count
            };
            match (load, val) {
                (Load::First, Val::Truth(to)) => {
                    file[place(to)].fill(0);
                    if seen + from as u64 == 0 {
                        file[place(to).start] = TRUE;
                    }
                }
                (Load::Formula(_), Val::Truth(to)) => {
                    if let Some(bits) = truths.next() {
                        spread(&mut file[place(to)], bits, from);
                    }
                }
                (Load::Slot(slot), val) => match (&batch.slots[slot as usize], val) {
                    (Column::Truth(bits), Val::Truth(to)) => spread(&mut file[place(to)], bits, from),
                    (Column::Int { values, valid }, Val::Int { value, valid: has }) => {
                        for (cell, &number) in file[place(value)].iter_mut().zip(&values[from..]) {
                            *cell = number as u64;
                        }
                        spread(&mut file[place(has)], valid, from);
                    }
                    (Column::Real { values, valid }, Val::Real { value, .. }) => {
                        if !reals(&mut file[place(value)], &values[from..], valid, from) {
                            return false;
                        }
                    }
                    (column, val) => {
                        for row in 0..count {
                            let Some(cells) = cells(val, &column.value(from + row)) else { return false };
                            cells.into_iter().for_each(|(to, cell)| file[place(to).start + row] = cell);
                        }
                    }
                },
                _ => return false,
            }
        }
        true
    }
}

impl Streams {
    /// Derived slots that somebody reads beside the equations of these: properties, queries, and those that are left. Where it is
    /// not known who reads them, every stream is read.
    fn read_outside(&self, program: &Program, compiled: &[bool]) -> Vec<bool> {
        let left = self.graph.derived.iter().zip(compiled).filter(|(_, compiled)| !**compiled);
        let by_others = left.flat_map(|(derived, _)| &derived.reads).map(|&(other, _)| other);
        if let Some(shown) = &self.shown {
            let mut read = shown.clone();
            by_others.for_each(|other| read[other] = true);
            return read;
        }
        let own: Vec<NodeId> = (0..compiled.len())
            .filter(|&member| compiled[member])
            .filter_map(|member| match &program.slots[self.graph.derived[member].slot as usize].what {
                What::Stream { stream, .. } => Some(program.streams[*stream as usize].node),
                _ => None,
            })
            .collect();
        let mut inside = vec![false; program.dag.len()];
        program.reachable(&own).into_iter().for_each(|id| inside[id.index()] = true);
        let is_stream =
            |derived: &Derived| matches!(program.slots[derived.slot as usize].what, What::Stream { .. });
        let mut read: Vec<bool> = self.graph.derived.iter().map(is_stream).collect();
        let mut mark = |id: NodeId| {
            if let Node::Slot(slot) | Node::Truth(slot) = program.dag.node(id)
                && let Some(&member) = self.graph.of_slot.get(&slot)
            {
                read[member] = true;
            }
        };
        for (at, inside) in inside.iter().enumerate() {
            let id = NodeId(at as u32);
            if !inside {
                mark(id);
                program.dag.node(id).children().for_each(&mut mark);
            }
        }
        program.roots.iter().for_each(|root| mark(root.node));
        by_others.for_each(|other| read[other] = true);
        read
    }
}

/// The kind of a column, if it has values.
pub(crate) fn kind(column: &Column) -> Option<Kind> {
    match column {
        Column::Truth(_) => Some(Kind::Truth),
        Column::Int { valid, .. } => valid.find(true, 0).map(|_| Kind::Int),
        Column::Real { valid, .. } => valid.find(true, 0).map(|_| Kind::Real),
        Column::Any(values) => {
            let numbers =
                values.iter().all(|value| matches!(value, Value::Null | Value::Int(_) | Value::Real(_)));
            (numbers && values.iter().any(|value| !value.is_null())).then_some(Kind::Mixed)
        }
        _ => None,
    }
}
