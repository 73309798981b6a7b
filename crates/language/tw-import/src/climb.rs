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

    /// Reads what stands behind an operand and belongs to it, if something does: `.abs()`.
    fn suffix(
        &mut self,
        cursor: &mut Cursor<'t>,
        operand: Value,
    ) -> Result<Suffix<Self::Operator>, Diagnostic> {
        let _ = (cursor, operand);
        Ok(Suffix::None)
    }

    /// What is wrong where a group goes on in place of its `)`, if that says more than that `)` is expected.
    fn not_closed(&mut self, cursor: &Cursor<'t>) -> Option<Diagnostic> {
        let _ = cursor;
        None
    }

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
    /// `if`: an expression follows, then one behind each of these words; the last reaches as far right as it can.
    Between(O, &'static [&'static str]),
}

/// What can stand behind an operand.
pub(crate) enum Suffix<O> {
    /// Nothing that belongs to it.
    None,
    /// Something that is read: the operand with it.
    Complete(Value),
    /// `.name(`: an expression and this symbol, which closes, follow; the operand comes before it.
    Call(O, &'static str),
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
    Call(O, usize, Vec<Value>, &'static str),
    Between(O, &'static [&'static str], Vec<Value>),
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
                frames.push(Frame { begun: Begun::Call(operator, arity, Vec::new(), ")"), least, start });
                least = 0;
                continue;
            }
            Operand::Between(operator, words) => {
                frames.push(Frame { begun: Begun::Between(operator, words, Vec::new()), least, start });
                least = 0;
                continue;
            }
        };
        // An operand is complete: as long as no infix operator takes it, what waits for it is.
        loop {
            match language.suffix(cursor, value)? {
                Suffix::None => {}
                Suffix::Complete(with) => {
                    value = with;
                    continue;
                }
                Suffix::Call(operator, close) => {
                    let begun = Begun::Call(operator, 2, vec![value], close);
                    frames.push(Frame { begun, least, start: value.span });
                    least = 0;
                    break;
                }
            }
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
                    if let Some(found) = language.not_closed(cursor) {
                        return Err(found);
                    }
                    let close = cursor.expect(")")?;
                    value = Value { grouped: true, span: frame.start.to(close), ..value };
                }
                Begun::Call(operator, arity, mut done, close) => {
                    done.push(value);
                    if done.len() < arity {
                        cursor.expect(",")?;
                        frames.push(Frame { begun: Begun::Call(operator, arity, done, close), ..frame });
                        least = 0;
                        break;
                    }
                    let close = cursor.expect(close)?;
                    value = language.apply(operator, &done, frame.start.to(close))?;
                }
                Begun::Between(operator, words, mut done) => {
                    done.push(value);
                    if let Some((word, rest)) = words.split_first() {
                        if !cursor.is_word(word) {
                            return Err(cursor.found(&format!("`{word}`")));
                        }
                        cursor.advance();
                        frames.push(Frame { begun: Begun::Between(operator, rest, done), ..frame });
                        least = 0;
                        break;
                    }
                    value = language.apply(operator, &done, frame.start.to(value.span))?;
                }
            }
        }
    }
}
