//! What waits on the machine's stack, and how tightly operators bind.

use super::Operand;
use crate::ast::{Argument, ExprId, Ident, Infix, Map, Prefix};
use crate::lexer::Tok;
use tw_diag::Span;
use tw_ir::binding::{AND, COMPARE, DEFAULT, EMIT, IFF, IMPLIES, OR, PRODUCT, SUM, UNARY, UNTIL, XOR};
use tw_ir::{Aggregate, ArithmeticOp, CompareOp, Function, Interval, Tally};

/// Operators between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Default,
    Emit,
    Logic(Infix),
    Compare(CompareOp),
    Arithmetic(ArithmeticOp),
}

impl Binary {
    /// How tightly the operator holds its left operand, and the least power that its right operand takes.
    pub(crate) fn power(self) -> (u8, u8) {
        match self {
            Binary::Default => (DEFAULT, EMIT),
            // One term on the right: formula operators after it need parentheses.
            Binary::Emit => (EMIT, COMPARE),
            Binary::Logic(Infix::Iff) => (IFF, IMPLIES),
            Binary::Logic(Infix::Implies) => (IMPLIES, IMPLIES),
            Binary::Logic(Infix::Xor) => (XOR, OR),
            Binary::Logic(Infix::Or) => (OR, AND),
            Binary::Logic(Infix::And) => (AND, UNTIL),
            Binary::Logic(Infix::Temporal(_)) => (UNTIL, UNTIL),
            Binary::Compare(_) => (COMPARE, SUM),
            Binary::Arithmetic(ArithmeticOp::Add | ArithmeticOp::Sub) => (SUM, PRODUCT),
            Binary::Arithmetic(_) => (PRODUCT, UNARY),
        }
    }
}

/// Operators that take an interval.
pub(crate) fn is_temporal(op: Infix) -> bool {
    matches!(op, Infix::Temporal(_))
}

/// An unfinished construct. `start` is where its text begins.
#[derive(Debug)]
pub(crate) enum Frame {
    Infix(InfixFrame),
    Prefix {
        op: Prefix,
        interval: Option<Interval>,
        map: Option<Map>,
        start: Span,
    },
    Not {
        map: Option<Map>,
        start: Span,
    },
    Negate {
        start: Span,
    },
    Quantifier {
        forall: bool,
        variables: Vec<Ident>,
        range: Option<ExprId>,
        start: Span,
    },
    If {
        stage: Stage,
        start: Span,
    },
    // From here on: opened by a bracket, closed only by its partner.
    Paren {
        open: Span,
        items: Vec<ExprId>,
    },
    Call(CallFrame),
    Aggregate {
        aggregate: Aggregate,
        body: Option<ExprId>,
        second: Option<ExprId>,
        part: Part,
        start: Span,
        open: Span,
        /// Opened by `(`, as a rolling window may be.
        round: bool,
    },
    Tally(TallyFrame),
    /// `A[φ U ψ]`, `E[φ U ψ]`.
    Paths {
        op: Prefix,
        start: Span,
        open: Span,
    },
    Map {
        parameter: Option<Ident>,
        target: Box<Frame>,
        open: Span,
    },
}

/// A binary operator with its left side.
#[derive(Debug)]
pub(crate) struct InfixFrame {
    pub op: Binary,
    pub op_span: Span,
    pub left: Operand,
    pub interval: Option<Interval>,
    pub function: Option<Function>,
    pub map: Option<Map>,
    /// For `a < b < c`: the left comparison, reported once the right side is known.
    pub chained: Option<ExprId>,
}

/// A call with the arguments read so far.
#[derive(Debug)]
pub(crate) struct CallFrame {
    pub name: Ident,
    pub quoted: bool,
    pub event: bool,
    pub arguments: Vec<Argument>,
    /// `user:` of the argument being read.
    pub label: Option<Ident>,
    pub start: Span,
    pub open: Span,
}

/// An aggregate over valuations, as far as it is read.
#[derive(Debug)]
pub(crate) struct TallyFrame {
    pub tally: Tally,
    /// The term before `for`, of what has one.
    pub value: Option<ExprId>,
    /// Empty while that is being read.
    pub variables: Vec<Ident>,
    /// Whether what is being read is the formula.
    pub formula: bool,
    pub start: Span,
    pub open: Span,
}

/// Progress of `if c then a else b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Condition,
    Then(ExprId),
    Else(ExprId, ExprId),
}

/// Progress of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Body,
    Second,
    During,
}

/// Kinds of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracket {
    Round,
    Square,
    Curly,
}

impl Bracket {
    /// The token that closes it.
    pub(crate) fn closing(self) -> Tok {
        match self {
            Bracket::Round => Tok::CloseParen,
            Bracket::Square => Tok::CloseBracket,
            Bracket::Curly => Tok::CloseBrace,
        }
    }
}

impl Frame {
    /// The least binding power of an operator that the operand inside this frame may take.
    pub(crate) fn floor(&self) -> u8 {
        match self {
            Frame::Infix(infix) => infix.op.power().1,
            Frame::Prefix { .. } | Frame::Not { .. } => COMPARE,
            Frame::Negate { .. } => UNARY,
            Frame::Quantifier { .. } => IFF,
            Frame::If { stage: Stage::Else(..), .. } => SUM,
            _ => 0,
        }
    }

    /// The bracket that opened it, if one did, and where.
    pub(crate) fn bracket(&self) -> Option<(Bracket, Span)> {
        match self {
            Frame::Paren { open, .. }
            | Frame::Call(CallFrame { open, .. })
            | Frame::Aggregate { open, round: true, .. }
            | Frame::Tally(TallyFrame { open, .. }) => Some((Bracket::Round, *open)),
            Frame::Aggregate { open, .. } | Frame::Paths { open, .. } => Some((Bracket::Square, *open)),
            Frame::Map { open, .. } => Some((Bracket::Curly, *open)),
            _ => None,
        }
    }
}
