//! What a word under the cursor is: a name with its type and where it comes from, or an operator in words.

use crate::document::{Document, Encoding};
use serde_json::{Value, json};
use tracewise::Session;
use tracewise::inspect::InspectReport;
use tracewise::ir::{Expect, What};
use tracewise::language::ast::{DeclarationKind, Tree};
use tracewise::language::meanings::{Place, meaning};
use tracewise::language::{Look, Name, NameKind, PATTERNS, Use, WordKind, print, type_of};

/// The longest declaration that is shown.
const LONGEST: usize = 600;

/// What is to be said of the place at `offset`.
pub fn hover(
    document: &Document,
    offset: usize,
    sample: Option<&InspectReport>,
    encoding: Encoding,
) -> Value {
    let look = document.look();
    let at = offset as u32;
    let told = match look.names.at(at) {
        Some(found) => Some((found.span, name(look, found, sample))),
        None => word(document, at),
    };
    match told {
        Some((span, text)) if !text.is_empty() => {
            json!({"contents": {"kind": "markdown", "value": text}, "range": document.range(span, encoding)})
        }
        _ => Value::Null,
    }
}

/// An operator, a keyword or a constant.
fn word(document: &Document, at: u32) -> Option<(tracewise::diag::Span, String)> {
    let words = document.words();
    // Of two that meet here, the one that begins.
    let index = words.iter().rposition(|word| word.span.start <= at && at <= word.span.end)?;
    let word = words[index];
    let text = document.slice(word.span);
    let next = words.get(index + 1).map_or("", |next| document.slice(next.span));
    let behind_operand = index > 0 && words[index - 1].ends_operand;
    let begins = index == 0 || matches!(document.slice(words[index - 1].span), ";" | "}" | "{");
    let mut places = Vec::new();
    match word.kind {
        WordKind::Comment | WordKind::Text | WordKind::Unknown | WordKind::Quoted => return None,
        WordKind::Number => {
            return Some((
                word.span,
                "a number; a unit behind it makes it a length of time: `10ms`".to_owned(),
            ));
        }
        _ => {}
    }
    if begins && next != "[" {
        places.extend([Place::Declaration, Place::MonitorLine, Place::Setting]);
    }
    if next == "[" {
        places.push(Place::Aggregate);
    }
    if behind_operand {
        places.push(Place::Infix);
    }
    places.extend([
        Place::Prefix,
        Place::Infix,
        Place::Operand,
        Place::Inside,
        Place::Type,
        Place::Aggregate,
        Place::Declaration,
        Place::MonitorLine,
    ]);
    let found = meaning(text, &places)?;
    let mut told = format!("```tracewise\n{}\n```\n{}", found.form, found.meaning);
    let others: Vec<String> = std::iter::once(&found.word)
        .chain(&found.others)
        .filter(|own| **own != text)
        .map(|own| format!("`{own}`"))
        .collect();
    if !others.is_empty() {
        told.push_str(&format!("\n\nAlso written {}.", others.join(", ")));
    }
    Some((word.span, told))
}

/// A name: its declaration, its type, what the trace has of it, what the engine will do.
fn name(look: &Look, found: &Use, sample: Option<&InspectReport>) -> String {
    let name = &look.names.list[found.name];
    let mut parts: Vec<String> = Vec::new();
    match name.kind {
        NameKind::Library => parts.push(library(&name.name)),
        NameKind::Macro | NameKind::Stream | NameKind::Root | NameKind::Event | NameKind::Variable => {
            if let Some(index) = name.declaration {
                parts.push(declaration(&look.tree, index));
            }
            parts.push(kind(look, name));
            if name.kind == NameKind::Root {
                parts.push(engine(look, name));
            }
        }
        NameKind::Parameter => parts.push("a parameter of this macro".to_owned()),
        NameKind::Bound => parts.push("a variable; it stands for a value".to_owned()),
        NameKind::MonitorEvent => parts.push("an event of this monitor".to_owned()),
        NameKind::MonitorParameter => {
            parts.push(
                "a parameter of this monitor: there is a small state for every combination of values"
                    .to_owned(),
            );
        }
        NameKind::State => parts.push("a state of this automaton".to_owned()),
        NameKind::Field => parts.push("an argument of this event".to_owned()),
        NameKind::Trace => parts.push(of_trace(look, name, found)),
    }
    if matches!(name.kind, NameKind::Trace | NameKind::Event | NameKind::Variable) {
        parts.push(sampled(&name.name, sample, name.kind == NameKind::Trace));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// The declaration as it is printed, alone.
fn declaration(tree: &Tree, index: usize) -> String {
    let mut declaration = tree.declarations[index].clone();
    let before: Vec<String> = declaration.comments.iter().map(|comment| comment.text.clone()).collect();
    declaration.comments.clear();
    declaration.trailing = None;
    // The arena is shared: only the declaration is printed.
    let alone =
        Tree { exprs: tree.exprs.clone(), declarations: vec![declaration], trailing_comments: Vec::new() };
    let mut text = print(&alone).trim_end().to_owned();
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at);
        text.push_str(" …");
    }
    if text.is_empty() {
        return String::new();
    }
    let comment: Vec<&str> = before
        .iter()
        .map(|text| text.trim_start_matches("//").trim_start_matches("/*").trim_end_matches("*/").trim())
        .collect();
    let comment = if comment.is_empty() { String::new() } else { format!("\n{}", comment.join("\n")) };
    format!("```tracewise\n{text}\n```{comment}")
}

/// What the declaration makes of the name.
fn kind(look: &Look, name: &Name) -> String {
    let Some(index) = name.declaration else { return String::new() };
    let of = |body| match type_of(&look.tree, &look.names, body) {
        Some("formula") => ": a formula, true or false at every position",
        Some("experiment") => ": an experiment, with a value or none at every position",
        Some("number" | "int" | "real") => ": a number",
        Some("string") => ": a text",
        Some("tuple") => ": a tuple",
        _ => "",
    };
    match &look.tree.declarations[index].kind {
        DeclarationKind::Let { body, .. } => {
            format!("a macro{}; its body stands wherever its name is written", of(*body))
        }
        DeclarationKind::Stream { .. } => "a stream: a column that its equation defines".to_owned(),
        DeclarationKind::Property { .. } => {
            "a property: it has to hold at the first position of every trace".to_owned()
        }
        DeclarationKind::Trigger { .. } => "a trigger: every position where it holds is reported".to_owned(),
        DeclarationKind::Query { .. } => "a query: its value at the first position of the trace".to_owned(),
        DeclarationKind::Require { .. } => "a requirement: a bound on the value of a query".to_owned(),
        DeclarationKind::Monitor(_) => {
            "a monitor: a small state per combination of values that its events name".to_owned()
        }
        DeclarationKind::Chart(_) => "a sequence chart".to_owned(),
        DeclarationKind::Event { template: Some(_), .. } if name.kind == NameKind::Event => {
            "an event of the trace: it happens where the text contains the template".to_owned()
        }
        DeclarationKind::Event { .. } if name.kind == NameKind::Event => "an event of the trace".to_owned(),
        DeclarationKind::Event { .. } => "a placeholder of this template, which is also a column".to_owned(),
        DeclarationKind::Var { .. } => "a column of the trace, of the declared type".to_owned(),
        _ => String::new(),
    }
}

/// Which engine will run it.
fn engine(look: &Look, name: &Name) -> String {
    let Some(spec) = &look.specification else { return String::new() };
    match Session::new().engine_of(spec, &name.name) {
        Some(choice) => match choice.engine {
            Some(engine) => {
                format!("Runs on the engine `{engine}`: {}.", tracewise::diag::plain(&choice.reason))
            }
            None => format!("No engine runs it: {}.", tracewise::diag::plain(&choice.reason)),
        },
        None => String::new(),
    }
}

/// A pattern of the library, or a function.
fn library(name: &str) -> String {
    match PATTERNS.iter().find(|pattern| pattern.name == name) {
        Some(pattern) => format!(
            "```tracewise\n{}({}) = {}\n```\n{}\n\nFor example `{}`.",
            pattern.name,
            pattern.parameters.join(", "),
            pattern.formula,
            pattern.meaning,
            pattern.example
        ),
        None => match meaning(name, &[Place::Operand]) {
            Some(found) => format!("```tracewise\n{}\n```\n{}", found.form, found.meaning),
            None => String::new(),
        },
    }
}

/// What nothing declares: how it is used.
fn of_trace(look: &Look, name: &Name, found: &Use) -> String {
    if found.called {
        return "an event of the trace, not declared: false where the trace has none".to_owned();
    }
    let mut uses: Vec<&str> = Vec::new();
    for slot in look.specification.iter().flat_map(|spec| spec.program.slots.iter()) {
        let (path, word) = match &slot.what {
            What::Proposition(path) => (path, "a proposition"),
            What::Variable(path, expect) => (
                path,
                match expect {
                    Expect::Bool => "a truth value",
                    Expect::Int => "a whole number",
                    Expect::Real | Expect::Number => "a number",
                    Expect::Text => "a text",
                    _ => "a value",
                },
            ),
            _ => continue,
        };
        let first = path.steps.first();
        let same = matches!(first, Some(tracewise::ir::PathStep::Field(own)) if *own == name.name);
        if same && !uses.contains(&word) {
            uses.push(word);
        }
    }
    match uses.is_empty() {
        true => "a column or event of the trace, not declared".to_owned(),
        false => format!("a column or event of the trace, not declared; used as {}", uses.join(" and ")),
    }
}

/// What the sample has of it.
fn sampled(name: &str, sample: Option<&InspectReport>, undeclared: bool) -> String {
    let Some(sample) = sample else { return String::new() };
    let mut told: Vec<String> = Vec::new();
    for column in &sample.columns {
        let own =
            column.name == name || column.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        if own && told.len() < 8 {
            let range = column.range.map(|(low, high)| format!(", {low} to {high}")).unwrap_or_default();
            let examples: Vec<String> =
                column.examples.iter().take(3).map(|text| format!("`{text}`")).collect();
            let examples = if examples.is_empty() {
                String::new()
            } else {
                format!(", such as {}", examples.join(", "))
            };
            told.push(format!("`{}`: {}{range}{examples}", column.name, column.kind));
        }
    }
    if let Some((_, count)) = sample.events.iter().find(|(event, _)| event == name) {
        told.push(format!("an event, {count} times"));
    }
    match told.is_empty() {
        true if !undeclared => String::new(),
        true => format!("Not in the sample `{}` (its first {} positions).", sample.trace, sample.positions),
        false => format!("In the sample: {}.", told.join("; ")),
    }
}
