//! Operators and operands to a tree, by precedence. The stack is a vector: a formula nested 100,000 deep is a loop.
//!
//! Each operator has a *power*; a prefix operator takes what binds at least as tightly as it says, and so does the right
//! side of an infix operator. That is what parser generators make of a list of precedences, for operators that stand
//! before or between operands.

use crate::build::Value;
use crate::cursor::Cursor;
use tw_diag::{Diagnostic, Span};

/// The operators and operands of a format.
pub(crate) trait Language<'t> {
    /// An operator that waits for its operands, with whatever was written behind it (an interval).
    type Operator;

    /// Reads what stands where an operand is expected.
    fn operand(&mut self, cursor: &mut Cursor<'t>) -> Result<Operand<Self::Operator>, Diagnostic>;

    /// Reads the infix operator here, if there is one with at least this power. `left` is what stands before it.
    fn infix(
        &mut self,
        cursor: &mut Cursor<'t>,
        least: u8,
        left: &Value,
    ) -> Result<Option<Infix<Self::Operator>>, Diagnostic>;

    /// The operator with its operands.
    fn apply(
        &mut self,
        operator: Self::Operator,
        operands: &[Value],
        span: Span,
    ) -> Result<Value, Diagnostic>;
}

/// What can stand where an operand is expected.
pub(crate) enum Operand<O> {
    /// A name, a number, an atom: complete.
    Complete(Value),
    /// A prefix operator, and the least power of operators inside its operand.
    Prefix(O, u8),
    /// `(`: an expression and `)` follow.
    Group,
    /// `name(`: so many expressions with commas between them, and `)`, follow.
    Call(O, usize),
}

/// An infix operator and the least power of operators on its right side.
pub(crate) struct Infix<O> {
    pub operator: O,
    pub right: u8,
}

/// What was begun and is not complete, and the least power around it.
struct Frame<O> {
    begun: Begun<O>,
    least: u8,
    start: Span,
}

enum Begun<O> {
    Prefix(O),
    Infix(O, Value),
    Group,
    Call(O, usize, Vec<Value>),
}

/// Reads one expression.
pub(crate) fn expression<'t, L: Language<'t>>(
    language: &mut L,
    cursor: &mut Cursor<'t>,
) -> Result<Value, Diagnostic> {
    let mut frames: Vec<Frame<L::Operator>> = Vec::new();
    let mut least = 0;
    loop {
        let start = cursor.span();
        let mut value = match language.operand(cursor)? {
            Operand::Complete(value) => value,
            Operand::Prefix(operator, inside) => {
                frames.push(Frame { begun: Begun::Prefix(operator), least, start });
                least = inside;
                continue;
            }
            Operand::Group => {
                frames.push(Frame { begun: Begun::Group, least, start });
                least = 0;
                continue;
            }
            Operand::Call(operator, arity) => {
                frames.push(Frame { begun: Begun::Call(operator, arity, Vec::new()), least, start });
                least = 0;
                continue;
            }
        };
        // An operand is complete: as long as no infix operator takes it, what waits for it is.
        loop {
            if let Some(infix) = language.infix(cursor, least, &value)? {
                let start = value.span;
                frames.push(Frame { begun: Begun::Infix(infix.operator, value), least, start });
                least = infix.right;
                break;
            }
            let Some(frame) = frames.pop() else { return Ok(value) };
            least = frame.least;
            match frame.begun {
                Begun::Prefix(operator) => {
                    let span = frame.start.to(value.span);
                    value = language.apply(operator, &[value], span)?;
                }
                Begun::Infix(operator, left) => {
                    let span = frame.start.to(value.span);
                    value = language.apply(operator, &[left, value], span)?;
                }
                Begun::Group => {
                    let close = cursor.expect(")")?;
                    value = Value { grouped: true, span: frame.start.to(close), ..value };
                }
                Begun::Call(operator, arity, mut done) => {
                    done.push(value);
                    if done.len() < arity {
                        cursor.expect(",")?;
                        frames.push(Frame { begun: Begun::Call(operator, arity, done), ..frame });
                        least = 0;
                        break;
                    }
                    let close = cursor.expect(")")?;
                    value = language.apply(operator, &done, frame.start.to(close))?;
                }
            }
        }
    }
}
