//! Reads blocks of CSV into slot columns: by layout where all cells are one character wide, by separators where the
//! block is regular, and by the definition ([`super::rows`]) where it is not, which also words every error.

use super::decode::{self, Cells};
use super::header::Header;
use super::layout::Layout;
use super::plan::{Take, Taking};
use super::rows::{Records, Rows, read_header};
use super::structure::{Kernel, Patterns, Scanner};
use crate::scan::place_error;
use crate::{
    Block, BlockBatch, BlockReader, BlockStart, ColumnBuilder, Projection, ReadOptions, Row, RowSource,
    SlotBuilder, Stamp, TraceError, TraceWarning, Vocabulary,
};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tw_core::{Batch, Column, Time};
use tw_ir::{Expect, Slot, SlotId};

/// A head shorter than this is the whole file.
const WHOLE: usize = 64 << 10;
/// Bytes whose separators are found before their cells are read: both fit the first-level cache.
const SLAB: usize = 8 << 10;

/// Reads the header and prepares to read blocks under it.
pub(super) fn start(
    head: &[u8],
    projection: &Projection,
    options: &ReadOptions,
) -> Result<Option<BlockStart>, TraceError> {
    let whole = head.len() < WHOLE;
    let lines = if whole { head } else { &head[..memchr::memrchr(b'\n', head).map_or(0, |end| end + 1)] };
    let mut records = Records::new(lines, whole, options.delimiter, options);
    let header = read_header(&mut records, options)?;
    if header.columns.is_empty() {
        return Ok(None);
    }
    let (skip_lines, skip) = records.read_so_far();
    let reader = CsvBlocks::new(Arc::new(header), projection, options, Kernel::best());
    Ok(Some(BlockStart { skip, skip_lines, reader: Box::new(reader) }))
}

pub(super) struct CsvBlocks {
    header: Arc<Header>,
    projection: Projection,
    options: ReadOptions,
    kernel: Kernel,
    patterns: Patterns,
    takes: Vec<Take>,
    key: Option<usize>,
    /// Rows of one-character cells, ending with LF and with CRLF; the columns they deliver.
    layouts: [Option<Layout>; 2],
    layout_columns: Vec<usize>,
    /// Only the definition does what is asked for: tuples of events, texts for nothing, timestamps of other forms or in
    /// several columns.
    by_definition: bool,
    seen: Mutex<Vocabulary>,
}

impl CsvBlocks {
    pub fn new(header: Arc<Header>, projection: &Projection, options: &ReadOptions, kernel: Kernel) -> Self {
        let take = |(slot, of): (usize, &Slot)| {
            let computed = projection.bare.contains(&(slot as SlotId));
            Take::new(&of.what, &header, computed)
        };
        let takes: Vec<Take> = projection.slots.iter().enumerate().map(take).collect();
        let mut seen = Vocabulary::new(projection.slots.len());
        seen.has_events = header.event.is_some();
        for name in header.variables() {
            seen.note_variable(name);
        }
        let mut layout_columns: Vec<usize> = takes.iter().filter_map(Take::truth_column).collect();
        layout_columns.sort_unstable();
        layout_columns.dedup();
        let plain = takes.iter().all(|take| take.truth_column().is_some() || matches!(take, Take::Null(_)));
        let by_definition = projection.has_tuples()
            || options.null.is_some()
            || options.form.is_some()
            || !header.joined.is_empty();
        let plain = plain
            && !by_definition
            && header.delimiter == b','
            && header.time.is_none()
            && header.event.is_none()
            && projection.key.is_none();
        let layout =
            |carriage| Layout::new(header.columns.len(), carriage, &layout_columns).filter(|_| plain);
        Self {
            kernel,
            patterns: Patterns::new(header.columns.len()),
            key: projection.key.as_ref().and_then(|key| header.variable(&key.name)),
            layouts: [layout(false), layout(true)],
            takes,
            layout_columns,
            by_definition,
            seen: Mutex::new(seen),
            header,
            projection: projection.clone(),
            options: options.clone(),
        }
    }

    /// A block of one-character cells.
    pub(super) fn by_layout(&self, block: &Block<'_>, seen: &mut Vocabulary) -> Option<BlockBatch> {
        // Whether lines end with CRLF shows where the first line ends.
        let carriage = block.bytes.get(2 * self.header.columns.len() - 1) == Some(&b'\r');
        let layout = self.layouts[usize::from(carriage)].as_ref()?;
        if block.bytes.len() >= self.options.max_record {
            return None;
        }
        let (columns, rows) = layout.read(block.bytes, block.last, self.kernel)?;
        let column = |take: &Take| match take.truth_column() {
            Some(column) => {
                let at = self.layout_columns.binary_search(&column).ok()?;
                Some(Column::Truth(columns[at].clone()))
            }
            None => {
                let mut nulls = ColumnBuilder::new(take.expect());
                nulls.push_nulls(rows);
                Some(nulls.finish())
            }
        };
        let slots = self.takes.iter().map(column).collect::<Option<_>>()?;
        self.note(rows, seen);
        let batch = Batch { len: rows, slots, times: None };
        Some(BlockBatch { batch, time_range: None, lines: rows as u64, ..BlockBatch::default() })
    }

    /// A block whose rows have the right number of cells and no empty lines between them.
    pub(super) fn by_separators(&self, block: &Block<'_>, seen: &mut Vocabulary) -> Option<BlockBatch> {
        let bytes = block.bytes;
        let columns = self.header.columns.len();
        if u32::try_from(bytes.len()).is_err() {
            return None;
        }
        let mut scanner = Scanner::new(self.kernel, &self.patterns, self.header.delimiter);
        let mut taking: Vec<Taking<'_>> = self.takes.iter().map(Taking::new).collect();
        let mut key = self.projection.key.as_ref().map(|_| ColumnBuilder::new(Expect::Text));
        let mut events = self.header.event.map(|_| ColumnBuilder::new(Expect::Text));
        let mut times = Times { values: self.projection.times.then(Vec::new), range: None };
        let mut bounds: Vec<u32> = Vec::with_capacity(SLAB + 64 + columns);
        bounds.push(0);
        let (mut at, mut rows, mut ended) = (0, 0, false);
        while !ended {
            let slab = &bytes[at..bytes.len().min(at + SLAB)];
            let (chunks, rest) = slab.as_chunks::<64>();
            if !scanner.scan(chunks, at as u32, &mut bounds) {
                return None;
            }
            at += chunks.len() * 64;
            ended = at + rest.len() == bytes.len();
            if ended {
                // A last line may lack its end.
                let mut chunk = [0; 64];
                chunk[..rest.len()].copy_from_slice(rest);
                if block.last && !bytes.ends_with(b"\n") {
                    chunk[rest.len()] = b'\n';
                }
                if !scanner.scan(&[chunk], at as u32, &mut bounds) {
                    return None;
                }
            }
            let whole = (bounds.len() - 1) / columns;
            let cells = Cells {
                bytes,
                bounds: &bounds,
                columns,
                rows: whole,
                carriage: scanner.seen().carriage,
                quotes: scanner.seen().quotes,
            };
            if bytes.len() >= self.options.max_record && cells.longest() >= self.options.max_record {
                return None;
            }
            if rows == 0 {
                // About as many rows as the first stretch lets expect.
                let expected = whole * (bytes.len() / at.max(1) + 1);
                taking.iter_mut().for_each(|taking| taking.reserve(expected));
            }
            if let Some(column) = self.header.time {
                times.push(&cells, column, &self.options)?;
            }
            if let (Some(builder), Some(column)) = (&mut events, self.header.event) {
                decode::push(builder, &cells, column, self.kernel).ok()?;
            }
            for taking in &mut taking {
                taking.push(&cells, events.as_ref(), self.kernel)?;
            }
            if let (Some(key), Some(column)) = (&mut key, self.key) {
                decode::push(key, &cells, column, self.kernel).ok()?;
            }
            rows += whole;
            bounds.drain(..whole * columns);
        }
        if block.last && scanner.inside() {
            return None;
        }
        if scanner.seen().wide && simdutf8::basic::from_utf8(bytes).is_err() {
            return None;
        }
        let open_from = scanner.inside().then(|| bounds[0] as usize);
        let lines = open_from
            .map_or(scanner.seen().lines, |end| memchr::memchr_iter(b'\n', &bytes[..end]).count() as u64);
        self.note(rows, seen);
        if let Some(ColumnBuilder::Text { dictionary, .. }) = &events {
            for name in &dictionary.entries {
                seen.note_event(name, &self.projection);
            }
        }
        if let (Some(key), None) = (&mut key, self.key) {
            key.push_nulls(rows);
        }
        let mut slots: Vec<Column> = taking.into_iter().map(Taking::finish).collect();
        if let Some(Column::Text { ids, dictionary, valid }) = key.map(ColumnBuilder::finish) {
            seen.key |= valid.find(true, 0).is_some();
            slots.push(Column::Text { ids, dictionary, valid });
        }
        let times_delivered = times.values.filter(|_| self.header.time.is_some());
        let batch = Batch { len: rows, slots, times: times_delivered };
        Some(BlockBatch { batch, time_range: times.range, lines, open_from, ..BlockBatch::default() })
    }

    /// What rows under this header mention.
    fn note(&self, rows: usize, seen: &mut Vocabulary) {
        seen.positions += rows as u64;
        for (variable, take) in seen.variable.iter_mut().zip(&self.takes) {
            *variable |= rows > 0 && take.is_variable();
        }
    }

    /// A block by the definition.
    fn by_rows(&self, block: &Block<'_>, seen: &mut Vocabulary) -> Result<BlockBatch, TraceError> {
        let mut rows = Rows::under(Arc::clone(&self.header), block.bytes, block.last, &self.options);
        let mut builder = SlotBuilder::new(&self.projection);
        let mut row = Row::default();
        let mut range: Option<(Stamp, Stamp)> = None;
        while rows.next(&mut row)? {
            if let Some(now) = row.time {
                match &mut range {
                    Some((_, before)) if now.time < before.time && !self.options.any_order => {
                        return Err(TraceError::decreasing(now, *before).at(row.line, 1));
                    }
                    Some((_, last)) => *last = now,
                    None => range = Some((now, now)),
                }
            }
            if let Some(null) = &self.options.null {
                crate::adapt::empty(&mut row, null);
            }
            builder.push(&row, seen).map_err(|error| place_error(error, &rows, &self.projection))?;
        }
        let (lines, end) = rows.records.before();
        Ok(BlockBatch {
            batch: builder.finish(self.header.is_timed()),
            time_range: range.map(|(first, last)| (first.time, last.time)),
            lines,
            open_from: rows.open.then_some(end),
            ..BlockBatch::default()
        })
    }
}

/// Timestamps of a block.
struct Times {
    /// If they are wanted.
    values: Option<Vec<Time>>,
    range: Option<(Time, Time)>,
}

impl Times {
    fn push(&mut self, cells: &Cells<'_>, column: usize, options: &ReadOptions) -> Option<()> {
        let stamps = options.stamps();
        for row in 0..cells.rows {
            let time = decode::time_in(cells, (row, column), stamps)?;
            let (first, last) = self.range.unwrap_or((time, time));
            if time < last {
                return None;
            }
            self.range = Some((first, time));
            if let Some(values) = &mut self.values {
                values.push(time);
            }
        }
        Some(())
    }
}

impl BlockReader for CsvBlocks {
    fn read(&self, block: Block<'_>) -> Result<BlockBatch, TraceError> {
        let mut seen = Vocabulary::new(self.projection.slots.len());
        let batch = self.read_noting(block, &mut seen)?;
        self.absorb(&seen);
        Ok(batch)
    }

    fn read_noting(&self, block: Block<'_>, seen: &mut Vocabulary) -> Result<BlockBatch, TraceError> {
        if self.by_definition {
            return self.by_rows(&block, seen);
        }
        if let Some(batch) = self.by_layout(&block, seen) {
            return Ok(batch);
        }
        if let Some(batch) = self.by_separators(&block, seen) {
            return Ok(batch);
        }
        self.by_rows(&block, seen)
    }

    fn absorb(&self, seen: &Vocabulary) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).merge(seen);
    }

    fn seen(&self) -> Vocabulary {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn locate(&self, block: &[u8], index: usize) -> Option<(Range<usize>, u64)> {
        // Without quotes every line is a record, or empty.
        if index > 0 && memchr::memchr(b'"', block).is_none() {
            let (mut start, mut left) = (0, index);
            for (line, end) in
                memchr::memchr_iter(b'\n', block).map(|at| at + 1).chain([block.len()]).enumerate()
            {
                let empty = matches!(&block[start..end], b"\n" | b"\r\n" | b"\r" | b"");
                if !empty || self.header.columns.len() == 1 && start < block.len() {
                    if left == 0 {
                        return Some((start..end, line as u64));
                    }
                    left -= 1;
                }
                start = end;
            }
            return None;
        }
        let mut rows = Rows::under(Arc::clone(&self.header), block, true, &self.options);
        let mut row = Row::default();
        for _ in 0..=index {
            if !rows.next(&mut row).ok()? {
                return None;
            }
        }
        let (line, start) = rows.records.before();
        let (_, end) = rows.records.read_so_far();
        Some((start..end, line))
    }

    fn finish(&self) -> Result<Vec<TraceWarning>, TraceError> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).judge(&self.projection, false)
    }
}
