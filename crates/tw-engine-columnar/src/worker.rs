//! One walk over a stretch of blocks.

use crate::graph::Direction;
use crate::grid::{Edges, Grid, Marks};
use crate::kernels::{Chain, Input, Kernels, fill_down, fill_up, flip};
use crate::schedule::{Code, Operand, Pass, Place, Step};
use std::mem::take;
use std::ops::Range;

/// What is known of a value in one block. Constant blocks are neither written nor read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum State {
    /// False at every position.
    #[default]
    Zero,
    /// True at every position.
    One,
    /// See the words.
    Mixed,
}

impl State {
    fn flipped_if(self, negated: bool) -> State {
        match (self, negated) {
            (State::Zero, true) => State::One,
            (State::One, true) => State::Zero,
            (state, _) => state,
        }
    }

    fn constant(value: bool) -> State {
        if value { State::One } else { State::Zero }
    }
}

/// A column that a pass has computed.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) words: Vec<u64>,
    /// One per block.
    pub(crate) states: Vec<State>,
}

/// What all workers of a pass share.
pub(crate) struct Job<'a> {
    pub(crate) pass: &'a Pass,
    pub(crate) grid: Grid,
    pub(crate) edges: &'a Edges,
    pub(crate) atoms: &'a [&'a [u64]],
    pub(crate) columns: &'a [Stored],
    pub(crate) kernels: &'static Kernels,
    /// A block of zeros.
    pub(crate) zeros: &'a [u64],
    /// How many violations are listed.
    pub(crate) limit: usize,
}

/// The part of a column that one worker computes.
pub(crate) struct Piece<'a> {
    pub(crate) words: &'a mut [u64],
    pub(crate) states: &'a mut [State],
}

/// What a worker found out for one sink.
#[derive(Debug, Default)]
pub(crate) struct Finding {
    /// Violations in each block of the stretch.
    pub(crate) counts: Vec<u32>,
    /// Violations in the order of the walk; those of lowest position are kept when there are too many.
    pub(crate) list: Vec<usize>,
    /// One bit per segment that the stretch answers for.
    pub(crate) holds: Vec<u64>,
}

/// An operand in one block.
#[derive(Clone, Copy)]
struct Value<'a> {
    state: State,
    words: &'a [u64],
    negated: bool,
}

impl<'a> Value<'a> {
    fn bits(self) -> Input<'a> {
        (self.words, self.negated)
    }

    fn word(self, index: usize) -> u64 {
        self.words[index] ^ flip(self.negated)
    }

    /// The bit that the next block of a walk sees.
    fn handed_on(self, direction: Direction) -> bool {
        match direction {
            Direction::Forward => self.word(self.words.len() - 1) >> 63 == 1,
            Direction::Backward => self.word(0) & 1 == 1,
        }
    }
}

/// Walks over a stretch and keeps what has to be kept from block to block.
pub(crate) struct Worker<'a> {
    job: &'a Job<'a>,
    pub(crate) blocks: Range<usize>,
    registers: Vec<&'a mut [u64]>,
    states: Vec<State>,
    scratch: &'a mut [u64],
    defines: Vec<Piece<'a>>,
    /// Temporal state: one bit per temporal operation of the pass.
    pub(crate) carries: Vec<bool>,
    pub(crate) findings: Vec<Finding>,
    /// Whether a sink's segments are answered where they are left, rather than at their first position.
    answers_at_exit: Vec<bool>,
    /// Carries before each block of the stretch, in walking order, if the walk may have to be repaired.
    snapshots: Option<Vec<bool>>,
}

impl<'a> Worker<'a> {
    /// `memory` holds the registers and one block more.
    pub(crate) fn new(
        job: &'a Job<'a>,
        blocks: Range<usize>,
        memory: &'a mut [u64],
        defines: Vec<Piece<'a>>,
        speculative: bool,
    ) -> Self {
        let mut parts = memory.chunks_exact_mut(job.grid.block);
        let scratch = parts.next().unwrap_or_default();
        let holds =
            job.edges.first.segments(blocks.clone()).len().max(job.edges.last.segments(blocks.clone()).len());
        let finding = || Finding {
            counts: vec![0; blocks.len()],
            list: Vec::new(),
            holds: vec![0; holds.div_ceil(64)],
        };
        let mut answers_at_exit = vec![false; job.pass.sinks.len()];
        for step in &job.pass.steps {
            if let Code::Nowhere { sink, .. } = step.code {
                answers_at_exit[sink as usize] = true;
            }
        }
        Worker {
            job,
            answers_at_exit,
            registers: parts.collect(),
            states: vec![State::Zero; job.pass.registers],
            scratch,
            defines,
            carries: vec![false; job.pass.carries],
            findings: job.pass.sinks.iter().map(|_| finding()).collect(),
            snapshots: speculative.then(Vec::new),
            blocks,
        }
    }

    /// How many segments the finding of a sink answers for.
    pub(crate) fn segments(&self, sink: usize) -> usize {
        let marks = match self.answers_at_exit[sink] {
            true => self.job.edges.exit(self.job.pass.direction),
            false => &self.job.edges.first,
        };
        marks.segments(self.blocks.clone()).len()
    }

    /// The `index`-th block of the walk.
    fn nth(&self, index: usize) -> usize {
        match self.job.pass.direction {
            Direction::Forward => self.blocks.start + index,
            Direction::Backward => self.blocks.end - 1 - index,
        }
    }

    /// Walks over the whole stretch.
    pub(crate) fn run(&mut self) {
        for index in 0..self.blocks.len() {
            if let Some(snapshots) = &mut self.snapshots {
                snapshots.extend_from_slice(&self.carries);
            }
            self.block(self.nth(index));
        }
    }

    /// Walks again with the carries that turned out to be right, until they make no difference any more.
    pub(crate) fn repair(&mut self, carries: &[bool]) {
        let before: Vec<Vec<usize>> =
            self.findings.iter_mut().map(|finding| take(&mut finding.list)).collect();
        let end = std::mem::replace(&mut self.carries, carries.to_vec());
        let width = self.carries.len();
        for index in 0..self.blocks.len() {
            let block = self.nth(index);
            let snapshots = self.snapshots.get_or_insert_default();
            let snapshot = &mut snapshots[index * width..(index + 1) * width];
            if *snapshot == self.carries[..] && self.join_lists(&before, block) {
                self.carries = end;
                return;
            }
            let snapshot = &mut self.snapshots.get_or_insert_default()[index * width..(index + 1) * width];
            snapshot.copy_from_slice(&self.carries);
            self.block(block);
        }
    }

    /// Puts the violations listed before, from `block` on, behind those listed anew. False if that is not enough:
    /// the list of before may have stopped at its limit, counting violations that are none.
    fn join_lists(&mut self, before: &[Vec<usize>], block: usize) -> bool {
        let limit = self.job.limit;
        let cuts: Vec<usize> = match self.job.pass.direction {
            Direction::Forward => {
                let start = self.job.grid.start(block);
                let cuts: Vec<usize> =
                    before.iter().map(|list| list.partition_point(|&at| at < start)).collect();
                let enough = self.findings.iter().zip(before).zip(&cuts).all(|((finding, list), cut)| {
                    list.len() < limit || finding.list.len() + list.len() - cut >= limit
                });
                if !enough {
                    return false;
                }
                cuts
            }
            Direction::Backward => {
                let end = self.job.grid.start(block) + self.job.grid.positions(block);
                before.iter().map(|list| list.partition_point(|&at| at >= end)).collect()
            }
        };
        for ((finding, list), cut) in self.findings.iter_mut().zip(before).zip(cuts) {
            finding.list.extend_from_slice(&list[cut..]);
        }
        true
    }

    fn block(&mut self, block: usize) {
        let job = self.job;
        for step in &job.pass.steps {
            match step.code {
                Code::Violations { sink, body } => self.violations(sink as usize, body, block),
                Code::ViolationsAnd { sink, a, b, negated } => {
                    self.violations_and(sink as usize, a, b, negated, block);
                }
                Code::Starts { sink, body } => {
                    let mut holds = take(&mut self.findings[sink as usize].holds);
                    self.gather(&mut holds, &job.edges.first, self.value(body, block), block);
                    self.findings[sink as usize].holds = holds;
                }
                _ => self.compute(step, block),
            }
        }
    }

    fn value(&self, operand: Operand, block: usize) -> Value<'_> {
        let job = self.job;
        let range = job.grid.range(block);
        let marked = |marks: &'a Marks| match marks.of(job.grid, block) {
            Some(words) => (State::Mixed, words),
            None => (State::Zero, job.zeros),
        };
        let (state, words) = match operand.place {
            Place::False => (State::Zero, job.zeros),
            Place::Atom(index) => (State::Mixed, &job.atoms[index as usize][range.clone()]),
            Place::First => marked(&job.edges.first),
            Place::Last => marked(&job.edges.last),
            Place::Column(index) => {
                let column = &job.columns[index as usize];
                (column.states[block], &column.words[range.clone()])
            }
            Place::Define(index) => {
                let piece = &self.defines[index as usize];
                let start = self.blocks.start * job.grid.block;
                (
                    piece.states[block - self.blocks.start],
                    &piece.words[range.start - start..range.end - start],
                )
            }
            Place::Register(index) => {
                (self.states[index as usize], &self.registers[index as usize][..range.len()])
            }
        };
        let state = state.flipped_if(operand.negated);
        match state {
            State::Zero => Value { state, words: &job.zeros[..range.len()], negated: false },
            State::One => Value { state, words: &job.zeros[..range.len()], negated: true },
            State::Mixed => Value { state, words, negated: operand.negated },
        }
    }

    /// Runs a step that has a result.
    fn compute(&mut self, step: &Step, block: usize) {
        let range = self.job.grid.range(block);
        let offset = self.blocks.start * self.job.grid.block;
        // The target is no operand of the step, so it can be moved out while operands are read.
        let (whole, within) = match step.to {
            Place::Register(index) => (take(&mut self.registers[index as usize]), 0..range.len()),
            Place::Define(index) => {
                (take(&mut self.defines[index as usize].words), range.start - offset..range.end - offset)
            }
            _ => return,
        };
        let out = &mut whole[within];
        let scratch = take(&mut self.scratch);
        let state = match step.code {
            Code::And(a, b) => self.and(out, self.value(a, block), self.value(b, block)),
            Code::Xor(a, b) => self.xor(out, a, b, block),
            Code::Copy(body) => self.copy(out, self.value(body, block)),
            Code::Shift { body, repeat, carry } => {
                let body = self.value(body, block);
                let handed_on = body.handed_on(self.job.pass.direction);
                let state = self.shift(out, scratch, body, repeat, self.carries[carry as usize], block);
                self.carries[carry as usize] = handed_on;
                state
            }
            Code::Chain { hold, now, weak, carry } => {
                let (hold, now) = (self.value(hold, block), self.value(now, block));
                let state = self.chain(out, scratch, hold, now, weak, self.carries[carry as usize], block);
                self.hand_on(out, state, carry);
                state
            }
            Code::Fill { body, carry } => {
                let state = self.fill(out, self.value(body, block), self.carries[carry as usize], block);
                self.hand_on(out, state, carry);
                state
            }
            Code::Nowhere { sink, body, carry } => {
                let state = self.fill(out, self.value(body, block), self.carries[carry as usize], block);
                self.hand_on(out, state, carry);
                let somewhere = match state {
                    State::Mixed => Value { state, words: out, negated: true },
                    state => {
                        let state = state.flipped_if(true);
                        Value { state, words: &self.job.zeros[..out.len()], negated: state == State::One }
                    }
                };
                let mut holds = take(&mut self.findings[sink as usize].holds);
                self.gather(&mut holds, self.job.edges.exit(self.job.pass.direction), somewhere, block);
                self.findings[sink as usize].holds = holds;
                state
            }
            Code::Violations { .. } | Code::ViolationsAnd { .. } | Code::Starts { .. } => State::Zero,
        };
        self.scratch = scratch;
        match step.to {
            Place::Register(index) => {
                self.registers[index as usize] = whole;
                self.states[index as usize] = state;
            }
            Place::Define(index) => {
                let piece = &mut self.defines[index as usize];
                piece.words = whole;
                piece.states[block - self.blocks.start] = state;
            }
            _ => {}
        }
    }

    /// Remembers the bit of a result that the next block continues.
    fn hand_on(&mut self, out: &[u64], state: State, carry: u32) {
        self.carries[carry as usize] = match state {
            State::Zero => false,
            State::One => true,
            State::Mixed => Value { state, words: out, negated: false }.handed_on(self.job.pass.direction),
        };
    }

    fn copy(&self, out: &mut [u64], value: Value<'_>) -> State {
        if value.state == State::Mixed {
            (self.job.kernels.copy)(out, value.bits());
        }
        value.state
    }

    fn and(&self, out: &mut [u64], a: Value<'_>, b: Value<'_>) -> State {
        match (a.state, b.state) {
            (State::Zero, _) | (_, State::Zero) => State::Zero,
            (State::One, _) => self.copy(out, b),
            (_, State::One) => self.copy(out, a),
            _ => {
                (self.job.kernels.and)(out, a.bits(), b.bits());
                State::Mixed
            }
        }
    }

    fn xor(&self, out: &mut [u64], a: Place, b: Place, block: usize) -> State {
        let a = self.value(Operand { place: a, negated: false }, block);
        let b = self.value(Operand { place: b, negated: false }, block);
        let mut flipped = |value: Value<'_>, by: State| match value.state {
            State::Mixed => {
                (self.job.kernels.copy)(out, (value.words, value.negated != (by == State::One)));
                State::Mixed
            }
            state => state.flipped_if(by == State::One),
        };
        match (a.state, b.state) {
            (State::Mixed, State::Mixed) => {
                (self.job.kernels.xor)(out, a.words, b.words);
                State::Mixed
            }
            (State::Mixed, by) => flipped(a, by),
            (by, _) => flipped(b, by),
        }
    }

    fn entry(&self, block: usize) -> Option<&'a [u64]> {
        self.job.edges.entry(self.job.pass.direction).of(self.job.grid, block)
    }

    fn shift(
        &self,
        out: &mut [u64],
        scratch: &mut [u64],
        body: Value<'_>,
        repeat: bool,
        carry: bool,
        block: usize,
    ) -> State {
        let kernel = match self.job.pass.direction {
            Direction::Forward => self.job.kernels.shift_up,
            Direction::Backward => self.job.kernels.shift_down,
        };
        let Some(edge) = self.entry(block) else {
            if body.state == State::constant(carry) {
                return body.state;
            }
            kernel(out, body.bits(), carry);
            return State::Mixed;
        };
        let scratch = &mut scratch[..out.len()];
        kernel(scratch, body.bits(), carry);
        (self.job.kernels.and)(out, (scratch, false), (edge, true));
        if repeat {
            for (index, (out, &edge)) in out.iter_mut().zip(edge).enumerate() {
                *out |= body.word(index) & edge;
            }
        }
        State::Mixed
    }

    fn chain_kernel(&self) -> Chain {
        match self.job.pass.direction {
            Direction::Forward => self.job.kernels.chain_up,
            Direction::Backward => self.job.kernels.chain_down,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn chain(
        &self,
        out: &mut [u64],
        scratch: &mut [u64],
        hold: Value<'_>,
        now: Value<'_>,
        weak: bool,
        carry: bool,
        block: usize,
    ) -> State {
        if now.state == State::One || hold.state == State::Zero {
            return self.copy(out, now);
        }
        let Some(edge) = self.entry(block) else {
            if hold.state == State::One {
                return self.fill(out, now, carry, block);
            }
            if now.state == State::Zero && !carry {
                return State::Zero;
            }
            (self.chain_kernel())(out, hold.bits(), now.bits(), carry);
            return State::Mixed;
        };
        let scratch = &mut scratch[..out.len()];
        if weak {
            // At the edge what holds is enough: now | hold & edge, kept negated.
            (self.job.kernels.and)(out, hold.bits(), (edge, false));
            (self.job.kernels.and)(scratch, (now.words, !now.negated), (out, true));
            (self.chain_kernel())(out, hold.bits(), (scratch, true), carry);
        } else {
            (self.job.kernels.and)(scratch, hold.bits(), (edge, true));
            (self.chain_kernel())(out, (scratch, false), now.bits(), carry);
        }
        State::Mixed
    }

    fn fill(&self, out: &mut [u64], body: Value<'_>, carry: bool, block: usize) -> State {
        match self.entry(block) {
            _ if body.state == State::One => State::One,
            _ if body.state == State::Zero && !carry => State::Zero,
            None if carry => State::One,
            None => {
                let any = match self.job.pass.direction {
                    Direction::Forward => fill_up(out, body.bits()),
                    Direction::Backward => fill_down(out, body.bits()),
                };
                if any { State::Mixed } else { State::Zero }
            }
            Some(edge) => {
                (self.chain_kernel())(out, (edge, true), body.bits(), carry);
                State::Mixed
            }
        }
    }

    fn violations(&mut self, sink: usize, body: Operand, block: usize) {
        let job = self.job;
        let mut finding = take(&mut self.findings[sink]);
        let value = self.value(body, block);
        let positions = job.grid.positions(block);
        let count = match value.state {
            State::Zero => 0,
            State::One => positions,
            State::Mixed => {
                let whole = positions / 64;
                let mut count = (job.kernels.count)((&value.words[..whole], value.negated));
                if !positions.is_multiple_of(64) {
                    count += (value.word(whole) & ((1 << (positions % 64)) - 1)).count_ones() as usize;
                }
                count
            }
        };
        self.record(&mut finding, count, block, |index| value.word(index));
        self.findings[sink] = finding;
    }

    fn violations_and(&mut self, sink: usize, a: Operand, b: Operand, negated: bool, block: usize) {
        let job = self.job;
        let mut finding = take(&mut self.findings[sink]);
        let (a, b) = (self.value(a, block), self.value(b, block));
        let positions = job.grid.positions(block);
        let word = |index| (a.word(index) & b.word(index)) ^ flip(negated);
        let both = match (a.state, b.state) {
            (State::Zero, _) | (_, State::Zero) => 0,
            (State::One, State::One) => positions,
            _ => {
                let whole = positions / 64;
                let (x, y) = ((&a.words[..whole], a.negated), (&b.words[..whole], b.negated));
                let mut count = (job.kernels.count_and)(x, y);
                if !positions.is_multiple_of(64) {
                    let last = a.word(whole) & b.word(whole) & ((1 << (positions % 64)) - 1);
                    count += last.count_ones() as usize;
                }
                count
            }
        };
        let count = if negated { positions - both } else { both };
        self.record(&mut finding, count, block, word);
        self.findings[sink] = finding;
    }

    /// Keeps the number of violations in a block and lists what is still to be listed.
    fn record(&self, finding: &mut Finding, count: usize, block: usize, word: impl Fn(usize) -> u64) {
        finding.counts[block - self.blocks.start] = count as u32;
        let limit = self.job.limit;
        if count == 0 || limit == 0 {
            return;
        }
        let (start, positions) = (self.job.grid.start(block), self.job.grid.positions(block));
        let from = finding.list.len();
        let room = match self.job.pass.direction {
            Direction::Forward => limit - from.min(limit),
            Direction::Backward => limit,
        };
        let mut left = count.min(room);
        let mut index = 0;
        while left > 0 && index * 64 < positions {
            let mut rest = word(index);
            while rest != 0 && left > 0 {
                finding.list.push(start + index * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
                left -= 1;
            }
            index += 1;
        }
        if self.job.pass.direction == Direction::Backward {
            finding.list[from..].reverse();
            // Only the lowest positions, the ones met last, will be wanted.
            if finding.list.len() >= limit.saturating_mul(2) {
                finding.list.drain(..finding.list.len() - limit);
            }
        }
    }

    /// Writes the value at each mark of a block to the bit of its segment.
    fn gather(&self, holds: &mut [u64], marks: &Marks, value: Value<'_>, block: usize) {
        let Some(words) = marks.of(self.job.grid, block) else { return };
        let mut at = marks.segments(block..block + 1).start - marks.segments(self.blocks.clone()).start;
        for (index, &select) in words.iter().enumerate() {
            if select != 0 {
                let count = select.count_ones() as usize;
                let packed = match value.state {
                    State::Zero => 0,
                    State::One => u64::MAX >> (64 - count),
                    State::Mixed => (self.job.kernels.extract)(select, value.word(index)),
                };
                put(holds, at, packed, count);
                at += count;
            }
        }
    }
}

/// Overwrites `count` bits from bit `at` on.
fn put(bits: &mut [u64], at: usize, packed: u64, count: usize) {
    let (word, offset) = (at / 64, at % 64);
    let mask = u64::MAX >> (64 - count);
    bits[word] = bits[word] & !(mask << offset) | packed << offset;
    if offset + count > 64 {
        let rest = 64 - offset;
        bits[word + 1] = bits[word + 1] & !(mask >> rest) | packed >> rest;
    }
}
