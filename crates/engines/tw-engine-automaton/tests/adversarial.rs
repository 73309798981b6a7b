//! Formulas made to be large: planning and running them stays within time and memory, and right.

use std::time::{Duration, Instant};
use tw_core::Bits;
use tw_engine_automaton::{Automaton, Mode, mode};
use tw_engine_reference::Reference;
use tw_ir::{Program, Semantics};
use tw_monitor::{Engine, EvaluateOptions, Telling, Trace};
use tw_testkit::Rng;
use tw_testkit::texts::formula as program;

/// Planning never takes longer; generous, for machines with other work.
const PLAN: Duration = Duration::from_secs(4);

fn join(parts: impl Iterator<Item = String>, with: &str) -> String {
    parts.map(|part| format!("({part})")).collect::<Vec<_>>().join(with)
}

/// Rows in which each atom holds with the given chance in a thousand.
fn trace(program: &Program, len: usize, chance: usize, seed: u64) -> Trace {
    let mut rng = Rng::new(seed);
    let mut column = || (0..len).map(|_| rng.chance(chance)).collect::<Bits>();
    Trace { len, atoms: program.atoms().iter().map(|_| column()).collect(), ..Trace::default() }
}

#[test]
fn large_formulas_stay_in_budget() {
    let responses = |n: usize| join((0..n).map(|i| format!("G (a{i} -> F b{i})")), " & ");
    // Positions after which 14 earlier ones matter: 2^14 states and more.
    let window = format!("G (a -> {} b)", "X ".repeat(14));
    let nested = (0..30).fold("p30".to_owned(), |inner, i| format!("(p{i} U {inner})"));
    let left = (0..30).fold("p30".to_owned(), |inner, i| format!("({inner} U p{i})"));
    let wide = join((0..40).map(|i| format!("p{i}")), " ^ ");
    let formulas = [
        join((0..30).map(|i| format!("F a{i}")), " | "),
        join((0..30).map(|i| format!("F a{i}")), " & "),
        join((0..30).map(|i| format!("G F a{i}")), " & "),
        responses(30),
        format!("G ({})", join((0..12).map(|i| format!("a{i} -> F b{i}")), " & ")),
        format!("({}) | G c", responses(12)),
        nested,
        left,
        window,
        format!("F ({wide})"),
        format!("G (({wide}) -> X F p3)"),
        join((0..20).map(|i| format!("(p{i} S q{i}) -> F r{i}")), " & "),
        join((0..12).map(|i| format!("G (p{i} -> X (q{i} U r{i}))")), " ^ "),
    ];
    for formula in &formulas {
        let program = program(formula);
        for semantics in [Semantics::Finite, Semantics::RepeatLast, Semantics::Ltl3] {
            let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
            let start = Instant::now();
            let how = mode(&program, program.roots[0].node, &options);
            let planned = start.elapsed();
            println!("{planned:?} {semantics:?} {how:?} {}", &formula[..formula.len().min(60)]);
            assert!(planned < PLAN, "{planned:?} for {formula}");
            let mut evaluator = Automaton.plan(&program, &options).unwrap();
            let mut reference = Reference.plan(&program, &options).ok();
            let chances = [30, 300, 900];
            for (seed, chance) in chances.into_iter().enumerate() {
                let trace = trace(&program, 300, chance, seed as u64);
                let answers = match evaluator.evaluate(&trace, 0) {
                    Ok(answers) => answers,
                    Err(refused) => {
                        assert!(refused.exhausted, "{formula}: {refused:?}");
                        println!("  refused: {}", refused.what);
                        continue;
                    }
                };
                if let Some(reference) = &mut reference {
                    let expected = reference.evaluate(&trace, 0).unwrap();
                    assert_eq!(answers[0].holds, expected[0].holds, "{formula}");
                }
            }
        }
    }
}

#[test]
fn products_too_large_are_split() {
    let responses = join((0..30).map(|i| format!("G (a{i} -> F b{i})")), " & ");
    let program = program(&responses);
    let how = mode(&program, program.roots[0].node, &EvaluateOptions::default()).unwrap();
    assert_eq!(how, Mode::Split { parts: 30, on_demand: 0 });
    assert_eq!(how.to_string(), "split into 30 automata");
}

#[test]
fn states_on_demand_are_forgotten() {
    // Which of the last 20 events were a: a million states, of which 200 are kept.
    let program = program(&format!("G (a -> {} (b | c))", "X ".repeat(20)));
    let options =
        EvaluateOptions { semantics: Semantics::Ltl3, state_budget: 200, ..EvaluateOptions::default() };
    assert_eq!(mode(&program, program.roots[0].node, &options), Ok(Mode::OnDemand));
    let mut monitor = Automaton.monitor(&program, &options, tw_monitor::Telling::Positions).unwrap();
    let (mut rng, mut settled, mut held) = (Rng::new(7), tw_monitor::Sink::default(), 0);
    // c always holds, so that nothing is violated.
    for _ in 0..20_000 {
        monitor.step(&[rng.bits() & 3 | 4], &mut settled).unwrap();
        held = held.max(monitor.heap_bytes());
    }
    let settled = settled.settled;
    assert!(settled.iter().all(|settled| settled.about.is_some() && settled.holds()));
    assert!(settled.len() > 19_900 && held < 20 << 20, "{} settled, {held} bytes", settled.len());
    // The state is a formula, and another monitor goes on from it.
    let mut saved = Vec::new();
    monitor.save(&mut saved);
    let mut other = Automaton.monitor(&program, &options, tw_monitor::Telling::Positions).unwrap();
    other.restore(&saved).unwrap();
    assert_eq!(other.pending(), monitor.pending());
    let (mut here, mut there) = (tw_monitor::Sink::default(), tw_monitor::Sink::default());
    for _ in 0..100 {
        let row = [rng.bits() & 7];
        monitor.step(&row, &mut here).unwrap();
        other.step(&row, &mut there).unwrap();
    }
    assert_eq!(here.settled, there.settled);
}

/// The same transitions, once as a table and once as trees: the second formula uses more atoms than a table has.
#[test]
fn tables_and_trees_agree() {
    let ballast = join((0..9).map(|i| format!("G (q{i} | !q{i})")), " & ");
    for formula in ["G (a -> F b)", "(a U b) W c", "F (a & X (b | O c))", "G (a & b -> X (c M a))"] {
        let (table, trees) = (program(formula), program(&format!("({formula}) & {ballast}")));
        for semantics in [Semantics::Finite, Semantics::RepeatLast, Semantics::Ltl3] {
            let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
            let is_table = |program: &Program| match mode(program, program.roots[0].node, &options) {
                Ok(Mode::Complete { table, .. }) => table,
                other => panic!("{other:?}"),
            };
            assert!(is_table(&table) && !is_table(&trees), "{formula}");
            for seed in 0..50 {
                let long = trace(&trees, 150, 400, seed);
                let named = |id| tw_ir::display(&trees, id);
                let place = |name: &str| trees.atoms().iter().position(|&id| named(id) == name).unwrap();
                let atoms = table
                    .atoms()
                    .into_iter()
                    .map(|id| long.atoms[place(&tw_ir::display(&table, id))].clone());
                let short = Trace { len: 150, atoms: atoms.collect(), ..Trace::default() };
                let of = |program: &Program, trace: &Trace| {
                    let answers = Automaton.plan(program, &options).unwrap().evaluate(trace, 0).unwrap();
                    (answers[0].holds.clone(), answers[0].open.clone())
                };
                assert_eq!(of(&table, &short), of(&trees, &long), "{formula}");
            }
        }
    }
}

/// Where even the first question about infinite continuations is too much, the engine refuses before a trace is read.
#[test]
fn what_cannot_be_decided_is_refused_at_once() {
    let parity = |depth: usize| (0..depth).fold("p".to_owned(), |m, _| format!("(({m}) ^ X ({m}))"));
    let program = program(&format!("F ({} & G F {})", parity(7), parity(6)));
    let options = EvaluateOptions { semantics: Semantics::Ltl3, ..EvaluateOptions::default() };
    let refused = Automaton.plan(&program, &options).err().expect("it refuses");
    assert!(refused.exhausted && refused.what.contains("steps"), "{refused:?}");
    let refused = Automaton.monitor(&program, &options, Telling::Verdicts).err().expect("it refuses");
    assert!(refused.exhausted, "{refused:?}");
}

/// What the automaton of one property costs does not depend on how many others there are: squared, these would take minutes.
#[test]
fn many_properties_are_planned_one_by_one() {
    const PROPERTIES: usize = 20_000;
    let text: String = (0..PROPERTIES).map(|i| format!("property p{i} : G (a{i} -> F b{i});")).collect();
    let many = tw_testkit::texts::specification(&text);
    assert_eq!(many.atoms().len(), 2 * PROPERTIES);
    let options = EvaluateOptions { semantics: Semantics::Ltl3, ..EvaluateOptions::default() };
    let monitor = Automaton.monitor(&many, &options, Telling::Violations).map(|monitor| monitor.verdicts());
    assert_eq!(monitor.expect("it is planned").len(), PROPERTIES);
}
