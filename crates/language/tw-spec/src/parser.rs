//! Tokens to a tree.
//!
//! Declarations are read by plain functions, formulas by a precedence machine with an explicit stack
//! ([`expression`]): every step consumes a token or pops a frame, so time is linear and depth costs heap only.
//! After an error the machine goes on with [`ExprKind::Error`] in place of what is missing, a declaration goes
//! on at the next `;` or at the next word that begins one.

mod binder;
mod chart;
mod comments;
mod declaration;
mod division;
#[cfg(test)]
pub(crate) mod dump;
mod errors;
mod expression;
mod formalism;
mod frame;
mod interval;
mod literal;
mod monitor;
mod operand;
mod paths;
mod require;
mod settings;
mod slicing;
mod stream;
mod template;
#[cfg(test)]
pub(crate) mod tests;
mod window;

pub(crate) use frame::{Binary, is_temporal};
pub(crate) use literal::FUNCTIONS;
pub(crate) use operand::is_aggregate;
pub use slicing::parse_patterns;

use crate::ast::{Declaration, DeclarationKind, Division, Expr, ExprId, ExprKind, Ident, Tree};
use crate::lexer::{Lexed, LexedComment, Tok, Token, lex, lex_with};
use division::Divisible;
use tw_diag::{Checked, Diagnostic, Severity, Span};

/// More errors than this help nobody.
pub(crate) const MAX_ERRORS: usize = 20;

/// As do more than this of one declaration.
const MAX_ERRORS_EACH: usize = 4;

/// At most [`MAX_ERRORS`] errors and as many warnings; the last of them says so if there are more.
pub(crate) fn first_few(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let kind = |d: &Diagnostic| usize::from(d.severity == Severity::Warning);
    let mut totals = [0; 2];
    findings.iter().for_each(|d| totals[kind(d)] += 1);
    let mut counts = [0; 2];
    let mut closed = [false; 2];
    let few = |d: Diagnostic| {
        let kind = kind(&d);
        counts[kind] += 1;
        let (code, what) = [("too-many-errors", "errors"), ("too-many-warnings", "warnings")][kind];
        let over = closed[kind];
        closed[kind] |= d.code == code;
        if over {
            return None;
        }
        if d.code == code || totals[kind] <= MAX_ERRORS || counts[kind] < MAX_ERRORS {
            return Some(d);
        }
        let message = format!("there are more {what} than these {}", MAX_ERRORS - 1);
        let labels = d.labels.iter().take(1).map(|(span, _)| (*span, "the next one".to_owned())).collect();
        let more = Diagnostic { code, message, labels, help: None, ..d };
        (counts[kind] == MAX_ERRORS).then_some(more)
    };
    findings.into_iter().filter_map(few).collect()
}

/// Parses a specification file. `source` is the text's index in [`tw_diag::Sources`].
pub fn parse(text: &str, source: u32) -> Checked<Tree> {
    let mut parser = Parser::new(text, source);
    parser.file();
    parser.finish()
}

/// Parses a file of charts: as [`parse`], where comments may begin with `#` too and `;` may be left out.
pub fn parse_charts(text: &str, source: u32) -> Checked<Tree> {
    let mut parser = Parser { charts: true, ..Parser::of(text, source, lex_with(text, source, true)) };
    parser.file();
    parser.finish()
}

/// Parses a single formula, as given on the command line: a tree with one property named by its text.
pub fn parse_formula(text: &str, source: u32) -> Checked<Tree> {
    single(text, source, Divisible::Property, |name, body, _| DeclarationKind::Property {
        name,
        title: None,
        body,
    })
}

/// Parses a single query, as given on the command line: a tree with one query named by its text.
pub fn parse_query(text: &str, source: u32) -> Checked<Tree> {
    single(text, source, Divisible::Query, |name, body, division| DeclarationKind::Query {
        name,
        title: None,
        body,
        division,
    })
}

/// Parses a single formula of branching time: as [`parse_formula`], with the path quantifiers `A` and `E` and, written
/// as one word with the operator they stand before, `AX EX AF EF AG EG`.
pub fn parse_branching(text: &str, source: u32) -> Checked<Tree> {
    let parser = Parser { branching: true, ..Parser::new(text, source) };
    alone(parser, Divisible::Property, |name, body, _| DeclarationKind::Property { name, title: None, body })
}

fn single(
    text: &str,
    source: u32,
    divisible: Divisible,
    kind: impl FnOnce(Ident, ExprId, Division) -> DeclarationKind,
) -> Checked<Tree> {
    alone(Parser::new(text, source), divisible, kind)
}

/// The text as one expression.
fn alone(
    mut parser: Parser<'_>,
    divisible: Divisible,
    kind: impl FnOnce(Ident, ExprId, Division) -> DeclarationKind,
) -> Checked<Tree> {
    let (text, source) = (parser.text, parser.source);
    let name = text.trim();
    let start = (text.len() - text.trim_start().len()) as u32;
    let span = Span { source, start, end: start.saturating_add(name.len() as u32) };
    let (body, division) = parser.lone_expression(divisible);
    let comments = parser.comments_before(parser.tokens.len());
    parser.tree.declarations.push(Declaration {
        kind: kind(Ident { name: name.to_owned(), span }, body, division),
        span,
        comments,
        trailing: None,
        blank_before: false,
    });
    parser.finish()
}

/// An expression just read: its node, and its text with the parentheses around it.
#[derive(Clone, Copy, Debug)]
struct Operand {
    id: ExprId,
    extent: Span,
}

struct Parser<'a> {
    text: &'a str,
    source: u32,
    tokens: Vec<Token>,
    at: usize,
    comments: Vec<LexedComment>,
    /// Comments already handed to a declaration.
    comments_used: usize,
    tree: Tree,
    diagnostics: Vec<Diagnostic>,
    /// Whether path quantifiers are operators; elsewhere `A` and `EF` are names like any other.
    branching: bool,
    /// Whether lines of a block are read: its `}` ends a formula that lacks its `;`.
    block: bool,
    /// Whether a file of charts is read: its declarations need no `;`.
    charts: bool,
    /// What can be said of a declaration that could not be read to its end: its name, so that uses of it are understood.
    partial: Option<DeclarationKind>,
    /// Where the `trace` block begins.
    traced: Option<Span>,
    /// Of each bracket whether a `:` stands directly inside; empty until somebody asks.
    colons: Vec<bool>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, source: u32) -> Self {
        Self::of(text, source, lex(text, source))
    }

    fn of(text: &'a str, source: u32, lexed: Lexed) -> Self {
        Parser {
            text,
            source,
            tree: Tree { exprs: Vec::with_capacity(lexed.tokens.len()), ..Tree::default() },
            tokens: lexed.tokens,
            at: 0,
            comments: lexed.comments,
            comments_used: 0,
            diagnostics: lexed.diagnostics,
            branching: false,
            block: false,
            charts: false,
            partial: None,
            traced: None,
            colons: Vec::new(),
        }
    }

    fn finish(mut self) -> Checked<Tree> {
        // Findings of the lexer and late ones of the machine are merged into the order of the text.
        self.diagnostics.sort_by_key(|d| d.labels.first().map_or(0, |(span, _)| span.start));
        self.leave_out_after_quotes();
        self.leave_out_more_of_the_same();
        Checked { value: self.tree, diagnostics: first_few(self.diagnostics) }
    }

    /// Where a text is never closed, the quotes of its line are odd: what looks wrong behind the first of them is no news.
    fn leave_out_after_quotes(&mut self) {
        let text = self.text;
        let line = |place: u32| {
            let before = text.get(..place as usize).unwrap_or(text);
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
            (start, end)
        };
        let at = |found: &Diagnostic| found.labels.first().map_or(0, |(span, _)| span.start);
        let odd: Vec<(usize, usize)> = self
            .diagnostics
            .iter()
            .filter(|found| found.code == "unclosed-text")
            .map(|found| {
                let (start, end) = line(at(found));
                (text[start..end].find(['"', '`']).map_or(start, |quote| start + quote), end)
            })
            .collect();
        if odd.is_empty() {
            return;
        }
        let behind = |place: usize| odd.iter().any(|&(start, end)| start <= place && place <= end);
        self.diagnostics.retain(|found| found.code == "unclosed-text" || !behind(at(found) as usize));
    }

    /// A bracket too many makes a dozen odd words of one formula: after a few, more of them help nobody.
    fn leave_out_more_of_the_same(&mut self) {
        let block = |kind: &DeclarationKind| {
            use DeclarationKind::{Chart, Monitor, Trace};
            matches!(kind, Monitor(_) | Trace(_) | Chart(_))
        };
        let declarations = &self.tree.declarations;
        let mut told = vec![0; declarations.len()];
        self.diagnostics.retain(|found| {
            let start = found.labels.first().map_or(0, |(span, _)| span.start);
            let own = declarations.partition_point(|own| own.span.start <= start).checked_sub(1);
            let Some(own) = own.filter(|&own| !block(&declarations[own].kind)) else { return true };
            told[own] += usize::from(found.severity == Severity::Error);
            told[own] <= MAX_ERRORS_EACH || found.severity != Severity::Error
        });
    }

    /// The kind of the token `ahead` of the current one.
    fn peek(&self, ahead: usize) -> Tok {
        self.tokens.get(self.at + ahead).map_or(Tok::End, |token| token.kind)
    }

    fn kind(&self) -> Tok {
        self.tokens[self.at].kind
    }

    fn span_at(&self, index: usize) -> Span {
        let token = self.tokens[index.min(self.tokens.len() - 1)];
        Span { source: self.source, start: token.start, end: token.end }
    }

    fn span(&self) -> Span {
        self.span_at(self.at)
    }

    /// The place right after the previous token, where something is missing.
    fn gap(&self) -> Span {
        let end = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        Span { source: self.source, start: end, end }
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The text of the token `ahead` of the current one.
    fn word(&self, ahead: usize) -> &'a str {
        self.slice(self.span_at(self.at + ahead))
    }

    /// Takes the current token; the end is never passed.
    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    /// Takes the current token if it is of this kind.
    fn accept(&mut self, kind: Tok) -> Option<Span> {
        (self.kind() == kind).then(|| self.advance())
    }

    fn add(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.tree.exprs.push(Expr { kind, span });
        ExprId((self.tree.exprs.len() - 1) as u32)
    }

    fn expr(&self, id: ExprId) -> &Expr {
        &self.tree.exprs[id.index()]
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // Twice the limit, since the machine's late findings may precede others in the text.
        if self.diagnostics.len() < 2 * MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }
}
