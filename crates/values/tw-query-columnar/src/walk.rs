//! One walk over a stretch of the trace, from its last block to its first.

use crate::fold::{Fold, wider};
use crate::kernels::Kernels;
use crate::lane::{Cell, Lane};
use crate::plan::{Op, Ops, Plan, Step};
use crate::pool;
use crate::running::running;
use crate::sink::{Scratch, collect};
use crate::space::{Block, Given, Space};
use crate::stretch::{Counts, Wanted, counts};
use crate::temporal::{next, until};
use tw_core::Value;
use tw_ir::{Aggregate, Program};
use tw_statistics::{Bound, Limits};

/// What all walks share.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a, 't> {
    pub(crate) program: &'a Program,
    pub(crate) ops: &'a Ops,
    pub(crate) plan: &'a Plan,
    pub(crate) given: Given<'t>,
    pub(crate) limits: Limits,
    pub(crate) kernels: &'static Kernels,
    /// Positions per block, a multiple of 64.
    pub(crate) block: usize,
}

/// What an operator hands to the block before.
#[derive(Default)]
enum Carry {
    #[default]
    Nothing,
    Cell(Cell),
    Fold(Box<Fold>),
}

/// An aggregate that is asked for at first positions.
pub(crate) struct Sink {
    pub(crate) node: usize,
    /// What was collected of the segment that the walk is in.
    pub(crate) fold: Fold,
    /// Of `agg[count[p while q]]`: the count at the position after.
    open: Fold,
    /// Of the last segment that begins in the stretch, which may go on behind it.
    pub(crate) right: Option<Fold>,
}

/// What a walk finds.
pub(crate) struct Part<'t> {
    /// For each of `Plan::found` its values at first positions, from the last segment to the first. Where there is a
    /// sink for it, the first of them (if there are any) is not yet known: see [`Sink::right`].
    pub(crate) found: Vec<Vec<Cell>>,
    /// For each of `Plan::found`, if it is folded.
    pub(crate) sinks: Vec<Option<Sink>>,
    /// For each node asked for everywhere, in the order of `Step::Output`: its blocks, from the last to the first.
    pub(crate) outputs: Vec<(usize, Vec<Lane<'t>>)>,
    /// Aggregates whose values are approximate.
    pub(crate) bounds: Vec<(usize, Bound)>,
}

pub(crate) struct Walk<'a, 't> {
    job: Job<'a, 't>,
    carries: Vec<Carry>,
    lanes: Vec<Option<Lane<'t>>>,
    scratch: Scratch,
    part: Part<'t>,
}

impl<'a, 't> Walk<'a, 't> {
    pub(crate) fn new(job: Job<'a, 't>) -> Self {
        let nodes = job.ops.0.len();
        let plan = job.plan;
        let mut sinks: Vec<Option<Sink>> = plan.found.iter().map(|_| None).collect();
        let mut outputs = Vec::new();
        let mut carries: Vec<Carry> = (0..nodes).map(|_| Carry::Nothing).collect();
        for step in &plan.steps {
            match step {
                Step::Sink(id, _) | Step::Stretch(id, ..) => {
                    let (Some(Op::Collect(aggregate, _)), Ok(index)) =
                        (&job.ops.0[*id], plan.found.binary_search(id))
                    else {
                        continue;
                    };
                    sinks[index] = Some(Sink {
                        node: *id,
                        fold: Fold::new(*aggregate, job.limits),
                        open: Fold::new(Aggregate::Count, job.limits),
                        right: None,
                    });
                }
                Step::Output(id) => outputs.push((*id, Vec::new())),
                Step::Compute(id) => match &job.ops.0[*id] {
                    Some(Op::Next(..) | Op::Until(..)) => carries[*id] = Carry::Cell(Cell::None),
                    Some(Op::Collect(aggregate, _) | Op::While(aggregate, ..)) => {
                        carries[*id] = Carry::Fold(Box::new(Fold::new(*aggregate, job.limits)));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        let part = Part { found: vec![Vec::new(); plan.found.len()], sinks, outputs, bounds: Vec::new() };
        let lanes = (0..nodes).map(|_| None).collect();
        Walk { job, carries, lanes, scratch: Scratch::default(), part }
    }

    /// Computes what crosses the border before `at` from that position alone.
    pub(crate) fn enter(&mut self, at: usize) {
        self.block(&Block::new(self.job.given, at, at + 1), false);
    }

    /// Walks over `from..to`.
    pub(crate) fn run(mut self, from: usize, to: usize) -> Part<'t> {
        let mut end = to;
        while end > from {
            let start = (end - 1).saturating_sub(from) / self.job.block * self.job.block + from;
            self.block(&Block::new(self.job.given, start, end), true);
            end = start;
        }
        for (id, carry) in self.carries.iter().enumerate() {
            if let Carry::Fold(fold) = carry
                && let Some(bound) = fold.bound()
            {
                self.part.bounds.push((id, bound));
            }
        }
        pool::empty();
        self.part
    }

    /// One block; with `keep`, its findings are kept.
    fn block(&mut self, block: &Block<'t>, keep: bool) {
        let plan = self.job.plan;
        for step in &plan.steps {
            match step {
                Step::Compute(id) => {
                    let lane = self.compute(*id, block);
                    self.lanes[*id] = lane;
                }
                Step::Sink(id, a) if keep => self.sink(*id, *a, block),
                Step::Stretch(id, p, q) => self.stretch(*id, *p, *q, block, keep),
                Step::Gather(id) if keep => {
                    if let (Some(lane), Ok(index)) = (&self.lanes[*id], plan.found.binary_search(id)) {
                        let starts = &block.given.trace.starts()[block.segments.clone()];
                        let cells = starts.iter().rev().map(|start| lane.cell(start - block.from));
                        self.part.found[index].extend(cells);
                    }
                }
                Step::Output(id) if keep => {
                    if let (Some(lane), Some(output)) =
                        (&self.lanes[*id], self.part.outputs.iter_mut().find(|(node, _)| node == id))
                    {
                        output.1.push(lane.clone());
                    }
                }
                Step::Free(id) => self.lanes[*id] = None,
                _ => {}
            }
        }
    }

    fn compute(&mut self, id: usize, block: &Block<'t>) -> Option<Lane<'t>> {
        let op = self.job.ops.0[id].as_ref()?;
        let lanes = &self.lanes;
        match (op, &mut self.carries[id]) {
            (Op::Next(a, function), Carry::Cell(carry)) => {
                let lane = next(lanes[*a].as_ref()?, &block.last, carry);
                Some(function.apply(lane, self.job.program))
            }
            (Op::Until(a, b, function), Carry::Cell(carry)) => {
                let lane = until(lanes[*a].as_ref()?, lanes[*b].as_ref()?, &block.last, carry);
                Some(function.apply(lane, self.job.program))
            }
            (Op::Collect(_, a), Carry::Fold(fold)) => {
                Some(running(fold, lanes[*a].as_ref()?, None, &block.last))
            }
            (Op::While(_, a, phi), Carry::Fold(fold)) => {
                Some(running(fold, lanes[*a].as_ref()?, lanes[*phi].as_ref(), &block.last))
            }
            _ => block.local(op, lanes),
        }
    }

    fn sink(&mut self, id: usize, a: usize, block: &Block<'t>) {
        let Ok(index) = self.job.plan.found.binary_search(&id) else { return };
        let (Some(lane), Some(sink)) = (&self.lanes[a], &mut self.part.sinks[index]) else { return };
        let (kernels, scratch) = (self.job.kernels, &mut self.scratch);
        pieces(block, &mut self.part.found[index], sink, |sink, from, to| {
            collect(&mut sink.fold, lane, from, to, kernels, scratch);
        });
    }

    fn stretch(&mut self, id: usize, p: usize, q: usize, block: &Block<'t>, keep: bool) {
        let Ok(index) = self.job.plan.found.binary_search(&id) else { return };
        let (Some(p), Some(q), Some(sink)) = (&self.lanes[p], &self.lanes[q], &mut self.part.sinks[index])
        else {
            return;
        };
        let (kernels, scratch) = (self.job.kernels, &mut self.scratch);
        let found = &mut self.part.found[index];
        let sound = p.errors.is_empty() && q.errors.is_empty() && sink.open.poison.is_none();
        if !sound || !keep {
            let lane = running(&mut sink.open, p, Some(q), &block.last);
            if keep {
                pieces(block, found, sink, |sink, from, to| {
                    collect(&mut sink.fold, &lane, from, to, kernels, scratch);
                });
            }
            return;
        }
        let wanted = Wanted::of(sink.fold.aggregate).unwrap_or(Wanted::Sum);
        // A block that begins a segment leaves nothing open, and one that ends one begins with nothing.
        pieces(block, found, sink, |sink, from, to| {
            let ends = crate::words::get(&block.last, to - 1);
            let open = if ends { 0 } else { sink.open.count };
            let mut seen = Counts { open, ..Counts::default() };
            counts(wanted, &mut seen, &p.valid, &q.valid, from, to);
            sink.open.count = seen.open;
            take_in(&mut sink.fold, &seen);
        });
    }
}

/// Takes counts into their aggregate.
fn take_in(fold: &mut Fold, counts: &Counts) {
    match fold.aggregate {
        Aggregate::Max if counts.greatest > 0 => {
            fold.extreme(&Value::Int(counts.greatest as i64));
            fold.count += 1;
        }
        Aggregate::Min if counts.number > 0 => {
            fold.extreme(&Value::Int(1));
            fold.count += 1;
        }
        Aggregate::Sum | Aggregate::Avg => {
            fold.ints += counts.sum as i128;
            fold.count += counts.number;
        }
        Aggregate::Count => fold.count += counts.number,
        _ => {}
    }
}

/// Gives the parts of the block that are in one segment to `add`, from the last to the first, and finishes the segments
/// that begin here.
fn pieces(
    block: &Block<'_>,
    found: &mut Vec<Cell>,
    sink: &mut Sink,
    mut add: impl FnMut(&mut Sink, usize, usize),
) {
    let starts = &block.given.trace.starts()[block.segments.clone()];
    let mut to = block.to - block.from;
    for start in starts.iter().rev() {
        let from = start - block.from;
        add(sink, from, to);
        to = from;
        if sink.right.is_none() {
            let empty = Fold::new(sink.fold.aggregate, sink.fold.limits());
            sink.right = Some(std::mem::replace(&mut sink.fold, empty));
            found.push(Cell::None);
        } else {
            found.push(sink.fold.result());
            sink.fold.clear();
        }
    }
    if to > 0 {
        add(sink, 0, to);
    }
}

impl Part<'_> {
    /// Notes that an aggregate's values are approximate.
    pub(crate) fn note(&mut self, node: usize, bound: Option<Bound>) {
        if let Some(bound) = bound {
            match self.bounds.iter_mut().find(|(at, _)| *at == node) {
                Some((_, old)) => *old = wider(Some(*old), Some(bound)).unwrap_or(bound),
                None => self.bounds.push((node, bound)),
            }
        }
    }
}
