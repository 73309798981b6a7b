//! Streams: exact values as soon as they are settled, and bounds before that.
//!
//! Every operator keeps a queue of the values it has settled and takes those of its operands as they come. A position is
//! settled when no later sample can reach it: at once for past operators, after the interval for future ones. Windows
//! are two stacks, so a sample costs O(1) per operator, amortised, whatever the intervals. Unbounded past operators keep
//! a number; unbounded future ones are refused, since they settle nothing before the end.
//!
//! Memory is what the intervals reach over ([`crate::Robust::horizon`], [`crate::Robust::history`]): up to 24 bytes per operator and
//! sample in its reach, and as much again for what is dropped later, all at once, so that dropping costs O(1). It does
//! not grow with the stream, as long as values are handed out ([`Online::drain`]). Once in 64 samples it is counted;
//! beyond the memory budget samples are refused.
//!
//! The bounds of pending positions ([`Online::bounds`], robust satisfaction intervals) are the least and the greatest
//! value that any continuation, also none, can give. They are computed on request: of the oldest pending position of
//! one operator over settled ones in O(1), of all pending ones by [`Online::track`] with each sample, else from what
//! is pending, O(pending) per operator.

mod bounds;
mod build;
pub(crate) mod cell;
mod flat;
mod pending;
mod predict;
mod queue;
mod settle;
mod tracked;

pub use bounds::Bounds;
pub use predict::Predictor;

use crate::Samples;
use crate::clock::Stamps;
use crate::plan::Step;
use cell::{Cell, Now, State};
use flat::Flat;
use queue::Queue;
use tracked::Tracked;
use tw_core::{Position, Time};
use tw_monitor::Unsupported;

/// Queues are looked through, and the memory they take is counted, once in so many samples.
const SELDOM: usize = 64;

/// A stream of samples and the formulas that are evaluated on it.
#[derive(Clone)]
pub struct Online {
    pub(crate) cells: Vec<Cell>,
    /// The cell of each formula asked for.
    pub(crate) outputs: Vec<usize>,
    /// How far each formula's values have been handed out.
    drained: Vec<usize>,
    /// Which column of the samples is the values of which cell.
    pub(crate) predicates: Vec<(usize, usize)>,
    columns: usize,
    pub(crate) index: bool,
    timed: bool,
    pub(crate) times: Queue<Time>,
    pub(crate) watermark: Time,
    pub(crate) seen: usize,
    /// The cells that compute something.
    busy: Vec<usize>,
    /// If that is one future operator over predicates.
    flat: Option<Flat>,
    /// How many had been seen when queues were last looked through.
    trimmed: usize,
    /// From where on each cell's values are read again; kept to be filled again.
    kept: Vec<usize>,
    pub(crate) finished: bool,
    pub(crate) repeat: bool,
    pub(crate) budget: usize,
}

impl Online {
    /// The next samples. Timestamps never decrease, within a batch or between batches.
    pub fn push(&mut self, samples: &Samples) -> Result<(), Unsupported> {
        if samples.predicates.len() != self.columns
            || samples.predicates.iter().any(|column| column.len() != samples.len)
        {
            return Err(refuse("samples of another program or of unequal lengths"));
        }
        if self.finished {
            return Err(refuse("samples after the end of the stream"));
        }
        if self.timed {
            let times = samples.times.as_deref().filter(|times| times.len() == samples.len);
            let times = times.ok_or_else(|| refuse("an interval on a trace without timestamps"))?;
            let ascending = times.first().is_none_or(|&first| first >= self.watermark)
                && times.windows(2).all(|pair| pair[0] <= pair[1]);
            if !ascending {
                return Err(refuse("timestamps that decrease"));
            }
            self.times.values.extend_from_slice(times);
            self.watermark = times.last().copied().unwrap_or(self.watermark);
        }
        for &(column, cell) in &self.predicates {
            self.cells[cell].values.values.extend_from_slice(&samples.predicates[column]);
        }
        self.seen += samples.len;
        self.advance();
        self.proceed()
    }

    /// The next sample: what each predicate is worth, in the order of [`crate::Robust::predicates`], and when. Takes no memory
    /// but for what is kept.
    #[inline]
    pub fn push_one(&mut self, time: Option<Time>, values: &[f64]) -> Result<(), Unsupported> {
        if values.len() != self.columns {
            return Err(refuse("samples of another program or of unequal lengths"));
        }
        if self.finished {
            return Err(refuse("samples after the end of the stream"));
        }
        if self.timed {
            let time = time.ok_or_else(|| refuse("an interval on a trace without timestamps"))?;
            if time < self.watermark {
                return Err(refuse("timestamps that decrease"));
            }
            self.times.values.push(time);
            self.watermark = time;
        }
        for &(column, cell) in &self.predicates {
            self.cells[cell].values.values.push(values[column]);
        }
        self.seen += 1;
        match self.flat {
            Some(flat) => self.advance_flat(flat),
            None => self.advance(),
        }
        self.proceed()
    }

    /// Now and then drops what is not needed, and counts what is.
    #[inline]
    fn proceed(&mut self) -> Result<(), Unsupported> {
        if self.seen < self.trimmed + SELDOM {
            return Ok(());
        }
        self.clean()
    }

    #[inline(never)]
    fn clean(&mut self) -> Result<(), Unsupported> {
        self.trim();
        if self.bytes() > self.budget {
            return Err(Unsupported::budget(format!("more than {} bytes of pending values", self.budget))
                .help("shorter intervals reach over fewer samples"));
        }
        Ok(())
    }

    /// Time has come to `watermark`: no sample before it will follow.
    pub fn watermark(&mut self, watermark: Time) {
        self.watermark = self.watermark.max(watermark);
        self.advance();
    }

    /// The stream is over: every position is settled, windows cut at the end.
    pub fn finish(&mut self) {
        self.finished = true;
        self.advance();
    }

    /// How many positions have been seen.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// The oldest position of formula `output` that is not settled, which may be the next one to come.
    pub fn pending(&self, output: usize) -> Position {
        self.cells[self.outputs[output]].values.end()
    }

    /// The values of formula `output` (by its place in the list asked for) settled since the last call: the first
    /// position, and its and the following ones' values.
    pub fn drain(&mut self, output: usize) -> (Position, &[f64]) {
        let values = &self.cells[self.outputs[output]].values;
        let first = std::mem::replace(&mut self.drained[output], values.end());
        (first, &values.values[first - values.base..])
    }

    /// From now on keeps the bounds of every pending position of future operators over settled operands: more work per
    /// sample, less per question. To be asked for before the first sample.
    pub fn track(&mut self) {
        if self.seen > 0 {
            return;
        }
        let mut delayed = vec![false; self.cells.len()];
        for at in 0..self.cells.len() {
            let step = self.cells[at].step;
            let late = step.operands().any(|operand| delayed[operand]);
            let future = matches!(
                step,
                Step::Last
                    | Step::Neighbour { past: false, .. }
                    | Step::Window { past: false, .. }
                    | Step::Until { past: false, .. }
            );
            delayed[at] = late || future;
            match step {
                _ if late => {}
                Step::Window { past: false, ticks, .. } => {
                    self.cells[at].state = State::Tracked(Tracked::new(ticks, false));
                }
                Step::Until { past: false, ticks, .. } => {
                    self.cells[at].state = State::Tracked(Tracked::new(ticks, true));
                }
                _ => {}
            }
        }
        self.flat = Flat::of(self);
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        let cells = self.cells.iter().map(Cell::bytes);
        cells.sum::<usize>() + self.times.values.capacity() * size_of::<Time>()
    }

    pub(crate) fn now(&self) -> Now<'_> {
        let stamps = stamps(self.index || !self.timed, &self.times);
        let (watermark, seen) = (self.watermark, self.seen);
        Now { stamps, watermark, seen, finished: self.finished, repeat: self.repeat }
    }

    #[inline]
    fn advance(&mut self) {
        let stamps = stamps(self.index || !self.timed, &self.times);
        let (watermark, seen) = (self.watermark, self.seen);
        let now = Now { stamps, watermark, seen, finished: self.finished, repeat: self.repeat };
        for &at in &self.busy {
            if let Some((below, [cell, ..])) = self.cells.split_at_mut_checked(at) {
                cell.advance(below, &now);
            }
        }
    }

    /// Drops what nobody will read again: operands by their readers, results once they are handed out.
    fn trim(&mut self) {
        self.trimmed = self.seen;
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        kept.extend(self.cells.iter().map(|cell| cell.values.end()));
        let now = self.now();
        let mut times = self.seen.saturating_sub(2);
        for cell in &self.cells {
            let keeps = cell.keeps(&now);
            times = times.min(keeps);
            cell.step.operands().for_each(|operand| kept[operand] = kept[operand].min(keeps));
        }
        for (output, &cell) in self.outputs.iter().enumerate() {
            // The newest value, too, to be asked for again.
            kept[cell] = kept[cell].min(self.drained[output]).min(self.seen.saturating_sub(1));
        }
        for &(_, cell) in &self.predicates {
            // The last two, to predict from.
            kept[cell] = kept[cell].min(self.seen.saturating_sub(2));
        }
        for (cell, &kept) in self.cells.iter_mut().zip(&kept) {
            cell.values.trim(kept);
        }
        self.times.trim(times);
        self.kept = kept;
    }
}

#[cold]
fn refuse(what: &str) -> Unsupported {
    Unsupported { node: None, what: what.into(), help: None, exhausted: false }
}

fn stamps(index: bool, times: &Queue<Time>) -> Stamps<'_> {
    match index {
        true => Stamps::Index,
        false => Stamps::Times { base: times.base, times: &times.values },
    }
}
