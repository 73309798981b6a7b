//! `stream run --live`: positions as they come, as lines or as a page.

use super::page::Page;
use super::{Run, cell};
use crate::commands::watch::signals;
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::style::Ink;
use crate::words;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;
use tracewise::diag::{Diagnostic, Sources};
use tracewise::ir::StreamType;
use tracewise::stream::{StreamAlarm, StreamForm, StreamLive, StreamRow, StreamRows, StreamSink};
use tracewise::watch::{Control, LiveSink, WatchSource};
use tracewise::{Error, Session, Specification};

pub(super) fn run(
    arguments: &Run,
    spec: &Specification,
    trace: &[String],
    session: &Session,
    context: &mut Context,
) -> Outcome {
    if arguments.passes.is_some() {
        return Err(usage("--passes is for stored traces: --live goes through once, as positions come"));
    }
    let source = match (trace, arguments.follow) {
        ([one], true) if one == "-" => {
            return Err(usage("--follow needs a file; standard input is followed to its end anyway"));
        }
        ([one], _) if one == "-" => WatchSource::Stdin,
        ([one], true) => WatchSource::Follow(one.clone()),
        ([one], false) => WatchSource::File(one.clone()),
        _ => return Err(usage(format!("a stream is one trace, but {} files were given", trace.len()))),
    };
    let form = match arguments.output.as_str() {
        "json" => Some(StreamForm::Json),
        "csv" => Some(StreamForm::Csv),
        _ => None,
    };
    let drawn = form.is_none() && !context.quiet && io::stdout().is_terminal();
    let page = drawn.then(|| Page::new(context.style));
    let options = StreamLive {
        source,
        skip_bad_lines: arguments.read.skip_bad_lines,
        every: page.as_ref().map(|_| Page::EVERY),
    };
    let control = Control::new();
    signals::install(&control).map_err(|error| usage(format!("cannot wait for signals: {error}")))?;
    context.warnings(&spec.warnings, &spec.sources);
    let mut printer = Printer {
        context,
        sources: &spec.sources,
        form,
        rows: None,
        line: Vec::new(),
        page,
        alarms: Vec::new(),
        widths: Vec::new(),
        started: Instant::now(),
    };
    let report = session.stream_live(spec, &options, &control, &mut printer);
    printer.last_page()?;
    let report = report?;
    if report.bad_lines > 0 {
        printer.note(&format!("{} left out", words::counted(report.bad_lines, "bad line")));
    }
    Ok(Exit::Holds)
}

/// Tells positions.
struct Printer<'v> {
    context: &'v mut Context,
    sources: &'v Sources,
    /// Rows for a program; else text.
    form: Option<StreamForm>,
    rows: Option<StreamRows>,
    line: Vec<u8>,
    page: Option<Page>,
    alarms: Vec<StreamAlarm>,
    widths: Vec<usize>,
    started: Instant,
}

impl Printer<'_> {
    /// Draws what the last page missed.
    fn last_page(&mut self) -> io::Result<()> {
        match &mut self.page {
            Some(page) => page.draw(self.started.elapsed(), &mut io::stdout().lock()),
            None => Ok(()),
        }
    }

    fn interrupt(&mut self) {
        if let Some(page) = &mut self.page {
            page.interrupted();
        }
    }
}

impl LiveSink for Printer<'_> {
    fn bad_line(&mut self, error: &Error) {
        self.interrupt();
        self.context.error(error);
    }

    fn note(&mut self, note: &str) {
        if self.context.quiet {
            return;
        }
        self.interrupt();
        self.context.remark(note, self.form == Some(StreamForm::Json));
    }

    fn warnings(&mut self, warnings: &[Diagnostic]) {
        if !warnings.is_empty() {
            self.interrupt();
        }
        self.context.warnings(warnings, self.sources);
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(page) = &mut self.page {
            page.draw_soon(self.started.elapsed(), &mut io::stdout().lock())?;
        }
        self.context.out.flush()
    }

    fn closed(&self) -> bool {
        self.context.out.closed() && self.page.is_none()
    }
}

impl StreamSink for Printer<'_> {
    fn begin(&mut self, streams: &[(String, StreamType)], alarms: &[StreamAlarm]) -> io::Result<()> {
        self.alarms = alarms.to_vec();
        if let Some(page) = &mut self.page {
            page.begin(streams, alarms);
            return Ok(());
        }
        if self.context.quiet {
            return Ok(());
        }
        if let Some(form) = self.form {
            let rows = self.rows.insert(StreamRows::new(form, streams));
            return self.context.out.write_all(rows.header().as_bytes());
        }
        let names = streams.iter().map(|(name, _)| name);
        // What comes is not known: room for a number.
        self.widths = names.clone().map(|name| words::printable(name).chars().count().max(10)).collect();
        let mut head = format!("{:>10}", "position");
        for (name, width) in names.zip(&self.widths) {
            head.push_str(&format!("  {:>width$}", words::printable(name), width = *width));
        }
        writeln!(self.context.out, "{}", self.context.style.paint(Ink::Strong, head))
    }

    fn row(&mut self, row: StreamRow<'_>) -> io::Result<()> {
        if let Some(page) = &mut self.page {
            page.row(row, self.started.elapsed());
            return Ok(());
        }
        if self.context.quiet {
            return Ok(());
        }
        if let Some(rows) = &self.rows {
            self.line.clear();
            rows.row(row.position, row.values, &mut self.line);
            return self.context.out.write_all(&self.line);
        }
        let mut line = format!("{:>10}", row.position);
        for (value, width) in row.values.iter().zip(&self.widths) {
            line.push_str(&format!("  {:>width$}", words::printable(&cell(value)), width = *width));
        }
        for &alarm in row.alarms {
            let name = format!("✗ {}", words::printable(&self.alarms[alarm].name));
            line.push_str(&format!("  {}", self.context.style.paint(Ink::Bad, name)));
        }
        writeln!(self.context.out, "{line}")
    }
}
