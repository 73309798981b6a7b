//! Reads a trace: batches of slots in order, by blocks or parts on several threads where the format can, else row by row.

mod blocks;
mod cut;
mod lenient;
mod parts;
mod progress;
mod rows;

use crate::templates::Derivation;
use crate::{
    Input, Locator, Projection, ReadOptions, Row, RowSource, TimeStyle, TraceError, TraceFormat, TraceWarning,
};
use std::ops::ControlFlow;
use tw_core::Batch;
use tw_ir::{PathStep, What};

pub(crate) use blocks::head_of;
#[cfg(test)]
pub(crate) use rows::scan as scan_by_rows;
pub(crate) use rows::{missing_timestamp, surprising_timestamp};

/// What was read.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Number of positions.
    pub positions: u64,
    /// Bytes of the trace, decompressed.
    pub bytes: u64,
    /// Whether positions have timestamps.
    pub timed: bool,
    /// How they are written.
    pub style: Option<TimeStyle>,
    /// Names that never occurred.
    pub warnings: Vec<TraceWarning>,
    /// From positions back to lines.
    pub locator: Locator,
    /// Lines that could not be read and were left out.
    pub skipped: u64,
    /// What was wrong with the first of them.
    pub bad_lines: Vec<TraceError>,
}

/// Reads a trace. `map` is given each batch, on any thread; `fold` the results in the order of the trace, on this
/// thread, and may stop the reading. When it does, names that were not seen so far are not reported.
///
/// Every batch has at least one position. The first thing wrong with the trace, in the order of its lines, is the
/// error; batches before it may have been folded.
pub fn scan<T: Send>(
    input: &Input,
    format: &dyn TraceFormat,
    projection: &Projection,
    options: &ReadOptions,
    map: &(dyn Fn(Batch) -> Result<T, TraceError> + Sync),
    fold: &mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
) -> Result<Summary, TraceError> {
    if let Some(derivation) = Derivation::of(projection) {
        let map = |batch| map(derivation.derive(batch)).map_err(Derivation::own);
        let mut fold = |mapped| fold(mapped).map_err(Derivation::own);
        let scanned = scan(input, format, &derivation.reading, options, &map, &mut fold);
        let mut summary = scanned.map_err(|error| derivation.error(error))?;
        summary.warnings = derivation.warnings(summary.warnings, summary.positions);
        return Ok(summary);
    }
    if options.skip_bad_lines && !input.has_parts(format) {
        return lenient::scan(input, format, projection, options, map, fold);
    }
    // Sorting needs one row after another.
    if options.sort.is_none() && input.has_parts(format) {
        return parts::scan(input, format, projection, options, map, fold);
    }
    if options.sort.is_none()
        && let Some(plan) = blocks::plan(input, format, projection, options)?
    {
        return blocks::scan(input, format, &plan, options, map, fold);
    }
    rows::scan(input, format, projection, options, map, fold)
}

/// Lines that were left out.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// How many.
    pub count: u64,
    /// What was wrong with the first.
    pub first: Option<TraceError>,
}

impl LeftOut {
    fn note(&mut self, error: TraceError) {
        self.count += 1;
        self.first.get_or_insert(error);
    }
}

/// Reads a trace row by row, as rows arrive (sorted if asked for), until `each` returns false. Whoever takes whole rows
/// reads every key, so that one that an object has twice is an error. Says which lines were left out, if the options ask
/// for that.
pub fn read_rows(
    input: &Input,
    format: &dyn TraceFormat,
    options: &ReadOptions,
    each: &mut dyn FnMut(&Row) -> Result<bool, TraceError>,
) -> Result<LeftOut, TraceError> {
    let (mut left_out, mut twice) = (LeftOut::default(), LeftOut::default());
    let skips = options.skip_bad_lines;
    let mut bad = |error| match skips {
        true => {
            left_out.note(error);
            Ok(())
        }
        false => Err(error),
    };
    drive_rows(input, format, options, &mut |_| {}, &mut bad, &mut |row| match row.repeated.first() {
        Some(repeated) if skips => {
            twice.note(row.twice(&repeated.text));
            Ok(true)
        }
        Some(repeated) => Err(row.twice(&repeated.text)),
        None => each(row),
    })?;
    left_out.count += twice.count;
    left_out.first = left_out.first.or(twice.first);
    Ok(left_out)
}

/// As [`read_rows`]; `opened` is told of each file whether its trace has events at all, `bad` of lines that cannot be read
/// where the next can.
pub(crate) fn drive_rows(
    input: &Input,
    format: &dyn TraceFormat,
    options: &ReadOptions,
    opened: &mut dyn FnMut(bool),
    bad: &mut dyn FnMut(TraceError) -> Result<(), TraceError>,
    each: &mut dyn FnMut(&Row) -> Result<bool, TraceError>,
) -> Result<(), TraceError> {
    let mut opened = |source: &dyn RowSource| opened(source.has_events());
    rows::drive(input, format, options, &mut opened, bad, &mut |arrival| each(arrival.row)).map(drop)
}

/// Gives an error about a slot the place of its cell, if the source knows it.
pub(crate) fn place_error(
    mut error: TraceError,
    source: &dyn RowSource,
    projection: &Projection,
) -> TraceError {
    let slot = error.slot.and_then(|slot| projection.slots.get(slot as usize));
    if let Some(What::Proposition(path) | What::Variable(path, _)) = slot.map(|slot| &slot.what) {
        let first = match path.steps.first() {
            Some(PathStep::Field(name)) => name.as_str(),
            _ => "",
        };
        if let Some((line, column)) = source.place(&path.to_string()).or_else(|| source.place(first)) {
            error = error.at(line, column);
        }
    }
    error
}

#[cfg(test)]
mod tests;
