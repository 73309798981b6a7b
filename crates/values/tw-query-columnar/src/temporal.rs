//! `X{f}` and `U{f}` on a block. What crosses a block's border is one cell per operator.

use crate::lane::{Cell, Data, Lane, Message};
use crate::local::same;
use crate::pool::{Buffer, Number};
use crate::words;
use std::borrow::Cow;
use tw_core::Value;

/// `X a`: `carry` is `a` at the position after the block, and becomes that at the block's first.
pub(crate) fn next<'t>(a: &Lane<'t>, last: &[u64], carry: &mut Cell) -> Lane<'t> {
    let len = a.len;
    let coming = std::mem::replace(carry, a.cell(0));
    let mut valid = words::shifted_down(&a.valid, len, matches!(coming, Cell::Value(_)));
    valid.iter_mut().zip(last).for_each(|(word, last)| *word &= !last);
    let is_last = |at: usize| words::get(last, at);
    let mut errors: Vec<(u32, Message)> = Vec::new();
    if !a.errors.is_empty() {
        let moved = a.errors.iter().filter(|(at, _)| *at > 0).map(|(at, message)| (at - 1, message.clone()));
        errors.extend(moved.filter(|(at, _)| !is_last(*at as usize)));
    }
    let end = match coming {
        Cell::Error(message) if !is_last(len - 1) => {
            errors.push((len as u32 - 1, message));
            Value::Null
        }
        Cell::Value(value) => value,
        _ => Value::Null,
    };
    let data = match (&a.data, &end) {
        (Data::Constant(value), end) if end.is_null() || same(value, end) => a.data.clone(),
        (Data::Ints(values), Value::Int(_) | Value::Null) => {
            let end = if let Value::Int(end) = end { end } else { 0 };
            Data::Ints(shifted(values, end).into())
        }
        (Data::Reals(values), Value::Real(_) | Value::Null) => {
            let end = if let Value::Real(end) = end { end } else { 0.0 };
            Data::Reals(shifted(values, end).into())
        }
        _ => {
            let values = (1..len).map(|at| a.value_or_null(at)).chain([end]);
            Data::Values(Cow::Owned(values.collect()))
        }
    };
    Lane { len, valid: valid.into(), data, errors }
}

fn shifted<T: Number>(values: &[T], end: T) -> Buffer<T> {
    let mut out = Buffer::with_capacity(values.len());
    // In short pieces: copying many bytes at once to a place that is aligned otherwise is slow on some processors.
    values[1..].chunks(64).for_each(|piece| out.extend_from_slice(piece));
    out.push(end);
    out
}

/// `a U b`: `carry` is the result at the position after the block, and becomes that at the block's first.
pub(crate) fn until<'t>(a: &Lane<'t>, b: &Lane<'t>, last: &[u64], carry: &mut Cell) -> Lane<'t> {
    let coming = std::mem::take(carry);
    let plain = a.errors.is_empty() && b.errors.is_empty() && !matches!(coming, Cell::Error(_));
    let lane = match plain {
        true => until_values(a, b, last, coming),
        false => until_cells(a, b, last, coming),
    };
    *carry = lane.cell(0);
    lane
}

fn until_values<'t>(a: &Lane<'t>, b: &Lane<'t>, last: &[u64], coming: Cell) -> Lane<'t> {
    let len = a.len;
    let mut carry = matches!(coming, Cell::Value(_));
    let mut valid = vec![0; b.valid.len()];
    for index in (0..valid.len()).rev() {
        let mut hold = a.valid[index] & !last[index];
        let rest = len - index * 64;
        if rest < 64 {
            // Past the end the carry passes through.
            hold |= !words::low(rest);
        }
        valid[index] = words::until(hold, b.valid[index], carry);
        carry = valid[index] & 1 == 1;
        valid[index] &= words::low(rest.min(64));
    }
    let end = if let Cell::Value(value) = coming { value } else { Value::Null };
    let data = match (&b.data, &end) {
        (Data::Constant(value), end) if end.is_null() || same(value, end) => b.data.clone(),
        (Data::Ints(values), Value::Int(_) | Value::Null) => {
            let end = if let Value::Int(end) = end { end } else { 0 };
            Data::Ints(spread(values, &b.valid, end).into())
        }
        (Data::Reals(values), Value::Real(_) | Value::Null) => {
            let end = if let Value::Real(end) = end { end } else { 0.0 };
            Data::Reals(spread(values, &b.valid, end).into())
        }
        _ => {
            let (mut values, mut now) = (vec![Value::Null; len], end);
            for at in (0..len).rev() {
                if b.is_valid(at) {
                    now = b.value(at);
                }
                if words::get(&valid, at) {
                    values[at] = now.clone();
                }
            }
            Data::Values(values.into())
        }
    };
    Lane { len, valid: valid.into(), data, errors: Vec::new() }
}

/// Each value at its position and before, down to the next one.
fn spread<T: Number>(values: &[T], valid: &[u64], end: T) -> Buffer<T> {
    let mut out = Buffer::zeros(values.len());
    let mut now = end;
    for at in (0..values.len()).rev() {
        now = if words::get(valid, at) { values[at] } else { now };
        out[at] = now;
    }
    out
}

fn until_cells<'t>(a: &Lane<'t>, b: &Lane<'t>, last: &[u64], coming: Cell) -> Lane<'t> {
    let mut now = coming;
    let mut cells = vec![Cell::None; a.len];
    for at in (0..a.len).rev() {
        if words::get(last, at) {
            now = Cell::None;
        }
        now = match (b.cell(at), a.cell(at)) {
            (Cell::None, Cell::Value(_)) => now,
            (Cell::None, stopped) => stopped,
            (found, _) => found,
        };
        cells[at] = now.clone();
    }
    Lane::of_cells(cells)
}
