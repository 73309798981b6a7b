//! The specification patterns: shapes of requirements that recur, as macros that every specification may call.
//!
//! A pattern says *what* (absence, existence, universality, response, precedence, bounded existence), the end of its
//! name says *where*: everywhere, `_before` the first r, `_after` the first q, `_between` a q and the next r,
//! `_after_until` likewise but also where no r follows. A stretch begins with the position of its q and ends before
//! the position of its r; every q that is not an r begins one.
//!
//! To add a pattern: one row in [`PATTERNS`] and one in the table of its tests, which define it independently.

use crate::ast::{DeclarationKind, Expr, ExprId, Tree};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A pattern of the library.
#[derive(Clone, Copy, Debug)]
pub struct PatternDoc {
    /// The name to call it by.
    pub name: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [&'static str],
    /// What it stands for, in the specification language.
    pub formula: &'static str,
    /// The same in one sentence.
    pub meaning: &'static str,
    /// A use of it.
    pub example: &'static str,
}

macro_rules! patterns {
    ($($name:ident($($parameter:ident),+) = $formula:literal, $meaning:literal, $example:literal;)+) => {
        /// Every pattern of the library.
        pub static PATTERNS: &[PatternDoc] = &[$(PatternDoc {
            name: stringify!($name),
            parameters: &[$(stringify!($parameter)),+],
            formula: $formula,
            meaning: $meaning,
            example: $example,
        }),+];
    };
}

patterns! {
    absence(p) = "G !p",
        "p never holds",
        "absence(deadlock)";
    absence_before(p, r) = "F r -> !p U r",
        "if r ever holds, p does not hold before its first time",
        "absence_before(access, login)";
    absence_after(p, q) = "G (q -> G !p)",
        "once q holds, p does not hold then or later",
        "absence_after(write, closed)";
    absence_between(p, q, r) = "G (q & !r & F r -> !p U r)",
        "from each q up to the next r, p does not hold; where no r follows, nothing is asked",
        "absence_between(move, door_open, door_close)";
    absence_after_until(p, q, r) = "G (q & !r -> !p W r)",
        "from each q on, p does not hold until r does, and never if no r follows",
        "absence_after_until(move, door_open, door_close)";

    existence(p) = "F p",
        "p holds at some time",
        "existence(shutdown)";
    existence_before(p, r) = "!r W (p & !r)",
        "if r ever holds, p holds at some time before it",
        "existence_before(backup, delete)";
    existence_after(p, q) = "G !q | F (q & F p)",
        "if q ever holds, p holds then or later",
        "existence_after(restart, crash)";
    existence_between(p, q, r) = "G (q & !r -> !r W (p & !r))",
        "from each q up to the next r, p holds at some time; where no r follows, nothing is asked",
        "existence_between(check, start, stop)";
    existence_after_until(p, q, r) = "G (q & !r -> !r U (p & !r))",
        "from each q on, p holds at some time before the next r, also if no r follows",
        "existence_after_until(check, start, stop)";

    universality(p) = "G p",
        "p holds always",
        "universality(level <= 10)";
    universality_before(p, r) = "F r -> p U r",
        "if r ever holds, p holds at every position before its first time",
        "universality_before(locked, unlock)";
    universality_after(p, q) = "G (q -> G p)",
        "once q holds, p holds then and always later",
        "universality_after(read_only, sealed)";
    universality_between(p, q, r) = "G (q & !r & F r -> p U r)",
        "from each q up to the next r, p holds; where no r follows, nothing is asked",
        "universality_between(held, lock, unlock)";
    universality_after_until(p, q, r) = "G (q & !r -> p W r)",
        "from each q on, p holds until r does, and always if no r follows",
        "universality_after_until(held, lock, unlock)";

    response(p, s) = "G (p -> F s)",
        "every p is followed by an s, then or later",
        "response(request, reply)";
    response_before(p, s, r) = "F r -> (p -> !r U (s & !r)) U r",
        "if r ever holds, every p before its first time is followed by an s before it",
        "response_before(open, close, exit)";
    response_after(p, s, q) = "G (q -> G (p -> F s))",
        "once q holds, every p is followed by an s",
        "response_after(request, reply, ready)";
    response_between(p, s, q, r) = "G (q & !r & F r -> (p -> !r U (s & !r)) U r)",
        "from each q up to the next r, every p is followed by an s before that r; where no r follows, nothing is asked",
        "response_between(put, get, begin, commit)";
    response_after_until(p, s, q, r) = "G (q & !r -> (p -> !r U (s & !r)) W r)",
        "from each q on, every p before the next r is followed by an s before it, also if no r follows",
        "response_after_until(put, get, begin, commit)";

    precedence(s, p) = "!p W s",
        "p does not hold before s has held",
        "precedence(login, access)";
    precedence_before(s, p, r) = "F r -> !p U (s | r)",
        "if r ever holds, then up to its first time p does not hold before s has held",
        "precedence_before(login, access, logout)";
    precedence_after(s, p, q) = "!q W (q & (!p W s))",
        "from the first q on, p does not hold before s has held since that q",
        "precedence_after(login, access, boot)";
    precedence_between(s, p, q, r) = "G (q & !r & F r -> !p U (s | r))",
        "from each q up to the next r, p does not hold before s has held since that q; where no r follows, nothing is asked",
        "precedence_between(check, write, open, close)";
    precedence_after_until(s, p, q, r) = "G (q & !r -> !p W (s | r))",
        "from each q on and until r, p does not hold before s has held since that q, also if no r follows",
        "precedence_after_until(check, write, open, close)";

    bounded_existence(p) = "!p W (p W (!p W (p W G !p)))",
        "p holds during at most two stretches",
        "bounded_existence(retry)";
    bounded_existence_before(p, r) = "F r -> (!p & !r) U (r | (p & !r) U (r | (!p & !r) U (r | (p & !r) U (r | !p U r))))",
        "if r ever holds, p holds during at most two stretches before its first time",
        "bounded_existence_before(retry, connected)";
    bounded_existence_after(p, q) = "!q W (q & (!p W (p W (!p W (p W G !p)))))",
        "from the first q on, p holds during at most two stretches",
        "bounded_existence_after(retry, failure)";
    bounded_existence_between(p, q, r) = "G (q & !r & F r -> (!p & !r) U (r | (p & !r) U (r | (!p & !r) U (r | (p & !r) U (r | !p U r)))))",
        "from each q up to the next r, p holds during at most two stretches; where no r follows, nothing is asked",
        "bounded_existence_between(retry, connect, connected)";
    bounded_existence_after_until(p, q, r) = "G (q & !r -> (!p & !r) W (r | (p & !r) W (r | (!p & !r) W (r | (p & !r) W (r | !p W r)))))",
        "from each q on and until r, p holds during at most two stretches, also if no r follows",
        "bounded_existence_after_until(retry, connect, connected)";

    before(r, p) = "F r -> p U r",
        "if r ever holds, p holds at every position before its first time",
        "before(unlock, locked)";
    after(q, p) = "G (q -> G p)",
        "once q holds, p holds then and always later",
        "after(sealed, read_only)";
    between(q, r, p) = "G (q & !r & F r -> p U r)",
        "from each q up to the next r, p holds; where no r follows, nothing is asked",
        "between(lock, unlock, held)";
    after_until(q, r, p) = "G (q & !r -> p W r)",
        "from each q on, p holds until r does, and always if no r follows",
        "after_until(lock, unlock, held)";
}

/// The word for a parameter where arguments are named: scopes go `from` a q `to` an r, and p `holds` in them.
pub fn word(parameter: &str) -> &str {
    match parameter {
        "q" => "from",
        "r" => "to",
        "p" => "holds",
        other => other,
    }
}

/// The pattern of that name and its index.
pub(crate) fn find(name: &str) -> Option<(usize, &'static PatternDoc)> {
    static INDEX: OnceLock<FxHashMap<&str, usize>> = OnceLock::new();
    let index = INDEX.get_or_init(|| PATTERNS.iter().enumerate().map(|(index, p)| (p.name, index)).collect());
    index.get(name).map(|&at| (at, &PATTERNS[at]))
}

/// The formula of pattern number `index`, parsed.
pub(crate) fn tree(index: usize) -> (&'static [Expr], ExprId) {
    static TREES: OnceLock<Vec<Tree>> = OnceLock::new();
    let trees =
        TREES.get_or_init(|| PATTERNS.iter().map(|p| crate::parse_formula(p.formula, 0).value).collect());
    let root = trees[index].declarations.iter().find_map(|declaration| match declaration.kind {
        DeclarationKind::Property { body, .. } => Some(body),
        _ => None,
    });
    (&trees[index].exprs, root.unwrap_or(ExprId(0)))
}

#[cfg(test)]
mod tests;
