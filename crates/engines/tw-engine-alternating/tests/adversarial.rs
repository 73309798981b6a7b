//! Formulas made to blow up, and very deep ones: an answer within the budget, or a clear refusal.

use tw_core::Bits;
use tw_engine_alternating::{BreadthFirst, DepthFirst, Reverse};
use tw_ir::{Node, NodeId, Path, Program, Root, RootKind, Semantics, Slot, Temporal, What};
use tw_monitor::{Answer, Engine, EvaluateOptions, Trace, Unsupported};
use tw_testkit::Rng;

/// A program over `atoms` propositions whose root is what `build` makes of them.
fn program(atoms: usize, build: impl FnOnce(&mut Program, &[NodeId]) -> NodeId) -> Program {
    let mut program = Program::default();
    let mut propositions = Vec::new();
    for atom in 0..atoms {
        let what = What::Proposition(Path::field(format!("p{atom}")));
        program.slots.push(Slot { what, declared: false, span: Default::default() });
        propositions.push(program.dag.add(Node::Truth(atom as u32)));
    }
    let node = build(&mut program, &propositions);
    let (name, span) = ("root".into(), Default::default());
    program.roots.push(Root {
        name,
        title: None,
        division: Default::default(),
        kind: RootKind::Property,
        node,
        span,
    });
    program.spans = vec![None; program.dag.len()];
    program
}

/// Each atom is true at one position in `times`; at the last, all are.
fn trace(program: &Program, len: usize, times: usize) -> Trace {
    let mut rng = Rng::new(len as u64);
    let column = |_| -> Bits { (0..len).map(|at| at + 1 == len || rng.one_in(times)).collect() };
    Trace { len, atoms: program.atoms().iter().map(column).collect(), ..Trace::default() }
}

fn answer(
    engine: &dyn Engine,
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
) -> Result<Vec<Answer>, Unsupported> {
    engine.plan(program, options)?.evaluate(trace, 3)
}

/// All engines agree; breadth-first may be out of budget only where `may_refuse`. Tells whether it was.
fn check(program: &Program, trace: &Trace, options: &EvaluateOptions, may_refuse: bool) -> bool {
    let expected = answer(&Reverse, program, trace, options).unwrap();
    assert_eq!(answer(&DepthFirst, program, trace, options).unwrap(), expected);
    match answer(&BreadthFirst, program, trace, options) {
        Ok(answers) => {
            assert_eq!(answers, expected);
            false
        }
        Err(refusal) => {
            assert!(may_refuse && refusal.exhausted && refusal.help.is_some(), "{refusal:?}");
            true
        }
    }
}

/// Folds from the left.
fn connect(
    program: &mut Program,
    parts: impl IntoIterator<Item = NodeId>,
    node: fn(NodeId, NodeId) -> Node,
) -> NodeId {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap();
    parts.fold(first, |left, right| program.dag.add(node(left, right)))
}

fn responses(count: usize) -> Program {
    program(2 * count, |program, p| {
        let mut all = Vec::new();
        for pair in p.chunks(2) {
            let finally = program.dag.add(Node::Unary(Temporal::Finally, None, pair[1]));
            let implies = program.dag.add(Node::Implies(pair[0], finally));
            all.push(program.dag.add(Node::Unary(Temporal::Globally, None, implies)));
        }
        connect(program, all, Node::And)
    })
}

/// Three choices each: 3^30 candidates as published, one slice once the position is known.
#[test]
fn thirty_responses() {
    let program = responses(30);
    let trace = trace(&program, 2000, 4);
    check(&program, &trace, &EvaluateOptions::default(), false);
    let faithful = EvaluateOptions { faithful: true, ..EvaluateOptions::default() };
    let refusal = answer(&BreadthFirst, &program, &trace, &faithful).unwrap_err();
    assert_eq!(refusal.what, "more than 10000 slices at a position");
}

#[test]
fn wide_disjunctions_of_eventualities() {
    let program = program(300, |program, p| {
        let each: Vec<NodeId> =
            p.iter().map(|&p| program.dag.add(Node::Unary(Temporal::Finally, None, p))).collect();
        connect(program, each, Node::Or)
    });
    let trace = trace(&program, 300, 100_000);
    check(&program, &trace, &EvaluateOptions::default(), false);
}

#[test]
fn nested_untils() {
    for always in [false, true] {
        let program = program(6, |program, p| {
            let mut nest = p[0];
            for level in 1..=30 {
                nest = program.dag.add(Node::Binary(Temporal::Until, None, p[level % 6], nest));
            }
            if always { program.dag.add(Node::Unary(Temporal::Globally, None, nest)) } else { nest }
        });
        for times in [2, 5] {
            check(&program, &trace(&program, 500, times), &EvaluateOptions::default(), true);
        }
    }
}

/// An odd number of eventualities: both polarities of all, in every combination.
#[test]
fn exclusive_or_of_eventualities() {
    for count in [4, 24] {
        let program = program(count, |program, p| {
            let each: Vec<NodeId> =
                p.iter().map(|&p| program.dag.add(Node::Unary(Temporal::Finally, None, p))).collect();
            connect(program, each, Node::Xor)
        });
        let refused = check(&program, &trace(&program, 50, 10), &EvaluateOptions::default(), count > 4);
        assert_eq!(refused, count > 4, "{count}");
    }
}

/// Nearly every position has a combination of its own of what is awaited: states come and go within any budget.
#[test]
fn states_are_forgotten() {
    let program = responses(30);
    let trace = trace(&program, 3000, 4);
    let options = EvaluateOptions::default();
    let few = EvaluateOptions { state_budget: 50, ..options.clone() };
    let small = EvaluateOptions { memory_budget: 100_000, ..options.clone() };
    let expected = answer(&Reverse, &program, &trace, &options).unwrap();
    for options in [few, small] {
        assert_eq!(answer(&BreadthFirst, &program, &trace, &options).unwrap(), expected);
        let mut monitor = BreadthFirst.monitor(&program, &options, tw_monitor::Telling::Positions).unwrap();
        let mut most = 0;
        for at in 0..trace.len {
            let bit = |row: u64, (atom, column): (usize, &Bits)| row | u64::from(column.get(at)) << atom;
            let row = trace.atoms.iter().enumerate().fold(0, bit);
            monitor.step(&[row], &mut tw_monitor::Sink::default()).unwrap();
            most = most.max(monitor.heap_bytes());
        }
        assert!(most < 200_000, "{most} bytes");
        let known = monitor.finish(&mut tw_monitor::Sink::default()).unwrap().unwrap();
        assert_eq!(known[0].truth(), Some(expected[0].holds.get(0)));
    }
}

#[test]
fn too_little_memory_is_refused() {
    let program = responses(30);
    let trace = trace(&program, 3000, 4);
    let tiny = EvaluateOptions { memory_budget: 1000, ..EvaluateOptions::default() };
    let refusal = answer(&BreadthFirst, &program, &trace, &tiny).unwrap_err();
    assert!(refusal.exhausted && refusal.what.contains("memory budget"), "{refusal:?}");
    assert!(answer(&DepthFirst, &program, &trace, &tiny).unwrap_err().exhausted);
    assert!(answer(&Reverse, &program, &trace, &tiny).is_ok());
}

/// Nothing recurses on the depth of a formula.
#[test]
fn a_hundred_thousand_deep() {
    type Wrap = fn(&mut Program, NodeId, NodeId) -> NodeId;
    let wraps: [(&str, Wrap); 6] = [
        ("X", |program, _, f| program.dag.add(Node::Unary(Temporal::Next, None, f))),
        ("F N", |program, _, f| {
            let next = program.dag.add(Node::Unary(Temporal::WeakNext, None, f));
            program.dag.add(Node::Unary(Temporal::Finally, None, next))
        }),
        ("!", |program, _, f| program.dag.add(Node::Not(f))),
        ("& |", |program, p, f| {
            let or = program.dag.add(Node::Or(p, f));
            program.dag.add(Node::And(or, p))
        }),
        ("Y", |program, _, f| program.dag.add(Node::Unary(Temporal::Previous, None, f))),
        ("S", |program, p, f| program.dag.add(Node::Binary(Temporal::Since, None, p, f))),
    ];
    for (name, wrap) in wraps {
        let program = program(2, |program, p| (0..100_000).fold(p[1], |f, _| wrap(program, p[0], f)));
        let trace = trace(&program, 3, 2);
        for semantics in [Semantics::Finite, Semantics::RepeatLast] {
            let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
            assert!(!check(&program, &trace, &options, false), "{name}");
        }
    }
}

/// Past and future in turn, two thousand times: as many walks, one column each, dropped when read.
#[test]
fn many_changes_of_direction() {
    let program = program(2, |program, p| {
        (0..2000).fold(p[0], |f, level| {
            let or = program.dag.add(Node::Or(f, p[1]));
            let node = if level % 2 == 0 {
                Node::Unary(Temporal::Previous, None, or)
            } else {
                Node::Unary(Temporal::Next, None, or)
            };
            program.dag.add(node)
        })
    });
    let trace = trace(&program, 100, 3);
    let options = EvaluateOptions { memory_budget: 1 << 20, ..EvaluateOptions::default() };
    let expected = answer(&Reverse, &program, &trace, &options).unwrap();
    assert_eq!(answer(&DepthFirst, &program, &trace, &options).unwrap(), expected);
    let refusal = answer(&BreadthFirst, &program, &trace, &options).unwrap_err();
    assert!(refusal.node.is_some() && !refusal.exhausted);
}
