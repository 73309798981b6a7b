//! A stored trace whose bad lines are left out: read as a stream is, which knows how to go on behind one.

use super::Summary;
use crate::locate::LocatorBuilder;
use crate::{
    Arrival, FORMATS, Input, Live, Projection, ReadOptions, Receiver, TimeStyle, TraceError, TraceErrorKind,
    TraceFormat,
};
use std::io::Read;
use std::ops::ControlFlow;
use tw_core::Batch;

/// Bytes taken at a time: few enough for the line of every position to be known.
const CHUNK: usize = 8 << 10;
/// Bad lines that are told of.
const TOLD: usize = 3;

/// As [`super::scan`], leaving out lines that cannot be read.
pub(super) fn scan<T: Send>(
    input: &Input,
    format: &dyn TraceFormat,
    projection: &Projection,
    options: &ReadOptions,
    map: &(dyn Fn(Batch) -> Result<T, TraceError> + Sync),
    fold: &mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
) -> Result<Summary, TraceError> {
    let known = FORMATS.iter().find(|known| known.name() == format.name());
    let format = *known.ok_or_else(|| {
        let message = format!("`⟨skip_bad_lines⟩` is for traces of lines, and `{}` has none", format.name());
        TraceError::new(TraceErrorKind::Usage, message)
    })?;
    let mut taking = Taking {
        map,
        fold,
        positions: 0,
        locator: LocatorBuilder::rows(),
        style: None,
        skipped: 0,
        told: Vec::new(),
    };
    let mut bytes = 0;
    let mut live: Option<Live> = None;
    let mut stopped = false;
    for (file, name) in input.names().enumerate() {
        let stream = live.get_or_insert_with(|| Live::new(name, format, projection, options));
        if file > 0 {
            stream.restart_as(name, &mut taking).or_else(End::unless_stopped)?;
        }
        taking.locator.file(taking.positions);
        let mut reader = input.reader(file)?;
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = match reader.read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(crate::input::describe(&error).in_file(name)),
            };
            bytes += count as u64;
            let last = count == 0 && file + 1 == input.files();
            let ended = count == 0;
            match stream.push(&chunk[..count], last, &mut taking) {
                Ok(()) => {}
                Err(End::Stop) => {
                    stopped = true;
                    break;
                }
                Err(End::Error(error)) => return Err(error.in_file(name)),
            }
            if ended {
                break;
            }
        }
        if stopped {
            break;
        }
    }
    let warnings = match &live {
        Some(live) if !stopped => live.judge()?,
        _ => Vec::new(),
    };
    let Taking { positions, locator, style, skipped, told, .. } = taking;
    let locator = locator.finish();
    Ok(Summary {
        positions,
        bytes,
        timed: style.is_some(),
        style,
        warnings,
        locator,
        skipped,
        bad_lines: told,
    })
}

/// Why reading ends early.
enum End {
    Stop,
    Error(TraceError),
}

impl End {
    fn unless_stopped(self) -> Result<(), TraceError> {
        match self {
            End::Stop => Ok(()),
            End::Error(error) => Err(error),
        }
    }
}

impl From<TraceError> for End {
    fn from(error: TraceError) -> Self {
        End::Error(error)
    }
}

struct Taking<'t, T> {
    map: &'t (dyn Fn(Batch) -> Result<T, TraceError> + Sync),
    fold: &'t mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
    positions: u64,
    locator: LocatorBuilder,
    style: Option<TimeStyle>,
    skipped: u64,
    told: Vec<TraceError>,
}

impl<T> Receiver for Taking<'_, T> {
    type Mapped = T;
    type Error = End;

    fn map(&mut self, batch: Batch) -> Result<T, (usize, TraceError)> {
        (self.map)(batch).map_err(|error| (0, error))
    }

    fn take(&mut self, mapped: T, arrival: &Arrival<'_>) -> Result<(), End> {
        for (index, line) in arrival.lines().into_iter().enumerate() {
            let line = if line > 0 { line } else { arrival.line(index).0.unwrap_or(0) };
            self.locator.row(self.positions, self.positions, line);
            self.positions += 1;
        }
        self.style = self.style.or(arrival.style);
        match (self.fold)(mapped)? {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(End::Stop),
        }
    }

    fn left_over(&mut self, lines: u64, _first: u64) {
        self.skipped += lines;
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), End> {
        self.skipped += 1;
        if self.told.len() < TOLD {
            self.told.push(error);
        }
        Ok(())
    }
}
