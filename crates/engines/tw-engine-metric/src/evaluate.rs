//! Runs the operations over a stored trace, one column after another; a column is dropped after its last use.

use crate::graph::{Graph, Op};
use crate::stamps::{self, Stamps};
use crate::steps;
use crate::time::{Pace, in_steps};
use crate::words::{Words, chain, clear_tail, cut, fill, paste};
use std::mem::take;
use tw_ir::{Clock, Ticks};
use tw_monitor::{EvaluateOptions, Lit, Trace, Unsupported};

/// The columns at hand.
pub(crate) struct Run<'r> {
    ops: &'r [Op],
    trace: &'r Trace,
    columns: Vec<Vec<u64>>,
    /// Uses of each operation that are still to come.
    uses: Vec<u32>,
    /// One per segment; empty if no operation has an interval.
    paces: Vec<Pace>,
    scratch: Scratch,
}

/// Operands and result of a segment that was cut out, and a column that the kernels need.
#[derive(Default)]
struct Scratch {
    hold: Vec<u64>,
    goal: Vec<u64>,
    out: Vec<u64>,
    chain: Vec<u64>,
}

impl<'r> Run<'r> {
    /// Computes what `outputs` ask for.
    pub(crate) fn new(
        graph: &'r Graph,
        outputs: &[Lit],
        trace: &'r Trace,
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        let ops = graph.ops();
        let mut uses = vec![0; ops.len()];
        for lit in outputs {
            uses[lit.op()] += 1;
        }
        for index in (0..ops.len()).rev() {
            if uses[index] > 0 {
                ops[index].operands().for_each(|lit| uses[lit.op()] += 1);
            }
        }
        let timed = ops.iter().zip(&uses).any(|(op, &uses)| uses > 0 && op.ticks().is_some());
        if timed && options.clock != Clock::Index && trace.times.is_none() {
            return Err(Unsupported {
                node: None,
                what: "an interval on a trace without timestamps".into(),
                help: Some("count positions: ⟨clock: index⟩".into()),
                exhausted: false,
            });
        }
        check_budget(ops, &uses, trace, options.memory_budget)?;
        let mut run = Run {
            ops,
            trace,
            columns: Vec::new(),
            uses,
            paces: if timed { Pace::of(trace, options.clock) } else { Vec::new() },
            scratch: Scratch::default(),
        };
        run.columns.resize_with(ops.len(), Vec::new);
        for (index, &op) in ops.iter().enumerate() {
            if run.uses[index] == 0 {
                continue;
            }
            let mut column = run.compute(op);
            clear_tail(&mut column, trace.len);
            run.columns[index] = column;
            for lit in op.operands() {
                run.uses[lit.op()] -= 1;
                if run.uses[lit.op()] == 0 {
                    run.columns[lit.op()] = Vec::new();
                }
            }
        }
        Ok(run)
    }

    /// A computed column.
    pub(crate) fn column(&self, lit: Lit) -> Words<'_> {
        let words = match self.ops[lit.op()] {
            Op::Atom(atom) => self.trace.atoms[atom as usize].words(),
            _ => &self.columns[lit.op()],
        };
        Words::new(words, lit.is_negated(), self.trace.len)
    }

    fn zeros(&self) -> Vec<u64> {
        vec![0; self.trace.len.div_ceil(64)]
    }

    fn compute(&mut self, op: Op) -> Vec<u64> {
        match op {
            Op::Atom(_) => Vec::new(),
            Op::False => self.zeros(),
            Op::First => self.edges(false),
            Op::Last => self.edges(true),
            Op::And(a, b) => self.zip(a, b, |a, b| a & b),
            Op::Xor(a, b) => self.zip(a, b, |a, b| a ^ b),
            Op::Shift { back, body, ticks, repeat } => self.shift(back, body, ticks, repeat),
            Op::Since { back, hold, goal, ticks: None } => self.untimed(back, hold, goal),
            Op::Since { back, hold, goal, ticks: Some(ticks) } => self.since(back, hold, goal, ticks),
        }
    }

    /// The first or the last positions of the segments.
    fn edges(&self, last: bool) -> Vec<u64> {
        let mut edges = self.zeros();
        for (index, &start) in self.trace.starts().iter().enumerate() {
            let at = if last { self.trace.segment_end(index) - 1 } else { start };
            edges[at / 64] |= 1 << (at % 64);
        }
        edges
    }

    fn zip(&self, a: Lit, b: Lit, f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        let (a, b) = (self.column(a), self.column(b));
        a.words.iter().zip(b.words).map(|(&x, &y)| f(x ^ a.flip, y ^ b.flip)).collect()
    }

    /// The column one position later or earlier, where there is such a neighbour within the interval.
    fn shift(&self, back: bool, body: Lit, ticks: Option<Ticks>, repeat: bool) -> Vec<u64> {
        let body = self.column(body);
        let words = body.words.len();
        let mut out: Vec<u64> = match back {
            false => (0..words).map(|index| body.delayed(index, 1)).collect(),
            true => (0..words).map(|index| body.get(index) >> 1 | body.get(index + 1) << 63).collect(),
        };
        for (segment, &start) in self.trace.starts().iter().enumerate() {
            let end = self.trace.segment_end(segment);
            if let Some(ticks) = ticks {
                self.keep_within(&mut out, back, ticks, segment, start..end);
            }
            let edge = if back { end - 1 } else { start };
            let (index, bit) = (edge / 64, 1u64 << (edge % 64));
            // The last position is at distance 0 from itself.
            let stays = repeat && ticks.is_none_or(|ticks| ticks.low == 0);
            let itself = if stays { body.get(index) & bit } else { 0 };
            out[index] = out[index] & !bit | itself;
        }
        out
    }

    /// Clears the positions of a segment whose neighbour is not within the interval.
    fn keep_within(
        &self,
        out: &mut [u64],
        back: bool,
        ticks: Ticks,
        segment: usize,
        range: std::ops::Range<usize>,
    ) {
        let times = match (self.paces[segment], &self.trace.times) {
            (Pace::Even(step), _) if i64::try_from(step).is_ok_and(|step| ticks.contains(step)) => return,
            (Pace::Uneven, Some(times)) => &times[..],
            _ => &[],
        };
        // Distances between neighbours, by the position that looks; the one without a neighbour is the caller's.
        let (first, last) = if back { (range.start, range.end - 1) } else { (range.start + 1, range.end) };
        let mut at = first;
        while at < last {
            let (index, to) = (at / 64, last.min((at / 64 + 1) * 64));
            let mut outside = 0u64;
            if out[index] != 0 {
                for i in at..to {
                    let (early, late) = if back { (i, i + 1) } else { (i - 1, i) };
                    let within =
                        !times.is_empty() && ticks.contains(times[late].saturating_sub(times[early]));
                    outside |= u64::from(!within) << (i % 64);
                }
            }
            out[index] &= !outside;
            at = to;
        }
    }

    /// `hold S goal` or `hold U goal` without an interval, all segments in one pass.
    fn untimed(&self, back: bool, hold: Lit, goal: Lit) -> Vec<u64> {
        let mut out = self.zeros();
        let goal = self.column(goal);
        let hold = (hold != Lit::TRUE).then(|| self.column(hold));
        let edges = (self.trace.starts().len() > 1).then(|| self.edges(back));
        match (hold, &edges, back) {
            (None, None, false) => fill(&mut out, goal.find(0), self.trace.len),
            _ => chain(&mut out, hold, goal, edges.as_deref(), back),
        }
        out
    }

    /// `hold S[ticks] goal` or `hold U[ticks] goal`, segment by segment.
    fn since(&mut self, back: bool, hold: Lit, goal: Lit, ticks: Ticks) -> Vec<u64> {
        let mut scratch = take(&mut self.scratch);
        let mut out = self.zeros();
        let goal = self.column(goal);
        let hold = (hold != Lit::TRUE).then(|| self.column(hold));
        for (segment, &start) in self.trace.starts().iter().enumerate() {
            let end = self.trace.segment_end(segment);
            let time = Timing {
                ticks,
                pace: self.paces[segment],
                stamps: self.trace.times.as_ref().map_or(&[], |times| &times[start..end]),
            };
            if !back && end - start == self.trace.len {
                time.since(&mut out, hold, goal, false, &mut scratch.chain);
                continue;
            }
            let len = end - start;
            cut(&mut scratch.goal, goal.words, start, end, back);
            let goal = Words { words: &scratch.goal, flip: goal.flip, len };
            let hold = match hold {
                Some(hold) => {
                    cut(&mut scratch.hold, hold.words, start, end, back);
                    Some(Words { words: &scratch.hold, flip: hold.flip, len })
                }
                None => None,
            };
            scratch.out.resize(goal.words.len(), 0);
            time.since(&mut scratch.out, hold, goal, back, &mut scratch.chain);
            paste(&mut out, &scratch.out, start, end, back);
        }
        self.scratch = scratch;
        out
    }
}

/// An interval on the clock of a segment.
struct Timing<'t> {
    ticks: Ticks,
    pace: Pace,
    stamps: &'t [tw_core::Time],
}

impl Timing<'_> {
    fn since(
        &self,
        out: &mut [u64],
        hold: Option<Words<'_>>,
        goal: Words<'_>,
        back: bool,
        scratch: &mut Vec<u64>,
    ) {
        match (self.pace, back) {
            (Pace::Even(step), _) => steps::since(out, hold, goal, in_steps(self.ticks, step), scratch),
            (Pace::Uneven, false) => {
                stamps::since(out, hold, goal, self.ticks, Stamps::<false>(self.stamps), scratch);
            }
            (Pace::Uneven, true) => {
                stamps::since(out, hold, goal, self.ticks, Stamps::<true>(self.stamps), scratch);
            }
        }
    }
}

/// Refuses what would not fit, with numbers.
fn check_budget(ops: &[Op], uses: &[u32], trace: &Trace, budget: usize) -> Result<(), Unsupported> {
    let mut left = uses.to_vec();
    let (mut live, mut most) = (0usize, 0);
    let mut extra = 0;
    for (&op, &used) in ops.iter().zip(uses) {
        if used == 0 || matches!(op, Op::Atom(_)) {
            continue;
        }
        live += 1;
        most = most.max(live);
        // Operands and result turned around, and the chain inside; or the edges of segments.
        if let Op::Since { ticks, .. } = op {
            extra = extra.max(if ticks.is_some() { 4 } else { 1 });
        }
        for lit in op.operands() {
            left[lit.op()] -= 1;
            if left[lit.op()] == 0 && !matches!(ops[lit.op()], Op::Atom(_)) {
                live -= 1;
            }
        }
    }
    let paces = trace.starts().len().saturating_mul(size_of::<Pace>());
    let bytes = (most + extra).saturating_mul(trace.len.div_ceil(64) * 8).saturating_add(paces);
    if bytes <= budget {
        return Ok(());
    }
    let mebibytes = |bytes: usize| format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64);
    Err(Unsupported::budget(format!(
        "{} positions within its memory budget: {} columns need {}, the budget is {}",
        trace.len,
        most + extra,
        mebibytes(bytes),
        mebibytes(budget)
    ))
    .help("allow more memory, or check fewer properties at a time"))
}
