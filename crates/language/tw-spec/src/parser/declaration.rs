//! Declarations: `var`, `event`, `let`, `property`, `query`; `monitor` and `trace` have modules of their own.

use super::Parser;
use super::division::Divisible;
use crate::ast::{Declaration, DeclarationKind, Division, ExprId, ExprKind, Ident, Type};
use crate::lexer::Tok;
use tw_diag::Diagnostic;
use tw_ir::CompareOp;

const KEYWORDS: [&str; 13] = [
    "var", "event", "let", "property", "query", "monitor", "trace", "stream", "observe", "trigger", "chart",
    "after", "require",
];

/// A declaration could not be read; already reported.
pub(super) struct Unreadable;

impl Parser<'_> {
    /// Reads the whole file.
    pub(super) fn file(&mut self) {
        loop {
            while self.accept(Tok::Semicolon).is_some() {}
            if self.kind() == Tok::End {
                break;
            }
            let first = self.at;
            let start = self.span();
            let (mut comments, blank_before) = self.comments_ahead();
            let kind = match self.declaration() {
                // A block ends with its `}`.
                Ok(
                    kind @ (DeclarationKind::Monitor(_)
                    | DeclarationKind::Trace(_)
                    | DeclarationKind::Chart(_)),
                ) => kind,
                Ok(kind @ DeclarationKind::After(_)) if self.charts => {
                    self.accept(Tok::Semicolon);
                    kind
                }
                Ok(kind) => {
                    self.semicolon();
                    kind
                }
                Err(Unreadable) => {
                    self.synchronise(first);
                    self.partial.take().unwrap_or(DeclarationKind::Error)
                }
            };
            self.partial = None;
            let span = start.to(self.gap());
            let (mut inside, trailing) = self.comments_inside(first);
            comments.append(&mut inside);
            self.tree.declarations.push(Declaration { kind, span, comments, trailing, blank_before });
        }
        self.tree.trailing_comments = self.comments_before(self.at);
    }

    /// The only expression of a text, with its division; a `;` at the end is forgiven.
    pub(super) fn lone_expression(&mut self, divisible: Divisible) -> (ExprId, Division) {
        if self.kind() == Tok::End && self.diagnostics.is_empty() {
            let span = self.span();
            let found = Diagnostic::error("missing-operand", "the formula is empty").at(span, "");
            self.report(found.help("write one, for example `G (request -> F reply)`"));
            return (self.add(ExprKind::Error, span), Division::default());
        }
        if self.kind() == Tok::Word && self.starts_declaration() {
            let span = self.span();
            let found =
                Diagnostic::error("trailing-text", "expected a formula, found a declaration").at(span, "");
            self.report(found.help("declarations go into a file; here the formula stands alone"));
            return (self.add(ExprKind::Error, span), Division::default());
        }
        let operand = self.expression();
        let division = self.division(divisible);
        self.accept(Tok::Semicolon);
        if self.kind() != Tok::End {
            let found = Diagnostic::error(
                "trailing-text",
                format!("expected the end of the formula, found {}", self.found()),
            );
            let found = found.at(self.span(), "");
            self.report(found.help("declarations and several formulas go into a file"));
        }
        (operand.id, division)
    }

    /// Whether a declaration begins at the current token. `var`, `let`, `property` and `query` are names
    /// elsewhere; two names in a row mean a declaration everywhere.
    pub(super) fn starts_declaration(&self) -> bool {
        let keyword = match self.kind() {
            Tok::Word => KEYWORDS.contains(&self.word(0)),
            Tok::Event => true,
            _ => false,
        };
        // A column called `var` may be a query, and be divided: `query q : var by user;`.
        let divided = matches!(self.word(1), "by" | "every")
            && matches!(self.peek(2), Tok::Word | Tok::Quoted | Tok::Number);
        // And be what an aggregate collects: `sum(var for x : φ)`.
        let collected = self.word(1) == "for" && matches!(self.peek(2), Tok::Word | Tok::Quoted);
        // `monitor` is a word like any other elsewhere; a block has parameters, a text, a severity or a brace.
        let block = self.word(0) != "monitor"
            || matches!(self.peek(2), Tok::OpenParen | Tok::OpenBrace | Tok::Text | Tok::Word);
        // A block of settings has no name; no operator begins with a brace.
        if keyword && self.word(0) == "trace" {
            return self.peek(1) == Tok::OpenBrace;
        }
        if keyword && matches!(self.word(0), "chart" | "after") {
            return self.starts_chart();
        }
        // As are these.
        let own = match self.word(0) {
            "stream" => self.peek(2) == Tok::Colon,
            "observe" => matches!(self.peek(2), Tok::Comma | Tok::Semicolon),
            "trigger" | "require" => matches!(self.peek(2), Tok::Colon | Tok::Text),
            _ => true,
        };
        keyword && self.is_name(1) && !divided && !collected && block && own
    }

    /// Skips to behind the next `;` or to the next declaration behind token `first`.
    fn synchronise(&mut self, first: usize) {
        loop {
            match self.kind() {
                Tok::End => return,
                Tok::Semicolon => {
                    self.advance();
                    return;
                }
                _ if self.at > first && self.starts_declaration() => return,
                Tok::OpenBrace => {
                    // A block whose head could not be read, with the lines that are in it.
                    if let Some(end) = self.block_end() {
                        self.at = end;
                        self.advance();
                        return;
                    }
                    self.advance();
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Where the block that begins here ends; nothing if it is none, or is not closed before what comes next.
    fn block_end(&mut self) -> Option<usize> {
        let (begin, mut depth, mut lines) = (self.at, 0u32, false);
        let mut end = None;
        while self.kind() != Tok::End && end.is_none() {
            match self.kind() {
                Tok::OpenBrace => depth += 1,
                Tok::CloseBrace if depth == 1 => end = Some(self.at),
                Tok::CloseBrace => depth -= 1,
                Tok::Semicolon | Tok::Colon => lines = true,
                Tok::Word if self.starts_declaration() => break,
                _ => {}
            }
            self.advance();
        }
        self.at = begin;
        end.filter(|_| lines)
    }

    pub(super) fn semicolon(&mut self) {
        if self.accept(Tok::Semicolon).is_some() {
            return;
        }
        let gap = self.gap();
        // Where the declaration breaks off in the middle, its end is no news.
        let breaks_off = |found: &Diagnostic| {
            found.code == "missing-operand"
                && found.labels.first().is_some_and(|(span, _)| span.end == gap.start)
        };
        if !self.diagnostics.iter().any(breaks_off) {
            let found = Diagnostic::error("missing-semicolon", "this declaration does not end");
            self.report(
                found
                    .at(gap, "`;` expected here")
                    .help("did you forget `;`? Every declaration ends with one"),
            );
        }
        self.synchronise(self.at.saturating_sub(1));
    }

    fn declaration(&mut self) -> Result<DeclarationKind, Unreadable> {
        let word = if self.kind() == Tok::Quoted { "" } else { self.word(0) };
        match word {
            "var" => self.var(),
            "event" => self.event(),
            "let" => self.macro_declaration(),
            "property" | "query" | "trigger" => self.root(word),
            "require" => self.require(),
            "stream" => self.stream(),
            "observe" => self.observe(),
            "monitor" => self.monitor(),
            "trace" => self.trace_block(),
            "chart" => self.chart(),
            "after" => self.after(),
            _ => Err(self.no_declaration(word)),
        }
    }

    fn no_declaration(&mut self, word: &str) -> Unreadable {
        if self.kind() == Tok::Unknown {
            return Unreadable;
        }
        let message = format!("expected a declaration, found {}", self.found());
        let found = Diagnostic::error("no-declaration", message).at(self.span(), "");
        let meant = match word {
            "def" | "define" | "macro" | "const" => Some("let"),
            "prop" | "spec" | "assert" | "ltl" | "rule" | "invariant" | "formula" => Some("property"),
            "variable" | "signal" | "input" | "column" => Some("var"),
            _ if self.kind() == Tok::Word => tw_core::suggest(word, KEYWORDS),
            _ => None,
        };
        self.report(found.help(match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "a formula is written `property name : …;`, a query `query name : …;`".to_owned(),
        }));
        Unreadable
    }

    pub(super) fn expected(&mut self, code: &'static str, what: &str, help: &str) -> Unreadable {
        if self.kind() != Tok::Unknown {
            let message = format!("expected {what}, found {}", self.found());
            let at = if self.kind() == Tok::End { self.gap() } else { self.span() };
            self.report(Diagnostic::error(code, message).at(at, "").help(help));
        }
        Unreadable
    }

    /// A name; a reserved word is reported and taken all the same.
    pub(super) fn expect_name(&mut self, what: &str) -> Option<Ident> {
        // The next declaration is none's name.
        let next = self.kind() == Tok::Word && self.starts_declaration();
        if self.is_name(0) && !next {
            return Some(self.ident());
        }
        if self.is_reserved(self.at) && !next {
            self.reserved_word(self.at);
            return Some(self.ident());
        }
        self.expected("missing-name", what, "names begin with a letter; others are written in backquotes");
        None
    }

    fn var(&mut self) -> Result<DeclarationKind, Unreadable> {
        self.advance();
        if self.is_reserved(self.at) {
            self.reserved_word(self.at);
        } else if !self.is_name(0) || self.starts_declaration() {
            return Err(self.expected("missing-name", "the variable's name", "write `var queue: int;`"));
        }
        let (path, path_span) = self.path();
        if self.accept(Tok::Colon).is_none() {
            return Err(self.expected("bad-declaration", "`:` and a type", "write `var queue: int;`"));
        }
        let ty = self.ty()?;
        Ok(DeclarationKind::Var { path, path_span, ty })
    }

    pub(super) fn ty(&mut self) -> Result<Type, Unreadable> {
        const HELP: &str = "types are `bool`, `int`, `real` and `string`";
        if self.kind() != Tok::Word {
            return Err(self.expected("unknown-type", "a type", HELP));
        }
        let word = self.word(0);
        let span = self.advance();
        if let Some((_, ty)) = Type::ALL.iter().find(|(name, _)| *name == word) {
            return Ok(*ty);
        }
        let (meant, ty) = match word.to_ascii_lowercase().as_str() {
            "boolean" => ("bool", Type::Bool),
            "integer" | "i64" | "long" | "nat" => ("int", Type::Int),
            "float" | "double" | "number" | "f64" | "decimal" => ("real", Type::Real),
            "str" | "text" | "symbol" => ("string", Type::Text),
            other => match Type::ALL
                .iter()
                .find(|(name, _)| tw_core::suggest(other, [*name]).is_some() || *name == other)
            {
                Some((name, ty)) => (*name, *ty),
                None => ("", Type::Text),
            },
        };
        let found = Diagnostic::error("unknown-type", format!("`{word}` is not a type")).at(span, "");
        self.report(found.help(if meant.is_empty() { HELP.to_owned() } else { format!("write `{meant}`") }));
        Ok(ty)
    }

    /// Reads `(a, b)` by `item`; the current token is `(`.
    pub(super) fn list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, Unreadable>,
        help: &str,
    ) -> Result<Vec<T>, Unreadable> {
        let open = self.advance();
        let mut items = Vec::new();
        while self.kind() != Tok::CloseParen {
            items.push(item(self)?);
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        if self.accept(Tok::CloseParen).is_some() {
            return Ok(items);
        }
        // What stands before is understood where the rest of the declaration goes on, or ends.
        if matches!(self.kind(), Tok::End | Tok::Semicolon) {
            self.unclosed(open, 1);
            return Ok(items);
        }
        let unreadable = self.expected("bad-declaration", "`,` or `)`", help);
        match self.kind() {
            Tok::Compare(CompareOp::Eq) | Tok::Text | Tok::OpenBrace => Ok(items),
            _ => Err(unreadable),
        }
    }

    fn event(&mut self) -> Result<DeclarationKind, Unreadable> {
        const HELP: &str = "write `event login(user: string, ip: string);`";
        self.advance();
        let name = self.expect_name("the event's name").ok_or(Unreadable)?;
        let mut parameters = Vec::new();
        if self.kind() == Tok::OpenParen {
            parameters = self.list(
                |parser| {
                    let name = parser.expect_field("a parameter's name").ok_or(Unreadable)?;
                    if parser.accept(Tok::Colon).is_none() {
                        return Ok((name, None));
                    }
                    match parser.ty() {
                        Ok(ty) => Ok((name, Some(ty))),
                        // The type is not written yet.
                        Err(_) if matches!(parser.kind(), Tok::Comma | Tok::CloseParen) => Ok((name, None)),
                        Err(unreadable) => Err(unreadable),
                    }
                },
                HELP,
            )?;
            self.repeated(parameters.iter().map(|(name, _)| name.clone()).collect());
        }
        let template = match self.kind() {
            Tok::Compare(CompareOp::Eq) => Some(self.template(&name, &mut parameters)?),
            _ => None,
        };
        Ok(DeclarationKind::Event { name, parameters, template })
    }

    /// The name of an event's field: any word but a constant, since no operator can stand there.
    pub(super) fn expect_field(&mut self, what: &str) -> Option<Ident> {
        if self.is_reserved(self.at) && !matches!(self.kind(), Tok::True | Tok::False | Tok::Null) {
            return Some(self.ident());
        }
        self.expect_name(what)
    }

    pub(super) fn repeated(&mut self, mut names: Vec<Ident>) {
        names.sort_by(|a, b| (&a.name, a.span.start).cmp(&(&b.name, b.span.start)));
        for pair in names.windows(2) {
            if pair[0].name == pair[1].name {
                let message = format!("the parameter `{}` occurs twice", pair[0].name);
                let found = Diagnostic::error("repeated-parameter", message).at(pair[1].span, "again here");
                self.report(found.at(pair[0].span, "first here"));
            }
        }
    }

    fn macro_declaration(&mut self) -> Result<DeclarationKind, Unreadable> {
        const HELP: &str = "write `let busy = queue > 10;` or `let waiting(u) = requested(u) S !served(u);`";
        self.advance();
        let name = self.expect_name("the macro's name").ok_or(Unreadable)?;
        let mut parameters = Vec::new();
        if self.kind() == Tok::OpenParen {
            parameters =
                self.list(|parser| parser.expect_name("a parameter's name").ok_or(Unreadable), HELP)?;
            self.repeated(parameters.clone());
        }
        match self.kind() {
            Tok::Compare(CompareOp::Eq) => {
                self.advance();
            }
            Tok::Colon => {
                let found =
                    Diagnostic::error("bad-declaration", "a macro is defined with `=`").at(self.span(), "");
                self.report(found.help(HELP));
                self.advance();
                self.accept(Tok::Compare(CompareOp::Eq));
            }
            _ => {
                let unreadable = self.expected("bad-declaration", "`=`", HELP);
                let body = self.hole();
                self.partial = Some(DeclarationKind::Let { name, parameters, body });
                return Err(unreadable);
            }
        }
        let body = self.expression().id;
        self.division(Divisible::Macro);
        Ok(DeclarationKind::Let { name, parameters, body })
    }

    fn root(&mut self, word: &str) -> Result<DeclarationKind, Unreadable> {
        let (what, help) = match word {
            "property" => (
                "the property's name",
                "write `property answered \"every request is answered\" : G (req -> F ack);`",
            ),
            "trigger" => ("the trigger's name", "write `trigger hot \"too hot\" : temperature > 80;`"),
            _ => (
                "the query's name",
                "write `query worst \"the longest stretch\" : max[count[retry while busy]];`",
            ),
        };
        let divisible = if word == "query" { Divisible::Query } else { Divisible::Property };
        let kind = word.to_owned();
        self.advance();
        if self.starts_declaration() || matches!(self.kind(), Tok::Text | Tok::Colon) {
            return Err(self.expected("missing-name", what, help));
        }
        let name = self.expect_name(what).ok_or(Unreadable)?;
        let title = (self.kind() == Tok::Text).then(|| self.text());
        match self.kind() {
            Tok::Colon => {
                self.advance();
            }
            Tok::Compare(CompareOp::Eq) => {
                let found =
                    Diagnostic::error("bad-declaration", "the formula follows after `:`").at(self.span(), "");
                self.report(found.help(help));
                self.advance();
            }
            _ => {
                let unreadable = self.expected("bad-declaration", "`:`", help);
                let body = self.hole();
                self.partial = Some(root_of(&kind, name, title, body, Division::default()));
                return Err(unreadable);
            }
        }
        let body = self.expression().id;
        let division = self.division(divisible);
        Ok(root_of(&kind, name, title, body, division))
    }

    /// What stands for an expression that is not there; already reported.
    pub(super) fn hole(&mut self) -> ExprId {
        let gap = self.gap();
        self.add(ExprKind::Error, gap)
    }
}

/// The property, trigger or query that begins with `word`.
fn root_of(
    word: &str,
    name: Ident,
    title: Option<String>,
    body: ExprId,
    division: Division,
) -> DeclarationKind {
    match word {
        "property" => DeclarationKind::Property { name, title, body },
        "trigger" => DeclarationKind::Trigger { name, title, body },
        _ => DeclarationKind::Query { name, title, body, division },
    }
}
