//! The end of a query: `by user every 1h`. The words are names everywhere else; after an operand, outside of brackets,
//! no name can stand, so they cannot be mistaken.

use super::Parser;
use super::interval::billionths;
use crate::ast::{Column, Division};
use crate::lexer::Tok;
use tw_core::TimeUnit;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Bound, Clock, Interval, IntervalError};

/// What a division stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Divisible {
    Query,
    /// Takes `by` alone.
    Stream,
    Property,
    Macro,
}

const BY: &str = "write a column after it: `by user`";
const EVERY: &str =
    "write a length after it: `every 1m`, or `every 60` in the unit of the trace (`ns us ms s m h d`)";

impl Parser<'_> {
    /// Whether `by`, `every` or the `group by` of other languages stands at the current token.
    pub(super) fn starts_division(&self) -> bool {
        self.kind() == Tok::Word && (matches!(self.word(0), "by" | "every") || self.is_group_by())
    }

    fn is_group_by(&self) -> bool {
        self.word(0).eq_ignore_ascii_case("group")
            && self.peek(1) == Tok::Word
            && self.word(1).eq_ignore_ascii_case("by")
    }

    /// Reads `by PATH` and `every DURATION`, in either order. What is wrong is reported.
    pub(super) fn division(&mut self, of: Divisible) -> Division {
        let mut division = Division::default();
        let start = self.span();
        let mut given: [Option<Span>; 2] = [None, None];
        while self.starts_division() {
            if self.is_group_by() {
                let span = self.span().to(self.span_at(self.at + 1));
                let found = Diagnostic::error("bad-division", "a query is divided with `by` alone");
                self.report(found.at(span, "").help("write `by` without `group`"));
                self.advance();
            }
            let every = self.word(0) == "every";
            let word = self.advance();
            if let Some(before) = given[usize::from(every)] {
                let name = if every { "every" } else { "by" };
                let found = Diagnostic::error("bad-division", format!("`{name}` is given twice"));
                let help = match every {
                    true => "a query has windows of one length",
                    false => "a query is divided by one column; ask a second query for another one",
                };
                self.report(found.at(word, "again here").at(before, "first here").help(help));
            }
            given[usize::from(every)] = Some(word);
            let read = match every {
                true => self.window(word).map(|window| division.every = Some(window)),
                false => self.key(word).map(|column| division.by = Some(column)),
            };
            if let Err(found) = read {
                self.report(found);
                self.skip_division();
            }
        }
        if given == [None, None] {
            return division;
        }
        let end = matches!(self.kind(), Tok::Semicolon | Tok::End | Tok::Unknown);
        if !end && !self.starts_declaration() {
            let found = self.after_division(start);
            self.report(found);
            while !matches!(self.kind(), Tok::Semicolon | Tok::End) && !self.starts_declaration() {
                self.advance();
            }
        }
        if of == Divisible::Stream {
            if let Some((_, span)) = division.every.take() {
                let found = Diagnostic::error("bad-division", "a stream has no windows").at(span, "");
                self.report(found.help("`by` alone gives it an instance per value of a column"));
            }
            return division;
        }
        if of != Divisible::Query {
            let found = Diagnostic::error("bad-division", "only queries are divided").at(start, "");
            let help = match (of, &division.by) {
                (Divisible::Property, Some(column)) => format!(
                    "`tracewise check ⟨by: {}⟩` checks every property once per value of the column",
                    self.slice(column.span)
                ),
                (Divisible::Property, None) => {
                    "bound the operators in time instead, as in `F[0,1m] p`".to_owned()
                }
                _ => "write it at the end of the query that uses the macro".to_owned(),
            };
            self.report(found.help(help));
            return Division::default();
        }
        division
    }

    /// The column after `by`, which stands at `word`.
    fn key(&mut self, word: Span) -> Result<Column, Diagnostic> {
        let windowed = self.word(0) == "every" && self.peek(1) == Tok::Number;
        let constant = matches!(self.kind(), Tok::True | Tok::False | Tok::Null);
        if windowed || constant || !(self.is_name(0) || self.is_reserved(self.at)) {
            let message = match self.kind() {
                Tok::End | Tok::Semicolon => "`by` is followed by no column".to_owned(),
                _ => format!("expected a column after `by`, found {}", self.found()),
            };
            return Err(Diagnostic::error("bad-division", message).at(word, "").help(BY));
        }
        let quoted = self.kind() == Tok::Quoted;
        let (path, span) = self.path();
        if path.has_each() {
            let message = format!("`{path}` is a list, but a part is named by one value");
            let found = Diagnostic::error("bad-division", message).at(span, "");
            return Err(found.help("divide by a column that has one value at each position"));
        }
        Ok(Column { path, quoted, span })
    }

    /// The length after `every`, which stands at `word`.
    fn window(&mut self, word: Span) -> Result<(Bound, Span), Diagnostic> {
        let error = |message: String| Diagnostic::error("bad-division", message);
        let span = self.span();
        if self.kind() == Tok::Minus && self.peek(1) == Tok::Number {
            let span = span.to(self.span_at(self.at + 1));
            return Err(error("the length of a window is positive".into()).at(span, "").help(EVERY));
        }
        if self.kind() != Tok::Number {
            let found = match self.kind() {
                Tok::End | Tok::Semicolon => error("`every` is followed by no length".into()),
                _ => error(format!("expected a length after `every`, found {}", self.found())),
            };
            return Err(found.at(word, "").help(EVERY));
        }
        self.advance();
        let number = billionths(self.slice(span));
        let mut unit = None;
        if self.kind() == Tok::Word && !self.starts_division() && !self.starts_declaration() {
            unit = TimeUnit::parse(self.word(0));
            if unit.is_none() {
                let found = Diagnostic { code: "bad-division", ..self.unknown_unit(self.word(0)) };
                let several = self.word(0).contains(|c: char| c.is_ascii_digit());
                return Err(if several {
                    found.help("write one number and one unit, as in `every 90s`")
                } else {
                    found
                });
            }
            self.advance();
        }
        let span = span.to(self.gap());
        let too_fine = "time is exact to one nanosecond";
        let Some(billionths) = number else {
            let found = error("this length is too large or too fine".into()).at(span, "");
            return Err(found.help(too_fine));
        };
        if billionths == 0 {
            return Err(error("a window of no length holds nothing".into()).at(span, "").help(EVERY));
        }
        let bound = Bound { billionths, unit, open: false };
        let zero = Bound { billionths: 0, unit: None, open: false };
        // Without a unit the trace decides what the number counts.
        let ticks = unit.map(|unit| Interval { low: zero, high: Some(bound) }.ticks(Clock::Stamps, unit));
        match ticks {
            Some(Err(IntervalError::TooFine)) => {
                Err(error("this length is too fine".into()).at(span, "").help(too_fine))
            }
            Some(Err(_)) => Err(error("this length is too large".into())
                .at(span, "")
                .help("time reaches about 292 years; leave `every` out to take the trace as a whole")),
            _ => Ok((bound, span)),
        }
    }

    /// Something stands behind a division that begins at `start`.
    fn after_division(&self, start: Span) -> Diagnostic {
        let division = self.brief(start.to(self.gap()));
        let message = format!("`{division}` ends a query, but {} follows it", self.found());
        let found = Diagnostic::error("bad-division", message).at(self.span(), "");
        match self.kind() {
            Tok::Comma => found.help("a query is divided by one column; ask a second query for another one"),
            Tok::Default => found.help(format!("write the default first: `… ?? 0 {division}`")),
            _ => found.help("`by` takes a column, `every` a length, and nothing stands behind them"),
        }
    }

    /// Goes on at the next part of the division, or behind it.
    fn skip_division(&mut self) {
        let next =
            |p: &Self| p.starts_division() && matches!(p.peek(1), Tok::Number | Tok::Word | Tok::Quoted);
        while !matches!(self.kind(), Tok::Semicolon | Tok::End) && !self.starts_declaration() && !next(self) {
            self.advance();
        }
    }
}
