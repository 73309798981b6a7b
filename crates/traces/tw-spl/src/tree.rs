//! A program as written: names unresolved, nothing checked.
//!
//! Expressions stand in one list in postfix order (operands before their operator), so an expression is a range of it
//! and nothing that reads expressions recurses. Statements nest as deep as [`MAX_DEPTH`](crate::parser::MAX_DEPTH).

use tw_diag::Span;

/// A name and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'t> {
    pub text: &'t str,
    pub span: Span,
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'t> {
    Int(i64),
    Bool(bool),
    Name(&'t str),
    /// An element of an array; the index stands before.
    Element(Name<'t>),
    Not,
    Negate,
    /// Stands between the operands of `&` and `|`: the right one may not be needed.
    Left(Binary),
    Binary(Binary),
}

/// An item of an expression and the text of the expression that it completes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expr<'t> {
    pub item: Item<'t>,
    pub span: Span,
}

/// An expression: a range of [`Tree::items`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExprRange {
    pub start: usize,
    pub end: usize,
    pub span: Span,
}

/// What can be assigned to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'t> {
    pub name: Name<'t>,
    pub index: Option<ExprRange>,
    pub span: Span,
}

/// Type of a variable or of a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Integer,
    Boolean,
}

/// `[low..high]` or `[low..]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub low: i64,
    pub high: Option<i64>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Type {
    Scalar(Scalar),
    Array(Bounds, Scalar),
    Channel { bounds: Bounds, message: Vec<Scalar>, reliable: bool },
}

/// `x = 1`, `x`, `!x` or `a[n] = n + 1` after `where`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Initial<'t> {
    pub name: Name<'t>,
    /// The variable that stands for the index.
    pub parameter: Option<Name<'t>>,
    pub value: Result<ExprRange, bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct Declaration<'t> {
    pub names: Vec<Name<'t>>,
    pub kind: Type,
    pub initial: Vec<Initial<'t>>,
}

/// Index of a statement in [`Tree::statements`].
pub(crate) type StatementId = usize;

#[derive(Clone, Debug)]
pub(crate) enum Kind<'t> {
    /// `skip`, `critical`, `noncritical`, and `await` with its guard.
    Skip,
    Assign(Vec<Place<'t>>, Vec<ExprRange>),
    Request(Place<'t>),
    Release(Place<'t>),
    Send(Name<'t>, Vec<ExprRange>),
    Receive(Name<'t>, Vec<Place<'t>>),
    If(ExprRange, StatementId, Option<StatementId>),
    While(ExprRange, StatementId),
    Loop(StatementId),
    Select(Vec<StatementId>),
    Sequence(Vec<StatementId>),
}

impl Kind<'_> {
    /// Whether the statement is done in one step.
    pub fn is_basic(&self) -> bool {
        use Kind::{Assign, Receive, Release, Request, Send, Skip};
        matches!(self, Skip | Assign(..) | Request(_) | Release(_) | Send(..) | Receive(..))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Statement<'t> {
    pub labels: Vec<Name<'t>>,
    /// Conditions of `await` and `when`.
    pub guards: Vec<ExprRange>,
    pub kind: Kind<'t>,
    /// `after N`.
    pub after: Option<u64>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct ProcessTree<'t> {
    pub name: Option<Name<'t>>,
    pub declarations: Vec<Declaration<'t>>,
    pub body: StatementId,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree<'t> {
    pub name: Option<String>,
    pub declarations: Vec<Declaration<'t>>,
    pub processes: Vec<ProcessTree<'t>>,
    pub items: Vec<Expr<'t>>,
    pub statements: Vec<Statement<'t>>,
}
