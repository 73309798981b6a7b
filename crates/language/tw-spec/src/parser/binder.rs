//! What binds variables: `forall x, y. φ`, `exists x in items[*].id. φ`, `count(x, y : φ)`, `sum(e for x, y : φ)`.

use super::expression::{Machine, Step};
use super::frame::{Frame, TallyFrame};
use super::{Operand, Parser};
use crate::ast::{ExprId, ExprKind, Ident};
use crate::lexer::Tok;
use tw_diag::{Diagnostic, Span};
use tw_ir::Tally;

impl Parser<'_> {
    pub(super) fn quantifier(&mut self, m: &mut Machine) -> Step {
        let forall = self.kind() == Tok::Forall;
        let start = self.advance();
        let variables = self.bound_names();
        let word = self.slice(start);
        let range = (self.kind() == Tok::In && !variables.is_empty()).then(|| self.range(word, &variables));
        let range = range.flatten();
        if self.accept(Tok::Dot).is_none() {
            if !variables.is_empty() {
                let after = if range.is_some() { "the path" } else { "the variables" };
                let message = format!("expected `.` after {after}, found {}", self.found());
                let found = Diagnostic::error("bad-quantifier", message).at(self.span(), "");
                self.report(found.help(match range {
                    Some(_) => {
                        format!("write `{word} x in items[*].id. φ`, with a blank after the dot that ends the path")
                    }
                    None => format!("write `{word} x, y. φ`"),
                }));
            }
            // `forall x: φ` and `forall x (φ)` are clear enough to go on.
            self.accept(Tok::Colon);
        }
        m.frames.push(Frame::Quantifier { forall, variables, range, start });
        Step::Operand
    }

    fn bound_names(&mut self) -> Vec<Ident> {
        let mut variables = Vec::new();
        while let Some(variable) = self.expect_name("a variable") {
            variables.push(variable);
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        variables
    }

    /// The path after `in`, which is the current token. The dot that ends it is followed by white space; one inside is not.
    fn range(&mut self, word: &str, variables: &[Ident]) -> Option<ExprId> {
        let place = self.advance();
        if !(self.is_name(0) || self.is_reserved(self.at)) {
            let message = format!("expected a path after `in`, found {}", self.found());
            let found = Diagnostic::error("bad-quantifier", message).at(place, "");
            self.report(found.help(format!("write `{word} x in items[*].id. φ`")));
            return None;
        }
        let quoted = self.kind() == Tok::Quoted;
        let (path, span) = self.path_until(|parser| {
            let dot = parser.span();
            parser.text[dot.end as usize..].chars().next().is_none_or(char::is_whitespace)
        });
        if let [_, second, ..] = variables {
            let found = Diagnostic::error("bad-quantifier", "only one variable ranges over a path");
            let found = found.at(second.span, "a second one");
            self.report(
                found.help(format!("write one quantifier for each: `{word} x in a[*]. {word} y in b[*]. φ`")),
            );
        }
        Some(self.add(ExprKind::Path { path, quoted }, span))
    }

    /// The aggregate over valuations that the current word begins: one of their names, with a `:` in the parentheses that
    /// follow it.
    pub(super) fn starts_tally(&mut self) -> Option<Tally> {
        if self.peek(1) != Tok::OpenParen {
            return None;
        }
        let (_, tally) = *Tally::ALL.iter().find(|(name, _)| *name == self.word(0))?;
        self.has_colon(self.at + 1).then_some(tally)
    }

    /// Whether a `:` stands inside the parenthesis that is token `open`, and not inside another bracket there. One look at
    /// all tokens answers that for every bracket, however deeply they nest.
    fn has_colon(&mut self, open: usize) -> bool {
        if self.colons.is_empty() {
            let mut colons = vec![false; self.tokens.len()];
            let mut brackets: Vec<usize> = Vec::new();
            let here = self.at;
            for place in 0..self.tokens.len() {
                self.at = place;
                match self.tokens[place].kind {
                    Tok::OpenParen | Tok::OpenBracket | Tok::OpenBrace => brackets.push(place),
                    Tok::CloseParen | Tok::CloseBracket | Tok::CloseBrace => drop(brackets.pop()),
                    Tok::Semicolon => brackets.clear(),
                    Tok::Colon => {
                        if let Some(&bracket) = brackets.last() {
                            colons[bracket] = true;
                        }
                    }
                    // A bracket that is not closed before the next declaration never is.
                    Tok::Word if !brackets.is_empty() && self.starts_declaration() => brackets.clear(),
                    _ => {}
                }
            }
            self.at = here;
            self.colons = colons;
        }
        self.colons.get(open).copied().unwrap_or(false)
    }

    pub(super) fn open_tally(&mut self, m: &mut Machine, tally: Tally) -> Step {
        let start = self.advance();
        let open = self.advance();
        let mut frame = TallyFrame { tally, value: None, variables: Vec::new(), formula: false, start, open };
        if tally == Tally::Count {
            frame.formula = true;
            frame.variables = self.tally_names(tally, start);
        }
        m.open(Frame::Tally(frame));
        Step::Operand
    }

    /// The variables before the `:`, and the `:`.
    fn tally_names(&mut self, tally: Tally, start: Span) -> Vec<Ident> {
        let variables = self.bound_names();
        if self.accept(Tok::Colon).is_none() && !variables.is_empty() {
            let message = format!("expected `:` after the variables, found {}", self.found());
            let found = Diagnostic::error("bad-aggregate", message).at(self.span(), "").at(start, "");
            self.report(found.help(format!("write {}", form(tally))));
            // The `:` is there, or this would be an event.
            let mut depth = 0u32;
            while !matches!(self.kind(), Tok::Semicolon | Tok::End) {
                match self.kind() {
                    Tok::Colon if depth == 0 => break,
                    Tok::OpenParen => depth += 1,
                    Tok::CloseParen => depth = depth.saturating_sub(1),
                    _ => {}
                }
                self.advance();
            }
            self.accept(Tok::Colon);
        }
        variables
    }

    /// Whether the term of a `sum(e for x : φ)` ends here.
    pub(super) fn ends_tally_value(&self, m: &Machine) -> bool {
        let ends = self.kind() == Tok::Colon || self.kind() == Tok::Word && self.word(0) == "for";
        let open = || m.frames.iter().rev().find(|frame| frame.bracket().is_some());
        ends && matches!(open(), Some(Frame::Tally(TallyFrame { formula: false, .. })))
    }

    /// Goes on with the variables of a `sum(e for x : φ)` whose term is `value`.
    pub(super) fn tally_variables(&mut self, m: &mut Machine, value: Operand) -> Step {
        let value = self.reduce_to_bracket(m, value);
        let forgotten = self.kind() == Tok::Colon;
        let place = self.advance();
        let Some(Frame::Tally(mut frame)) = m.frames.pop() else { return Step::Operator(value) };
        if forgotten {
            let name = frame.tally.name();
            let message = format!("`{name}(… : φ)` says nothing about which variables it binds");
            let found = Diagnostic::error("bad-aggregate", message).at(place, "");
            self.report(found.help(format!("write {}", form(frame.tally))));
        } else {
            frame.variables = self.tally_names(frame.tally, frame.start);
        }
        (frame.value, frame.formula) = (Some(value.id), true);
        m.frames.push(Frame::Tally(frame));
        Step::Operand
    }

    /// A finished aggregate over valuations, whose formula is `value`.
    pub(super) fn tally(&mut self, frame: TallyFrame, value: Operand, end: Span) -> Operand {
        let extent = frame.start.to(end);
        let TallyFrame { tally, value: term, variables, .. } = frame;
        let kind = match variables.is_empty() {
            // Already reported.
            true => ExprKind::Error,
            false => ExprKind::Tally { tally, value: term, variables, body: value.id },
        };
        Operand { id: self.add(kind, extent), extent }
    }
}

fn form(tally: Tally) -> String {
    match tally {
        Tally::Count => "`count(x, y : φ)`".to_owned(),
        other => format!("`{}(e for x, y : φ)`", other.name()),
    }
}
