//! `tracewise inspect`: what can I write properties about?

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, or_standard_input};
use crate::progress::Progress;
use crate::style::{Ink, Style};
use crate::words;
use clap::Args;
use std::io::{self, Write};
use tracewise::diag::Sources;
use tracewise::findings::json;
use tracewise::inspect::{ColumnSummary, InspectReport, event_word, word};
use tracewise::trace::{Arguments, Row};
use tracewise::{Evaluating, Value};

/// Columns, types, event names, time span and sample rows of a trace
#[derive(Args, Debug)]
pub struct Inspect {
    /// The trace (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Inspect {
    fn run(self, context: &mut Context) -> Outcome {
        let session = self.read.session(Evaluating::default())?;
        let mut exit = Exit::Holds;
        for (index, trace) in self
            .read
            .traces(&or_standard_input(&self.files, "tracewise inspect TRACE")?)?
            .into_iter()
            .enumerate()
        {
            let result = {
                let _progress =
                    Progress::start(context.quiet, format!("inspecting {}", trace.join(", ")), None);
                session.inspect(&trace)
            };
            match result {
                Err(error) => {
                    context.error(&error);
                    exit = Exit::Bad;
                }
                Ok(_) if context.quiet => {}
                Ok(report) => {
                    context.warnings(report.skipped.as_slice(), &Sources::default());
                    if self.output.json() {
                        writeln!(context.out, "{}", json::inspect(&report))?;
                        continue;
                    }
                    if index > 0 {
                        writeln!(context.out)?;
                    }
                    write_text(&report, (&self.read, &trace), context.style, &mut context.out)?;
                }
            }
        }
        Ok(exit)
    }
}

/// How many event names text output lists; JSON has them all.
const NAMES: usize = 30;

fn write_text(
    report: &InspectReport,
    (read, files): (&ReadArgs, &[String]),
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut head = vec![report.format.to_string(), words::counted(report.positions, "position")];
    if let Some((first, last)) = &report.span {
        head.push(format!("time {first} to {last}"));
    }
    writeln!(out, "{}  {}", style.paint(Ink::Strong, words::printable(&report.trace)), head.join(" · "))?;

    if let Some((example, place)) = &report.written {
        writeln!(out, "time: `{}` {place}", words::printable(example))?;
    }
    if !report.columns.is_empty() {
        section(out, style, "variables")?;
        let rows: Vec<[String; 4]> =
            report.columns.iter().map(|column| column_cells(column, report.positions)).collect();
        table(out, style, &rows)?;
    }
    if !report.events.is_empty() {
        section(out, style, "events")?;
        let listed = report.events.iter().take(NAMES);
        let rows: Vec<[String; 2]> = listed
            .map(|(name, times)| [words::printable(&event_word(name)), format!("{}×", words::count(*times))])
            .collect();
        table(out, style, &rows)?;
        if report.events.len() > NAMES {
            let more = words::count((report.events.len() - NAMES) as u64);
            writeln!(
                out,
                "  {}",
                style.paint(Ink::Faint, format!("… and {more} more names (see --output json)"))
            )?;
        }
    }
    if !report.sample.is_empty() {
        section(out, style, "first positions")?;
        let gutter = (report.sample.len() - 1).to_string().len() + 2;
        for (position, row) in report.sample.iter().enumerate() {
            let text = row_text(row);
            let text = style
                .width
                .map_or(text.clone(), |width| words::clip(&text, width.saturating_sub(gutter + 3)));
            let bar = style.paint(Ink::Frame, format!("{position:>gutter$} │"));
            writeln!(out, "{bar} {text}")?;
        }
    }
    if let Some((count, skew)) = &report.back {
        let times = if *count == 1 { "time goes back once" } else { "time goes back" };
        let often = if *count == 1 { String::new() } else { format!(" {count} times") };
        writeln!(out, "\n{times}{often}; `--sort {skew}` puts positions in order")?;
    }
    if let Some(column) = &report.time_like {
        writeln!(out, "\nno timestamps; `{column}` looks like time: `--time {}`", shell(column))?;
    }
    let given = given(read);
    if !report.suggestions.is_empty() {
        section(out, style, "try")?;
        let files: Vec<String> = files.iter().map(|file| shell(file)).collect();
        for formula in &report.suggestions {
            let command = format!("tracewise check -e {}{given} {}", shell(formula), files.join(" "));
            writeln!(out, "  {}", words::printable(&command))?;
        }
    }
    Ok(())
}

/// The options that were given, to be pasted with a command.
fn given(read: &ReadArgs) -> String {
    let mut out = String::new();
    let mut add = |flag: &str, value: &Option<String>| {
        if let Some(value) = value {
            out.push_str(&format!(" {flag} {}", shell(value)));
        }
    };
    add("--format", &read.format);
    add("--time", &read.time);
    add("--event", &read.event);
    add("--time-unit", &read.time_unit.map(|unit| unit.name().to_string()));
    add("--delimiter", &read.delimiter.map(|byte| char::from(byte).to_string()));
    add("--time-format", &read.time_format);
    add("--year", &read.year.map(|year| year.to_string()));
    add("--null", &read.null);
    add("--sort", &read.sort.as_ref().map(ToString::to_string));
    let flags =
        [(read.timed, " --timed"), (read.skip_bad_lines, " --skip-bad-lines"), (read.concat, " --concat")];
    flags.into_iter().filter(|(given, _)| *given).for_each(|(_, flag)| out.push_str(flag));
    if read.continuation != "join" {
        out.push_str(" --continuation own");
    }
    out
}

fn section(out: &mut dyn Write, style: Style, title: &str) -> io::Result<()> {
    writeln!(out, "\n{}", style.paint(Ink::Frame, title))
}

/// Columns padded to their widest cell; the last is cut at the terminal's edge.
fn table<const N: usize>(out: &mut dyn Write, style: Style, rows: &[[String; N]]) -> io::Result<()> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let mut line = String::from("  ");
        for (index, cell) in row.iter().enumerate() {
            let padding =
                if index + 1 < N && widths[index] > 0 { widths[index] - cell.chars().count() + 2 } else { 0 };
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', padding));
        }
        let line = line.trim_end();
        writeln!(out, "{}", style.width.map_or(line.to_string(), |width| words::clip(line, width)))?;
    }
    Ok(())
}

fn column_cells(column: &ColumnSummary, positions: u64) -> [String; 4] {
    let present = match column.present {
        all if all == positions => String::new(),
        0 => "never set".into(),
        some => format!("{} of {}", words::count(some), words::count(positions)),
    };
    let examples = || {
        let mut shown: Vec<String> =
            column.examples.iter().map(|e| words::clip(&words::printable(e), 24)).collect();
        match column.distinct {
            Some(distinct) if distinct <= shown.len() => {}
            Some(distinct) => shown.push(format!("… ({} values)", words::count(distinct as u64))),
            None => shown.push("… (over 1,000 values)".into()),
        }
        shown.join(", ")
    };
    let values = match column.range {
        Some((low, high)) if column.kind == "int" || column.kind == "real" => format!("{low} to {high}"),
        _ => examples(),
    };
    [words::printable(&word(&column.name)), column.kind.clone(), present, values]
}

fn row_text(row: &Row) -> String {
    let mut parts = Vec::new();
    if let Some(time) = row.time {
        parts.push(format!("@{}", time.format()));
    }
    for event in &row.events {
        parts.push(match &event.arguments {
            Arguments::Positional(arguments) if !arguments.is_empty() => {
                let arguments: Vec<String> = arguments.iter().map(cell).collect();
                format!("{}({})", event.name, arguments.join(", "))
            }
            _ => event.name.to_string(),
        });
    }
    for (name, value) in &row.variables {
        if !value.is_null() {
            parts.push(format!("{name}={}", cell(value)));
        }
    }
    words::printable(&parts.join(" "))
}

fn cell(value: &Value) -> String {
    match value {
        Value::Str(text) if !text.contains([' ', ',', '"', '=']) => words::clip(text, 60),
        other => words::clip(&words::quoted(other), 60),
    }
}

/// Quoted for a POSIX shell, if it has to be.
fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
