//! One walk over a stretch of blocks.

use crate::findings::Finding;
use crate::graph::Direction;
use crate::grid::{Edges, Grid, Marks};
use crate::kernels::{Input, Kernels, flip};
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
    pub(crate) fn flipped_if(self, negated: bool) -> State {
        match (self, negated) {
            (State::Zero, true) => State::One,
            (State::One, true) => State::Zero,
            (state, _) => state,
        }
    }

    pub(crate) fn constant(value: bool) -> State {
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

/// An operand in one block.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) state: State,
    pub(crate) words: &'a [u64],
    pub(crate) negated: bool,
}

impl<'a> Value<'a> {
    pub(crate) fn bits(self) -> Input<'a> {
        (self.words, self.negated)
    }

    pub(crate) fn word(self, index: usize) -> u64 {
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
    pub(crate) job: &'a Job<'a>,
    pub(crate) blocks: Range<usize>,
    registers: Vec<&'a mut [u64]>,
    states: Vec<State>,
    scratch: &'a mut [u64],
    defines: Vec<Piece<'a>>,
    /// Temporal state: one bit per temporal operation of the pass.
    pub(crate) carries: Vec<bool>,
    pub(crate) findings: Vec<Finding>,
    /// Whether a sink's segments are answered where they are left, rather than at their first position.
    pub(crate) answers_at_exit: Vec<bool>,
    /// Carries before each block of the stretch, in walking order, if blocks of it may have to be walked again.
    pub(crate) snapshots: Option<Vec<bool>>,
    /// Violations that were left are listed now.
    pub(crate) lists: bool,
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
            late: vec![false; blocks.len()],
            holds: vec![0; holds.div_ceil(64)],
            ..Finding::default()
        };
        let mut answers_at_exit = vec![false; job.pass.sinks.len()];
        for step in &job.pass.steps {
            if let Code::Nowhere { sink, .. } = step.code {
                answers_at_exit[sink as usize] = true;
            }
        }
        let lists_late =
            job.pass.direction == Direction::Backward && !job.pass.sinks.is_empty() && job.limit > 0;
        Worker {
            job,
            lists: false,
            answers_at_exit,
            registers: parts.collect(),
            states: vec![State::Zero; job.pass.registers],
            scratch,
            defines,
            carries: vec![false; job.pass.carries],
            findings: job.pass.sinks.iter().map(|_| finding()).collect(),
            snapshots: (speculative || lists_late).then(Vec::new),
            blocks,
        }
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
        self.settle();
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
        self.settle();
    }

    pub(crate) fn block(&mut self, block: usize) {
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

    pub(crate) fn value(&self, operand: Operand, block: usize) -> Value<'_> {
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
                let before = self.carries[carry as usize];
                let state = self.shift(out, scratch, body, self.job.pass.direction, repeat, before, block);
                self.carries[carry as usize] = handed_on;
                state
            }
            Code::Neighbour { atom, negated, direction, repeat } => {
                let words = self.job.atoms[atom as usize];
                let carry = match direction {
                    Direction::Forward => range.start.checked_sub(1).is_some_and(|at| words[at] >> 63 == 1),
                    Direction::Backward => words.get(range.end).is_some_and(|word| word & 1 == 1),
                };
                let body = self.value(Operand { place: Place::Atom(atom), negated }, block);
                self.shift(out, scratch, body, direction, repeat, carry != negated, block)
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
                let nothing = Operand { place: Place::False, negated: false };
                let found = self.findings[sink as usize].counts[block - self.blocks.start] > 0;
                let body = self.value(if found { body } else { nothing }, block);
                let state = self.fill(out, body, self.carries[carry as usize], block);
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
}
