//! Where operators that look at one position are computed: on a block of positions, or on the first positions of
//! segments.

use crate::lane::{Cell, Lane};
use crate::local;
use crate::plan::{Op, TermRef};
use crate::words;
use std::ops::Range;
use tw_core::{Bits, Value};
use tw_monitor::Trace;

/// What a walk reads.
#[derive(Clone, Copy)]
pub(crate) struct Given<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) guards: &'t [Bits],
}

/// Some positions of the trace.
pub(crate) trait Space<'t> {
    fn len(&self) -> usize;
    /// The truth of a guard.
    fn guard(&self, index: usize) -> Lane<'t>;
    /// The values of a term that is no constant.
    fn term(&self, index: usize) -> Lane<'t>;

    fn value(&self, term: &TermRef) -> Lane<'t> {
        match term {
            TermRef::Constant(value) => Lane::constant(value, self.len()),
            TermRef::Column(index) => self.term(*index),
        }
    }

    /// An operator that looks at one position; `None` for the others. `lanes` holds its operands.
    fn local(&self, op: &Op, lanes: &[Option<Lane<'t>>]) -> Option<Lane<'t>> {
        let lane = |id: usize| lanes[id].as_ref();
        Some(match op {
            Op::Guard(index) => self.guard(*index),
            Op::Emit(guard, term) => local::emit(&self.guard(*guard).valid, self.value(term)),
            Op::Both(function, a, b) => local::both(*function, lane(*a)?, lane(*b)?),
            Op::Either(function, a, b) => local::either(*function, lane(*a)?, lane(*b)?),
            Op::Fails(a, term) => local::fails(lane(*a)?, self.value(term)),
            Op::Default(a, term) => local::default(lane(*a)?, self.value(term)),
            Op::Next(..) | Op::Until(..) | Op::Collect(..) | Op::While(..) => return None,
        })
    }
}

/// Consecutive positions, the first of which is a multiple of 64.
pub(crate) struct Block<'t> {
    pub(crate) given: Given<'t>,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Last positions of segments.
    pub(crate) last: Vec<u64>,
    /// The segments that begin here.
    pub(crate) segments: Range<usize>,
}

impl<'t> Block<'t> {
    pub(crate) fn new(given: Given<'t>, from: usize, to: usize) -> Self {
        let starts = given.trace.starts();
        let first = starts.partition_point(|start| *start < from);
        let mut last = vec![0; (to - from).div_ceil(64)];
        let mut end = first;
        while end < starts.len() && starts[end] < to {
            if starts[end] > from {
                words::set(&mut last, starts[end] - 1 - from);
            }
            end += 1;
        }
        if to == given.trace.len || starts.get(end) == Some(&to) {
            words::set(&mut last, to - 1 - from);
        }
        Block { given, from, to, last, segments: first..end }
    }
}

impl<'t> Space<'t> for Block<'t> {
    fn len(&self) -> usize {
        self.to - self.from
    }

    fn guard(&self, index: usize) -> Lane<'t> {
        let bits: &'t Bits = &self.given.guards[index];
        Lane::truth(words::cut(bits.words(), self.from, self.to), self.len())
    }

    fn term(&self, index: usize) -> Lane<'t> {
        Lane::of_term(&self.given.trace.terms[index], self.from, self.to)
    }
}

/// First positions of consecutive segments.
pub(crate) struct Starts<'t> {
    pub(crate) given: Given<'t>,
    pub(crate) segments: Range<usize>,
}

impl<'t> Starts<'t> {
    fn positions(&self) -> &'t [usize] {
        &self.given.trace.starts()[self.segments.clone()]
    }
}

impl<'t> Space<'t> for Starts<'t> {
    fn len(&self) -> usize {
        self.segments.len()
    }

    fn guard(&self, index: usize) -> Lane<'t> {
        let bits = &self.given.guards[index];
        let holds: Bits = self.positions().iter().map(|at| *at < bits.len() && bits.get(*at)).collect();
        Lane::truth(holds.words().to_vec().into(), self.len())
    }

    fn term(&self, index: usize) -> Lane<'t> {
        let term = &self.given.trace.terms[index];
        let cell = |at: &usize| match term.at(*at) {
            _ if *at >= term.column.len() => Cell::None,
            Ok(Value::Null) => Cell::None,
            Ok(value) => Cell::Value(value),
            Err(message) => Cell::Error(message.into()),
        };
        Lane::of_cells(self.positions().iter().map(cell).collect())
    }
}
