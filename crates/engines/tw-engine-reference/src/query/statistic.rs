//! The statistics of a list of values, in trace order.

use super::Cell;
use super::exact::{multiples, nearest};
use crate::term::order;
use num_bigint::BigInt;
use std::cmp::Ordering;
use std::sync::Arc;
use tw_core::Value;
use tw_ir::Aggregate;

/// The statistic of `values`, none of which is null. Of no values there is none.
pub(crate) fn statistic(aggregate: Aggregate, values: &[&Value]) -> Cell {
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return Ok(Value::Null) };
    match aggregate {
        Aggregate::Count => whole(&values.len().into(), "count"),
        Aggregate::First => Ok(first.clone()),
        Aggregate::Last => Ok(last.clone()),
        Aggregate::Sum => sum(values),
        Aggregate::Avg => Ok(real(real_sum(values)? / values.len() as f64)),
        Aggregate::Min => extreme(values, Ordering::Less),
        Aggregate::Max => extreme(values, Ordering::Greater),
        Aggregate::Var => Ok(real(covariance(values, values)?)),
        Aggregate::Stddev => Ok(real(covariance(values, values)?.sqrt())),
        Aggregate::Corr => correlation(values),
        Aggregate::Median => quantile(values, 500_000_000),
        Aggregate::Quantile(billionths) => quantile(values, billionths),
        Aggregate::Histogram(bins) => histogram(values, bins),
        Aggregate::Mode => Ok(mode(values)),
        Aggregate::Distinct => whole(&classes(values).len().into(), "number"),
    }
}

/// A result that is a whole number.
fn whole(number: &BigInt, what: &str) -> Cell {
    i64::try_from(number)
        .map(Value::Int)
        .map_err(|_| format!("the {what} {number} overflows a 64-bit integer"))
}

/// A result that is a real; none if it is not finite.
fn real(number: f64) -> Value {
    if number.is_finite() { Value::Real(number) } else { Value::Null }
}

fn no_number(values: &[&Value]) -> String {
    let other = values.iter().find(|value| !matches!(value, Value::Int(_) | Value::Real(_)));
    format!("a statistic of numbers meets {}", other.map_or("none", |value| value.kind()))
}

fn total(values: &[&Value]) -> Result<(BigInt, i64), String> {
    let numbers = multiples(values.iter().copied()).ok_or_else(|| no_number(values))?;
    Ok((numbers.of.iter().sum(), numbers.unit))
}

/// Of whole numbers whole, otherwise the exact sum rounded once.
fn sum(values: &[&Value]) -> Cell {
    if values.iter().all(|value| matches!(value, Value::Int(_))) {
        // Whole numbers are multiples of 2^0.
        return whole(&total(values)?.0, "sum");
    }
    Ok(real(real_sum(values)?))
}

fn real_sum(values: &[&Value]) -> Result<f64, String> {
    let (sum, unit) = total(values)?;
    Ok(nearest(&sum, &1.into(), unit))
}

/// The least or greatest value by size. Of equal ones a whole number, then of the two zeros the least or greatest.
fn extreme(values: &[&Value], wanted: Ordering) -> Cell {
    let mut best: Option<&Value> = None;
    for &value in values {
        if !matches!(value, Value::Int(_) | Value::Real(_)) {
            return Err(no_number(values));
        }
        let better = best.is_none_or(|best| match (order(value, best), value, best) {
            (Some(Ordering::Equal), Value::Int(_), Value::Real(_)) => true,
            (Some(Ordering::Equal), Value::Real(new), Value::Real(old)) => new.total_cmp(old) == wanted,
            (found, ..) => found == Some(wanted),
        });
        if better {
            best = Some(value);
        }
    }
    Ok(best.cloned().unwrap_or(Value::Null))
}

/// (n·Σxy − Σx·Σy) / n², rounded once: of a list with itself, the variance of the population.
fn covariance(xs: &[&Value], ys: &[&Value]) -> Result<f64, String> {
    let x = multiples(xs.iter().copied()).ok_or_else(|| no_number(xs))?;
    let y = multiples(ys.iter().copied()).ok_or_else(|| no_number(ys))?;
    let n = BigInt::from(xs.len());
    let products: BigInt = x.of.iter().zip(&y.of).map(|(x, y)| x * y).sum();
    let sums = x.of.iter().sum::<BigInt>() * y.of.iter().sum::<BigInt>();
    Ok(nearest(&(&n * products - sums), &(&n * &n), x.unit + y.unit))
}

/// None where a side does not vary, or where something on the way is no finite real.
fn correlation(pairs: &[&Value]) -> Cell {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for pair in pairs {
        match pair {
            Value::List(sides) if sides.len() == 2 => {
                xs.push(&sides[0]);
                ys.push(&sides[1]);
            }
            other => return Err(format!("`corr` needs pairs of numbers, found {}", other.kind())),
        }
    }
    let (a, b, c) = (covariance(&xs, &ys)?, covariance(&xs, &xs)?, covariance(&ys, &ys)?);
    if !(a.is_finite() && b.is_finite() && c.is_finite()) || b == 0.0 || c == 0.0 {
        return Ok(Value::Null);
    }
    let result = a / (b.sqrt() * c.sqrt());
    Ok(if result.is_finite() { Value::Real(result.clamp(-1.0, 1.0)) } else { Value::Null })
}

/// The numbers as reals, sorted by their exact size; −0.0 stands before 0.0 and before a whole 0.
fn sorted(values: &[&Value]) -> Result<Vec<f64>, String> {
    let mut numbers = Vec::with_capacity(values.len());
    for &value in values {
        match value {
            Value::Int(i) => numbers.push((value, *i as f64)),
            Value::Real(r) => numbers.push((value, *r)),
            _ => return Err(no_number(values)),
        }
    }
    numbers.sort_by(|(a, x), (b, y)| order(a, b).unwrap_or(Ordering::Equal).then(x.total_cmp(y)));
    Ok(numbers.into_iter().map(|(_, real)| real).collect())
}

/// Between the two neighbours of rank (n−1)·q.
fn quantile(values: &[&Value], billionths: u32) -> Cell {
    let numbers = sorted(values)?;
    let rank = (numbers.len() as u128 - 1) * u128::from(billionths);
    let below = (rank / 1_000_000_000) as usize;
    // Two whole numbers below 2⁵³ are exact reals, so that the quotient is rounded once.
    let fraction = (rank % 1_000_000_000) as f64 / 1e9;
    let low = numbers[below];
    let high = numbers.get(below + 1).copied().unwrap_or(low);
    Ok(real(if fraction == 0.0 || low == high {
        low
    } else if fraction == 0.5 {
        low / 2.0 + high / 2.0
    } else {
        low + fraction * (high - low)
    }))
}

/// Bins of equal width from the least to the greatest value, each a list of its ends and its count.
fn histogram(values: &[&Value], bins: u32) -> Cell {
    let numbers = sorted(values)?;
    let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
    let bin = |from: f64, to: f64, count: usize| {
        Value::List(vec![Value::Real(from), Value::Real(to), Value::Int(count as i64)])
    };
    if low == high {
        return Ok(Value::List(vec![bin(low, high, numbers.len())]));
    }
    let width = high - low;
    if !width.is_finite() {
        return Ok(Value::Null);
    }
    let last = bins.saturating_sub(1) as usize;
    let mut counts = vec![0; last + 1];
    for number in numbers {
        let bin = ((number - low) / width * f64::from(bins)).floor() as usize;
        counts[bin.min(last)] += 1;
    }
    let end = |i: usize| if i > last { high } else { low + width * (i as f64 / f64::from(bins)) };
    Ok(Value::List((0..=last).map(|i| bin(end(i), end(i + 1), counts[i])).collect()))
}

/// The values in classes of equal ones, each class in trace order.
fn classes<'v>(values: &[&'v Value]) -> Vec<Vec<&'v Value>> {
    let mut classes: Vec<Vec<&Value>> = Vec::new();
    for &value in values {
        match classes.iter_mut().find(|class| ranking(class[0], value).is_eq()) {
            Some(class) => class.push(value),
            None => classes.push(vec![value]),
        }
    }
    classes
}

/// The most frequent value, of several the least; a whole number if it was written as one, else as it came first.
fn mode(values: &[&Value]) -> Value {
    let classes = classes(values);
    let most = classes.iter().map(Vec::len).max();
    let frequent = classes.iter().filter(|class| Some(class.len()) == most);
    let Some(class) = frequent.min_by(|a, b| ranking(a[0], b[0])) else { return Value::Null };
    class.iter().copied().find(|value| matches!(value, Value::Int(_))).unwrap_or(class[0]).clone()
}

/// The order of all values: null, truth values, numbers by size, text by code points, lists, objects. Equal are values
/// that `==` calls equal; a null inside a list is equal to a null there, so that every value is equal to itself. Values
/// nest as deeply as queries do, hence no recursion.
fn ranking(a: &Value, b: &Value) -> Ordering {
    let kind = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Real(_) => 2,
        Value::Str(_) => 3,
        Value::List(_) => 4,
        Value::Object(_) => 5,
    };
    // What remains to be compared, the next last: two values, or the number of parts once the parts are equal.
    enum Next<'v> {
        Values(&'v Value, &'v Value),
        Keys(&'v str, &'v str),
        Lengths(usize, usize),
    }
    let mut todo = vec![Next::Values(a, b)];
    while let Some(next) = todo.pop() {
        let found = match next {
            Next::Keys(a, b) => a.chars().cmp(b.chars()),
            Next::Lengths(a, b) => a.cmp(&b),
            Next::Values(Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            Next::Values(Value::List(a), Value::List(b)) => {
                todo.push(Next::Lengths(a.len(), b.len()));
                todo.extend(a.iter().zip(b).rev().map(|(a, b)| Next::Values(a, b)));
                Ordering::Equal
            }
            Next::Values(Value::Object(a), Value::Object(b)) => {
                todo.push(Next::Lengths(a.len(), b.len()));
                for ((key, value), (other, beside)) in by_key(a).into_iter().zip(by_key(b)).rev() {
                    todo.push(Next::Values(value, beside));
                    todo.push(Next::Keys(key, other));
                }
                Ordering::Equal
            }
            Next::Values(a, b) => kind(a).cmp(&kind(b)).then_with(|| order(a, b).unwrap_or(Ordering::Equal)),
        };
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

fn by_key(object: &[(Arc<str>, Value)]) -> Vec<(&str, &Value)> {
    let mut fields: Vec<(&str, &Value)> = object.iter().map(|(key, value)| (&**key, value)).collect();
    fields.sort_by_key(|(key, _)| *key);
    fields
}
