//! Timestamps that go back: where nobody uses time they are counted, and told once.

use super::open::{Opened, skipped_note};
use super::timing::reads;
use crate::error::Setting;
use crate::{Session, Specification};
use tw_core::Time;
use tw_diag::Diagnostic;
use tw_ir::Clock;
use tw_trace::{LeftOut, Row, Summary, TraceError};

/// How far timestamps go back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StepsBack {
    /// How often one is before the one before it.
    pub count: u64,
    /// The largest of these steps.
    pub step: Time,
    /// How far one is before the latest so far: what sorting has to wait for.
    pub skew: Time,
    ends: Option<(Time, Time)>,
    range: Option<(Time, Time)>,
}

impl StepsBack {
    /// Those among some timestamps.
    pub fn of(times: &[Time]) -> Self {
        let mut back = Self::default();
        if let (Some(&first), Some(&last)) = (times.first(), times.last()) {
            back.ends = Some((first, last));
            if times.is_sorted() {
                back.range = back.ends;
                return back;
            }
        }
        for &time in times {
            back.then(Self { ends: Some((time, time)), range: Some((time, time)), ..Self::default() });
        }
        back.ends = times.first().copied().zip(times.last().copied());
        back
    }

    /// Those of a batch.
    pub fn in_batch(batch: &tw_core::Batch) -> Self {
        batch.times.as_deref().map(Self::of).unwrap_or_default()
    }

    /// Goes on with those of later positions.
    pub fn then(&mut self, later: Self) {
        let (Some((first, last)), Some((low, high))) = (later.ends, later.range) else { return };
        if let (Some((_, before)), Some((_, latest))) = (self.ends, self.range) {
            let step = before.saturating_sub(first).max(0);
            self.count += u64::from(step > 0);
            self.step = self.step.max(step);
            self.skew = self.skew.max(latest.saturating_sub(low));
        }
        self.count += later.count;
        self.step = self.step.max(later.step);
        self.skew = self.skew.max(later.skew);
        let (own, _) = self.ends.unwrap_or((first, last));
        self.ends = Some((own, last));
        let (lowest, highest) = self.range.unwrap_or((low, high));
        self.range = Some((lowest.min(low), highest.max(high)));
    }

    /// The warning about them.
    pub fn warning(&self, trace: &str) -> Option<Diagnostic> {
        let times = match self.count {
            1 => "one timestamp is before the one above it".to_string(),
            count => format!("{count} timestamps are before the one above them"),
        };
        (self.count > 0).then(|| {
            let message = format!(
                "{trace}: {times}, by up to {}; nothing here measures time, so \
                 positions stay in the order of the lines",
                tw_core::duration(self.step)
            );
            let sort = Setting::Sort.to(tw_core::duration(self.skew));
            Diagnostic::warning("time-goes-back", message).help(format!("`{sort}` puts them in order"))
        })
    }
}

/// Whether a specification uses time: then timestamps must not go back.
pub(crate) fn uses_time(session: &Session, spec: &Specification) -> bool {
    let required = spec.program.requirements.iter().map(|requirement| &requirement.root);
    let windows = spec.program.roots.iter().chain(required).any(|root| root.division.every.is_some());
    super::clock::needs_times(session, spec)
        || reads(&spec.program)
        || windows && session.evaluate.clock != Clock::Index
}

/// What is to be said of rows that were read, beside what they hold.
#[derive(Default)]
pub(crate) struct Aside {
    back: StepsBack,
    left_out: LeftOut,
}

impl Aside {
    /// Of a trace that was scanned.
    pub fn of(back: StepsBack, summary: &Summary) -> Self {
        let left_out = LeftOut { count: summary.skipped, first: summary.bad_lines.first().cloned() };
        Self { back, left_out }
    }

    /// Adds what is to be said of another trace.
    pub fn also(&mut self, other: Self) {
        self.back.count += other.back.count;
        self.back.step = self.back.step.max(other.back.step);
        self.back.skew = self.back.skew.max(other.back.skew);
        self.left_out.count += other.left_out.count;
        if self.left_out.first.is_none() {
            self.left_out.first = other.left_out.first;
        }
    }

    /// Lines that were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out.count
    }

    /// As findings that did not stop the run.
    pub fn warnings(self, trace: &str) -> Vec<Diagnostic> {
        self.skipped(trace).into_iter().chain(self.back.warning(trace)).collect()
    }

    /// What is to be said of lines that were left out.
    pub fn skipped(&self, trace: &str) -> Option<Diagnostic> {
        skipped_note(self.left_out.count, self.left_out.first.as_ref(), trace)
    }
}

impl Opened {
    /// Reads rows, for who uses no time: it may go back.
    pub fn rows(
        &mut self,
        each: &mut dyn FnMut(&Row) -> Result<bool, TraceError>,
    ) -> Result<Aside, TraceError> {
        self.read.any_order |= self.read.sort.is_none();
        let mut back = StepsBack::default();
        let left_out = tw_trace::read_rows(&self.input, self.format, &self.read, &mut |row: &Row| {
            if let Some(stamp) = row.time {
                back.then(StepsBack::of(&[stamp.time]));
            }
            each(row)
        })?;
        Ok(Aside { back, left_out })
    }

    /// Lets timestamps go back where nobody uses them; whether they may.
    pub fn let_time_go_back(&mut self, session: &Session, spec: &Specification) -> bool {
        let lenient = self.read.sort.is_none() && !uses_time(session, spec);
        self.read.any_order |= lenient;
        lenient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition, position by position.
    fn naive(times: &[Time]) -> (u64, Time, Time) {
        let (mut count, mut step, mut skew) = (0, 0, 0);
        for at in 1..times.len() {
            count += u64::from(times[at] < times[at - 1]);
            step = step.max(times[at - 1] - times[at]);
            skew = skew.max(times[..at].iter().max().unwrap_or(&0) - times[at]);
        }
        (count, step, skew)
    }

    #[test]
    fn steps_are_counted_however_positions_are_cut() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..2000 {
            let times: Vec<Time> = (0..next(12)).map(|at| (at * next(2) + next(6)) as Time).collect();
            let mut back = StepsBack::default();
            let mut rest = &times[..];
            while !rest.is_empty() {
                let (part, more) = rest.split_at(1 + next(rest.len() as u64) as usize);
                back.then(StepsBack::of(part));
                rest = more;
            }
            assert_eq!((back.count, back.step, back.skew), naive(&times), "{times:?}");
        }
    }
}
