//! `init`: a first specification for a trace, from what can be seen in it.
//!
//! What is written is true: every property was checked on the trace, and one that fails, or that is warned about, is not
//! proposed. Whether it matters is for the reader to say, so few are written out and others stand beside them as comments.

mod candidates;
mod names;
mod pairs;
mod text;

use crate::check::CheckOptions;
use crate::inspect::{ColumnSummary, InspectReport};
use crate::{Error, Reading, Session, Specification, Verdict};
use candidates::Candidate;
use std::fmt::Write as _;

/// Properties that are written out.
const PROPERTIES: usize = 3;
/// Columns that are declared or looked at.
const COLUMNS: usize = 40;

/// Formats whose positions say nothing but their text.
const TEXTS: [&str; 2] = ["lines", "syslog"];

/// A first specification.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its text.
    pub text: String,
    /// How many properties it has.
    pub properties: usize,
}

/// Looks at a trace and writes what holds in it.
pub(crate) fn init(session: &Session, files: &[String]) -> Result<Draft, Error> {
    let (session, seen) = timed(session, files)?;
    let mut draft = Writer {
        session,
        files,
        seen,
        by: None,
        events: Vec::new(),
        told: String::new(),
        text: String::new(),
    };
    if TEXTS.contains(&draft.seen.format) && !files.iter().any(|file| file == "-") {
        return text::init(draft);
    }
    draft.by = draft.key();
    let all = draft.candidates();
    // A key that lets nothing hold is none.
    let mut kept = draft.holding(&all);
    if kept.is_empty() && draft.by.is_some() {
        draft.by = None;
        let all = draft.candidates();
        kept = draft.holding(&all);
    }
    let (chosen, rest) = choose(kept);
    draft.write(&chosen, &rest);
    Ok(Draft { text: draft.text, properties: chosen.len() })
}

/// The first of each kind, then others, as many as are written out; and what is left.
fn choose(kept: Vec<Candidate>) -> (Vec<Candidate>, Vec<Candidate>) {
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut rest = Vec::new();
    for candidate in kept {
        let known = chosen.iter().any(|other| other.kind == candidate.kind);
        if known || chosen.len() == PROPERTIES {
            rest.push(candidate);
        } else {
            chosen.push(candidate);
        }
    }
    while chosen.len() < PROPERTIES && !rest.is_empty() {
        chosen.push(rest.remove(0));
    }
    (chosen, rest)
}

/// The session and what it sees; where nothing is read as the time, with a column that can be.
fn timed(session: &Session, files: &[String]) -> Result<(Session, InspectReport), Error> {
    let seen = session.inspect(files)?;
    if seen.span.is_some() || session.read.time.is_some() || files.iter().any(|file| file == "-") {
        return Ok((session.clone(), seen));
    }
    for column in seen.columns.iter().filter(|column| candidates::looks_like_time(column)).take(3) {
        let read = Reading { time: Some(column.name.clone()), ..session.read.clone() };
        let other = session.clone().reading(read);
        if let Ok(seen) = other.inspect(files)
            && seen.span.is_some()
        {
            return Ok((other, seen));
        }
    }
    Ok((session.clone(), seen))
}

struct Writer<'f> {
    session: Session,
    files: &'f [String],
    seen: InspectReport,
    by: Option<String>,
    /// Events of a text log.
    events: Vec<text::Event>,
    /// Their declarations.
    told: String,
    text: String,
}

impl Writer<'_> {
    /// The column that says which events belong together.
    fn key(&self) -> Option<String> {
        if self.files.iter().any(|file| file == "-") {
            return None;
        }
        let columns = self.seen.columns.iter().filter(|column| self.is_key(column));
        let key = columns.max_by_key(|column| (column.distinct.unwrap_or(usize::MAX), column.name.len()));
        key.map(|column| column.name.clone())
    }

    fn is_key(&self, column: &ColumnSummary) -> bool {
        let several =
            column.distinct.is_none_or(|distinct| distinct > 1 && distinct as u64 * 2 <= self.seen.positions);
        column.present * 2 >= self.seen.positions && several && candidates::looks_like_key(column)
    }

    /// What could hold, likeliest to matter first.
    fn candidates(&self) -> Vec<Candidate> {
        let time = self.session.read.time.as_deref().unwrap_or("time");
        let event = self.session.read.event.as_deref().unwrap_or("event");
        let own = |column: &&ColumnSummary| {
            column.name != time && column.name != event && Some(&column.name) != self.by.as_ref()
        };
        let columns: Vec<&ColumnSummary> = self.seen.columns.iter().filter(own).take(COLUMNS).collect();
        candidates::all(&columns, &self.seen.events, self.seen.positions)
    }

    /// Those that hold, without a warning. Standard input is read once: there nothing is known to hold.
    fn holding(&self, all: &[Candidate]) -> Vec<Candidate> {
        if self.files.iter().any(|file| file == "-") {
            return Vec::new();
        }
        // All at once first, which is one pass; then those that hold, each alone, for its warnings.
        let together: String =
            all.iter().enumerate().map(|(nth, each)| each.property(&format!("p{nth}"))).collect();
        let Some((verdicts, _)) = self.check(&together) else { return Vec::new() };
        let holds = |(candidate, verdict): (&Candidate, &Verdict)| {
            (*verdict == Verdict::Satisfied).then(|| candidate.clone())
        };
        let held = all.iter().zip(&verdicts).filter_map(holds);
        let clean = |candidate: &Candidate| {
            self.check(&candidate.property("p"))
                .is_some_and(|(verdicts, warned)| !warned && verdicts == [Verdict::Satisfied])
        };
        // Some of each kind: many pairs of events follow one another by chance.
        let mut kept: Vec<Candidate> = Vec::new();
        for candidate in held {
            let alike = kept.iter().filter(|other| other.kind == candidate.kind).count();
            if alike < PROPERTIES && clean(&candidate) {
                kept.push(candidate);
            }
        }
        kept
    }

    fn check(&self, text: &str) -> Option<(Vec<Verdict>, bool)> {
        let spec = Specification::from_text("draft", &format!("{}{text}", self.told)).ok()?;
        let options =
            CheckOptions { violations: 1, explain: false, by: self.by.clone(), ..CheckOptions::default() };
        let report = self.session.check(&spec, self.files, &options).ok()?;
        // Lines stay in their order; nothing that is proposed measures time.
        let warned = !spec.warnings.is_empty()
            || report.warnings.iter().any(|warning| {
                warning.severity != tw_diag::Severity::Note && warning.code != "time-goes-back"
            });
        Some((report.properties.iter().map(|property| property.verdict).collect(), warned))
    }

    fn write(&mut self, chosen: &[Candidate], rest: &[Candidate]) {
        let text = &mut self.text;
        let name = crate::findings::words::printable(&self.seen.trace).replace("*/", "* /");
        let _ = writeln!(text, "// A first specification for {name} ({} positions).", self.seen.positions);
        let _ = writeln!(
            text,
            "// Every property below holds there now; keep what is meant to hold, change the rest.\n"
        );
        self.settings();
        match self.told.is_empty() {
            true => {
                self.declarations();
                self.events();
            }
            false => text::declare(self, chosen, rest),
        }
        let text = &mut self.text;
        let mut names: Vec<String> = Vec::new();
        for candidate in chosen {
            let _ = writeln!(text, "// {}", candidate.why);
            let mut name = candidate.name.clone();
            while names.contains(&name) {
                name.push('_');
            }
            let _ = writeln!(text, "{}", candidate.property(&name));
            names.push(name);
        }
        if chosen.is_empty() {
            text.push_str("// property answered : G (request -> F response);\n\n");
        }
        if !rest.is_empty() {
            text.push_str("// These hold, too:\n");
            for candidate in rest.iter().take(6) {
                let _ = writeln!(text, "// {}", candidate.property(&candidate.name).trim_end());
            }
            text.push('\n');
        }
        self.hints(chosen);
    }

    /// How the trace is read.
    fn settings(&mut self) {
        let read = &self.session.read;
        let quoted = |value: &Option<String>| value.as_ref().map(|value| tw_ir::quote(value));
        let unit = read.numbers.map(|unit| unit.name().to_string());
        let set = [
            ("time", quoted(&read.time)),
            ("event", quoted(&read.event)),
            ("by", quoted(&self.by)),
            ("format", read.format.clone().map(|format| tw_ir::quote(&format))),
            ("time-unit", unit),
        ];
        let set: Vec<String> =
            set.into_iter().filter_map(|(name, value)| Some(format!("{name}: {};", value?))).collect();
        if set.is_empty() {
            self.text.push_str("// trace { by: user; }            // each property once per user\n\n");
        } else {
            let _ = writeln!(self.text, "trace {{ {} }}\n", set.join(" "));
        }
    }

    /// Types, where a column has one.
    fn declarations(&mut self) {
        let typed =
            |column: &&ColumnSummary| matches!(column.kind.as_str(), "bool" | "int" | "real" | "string");
        let mut wrote = false;
        for column in self.seen.columns.iter().filter(typed).take(COLUMNS) {
            let line = format!("var {}: {};", candidates::word(&column.name), column.kind);
            // What the language does not take as a declaration is left out.
            if Specification::from_text("draft", &format!("{line}\nproperty p : true;")).is_ok() {
                let seen = match (&column.range, column.kind.as_str()) {
                    (Some((low, high)), "int" | "real") => format!("{low} to {high}"),
                    _ => column.examples.iter().take(3).cloned().collect::<Vec<_>>().join(", "),
                };
                let seen = crate::findings::words::clip(&crate::findings::words::printable(&seen), 60);
                let _ = writeln!(self.text, "{line:<32} // {seen}");
                wrote = true;
            }
        }
        if wrote {
            self.text.push('\n');
        }
    }

    fn events(&mut self) {
        let shown = self.seen.events.iter().take(20);
        let shown: Vec<String> =
            shown.map(|(name, times)| format!("{} ({times})", candidates::word(name))).collect();
        if !shown.is_empty() {
            let _ =
                writeln!(self.text, "// events: {}\n", crate::findings::words::printable(&shown.join(", ")));
        }
    }

    /// What else one might ask.
    fn hints(&mut self, chosen: &[Candidate]) {
        self.text.push_str("// Other forms:\n");
        let response = chosen.iter().find_map(|candidate| candidate.response.as_ref());
        let (a, b) = response.map_or(("request", "response"), |(a, b)| (a.as_str(), b.as_str()));
        let within = if self.seen.span.is_some() { "[0,5s]" } else { "[0,10]" };
        let _ = writeln!(self.text, "// property soon : G ({a} -> F{within} {b});");
        let _ = writeln!(self.text, "// property once : G ({a} -> X (!({a}) W {b}));");
        let number = self.seen.columns.iter().find(|column| matches!(column.kind.as_str(), "int" | "real"));
        if let Some(column) = number {
            let word = candidates::word(&column.name);
            let _ = writeln!(self.text, "// query worst : max[{word}];");
        }
        let _ = writeln!(self.text, "// query often : count[{a}] ?? 0;");
    }
}

#[cfg(test)]
mod tests;
