//! Findings as JSON lines: field names and their order are a contract, wherever the lines go.
//!
//! [`Lines`] writes the objects of reports; [`objects`] gives those of one, [`document`] one object with all there is to
//! know about a report. What is told while it happens ([`mod@watch`], [`told`]), errors and warnings have functions of
//! their own.

mod check;
mod classify;
mod coverage;
mod document;
mod explain;
mod inspect;
mod merged;
mod model;
mod query;
mod races;
mod residual;
mod robust;
mod statistic;
pub mod watch;
mod write;

pub use coverage::coverage;
pub use document::document;
pub use explain::explain;
pub use inspect::inspect;
pub use merged::merged;
pub use residual::residual;
pub use robust::{number, told};
pub use write::{Object, array, bindings, line, step, time, value};

use super::{Detail, Item, Report, Warning};
use crate::Error;
use crate::eval::EvalReport;
use crate::slice::SliceReport;
use crate::stream::{Rows, Shown, StreamAnalysis, StreamAnswer, StreamForm, StreamMemory, StreamReport};
use crate::templates::TemplatesReport;
use crate::test::TestResult;
use std::io::{self, Write};
use tw_diag::{Diagnostic, Sources};
use tw_ir::StreamType;

/// Where lines go.
pub trait Outlet: Write {
    /// Whether nobody reads any more, so that the rest need not be written.
    fn closed(&self) -> bool {
        false
    }
}

impl Outlet for Vec<u8> {}

/// Writes the objects of the reports of one run, in their order.
#[derive(Debug, Default)]
pub struct Lines {
    /// Warnings about the run that stand in an object already.
    told: Vec<Warning>,
}

impl Lines {
    /// For a run of which nothing was written yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One object per item, or per part or position of it, one per line.
    pub fn write(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        let new = report.warnings.iter().filter(|warning| !self.told.contains(warning));
        let mut run: Vec<Warning> = new.cloned().collect();
        let named = report.items.len() > 1;
        for item in &report.items {
            let mut rest = Rest { item, run: &run, skipped: report.skipped };
            match &item.detail {
                Detail::Plain | Detail::Required(_) => one(check::object(report, item), &rest, out)?,
                Detail::Value(result) => match &result.everywhere {
                    Some(values) => query::everywhere(report, result, values, &rest, out)?,
                    None => {
                        for group in &result.groups {
                            one(query::object(report, result, group), &rest, out)?;
                            rest.run = &[];
                        }
                        // Nothing was written that could hold them.
                        if result.groups.is_empty() {
                            continue;
                        }
                    }
                },
                Detail::Total(traces, Some((value, bounds))) => {
                    one(query::total(&item.name, *traces, value, bounds), &rest, out)?;
                }
                Detail::Total(_, None) => continue,
                Detail::Robustness(found) => match &found.everywhere {
                    Some(values) => {
                        robust::everywhere(report, found, values, named, &rest, out)?;
                    }
                    None => one(robust::object(report, found), &rest, out)?,
                },
                Detail::Evidence(found) => one(model::object(report, item, found), &rest, out)?,
                Detail::Deadlock(turns) => one(races::deadlock(report, turns), &rest, out)?,
                Detail::Race(race) => one(races::race(report, race), &rest, out)?,
                Detail::Test(result) => one(test(report, result), &rest, out)?,
                Detail::Class(class, chain) => one(classify::object(class, *chain), &rest, out)?,
            }
            self.told.append(&mut run);
            if out.closed() {
                break;
            }
        }
        Ok(())
    }
}

/// The object of an expectation.
fn test(report: &Report, result: &TestResult) -> Object {
    Object::new()
        .field("test", result.case.as_str())
        .field("kind", result.kind.as_str())
        .field("name", result.name.as_str())
        .field("file", report.subject.as_str())
        .field("line", result.line)
        .field("passed", result.passed())
        .field("expected", result.expected.as_deref())
        .field("found", result.found.as_str())
}

fn one(object: Object, rest: &Rest<'_>, out: &mut dyn Outlet) -> io::Result<()> {
    writeln!(out, "{}{}}}", object.open(), rest.tail(true))
}

/// The fields after those of an object: present only where there is something to say.
struct Rest<'r> {
    item: &'r Item,
    /// Warnings about the run, which the first object holds.
    run: &'r [Warning],
    skipped: u64,
}

impl Rest<'_> {
    /// The fields, each with a comma before it.
    fn tail(&self, warnings: bool) -> String {
        let mut text = String::new();
        let told: Vec<&Warning> = match warnings {
            true => self.item.warnings.iter().chain(self.run).collect(),
            false => Vec::new(),
        };
        if !told.is_empty() {
            let objects = told.iter().map(|warning| warning.object.to_string());
            text.push_str(&format!(",\"warnings\":{}", array(objects)));
        }
        if self.skipped > 0 {
            text.push_str(&format!(",\"skipped\":{}", self.skipped));
        }
        text
    }
}

/// The objects of a report.
pub fn objects(report: &Report) -> Vec<String> {
    lines(report, Lines::new())
}

fn lines(report: &Report, mut lines: Lines) -> Vec<String> {
    let mut out = Vec::new();
    // Memory can always be written to, and text written as text can be read as such.
    let _ = lines.write(report, &mut out);
    String::from_utf8(out).unwrap_or_default().lines().map(str::to_string).collect()
}

/// The truth of a formula, one object per position.
pub fn eval<O: Outlet>(report: &EvalReport, out: &mut O) -> io::Result<()> {
    for position in 0..report.values.len() {
        let value = report.values.get(position);
        writeln!(out, "{{\"position\":{position},\"value\":{value}}}")?;
        if out.closed() {
            break;
        }
    }
    Ok(())
}

/// The slices of a trace, one object each.
pub fn slice<O: Outlet>(report: &SliceReport, out: &mut O) -> io::Result<()> {
    for slice in report.slices() {
        let pairs = report.variables.iter().zip(&slice.bindings);
        let bound = pairs.filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
        let bindings = write::bindings(&bound.collect::<Vec<_>>());
        let positions = write::array(slice.positions.iter().map(ToString::to_string));
        writeln!(out, "{}", Object::new().raw("bindings", &bindings).raw("positions", &positions).end())?;
        if out.closed() {
            break;
        }
    }
    Ok(())
}

/// The streams at each position, one object each.
pub fn stream<O: Outlet>(report: &StreamReport, out: &mut O) -> io::Result<()> {
    report.write(StreamForm::Json, out)
}

/// What is known of streams, one object.
pub fn stream_analysis(analysis: &StreamAnalysis) -> String {
    let truth = |truth: Option<bool>| truth.map_or("null".to_string(), |truth| truth.to_string());
    let number = |number: Option<usize>| number.map_or("null".to_string(), |number| number.to_string());
    let mut object = Object::new()
        .raw("well_formed", &analysis.well_formed.to_string())
        .raw("well_defined", &truth(analysis.well_defined))
        .raw("under_defined", &truth(analysis.under_defined))
        .raw("over_defined", &truth(analysis.over_defined))
        .raw("alternation", &number(analysis.alternation))
        .raw("online", &truth(analysis.online))
        .raw("passes", &analysis.passes.to_string())
        .field("reason", analysis.reason.as_str())
        .raw("look_ahead", &number(analysis.look_ahead))
        .raw("state_bytes", &number(analysis.state_bytes))
        .raw("memory", &write::array(analysis.memory.iter().map(kept)));
    if !analysis.cycle.is_empty() {
        let names = analysis.cycle.iter().map(|name| serde_json::Value::from(name.as_str()).to_string());
        object = object.raw("cycle", &write::array(names));
        let step = |(name, by): &(String, i64)| {
            Object::new().field("stream", name.as_str()).raw("offset", &by.to_string()).end()
        };
        object = object.raw("walk", &write::array(analysis.walk.iter().map(step)));
    }
    if let Some(states) = analysis.gave_up {
        object = object.raw("gave_up", &states.to_string());
    }
    object.raw("witnesses", &write::array(analysis.witnesses.iter().map(shown))).end()
}

/// What a run keeps of a stream.
fn kept(memory: &StreamMemory) -> String {
    let number = |number: Option<usize>| number.map_or("null".to_string(), |number| number.to_string());
    Object::new()
        .field("name", memory.name.as_str())
        .maybe("type", memory.ty.map(StreamType::name))
        .maybe("by", memory.by.as_deref())
        .raw("look_back", &memory.look_back.to_string())
        .raw("look_ahead", &number(memory.look_ahead))
        .raw("bytes", &number(memory.bytes))
        .maybe("bytes_per_event", memory.bytes_per_event)
        .end()
}

/// The answer to a question about streams, one object.
pub fn stream_answer(answer: &StreamAnswer) -> String {
    let truth = answer.answer.map_or("null".to_string(), |answer| answer.to_string());
    let witness = answer.witness.as_ref().map_or("null".to_string(), shown);
    Object::new().raw("answer", &truth).raw("witness", &witness).end()
}

fn shown(witness: &Shown) -> String {
    let row = |row: &Vec<(String, bool)>| {
        let cells =
            row.iter().fold(Object::new(), |object, (name, value)| object.raw(name, &value.to_string()));
        cells.end()
    };
    let rows = |rows: &Rows| write::array(rows.iter().map(row));
    Object::new()
        .field("kind", witness.kind)
        .raw("input", &rows(&witness.input))
        .raw("models", &write::array(witness.models.iter().map(rows)))
        .end()
}

/// The templates of a log, one object each; those of its positions, where they were asked for.
pub fn templates<O: Outlet>(report: &TemplatesReport, out: &mut O) -> io::Result<()> {
    if !report.each.is_empty() {
        for (position, &template) in report.each.iter().enumerate() {
            let event = &report.templates[template as usize].event;
            let object = Object::new().raw("position", &position.to_string()).field("event", event.as_str());
            writeln!(out, "{}", object.end())?;
            if out.closed() {
                break;
            }
        }
        return Ok(());
    }
    for own in &report.templates {
        let object = Object::new().field("event", own.event.as_str()).field("template", own.text.as_str());
        let object = object.raw("lines", &own.lines.to_string()).field("example", own.example.as_str());
        writeln!(out, "{}", object.end())?;
        if out.closed() {
            break;
        }
    }
    Ok(())
}

/// Why there is no answer: one object per finding.
pub fn error(error: &Error) -> Vec<String> {
    error.to_json().into_iter().map(|found| serde_json::json!({ "error": found }).to_string()).collect()
}

/// A finding that did not stop the run.
pub fn warning(warning: &Diagnostic, sources: &Sources) -> String {
    serde_json::json!({ "warning": tw_diag::to_json(warning, sources) }).to_string()
}

#[cfg(test)]
mod tests;
