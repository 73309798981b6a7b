//! Opening files as one trace, and scanning it.

use crate::error::Setting;
use crate::trace::{format_named, formats, nearest_format};
use crate::{Error, Reading, Session};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Batch, Position, TimeUnit};
use tw_diag::Diagnostic;
use tw_trace::{
    Input, Located, Locator, Projection, Settled, Summary, TraceError, TraceErrorKind, TraceFormat,
};

/// Files that are one trace.
pub(crate) struct Opened {
    /// As reports call it.
    pub name: String,
    pub input: Input,
    pub format: &'static dyn TraceFormat,
    /// How it is read, with what its beginning shows where the session leaves it open.
    pub read: Reading,
    /// What that is.
    pub settled: Settled,
}

impl Opened {
    /// Opens files, or records in memory by their names, and settles their format.
    pub fn new(session: &Session, files: &[String]) -> Result<Self, Error> {
        if let Some(input) = in_memory(session, files)? {
            // They have no bytes for a format to read; what is said of a format holds for this one.
            let format = format_named("arrow").unwrap_or(tw_trace::FORMATS[0]);
            let (name, read, settled) = (display_name(files), session.read.clone(), Settled::default());
            return Ok(Self { name, input, format, read, settled });
        }
        let known = format_by_name(session, files.first().map_or("-", String::as_str))?;
        let text = |file: &String| session.texts.iter().find(|(name, _)| name == file);
        let input = match files {
            [one] if text(one).is_some() => {
                Input::from_bytes(one, text(one).map_or(Arc::default(), |(_, text)| Arc::clone(text)))
            }
            _ => Input::open(files)?,
        };
        let mut head = input.head(0)?;
        // A file that says nothing does not show its format.
        for file in 1..input.files() {
            if !head.trim_ascii().is_empty() {
                break;
            }
            head = input.head(file)?;
        }
        let format = match known {
            Some(format) => format,
            None => format_by_look(&head, files.first().map_or("-", String::as_str))?,
        };
        let mut read = session.read.clone();
        let settled = match format.parted() {
            Some(_) => Settled::default(),
            None => settle(&mut read, format, &head, &input)?,
        };
        Ok(Self { name: display_name(files), input, format, read, settled })
    }

    /// Reads it from the beginning: `map` on several threads, batch by batch, `fold` in the order of the trace. Progress
    /// is noted on the way, and an error that names no file is given this one.
    pub fn scan<T: Send>(
        &self,
        session: &Session,
        projection: &Projection,
        map: &(dyn Fn(Batch) -> Result<T, TraceError> + Sync),
        fold: &mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
    ) -> Result<Summary, TraceError> {
        let mut noting = |part: T| {
            if let Some(progress) = &session.progress {
                progress.set(self.input.bytes_read(), self.input.size());
                if progress.stopped() {
                    return Err(TraceError::new(TraceErrorKind::Usage, "the reading was interrupted"));
                }
            }
            fold(part)
        };
        tw_trace::scan(&self.input, self.format, projection, &self.read, map, &mut noting)
            .map_err(|error| error.in_file(&self.name))
    }

    /// What is to be said about how it was understood.
    pub fn notes(&self) -> Vec<Diagnostic> {
        let epoch = self.settled.epoch.map(|unit| epoch_note(unit, &self.name));
        let preamble = Some(self.settled.preamble).filter(|lines| *lines > 0);
        epoch.into_iter().chain(preamble.map(|lines| preamble_note(lines, &self.name))).collect()
    }

    /// Where positions are in the log. A log that changed or vanished since it was read costs its lines, not the answer.
    pub fn locate(&self, locator: &Locator, positions: &[Position]) -> HashMap<Position, Located> {
        let found = locator.locate(&self.input, self.format, &self.read, positions);
        found.unwrap_or_default().into_iter().map(|located| (located.position, located)).collect()
    }
}

/// Finds out what the beginnings of the files show: the first one, or, where lines are searched for timestamps and it has none, the
/// first that has some.
fn settle(
    read: &mut Reading,
    format: &dyn TraceFormat,
    head: &[u8],
    input: &Input,
) -> Result<Settled, TraceError> {
    if format.resolves_years() && read.time_format.is_none() && input.files() > 1 {
        let mut before = 0;
        for file in 0..input.files() {
            let head = input.head(file)?;
            if format.written(&head, None).is_some() {
                let mut settled = read.settle(format, &head);
                settled.preamble += before;
                return Ok(settled);
            }
            before += head.split_inclusive(|byte| *byte == b'\n').count() as u64;
        }
    }
    Ok(read.settle(format, head))
}

/// Lines before the first timestamp.
pub(crate) fn preamble_note(lines: u64, trace: &str) -> Diagnostic {
    let (lines, are) =
        if lines == 1 { ("1 line".to_string(), "is") } else { (format!("{lines} lines"), "are") };
    Diagnostic::note("no-timestamp-yet", format!("{trace}: {lines} before the first timestamp {are} skipped"))
}

/// What to say of lines that were left out.
pub(crate) fn skipped_note(count: u64, first: Option<&TraceError>, trace: &str) -> Option<Diagnostic> {
    let first = first?;
    let (lines, were) = match count {
        1 => ("1 line".to_string(), "was"),
        many => (format!("{many} lines"), "were"),
    };
    let message = format!("{trace}: {lines} could not be read and {were} skipped; the first: {first}");
    Some(Diagnostic::note("skipped-lines", message))
}

/// Numbers that are too large for seconds since 1970.
pub(crate) fn epoch_note(unit: TimeUnit, trace: &str) -> Diagnostic {
    let word = match unit {
        TimeUnit::Milliseconds => "milliseconds",
        TimeUnit::Microseconds => "microseconds",
        _ => "nanoseconds",
    };
    let message = format!(
        "{trace}: timestamps are read as {word} since 1970, as their size shows; times and intervals stay in seconds"
    );
    let other = format!(
        "`{}` says so and counts in it; `{}` reads seconds",
        Setting::TimeUnit.to(unit.name()),
        Setting::TimeUnit.to("s")
    );
    Diagnostic::note("epoch-unit", message).help(other)
}

/// The tables of these names as one trace; `None` if none of them is one.
fn in_memory(session: &Session, files: &[String]) -> Result<Option<Input>, Error> {
    let table = |file: &String| session.tables.iter().find(|(name, _)| name == file);
    if !files.iter().any(|file| table(file).is_some()) {
        return Ok(None);
    }
    let mut input: Option<Input> = None;
    for file in files {
        let Some((name, table)) = table(file) else {
            let message =
                format!("`{file}` is a file, and others are records in memory: they cannot be one trace");
            return Err(Error::refused(message));
        };
        let next = Input::from_table(name, table.clone());
        input = Some(match input {
            Some(before) => before.followed_by(next),
            None => next,
        });
    }
    Ok(input)
}

/// What the trace is called in reports: the file as named, or the first of several and how many more.
pub(crate) fn display_name(files: &[String]) -> String {
    match files {
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} (+{} more)", rest.len()),
        [] => String::new(),
    }
}

/// What to add when a format (or the extension of its files) is known, but not to this build.
fn missing_feature(name: &str) -> &'static str {
    match name {
        "parquet" | "arrow" => " (this build lacks Parquet and Arrow: build with the feature `parquet`)",
        _ => "",
    }
}

/// The format of a file that is read live, of standard input with `-`: by its name, else by its beginning, if it has one.
pub(crate) fn format_of(session: &Session, path: &str) -> Result<&'static dyn TraceFormat, Error> {
    if let Some(format) = format_by_name(session, path)? {
        return Ok(format);
    }
    // What is read from a pipe is gone.
    let head = match std::fs::metadata(path) {
        Ok(meta) if !meta.is_file() => Vec::new(),
        _ => Input::open(&[path.to_string()])?.head(0)?,
    };
    format_by_look(&head, path)
}

/// The format that the session names or that follows from a file's name.
fn format_by_name(session: &Session, first: &str) -> Result<Option<&'static dyn TraceFormat>, Error> {
    let all = formats();
    if let Some(name) = &session.read.format {
        return format_named(name).map(Some).ok_or_else(|| {
            let near = nearest_format(name).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let feature = missing_feature(name);
            Error::refused(format!("unknown format `{name}`{near}{feature} (formats: {})", known()))
        });
    }
    if first == "-" {
        return Ok(Some(format_named("jsonl").unwrap_or(all[0])));
    }
    Ok(tw_trace::detect(first, &all).filter(|_| !tw_trace::is_ambiguous(first)))
}

/// The format that the beginning of a file looks like.
fn format_by_look(head: &[u8], name: &str) -> Result<&'static dyn TraceFormat, Error> {
    let feature = missing_feature(name.rsplit('.').next().unwrap_or(""));
    let found = if feature.is_empty() { tw_trace::recognise(head, &formats()) } else { None };
    // A file without anything in it may still have a name that says enough.
    found.or_else(|| tw_trace::detect(name, &formats()).filter(|_| head.is_empty())).ok_or_else(|| {
        let message = match head.is_empty() {
            true => format!("cannot tell the format of `{name}` by its name, and there is nothing in it"),
            false => format!("cannot tell the format of `{name}` by its name or its first lines"),
        };
        Error::refused(format!("{message}{feature}; say it with {} ({})", Setting::Format, known()))
    })
}

fn known() -> String {
    formats().iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}
