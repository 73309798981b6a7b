//! Three-valued verdicts against enumerated lassos: emptiness over infinite words first, then every engine that
//! monitors.

use tw_automata::{emptiness::Emptiness, past::Past};
use tw_ir::{Node, NodeId, Path, Program, Root, RootKind, Semantics, Slot, Temporal, What, display};
use tw_monitor::{Engine, EvaluateOptions};
use tw_testkit::lasso::{Bounds, exists, holds};
use tw_testkit::{Rng, conformance::cases};

/// Two propositions, so that all lassos of some length can be tried.
const PROPOSITIONS: [&str; 2] = ["a", "b"];
/// Enough for nearly every formula below.
const SHORT: Bounds = Bounds { stem: 3, cycle: 3, total: 5 };
/// Where a short lasso was expected and none was found.
const LONG: Bounds = Bounds { stem: 6, cycle: 6, total: 9 };

fn declare() -> Program {
    let mut program = Program::default();
    for name in PROPOSITIONS {
        let what = What::Proposition(Path::field(name));
        program.slots.push(Slot { what, declared: false, span: Default::default() });
    }
    program
}

/// Adds a root. Another one reads all propositions, so that they are the atoms, in order.
fn add_root(program: &mut Program, node: NodeId) {
    let name = display(program, node);
    program.roots.push(Root {
        name,
        title: None,
        division: Default::default(),
        kind: RootKind::Property,
        node,
        span: Default::default(),
    });
}

fn finish(program: &mut Program) {
    let all = (0..PROPOSITIONS.len() as u32).map(|slot| program.dag.add(Node::Truth(slot)));
    let all: Vec<NodeId> = all.collect();
    let both = program.dag.add(Node::And(all[0], all[1]));
    add_root(program, both);
    program.spans = vec![None; program.dag.len()];
    assert_eq!(program.atoms().len(), PROPOSITIONS.len());
}

/// A formula of at most the given depth, no future operator inside a past one.
fn formula(rng: &mut Rng, program: &mut Program, depth: usize, past: bool) -> NodeId {
    if depth == 0 || rng.one_in(6) {
        let node = match rng.below(24) {
            0 => Node::Bool(rng.one_in(2)),
            1 => Node::First,
            2 if !past => Node::Last,
            other => Node::Truth((other % 2) as u32),
        };
        let node = program.dag.add(node);
        return if rng.one_in(3) { program.dag.add(Node::Not(node)) } else { node };
    }
    let choice = rng.below(if past { 13 } else { 26 });
    let below = past || (6..13).contains(&choice);
    let a = formula(rng, program, depth - 1, below);
    let b = formula(rng, program, depth - 1, below);
    let node = match choice {
        0 => Node::Not(a),
        1 => Node::And(a, b),
        2 => Node::Or(a, b),
        3 => Node::Xor(a, b),
        4 => Node::Implies(a, b),
        5 => Node::Iff(a, b),
        6 => Node::Unary(Temporal::Previous, None, a),
        7 => Node::Unary(Temporal::WeakPrevious, None, a),
        8 => Node::Unary(Temporal::Once, None, a),
        9 => Node::Unary(Temporal::Historically, None, a),
        10 => Node::Binary(Temporal::Since, None, a, b),
        11 => Node::Binary(Temporal::BackTo, None, a, b),
        12 => Node::Binary(Temporal::Trigger, None, a, b),
        13 => Node::Unary(Temporal::Next, None, a),
        14 => Node::Unary(Temporal::WeakNext, None, a),
        15 | 16 => Node::Unary(Temporal::Finally, None, a),
        17 | 18 => Node::Unary(Temporal::Globally, None, a),
        19 | 20 => Node::Binary(Temporal::Until, None, a, b),
        21 => Node::Binary(Temporal::WeakUntil, None, a, b),
        22 => Node::Binary(Temporal::Release, None, a, b),
        23 => Node::Binary(Temporal::StrongRelease, None, a, b),
        24 => Node::And(a, b),
        _ => Node::Or(a, b),
    };
    program.dag.add(node)
}

fn prefix(rng: &mut Rng, longest: usize) -> Vec<u64> {
    (0..rng.below(longest + 1)).map(|_| rng.below(1 << PROPOSITIONS.len()) as u64).collect()
}

/// Whether some lasso after the prefix gives the root that value. A short one nearly always will do; where one is
/// expected, longer ones are tried before the expectation counts as wrong.
fn some_lasso(program: &Program, root: NodeId, value: bool, prefix: &[u64], expected: bool) -> bool {
    exists(program, root, value, prefix, SHORT) || expected && exists(program, root, value, prefix, LONG)
}

/// Two formulas, each or its negation, owed together after a prefix: some word satisfies them if and only if some
/// small lasso does.
#[test]
fn emptiness_agrees_with_lassos() {
    let (mut satisfiable, mut asked) = (0, 0);
    for seed in 0..cases(20_000) {
        let mut rng = Rng::new(seed);
        let mut program = declare();
        let f = formula(&mut rng, &mut program, 3, false);
        let g = formula(&mut rng, &mut program, 1, false);
        let before = prefix(&mut rng, 2);
        let owed = [(f, rng.one_in(2)), (g, rng.one_in(2))];
        let owed = &owed[..1 + rng.below(2)];
        let opposite: Vec<(NodeId, bool)> = owed.iter().map(|&(id, negated)| (id, !negated)).collect();

        // The oracle's word starts with the prefix, and what is owed is owed after it.
        let mut conjoin = |owed: &[(NodeId, bool)]| {
            let mut all = program.dag.add(Node::Bool(true));
            for &(id, negated) in owed {
                let id = if negated { program.dag.add(Node::Not(id)) } else { id };
                all = program.dag.add(Node::And(all, id));
            }
            (0..before.len()).fold(all, |node, _| program.dag.add(Node::Unary(Temporal::Next, None, node)))
        };
        let roots = [conjoin(owed), conjoin(&opposite)];
        roots.iter().for_each(|&root| add_root(&mut program, root));
        finish(&mut program);

        let goals: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let past = Past::new(&program, &goals).expect("no future inside past");
        let memory = before.iter().fold(past.origin(), |memory, &row| past.advance(&[row], &memory).1);
        let mut emptiness = Emptiness::new(&program, &past, 10_000);
        for (owed, root) in [owed, &opposite].into_iter().zip(roots) {
            let claimed = emptiness.satisfiable(&program, owed, &memory);
            let Some(claimed) = claimed else { panic!("seed {seed}: budget ran out") };
            let found = some_lasso(&program, root, true, &before, claimed);
            assert_eq!(claimed, found, "seed {seed}: {} after {before:?}", display(&program, root));
            satisfiable += u64::from(claimed);
            asked += 1;
        }
    }
    assert!(satisfiable > asked / 4 && satisfiable < asked, "{satisfiable} of {asked} satisfiable");
}

/// The formula in other operators, by the laws that relate them.
fn reworded(program: &mut Program, root: NodeId) -> NodeId {
    use Node::*;
    let mut new: Vec<NodeId> = (0..program.dag.len() as u32).map(NodeId).collect();
    for id in program.reachable(&[root]) {
        let node = program.dag.node(id);
        let operands: Vec<NodeId> = node.children().map(|child| new[child.index()]).collect();
        let (Some(&a), Some(&b)) = (operands.first(), operands.last()) else { continue };
        let dag = &mut program.dag;
        let (na, nb) = (dag.add(Not(a)), dag.add(Not(b)));
        let neither = dag.add(And(na, nb));
        let (dual, negate) = match node {
            Not(_) => (Not(a), false),
            And(..) => (Or(na, nb), true),
            Or(..) => (And(na, nb), true),
            Implies(..) => (Or(na, b), false),
            Xor(..) => (Iff(a, b), true),
            Iff(..) => (Xor(na, b), false),
            Unary(Temporal::Next, ..) => (Unary(Temporal::WeakNext, None, a), false),
            Unary(Temporal::WeakNext, ..) => (Unary(Temporal::Next, None, na), true),
            Unary(Temporal::Finally, ..) => (Unary(Temporal::Globally, None, na), true),
            Unary(Temporal::Globally, ..) => (Unary(Temporal::Finally, None, na), true),
            Binary(Temporal::Until, ..) => (Binary(Temporal::WeakUntil, None, nb, neither), true),
            Binary(Temporal::WeakUntil, ..) => (Binary(Temporal::Until, None, nb, neither), true),
            Binary(Temporal::Release, ..) => (Binary(Temporal::Until, None, na, nb), true),
            Binary(Temporal::StrongRelease, ..) => (Binary(Temporal::WeakUntil, None, na, nb), true),
            Unary(Temporal::Previous, ..) => (Unary(Temporal::WeakPrevious, None, na), true),
            Unary(Temporal::WeakPrevious, ..) => (Unary(Temporal::Previous, None, na), true),
            Unary(Temporal::Once, ..) => (Unary(Temporal::Historically, None, na), true),
            Unary(Temporal::Historically, ..) => (Unary(Temporal::Once, None, na), true),
            Binary(Temporal::Since, ..) => (Binary(Temporal::Trigger, None, na, nb), true),
            Binary(Temporal::BackTo, ..) => (Binary(Temporal::Since, None, nb, neither), true),
            Binary(Temporal::Trigger, ..) => (Binary(Temporal::Since, None, na, nb), true),
            other => (other, false),
        };
        let dual = dag.add(dual);
        new[id.index()] = if negate { dag.add(Not(dual)) } else { dual };
    }
    new[root.index()]
}

/// Formulas too large for all lassos: what is unsatisfiable is false on whatever lasso is tried, and the same question
/// in other words has the same answer, asked of the same tables.
#[test]
fn emptiness_of_larger_formulas() {
    let (mut unsatisfiable, mut exhausted) = (0, 0);
    let count = cases(20_000);
    for seed in 0..count {
        let mut rng = Rng::new(seed ^ 0x006c_6172_6765);
        let mut program = declare();
        let root = formula(&mut rng, &mut program, 5, false);
        let other = reworded(&mut program, root);
        [root, other].into_iter().for_each(|root| add_root(&mut program, root));
        finish(&mut program);
        let text = display(&program, root);
        let past = Past::new(&program, &[root, other]).expect("no future inside past");
        let mut emptiness = Emptiness::new(&program, &past, 2_000);
        let mut ask = |id, negated| emptiness.satisfiable(&program, &[(id, negated)], &past.origin());
        let [can, can_fail, other_can, other_can_fail] =
            [(root, false), (root, true), (other, false), (other, true)]
                .map(|(id, negated)| ask(id, negated));
        for (one, other) in [(can, other_can), (can_fail, other_can_fail)] {
            let (Some(one), Some(other)) = (one, other) else {
                exhausted += 1;
                continue;
            };
            assert_eq!(one, other, "seed {seed}: {text} in other words");
            unsatisfiable += u64::from(!one);
        }
        assert!(can != Some(false) || can_fail != Some(false), "seed {seed}: {text}");
        for _ in 0..16 {
            let (stem, mut cycle) = (prefix(&mut rng, 4), prefix(&mut rng, 3));
            cycle.push(rng.below(4) as u64);
            let holds = holds(&program, root, &stem, &cycle);
            let possible = if holds { can } else { can_fail };
            assert_ne!(possible, Some(false), "seed {seed}: {text} is {holds} on {stem:?} {cycle:?}");
        }
    }
    assert!(
        unsatisfiable > 0 && exhausted < count / 20,
        "{unsatisfiable} unsatisfiable, {exhausted} exhausted"
    );
}

/// Every engine that monitors.
const ENGINES: [&dyn Engine; 3] =
    [&tw_engine_rewrite::Rewrite, &tw_engine_automaton::Automaton, &tw_engine_alternating::BreadthFirst];

/// The three-valued verdicts of all roots after each prefix.
fn verdicts(engine: &dyn Engine, program: &Program, rows: &[u64]) -> Vec<Vec<Option<bool>>> {
    let options = EvaluateOptions { semantics: Semantics::Ltl3, ..EvaluateOptions::default() };
    let refused = |error| panic!("{} refuses: {error:?}", engine.name());
    let mut monitor =
        engine.monitor(program, &options, tw_monitor::Telling::Verdicts).unwrap_or_else(refused);
    let mut settled = tw_monitor::Sink::default();
    let step = |row: &u64| {
        monitor.step(&[*row], &mut settled).unwrap_or_else(|error| panic!("{}: {error:?}", engine.name()));
        monitor.verdicts()
    };
    rows.iter().map(step).collect()
}

/// A verdict is given as soon as, and only if, all continuations share it.
#[test]
fn engines_agree_with_lassos_and_with_each_other() {
    let mut seen = [0u64; 3];
    for seed in 0..cases(20_000) {
        let mut rng = Rng::new(seed ^ 0x6c74_6c33);
        let mut program = declare();
        let root = formula(&mut rng, &mut program, 3, false);
        add_root(&mut program, root);
        finish(&mut program);
        let rows: Vec<u64> = (0..1 + rng.below(5)).map(|_| rng.below(4) as u64).collect();
        let all = ENGINES.map(|engine| verdicts(engine, &program, &rows));
        let text = display(&program, root);
        for (engine, said) in ENGINES.iter().zip(&all) {
            assert_eq!(said, &all[0], "seed {seed}: {} on {rows:?}, {}", text, engine.name());
        }
        for (at, verdicts) in all[0].iter().enumerate() {
            let open = verdicts[0].is_none();
            let before = &rows[..=at];
            let can_hold = some_lasso(&program, root, true, before, open || verdicts[0] == Some(true));
            let can_fail = some_lasso(&program, root, false, before, open || verdicts[0] == Some(false));
            let expected = match (can_hold, can_fail) {
                (true, true) => None,
                (holds, _) => Some(holds),
            };
            assert_eq!(verdicts[0], expected, "seed {seed}: {text} after {before:?}");
            seen[expected.map_or(2, usize::from)] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "false, true and open verdicts: {seen:?}");
}

/// Formulas with well-known verdicts. A trace is a word of letters `-`, `a`, `b`, `2` (both); what is said after each
/// is `T`, `F` or `?`.
#[test]
fn textbook_formulas() {
    for (text, trace, expected) in [
        ("F (G a | G !a)", "ab-a2-", "??????"),
        ("G a & F !a", "a-", "FF"),
        ("F a | G !a", "-a", "TT"),
        ("G (a -> F b)", "ab-a", "????"),
        ("a U b", "aab-", "??TT"),
        ("a U b", "aa-b", "??FF"),
        ("a W b", "aa-", "??F"),
        ("a R b", "bb2-", "??TT"),
        ("a M b", "bb-", "??F"),
        ("F a", "--a-", "??TT"),
        ("G a", "aa-a", "??FF"),
        ("G F a", "a-a-", "????"),
        ("X X a", "--a-", "??TT"),
        ("X X !a", "--a", "??F"),
        // Known before the letters that would decide it are read.
        ("X (a | !a)", "-", "T"),
        ("X G (a & !a)", "-", "F"),
        ("F (a & X !a) | F G a | G !a", "--", "TT"),
        ("(a U b) | G !b", "a-", "??"),
        ("G (X a -> a) & F a & !a", "-", "F"),
        // There is always a next position.
        ("F last", "a", "F"),
        ("G X true", "a", "T"),
        ("G (b -> O a)", "-a", "?T"),
        ("G (b -> O a)", "-b", "?F"),
        ("F (b & H !a)", "-a", "?F"),
        ("F (b & Y b)", "b-bb", "???T"),
        ("G (first | Y a)", "aa-a", "??FF"),
    ] {
        let parsed = tw_spec::parse_formula(text, 0);
        assert!(!parsed.has_errors(), "{text}");
        let mut program = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default()).value;
        let root = program.roots[0].node;
        program.roots.truncate(1);
        // Atoms are those of the formula, in the order of its nodes.
        let atoms: Vec<String> = program.atoms().iter().map(|&atom| display(&program, atom)).collect();
        let row = |letter: char| {
            let holds = |atom: &String| match letter {
                'a' | 'b' => atom.starts_with(letter),
                other => other == '2',
            };
            atoms.iter().enumerate().map(|(at, atom)| u64::from(holds(atom)) << at).sum()
        };
        let rows: Vec<u64> = trace.chars().map(row).collect();
        for engine in ENGINES {
            let said = verdicts(engine, &program, &rows);
            let said: String =
                said.iter().map(|v| v[0].map_or('?', |holds| if holds { 'T' } else { 'F' })).collect();
            assert_eq!(said, expected, "{} on {trace}, {}", display(&program, root), engine.name());
        }
    }
}
