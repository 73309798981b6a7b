//! `monitor` blocks. Their words are keywords only where they stand here: events, parameters and states have any name.

use super::Parser;
use super::declaration::Unreadable;
use crate::ast::monitor::{Event, Item, ItemKind, Monitor, Text};
use crate::ast::{Argument, DeclarationKind, ExprKind, Ident};
use crate::lexer::Tok;
use tw_core::suggest;
use tw_diag::{Diagnostic, Span};
use tw_ir::monitor::Severity;
use tw_ir::{CompareOp, Path};

const HEAD: &str = "write `monitor Iteration(c, i) \"what went wrong\" error { … }`";
const EVENT: &str = "write `event use(i);` or `event use(i) = next(iterator: i) when thread > 0;`";
const LINES: &str = "lines of a monitor begin with `event`, `creation event`, `end`, `where`, `ere :`, `fsm :`, `ltl :` or `on`";
const STARTS: [&str; 8] = ["creation", "event", "end", "where", "ere", "fsm", "ltl", "on"];

impl Parser<'_> {
    /// `monitor NAME(parameters) "text" … { … }`; the current token is `monitor`.
    pub(super) fn monitor(&mut self) -> Result<DeclarationKind, Unreadable> {
        let mut monitor = match self.monitor_head() {
            Ok(monitor) => monitor,
            Err(unreadable) => {
                self.skip_block();
                return Err(unreadable);
            }
        };
        // Where the head lacks its brace, which is told already, its lines follow all the same.
        let open = if self.opens_block() { self.advance() } else { self.gap() };
        loop {
            while self.accept(Tok::Semicolon).is_some() {}
            let lost = self.kind() == Tok::Word && self.starts_declaration();
            if self.kind() == Tok::End || lost {
                self.unclosed(open, 1);
                break;
            }
            if self.kind() == Tok::CloseBrace {
                monitor.trailing_comments = self.comments_before(self.at);
                self.advance();
                break;
            }
            let (first, start) = (self.at, self.span());
            let (mut comments, blank_before) = self.comments_ahead();
            self.block = true;
            let kind = self.item();
            self.block = false;
            let kind = match kind {
                Ok(kind) => {
                    self.item_end();
                    kind
                }
                Err(Unreadable) => {
                    self.skip_item();
                    ItemKind::Error
                }
            };
            let span = start.to(self.gap());
            let (mut inside, trailing) = self.comments_inside(first);
            comments.append(&mut inside);
            monitor.items.push(Item { kind, span, comments, trailing, blank_before });
        }
        Ok(DeclarationKind::Monitor(monitor))
    }

    fn monitor_head(&mut self) -> Result<Monitor, Unreadable> {
        self.advance();
        let name = self.expect_name("the monitor's name").ok_or(Unreadable)?;
        let mut parameters = Vec::new();
        if self.kind() == Tok::OpenParen {
            parameters = self.parameters(HEAD)?;
        }
        let title = (self.kind() == Tok::Text).then(|| self.text());
        let mut severity: Option<(Severity, Span)> = None;
        let mut words: [Option<Span>; 2] = [None, None];
        // Of several words that say nothing, the first is told of.
        let mut told = false;
        while self.kind() == Tok::Word && !self.starts_declaration() && !self.starts_item() {
            let (word, span) = (self.word(0), self.advance());
            let known = Severity::ALL.iter().find(|(name, _)| *name == word);
            let again = match (known, word) {
                (Some((_, known)), _) => severity.replace((*known, span)).map(|(_, before)| before),
                (None, "strict") => words[0].replace(span),
                (None, "equal") => words[1].replace(span),
                _ if told => None,
                _ => {
                    told = true;
                    let names = Severity::ALL.iter().map(|(name, _)| *name).chain(["strict", "equal"]);
                    let found = Diagnostic::error("bad-monitor", format!("`{word}` says nothing here"));
                    self.report(
                        found.at(span, "").help(match suggest(word, names) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => {
                                "behind the text stand `error`, `warning` or `suggestion`, `strict`, `equal`"
                                    .into()
                            }
                        }),
                    );
                    None
                }
            };
            if let Some(before) = again {
                let found = Diagnostic::error("bad-monitor", format!("`{word}` is one word too many"));
                self.report(found.at(span, "again here").at(before, "first here").help("leave one out"));
            }
        }
        while told && !self.opens_block() && !self.ends_head() {
            self.advance();
        }
        if !self.opens_block() {
            let unreadable = self.expected("bad-monitor", "`{`", HEAD);
            if !self.starts_item() {
                return Err(unreadable);
            }
        }
        let [strict, equal] = words.map(|word| word.is_some());
        Ok(Monitor {
            name,
            parameters,
            title,
            severity: severity.map(|(severity, _)| severity),
            strict,
            equal,
            items: Vec::new(),
            trailing_comments: Vec::new(),
        })
    }

    /// Whether the block begins here: with its brace, or with a text that is never closed and has the brace in it.
    pub(super) fn opens_block(&self) -> bool {
        self.kind() == Tok::OpenBrace
            || self.kind() == Tok::Unknown
                && self.word(0).starts_with('"')
                && self.word(0).trim_end().ends_with('{')
    }

    /// Whether what is read cannot be a head any more.
    fn ends_head(&self) -> bool {
        matches!(self.kind(), Tok::End | Tok::Semicolon) || self.starts_item() || self.starts_declaration()
    }

    /// `(m, c)`, any words; the current token is `(`.
    fn parameters(&mut self, help: &str) -> Result<Vec<Ident>, Unreadable> {
        let names = self.list(|parser| parser.any_name("a parameter's name"), help)?;
        self.repeated(names.clone());
        Ok(names)
    }

    /// Any word as a name: nothing else can stand here.
    pub(super) fn any_name(&mut self, what: &str) -> Result<Ident, Unreadable> {
        if self.is_name(0) || self.is_reserved(self.at) {
            return Ok(self.ident());
        }
        Err(self.expected(
            "missing-name",
            what,
            "names begin with a letter; others are written in backquotes",
        ))
    }

    fn item(&mut self) -> Result<ItemKind, Unreadable> {
        let word = if self.kind() == Tok::Quoted { "" } else { self.word(0) };
        match word {
            "creation" if self.peek(1) == Tok::Event => {
                self.advance();
                self.advance();
                Ok(ItemKind::Event { creation: true, event: self.monitor_event()? })
            }
            "event" => {
                self.advance();
                Ok(ItemKind::Event { creation: false, event: self.monitor_event()? })
            }
            "end" => {
                self.advance();
                Ok(ItemKind::End(self.monitor_event()?))
            }
            "where" => {
                self.advance();
                Ok(ItemKind::Where(self.expression().id))
            }
            "ere" | "fsm" | "ltl" => self.formalism(word),
            "on" => self.on(),
            _ if self.kind() == Tok::Unknown => Err(Unreadable),
            _ => {
                let message = format!("expected a line of the monitor, found {}", self.found());
                let help = match suggest(word, STARTS) {
                    Some(near) if near != word => format!("did you mean `{near}`?"),
                    _ => LINES.to_owned(),
                };
                self.report(Diagnostic::error("bad-monitor", message).at(self.span(), "").help(help));
                Err(Unreadable)
            }
        }
    }

    fn formalism(&mut self, word: &str) -> Result<ItemKind, Unreadable> {
        self.advance();
        if self.accept(Tok::Colon).is_none() {
            let example = match word {
                "ere" => "write `ere : open (read | write)* close;`",
                "fsm" => "write `fsm : closed [ open -> opened ] opened [ close -> closed ];`",
                _ => "write `ltl : open -> F close;`",
            };
            return Err(self.expected("bad-monitor", "`:`", example));
        }
        match word {
            "ere" => self.ere().map(ItemKind::Ere),
            "fsm" => self.fsm().map(ItemKind::Fsm),
            _ => Ok(ItemKind::Ltl(self.expression().id)),
        }
    }

    /// `NAME(parameters) = source(…) when φ`.
    fn monitor_event(&mut self) -> Result<Event, Unreadable> {
        let name = self.any_name("the event's name")?;
        let mut parameters = Vec::new();
        if self.kind() == Tok::OpenParen {
            parameters = self.parameters(EVENT)?;
        }
        let mut source = None;
        if self.accept(Tok::Compare(CompareOp::Eq)).is_some() {
            let event = self.any_name("the event of the trace")?;
            let mut arguments = Vec::new();
            if self.kind() == Tok::OpenParen {
                arguments = self.list(Self::source_argument, EVENT)?;
            }
            source = Some((event, arguments));
        }
        let when = (self.kind() == Tok::Word && self.word(0) == "when").then(|| {
            self.advance();
            self.expression().id
        });
        Ok(Event { name, parameters, source, when })
    }

    /// `iterator: i`, `i`, `_`, `"text"`, `-3`.
    pub(super) fn source_argument(&mut self) -> Result<Argument, Unreadable> {
        let start = self.span();
        let mut name = None;
        if self.peek(1) == Tok::Colon && (self.is_name(0) || self.is_reserved(self.at)) {
            name = Some(self.ident());
            self.advance();
        }
        let negative = self.kind() == Tok::Minus && self.peek(1) == Tok::Number;
        let kind = match self.kind() {
            Tok::Word if self.word(0) == "_" => {
                self.advance();
                return Ok(Argument { name, value: None, span: start.to(self.gap()) });
            }
            Tok::Number | Tok::Text => self.literal_kind(false),
            _ if negative => {
                self.advance();
                self.literal_kind(true)
            }
            Tok::True | Tok::False => {
                let value = self.kind() == Tok::True;
                self.advance();
                ExprKind::Bool(value)
            }
            _ => {
                let parameter = self.any_name("a parameter, a constant or `_`")?;
                let span = parameter.span;
                let path = ExprKind::Path { path: Path::field(parameter.name), quoted: false };
                let value = Some(self.add(path, span));
                return Ok(Argument { name, value, span: start.to(span) });
            }
        };
        let span = start.to(self.gap());
        let value = Some(self.add(kind, span));
        Ok(Argument { name, value, span })
    }

    /// `on match "text"`.
    fn on(&mut self) -> Result<ItemKind, Unreadable> {
        self.advance();
        let category = self.any_name("`match`, `fail`, `violation`, `validation` or a state")?;
        let span = self.span();
        let text = (self.kind() == Tok::Text).then(|| Text { text: self.text(), span });
        Ok(ItemKind::On { category, text })
    }

    /// The `;` of a line.
    fn item_end(&mut self) {
        if self.accept(Tok::Semicolon).is_some() {
            return;
        }
        let found = Diagnostic::error("missing-semicolon", "this line of the monitor does not end");
        let gap = self.gap();
        self.report(found.at(gap, "`;` expected here").help("every line of a monitor ends with `;`"));
        if self.kind() != Tok::CloseBrace && !self.starts_declaration() && !self.starts_item() {
            self.skip_item();
        }
    }

    /// Whether a line of a monitor may begin here, behind what needs no word to follow.
    pub(super) fn starts_item(&self) -> bool {
        matches!(self.kind(), Tok::Word | Tok::Event) && STARTS.contains(&self.word(0))
    }

    /// Skips to behind the next `;`, or to the `}` of the block.
    pub(super) fn skip_item(&mut self) {
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Tok::End => return,
                Tok::Semicolon => {
                    self.advance();
                    return;
                }
                Tok::OpenBrace => depth += 1,
                Tok::CloseBrace if depth == 0 => return,
                Tok::CloseBrace => depth -= 1,
                Tok::Word if self.starts_declaration() => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// Skips the block whose head could not be read.
    pub(super) fn skip_block(&mut self) {
        while !(self.opens_block() || matches!(self.kind(), Tok::Semicolon | Tok::End)) {
            // The block was never begun.
            if self.kind() == Tok::Word && self.starts_declaration() {
                return;
            }
            self.advance();
        }
        let mut depth = 0u32;
        while self.kind() != Tok::End {
            match self.kind() {
                _ if self.opens_block() => depth += 1,
                Tok::CloseBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
            self.advance();
        }
    }
}
