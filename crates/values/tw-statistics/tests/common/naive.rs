//! Every statistic by its definition, in big rationals, over all values at once. Slow and obvious.

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use tw_core::Value;
use tw_ir::Aggregate;

/// What the statistic of `values` (in trace order) is.
pub fn naive(aggregate: Aggregate, values: &[Value]) -> Result<Value, String> {
    if values.is_empty() {
        return Ok(Value::Null);
    }
    let n = values.len();
    Ok(match aggregate {
        Aggregate::Count => Value::Int(n as i64),
        Aggregate::First => values[0].clone(),
        Aggregate::Last => values[n - 1].clone(),
        Aggregate::Sum => {
            let sum = total(values);
            if values.iter().all(|v| matches!(v, Value::Int(_))) {
                let whole: BigInt = sum >> SCALE;
                return match i64::try_from(&whole) {
                    Ok(v) => Ok(Value::Int(v)),
                    Err(_) => Err(format!("the sum {whole} overflows a 64-bit integer")),
                };
            }
            real(rounded(&sum, &BigInt::from(1), -SCALE))
        }
        Aggregate::Avg => real(rounded(&total(values), &BigInt::from(1), -SCALE) / n as f64),
        Aggregate::Min => values.iter().min_by(|a, b| preference(a, b, false)).unwrap().clone(),
        Aggregate::Max => values.iter().min_by(|a, b| preference(a, b, true)).unwrap().clone(),
        Aggregate::Var | Aggregate::Stddev => {
            let xs: Vec<BigInt> = values.iter().map(scaled).collect();
            let var = covariance(&xs, &xs);
            real(if aggregate == Aggregate::Stddev { var.sqrt() } else { var })
        }
        Aggregate::Corr => {
            let side = |i: usize| -> Vec<BigInt> {
                values
                    .iter()
                    .map(|v| if let Value::List(p) = v { scaled(&p[i]) } else { unreachable!() })
                    .collect()
            };
            let (xs, ys) = (side(0), side(1));
            let (a, b, c) = (covariance(&xs, &ys), covariance(&xs, &xs), covariance(&ys, &ys));
            // A side that does not vary, or varies too much for a real, has no correlation (rather than 0).
            if b == 0.0 || c == 0.0 || !b.is_finite() || !c.is_finite() {
                return Ok(Value::Null);
            }
            let r = a / (b.sqrt() * c.sqrt());
            if r.is_finite() { Value::Real(r.clamp(-1.0, 1.0)) } else { Value::Null }
        }
        Aggregate::Median => quantile(values, 500_000_000),
        Aggregate::Quantile(q) => quantile(values, q),
        Aggregate::Histogram(k) => histogram(values, k),
        Aggregate::Mode => mode(values),
        Aggregate::Distinct => {
            let mut sorted: Vec<&Value> = values.iter().collect();
            sorted.sort_by(|a, b| total_order(a, b));
            sorted.dedup_by(|a, b| total_order(a, b).is_eq());
            Value::Int(sorted.len() as i64)
        }
    })
}

/// All finite reals are whole multiples of 2^-1074.
const SCALE: i32 = 1074;

fn scaled(v: &Value) -> BigInt {
    match v {
        Value::Int(i) => BigInt::from(*i) << SCALE,
        Value::Real(r) => {
            let bits = r.to_bits();
            let (e, m) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
            let (e, m) = if e == 0 { (-1074, m) } else { (e - 1075, m | 1 << 52) };
            let big = BigInt::from(m) << (e + SCALE);
            if *r < 0.0 { -big } else { big }
        }
        _ => panic!("no number"),
    }
}

fn total(values: &[Value]) -> BigInt {
    values.iter().map(scaled).sum()
}

/// Population covariance, rounded once.
fn covariance(xs: &[BigInt], ys: &[BigInt]) -> f64 {
    let n = BigInt::from(xs.len());
    let (sx, sy): (BigInt, BigInt) = (xs.iter().sum(), ys.iter().sum());
    let sxy: BigInt = xs.iter().zip(ys).map(|(x, y)| x * y).sum();
    rounded(&(&n * sxy - sx * sy), &(&n * &n), -2 * SCALE)
}

fn real(r: f64) -> Value {
    if r.is_finite() { Value::Real(r) } else { Value::Null }
}

/// `num / den * 2^exp` to the nearest f64, ties to even; `den` > 0.
pub fn rounded(num: &BigInt, den: &BigInt, exp: i32) -> f64 {
    if num.sign() == Sign::NoSign {
        return 0.0;
    }
    let negative = num.sign() == Sign::Minus;
    let num = if negative { -num } else { num.clone() };
    // Scale such that the quotient has at least 64 bits, then compare with every candidate by integers alone.
    let shift = 64 + den.bits() as i64 - num.bits() as i64;
    let (n, d) = if shift >= 0 { (num << shift as u64, den.clone()) } else { (num, den << (-shift) as u64) };
    let (q, r) = (&n / &d, &n % &d);
    // value = (q + r/d) * 2^(exp - shift); bring to a multiple of the last place.
    let e = i64::from(exp) - shift;
    let top = e + q.bits() as i64; // value < 2^top
    let last = (top - 53).max(-1074);
    let drop = (last - e) as u64; // >= 0, since q has >= 64 bits
    let whole: BigInt = &q >> drop;
    let rest = &q - (&whole << drop);
    let half = BigInt::from(1) << (drop - 1);
    let up = match rest.cmp(&half) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => r.sign() != Sign::NoSign || &whole % 2 == BigInt::from(1),
    };
    let m = u64::try_from(if up { whole + 1 } else { whole }).unwrap();
    // m <= 2^53: exact; the powers of two below are exact as well, in two steps where one would vanish.
    let mut value = m as f64;
    let mut last = last;
    while last > 0 {
        let step = last.min(1000);
        value *= 2f64.powi(step as i32);
        last -= step;
    }
    while last < 0 {
        let step = (-last).min(1000);
        value /= 2f64.powi(step as i32);
        last += step;
    }
    if negative { -value } else { value }
}

fn number_order(a: &Value, b: &Value) -> Ordering {
    scaled(a).cmp(&scaled(b))
}

/// The value that min (max) takes comes first.
fn preference(a: &Value, b: &Value, max: bool) -> Ordering {
    let order = number_order(a, b);
    let order = if max { order.reverse() } else { order };
    order.then_with(|| match (a, b) {
        (Value::Int(_), Value::Real(_)) => Ordering::Less,
        (Value::Real(_), Value::Int(_)) => Ordering::Greater,
        (Value::Real(a), Value::Real(b)) if max => b.total_cmp(a),
        (Value::Real(a), Value::Real(b)) => a.total_cmp(b),
        _ => Ordering::Equal,
    })
}

fn float(v: &Value) -> f64 {
    match v {
        Value::Int(i) => *i as f64,
        Value::Real(r) => *r,
        _ => panic!("no number"),
    }
}

fn floats(values: &[Value]) -> Vec<f64> {
    let mut sorted: Vec<&Value> = values.iter().collect();
    // A whole zero is +0.0.
    sorted.sort_by(|a, b| number_order(a, b).then(float(a).total_cmp(&float(b))));
    sorted.into_iter().map(float).collect()
}

fn quantile(values: &[Value], q: u32) -> Value {
    let xs = floats(values);
    let h = (xs.len() as u128 - 1) * u128::from(q);
    let (lo, rest) = ((h / 1_000_000_000) as usize, (h % 1_000_000_000) as u64);
    let frac = rest as f64 / 1e9; // both exact, so the quotient is rounded once
    let (xl, xu) = (xs[lo], xs[(lo + 1).min(xs.len() - 1)]);
    real(if frac == 0.0 || xl == xu {
        xl
    } else if frac == 0.5 {
        xl / 2.0 + xu / 2.0
    } else {
        xl + frac * (xu - xl)
    })
}

fn histogram(values: &[Value], k: u32) -> Value {
    let xs = floats(values);
    let (lo, hi) = (xs[0], xs[xs.len() - 1]);
    let bin = |low, high, count| Value::List(vec![Value::Real(low), Value::Real(high), Value::Int(count)]);
    if lo == hi {
        return Value::List(vec![bin(lo, hi, xs.len() as i64)]);
    }
    if !(hi - lo).is_finite() {
        return Value::Null;
    }
    let mut counts = vec![0; k as usize];
    for x in &xs {
        counts[(((x - lo) / (hi - lo) * f64::from(k)).floor() as usize).min(k as usize - 1)] += 1;
    }
    let edge = |i: u32| if i == k { hi } else { lo + (hi - lo) * (f64::from(i) / f64::from(k)) };
    Value::List((0..k).map(|i| bin(edge(i), edge(i + 1), counts[i as usize])).collect())
}

fn rank(v: &Value) -> u8 {
    match v {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Real(_) => 2,
        Value::Str(_) => 3,
        Value::List(_) => 4,
        Value::Object(_) => 5,
    }
}

/// null < bool < number < text < list < object; objects by their keys in order.
pub fn total_order(a: &Value, b: &Value) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::List(a), Value::List(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| total_order(a, b))
            .find(|o| o.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (Value::Object(a), Value::Object(b)) => {
            let sorted = |o: &Vec<(std::sync::Arc<str>, Value)>| {
                let mut o = o.clone();
                o.sort_by(|x, y| x.0.cmp(&y.0));
                o
            };
            let (a, b) = (sorted(a), sorted(b));
            a.iter()
                .zip(&b)
                .map(|(a, b)| a.0.cmp(&b.0).then_with(|| total_order(&a.1, &b.1)))
                .find(|o| o.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Null, _) => Ordering::Equal,
        _ => number_order(a, b),
    })
}

fn mode(values: &[Value]) -> Value {
    let mut groups: Vec<Vec<&Value>> = Vec::new();
    for v in values {
        match groups.iter_mut().find(|g| total_order(g[0], v).is_eq()) {
            Some(g) => g.push(v),
            None => groups.push(vec![v]),
        }
    }
    let best = groups.iter().map(Vec::len).max().unwrap();
    let group = groups.iter().filter(|g| g.len() == best).min_by(|a, b| total_order(a[0], b[0])).unwrap();
    (*group.iter().find(|v| matches!(v, Value::Int(_))).unwrap_or(&group[0])).clone()
}
