//! Errors as exceptions: the rendered diagnostic is the message, settings are spelled as keyword arguments.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tracewise::error::{ErrorKind, Setting, spelled};

create_exception!(tracewise, Error, PyException, "Bad input: what was found, where, and what was expected.");

/// The keyword argument of a setting.
fn keyword(setting: Setting) -> &'static str {
    match setting {
        Setting::Memory => "memory",
        Setting::StateBudget => "states",
        other => other.name(),
    }
}

/// A message of the library as users of the package read it.
pub fn in_python(text: &str) -> String {
    spelled(text, |setting, value| match value {
        Some(value) => format!("{}={:?}", keyword(setting), value.trim_matches('\'')),
        None => keyword(setting).to_string(),
    })
}

/// The exception of an error.
pub fn raised(error: &tracewise::Error) -> PyErr {
    let kind = match error.kind() {
        ErrorKind::Specification => "specification",
        ErrorKind::Trace => "trace",
        ErrorKind::Refused => "refused",
        ErrorKind::Io => "io",
        ErrorKind::Budget => "budget",
        ErrorKind::Internal => "internal",
    };
    let findings: Vec<String> = error.to_json().iter().map(|found| in_python(&found.to_string())).collect();
    exception(in_python(error.render(false).trim_end()), kind, &findings)
}

/// An exception about what a caller asked for.
pub fn refused(why: impl Into<String>) -> PyErr {
    raised(&tracewise::Error::refused(why))
}

/// The same of a result.
pub fn checked<T>(result: Result<T, tracewise::Error>) -> PyResult<T> {
    result.map_err(|error| raised(&error))
}

fn exception(text: String, kind: &str, findings: &[String]) -> PyErr {
    let error = Error::new_err(text);
    Python::attach(|py| {
        let value = error.value(py);
        // An exception takes attributes; without them it is still one.
        let _ = value.setattr("kind", kind);
        let _ = crate::values::json(py, &format!("[{}]", findings.join(",")))
            .and_then(|findings| value.setattr("findings", findings));
    });
    error
}
