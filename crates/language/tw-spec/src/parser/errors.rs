//! Findings of the precedence machine, and how it goes on after them.

use super::expression::{Last, Machine, Step};
use super::frame::{Frame, Stage};
use super::{Operand, Parser};
use crate::ast::{ExprId, ExprKind, Infix, Prefix};
use crate::lexer::Tok;
use tw_diag::{Diagnostic, Span};
use tw_ir::{CompareOp, Temporal};

/// What an operator letter means, for people who meant a name.
fn meaning(kind: Tok) -> &'static str {
    match kind {
        Tok::Prefix(Prefix::Temporal(operator)) | Tok::Infix(Infix::Temporal(operator)) => {
            operator.row().name
        }
        _ => "part of the language",
    }
}

/// Operators of other languages that are two operators here.
fn foreign_operator(text: &str) -> Option<&'static str> {
    Some(match text {
        "-->" => "->",
        "<=>" | "<-->" => "<->",
        ":=" | "===" => "==",
        "!==" | "=!" => "!=",
        _ => return None,
    })
}

/// Names of aggregates with a parameter.
fn is_statistic(name: &str) -> bool {
    matches!(name, "quantile" | "histogram" | "percentile" | "percentile_cont" | "percentile_disc")
}

/// Operators that are words: those before an operand, or those between two.
fn operator_words(prefix: bool) -> impl Iterator<Item = &'static str> {
    let others: &[&str] = if prefix { &["not"] } else { &["implies", "and", "xor"] };
    let temporal = Temporal::all().map(Temporal::row).filter(move |row| row.prefix == prefix);
    temporal.map(|row| row.word).filter(|word| !word.is_empty()).chain(others.iter().copied())
}

impl Parser<'_> {
    /// The operator that was misspelt, if one of two operands side by side is nearly one.
    fn misspelt_operator(&self, before: &str) -> Option<&'static str> {
        let near = |word: &str, prefix: bool| {
            let long = (3..20).contains(&word.len());
            if long { tw_core::suggest(word, operator_words(prefix)) } else { None }
        };
        let infix =
            if self.kind() == Tok::Word && self.begins_operand(1) { near(self.word(0), false) } else { None };
        infix.or_else(|| near(before, true))
    }

    /// The current token, for messages.
    pub(super) fn found(&self) -> String {
        match self.kind() {
            Tok::End => "the end of the text".to_owned(),
            Tok::Text => "text".to_owned(),
            _ => format!("`{}`", self.brief(self.span())),
        }
    }

    /// The text of a span on one line, its end left out if it is long. Looks at the beginning only, so that
    /// many errors over long texts stay cheap.
    pub(super) fn brief(&self, span: Span) -> String {
        let text = self.slice(span);
        let text = &text[..text.char_indices().nth(200).map_or(text.len(), |(at, _)| at)];
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= 60 { text } else { text.chars().take(58).chain(" …".chars()).collect() }
    }

    /// Whether the token at `index` is a word that has another meaning (letters included).
    pub(super) fn is_reserved(&self, index: usize) -> bool {
        let Some(token) = self.tokens.get(index) else { return false };
        !matches!(token.kind, Tok::Word | Tok::Quoted | Tok::Number | Tok::Text | Tok::Unknown)
            && self.slice(self.span_at(index)).starts_with(|c: char| c.is_alphabetic())
    }

    /// Reports a reserved word where a name is meant.
    pub(super) fn reserved_word(&mut self, index: usize) {
        let span = self.span_at(index);
        let word = self.slice(span);
        let kind = self.tokens.get(index).map_or(Tok::End, |token| token.kind);
        let what = match meaning(kind) {
            "part of the language" => format!("`{word}` is a reserved word"),
            meaning if meaning == word => format!("`{word}` is an operator"),
            meaning => format!("`{word}` is the operator \"{meaning}\""),
        };
        let found = Diagnostic::error("reserved-word", what).at(span, "not usable as a name as it stands");
        self.report(found.help(format!("a name like this is written with backquotes: `{word}`")));
    }

    /// An operand has to begin here but none does.
    pub(super) fn missing_operand(&mut self, m: &mut Machine) -> Step {
        m.last = Last::Closed;
        let (kind, span) = (self.kind(), self.span());
        if kind == Tok::Unknown {
            self.advance();
            return self.error_operand(span);
        }
        // `X > 3`: the letter before was meant as a name.
        if let Some(&Frame::Prefix { interval: None, map: None, start, .. }) = m.frames.last()
            && self.at > 0
            && self.span_at(self.at - 1) == start
            && self.is_reserved(self.at - 1)
            && !matches!(kind, Tok::End | Tok::Semicolon | Tok::Infix(_))
        {
            m.frames.pop();
            self.reserved_word(self.at - 1);
            while self.kind() == Tok::Dot && self.peek(1) != Tok::End {
                self.advance();
                self.advance();
            }
            return self.error_operand(start);
        }
        let previous = self.at.checked_sub(1).map(|index| self.span_at(index));
        let previous_kind = self.at.checked_sub(1).map_or(Tok::Semicolon, |index| self.tokens[index].kind);
        let binary_before = Self::binary_operator(previous_kind).is_some();
        if self.is_reserved(self.at) && !self.begins_operand(1) && !self.starts_declaration() {
            self.reserved_word(self.at);
            self.advance();
            return self.error_operand(span);
        }
        let before = previous.map_or("", |span| self.slice(span));
        let found = self.found();
        let error = |message: String| Diagnostic::error("missing-operand", message);
        let diagnostic = match kind {
            Tok::CloseParen if previous_kind == Tok::OpenParen => error("these parentheses are empty".into())
                .at(self.span_at(self.at - 1).to(span), "a formula or a term is expected inside"),
            Tok::CloseBracket if previous_kind == Tok::OpenBracket => {
                error("these brackets are empty".into())
                    .at(self.span_at(self.at - 1).to(span), "an experiment is expected inside")
            }
            Tok::Dot if self.peek(1) == Tok::Number => error("a number begins with a digit".into())
                .at(span, "")
                .help(format!("write `0.{}`", self.word(1))),
            Tok::OpenBracket => error("an interval follows a temporal operator".into())
                .at(span, "no operator before it")
                .help("write for example `F[0,5] p`; the operator \"always\" is `[]` or `G`"),
            Tok::OpenBrace => error("`{` begins no formula".into())
                .at(span, "")
                .help("a set is written after `in`: `x in {1..5, 7}`; parentheses group"),
            _ if Self::binary_operator(kind).is_some() && binary_before => {
                let both = previous.unwrap_or(span).to(span);
                let diagnostic = error(format!("two operators in a row: `{before}` and {found}"))
                    .at(both, "something is missing between them");
                match foreign_operator(self.slice(both)) {
                    Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                    None => diagnostic,
                }
            }
            _ if Self::binary_operator(kind).is_some() => {
                let diagnostic = error(format!("{found} has nothing on its left")).at(span, "");
                if self.is_reserved(self.at) {
                    diagnostic.help(format!("if it is a name, put it in backquotes: `{}`", self.word(0)))
                } else {
                    diagnostic
                }
            }
            _ if binary_before => {
                let found =
                    error(format!("`{before}` has nothing on its right")).at(previous.unwrap_or(span), "");
                if self.is_reserved(self.at - 1) {
                    found.help(format!("if it is a name, put it in backquotes: `{before}`"))
                } else {
                    found
                }
            }
            Tok::End | Tok::Semicolon if previous_kind == Tok::Semicolon => {
                error("a formula is expected".into()).at(span, "nothing is written here")
            }
            _ => {
                let gap = if kind == Tok::End { self.gap() } else { span };
                error(format!("expected a formula or a term, found {found}")).at(gap, "")
            }
        };
        self.report(diagnostic);
        match kind {
            Tok::Dot | Tok::DotDot => {
                self.advance();
                self.accept(Tok::Number);
            }
            Tok::OpenBracket | Tok::OpenBrace => self.skip_junk(),
            _ => {}
        }
        let gap = self.gap();
        self.error_operand(gap)
    }

    fn error_operand(&mut self, span: Span) -> Step {
        Step::Operator(Operand { id: self.add(ExprKind::Error, span), extent: span })
    }

    /// Whether the token `ahead` may begin an operand (a minus sign is taken for an operator).
    fn begins_operand(&self, ahead: usize) -> bool {
        matches!(
            self.peek(ahead),
            Tok::Word
                | Tok::Quoted
                | Tok::Number
                | Tok::Text
                | Tok::True
                | Tok::False
                | Tok::Null
                | Tok::First
                | Tok::Last
                | Tok::Not
                | Tok::Prefix(_)
                | Tok::OpenParen
                | Tok::Forall
                | Tok::Exists
                | Tok::If
                | Tok::Event
        )
    }

    /// Two operands side by side, or something else that no operator is.
    pub(super) fn missing_operator(&mut self, value: Operand) -> Step {
        if self.kind() != Tok::Unknown {
            let found = self.found();
            let at = self.span();
            let message = format!("expected an operator, found {found}");
            let diagnostic = Diagnostic::error("missing-operator", message).at(at, "");
            let before = self.slice(value.extent);
            let diagnostic = match self.kind() {
                Tok::OpenBracket if self.called(value).is_some_and(is_statistic) => diagnostic
                    .help("a quantile is written `quantile(0.95)[x]`, a histogram `histogram(10)[x]`"),
                Tok::OpenParen if matches!(before, "first" | "last") => {
                    diagnostic.help(format!("did you mean the aggregate `{before}[…]`?"))
                }
                Tok::Word if self.foreign_clause().is_some() => {
                    diagnostic.help(self.foreign_clause().unwrap_or_default())
                }
                Tok::OpenBracket if self.peek(1) == Tok::Number => diagnostic
                    .help("elements of a list are reached by `[*]`; intervals follow a temporal operator"),
                Tok::OpenBracket => {
                    diagnostic.help("aggregates are written like `count[…]`, elements of lists `a[*]`")
                }
                Tok::OpenParen if before.len() < 200 && before.contains('.') => diagnostic.help(format!(
                    "an event's name with odd characters is written in backquotes: `{before}`"
                )),
                Tok::OpenBrace => diagnostic.help("`{…}` follows `&`, `|`, `!`, `X`, `U` or `in`"),
                Tok::Not if self.peek(1) == Tok::In => diagnostic.help("write `!(x in {…})`"),
                Tok::Word if matches!(self.peek(1), Tok::Colon | Tok::Text) => {
                    diagnostic.help("did you forget `;` before a new declaration, or an operator like `&`?")
                }
                Tok::Dot | Tok::DotDot => diagnostic,
                _ => match self.misspelt_operator(before) {
                    Some(meant) => diagnostic.help(format!("did you mean the operator `{meant}`?")),
                    None => diagnostic.help("did you forget an operator like `&` or `->`?"),
                },
            };
            self.report(diagnostic);
        }
        self.skip_operand(value)
    }

    /// The name of the call that an operand is.
    fn called(&self, value: Operand) -> Option<&str> {
        match &self.expr(value.id).kind {
            ExprKind::Call { name, .. } => Some(name.name.as_str()),
            _ => None,
        }
    }

    /// What to write instead of a clause of another query language, or of `by` and `every` inside brackets.
    fn foreign_clause(&self) -> Option<&'static str> {
        let word = self.word(0).to_ascii_lowercase();
        Some(match word.as_str() {
            "by" | "group" => "the division stands behind the whole query: `max[x] by user`",
            "every" => "the division stands behind the whole query: `count[p] every 1m`",
            "where" | "filter" | "having" => {
                "a condition stands before the value: `avg[p : x]` collects x where p holds"
            }
            "per" if self.peek(1) == Tok::Word => match self.word(1) {
                "second" | "minute" | "hour" | "day" => "did you mean `every 1m`, at the end of the query?",
                _ => "did you mean `by user`, at the end of the query?",
            },
            "during" => "did you mean `while`, inside the brackets: `avg[x while p]`?",
            "over" | "window" => "windows of time are written at the end of the query: `every 5m`",
            "contains" | "like" | "includes" | "regex" | "startswith" | "endswith" => {
                "texts are searched with a regular expression: `name matches \"part\"`, from its start `\"^part\"`"
            }
            "default" | "otherwise" => "did you mean `??`, as in `count[p] ?? 0`?",
            _ => return None,
        })
    }

    /// Skips what cannot be read, already reported, and goes on with `value`: what stands before it is understood.
    pub(super) fn skip_operand(&mut self, value: Operand) -> Step {
        self.skip_junk();
        Step::Operator(Operand { extent: value.extent.to(self.gap()), ..value })
    }

    /// Skips at least one token, up to an operator, a closing bracket that closes something outside, or an end.
    pub(super) fn skip_junk(&mut self) {
        let mut depth = 0u32;
        let mut first = true;
        loop {
            match self.kind() {
                Tok::End | Tok::Semicolon => return,
                Tok::OpenParen | Tok::OpenBracket | Tok::OpenBrace => depth += 1,
                Tok::CloseParen | Tok::CloseBracket | Tok::CloseBrace if depth > 0 => depth -= 1,
                Tok::CloseParen | Tok::CloseBracket | Tok::CloseBrace if !first => return,
                Tok::Then | Tok::Else | Tok::While | Tok::In | Tok::Matches | Tok::Comma
                    if depth == 0 && !first =>
                {
                    return;
                }
                kind if depth == 0 && !first && Self::binary_operator(kind).is_some() => return,
                _ if !first && (self.starts_declaration() || self.block && self.starts_item()) => return,
                _ => {}
            }
            first = false;
            self.advance();
        }
    }

    /// A keyword out of place.
    pub(super) fn stray_word(&mut self, message: &str, help: &str) {
        let found = Diagnostic::error("unexpected-word", message).at(self.span(), "").help(help);
        self.report(found);
    }

    /// An opening bracket whose partner is missing; `count` of them are open.
    pub(super) fn unclosed(&mut self, open: Span, count: u32) {
        let bracket = self.slice(open);
        let partner = match bracket {
            "(" => ")",
            "[" => "]",
            _ => "}",
        };
        let message = match count {
            1 => format!("this `{bracket}` is never closed"),
            _ => format!("{count} brackets are never closed, this `{bracket}` is the last of them"),
        };
        let gap = self.gap();
        // What could not be read at all may hold the partner; that finding is enough.
        let end = self.span().end;
        let unread = |d: &Diagnostic| {
            matches!(d.code, "unclosed-text" | "unclosed-comment" | "unknown-character")
                && d.labels.first().is_some_and(|(at, _)| (open.start..=end).contains(&at.start))
        };
        if self.diagnostics.iter().any(unread) {
            return;
        }
        let found = Diagnostic::error("unclosed-bracket", message).at(open, "opened here");
        self.report(found.at(gap, format!("`{partner}` expected here at the latest")));
    }

    pub(super) fn incomplete_if(&mut self, stage: Stage, start: Span) {
        let missing = if stage == Stage::Condition { "then" } else { "else" };
        let found = Diagnostic::error("incomplete-if", format!("this `if` has no `{missing}`")).at(start, "");
        let gap = self.gap();
        self.report(found.at(gap, format!("`{missing}` expected here")).help("write `if c then a else b`"));
    }

    /// `φ : e` is loosest but one; an operator after it is ambiguous to the reader.
    pub(super) fn operator_after_emit(&mut self, value: Operand) {
        let text = self.brief(value.extent);
        let message = format!("the value after `:` is one term, but {} follows it", self.found());
        let found = Diagnostic::error("ambiguous-colon", message)
            .at(self.span(), "")
            .at(value.extent, "this has a value already");
        self.report(
            found.help(format!("write `({text}) {} …`, or put the whole value in parentheses", self.word(0))),
        );
    }

    /// `a < b < c`, which would compare a truth value with `c`.
    pub(super) fn chained_comparison(&mut self, left: ExprId, op: Span, right: Operand) {
        let whole = self.expr(left).span.to(right.extent);
        let found = Diagnostic::error("chained-comparison", "comparisons cannot be chained").at(whole, "");
        let (op, right) = (self.slice(op), self.brief(right.extent));
        let help = match &self.expr(left).kind {
            ExprKind::Compare(_, _, middle) => {
                let (left, middle) = (self.brief(self.expr(left).span), self.brief(self.expr(*middle).span));
                format!("write `{left} & {middle} {op} {right}`")
            }
            _ => "put one of them in parentheses".to_owned(),
        };
        self.report(found.help(help));
    }

    /// `x => 3` is an implication; whoever writes it means `>=`.
    pub(super) fn check_arrow(&mut self, op: Infix, span: Span, right: ExprId) {
        let number = matches!(self.expr(right).kind, ExprKind::Int(_) | ExprKind::Real(_));
        if op == Infix::Implies && self.slice(span) == "=>" && number {
            let found = Diagnostic::error(
                "unknown-operator",
                "`=>` means \"implies\", and a number is not a formula",
            );
            self.report(
                found.at(span, "").help(format!("write `{}` for \"at least\"", CompareOp::Ge.symbol())),
            );
        }
    }

    pub(super) fn lone_corr(&mut self, span: Span) {
        let found = Diagnostic::error("bad-aggregate", "`corr` takes two experiments").at(span, "");
        self.report(found.help("write `corr[a, b]`"));
    }
}
