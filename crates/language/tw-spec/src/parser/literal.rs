//! Numbers, text, sets, patterns of text, functions in braces.

use super::{Operand, Parser};
use crate::ast::ExprKind;
use crate::lexer::Tok;
use tw_core::{TimeUnit, Value};
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, ArithmeticOp, Bound, Function, SetItem};

/// The functions between two experiments, by name.
pub(crate) const FUNCTIONS: [(&str, Function); 9] = [
    ("+", Function::Arithmetic(ArithmeticOp::Add)),
    ("-", Function::Arithmetic(ArithmeticOp::Sub)),
    ("*", Function::Arithmetic(ArithmeticOp::Mul)),
    ("/", Function::Arithmetic(ArithmeticOp::Div)),
    ("min", Function::Arithmetic(ArithmeticOp::Min)),
    ("max", Function::Arithmetic(ArithmeticOp::Max)),
    ("pair", Function::Pair),
    ("first", Function::First),
    ("second", Function::Second),
];

impl Parser<'_> {
    /// Takes the number or text that the current token is.
    pub(super) fn literal_kind(&mut self, negative: bool) -> ExprKind {
        if self.kind() == Tok::Text {
            return ExprKind::Text(self.text().into());
        }
        if let Some(length) = self.length(negative) {
            return ExprKind::Length(length);
        }
        match self.number(negative) {
            Some(Value::Int(int)) => ExprKind::Int(int),
            Some(Value::Real(real)) => ExprKind::Real(real),
            _ => ExprKind::Error,
        }
    }

    /// Takes a number with a unit of time: `200ms`.
    fn length(&mut self, negative: bool) -> Option<Bound> {
        let number = self.span();
        let unit = TimeUnit::parse(self.word(1)).filter(|_| self.peek(1) == Tok::Word)?;
        let billionths = super::interval::billionths(self.slice(number))?;
        if self.span_at(self.at + 1).start != number.end {
            return None;
        }
        self.advance();
        self.advance();
        let billionths = if negative { -billionths } else { billionths };
        Some(Bound { billionths, unit: Some(unit), open: false })
    }

    /// Takes a number token; what goes wrong is reported.
    fn number(&mut self, negative: bool) -> Option<Value> {
        let span = self.advance();
        let digits = self.slice(span);
        if self.kind() == Tok::Word && self.span().start == span.end {
            self.number_with_letters(span);
            return None;
        }
        let sign = if negative { "-" } else { "" };
        let value = if digits.bytes().all(|b| b.is_ascii_digit()) {
            // Read with its sign, since the least integer has no positive counterpart.
            format!("{sign}{digits}").parse().ok().map(Value::Int)
        } else {
            format!("{sign}{digits}").parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real)
        };
        if value.is_none() {
            let found = Diagnostic::error("number-out-of-range", "this number is out of range").at(span, "");
            self.report(found.help(match digits.contains(['.', 'e', 'E']) {
                true => "real numbers reach to about 1.8e308".to_owned(),
                false => format!("integers have 64 bits; write `{}.0` for a real number", self.brief(span)),
            }));
        }
        value
    }

    fn number_with_letters(&mut self, number: Span) {
        let word = self.advance();
        let (digits, letters) = (self.slice(number), self.slice(word));
        let found = format!("`{digits}{letters}` is neither a number nor a name");
        let found = Diagnostic::error("bad-number", found).at(number.to(word), "");
        self.report(found.help(match TimeUnit::parse(letters) {
            Some(_) => {
                "a set holds plain numbers; lengths stand in comparisons, as in `elapsed < 5s`".to_owned()
            }
            None => format!("a name that begins with a digit is written in backquotes: `{digits}{letters}`"),
        }));
    }

    /// Takes a text token and resolves its escapes.
    pub(super) fn text(&mut self) -> String {
        let span = self.advance();
        let raw = self.slice(span);
        let raw = raw.get(1..raw.len().saturating_sub(1)).unwrap_or("");
        let mut out = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            let escape = &rest[at..];
            let (c, length) = match escape.as_bytes().get(1) {
                Some(b'"') => (Some('"'), 2),
                Some(b'\\') => (Some('\\'), 2),
                Some(b'n') => (Some('\n'), 2),
                Some(b't') => (Some('\t'), 2),
                Some(b'u') => unicode(escape),
                _ => (None, 1 + escape[1..].chars().next().map_or(0, char::len_utf8)),
            };
            match c {
                Some(c) => out.push(c),
                None => self.bad_escape(span, raw.len() - rest.len() + at, &escape[..length]),
            }
            rest = &escape[length..];
        }
        out.push_str(rest);
        out
    }

    fn bad_escape(&mut self, text: Span, offset: usize, escape: &str) {
        let start = text.start + 1 + offset as u32;
        let span = Span { start, end: start + escape.len() as u32, ..text };
        let found = Diagnostic::error("bad-escape", format!("`{escape}` is not an escape")).at(span, "");
        self.report(found.help(format!(
            "escapes are `\\\"`, `\\\\`, `\\n`, `\\t`, `\\u{{1F600}}`; a backslash itself is written `\\{escape}`"
        )));
    }

    /// `x in {1..5, 7, "a"}`; the current token is `in`.
    pub(super) fn in_set(&mut self, value: Operand) -> Operand {
        self.advance();
        let mut items = Vec::new();
        let mut good = self.accept(Tok::OpenBrace).is_some();
        let open = self.span_at(self.at - 1);
        if !good {
            let message = format!("expected `{{` after `in`, found {}", self.found());
            let found = Diagnostic::error("bad-set", message).at(self.span(), "");
            self.report(found.help("a set is written `{1..5, 7, \"a\"}`"));
            if matches!(self.kind(), Tok::OpenBracket | Tok::OpenParen) || self.is_name(0) {
                self.skip_junk();
            }
        } else if self.kind() == Tok::CloseBrace {
            let span = open.to(self.advance());
            self.report(Diagnostic::error("bad-set", "this set is empty").at(span, "nothing is ever in it"));
            good = false;
        } else {
            good = self.set_items(&mut items, open);
        }
        let extent = value.extent.to(self.gap());
        let kind = if good { ExprKind::In(value.id, items) } else { ExprKind::Error };
        Operand { id: self.add(kind, extent), extent }
    }

    fn set_items(&mut self, items: &mut Vec<SetItem>, open: Span) -> bool {
        let mut good = true;
        loop {
            match self.set_item() {
                Ok(Some(item)) => items.push(item),
                Ok(None) => good = false,
                Err(found) => {
                    if self.kind() == Tok::Semicolon || self.kind() == Tok::End || self.starts_declaration() {
                        self.unclosed(open, 1);
                    } else {
                        self.report(found);
                        self.skip_braces();
                    }
                    return false;
                }
            }
            match self.kind() {
                Tok::Comma => {
                    self.advance();
                }
                Tok::CloseBrace => {
                    self.advance();
                    return good;
                }
                Tok::Semicolon | Tok::End => {
                    self.unclosed(open, 1);
                    return false;
                }
                _ => {
                    let message = format!("expected `,` or `}}` in this set, found {}", self.found());
                    self.report(Diagnostic::error("bad-set", message).at(self.span(), ""));
                    self.skip_braces();
                    return false;
                }
            }
        }
    }

    /// One item. `Ok(None)` if it was read but wrong, and reported.
    fn set_item(&mut self) -> Result<Option<SetItem>, Diagnostic> {
        let start = self.span();
        let Some(low) = self.set_value()? else { return Ok(None) };
        if self.accept(Tok::DotDot).is_none() {
            return Ok(Some(SetItem::Value(low)));
        }
        let Some(high) = self.set_value()? else { return Ok(None) };
        let span = start.to(self.gap());
        match (low, high) {
            (Value::Int(low), Value::Int(high)) if low <= high => Ok(Some(SetItem::Range(low, high))),
            (Value::Int(low), Value::Int(high)) => {
                let found = Diagnostic::error("bad-set", "this range is empty").at(span, "");
                self.report(found.help(format!("write `{high}..{low}`")));
                Ok(None)
            }
            _ => {
                let found = Diagnostic::error("bad-set", "a range has integers at both ends").at(span, "");
                self.report(found.help("for real numbers write `1.5 <= x & x <= 2.5`"));
                Ok(None)
            }
        }
    }

    fn set_value(&mut self) -> Result<Option<Value>, Diagnostic> {
        let value = match self.kind() {
            Tok::Minus if self.peek(1) == Tok::Number => {
                self.advance();
                return Ok(self.number(true));
            }
            Tok::Number => return Ok(self.number(false)),
            Tok::Text => return Ok(Some(Value::text(&self.text()))),
            Tok::True => Value::Bool(true),
            Tok::False => Value::Bool(false),
            Tok::Null => Value::Null,
            _ => {
                let message = format!("expected a number or text in this set, found {}", self.found());
                return Err(Diagnostic::error("bad-set", message)
                    .at(self.span(), "")
                    .help("sets hold constants; compare with names by `==` and `|`"));
            }
        };
        self.advance();
        Ok(Some(value))
    }

    /// `name matches "re"`; the current token is `matches`.
    pub(super) fn matches(&mut self, value: Operand) -> Operand {
        self.advance();
        let kind = if self.kind() == Tok::Text {
            let span = self.span();
            ExprKind::Matches(value.id, self.text().into(), span)
        } else {
            let message =
                format!("expected a regular expression in quotes after `matches`, found {}", self.found());
            let found = Diagnostic::error("bad-pattern", message).at(self.span(), "");
            self.report(found.help("write `name matches \"^a.*z$\"`"));
            let instead =
                matches!(self.kind(), Tok::Number | Tok::True | Tok::False | Tok::Null | Tok::Unknown);
            if self.is_name(0) || instead {
                self.advance();
            }
            ExprKind::Error
        };
        let extent = value.extent.to(self.gap());
        Operand { id: self.add(kind, extent), extent }
    }

    /// `{g}` after `&` or `|`.
    pub(super) fn function(&mut self) -> Option<Function> {
        let open = self.span();
        let known = FUNCTIONS.iter().find(|(name, _)| *name == self.word(1)).map(|(_, function)| *function);
        if known.is_some() && self.peek(2) == Tok::CloseBrace {
            self.at += 2;
            self.advance();
            return known;
        }
        self.skip_braces();
        let span = open.to(self.gap());
        let names = FUNCTIONS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let found = Diagnostic::error("bad-function", "this is not a function of two values").at(span, "");
        self.report(found.help(format!("functions after `&` and `|` are {names}")));
        None
    }

    /// The parameter of `quantile(q)` or `histogram(k)`; the current token is the number.
    pub(super) fn parameter(&mut self, word: &str) -> Aggregate {
        let text = self.word(0);
        let (aggregate, expected) = match word {
            "quantile" => {
                let share = super::interval::billionths(text).and_then(|share| u32::try_from(share).ok());
                let share = share.filter(|share| *share <= 1_000_000_000);
                (
                    share.map(Aggregate::Quantile),
                    "a share from 0 to 1, with at most nine decimals, as in `quantile(0.95)[x]`",
                )
            }
            _ => {
                let bins = text.parse().ok().filter(|bins| *bins > 0);
                (bins.map(Aggregate::Histogram), "the number of bins, as in `histogram(10)[x]`")
            }
        };
        aggregate.unwrap_or_else(|| {
            let message = format!("`{word}({text})` is out of range");
            let found = Diagnostic::error("bad-aggregate", message).at(self.span(), "");
            let percent = text
                .parse()
                .is_ok_and(|percent: f64| word == "quantile" && 1.0 < percent && percent <= 100.0);
            self.report(match percent {
                true => found.help(format!("write {expected}; not in percent")),
                false => found.help(format!("write {expected}")),
            });
            Aggregate::Count
        })
    }
}

/// The character of `\u{…}` at the start of `escape`, and the length of the escape.
fn unicode(escape: &str) -> (Option<char>, usize) {
    let Some(body) = escape[2..].strip_prefix('{') else { return (None, 2) };
    match body.find('}') {
        Some(end) => {
            let good = (1..=6).contains(&end) && body[..end].bytes().all(|b| b.is_ascii_hexdigit());
            let c =
                good.then(|| u32::from_str_radix(&body[..end], 16).ok()).flatten().and_then(char::from_u32);
            (c, end + 4)
        }
        None => (None, 2),
    }
}
