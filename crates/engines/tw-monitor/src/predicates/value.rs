//! Comparing values.

use std::cmp::Ordering;
use tw_core::Value;
use tw_ir::{CompareOp, SetItem};

/// Whether `ordering` is one that `op` asks for.
#[inline]
pub(super) fn accepts(op: CompareOp, ordering: Ordering) -> bool {
    match op {
        CompareOp::Eq => ordering.is_eq(),
        CompareOp::Ne => ordering.is_ne(),
        CompareOp::Lt => ordering.is_lt(),
        CompareOp::Le => ordering.is_le(),
        CompareOp::Gt => ordering.is_gt(),
        CompareOp::Ge => ordering.is_ge(),
    }
}

/// The operator with its sides exchanged: `a op b` is `b mirrored(op) a`.
pub(super) fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same => same,
    }
}

/// Exact order of a whole number and a finite real: no rounding of either.
#[inline]
pub(super) fn order_int_real(int: i64, real: f64) -> Ordering {
    // 2⁶³ is a power of two, hence exact as a real; −2⁶³ is i64::MIN itself.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if real >= LIMIT {
        Ordering::Less
    } else if real < -LIMIT {
        Ordering::Greater
    } else {
        // The cast truncates, and what it yields came from a real, so it converts back exactly.
        let whole = real as i64;
        int.cmp(&whole).then((whole as f64).partial_cmp(&real).unwrap_or(Ordering::Equal))
    }
}

/// The order of two numbers or two texts; `None` for anything else.
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Real(b)) => Some(order_int_real(*a, *b)),
        (Value::Real(a), Value::Int(b)) => Some(order_int_real(*b, *a).reverse()),
        // UTF-8 sorts by bytes as it does by code points.
        (Value::Str(a), Value::Str(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        _ => None,
    }
}

/// Equality: `None` when it hangs on a null. Lists and tuples are equal part by part, objects key by key.
fn equality(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => parts_equality(a, b),
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::Bool(a), Value::Bool(b)) => Some(a == b),
        _ => Some(order(a, b) == Some(Ordering::Equal)),
    }
}

fn parts_equality(a: &Value, b: &Value) -> Option<bool> {
    // Pairs still to be compared; values nest as deeply as the input does, so no recursion.
    let mut todo = vec![(a, b)];
    let mut unknown = false;
    while let Some(pair) = todo.pop() {
        match pair {
            (Value::List(a), Value::List(b)) if a.len() == b.len() => todo.extend(a.iter().zip(b)),
            (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
                for (key, value) in a {
                    let Some((_, other)) = b.iter().find(|(k, _)| k == key) else { return Some(false) };
                    todo.push((value, other));
                }
            }
            (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => return Some(false),
            (a, b) => match equality(a, b) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => unknown = true,
            },
        }
    }
    (!unknown).then_some(true)
}

/// `a op b` of two single values.
pub fn compare(op: CompareOp, a: &Value, b: &Value) -> bool {
    match op {
        CompareOp::Eq => equality(a, b) == Some(true),
        CompareOp::Ne => equality(a, b) == Some(false),
        _ => order(a, b).is_some_and(|ordering| accepts(op, ordering)),
    }
}

/// Whether the set `{…}` holds `value`.
pub(super) fn contains(set: &[SetItem], value: &Value) -> bool {
    set.iter().any(|item| match item {
        SetItem::Value(member) => compare(CompareOp::Eq, value, member),
        SetItem::Range(low, high) => {
            compare(CompareOp::Ge, value, &Value::Int(*low))
                && compare(CompareOp::Le, value, &Value::Int(*high))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_reals_compare_exactly() {
        let big = 9_007_199_254_740_993; // 2⁵³ + 1, which no real is
        assert_eq!(order_int_real(big, 9_007_199_254_740_992.0), Ordering::Greater);
        assert_eq!(order_int_real(i64::MAX, 9_223_372_036_854_775_808.0), Ordering::Less);
        assert_eq!(order_int_real(i64::MIN, -9_223_372_036_854_775_808.0), Ordering::Equal);
        assert_eq!(order_int_real(i64::MIN, -1e300), Ordering::Greater);
        for (int, real, expected) in [
            (2, 2.5, Ordering::Less),
            (-2, -2.5, Ordering::Greater),
            (0, -0.0, Ordering::Equal),
            (3, 2.5, Ordering::Greater),
        ] {
            assert_eq!(order_int_real(int, real), expected, "{int} {real}");
        }
    }

    #[test]
    fn kinds_and_nulls() {
        use CompareOp::*;
        let (one, half, text, null) = (Value::Int(1), Value::Real(0.5), Value::text("1"), Value::Null);
        let pair = |a: &Value, b: &Value| Value::List(vec![a.clone(), b.clone()]);
        // (a, b, ==, !=, <)
        let table = [
            (one.clone(), Value::Real(1.0), true, false, false),
            (half.clone(), one.clone(), false, true, true),
            (one.clone(), text.clone(), false, true, false),
            (one.clone(), null.clone(), false, false, false),
            (null.clone(), null.clone(), false, false, false),
            (Value::Bool(true), one.clone(), false, true, false),
            (Value::Bool(false), Value::Bool(true), false, true, false),
            (Value::text("Z"), Value::text("a"), false, true, true),
            (Value::text("\u{ffff}"), Value::text("\u{10000}"), false, true, true),
            (pair(&one, &text), pair(&Value::Real(1.0), &text), true, false, false),
            (pair(&one, &null), pair(&one, &text), false, false, false),
            (pair(&half, &null), pair(&one, &text), false, true, false),
            (Value::List(vec![]), pair(&one, &one), false, true, false),
            (
                Value::Object(vec![("a".into(), one.clone()), ("b".into(), half.clone())]),
                Value::Object(vec![("b".into(), half.clone()), ("a".into(), one.clone())]),
                true,
                false,
                false,
            ),
        ];
        for (a, b, eq, ne, lt) in &table {
            assert_eq!([compare(Eq, a, b), compare(Ne, a, b), compare(Lt, a, b)], [*eq, *ne, *lt], "{a} {b}");
            assert_eq!([compare(Eq, b, a), compare(Ne, b, a), compare(Gt, b, a)], [*eq, *ne, *lt], "{b} {a}");
        }
    }
}
