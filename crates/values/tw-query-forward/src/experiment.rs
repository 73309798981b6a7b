//! Experiments other than aggregates: whole columns where values are of one kind, cell by cell otherwise.

use crate::stream::{Cell, Data, Kind, Stream, spans};
use crate::truth::BLOCK;
use tw_core::Value;
use tw_ir::{ArithmeticOp, Function, Program};
use tw_monitor::{Map, both, either};

/// `φ : e`
pub(crate) fn emit(guard: &Stream, term: &Stream, out: &mut Stream) {
    let (from, to) = (out.end, guard.end.min(term.end));
    if from == to {
        return;
    }
    let valid = |word, _, _| guard.word(word) & term.word(word);
    match &term.data {
        Data::Int { values, .. } => out.push_ints(&values[from - term.base..to - term.base], valid),
        Data::Real { values, .. } => out.push_reals(&values[from - term.base..to - term.base], valid),
        _ => {
            for at in from..to {
                out.push(if guard.bits(at, 1) == 1 { term.cell(at) } else { Ok(Value::Null) });
            }
        }
    }
}

/// `φ : c`
pub(crate) fn emit_constant(value: &Value, guard: &Stream, out: &mut Stream) {
    let (from, to) = (out.end, guard.end);
    let valid = |word, _, _| guard.word(word);
    match value {
        Value::Int(value) => out.push_ints(&vec![*value; to - from], valid),
        Value::Real(value) => out.push_reals(&vec![*value; to - from], valid),
        Value::Bool(true) => {
            for (word, lo, hi) in spans(from, to) {
                out.push_span(lo, hi, guard.word(word));
            }
        }
        _ => {
            for at in from..to {
                out.push(Ok(if guard.bits(at, 1) == 1 { value.clone() } else { Value::Null }));
            }
        }
    }
}

/// `a &{g} b`
pub(crate) fn conjoin(function: Function, a: &Stream, b: &Stream, out: &mut Stream) {
    let (from, to) = (out.end, a.end.min(b.end));
    if from == to {
        return;
    }
    if a.kind() != Kind::Any && b.kind() != Kind::Any {
        match function {
            Function::True => {
                return spans(from, to)
                    .for_each(|(word, lo, hi)| out.push_span(lo, hi, a.word(word) & b.word(word)));
            }
            Function::First => return copy(a, b, from, to, out),
            Function::Second => return copy(b, a, from, to, out),
            _ => {}
        }
    }
    match whole(function, a, b, from, to) {
        Some(values) => out.push_ints(&values, |word, _, _| a.word(word) & b.word(word)),
        None => (from..to).for_each(|at| {
            out.push(combine(&a.cell(at), &b.cell(at), |a, b| both(function, a, b)));
        }),
    }
}

/// `a |{g} b`
pub(crate) fn disjoin(function: Function, a: &Stream, b: &Stream, out: &mut Stream) {
    let (from, to) = (out.end, a.end.min(b.end));
    if from == to {
        return;
    }
    if function == Function::True && a.kind() != Kind::Any && b.kind() != Kind::Any {
        return spans(from, to).for_each(|(word, lo, hi)| out.push_span(lo, hi, a.word(word) | b.word(word)));
    }
    match whole(function, a, b, from, to) {
        Some(values) => out.push_ints(&values, |word, _, _| a.word(word) | b.word(word)),
        None => (from..to).for_each(|at| {
            out.push(combine(&a.cell(at), &b.cell(at), |a, b| either(function, a, b)));
        }),
    }
}

/// The results for whole numbers, if all are and fit: of both sides, or of the one that is there.
fn whole(function: Function, a: &Stream, b: &Stream, from: usize, to: usize) -> Option<Vec<i64>> {
    let (Data::Int { values: left, .. }, Data::Int { values: right, .. }) = (&a.data, &b.data) else {
        return None;
    };
    let f: fn(i64, i64) -> Option<i64> = match function {
        Function::Arithmetic(ArithmeticOp::Add) => i64::checked_add,
        Function::Arithmetic(ArithmeticOp::Sub) => i64::checked_sub,
        Function::Arithmetic(ArithmeticOp::Mul) => i64::checked_mul,
        Function::Arithmetic(ArithmeticOp::Min) => |a, b| Some(a.min(b)),
        Function::Arithmetic(ArithmeticOp::Max) => |a, b| Some(a.max(b)),
        _ => return None,
    };
    let mut values = Vec::with_capacity(to - from);
    for (word, lo, hi) in spans(from, to) {
        let (one, other) = (a.word(word), b.word(word));
        for bit in lo..hi {
            let at = word * 64 + bit;
            let (left, right) = (left[at - a.base], right[at - b.base]);
            values.push(match (one >> bit & 1, other >> bit & 1) {
                (1, 1) => f(left, right)?,
                (1, _) => left,
                _ => right,
            });
        }
    }
    Some(values)
}

/// Errors of either side come first.
pub(crate) fn combine(a: &Cell, b: &Cell, f: impl FnOnce(&Value, &Value) -> Result<Value, String>) -> Cell {
    match (a, b) {
        (Err(error), _) | (_, Err(error)) => Err(error.clone()),
        (Ok(a), Ok(b)) => f(a, b).map_err(Into::into),
    }
}

/// The values of `from_stream`, where the other has one too.
fn copy(values: &Stream, other: &Stream, from: usize, to: usize, out: &mut Stream) {
    let valid = |word, _, _| values.word(word) & other.word(word);
    let range = from - values.base..to - values.base;
    match &values.data {
        Data::Int { values, .. } => out.push_ints(&values[range], valid),
        Data::Real { values, .. } => out.push_reals(&values[range], valid),
        _ => spans(from, to).for_each(|(word, lo, hi)| out.push_span(lo, hi, valid(word, lo, hi))),
    }
}

/// `!{c} ψ`
pub(crate) fn fails(constant: Option<&Value>, a: &Stream, c: &Stream, out: &mut Stream) {
    for at in out.end..a.end.min(c.end) {
        let cell = match a.cell(at) {
            Ok(Value::Null) => constant.map_or_else(|| c.cell(at), |value| Ok(value.clone())),
            Ok(_) => Ok(Value::Null),
            error => error,
        };
        out.push(cell);
    }
}

/// `ψ ?? c`
pub(crate) fn default(constant: Option<&Value>, a: &Stream, c: &Stream, out: &mut Stream) {
    for at in out.end..a.end.min(c.end) {
        let cell = match a.cell(at) {
            Ok(Value::Null) => constant.map_or_else(|| c.cell(at), |value| Ok(value.clone())),
            cell => cell,
        };
        out.push(cell);
    }
}

fn apply(map: &Map, program: &Program, cell: Cell) -> Cell {
    match cell {
        Ok(value) if !value.is_null() => map.apply(program, &value).map_err(Into::into),
        other => other,
    }
}

/// `X{f} ψ`
pub(crate) fn next(
    map: &Map,
    program: &Program,
    cursor: &mut usize,
    a: &Stream,
    out: &mut Stream,
    ended: Option<usize>,
) {
    let (from, to) = (out.end + 1, a.end);
    if from < to {
        match &a.data {
            Data::Truth(_) if map.is_identity() => {
                for (_, lo, hi) in spans(from - 1, to - 1) {
                    out.push_bits(a.bits(out.end + 1, hi - lo), hi - lo);
                }
            }
            Data::Int { values, .. } if map.is_identity() => {
                let valid = |word: usize, lo: usize, hi: usize| a.bits(word * 64 + lo + 1, hi - lo) << lo;
                out.push_ints(&values[from - a.base..to - a.base], valid);
            }
            Data::Real { values, .. } if map.is_identity() => {
                let valid = |word: usize, lo: usize, hi: usize| a.bits(word * 64 + lo + 1, hi - lo) << lo;
                out.push_reals(&values[from - a.base..to - a.base], valid);
            }
            _ => (from..to).for_each(|at| out.push(apply(map, program, a.cell(at)))),
        }
    }
    *cursor = a.end;
    if ended == Some(a.end) && out.end + 1 == a.end {
        out.push(Ok(Value::Null));
    }
}

/// `a U{f} b`. Positions before `cursor` that are not emitted wait. Returns whether there is more to emit.
pub(crate) fn until(
    map: &Map,
    program: &Program,
    cursor: &mut usize,
    a: &Stream,
    b: &Stream,
    out: &mut Stream,
    ended: Option<usize>,
) -> bool {
    let to = a.end.min(b.end);
    for (word, lo, hi) in spans(*cursor, to) {
        let ((go_on, a_errors), (reached, b_errors)) = (a.masks(word), b.masks(word));
        let decided = reached | a_errors | b_errors | !go_on;
        let mut bit = lo;
        while bit < hi {
            bit += ((decided >> bit).trailing_zeros() as usize).min(hi - bit);
            if bit < hi {
                let at = word * 64 + bit;
                let cell = if (reached | b_errors) >> bit & 1 == 1 {
                    apply(map, program, b.cell(at))
                } else if a_errors >> bit & 1 == 1 {
                    a.cell(at)
                } else {
                    Ok(Value::Null)
                };
                if !release(&cell, at + 1, out) {
                    *cursor = at;
                    return true;
                }
                bit += 1;
            }
        }
        *cursor = word * 64 + hi;
    }
    ended == Some(to) && *cursor == to && !release(&Ok(Value::Null), to, out)
}

/// Emits the same for all that waits before `upto`; false if it was too much for one time.
fn release(cell: &Cell, upto: usize, out: &mut Stream) -> bool {
    out.push_run(cell, (upto - out.end).min(BLOCK));
    out.end == upto
}
