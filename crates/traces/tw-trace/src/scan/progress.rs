//! Folds what was read from blocks, in the order of the trace: joins records that were cut, checks that time does not
//! go back, and makes places absolute.

use super::blocks::{Done, Outcome, Work};
use super::cut::{Piece, too_long};
use super::rows::{missing_timestamp, surprising_timestamp};
use crate::input::Source;
use crate::locate::LocatorBuilder;
use crate::{Block, Calendar, ReadOptions, Stamp, TimeStyle, TraceError, TraceErrorKind};
use std::ops::ControlFlow;
use tw_core::Time;

/// Where the folding is.
pub(super) struct Progress<'w, 'f, T> {
    pub work: &'w Work<'w, T>,
    pub options: &'w ReadOptions,
    pub fold: &'f mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
    pub positions: u64,
    pub bytes: u64,
    /// Last timestamp.
    pub previous: Option<Time>,
    pub timed: Option<bool>,
    pub locator: LocatorBuilder,
    /// Lines of the file before the block.
    pub lines: u64,
    pub carry: Option<Carry>,
    /// Where timestamps without years have come to.
    pub calendar: Option<Calendar>,
    pub stopped: bool,
    /// The timestamp of a block's first position, given the file and its header's length.
    pub probe: Probe<'w>,
}

pub(super) type Probe<'w> = &'w dyn Fn(&Source, u64, &[u8], Option<Calendar>) -> Option<Stamp>;

/// A record that was open where its block ended.
pub(super) struct Carry {
    bytes: Vec<u8>,
    offset: u64,
    /// Blocks to add before it is read again: more and more, so that a long record is not read too often.
    missing: u32,
    step: u32,
}

impl<T: Send> Progress<'_, '_, T> {
    /// Takes the next block in order; gives its memory back.
    pub fn take(
        &mut self,
        done: Done<T>,
        file: usize,
        source: &Source,
    ) -> Result<Option<Vec<u8>>, TraceError> {
        let Done { piece, kept, result } = done;
        let bytes = || match &kept {
            Some(bytes) => Ok(bytes[piece.start..piece.end].to_vec()),
            None => source.reread(piece.offset, piece.end - piece.start).map(Option::unwrap_or_default),
        };
        if let Some(mut carry) = self.carry.take() {
            // What was read from this block began in the middle of a record; an error of the file itself stands.
            if let (true, Err(error)) = (piece == Piece::default(), result) {
                return Err(error);
            }
            carry.bytes.extend(bytes()?);
            carry.missing = carry.missing.saturating_sub(u32::from(piece.end > piece.start));
            if piece.last || piece.too_long || carry.missing == 0 {
                self.read_carry(carry, piece.last, piece.next, file, source)?;
            } else {
                self.carry = Some(carry);
            }
        } else {
            let open_from =
                self.outcome(result, file, source, piece.offset, piece.end - piece.start, &bytes)?;
            if let Some(from) = open_from
                && !self.stopped
            {
                let bytes = bytes()?.split_off(from);
                self.carry = Some(Carry { bytes, offset: piece.offset + from as u64, missing: 1, step: 1 });
            }
        }
        if piece.too_long && !self.stopped {
            return Err(self.absolute(too_long(self.options.max_record).at(1, 1)));
        }
        Ok(kept)
    }

    fn read_carry(
        &mut self,
        mut carry: Carry,
        last: bool,
        next: Option<u8>,
        file: usize,
        source: &Source,
    ) -> Result<(), TraceError> {
        let result = self.work.read(Block { bytes: &carry.bytes, last, next });
        let bytes = || Ok(carry.bytes.clone());
        let open_from = self.outcome(result, file, source, carry.offset, carry.bytes.len(), &bytes)?;
        let Some(from) = open_from.filter(|_| !self.stopped) else { return Ok(()) };
        carry.step = if from == 0 { carry.step * 2 } else { 1 };
        carry.missing = carry.step;
        carry.bytes.drain(..from);
        carry.offset += from as u64;
        if carry.bytes.len() > self.options.max_record {
            return Err(self.absolute(too_long(self.options.max_record).at(1, 1)));
        }
        self.carry = Some(carry);
        Ok(())
    }

    pub fn end_of_file(&mut self, file: usize, source: &Source) -> Result<(), TraceError> {
        match self.carry.take() {
            Some(carry) => self.read_carry(carry, true, None, file, source),
            None => Ok(()),
        }
    }

    /// Checks what a block held and folds it; says where its open record starts.
    fn outcome(
        &mut self,
        result: Result<Outcome<T>, TraceError>,
        file: usize,
        source: &Source,
        offset: u64,
        len: usize,
        bytes: &dyn Fn() -> Result<Vec<u8>, TraceError>,
    ) -> Result<Option<usize>, TraceError> {
        let outcome = match self.in_its_year(result, bytes)? {
            Ok(outcome) => outcome,
            Err(error) => {
                // The first position may be out of order, which comes before what is wrong inside the block.
                if self.previous.is_some() && !self.options.any_order {
                    self.order_of_first(None, file, source, &bytes()?)?;
                }
                return Err(self.absolute(error));
            }
        };
        self.work.plan.reader.absorb(&outcome.seen);
        if outcome.positions > 0 {
            self.order(&outcome, file, source, bytes)?;
            let len = outcome.open_from.unwrap_or(len);
            self.locator.block(
                self.positions,
                file,
                (offset, len),
                (self.lines, outcome.plain),
                outcome.months.map(|months| months.before),
            );
            self.positions += outcome.positions as u64;
        }
        self.bytes += outcome.open_from.unwrap_or(len) as u64;
        self.lines += outcome.lines;
        if let Some(mapped) = outcome.mapped {
            self.stopped = (self.fold)(mapped)?.is_break();
        }
        Ok(outcome.open_from)
    }

    /// The same block, read again if it was read in a wrong year: blocks are read before those before them are known.
    fn in_its_year(
        &mut self,
        result: Result<Outcome<T>, TraceError>,
        bytes: &dyn Fn() -> Result<Vec<u8>, TraceError>,
    ) -> Result<Result<Outcome<T>, TraceError>, TraceError> {
        let again = match (&result, self.calendar) {
            (Ok(Outcome { months: Some(months), .. }), Some(calendar)) => {
                calendar.at(months.first).year != months.before.at(months.first).year
            }
            (Err(error), Some(_)) => error.kind == TraceErrorKind::Time,
            _ => false,
        };
        let result = match (again, self.calendar) {
            (true, Some(calendar)) => {
                self.work.plan.reader.turn(calendar);
                self.work.read(Block { bytes: &bytes()?, last: false, next: None })
            }
            _ => result,
        };
        if let Ok(Outcome { months: Some(months), .. }) = &result {
            self.calendar = Some(months.after);
            self.work.plan.reader.turn(months.after);
        }
        Ok(result)
    }

    fn order(
        &mut self,
        outcome: &Outcome<T>,
        file: usize,
        source: &Source,
        bytes: &dyn Fn() -> Result<Vec<u8>, TraceError>,
    ) -> Result<(), TraceError> {
        let timed = *self.timed.get_or_insert(outcome.times.is_some());
        let place = |error: TraceError| Ok(self.absolute(error.at(self.first_line(&bytes()?), 1)));
        let Some((first, last)) = outcome.times else {
            return if timed { Err(place(missing_timestamp())?) } else { Ok(()) };
        };
        if !timed {
            return Err(place(surprising_timestamp())?);
        }
        if !self.options.any_order && self.previous.is_some_and(|before| first < before) {
            self.order_of_first(Some(first), file, source, &bytes()?)?;
        }
        self.previous = Some(last);
        Ok(())
    }

    /// Line of the first position within a block, from 1.
    fn first_line(&self, bytes: &[u8]) -> u64 {
        self.work.plan.reader.locate(bytes, 0).map_or(1, |(_, line)| line + 1)
    }

    /// Fails if the first position of a block is earlier than the last of the one before. Its timestamp is looked up if
    /// it is not known.
    fn order_of_first(
        &self,
        known: Option<Time>,
        file: usize,
        source: &Source,
        bytes: &[u8],
    ) -> Result<(), TraceError> {
        let skip = self.work.plan.skips.get(file).map_or(0, |(skip, _)| *skip);
        let probed = (self.probe)(source, skip, bytes, self.calendar);
        let style = probed.map_or(TimeStyle::Number(self.options.unit), |stamp| stamp.style);
        match (known.or(probed.map(|stamp| stamp.time)), self.previous) {
            (Some(now), Some(before)) if now < before && !self.options.any_order => {
                let stamp = |time| Stamp { time, style };
                let error = TraceError::decreasing(stamp(now), stamp(before));
                Err(self.absolute(error.at(self.first_line(bytes), 1)))
            }
            _ => Ok(()),
        }
    }

    /// An error within the block as one within the file.
    fn absolute(&self, mut error: TraceError) -> TraceError {
        error.line = error.line.map(|line| line + self.lines);
        error
    }
}
