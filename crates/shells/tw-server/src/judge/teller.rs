//! From what a watch says to what is told: violations with their ids, states of properties, the rest as it is.

use super::states::Watched;
use crate::log::Log;
use crate::verdicts::Told;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tracewise::diag::Diagnostic;
use tracewise::findings::json::{self, Object};
use tracewise::watch::{Deadline, LiveSink, Pending, WatchSink, WatchValue, WatchVerdict};
use tracewise::{Error, Verdict};

/// Obligations of a property that are told; the others are counted.
const OWED: usize = 10;

/// What the watches of a stream have said and nobody was told yet.
#[derive(Default)]
pub struct Collected {
    /// In the order in which it was said.
    pub told: Vec<Told>,
    /// Violations that were told before a restart, and their numbers.
    pub known: HashMap<String, u64>,
    /// What is said now was said before.
    pub repeats: bool,
    /// How often the log was cut back before the line that is judged: other lines stood in its place.
    pub cuts: usize,
}

/// Takes what one specification says of a stream.
pub struct Teller {
    watched: Arc<Watched>,
    /// Lines before the first that it reads.
    since: u64,
    collected: Rc<RefCell<Collected>>,
    /// Where the text of a line is looked up.
    log: Log,
    /// Names of properties as the feed gives them.
    names: Vec<Arc<str>>,
}

impl Teller {
    /// For a specification that reads from a line on.
    pub fn new(watched: Arc<Watched>, since: u64, log: &Log, collected: Rc<RefCell<Collected>>) -> Self {
        let names = watched.properties().iter().map(|own| Arc::from(own.name.as_str())).collect();
        Self { watched, since, collected, log: log.clone(), names }
    }

    fn number(&self, property: &str) -> Option<usize> {
        self.names.iter().position(|name| **name == *property)
    }

    fn violated(&mut self, number: usize, verdict: &WatchVerdict<'_>) {
        let found = verdict.violation.as_ref();
        let position = found.and_then(|found| found.position).or(verdict.about);
        let mut bindings = found.map_or(Vec::new(), |found| found.bindings.clone());
        bindings.extend(verdict.bindings.iter().cloned());
        let bindings = json::bindings(&bindings);
        let category = found.and_then(|found| found.category.as_deref());
        let id = self.id(verdict.property, position, &bindings, category);
        let mut collected = self.collected.borrow_mut();
        if collected.repeats {
            return;
        }
        let again = !collected.known.is_empty() && collected.known.remove(&id).is_some();
        // That of the position that failed; where that is the one that settled it, it is told with the verdict.
        let settling = position.is_none_or(|position| position == verdict.position);
        let line = found.and_then(|found| found.line.as_ref());
        let line = line.or(verdict.line.as_ref().filter(|_| settling));
        let time = found.and_then(|found| found.time).or(verdict.time);
        let mut object = Object::new()
            .raw("id", &format!("\"{id}\""))
            .field("stream", &*self.watched.stream)
            .field("spec", &*self.watched.spec)
            .field("property", verdict.property)
            .field("position", position.unwrap_or(verdict.position))
            .raw("time", &json::time(time))
            .raw("bindings", &bindings)
            .raw(
                "line",
                &line.map_or("null".into(), |line| {
                    let text = match line.text.is_empty() {
                        true => self.log.line(line.line - 1).unwrap_or_default(),
                        false => line.text.to_string(),
                    };
                    Object::new().field("line", line.line).field("text", text).end()
                }),
            )
            .field("explanation", explanation(verdict));
        if verdict.violation_count > 1 {
            object = object.field("count", verdict.violation_count);
        }
        if position.is_some_and(|position| position != verdict.position) {
            object = object.field("settled_by", verdict.position);
        }
        let object = object
            .maybe("category", category)
            .maybe("severity", category.map(|_| verdict.severity.name()))
            .end();
        {
            let mut properties = self.watched.properties();
            let state = &mut properties[number];
            state.violations += 1;
            state.verdict = Some(Verdict::Violated);
            state.last = Some(object.clone());
        }
        if !again {
            collected.told.push(self.told("violation", number, object));
        }
    }

    fn told(&self, kind: &'static str, number: usize, json: String) -> Told {
        let property = self.names.get(number).cloned().unwrap_or_else(|| "".into());
        Told { number: None, kind, stream: self.watched.stream.clone(), property, json }
    }

    /// What a violation is known by: it follows from the stream, what is violated, where, and with which values.
    fn id(&self, property: &str, position: Option<usize>, bindings: &str, category: Option<&str>) -> String {
        let mut hash = blake3::Hasher::new();
        let position = position.map_or(String::new(), |position| position.to_string());
        let since = self.since.to_string();
        let parts = [&*self.watched.stream, &*self.watched.spec, property, &since, &position, bindings];
        let cuts = match self.collected.borrow().cuts {
            0 => None,
            cuts => Some(format!("after cut {cuts}")),
        };
        for part in parts.into_iter().chain(category).chain(cuts.as_deref()) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().to_hex()[..32].to_string()
    }
}

/// Why a property is violated, in a sentence.
fn explanation(verdict: &WatchVerdict<'_>) -> String {
    let found = verdict.violation.as_ref();
    if let Some(text) = found.and_then(|found| found.text.as_ref()) {
        return text.clone();
    }
    if let Some(due) = &verdict.due {
        return format!("`{}` of position {} came due at {}", due.owed, due.since, due.deadline.format());
    }
    if let Some(required) = &verdict.required {
        return format!("the value is {}, required is {}", required.value, required.relation);
    }
    if let (true, Some(time)) = (verdict.overdue, verdict.time) {
        let whose =
            found.and_then(|found| found.position).map_or("it".into(), |own| format!("position {own}"));
        return format!("what {whose} waits for was due by {}", time.format());
    }
    match found.and_then(|found| found.position) {
        Some(position) if position == verdict.position => format!("it fails at position {position}"),
        Some(position) => format!("position {position} fails, as position {} shows", verdict.position),
        None => format!("position {} settles that it is violated", verdict.position),
    }
}

impl LiveSink for Teller {
    fn bad_line(&mut self, error: &Error) {
        self.watched.leave_out(crate::words::error(error));
    }

    fn note(&mut self, note: &str) {
        let mut collected = self.collected.borrow_mut();
        if !collected.repeats {
            let json = Object::new().field("spec", &*self.watched.spec).field("note", note).end();
            let told = Told {
                number: None,
                kind: "note",
                stream: self.watched.stream.clone(),
                property: "".into(),
                json,
            };
            collected.told.push(told);
        }
    }

    fn warnings(&mut self, warnings: &[Diagnostic]) {
        warnings.iter().for_each(|warning| self.note(&warning.message));
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WatchSink for Teller {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        let Some(number) = self.number(verdict.property) else { return Ok(()) };
        if verdict.verdict == Verdict::Violated {
            self.violated(number, verdict);
            return Ok(());
        }
        let mut collected = self.collected.borrow_mut();
        if !collected.repeats {
            self.watched.properties()[number].verdict = Some(verdict.verdict);
            let json = json::watch::verdict(verdict, false);
            collected.told.push(self.told("verdict", number, json));
        }
        Ok(())
    }

    fn value(&mut self, value: &WatchValue) -> io::Result<()> {
        let Some(number) = self.number(&value.query) else { return Ok(()) };
        let json = json::watch::value(value);
        self.watched.properties()[number].value = Some(json.clone());
        let told = self.told("value", number, json);
        self.collected.borrow_mut().told.push(told);
        Ok(())
    }

    fn pending(&mut self, _: u64, pending: &[Pending<'_>]) -> io::Result<()> {
        let mut properties = self.watched.properties();
        for owed in pending {
            let Some(number) = self.number(owed.property) else { continue };
            let state = &mut properties[number];
            state.pending_count += 1;
            if state.pending.len() == OWED {
                continue;
            }
            let object = Object::new().field("since", owed.since).field("line", owed.line);
            let object = object.field("owed", owed.owed.as_str());
            let object = match owed.deadline {
                Some(Deadline::Time(stamp)) => object.raw("deadline", &json::time(Some(stamp))),
                Some(Deadline::Position(position)) => object.field("deadline_position", position),
                None => object,
            };
            state.pending.push(object.end());
        }
        Ok(())
    }
}

/// Hears nothing: for who only wants to know whether a specification can be watched.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl LiveSink for Nobody {
    fn bad_line(&mut self, _: &Error) {}
    fn note(&mut self, _: &str) {}
    fn warnings(&mut self, _: &[Diagnostic]) {}
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WatchSink for Nobody {
    fn verdict(&mut self, _: &WatchVerdict<'_>) -> io::Result<()> {
        Ok(())
    }
    fn value(&mut self, _: &WatchValue) -> io::Result<()> {
        Ok(())
    }
    fn pending(&mut self, _: u64, _: &[Pending<'_>]) -> io::Result<()> {
        Ok(())
    }
}
