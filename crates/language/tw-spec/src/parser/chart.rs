//! `chart` blocks and `after`. Their words are keywords only where they stand here: lifelines and messages have any name.
//!
//! A line ends where the next one begins: the `;` behind a message may be left out, as it is in files of charts alone.

use super::Parser;
use super::declaration::Unreadable;
use crate::ast::chart::{After, Body, Chart, Item, ItemKind, Kind, Message, Part, PartName};
use crate::ast::{DeclarationKind, Ident};
use crate::lexer::Tok;
use tw_core::suggest;
use tw_diag::{Diagnostic, Span};
use tw_ir::chart::Direction;

const HEAD: &str = "write `chart Handover necessary { pre { A -> B : request; } main { B -> A : reply; } }`";
const MESSAGE: &str = "write `A -> B : request;`, with `[send only]` or `[recv only]` behind it if need be";
const AFTER: &str = "write `after Handover.main : Transfer.main, Transfer.pre;`";

impl Parser<'_> {
    /// Whether a `chart` or an `after` begins here, rather than a column of that name.
    pub(super) fn starts_chart(&self) -> bool {
        let name = |ahead: usize| self.is_name(ahead) || self.is_reserved(self.at + ahead);
        match self.word(0) {
            "chart" => {
                let behind = self.word(2);
                name(1)
                    && (matches!(self.peek(2), Tok::Text | Tok::OpenBrace)
                        || matches!(self.peek(2), Tok::Word | Tok::Infix(_))
                            && suggest_kind(behind).is_some())
            }
            "after" => name(1) && self.peek(2) == Tok::Dot && name(3),
            _ => false,
        }
    }

    /// `chart NAME necessary iterate { … }`; the current token is `chart`.
    pub(super) fn chart(&mut self) -> Result<DeclarationKind, Unreadable> {
        match self.chart_head() {
            Ok(chart) => self.chart_block(chart),
            Err(unreadable) => {
                self.skip_block();
                Err(unreadable)
            }
        }
    }

    fn chart_head(&mut self) -> Result<Chart, Unreadable> {
        self.advance();
        let name = self.chart_name("the chart's name")?;
        let title = (self.kind() == Tok::Text).then(|| self.text());
        let (mut kind, mut iterate): (Option<(Kind, Span)>, Option<Span>) = (None, None);
        // Of several words that say nothing, the first is told of.
        let mut told = false;
        while self.kind() != Tok::OpenBrace {
            if !self.is_name(0) && !self.is_reserved(self.at) {
                return Err(self.expected("bad-chart", "`{`", HEAD));
            }
            let (word, span) = (self.word(0), self.advance());
            let known = Kind::ALL.iter().find(|(own, _)| *own == word);
            let again = match known {
                Some((_, known)) => kind.replace((*known, span)).map(|(_, before)| before),
                None if word == "iterate" => iterate.replace(span),
                None if told => None,
                None => {
                    told = true;
                    let found = Diagnostic::error("bad-chart", format!("`{word}` says nothing here"));
                    self.report(found.at(span, "").help(match suggest_kind(word) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            "behind the name stand `necessary`, `sufficient` or `iff`, and `iterate`".into()
                        }
                    }));
                    None
                }
            };
            if let Some(before) = again {
                let found = Diagnostic::error("bad-chart", format!("`{word}` is one word too many"));
                self.report(found.at(span, "again here").at(before, "first here").help("leave one out"));
            }
        }
        let Some((kind, _)) = kind else {
            let message = format!("`{}` does not say what its prechart is", name.name);
            let found = Diagnostic::error("bad-chart", message).at(name.span, "");
            let help = "`necessary`: the main chart follows; `sufficient`: only then it comes; `iff`: both";
            self.report(found.help(help));
            return Err(Unreadable);
        };
        let (pre, main) = (Body::default(), Body::default());
        Ok(Chart { name, title, kind, iterate, pre, main, main_first: false, trailing_comments: Vec::new() })
    }

    /// What stands between the braces; the current token is `{`.
    fn chart_block(&mut self, mut chart: Chart) -> Result<DeclarationKind, Unreadable> {
        let open = self.advance();
        let mut seen: [Option<Span>; 2] = [None, None];
        loop {
            while self.accept(Tok::Semicolon).is_some() {}
            if self.kind() == Tok::End || self.kind() == Tok::Word && self.starts_declaration() {
                self.unclosed(open, 1);
                break;
            }
            if self.kind() == Tok::CloseBrace {
                chart.trailing_comments = self.comments_before(self.at);
                self.advance();
                break;
            }
            let part = match self.word(0) {
                "pre" => Part::Pre,
                "main" => Part::Main,
                _ => {
                    let message = format!("expected `pre {{` or `main {{`, found {}", self.found());
                    self.report(Diagnostic::error("bad-chart", message).at(self.span(), "").help(HEAD));
                    // Out of the block, as far as its braces tell.
                    self.skip_part();
                    continue;
                }
            };
            let comments = self.comments_ahead().0;
            let word = self.advance();
            if self.kind() != Tok::OpenBrace {
                self.expected("bad-chart", "`{`", HEAD);
                self.skip_part();
                continue;
            }
            if let Some(before) = seen[part as usize].replace(word) {
                let found = Diagnostic::error("bad-chart", format!("`{}` is written twice", part.word()));
                self.report(found.at(word, "again here").at(before, "first here"));
            }
            chart.main_first |= part == Part::Main && seen[0].is_none();
            let mut body = self.chart_body(word);
            body.comments = comments;
            match part {
                Part::Pre => chart.pre = body,
                Part::Main => chart.main = body,
            }
        }
        for (part, body) in [(Part::Pre, &mut chart.pre), (Part::Main, &mut chart.main)] {
            if seen[part as usize].is_none() {
                body.span = chart.name.span;
            }
        }
        Ok(DeclarationKind::Chart(chart))
    }

    /// The lines of a basic chart; the current token is `{`.
    fn chart_body(&mut self, word: Span) -> Body {
        let open = self.advance();
        let mut body = Body { items: self.chart_items(open, true), ..Body::default() };
        if self.kind() == Tok::CloseBrace {
            body.trailing_comments = self.comments_before(self.at);
            self.advance();
        }
        body.span = word.to(self.gap());
        body
    }

    fn chart_items(&mut self, open: Span, coregions: bool) -> Vec<Item> {
        let mut items = Vec::new();
        loop {
            while self.accept(Tok::Semicolon).is_some() {}
            if self.kind() == Tok::CloseBrace {
                return items;
            }
            if self.kind() == Tok::End || self.kind() == Tok::Word && self.starts_chart() {
                self.unclosed(open, 1);
                return items;
            }
            let (first, start) = (self.at, self.span());
            let mut comments = self.comments_ahead().0;
            let kind = if self.word(0) == "coregion" && self.peek(1) == Tok::OpenBrace {
                let word = self.advance();
                if !coregions {
                    let found = Diagnostic::error("bad-chart", "a coregion holds messages alone");
                    self.report(found.at(word, "another one inside").help("take it out"));
                }
                let open = self.advance();
                let items = self.chart_items(open, false);
                self.accept(Tok::CloseBrace);
                ItemKind::Coregion(items)
            } else {
                match self.message() {
                    Ok(message) => ItemKind::Message(message),
                    Err(Unreadable) => {
                        self.skip_line();
                        ItemKind::Error
                    }
                }
            };
            self.accept(Tok::Semicolon);
            let span = start.to(self.gap());
            let (mut inside, trailing) = self.comments_inside(first);
            comments.append(&mut inside);
            items.push(Item { kind, span, comments, trailing });
        }
    }

    /// `A -> B : request [send only]`.
    fn message(&mut self) -> Result<Message, Unreadable> {
        let from = self.chart_name("a lifeline")?;
        if self.word(0) != "->" || self.accept(Tok::Infix(crate::ast::Infix::Implies)).is_none() {
            return Err(self.expected("bad-chart", "`->`", MESSAGE));
        }
        let to = self.chart_name("the lifeline that receives")?;
        if self.accept(Tok::Colon).is_none() {
            return Err(self.expected("bad-chart", "`:` and the message", MESSAGE));
        }
        let name = self.chart_name("the message")?;
        let mut only = None;
        if self.kind() == Tok::OpenBracket {
            self.advance();
            let word = self.word(0);
            let Some((_, direction)) = Direction::ALL.iter().find(|(own, _)| *own == word) else {
                return Err(self.expected("bad-chart", "`send only` or `recv only`", MESSAGE));
            };
            self.advance();
            if self.word(0) != "only" {
                return Err(self.expected("bad-chart", "`only`", MESSAGE));
            }
            self.advance();
            if self.accept(Tok::CloseBracket).is_none() {
                return Err(self.expected("bad-chart", "`]`", MESSAGE));
            }
            only = Some(*direction);
        }
        Ok(Message { from, to, name, only })
    }

    /// A lifeline, a message or a chart: any word, several that stand together with points or hyphens, a text.
    pub(super) fn chart_name(&mut self, what: &str) -> Result<Ident, Unreadable> {
        if self.kind() == Tok::Text {
            let span = self.span();
            return Ok(Ident { name: self.text(), span });
        }
        let begins = |parser: &Self| {
            parser.kind() == Tok::Number || parser.kind() == Tok::Word || parser.is_reserved(parser.at)
        };
        if self.kind() != Tok::Quoted && !begins(self) {
            return Err(self.expected(
                "missing-name",
                what,
                "names with odd characters are written in backquotes",
            ));
        }
        let first = self.ident();
        let (mut span, mut joined) = (first.span, false);
        // `SaCONN.conf`, `hand-over`, `1a`.
        while self.kind() != Tok::Quoted && self.slice(first.span).as_bytes().first() != Some(&b'`') {
            let close = |ahead: usize| {
                let before = self.span_at(self.at + ahead - usize::from(ahead > 0)).end;
                let end = if ahead == 0 { span.end } else { before };
                self.span_at(self.at + ahead).start == end
            };
            let word = |ahead: usize| {
                matches!(self.peek(ahead), Tok::Word | Tok::Number) || self.is_reserved(self.at + ahead)
            };
            let sign = matches!(self.kind(), Tok::Dot | Tok::Minus | Tok::Slash);
            if close(0) && word(0) {
                span = span.to(self.advance());
            } else if sign && close(0) && close(1) && word(1) {
                self.advance();
                span = span.to(self.advance());
            } else {
                break;
            }
            joined = true;
        }
        let name = if joined { self.slice(span).to_owned() } else { first.name };
        Ok(Ident { name, span })
    }

    /// `after C.main : D.main, D.pre`; the current token is `after`.
    pub(super) fn after(&mut self) -> Result<DeclarationKind, Unreadable> {
        self.advance();
        let first = self.part_name()?;
        if self.accept(Tok::Colon).is_none() {
            return Err(self.expected("bad-chart", "`:`", AFTER));
        }
        let mut then = vec![self.part_name()?];
        while self.accept(Tok::Comma).is_some() {
            then.push(self.part_name()?);
        }
        Ok(DeclarationKind::After(After { first, then }))
    }

    /// `C.main`.
    fn part_name(&mut self) -> Result<PartName, Unreadable> {
        if self.kind() == Tok::Quoted {
            let chart = self.ident();
            if self.accept(Tok::Dot).is_none() {
                return Err(self.expected("bad-chart", "`.main` or `.pre`", AFTER));
            }
            let part = self.part()?;
            let span = chart.span.to(self.gap());
            return Ok(PartName { chart, part, span });
        }
        let whole = self.chart_name("a chart")?;
        let parts = [(".main", Part::Main), (".pre", Part::Pre)];
        for (end, part) in parts {
            if let Some(name) = whole.name.strip_suffix(end) {
                let span = Span { end: whole.span.end - end.len() as u32, ..whole.span };
                return Ok(PartName { chart: Ident { name: name.into(), span }, part, span: whole.span });
            }
        }
        let message = format!("`{}` names no part of a chart", whole.name);
        let help = format!("write `{0}.main` or `{0}.pre`", whole.name);
        self.report(Diagnostic::error("bad-chart", message).at(whole.span, "").help(help));
        Err(Unreadable)
    }

    fn part(&mut self) -> Result<Part, Unreadable> {
        let part = match self.word(0) {
            "main" => Part::Main,
            "pre" => Part::Pre,
            _ => return Err(self.expected("bad-chart", "`main` or `pre`", AFTER)),
        };
        self.advance();
        Ok(part)
    }

    /// Skips to the next `pre {` or `main {`, or to the `}` of the block.
    fn skip_part(&mut self) {
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Tok::End => return,
                Tok::OpenBrace => depth += 1,
                Tok::CloseBrace if depth == 0 => return,
                Tok::CloseBrace => depth -= 1,
                Tok::Word if depth == 0 && self.peek(1) == Tok::OpenBrace => {
                    if matches!(self.word(0), "pre" | "main") {
                        return;
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Skips to the next line of a basic chart, or to the `}` of the block.
    fn skip_line(&mut self) {
        let start = self.at;
        while !matches!(self.kind(), Tok::End | Tok::Semicolon | Tok::CloseBrace) {
            let between = Span { start: self.gap().end, end: self.span().start, ..self.span() };
            if self.at > start && self.slice(between).contains('\n') {
                return;
            }
            self.advance();
        }
    }
}

/// The word that was meant.
fn suggest_kind(word: &str) -> Option<&'static str> {
    let words = Kind::ALL.iter().map(|(word, _)| *word).chain(["iterate"]);
    suggest(word, words.clone()).or_else(|| words.into_iter().find(|own| *own == word))
}
