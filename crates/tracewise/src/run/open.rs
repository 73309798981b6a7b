//! Opening files as one trace, and scanning it.

use crate::error::Setting;
use crate::trace::{format_named, formats};
use crate::{Error, Session};
use std::collections::HashMap;
use std::ops::ControlFlow;
use tw_core::{Batch, Position};
use tw_trace::{Input, Located, Locator, Projection, Summary, TraceError, TraceFormat};

/// Files that are one trace.
pub(crate) struct Opened {
    /// As reports call it.
    pub name: String,
    pub input: Input,
    pub format: &'static dyn TraceFormat,
}

impl Opened {
    /// Opens files, or records in memory by their names, and settles their format.
    pub fn new(session: &Session, files: &[String]) -> Result<Self, Error> {
        if let Some(input) = in_memory(session, files)? {
            // They have no bytes for a format to read; what is said of a format holds for this one.
            let format = format_named("arrow").unwrap_or(tw_trace::FORMATS[0]);
            return Ok(Self { name: display_name(files), input, format });
        }
        let format = format_of(session, files.first().map_or("-", String::as_str))?;
        Ok(Self { name: display_name(files), input: Input::open(files)?, format })
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
            }
            fold(part)
        };
        tw_trace::scan(&self.input, self.format, projection, &session.read, map, &mut noting)
            .map_err(|error| error.in_file(&self.name))
    }

    /// Where positions are in the log. A log that changed or vanished since it was read costs its lines, not the answer.
    pub fn locate(
        &self,
        session: &Session,
        locator: &Locator,
        positions: &[Position],
    ) -> HashMap<Position, Located> {
        let found = locator.locate(&self.input, self.format, &session.read, positions);
        found.unwrap_or_default().into_iter().map(|located| (located.position, located)).collect()
    }
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

/// The format of a file or, with `-`, of standard input.
pub(crate) fn format_of(session: &Session, first: &str) -> Result<&'static dyn TraceFormat, Error> {
    let all = formats();
    let known = || all.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
    if let Some(name) = &session.read.format {
        return format_named(name).ok_or_else(|| {
            let near = tw_core::suggest(name, all.iter().map(|format| format.name()))
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let feature = missing_feature(name);
            Error::refused(format!("unknown format `{name}`{near}{feature} (formats: {})", known()))
        });
    }
    if first == "-" {
        return Ok(format_named("jsonl").unwrap_or(all[0]));
    }
    if let Some(format) = tw_trace::detect(first, &all) {
        return Ok(format);
    }
    // A missing file is the likelier mistake than an unknown extension.
    Input::open(&[first.to_string()])?;
    let feature = missing_feature(first.rsplit('.').next().unwrap_or(""));
    Err(Error::refused(format!(
        "cannot tell the format of `{first}` by its name{feature}; say it with {} ({})",
        Setting::Format,
        known()
    )))
}
