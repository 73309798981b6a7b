//! Traces whose timestamps err: their order, and the errors of their events.

use super::ClockError;
use crate::error::Setting;
use crate::run::columns::{Loaded, Need, read};
use crate::{Error, Session, Specification};
use tw_core::{Column, Position, Time, TimeUnit, Value};
use tw_trace::{TraceError, TraceErrorKind};

/// Reads the trace. Two clocks that are off by up to the error each may stamp events out of order by twice as much:
/// such a log is sorted, which takes longer than reading it as it is.
pub(super) fn in_order(
    session: &Session,
    spec: &Specification,
    files: &[String],
    need: Need<'_>,
    error: &ClockError,
) -> Result<(Loaded, Session), Error> {
    let own = |result: Result<Loaded, Error>| {
        result.map_err(|error| match error {
            // The specification does not ask for the column of errors.
            Error::Trace { error, sources, .. }
                if error.slot.is_some_and(|slot| need.kept.contains(&slot)) =>
            {
                Error::Trace { error, asked: None, sources }
            }
            other => other,
        })
    };
    let skew = match (session.read.sort, error) {
        (None, ClockError::Same(error @ 1..)) => error.saturating_mul(2),
        _ => return Ok((own(read(session, spec, files, need, None, None))?, session.clone())),
    };
    if !files.iter().any(|file| file == "-") {
        match own(read(session, spec, files, need, None, None)) {
            Err(Error::Trace { error, .. }) if error.kind == TraceErrorKind::Time => {}
            other => return Ok((other?, session.clone())),
        }
    }
    let mut sorting = session.clone();
    sorting.read.sort = Some(skew);
    let loaded = own(read(&sorting, spec, files, need, None, None)).map_err(|error| match error {
        Error::Trace { mut error, asked, sources } => {
            // It is the clock error that has it sorted.
            let (allows, needs) =
                (format!("`{}` allows", Setting::Sort), format!("`{}` needs", Setting::Sort));
            error.message = error.message.replace(&allows, "twice the clock error allows");
            error.message = error.message.replace(&needs, "a clock error is about");
            Error::Trace { error, asked, sources }
        }
        other => other,
    })?;
    Ok((loaded, sorting))
}

/// The column's numbers in nanoseconds, or where one makes no sense and why.
pub(super) fn errors_of(column: &Column, unit: TimeUnit) -> Result<Vec<Time>, (Position, String)> {
    let expected = "expected a number from 0 on";
    let one = |at: Position| {
        let value = column.value(at);
        let scaled = match &value {
            Value::Int(number) => number.checked_mul(unit.nanoseconds()),
            Value::Real(number) => {
                // Exact to the nanosecond where a decimal is.
                let scaled = (number * unit.nanoseconds() as f64).round();
                (scaled.abs() < i64::MAX as f64).then_some(scaled as i64)
            }
            Value::Null => return Err((at, format!("has no value here, {expected}"))),
            other => return Err((at, format!("is {other}, {expected}"))),
        };
        match scaled {
            Some(time @ 0..) => Ok(time),
            Some(_) => Err((at, format!("is {value}, {expected}"))),
            None => Err((at, format!("is {value}: more than 292 years"))),
        }
    };
    (0..column.len()).map(one).collect()
}

/// An error about a position of the log.
pub(super) fn at_line(loaded: &Loaded, position: Position, message: String) -> Error {
    let mut error = TraceError::new(TraceErrorKind::Time, message).in_file(loaded.name());
    if let Some(located) = loaded.locate(&[position]).remove(&position) {
        (error.file, error.line) = (located.file, located.line);
    }
    error.into()
}
