//! Operators on one block: which kernel to run, and when none is needed.
//!
//! A block where an operand is constant often has a constant result, without a look at the other operand: on a plain
//! trace `F b` is true from the last `b` back to the beginning, so nothing is read there.

use crate::graph::Direction;
use crate::kernels::{Chain, fill_down, fill_up};
use crate::schedule::{Operand, Place};
use crate::worker::{State, Value, Worker};

impl<'a> Worker<'a> {
    pub(crate) fn copy(&self, out: &mut [u64], value: Value<'_>) -> State {
        if value.state == State::Mixed {
            (self.job.kernels.copy)(out, value.bits());
        }
        value.state
    }

    pub(crate) fn and(&self, out: &mut [u64], a: Value<'_>, b: Value<'_>) -> State {
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

    pub(crate) fn xor(&self, out: &mut [u64], a: Place, b: Place, block: usize) -> State {
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

    /// The positions of a block where a walk in that direction enters a segment.
    pub(crate) fn entry(&self, direction: Direction, block: usize) -> Option<&'a [u64]> {
        self.job.edges.entry(direction).of(self.job.grid, block)
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn shift(
        &self,
        out: &mut [u64],
        scratch: &mut [u64],
        body: Value<'_>,
        direction: Direction,
        repeat: bool,
        carry: bool,
        block: usize,
    ) -> State {
        let kernel = match direction {
            Direction::Forward => self.job.kernels.shift_up,
            Direction::Backward => self.job.kernels.shift_down,
        };
        let Some(edge) = self.entry(direction, block) else {
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

    pub(crate) fn chain_kernel(&self) -> Chain {
        match self.job.pass.direction {
            Direction::Forward => self.job.kernels.chain_up,
            Direction::Backward => self.job.kernels.chain_down,
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn chain(
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
        let Some(edge) = self.entry(self.job.pass.direction, block) else {
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

    pub(crate) fn fill(&self, out: &mut [u64], body: Value<'_>, carry: bool, block: usize) -> State {
        match self.entry(self.job.pass.direction, block) {
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
}
