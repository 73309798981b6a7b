//! The worked examples of "Monitoring Programs using Rewriting".

mod common;

use common::{canonical, event, program, row, satisfies, trace};
use std::collections::BTreeSet;
use tw_automata::residual::{FormulaId, Syntax};
use tw_engine_rewrite::{Rewrite, Rewriting, residuals};
use tw_ir::Semantics;
use tw_monitor::{Engine, EvaluateOptions, words};
use tw_testkit::conformance::cases;
use tw_testkit::{Case, Shape};

/// The ten events of the paper.
const B: &str = "a b, a, c a, a b, c b, a b, a, c a, a b, c b";
const G: &str = "[] (true ++ a ++ a /\\ <> b)";

fn repeat_last() -> EvaluateOptions {
    EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() }
}

#[test]
fn normal_forms() {
    for (formula, normal, printed) in [
        (r"a -> b /\ c <-> (a -> b) /\ (a -> c)", "true", "true"),
        ("a <-> ! b", "a ++ b", "a ^ b"),
        (
            r"a \/ b \/ c",
            r"a ++ b ++ c ++ a /\ b ++ a /\ c ++ b /\ c ++ a /\ b /\ c",
            "a ^ b ^ c ^ a & b ^ a & c ^ b & c ^ a & b & c",
        ),
        (
            r"(a \/ ! b) /\ (c ++ a /\ b)",
            r"c ++ a /\ b ++ b /\ c ++ a /\ b /\ c",
            "c ^ a & b ^ b & c ^ a & b & c",
        ),
        ("[] (a -> <> b)", G, "G (true ^ a ^ a & F b)"),
        // Temporal laws are unknown.
        (
            r"<> a \/ [] ! a",
            r"<> a ++ [] (true ++ a) ++ <> a /\ [] (true ++ a)",
            "F a ^ G (true ^ a) ^ F a & G (true ^ a)",
        ),
        (r"a U (b U c) /\ (a U b) U c", r"(a U b) U c /\ a U (b U c)", "a U (b U c) & (a U b) U c"),
    ] {
        let program = program(&[formula, normal]);
        let (terms, forms) = canonical(&program);
        assert_eq!(forms[0], forms[1], "{formula}");
        let shown = terms.print(forms[0], &program, Syntax::Specification);
        assert_eq!(shown, printed, "{formula}");
        // What is printed is read back as the same formula.
        let again = common::program(&[formula, &shown]);
        let (_, forms) = canonical(&again);
        assert_eq!(forms[0], forms[1], "{shown}");
    }
}

#[test]
fn residuals_of_single_events() {
    let g = G;
    for (formula, events, expected) in [
        ("[] <> a", "b c", r"[] <> a /\ <> a".to_owned()),
        ("[] <> a", "a c", "[] <> a".to_owned()),
        ("[] (a -> <> b)", "a c", format!(r"{g} /\ <> b")),
        ("[] (a -> <> b)", "a c, a", format!(r"{g} /\ <> b")),
        ("[] (a -> <> b)", "a c, b", g.to_owned()),
        ("[] (a -> X (b U c))", "a", r"[] (true ++ a ++ a /\ X (b U c)) /\ b U c".to_owned()),
        ("<> (! [] (a -> <> b))", "a b", format!(r"true ++ {g} ++ {g} /\ <> (true ++ {g})")),
        ("<> (! [] (a -> <> b))", "a", format!(r"true ++ {g} /\ <> b ++ {g} /\ <> b /\ <> (true ++ {g})")),
        ("a U b", "c", "false".to_owned()),
        ("a U b", "a", "a U b".to_owned()),
        (
            "(a U b) U (X c)",
            "a",
            r"c ++ a U b /\ ((a U b) U (X c)) ++ c /\ a U b /\ ((a U b) U (X c))".to_owned(),
        ),
        ("[] (a -> X [] ! a)", "a", r"[] (true ++ a) /\ [] (true ++ a ++ a /\ X [] (true ++ a))".to_owned()),
    ] {
        let program = program(&[formula, &expected]);
        let (mut terms, forms) = canonical(&program);
        let mut residual = forms[0];
        for name in events.split(',') {
            let row = row(&program, name);
            residual = terms.after(residual, &event(&program, &row)).unwrap();
        }
        let shown = terms.print(residual, &program, Syntax::Maude);
        assert_eq!(residual, forms[1], "{formula} after {events}: {shown}");
    }
    // The last event decides.
    let program = program(&["a U b"]);
    let (mut terms, forms) = canonical(&program);
    assert!(!terms.at_end(forms[0], &event(&program, &row(&program, "a"))));
    assert!(terms.at_end(forms[0], &event(&program, &row(&program, "b"))));
}

#[test]
fn verdicts_on_small_traces() {
    for (events, formula, expected) in [
        (B, "[] (a -> <> b)", true),
        (B, "<> (! [] (a -> <> b))", false),
        ("a, b", "X a", false),
        ("a, b", "X X b", true),
        ("a, b", "X X a", false),
        ("b", "X b", true),
        ("a, c, b", "a U b", false),
        ("a, a, b", "a U b", true),
        ("a, nil", "[] <> a", false),
        ("nil, a", "[] <> a", true),
        ("a, nil, a", r"<> ([] a \/ [] ! a)", true),
        ("nil, a, nil", r"<> ([] a \/ [] ! a)", true),
    ] {
        let program = program(&[formula]);
        let trace = trace(&program, events);
        let answers = Rewrite.plan(&program, &repeat_last()).unwrap().evaluate(&trace, 10).unwrap();
        assert_eq!(answers[0].holds.get(0), expected, "{events} |- {formula}");
        assert_eq!(satisfies(&program, &trace, program.roots[0].node, 0), expected, "{events} |= {formula}");
    }
    // Only next tells the two semantics apart.
    let program = program(&["X b", "N b"]);
    let trace = trace(&program, "b");
    let answers = Rewrite.plan(&program, &EvaluateOptions::default()).unwrap().evaluate(&trace, 10).unwrap();
    assert_eq!([answers[0].holds.get(0), answers[1].holds.get(0)], [false, true]);
}

/// All residuals that some events lead to.
fn reachable(formula: &str) -> usize {
    let program = program(&[formula]);
    let (mut terms, forms) = canonical(&program);
    let letters = 1u64 << program.atoms().len();
    let (mut seen, mut todo): (BTreeSet<FormulaId>, _) = (BTreeSet::from([forms[0]]), vec![forms[0]]);
    while let Some(residual) = todo.pop() {
        for letter in 0..letters {
            let next = terms.after(residual, &event(&program, &[letter])).unwrap();
            if seen.insert(next) {
                todo.push(next);
            }
        }
    }
    seen.len()
}

#[test]
fn reachable_residuals() {
    for (formula, count) in [
        ("[] (a -> <> b)", 2),
        ("<> ! [] (a -> <> b)", 3),
        ("[] (a -> X (b U c))", 3),
        ("[] (! a -> (! b U c))", 3),
        ("[] (b -> (! a U (a U (! a U a))))", 2),
        (r"<> ([] a \/ [] ! a)", 3),
    ] {
        assert_eq!(reachable(formula), count, "{formula}");
    }
}

#[test]
fn verdicts_that_rewriting_alone_misses() {
    for (formula, events, expected) in [
        (r"<> ([] a \/ [] ! a)", "a", Some(true)),
        (r"<> a \/ [] ! a", "nil", Some(true)),
        (r"[] a /\ <> ! a", "a", Some(false)),
        ("[] (a -> X b)", "a, nil", Some(false)),
        ("[] (a -> X b)", "a, b", None),
        ("a U b", "a, b", Some(true)),
        ("a U b", "a, a", None),
        ("[] (a -> <> b)", "a, b, a, nil", None),
    ] {
        for semantics in [Semantics::RepeatLast, Semantics::Finite] {
            let program = program(&[formula]);
            let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
            let shown =
                residuals(&program, program.roots[0].node, &trace(&program, events), &options, 10).unwrap();
            assert_eq!(shown.last().unwrap().settled, expected, "{formula} on {events}, {semantics:?}");
        }
    }
}

#[test]
fn formulas_that_only_infinite_words_decide() {
    for (formula, events, expected) in [
        // Some infinite word satisfies each and some does not.
        (r"<> ([] a \/ [] ! a)", "a", None),
        ("[] <> a", "a, nil", None),
        // Over infinite words every position has a next one.
        ("X true", "nil", Some(true)),
        ("<> last", "nil", Some(false)),
        (r"[] <> a \/ <> [] ! a", "nil", Some(true)),
        (r"[] <> a /\ <> [] ! a", "a", Some(false)),
        ("a U b", "nil", Some(false)),
        ("G (a -> Y b)", "a", Some(false)),
        ("F (a & O b) -> F a", "a", Some(true)),
    ] {
        let program = program(&[formula]);
        let options = EvaluateOptions { semantics: Semantics::Ltl3, ..EvaluateOptions::default() };
        let shown =
            residuals(&program, program.roots[0].node, &trace(&program, events), &options, 10).unwrap();
        assert_eq!(shown.last().unwrap().settled, expected, "{formula} on {events}");
    }
}

#[test]
fn what_is_owed_is_said_in_the_users_words() {
    for (formula, events, owed, canonical) in [
        ("G (a -> F b)", "a", "G (a -> F b) & F b", "G (true ^ a ^ a & F b) & F b"),
        ("G (a -> F b)", "b", "G (a -> F b)", "G (true ^ a ^ a & F b)"),
        ("F (a & X (b | c))", "a", "b | c | F (a & X (b | c))", ""),
        ("X (a <-> F b)", "nil", "", "true ^ a ^ F b"),
        ("X (a -> G b)", "nil", "!a | G b", "true ^ a ^ a & G b"),
        ("X !F a", "nil", "!F a", "true ^ F a"),
        ("X (x > 3 & !(y == 2))", "nil", "(x > 3) & !(y == 2)", ""),
        ("X (a xor b)", "nil", "a ^ b", "a ^ b"),
        ("a U b", "b", "true", "true"),
        (
            "X (F a & F b & F c & F d & (F e | F f) & G (a -> b))",
            "nil",
            "F a & F b & F c & F d & G (a -> b) & (F e | F f)",
            "",
        ),
        (
            "X (F a & F b & F c & (F d ^ F e ^ F f ^ (F a1 & (b U c)) ^ F a2 ^ G d))",
            "nil",
            "F a & F b & F c & (F d ^ F e ^ F f ^ F a2 ^ G d ^ F a1 & b U c)",
            "",
        ),
    ] {
        let program = program(&[formula]);
        let shown =
            residuals(&program, program.roots[0].node, &trace(&program, events), &repeat_last(), 10).unwrap();
        let last = shown.last().unwrap();
        assert!(owed.is_empty() || last.owed == owed, "{formula} after {events}: {}", last.owed);
        assert!(
            canonical.is_empty() || last.canonical == canonical,
            "{formula} after {events}: {}",
            last.canonical
        );
    }
    let program = program(&["G (a -> F b)"]);
    let mut rewriting = Rewriting::new(&program, program.roots[0].node, &repeat_last()).unwrap();
    assert_eq!(rewriting.canonical(), "G (true ^ a ^ a & F b)");
    let step = rewriting.step(&row(&program, "a")).unwrap();
    assert_eq!((step.position, step.settled, step.at_end), (0, None, false));
    assert_eq!(rewriting.residuals_met(), 2);
}

/// The words mean what the canonical form means: both are read back as the same residual.
#[test]
fn words_are_the_residual() {
    let mut read = 0;
    for seed in 0..cases(100_000) / 50 {
        let case = Case::new(seed, &Shape { values: 0, ..Shape::ONLINE });
        let has_past =
            case.program.dag.nodes().iter().any(|node| node.is_past() || *node == tw_ir::Node::First);
        let Ok(trace) = case.trace(false) else { continue };
        if has_past {
            continue;
        }
        for root in &case.program.roots {
            let Ok(shown) = residuals(&case.program, root.node, &trace, &repeat_last(), 5) else { continue };
            for residual in shown {
                if residual.owed.len() > 2_000 || residual.canonical.len() > 2_000 {
                    continue;
                }
                let again = program(&[&residual.owed, &residual.canonical]);
                let (_, forms) = canonical(&again);
                assert_eq!(
                    forms[0], forms[1],
                    "seed {seed}: {} is not {}",
                    residual.owed, residual.canonical
                );
                read += 1;
            }
        }
    }
    assert!(read > 100 || cases(100_000) < 100_000, "{read}");
}

/// The engine against the paper's own definition, on random formulas about the future.
#[test]
fn satisfaction_by_recursion_is_satisfaction_by_rewriting() {
    let shape = Shape { lengths: &[1, 2, 3, 5], depth: 3, values: 0, ..Shape::ONLINE };
    let mut compared = 0;
    for seed in 0..cases(100_000) / 5 {
        let mut case = Case::new(seed, &shape);
        case.starts = vec![0];
        case.options.semantics = Semantics::RepeatLast;
        let has_past =
            case.program.dag.nodes().iter().any(|node| node.is_past() || *node == tw_ir::Node::First);
        if has_past {
            continue;
        }
        let trace = case.trace(false).unwrap();
        let Ok(mut evaluator) = Rewrite.plan(&case.program, &case.options) else { continue };
        let answers = evaluator.evaluate(&trace, 0).unwrap();
        for (root, answer) in case.program.roots.iter().zip(answers) {
            let expected = satisfies(&case.program, &trace, root.node, 0);
            assert_eq!(
                answer.holds.get(0),
                expected,
                "seed {seed}: {}",
                tw_ir::display(&case.program, root.node)
            );
            compared += 1;
        }
    }
    assert!(compared * 10 > cases(100_000) / 5, "{compared}");
}

/// Words of a row are as many as the atoms need; letters are read from all of them.
#[test]
fn atoms_beyond_the_first_word() {
    let many: Vec<String> = (0..70).map(|at| format!("q{at} & r{at}")).collect();
    let others = many.join(" | ");
    let formula = "G (zz1 -> F zz2)";
    let program = program(&[&format!("F ({others})"), formula]);
    assert_eq!(words(program.atoms().len()), 3);
    let mut monitor = Rewrite.monitor(&program, &repeat_last(), tw_monitor::Telling::Verdicts).unwrap();
    let mut out = tw_monitor::Sink::default();
    for events in ["nil", "zz1", "q3 r4", "zz2"] {
        monitor.step(&row(&program, events), &mut out).unwrap();
    }
    assert_eq!(at_end(monitor.as_mut()), [Some(false), Some(true)]);
    monitor.step(&row(&program, "zz1 q60 r60"), &mut out).unwrap();
    assert_eq!(at_end(monitor.as_mut()), [Some(true), Some(false)]);
}

/// The verdicts should the trace end here.
fn at_end(monitor: &mut dyn tw_monitor::Monitor) -> Vec<Option<bool>> {
    let known = monitor.finish(&mut tw_monitor::Sink::default()).unwrap().unwrap();
    known.iter().map(tw_monitor::Known::truth).collect()
}
