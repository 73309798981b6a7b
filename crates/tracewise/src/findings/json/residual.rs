//! The object of a formula that is still owed.

use super::write::{Object, line};
use crate::explain::{ResidualReport, ResidualStep};

/// What is owed after an event.
pub fn residual(report: &ResidualReport, step: &ResidualStep) -> String {
    let object = Object::new()
        .field("property", report.name.as_str())
        .field("trace", report.trace.as_str())
        .field("position", step.position)
        .field("residual", step.owed.as_str())
        .field("canonical", step.canonical.as_str())
        .field("settled", step.settled)
        .field("at_end", step.at_end);
    match &step.line {
        Some(found) => object.raw("line", &line(found)).end(),
        None => object.end(),
    }
}
