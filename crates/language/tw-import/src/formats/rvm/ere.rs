//! Extended regular expressions: `close+ (read | write)`, with `&`, `~`, `epsilon`, `empty` and `a^3`.

use crate::cursor::{Cursor, Lexis, Tok, letter, letter_or_digit, refuse};
use tw_diag::{Diagnostic, Span};
use tw_spec::ast::Ident;
use tw_spec::ast::monitor::{Ere, EreKind};

const LEXIS: Lexis = Lexis {
    symbols: &["||", "&&", "(", ")", "~", "&", "|", "*", "+", "^", "?"],
    comments: &[("/*", Some("*/")), ("//", None)],
    begins: letter,
    goes_on: letter_or_digit,
    quotes: false,
    lines: false,
    signed: false,
};

/// An error unless there is such an event.
pub(super) fn known(event: &str, span: Span, events: &[&str]) -> Result<(), Diagnostic> {
    if events.contains(&event) {
        return Ok(());
    }
    let found =
        Diagnostic::error("import-syntax", format!("found `{event}`, which is no event of the monitor"));
    let listed: Vec<String> = events.iter().take(20).map(|event| format!("`{event}`")).collect();
    Err(found.at(span, "expected an event").help(format!("its events are {}", listed.join(", "))))
}

/// What waits for its right operand, and how tightly it binds.
enum Pending {
    Group(Span),
    Or(u32),
    And(u32),
    Concat(u32),
    Not,
}

impl Pending {
    fn power(&self) -> u8 {
        match self {
            Pending::Group(_) => 0,
            Pending::Or(_) => 1,
            Pending::And(_) => 2,
            Pending::Concat(_) => 3,
            Pending::Not => 4,
        }
    }
}

struct Reader<'e> {
    out: Ere,
    stack: Vec<Pending>,
    events: &'e [&'e str],
}

/// Reads the expression at `body`; with `suffix`, anything may come before it.
pub(super) fn read(text: &str, body: Span, events: &[&str], suffix: bool) -> Result<Ere, Diagnostic> {
    let mut cursor = Cursor::within(text, body, &LEXIS)?;
    let mut reader = Reader { out: Ere::default(), stack: Vec::new(), events };
    if suffix {
        let any = reader.anything(body);
        reader.stack.push(Pending::Concat(any));
        // What follows is one operand.
        reader.stack.push(Pending::Group(body));
    }
    'operand: loop {
        let mut value = reader.operand(&mut cursor)?;
        loop {
            let sign = match cursor.kind() {
                Tok::Symbol(sign) => sign,
                Tok::Word => "word",
                Tok::End => break 'operand reader.end(value, suffix)?,
                _ => return Err(cursor.found("an event, an operator or a handler")),
            };
            match sign {
                "*" | "+" | "?" => {
                    cursor.advance();
                    value = reader.add(match sign {
                        "*" => EreKind::Star(value),
                        "+" => EreKind::Plus(value),
                        _ => EreKind::Optional(value),
                    });
                }
                "^" => {
                    cursor.advance();
                    value = reader.times(value, &mut cursor)?;
                }
                ")" => {
                    value = reader.reduce(value, 1);
                    let open = reader.stack.len() > 2 * usize::from(suffix);
                    if !open || reader.stack.pop().is_none() {
                        return Err(cursor.found("an operator or a handler"));
                    }
                    cursor.advance();
                }
                "|" | "||" | "&" | "&&" => {
                    let power = if sign.starts_with('|') { 1 } else { 2 };
                    value = reader.reduce(value, power);
                    reader.stack.push(if power == 1 { Pending::Or(value) } else { Pending::And(value) });
                    cursor.advance();
                    break;
                }
                _ => {
                    value = reader.reduce(value, 3);
                    reader.stack.push(Pending::Concat(value));
                    break;
                }
            }
        }
    }
    Ok(reader.out)
}

impl Reader<'_> {
    fn add(&mut self, kind: EreKind) -> u32 {
        self.out.parts.push(kind);
        (self.out.parts.len() - 1) as u32
    }

    /// Finishes what binds at least as tightly as `power`, with `value` on its right.
    fn reduce(&mut self, mut value: u32, power: u8) -> u32 {
        while let Some(pending) = self.stack.pop_if(|top| top.power() >= power) {
            value = self.add(match pending {
                Pending::Or(left) => EreKind::Or(left, value),
                Pending::And(left) => EreKind::And(left, value),
                Pending::Concat(left) => EreKind::Concat(left, value),
                Pending::Not => EreKind::Not(value),
                Pending::Group(_) => return value,
            });
        }
        value
    }

    fn end(&mut self, value: u32, suffix: bool) -> Result<(), Diagnostic> {
        let mut value = self.reduce(value, 1);
        if suffix && self.stack.len() == 2 {
            self.stack.pop();
            value = self.reduce(value, 1);
        }
        match self.stack.pop() {
            Some(Pending::Group(open)) => {
                let found = Diagnostic::error("import-syntax", "this `(` is never closed");
                Err(found.at(open, "opened here"))
            }
            _ => {
                // The root is the last one.
                if value as usize + 1 != self.out.parts.len() {
                    let part = self.out.parts[value as usize].clone();
                    self.add(part);
                }
                Ok(())
            }
        }
    }

    /// Any sequence of events.
    fn anything(&mut self, span: Span) -> u32 {
        let mut all = None;
        for event in self.events {
            let next = self.add(EreKind::Event(Ident { name: (*event).to_owned(), span }));
            all = Some(match all {
                None => next,
                Some(before) => self.add(EreKind::Or(before, next)),
            });
        }
        match all {
            Some(all) => self.add(EreKind::Star(all)),
            None => self.add(EreKind::Epsilon),
        }
    }

    fn operand(&mut self, cursor: &mut Cursor<'_>) -> Result<u32, Diagnostic> {
        loop {
            let span = cursor.span();
            match cursor.kind() {
                Tok::Symbol("(") => self.stack.push(Pending::Group(span)),
                Tok::Symbol("~") => self.stack.push(Pending::Not),
                Tok::Word => {
                    cursor.advance();
                    return Ok(match cursor.slice(span) {
                        "epsilon" => self.add(EreKind::Epsilon),
                        "empty" => {
                            let anything = self.anything(span);
                            self.add(EreKind::Not(anything))
                        }
                        event => {
                            known(event, span, self.events)?;
                            self.add(EreKind::Event(Ident { name: event.to_owned(), span }))
                        }
                    });
                }
                _ => return Err(cursor.found("an event or `(`")),
            }
            cursor.advance();
        }
    }

    /// `a^3`: so many, one after the other.
    fn times(&mut self, value: u32, cursor: &mut Cursor<'_>) -> Result<u32, Diagnostic> {
        let span = cursor.span();
        let count = match cursor.kind() {
            Tok::Number => cursor.here().parse::<u32>().ok(),
            _ => None,
        };
        let Some(count) = count else { return Err(cursor.found("a whole number")) };
        if count > 1000 {
            return Err(refuse(span, "an event is repeated more than 1000 times", "count them with a query"));
        }
        cursor.advance();
        if count == 0 {
            return Ok(self.add(EreKind::Epsilon));
        }
        Ok((1..count).fold(value, |all, _| self.add(EreKind::Concat(all, value))))
    }
}
