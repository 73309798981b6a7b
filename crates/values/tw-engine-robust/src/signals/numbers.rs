//! Comparisons of whole columns: numbers of one kind at once, the rest value by value.

use super::{Operand, Source, truth, whole, worth};
use crate::lattice::negate;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::CompareOp;
use tw_monitor::Term;

pub(super) fn first_error<'t>(side: &Operand, terms: &'t [Term]) -> Option<&'t (usize, String)> {
    match side.source {
        Source::Term(term) => terms[term].errors.first(),
        _ => None,
    }
}

pub(super) fn truths(bits: &Bits) -> Vec<f64> {
    let mut column = Vec::with_capacity(bits.words().len() * 64);
    for &word in bits.words() {
        column.extend((0..64).map(|bit| truth(word >> bit & 1 == 1)));
    }
    column.truncate(bits.len());
    column
}

pub(super) fn differences(
    batch: &Batch,
    terms: &[Term],
    op: CompareOp,
    a: &Operand,
    b: &Operand,
) -> Vec<f64> {
    let (left, right) = (a.column(batch, terms), b.column(batch, terms));
    match op {
        CompareOp::Gt | CompareOp::Ge => numbers(batch.len, left, right, |d| d + 0.0),
        CompareOp::Lt | CompareOp::Le => numbers(batch.len, left, right, negate),
        CompareOp::Eq => numbers(batch.len, left, right, |d| negate(d.abs())),
        CompareOp::Ne => numbers(batch.len, left, right, f64::abs),
    }
    .unwrap_or_else(|| {
        let choices = |side: &Operand, at: usize| match side.value(batch, terms, at) {
            Value::List(items) if side.several => items,
            one => vec![one],
        };
        let at = |at: usize| {
            let (left, right) = (choices(a, at), choices(b, at));
            let pairs = left.iter().flat_map(|a| right.iter().map(move |b| worth(op, a, b)));
            pairs.fold(f64::NEG_INFINITY, f64::max)
        };
        (0..batch.len).map(at).collect()
    })
}

/// A side whose values stand in a column, or are one value.
enum Side<'b> {
    Column(&'b Column),
    Value(&'b Value),
}

impl Operand {
    fn column<'b>(&'b self, batch: &'b Batch, terms: &'b [Term]) -> Side<'b> {
        match &self.source {
            Source::Constant(value) => Side::Value(value),
            Source::Slot(slot) => Side::Column(&batch.slots[*slot]),
            Source::Term(term) => Side::Column(&terms[*term].column),
        }
    }

    fn value(&self, batch: &Batch, terms: &[Term], at: usize) -> Value {
        match self.column(batch, terms) {
            Side::Column(column) => column.value(at),
            Side::Value(value) => value.clone(),
        }
    }
}

/// Whole columns of numbers of one kind; `None` for other columns.
fn numbers(len: usize, a: Side<'_>, b: Side<'_>, sign: impl Fn(f64) -> f64) -> Option<Vec<f64>> {
    use Column::{Int, Real};
    use Side::{Column as C, Value as V};
    let mut out = Vec::with_capacity(len);
    match (a, b) {
        (C(Real { values, valid }), V(Value::Real(k))) => {
            out.extend(values.iter().map(|x| sign(x - k)));
            strike(&mut out, valid);
        }
        (V(Value::Real(k)), C(Real { values, valid })) => {
            out.extend(values.iter().map(|x| sign(k - x)));
            strike(&mut out, valid);
        }
        (C(Real { values, valid }), V(Value::Int(k))) => {
            let k = *k as f64;
            out.extend(values.iter().map(|x| sign(x - k)));
            strike(&mut out, valid);
        }
        (V(Value::Int(k)), C(Real { values, valid })) => {
            let k = *k as f64;
            out.extend(values.iter().map(|x| sign(k - x)));
            strike(&mut out, valid);
        }
        (C(Int { values, valid }), V(Value::Int(k))) => {
            out.extend(values.iter().map(|x| sign(whole(*x, *k))));
            strike(&mut out, valid);
        }
        (V(Value::Int(k)), C(Int { values, valid })) => {
            out.extend(values.iter().map(|x| sign(whole(*k, *x))));
            strike(&mut out, valid);
        }
        (C(Real { values: a, valid }), C(Real { values: b, valid: also })) => {
            out.extend(a.iter().zip(b).map(|(a, b)| sign(a - b)));
            strike(&mut out, valid);
            strike(&mut out, also);
        }
        (C(Int { values: a, valid }), C(Int { values: b, valid: also })) => {
            out.extend(a.iter().zip(b).map(|(a, b)| sign(whole(*a, *b))));
            strike(&mut out, valid);
            strike(&mut out, also);
        }
        _ => return None,
    }
    Some(out)
}

/// −inf where there is no value.
fn strike(column: &mut [f64], valid: &Bits) {
    for (word, values) in valid.words().iter().zip(column.chunks_mut(64)) {
        let nulls = !word & if values.len() < 64 { (1 << values.len()) - 1 } else { u64::MAX };
        if nulls != 0 {
            for (bit, value) in values.iter_mut().enumerate() {
                if nulls >> bit & 1 == 1 {
                    *value = f64::NEG_INFINITY;
                }
            }
        }
    }
}
