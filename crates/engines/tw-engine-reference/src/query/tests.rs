//! Vectors computed by hand.

use super::statistic::statistic;
use super::*;
use tw_ir::{ArithmeticOp, CompareOp, Expect, Function, Path, Root, RootKind, Slot, What};

fn ints(values: &[i64]) -> Vec<Value> {
    values.iter().map(|value| Value::Int(*value)).collect()
}

fn reals(values: &[f64]) -> Vec<Value> {
    values.iter().map(|value| Value::Real(*value)).collect()
}

fn pair(a: Value, b: Value) -> Value {
    Value::List(vec![a, b])
}

/// The debug form tells 1 from 1.0 and 0.0 from -0.0.
#[track_caller]
fn check(aggregate: Aggregate, values: &[Value], expected: &str) {
    let found = match statistic(aggregate, &values.iter().collect::<Vec<_>>()) {
        Ok(value) => value.to_string(),
        Err(message) => format!("error: {message}"),
    };
    assert_eq!(found, expected, "{aggregate:?} of {values:?}");
}

#[test]
fn sums() {
    use Aggregate::{Avg, Count, Sum};
    check(Sum, &[], "null");
    check(Count, &[], "null");
    check(Sum, &ints(&[1, 2, 3]), "6");
    check(Count, &[Value::Bool(true), Value::text("a")], "2");
    check(Avg, &ints(&[1, 2]), "1.5");
    // Only the result must fit.
    check(Sum, &ints(&[i64::MAX, 1, -1]), "9223372036854775807");
    check(Sum, &ints(&[i64::MAX, 1]), "error: the sum 9223372036854775808 overflows a 64-bit integer");
    check(Avg, &ints(&[i64::MAX, i64::MAX]), "9.223372036854776e18");
    // Ten tenths: one rounding gives 1, adding one after the other 0.9999999999999999.
    check(Sum, &reals(&[0.1; 10]), "1.0");
    check(Sum, &reals(&[1e308, 1e308, -1e308]), "1e308");
    check(Sum, &reals(&[1e308, 1e308]), "null");
    check(Avg, &reals(&[1e308, 1e308]), "null");
    check(Sum, &reals(&[1e16, 1.0, -1e16]), "1.0");
    check(Sum, &reals(&[-0.0]), "0.0");
    check(Sum, &reals(&[5e-324, 5e-324]), "1e-323");
    // 2⁵³ + 1 + ½ is nearest to 2⁵³ + 2; the whole number enters exactly.
    check(Sum, &[Value::Int((1 << 53) + 1), Value::Real(0.5)], "9007199254740994.0");
    check(Sum, &[Value::Int(1), Value::Bool(true)], "error: a statistic of numbers meets a boolean");
}

#[test]
fn extremes() {
    use Aggregate::{First, Last, Max, Min};
    check(Min, &ints(&[3, -1, 2]), "-1");
    check(Max, &[Value::Int((1 << 53) + 1), Value::Real(9_007_199_254_740_992.0)], "9007199254740993");
    check(Min, &[Value::Real(1.0), Value::Int(1)], "1");
    check(Max, &[Value::Real(1.0), Value::Int(1)], "1");
    check(Min, &reals(&[0.0, -0.0]), "-0.0");
    check(Max, &reals(&[-0.0, 0.0]), "0.0");
    check(Max, &[Value::Real(0.0), Value::Int(0), Value::Real(-0.0)], "0");
    check(First, &[Value::text("a"), Value::Int(1)], "a");
    check(Last, &[Value::text("a"), Value::Int(1)], "1");
    check(Min, &[Value::text("a")], "error: a statistic of numbers meets text");
}

#[test]
fn spread() {
    use Aggregate::{Corr, Stddev, Var};
    check(Var, &ints(&[2, 4, 4, 4, 5, 5, 7, 9]), "4.0");
    check(Stddev, &ints(&[2, 4, 4, 4, 5, 5, 7, 9]), "2.0");
    check(Var, &ints(&[7]), "0.0");
    // Far from zero, where the difference of two rounded sums would be nothing or negative.
    check(Var, &reals(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]), "0.6666666666666666");
    check(Var, &reals(&[1e200, -1e200]), "null");
    let pairs = |pairs: &[(i64, i64)]| {
        pairs.iter().map(|(x, y)| pair(Value::Int(*x), Value::Int(*y))).collect::<Vec<_>>()
    };
    check(Corr, &pairs(&[(1, 2), (2, 4), (3, 6)]), "1.0");
    check(Corr, &pairs(&[(1, 6), (2, 4), (3, 2)]), "-1.0");
    check(Corr, &pairs(&[(1, 1), (2, 3), (3, 2)]), "0.5");
    check(Corr, &pairs(&[(1, 2), (1, 3)]), "null");
    check(Corr, &[pair(Value::Int(1), Value::Null)], "error: a statistic of numbers meets null");
    check(Corr, &[Value::Int(1)], "error: `corr` needs pairs of numbers, found an integer");
    // The sides vary too much for a real: no correlation, rather than 0.
    let far = [(1e200, 1.0), (-1e200, 2.0)].map(|(x, y)| pair(Value::Real(x), Value::Real(y)));
    check(Corr, &far, "null");
}

#[test]
fn order_statistics() {
    use Aggregate::{Median, Quantile};
    check(Median, &ints(&[3, 1, 2]), "2.0");
    check(Median, &ints(&[4, 1, 3, 2]), "2.5");
    check(Median, &reals(&[1.7e308, 1.5e308]), "1.6e308");
    check(Quantile(250_000_000), &ints(&[1, 2, 3, 4]), "1.75");
    check(Quantile(0), &ints(&[5, 3]), "3.0");
    check(Quantile(1_000_000_000), &ints(&[5, 3]), "5.0");
    check(Quantile(900_000_000), &ints(&[0, 10]), "9.0");
    check(Quantile(900_000_000), &reals(&[-1.7e308, 1.7e308]), "null");
    check(Quantile(0), &[Value::Int(0), Value::Real(-0.0)], "-0.0");
    check(Median, &reals(&[5e-324, 5e-324]), "5e-324");
}

#[test]
fn histograms() {
    use Aggregate::Histogram;
    check(Histogram(2), &ints(&[0, 1, 2, 3, 4]), "[[0.0, 2.0, 2], [2.0, 4.0, 3]]");
    check(Histogram(3), &ints(&[7, 7]), "[[7.0, 7.0, 2]]");
    check(Histogram(1), &reals(&[0.5, 1.5]), "[[0.5, 1.5, 2]]");
    check(Histogram(2), &reals(&[-1.7e308, 1.7e308]), "null");
}

#[test]
fn classes_of_equal_values() {
    use Aggregate::{Distinct, Mode};
    check(Mode, &ints(&[1, 2, 2, 3]), "2");
    check(Mode, &ints(&[3, 1, 3, 1]), "1");
    check(Mode, &[Value::Real(1.0), Value::Int(1), Value::Int(2)], "1");
    check(Mode, &[Value::text("b"), Value::Bool(true), Value::Int(7)], "true");
    check(Mode, &[Value::text("b"), Value::text("a")], "a");
    check(Distinct, &[Value::Int(1), Value::Real(1.0), Value::text("1")], "2");
    check(Distinct, &reals(&[0.0, -0.0]), "1");
    let half = pair(Value::Int(1), Value::Null);
    check(Distinct, &[half.clone(), half.clone(), pair(Value::Real(1.0), Value::Int(2))], "2");
    check(Mode, &[pair(Value::Int(1), Value::Int(2)), half.clone(), Value::List(vec![])], "[]");
    let object = |keys: [&str; 2]| Value::Object(keys.map(|key| (key.into(), Value::Int(1))).to_vec());
    check(Distinct, &[object(["a", "b"]), object(["b", "a"]), object(["a", "c"])], "2");
}

/// Experiments over one proposition `p` and one number `x`.
struct Build(Program);

impl Build {
    fn new() -> Self {
        let mut program = Program::default();
        let x = What::Variable(Path::field("x"), Expect::Any);
        for what in [What::Proposition(Path::field("p")), x] {
            program.slots.push(Slot { what, declared: false, span: Default::default() });
        }
        program.dag.variables.push("v".into());
        Build(program)
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.0.dag.add(node)
    }

    /// `p : x`
    fn emit(&mut self) -> NodeId {
        let (p, x) = (self.add(Node::Truth(0)), self.add(Node::Slot(1)));
        self.add(Node::Emit(p, x))
    }

    /// The values at every position, on segments that start where given.
    fn run(&mut self, node: NodeId, p: &str, x: Vec<Value>, starts: &[usize]) -> String {
        let (name, span) = (String::new(), Default::default());
        let kind = RootKind::Query;
        self.0.roots = vec![Root { name, title: None, division: Default::default(), kind, node, span }];
        let p: Bits = p.chars().map(|c| c == '1').collect();
        let trace = Trace {
            len: p.len(),
            slots: Some(vec![Column::Truth(p.clone()), Column::Any(x)]),
            segments: (starts.len() > 1).then(|| tw_monitor::Segments { starts: starts.to_vec() }),
            ..Trace::default()
        };
        let mut evaluator = ReferenceQueries.plan(&self.0, &EvaluateOptions::default()).unwrap();
        let truth = |id: &NodeId| match self.0.dag.node(*id) {
            Node::Bool(value) => Bits::repeat(value, trace.len),
            _ => p.clone(),
        };
        let guards: Vec<Bits> = evaluator.guards().iter().map(truth).collect();
        let columns = evaluator.columns(&trace, &guards, &[node]).unwrap();
        let values: Vec<String> = (0..trace.len)
            .map(|at| match columns[0].at(at) {
                Computed::Value(value) => value.to_string(),
                Computed::Error(_) => "error".into(),
            })
            .collect();
        let first = evaluator.values(&trace, &guards).unwrap();
        for (computed, start) in first[0].iter().zip(trace.starts()) {
            assert_eq!(*computed, columns[0].at(*start));
        }
        values.join(" ")
    }
}

#[test]
fn operators_at_every_position() {
    let mut f = Build::new();
    let emit = f.emit();
    let p = f.add(Node::Truth(0));
    let x = || ints(&[1, 2, 3, 4]);
    assert_eq!(f.run(emit, "1101", x(), &[0]), "1 2 null 4");
    assert_eq!(f.run(p, "1101", x(), &[0]), "true true null true");
    let (v, zero) = (f.add(Node::Variable(0)), f.0.dag.constant(Value::Int(0)));
    let one = f.0.dag.constant(Value::Int(1));
    let more = f.add(Node::Arithmetic(ArithmeticOp::Add, v, one));
    let next = f.add(Node::NextMap { body: emit, result: more, parameter: 0 });
    assert_eq!(f.run(next, "1101", x(), &[0]), "3 null 5 null");
    assert_eq!(f.run(next, "1111", x(), &[0, 2]), "3 null 5 null");
    let fails = f.add(Node::Fails(emit, zero));
    assert_eq!(f.run(fails, "1101", x(), &[0]), "null null 0 null");
    let default = f.add(Node::Default(emit, zero));
    assert_eq!(f.run(default, "1101", x(), &[0]), "1 2 0 4");
    let pair = f.add(Node::Tuple(fails, emit));
    let until = f.add(Node::UntilMap { pair, result: v, parameter: 0 });
    assert_eq!(f.run(until, "0010", x(), &[0]), "3 3 3 null");
    let pair = f.add(Node::Tuple(p, fails));
    let until = f.add(Node::UntilMap { pair, result: more, parameter: 0 });
    assert_eq!(f.run(until, "1101", x(), &[0]), "1 1 1 null");
    let sum = f.add(Node::Collect(Aggregate::Sum, emit));
    assert_eq!(f.run(sum, "1101", x(), &[0]), "7 6 4 4");
    assert_eq!(f.run(sum, "1101", x(), &[0, 1, 3]), "1 2 null 4");
    let during = f.add(Node::CollectWhile(Aggregate::Sum, default, p));
    assert_eq!(f.run(during, "1101", x(), &[0]), "3 2 null 4");
    let max = f.add(Node::Collect(Aggregate::Max, during));
    assert_eq!(f.run(max, "1101", ints(&[-5, 2, 3, 1]), &[0]), "2 2 1 1");
}

#[test]
fn missing_sides() {
    let mut f = Build::new();
    let emit = f.emit();
    let zero = f.0.dag.constant(Value::Int(0));
    let other = f.add(Node::Default(emit, zero));
    let x = || vec![Value::Int(2), Value::Int(3), Value::Null];
    for (function, both, either) in [
        (Function::True, "true null null", "true true true"),
        (Function::Pair, "[2, 2] null null", "[2, 2] [null, 0] [null, 0]"),
        (Function::First, "2 null null", "2 0 0"),
        (Function::Second, "2 null null", "2 0 0"),
        (Function::Arithmetic(ArithmeticOp::Add), "4 null null", "4 0 0"),
        (Function::Arithmetic(ArithmeticOp::Div), "1.0 null null", "1.0 0 0"),
    ] {
        let node = f.add(Node::Both(function, emit, other));
        assert_eq!(f.run(node, "101", x(), &[0]), both, "{function:?}");
        let node = f.add(Node::Either(function, emit, other));
        assert_eq!(f.run(node, "101", x(), &[0]), either, "{function:?}");
    }
}

/// An error counts where its value is needed, and nowhere else.
#[test]
fn errors_by_need() {
    let mut f = Build::new();
    let (p, x) = (f.add(Node::Truth(0)), f.add(Node::Slot(1)));
    let (one, always) = (f.0.dag.constant(Value::Int(1)), f.add(Node::Bool(true)));
    let more = f.add(Node::Arithmetic(ArithmeticOp::Add, x, one));
    let guarded = f.add(Node::Emit(p, more));
    let x = || vec![Value::Int(1), Value::Int(i64::MAX), Value::Int(5), Value::text("a")];
    assert_eq!(f.run(guarded, "1010", x(), &[0]), "2 null 6 null");
    assert_eq!(f.run(guarded, "1111", x(), &[0]), "2 error 6 error");
    let last = f.add(Node::Collect(Aggregate::Last, guarded));
    assert_eq!(f.run(last, "1110", x(), &[0]), "error error 6 null");
    // The stretch ends before the error.
    let stretch = f.add(Node::CollectWhile(Aggregate::Count, guarded, p));
    assert_eq!(f.run(stretch, "1011", x(), &[0]), "1 null error error");
    // Where it ends is itself an error.
    let unknown = f.add(Node::CollectWhile(Aggregate::Count, always, guarded));
    assert_eq!(f.run(unknown, "1110", x(), &[0]), "error error 1 null");
    // The first value of the right side is there before the error is.
    let v = f.add(Node::Variable(0));
    let pair = f.add(Node::Tuple(always, guarded));
    let until = f.add(Node::UntilMap { pair, result: v, parameter: 0 });
    assert_eq!(f.run(until, "1111", x(), &[0]), "2 error 6 error");
    let default = f.add(Node::Default(guarded, one));
    assert_eq!(f.run(default, "0111", x(), &[0]), "1 error 6 error");
}

#[test]
fn refusals_name_their_reason() {
    let mut f = Build::new();
    let (emit, x) = (f.emit(), f.add(Node::Slot(1)));
    let zero = f.0.dag.constant(Value::Int(0));
    let positive = f.add(Node::Compare(CompareOp::Gt, x, zero));
    let result = f.add(Node::IfThenElse(positive, x, zero));
    let next = f.add(Node::NextMap { body: emit, result, parameter: 0 });
    let bins = f.add(Node::Collect(Aggregate::Histogram(u32::MAX), emit));
    assert_eq!(f.run(emit, "11", ints(&[7, 8]), &[0]), "7 8");
    let plan = |f: &Build, options: &EvaluateOptions| {
        ReferenceQueries.plan(&f.0, options).map(|_| ()).unwrap_err().what
    };
    f.0.roots[0].node = next;
    let options = EvaluateOptions::default();
    assert!(plan(&f, &options).contains("a name of the trace in a function"));
    let ltl3 = EvaluateOptions { semantics: Semantics::Ltl3, ..options.clone() };
    assert!(plan(&f, &ltl3).contains("ltl3"));
    let trace = |len: usize| Trace {
        len,
        slots: Some(vec![Column::Truth(Bits::repeat(true, len)), Column::Any(vec![Value::Int(1); len])]),
        ..Trace::default()
    };
    // So many bins are refused before they are made.
    f.0.roots[0].node = bins;
    let refusal = ReferenceQueries.plan(&f.0, &options).unwrap().values(&trace(2), &[Bits::repeat(true, 2)]);
    assert!(refusal.unwrap_err().exhausted);
    f.0.roots[0].node = emit;
    let mut small = ReferenceQueries.plan(&f.0, &EvaluateOptions { memory_budget: 1000, ..options }).unwrap();
    assert!(small.values(&trace(5), &[Bits::repeat(true, 5)]).is_ok());
    let refusal = small.values(&trace(100), &[Bits::repeat(true, 100)]).unwrap_err();
    assert!(refusal.exhausted && refusal.what.contains("memory budget"), "{}", refusal.what);
    let without = small.values(&Trace { slots: None, ..trace(5) }, &[Bits::repeat(true, 5)]).unwrap_err();
    assert!(without.what.contains("values of its names"));
}
