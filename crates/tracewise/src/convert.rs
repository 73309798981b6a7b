//! `convert`: from one trace format to another, row by row.

use crate::error::Setting;
use crate::run::open::Opened;
use crate::run::order::Aside;
use crate::trace::{format_named, formats};
use crate::{Error, Session};
use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write};
use std::sync::Arc;
use tw_core::{NewFile, Value};
use tw_diag::Diagnostic;
use tw_trace::{Arguments, Row, TraceError, TraceErrorKind, TraceFormat};

/// How a trace is converted.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// The format to write; by the extension of the output if there is none.
    pub to: Option<String>,
    /// An apostrophe before texts that spreadsheets would read as formulas; of CSV alone. It is read back as part of
    /// the text.
    pub csv_guard: bool,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct ConvertReport {
    /// Where.
    pub output: String,
    /// Format name.
    pub format: &'static str,
    /// Positions written.
    pub positions: u64,
    /// What is to be said of the trace: lines left out, timestamps that go back.
    pub warnings: Vec<Diagnostic>,
}

pub(crate) fn convert(
    session: &Session,
    files: &[String],
    output: &str,
    options: &ConvertOptions,
) -> Result<ConvertReport, Error> {
    let target = target(output, options.to.as_deref())?;
    if options.csv_guard && target.name() != "csv" {
        let message = format!("{} is for `csv`, and `{}` is written", Setting::CsvGuard, target.name());
        return Err(Error::refused(message));
    }
    let mut opened = Opened::new(session, files)?;
    if files.iter().any(|file| same_file(file, output)) {
        return Err(Error::refused(format!("`{output}` is the input itself; write to another file")));
    }

    // Standard input cannot be read twice.
    let seen = Seen::of(&mut opened, files.iter().any(|file| file == "-"))?;
    let failed = |error| cannot_write(output, error);
    let new = (output != "-").then(|| NewFile::create(output.as_ref())).transpose().map_err(failed)?;
    let file: Box<dyn Write> = match &new {
        None => Box::new(BufWriter::new(std::io::stdout().lock())),
        Some(new) => {
            let file = new.writer().map(BufWriter::new);
            file.and_then(|file| tw_trace::compress(output, file)).map_err(failed)?
        }
    };
    let positions = seen.write(&mut opened, target, file, options.csv_guard)?;
    if let Some(new) = new {
        new.commit().map_err(failed)?;
    }
    let warnings = seen.aside.warnings(&opened.name);
    Ok(ConvertReport { output: output.to_string(), format: target.name(), positions, warnings })
}

/// A trace as lines of JSON.
#[derive(Clone, Debug)]
pub struct JsonLines {
    /// The lines, one for each position.
    pub bytes: Vec<u8>,
    /// Lines of the trace that cannot be read and were left out, where that was asked for.
    pub left_out: u64,
    /// What is to be said of the trace.
    pub warnings: Vec<Diagnostic>,
}

/// With `texts`, each cell is what it looks like, but for those of these columns, which are texts; without, a column has one type.
pub(crate) fn json_lines(
    session: &Session,
    bytes: Vec<u8>,
    texts: Option<&[&str]>,
) -> Result<JsonLines, Error> {
    const NAME: &str = "<text>";
    let session = session.clone().text(NAME, bytes);
    let mut opened = Opened::new(&session, &[NAME.to_string()])?;
    let mut seen = Seen::of(&mut opened, false)?;
    if let Some(texts) = texts {
        seen.texts = texts.iter().map(|name| Arc::from(*name)).collect();
    }
    let target = format_named("jsonl").ok_or_else(|| Error::Internal("no format is called jsonl".into()))?;
    let mut bytes = Vec::new();
    seen.write(&mut opened, target, Box::new(&mut bytes), false)?;
    let left_out = seen.aside.left_out();
    Ok(JsonLines { bytes, left_out, warnings: seen.aside.warnings(NAME) })
}

/// What a first pass over a trace shows: which columns there are, for formats that begin with a header.
struct Seen {
    columns: Vec<Arc<str>>,
    texts: Vec<Arc<str>>,
    has_time: bool,
    has_event: bool,
    /// The rows, where they cannot be read again.
    kept: Option<Vec<Row>>,
    aside: Aside,
}

impl Seen {
    fn of(opened: &mut Opened, keep: bool) -> Result<Self, Error> {
        let mut columns: Vec<Arc<str>> = Vec::new();
        let mut known: HashSet<Arc<str>> = HashSet::new();
        let (mut has_time, mut has_event) = (false, false);
        let mut arity = 0;
        let mut kept: Vec<Row> = Vec::new();
        let mut cells = Cells::default();
        let aside = opened.rows(&mut |row: &Row| {
            if let Some(number) = row.unfit.first() {
                let what =
                    format!("the number {} fits neither 64 bits nor a double", tw_trace::quote(&number.text));
                let (line, column) = number.place;
                return Err(TraceError::new(TraceErrorKind::Type, what).at(line, column));
            }
            cells.note(row);
            for (name, _) in &row.variables {
                if !known.contains(name) {
                    known.insert(name.clone());
                    columns.push(name.clone());
                }
            }
            has_time |= row.time.is_some();
            has_event |= !row.events.is_empty();
            for event in &row.events {
                if let Arguments::Positional(values) = &event.arguments {
                    arity = arity.max(values.len());
                }
            }
            if keep {
                kept.push(row.clone());
            }
            Ok(true)
        })?;

        // Arguments without names are called so in formats that need a name.
        columns
            .extend((1..=arity).map(|at| Arc::from(format!("arg{at}"))).filter(|name| !known.contains(name)));

        let texts = cells.texts();
        let kept = keep.then_some(kept);
        Ok(Self { columns, texts, has_time, has_event, kept, aside })
    }

    /// The second pass: writes all rows; says how many.
    fn write(
        &self,
        opened: &mut Opened,
        target: &dyn TraceFormat,
        file: Box<dyn Write + '_>,
        guard: bool,
    ) -> Result<u64, Error> {
        let Self { columns, texts, has_time, has_event, .. } = self;
        let outline = tw_trace::Outline { columns, has_time: *has_time, has_event: *has_event, texts, guard };
        let mut sink = target.writer(file, outline)?;
        let mut positions = 0;
        match &self.kept {
            None => {
                opened.rows(&mut |row: &Row| {
                    positions += 1;
                    sink.write(row).map(|()| true)
                })?;
            }
            Some(kept) => {
                for row in kept {
                    positions += 1;
                    sink.write(row)?;
                }
            }
        }
        sink.finish()?;
        Ok(positions)
    }
}

/// What the untyped cells of each column look like: a column has one type, not each of its cells.
#[derive(Default)]
struct Cells {
    /// Whether some cell is a number, a truth value, something else.
    seen: HashMap<Arc<str>, [bool; 3]>,
}

impl Cells {
    fn note(&mut self, row: &Row) {
        if row.typed {
            return;
        }
        for (name, value) in &row.variables {
            self.note_cell(name, value);
        }
        for event in &row.events {
            if let Arguments::Positional(values) = &event.arguments {
                for (at, value) in values.iter().enumerate() {
                    self.note_cell(&Arc::from(format!("arg{}", at + 1)), value);
                }
            }
        }
    }

    fn note_cell(&mut self, name: &Arc<str>, value: &Value) {
        let Value::Str(text) = value else { return };
        let kind = match &**text {
            "" => return,
            "true" | "false" => 1,
            text if tw_trace::is_number(text) => 0,
            _ => 2,
        };
        match self.seen.get_mut(name) {
            Some(seen) => seen[kind] = true,
            None => {
                let mut seen = [false; 3];
                seen[kind] = true;
                self.seen.insert(name.clone(), seen);
            }
        }
    }

    fn texts(self) -> Vec<Arc<str>> {
        let text = |[number, truth, other]: [bool; 3]| other || number && truth;
        self.seen.into_iter().filter(|(_, seen)| text(*seen)).map(|(name, _)| name).collect()
    }
}

fn target(output: &str, to: Option<&str>) -> Result<&'static dyn TraceFormat, Error> {
    let known = || formats().iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
    match to {
        Some(name) => format_named(name).ok_or_else(|| {
            Error::refused(format!("unknown format `{name}` for {} (formats: {})", Setting::To, known()))
        }),
        None => tw_trace::detect(output, &formats()).ok_or_else(|| {
            Error::refused(format!(
                "cannot tell the format of `{output}` by its name; say it with {} ({})",
                Setting::To,
                known()
            ))
        }),
    }
}

fn cannot_write(output: &str, error: std::io::Error) -> Error {
    Error::io(format!("cannot write `{output}`"), error)
}

fn same_file(a: &str, b: &str) -> bool {
    match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
