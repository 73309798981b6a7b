//! From positions back to the lines of the log.

use crate::formats::write_row;
use crate::scan::head_of;
use crate::{
    BlockReader, Calendar, Input, Parts, Projection, ReadOptions, Row, Stamp, TraceError, TraceFormat,
};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tw_core::Position;

/// Most bytes shown of a line.
const SHOWN: usize = 2 << 10;

/// Where a position is in the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located {
    /// Position.
    pub position: Position,
    /// File name.
    pub file: String,
    /// Line, from 1; `None` if the trace was a stream and this part of it is gone.
    pub line: Option<u64>,
    /// The line (all lines of a record that has several), at most 2 KB of it; `None` if it is gone.
    pub text: Option<Arc<str>>,
    /// What it says.
    pub row: Option<Row>,
    /// Its timestamp.
    pub time: Option<Stamp>,
}

/// Finds positions in the log again, by reading the part of it that holds them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Locator {
    index: Arc<Index>,
}

#[derive(Debug)]
enum Index {
    Blocks {
        /// Bytes and lines of header of each file.
        skips: Vec<(u64, u64)>,
        blocks: Vec<Stretch>,
    },
    /// Read again from the beginning.
    Rows {
        /// Sorted rows: from which position on they came from how far.
        moved: Vec<(u64, i64)>,
        /// From which position on lines are how many more than positions.
        lines: Runs,
        /// The first position of each file, where that is known.
        starts: Vec<u64>,
    },
}

/// Most changes of the distance between positions and lines that are kept: beyond, lines are found by reading again.
const MAX_RUNS: usize = 1 << 16;

/// The distance between positions and their lines, where it changes.
#[derive(Debug, Default)]
struct Runs {
    runs: Vec<(u64, i64)>,
    /// The first position after the last change that was kept.
    lost: Option<u64>,
}

impl Runs {
    fn add(&mut self, position: u64, line: u64) {
        let distance = line as i64 - position as i64;
        if self.lost.is_none() && self.runs.last().is_none_or(|(_, last)| *last != distance) {
            if self.runs.len() == MAX_RUNS {
                self.lost = Some(position);
                return;
            }
            self.runs.push((position, distance));
        }
    }

    fn line(&self, position: u64) -> Option<u64> {
        let after = self.runs.partition_point(|(from, _)| *from <= position);
        let (_, distance) = self.runs.get(after.checked_sub(1)?)?;
        self.lost.is_none_or(|lost| position < lost).then(|| position.saturating_add_signed(*distance))
    }
}

impl Default for Index {
    fn default() -> Self {
        Index::Rows { moved: Vec::new(), lines: Runs::default(), starts: Vec::new() }
    }
}

/// Positions that lie together.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first: u64,
    offset: u64,
    len: usize,
    /// Lines of the file before it.
    lines: u64,
    file: usize,
    /// Whether each position is one line.
    plain: bool,
    /// Where timestamps without years stood before it.
    calendar: Option<Calendar>,
}

/// Collects what a [`Locator`] needs while a trace is read.
pub struct LocatorBuilder(Index);

impl LocatorBuilder {
    pub(crate) fn blocks(skips: &[(u64, u64)]) -> Self {
        Self(Index::Blocks { skips: skips.to_vec(), blocks: Vec::new() })
    }

    /// For a trace that is read row by row.
    pub fn rows() -> Self {
        Self(Index::default())
    }

    /// A block of the file: its first position, where it lies, the lines before it; and whether each of its positions
    /// is one line.
    pub(crate) fn block(
        &mut self,
        first: u64,
        file: usize,
        (offset, len): (u64, usize),
        (lines, plain): (u64, bool),
        calendar: Option<Calendar>,
    ) {
        if let Index::Blocks { blocks, .. } = &mut self.0 {
            blocks.push(Stretch { first, offset, len, lines, file, plain, calendar });
        }
    }

    /// A row: its position, its place in the order of the file, its line.
    pub fn row(&mut self, position: u64, ordinal: u64, line: u64) {
        if let Index::Rows { moved, lines, .. } = &mut self.0 {
            lines.add(position, line);
            let distance = ordinal as i64 - position as i64;
            if moved.last().map_or(0, |(_, last)| *last) != distance {
                moved.push((position, distance));
            }
        }
    }

    /// The next file of a trace that is read row by row begins with this position.
    pub(crate) fn file(&mut self, position: u64) {
        if let Index::Rows { starts, .. } = &mut self.0 {
            starts.push(position);
        }
    }

    /// What was collected.
    pub fn finish(self) -> Locator {
        Locator { index: Arc::new(self.0) }
    }
}

impl Locator {
    /// The places of the given positions, in the order given. Positions that the trace does not have are left out.
    pub fn locate(
        &self,
        input: &Input,
        format: &dyn TraceFormat,
        options: &ReadOptions,
        positions: &[Position],
    ) -> Result<Vec<Located>, TraceError> {
        let found = match &*self.index {
            Index::Blocks { skips, blocks } => in_blocks(input, format, options, skips, blocks, positions)?,
            Index::Rows { .. } if options.skip_bad_lines => {
                self.by_lines(input, format, options, positions)?
            }
            Index::Rows { moved, .. } => in_rows(input, format, options, moved, positions)?,
        };
        Ok(positions.iter().filter_map(|position| found.get(position).cloned()).collect())
    }

    /// The places of positions of a trace with lines that were left out: those that are read have the lines noted.
    fn by_lines(
        &self,
        input: &Input,
        format: &dyn TraceFormat,
        options: &ReadOptions,
        positions: &[Position],
    ) -> Result<BTreeMap<Position, Located>, TraceError> {
        let starts: &[u64] = match &*self.index {
            Index::Rows { starts, .. } => starts,
            Index::Blocks { .. } => &[],
        };
        // By file and line: several files have lines of one number.
        let mut wanted: BTreeMap<(usize, u64), Vec<Position>> = BTreeMap::new();
        for &position in positions {
            if let Some(line) = self.line(position) {
                let file = starts.partition_point(|start| *start <= position as u64).saturating_sub(1);
                wanted.entry((file, line)).or_default().push(position);
            }
        }
        let mut found = BTreeMap::new();
        let mut options = options.clone();
        for (file, name) in input.names().enumerate() {
            let Some((&last, _)) = wanted.last_key_value() else { break };
            let last = if last.0 == file { last.1 } else { u64::MAX };
            let rows = format.rows(input.reader(file)?, &options);
            let rows = crate::adapt::adapted(format, rows, &options);
            let mut rows = rows.map_err(|error| error.in_file(name))?;
            let (mut row, mut bad) = (Row::default(), 0);
            let mut lines: BTreeMap<u64, Vec<Position>> = BTreeMap::new();
            loop {
                match rows.next(&mut row) {
                    Ok(true) if row.line <= last => {}
                    Err(error) if error.is_about_a_line() && error.line.is_some_and(|line| line > bad) => {
                        bad = error.line.unwrap_or(bad);
                        continue;
                    }
                    _ => break,
                }
                for position in wanted.remove(&(file, row.line)).unwrap_or_default() {
                    lines.entry(row.line).or_default().push(position);
                    let (line, time, row) = (Some(row.line), row.time, Some(row.clone()));
                    let located = Located { position, file: name.to_string(), line, text: None, row, time };
                    found.insert(position, located);
                }
            }
            options.calendar = rows.calendar().or(options.calendar);
            drop(rows);
            texts(input.reader(file)?, &lines, &mut found);
        }
        Ok(found)
    }

    /// The line of a position in its file, from 1, if it is known without reading the log again: where each position
    /// is one line it is.
    pub fn line(&self, position: Position) -> Option<u64> {
        let position = position as u64;
        match &*self.index {
            Index::Blocks { blocks, .. } => {
                let after = blocks.partition_point(|block| block.first <= position);
                let block = blocks.get(after.checked_sub(1)?).filter(|block| block.plain)?;
                Some(block.lines + (position - block.first) + 1)
            }
            Index::Rows { lines, .. } => lines.line(position),
        }
    }
}

fn in_blocks(
    input: &Input,
    format: &dyn TraceFormat,
    options: &ReadOptions,
    skips: &[(u64, u64)],
    blocks: &[Stretch],
    positions: &[Position],
) -> Result<BTreeMap<Position, Located>, TraceError> {
    let mut by_block: BTreeMap<usize, Vec<Position>> = BTreeMap::new();
    for &position in positions {
        let after = blocks.partition_point(|block| block.first <= position as u64);
        if let Some(index) = after.checked_sub(1) {
            by_block.entry(index).or_default().push(position);
        }
    }
    let mut found = BTreeMap::new();
    let mut heads: BTreeMap<usize, Head> = BTreeMap::new();
    for (index, positions) in by_block {
        let block = blocks[index];
        let source = input.source(block.file)?;
        if let std::collections::btree_map::Entry::Vacant(entry) = heads.entry(block.file) {
            let (head, mark) = head_of(source)?;
            let start = format.blocks(&head, &Projection::default(), options)?;
            let skip = skips.get(block.file).map_or(0, |(skip, _)| *skip as usize).saturating_sub(mark);
            let header = head.get(..skip).unwrap_or(&head).to_vec();
            let lines = skips.get(block.file).map_or(0, |(_, lines)| *lines);
            entry.insert(Head { header, lines, reader: start.map(|start| start.reader) });
        }
        let (Some(head), bytes) = (heads.get(&block.file), source.reread(block.offset, block.len)?) else {
            continue;
        };
        let options = &ReadOptions { calendar: block.calendar, ..options.clone() };
        for position in positions {
            let mut located = Located { position, file: source.name().to_string(), ..Located::default() };
            if let Some(bytes) = &bytes {
                let index = (position as u64 - block.first) as usize;
                if !head.find(bytes, index, block.lines, format, options, &mut located) {
                    continue;
                }
            }
            found.insert(position, located);
        }
    }
    Ok(found)
}

/// The header of a file, and a reader of blocks under it.
struct Head {
    header: Vec<u8>,
    lines: u64,
    reader: Option<Box<dyn BlockReader>>,
}

impl Head {
    /// Fills in the place of the `index`-th position of a block; false if it has none.
    fn find(
        &self,
        block: &[u8],
        index: usize,
        lines: u64,
        format: &dyn TraceFormat,
        options: &ReadOptions,
        located: &mut Located,
    ) -> bool {
        // A timestamp may depend on those before it.
        let alone = options.calendar.is_none() && !options.own_lines;
        let place = self.reader.as_ref().filter(|_| alone).and_then(|reader| reader.locate(block, index));
        // Without a reader for this: row by row, from the block's first.
        let (bytes, line, skipped) = match &place {
            Some((range, line)) => (block.get(range.clone()).unwrap_or(&[]), *line, 0),
            None => (block, 0, index),
        };
        let text: Box<dyn BufRead + Send + '_> =
            Box::new(std::io::Read::chain(self.header.as_slice(), bytes));
        let mut row = Row::default();
        if let Ok(mut rows) = format.rows(text, options) {
            for _ in 0..=skipped {
                match rows.next(&mut row) {
                    Ok(true) => {}
                    // An empty line is nothing to rows, and may be a position all the same.
                    Ok(false) if place.is_some() => break,
                    Ok(false) => return false,
                    Err(_) => break,
                }
            }
        }
        if place.is_some() {
            located.text = Some(shown(bytes).into());
            row.line = lines + line + 1;
        } else {
            let within = row.line.saturating_sub(self.lines + 1);
            let text = bytes.split(|&byte| byte == b'\n').nth(within as usize);
            located.text = text.map(shown).map(Arc::from);
            row.line = lines + within + 1;
        }
        located.line = Some(row.line);
        located.time = row.time;
        located.row = Some(row);
        true
    }
}

fn in_rows(
    input: &Input,
    format: &dyn TraceFormat,
    options: &ReadOptions,
    moved: &[(u64, i64)],
    positions: &[Position],
) -> Result<BTreeMap<Position, Located>, TraceError> {
    let mut wanted: BTreeMap<u64, Position> = BTreeMap::new();
    for &position in positions {
        let after = moved.partition_point(|(from, _)| *from <= position as u64);
        let distance = after.checked_sub(1).map_or(0, |at| moved[at].1);
        wanted.insert((position as u64).saturating_add_signed(distance), position);
    }
    let mut found = BTreeMap::new();
    let mut ordinal = 0;
    // Years go on from file to file.
    let mut options = options.clone();
    for (file, name) in input.names().enumerate() {
        let Some((&last, _)) = wanted.last_key_value().filter(|(last, _)| **last >= ordinal) else { break };
        if let Some(parted) = in_parts(input, file, format, &options, &mut ordinal, &wanted, &mut found) {
            parted.map_err(|error| error.in_file(name))?;
            continue;
        }
        let mut lines: BTreeMap<u64, Vec<Position>> = BTreeMap::new();
        let rows = format.rows(input.reader(file)?, &options);
        let rows = crate::adapt::adapted(format, rows, &options);
        let mut rows = rows.map_err(|error| error.in_file(name))?;
        let mut row = Row::default();
        while ordinal <= last && rows.next(&mut row).map_err(|error| error.in_file(name))? {
            if let Some(&position) = wanted.get(&ordinal) {
                let text = if format.lines_tell() { None } else { as_json(&row) };
                if text.is_none() {
                    lines.entry(row.line).or_default().push(position);
                }
                let (line, time, row) = (Some(row.line), row.time, Some(row.clone()));
                let located =
                    Located { position, file: name.to_string(), line, text: text.map(Into::into), row, time };
                found.insert(position, located);
            }
            ordinal += 1;
        }
        options.calendar = rows.calendar().or(options.calendar);
        drop(rows);
        texts(input.reader(file)?, &lines, &mut found);
    }
    Ok(found)
}

/// Finds rows of a file that has columns: only the parts that hold them are read as rows. `ordinal` is the number of the
/// file's first row, then that of the next file's. `None` if the file has lines instead.
fn in_parts(
    input: &Input,
    file: usize,
    format: &dyn TraceFormat,
    options: &ReadOptions,
    ordinal: &mut u64,
    wanted: &BTreeMap<u64, Position>,
    found: &mut BTreeMap<Position, Located>,
) -> Option<Result<(), TraceError>> {
    let bytes = AtomicU64::new(0);
    let mut find = |parts: &mut Parts<'_>| -> Result<(), TraceError> {
        let name = input.source(file)?.name();
        let mut row = Row::default();
        let mut before = 0;
        while wanted.range(*ordinal..).next().is_some()
            && let Some(part) = parts.source.next()?
        {
            let end = *ordinal + part.positions() as u64;
            let Some((&last, _)) = wanted.range(*ordinal..end).next_back() else {
                (*ordinal, before) = (end, before + part.positions() as u64);
                continue;
            };
            let mut rows = part.rows();
            for at in *ordinal..=last {
                if !rows.next(&mut row)? {
                    break;
                }
                if let Some(&position) = wanted.get(&at) {
                    row.line += before;
                    let (line, time, text) = (Some(row.line), row.time, as_json(&row).map(Arc::from));
                    let row = Some(row.clone());
                    found.insert(
                        position,
                        Located { position, file: name.to_string(), line, text, row, time },
                    );
                }
            }
            (*ordinal, before) = (end, before + part.positions() as u64);
        }
        Ok(())
    };
    match input.parts(file, format, &Projection::default(), options, &bytes) {
        Ok(parts) => parts.map(|mut parts| find(&mut parts)),
        Err(error) => Some(Err(error)),
    }
}

/// A row as text, where the log has none of its own.
fn as_json(row: &Row) -> Option<String> {
    let mut text = Vec::new();
    write_row(&mut text, row, &Default::default()).ok()?;
    Some(shown(&text))
}

/// Fills in the text of lines. What cannot be read is left out: the verdict stands without it.
fn texts(
    mut reader: Box<dyn BufRead + Send + '_>,
    lines: &BTreeMap<u64, Vec<Position>>,
    found: &mut BTreeMap<Position, Located>,
) {
    let mut number = 0;
    let mut start = Vec::new();
    let Some((&last, _)) = lines.last_key_value() else { return };
    while number < last {
        start.clear();
        // Only the beginning of a long line is kept.
        let mut ended = false;
        while !ended {
            let Ok(part) = reader.fill_buf() else { return };
            if part.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', part);
            let take = end.map_or(part.len(), |end| end + 1);
            let room = (SHOWN + 1).saturating_sub(start.len());
            start.extend_from_slice(&part[..take.min(room)]);
            reader.consume(take);
            ended = end.is_some();
        }
        number += 1;
        for position in lines.get(&number).into_iter().flatten() {
            if let Some(located) = found.get_mut(position) {
                located.text = Some(shown(&start).into());
            }
        }
        if !ended {
            return;
        }
    }
}

/// A line as text, without its end, shortened.
fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    if line.len() > SHOWN { format!("{}…", text.trim_end_matches('\u{FFFD}')) } else { text.into_owned() }
}
