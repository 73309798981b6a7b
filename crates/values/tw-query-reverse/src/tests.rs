//! Worked examples, simulated programs, and errors that nobody needs.

use super::*;
use tw_core::{Batch, Column};
use tw_ir::{Expect, What};
use tw_monitor::{Predicates, Segments, Terms};
use tw_testkit::protocols::{alternating_bit, semaphore};
use tw_testkit::texts::queries as lowered;

/// A trace by rows: the names of its columns, then the values of each position.
struct Rows<'a>(&'a [&'a str], Vec<Vec<Value>>);

fn ints<const N: usize>(rows: &[[i64; N]]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| row.iter().map(|&int| Value::Int(int)).collect()).collect()
}

impl Rows<'_> {
    fn trace(&self, program: &Program) -> Trace {
        let column = |slot: &tw_ir::Slot| {
            let (name, truth) = match &slot.what {
                What::Variable(path, Expect::Bool) => (path.to_string(), true),
                What::Variable(path, _) => (path.to_string(), false),
                What::Proposition(path) => (path.to_string(), true),
                other => panic!("{other:?}"),
            };
            let at = self.0.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name}"));
            let values = self.1.iter().map(|row| row[at].clone());
            match truth {
                true => Column::Truth(
                    values.map(|value| matches!(value, Value::Int(1) | Value::Bool(true))).collect(),
                ),
                false => Column::Any(values.collect()),
            }
        };
        let batch =
            Batch { len: self.1.len(), slots: program.slots.iter().map(column).collect(), times: None };
        Trace {
            len: self.1.len(),
            atoms: Predicates::new(program).evaluate(&batch).unwrap(),
            terms: Terms::new(program).evaluate(&batch),
            ..Trace::default()
        }
    }

    /// The value of a query at the first position.
    fn value(&self, query: &str) -> Computed {
        let program = lowered(&[query]);
        let mut plan = Reverse.plan(&program, &EvaluateOptions::default()).unwrap();
        plan.values(&self.trace(&program), &[]).unwrap().remove(0).remove(0)
    }

    /// Its value at every position.
    fn column(&self, query: &str) -> Vec<Computed> {
        let program = lowered(&[query]);
        let mut plan = Reverse.plan(&program, &EvaluateOptions::default()).unwrap();
        let column = plan.columns(&self.trace(&program), &[], &[program.roots[0].node]).unwrap().remove(0);
        (0..self.1.len()).map(|at| column.at(at)).collect()
    }

    fn check(&self, query: &str, expected: Value) {
        let expected = Computed::Value(expected);
        assert_eq!(self.value(query), expected, "{query}");
        assert_eq!(self.column(query)[0], expected, "{query}");
    }

    fn fails(&self, query: &str) {
        assert!(matches!(self.value(query), Computed::Error(_)), "{query}: {:?}", self.value(query));
    }
}

fn int(int: i64) -> Value {
    Value::Int(int)
}

#[test]
fn experiments() {
    let rows = Rows(&["x", "y"], ints(&[[1, 1], [1, 2], [1, 3], [2, 3], [5, 3], [4, 3]]));
    rows.check("x < y : x", Value::Null);
    rows.check("x <= y : (x, y)", Value::List(vec![int(1), int(1)]));
    rows.check("(x <= y : x) &{+} (x <= y U{v => v} (y = x + 2 : y))", int(4));
}

#[test]
fn aggregates() {
    let states = [[1, 1, 2], [1, 2, 2], [1, 3, 1], [2, 3, 1], [5, 3, 1], [5, 3, 2]];
    let rows = Rows(&["x", "y", "z"], ints(&states));
    rows.check("count[x = y]", int(1));
    rows.check("min[true : x + y]", int(2));
    rows.check("avg[true : x + y]", Value::Real(5.0));
    rows.check("max[sum[true : x while z = 2]]", int(5));
    let sums = rows.column("sum[true : x while z = 2]");
    let expected = [int(2), int(1), Value::Null, Value::Null, Value::Null, int(5)];
    assert_eq!(sums, expected.map(Computed::Value));
    rows.check("median[true : x]", Value::Real(1.5));
    rows.check("corr[true : x, true : 2 * x]", Value::Real(1.0));
    rows.check("(count[x = 7] ?? 0) + 1", int(1));
    rows.check("X{v => v * 10} (true : y)", int(20));
    rows.check("!{7} (x > 1 : x)", int(7));
}

/// Figures 3 and 4, on a trace of our own.
#[test]
fn during() {
    let states =
        [[1, 0, 4, 6], [1, 1, 2, 3], [1, 1, 5, 1], [1, 0, 0, 0], [1, 1, 3, 4], [0, 1, 2, 0], [1, 1, 1, 2]];
    let rows = Rows(&["p", "q", "x", "y"], ints(&states));
    let expected = [1, 1, 1, 4, 4].map(int).into_iter().chain([Value::Null, int(2)]);
    assert_eq!(rows.column("min[q : y while p]"), expected.map(Computed::Value).collect::<Vec<_>>());
}

/// MUX-SEM: two processes at locations l and m, and a semaphore r.
fn mux(len: usize, seed: u64) -> Rows<'static> {
    let states = semaphore(len, seed).into_iter().map(|(l, m, r)| [l.into(), m.into(), r]);
    Rows(&["l", "m", "r"], ints(&states.collect::<Vec<_>>()))
}

#[test]
fn semaphores() {
    let table = [
        (20, 1, 3, 1, 1),
        (100, 1, 13, 11, 2),
        (1_000, 1, 126, 123, 4),
        (1_000, 42, 130, 119, 2),
        (100_000, 1, 12_490, 12_509, 6),
    ];
    for (len, seed, left, right, overtaking) in table {
        let rows = mux(len, seed);
        rows.check("max[true : r]", int(1));
        rows.check("max[(l = 3 : 1) |{+} (m = 3 : 1)]", int(1));
        rows.check("count[l = 3 & X l != 3]", int(left));
        rows.check("count[m = 3 & X m != 3]", int(right));
        let bias = "count[l = 3 & X l != 3] / count[m = 3 & X m != 3]";
        rows.check(bias, Value::Real(left as f64 / right as f64));
        rows.check("max[count[m != 3 & X m = 3 while l = 2]]", int(overtaking));
    }
}

/// ABP: a sender at l and a receiver at m, over channels that lose messages.
fn abp(len: usize, loss: u64) -> Rows<'static> {
    let states = alternating_bit(len, loss, 1).into_iter().map(|(l, m)| [l.into(), m.into()]);
    Rows(&["l", "m"], ints(&states.collect::<Vec<_>>()))
}

#[test]
fn alternating_bits() {
    let table = [
        (100, 20, 8, (11, 9), 3, 1.375),
        (1_000, 0, 110, (111, 111), 1, 1.0),
        (1_000, 20, 66, (113, 83), 4, 1.6865671641791045),
        (1_000, 50, 26, (113, 58), 21, 4.185185185185185),
        (100_000, 20, 7131, (11276, 9008), 9, 1.581043185642176),
    ];
    for (len, loss, throughput, (sent, received), most, average) in table {
        let rows = abp(len, loss);
        rows.check("count[l = 6 & X l != 6]", int(throughput));
        let pair = "count[l = 1 & X l != 1] &{pair} count[m = 1 & X m != 1]";
        rows.check(pair, Value::List(vec![int(sent), int(received)]));
        rows.check("max[count[l = 1 & X l != 1 while l in {1..5, 7}]]", int(most));
        let query = "avg[l in {0, 6} &{second} X count[l = 1 & X l != 1 while l in {1..5, 7}]]";
        rows.check(query, Value::Real(average));
    }
}

/// An error is one for those who need it.
#[test]
fn errors_by_need() {
    let rows = Rows(&["x", "p"], ints(&[[1, 0], [2, 1], [i64::MAX, 1], [3, 0], [4, 1]]));
    rows.fails("max[true : x + 1]");
    rows.check("max[p & x < 9 : x + 1]", int(5));
    rows.check("x < 3 U (x = 2 : x + 1)", int(3));
    rows.check("(x < 3 : x) U{v => v + 1} (x = 3 : x)", Value::Null);
    rows.fails("x < 9 U (x > 2 : x + 1)");
    rows.fails("(true : x + 1) U (x = 4 : x)");
    rows.check("(true : x + 1) U (x = 2 : x)", int(2));
    rows.check("sum[true : x + 1 while x < 3]", int(5));
    rows.check("sum[true : x while (x < 3 : x + 1)]", int(3));
    rows.fails("sum[true : x while (true : x + 1)]");
    rows.fails("sum[true : x]");
    rows.fails("sum[true : x] |{first} count[p]");
    rows.fails("(true : 1) &{first} sum[true : x]");
    rows.fails("(false : 1) &{first} sum[true : x]");
    // The total fits again where the greatest is left out.
    assert_eq!(rows.column("sum[true : x]")[3], Computed::Value(int(7)));
}

#[test]
fn sums_may_overflow_on_the_way() {
    let rows = Rows(&["x"], ints(&[[-5], [i64::MAX], [5]]));
    rows.check("sum[true : x]", int(i64::MAX));
    let column = rows.column("sum[true : x]");
    assert!(matches!(column[1], Computed::Error(_)));
    assert_eq!(column[2], Computed::Value(int(5)));
}

#[test]
fn many_segments() {
    let len = 500;
    let rows = Rows(&["x"], (0..len).map(|at| vec![int(at)]).collect());
    let program = lowered(&["sum[true : x]", "X{v => v} (true : x)", "count[X true]"]);
    for every in [1, 2, 63, 64, 65, 200] {
        let mut trace = rows.trace(&program);
        let starts: Vec<usize> = (0..len as usize).step_by(every).collect();
        trace.segments = Some(Segments { starts: starts.clone() });
        let values =
            Reverse.plan(&program, &EvaluateOptions::default()).unwrap().values(&trace, &[]).unwrap();
        for (segment, &start) in starts.iter().enumerate() {
            let end = (start + every).min(len as usize);
            let (sum, alone) = ((start..end).sum::<usize>() as i64, end == start + 1);
            let expected = match alone {
                true => [int(sum), Value::Null, Value::Null],
                false => [int(sum), int(start as i64 + 1), int((end - start) as i64 - 1)],
            };
            let found = [0, 1, 2].map(|root| values[root][segment].ok().unwrap().clone());
            assert_eq!(found, expected, "{every} {segment}");
        }
    }
}

#[test]
fn small_budgets_end_in_a_refusal_or_a_note() {
    let mut nested = lowered(&["last[true : x]"]);
    // Pairs of pairs, forty deep: a value of more parts than any memory has.
    let mut node = nested.roots[0].node;
    for _ in 0..40 {
        node = nested.dag.add(tw_ir::Node::Both(tw_ir::Function::Pair, node, node));
    }
    nested.roots[0].node = node;
    let refusal = Reverse.plan(&nested, &EvaluateOptions::default()).err().unwrap();
    assert!(refusal.exhausted, "{refusal:?}");

    let len = 100_000;
    let rows = Rows(&["x"], (0..len).map(|at| vec![int(at * 7919 % 100_003)]).collect());
    let program = lowered(&["median[true : x]", "distinct[true : x]", "sum[true : x]"]);
    let trace = rows.trace(&program);
    let exact = EvaluateOptions::default();
    let mut plan = Reverse.plan(&program, &exact).unwrap();
    plan.values(&trace, &[]).unwrap();
    assert_eq!(plan.notes(), []);
    let small = EvaluateOptions { memory_budget: 300_000, ..exact };
    let mut plan = Reverse.plan(&program, &small).unwrap();
    plan.values(&trace, &[]).unwrap();
    let notes = plan.notes();
    assert_eq!(
        notes.iter().map(|note| note.node).collect::<Vec<_>>(),
        [program.roots[0].node, program.roots[1].node]
    );
    assert!(notes[0].bound.contains("KLL"), "{notes:?}");
    let columns = plan.columns(&trace, &[], &[program.roots[2].node]);
    assert!(columns.is_err_and(|refusal| refusal.exhausted));
}

#[test]
fn empty_traces_have_no_values() {
    let program = lowered(&["count[p]"]);
    let trace = Trace { atoms: vec![Bits::new()], ..Trace::default() };
    let values = Reverse.plan(&program, &EvaluateOptions::default()).unwrap().values(&trace, &[]).unwrap();
    assert_eq!(values, [[]]);
}

/// A hundred thousand operators deep: no recursion.
#[test]
fn deep_queries() {
    let mut program = lowered(&["true : x", "count[p]"]);
    let mut node = program.roots[0].node;
    for _ in 0..50_000 {
        node = program.dag.add(tw_ir::Node::Both(tw_ir::Function::First, node, program.roots[0].node));
        node = program.dag.add(tw_ir::Node::Collect(tw_ir::Aggregate::Max, node));
    }
    program.roots[0].node = node;
    let rows = Rows(&["x", "p"], ints(&[[1, 0], [3, 1], [2, 0]]));
    let mut plan = Reverse.plan(&program, &EvaluateOptions::default()).unwrap();
    let values = plan.values(&rows.trace(&program), &[]).unwrap();
    assert_eq!(values, [[Computed::Value(int(3))], [Computed::Value(int(1))]]);
}
