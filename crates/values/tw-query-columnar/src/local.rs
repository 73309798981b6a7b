//! Operators that look at one position: `:`, `&{g}`, `|{g}`, `!{c}`, `??`. They work alike on the positions of a block
//! and on the first positions of segments.

use crate::arithmetic::arithmetic;
use crate::kernels;
use crate::lane::{Data, Lane, clear_errors, either_error};
use crate::pool::Buffer;
use crate::words;
use std::borrow::Cow;
use tw_core::Value;
use tw_ir::Function;

/// `φ : e`
pub(crate) fn emit<'t>(guard: &[u64], mut term: Lane<'t>) -> Lane<'t> {
    term.valid = words::zip(&term.valid, guard, |e, holds| e & holds).into();
    term.errors.retain(|(at, _)| words::get(guard, *at as usize));
    term
}

/// `a &{g} b`
pub(crate) fn both<'t>(function: Function, a: &Lane<'t>, b: &Lane<'t>) -> Lane<'t> {
    let len = a.len;
    let mut valid = words::zip(&a.valid, &b.valid, |a, b| a & b);
    let mut errors = either_error(&a.errors, &b.errors);
    let data = match function {
        Function::True => Data::Constant(Value::Bool(true)),
        Function::First => a.data.clone(),
        Function::Second => b.data.clone(),
        Function::Pair if a.is_flat() && b.is_flat() => {
            Data::Pairs(Box::new((a.data.clone(), b.data.clone())))
        }
        Function::Pair => {
            let mut values = vec![Value::Null; len];
            words::each_down(&valid, 0, len, |at| values[at] = Value::List(vec![a.value(at), b.value(at)]));
            Data::Values(values.into())
        }
        Function::Arithmetic(op) => arithmetic(op, a, b, &mut valid, &mut errors),
    };
    Lane { len, valid: valid.into(), data, errors }
}

/// `a |{g} b`
pub(crate) fn either<'t>(function: Function, a: &Lane<'t>, b: &Lane<'t>) -> Lane<'t> {
    let len = a.len;
    let mut errors = either_error(&a.errors, &b.errors);
    let mut valid = words::zip(&a.valid, &b.valid, |a, b| a | b);
    let data = match function {
        Function::True => Data::Constant(Value::Bool(true)),
        Function::First => select(a, b),
        Function::Second => select(b, a),
        Function::Pair => {
            let mut values = vec![Value::Null; len];
            words::each_down(&valid, 0, len, |at| {
                values[at] = Value::List(vec![a.value_or_null(at), b.value_or_null(at)]);
            });
            Data::Values(values.into())
        }
        Function::Arithmetic(_) => {
            let joined = both(function, a, b);
            let alone = words::zip(&a.valid, &b.valid, |a, b| a ^ b);
            valid = words::zip(&joined.valid, &alone, |both, one| both | one);
            errors = either_error(&errors, &joined.errors);
            let one = Lane { len, valid: alone.into(), data: select(a, b), errors: Vec::new() };
            select(&joined, &one)
        }
    };
    clear_errors(&mut valid, &errors);
    Lane { len, valid: valid.into(), data, errors }
}

/// `!{c} a`
pub(crate) fn fails<'t>(a: &Lane<'t>, term: Lane<'t>) -> Lane<'t> {
    emit(&absent(a), term).with_errors_of(a)
}

/// `a ?? c`
pub(crate) fn default<'t>(a: &Lane<'t>, term: Lane<'t>) -> Lane<'t> {
    let other = emit(&absent(a), term);
    let data = select(a, &other);
    let valid = words::zip(&a.valid, &other.valid, |a, b| a | b).into();
    Lane { len: a.len, valid, data, errors: other.errors }.with_errors_of(a)
}

/// Where it has neither a value nor an error.
fn absent(a: &Lane<'_>) -> Vec<u64> {
    let mut absent = words::zip(&words::ones(a.len), &a.valid, |all, a| all & !a);
    clear_errors(&mut absent, &a.errors);
    absent
}

impl<'t> Lane<'t> {
    /// Errors of `a` stand where this lane has neither value nor error.
    fn with_errors_of(mut self, a: &Lane<'t>) -> Self {
        self.errors = either_error(&a.errors, &self.errors);
        self
    }
}

/// The values of `a` where it has one, those of `b` elsewhere.
fn select<'t>(a: &Lane<'t>, b: &Lane<'t>) -> Data<'t> {
    match (&a.data, &b.data) {
        _ if b.is_empty() => return a.data.clone(),
        _ if a.is_empty() => return b.data.clone(),
        (Data::Constant(x), Data::Constant(y)) if same(x, y) => return a.data.clone(),
        _ => {}
    }
    if let (Some(x), Some(y)) = (a.ints(), b.ints()) {
        let mut out = Buffer::zeros(a.len);
        (kernels::best().choose_ints)(&a.valid, &x, &y, &mut out);
        return Data::Ints(out.into());
    }
    if let (Some(x), Some(y)) = (a.reals(), b.reals()) {
        let mut out = Buffer::zeros(a.len);
        (kernels::best().choose_reals)(&a.valid, &x, &y, &mut out);
        return Data::Reals(out.into());
    }
    let pick = |at| if a.is_valid(at) { a.value(at) } else { b.value_or_null(at) };
    Data::Values(Cow::Owned((0..a.len).map(pick).collect()))
}

/// Whether two values are the same to the bit.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::Bool(_), _) | (Value::Int(_), _) | (Value::Str(_), _) => a == b,
        _ => false,
    }
}
