//! Names and trees of holograms against the definition, on random formulas, traces and rules.

mod naive;

use naive::World;
use std::collections::HashMap;
use tw_classify::{Columns, Formula, Kleene, Plan, Rules, Scan, Timing, Tree, Truth, of_nothing, paths};
use tw_core::{Batch, Bits, Column, Value};
use tw_engine_columnar::Columnar;
use tw_ir::{Node, NodeId, Program, Root, SlotId, What};
use tw_monitor::{Engine, EvaluateOptions, Predicates, Trace};
use tw_testkit::{Case, Rng, Shape, cases};

const RULES: [&str; 12] = [
    "none",
    "fail-fast",
    "polarity",
    "fail-fast,polarity",
    "fail-fast,polarity,values",
    "polarity,values=quantifiers",
    "values=equalities",
    "truncate=1",
    "fail-fast,truncate=2",
    "fail-fast,polarity,truncate=3",
    "polarity,truncate=2",
    "values,truncate=4",
];

/// Two trees have one name if and only if they are equal.
#[derive(Default)]
struct Names {
    by_line: HashMap<String, u128>,
    by_name: HashMap<u128, String>,
}

impl Names {
    fn note(&mut self, line: &str, name: u128, context: &str) {
        let known = *self.by_line.entry(line.to_string()).or_insert(name);
        assert_eq!(known, name, "two names for {line}\n{context}");
        let known = self.by_name.entry(name).or_insert_with(|| line.to_string());
        assert_eq!(known, line, "one name for two trees\n{context}");
    }
}

/// The tree with the children of quantifiers ordered by their texts, as the definition writes it.
fn line(tree: &Tree, at: usize, unordered: bool) -> String {
    let node = &tree.nodes[at];
    let mut children: Vec<String> = node.children.iter().map(|&child| line(tree, child, unordered)).collect();
    if unordered && matches!(node.label.as_str(), "forall" | "exists") {
        children.sort();
    }
    let edge = node.edge.as_ref().map_or(String::new(), |edge| format!("{edge}:"));
    let below = if children.is_empty() { String::new() } else { format!("({})", children.join(" ")) };
    format!("{edge}{}{}{below}", node.label, node.truth.sign())
}

fn slice(bits: &Bits, start: usize, end: usize) -> Bits {
    (start..end).map(|at| bits.get(at)).collect()
}

#[test]
fn names_are_those_of_the_definition() {
    let mut names = Names::default();
    let (mut compared, mut timed) = (0u64, 0u64);
    let wanted = cases(6_000);
    let shape = Shape { lengths: &[1, 2, 3, 5, 7, 9], depth: 4, ..Shape::SMALL };
    for seed in 0..wanted {
        // Every third case measures time.
        let case = Case::new(seed, &Shape { metric: if seed.is_multiple_of(3) { 250 } else { 0 }, ..shape });
        if case.options.clock == tw_ir::Clock::Dense {
            continue;
        }
        let Ok(trace) = case.trace(false) else { continue };
        let atoms = case.program.atoms();
        for root in &case.program.roots {
            if paths(&case.program, root.node).is_err() {
                continue;
            }
            let formula = Formula::new(&case.program, root.node, &|_| Vec::new()).unwrap();
            // Two sets of rules per case, in turn.
            for rules in [RULES[seed as usize % RULES.len()], RULES[(seed / 12) as usize % RULES.len()]] {
                let rules = Rules::parse(rules).unwrap();
                let plan = Plan::new(&formula, rules).unwrap();
                let fast = (!seed.is_multiple_of(3)).then(|| by_engine(&case.program, &trace, &plan));
                for segment in 0..trace.starts().len() {
                    let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
                    if !compare(
                        &case,
                        &trace,
                        &atoms,
                        root.node,
                        &plan,
                        (start, end),
                        fast.as_ref().map(|fast| fast[segment]),
                        &mut names,
                    ) {
                        continue;
                    }
                    compared += 1;
                    timed += u64::from(formula.timed());
                }
            }
        }
    }
    println!("{compared} trees compared, {timed} of them timed; {} different ones", names.by_line.len());
    assert!(compared > wanted && timed > 0 && names.by_line.len() > 100);
}

/// The classes of all segments, from the columns of the engine.
fn by_engine(program: &Program, trace: &Trace, plan: &Plan<'_>) -> Vec<tw_classify::Class> {
    let mut program = program.clone();
    let lifted = plan.lifted(&mut program);
    let mut evaluator = Columnar.plan(&program, &EvaluateOptions::default()).unwrap();
    let answer = evaluator.columns(trace, &lifted.nodes).unwrap();
    let columns = lifted.columns(&answer);
    let mut scan = Scan::new(plan, &columns, Timing::default());
    (0..trace.starts().len())
        .map(|segment| scan.class(trace.starts()[segment], trace.segment_end(segment)))
        .collect()
}

#[allow(clippy::too_many_arguments)]
fn compare(
    case: &Case,
    trace: &Trace,
    atoms: &[NodeId],
    root: NodeId,
    plan: &Plan<'_>,
    (start, end): (usize, usize),
    fast: Option<tw_classify::Class>,
    names: &mut Names,
) -> bool {
    let len = end - start;
    let bits =
        |node: NodeId| atoms.binary_search(&node).ok().map(|index| slice(&trace.atoms[index], start, end));
    let stamps = case.options.clock == tw_ir::Clock::Stamps;
    let times: Option<Vec<i64>> =
        trace.times.as_ref().filter(|_| stamps).map(|times| times[start..end].to_vec());
    let timing = Timing { times: times.as_deref(), until: trace.until, unit: case.options.unit };
    let leaf = |node: NodeId, at: usize| bits(node).expect("an atom").get(at);
    let none = |_: u32, _: usize| Vec::new();
    let mut world = World::new(&case.program, len, &leaf, &none);
    (world.times, world.until, world.unit) = (times.clone(), trace.until, case.options.unit);
    let formula_program = &case.program;
    let columns = match Columns::of_trace(plan_formula(plan), formula_program, len, &timing, &bits) {
        Ok(columns) => columns,
        Err(_) => return false,
    };
    let mut scan = Scan::new(plan, &columns, timing);
    let tree = Tree::new(&mut scan, len, 50_000);
    // A tree of nested operators without rules may have millions of nodes; the definition makes them all.
    if tree.more {
        return false;
    }
    let expected = world.hologram(root, &Vec::new(), 0).pruned(plan_rules(plan)).line(true);
    let class = scan.class(0, len);
    let context = || {
        format!(
            "seed {} formula {} rules {} segment {start}..{end}\n{}",
            case.seed,
            tw_ir::display(&case.program, root),
            plan_rules(plan),
            tw_testkit::conformance::describe(case)
        )
    };
    assert_eq!(tree.line(), expected, "{}", context());
    assert_eq!(class.truth, tree.nodes[0].truth, "{}", context());
    names.note(&expected, class.name, &context());
    if let Some(fast) = fast {
        assert_eq!(fast, class, "by the engine: {}", context());
    }
    true
}

fn plan_formula<'f>(plan: &Plan<'f>) -> &'f Formula {
    plan.formula()
}

fn plan_rules<'p>(plan: &'p Plan<'_>) -> &'p Rules {
    plan.rules()
}

/// A random formula with quantifiers over paths, as text.
fn text(rng: &mut Rng, depth: usize, bound: usize) -> String {
    let names = ["x", "y", "z"];
    if depth == 0 || rng.one_in(4) {
        return match rng.below(if bound > 0 { 5 } else { 2 }) {
            0 => "p".into(),
            1 => "q".into(),
            2 => {
                format!("{} {} {}", names[rng.below(bound)], rng.pick(&["<", "!=", "==", ">="]), rng.below(4))
            }
            3 => format!("{} == {}", names[rng.below(bound)], names[rng.below(bound)]),
            _ => format!("{} != 2", names[rng.below(bound)]),
        };
    }
    let depth = depth - 1;
    match rng.below(12) {
        0 => format!("!({})", text(rng, depth, bound)),
        1 => format!("({} & {})", text(rng, depth, bound), text(rng, depth, bound)),
        2 => format!("({} | {})", text(rng, depth, bound), text(rng, depth, bound)),
        3 => format!("({} -> {})", text(rng, depth, bound), text(rng, depth, bound)),
        4 => format!("{} ({})", rng.pick(&["X", "N", "Y", "Z"]), text(rng, depth, bound)),
        5 | 6 => format!("{} ({})", rng.pick(&["G", "F", "O", "H"]), text(rng, depth, bound)),
        7 => format!(
            "({} {} {})",
            text(rng, depth, bound),
            rng.pick(&["U", "W", "R", "M", "S", "B", "T", "<->"]),
            text(rng, depth, bound)
        ),
        _ if bound < 3 => format!(
            "({} {} in {}[*]. {})",
            rng.pick(&["forall", "exists"]),
            names[bound],
            rng.pick(&["a", "b"]),
            text(rng, depth, bound + 1)
        ),
        _ => "p".into(),
    }
}

fn lowered(text: &str) -> Option<Program> {
    let parsed = tw_spec::parse_formula(text, 0);
    if parsed.has_errors() {
        return None;
    }
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    (!lowered.has_errors()).then_some(lowered.value)
}

/// Random columns for the slots of a program: lists of small numbers, and truth values.
fn columns_of(program: &Program, len: usize, rng: &mut Rng) -> Vec<Column> {
    let list =
        |rng: &mut Rng| Value::List((0..rng.below(4)).map(|_| Value::Int(rng.below(4) as i64)).collect());
    let column = |slot: &tw_ir::Slot, rng: &mut Rng| match &slot.what {
        What::Variable(path, _) if path.has_each() => Column::Any((0..len).map(|_| list(rng)).collect()),
        _ => Column::Truth((0..len).map(|_| rng.one_in(2)).collect()),
    };
    program.slots.iter().map(|slot| column(slot, rng)).collect()
}

#[test]
fn quantifiers_over_paths_are_those_of_the_definition() {
    let mut names = [Names::default(), Names::default()];
    let (wanted, mut compared, mut quantified) = (cases(3_000), 0u64, 0u64);
    for seed in 0..wanted {
        let mut rng = Rng::new(seed ^ 0x5151);
        let formula = text(&mut rng, 4, 0);
        let Some(program) = lowered(&formula) else { panic!("{formula} is no formula") };
        let root = program.roots[0].node;
        let len = rng.below(4) + 1;
        let slots = columns_of(&program, len, &mut rng);
        let values = |slot: SlotId, at: usize| match slots[slot as usize].value(at) {
            Value::List(values) => values,
            _ => Vec::new(),
        };
        let domain = |slot: SlotId| tw_classify::domain((0..len).flat_map(|at| values(slot, at)));
        let made = Formula::new(&program, root, &domain).unwrap();
        quantified += u64::from(made.program().is_some());
        let ground = made.program().unwrap_or(&program);
        let leaves: Vec<Root> = made.leaves().iter().map(|&node| Root::property("leaf", node)).collect();
        let ground = Program { roots: leaves, ..ground.clone() };
        let batch = Batch { len, slots: slots.clone(), times: None };
        let bits = Predicates::new(&ground).evaluate(&batch).unwrap();
        let atoms = ground.atoms();
        let leaf = |node: NodeId| atoms.binary_search(&node).ok().map(|index| bits[index].clone());
        let truth = |node: NodeId, at: usize| match program.dag.node(node) {
            Node::Truth(slot) => matches!(slots[slot as usize].value(at), Value::Bool(true)),
            other => panic!("{other:?}"),
        };
        for rules in [RULES[seed as usize % RULES.len()], RULES[(seed / 12) as usize % RULES.len()]] {
            let rules = Rules::parse(rules).unwrap();
            let plan = Plan::new(&made, rules).unwrap();
            let columns = Columns::of_trace(&made, &program, len, &Timing::default(), &leaf).unwrap();
            let mut scan = Scan::new(&plan, &columns, Timing::default());
            let tree = Tree::new(&mut scan, len, 100_000);
            let class = scan.class(0, len);
            let unordered = rules.quantifiers;
            let mut world = World::new(&program, len, &truth, &values);
            let expected = world.hologram(root, &Vec::new(), 0).pruned(&rules).line(unordered);
            let context = format!("seed {seed}: {formula} rules {rules} slots {slots:?}");
            assert_eq!(line(&tree, 0, unordered), expected, "{context}");
            // Values that are left out leave trees without order: those are told apart among themselves.
            names[usize::from(unordered)].note(&expected, class.name, &context);
            compared += 1;
        }
    }
    println!("{compared} trees compared, {quantified} formulas with quantifiers");
    assert!(compared == 2 * wanted && quantified > wanted / 4);
}

/// The hologram of a formula on a trace of single letters, and its class.
fn letters(formula: &str, trace: &str, rules: &str) -> (String, tw_classify::Class) {
    let program = lowered(formula).unwrap();
    let rules = Rules::parse(rules).unwrap();
    let formula = Formula::new(&program, program.roots[0].node, &|_| Vec::new()).unwrap();
    let plan = Plan::new(&formula, rules).unwrap();
    let letters: Vec<char> = trace.chars().collect();
    let leaf = |node: NodeId| {
        let name = tw_ir::display(&program, node);
        Some(letters.iter().map(|letter| letter.to_string() == name).collect())
    };
    let columns = Columns::of_trace(&formula, &program, letters.len(), &Timing::default(), &leaf).unwrap();
    let mut scan = Scan::new(&plan, &columns, Timing::default());
    let class = scan.class(0, letters.len());
    (Tree::new(&mut scan, letters.len(), 1000).line(), class)
}

#[test]
fn worked_examples() {
    let formula = "G (a -> X b)";
    let table = [
        ("cab", "G?(->+(a- X-(b-)) ->+(a+ X+(b+)) ->+(a- X?))", "=", "G?", "G?"),
        (
            "cac",
            "G-(->+(a- X-(b-)) ->-(a+ X-(b-)) ->+(a- X?))",
            "G-(->+(a- X-(b-)) ->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)))",
        ),
        (
            "ccac",
            "G-(->+(a- X-(b-)) ->+(a- X-(b-)) ->-(a+ X-(b-)) ->+(a- X?))",
            "G-(->+(a- X-(b-)) ->+(a- X-(b-)) ->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)))",
        ),
        (
            "cacac",
            "G-(->+(a- X-(b-)) ->-(a+ X-(b-)) ->+(a- X-(b-)) ->-(a+ X-(b-)) ->+(a- X?))",
            "G-(->+(a- X-(b-)) ->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)) ->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)))",
        ),
        (
            "aab",
            "G-(->-(a+ X-(b-)) ->+(a+ X+(b+)) ->+(a- X?))",
            "G-(->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)))",
            "G-(->-(a+ X-(b-)))",
        ),
        ("ca", "G?(->+(a- X-(b-)) ->?(a+ X?))", "=", "G?(->?(X?))", "G?(->?(X?))"),
    ];
    for (trace, full, fast, polarity, both) in table {
        let fast = if fast == "=" { full } else { fast };
        let sets =
            [("none", full), ("fail-fast", fast), ("polarity", polarity), ("fail-fast,polarity", both)];
        for (rules, expected) in sets {
            assert_eq!(letters(formula, trace, rules).0, expected, "{trace} {rules}");
        }
        // Truncated to the root, the class is the verdict.
        assert_eq!(letters(formula, trace, "truncate=1").0, full[..2]);
    }
    let same = |a: &str, b: &str, rules: &str| letters(formula, a, rules).1 == letters(formula, b, rules).1;
    assert!(
        !same("cac", "ccac", "none") && !same("cac", "ccac", "fail-fast") && same("cac", "ccac", "polarity")
    );
    assert!(!same("cac", "cacac", "polarity") && same("cac", "cacac", "fail-fast,polarity"));
    assert_eq!(letters(formula, "cab", "truncate=2").0, "G?(->+ ->+ ->+)");
    // Two traces that differ in what the formula does not look at are in one class, whatever the rules.
    assert!(same("cab", "dab", "none"));
    assert_eq!(letters("false", "cab", "none").1, letters("false", "a", "none").1);
    // Property 2 does not hold of what the formula looks at, even where it does not matter.
    assert_eq!(letters("a | !a", "a", "none").0, "|+(a+ !-(a+))");
    assert_ne!(letters("a | !a", "a", "none").1, letters("a | !a", "b", "none").1);
    assert_eq!(letters(formula, "cac", "none").1.truth, Truth::False);
    // Of no positions at all temporal operators are unknown, and what a position decides has no truth.
    let nothing = |text: &str, rules: &str| {
        let program = lowered(text).unwrap();
        let made = Formula::new(&program, program.roots[0].node, &|_| Vec::new()).unwrap();
        let plan = Plan::new(&made, Rules::parse(rules).unwrap()).unwrap();
        of_nothing(&plan).map(|(class, tree)| (tree.line(), class))
    };
    for rules in ["none", "fail-fast", "polarity", "fail-fast,polarity"] {
        let (line, class) = nothing(formula, rules).unwrap();
        assert_eq!((line.as_str(), class.truth), ("G?", Truth::Unknown));
        // It is the class of a trace on which nothing is open.
        assert_eq!(class == letters(formula, "cab", rules).1, rules.contains("polarity"));
    }
    assert_eq!(nothing("F a -> (G b & true)", "none").unwrap().0, "->?(F? &?(G? true+))");
    assert_eq!(nothing("a & F b", "none"), None);
}
