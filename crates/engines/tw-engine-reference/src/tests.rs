use super::*;
use tw_core::{TimeUnit, Value};
use tw_ir::{Bound, CompareOp, Expect, Path, Root, RootKind, Slot, Temporal, What};

/// Formulas over the propositions a, b, c, p, r.
struct Build(Program);

impl Build {
    fn new() -> Self {
        let mut program = Program::default();
        for name in ["a", "b", "c", "p", "r"] {
            let what = What::Proposition(Path::field(name));
            program.slots.push(Slot { what, declared: false, span: Default::default() });
        }
        Build(program)
    }

    fn p(&mut self, name: char) -> NodeId {
        let slot = "abcpr".find(name).unwrap() as u32;
        self.add(Node::Truth(slot))
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.0.dag.add(node)
    }

    /// Truth at every position. Each state is the string of its propositions.
    fn run(
        &mut self,
        node: NodeId,
        states: &[&str],
        options: &EvaluateOptions,
        times: Option<&[i64]>,
    ) -> String {
        let root = Root {
            name: String::new(),
            title: None,
            division: Default::default(),
            kind: RootKind::Property,
            node,
            span: Default::default(),
        };
        self.0.roots = vec![root];
        let slots =
            "abcpr".chars().map(|name| Column::Truth(states.iter().map(|s| s.contains(name)).collect()));
        let trace = Trace {
            len: states.len(),
            slots: Some(slots.collect()),
            times: times.map(<[i64]>::to_vec),
            ..Trace::default()
        };
        let mut evaluator = Reference.plan(&self.0, options).unwrap();
        let column = &evaluator.columns(&trace, &[node]).unwrap()[0];
        (0..states.len()).map(|i| if column.get(i) { 'T' } else { 'F' }).collect()
    }
}

fn finite() -> EvaluateOptions {
    EvaluateOptions { clock: Clock::Index, ..EvaluateOptions::default() }
}

/// Vectors of "Checking finite traces with alternating automata", where its text is right.
#[test]
fn vectors_of_the_paper() {
    // G(!a -> (!b U c))
    let mut f = Build::new();
    let (a, b, c) = (f.p('a'), f.p('b'), f.p('c'));
    let (na, nb) = (f.add(Node::Not(a)), f.add(Node::Not(b)));
    let until = f.add(Node::Binary(Temporal::Until, None, nb, c));
    let implies = f.add(Node::Implies(na, until));
    let always = f.add(Node::Unary(Temporal::Globally, None, implies));
    let states = ["ab", "", "a", "bc", "a"];
    assert_eq!(f.run(until, &states, &finite(), None), "FTTTF");
    assert_eq!(f.run(always, &states, &finite(), None), "TTTTT");
    // G(p -> O r)
    let mut f = Build::new();
    let (p, r) = (f.p('p'), f.p('r'));
    let once = f.add(Node::Unary(Temporal::Once, None, r));
    let implies = f.add(Node::Implies(p, once));
    let always = f.add(Node::Unary(Temporal::Globally, None, implies));
    assert_eq!(f.run(once, &["", "r", "p", "p", "pr"], &finite(), None), "FTTTT");
    assert_eq!(f.run(always, &["", "r", "p", "p", "pr"], &finite(), None), "TTTTT");
}

/// `(operator over a and b, its truth on the states, the same with repeat-last)`.
#[test]
fn every_operator_on_a_small_trace() {
    type Make = fn(NodeId, NodeId) -> Node;
    let states = ["a", "ab", "b", "", "a"];
    let table: [(&str, Make, &str, &str); 17] = [
        ("X", |a, _| Node::Unary(Temporal::Next, None, a), "TFFTF", "TFFTT"),
        ("N", |a, _| Node::Unary(Temporal::WeakNext, None, a), "TFFTT", "TFFTT"),
        ("F", |_, b| Node::Unary(Temporal::Finally, None, b), "TTTFF", "TTTFF"),
        ("G", |a, _| Node::Unary(Temporal::Globally, None, a), "FFFFT", "FFFFT"),
        ("U", |a, b| Node::Binary(Temporal::Until, None, a, b), "TTTFF", "TTTFF"),
        ("W", |a, b| Node::Binary(Temporal::WeakUntil, None, a, b), "TTTFT", "TTTFT"),
        ("R", |a, b| Node::Binary(Temporal::Release, None, a, b), "FTFFF", "FTFFF"),
        ("R'", |a, b| Node::Binary(Temporal::Release, None, b, a), "TTFFT", "TTFFT"),
        ("M", |a, b| Node::Binary(Temporal::StrongRelease, None, b, a), "TTFFF", "TTFFF"),
        ("Y", |a, _| Node::Unary(Temporal::Previous, None, a), "FTTFF", "FTTFF"),
        ("Z", |a, _| Node::Unary(Temporal::WeakPrevious, None, a), "TTTFF", "TTTFF"),
        ("O", |_, b| Node::Unary(Temporal::Once, None, b), "FTTTT", "FTTTT"),
        ("H", |a, _| Node::Unary(Temporal::Historically, None, a), "TTFFF", "TTFFF"),
        ("S", |a, b| Node::Binary(Temporal::Since, None, b, a), "TTTFT", "TTTFT"),
        ("B", |a, b| Node::Binary(Temporal::BackTo, None, a, b), "TTTFF", "TTTFF"),
        ("T", |a, b| Node::Binary(Temporal::Trigger, None, a, b), "FTTFF", "FTTFF"),
        ("last", |_, _| Node::Last, "FFFFT", "FFFFT"),
    ];
    for (name, make, expected, repeated) in table {
        let mut f = Build::new();
        let (a, b) = (f.p('a'), f.p('b'));
        let node = f.add(make(a, b));
        assert_eq!(f.run(node, &states, &finite(), None), expected, "{name}");
        let repeat = EvaluateOptions { semantics: Semantics::RepeatLast, ..finite() };
        assert_eq!(f.run(node, &states, &repeat, None), repeated, "{name} with repeat-last");
    }
}

fn interval(low: i64, high: Option<i64>) -> Option<Interval> {
    let bound = |n: i64| Bound { billionths: i128::from(n) * 1_000_000_000, unit: None, open: false };
    Some(Interval { low: bound(low), high: high.map(bound) })
}

#[test]
fn intervals_on_timestamps_and_positions() {
    let stamps =
        EvaluateOptions { unit: TimeUnit::Nanoseconds, clock: Clock::Stamps, ..EvaluateOptions::default() };
    let times = [0, 1, 1, 4, 9];
    let states = ["a", "", "b", "a", "b"];
    type Make = fn(NodeId, NodeId) -> Node;
    // (operator, on timestamps, on positions)
    let table: [(&str, Make, &str, &str); 8] = [
        ("F[1,3] b", |_, b| Node::Unary(Temporal::Finally, interval(1, Some(3)), b), "TFFFF", "TTTTF"),
        ("G[1,3] a", |a, _| Node::Unary(Temporal::Globally, interval(1, Some(3)), a), "FTTTT", "FFFFT"),
        ("X[1,2] a", |a, _| Node::Unary(Temporal::Next, interval(1, Some(2)), a), "FFFFF", "FFTFF"),
        ("N[1,2] a", |a, _| Node::Unary(Temporal::WeakNext, interval(1, Some(2)), a), "FTTTT", "FFTFT"),
        ("O[2,inf) a", |a, _| Node::Unary(Temporal::Once, interval(2, None), a), "FFFTT", "FFTTT"),
        ("a S[0,1] b", |a, b| Node::Binary(Temporal::Since, interval(0, Some(1)), a, b), "FFTFT", "FFTTT"),
        ("a U[1,5] b", |a, b| Node::Binary(Temporal::Until, interval(1, Some(5)), a, b), "FFFTF", "FFFTF"),
        ("a R[0,2] b", |a, b| Node::Binary(Temporal::Release, interval(0, Some(2)), a, b), "FFTFT", "FFFFT"),
    ];
    for (name, make, on_stamps, on_positions) in table {
        let mut f = Build::new();
        let (a, b) = (f.p('a'), f.p('b'));
        let node = f.add(make(a, b));
        assert_eq!(f.run(node, &states, &stamps, Some(&times)), on_stamps, "{name} on timestamps");
        assert_eq!(f.run(node, &states, &finite(), None), on_positions, "{name} on positions");
    }
}

#[test]
fn segments_and_violations() {
    let mut f = Build::new();
    let a = f.p('a');
    let next = f.add(Node::Unary(Temporal::Next, None, a));
    let previous = f.add(Node::Unary(Temporal::Previous, None, a));
    let always = f.add(Node::Unary(Temporal::Globally, None, a));
    let root = |node| Root {
        name: String::new(),
        title: None,
        division: Default::default(),
        kind: RootKind::Property,
        node,
        span: Default::default(),
    };
    f.0.roots = vec![root(always), root(next)];
    let trace = Trace {
        len: 5,
        atoms: vec![[true, true, false, true, false].into_iter().collect()],
        segments: Some(tw_monitor::Segments { starts: vec![0, 2, 3] }),
        ..Trace::default()
    };
    let mut evaluator = Reference.plan(&f.0, &finite()).unwrap();
    let answers = evaluator.evaluate(&trace, 1).unwrap();
    assert_eq!(answers[0].holds, [true, false, false].into_iter().collect());
    assert_eq!((answers[0].violations.as_slice(), answers[0].violation_count), ([2].as_slice(), 2));
    assert_eq!(answers[1].holds, [true, false, false].into_iter().collect());
    assert!(answers[1].violations.is_empty());
    let columns = evaluator.columns(&trace, &[next, previous]).unwrap();
    assert_eq!(columns[0], [true, false, false, false, false].into_iter().collect());
    assert_eq!(columns[1], [false, true, false, false, true].into_iter().collect());
}

#[test]
fn refusals_name_the_node() {
    let mut f = Build::new();
    let a = f.p('a');
    f.0.dag.variables.push("x".into());
    let (x, one) = (f.add(Node::Variable(0)), f.0.dag.constant(Value::Int(1)));
    let sum = f.add(Node::Arithmetic(tw_ir::ArithmeticOp::Add, x, one));
    let compare = f.add(Node::Compare(CompareOp::Eq, sum, one));
    let node = f.add(Node::Forall(0, compare));
    f.run_plan(node, &finite(), Some(sum), "arithmetic on quantified variables");
    let metric = f.add(Node::Unary(Temporal::Finally, interval(0, Some(1)), a));
    f.run_plan(metric, &EvaluateOptions { clock: Clock::Dense, ..finite() }, None, "continuous time");
    f.run_plan(a, &EvaluateOptions { semantics: Semantics::Ltl3, ..finite() }, None, "ltl3");
}

impl Build {
    fn run_plan(&mut self, node: NodeId, options: &EvaluateOptions, blamed: Option<NodeId>, what: &str) {
        let root = Root {
            name: String::new(),
            title: None,
            division: Default::default(),
            kind: RootKind::Property,
            node,
            span: Default::default(),
        };
        self.0.roots = vec![root];
        let Err(refusal) = Reference.plan(&self.0, options) else { panic!("{what} was accepted") };
        assert_eq!(refusal.node, blamed);
        assert!(refusal.what.contains(what), "{}", refusal.what);
    }
}

/// A term may look at other positions through `if`, and an overflow counts only where its branch is taken.
#[test]
fn terms_over_temporal_formulas() {
    let mut f = Build::new();
    f.0.slots[1].what = What::Variable(Path::field("b"), Expect::Number);
    let (last, x) = (f.add(Node::Last), f.add(Node::Slot(1)));
    let one = f.0.dag.constant(Value::Int(1));
    let sum = f.add(Node::Arithmetic(tw_ir::ArithmeticOp::Add, x, one));
    let term = f.add(Node::IfThenElse(last, x, sum));
    let node = f.add(Node::Compare(CompareOp::Gt, term, one));
    f.0.roots = vec![Root {
        name: String::new(),
        title: None,
        division: Default::default(),
        kind: RootKind::Property,
        node,
        span: Default::default(),
    }];
    let trace = |values: Vec<i64>| Trace {
        len: values.len(),
        slots: Some(vec![
            Column::Truth(Bits::repeat(false, values.len())),
            Column::Int { valid: Bits::repeat(true, values.len()), values },
        ]),
        ..Trace::default()
    };
    let mut evaluator = Reference.plan(&f.0, &finite()).unwrap();
    let column = &evaluator.columns(&trace(vec![0, 1, i64::MAX]), &[node]).unwrap()[0];
    assert_eq!(*column, [false, true, true].into_iter().collect());
    let refusal = evaluator.columns(&trace(vec![0, i64::MAX, 1]), &[node]).unwrap_err();
    assert!(refusal.what.contains("position 1") && refusal.what.contains("overflows"), "{}", refusal.what);
}
