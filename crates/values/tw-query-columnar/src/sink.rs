//! Collecting a stretch of a block at once, for aggregates that are asked for at first positions alone.

use crate::fold::Fold;
use crate::kernels::{Kernels, Masked, from_key};
use crate::lane::{Data, Lane};
use crate::words;
use tw_core::Value;
use tw_ir::Aggregate::*;

/// So many positions are collected one by one.
const SHORT: usize = 24;

/// Room for numbers of one block.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    ints: Vec<i64>,
    reals: Vec<f64>,
}

/// Collects the positions `from..to` of a lane before all others.
pub(crate) fn collect(
    fold: &mut Fold,
    lane: &Lane<'_>,
    from: usize,
    to: usize,
    kernels: &Kernels,
    scratch: &mut Scratch,
) {
    if !lane.errors.is_empty() {
        let index = lane.errors.partition_point(|(at, _)| (*at as usize) < from);
        if let Some((at, message)) = lane.errors.get(index)
            && (*at as usize) < to
        {
            fold.poison(message);
        }
    }
    let count = words::count(&lane.valid, from, to);
    if count == 0 || fold.poison.is_some() {
        return;
    }
    match (fold.aggregate, &lane.data) {
        (Count, _) => fold.count += count,
        (First, _) => {
            if let Some(at) = words::first(&lane.valid, from, to) {
                fold.push_front(&lane.value(at));
            }
        }
        (Last, _) => {
            if fold.count == 0
                && let Some(at) = words::last(&lane.valid, from, to)
            {
                fold.push_front(&lane.value(at));
            }
        }
        // Of a few positions a segment may have, the loops over words would look at many more.
        (_, Data::Ints(_) | Data::Reals(_)) if to - from <= SHORT => one_by_one(fold, lane, from, to),
        (_, Data::Constant(value)) => collect_constant(fold, value, count, scratch),
        (_, Data::Ints(values)) => {
            let numbers = Masked { values, mask: &lane.valid, from, to };
            match fold.aggregate {
                Min => fold.extreme(&Value::Int((kernels.min)(numbers))),
                Max => fold.extreme(&Value::Int((kernels.max)(numbers))),
                Sum | Avg if !fold.mixed => fold.ints += (kernels.sum)(numbers),
                _ => {
                    let packed = packed(numbers, count, &mut scratch.ints, kernels.pack_ints);
                    push_ints(fold, packed);
                }
            }
            fold.count += count;
        }
        (_, Data::Reals(values)) => {
            let numbers = Masked { values, mask: &lane.valid, from, to };
            match fold.aggregate {
                Min => fold.extreme(&Value::Real(from_key((kernels.min_key)(numbers)))),
                Max => fold.extreme(&Value::Real(from_key((kernels.max_key)(numbers)))),
                // Of zeros that differ in sign the mode is the first, so order matters.
                Mode => return one_by_one(fold, lane, from, to),
                _ => {
                    let packed = packed(numbers, count, &mut scratch.reals, kernels.pack_reals);
                    push_reals(fold, packed);
                }
            }
            fold.count += count;
        }
        (Corr, Data::Pairs(pair)) => {
            let Some(rest) = fold.rest() else { return };
            // One list for all pairs.
            let mut list = Value::List(vec![Value::Null, Value::Null]);
            let mut refused = None;
            words::each_down(&lane.valid, from, to, |at| {
                if let Value::List(items) = &mut list {
                    (items[0], items[1]) = (pair.0.value(at), pair.1.value(at));
                }
                if let Err(message) = rest.push_front(&list) {
                    refused = Some(message);
                }
            });
            fold.count += count;
            refused.into_iter().for_each(|message| fold.poison(&message.into()));
        }
        (Distinct, Data::Texts(ids, dictionary)) if dictionary.entries.len() <= to - from => {
            // A text that comes again in the block changes nothing.
            let mut seen = vec![false; dictionary.entries.len()];
            words::each_down(&lane.valid, from, to, |at| {
                match std::mem::replace(&mut seen[ids[at] as usize], true) {
                    true => fold.count += 1,
                    false => fold.push_front(&lane.value(at)),
                }
            });
        }
        _ => one_by_one(fold, lane, from, to),
    }
}

fn one_by_one(fold: &mut Fold, lane: &Lane<'_>, from: usize, to: usize) {
    words::each_down(&lane.valid, from, to, |at| fold.push_front(&lane.value(at)));
}

/// The numbers that count, side by side. The aggregates that use this do not look at their order.
fn packed<'a, T: Copy>(
    numbers: Masked<'a, T>,
    count: u64,
    buffer: &'a mut Vec<T>,
    pack: fn(Masked<'_, T>, &mut Vec<T>),
) -> &'a [T] {
    if count as usize == numbers.to - numbers.from {
        return &numbers.values[numbers.from..numbers.to];
    }
    buffer.clear();
    pack(numbers, buffer);
    buffer
}

fn push_ints(fold: &mut Fold, values: &[i64]) {
    match fold.aggregate {
        Sum | Avg => fold.reals().push_ints(values),
        _ => fold.rest().into_iter().for_each(|rest| rest.push_ints(values)),
    }
}

fn push_reals(fold: &mut Fold, values: &[f64]) {
    match fold.aggregate {
        Sum | Avg => fold.reals().push_reals(values),
        _ => fold.rest().into_iter().for_each(|rest| rest.push_reals(values)),
    }
}

/// The same value so many times.
fn collect_constant(fold: &mut Fold, value: &Value, count: u64, scratch: &mut Scratch) {
    match (fold.aggregate, value) {
        (Min | Max, Value::Int(_) | Value::Real(_)) => fold.extreme(value),
        (Sum | Avg, Value::Int(int)) if !fold.mixed => fold.ints += i128::from(*int) * i128::from(count),
        (Mode | Distinct, Value::Bool(true)) => {
            fold.rest().into_iter().for_each(|rest| rest.push_true(count))
        }
        (Corr, _) | (_, Value::Bool(_) | Value::Str(_) | Value::List(_) | Value::Object(_) | Value::Null) => {
            (0..count).for_each(|_| fold.push_front(value));
            return;
        }
        (_, Value::Int(int)) => {
            scratch.ints.clear();
            scratch.ints.resize(count as usize, *int);
            push_ints(fold, &scratch.ints);
        }
        (_, Value::Real(real)) => {
            scratch.reals.clear();
            scratch.reals.resize(count as usize, *real);
            push_reals(fold, &scratch.reals);
        }
    }
    fold.count += count;
}
