//! The engine against the definitions, position by position.

use crate::{Columnar, Planned, kernels};
use tw_core::Bits;
use tw_ir::{Bound, Interval, Node, NodeId, Program, Root, Semantics, Temporal};
use tw_monitor::{Answer, Engine, EvaluateOptions, Evaluator, Segments, Trace};
use tw_testkit::Rng;

/// The truth of every node within one segment, straight from the definitions. `atoms[node]` is given.
fn truth(program: &Program, atoms: &[Option<Vec<bool>>], len: usize, repeat: bool) -> Vec<Vec<bool>> {
    let mut table: Vec<Vec<bool>> = Vec::new();
    for (index, &node) in program.dag.nodes().iter().enumerate() {
        let column = (0..len).map(|j| {
            let at = |id: NodeId, position: usize| table[id.index()][position];
            let after = j..len;
            let before = 0..=j;
            // g somewhere ahead (behind), f all the way to it.
            let until = |f: NodeId, g: NodeId| after.clone().any(|k| at(g, k) && (j..k).all(|i| at(f, i)));
            let since =
                |f: NodeId, g: NodeId| before.clone().any(|k| at(g, k) && (k + 1..=j).all(|i| at(f, i)));
            match node {
                Node::Truth(_) => atoms[index].as_ref().is_some_and(|atom| atom[j]),
                Node::Bool(value) => value,
                Node::First => j == 0,
                Node::Last => j + 1 == len,
                Node::Not(a) => !at(a, j),
                Node::And(a, b) => at(a, j) && at(b, j),
                Node::Or(a, b) => at(a, j) || at(b, j),
                Node::Xor(a, b) => at(a, j) != at(b, j),
                Node::Implies(a, b) => !at(a, j) || at(b, j),
                Node::Iff(a, b) => at(a, j) == at(b, j),
                Node::Unary(Temporal::Next, _, a) | Node::Unary(Temporal::WeakNext, _, a)
                    if repeat && j + 1 == len =>
                {
                    at(a, j)
                }
                Node::Unary(Temporal::Next, _, a) => j + 1 < len && at(a, j + 1),
                Node::Unary(Temporal::WeakNext, _, a) => j + 1 == len || at(a, j + 1),
                Node::Unary(Temporal::Previous, _, a) => j > 0 && at(a, j - 1),
                Node::Unary(Temporal::WeakPrevious, _, a) => j == 0 || at(a, j - 1),
                Node::Unary(Temporal::Finally, _, a) => after.clone().any(|i| at(a, i)),
                Node::Unary(Temporal::Globally, _, a) => after.clone().all(|i| at(a, i)),
                Node::Unary(Temporal::Once, _, a) => before.clone().any(|i| at(a, i)),
                Node::Unary(Temporal::Historically, _, a) => before.clone().all(|i| at(a, i)),
                Node::Binary(Temporal::Until, _, a, b) => until(a, b),
                Node::Binary(Temporal::WeakUntil, _, a, b) => until(a, b) || after.clone().all(|i| at(a, i)),
                // b up to and including the first a, or for ever.
                Node::Binary(Temporal::Release, _, a, b) => {
                    after.clone().all(|k| at(b, k) || (j..k).any(|i| at(a, i)))
                }
                Node::Binary(Temporal::StrongRelease, _, a, b) => {
                    after.clone().any(|k| at(a, k) && (j..=k).all(|i| at(b, i)))
                }
                Node::Binary(Temporal::Since, _, a, b) => since(a, b),
                Node::Binary(Temporal::BackTo, _, a, b) => since(a, b) || before.clone().all(|i| at(a, i)),
                Node::Binary(Temporal::Trigger, _, a, b) => {
                    before.clone().all(|k| at(b, k) || (k + 1..=j).any(|i| at(a, i)))
                }
                _ => unreachable!("not generated"),
            }
        });
        let column = column.collect();
        table.push(column);
    }
    table
}

fn add_root(program: &mut Program, node: NodeId) {
    program.roots.push(Root::property(format!("r{}", program.roots.len()), node));
}

fn random_node(rng: &mut Rng, a: NodeId, b: NodeId) -> Node {
    match rng.below(32) {
        0 => Node::Bool(rng.below(2) == 0),
        1 => Node::First,
        2 => Node::Last,
        3 | 4 => Node::Not(a),
        5 | 6 => Node::And(a, b),
        7 => Node::Or(a, b),
        8 => Node::Xor(a, b),
        9 | 10 => Node::Implies(a, b),
        11 => Node::Iff(a, b),
        12 => Node::Unary(Temporal::Next, None, a),
        13 => Node::Unary(Temporal::WeakNext, None, a),
        14 => Node::Unary(Temporal::Previous, None, a),
        15 => Node::Unary(Temporal::WeakPrevious, None, a),
        16 => Node::Unary(Temporal::Finally, None, a),
        17 | 18 => Node::Unary(Temporal::Globally, None, a),
        19 => Node::Unary(Temporal::Once, None, a),
        20 => Node::Unary(Temporal::Historically, None, a),
        21 | 22 => Node::Binary(Temporal::Until, None, a, b),
        23 => Node::Binary(Temporal::WeakUntil, None, a, b),
        24 => Node::Binary(Temporal::Release, None, a, b),
        25 => Node::Binary(Temporal::StrongRelease, None, a, b),
        26 | 27 => Node::Binary(Temporal::Since, None, a, b),
        28 => Node::Binary(Temporal::BackTo, None, a, b),
        29 => Node::Binary(Temporal::Trigger, None, a, b),
        30 => Node::Unary(Temporal::Historically, None, a),
        _ => Node::Unary(Temporal::Once, None, a),
    }
}

fn random_program(rng: &mut Rng, atoms: usize, size: usize) -> Program {
    let mut program = Program::default();
    for atom in 0..atoms {
        program.dag.add(Node::Truth(atom as u32));
    }
    for _ in 0..size {
        // Mostly recent operands: deep rather than wide.
        let len = program.dag.len();
        let near = len.min(4);
        let operand = |rng: &mut Rng| match rng.below(3) {
            0 => NodeId(rng.below(len) as u32),
            _ => NodeId((len - 1 - rng.below(near)) as u32),
        };
        let (a, b) = (operand(rng), operand(rng));
        let node = random_node(rng, a, b);
        program.dag.add(node);
    }
    let top = NodeId(program.dag.len() as u32 - 1);
    add_root(&mut program, top);
    for _ in 0..rng.below(3) {
        let node = NodeId(rng.below(program.dag.len()) as u32);
        let node = if rng.below(2) == 0 {
            program.dag.add(Node::Unary(Temporal::Globally, None, node))
        } else {
            node
        };
        add_root(&mut program, node);
    }
    program
}

fn random_bits(rng: &mut Rng, len: usize) -> Vec<bool> {
    // From rare to frequent, and long runs: a carry should travel over words and blocks.
    let kind = rng.below(7);
    let mut value = rng.below(2) == 0;
    (0..len)
        .map(|_| match kind {
            0 => rng.below(2) == 0,
            1 => rng.below(100) == 0,
            2 => rng.below(100) != 0,
            3 => rng.below(4000) == 0,
            4 => rng.below(4000) != 0,
            5 => {
                value ^= rng.below(150) == 0;
                value
            }
            _ => rng.below(10) == 0,
        })
        .collect()
}

fn random_trace(rng: &mut Rng, program: &Program, len: usize) -> Trace {
    let atoms = program.atoms().iter().map(|_| random_bits(rng, len).into_iter().collect()).collect();
    let segments = (rng.below(2) == 0).then(|| {
        let gap = rng.pick(&[1, 3, 20, 64, 100, 500]);
        let mut starts = vec![0];
        loop {
            let next = starts.last().unwrap() + 1 + rng.below(gap);
            if next >= len {
                return Segments { starts };
            }
            starts.push(next);
        }
    });
    Trace { len, atoms, segments, ..Trace::default() }
}

/// Every node's truth over all segments.
fn expected(program: &Program, trace: &Trace, repeat: bool) -> Vec<Vec<bool>> {
    let mut table: Vec<Vec<bool>> = vec![Vec::new(); program.dag.len()];
    for (index, &start) in trace.starts().iter().enumerate() {
        let end = trace.segment_end(index);
        let mut atoms = vec![None; program.dag.len()];
        for (atom, id) in trace.atoms.iter().zip(program.atoms()) {
            atoms[id.index()] = Some((start..end).map(|at| atom.get(at)).collect());
        }
        for (column, part) in table.iter_mut().zip(truth(program, &atoms, end - start, repeat)) {
            column.extend(part);
        }
    }
    table
}

fn expected_answer(
    program: &Program,
    trace: &Trace,
    table: &[Vec<bool>],
    root: &Root,
    limit: usize,
) -> Answer {
    let holds = trace.starts().iter().map(|&start| table[root.node.index()][start]).collect();
    let violations: Vec<usize> = match program.dag.node(root.node) {
        Node::Unary(Temporal::Globally, None, body) => {
            (0..trace.len).filter(|&at| !table[body.index()][at]).collect()
        }
        _ => Vec::new(),
    };
    let violation_count = violations.len();
    let violations = violations.into_iter().take(limit).collect();
    Answer { holds, violations, violation_count, ..Answer::default() }
}

/// Compares on random programs and traces; `seeds` numbers them.
fn compare(seeds: std::ops::Range<u64>, lengths: &[usize], size: usize) {
    let tables = kernels::available();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let atoms = 1 + rng.below(4);
        let size = 1 + rng.below(size);
        let program = random_program(&mut rng, atoms, size);
        let len = rng.pick(lengths);
        let trace = random_trace(&mut rng, &program, len);
        let options = EvaluateOptions {
            semantics: rng.pick(&[Semantics::Finite, Semantics::RepeatLast]),
            threads: 1 + rng.below(3),
            block: rng.pick(&[None, Some(64), Some(128), Some(192), Some(512), Some(1024)]),
            ..EvaluateOptions::default()
        };
        let limit = rng.pick(&[0, 1, 5, 100, usize::MAX]);
        let kernels = rng.pick(&tables);
        let table = expected(&program, &trace, options.semantics == Semantics::RepeatLast);
        let mut planned = Planned::new(&program, &options, kernels).expect("propositional");
        let answers = planned.evaluate(&trace, limit).expect("small");
        for (answer, root) in answers.iter().zip(&program.roots) {
            let right = expected_answer(&program, &trace, &table, root, limit);
            assert_eq!(*answer, right, "seed {seed}, {} on {:?}, {program:?}", root.name, kernels.name);
        }
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let nodes = program.reachable(&roots);
        let columns = planned.columns(&trace, &nodes).expect("small");
        for (column, id) in columns.iter().zip(&nodes) {
            let right: Bits = table[id.index()].iter().copied().collect();
            assert_eq!(*column, right, "seed {seed}, node {id:?}, {program:?}");
        }
    }
}

#[test]
fn short_traces() {
    compare(0..12_000, &[1, 2, 3, 10, 40, 62, 63, 64, 65, 66], 12);
}

#[test]
fn traces_of_a_few_words() {
    compare(20_000..28_000, &[100, 127, 128, 129, 191, 193, 256, 300], 14);
}

#[test]
fn deep_formulas() {
    compare(40_000..41_000, &[1, 5, 64, 65, 129, 200], 80);
}

#[test]
fn longer_traces() {
    compare(60_000..60_600, &[511, 513, 1000, 1024, 1025], 10);
}

#[test]
fn traces_of_many_blocks() {
    compare(80_000..80_060, &[4095, 4096, 4097], 8);
}

#[test]
fn what_is_not_propositional_is_refused() {
    let bound = |n: i128, open| Bound { billionths: n * 1_000_000_000, unit: None, open };
    let whole = Interval { low: bound(0, false), high: None };
    let open = Interval { low: bound(0, true), high: None };
    let upto = Interval { low: bound(0, false), high: Some(bound(5, false)) };
    for (interval, accepted) in [(whole, true), (open, false), (upto, false)] {
        let mut program = Program::default();
        let a = program.dag.add(Node::Truth(0));
        let once = program.dag.add(Node::Unary(Temporal::Once, Some(interval), a));
        let root = program.dag.add(Node::Unary(Temporal::Globally, None, once));
        add_root(&mut program, root);
        let plan = Columnar.plan(&program, &EvaluateOptions::default());
        match plan {
            Ok(_) => assert!(accepted, "{interval}"),
            Err(refusal) => {
                assert!(!accepted, "{interval}");
                assert_eq!(refusal.node, Some(once));
                assert!(refusal.what.contains("interval of `O"), "{}", refusal.what);
                assert!(refusal.help.is_some());
            }
        }
    }
    for ltl3 in [false, true] {
        let mut program = Program::default();
        let a = program.dag.add(Node::Truth(0));
        let forall = if ltl3 { a } else { program.dag.add(Node::Forall(0, a)) };
        add_root(&mut program, forall);
        let semantics = if ltl3 { Semantics::Ltl3 } else { Semantics::Finite };
        let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
        let refusal = Columnar.plan(&program, &options).err().expect("refused");
        assert_eq!(refusal.node, (!ltl3).then_some(forall));
    }
    // The engine for intervals takes no quantifiers, and is not named where there are some.
    for (text, engine) in [("F[0,3] p", "metric"), ("(F[0,3] p) & (forall u. a(u))", "⟨engine: relational⟩")]
    {
        let program = tw_testkit::texts::formula(text);
        let refusal = Columnar.plan(&program, &EvaluateOptions::default()).err().expect("refused");
        assert!(refusal.help.as_deref().is_some_and(|help| help.contains(engine)), "{text}: {refusal:?}");
    }
}

#[test]
fn traces_that_do_not_fit_are_refused() {
    let mut program = Program::default();
    let a = program.dag.add(Node::Truth(0));
    let root = program.dag.add(Node::Unary(Temporal::Globally, None, a));
    add_root(&mut program, root);
    let options = EvaluateOptions { memory_budget: 100, ..EvaluateOptions::default() };
    let mut evaluator = Columnar.plan(&program, &options).expect("propositional");
    let trace = |len: usize, columns: usize| Trace {
        len,
        atoms: vec![Bits::repeat(true, len); columns],
        ..Trace::default()
    };
    let refusal = evaluator.evaluate(&trace(100_000, 1), 1).expect_err("over budget");
    assert!(refusal.what.contains("budget"), "{}", refusal.what);
    let mut evaluator = Columnar.plan(&program, &EvaluateOptions::default()).expect("propositional");
    for bad in [trace(0, 1), trace(5, 2), Trace { len: 4, ..trace(5, 1) }] {
        assert!(evaluator.evaluate(&bad, 1).is_err());
    }
    assert!(evaluator.evaluate(&trace(5, 1), 1).is_ok());
    assert!(evaluator.columns(&trace(5, 1), &[NodeId(77)]).is_err());
}

/// Past and future in turn, so deep that recursion would end the process and quadratic work would be noticed.
#[test]
fn a_hundred_thousand_operators() {
    for kind in 0..3 {
        let mut program = Program::default();
        let a = program.dag.add(Node::Truth(0));
        let b = program.dag.add(Node::Truth(1));
        let mut node = a;
        for level in 0..100_000 {
            node = program.dag.add(match (kind, level % 4) {
                (0, 0) => Node::Binary(Temporal::Since, None, node, b),
                (0, 1) => Node::Binary(Temporal::Until, None, b, node),
                (0, 2) => Node::Unary(Temporal::Next, None, node),
                (0, _) => Node::Or(node, a),
                (1, _) => Node::Unary(Temporal::Next, None, node),
                (_, 0) => Node::Not(node),
                (_, 1) => Node::And(node, b),
                (_, _) => Node::Xor(node, a),
            });
        }
        add_root(&mut program, node);
        let trace =
            Trace { len: 70, atoms: vec![Bits::repeat(true, 70); program.atoms().len()], ..Trace::default() };
        let started = std::time::Instant::now();
        let mut evaluator = Columnar.plan(&program, &EvaluateOptions::default()).expect("propositional");
        evaluator.evaluate(&trace, 1).expect("small");
        assert!(started.elapsed().as_secs() < 5, "kind {kind}: {:?}", started.elapsed());
    }
}

/// A stretch that begins with a wrong guess may list violations that are none and stop at the limit; once they are
/// taken back, the list has to be filled up from blocks that need no repair.
#[test]
fn a_list_cut_short_by_a_wrong_guess_is_filled_up() {
    let mut program = Program::default();
    let a = program.dag.add(Node::Truth(0));
    let b = program.dag.add(Node::Truth(1));
    let since = program.dag.add(Node::Binary(Temporal::Since, None, a, b));
    let root = program.dag.add(Node::Unary(Temporal::Globally, None, since));
    add_root(&mut program, root);
    let len = 64 * 8;
    let mut trace =
        Trace { len, atoms: vec![Bits::repeat(true, len), Bits::repeat(false, len)], ..Trace::default() };
    trace.atoms[1].set(0, true);
    // The second half of the trace, taken alone, violates the property until here.
    trace.atoms[1].set(64 * 5 + 3, true);
    trace.atoms[0].set(64 * 7 + 10, false);
    for limit in [0, 1, 5, 54, 1000] {
        let options = EvaluateOptions { threads: 2, block: Some(64), ..EvaluateOptions::default() };
        let mut evaluator = Columnar.plan(&program, &options).expect("propositional");
        let answer = evaluator.evaluate(&trace, limit).expect("small").remove(0);
        assert_eq!(answer.violation_count, 54);
        assert_eq!(answer.violations, (64 * 7 + 10..len).take(limit).collect::<Vec<_>>(), "limit {limit}");
    }
}
