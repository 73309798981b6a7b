//! By parts: one thread after another takes the next part of a file, which is decoded then, and reads its columns while
//! the next thread decodes. What was read is folded in order.
//!
//! A part whose columns cannot be read, or that does not go on in time from the one before, is read by its rows in its
//! turn, when all that is known of the positions before it is known: so the error is the one that rows give.

use super::{Summary, place_error};
use crate::locate::LocatorBuilder;
use crate::{
    Input, Order, Part, PartSource, Projection, ReadOptions, Row, SlotBuilder, Stamp, TimeStyle, TraceError,
    TraceFormat, Vocabulary,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tw_core::Batch;

/// Parts per thread that may wait to be folded.
const AHEAD: u64 = 2;

/// As [`super::scan`], by parts.
pub(super) fn scan<T: Send>(
    input: &Input,
    format: &dyn TraceFormat,
    projection: &Projection,
    options: &ReadOptions,
    map: &(dyn Fn(Batch) -> Result<T, TraceError> + Sync),
    fold: &mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
) -> Result<Summary, TraceError> {
    let bytes = AtomicU64::new(0);
    let work = Work { projection, map };
    let mut progress = Progress {
        work: &work,
        fold,
        order: Order::new(options),
        options,
        seen: Vocabulary::new(projection.slots.len()),
        locator: LocatorBuilder::rows(),
        style: None,
        positions: 0,
        lines: 0,
        stopped: false,
    };
    for (file, name) in input.names().enumerate() {
        let mut read_file = || -> Result<(), TraceError> {
            let Some(parts) = input.parts(file, format, projection, options, &bytes)? else { return Ok(()) };
            progress.seen.has_events |= parts.has_events;
            progress.lines = 0;
            read_file(parts.source, &work, &mut progress)
        };
        read_file().map_err(|error| error.in_file(name))?;
        if progress.stopped {
            break;
        }
    }
    let Progress { seen, locator, style, positions, stopped, .. } = progress;
    let warnings = if stopped { Vec::new() } else { seen.judge(projection, format.card().open_vocabulary)? };
    let bytes = bytes.load(Ordering::Relaxed);
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

/// What threads share: they only read it.
struct Work<'w, T> {
    projection: &'w Projection,
    map: &'w (dyn Fn(Batch) -> Result<T, TraceError> + Sync),
}

/// What was read of a part.
struct Outcome<T> {
    mapped: Result<T, TraceError>,
    times: Option<(Stamp, Stamp)>,
    seen: Vocabulary,
}

impl<T> Work<'_, T> {
    /// `None` if the part's rows are to be read.
    fn read(&self, part: &dyn Part) -> Option<Outcome<T>> {
        let mut seen = Vocabulary::new(self.projection.slots.len());
        let read = part.read(&mut seen)?;
        Some(Outcome { mapped: (self.map)(read.batch), times: read.times, seen })
    }
}

/// Where the folding is.
struct Progress<'w, 'f, T> {
    work: &'w Work<'w, T>,
    fold: &'f mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
    order: Order,
    options: &'w ReadOptions,
    seen: Vocabulary,
    locator: LocatorBuilder,
    style: Option<TimeStyle>,
    positions: u64,
    /// Rows of the file before the part.
    lines: u64,
    stopped: bool,
}

impl<T> Progress<'_, '_, T> {
    /// Takes the next part in order.
    fn take(&mut self, part: &dyn Part, outcome: Option<Outcome<T>>) -> Result<(), TraceError> {
        let first = (self.positions, self.lines + 1);
        let mapped = match outcome {
            Some(outcome) if self.order.takes(outcome.times) => {
                self.seen.merge(&outcome.seen);
                self.style = self.style.or(outcome.times.map(|(first, _)| first.style));
                outcome.mapped?
            }
            _ => self.by_rows(part)?,
        };
        // The rows that follow are as far from their positions as the first.
        self.locator.row(first.0, first.0, first.1);
        self.positions += part.positions() as u64;
        self.lines += part.positions() as u64;
        self.stopped = (self.fold)(mapped)?.is_break();
        Ok(())
    }

    fn by_rows(&mut self, part: &dyn Part) -> Result<T, TraceError> {
        let lines = self.lines;
        let absolute = |mut error: TraceError| {
            error.line = error.line.map(|line| line + lines);
            error
        };
        let projection = self.work.projection;
        let mut builder = SlotBuilder::new(projection);
        let mut source = part.rows();
        let mut row = Row::default();
        while source.next(&mut row).map_err(absolute)? {
            self.order.check(&row).map_err(absolute)?;
            let pushed = builder.push(&row, &mut self.seen);
            pushed.map_err(|error| absolute(place_error(error, &*source, projection)))?;
            self.style = self.style.or(row.time.map(|stamp| stamp.style));
        }
        (self.work.map)(builder.finish(row.time.is_some()))
    }
}

/// The file, until nothing follows.
type Feed<'a> = Mutex<Box<dyn PartSource<'a> + Send + 'a>>;

/// A part that was read, or why there is none.
type Done<'a, T> = Result<(Box<dyn Part + 'a>, Option<Outcome<T>>), TraceError>;

/// Results on their way from the threads that read to the one that folds.
struct Shared<'a, T> {
    feed: Feed<'a>,
    state: Mutex<State<'a, T>>,
    changed: Condvar,
}

struct State<'a, T> {
    claimed: u64,
    folded: u64,
    /// Number of parts, once it is known.
    count: Option<u64>,
    done: BTreeMap<u64, Done<'a, T>>,
    stop: bool,
}

/// Ends the run when a thread ends by a panic, so that nobody waits for its part.
struct Alarm<'s, 'a, T>(&'s Shared<'a, T>);

impl<T> Drop for Alarm<'_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().stop = true;
        }
        self.0.changed.notify_all();
    }
}

fn read_file<'a, T: Send>(
    mut source: Box<dyn PartSource<'a> + Send + 'a>,
    work: &Work<'_, T>,
    progress: &mut Progress<'_, '_, T>,
) -> Result<(), TraceError> {
    let threads = progress.options.threads.max(1);
    if threads == 1 {
        while !progress.stopped
            && let Some(part) = source.next()?
        {
            let outcome = work.read(&*part);
            progress.take(&*part, outcome)?;
        }
        return Ok(());
    }
    let state = State { claimed: 0, folded: 0, count: None, done: BTreeMap::new(), stop: false };
    let shared = Shared { feed: Mutex::new(source), state: Mutex::new(state), changed: Condvar::new() };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let _alarm = Alarm(&shared);
                while shared.read_next(work, AHEAD * threads as u64) {}
            });
        }
        let alarm = Alarm(&shared);
        let result = shared.fold_all(progress);
        shared.lock().stop = true;
        drop(alarm);
        result
    })
}

impl<'a, T> Shared<'a, T> {
    fn lock(&self) -> MutexGuard<'_, State<'a, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State<'a, T>>) -> MutexGuard<'s, State<'a, T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Decodes and reads a part; false if none is left.
    fn read_next(&self, work: &Work<'_, T>, window: u64) -> bool {
        // Locked before a part is claimed, so that parts are claimed in the order of the file.
        let mut feed = self.feed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        while !state.stop && state.count.is_none() && state.claimed >= state.folded + window {
            state = self.wait(state);
        }
        if state.stop || state.count.is_some() {
            return false;
        }
        let index = state.claimed;
        state.claimed += 1;
        drop(state);
        let next = feed.next();
        match &next {
            Ok(Some(_)) => {}
            Ok(None) => self.lock().count = Some(index),
            Err(_) => self.lock().count = Some(index + 1),
        }
        drop(feed);
        let done = match next {
            Ok(None) => None,
            Ok(Some(part)) => {
                let outcome = work.read(&*part);
                Some(Ok((part, outcome)))
            }
            Err(error) => Some(Err(error)),
        };
        let goes_on = matches!(done, Some(Ok(_)));
        if let Some(done) = done {
            self.lock().done.insert(index, done);
        }
        self.changed.notify_all();
        goes_on
    }

    fn fold_all(&self, progress: &mut Progress<'_, '_, T>) -> Result<(), TraceError> {
        loop {
            let mut state = self.lock();
            let next = state.folded;
            if let Some(done) = state.done.remove(&next) {
                state.folded += 1;
                drop(state);
                self.changed.notify_all();
                let (part, outcome) = done?;
                progress.take(&*part, outcome)?;
                if progress.stopped {
                    return Ok(());
                }
            } else if state.count == Some(next) || state.stop {
                return Ok(());
            } else {
                drop(self.wait(state));
            }
        }
    }
}
