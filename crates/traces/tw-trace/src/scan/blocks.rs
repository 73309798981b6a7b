//! By blocks, on several threads, delivered in order.
//!
//! Blocks are cut at newlines without knowing whether a newline is inside quotes. If the block before says that a
//! record was still open at its end, what was read from the next block is thrown away, and the open record is read
//! again together with as many blocks as it takes.

use super::cut::{Buffer, Cutter, Grid, Piece, StreamCut};
use super::progress::Progress;
use super::{Summary, drive_rows};
use crate::input::{Source, byte_order_mark};
use crate::locate::LocatorBuilder;
use crate::{
    Block, BlockReader, Input, Months, Projection, ReadOptions, Row, Stamp, TimeStyle, TraceError,
    TraceFormat, Vocabulary,
};
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tw_core::{Batch, Time};

/// Bytes a format is shown to find its header in.
const HEAD: usize = 256 << 10;
/// Bytes of a file that one thread reads before another would have begun, in blocks that stay in its cache.
const SMALL: u64 = 3 << 19;
const SMALL_BLOCK: u64 = 64 << 10;
/// Blocks per thread that may wait to be folded.
const AHEAD: u64 = 4;

/// The beginning of a file, and the length of its byte order mark, which is not part of it.
pub(crate) fn head_of(source: &Source) -> Result<(Vec<u8>, usize), TraceError> {
    if let Some(len) = source.random_access() {
        let mut head = vec![0; len.min(HEAD as u64) as usize];
        source.read_exact_at(&mut head, 0)?;
        let mark = byte_order_mark(&head).map_err(|error| error.in_file(source.name()))?;
        head.drain(..mark);
        return Ok((head, mark));
    }
    let (reader, mark) = source.reader()?;
    let mut head = Vec::new();
    let fault = |error| crate::input::describe(&error).in_file(source.name());
    reader.take(HEAD as u64).read_to_end(&mut head).map_err(fault)?;
    Ok((head, mark))
}

/// A reader for all files, and what to skip at the beginning of each.
pub(super) struct Plan {
    pub reader: Box<dyn BlockReader>,
    /// Bytes (with a byte order mark) and lines of header of each file.
    pub skips: Vec<(u64, u64)>,
    pub slots: usize,
}

/// Whether all files can be read by blocks, with one reader: their headers are the same.
pub(super) fn plan(
    input: &Input,
    format: &dyn TraceFormat,
    projection: &Projection,
    options: &ReadOptions,
) -> Result<Option<Plan>, TraceError> {
    if crate::adapt::is_beyond_blocks(format, options) {
        return Ok(None);
    }
    let mut chosen: Option<(Box<dyn BlockReader>, Vec<u8>)> = None;
    let mut skips = Vec::new();
    for file in 0..input.files() {
        let source = input.source(file)?;
        let (head, mark) = head_of(source)?;
        if head.is_empty() && input.files() > 1 {
            skips.push((mark as u64, 0));
            continue;
        }
        let start =
            format.blocks(&head, projection, options).map_err(|error| error.in_file(source.name()))?;
        let Some(start) = start else { return Ok(None) };
        let header = head.get(..start.skip).unwrap_or(&head);
        match &chosen {
            None => chosen = Some((start.reader, header.to_vec())),
            Some((_, first)) if first == header => {}
            Some(_) => return Ok(None),
        }
        skips.push(((mark + start.skip) as u64, start.skip_lines));
    }
    Ok(chosen.map(|(reader, _)| Plan { reader, skips, slots: projection.slots.len() }))
}

/// As [`super::scan`], by blocks.
pub(super) fn scan<T: Send>(
    input: &Input,
    format: &dyn TraceFormat,
    plan: &Plan,
    options: &ReadOptions,
    map: &(dyn Fn(Batch) -> Result<T, TraceError> + Sync),
    fold: &mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
) -> Result<Summary, TraceError> {
    let work = Work { plan, map };
    let mut progress = Progress {
        work: &work,
        options,
        fold,
        positions: 0,
        bytes: 0,
        previous: None,
        timed: None,
        locator: LocatorBuilder::blocks(&plan.skips),
        lines: 0,
        carry: None,
        calendar: None,
        stopped: false,
        probe: &|source, skip, bytes, calendar| {
            let options = ReadOptions { calendar, ..options.clone() };
            first_stamp(source, skip, bytes, format, plan, &options)
        },
    };
    for (file, &(skip, skip_lines)) in plan.skips.iter().enumerate() {
        let source = input.source(file)?;
        let cutter = match source.random_access() {
            Some(len) => {
                let (mut block, max_record) = (options.block.max(1) as u64, options.max_record);
                if len < SMALL {
                    block = block.min(SMALL_BLOCK);
                }
                let reader = &*plan.reader;
                Cutter::Grid(Grid { source, len, skip, block, max_record, reader })
            }
            None => Cutter::Stream(Mutex::new(StreamCut::new(source, skip, options, &*plan.reader)?)),
        };
        progress.lines = skip_lines;
        progress.carry = None;
        progress.bytes += skip;
        read_file(&cutter, file, source, &work, &mut progress)
            .map_err(|error| error.in_file(source.name()))?;
        if progress.stopped {
            break;
        }
    }
    let warnings = if progress.stopped { Vec::new() } else { plan.reader.finish()? };
    let timed = progress.timed == Some(true);
    let (positions, bytes, locator) = (progress.positions, progress.bytes, progress.locator.finish());
    let style = if timed { first_style(input, format, options) } else { None };
    Ok(Summary { positions, bytes, timed, style, warnings, locator, skipped: 0, bad_lines: Vec::new() })
}

/// The timestamp of a block's first position.
fn first_stamp(
    source: &Source,
    skip: u64,
    bytes: &[u8],
    format: &dyn TraceFormat,
    plan: &Plan,
    options: &ReadOptions,
) -> Option<Stamp> {
    let (range, _) = plan.reader.locate(bytes, 0)?;
    let (head, mark) = head_of(source).ok()?;
    let header = head.get(..(skip as usize).checked_sub(mark)?)?;
    let mut row = Row::default();
    let mut rows = format.rows(Box::new(header.chain(bytes.get(range)?)), options).ok()?;
    if rows.next(&mut row).ok()? { row.time } else { None }
}

/// How the first position writes its timestamp.
fn first_style(input: &Input, format: &dyn TraceFormat, options: &ReadOptions) -> Option<TimeStyle> {
    let mut style = None;
    let result = drive_rows(input, format, options, &mut |_| {}, &mut Err, &mut |row| {
        style = row.time.map(|stamp| stamp.style);
        Ok(false)
    });
    result.ok().and(style)
}

/// What threads share: they only read it.
pub(super) struct Work<'w, T> {
    pub plan: &'w Plan,
    pub map: &'w (dyn Fn(Batch) -> Result<T, TraceError> + Sync),
}

/// What was read from a block.
pub(super) struct Done<T> {
    pub piece: Piece,
    /// The bytes, if they cannot be read again.
    pub kept: Option<Vec<u8>>,
    pub result: Result<Outcome<T>, TraceError>,
}

pub(super) struct Outcome<T> {
    pub mapped: Option<T>,
    pub positions: usize,
    pub lines: u64,
    /// Whether each position is one line.
    pub plain: bool,
    pub times: Option<(Time, Time)>,
    pub open_from: Option<usize>,
    pub months: Option<Months>,
    pub seen: Vocabulary,
}

impl<T: Send> Work<'_, T> {
    pub fn read(&self, block: Block<'_>) -> Result<Outcome<T>, TraceError> {
        let mut seen = Vocabulary::new(self.plan.slots);
        let read = self.plan.reader.read_noting(block, &mut seen)?;
        let positions = read.batch.len;
        let mapped = if positions == 0 { None } else { Some((self.map)(read.batch)?) };
        Ok(Outcome {
            mapped,
            positions,
            lines: read.lines,
            plain: read.lines == positions as u64 && !read.shared_lines,
            times: read.time_range,
            open_from: read.open_from,
            months: read.months,
            seen,
        })
    }

    fn done(&self, piece: Piece, bytes: &[u8]) -> Result<Outcome<T>, TraceError> {
        if bytes.is_empty() {
            return Ok(Outcome {
                mapped: None,
                positions: 0,
                lines: 0,
                plain: true,
                times: None,
                open_from: None,
                months: None,
                seen: Vocabulary::new(self.plan.slots),
            });
        }
        self.read(Block { bytes, last: piece.last, next: piece.next })
    }
}

/// Results on their way from the threads that read to the one that folds.
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// Block to be given out next, and to be folded next.
    claimed: u64,
    folded: u64,
    /// Number of blocks, once it is known.
    count: Option<u64>,
    done: BTreeMap<u64, Done<T>>,
    /// Memory of blocks that were folded, for streams.
    spare: Vec<Vec<u8>>,
    stop: bool,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the run if a thread panics, so that nobody waits for its block.
struct Alarm<'s, T>(&'s Shared<T>);

impl<T> Drop for Alarm<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().stop = true;
        }
        self.0.changed.notify_all();
    }
}

fn read_file<T: Send>(
    cutter: &Cutter<'_>,
    file: usize,
    source: &Source,
    work: &Work<'_, T>,
    progress: &mut Progress<'_, '_, T>,
) -> Result<(), TraceError> {
    let (count, small) = match cutter {
        Cutter::Grid(grid) => (Some(grid.blocks()), grid.len < SMALL && grid.block == SMALL_BLOCK),
        Cutter::Stream(_) => (None, false),
    };
    let threads = if small { 1 } else { progress.options.threads.max(1) };
    let threads = threads.min(count.unwrap_or(u64::MAX).max(1) as usize);
    let window = AHEAD * threads as u64;
    let state = State { claimed: 0, folded: 0, count, done: BTreeMap::new(), spare: Vec::new(), stop: false };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                let alarm = Alarm(&shared);
                let mut buffer = Buffer::default();
                while let Some((index, done)) = next_block(cutter, work, &shared, &mut buffer, window, true) {
                    shared.lock().done.insert(index, done);
                    shared.changed.notify_all();
                }
                drop(alarm);
            });
        }
        let alarm = Alarm(&shared);
        let result = fold_all(cutter, file, source, work, progress, &shared, window);
        shared.lock().stop = true;
        drop(alarm);
        result
    })
}

/// Folds blocks in order, and reads some while waiting for others.
fn fold_all<T: Send>(
    cutter: &Cutter<'_>,
    file: usize,
    source: &Source,
    work: &Work<'_, T>,
    progress: &mut Progress<'_, '_, T>,
    shared: &Shared<T>,
    window: u64,
) -> Result<(), TraceError> {
    let mut buffer = Buffer::default();
    loop {
        let mut state = shared.lock();
        let next = state.folded;
        if let Some(done) = state.done.remove(&next) {
            state.folded += 1;
            drop(state);
            shared.changed.notify_all();
            let spare = progress.take(done, file, source)?;
            if let Some(spare) = spare {
                shared.lock().spare.push(spare);
            }
            if progress.stopped {
                return Ok(());
            }
            continue;
        }
        if state.count == Some(next) {
            drop(state);
            return progress.end_of_file(file, source);
        }
        if state.stop {
            return Ok(());
        }
        drop(state);
        match next_block(cutter, work, shared, &mut buffer, window, false) {
            Some((index, done)) => {
                shared.lock().done.insert(index, done);
            }
            None => {
                let state = shared.lock();
                let ready = state.done.contains_key(&next) || state.count == Some(next) || state.stop;
                if !ready {
                    drop(shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner));
                }
            }
        }
    }
}

/// Claims a block and reads it. `None` if there is none to claim now or, when waiting, ever.
fn next_block<T: Send>(
    cutter: &Cutter<'_>,
    work: &Work<'_, T>,
    shared: &Shared<T>,
    buffer: &mut Buffer,
    window: u64,
    wait: bool,
) -> Option<(u64, Done<T>)> {
    let failed = |error| Done { piece: Piece::default(), kept: None, result: Err(error) };
    match cutter {
        Cutter::Grid(grid) => {
            let index = claim(shared, window, wait)?;
            let done = match grid.read(index, buffer) {
                Ok(piece) => Done { piece, kept: None, result: work.done(piece, buffer.bytes(piece)) },
                Err(error) => failed(error),
            };
            Some((index, done))
        }
        Cutter::Stream(stream) => {
            // Locked before its block is claimed, so that blocks are claimed in the order they are read.
            let mut stream = match wait {
                true => stream.lock().unwrap_or_else(PoisonError::into_inner),
                false => stream.try_lock().ok()?,
            };
            let index = claim(shared, window, wait)?;
            let mut bytes = shared.lock().spare.pop().unwrap_or_default();
            let read = stream.read(&mut bytes);
            match &read {
                Ok(Some(piece)) if !piece.last && !piece.too_long => {}
                Ok(None) => shared.lock().count = Some(index),
                _ => shared.lock().count = Some(index + 1),
            }
            drop(stream);
            shared.changed.notify_all();
            let done = match read {
                Ok(None) => return None,
                Ok(Some(piece)) => {
                    let result = work.done(piece, &bytes[piece.start..piece.end]);
                    Done { piece, kept: Some(bytes), result }
                }
                Err(error) => failed(error),
            };
            Some((index, done))
        }
    }
}

fn claim<T>(shared: &Shared<T>, window: u64, wait: bool) -> Option<u64> {
    let mut state = shared.lock();
    loop {
        if state.stop || state.count.is_some_and(|count| state.claimed >= count) {
            return None;
        }
        if state.claimed < state.folded + window {
            state.claimed += 1;
            return Some(state.claimed - 1);
        }
        if !wait {
            return None;
        }
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}
