//! What has no operands: names, values, sets, events.

use crate::{Aggregate, ArgumentKey, ArithmeticOp, CompareOp, Path, PathStep, SetItem, What};
use std::fmt::Write;
use tw_core::Value;

/// Words that are names only in backquotes.
const RESERVED: &[&str] = &[
    "X",
    "N",
    "F",
    "G",
    "Y",
    "Z",
    "O",
    "H",
    "U",
    "W",
    "R",
    "M",
    "S",
    "B",
    "T",
    "not",
    "and",
    "or",
    "xor",
    "implies",
    "iff",
    "always",
    "eventually",
    "until",
    "weak_until",
    "release",
    "next",
    "weak_next",
    "previously",
    "weak_previously",
    "once",
    "historically",
    "since",
    "back_to",
    "true",
    "false",
    "first",
    "last",
    "null",
    "in",
    "matches",
    "if",
    "then",
    "else",
    "forall",
    "exists",
    "var",
    "event",
    "let",
    "property",
    "query",
    "while",
    "_",
];

pub(super) fn sign(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "+",
        ArithmeticOp::Sub => "-",
        ArithmeticOp::Mul => "*",
        ArithmeticOp::Div => "/",
        ArithmeticOp::Rem => "%",
        ArithmeticOp::Min => "min",
        ArithmeticOp::Max => "max",
    }
}

pub(super) fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

pub(super) fn aggregate_name(aggregate: Aggregate) -> String {
    use Aggregate::*;
    let name = match aggregate {
        Count => "count",
        Sum => "sum",
        Min => "min",
        Max => "max",
        Avg => "avg",
        First => "first",
        Last => "last",
        Var => "var",
        Stddev => "stddev",
        Median => "median",
        Quantile(billionths) => return format!("quantile({})", f64::from(billionths) / 1e9),
        Histogram(bins) => return format!("histogram({bins})"),
        Mode => "mode",
        Distinct => "distinct",
        Corr => "corr",
    };
    name.to_owned()
}

pub(super) fn what(out: &mut String, what: &What) {
    match what {
        What::Proposition(at) | What::Variable(at, _) => path(out, at),
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
        && !RESERVED.contains(&name);
    if plain {
        out.push_str(name);
    } else {
        let _ = write!(out, "`{}`", name.replace('`', "``"));
    }
}

pub(super) fn value(out: &mut String, value: &Value) {
    match value {
        Value::Str(text) => quoted(out, text),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

pub(super) fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\u{d}"),
            c => out.push(c),
        }
    }
    out.push('"');
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
