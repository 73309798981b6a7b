//! What comes out of a case, in the words in which it is expected.

use super::{Block, Case, TestFile, TestResult};
use crate::check::{CheckOptions, CheckReport};
use crate::findings::words;
use crate::language::TraceSettings;
use crate::query::QueryOptions;
use crate::robust::RobustOptions;
use crate::{Clock, Error, Semantics, Session, Specification, TimeUnit};
use std::borrow::Cow;
use tw_diag::{Diagnostic, Severity};
use tw_ir::RootKind;

/// Violations that a line can name.
const LISTED: usize = 10_000;

/// A case, ready to be asked.
pub(super) struct Answers<'f> {
    file: &'f TestFile,
    case: &'f Case,
    session: Session,
    /// The specification, or why it cannot be read.
    spec: Result<Specification, Error>,
    by: Option<String>,
    trace: String,
}

impl<'f> Answers<'f> {
    pub fn new(session: &Session, file: &'f TestFile, case: &'f Case) -> Result<Self, Error> {
        let spec = specification(file, case);
        let settings = spec.as_ref().map_or_else(|_| TraceSettings::default(), |spec| spec.settings.clone());
        let kind = case.trace.info[0].as_str();
        let mut session = session.clone();
        let trace = match (kind, &case.name) {
            ("trace", Some(path)) => file.beside(path),
            _ => {
                session.read.format = Some(kind.to_string());
                let name = format!("{}:{}", file.path, case.trace.first);
                let text: String = case.trace.body.iter().map(|line| format!("{line}\n")).collect();
                session = session.text(&name, text.into_bytes());
                name
            }
        };
        let unit = settings.time_unit.as_ref().and_then(|(unit, _)| TimeUnit::parse(unit));
        let read = &mut session.read;
        read.format = read.format.clone().or(settings.format);
        read.time = read.time.clone().or(settings.time);
        read.event = read.event.clone().or(settings.event);
        (read.unit, read.numbers) = (unit.unwrap_or(read.unit), unit.or(read.numbers));
        let mut answers = Self { file, case, session, spec, by: settings.by, trace };
        for word in case.trace.info.iter().skip(1).filter(|word| word.contains('=')) {
            answers.set(word)?;
        }
        Ok(answers)
    }

    /// `by=user`, `clock=index`: how this trace is read.
    fn set(&mut self, word: &str) -> Result<(), Error> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let read = &mut self.session.read;
        let unknown =
            |what: &str| Err(self.file.error(self.case.trace.at, &format!("unknown {what} `{value}`"), ""));
        match name {
            "by" => self.by = Some(value.into()),
            "time" => read.time = Some(value.into()),
            "event" => read.event = Some(value.into()),
            "format" => read.format = Some(value.into()),
            "time-unit" => match TimeUnit::parse(value) {
                Some(unit) => (read.unit, read.numbers) = (unit, Some(unit)),
                None => return unknown("unit"),
            },
            "clock" => match Clock::ALL.iter().find(|(name, _)| *name == value) {
                Some((_, clock)) => self.session.evaluate.clock = *clock,
                None => return unknown("clock"),
            },
            _ => {
                let help = "settings are by, clock, event, format, time and time-unit";
                return Err(self.file.error(self.case.trace.at, &format!("unknown setting `{name}`"), help));
            }
        }
        Ok(())
    }

    /// What comes out, for each line of a block or, if it has none, for everything that it could name.
    pub fn block(&mut self, block: &Block) -> Result<Vec<TestResult>, Error> {
        let kind = block.info[0].as_str();
        if matches!(kind, "warnings" | "error") {
            return Ok(vec![self.whole(block)]);
        }
        let expected = self.lines(block)?;
        let spec = match &self.spec {
            Ok(spec) => spec.clone(),
            Err(error) => {
                let found = told(error);
                return Ok(expected
                    .into_iter()
                    .map(|line| self.result(block, line, found.clone()))
                    .collect());
            }
        };
        let roots = if kind == "values" { RootKind::Query } else { RootKind::Property };
        let named = spec.program.roots.iter().filter(|root| root.kind == roots).map(|root| root.name.clone());
        // Monitors have verdicts and nothing else.
        let monitors = spec.program.monitors.iter().filter(|_| kind == "verdicts");
        let known: Vec<String> = named.chain(monitors.map(|monitor| monitor.name.clone())).collect();
        let expected = match expected.is_empty() {
            true => known.iter().map(|name| (block.first, name.clone(), None)).collect(),
            false => expected,
        };
        if let Some((line, name, _)) = expected.iter().find(|(_, name, _)| !known.contains(name)) {
            let near = tw_core::suggest(name, known.iter().map(String::as_str));
            let what = if kind == "values" { "query" } else { "property" };
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the specification has {}", words::names(&known)),
            };
            return Err(self.file.error(self.line(*line), &format!("there is no {what} `{name}`"), &help));
        }
        let found = match kind {
            "verdicts" => self.verdicts(block, &spec)?,
            "eval" => self.each(&spec, &expected, |session, spec, trace| {
                let report = session.eval(spec, trace)?;
                let bits = (0..report.values.len()).map(|at| if report.values.get(at) { "1" } else { "0" });
                Ok(bits.collect::<Vec<_>>().join(" "))
            }),
            "values" => {
                let everywhere = block.info.get(1).is_some_and(|word| word == "everywhere");
                let options = QueryOptions { everywhere, by: self.by.clone(), ..QueryOptions::default() };
                self.each(&spec, &expected, |session, spec, trace| values(session, spec, trace, &options))
            }
            _ => {
                let options = RobustOptions { everywhere: true, explain: false, ..RobustOptions::default() };
                self.each(&spec, &expected, |session, spec, trace| {
                    let report = session.robust(spec, trace, &options)?;
                    let everywhere =
                        report.properties.iter().flat_map(|property| property.everywhere.iter().flatten());
                    Ok(everywhere.map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" "))
                })
            }
        };
        let of = |name: &str| {
            found.iter().find(|(own, _)| own == name).map_or("nothing", |(_, found)| found.as_str())
        };
        Ok(expected
            .into_iter()
            .map(|line| {
                let found = of(&line.1).to_string();
                self.result(block, line, found)
            })
            .collect())
    }

    /// The lines of a block: number, name, what is expected.
    fn lines(&self, block: &Block) -> Result<Vec<(usize, String, Option<String>)>, Error> {
        let mut lines = Vec::new();
        for (index, line) in block.body.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let number = block.first + index;
            let Some((name, expected)) = line.split_once(':') else {
                let help = "write `name: verdict` or `name: value`";
                return Err(self.file.error(self.line(number), "a line without a colon", help));
            };
            lines.push((number, name.trim().to_string(), Some(expected.trim().to_string())));
        }
        Ok(lines)
    }

    /// Where a line of the file is.
    fn line(&self, number: usize) -> (usize, usize) {
        let start = self.file.text.split_inclusive('\n').take(number).map(str::len).sum();
        let end = self.file.text[start..].find('\n').map_or(self.file.text.len(), |end| start + end);
        (start, end)
    }

    fn result(
        &self,
        block: &Block,
        (line, name, expected): (usize, String, Option<String>),
        found: String,
    ) -> TestResult {
        let case = [Some(&self.case.heading).filter(|heading| !heading.is_empty()), self.case.name.as_ref()];
        let case: Vec<&str> = case.into_iter().flatten().map(String::as_str).collect();
        let kind = block.info[0].clone();
        TestResult { case: case.join(": "), kind, name, line: line as u64 + 1, expected, found }
    }

    /// What a block of warnings or of an error says.
    fn whole(&self, block: &Block) -> TestResult {
        let checked = self.check(Semantics::Finite);
        let found = match (block.info[0].as_str(), checked) {
            ("error", Ok(_)) => "no error".to_string(),
            ("error", Err(error)) => error.render(false).trim_end().to_string(),
            (_, Ok(report)) => {
                let own = self.spec.iter().flat_map(|spec| &spec.warnings).chain(&report.warnings);
                let mut codes: Vec<String> = own.filter(|warning| warns(warning)).map(sentence).collect();
                codes.dedup();
                if codes.is_empty() { "none".into() } else { codes.join("\n") }
            }
            (_, Err(error)) => told(&error),
        };
        let expected: Vec<&str> =
            block.body.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        let expected = (!expected.is_empty()).then(|| expected.join("\n"));
        self.result(block, (block.first, String::new(), expected), found)
    }

    fn check(&self, semantics: Semantics) -> Result<CheckReport, Error> {
        let spec = match &self.spec {
            Ok(spec) => Cow::Borrowed(spec),
            Err(_) => Cow::Owned(specification(self.file, self.case)?),
        };
        let options = CheckOptions {
            violations: LISTED,
            explain: false,
            by: self.by.clone(),
            ..CheckOptions::default()
        };
        self.session.clone().semantics(semantics).check(&spec, std::slice::from_ref(&self.trace), &options)
    }

    /// `violated 3 7`, `violated 3 (u = "bob")`, `satisfied` of each property.
    fn verdicts(&self, block: &Block, spec: &Specification) -> Result<Vec<(String, String)>, Error> {
        let semantics = match block.info.get(1) {
            None => Semantics::Finite,
            Some(word) => match Semantics::ALL.iter().find(|(name, _)| name == word) {
                Some((_, semantics)) => *semantics,
                None => {
                    let names: Vec<&str> = Semantics::ALL.iter().map(|(name, _)| *name).collect();
                    let help = format!("semantics are {}", names.join(", "));
                    return Err(self.file.error(block.at, &format!("unknown semantics `{word}`"), &help));
                }
            },
        };
        let report = match self.check(semantics) {
            Ok(report) => report,
            Err(error) => {
                let roots = spec.program.roots.iter().map(|root| &root.name);
                let all = roots.chain(spec.program.monitors.iter().map(|monitor| &monitor.name));
                return Ok(all.map(|name| (name.clone(), told(&error))).collect());
            }
        };
        let told = report.properties.into_iter().map(|property| {
            let mut text = property.verdict.as_str().to_string();
            for violation in &property.violations {
                let position = violation.position.map(|position| format!(" {position}"));
                text.push_str(&position.unwrap_or_default());
                if !violation.bindings.is_empty() {
                    text.push_str(&format!(" ({})", words::bindings(&violation.bindings)));
                }
            }
            (property.name, text)
        });
        Ok(told.collect())
    }

    /// One property or query at a time, so that one that cannot be answered leaves the others alone.
    fn each(
        &self,
        spec: &Specification,
        expected: &[(usize, String, Option<String>)],
        answer: impl Fn(&Session, &Specification, &[String]) -> Result<String, Error>,
    ) -> Vec<(String, String)> {
        let one = |name: &String| {
            let mut one = spec.clone();
            one.program.roots.retain(|root| root.name == *name);
            answer(&self.session, &one, std::slice::from_ref(&self.trace))
                .unwrap_or_else(|error| told(&error))
        };
        expected.iter().map(|(_, name, _)| (name.clone(), one(name))).collect()
    }
}

/// The specification of a case: a file, or the lines of a block.
fn specification(file: &TestFile, case: &Case) -> Result<Specification, Error> {
    let empty = case.spec.body.iter().all(|line| line.trim().is_empty());
    match case.spec.info.get(1).filter(|_| empty) {
        Some(path) => Specification::from_file(&file.beside(path)),
        // Lines before it are empty, so that errors name the lines of this file.
        None => {
            let before = "\n".repeat(case.spec.first);
            Specification::from_text(&file.path, &format!("{before}{}\n", case.spec.body.join("\n")))
        }
    }
}

/// The value of a query: one, `key = value` for each key, or one at each position.
fn values(
    session: &Session,
    spec: &Specification,
    trace: &[String],
    options: &QueryOptions,
) -> Result<String, Error> {
    let report = session.query(spec, trace, options)?;
    if !report.failures.is_empty() {
        return Ok("error".into());
    }
    let Some(query) = report.queries.first() else { return Ok("nothing".into()) };
    if let Some(values) = &query.everywhere {
        return Ok(values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    }
    let each = query.groups.iter().map(|group| match &group.key {
        Some(key) => format!("{key} = {}", group.value),
        None => group.value.to_string(),
    });
    Ok(each.collect::<Vec<_>>().join(", "))
}

fn warns(found: &Diagnostic) -> bool {
    found.severity == Severity::Warning
}

fn sentence(found: &Diagnostic) -> String {
    format!("{}: {}", found.code, found.message)
}

/// An error in a line.
fn told(error: &Error) -> String {
    let text = error.render(false);
    text.lines().next().unwrap_or_default().to_string()
}

/// Whether what came out is what was expected. White space does not count; a warning may be given by its code alone, and
/// of an error each line that is expected has to be in it.
pub(super) fn same(kind: &str, expected: &str, found: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match kind {
        "warnings" => {
            let (expected, found): (Vec<&str>, Vec<&str>) =
                (expected.lines().collect(), found.lines().collect());
            let fits = |(expected, found): (&&str, &&str)| {
                words(expected) == words(found)
                    || found.split_once(": ").is_some_and(|(code, _)| code == *expected)
            };
            expected.len() == found.len() && expected.iter().zip(&found).all(fits)
        }
        "error" => found != "no error" && expected.lines().all(|line| words(found).contains(&words(line))),
        _ => words(expected) == words(found),
    }
}

/// The lines of a block with what came out. What was right stays as it is written.
pub(super) fn rewrite(block: &Block, results: &[TestResult]) -> Vec<String> {
    let whole = matches!(block.info[0].as_str(), "warnings" | "error");
    let line = |result: &TestResult| format!("{}: {}", result.name, result.found);
    match results {
        [one] if whole && one.passed() => block.body.clone(),
        [one] if whole => one.found.lines().map(str::to_string).collect(),
        all if all.iter().all(|result| result.expected.is_none()) => all.iter().map(line).collect(),
        all => {
            let mut body = block.body.clone();
            for result in all.iter().filter(|result| !result.passed()) {
                body[result.line as usize - 1 - block.first] = line(result);
            }
            body
        }
    }
}
