//! The walk from the last position to the first, in steps of a word.

use crate::block::{Block, Chunk, View, descending};
use crate::cell::{Cell, Maybe, combine, pair};
use crate::collect::{Collector, may_overflow};
use crate::compile::{Compiled, Mapping, Op, Operand, Source};
use crate::words::Words;
use std::rc::Rc;
use tw_core::{Bits, Value};
use tw_ir::{Function, Program};
use tw_monitor::{Note, Term, Trace};
use tw_statistics::Limits;

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The first position of each segment.
    First,
    /// All positions.
    Every,
}

/// Where somebody looks at the value of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    /// Whether there is an error.
    errors: u64,
    /// What the value is.
    values: u64,
}

/// Registers, and the values that transient nodes carry.
pub(crate) struct Walk<'a> {
    compiled: &'a Compiled,
    program: &'a Program,
    trace: &'a Trace,
    guards: &'a [Bits],
    words: Words,
    blocks: Vec<Block>,
    needs: Vec<Need>,
    carried: Vec<Maybe>,
    collectors: Vec<Option<Collector>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        compiled: &'a Compiled,
        program: &'a Program,
        trace: &'a Trace,
        guards: &'a [Bits],
        limits: Limits,
    ) -> Self {
        let collector = |op: &Op| match op {
            Op::Collect(aggregate, _) | Op::During(aggregate, ..) => Some(Collector::new(*aggregate, limits)),
            _ => None,
        };
        Self {
            compiled,
            program,
            trace,
            guards,
            words: Words::new(&compiled.words),
            blocks: compiled.ops.iter().map(|_| Block::new()).collect(),
            needs: vec![Need::default(); compiled.ops.len()],
            carried: vec![Maybe::None; compiled.ops.len()],
            collectors: compiled.ops.iter().map(collector).collect(),
        }
    }

    /// Walks over all segments, and calls `found` after each chunk with its segment.
    pub(crate) fn run<E>(
        &mut self,
        asked: Asked,
        mut found: impl FnMut(&Self, usize, Chunk) -> Result<(), E>,
    ) -> Result<(), E> {
        let segments = if self.trace.len == 0 { 0 } else { self.trace.starts().len() };
        for segment in (0..segments).rev() {
            let (start, mut end) = (self.trace.starts()[segment], self.trace.segment_end(segment));
            self.reset();
            let mut last = true;
            while end > start {
                let chunk = Chunk::last_of(start, end, last);
                self.words.step(&self.compiled.words, &self.trace.atoms, self.guards, chunk);
                self.need(asked, chunk);
                for at in 0..self.blocks.len() {
                    self.step(at, chunk);
                }
                found(self, segment, chunk)?;
                end = start.max(chunk.base());
                last = false;
            }
        }
        Ok(())
    }

    /// The values of an operand in the chunk at hand.
    pub(crate) fn view(&self, operand: Operand) -> View<'_> {
        view(&self.words, &self.blocks, operand)
    }

    /// What is to be said about statistics.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let of = self.collectors.iter().zip(&self.compiled.origins);
        let note = |(collector, origin): (&Option<Collector>, &Option<tw_ir::NodeId>)| {
            let bound = collector.as_ref()?.bound?;
            Some(Note { node: (*origin)?, bound: bound.to_string() })
        };
        of.filter_map(note).collect()
    }

    fn reset(&mut self) {
        self.words.reset();
        self.carried.fill(Maybe::None);
        self.collectors.iter_mut().flatten().for_each(Collector::clear);
    }

    /// Finds out which positions of each instruction matter, from the results to what they are made of. A statistic that
    /// is asked for at the first position alone is computed once.
    fn need(&mut self, asked: Asked, chunk: Chunk) {
        let Chunk { mask, low, first, .. } = chunk;
        self.needs.fill(Need::default());
        let top = match asked {
            Asked::First => u64::from(first) << low,
            Asked::Every => mask,
        };
        let needs = &mut self.needs;
        let add = |needs: &mut Vec<Need>, operand: Operand, errors: u64, values: u64| {
            if let Operand::Value(op) = operand {
                let need = &mut needs[op as usize];
                (need.errors, need.values) = (need.errors | errors, need.values | values);
            }
        };
        let all = |operand: Operand| match operand {
            Operand::Truth(register) => self.words.registers[register as usize],
            Operand::Value(_) => mask,
        };
        for &output in &self.compiled.outputs {
            add(needs, output, top, top);
        }
        for (at, op) in self.compiled.ops.iter().enumerate().rev() {
            let Need { errors, values } = needs[at];
            match op {
                Op::Emit(..) => {}
                Op::Both(g, a, b) => {
                    // Arithmetic may fail whoever looks.
                    let values = if matches!(g, Function::Arithmetic(_)) { errors } else { values };
                    add(needs, *a, errors, values & all(*b));
                    add(needs, *b, errors, values & all(*a));
                }
                Op::Either(g, a, b) => {
                    let values = if matches!(g, Function::Arithmetic(_)) { errors } else { values };
                    add(needs, *a, errors, values);
                    add(needs, *b, errors, values);
                }
                Op::Then(condition, value) => {
                    add(needs, *condition, errors, errors);
                    add(needs, *value, errors & all(*condition), values & all(*condition));
                }
                Op::Negate(a, _) | Op::Default(a, _) => add(needs, *a, errors, errors),
                Op::Map(a, _) => add(needs, *a, errors, errors),
                Op::Next(a, mapping) => {
                    let values = if mapping.is_some() { errors } else { values };
                    // Whether the position before the chunk asks is not known yet.
                    let shift = |word: u64| word << 1 & mask | u64::from(!first) << low;
                    add(needs, *a, shift(errors), shift(values));
                }
                Op::Until(hold, goal) => {
                    add(needs, *hold, mask, mask);
                    add(needs, *goal, mask, mask);
                }
                Op::Collect(_, body) => add(needs, *body, mask, mask),
                Op::During(_, body, condition) => {
                    add(needs, *condition, mask, mask);
                    add(needs, *body, mask & all(*condition), mask & all(*condition));
                }
            }
        }
    }

    /// Computes the register of one instruction.
    fn step(&mut self, at: usize, chunk: Chunk) {
        let (before, rest) = self.blocks.split_at_mut(at);
        let Some(out) = rest.first_mut() else { return };
        out.clear();
        let Need { errors: need, values } = self.needs[at];
        let (words, terms, program) = (&self.words, &self.trace.terms, self.program);
        let of = |operand: &Operand| view(words, before, *operand);
        match &self.compiled.ops[at] {
            Op::Emit(word, source) => {
                load(out, source, terms, chunk, words.registers[*word as usize] & need);
            }
            Op::Both(g, a, b) => both(*g, &of(a), &of(b), out, terms, need),
            Op::Either(g, a, b) => either(*g, &of(a), &of(b), out, terms, need),
            Op::Then(condition, value) => {
                let (condition, value) = (of(condition), of(value));
                out.fail_as(&condition, need);
                out.fail_as(&value, need & condition.some);
                copy(&value, out, need & condition.some);
            }
            Op::Negate(a, source) => {
                let a = of(a);
                out.fail_as(&a, need);
                load(out, source, terms, chunk, need & !(a.some | a.errors));
            }
            Op::Default(a, source) => {
                let a = of(a);
                out.fail_as(&a, need);
                copy(&a, out, need);
                load(out, source, terms, chunk, need & !(a.some | a.errors));
            }
            Op::Map(a, mapping) => {
                let a = of(a);
                out.fail_as(&a, need);
                for bit in descending(a.some & need) {
                    out.set(bit, apply(program, terms, mapping, a.cell(bit)));
                }
            }
            Op::Next(a, mapping) => {
                next(program, terms, &of(a), mapping.as_ref(), out, &mut self.carried[at], chunk)
            }
            Op::Until(hold, goal) => until(&of(hold), &of(goal), out, &mut self.carried[at], chunk),
            Op::Collect(aggregate, body) => {
                if let Some(collector) = &mut self.collectors[at] {
                    let need = if may_overflow(*aggregate) { need } else { values };
                    collect(collector, &of(body), out, terms, need, chunk.mask);
                }
            }
            Op::During(aggregate, body, condition) => {
                if let Some(collector) = &mut self.collectors[at] {
                    let need = if may_overflow(*aggregate) { need } else { values };
                    during(collector, &of(body), &of(condition), out, terms, need, chunk.mask);
                }
            }
        }
    }
}

fn view<'b>(words: &Words, blocks: &'b [Block], operand: Operand) -> View<'b> {
    match operand {
        Operand::Truth(register) => View::truth(words.registers[register as usize]),
        Operand::Value(op) => blocks[op as usize].view(),
    }
}

fn load(out: &mut Block, source: &Source, terms: &[Term], chunk: Chunk, wanted: u64) {
    match source {
        Source::Constant(value) => {
            if let Some(cell) = Cell::new(value.clone()) {
                descending(wanted).for_each(|bit| out.put(bit, cell.clone()));
            }
        }
        Source::Term(term) => out.load(*term, terms, chunk, wanted),
    }
}

fn copy(from: &View<'_>, out: &mut Block, mask: u64) {
    descending(from.some & mask).for_each(|bit| out.put(bit, from.cell(bit).clone()));
}

fn both(g: Function, a: &View<'_>, b: &View<'_>, out: &mut Block, terms: &[Term], need: u64) {
    if a.errors | b.errors != 0 {
        out.fail_as(a, need);
        out.fail_as(b, need & !a.errors);
    }
    for bit in descending(a.some & b.some & need) {
        out.set(bit, combine(g, a.cell(bit), b.cell(bit), terms));
    }
}

fn either(g: Function, a: &View<'_>, b: &View<'_>, out: &mut Block, terms: &[Term], need: u64) {
    let errors = a.errors | b.errors;
    if errors != 0 {
        out.fail_as(a, need);
        out.fail_as(b, need & !a.errors);
    }
    for bit in descending((a.some | b.some) & need & !errors) {
        let value = match (a.some >> bit & 1 == 1, b.some >> bit & 1 == 1) {
            (true, true) => combine(g, a.cell(bit), b.cell(bit), terms),
            (left, _) => {
                let one = if left { a.cell(bit) } else { b.cell(bit) };
                match g {
                    Function::True => Maybe::Some(Cell::True),
                    Function::Pair if left => pair(one.value(terms), Value::Null),
                    Function::Pair => pair(Value::Null, one.value(terms)),
                    _ => Maybe::Some(one.clone()),
                }
            }
        };
        out.set(bit, value);
    }
}

fn apply(program: &Program, terms: &[Term], mapping: &Mapping, cell: &Cell) -> Maybe {
    if let Some(constant) = mapping.map.constant() {
        return Ok(constant.clone()).into();
    }
    mapping.map.apply(program, &cell.value(terms)).into()
}

/// ⟨A, f⟩: `carried` is its value at the last position of the chunk, then the one right before the chunk.
fn next(
    program: &Program,
    terms: &[Term],
    a: &View<'_>,
    mapping: Option<&Mapping>,
    out: &mut Block,
    carried: &mut Maybe,
    chunk: Chunk,
) {
    let f = |bit: u32| match mapping {
        Some(mapping) => apply(program, terms, mapping, a.cell(bit)),
        None => Maybe::Some(a.cell(bit).clone()),
    };
    out.set(chunk.high, std::mem::take(carried));
    let inside = chunk.mask & !(1 << chunk.low);
    for bit in descending(a.errors & inside) {
        out.fail(bit - 1, a.message(bit));
    }
    for bit in descending(a.some & inside) {
        out.set(bit - 1, f(bit));
    }
    if !chunk.first {
        *carried = match a.some >> chunk.low & 1 == 1 {
            true => f(chunk.low),
            false => a.at(chunk.low),
        };
    }
}

fn until(hold: &View<'_>, goal: &View<'_>, out: &mut Block, carried: &mut Maybe, chunk: Chunk) {
    for bit in (chunk.low..=chunk.high).rev() {
        if (goal.some | goal.errors) >> bit & 1 == 1 {
            *carried = goal.at(bit);
        } else if hold.some >> bit & 1 == 0 {
            *carried = if hold.errors >> bit & 1 == 1 { hold.at(bit) } else { Maybe::None };
        }
        match carried {
            Maybe::None => {}
            Maybe::Some(cell) => out.put(bit, cell.clone()),
            Maybe::Error(message) => out.fail(bit, message.clone()),
        }
    }
}

/// Marks everything up to a position as failed.
fn fail_below(out: &mut Block, mask: u64, bit: u32, message: &Rc<str>) {
    let below = mask & (u64::MAX >> (63 - bit));
    descending(below).for_each(|bit| out.fail(bit, message.clone()));
}

fn collect(
    collector: &mut Collector,
    body: &View<'_>,
    out: &mut Block,
    terms: &[Term],
    need: u64,
    mask: u64,
) {
    if let Some(fault) = collector.fault() {
        let fault = fault.clone();
        return fail_below(out, mask, 63, &fault);
    }
    if need == 0 && body.errors == 0 && collector.count(body.some.count_ones()) {
        return;
    }
    // Only where something is collected or asked.
    for bit in descending(body.some | body.errors | need) {
        if body.some >> bit & 1 == 1 {
            collector.push(body.cell(bit), terms);
        } else if body.errors >> bit & 1 == 1 {
            collector.fail(body.message(bit));
        }
        if let Some(fault) = collector.fault() {
            let fault = fault.clone();
            return fail_below(out, mask, bit, &fault);
        }
        if need >> bit & 1 == 1 {
            out.set(bit, collector.result());
        }
    }
}

fn during(
    collector: &mut Collector,
    body: &View<'_>,
    condition: &View<'_>,
    out: &mut Block,
    terms: &[Term],
    need: u64,
    mask: u64,
) {
    if condition.some | condition.errors == 0 {
        return collector.clear();
    }
    for bit in descending(mask) {
        if condition.errors >> bit & 1 == 1 {
            collector.fail(condition.message(bit));
        } else if condition.some >> bit & 1 == 0 {
            collector.clear();
            continue;
        } else if collector.fault().is_none() {
            if body.some >> bit & 1 == 1 {
                collector.push(body.cell(bit), terms);
            } else if body.errors >> bit & 1 == 1 {
                collector.fail(body.message(bit));
            }
        }
        if collector.fault().is_some() || need >> bit & 1 == 1 {
            out.set(bit, collector.result());
        }
    }
}
