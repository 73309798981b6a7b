//! Words of NuSMV, and values as its symbols.

use super::super::json;
use super::super::names::{self, Names};
use rustc_hash::FxHashMap;
use tw_core::Value;

/// Words that cannot be names, in the language and in its specifications.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "A", "ABF", "ABG", "AF", "AG", "ARRAY", "ASSIGN", "AX", "BU", "COMPASSION", "COMPID", "COMPUTE",
    "COMPWFF", "CONSTANTS", "CONSTARRAY", "CONSTRAINT", "CTLSPEC", "CTLWFF", "DEFINE", "E", "EBF", "EBG",
    "EF", "EG", "EX", "F", "FAIRNESS", "FALSE", "FROZENVAR", "FUN", "G", "H", "IN", "INIT", "INVAR",
    "INVARSPEC", "ISA", "ITYPE", "IVAR", "Integer", "JUSTICE", "LTLSPEC", "LTLWFF", "MAX", "MDEFINE", "MIN",
    "MIRROR", "MODULE", "NAME", "O", "PARSYNTH", "PRED", "PREDICATES", "PSLSPEC", "PSLWFF", "READ", "Real",
    "S", "SIMPWFF", "SPEC", "T", "TRANS", "TRUE", "U", "V", "VAR", "WRITE", "Word", "X", "Y", "Z", "abs",
    "array", "bool", "boolean", "case", "count", "esac", "extend", "floor", "in", "init", "integer", "max",
    "min", "mod", "next", "of", "process", "pi", "real", "resize", "self", "signed", "sizeof", "swconst",
    "time", "toint", "typeof", "union", "unsigned", "uwconst", "word", "word1", "xnor", "xor",
];

/// Whether a name is the language's own. `time` is a word of timed models alone, and a variable in the paper.
pub(super) fn is_reserved(name: &str) -> bool {
    name != "time" && RESERVED.contains(&name)
}

/// How values and variables are written, each by a name of its own.
#[derive(Default)]
pub(super) struct Symbols {
    /// By the JSON of a value.
    values: FxHashMap<String, String>,
    /// Changed names, and the JSON of what they stand for.
    pub changed: Vec<(String, String)>,
}

impl Symbols {
    /// Names for variables (in order) and for values.
    pub fn new<'a>(
        variables: &[String],
        values: impl Iterator<Item = &'a Value> + Clone,
    ) -> (Self, Vec<String>) {
        let mut names = Names::new(is_reserved);
        let mut symbols = Symbols::default();
        // What is legal as it is keeps its name, whoever comes first.
        let plain: Vec<bool> = variables.iter().map(|name| names.take(name)).collect();
        for value in values.clone() {
            if let Value::Str(text) = value
                && names.take(text)
            {
                symbols.values.insert(json::text(value), text.to_string());
            }
        }
        let called = variables.iter().zip(plain).map(|(name, plain)| {
            if plain {
                return name.clone();
            }
            let changed = names.fresh(name);
            symbols.changed.push((changed.clone(), json::text(&Value::text(name))));
            changed
        });
        let called = called.collect();
        for value in values.filter(|value| !matches!(value, Value::Int(_))) {
            let key = json::text(value);
            if !symbols.values.contains_key(&key) {
                let name = names.fresh(&wanted(value));
                symbols.changed.push((name.clone(), key.clone()));
                symbols.values.insert(key, name);
            }
        }
        (symbols, called)
    }

    /// The symbol of a value; whole numbers are their own.
    pub fn of(&self, value: &Value) -> String {
        match value {
            Value::Int(number) => number.to_string(),
            _ => self.values.get(&json::text(value)).cloned().unwrap_or_default(),
        }
    }
}

/// What a value that is no legal name would like to be called.
fn wanted(value: &Value) -> String {
    match value {
        Value::Null => "null_".to_owned(),
        Value::Bool(value) => format!("{value}_"),
        Value::Real(real) => format!("r{real:?}"),
        Value::Str(text) => text.to_string(),
        _ => json::text(value),
    }
}

/// What a comment says of a name that was changed: `-- a_b is "a b"`. Remarks that merely look like it are left alone:
/// the name must be one that the value is given.
pub(super) fn changed_name(comment: &str) -> Option<(&str, Value)> {
    let (name, value) = comment.strip_prefix("-- ")?.split_once(" is ")?;
    let value = json::value(value.trim_end())?;
    let given = names::identifier(&wanted(&value));
    let ours = match name.strip_prefix(given.as_str())? {
        "" => !matches!(&value, Value::Str(text) if **text == *name),
        "_" => true,
        rest => rest
            .strip_prefix('_')
            .map(|rest| rest.strip_prefix('_').unwrap_or(rest))
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())),
    };
    (ours && !matches!(value, Value::Int(_))).then_some((name, value))
}
