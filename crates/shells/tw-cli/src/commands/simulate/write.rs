//! Writing a run: lines of text where the format has them (fast), rows for all others. Memory is that of one state.

use super::failed;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use tracewise::files::NewFile;
use tracewise::spl::{Form, Kind, Lines, Program, Simulator, Stuck};
use tracewise::trace::{Row, States, TraceError, TraceFormat};
use tracewise::{Error, Value};

/// Bytes of lines gathered before they are handed over.
const CHUNK: usize = 1 << 18;

/// What to run.
pub(super) struct Run {
    pub steps: u64,
    pub seed: u64,
    pub loss: u8,
}

/// The format to write.
pub(super) fn target(out: &str, to: Option<&str>) -> Result<&'static dyn TraceFormat, Error> {
    let known = tracewise::trace::formats();
    let states = || {
        let holding = known.iter().filter(|format| format.states().is_some());
        holding.map(|format| format.name()).collect::<Vec<_>>().join(", ")
    };
    let found = match to {
        Some(name) => tracewise::trace::format_named(name),
        None if out == "-" => tracewise::trace::format_named("jsonl"),
        None => tracewise::trace::detect(out, &known),
    };
    match found {
        Some(format) if format.states().is_some() => Ok(format),
        Some(format) => {
            let message = "holds events, and a simulated trace has states";
            Err(Error::refused(format!("`{}` {message}; write one of {}", format.name(), states())))
        }
        None => Err(Error::refused(format!(
            "cannot tell the format of `{}` by its name; say it with --to ({})",
            to.unwrap_or(out),
            states()
        ))),
    }
}

/// Columns that the format has no place for.
pub(super) fn left_out(program: &Program, format: &dyn TraceFormat) -> Vec<String> {
    let names = format.states() == Some(States::Names);
    let integers = program.columns().iter().filter(|column| names && column.kind == Kind::Integer);
    integers.map(|column| column.name.to_string()).collect()
}

/// Whether both are names of one file.
pub(super) fn same_file(a: &str, b: &str) -> bool {
    match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Runs the program and writes its states to `out`: all of them, or none.
pub(super) fn write(
    program: &Program,
    run: &Run,
    out: &str,
    format: &'static dyn TraceFormat,
) -> Result<Option<Stuck>, Error> {
    if out == "-" {
        return states(program, run, Box::new(std::io::stdout().lock()), format);
    }
    let failed = |error| cannot_write(out, error);
    let new = NewFile::create(out.as_ref()).map_err(failed)?;
    let file = new.writer().and_then(|file| tracewise::trace::compress(out, file)).map_err(failed)?;
    let stuck = states(program, run, file, format)?;
    new.commit().map_err(failed)?;
    Ok(stuck)
}

fn states(
    program: &Program,
    run: &Run,
    out: Box<dyn Write + '_>,
    format: &'static dyn TraceFormat,
) -> Result<Option<Stuck>, Error> {
    let fault = |found: Box<tracewise::diag::Diagnostic>| failed(vec![*found], program.sources());
    let mut simulator = Simulator::new(program, run.seed, run.loss).map_err(fault)?;
    let form = match format.states() {
        Some(States::Cells) => Some(Form::Csv),
        Some(States::Objects) => Some(Form::Jsonl),
        Some(States::Names) => Some(Form::Props),
        Some(States::Rows) | None => None,
    };
    match form {
        Some(form) => lines(program, &mut simulator, run.steps, out, form),
        None => rows(program, &mut simulator, run.steps, out, format),
    }?;
    Ok(simulator.stuck())
}

fn lines(
    program: &Program,
    simulator: &mut Simulator<'_>,
    steps: u64,
    mut out: Box<dyn Write + '_>,
    form: Form,
) -> Result<(), Error> {
    let unwritable = |error: std::io::Error| Error::io("cannot write the trace", error);
    let lines = Lines::new(program, form);
    let mut chunk = Vec::with_capacity(2 * CHUNK);
    chunk.extend_from_slice(lines.header().as_bytes());
    for at in 0..steps {
        // The step to a state is taken only if the state is wanted: an error beyond the last one is none.
        if at > 0 {
            simulator.step().map_err(|found| failed(vec![*found], program.sources()))?;
        }
        lines.push(&simulator.state(), &mut chunk);
        if chunk.len() >= CHUNK {
            out.write_all(&chunk).map_err(unwritable)?;
            chunk.clear();
        }
    }
    out.write_all(&chunk).and_then(|()| out.flush()).map_err(unwritable)
}

fn rows(
    program: &Program,
    simulator: &mut Simulator<'_>,
    steps: u64,
    out: Box<dyn Write + '_>,
    format: &'static dyn TraceFormat,
) -> Result<(), Error> {
    let names: Vec<Arc<str>> = program.columns().iter().map(|column| column.name.clone()).collect();
    let out = Box::new(BufWriter::with_capacity(CHUNK, out));
    let mut sink = format.writer(out, tracewise::trace::Outline { columns: &names, ..Default::default() })?;
    let variables = names.iter().map(|name| (name.clone(), Value::Null)).collect();
    let mut row = Row { variables, typed: true, ..Row::default() };
    for at in 0..steps {
        if at > 0 {
            simulator.step().map_err(|found| failed(vec![*found], program.sources()))?;
        }
        row.line = at + 1;
        for ((_, cell), value) in row.variables.iter_mut().zip(simulator.state().values()) {
            *cell = value;
        }
        sink.write(&row)?;
    }
    sink.finish().map_err(|error: TraceError| error.into())
}

fn cannot_write(out: &str, error: std::io::Error) -> Error {
    Error::io(format!("cannot write `{out}`"), error)
}
