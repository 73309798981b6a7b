//! Rolling windows: `count[failed over 10s]`, `avg(x over 100)`.

use super::expression::{Last, Machine, Step};
use super::frame::{Bracket, CallFrame, Frame, Part};
use super::interval::billionths;
use super::operand::is_aggregate;
use super::{Operand, Parser};
use crate::ast::ExprKind;
use crate::lexer::Tok;
use tw_core::TimeUnit;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Aggregate, Bound, Over};

const FORMS: &str = "write a number of positions or a length of time: `over 10`, `over 5s`";

impl Parser<'_> {
    /// Whether the operand just read is what a window aggregates: `over` stands behind it, inside an aggregate.
    pub(super) fn ends_window(&self, m: &Machine) -> bool {
        if !(self.kind() == Tok::Word && self.word(0) == "over") {
            return false;
        }
        match m.frames.iter().rev().find(|frame| frame.bracket().is_some()) {
            Some(Frame::Aggregate { .. }) => true,
            Some(Frame::Call(call)) => !call.quoted && !call.event && is_aggregate(&call.name.name),
            _ => false,
        }
    }

    /// Whether the parenthesis so many tokens ahead holds a window: `first(x over 3)`.
    pub(super) fn window_in_parentheses(&self, open: usize) -> bool {
        if self.peek(open) != Tok::OpenParen {
            return false;
        }
        let mut depth = 0u32;
        // Whoever writes more than that writes brackets.
        for ahead in open..open + 200 {
            match self.peek(ahead) {
                Tok::OpenParen | Tok::OpenBracket | Tok::OpenBrace => depth += 1,
                Tok::CloseParen | Tok::CloseBracket | Tok::CloseBrace if depth <= 1 => return false,
                Tok::CloseParen | Tok::CloseBracket | Tok::CloseBrace => depth -= 1,
                Tok::Word if depth == 1 && ahead > open + 1 && self.word(ahead) == "over" => return true,
                Tok::End | Tok::Semicolon => return false,
                _ => {}
            }
        }
        false
    }

    /// `avg(p : x over 3)`, at its name: in parentheses `:` belongs to variables. It is reported, and read as the window that was meant.
    pub(super) fn guarded_window(&mut self, m: &mut Machine) -> Option<Step> {
        let (mut depth, mut long, mut end) = (0u32, false, None);
        for ahead in 1..200 {
            match self.peek(ahead) {
                Tok::OpenParen | Tok::OpenBracket | Tok::OpenBrace => depth += 1,
                Tok::CloseParen if depth == 1 => {
                    end = Some(self.span_at(self.at + ahead));
                    break;
                }
                Tok::CloseParen | Tok::CloseBracket | Tok::CloseBrace => depth = depth.saturating_sub(1),
                Tok::Word if depth == 1 && self.word(ahead) == "over" => {
                    long |= self.peek(ahead + 1) == Tok::Number;
                }
                Tok::End | Tok::Semicolon => return None,
                _ => {}
            }
        }
        let (name, end) = (self.word(0).to_owned(), end.filter(|_| long)?);
        let (_, aggregate) = *Aggregate::PLAIN.iter().find(|(known, _)| *known == name)?;
        let start = self.advance();
        let open = self.advance();
        let inside = self.slice(Span { start: open.end, end: end.start, ..open });
        let found = Diagnostic::error("bad-window", "a window of chosen values stands in brackets");
        self.report(found.at(open, "instead of this").help(format!("write `{name}[{inside}]`")));
        let (body, second, part) = (None, None, Part::Body);
        m.open(Frame::Aggregate { aggregate, body, second, part, start, open, round: true });
        Some(Step::Operand)
    }

    /// Goes on behind `over`; `value` is what the window aggregates.
    pub(super) fn rolling(&mut self, m: &mut Machine, value: Operand) -> Step {
        let value = self.reduce_to_bracket(m, value);
        let place = self.advance();
        let over = self.over(place);
        let (aggregate, start, round) = match m.frames.pop() {
            Some(Frame::Aggregate { aggregate, part, start, open, round, .. }) => {
                let bracket = if round { Bracket::Round } else { Bracket::Square };
                m.open[bracket as usize] -= 1;
                if part != Part::Body {
                    let message = match part {
                        Part::During => "a rolling window has no `while`",
                        _ => "a rolling window aggregates one term",
                    };
                    let found = Diagnostic::error("bad-window", message).at(open, "in these brackets");
                    self.report(found.help("write `φ : e` for the values of e where φ holds"));
                }
                (Some(aggregate), start, round)
            }
            Some(Frame::Call(CallFrame { name, arguments, label, start, .. })) => {
                m.open[Bracket::Round as usize] -= 1;
                if !arguments.is_empty() || label.is_some() {
                    let found = Diagnostic::error("bad-window", "a rolling window aggregates one term");
                    self.report(found.at(start, "").help("write `avg(x over 10)`"));
                }
                let known = Aggregate::PLAIN.iter().find(|(known, _)| *known == name.name);
                if known.is_none() {
                    let found = Diagnostic::error(
                        "bad-window",
                        format!("`{}` needs its parameter before the window", name.name),
                    );
                    self.report(found.at(start, "").help("write `quantile(0.95)[x over 100]`"));
                }
                (known.map(|(_, aggregate)| *aggregate), start, true)
            }
            other => {
                m.frames.extend(other);
                return Step::Operator(value);
            }
        };
        let closing = if round { Tok::CloseParen } else { Tok::CloseBracket };
        // A length that could not be read is reported: what stands there is no second fault.
        if self.kind() != closing && over.is_some() {
            let closes = if round { "`)`" } else { "`]`" };
            let message = format!("expected {closes} after the length of the window, found {}", self.found());
            self.report(Diagnostic::error("bad-window", message).at(self.span(), "").help(FORMS));
        }
        if self.kind() != closing {
            // What stands before the bracket belongs to the window that was meant.
            for ahead in 0..12 {
                if self.peek(ahead) == closing {
                    self.at += ahead;
                    break;
                }
                if matches!(self.peek(ahead), Tok::Semicolon | Tok::End | Tok::OpenParen | Tok::OpenBracket) {
                    break;
                }
            }
        }
        let end = if self.kind() == closing { self.advance() } else { self.gap() };
        m.last = Last::Closed;
        let extent = start.to(end);
        let kind = match aggregate {
            Some(aggregate) => ExprKind::Window { aggregate, body: value.id, over },
            None => ExprKind::Error,
        };
        Step::Operator(Operand { id: self.add(kind, extent), extent })
    }

    /// The length behind `over`.
    fn over(&mut self, place: Span) -> Option<Over> {
        if self.kind() != Tok::Number {
            let message = format!("expected the length of the window, found {}", self.found());
            self.report(Diagnostic::error("bad-window", message).at(self.span(), "").help(FORMS));
            return None;
        }
        let span = self.advance();
        let number = billionths(self.slice(span));
        let unit = match self.kind() {
            Tok::Word => match TimeUnit::parse(self.word(0)) {
                Some(unit) => {
                    self.advance();
                    Some(unit)
                }
                None => {
                    let found = self.unknown_unit(self.word(0));
                    self.report(found);
                    self.advance();
                    return None;
                }
            },
            _ => None,
        };
        let whole = place.to(self.gap());
        let bad = |message: &str, help: &str| {
            Diagnostic::error("bad-window", message.to_owned()).at(whole, "").help(help.to_owned())
        };
        let Some(billionths) = number else {
            self.report(bad("this length is too large or too fine", FORMS));
            return None;
        };
        let over = match unit {
            Some(unit) => Over::Time(Bound { billionths, unit: Some(unit), open: false }),
            None if billionths % 1_000_000_000 != 0 => {
                let help = "a bare number counts positions; a length of time has a unit: `over 0.5s`";
                self.report(bad("a window of positions holds a whole number of them", help));
                return None;
            }
            None if billionths == 0 => {
                let help =
                    "the last position alone is `over 1`; `over 0s` holds the positions of this instant";
                self.report(bad("a window over 0 positions holds nothing", help));
                return None;
            }
            None => Over::Positions(u64::try_from(billionths / 1_000_000_000).unwrap_or(u64::MAX)),
        };
        if over.reach().is_err() {
            self.report(bad(
                "this length cannot be held",
                "lengths have 64 bits of nanoseconds, about 292 years",
            ));
            return None;
        }
        Some(over)
    }
}
