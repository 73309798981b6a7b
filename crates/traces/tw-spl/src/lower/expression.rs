//! Expressions to stack code, with their types.

use super::{Lowering, Symbol, worded};
use crate::machine::{Code, Op, Target};
use crate::tree::{Binary, ExprRange, Item, Name, Place, Scalar};
use tw_diag::{Diagnostic, Span};

/// `None` after an error: whatever it is, it fits.
pub(super) type Found = Option<Scalar>;

/// Who may be spoken of.
#[derive(Clone, Copy)]
enum Names<'t> {
    All,
    /// Constants, and the index if there is one.
    Constants(Option<Name<'t>>),
}

impl<'t> Lowering<'t, '_> {
    /// Code of an expression that has to have this type.
    pub(super) fn typed(&mut self, range: ExprRange, expected: Scalar) -> Code {
        let (code, found) = self.code(range, Names::All);
        if let Some(found) = found.filter(|found| *found != expected) {
            self.mismatch(range.span, worded(found), worded(expected));
        }
        code
    }

    pub(super) fn constant_expression(
        &mut self,
        range: ExprRange,
        parameter: Option<Name<'t>>,
    ) -> (Code, Found) {
        self.code(range, Names::Constants(parameter))
    }

    fn code(&mut self, range: ExprRange, names: Names<'t>) -> (Code, Found) {
        let start = self.program.ops.len() as u32;
        // Types of what is on the stack, and the text of it.
        let mut stack: Vec<(Found, Span)> = Vec::new();
        let mut jumps: Vec<usize> = Vec::new();
        for at in range.start..range.end {
            let expr = self.tree.items[at];
            let (op, found) = match expr.item {
                Item::Int(number) => (Op::Const(number), Some(Scalar::Integer)),
                Item::Bool(truth) => (Op::Const(i64::from(truth)), Some(Scalar::Boolean)),
                Item::Name(text) => self.variable(Name { text, span: expr.span }, names),
                Item::Element(name) => {
                    let index = stack.pop().unwrap_or_default();
                    self.want(index, Scalar::Integer);
                    self.element(name, names)
                }
                Item::Not => {
                    let operand = stack.pop().unwrap_or_default();
                    self.want(operand, Scalar::Boolean);
                    (Op::Not, Some(Scalar::Boolean))
                }
                Item::Negate => {
                    let operand = stack.pop().unwrap_or_default();
                    self.want(operand, Scalar::Integer);
                    (Op::Negate, Some(Scalar::Integer))
                }
                Item::Left(operator) => {
                    let left = stack.pop().unwrap_or_default();
                    self.want(left, Scalar::Boolean);
                    jumps.push(self.program.ops.len());
                    let op = if operator == Binary::And { Op::UnlessTrue(0) } else { Op::UnlessFalse(0) };
                    self.program.ops.push(op);
                    self.program.spans.push(expr.span);
                    continue;
                }
                Item::Binary(Binary::And | Binary::Or) => {
                    let right = stack.pop().unwrap_or_default();
                    self.want(right, Scalar::Boolean);
                    let here = self.program.ops.len() as u32;
                    if let Some(jump) = jumps.pop() {
                        self.program.ops[jump] = match self.program.ops[jump] {
                            Op::UnlessTrue(_) => Op::UnlessTrue(here),
                            _ => Op::UnlessFalse(here),
                        };
                    }
                    stack.push((Some(Scalar::Boolean), expr.span));
                    continue;
                }
                Item::Binary(operator) => {
                    let right = stack.pop().unwrap_or_default();
                    let left = stack.pop().unwrap_or_default();
                    self.binary(operator, left, right)
                }
            };
            self.program.ops.push(op);
            self.program.spans.push(expr.span);
            stack.push((found, expr.span));
        }
        let found = stack.pop().and_then(|(found, _)| found);
        (Code { start, end: self.program.ops.len() as u32 }, found)
    }

    fn want(&mut self, (found, span): (Found, Span), expected: Scalar) {
        if let Some(found) = found.filter(|found| *found != expected) {
            self.mismatch(span, worded(found), worded(expected));
        }
    }

    fn binary(&mut self, operator: Binary, left: (Found, Span), right: (Found, Span)) -> (Op, Found) {
        let op = match operator {
            Binary::Eq => Op::Eq,
            Binary::Ne => Op::Ne,
            Binary::Lt => Op::Lt,
            Binary::Le => Op::Le,
            Binary::Gt => Op::Gt,
            Binary::Ge => Op::Ge,
            Binary::Add => Op::Add,
            Binary::Subtract => Op::Subtract,
            Binary::Multiply => Op::Multiply,
            Binary::Divide => Op::Divide,
            Binary::Remainder | Binary::And | Binary::Or => Op::Remainder,
        };
        match operator {
            Binary::Eq | Binary::Ne => {
                if let (Some(one), Some(other)) = (left.0, right.0)
                    && one != other
                {
                    let message = format!("cannot compare {} with {}", worded(one), worded(other));
                    self.report(Diagnostic::error("type", message).at(left.1.to(right.1), ""));
                }
            }
            _ => {
                self.want(left, Scalar::Integer);
                self.want(right, Scalar::Integer);
            }
        }
        let compares = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
        (op, Some(if compares { Scalar::Boolean } else { Scalar::Integer }))
    }

    fn variable(&mut self, name: Name<'t>, names: Names<'t>) -> (Op, Found) {
        let error = (Op::Const(0), None);
        if let Names::Constants(parameter) = names {
            if parameter.is_some_and(|parameter| parameter.text == name.text) {
                return (Op::Parameter, Some(Scalar::Integer));
            }
            self.not_constant(name);
            return error;
        }
        match self.resolve(name) {
            Some(Symbol::Scalar(slot, scalar)) => (Op::Load(slot), Some(scalar)),
            Some(Symbol::Array(..)) => {
                let found =
                    Diagnostic::error("type", format!("`{}` is an array", name.text)).at(name.span, "");
                self.report(found.help(format!("write `{}[…]` for an element of it", name.text)));
                error
            }
            Some(Symbol::Channel(_)) => {
                let found =
                    Diagnostic::error("type", format!("`{}` is a channel", name.text)).at(name.span, "");
                self.report(found.help(format!("take a message out of it first: `{} => x`", name.text)));
                error
            }
            None => error,
        }
    }

    fn not_constant(&mut self, name: Name<'t>) {
        let message = format!("an initial value is a constant, and `{}` is none", name.text);
        self.report(Diagnostic::error("not-constant", message).at(name.span, ""));
    }

    fn element(&mut self, name: Name<'t>, names: Names<'t>) -> (Op, Found) {
        if matches!(names, Names::Constants(_)) {
            self.not_constant(name);
            return (Op::Const(0), None);
        }
        match self.array_named(name) {
            Some((array, scalar)) => {
                self.program.arrays[array as usize].read = true;
                (Op::Element(array), Some(scalar))
            }
            None => (Op::Const(0), None),
        }
    }

    fn array_named(&mut self, name: Name<'t>) -> Option<(u32, Scalar)> {
        match self.resolve(name)? {
            Symbol::Array(array, scalar) => Some((array, scalar)),
            _ => {
                let message = format!("`{}` is no array", name.text);
                self.report(Diagnostic::error("type", message).at(name.span, "has no elements"));
                None
            }
        }
    }

    /// What can be assigned to, and the type it takes.
    pub(super) fn target(&mut self, place: Place<'t>) -> Option<(Target, Scalar)> {
        if let Some(index) = place.index {
            let (array, scalar) = self.array_named(place.name)?;
            let index = self.typed(index, Scalar::Integer);
            return Some((Target::Element { array, index, span: place.span }, scalar));
        }
        match self.resolve(place.name)? {
            Symbol::Scalar(slot, scalar) => Some((Target::Slot(slot), scalar)),
            Symbol::Array(..) => {
                let message = format!("`{}` is an array; its elements are assigned to", place.name.text);
                self.report(Diagnostic::error("type", message).at(place.span, ""));
                None
            }
            Symbol::Channel(_) => {
                let message = format!("`{}` is a channel", place.name.text);
                let found = Diagnostic::error("type", message).at(place.span, "");
                self.report(found.help("send with `<=`, receive with `=>`"));
                None
            }
        }
    }
}
