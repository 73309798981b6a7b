//! `ere` and `fsm`: what the events of a monitor may do, read with an explicit stack.

use super::Parser;
use super::declaration::Unreadable;
use crate::ast::Infix;
use crate::ast::monitor::{Ere, EreKind, State};
use crate::lexer::Tok;
use tw_diag::{Diagnostic, Span};

const ERE: &str =
    "write for example `ere : open (read | write)* close;`; also `&`, `~`, `+`, `?` and `epsilon`";
const FSM: &str = "write for example `fsm : closed [ open -> opened ] opened [ close -> closed ];`";

/// What waits for its right operand, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    Paren(Place),
    Or(u32),
    And(u32),
    Concat(u32),
    Not,
}

/// The token of an opening parenthesis.
type Place = usize;

impl Pending {
    /// How tightly it binds.
    fn power(self) -> u8 {
        match self {
            Pending::Paren(_) => 0,
            Pending::Or(_) => 1,
            Pending::And(_) => 2,
            Pending::Concat(_) => 3,
            Pending::Not => 4,
        }
    }
}

/// An expression being read.
#[derive(Default)]
struct Reading {
    out: Ere,
    stack: Vec<Pending>,
}

impl Reading {
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
                Pending::Paren(_) => return value,
            });
        }
        value
    }
}

impl Parser<'_> {
    /// An extended regular expression, up to the `;`.
    pub(super) fn ere(&mut self) -> Result<Ere, Unreadable> {
        let mut reading = Reading::default();
        loop {
            let mut value = self.ere_operand(&mut reading)?;
            // Operators behind an operand, until one asks for another operand.
            loop {
                match self.kind() {
                    Tok::Star => value = self.repeated_ere(&mut reading, EreKind::Star(value)),
                    Tok::Plus => value = self.repeated_ere(&mut reading, EreKind::Plus(value)),
                    Tok::Question => value = self.repeated_ere(&mut reading, EreKind::Optional(value)),
                    Tok::CloseParen => {
                        value = reading.reduce(value, 1);
                        let close = self.advance();
                        if reading.stack.pop().is_none() {
                            let found = Diagnostic::error(
                                "unmatched-bracket",
                                "nothing was opened that this `)` closes",
                            );
                            self.report(found.at(close, "").help("remove it, or add the `(`"));
                            return Err(Unreadable);
                        }
                    }
                    Tok::Infix(Infix::Or) => {
                        value = reading.reduce(value, 1);
                        reading.stack.push(Pending::Or(value));
                        self.advance();
                        break;
                    }
                    Tok::Infix(Infix::And) => {
                        value = reading.reduce(value, 2);
                        reading.stack.push(Pending::And(value));
                        self.advance();
                        break;
                    }
                    Tok::Word | Tok::Quoted | Tok::OpenParen | Tok::Tilde => {
                        value = reading.reduce(value, 3);
                        reading.stack.push(Pending::Concat(value));
                        break;
                    }
                    Tok::Semicolon | Tok::End | Tok::CloseBrace => {
                        reading.reduce(value, 1);
                        if let Some(Pending::Paren(open)) = reading.stack.pop() {
                            let open = self.span_at(open);
                            self.unclosed(open, 1);
                            return Err(Unreadable);
                        }
                        return Ok(reading.out);
                    }
                    _ => return Err(self.expected("bad-monitor", "an event, an operator or `;`", ERE)),
                }
            }
        }
    }

    fn repeated_ere(&mut self, reading: &mut Reading, kind: EreKind) -> u32 {
        self.advance();
        reading.add(kind)
    }

    /// An event, `epsilon`, or what opens one: `(` and `~` wait on the stack.
    fn ere_operand(&mut self, reading: &mut Reading) -> Result<u32, Unreadable> {
        loop {
            match self.kind() {
                Tok::OpenParen => {
                    reading.stack.push(Pending::Paren(self.at));
                    self.advance();
                }
                Tok::Tilde => {
                    reading.stack.push(Pending::Not);
                    self.advance();
                }
                Tok::Word if self.word(0) == "epsilon" => {
                    self.advance();
                    return Ok(reading.add(EreKind::Epsilon));
                }
                Tok::Word | Tok::Quoted => {
                    let event = self.ident();
                    return Ok(reading.add(EreKind::Event(event)));
                }
                _ => return Err(self.expected("bad-monitor", "an event", ERE)),
            }
        }
    }

    /// The states of a machine, up to the `;`.
    pub(super) fn fsm(&mut self) -> Result<Vec<State>, Unreadable> {
        let mut states = Vec::new();
        while !matches!(self.kind(), Tok::Semicolon | Tok::End | Tok::CloseBrace) {
            let name = self.any_name("a state's name")?;
            if self.kind() != Tok::OpenBracket {
                return Err(self.expected("bad-monitor", "`[` and the moves of the state", FSM));
            }
            let open: Span = self.advance();
            let mut moves = Vec::new();
            while self.accept(Tok::CloseBracket).is_none() {
                if matches!(self.kind(), Tok::Semicolon | Tok::End | Tok::CloseBrace) {
                    self.unclosed(open, 1);
                    return Err(Unreadable);
                }
                let event = self.any_name("an event or `]`")?;
                if self.accept(Tok::Infix(Infix::Implies)).is_none() {
                    return Err(self.expected("bad-monitor", "`->` and a state", FSM));
                }
                let target = self.any_name("a state's name")?;
                moves.push((event, target));
                self.accept(Tok::Comma);
            }
            states.push(State { name, moves });
        }
        if states.is_empty() {
            return Err(self.expected("bad-monitor", "a state", FSM));
        }
        Ok(states)
    }
}
