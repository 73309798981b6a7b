//! What one slice says, apart from others: of each property the violations that are its own. Partial answers travel as bytes, and
//! together they are the report of the log.

use crate::check::{
    CheckOptions, CheckReport, LogLine, PropertyReport, Violation, is_invariant, log_line, newlines,
    property, verdict,
};
use crate::plan::Who;
use crate::run::{Asked, Run};
use crate::{Error, Session, Specification, engines};
use std::collections::HashMap;
use tw_core::codec::{
    Corrupt, put, put_option, put_signed, put_text, put_value, take, take_byte, take_len, take_option,
    take_signed, take_text, take_value,
};
use tw_core::{Bits, Position, TimeUnit, Value};
use tw_ir::{Clock, Root};
use tw_log_slices::{Shard, in_order};
use tw_monitor::{Answer, Answers};
use tw_trace::{Stamp, TimeStyle};

/// What saved answers begin with.
const VERSION: u64 = 1;

/// What a slice says of each property.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// The number of the slice.
    pub slice: u32,
    /// The engine that ran.
    pub engine: &'static str,
    /// Bytes that were read.
    pub bytes: u64,
    /// By the names of properties, in the order written.
    pub properties: Vec<PartialProperty>,
}

/// What a slice says of a property.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartialProperty {
    /// Its name.
    pub name: String,
    /// The first violations, with their positions in the log.
    pub violations: Vec<Violation>,
    /// How many there are.
    pub count: usize,
}

/// Evaluates the slice that `files` are: the positions `order` of the log. `restriction` is what it may report of a property; nothing
/// where another slice alone is asked.
pub(super) fn evaluate(
    session: &Session,
    spec: &Specification,
    (slice, files): (u32, &[String]),
    (order, clock): (&[u64], Option<Clock>),
    restriction: &dyn Fn(&Root) -> Result<Option<Shard>, Error>,
    options: &CheckOptions,
) -> Result<Partial, Error> {
    let roots = &spec.program.roots;
    let nothing = |root: &Root| PartialProperty { name: root.name.clone(), ..PartialProperty::default() };
    let mut partial =
        Partial { slice, engine: "relational", bytes: 0, properties: roots.iter().map(nothing).collect() };
    if order.is_empty() {
        return Ok(partial);
    }
    let asked = Asked { times: true, ..Asked::default() };
    let mut run = Run::new(session, spec, files, Who::Any(Answers::Verdicts), asked)?;
    let name = run.loaded.name().to_string();
    if run.loaded.trace.len != order.len() {
        let (found, listed) = (run.loaded.trace.len, order.len());
        return Err(Error::refused(format!("`{name}` has {found} positions, and {listed} are listed")));
    }
    if order.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Error::refused(format!(
            "the positions of `{name}` in the log are not in its order: each is beyond the one before it"
        )));
    }
    if clock.is_some_and(|clock| clock != run.options.clock) {
        return Err(Error::refused_instead(
            format!("`{name}` has no timestamps, and its slices were made for a log with timestamps"),
            format!("make them with {}", crate::error::Setting::Clock.to("index")),
        ));
    }
    (partial.engine, partial.bytes) = (run.chosen.engine, run.loaded.summary.bytes);
    let names = &spec.program.dag.variables;
    for ((root, answer), own) in roots.iter().zip(run.answers(usize::MAX)?).zip(&mut partial.properties) {
        let Some(shard) = restriction(root)? else { continue };
        let mut found: Vec<(Position, Violation)> = Vec::new();
        for (nth, &at) in answer.violations.iter().enumerate() {
            let bindings = answer.bindings.get(nth).cloned().unwrap_or_default();
            let position = order[at] as Position;
            if !shard.owns(position, &bindings) {
                continue;
            }
            own.count += 1;
            if found.len() < options.violations.max(1) {
                let of = |(own, value): &(u32, Value)| (names[*own as usize].clone(), value.clone());
                let (position, infinite) = (Some(position), bindings.infinite());
                let bindings = bindings.pairs().iter().map(of).collect();
                let time = run.stamp(at);
                found.push((at, Violation { position, time, bindings, infinite, ..Violation::default() }));
            }
        }
        let places: Vec<Position> = found.iter().map(|(at, _)| *at).collect();
        let lines = run.locate(&places);
        own.violations = found
            .into_iter()
            .map(|(at, violation)| Violation { line: lines.get(&at).and_then(log_line), ..violation })
            .collect();
    }
    Ok(partial)
}

fn values(violation: &Violation) -> impl Iterator<Item = &Value> {
    violation.bindings.iter().map(|(_, value)| value)
}

/// The report of the log from what its slices say. A slice that was evaluated twice says the same both times.
pub(super) fn together(
    session: &Session,
    spec: &Specification,
    mut partials: Vec<Partial>,
    (trace, positions): (String, u64),
    options: &CheckOptions,
) -> Result<CheckReport, Error> {
    partials.sort_by_key(|own| own.slice);
    partials.dedup_by_key(|own| own.slice);
    let (newlines, roots) = (newlines(spec), &spec.program.roots);
    let mut properties: Vec<PropertyReport> = Vec::new();
    for (number, root) in roots.iter().enumerate() {
        let (mut violations, mut count) = (Vec::new(), 0);
        for partial in &mut partials {
            let own = partial.properties.get_mut(number).filter(|own| own.name == root.name);
            let Some(own) = own else {
                return Err(Error::refused(format!(
                    "what slice {} says is about other properties: `{}` is not among them",
                    partial.slice, root.name
                )));
            };
            violations.append(&mut own.violations);
            count += own.count;
        }
        let order = |a: &Violation, b: &Violation| {
            a.position.cmp(&b.position).then_with(|| in_order(values(a), values(b)))
        };
        violations.sort_by(order);
        let answer =
            Answer { holds: Bits::repeat(count == 0, 1), violation_count: count, ..Answer::default() };
        properties.push(told(spec, root, &newlines, &answer, violations, options));
    }
    Ok(CheckReport {
        trace,
        positions,
        bytes: partials.iter().map(|own| own.bytes).sum(),
        skipped: 0,
        engine: partials.last().map_or("relational", |own| own.engine),
        semantics: session.evaluate.semantics.name(),
        by: None,
        properties,
        // What a slice lacks, others have: only what is said of the specification is about all of them.
        warnings: spec.warnings.clone(),
        slicing: Vec::new(),
        ticks: Vec::new(),
    })
}

/// The violations that an answer lists, with what is known of their positions.
pub(super) fn listed(
    spec: &Specification,
    answer: &Answer,
    located: &HashMap<Position, Violation>,
) -> Vec<Violation> {
    let names = &spec.program.dag.variables;
    let one = |(nth, at): (usize, &Position)| {
        let bindings = answer.bindings.get(nth).cloned().unwrap_or_default();
        let pairs = bindings.pairs().iter().map(|(own, value)| (names[*own as usize].clone(), value.clone()));
        let own = located.get(at).cloned().unwrap_or_default();
        let (position, infinite) = (Some(*at), bindings.infinite());
        Violation { position, bindings: pairs.collect(), infinite, ..own }
    };
    answer.violations.iter().enumerate().map(one).collect()
}

/// What is told of a property whose answer came from slices, and of its violations.
pub(super) fn told(
    spec: &Specification,
    root: &Root,
    newlines: &[u32],
    answer: &Answer,
    violations: Vec<Violation>,
    options: &CheckOptions,
) -> PropertyReport {
    let mut report = property(spec, newlines, root, verdict(answer));
    if !is_invariant(spec, root) {
        return report;
    }
    report.violation_count = answer.violation_count;
    report.position = violations.first().and_then(|own| own.position);
    report.time = violations.first().and_then(|own| own.time);
    report.violations = violations;
    report.violations.truncate(options.violations);
    report
}

fn corrupt<T>(what: &str) -> Result<T, Corrupt> {
    Err(Corrupt(format!("the answer of a slice is damaged: {what}")))
}

fn put_stamp(stamp: Option<Stamp>, out: &mut Vec<u8>) {
    let Some(Stamp { time, style }) = stamp else { return out.push(0) };
    match style {
        TimeStyle::Text => out.push(1),
        TimeStyle::Number(unit) => {
            out.push(2);
            put_text(unit.name(), out);
        }
    }
    put_signed(time, out);
}

fn take_stamp(from: &mut &[u8]) -> Result<Option<Stamp>, Corrupt> {
    let style = match take_byte(from)? {
        0 => return Ok(None),
        1 => TimeStyle::Text,
        2 => match TimeUnit::parse(&take_text(from)?) {
            Some(unit) => TimeStyle::Number(unit),
            None => return corrupt("an unknown unit of time"),
        },
        _ => return corrupt("an unknown kind of timestamp"),
    };
    Ok(Some(Stamp { time: take_signed(from)?, style }))
}

fn put_violation(violation: &Violation, out: &mut Vec<u8>) {
    put_option(violation.position.map(|at| at as i64), out);
    put_stamp(violation.time, out);
    put(violation.bindings.len() as u64, out);
    for (name, value) in &violation.bindings {
        put_text(name, out);
        put_value(value, out);
    }
    out.push(u8::from(violation.infinite));
    out.push(u8::from(violation.line.is_some()));
    if let Some(LogLine { file, line, text }) = &violation.line {
        put_text(file, out);
        put(*line, out);
        put_text(text, out);
    }
}

fn take_violation(from: &mut &[u8]) -> Result<Violation, Corrupt> {
    let Some(position) = take_option(from)?.and_then(|at| Position::try_from(at).ok()) else {
        return corrupt("a violation without a position");
    };
    let time = take_stamp(from)?;
    let mut bindings = Vec::new();
    for _ in 0..take_len(from)? {
        bindings.push((take_text(from)?.to_string(), take_value(from)?));
    }
    let infinite = take_byte(from)? == 1;
    let line = match take_byte(from)? {
        0 => None,
        _ => Some(LogLine { file: take_text(from)?.to_string(), line: take(from)?, text: take_text(from)? }),
    };
    Ok(Violation { position: Some(position), time, bindings, infinite, line, ..Violation::default() })
}

impl Partial {
    /// As bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(VERSION, &mut out);
        put(u64::from(self.slice), &mut out);
        put_text(self.engine, &mut out);
        put(self.bytes, &mut out);
        put(self.properties.len() as u64, &mut out);
        for own in &self.properties {
            put_text(&own.name, &mut out);
            put(own.count as u64, &mut out);
            put(own.violations.len() as u64, &mut out);
            own.violations.iter().for_each(|violation| put_violation(violation, &mut out));
        }
        out
    }

    /// Reads back what [`Partial::save`] wrote.
    pub fn load(bytes: &[u8]) -> Result<Partial, Error> {
        Self::take(&mut &*bytes).map_err(|corrupt| Error::refused(corrupt.0))
    }

    fn take(from: &mut &[u8]) -> Result<Partial, Corrupt> {
        if take(from)? != VERSION {
            return corrupt("another version of the program made it");
        }
        let slice = u32::try_from(take(from)?).or_else(|_| corrupt("a number is out of range"))?;
        let name = take_text(from)?;
        let Some(engine) = engines::named(Answers::Verdicts, &name).map(|engine| engine.name()) else {
            return corrupt("an unknown engine");
        };
        let bytes = take(from)?;
        let mut properties = Vec::new();
        for _ in 0..take_len(from)? {
            let (name, count) = (take_text(from)?.to_string(), take(from)? as usize);
            let violations =
                (0..take_len(from)?).map(|_| take_violation(from)).collect::<Result<Vec<_>, _>>()?;
            properties.push(PartialProperty { name, violations, count });
        }
        if !from.is_empty() {
            return corrupt("there is more than an answer");
        }
        Ok(Partial { slice, engine, bytes, properties })
    }
}
