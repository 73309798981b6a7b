//! Patterns of events that a trace is sliced by: `f(x), f(y), h(x, _)`, perhaps with `where x > y` behind them.

use super::Parser;
use super::declaration::Unreadable;
use crate::ast::monitor::{Event, Item, ItemKind, Monitor};
use crate::ast::{Argument, Declaration, DeclarationKind, ExprKind, Ident, Tree};
use crate::lexer::Tok;
use tw_diag::{Checked, Span};

const HELP: &str =
    "write for example `open(f), read(f, _), close(f)`, or `open(file: f)` where arguments have names";

/// Parses patterns: a tree with one monitor, of which each pattern is an event and each variable a parameter, in the order of
/// their first use.
pub fn parse_patterns(text: &str, source: u32) -> Checked<Tree> {
    let mut parser = Parser::new(text, source);
    let whole = Span { source, start: 0, end: text.len() as u32 };
    let kind = parser.patterns(whole).map_or(DeclarationKind::Error, DeclarationKind::Monitor);
    let comments = parser.comments_before(parser.tokens.len());
    let declaration = Declaration { kind, span: whole, comments, trailing: None, blank_before: false };
    parser.tree.declarations.push(declaration);
    parser.finish()
}

impl Parser<'_> {
    fn patterns(&mut self, whole: Span) -> Result<Monitor, Unreadable> {
        let mut monitor = Monitor {
            name: Ident { name: "slice".to_owned(), span: whole },
            parameters: Vec::new(),
            title: None,
            severity: None,
            strict: false,
            equal: false,
            items: Vec::new(),
            trailing_comments: Vec::new(),
        };
        loop {
            let start = self.span();
            let event = self.pattern(monitor.items.len())?;
            for variable in &event.parameters {
                if !monitor.parameters.iter().any(|known| known.name == variable.name) {
                    monitor.parameters.push(variable.clone());
                }
            }
            let span = start.to(self.gap());
            monitor.items.push(item(ItemKind::Event { creation: false, event }, span));
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        if self.kind() == Tok::Word && self.word(0) == "where" {
            self.advance();
            let start = self.span();
            let body = self.expression().id;
            monitor.items.push(item(ItemKind::Where(body), start.to(self.gap())));
        }
        if self.kind() != Tok::End {
            return Err(self.expected("trailing-text", "`,` and another pattern, or the end", HELP));
        }
        Ok(monitor)
    }

    fn pattern(&mut self, number: usize) -> Result<Event, Unreadable> {
        let name = self.any_name("a pattern")?;
        let mut arguments: Vec<Argument> = Vec::new();
        if self.kind() == Tok::OpenParen {
            arguments = self.list(Self::source_argument, HELP)?;
        }
        let mut parameters: Vec<Ident> = Vec::new();
        for value in arguments.iter().filter_map(|argument| argument.value) {
            let expr = self.expr(value);
            if let ExprKind::Path { path, .. } = &expr.kind
                && let Some(variable) = path.as_name()
                && !parameters.iter().any(|known| known.name == variable)
            {
                parameters.push(Ident { name: variable.to_owned(), span: expr.span });
            }
        }
        let own = Ident { name: format!("pattern {number}"), span: name.span };
        Ok(Event { name: own, parameters, source: Some((name, arguments)), when: None })
    }
}

fn item(kind: ItemKind, span: Span) -> Item {
    Item { kind, span, comments: Vec::new(), trailing: None, blank_before: false }
}
