//! The values a trace can hold.

use std::fmt;
use std::sync::Arc;

/// One value: a cell, a key's content, an event's argument, the result of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An empty cell or an absent key; also "no value" of an experiment.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number that is not whole, or was written with a point or an exponent.
    Real(f64),
    /// Text.
    Str(Arc<str>),
    /// A tuple `(a, b)`, or a JSON list.
    List(Vec<Value>),
    /// A JSON object, keys in the order of the text.
    Object(Vec<(Arc<str>, Value)>),
}

impl Value {
    /// Text.
    pub fn text(text: &str) -> Value {
        Value::Str(text.into())
    }

    /// Reads a cell of a text format the way a person would: `true`/`false` are booleans, decimal
    /// numbers are numbers, nothing is null, the rest is text, whole numbers beyond 64 bits too (an
    /// identifier of twenty digits keeps them all). `None` for NaN and infinities, which no trace may hold.
    pub fn from_cell(cell: &str) -> Option<Value> {
        Some(match cell {
            "" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => {
                let first = cell.as_bytes()[0];
                if first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.') {
                    if let Ok(int) = cell.parse::<i64>() {
                        return Some(Value::Int(int));
                    }
                    let whole = cell.bytes().skip(1).all(|byte| byte.is_ascii_digit());
                    if !whole && let Ok(real) = cell.parse::<f64>() {
                        return real.is_finite().then_some(Value::Real(real));
                    }
                } else if matches!(cell.to_ascii_lowercase().as_str(), "nan" | "inf" | "infinity") {
                    return None;
                }
                Value::text(cell)
            }
        })
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The name of this value's kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Real(_) => "a number",
            Value::Str(_) => "text",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// Numbers and booleans bare, text bare, lists in brackets.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Real(r) => write!(f, "{r:?}"),
            Value::Str(s) => f.write_str(s),
            Value::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Object(fields) => {
                f.write_str("{")?;
                for (i, (key, value)) in fields.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}
