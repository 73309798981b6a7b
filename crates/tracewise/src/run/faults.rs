//! What is wrong with a trace, or with a specification on it, in words that point at both.

use super::columns::Loaded;
use super::open::Opened;
use crate::error::{Budget, Setting, trace_code};
use crate::narrate::{QUOTED, shorten};
use crate::{Error, Session, Specification};
use tw_core::{Column, Position, Relation, Value};
use tw_diag::Diagnostic;
use tw_ir::{Node, NodeId, What};
use tw_monitor::PredicateError;
use tw_trace::{Locator, Summary, TraceError, TraceErrorKind, TraceWarningKind};

/// What a reader's error cannot say while a trace is read, for the error that ends the reading: where a term had no value,
/// which budget ran out.
#[derive(Default)]
pub(crate) struct Fault {
    term: Option<(NodeId, Position)>,
    over: Option<Budget>,
}

impl Fault {
    /// Notes an error on a batch that begins at `start`, as one that a reader can give back.
    pub fn note(&mut self, error: PredicateError, start: Position) -> TraceError {
        self.term = Some((error.node, start + error.position));
        TraceError::new(TraceErrorKind::Type, error.message)
    }

    /// Notes that more is kept than the memory budget allows; signals can be read as a stream instead.
    pub fn over(&mut self, what: String, bytes: usize, budget: usize, signals: bool) -> TraceError {
        let instead = signals.then(|| format!("read the trace as a stream with {}", Setting::Live));
        let message = what.clone();
        self.over = Some(Budget {
            setting: Setting::Memory,
            what,
            needed: Some(bytes),
            allowed: budget,
            instead,
            trace: String::new(),
        });
        TraceError::new(TraceErrorKind::Budget, message)
    }

    /// Notes that a budget ran out.
    pub fn out_of(&mut self, budget: Budget) -> TraceError {
        let message = budget.what.clone();
        self.over = Some(budget);
        TraceError::new(TraceErrorKind::Budget, message)
    }

    /// The error that ended the reading: of a term, with its line and the place of the specification; or of the trace.
    pub fn word(&self, session: &Session, spec: &Specification, opened: &Opened, error: TraceError) -> Error {
        if let Some(budget) = &self.over {
            return Error::Budget(Budget { trace: opened.name.clone(), ..budget.clone() });
        }
        let Some((node, position)) = self.term else {
            return trace_error(spec, error);
        };
        let mut error = error;
        // Sorting moves positions; what was read to find this error is not kept.
        if session.read.sort.is_none()
            && let Some(located) = opened.locate(&Locator::default(), &[position]).remove(&position)
        {
            (error.file, error.line) = (located.file, located.line);
        }
        not_computable_at(spec, error, node, position)
    }
}

/// A trace error together with the place of the specification that asks for what is missing.
pub(crate) fn trace_error(spec: &Specification, error: TraceError) -> Error {
    let slot = error.slot.and_then(|slot| spec.program.slots.get(slot as usize));
    let unbound = error.kind == TraceErrorKind::UnknownName
        && error.slot.is_some_and(|slot| spec.program.arguments.contains(&slot));
    let asked = slot.map(|slot| match &slot.what {
        What::Variable(path, _) if unbound => {
            Diagnostic::error("unbound-variable", format!("`{path}` is not bound"))
                .at(slot.span, "not bound by a quantifier around it")
                .help(format!("write `forall {path}. …`, or quote it if you mean the text \"{path}\""))
        }
        _ => {
            let asked = Diagnostic::error(trace_code(&error.kind), error.to_string());
            match absent(&error) {
                Some(word) => {
                    asked.help(format!("if `{word}` says that there is no value: {}", Setting::Null.to(word)))
                }
                None if error.kind == TraceErrorKind::Arity => asked.help(
                    "write `_` for an argument that may be anything; events with other numbers of arguments are patterns of \
                     their own",
                ),
                None => asked,
            }
            .at(slot.span, "asked for here")
        }
    });
    Error::Trace { error: Box::new(error), asked, sources: Box::new(spec.sources.clone()) }
}

/// The word that was found in place of a value, if it is one of those that people write where there is none.
fn absent(error: &TraceError) -> Option<&'static str> {
    const WORDS: [&str; 8] = ["N/A", "n/a", "NA", "NULL", "null", "None", "-", "?"];
    let of_type = error.kind == TraceErrorKind::Type;
    let found = |word: &&str| of_type && error.message.contains(&format!("found `{word}`,"));
    WORDS.into_iter().find(found)
}

/// A term without a value at a position, where the error knows its line.
pub(crate) fn not_computable_at(
    spec: &Specification,
    error: TraceError,
    node: NodeId,
    position: Position,
) -> Error {
    let diagnostic = Diagnostic::error(trace_code(&error.kind), error.to_string());
    let asked = match spec.span(node) {
        Some(span) => diagnostic.at(span, format!("computed here, at position {position}")),
        None => diagnostic,
    };
    let asked = match error.message.contains("overflows") {
        true => asked.help("integers have 64 bits; a real constant such as `1.0` makes the arithmetic real"),
        false => asked,
    };
    Error::Trace { error: Box::new(error), asked: Some(asked), sources: Box::new(spec.sources.clone()) }
}

/// The code of a warning about a trace.
pub(crate) fn warning_code(kind: TraceWarningKind) -> &'static str {
    match kind {
        TraceWarningKind::NeverOccurs => "never-occurs",
        TraceWarningKind::TemplatesDisagree => "templates-disagree",
        TraceWarningKind::OtherArity => "other-arity",
    }
}

/// Names that never occurred, with the place that asks for them.
pub(crate) fn never_occurs(spec: &Specification, summary: &Summary) -> Vec<Diagnostic> {
    let word = |warning: &tw_trace::TraceWarning| {
        let diagnostic = Diagnostic::warning(warning_code(warning.kind), warning.message.clone());
        match (warning.slot.and_then(|slot| spec.program.slots.get(slot as usize)), warning.kind) {
            (Some(slot), TraceWarningKind::OtherArity) if slot.declared => diagnostic
                .at(slot.span, "as declared")
                .help("their arguments are taken by the declared places; declare all that they have"),
            (Some(slot), TraceWarningKind::OtherArity) => diagnostic
                .at(slot.span, "this is not about them")
                .help("write `_` for each argument that may be anything"),
            (Some(slot), _) => diagnostic.at(slot.span, "always false here"),
            (None, _) => diagnostic,
        }
    };
    summary.warnings.iter().map(word).collect()
}

/// Events with variables in all argument places that occur, but never with that number of arguments: a pattern for another
/// event of that name, most likely. Nothing else is then said of their arguments.
pub(crate) fn other_arity(
    spec: &Specification,
    summary: &mut Summary,
    relations: &[Relation],
) -> Vec<Diagnostic> {
    let patterns = spec.program.patterns();
    let slots = patterns.iter().filter_map(|&node| spec.program.pattern_slot(node));
    let mut found = Vec::new();
    for (slot, relation) in slots.zip(relations) {
        let of = &spec.program.slots[slot as usize];
        let What::Tuples { name, constants, arity: Some(arity), .. } = &of.what else { continue };
        let about =
            |warning: &tw_trace::TraceWarning, kind| warning.slot == Some(slot) && warning.kind == kind;
        let absent = summary.warnings.iter().any(|own| about(own, TraceWarningKind::NeverOccurs));
        let none = relation.columns().first().is_some_and(Column::is_empty);
        if none && constants.is_empty() && !absent {
            let values = if *arity == 1 { "argument that has a value" } else { "arguments that have values" };
            let message = format!("event `{name}` occurs in this trace, but never with {arity} {values}");
            found.push(Diagnostic::warning("never-occurs", message).at(of.span, "always false here"));
            summary.warnings.retain(|own| !about(own, TraceWarningKind::OtherArity));
        }
    }
    found
}

/// Arguments that are declared `int` and have other values: no variable takes them, so that their events are left out.
pub(crate) fn not_whole(spec: &Specification, relations: &[Relation]) -> Vec<Diagnostic> {
    let program = &spec.program;
    let mut found: Vec<Diagnostic> = Vec::new();
    for (node, relation) in program.patterns().into_iter().zip(relations) {
        let Node::Pattern(number) = program.dag.node(node) else { continue };
        let pattern = &program.dag.patterns[number as usize];
        for (variable, column) in pattern.variables().zip(relation.columns()) {
            if !program.dag.is_whole(variable) || matches!(column, Column::Int { .. }) {
                continue;
            }
            let whole = |value: &Value| match value {
                Value::Int(_) => true,
                Value::Real(real) => real.fract() == 0.0,
                _ => false,
            };
            let mut others =
                (0..column.len()).map(|at| (at, column.value(at))).filter(|(_, own)| !whole(own));
            let Some((first, value)) = others.next() else { continue };
            let count = 1 + others.count();
            let position = relation.starts().partition_point(|start| *start as usize <= first) - 1;
            let (name, of) = (&pattern.name, &program.dag.variables[variable as usize]);
            let value = shorten(&format!("`{value}`"), QUOTED);
            let events = if count == 1 { "one event".into() } else { format!("{count} events") };
            let message = format!(
                "`{of}` stands for whole numbers, as a declaration says: {events} `{name}` with other values, the first \
                 {value} at position {position}, left out"
            );
            let span = program.slots[pattern.slot as usize].span;
            let own = Diagnostic::warning("other-type", message).at(span, "takes whole numbers alone");
            if !found.iter().any(|known| known.message == own.message) {
                found.push(own.help("declare the argument with the type that it has in the trace"));
            }
        }
    }
    found
}

/// An empty trace has no position 0 for anything to hold at.
pub(crate) fn refuse_empty(loaded: &Loaded) -> Result<(), Error> {
    match (loaded.trace.len, loaded.summary.bad_lines.first()) {
        (0, Some(first)) => Err(first.clone().into()),
        (0, None) => Err(nothing_to(&loaded.opened.name, "check")),
        _ => Ok(()),
    }
}

/// A trace without positions, of which nothing can be asked.
pub(crate) fn nothing_to(name: &str, verb: &str) -> Error {
    let message = format!("the trace has no positions, so there is nothing to {verb}");
    TraceError::new(TraceErrorKind::Usage, message).in_file(name).into()
}

/// A trace without timestamps, where they are needed.
pub(crate) fn without_timestamps(trace: &str, why: &str) -> Error {
    let time = Setting::Time.to("COL");
    let message = format!("{why}, and this trace has none (`{time}` names their column)");
    TraceError::new(TraceErrorKind::Usage, message).in_file(trace).into()
}
