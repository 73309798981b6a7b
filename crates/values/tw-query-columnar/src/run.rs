//! Walks over the stretches of a trace, several at the same time, and what they find put together.

use crate::cuts::cuts;
use crate::fold::Fold;
use crate::lane::{Cell, Lane};
use crate::space::{Space, Starts};
use crate::walk::{Job, Part, Sink, Walk};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tw_statistics::Bound;

/// Fewer positions than this are not worth a thread.
const WORTH_A_THREAD: usize = 1 << 17;

/// What was found on the whole trace.
pub(crate) struct Found<'t> {
    /// For each of `Plan::found` its values at first positions, by segment.
    pub(crate) cells: Vec<Vec<Cell>>,
    /// For each node asked for everywhere: its blocks in trace order.
    pub(crate) outputs: Vec<(usize, Vec<Lane<'t>>)>,
    /// Aggregates whose values are approximate.
    pub(crate) bounds: Vec<(usize, Bound)>,
}

/// Runs the job with up to so many threads; `small` lets stretches be as short as a block.
pub(crate) fn run<'t>(job: Job<'_, 't>, threads: usize, small: bool) -> Found<'t> {
    let len = job.given.trace.len;
    let least = if small { job.block } else { job.block.max(WORTH_A_THREAD) };
    // Each stretch may keep a quarter of the memory budget before it makes do with a sketch.
    let most = if job.plan.keeps_values { 3 } else { usize::MAX };
    let threads = threads.min(len / least).min(most).max(1);
    // Some more stretches than threads, so that one that is slow does not hold up the others.
    let parts = if threads == 1 { 1 } else { (threads * 4).min(len / least).min(most) };
    let borders = cuts(job.ops, job.plan, job.given, parts);
    let stretches: Vec<(usize, usize)> = borders.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let walk = |(from, to): (usize, usize)| {
        let mut walk = Walk::new(job);
        if to < len {
            walk.enter(to);
        }
        walk.run(from, to)
    };
    if stretches.len() == 1 {
        return merge(stretches.into_iter().map(walk).collect(), job);
    }
    let done: Mutex<Vec<(usize, Part<'t>)>> = Mutex::new(Vec::new());
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(stretches.len()) {
            scope.spawn(|| {
                loop {
                    let index = taken.fetch_add(1, Ordering::Relaxed);
                    let Some(stretch) = stretches.get(index) else { return };
                    let part = walk(*stretch);
                    done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, part));
                }
            });
        }
    });
    let mut parts = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    parts.sort_by_key(|(index, _)| *index);
    merge(parts.into_iter().map(|(_, part)| part).collect(), job)
}

/// Parts in trace order.
fn merge<'t>(parts: Vec<Part<'t>>, job: Job<'_, 't>) -> Found<'t> {
    let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); job.plan.found.len()];
    // What was collected to the right of a part, of the segment that it ends in.
    let mut pending: Vec<Option<Fold>> = job.plan.found.iter().map(|_| None).collect();
    let mut outputs: Vec<(usize, Vec<Lane<'t>>)> = Vec::new();
    let mut bounds = Vec::new();
    for mut part in parts.into_iter().rev() {
        let sinks = std::mem::take(&mut part.sinks);
        for (index, sink) in sinks.into_iter().enumerate() {
            let Some(Sink { node, mut fold, right, .. }) = sink else { continue };
            let later = pending[index].take();
            part.note(node, fold.bound());
            pending[index] = match right {
                Some(mut right) => {
                    if let Some(later) = later {
                        right.append(later);
                    }
                    part.note(node, right.bound());
                    part.found[index][0] = right.result();
                    Some(fold)
                }
                None => {
                    if let Some(later) = later {
                        fold.append(later);
                    }
                    part.note(node, fold.bound());
                    Some(fold)
                }
            };
        }
        cells.iter_mut().zip(part.found).for_each(|(all, found)| all.extend(found));
        match outputs.is_empty() {
            true => outputs = part.outputs,
            false => outputs.iter_mut().zip(part.outputs).for_each(|(all, more)| all.1.extend(more.1)),
        }
        bounds.extend(part.bounds);
    }
    cells.iter_mut().for_each(|cells| cells.reverse());
    outputs.iter_mut().for_each(|(_, lanes)| lanes.reverse());
    Found { cells, outputs, bounds }
}

/// The values of nodes at first positions, by node and segment.
pub(crate) fn at_starts(job: Job<'_, '_>, found: Found<'_>, roots: &[usize]) -> Vec<Vec<Cell>> {
    let plan = job.plan;
    if let [root] = roots
        && plan.found == [*root]
    {
        return found.cells;
    }
    let segments = job.given.trace.starts().len();
    let nodes = (plan.starts.len() + plan.found.len()).max(1);
    // As many segments at once as keeps what is computed for them small.
    let step = ((1 << 20) / nodes).clamp(1, 4096);
    let mut cells: Vec<_> = found.cells.into_iter().map(Vec::into_iter).collect();
    let mut lanes: Vec<Option<Lane<'_>>> = (0..job.ops.0.len()).map(|_| None).collect();
    let mut values: Vec<Vec<Cell>> = roots.iter().map(|_| Vec::with_capacity(segments)).collect();
    let mut first = 0;
    while first < segments {
        let space = Starts { given: job.given, segments: first..segments.min(first + step) };
        for (id, cells) in plan.found.iter().zip(&mut cells) {
            lanes[*id] = Some(Lane::of_cells(cells.by_ref().take(space.len()).collect()));
        }
        for id in &plan.starts {
            lanes[*id] = job.ops.0[*id].as_ref().and_then(|op| space.local(op, &lanes));
        }
        for (root, values) in roots.iter().zip(&mut values) {
            let lane = lanes[*root].as_ref();
            values.extend((0..space.len()).map(|at| lane.map_or(Cell::None, |lane| lane.cell(at))));
        }
        first += space.len();
    }
    values
}
