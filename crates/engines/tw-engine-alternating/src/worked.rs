//! The worked examples of "Checking Finite Traces using Alternating Automata", with the errors of the print put right.

use crate::breadth::{Limits, Stored};
use crate::depth::Search;
use crate::goals::{Goals, Segment};
use crate::reverse::{Place, Sweep};
use crate::sample::{Numbered, program, trace};
use crate::semiring::Boolean;
use crate::statistics::{Traversal, cost};
use crate::{BreadthFirst, DepthFirst, Reverse};
use tw_automata::alternating::{Expr, ExprId};
use tw_ir::Semantics;
use tw_monitor::{Engine, EvaluateOptions};

const ALL: Limits = Limits { minimal: false, slices: 1000 };

const RESPONSE: &str = "G (!a -> !b U c)";
/// n0 to n4 of the example.
const RESPONSE_NODES: [&str; 5] = [RESPONSE, "a", "c", "!b", "!b U c"];
const RESPONSE_TRACE: &str = "a b,,a,b c,a";

fn holds(engine: &dyn Engine, formula: &str, positions: &str, options: &EvaluateOptions) -> bool {
    let program = program(formula);
    let trace = trace(&program, positions);
    engine.plan(&program, options).unwrap().evaluate(&trace, 0).unwrap()[0].holds.get(0)
}

fn engines() -> [&'static dyn Engine; 3] {
    [&DepthFirst, &BreadthFirst, &Reverse]
}

fn faithful() -> EvaluateOptions {
    EvaluateOptions { faithful: true, ..EvaluateOptions::default() }
}

/// Candidates of each position, and those that it leaves over.
fn slices(formula: &str, names: &[&str], positions: &str, limits: Limits) -> Vec<(String, String)> {
    let program = program(formula);
    let trace = trace(&program, positions);
    let numbered = Numbered::new(&program, &EvaluateOptions::default(), names);
    let (automaton, root) = (&numbered.goals.automaton, numbered.goals.exprs[0]);
    let mut rows = Vec::new();
    let mut stored = Stored::new(automaton, &Boolean, root, limits).unwrap();
    for segment in Segment::all(&trace) {
        let mut watch = |_, _: &Stored<'_, Boolean>, candidates: &Vec<(Vec<u32>, bool)>, kept: &[bool]| {
            let all = numbered.slices(candidates.iter().map(|(slice, _)| slice));
            let left = candidates.iter().zip(kept).filter(|(_, kept)| **kept).map(|((slice, _), _)| slice);
            rows.push((all, numbered.slices(left)));
        };
        assert!(stored.run(&segment, root, &mut watch).unwrap());
    }
    rows
}

#[test]
fn candidates_of_a_response() {
    let three = "01 02 034";
    let five = "012 0134 02 0234 034";
    let expected = [(three, "01"), (three, "034"), (five, "0134 034"), (five, "02"), (three, "01")];
    let rows = slices(RESPONSE, &RESPONSE_NODES, RESPONSE_TRACE, ALL);
    assert_eq!(rows, expected.map(|(all, left)| (all.to_owned(), left.to_owned())));
}

/// {n0 n1 n2} and {n0 n2 n3 n4} include {n0 n2}, and {n0 n1 n3 n4} includes {n0 n3 n4}.
#[test]
fn minimal_candidates_of_a_response() {
    let limits = Limits { minimal: true, ..ALL };
    let rows = slices(RESPONSE, &RESPONSE_NODES, RESPONSE_TRACE, limits);
    let expected =
        [("01 02 034", "01"), ("01 02 034", "034"), ("02 034", "034"), ("02 034", "02"), ("01 02 034", "01")];
    assert_eq!(rows, expected.map(|(all, left)| (all.to_owned(), left.to_owned())));
}

/// The print has n4 false at position 0; it is the value of `!b U c` at position 1, which is true.
#[test]
fn results_of_reverse_traversal() {
    let program = program(RESPONSE);
    let trace = trace(&program, RESPONSE_TRACE);
    let numbered = Numbered::new(&program, &EvaluateOptions::default(), &RESPONSE_NODES);
    let automaton = &numbered.goals.automaton;
    let expr =
        |node| ExprId(automaton.exprs().iter().position(|expr| *expr == Expr::Node(node)).unwrap() as u32);
    let goals: Vec<ExprId> = numbered.nodes.iter().map(|&node| expr(node)).collect();
    let mut table = vec![['?'; 5]; trace.len];
    let sweep = Sweep::new(automaton, &goals);
    let found =
        |goal: usize, place: Place, value: &bool| table[place.at][goal] = if *value { 'T' } else { 'F' };
    sweep.run(&Boolean, &trace, usize::MAX, found).unwrap();
    let rows: Vec<String> = table.iter().map(|row| row.iter().collect()).collect();
    assert_eq!(rows, ["TTFFT", "TFFTT", "TTFTT", "TFTFF", "TTFTF"]);
}

#[test]
fn past_and_candidates_of_a_precedence() {
    let formula = "G (p -> O r)";
    let names = ["G (p -> O r)", "!p", "O r", "r"];
    let program = program(formula);
    let trace = trace(&program, ",r,p,p,p r");
    let numbered = Numbered::new(&program, &EvaluateOptions::default(), &names);
    let (automaton, root) = (&numbered.goals.automaton, numbered.goals.exprs[0]);
    let mut stored = Stored::new(automaton, &Boolean, root, ALL).unwrap();
    let mut rows = Vec::new();
    let segment = Segment::all(&trace).next().unwrap();
    let mut watch = |_, stored: &Stored<'_, Boolean>, candidates: &Vec<(Vec<u32>, bool)>, kept: &[bool]| {
        let past = [2, 3].map(|node| if stored.holds_past(numbered.nodes[node]) { 'T' } else { 'F' });
        let all = numbered.slices(candidates.iter().map(|(slice, _)| slice));
        let left = candidates.iter().zip(kept).filter(|(_, kept)| **kept).map(|((slice, _), _)| slice);
        rows.push(format!("{} | {all} | {}", String::from_iter(past), numbered.slices(left)));
    };
    assert!(stored.run(&segment, root, &mut watch).unwrap());
    let expected =
        ["FF | 01 | 01", "FT | 01 03 | 01 03", "TF | 01 02 | 02", "TF | 01 02 | 02", "TT | 01 02 03 | 02 03"];
    assert_eq!(rows, expected);
}

#[test]
fn small_verdicts() {
    let cases = [
        (RESPONSE, RESPONSE_TRACE, true),
        ("G (p -> O r)", ",r,p,p,p r", true),
        // Past nodes do not reject: r may be long ago.
        ("G (p -> O r)", "r,p", true),
        ("G (p -> O r)", "p,r", false),
        ("X a", "a", false),
        ("N false", "a", true),
        ("G F p", ",p", true),
        ("G F p", "p,", false),
        // The surviving empty slice is not lost.
        ("p", "p,", true),
        ("p", "p,p", true),
        ("Y p", "p", false),
        ("Z p", "p", true),
        // Past nodes are not followed forwards.
        ("Z b", "b c,c", true),
        ("N Y !a", ",a b c", true),
        ("last", "a", true),
        ("last", "a,a", false),
        ("!last", "a,a", true),
        ("G (last -> a)", ",,a", true),
        ("F (first & a)", "b,a", false),
    ];
    for (formula, positions, expected) in cases {
        for engine in engines() {
            for options in [EvaluateOptions::default(), faithful()] {
                let actual = holds(engine, formula, positions, &options);
                assert_eq!(actual, expected, "{} on {formula} over {positions:?}", engine.name());
            }
        }
    }
}

#[test]
fn the_last_position_may_repeat() {
    let repeat = EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() };
    let cases = [
        ("X a", "a", true),
        ("X X X a", ",a", true),
        ("N a", "", false),
        ("G (a -> X b)", ",a b", true),
        ("G (a -> X b)", ",a", false),
        ("X last", "a", true),
        ("a U X b", "a,b", true),
        ("X G X a", ",,a", true),
    ];
    for (formula, positions, expected) in cases {
        for engine in engines() {
            for faithful in [false, true] {
                let options = EvaluateOptions { faithful, ..repeat.clone() };
                let actual = holds(engine, formula, positions, &options);
                assert_eq!(actual, expected, "{} on {formula} over {positions:?}", engine.name());
            }
        }
    }
}

/// Visits of a depth-first search without memory, loops first as published or local operands first.
fn visits(formula: &str, positions: &str, options: &EvaluateOptions) -> u64 {
    let program = program(formula);
    let trace = trace(&program, positions);
    let goals = Goals::stored(&program, &[program.roots[0].node], options).unwrap();
    let mut search = Search::new(&goals.automaton, &Boolean, trace.len, false, usize::MAX).unwrap();
    let segment = Segment::all(&trace).next().unwrap();
    assert!(search.value(&segment, goals.exprs[0], 0).unwrap());
    search.visits
}

/// `G F z` where z holds at the last position alone: n(n+1)/2 + 2n visits, loops first.
#[test]
fn visits_grow_with_the_square_as_published() {
    let program = program("G F z");
    for n in [1, 2, 10, 100, 1000] {
        let positions = ",".repeat(n - 1) + "z";
        let trace = trace(&program, &positions);
        let root = program.roots[0].node;
        let published = cost(&program, root, &trace, &faithful(), Traversal::DepthFirst).unwrap();
        assert_eq!((published.holds, published.visits as usize), (true, n * (n + 1) / 2 + 2 * n));
        assert_eq!(visits("G F z", &positions, &EvaluateOptions::default()) as usize, n * n + n);
        // Remembering, each position is searched once: z and the loop of F on the way to the end, and again, up to the
        // loop, for the loop of G.
        let ours = cost(&program, root, &trace, &EvaluateOptions::default(), Traversal::DepthFirst).unwrap();
        assert_eq!((ours.holds, ours.visits as usize), (true, if n == 1 { 2 } else { 5 * n - 4 }));
        let slices = cost(&program, root, &trace, &faithful(), Traversal::BreadthFirst).unwrap();
        assert_eq!((slices.holds, slices.max_slices), (true, if n == 1 { 2 } else { 3 }));
        let reverse = cost(&program, root, &trace, &faithful(), Traversal::Reverse).unwrap();
        assert_eq!((reverse.holds, reverse.visits as usize), (true, 3 * n));
    }
}

/// The published experiment's formulas and mix of states (a: 10 %, b: 40 %, c: 25 %, none: 25 %), an a appended.
#[test]
fn visits_and_slices_of_the_published_experiment() {
    let states: String = include_str!("../tests/data/states.txt").split_whitespace().collect();
    let positions = |n: usize| {
        let state = |letter: char| if letter == '-' { String::new() } else { letter.to_string() };
        let states = states.chars().take(n - 1).map(state).chain(["a".to_owned()]);
        states.collect::<Vec<_>>().join(",")
    };
    let ours = EvaluateOptions::default();
    let (phi2, phi3) = ("G F a", "G (b -> !a U (a U (!a U a)))");
    for (formula, n, loops_first, local_first, all, minimal) in [
        (phi2, 1000, 502_500, 17_334, 3, 2),
        (phi2, 3000, 4_507_500, 55_216, 3, 2),
        (phi3, 1000, 13_168, 13_168, 20, 4),
        (phi3, 3000, 40_978, 40_978, 20, 4),
    ] {
        let positions = positions(n);
        assert_eq!(visits(formula, &positions, &faithful()), loops_first, "{formula} {n}");
        assert_eq!(visits(formula, &positions, &ours), local_first, "{formula} {n}");
        let program = program(formula);
        let trace = trace(&program, &positions);
        for (options, expected) in [(faithful(), all), (ours.clone(), minimal)] {
            let root = program.roots[0].node;
            let cost = cost(&program, root, &trace, &options, Traversal::BreadthFirst).unwrap();
            assert_eq!((cost.holds, cost.max_slices), (true, expected), "{formula} {n}");
        }
    }
}
