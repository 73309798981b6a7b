//! What timestamps say of each position (`time`, `elapsed`), put into the columns of a batch before predicates read them.
//!
//! Readers deliver a column of that name where the trace has one, which tells whether a bare name is ambiguous; its values
//! are replaced here. `time` needs the position alone; `elapsed` the position before it, so batches go through in the order
//! of the trace.

use super::columns::Keys;
use super::faults::trace_error;
use super::hints::proposed_time;
use super::open::Opened;
use super::windows::of_time;
use crate::error::Setting;
use crate::{Error, Session, Specification};
use std::fmt::Write;
use tw_core::{Batch, Column, Time, TimeUnit, Value};
use tw_ir::{Expect, Measure, Program, SlotId, What};
use tw_trace::{ColumnBuilder, TraceError, TraceErrorKind};

/// Whether the program reads timestamps, as numbers or as lengths of windows.
pub(crate) fn reads(program: &Program) -> bool {
    measures(program) || of_time(program).is_some()
}

/// Whether the program reads timestamps as numbers.
pub(crate) fn measures(program: &Program) -> bool {
    program.timings().next().is_some()
}

/// Whose positions are neighbours.
enum Whose {
    /// All.
    Trace,
    /// Those with the same key, which is the last column of a batch.
    Key,
    /// Those with the same value in a column of the batch.
    Slot(SlotId),
}

/// Neighbours, and when the last of them was.
struct Neighbours {
    whose: Whose,
    keys: Keys,
    last: Vec<Option<Time>>,
}

/// Fills the columns of a stored trace.
pub(crate) struct Timings {
    unit: TimeUnit,
    times: Vec<SlotId>,
    elapsed: Vec<(SlotId, Neighbours)>,
}

impl Timings {
    /// Of a program that has some. `key` is the column read as keys, `divided` whether it divides the whole trace.
    pub fn new(program: &Program, unit: TimeUnit, key: Option<&str>, divided: bool) -> Option<Self> {
        let (mut times, mut elapsed) = (Vec::new(), Vec::new());
        for (slot, timing) in program.timings() {
            let column = |by: &tw_ir::Path| {
                let same = |what: &What| matches!(what, What::Variable(path, Expect::Any) if path == by);
                program.slots.iter().position(|slot| same(&slot.what))
            };
            let whose = match &timing.by {
                None if divided => Whose::Key,
                None => Whose::Trace,
                Some(by) if key.is_some_and(|key| key == by.to_string()) => Whose::Key,
                Some(by) => column(by).map_or(Whose::Trace, |slot| Whose::Slot(slot as SlotId)),
            };
            match timing.measure {
                Measure::Time => times.push(slot),
                Measure::Elapsed => {
                    elapsed.push((slot, Neighbours { whose, keys: Keys::default(), last: Vec::new() }))
                }
            }
        }
        (times.len() + elapsed.len() > 0).then_some(Self { unit, times, elapsed })
    }

    /// Whether batches may be filled in any order.
    pub fn is_local(&self) -> bool {
        self.elapsed.is_empty()
    }

    /// Fills what a position alone decides.
    pub fn fill_local(&self, batch: &mut Batch) {
        let Some(times) = &batch.times else { return };
        for &slot in &self.times {
            batch.slots[slot as usize] = time_column(times, self.unit);
        }
    }

    /// Fills everything; batches come in the order of the trace.
    pub fn fill(&mut self, batch: &mut Batch) {
        self.fill_local(batch);
        let Some(times) = batch.times.take() else { return };
        for (slot, neighbours) in &mut self.elapsed {
            let since = neighbours.since(batch, &times);
            batch.slots[*slot as usize] = elapsed_column(&times, &since, self.unit);
        }
        batch.times = Some(times);
    }
}

impl Neighbours {
    /// When the neighbour before each position was.
    fn since(&mut self, batch: &Batch, times: &[Time]) -> Vec<Option<Time>> {
        self.keys.ids.clear();
        match &self.whose {
            Whose::Trace => self.keys.ids.resize(batch.len, 0),
            Whose::Key => {
                if let Some(column) = batch.slots.last() {
                    self.keys.extend(column);
                }
            }
            Whose::Slot(slot) => self.keys.extend_values(&batch.slots[*slot as usize]),
        }
        self.last.resize(self.last.len().max(self.keys.names.len()).max(1), None);
        let mut since = |(&key, &time): (&u32, &Time)| {
            self.last.get_mut(key as usize).and_then(|last| last.replace(time))
        };
        self.keys.ids.iter().zip(times).map(&mut since).collect()
    }
}

/// The timestamps as numbers of a unit.
pub(crate) fn time_column(times: &[Time], unit: TimeUnit) -> Column {
    numbers(times.iter().map(|&time| unit.value(time.into())))
}

/// What has passed since then, as numbers of a unit; null where there is no before.
pub(crate) fn elapsed_column(times: &[Time], since: &[Option<Time>], unit: TimeUnit) -> Column {
    numbers(times.iter().zip(since).map(|(&time, since)| elapsed(time, *since, unit)))
}

/// What has passed since the position before.
pub(crate) fn elapsed(time: Time, since: Option<Time>, unit: TimeUnit) -> Value {
    since.map_or(Value::Null, |since| unit.value(i128::from(time) - i128::from(since)))
}

fn numbers(values: impl Iterator<Item = Value>) -> Column {
    let mut column = ColumnBuilder::new(Expect::Number);
    for value in values {
        // Finite numbers are what such a column holds.
        if column.push_value(&value).is_err() {
            column.push_null();
        }
    }
    column.finish()
}

/// Fills the columns of one trace that is read live, given when the position before the batch was.
pub(crate) fn fill_live(program: &Program, unit: TimeUnit, batch: &mut Batch, before: Option<Time>) {
    let Some(times) = batch.times.take() else { return };
    let since: Vec<Option<Time>> =
        std::iter::once(before).chain(times.iter().map(|&time| Some(time))).take(times.len()).collect();
    fill_since(program, unit, batch, &times, &since);
    batch.times = Some(times);
}

/// The same, given when the neighbour before each position was.
pub(crate) fn fill_since(
    program: &Program,
    unit: TimeUnit,
    batch: &mut Batch,
    times: &[Time],
    since: &[Option<Time>],
) {
    for (slot, timing) in program.timings() {
        batch.slots[slot as usize] = match timing.measure {
            Measure::Time => time_column(times, unit),
            Measure::Elapsed => elapsed_column(times, since, unit),
        };
    }
}

/// A trace without timestamps, where the specification reads them as numbers.
pub(crate) fn without_time(program: &Program) -> Option<TraceError> {
    let Some((slot, timing)) = program.timings().next() else {
        let (slot, window) = of_time(program)?;
        let message = format!(
            "`{}` is a window of time, and this trace has no timestamps (`{}` names their column; a bare number counts \
             positions)",
            window.text,
            Setting::Time.to("COL")
        );
        let mut error = TraceError::new(TraceErrorKind::Usage, message);
        error.slot = Some(slot);
        return Some(error);
    };
    let mut message = format!(
        "`{}` is what timestamps say, and this trace has none (`{}` names their column",
        timing.measure.name(),
        Setting::Time.to("COL")
    );
    // A column of that name would be meant, if there were one.
    let _ = write!(message, "; a column called `{0}` is written `` `{0}` ``)", timing.measure.name());
    let mut error = TraceError::new(TraceErrorKind::Usage, message);
    error.slot = Some(slot);
    Some(error)
}

/// Refuses such a trace.
pub(crate) fn refuse_without_time(spec: &Specification, opened: &Opened) -> Result<(), Error> {
    match without_time(&spec.program) {
        Some(mut error) => {
            error.message.push_str(&proposed_time(opened));
            Err(trace_error(spec, error.in_file(&opened.name)))
        }
        None => Ok(()),
    }
}

/// Whether timestamps are read: intervals measure them, or terms do.
pub(crate) fn reads_times(session: &Session, spec: &Specification) -> bool {
    super::clock::needs_times(session, spec) || reads(&spec.program)
}
