//! Values under a prediction: samples are put after the last one, and windows are cut after these.
//!
//! It is the published algorithm's definition: the table of [`crate::table`], fed with the same predictions, gives the
//! same values.

use super::Online;
use super::cell::Now;
use crate::clock::Stamps;
use crate::plan::Step;
use tw_core::Time;
use tw_monitor::Unsupported;

/// How samples that have not been seen are guessed, from what predicates were worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Predictor {
    /// Not at all: windows are cut at the last sample.
    #[default]
    None,
    /// They stay what they were last.
    Hold,
    /// They go on as between the last two samples (where those are finite).
    Linear,
}

impl Predictor {
    /// Every predictor with its name on the command line.
    pub const ALL: [(&'static str, Predictor); 3] =
        [("none", Predictor::None), ("hold", Predictor::Hold), ("linear", Predictor::Linear)];
}

impl Online {
    /// The value of formula `output` at the newest position, with the samples that its horizon asks for predicted.
    /// `period` is the time from sample to sample; positions are one apart.
    pub fn predict(
        &self,
        output: usize,
        predictor: Predictor,
        period: i64,
    ) -> Result<Option<f64>, Unsupported> {
        let (root, Some(newest)) = (self.outputs[output], self.seen.checked_sub(1)) else { return Ok(None) };
        if let Some(value) = self.cells[root].values.end().checked_sub(self.seen) {
            return Ok(Some(self.cells[root].values.get(newest + value)));
        }
        if period <= 0 {
            let what = "a period that is not positive".into();
            return Err(Unsupported { node: None, what, help: None, exhausted: false });
        }
        let index = matches!(self.now().stamps, Stamps::Index);
        let (ticks, positions) = self.horizon(output);
        let ticks = if index { ticks } else { ticks / period };
        let ahead = match predictor {
            Predictor::None => 0,
            _ => usize::try_from(ticks.saturating_add(positions)).unwrap_or(usize::MAX),
        };
        let columns = self.predicates.len() + 2 * self.cells.len();
        if ahead.saturating_add(self.seen - self.cells[root].values.end()).saturating_mul(8 * columns)
            > self.budget
        {
            return Err(Unsupported::budget(format!("{ahead} predicted samples within the memory budget")));
        }
        let end = self.seen + ahead;
        let mut extended: Vec<Time> = Vec::new();
        let mut now = Now { seen: end, finished: true, ..self.now() };
        if !index && let Some(&last) = self.times.values.last() {
            extended.extend_from_slice(&self.times.values);
            extended.extend((1..=ahead as i64).map(|k| last.saturating_add(k.saturating_mul(period))));
            now.stamps = Stamps::Times { base: self.times.base, times: &extended };
        }
        let predicted: Vec<Vec<f64>> = self
            .predicates
            .iter()
            .map(|&(_, cell)| {
                let values = &self.cells[cell].values.values;
                let last = values[values.len() - 1];
                let slope = match (predictor, values.len()) {
                    (Predictor::Linear, 2..) => last - values[values.len() - 2],
                    _ => 0.0,
                };
                let slope = if slope.is_finite() { slope } else { 0.0 };
                (1..=ahead).map(|k| last + k as f64 * slope + 0.0).collect()
            })
            .collect();
        let tails = self.tails(root, now, &predicted, true);
        Ok(Some(tails[root].lower[newest - self.cells[root].values.end()]))
    }

    /// How far ahead formula `output` looks: in ticks of the clock, and in positions besides.
    pub fn horizon(&self, output: usize) -> (i64, i64) {
        let root = self.outputs[output];
        let mut horizons = vec![(0i64, 0i64); root + 1];
        for at in 0..=root {
            let step = self.cells[at].step;
            let below = step.operands().map(|operand| horizons[operand]);
            let (ticks, positions) = below.fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)));
            horizons[at] = match step {
                Step::Window { past: false, ticks: own, .. }
                | Step::Until { past: false, ticks: own, .. } => (ticks.saturating_add(own.high), positions),
                Step::Neighbour { past: false, .. } => (ticks, positions.saturating_add(1)),
                Step::Last => (0, 1),
                _ => (ticks, positions),
            };
        }
        horizons[root]
    }
}
