//! The specification as written: a flat arena of expressions. Children are pushed before their parents, so
//! passes are loops and dropping a formula nested 100,000 deep is freeing a vector.

mod append;
pub mod chart;
pub mod monitor;
pub mod settings;

use std::sync::Arc;
use tw_diag::Span;
use tw_ir::{
    Aggregate, ArithmeticOp, Bound, CompareOp, Function, Interval, Over, Path, Piece, SetItem, Tally,
    Template, Temporal,
};

/// Index into [`Tree::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(pub u32);

impl ExprId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A parsed specification.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// All expressions of all declarations.
    pub exprs: Vec<Expr>,
    /// Declarations in the order written.
    pub declarations: Vec<Declaration>,
    /// Comments after the last declaration.
    pub trailing_comments: Vec<Comment>,
}

/// An expression and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its text, parentheses around it not included.
    pub span: Span,
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name, without backquotes.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A comment, with its `//` or `/* */`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// Its text as written.
    pub text: String,
    /// Whether it stood on the line of the declaration's `;`, after it (then it belongs to the declaration before).
    pub same_line: bool,
    /// Whether a blank line stood before it.
    pub blank_before: bool,
}

/// One declaration.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What it declares.
    pub kind: DeclarationKind,
    /// From the first token to the `;` or `}`.
    pub span: Span,
    /// Comments before it and inside it (a comment inside a formula moves in front of its declaration when printed).
    pub comments: Vec<Comment>,
    /// Comment on the line of its end.
    pub trailing: Option<Comment>,
    /// Whether a blank line stood before it (kept by the printer, several as one).
    pub blank_before: bool,
}

/// What a declaration declares.
#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// `var queue: int;`
    Var {
        /// The variable (a path may be declared too).
        path: Path,
        /// Place of the path.
        path_span: Span,
        /// Its type.
        ty: Type,
    },
    /// `event login(user: string, ip: string);`
    Event {
        /// Event name.
        name: Ident,
        /// Parameters in order.
        parameters: Vec<(Ident, Option<Type>)>,
        /// The template of a text that it is: `= text "user {user} logged in"`.
        template: Option<EventTemplate>,
    },
    /// `let waiting(u) = …;`
    Let {
        /// Macro name.
        name: Ident,
        /// Parameters.
        parameters: Vec<Ident>,
        /// Body.
        body: ExprId,
    },
    /// `property answered "…" : …;`
    Property {
        /// Name.
        name: Ident,
        /// The sentence.
        title: Option<String>,
        /// Formula.
        body: ExprId,
    },
    /// `query worst : …;`
    Query {
        /// Name.
        name: Ident,
        /// The sentence.
        title: Option<String>,
        /// Experiment.
        body: ExprId,
        /// Parts of the trace that it is asked of.
        division: Division,
    },
    /// `require p99 "…" : quantile(0.99)[ms] < 500 by user;`
    Require {
        /// Name.
        name: Ident,
        /// The sentence.
        title: Option<String>,
        /// The query.
        body: ExprId,
        /// How its value is compared.
        op: CompareOp,
        /// With what: a number or a length of time.
        limit: ExprKind,
        /// Parts of the trace that it is asked of.
        division: Division,
    },
    /// `stream y: bool = x[-1|false];`
    Stream {
        /// Name.
        name: Ident,
        /// What its values are.
        ty: Type,
        /// The equation.
        body: ExprId,
        /// The column each of whose values has an instance of its own.
        by: Option<Column>,
    },
    /// `observe y, z;`
    Observe {
        /// Streams whose values matter.
        names: Vec<Ident>,
    },
    /// `trigger hot "too hot" : t > 80;`
    Trigger {
        /// Name.
        name: Ident,
        /// The sentence.
        title: Option<String>,
        /// What is told of where it holds.
        body: ExprId,
    },
    /// `monitor UnsafeIterator(m, c, i) { … }`
    Monitor(monitor::Monitor),
    /// `chart Handover necessary { pre { … } main { … } }`
    Chart(chart::Chart),
    /// `after Handover.main : Transfer.main;`
    After(chart::After),
    /// `trace { time: "@timestamp"; by: http.request_id; }`
    Trace(settings::TraceBlock),
    /// Text that could not be read; already reported.
    Error,
}

/// What an event is found by in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTemplate {
    /// The text: `text`, the line, or a column.
    pub source: Column,
    /// The template, its placeholders with the types that parameters give them.
    pub template: Template,
    /// Place of the template.
    pub span: Span,
}

impl EventTemplate {
    /// The place of a placeholder, by the number of its piece.
    pub fn place(&self, number: usize) -> Span {
        match self.template.pieces.get(number) {
            Some(Piece::Placeholder { at, .. }) if !at.is_empty() => {
                let start = self.span.start + 1;
                Span { start: start + at.start as u32, end: start + at.end as u32, ..self.span }
            }
            _ => self.span,
        }
    }
}

/// The end of a query: `by user every 1h`, either of them, both, or neither.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Division {
    /// The column whose values are the keys.
    pub by: Option<Column>,
    /// The length of the windows, and its place.
    pub every: Option<(Bound, Span)>,
}

/// A column where nothing else may be named.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name or path.
    pub path: Path,
    /// Whether it was written in backquotes.
    pub quoted: bool,
    /// Its place.
    pub span: Span,
}

/// Declared types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type {
    Bool,
    Int,
    Real,
    Text,
}

impl Type {
    /// Every type with its name; `string` is the canonical one for text.
    pub const ALL: [(&'static str, Type); 4] =
        [("bool", Type::Bool), ("int", Type::Int), ("real", Type::Real), ("string", Type::Text)];
}

/// Prefix operators about other positions or paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// A temporal operator with one operand.
    Temporal(Temporal),
    /// `A`: on all paths from here. Read by [`crate::parse_branching`] alone, as is the next.
    AllPaths,
    /// `E`: on some path from here.
    SomePath,
}

/// Infix operators between formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Infix {
    Iff,
    Implies,
    Xor,
    Or,
    And,
    /// A temporal operator with two operands.
    Temporal(Temporal),
}

impl From<Temporal> for Prefix {
    fn from(operator: Temporal) -> Self {
        Prefix::Temporal(operator)
    }
}

impl From<Temporal> for Infix {
    fn from(operator: Temporal) -> Self {
        Infix::Temporal(operator)
    }
}

/// The decoration `{v => v + 1}` or `{c}` of `X{f}`, `U{f}`, `!{c}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// `v`, if it is a function; `None` for a constant.
    pub parameter: Option<Ident>,
    /// The result.
    pub result: ExprId,
}

/// An argument of a call: `u`, `user: u`, `_`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// `user` of `user: u`.
    pub name: Option<Ident>,
    /// The value; `None` for `_`.
    pub value: Option<ExprId>,
    /// Its place.
    pub span: Span,
}

/// What an expression is. What a name stands for (proposition, variable, event, macro, parameter) is decided
/// when lowering.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum ExprKind {
    /// Could not be read; already reported.
    Error,
    Bool(bool),
    /// `first` / `last` as atoms.
    First,
    Last,
    Null,
    Int(i64),
    Real(f64),
    Text(Arc<str>),
    /// A length of time as a term: `200ms`. The bound is closed.
    Length(Bound),
    /// A name or path; `quoted` when written in backquotes, which makes it a column, never an event or macro.
    Path {
        path: Path,
        quoted: bool,
    },
    /// `x[-1|0]`: a name's value so many positions ahead (negative: back), or a constant beyond the ends of the trace.
    Shift {
        of: ExprId,
        by: i32,
        default: ExprId,
    },
    /// `name(…)`: event pattern, macro or pattern-library call. `event` when written `event login(…)` or `event login`
    /// (then `arguments` may be empty).
    Call {
        name: Ident,
        arguments: Vec<Argument>,
        event: bool,
    },
    Negate(ExprId),
    Abs(ExprId),
    Arithmetic(ArithmeticOp, ExprId, ExprId),
    If(ExprId, ExprId, ExprId),
    /// Two or more items.
    Tuple(Vec<ExprId>),
    Compare(CompareOp, ExprId, ExprId),
    In(ExprId, Vec<SetItem>),
    Matches(ExprId, Arc<str>, Span),
    /// `!φ`, `!{c} φ`.
    Not(Option<Map>, ExprId),
    Prefix {
        op: Prefix,
        interval: Option<Interval>,
        map: Option<Map>,
        body: ExprId,
    },
    Infix {
        op: Infix,
        interval: Option<Interval>,
        function: Option<Function>,
        map: Option<Map>,
        left: ExprId,
        right: ExprId,
    },
    /// `forall x, y. φ`; `exists x in items[*].id. φ` with a path as its range.
    Quantifier {
        forall: bool,
        variables: Vec<Ident>,
        range: Option<ExprId>,
        body: ExprId,
    },
    /// `count(x, y : φ)`, `sum(e for x, y : φ)`: only a count has no value.
    Tally {
        tally: Tally,
        value: Option<ExprId>,
        variables: Vec<Ident>,
        body: ExprId,
    },
    /// `φ : e`.
    Emit(ExprId, ExprId),
    /// `ψ ?? c`.
    Default(ExprId, ExprId),
    /// `agg[ψ]`, `agg[ψ while φ]`, `corr[ψ1, ψ2]`.
    Aggregate {
        aggregate: Aggregate,
        body: ExprId,
        second: Option<ExprId>,
        during: Option<ExprId>,
    },
    /// `agg[e over L]`, `agg[φ : e over L]`: a rolling window. `over` is `None` where it could not be read.
    Window {
        aggregate: Aggregate,
        body: ExprId,
        over: Option<Over>,
    },
}
