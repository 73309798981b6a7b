//! What a walk finds out: how many violations, where the first ones are, which segments hold.

use crate::graph::Direction;
use crate::grid::Marks;
use crate::kernels::flip;
use crate::schedule::Operand;
use crate::worker::{State, Value, Worker};
use std::mem::take;
use std::ops::Range;

/// What a worker found out for one sink.
#[derive(Debug, Default)]
pub(crate) struct Finding {
    /// Violations in each block of the stretch.
    pub(crate) counts: Vec<u32>,
    /// Violations in the order of the walk; those of lowest position are kept when there are too many.
    pub(crate) list: Vec<usize>,
    /// What a backward walk will list: words with violations and the positions where they begin. Each block may replace what
    /// the ones after it have found, so nothing is taken apart before the walk has ended.
    pub(crate) pending: Vec<(usize, u64)>,
    /// Of each block of a backward walk, whether its violations are not listed yet.
    pub(crate) late: Vec<bool>,
    /// One bit per segment that the stretch answers for.
    pub(crate) holds: Vec<u64>,
}

/// Violations of a block that a backward walk lists as it comes along; of a small one fewer.
const FEW: usize = 64;

impl Worker<'_> {
    /// How many segments the finding of a sink answers for.
    pub(crate) fn segments(&self, sink: usize) -> usize {
        let marks = match self.answers_at_exit[sink] {
            true => self.job.edges.exit(self.job.pass.direction),
            false => &self.job.edges.first,
        };
        marks.segments(self.blocks.clone()).len()
    }

    pub(crate) fn violations(&mut self, sink: usize, body: Operand, block: usize) {
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

    pub(crate) fn violations_and(
        &mut self,
        sink: usize,
        a: Operand,
        b: Operand,
        negated: bool,
        block: usize,
    ) {
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
        if self.job.pass.direction == Direction::Backward {
            // Blocks that are met later come before this one: where there is much to list, that waits until it is known to be wanted.
            let late = &mut finding.late[block - self.blocks.start];
            let listed = std::mem::replace(late, !self.lists && count > FEW.min(positions / 8));
            if *late || self.lists && !listed {
                return;
            }
            let from = finding.pending.len();
            let (mut left, mut at) = (count.min(limit), 0);
            while left > 0 && at < positions {
                let valid = u64::MAX >> (64 - (positions - at).min(64));
                let found = word(at / 64) & valid;
                if found != 0 {
                    finding.pending.push((start + at, found));
                    left -= left.min(found.count_ones() as usize);
                }
                at += 64;
            }
            finding.pending[from..].reverse();
            // Only the lowest positions, the ones met last, will be wanted.
            if finding.pending.len() >= limit.saturating_mul(4) {
                finding.pending.drain(..finding.pending.len() - limit);
            }
            return;
        }
        let mut left = count.min(limit - finding.list.len().min(limit));
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
    }

    /// Lists what a backward walk has found.
    pub(crate) fn settle(&mut self) {
        let limit = self.job.limit;
        for finding in self.findings.iter_mut().filter(|finding| !finding.pending.is_empty()) {
            'words: for (start, word) in take(&mut finding.pending).into_iter().rev() {
                let mut rest = word;
                while rest != 0 {
                    if finding.list.len() == limit {
                        break 'words;
                    }
                    finding.list.push(start + rest.trailing_zeros() as usize);
                    rest &= rest - 1;
                }
            }
            finding.list.reverse();
        }
    }

    /// Lists what a backward walk has left, as far as it is among the lowest positions: walks once more over those blocks alone.
    pub(crate) fn list_late(&mut self) {
        let (limit, width) = (self.job.limit, self.carries.len());
        let mut wanted = vec![false; self.blocks.len()];
        for finding in &self.findings {
            let mut below = 0;
            for (index, &late) in finding.late.iter().enumerate() {
                if below >= limit {
                    break;
                }
                wanted[index] |= late;
                below += finding.counts[index] as usize;
            }
        }
        if !wanted.contains(&true) {
            return;
        }
        let early: Vec<Vec<usize>> =
            self.findings.iter_mut().map(|finding| take(&mut finding.list)).collect();
        let snapshots = take(&mut self.snapshots).unwrap_or_default();
        self.lists = true;
        for index in (0..wanted.len()).rev().filter(|&index| wanted[index]) {
            let walked = wanted.len() - 1 - index;
            self.carries.copy_from_slice(&snapshots[walked * width..(walked + 1) * width]);
            self.block(self.blocks.start + index);
        }
        self.lists = false;
        self.settle();
        for (finding, early) in self.findings.iter_mut().zip(early) {
            finding.list.extend(early);
            finding.list.sort_unstable();
            finding.list.truncate(limit);
            finding.list.reverse();
        }
    }

    /// Writes the value at each mark of a block to the bit of its segment.
    pub(crate) fn gather(&self, holds: &mut [u64], marks: &Marks, value: Value<'_>, block: usize) {
        let Some(select) = marks.of(self.job.grid, block) else { return };
        let segments = marks.segments(block..block + 1);
        let before = marks.segments(self.blocks.clone()).start;
        let bits = segments.start - before..segments.end - before;
        match value.state {
            State::Mixed => (self.job.kernels.gather)(select, value.bits(), holds, bits.start),
            state => put(holds, bits, state == State::One),
        }
    }

    /// Puts the violations listed before, from `block` on, behind those listed anew. False if that is not enough:
    /// the list of before may have stopped at its limit, counting violations that are none.
    pub(crate) fn join_lists(&mut self, before: &[Vec<usize>], block: usize) -> bool {
        self.settle();
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
}

/// Sets a range of bits to `value`.
fn put(bits: &mut [u64], range: Range<usize>, value: bool) {
    let mut at = range.start;
    while at < range.end {
        let (word, offset) = (at / 64, at % 64);
        let count = (64 - offset).min(range.end - at);
        let mask = u64::MAX >> (64 - count) << offset;
        bits[word] = bits[word] & !mask | (mask & flip(value));
        at += count;
    }
}
