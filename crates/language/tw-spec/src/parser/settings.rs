//! `trace { … }`: settings for the commands. Its words are keywords only where they stand here.

use super::Parser;
use super::declaration::Unreadable;
use crate::ast::settings::{Line, SettingValue, TraceBlock, TraceSettings};
use crate::ast::{DeclarationKind, Ident};
use crate::lexer::Tok;
use tw_core::{TimeUnit, suggest};
use tw_diag::Diagnostic;

const HELP: &str = "write `trace { time: \"@timestamp\"; by: http.request_id; }`";

impl Parser<'_> {
    /// `trace { … }`; the current token is `trace`.
    pub(super) fn trace_block(&mut self) -> Result<DeclarationKind, Unreadable> {
        let word = self.advance();
        if self.kind() != Tok::OpenBrace {
            return Err(self.expected("bad-setting", "`{`", HELP));
        }
        if let Some(before) = self.traced.replace(word) {
            let found = Diagnostic::error("duplicate-declaration", "there are two `trace` blocks");
            let found = found.at(word, "again here").at(before, "first here");
            self.report(found.help("write all settings into one of them"));
        }
        let open = self.advance();
        let mut block = TraceBlock { lines: Vec::new(), trailing_comments: Vec::new() };
        loop {
            while self.accept(Tok::Semicolon).is_some() {}
            let lost = matches!(self.kind(), Tok::Word | Tok::Event) && self.starts_declaration();
            if self.kind() == Tok::End || lost {
                self.unclosed(open, 1);
                break;
            }
            if self.kind() == Tok::CloseBrace {
                block.trailing_comments = self.comments_before(self.at);
                self.advance();
                break;
            }
            let first = self.at;
            let (mut comments, blank_before) = self.comments_ahead();
            match self.setting() {
                Ok((name, value, span)) => {
                    if self.accept(Tok::Semicolon).is_none() && self.kind() != Tok::CloseBrace {
                        self.expected("missing-semicolon", "`;`", "every setting ends with `;`");
                        // The next setting is read where one begins.
                        let begins = self.is_name(0) || self.is_reserved(self.at);
                        if !(begins && matches!(self.peek(1), Tok::Colon | Tok::Minus)) {
                            self.skip_item();
                        }
                    }
                    let (mut inside, trailing) = self.comments_inside(first);
                    comments.append(&mut inside);
                    self.known(&name, &value, span, &block);
                    block.lines.push(Line { name, value, span, comments, trailing, blank_before });
                }
                Err(Unreadable) => self.skip_item(),
            }
        }
        Ok(DeclarationKind::Trace(block))
    }

    /// `time-unit: us`; words joined by `-` are one name.
    fn setting(&mut self) -> Result<(Ident, SettingValue, tw_diag::Span), Unreadable> {
        let mut name = self.any_name("a setting")?;
        while let Some(part) = self.joined() {
            name = Ident { name: format!("{}-{}", name.name, part.name), span: name.span.to(part.span) };
        }
        if self.accept(Tok::Colon).is_none() {
            return Err(self.expected("bad-setting", "`:` and a value", HELP));
        }
        let start = self.span();
        let value = match self.kind() {
            Tok::Text => SettingValue::Text(self.text()),
            _ if self.is_name(0) || self.is_reserved(self.at) => {
                let quoted = self.kind() == Tok::Quoted;
                let (path, _) = self.path();
                match path.as_name().map(str::to_owned) {
                    Some(mut words) if !quoted && self.kind() == Tok::Minus => {
                        while let Some(part) = self.joined() {
                            words = format!("{words}-{}", part.name);
                        }
                        SettingValue::Words(words)
                    }
                    _ => SettingValue::Path { path, quoted },
                }
            }
            _ => return Err(self.expected("bad-setting", "a name, a path or a text", HELP)),
        };
        Ok((name, value, start.to(self.gap())))
    }

    /// `-unit`, directly behind a word.
    fn joined(&mut self) -> Option<Ident> {
        let next = self.span_at(self.at + 1);
        let close = self.gap().end == self.span().start && self.span().end == next.start;
        if self.kind() != Tok::Minus || !close || !(self.is_name(1) || self.is_reserved(self.at + 1)) {
            return None;
        }
        self.advance();
        Some(self.ident())
    }

    /// Reports a setting that is none, or stands here twice, or has a value that it cannot have.
    fn known(&mut self, name: &Ident, value: &SettingValue, place: tw_diag::Span, block: &TraceBlock) {
        let (word, names) = (name.name.as_str(), TraceSettings::NAMES);
        if !names.contains(&word) {
            let found = Diagnostic::error("bad-setting", format!("`{word}` is no setting of a trace"));
            self.report(found.at(name.span, "").help(match suggest(word, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("settings are {}", names.map(|name| format!("`{name}`")).join(", ")),
            }));
        } else if let Some(before) = block.lines.iter().find(|line| line.name.name == word) {
            let found = Diagnostic::error("bad-setting", format!("`{word}` is set twice"));
            self.report(found.at(name.span, "again here").at(before.name.span, "first here"));
        }
        let value = value.option();
        if value.is_empty() {
            let found = Diagnostic::error("bad-setting", format!("`{word}` has an empty value"));
            self.report(found.at(place, "").help(HELP));
        } else if word == "time-unit" && TimeUnit::parse(&value).is_none() {
            let found = Diagnostic::error("bad-setting", format!("`{value}` is no unit of time"));
            self.report(found.at(place, "").help("units are `ns`, `us`, `ms`, `s`, `m`, `h`, `d`"));
        }
    }
}
