//! Row by row: for formats without blocks, and whenever rows are to be sorted.

use super::{Summary, place_error};
use crate::locate::LocatorBuilder;
use crate::{
    Input, Order, Projection, ReadOptions, Row, RowSource, SlotBuilder, Stamp, TraceError, TraceErrorKind,
    TraceFormat, Vocabulary,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;
use tw_core::{Batch, Time, TimeUnit};

/// Positions per batch.
const BATCH: usize = 16 << 10;

/// A row on its way out.
pub(super) struct Arrival<'r> {
    pub row: &'r Row,
    /// How many rows came before it in the files.
    pub ordinal: u64,
    /// The file it is from.
    pub file: usize,
    /// Its source, unless rows are being sorted.
    pub source: Option<&'r dyn RowSource>,
}

/// Reads rows of all files in order and checks their timestamps; sorts them if the options say so. `bad` is given lines that
/// cannot be read, where the next can, and says whether to go on. Returns how many bytes were read.
pub(super) fn drive(
    input: &Input,
    format: &dyn TraceFormat,
    options: &ReadOptions,
    opened: &mut dyn FnMut(&dyn RowSource),
    bad: &mut dyn FnMut(TraceError) -> Result<(), TraceError>,
    each: &mut dyn FnMut(Arrival<'_>) -> Result<bool, TraceError>,
) -> Result<u64, TraceError> {
    let bytes = AtomicU64::new(0);
    let mut order = Sorting {
        order: Order::new(options),
        latest: Time::MIN,
        waiting: BinaryHeap::new(),
        skew: options.sort,
    };
    let mut ordinal = 0;
    let mut row = Row::default();
    // Years go on from file to file.
    let mut options = options.clone();
    for (file, name) in input.names().enumerate() {
        let mut read_file = || -> Result<bool, TraceError> {
            let mut source = input.rows(file, format, &options, &bytes)?;
            opened(&*source);
            let mut last_bad = 0;
            loop {
                let read = match source.next(&mut row) {
                    Ok(true) => order.check(&row, options.unit),
                    Ok(false) => break,
                    Err(error) => Err(error),
                };
                if let Err(error) = read {
                    let line = error.line.filter(|line| *line > last_bad && error.ends_with_its_line());
                    let Some(line) = line.filter(|_| format.lines_end_records()) else { return Err(error) };
                    last_bad = line;
                    bad(error.in_file(name))?;
                    continue;
                }
                let goes_on = if order.skew.is_some() {
                    order.waiting.push(Waiting {
                        key: Reverse((time_of(&row), ordinal)),
                        file,
                        row: std::mem::take(&mut row),
                    });
                    order.release(false, each)?
                } else {
                    each(Arrival { row: &row, ordinal, file, source: Some(&*source) })?
                };
                if !goes_on {
                    return Ok(false);
                }
                ordinal += 1;
            }
            options.calendar = source.calendar().or(options.calendar);
            Ok(true)
        };
        if !read_file().map_err(|error| error.in_file(name))? {
            return Ok(bytes.into_inner());
        }
    }
    order.release(true, each)?;
    Ok(bytes.into_inner())
}

fn time_of(row: &Row) -> Time {
    row.time.map_or(0, |stamp| stamp.time)
}

/// What is known of the order so far, and rows that wait for earlier ones.
struct Sorting {
    order: Order,
    latest: Time,
    waiting: BinaryHeap<Waiting>,
    skew: Option<Time>,
}

/// Ordered by timestamp, then by arrival; the earliest is the greatest, as the heap wants it.
struct Waiting {
    key: Reverse<(Time, u64)>,
    file: usize,
    row: Row,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Sorting {
    fn check(&mut self, row: &Row, unit: TimeUnit) -> Result<(), TraceError> {
        self.order.check(row)?;
        let Some(skew) = self.skew else { return Ok(()) };
        let Some(now) = row.time else {
            let message =
                "`⟨sort⟩` needs timestamps, and this trace has none (`⟨time: COL⟩` names their column)";
            return Err(TraceError::new(TraceErrorKind::Usage, message).at(row.line, 1));
        };
        if now.time < self.latest.saturating_sub(skew) {
            let latest = Stamp { time: self.latest, style: now.style };
            let message = format!(
                "the timestamp `{}` comes after `{}`: further out of order than `⟨sort⟩` allows ({} {})",
                now.format(),
                latest.format(),
                unit.format_number(skew),
                unit.name()
            );
            return Err(TraceError::new(TraceErrorKind::Time, message).at(row.line, 1));
        }
        self.latest = self.latest.max(now.time);
        Ok(())
    }

    /// Hands out the rows that none can come before any more, or all.
    fn release(
        &mut self,
        all: bool,
        each: &mut dyn FnMut(Arrival<'_>) -> Result<bool, TraceError>,
    ) -> Result<bool, TraceError> {
        let settled = self.latest.saturating_sub(self.skew.unwrap_or(0));
        while self.waiting.peek().is_some_and(|first| all || first.key.0.0 <= settled) {
            if let Some(Waiting { key: Reverse((_, ordinal)), file, row }) = self.waiting.pop()
                && !each(Arrival { row: &row, ordinal, file, source: None })?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

pub(crate) fn missing_timestamp() -> TraceError {
    TraceError::new(
        TraceErrorKind::Time,
        "found no timestamp, expected one because earlier positions have them",
    )
}

pub(crate) fn surprising_timestamp() -> TraceError {
    TraceError::new(
        TraceErrorKind::Time,
        "found a timestamp, expected none because earlier positions have none",
    )
}

/// As [`super::scan`], by rows.
pub(crate) fn scan<T: Send>(
    input: &Input,
    format: &dyn TraceFormat,
    projection: &Projection,
    options: &ReadOptions,
    map: &(dyn Fn(Batch) -> Result<T, TraceError> + Sync),
    fold: &mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
) -> Result<Summary, TraceError> {
    let mut seen = Vocabulary::new(projection.slots.len());
    let mut has_events = false;
    let mut builder = SlotBuilder::new(projection);
    let mut locator = LocatorBuilder::rows();
    let mut style = None;
    let mut positions = 0;
    let mut stopped = false;
    let names: Vec<&str> = input.names().collect();
    let mut deliver = |builder: &mut SlotBuilder, timed: bool| -> Result<bool, TraceError> {
        let full = std::mem::replace(builder, SlotBuilder::new(projection));
        if full.is_empty() {
            return Ok(true);
        }
        Ok(fold(map(full.finish(timed))?)?.is_continue())
    };
    let bytes = drive(
        input,
        format,
        options,
        &mut |source| has_events |= source.has_events(),
        &mut Err,
        &mut |arrival| {
            let Arrival { row, ordinal, file, source } = arrival;
            builder.push(row, &mut seen).map_err(|error| {
                let error = source.map_or(error.clone(), |source| place_error(error, source, projection));
                error.in_file(names.get(file).copied().unwrap_or_default())
            })?;
            style = style.or(row.time.map(|stamp| stamp.style));
            locator.row(positions, ordinal, row.line);
            positions += 1;
            if builder.len() >= BATCH {
                stopped = !deliver(&mut builder, row.time.is_some())?;
            }
            Ok(!stopped)
        },
    )?;
    if !stopped {
        stopped = !deliver(&mut builder, style.is_some())?;
    }
    seen.has_events |= has_events;
    let warnings = if stopped { Vec::new() } else { seen.judge(projection, format.card().open_vocabulary)? };
    Ok(Summary {
        positions,
        bytes,
        timed: style.is_some(),
        style,
        warnings,
        locator: locator.finish(),
        skipped: 0,
        bad_lines: Vec::new(),
    })
}
