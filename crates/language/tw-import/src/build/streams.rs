//! Streams and triggers of the source, and what their expressions are worth.
//!
//! Types are told when everything is read: equations may refer to streams that are defined further down, or to themselves.

use super::{Builder, Sort, Value, comment};
use rustc_hash::FxHashMap;
use tw_diag::Span;
use tw_ir::{Path, PathStep};
use tw_spec::ast::{Column, Comment, Declaration, DeclarationKind, Expr, ExprId, ExprKind, Ident, Type};

/// What a name in an expression stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// A column or a constant of a known type.
    Known(Type),
    /// A stream, by its number.
    Stream(usize),
}

/// Streams and triggers so far.
#[derive(Default)]
pub(super) struct Streams {
    made: Vec<Made>,
    leaves: FxHashMap<ExprId, Leaf>,
}

/// A stream or a trigger.
struct Made {
    name: Ident,
    line: usize,
    what: What,
    body: ExprId,
}

enum What {
    Stream { ty: Type, by: Option<String> },
    Trigger { title: Option<String> },
}

impl Builder {
    /// A name that stands for a column, a stream or a constant.
    pub fn column(&mut self, name: &str, leaf: Leaf, span: Span) -> Value {
        // Bare, these two are when a position is.
        let quoted = matches!(name, "time" | "elapsed" | "_");
        let path = Path { steps: vec![PathStep::Field(name.to_owned())] };
        let value = self.push(ExprKind::Path { path, quoted }, Sort::Number, span, &[]);
        self.signals.push(value.id);
        self.streams.leaves.insert(value.id, leaf);
        value
    }

    /// A constant of the source that has a name of its own.
    pub fn constant_named(&mut self, name: &str, ty: Type, span: Span) -> Option<Value> {
        let value = self.refer(name, span)?;
        self.streams.leaves.insert(value.id, Leaf::Known(ty));
        Some(value)
    }

    /// `of[by|default]`.
    pub fn shift(&mut self, of: Value, by: i32, default: Value, span: Span) -> Value {
        self.push(ExprKind::Shift { of: of.id, by, default: default.id }, Sort::Number, span, &[of])
    }

    /// Where a value is there.
    pub fn has(&mut self, of: Value, span: Span) -> Value {
        self.call("has", &[Some(of)], span)
    }

    /// `if c then a else b`.
    pub fn choice(&mut self, [condition, then, other]: [Value; 3], span: Span) -> Value {
        let kind = ExprKind::If(condition.id, then.id, other.id);
        self.push(kind, Sort::Number, span, &[condition, then, other])
    }

    /// Adds a stream.
    pub fn stream(&mut self, name: Ident, line: usize, (ty, by): (Type, Option<String>), body: ExprId) {
        self.streams.made.push(Made { name, line, what: What::Stream { ty, by }, body });
    }

    /// Adds a trigger.
    pub fn trigger(&mut self, name: Ident, line: usize, title: Option<String>, body: ExprId) {
        self.streams.made.push(Made { name, line, what: What::Trigger { title }, body });
    }

    /// All expressions, what they are made of first.
    pub fn exprs(&self) -> &[Expr] {
        &self.tree.exprs
    }

    /// Puts another expression of the same parts in place of one.
    pub fn replace(&mut self, id: ExprId, kind: ExprKind) {
        self.tree.exprs[id.index()].kind = kind;
    }

    /// What a name stands for.
    pub fn leaf(&self, id: ExprId) -> Option<Leaf> {
        self.streams.leaves.get(&id).copied()
    }
}

impl Streams {
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// One declaration each; a line of the source is named once.
    pub fn declarations(self, file: &str) -> Vec<Declaration> {
        let mut before = 0;
        let declaration = |made: Made| {
            let span = made.name.span;
            let mut comments = Vec::new();
            if made.line != before {
                comments.push(Comment { blank_before: true, ..comment(&format!("{file}:{}", made.line)) });
                before = made.line;
            }
            let kind = match made.what {
                What::Stream { ty, by } => {
                    let path = |name: String| Path { steps: vec![PathStep::Field(name)] };
                    let by = by.map(|name| Column { path: path(name), quoted: false, span });
                    DeclarationKind::Stream { name: made.name, ty, body: made.body, by }
                }
                What::Trigger { title } => {
                    DeclarationKind::Trigger { name: made.name, title, body: made.body }
                }
            };
            Declaration { kind, span, comments, trailing: None, blank_before: false }
        };
        self.made.into_iter().map(declaration).collect()
    }
}
