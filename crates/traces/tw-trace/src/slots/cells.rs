//! Arguments of an event as the cells of a block: compared with a pattern without making values of them.

use tw_core::Value;
use tw_ir::ArgumentKey;

/// The arguments of an event, known by position.
pub(crate) trait Cells {
    /// How many.
    fn len(&self) -> usize;
    /// The text of one, and whether it was in quotes: empty and bare is null.
    fn get(&self, index: usize) -> Option<(&str, bool)>;
}

/// The position of an argument; `None` if it is asked for by name, and arguments have no names here.
pub(super) fn index_of(key: &ArgumentKey) -> Option<usize> {
    match key {
        ArgumentKey::Index(index) | ArgumentKey::Declared { index, .. } => Some(*index),
        ArgumentKey::Name(_) => None,
    }
}

/// Whether the arguments meet a pattern; `None` if rows must say, because the pattern names arguments.
#[inline]
pub(crate) fn meets(
    constants: &[(ArgumentKey, Value)],
    arity: Option<usize>,
    cells: &impl Cells,
) -> Option<bool> {
    let fits = arity.is_none_or(|arity| arity == cells.len());
    for (key, constant) in constants {
        let index = index_of(key)?;
        if !fits || !cells.get(index).is_some_and(|(text, quoted)| equals(text, quoted, constant)) {
            return Some(false);
        }
    }
    Some(fits)
}

/// [`crate::equals`] for a cell without a type, without making a value of it.
fn equals(text: &str, quoted: bool, constant: &Value) -> bool {
    if text.is_empty() {
        return quoted && matches!(constant, Value::Str(constant) if constant.is_empty());
    }
    let number = || matches!(text.as_bytes()[0], b'0'..=b'9' | b'-' | b'+' | b'.');
    match constant {
        Value::Str(constant) => **constant == *text,
        Value::Bool(constant) => match text {
            "true" => *constant,
            "false" => !*constant,
            _ => number() && text.parse() == Ok(i64::from(*constant)),
        },
        Value::Int(constant) => match text.parse::<i64>() {
            Ok(int) => int == *constant,
            Err(_) => {
                number() && text.parse::<f64>().is_ok_and(|real| real.is_finite() && *constant as f64 == real)
            }
        },
        Value::Real(constant) => match text.parse::<i64>() {
            Ok(int) => int as f64 == *constant,
            Err(_) => number() && text.parse::<f64>().is_ok_and(|real| real.is_finite() && *constant == real),
        },
        Value::Null | Value::List(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_that_of_rows() {
        let texts = [
            "", "0", "1", "-1", "+1", "1.0", "1e0", "true", "false", "nan", "inf", "-inf", "1e999", "bob",
            "10.0.0.1",
        ];
        let constants = [
            Value::Null,
            Value::Bool(true),
            Value::Bool(false),
            Value::Int(0),
            Value::Int(1),
            Value::Int(-1),
            Value::Real(1.0),
            Value::Real(0.5),
            Value::text(""),
            Value::text("1"),
            Value::text("bob"),
            Value::List(vec![]),
        ];
        for text in texts {
            for quoted in [false, true] {
                let value = if text.is_empty() && !quoted { Value::Null } else { Value::text(text) };
                for constant in &constants {
                    let expected = crate::equals(&value, constant, false);
                    assert_eq!(equals(text, quoted, constant), expected, "{text} {quoted} {constant:?}");
                }
            }
        }
    }
}
