//! One step from an error about a trace to a run without it: the name, the option or the order to write instead. Looked up
//! only when something is wrong, in the trace's first positions.

use super::hints::{Looked, time_among};
use super::open::Opened;
use super::order::StepsBack;
use crate::error::{Setting, trace_code};
use crate::{Error, Reading, Session};
use std::ops::ControlFlow;
use tw_diag::{Diagnostic, Sources};
use tw_trace::{Projection, TraceError, TraceErrorKind, TraceFormat};

impl Session {
    /// What a verb found in these files, where an error says how to repair it.
    pub(crate) fn repaired<T>(&self, files: &[String], found: Result<T, Error>) -> Result<T, Error> {
        found.map_err(|error| match error {
            Error::Trace { error, asked, sources } => {
                Case { session: self, files, error: *error, asked, sources }.repaired()
            }
            other => other,
        })
    }
}

/// The trace, of several, that an error is about.
pub(crate) fn of_error<'t, T>(traces: &'t [Vec<String>], found: &Result<T, Error>) -> &'t [String] {
    let file = match found {
        Err(Error::Trace { error, .. }) => error.file.as_str(),
        _ => "",
    };
    traces.iter().find(|trace| trace.iter().any(|own| own == file)).map_or(&[], Vec::as_slice)
}

/// An error on its way out.
struct Case<'c> {
    session: &'c Session,
    files: &'c [String],
    error: TraceError,
    asked: Option<Diagnostic>,
    sources: Box<Sources>,
}

impl Case<'_> {
    fn repaired(mut self) -> Error {
        if self.asked.as_ref().is_none_or(|asked| asked.help.is_none()) {
            match self.opened() {
                Some(opened) => self.by_looking(&opened),
                // What came through a pipe is gone.
                None => {
                    let format = self.session.read.format.as_deref().unwrap_or("jsonl");
                    self.by_line(crate::trace::format_named(format));
                }
            }
        }
        Error::Trace { error: Box::new(self.error), asked: self.asked, sources: self.sources }
    }

    /// The trace once more, if it can be read again.
    fn opened(&self) -> Option<Opened> {
        let known = |file: &String| {
            self.session.texts.iter().any(|(name, _)| name == file)
                || self.session.tables.iter().any(|(name, _)| name == file)
                || std::fs::metadata(file).is_ok_and(|meta| meta.is_file())
        };
        let again = !self.files.is_empty() && self.files.iter().all(known);
        again.then(|| Opened::new(self.session, self.files).ok()).flatten()
    }

    fn by_looking(&mut self, opened: &Opened) {
        match (&self.error.kind, self.error.name.clone()) {
            (TraceErrorKind::UnknownName, Some(name)) => self.unknown(opened, &name),
            (TraceErrorKind::Usage | TraceErrorKind::Time, Some(name)) => self.no_such_option(opened, &name),
            _ if self.error.is_about_order() => self.order(),
            _ => self.by_line(Some(opened.format).filter(|format| format.parted().is_none())),
        }
    }

    /// A name that the trace does not have.
    fn unknown(&mut self, opened: &Opened, name: &str) {
        let read = &self.session.read;
        if self.delimiter(opened, name) {
            return;
        }
        let bare = Reading { event: None, ..opened.read.clone() };
        let looked = Looked::at(opened, &bare, Some(name));
        if let Some(event) = &read.event
            && !Looked::at(opened, &opened.read, None).has_events
            && !looked.has(event)
        {
            let near = looked.near(event).or_else(|| looked.holder.clone());
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let setting = Setting::Event.to(event);
            self.error.message = format!("`{setting}` names a key that no position has{near}");
            self.error.kind = TraceErrorKind::Usage;
            // The formula is not to blame.
            self.asked = None;
            return;
        }
        let dotted = name.contains('.');
        if (dotted || !self.error.message.contains("did you mean"))
            && let Some(near) = looked.near(name)
        {
            let message = format!("unknown variable {}: did you mean `{near}`?", tw_trace::quote(name));
            return self.say(message);
        }
        if let (None, Some(holder)) = (&read.event, &looked.holder) {
            let setting = Setting::Event.to(holder);
            self.help(format!("`{holder}` has the text `{name}`: `{setting}` makes events of its values"));
        }
    }

    /// A column of timestamps, or of events, that the trace does not have.
    fn no_such_option(&mut self, opened: &Opened, name: &str) {
        if self.delimiter(opened, name) || self.error.message.contains("did you mean") {
            return;
        }
        let read = &self.session.read;
        if read
            .time
            .as_deref()
            .is_some_and(|time| time.split_whitespace().any(|part| part == name) || time == name)
        {
            let bare = Reading { time: None, ..opened.read.clone() };
            let looked = Looked::at(opened, &bare, None);
            let own = looked.timed.then(|| "time".to_string());
            let near = looked.near(name).or_else(|| time_among(&looked.paths, opened)).or(own);
            if let Some(near) = near {
                self.help(format!("did you mean `{}`?", Setting::Time.to(near)));
            }
        }
    }

    /// Cells that are cut at another character than the header shows; whether that is what is wrong.
    fn delimiter(&mut self, opened: &Opened, name: &str) -> bool {
        if self.session.read.delimiter.is_none() {
            return false;
        }
        let read = Reading { delimiter: None, time: None, event: None, ..opened.read.clone() };
        let looked = Looked::at(opened, &read, None);
        let has = looked.has(name) || looked.timed && name == "time" || looked.has_events && name == "event";
        if has {
            let setting = Setting::Delimiter;
            self.help(format!("the header shows another character between the cells: leave out `{setting}`"));
        }
        has
    }

    /// Timestamps that go back: how far.
    fn order(&mut self) {
        let Some(mut again) = self.opened() else { return };
        (again.read.any_order, again.read.sort) = (true, None);
        let mut back = StepsBack::default();
        let session = Session { progress: None, ..self.session.clone() };
        let projection = Projection::new(&[], None, true);
        let map = |batch: tw_core::Batch| Ok(batch.times.as_deref().map(StepsBack::of).unwrap_or_default());
        let scanned = again.scan(&session, &projection, &map, &mut |part| {
            back.then(part);
            Ok(ControlFlow::Continue(()))
        });
        if scanned.is_ok() && back.count > 0 {
            let sort = Setting::Sort.to(tw_core::duration(back.skew));
            self.help(format!("`{sort}` is enough to put this trace in order"));
        }
    }

    /// A line that is wrong, in a format where others can be read without it.
    fn by_line(&mut self, format: Option<&dyn TraceFormat>) {
        let Some(format) = format.filter(|format| format.lines_end_records()) else { return };
        let header = u64::from(format.has_header());
        let Some(line) = self.error.line.filter(|line| *line > header) else { return };
        // What does not fit on the first line most often fits on none.
        let first = line == header + 1;
        match self.error.kind {
            TraceErrorKind::Time if first && self.error.message.contains("expected a timestamp") => {
                let setting = Setting::TimeFormat.to("'%d.%m.%y %H:%M'");
                self.help(format!("if they are written in a way of their own: `{setting}`"));
            }
            TraceErrorKind::Time | TraceErrorKind::Type if first => {}
            _ if self.error.is_about_a_line() && !self.session.read.skip_bad_lines => {
                let setting = Setting::SkipBadLines;
                self.help(format!("correct the line, or leave out lines that cannot be read: `{setting}`"));
            }
            _ => {}
        }
    }

    /// Says something else instead.
    fn say(&mut self, message: String) {
        let before = self.error.to_string();
        self.error.message = message;
        if let Some(asked) = &mut self.asked {
            asked.message = asked.message.replace(&before, &self.error.to_string());
        }
    }

    /// Adds what to do.
    fn help(&mut self, help: String) {
        let error = &self.error;
        let asked = self.asked.take();
        let asked = asked.unwrap_or_else(|| Diagnostic::error(trace_code(&error.kind), error.to_string()));
        self.asked = Some(asked.help(help));
    }
}
