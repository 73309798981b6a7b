//! Worked examples, kernels against plain loops, and the same values however the trace is cut.

use super::*;
use crate::kernels::{Masked, all, from_key, key};
use crate::stretch::{Counts, Wanted as Asked, counts};
use tw_core::Column;
use tw_ir::{Aggregate, ArithmeticOp, Expect, Function, Node, Path, Root, RootKind, Slot, What};
use tw_monitor::{Segments, Term};
use tw_testkit::Rng;

/// A program over truth values and terms, and their columns.
#[derive(Default)]
struct Built {
    program: Program,
    truths: Vec<(NodeId, Bits)>,
    terms: Vec<(NodeId, Column)>,
}

impl Built {
    fn truth(&mut self, bits: &[u8]) -> NodeId {
        let name = format!("p{}", self.program.slots.len());
        let what = What::Proposition(Path::field(name));
        self.program.slots.push(Slot { what, declared: false, span: Default::default() });
        let node = self.program.dag.add(Node::Truth(self.program.slots.len() as u32 - 1));
        self.truths.push((node, bits.iter().map(|bit| *bit == 1).collect()));
        node
    }

    fn number(&mut self, values: &[i64]) -> NodeId {
        let name = format!("x{}", self.program.slots.len());
        let what = What::Variable(Path::field(name), Expect::Number);
        self.program.slots.push(Slot { what, declared: false, span: Default::default() });
        let node = self.program.dag.add(Node::Slot(self.program.slots.len() as u32 - 1));
        let column = Column::Int { values: values.to_vec(), valid: Bits::repeat(true, values.len()) };
        self.terms.push((node, column));
        node
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.program.dag.add(node)
    }

    fn root(&mut self, node: NodeId) {
        let (name, title, division) = (String::new(), None, Default::default());
        let (kind, span) = (RootKind::Query, Default::default());
        self.program.roots.push(Root { name, title, division, kind, node, span });
    }

    fn trace(&self, len: usize) -> (Trace, Vec<Bits>) {
        let column =
            |id: &NodeId| self.terms.iter().find(|(node, _)| node == id).map(|(_, column)| column.clone());
        let terms = self.program.terms();
        let terms = terms.iter().map(|id| Term { column: column(id).unwrap(), errors: Vec::new() }).collect();
        let truth = |id: &NodeId| match self.program.dag.node(*id) {
            Node::Bool(value) => Bits::repeat(value, len),
            _ => self.truths.iter().find(|(node, _)| node == id).map(|(_, bits)| bits.clone()).unwrap(),
        };
        let guards = self.program.guards().iter().map(truth).collect();
        (Trace { len, terms, ..Trace::default() }, guards)
    }

    fn values(&self, len: usize) -> Vec<Computed> {
        let (trace, guards) = self.trace(len);
        let mut evaluator = Columnar.plan(&self.program, &EvaluateOptions::default()).unwrap();
        evaluator.values(&trace, &guards).unwrap().into_iter().map(|mut values| values.remove(0)).collect()
    }

    fn column(&self, len: usize, node: NodeId) -> Vec<Value> {
        let (trace, guards) = self.trace(len);
        let mut evaluator = Columnar.plan(&self.program, &EvaluateOptions::default()).unwrap();
        let column = evaluator.columns(&trace, &guards, &[node]).unwrap().remove(0);
        (0..len).map(|at| column.at(at).ok().unwrap().clone()).collect()
    }
}

fn int(value: i64) -> Value {
    Value::Int(value)
}

/// Example 2 of the paper: (x,y,z) = (1,1,2)(1,2,2)(1,3,1)(2,3,1)(5,3,1)(5,3,2).
#[test]
fn the_papers_second_example() {
    let mut built = Built::default();
    let equal = built.truth(&[1, 0, 0, 0, 0, 0]);
    let z_is_2 = built.truth(&[1, 1, 0, 0, 0, 1]);
    let x = built.number(&[1, 1, 1, 2, 5, 5]);
    let sum = built.number(&[2, 3, 4, 5, 8, 8]);
    let always = built.add(Node::Bool(true));
    let (xs, sums) = (built.add(Node::Emit(always, x)), built.add(Node::Emit(always, sum)));
    let stretch = built.add(Node::CollectWhile(Aggregate::Sum, xs, z_is_2));
    for (aggregate, body) in [
        (Aggregate::Count, equal),
        (Aggregate::Min, sums),
        (Aggregate::Avg, sums),
        (Aggregate::Max, stretch),
        (Aggregate::Sum, equal),
    ] {
        let node = built.add(Node::Collect(aggregate, body));
        built.root(node);
    }
    let values = built.values(6);
    let expected = [int(1), int(2), Value::Real(5.0), int(5)];
    for (value, expected) in values.iter().zip(&expected) {
        assert_eq!(value.ok(), Ok(expected));
    }
    assert!(values[4].ok().unwrap_err().contains("needs numbers"), "{values:?}");
    let column = built.column(6, stretch);
    assert_eq!(column, [int(2), int(1), Value::Null, Value::Null, Value::Null, int(5)]);
}

/// `(q : y) DURING[min] p`, the substitute for the lost figure 4.
#[test]
fn the_least_value_of_a_stretch() {
    let mut built = Built::default();
    let p = built.truth(&[1, 1, 1, 1, 1, 0, 1]);
    let q = built.truth(&[0, 1, 1, 0, 1, 1, 1]);
    let y = built.number(&[6, 3, 1, 0, 4, 0, 2]);
    let body = built.add(Node::Emit(q, y));
    let least = built.add(Node::CollectWhile(Aggregate::Min, body, p));
    built.root(least);
    let expected = [int(1), int(1), int(1), int(4), int(4), Value::Null, int(2)];
    assert_eq!(built.column(7, least), expected);
}

/// Only what is asked for can be an error: the sum of all overflows, that from the second position on does not.
#[test]
fn errors_where_they_are_needed() {
    let mut built = Built::default();
    let always = built.add(Node::Bool(true));
    let x = built.number(&[1, i64::MAX, 1, -5]);
    let body = built.add(Node::Emit(always, x));
    let sum = built.add(Node::Collect(Aggregate::Sum, body));
    let twice = built.add(Node::Both(Function::Arithmetic(ArithmeticOp::Add), body, body));
    let count = built.add(Node::Collect(Aggregate::Count, twice));
    built.root(sum);
    built.root(count);
    let (trace, guards) = built.trace(4);
    let mut evaluator = Columnar.plan(&built.program, &EvaluateOptions::default()).unwrap();
    let values = evaluator.values(&trace, &guards).unwrap();
    assert_eq!(values[0][0].ok(), Ok(&int(i64::MAX - 3)));
    assert_eq!(
        values[1][0].ok(),
        Err("9223372036854775807 + 9223372036854775807 overflows a 64-bit integer")
    );
    let columns = evaluator.columns(&trace, &guards, &[count, sum]).unwrap();
    assert_eq!(columns[0].at(2).ok(), Ok(&int(2)));
    assert!(columns[0].at(1).ok().is_err());
    assert_eq!(columns[1].at(1).ok(), Ok(&int(i64::MAX - 4)));
}

#[test]
fn what_was_not_asked_for_is_refused() {
    let mut built = Built::default();
    let p = built.truth(&[1, 0]);
    let count = built.add(Node::Collect(Aggregate::Count, p));
    built.root(count);
    let (trace, _) = built.trace(2);
    let mut evaluator = Columnar.plan(&built.program, &EvaluateOptions::default()).unwrap();
    assert!(evaluator.values(&trace, &[]).is_err());
    assert!(evaluator.values(&trace, &[Bits::repeat(true, 3)]).is_err());
    assert!(evaluator.columns(&trace, &[Bits::repeat(true, 2)], &[NodeId(99)]).is_err());
    let tiny = EvaluateOptions { memory_budget: 100, ..EvaluateOptions::default() };
    let refusal = Columnar.plan(&built.program, &tiny).unwrap().values(&trace, &[Bits::repeat(true, 2)]);
    assert!(refusal.unwrap_err().exhausted);
    let empty = Trace::default();
    assert_eq!(evaluator.values(&empty, &[Bits::new()]).unwrap(), [[Computed::Value(Value::Null)]]);
}

/// Words with few or many bits set, and constant ones.
fn word(rng: &mut Rng) -> u64 {
    match rng.below(6) {
        0 => u64::MAX,
        1 => 0,
        2 => rng.bits() | rng.bits() | rng.bits(),
        3 => rng.bits() & rng.bits() & rng.bits(),
        4 => u64::MAX << rng.below(64),
        _ => rng.bits(),
    }
}

#[test]
fn kernels_are_plain_loops() {
    let mut rng = Rng::new(11);
    for round in 0..400 {
        let len = 1 + rng.below(300);
        let mut mask: Vec<u64> = (0..len.div_ceil(64)).map(|_| word(&mut rng)).collect();
        if !len.is_multiple_of(64) {
            *mask.last_mut().unwrap() &= words::low(len % 64);
        }
        let small = rng.below(64);
        let values: Vec<i64> = (0..len).map(|_| rng.bits() as i64 >> small).collect();
        let reals: Vec<f64> = (0..len).map(|_| (4.0 - rng.below(9) as f64) * -0.5).collect();
        let others: Vec<i64> = values.iter().map(|value| value.rotate_left(7) >> small).collect();
        let from = rng.below(len);
        let to = if round % 2 == 0 { len } else { from + rng.below(len - from + 1) };
        let chosen: Vec<usize> = (from..to).filter(|at| words::get(&mask, *at)).collect();
        let sum: i128 = chosen.iter().map(|at| i128::from(values[*at])).sum();
        let least = chosen.iter().map(|at| values[*at]).min().unwrap_or(i64::MAX);
        let greatest = chosen.iter().map(|at| values[*at]).max().unwrap_or(i64::MIN);
        let by_key = |at: &usize| key(reals[*at]);
        for kernels in all() {
            let ints = Masked { values: &values, mask: &mask, from, to };
            let real = Masked { values: &reals, mask: &mask, from, to };
            let set = (0..len).filter(|at| words::get(&mask, *at)).count() as u64;
            assert_eq!((kernels.count)(&mask), set, "{}", kernels.name);
            assert_eq!((kernels.sum)(ints), sum, "{}", kernels.name);
            assert_eq!((kernels.min)(ints), least, "{}", kernels.name);
            assert_eq!((kernels.max)(ints), greatest, "{}", kernels.name);
            assert_eq!((kernels.min_key)(real), chosen.iter().map(by_key).min().unwrap_or(i64::MAX));
            assert_eq!((kernels.max_key)(real), chosen.iter().map(by_key).max().unwrap_or(i64::MIN));
            let (mut packed, mut packed_reals) = (Vec::new(), Vec::new());
            (kernels.pack_ints)(ints, &mut packed);
            (kernels.pack_reals)(real, &mut packed_reals);
            assert!(packed.iter().eq(chosen.iter().map(|at| &values[*at])), "{}", kernels.name);
            assert!(packed_reals.iter().eq(chosen.iter().map(|at| &reals[*at])), "{}", kernels.name);
            let mut out = vec![0; len];
            (kernels.choose_ints)(&mask, &values, &others, &mut out);
            let choice = |at: usize| if words::get(&mask, at) { values[at] } else { others[at] };
            assert!(out.iter().copied().eq((0..len).map(choice)), "{}", kernels.name);
            let over = (kernels.add)(&values, &others, &mut out);
            let sums = values.iter().zip(&others);
            assert_eq!(over, sums.clone().any(|(x, y)| x.checked_add(*y).is_none()), "{}", kernels.name);
            assert!(out.iter().copied().eq(sums.clone().map(|(x, y)| x.wrapping_add(*y))));
            let over = (kernels.subtract)(&values, &others, &mut out);
            assert_eq!(over, sums.clone().any(|(x, y)| x.checked_sub(*y).is_none()), "{}", kernels.name);
            assert!(out.iter().copied().eq(sums.map(|(x, y)| x.wrapping_sub(*y))));
        }
    }
}

/// Aggregates at every position: the loops by kinds against the definition, across two blocks.
#[test]
fn running_aggregates_are_those_of_the_definition() {
    use crate::fold::Fold;
    use crate::lane::{Data, Lane};
    use crate::pool::Buffer;
    use crate::running::{one_by_one, running};
    use Aggregate::{Avg, Count, Max, Min, Sum};
    let mut rng = Rng::new(15);
    for round in 0..600 {
        let mut folds = [Count, Sum, Avg, Min, Max].map(|aggregate| {
            let fold = Fold::new(aggregate, Limits::default());
            (fold.clone(), fold)
        });
        let reals = round % 2 == 0;
        let wild = rng.one_in(4);
        for _ in 0..2 {
            let len = 128;
            let mut bits = |_| word(&mut rng);
            let [a, phi, last] = [0, 1, 2].map(|_| (0..2).map(&mut bits).collect::<Vec<u64>>());
            let last: Vec<u64> =
                last.iter().map(|word| if wild { *word } else { word & word >> 9 & word >> 31 }).collect();
            let real =
                |bits: u64| (bits >> 40) as f64 * 10f64.powi(if wild { (bits % 61) as i32 - 30 } else { -2 });
            let data = match reals {
                true => Data::Reals(Buffer::collect((0..len).map(|_| real(rng.bits()))).into()),
                false => {
                    let shift = if wild { 1 } else { 40 };
                    Data::Ints(Buffer::collect((0..len).map(|_| rng.bits() as i64 >> shift)).into())
                }
            };
            let a = Lane { len, valid: a.into(), data, errors: Vec::new() };
            let phi = Lane::truth(phi.into(), len);
            let phi = (!rng.one_in(3)).then_some(&phi);
            for (fast, slow) in &mut folds {
                let found = running(fast, &a, phi, &last);
                let expected = one_by_one(slow, &a, phi, &last);
                for at in 0..len {
                    // Compared as text, which tells zeros apart.
                    let (found, expected) = (found.cell(at), expected.cell(at));
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{:?} at {at}", slow.aggregate);
                }
            }
        }
    }
}

#[test]
fn keys_order_reals() {
    let reals = [-1e300, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, 1e300];
    assert!(reals.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
    assert!(reals.iter().all(|real| from_key(key(*real)).to_bits() == real.to_bits()));
}

#[test]
fn counts_of_stretches_are_those_of_the_definition() {
    let mut rng = Rng::new(12);
    for _ in 0..2000 {
        let count = 1 + rng.below(5);
        let p: Vec<u64> = (0..count).map(|_| word(&mut rng)).collect();
        let q: Vec<u64> = (0..count).map(|_| word(&mut rng)).collect();
        let from = if rng.one_in(2) { 0 } else { rng.below(count * 64) };
        let whole = rng.one_in(2);
        let to = if whole { count * 64 } else { from + rng.below(count * 64 - from + 1) };
        if from == to {
            continue;
        }
        let open = if to.is_multiple_of(64) { rng.below(100) as u64 } else { 0 };
        let mut expected = Counts { open, ..Counts::default() };
        for at in (from..to).rev() {
            let holds = words::get(&q, at);
            expected.open = if holds { expected.open + u64::from(words::get(&p, at)) } else { 0 };
            expected.greatest = expected.greatest.max(expected.open);
            expected.number += u64::from(expected.open > 0);
            expected.sum += u128::from(expected.open);
        }
        let found = |asked| {
            let mut found = Counts { open, ..Counts::default() };
            counts(asked, &mut found, &p, &q, from, to);
            found
        };
        let context = format!("{p:x?} while {q:x?} in {from}..{to} after {open}");
        let greatest = found(Asked::Greatest);
        // What is open is the count at the position after the range, hence one of them.
        assert_eq!(greatest.greatest.max(open), expected.greatest.max(open), "{context}");
        let sum = found(Asked::Sum);
        assert_eq!((sum.sum, sum.number), (expected.sum, expected.number), "{context}");
        if from.is_multiple_of(64) {
            assert_eq!([greatest.open, sum.open], [expected.open; 2], "{context}");
        }
        // Whether one is known within the range; what was open before it was seen with it.
        let least = (from..to).any(|at| words::get(&p, at) && words::get(&q, at));
        assert_eq!(found(Asked::Least).number > 0, least, "{context}");
    }
}

/// A trace long enough for several threads, whose values do not depend on how it is cut.
#[test]
fn blocks_and_threads_do_not_matter() {
    let mut rng = Rng::new(13);
    let len = 5000;
    let bits =
        |rng: &mut Rng, per_mille| (0..len).map(|_| u8::from(rng.chance(per_mille))).collect::<Vec<_>>();
    let mut built = Built::default();
    let (p, q) = (bits(&mut rng, 300), bits(&mut rng, 950));
    let (p, q) = (built.truth(&p), built.truth(&q));
    let numbers: Vec<i64> = (0..len).map(|_| rng.below(100) as i64 - 50).collect();
    let x = built.number(&numbers);
    let emit = built.add(Node::Emit(p, x));
    built.program.dag.variables = vec!["v".into()];
    let v = built.add(Node::Variable(0));
    for inner in [Aggregate::Count, Aggregate::Sum, Aggregate::Max, Aggregate::Median] {
        let stretch = built.add(Node::CollectWhile(inner, emit, q));
        let next = built.add(Node::NextMap { body: stretch, result: v, parameter: 0 });
        let pair = built.add(Node::Tuple(q, stretch));
        let until = built.add(Node::UntilMap { pair, result: v, parameter: 0 });
        for outer in [Aggregate::Max, Aggregate::Avg, Aggregate::First, Aggregate::Last, Aggregate::Mode] {
            for body in [stretch, next, until] {
                let node = built.add(Node::Collect(outer, body));
                built.root(node);
            }
        }
    }
    let (mut trace, guards) = built.trace(len);
    for segments in [None, Some(Segments { starts: vec![0, 70, 1000, 1001, 2048, 4999] })] {
        trace.segments = segments;
        let run = |block, threads| {
            let options = EvaluateOptions { block, threads, ..EvaluateOptions::default() };
            Columnar.plan(&built.program, &options).unwrap().values(&trace, &guards).unwrap()
        };
        let expected = run(None, 1);
        for (block, threads) in [(Some(64), 1), (Some(64), 3), (Some(192), 2), (Some(1024), 4)] {
            assert_eq!(run(block, threads), expected, "blocks of {block:?}, {threads} threads");
        }
    }
}

/// What does not fit is a sketch, and its bound is told; what fits is exact.
#[test]
fn beyond_the_budget_bounds_are_told() {
    let len = 300_000;
    let mut rng = Rng::new(14);
    let numbers: Vec<i64> = (0..len).map(|_| rng.below(1 << 40) as i64).collect();
    let mut built = Built::default();
    let always = built.add(Node::Bool(true));
    let x = built.number(&numbers);
    let emit = built.add(Node::Emit(always, x));
    let median = built.add(Node::Collect(Aggregate::Median, emit));
    built.root(median);
    let (trace, guards) = built.trace(len);
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    for threads in [1, 3] {
        let run = |memory_budget| {
            let options = EvaluateOptions { threads, memory_budget, ..EvaluateOptions::default() };
            let mut evaluator = Columnar.plan(&built.program, &options).unwrap();
            let Computed::Value(Value::Real(value)) = evaluator.values(&trace, &guards).unwrap()[0][0] else {
                panic!("a median is a real");
            };
            (value, evaluator.notes())
        };
        let middle = sorted[len / 2 - 1] as f64 / 2.0 + sorted[len / 2] as f64 / 2.0;
        assert_eq!(run(1 << 30), (middle, Vec::new()));
        let (value, notes) = run(1 << 20);
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].node, median);
        assert!(notes[0].bound.starts_with("rank ±"), "{}", notes[0].bound);
        let rank = sorted.partition_point(|number| (*number as f64) < value);
        assert!(rank.abs_diff(len / 2) < len / 20, "rank {rank} of {len}");
    }
}

/// A query nested far deeper than the stack would bear.
#[test]
fn depth_costs_no_stack() {
    let mut built = Built::default();
    let mut node = built.truth(&[1, 0, 1]);
    built.program.dag.variables = vec!["v".into()];
    let result = built.add(Node::Variable(0));
    for _ in 0..50_000 {
        node = built.add(Node::NextMap { body: node, result, parameter: 0 });
        node = built.add(Node::Both(Function::Second, node, node));
    }
    built.root(node);
    assert_eq!(built.values(3)[0].ok(), Ok(&Value::Null));
}
