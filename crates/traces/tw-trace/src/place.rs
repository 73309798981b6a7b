//! A timestamp that is no column of its own: it stands inside nested data (`metadata.created`), or several columns hold its
//! parts (`Date Time`).

use crate::{Row, Stamp, Stamps, quote};
use tw_core::Value;
use tw_ir::{Path, PathStep};

/// Where such a timestamp is.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePlace {
    name: String,
    parts: Vec<Path>,
}

impl TimePlace {
    /// The place that a name means where no column is called so; `None` if it has neither dots nor blanks.
    pub fn of(name: &str) -> Option<Self> {
        let listed: Vec<&str> = name.split_whitespace().collect();
        let parts = match listed.as_slice() {
            [_, _, ..] => listed.into_iter().map(Path::parse).collect(),
            [one] if one.contains('.') => vec![Path::parse(one)],
            _ => return None,
        };
        Some(Self { name: name.into(), parts })
    }

    /// As it was written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns in which its parts begin.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|path| match path.steps.first() {
            Some(PathStep::Field(name)) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The timestamp of a row, `None` where a part of it is missing.
    pub fn stamp(&self, row: &Row, stamps: Stamps) -> Result<Option<Stamp>, String> {
        let mut text = String::new();
        let mut number = false;
        for path in &self.parts {
            let value = value_of(row, path);
            number = self.parts.len() == 1 && matches!(value, Value::Int(_) | Value::Real(_));
            if !text.is_empty() {
                text.push(' ');
            }
            match value {
                Value::Null => return Ok(None),
                Value::Str(part) => text.push_str(&part),
                other => text.push_str(&other.to_string()),
            }
        }
        let read = if number { stamps.number(&text) } else { stamps.parse(&text) };
        read.map(Some).map_err(|error| {
            let expected = stamps.expected();
            format!("`{}`: found {} ({error}), expected {expected}", self.name, quote(&text))
        })
    }

    /// Takes the columns that are parts of it out of a row's variables, as a column of timestamps is none.
    pub fn take_out(&self, row: &mut Row) {
        if self.parts.len() > 1 {
            let is_part = |name: &str| self.parts.iter().any(|path| is_whole(path, name));
            row.variables.retain(|(name, _)| !is_part(name));
        }
    }
}

/// Whether a path is that very column.
fn is_whole(path: &Path, name: &str) -> bool {
    matches!(path.steps.as_slice(), [PathStep::Field(own)] if own == name)
}

/// A value as it is written: what looks like a number keeps its zeros.
fn value_of(row: &Row, path: &Path) -> Value {
    let own = row.variables.iter().find(|(name, _)| is_whole(path, name));
    own.map_or_else(|| crate::value_at(row, path), |(_, value)| value.clone())
}
