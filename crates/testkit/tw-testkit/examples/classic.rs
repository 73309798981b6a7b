//! Two published experiments on this machine: the traversals of alternating automata on growing traces, and a response
//! property on a base trace repeated up to 10⁸ events. Prints one JSON object per measurement; `bench/classic.py` runs
//! it, runs Maude beside it and draws the results.
//!
//!     cargo run --release -p tw-testkit --example classic -- traversals 1000000
//!     cargo run --release -p tw-testkit --example classic -- rewriting 100000000

use std::time::Instant;
use tw_core::Bits;
use tw_engine_alternating::statistics::{Traversal, cost};
use tw_engine_alternating::{BreadthFirst, DepthFirst, Reverse};
use tw_engine_automaton::Automaton;
use tw_engine_columnar::Columnar;
use tw_engine_rewrite::Rewrite;
use tw_ir::{Node, Program, Semantics};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_testkit::Rng;
use tw_testkit::texts::formula as program;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let longest = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    match arguments.get(1).map(String::as_str) {
        Some("traversals") => traversals(longest),
        Some("rewriting") => rewriting(longest),
        _ => eprintln!("classic traversals|rewriting LONGEST"),
    }
}

/// The columns of the program's propositions, each from its name and the sets of names at the positions.
fn trace(program: &Program, states: &[&[&str]], len: usize) -> Trace {
    let column =
        |name: &str| -> Bits { (0..len).map(|at| states[at % states.len()].contains(&name)).collect() };
    let name = |atom| match program.dag.node(atom) {
        Node::Truth(slot) => tw_trace::describe(&program.slots[slot as usize].what),
        _ => String::new(),
    };
    Trace {
        len,
        atoms: program.atoms().into_iter().map(|atom| column(&name(atom))).collect(),
        ..Trace::default()
    }
}

const FORMULAS: [(&str, &str, &str); 3] =
    [("phi1", "G F z", "z"), ("phi2", "G F a", "a"), ("phi3", "G (b -> (!a U (a U (!a U a))))", "a")];

/// A tenth of the states has a, four tenths b, a quarter c; the last state makes the formula true.
fn states(len: usize, last: &'static str) -> Vec<&'static [&'static str]> {
    let mut rng = Rng::new(7);
    let mut states: Vec<&'static [&'static str]> = (0..len)
        .map(|_| match rng.below(100) {
            0..10 => &["a"][..],
            10..50 => &["b"][..],
            50..75 => &["c"][..],
            _ => &[][..],
        })
        .collect();
    states.push(if last == "z" { &["z"] } else { &["a"] });
    states
}

/// Node visits that depth-first search may take before longer traces are left out.
const VISITS: u64 = 3_000_000_000;

fn traversals(longest: usize) {
    for (name, formula, last) in FORMULAS {
        let program = program(formula);
        let root = program.roots[0].node;
        let mut length = 100;
        let mut too_long: Vec<(Traversal, bool)> = Vec::new();
        while length <= longest {
            let states = states(length, last);
            let trace = trace(&program, &states, states.len());
            for traversal in [Traversal::DepthFirst, Traversal::BreadthFirst, Traversal::Reverse] {
                for faithful in [true, false] {
                    if too_long.contains(&(traversal, faithful)) {
                        continue;
                    }
                    let options = EvaluateOptions { faithful, ..EvaluateOptions::default() };
                    let cost = cost(&program, root, &trace, &options, traversal).expect("a cost");
                    assert!(cost.holds);
                    let engine: &dyn Engine = match traversal {
                        Traversal::DepthFirst => &DepthFirst,
                        Traversal::BreadthFirst => &BreadthFirst,
                        Traversal::Reverse => &Reverse,
                    };
                    let seconds = time(engine, &program, &trace, &options);
                    println!(
                        "{{\"formula\":\"{name}\",\"length\":{length},\"engine\":\"{}\",\"faithful\":{faithful},\
                         \"visits\":{},\"max_slices\":{},\"slices\":{},\"seconds\":{seconds}}}",
                        engine.name(),
                        cost.visits,
                        cost.max_slices,
                        cost.slices
                    );
                    // Ten times the length is up to a hundred times the visits.
                    if cost.visits.saturating_mul(100) > VISITS && cost.visits > 200 * length as u64 {
                        too_long.push((traversal, faithful));
                    }
                }
            }
            for engine in [&Columnar as &dyn Engine, &Automaton, &Rewrite] {
                let seconds = time(engine, &program, &trace, &EvaluateOptions::default());
                println!(
                    "{{\"formula\":\"{name}\",\"length\":{length},\"engine\":\"{}\",\"faithful\":false,\"seconds\":{seconds}}}",
                    engine.name()
                );
            }
            length *= 10;
        }
    }
}

fn rewriting(longest: usize) {
    let base: [&[&str]; 10] = [
        &["a", "b"],
        &["a"],
        &["c", "a"],
        &["a", "b"],
        &["c", "b"],
        &["a", "b"],
        &["a"],
        &["c", "a"],
        &["a", "b"],
        &["c", "b"],
    ];
    for (name, formula, expected) in [("F1", "G (a -> F b)", true), ("F2", "F !G (a -> F b)", false)] {
        let program = program(formula);
        let mut length = 100;
        while length <= longest {
            let trace = trace(&program, &base, length);
            for engine in [&Rewrite as &dyn Engine, &Automaton, &Columnar] {
                let options = EvaluateOptions {
                    semantics: Semantics::RepeatLast,
                    threads: 1,
                    ..EvaluateOptions::default()
                };
                let holds =
                    engine.plan(&program, &options).and_then(|mut e| e.evaluate(&trace, 1)).expect("answers");
                assert_eq!(holds[0].holds.get(0), expected);
                let seconds = time(engine, &program, &trace, &options);
                println!(
                    "{{\"formula\":\"{name}\",\"length\":{length},\"engine\":\"{}\",\"seconds\":{seconds}}}",
                    engine.name()
                );
            }
            length *= 10;
        }
    }
}

/// Best of three evaluations, the engine's planning included.
fn time(engine: &dyn Engine, program: &Program, trace: &Trace, options: &EvaluateOptions) -> f64 {
    let run = |_| {
        let started = Instant::now();
        let answers = engine.plan(program, options).and_then(|mut evaluator| evaluator.evaluate(trace, 1));
        assert!(answers.is_ok(), "{} refuses", engine.name());
        started.elapsed().as_secs_f64()
    };
    (0..3).map(run).fold(f64::INFINITY, f64::min)
}
