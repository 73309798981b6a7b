//! Arithmetic on whole lanes, by kinds: whole numbers, reals, and one value after another for the rest.

use crate::kernels;
use crate::lane::{Data, Lane, Message, clear_errors, either_error, typed};
use crate::pool::Buffer;
use crate::words;
use tw_core::Value;
use tw_ir::ArithmeticOp::{self, *};

/// `a op b` where both have a value: narrows `valid` to where the result is a number, and adds errors.
pub(crate) fn arithmetic<'t>(
    op: ArithmeticOp,
    a: &Lane<'t>,
    b: &Lane<'t>,
    valid: &mut [u64],
    errors: &mut Vec<(u32, Message)>,
) -> Data<'t> {
    if op != Div
        && let (Some(x), Some(y)) = (a.ints(), b.ints())
        && let Some(values) = ints(op, &x, &y, valid)
    {
        return Data::Ints(values.into());
    }
    // The order of a whole number and a real is exact, which that of two roundings would not be.
    let mixed = a.ints().is_some() != b.ints().is_some();
    if !(matches!(op, Min | Max) && mixed)
        && (op == Div || a.ints().is_none() || b.ints().is_none())
        && let (Some(x), Some(y)) = (a.rounded(), b.rounded())
    {
        return Data::Reals(reals(op, &x, &y, valid).into());
    }
    one_by_one(op, a, b, valid, errors)
}

fn one_by_one<'t>(
    op: ArithmeticOp,
    a: &Lane<'t>,
    b: &Lane<'t>,
    valid: &mut [u64],
    errors: &mut Vec<(u32, Message)>,
) -> Data<'t> {
    let mut values = vec![Value::Null; a.len];
    let (mut none, mut found) = (Vec::new(), Vec::new());
    words::each_down(valid, 0, a.len, |at| match tw_monitor::arithmetic(op, &a.value(at), &b.value(at)) {
        Ok(Value::Null) => none.push(at),
        Ok(value) => values[at] = value,
        Err(message) => found.push((at as u32, Message::from(message))),
    });
    found.reverse();
    none.iter().for_each(|at| words::clear(valid, *at));
    clear_errors(valid, &found);
    *errors = either_error(errors, &found);
    typed(values)
}

/// Whole numbers; nothing if one of those that count overflows.
fn ints(op: ArithmeticOp, x: &[i64], y: &[i64], valid: &mut [u64]) -> Option<Buffer<i64>> {
    let pairs = || x.iter().zip(y);
    let checked = |over: bool, values: Buffer<i64>, check: fn(i64, i64) -> Option<i64>| {
        // Where a side has no value, an unspecified number may have overflowed.
        let counts = over && (0..x.len()).any(|at| words::get(valid, at) && check(x[at], y[at]).is_none());
        (!counts).then_some(values)
    };
    let mut values = Buffer::zeros(x.len());
    match op {
        Add => {
            let over = (kernels::best().add)(x, y, &mut values);
            checked(over, values, i64::checked_add)
        }
        Sub => {
            let over = (kernels::best().subtract)(x, y, &mut values);
            checked(over, values, i64::checked_sub)
        }
        Mul => {
            let mut over = false;
            for (out, (x, y)) in values.iter_mut().zip(pairs()) {
                let (product, overflow) = x.overflowing_mul(*y);
                over |= overflow;
                *out = product;
            }
            checked(over, values, i64::checked_mul)
        }
        Min => Some(Buffer::collect(pairs().map(|(x, y)| *x.min(y)))),
        Max => Some(Buffer::collect(pairs().map(|(x, y)| *x.max(y)))),
        Rem | Div => {
            for (word, y) in valid.iter_mut().zip(y.chunks(64)) {
                *word &= y.iter().enumerate().fold(0, |mask, (bit, y)| mask | u64::from(*y != 0) << bit);
            }
            Some(Buffer::collect(pairs().map(|(x, y)| if *y == 0 { 0 } else { x.wrapping_rem(*y) })))
        }
    }
}

fn reals(op: ArithmeticOp, x: &[f64], y: &[f64], valid: &mut [u64]) -> Buffer<f64> {
    let pairs = x.iter().zip(y);
    let values = match op {
        Add => Buffer::collect(pairs.map(|(x, y)| x + y)),
        Sub => Buffer::collect(pairs.map(|(x, y)| x - y)),
        Mul => Buffer::collect(pairs.map(|(x, y)| x * y)),
        Div => Buffer::collect(pairs.map(|(x, y)| x / y)),
        Rem => Buffer::collect(pairs.map(|(x, y)| x % y)),
        Min => Buffer::collect(pairs.map(|(x, y)| if y < x { *y } else { *x })),
        Max => Buffer::collect(pairs.map(|(x, y)| if y > x { *y } else { *x })),
    };
    for (word, values) in valid.iter_mut().zip(values.chunks(64)) {
        *word &= values
            .iter()
            .enumerate()
            .fold(0, |mask, (bit, value)| mask | u64::from(value.is_finite()) << bit);
    }
    values
}
