//! Traces of programs: of simulated ones, and of those that run here and are recorded.

use crate::data;
use crate::error::{raised, refused};
use crate::interrupt;
use crate::table::{Builder, Table};
use arrow::array::{ArrayRef, BooleanBuilder, Int64Builder};
use pyo3::prelude::*;
use std::sync::Arc;
use tracewise::diag::{Diagnostic, Severity};
use tracewise::files::{LONGEST_TEXT, read_input};
use tracewise::spl::{self, Kind, Program, Simulator};
use tracewise::{Error, Session, Value};

/// The states of a run of a program in the Simple Programming Language (its text, or the path of an `.spl` file), a row each: the state
/// before each step. Equal seeds give equal runs; channels lose `loss` per cent of their messages.
#[pyfunction]
#[pyo3(signature = (program, steps, *, seed = 1, loss = 0))]
pub fn simulate(program: &Bound<'_, PyAny>, steps: usize, seed: u64, loss: u8) -> PyResult<Table> {
    if loss > 100 {
        return Err(refused(format!("loss={loss}: expected a percentage, 0 to 100")));
    }
    let given = data::path(program)?.ok_or_else(|| refused("expected a program: its text, or a path"))?;
    let is_text = given.contains('\n') || given.contains('{') || given.contains(';');
    interrupt::run(program.py(), Session::new(), move |_| {
        let (name, text) = match is_text {
            true => ("<program>".to_string(), given),
            false => (given.clone(), read(&given)?),
        };
        run(&name, &text, steps, seed, loss)
    })
}

fn read(path: &str) -> Result<String, Error> {
    let bytes =
        read_input(path, LONGEST_TEXT).map_err(|error| Error::io(format!("cannot read `{path}`"), error))?;
    String::from_utf8(bytes).map_err(|_| Error::refused(format!("cannot read `{path}`: it is not UTF-8")))
}

/// A column on its way.
enum Growing {
    Truth(BooleanBuilder),
    Number(Int64Builder),
}

fn run(name: &str, text: &str, steps: usize, seed: u64, loss: u8) -> Result<Table, Error> {
    let (program, findings) = spl::parse(name, text);
    if findings.iter().any(|found| found.severity == Severity::Error) {
        return Err(failed(&program, findings));
    }
    if program.columns().is_empty() {
        return Err(Error::refused(format!(
            "`{name}` has neither variables nor labels: its states show nothing"
        )));
    }
    let mut simulator =
        Simulator::new(&program, seed, loss).map_err(|found| failed(&program, vec![*found]))?;
    let column = |kind: Kind| match kind {
        Kind::Boolean => Growing::Truth(BooleanBuilder::new()),
        Kind::Integer => Growing::Number(Int64Builder::new()),
    };
    let mut columns: Vec<Growing> = program.columns().iter().map(|own| column(own.kind)).collect();
    for at in 0..steps {
        // The step to a state is taken only if the state is wanted: an error beyond the last one is none.
        if at > 0 {
            simulator.step().map_err(|found| failed(&program, vec![*found]))?;
        }
        for (column, value) in columns.iter_mut().zip(simulator.state().values()) {
            match (column, value) {
                (Growing::Truth(column), Value::Bool(truth)) => column.append_value(truth),
                (Growing::Number(column), Value::Int(number)) => column.append_value(number),
                (Growing::Truth(column), _) => column.append_null(),
                (Growing::Number(column), _) => column.append_null(),
            }
        }
    }
    let mut table = Builder::default();
    for (own, column) in program.columns().iter().zip(columns) {
        let array: ArrayRef = match column {
            Growing::Truth(mut column) => Arc::new(column.finish()),
            Growing::Number(mut column) => Arc::new(column.finish()),
        };
        table.add(&own.name, array);
    }
    Ok(table.finish())
}

fn failed(program: &Program, diagnostics: Vec<Diagnostic>) -> Error {
    Error::Specification { diagnostics, sources: Box::new(program.sources().clone()) }
}

/// Runs a program (its name, then its arguments) and writes what it asks of libc to a file, a line of JSON per call: a trace. The
/// program's output and end are its own; what is handed back says how it ended, and what was recorded. With `all`, also what the
/// processes do that it leaves behind. (Linux)
#[pyfunction]
#[pyo3(signature = (program, path, *, all = false))]
#[cfg(target_os = "linux")]
pub fn record<'py>(
    program: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    all: bool,
) -> PyResult<Bound<'py, PyAny>> {
    use pyo3::types::{PyDict, PyString};
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use tracewise::record::{RecordOptions, Recording};

    let py = program.py();
    let words: Vec<String> = match program.cast::<PyString>() {
        Ok(_) => return Err(refused("expected a program and its arguments as a list: [\"ls\", \"-l\"]")),
        Err(_) => program
            .try_iter()?
            .map(|word| {
                let word = word?;
                data::path(&word)?.map_or_else(|| Ok(word.str()?.to_string()), Ok)
            })
            .collect::<PyResult<_>>()?,
    };
    let [name, arguments @ ..] = words.as_slice() else { return Err(refused("there is no program to run")) };
    let options =
        RecordOptions { program: name.clone(), arguments: arguments.iter().map(Into::into).collect(), all };
    let to = data::path(path)?.ok_or_else(|| refused("expected a path"))?;
    let recording = Recording::new(&options).map_err(|error| raised(&error))?;
    let recorded = interrupt::run(py, Session::new(), move |_| {
        let failed = |error| Error::io(format!("cannot write `{to}`"), error);
        let mut file = std::io::BufWriter::new(std::fs::File::create(&to).map_err(failed)?);
        let mut written = Ok(());
        // The program goes on even if the disk is full; that the trace ends there is told in the end.
        let recorded = recording.run(
            |_| {},
            |lines| {
                if written.is_ok() {
                    written = file.write_all(lines);
                }
            },
        )?;
        written.and_then(|()| file.flush()).map_err(failed)?;
        Ok(recorded)
    })?;
    let (told, summary) = (PyDict::new(py), &recorded.summary);
    told.set_item("code", recorded.status.code())?;
    told.set_item("signal", recorded.status.signal())?;
    told.set_item("events", summary.events)?;
    told.set_item("processes", summary.processes)?;
    told.set_item("threads", summary.threads)?;
    told.set_item("lost", summary.lost)?;
    told.set_item("whole", summary.whole())?;
    told.set_item("unrecorded", &summary.unrecorded)?;
    Ok(told.into_any())
}
