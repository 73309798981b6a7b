//! What has no operands: names, values, sets, events.

use crate::{ArgumentKey, Path, PathStep, SetItem, Tally, What, is_keyword, quote};
use std::fmt::Write;
use tw_core::Value;

/// Words that are names only in backquotes where a declaration may begin or an argument may be left out.
const WORDS: &[&str] = &["var", "let", "property", "query", "_"];

pub(super) fn what(out: &mut String, what: &What) {
    match what {
        What::Proposition(at) | What::Variable(at, _) => path(out, at),
        What::Timing(timing) => {
            out.push_str(timing.measure.name());
            out.push_str(if timing.called { "()" } else { "" });
        }
        What::Stream { name: stream, .. } => name(out, stream),
        What::Shift(shift) => {
            path(out, &shift.path);
            let _ = write!(out, "[{:+}|", shift.by);
            value(out, &shift.default);
            out.push(']');
        }
        What::Window(window) => out.push_str(&window.text),
        What::Event { name, arguments, arity } => {
            let arguments: Vec<(&ArgumentKey, String)> = arguments
                .iter()
                .map(|(key, constant)| {
                    let mut out = String::new();
                    value(&mut out, constant);
                    (key, out)
                })
                .collect();
            event(out, name, &arguments, *arity);
        }
        What::Tuples { name, .. } => event(out, name, &[], None),
    }
}

pub(super) fn event(
    out: &mut String,
    event: &str,
    arguments: &[(&ArgumentKey, String)],
    arity: Option<usize>,
) {
    if arguments.is_empty() && arity.is_none() {
        out.push_str("event ");
        name(out, event);
        return;
    }
    // A `:` in these parentheses would make it an aggregate over valuations.
    if arity.is_none() && Tally::ALL.iter().any(|(name, _)| *name == event) {
        out.push_str("event ");
    }
    name(out, event);
    out.push('(');
    match arity {
        Some(arity) => {
            for position in 0..arity {
                let given = arguments.iter().find(|(key, _)| **key == ArgumentKey::Index(position));
                out.push_str(if position > 0 { ", " } else { "" });
                out.push_str(given.map_or("_", |(_, argument)| argument));
            }
        }
        None => {
            for (position, (key, argument)) in arguments.iter().enumerate() {
                out.push_str(if position > 0 { ", " } else { "" });
                match key {
                    ArgumentKey::Name(key) | ArgumentKey::Declared { name: key, .. } => {
                        name(out, key);
                        out.push_str(": ");
                    }
                    ArgumentKey::Index(_) => {}
                }
                out.push_str(argument);
            }
        }
    }
    out.push(')');
}

pub(super) fn path(out: &mut String, path: &Path) {
    for (position, step) in path.steps.iter().enumerate() {
        match step {
            PathStep::Field(field) => {
                out.push_str(if position > 0 { "." } else { "" });
                name(out, field);
            }
            PathStep::Each => out.push_str("[*]"),
        }
    }
}

/// A name, in backquotes if it would be read as something else without.
pub(super) fn name(out: &mut String, name: &str) {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
        && !is_keyword(name)
        && !WORDS.contains(&name);
    if plain {
        out.push_str(name);
    } else {
        let _ = write!(out, "`{}`", name.replace('`', "``"));
    }
}

pub(super) fn value(out: &mut String, value: &Value) {
    match value {
        Value::Str(text) => out.push_str(&quote(text)),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

pub(super) fn set(out: &mut String, items: &[SetItem]) {
    out.push('{');
    for (position, item) in items.iter().enumerate() {
        out.push_str(if position > 0 { ", " } else { "" });
        match item {
            SetItem::Value(constant) => value(out, constant),
            SetItem::Range(low, high) => {
                let _ = write!(out, "{low}..{high}");
            }
        }
    }
    out.push('}');
}
