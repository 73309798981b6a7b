//! What waits on the machine's stack, and how tightly operators bind.

use super::Operand;
use crate::ast::{Argument, ExprId, Ident, Infix, Map, Prefix};
use crate::lexer::Tok;
use tw_diag::Span;
use tw_ir::{Aggregate, ArithmeticOp, CompareOp, Function, Interval};

/// Operators between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Default,
    Emit,
    Logic(Infix),
    Compare(CompareOp),
    Arithmetic(ArithmeticOp),
}

/// Binding power of `:`; a value already given by `:` cannot be taken by this or anything tighter.
pub(crate) const EMIT: u8 = 2;
/// Binding power of the loosest formula operator: the body of a quantifier takes these, but not `:` or `??`.
pub(crate) const FORMULA: u8 = 3;
/// Binding power of comparisons, `in`, `matches`: what prefix operators take as their operand.
pub(crate) const COMPARISON: u8 = 10;
/// Binding power of `+`: what the branch after `else` takes.
pub(crate) const SUM: u8 = 11;
/// Tighter than every binary operator: what a minus sign takes.
pub(crate) const SIGN: u8 = 13;

impl Binary {
    /// How tightly the operator holds its left operand, and the least power that its right operand takes.
    pub(crate) fn power(self) -> (u8, u8) {
        match self {
            Binary::Default => (1, 2),
            // One term on the right: formula operators after it need parentheses.
            Binary::Emit => (EMIT, COMPARISON),
            Binary::Logic(Infix::Iff) => (3, 4),
            Binary::Logic(Infix::Implies) => (4, 4),
            Binary::Logic(Infix::Xor) => (5, 6),
            Binary::Logic(Infix::Or) => (6, 7),
            Binary::Logic(Infix::And) => (7, 8),
            Binary::Logic(_) => (8, 8),
            Binary::Compare(_) => (COMPARISON, SUM),
            Binary::Arithmetic(ArithmeticOp::Add | ArithmeticOp::Sub) => (SUM, 12),
            Binary::Arithmetic(_) => (12, SIGN),
        }
    }
}

/// Operators that take an interval.
pub(crate) fn is_temporal(op: Infix) -> bool {
    use Infix::*;
    matches!(op, Until | WeakUntil | Release | StrongRelease | Since | BackTo | Trigger)
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
    },
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
            Frame::Prefix { .. } | Frame::Not { .. } => COMPARISON,
            Frame::Negate { .. } => SIGN,
            Frame::Quantifier { .. } => FORMULA,
            Frame::If { stage: Stage::Else(..), .. } => SUM,
            _ => 0,
        }
    }

    /// The bracket that opened it, if one did, and where.
    pub(crate) fn bracket(&self) -> Option<(Bracket, Span)> {
        match self {
            Frame::Paren { open, .. } | Frame::Call(CallFrame { open, .. }) => Some((Bracket::Round, *open)),
            Frame::Aggregate { open, .. } | Frame::Paths { open, .. } => Some((Bracket::Square, *open)),
            Frame::Map { open, .. } => Some((Bracket::Curly, *open)),
            _ => None,
        }
    }
}
