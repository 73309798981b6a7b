//! Arithmetic, comparisons and choices between numbers: which kinds meet, and what they become.

use super::compile::Compiler;
use super::ops::{Code, EXACT, NULL, SMALL, TRUE};
use super::{At, Val};
use tw_core::Value;
use tw_ir::{ArithmeticOp, CompareOp};

impl Compiler<'_> {
    /// Whole numbers as reals.
    pub(super) fn real(&mut self, val: Val, code: Code) -> Option<At> {
        match val {
            Val::Real { value, .. } => Some(value),
            Val::Int { value, valid } => match self.literal(val) {
                Some(number) => Some(self.constant((number as f64).to_bits())),
                None => Some(self.op(code, &[value, valid])),
            },
            _ => None,
        }
    }

    /// The whole number that a value is at every position.
    pub(super) fn literal(&self, val: Val) -> Option<i64> {
        let Val::Int { value, valid } = val else { return None };
        let cell = |at: At| {
            let register = &self.registers[at.register as usize];
            register.before.filter(|_| register.constant)
        };
        cell(value).filter(|_| cell(valid) == Some(TRUE)).map(|cell| cell as i64)
    }

    /// A number as a real that stands for itself, and how large a whole number it may be.
    pub(super) fn small(&mut self, val: Val) -> Option<(At, Option<u64>)> {
        match (val, self.literal(val)) {
            (Val::Real { value, whole }, _) => Some((value, whole)),
            (_, Some(number)) if number.unsigned_abs() > SMALL => None,
            (_, Some(number)) => Some((self.real(val, Code::ToRealSmall)?, Some(number.unsigned_abs()))),
            _ => Some((self.real(val, Code::ToRealSmall)?, Some(SMALL))),
        }
    }

    pub(super) fn number(&mut self, value: &Value) -> Option<Val> {
        match value {
            Value::Int(number) => {
                Some(Val::Int { value: self.constant(*number as u64), valid: self.constant(TRUE) })
            }
            Value::Real(number) => Some(Val::Real { value: self.constant(number.to_bits()), whole: None }),
            _ => None,
        }
    }

    pub(super) fn select(&mut self, condition: At, a: Val, b: Val) -> Option<Val> {
        let pick = |compiler: &mut Self, a: At, b: At| compiler.op(Code::Select, &[condition, a, b]);
        Some(match (a, b) {
            (Val::Truth(a), Val::Truth(b)) => Val::Truth(pick(self, a, b)),
            (Val::Null, Val::Null) => Val::Null,
            (Val::Int { value: a, valid: has_a }, Val::Int { value: b, valid: has_b }) => {
                Val::Int { value: pick(self, a, b), valid: pick(self, has_a, has_b) }
            }
            (Val::Int { value, valid }, Val::Null) => {
                Val::Int { value, valid: self.op(Code::And, &[condition, valid]) }
            }
            (Val::Null, Val::Int { value, valid }) => {
                let other = self.op(Code::Not, &[condition]);
                Val::Int { value, valid: self.op(Code::And, &[other, valid]) }
            }
            (Val::Real { value, whole }, Val::Null) => {
                let null = self.constant(NULL);
                Val::Real { value: pick(self, value, null), whole }
            }
            (Val::Null, Val::Real { value, whole }) => {
                let null = self.constant(NULL);
                Val::Real { value: pick(self, null, value), whole }
            }
            (Val::Truth(_), _) | (_, Val::Truth(_)) => return None,
            (a, b) => {
                let ((a, whole), (b, also)) = (self.small(a)?, self.small(b)?);
                Val::Real { value: pick(self, a, b), whole: whole.max(also) }
            }
        })
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Val, b: Val) -> Option<At> {
        let (op, a, b) = match op {
            CompareOp::Gt => (CompareOp::Lt, b, a),
            CompareOp::Ge => (CompareOp::Le, b, a),
            other => (other, a, b),
        };
        if let (Val::Int { value: a, valid: has_a }, Val::Int { value: b, valid: has_b }) = (a, b) {
            let code = match op {
                CompareOp::Eq => Code::IntEq,
                CompareOp::Ne => Code::IntNe,
                CompareOp::Lt => Code::IntLt,
                _ => Code::IntLe,
            };
            let holds = self.op(code, &[a, b]);
            let both = self.op(Code::And, &[has_a, has_b]);
            return Some(self.op(Code::And, &[holds, both]));
        }
        let exact = |compiler: &mut Self, val: Val| match compiler.literal(val) {
            Some(number) if number.unsigned_abs() > EXACT => None,
            _ => compiler.real(val, Code::ToRealExact),
        };
        let (a, b) = (exact(self, a)?, exact(self, b)?);
        let code = match op {
            CompareOp::Eq => Code::Eq,
            CompareOp::Ne => Code::Ne,
            CompareOp::Lt => Code::Lt,
            _ => Code::Le,
        };
        Some(self.op(code, &[a, b]))
    }

    pub(super) fn arithmetic(&mut self, op: ArithmeticOp, a: Val, b: Val) -> Option<Val> {
        use ArithmeticOp::{Add, Div, Max, Min, Mul, Rem, Sub};
        if let (Val::Int { value: a, valid: has_a }, Val::Int { value: b, valid: has_b }, false) =
            (a, b, op == Div)
        {
            let code = match op {
                Add => Code::IntAdd,
                Sub => Code::IntSub,
                Mul => Code::IntMul,
                Rem => Code::IntRem,
                Min => Code::IntMin,
                _ => Code::IntMax,
            };
            let value = self.op(code, &[a, b]);
            let mut valid = self.op(Code::And, &[has_a, has_b]);
            if op == Rem {
                let zero = self.constant(0);
                let divides = self.op(Code::IntNe, &[b, zero]);
                valid = self.op(Code::And, &[valid, divides]);
            }
            return Some(Val::Int { value, valid });
        }
        let code = match op {
            Add => Code::Add,
            Sub => Code::Sub,
            Mul => Code::Mul,
            Div => Code::Div,
            Rem => Code::Rem,
            Min => Code::Min,
            Max => Code::Max,
        };
        let real = |val: Val| matches!(val, Val::Real { whole: None, .. });
        if op == Div || (real(a) || real(b)) && !matches!(op, Min | Max) {
            let (a, b) = (self.real(a, Code::ToReal)?, self.real(b, Code::ToReal)?);
            return Some(Val::Real { value: self.op(code, &[a, b]), whole: None });
        }
        let positive = |compiler: &Self, val: Val| compiler.literal(val).is_some_and(|number| number > 0);
        let signed = positive(self, a) || positive(self, b);
        let ((a, whole), (b, also)) = (self.small(a)?, self.small(b)?);
        let whole = match op {
            Min | Max => whole.max(also),
            Add | Sub => Some(whole?.checked_add(also?)?),
            // A product or remainder of whole numbers that is 0 is not -0.
            Mul if signed => Some(whole?.checked_mul(also?)?),
            _ => return None,
        };
        if whole.is_some_and(|whole| whole > EXACT) {
            return None;
        }
        Some(Val::Real { value: self.op(code, &[a, b]), whole })
    }
}
