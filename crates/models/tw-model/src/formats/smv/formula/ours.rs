//! Formulas of our language in NuSMV's.

use super::respell::{Class, Kind, Piece, respell};
use crate::Model;
use crate::formats::json;
use crate::formats::smv::words::{Symbols, is_reserved};
use rustc_hash::FxHashMap;
use std::io::Write;
use tw_core::Value;

/// Writes formulas with the names that a file gives to variables and values.
pub(in crate::formats::smv) struct Speller<'m> {
    variables: FxHashMap<&'m str, &'m str>,
    symbols: &'m Symbols,
}

impl<'m> Speller<'m> {
    /// For a model whose variables are called so in the file.
    pub fn new(model: &'m Model, called: &'m [String], symbols: &'m Symbols) -> Self {
        let names = model.variables.iter().map(|variable| variable.name.as_str());
        Self { variables: names.zip(called.iter().map(String::as_str)).collect(), symbols }
    }

    /// A section with a formula; a comment where NuSMV has no words for it.
    pub fn section(&self, keyword: &str, formula: &str, out: &mut Vec<u8>) {
        let pieces = self.pieces(formula);
        let spelt = match pieces.and_then(|pieces| respell(&pieces).ok()) {
            Some(text) => format!("  {keyword}\n    {text}\n"),
            None => format!("  -- {keyword} {}\n", formula.replace(['\n', '\r'], " ")),
        };
        // Writing to a vector does not fail.
        let _ = out.write_all(spelt.as_bytes());
    }

    fn pieces(&self, formula: &str) -> Option<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut rest = formula.trim_start();
        while let Some(first) = rest.chars().next() {
            let operand = pieces.last().is_none_or(|last| !matches!(last.kind, Kind::Atom | Kind::Close));
            let (mut piece, length) = if first == '_' || first.is_alphabetic() {
                let length = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
                (self.word(&rest[..length])?, length)
            } else if first.is_ascii_digit() {
                let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                (Piece::atom(&rest[..length]), length)
            } else if first == '"' || first == '`' {
                let length = closing(rest, first)?;
                let text = &rest[..length];
                let name = if first == '"' {
                    self.known(&self.symbols.of(&json::value(text)?))?
                } else {
                    self.name(&text[1..length - 1])?
                };
                (Piece::atom(&name), length)
            } else {
                sign(rest, operand)?
            };
            rest = rest[length..].trim_start();
            // `AF[0,5] p` is `ABF 0..5 p`.
            if piece.class == Class::Temporal
                && !matches!(piece.text.as_str(), "A" | "E")
                && rest.starts_with('[')
            {
                let (interval, after) = rest[1..].split_once(']')?;
                let (low, high) = interval.split_once(',')?;
                let (low, high): (u64, u64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
                let (quantifier, operator) = piece.text.split_at_checked(1)?;
                if !matches!(quantifier, "A" | "E") || !matches!(operator, "F" | "G") {
                    return None;
                }
                piece.text = format!("{quantifier}B{operator} {low}..{high}");
                rest = after.trim_start();
            }
            pieces.push(piece);
        }
        Some(pieces)
    }

    fn word(&self, word: &str) -> Option<Piece> {
        let (kind, class, text) = match word {
            "true" => (Kind::Atom, Class::Other, "TRUE"),
            "false" => (Kind::Atom, Class::Other, "FALSE"),
            "not" => (Kind::Prefix(7), Class::Not, "!"),
            "and" => (Kind::Infix(5, false), Class::Other, "&"),
            "or" => (Kind::Infix(4, false), Class::Or, "|"),
            "xor" => (Kind::Infix(3, false), Class::Xor, "xor"),
            "implies" => (Kind::Infix(2, true), Class::Implies, "->"),
            "iff" => (Kind::Infix(1, false), Class::Iff, "<->"),
            "in" => (Kind::Infix(8, false), Class::Compare, "in"),
            // On infinite paths the weak and the strong next are one.
            "X" | "next" | "N" | "weak_next" => (Kind::Prefix(7), Class::Temporal, "X"),
            "F" | "eventually" => (Kind::Prefix(7), Class::Temporal, "F"),
            "G" | "always" => (Kind::Prefix(7), Class::Temporal, "G"),
            "Y" | "previously" => (Kind::Prefix(7), Class::Temporal, "Y"),
            "Z" | "weak_previously" => (Kind::Prefix(7), Class::Temporal, "Z"),
            "O" | "once" => (Kind::Prefix(7), Class::Temporal, "O"),
            "H" | "historically" => (Kind::Prefix(7), Class::Temporal, "H"),
            "A" | "E" | "AX" | "EX" | "AF" | "EF" | "AG" | "EG" => (Kind::Prefix(7), Class::Temporal, word),
            "U" | "until" => (Kind::Infix(6, true), Class::Until, "U"),
            "R" | "release" => (Kind::Infix(6, true), Class::Until, "V"),
            "S" | "since" => (Kind::Infix(6, true), Class::Until, "S"),
            "T" => (Kind::Infix(6, true), Class::Until, "T"),
            "null" => return Some(Piece::atom(&self.known(&self.symbols.of(&Value::Null))?)),
            _ => return Some(Piece::atom(&self.name(word)?)),
        };
        Some(Piece::new(kind, class, text))
    }

    /// A variable, or a value that is written bare.
    fn name(&self, name: &str) -> Option<String> {
        match self.variables.get(name) {
            Some(called) => Some((*called).to_owned()),
            None => self.known(&self.symbols.of(&Value::text(name))),
        }
    }

    fn known(&self, symbol: &str) -> Option<String> {
        (!symbol.is_empty() && !is_reserved(symbol)).then(|| symbol.to_owned())
    }
}

/// Where quoted text ends.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn sign(text: &str, operand: bool) -> Option<(Piece, usize)> {
    type Row = (&'static str, Kind, Class, &'static str);
    const SIGNS: &[Row] = &[
        ("<->", Kind::Infix(1, false), Class::Iff, "<->"),
        ("->", Kind::Infix(2, true), Class::Implies, "->"),
        ("=>", Kind::Infix(2, true), Class::Implies, "->"),
        ("&&", Kind::Infix(5, false), Class::Other, "&"),
        ("/\\", Kind::Infix(5, false), Class::Other, "&"),
        ("||", Kind::Infix(4, false), Class::Or, "|"),
        ("\\/", Kind::Infix(4, false), Class::Or, "|"),
        ("++", Kind::Infix(3, false), Class::Xor, "xor"),
        ("[]", Kind::Prefix(7), Class::Temporal, "G"),
        ("<>", Kind::Prefix(7), Class::Temporal, "F"),
        ("==", Kind::Infix(8, false), Class::Compare, "="),
        ("!=", Kind::Infix(8, false), Class::Compare, "!="),
        ("<=", Kind::Infix(8, false), Class::Compare, "<="),
        (">=", Kind::Infix(8, false), Class::Compare, ">="),
        ("..", Kind::Infix(11, false), Class::Arithmetic, ".."),
        ("=", Kind::Infix(8, false), Class::Compare, "="),
        ("<", Kind::Infix(8, false), Class::Compare, "<"),
        (">", Kind::Infix(8, false), Class::Compare, ">"),
        ("&", Kind::Infix(5, false), Class::Other, "&"),
        ("|", Kind::Infix(4, false), Class::Or, "|"),
        ("^", Kind::Infix(3, false), Class::Xor, "xor"),
        ("!", Kind::Prefix(7), Class::Not, "!"),
        ("+", Kind::Infix(12, false), Class::Arithmetic, "+"),
        ("*", Kind::Infix(13, false), Class::Arithmetic, "*"),
        ("/", Kind::Infix(13, false), Class::Arithmetic, "/"),
        ("%", Kind::Infix(13, false), Class::Arithmetic, "mod"),
        ("(", Kind::Open, Class::Other, "("),
        ("[", Kind::Open, Class::Other, "["),
        ("{", Kind::Open, Class::Other, "{"),
        (")", Kind::Close, Class::Other, ")"),
        ("]", Kind::Close, Class::Other, "]"),
        ("}", Kind::Close, Class::Other, "}"),
        (",", Kind::Infix(0, false), Class::Comma, ","),
    ];
    if text.starts_with('-') && !text.starts_with("->") {
        let kind = if operand { Kind::Prefix(14) } else { Kind::Infix(12, false) };
        return Some((Piece::new(kind, Class::Arithmetic, "-"), 1));
    }
    let (sign, kind, class, new) = SIGNS.iter().find(|row| text.starts_with(row.0))?;
    Some((Piece::new(*kind, *class, new), sign.len()))
}
