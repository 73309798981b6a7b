//! How the language spells what has no structure: signs, aggregates, text, and the words that are no names.

use crate::{Aggregate, ArithmeticOp, CompareOp, Temporal};
use std::fmt;

/// How tightly operators bind, loosest first: parser and printers agree on these.
pub mod binding {
    /// No operator.
    pub const NOTHING: u8 = 0;
    /// `??`.
    pub const DEFAULT: u8 = 1;
    /// `:`.
    pub const EMIT: u8 = 2;
    /// `<->`, the loosest operator between formulas.
    pub const IFF: u8 = 3;
    /// `->`, to the right.
    pub const IMPLIES: u8 = 4;
    /// `^`.
    pub const XOR: u8 = 5;
    /// `|`.
    pub const OR: u8 = 6;
    /// `&`.
    pub const AND: u8 = 7;
    /// `U` and every other temporal operator with two operands, to the right.
    pub const UNTIL: u8 = 8;
    /// `!`, `F` and every other operator before its operand.
    pub const PREFIX: u8 = 9;
    /// `==`, `in`, `matches`.
    pub const COMPARE: u8 = 10;
    /// `+`, `-`.
    pub const SUM: u8 = 11;
    /// `*`, `/`, `%`.
    pub const PRODUCT: u8 = 12;
    /// A minus sign.
    pub const UNARY: u8 = 13;
    /// What needs no parentheses.
    pub const ATOM: u8 = 14;
}

/// Words that are names only in backquotes, beside the temporal operators.
const KEYWORDS: &[&str] = &[
    "not", "and", "or", "xor", "implies", "iff", "true", "false", "first", "last", "null", "in", "matches",
    "if", "then", "else", "forall", "exists", "event", "while",
];

/// Whether a word stands for something else than a name wherever it is written.
pub fn is_keyword(word: &str) -> bool {
    Temporal::spelled(word).is_some() || KEYWORDS.contains(&word)
}

impl ArithmeticOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Sub => "-",
            ArithmeticOp::Mul => "*",
            ArithmeticOp::Div => "/",
            ArithmeticOp::Rem => "%",
            ArithmeticOp::Min => "min",
            ArithmeticOp::Max => "max",
        }
    }
}

impl CompareOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

impl Aggregate {
    /// Aggregates without parameters, by name.
    pub const PLAIN: [(&'static str, Aggregate); 13] = [
        ("count", Aggregate::Count),
        ("sum", Aggregate::Sum),
        ("min", Aggregate::Min),
        ("max", Aggregate::Max),
        ("avg", Aggregate::Avg),
        ("first", Aggregate::First),
        ("last", Aggregate::Last),
        ("var", Aggregate::Var),
        ("stddev", Aggregate::Stddev),
        ("median", Aggregate::Median),
        ("mode", Aggregate::Mode),
        ("distinct", Aggregate::Distinct),
        ("corr", Aggregate::Corr),
    ];
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Aggregate::Quantile(billionths) => write!(f, "quantile({})", f64::from(*billionths) / 1e9),
            Aggregate::Histogram(bins) => write!(f, "histogram({bins})"),
            plain => {
                let known = Aggregate::PLAIN.iter().find(|(_, other)| other == plain);
                f.write_str(known.map_or("count", |(name, _)| name))
            }
        }
    }
}

/// Text in double quotes, with escapes.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
