//! Automata of monitors against the definitions of their formalisms.

use super::{Enables, EventAutomaton, Output};
use crate::deterministic::{Budget, Stop};
use tw_ir::Node;
use tw_ir::monitor::{Category, Formalism, Monitor};
use tw_testkit::texts::specification;
use tw_testkit::{Rng, lasso};

fn monitor(text: &str) -> Monitor {
    specification(text).monitors.remove(0)
}

fn automaton(text: &str) -> EventAutomaton {
    EventAutomaton::new(&monitor(text)).expect("an automaton")
}

/// What the automaton says after each event of a word.
fn run(automaton: &EventAutomaton, word: &[usize]) -> Vec<Output> {
    let mut state = 0;
    let mut told = |&event: &usize| {
        state = automaton.step(state, event);
        automaton.output(state)
    };
    word.iter().map(&mut told).collect()
}

fn categories(text: &str, word: &[usize]) -> Vec<Option<Category>> {
    run(&automaton(text), word).into_iter().map(|output| output.category).collect()
}

const UNSAFE: &str = "monitor UnsafeIterator(m, c, i) { event getC(m, c); event getI(c, i); event modifyM(m); event modifyC(c);
    event useI(i); ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI; }";

#[test]
fn the_sets_of_the_running_example() {
    let monitor = monitor(UNSAFE);
    let automaton = EventAutomaton::new(&monitor).expect("an automaton");
    // Before getC, getI, the change and the use; matched; failed.
    assert_eq!(automaton.len(), 6);
    let enables = Enables::new(&monitor, &automaton).expect("sets");
    let (m, c, i) = (1, 2, 4);
    assert_eq!(
        enables.enable,
        [vec![0], vec![m | c], vec![m | c | i, m | c], vec![m | c | i, m | c], vec![m | c | i]]
    );
    assert_eq!(enables.creation, [true, false, false, false, false]);
    // Dead once i is dead, or m and c both are.
    assert_eq!(enables.coenable[4], [m | i, c | i]);
    assert_eq!(enables.coenable[0], [c | i]);
    // After the change the use alone is left.
    let changed = run_state(&automaton, &[0, 1, 2]);
    assert_eq!(enables.useful[changed as usize], [i]);
    assert!(enables.useful[run_state(&automaton, &[4]) as usize].is_empty());
}

fn run_state(automaton: &EventAutomaton, word: &[usize]) -> u32 {
    word.iter().fold(0, |state, &event| automaton.step(state, event))
}

#[test]
fn creation_events_are_declared_or_computed() {
    let creation = |text: &str| {
        let monitor = monitor(text);
        Enables::new(&monitor, &EventAutomaton::new(&monitor).expect("an automaton")).expect("sets").creation
    };
    assert_eq!(
        creation("monitor Mo(f) { event open(f); event close(f); ltl : open -> F close; }"),
        [true, false]
    );
    assert_eq!(
        creation("monitor Mo(f) { creation event open(f); event close(f); ere : close open; }"),
        [true, false]
    );
    assert_eq!(
        creation("monitor Mo(f) { event open(f); event close(f); ltl : G (close -> Y open); }"),
        [true, true]
    );
    // Nothing can be matched, so nothing begins.
    assert_eq!(
        creation("monitor Mo(f) { event open(f); event close(f); ere : open & close; }"),
        [false, false]
    );
    // An event without parameters may come first.
    assert_eq!(creation("monitor Mo(f) { event tick; event open(f); ere : tick open; }"), [true, false]);
}

#[test]
fn machines_fail_for_good() {
    let text = "monitor Mo(f) { event open(f); event close(f); fsm : closed [open -> opened] opened [close -> closed]; on opened; on fail; }";
    let (closed, opened) = (Some(Category::State(0)), Some(Category::State(1)));
    assert_eq!(categories(text, &[0, 1, 0]), [opened, closed, opened]);
    let failed = Some(Category::Fail);
    assert_eq!(categories(text, &[0, 0, 1]), [opened, failed, failed]);
    let raw = "monitor Mo(f) { event bad(f); }";
    assert_eq!(categories(raw, &[0, 0]), [Some(Category::Match); 2]);
}

#[test]
fn formulas_are_about_one_event_at_a_time() {
    let next = "monitor Mo(i) { event hasnexttrue(i); event next(i); ltl : G (`next` -> Y hasnexttrue); }";
    let violated = Some(Category::Violation);
    assert_eq!(categories(next, &[0, 1]), [None, None]);
    assert_eq!(categories(next, &[1]), [violated]);
    assert_eq!(categories(next, &[0, 1, 1, 0]), [None, None, violated, violated]);
    let with =
        |formula: &str| format!("monitor Mo(i) {{ event a(i); event b(i); event c(i); ltl : {formula}; }}");
    // Two events never happen at once, and one always does.
    assert_eq!(categories(&with("F (a & b)"), &[2]), [violated]);
    assert_eq!(categories(&with("G (a | b | c)"), &[2]), [Some(Category::Validation)]);
    assert_eq!(categories(&with("G (a | b)"), &[0, 2]), [None, violated]);
    let ends = |formula: &str, word: &[usize]| {
        run(&automaton(&with(formula)), word).iter().map(|output| output.violated_at_end).collect::<Vec<_>>()
    };
    assert_eq!(ends("a -> F b", &[0, 2, 1]), [true, true, false]);
    assert_eq!(ends("G (a -> F b)", &[0, 1, 0]), [true, false, true]);
    assert_eq!(ends("X true", &[0, 0]), [true, false]);
}

/// A random expression as text.
fn expression(random: &mut Rng, depth: usize) -> String {
    let below = |random: &mut Rng| expression(random, depth.saturating_sub(1));
    match if depth == 0 { random.below(2) } else { random.below(9) } {
        0 => "a".into(),
        1 => "b".into(),
        2 => format!("({} {})", below(random), below(random)),
        3 => format!("({} | {})", below(random), below(random)),
        4 => format!("({} & {})", below(random), below(random)),
        5 => format!("(~{})", below(random)),
        6 => format!("({})*", below(random)),
        7 => format!("({})+", below(random)),
        _ => format!("({})?", below(random)),
    }
}

/// Whether a word is in the language, and whether some continuation of up to `more` events is.
fn looks_ahead(automaton: &EventAutomaton, state: u32, more: u32) -> bool {
    automaton.output(state).category == Some(Category::Match)
        || more > 0 && automaton.row(state).iter().any(|&next| looks_ahead(automaton, next, more - 1))
}

#[test]
fn failing_means_that_nothing_can_follow() {
    let mut random = Rng::new(11);
    let (mut failed, mut open) = (0, 0);
    for _ in 0..300 {
        let text =
            format!("monitor Mo(x) {{ event a(x); event b(x); ere : {}; }}", expression(&mut random, 4));
        let Ok(automaton) = EventAutomaton::new(&monitor(&text)) else { continue };
        for state in 0..automaton.len() as u32 {
            let fails = automaton.output(state).category == Some(Category::Fail);
            // A way to a match is no longer than there are states.
            if automaton.len() <= 8 {
                let more = automaton.len() as u32;
                assert_eq!(fails, !looks_ahead(&automaton, state, more), "{text}: state {state}");
            }
            if fails { failed += 1 } else { open += 1 }
        }
        // No two states of a minimal automaton are alike.
        let words: Vec<Vec<usize>> =
            (0..1usize << 8).map(|bits| (0..8).map(|at| bits >> at & 1).collect()).collect();
        let alike = |a: u32, b: u32| {
            automaton.output(a) == automaton.output(b)
                && words.iter().all(|word| {
                    let (mut a, mut b) = (a, b);
                    word.iter().all(|&event| {
                        (a, b) = (automaton.step(a, event), automaton.step(b, event));
                        automaton.output(a) == automaton.output(b)
                    })
                })
        };
        if automaton.len() <= 5 {
            let pairs = (0..automaton.len() as u32).flat_map(|a| (0..a).map(move |b| (a, b)));
            pairs.for_each(|(a, b)| assert!(!alike(a, b), "{text}: {a} and {b}"));
        }
    }
    assert!(failed > 50 && open > 300, "{failed} {open}");
}

/// A random formula as text, past and future.
fn formula(random: &mut Rng, depth: usize) -> String {
    let below = |random: &mut Rng| formula(random, depth.saturating_sub(1));
    match if depth == 0 { random.below(3) } else { random.below(11) } {
        0 => "a".into(),
        1 => "b".into(),
        2 => "c".into(),
        3 => format!("(!{})", below(random)),
        4 => format!("({} & {})", below(random), below(random)),
        5 => format!("({} | {})", below(random), below(random)),
        6 | 7 => format!("({} {})", random.pick(&["X", "F", "G"]), below(random)),
        8 | 9 => format!("({} {} {})", below(random), random.pick(&["U", "W", "R"]), below(random)),
        _ => format!("({} {})", random.pick(&["Y", "O", "H"]), random.pick(&["a", "b", "c"])),
    }
}

/// All words of a length.
fn words(length: u32) -> impl Iterator<Item = Vec<usize>> {
    (0..3usize.pow(length)).map(move |mut number| {
        (0..length)
            .map(|_| {
                let event = number % 3;
                number /= 3;
                event
            })
            .collect()
    })
}

/// Verdicts against truth on infinite sequences of events: after a violation no continuation satisfies the formula, after a
/// validation none violates it, and otherwise there are both.
#[test]
fn verdicts_are_those_of_all_infinite_continuations() {
    let mut random = Rng::new(3);
    let mut told = [0; 3];
    for _ in 0..60 {
        let text = format!(
            "monitor Mo(x) {{ event a(x); event b(x); event c(x); ltl : {}; }}",
            formula(&mut random, 3)
        );
        let monitor = monitor(&text);
        let automaton = EventAutomaton::new(&monitor).expect("an automaton");
        let Formalism::Ltl { program, goal, slots } = &monitor.formalism else { panic!("a formula") };
        let atoms = program.atoms();
        let letter = |event: usize| {
            let happens = |(bit, &atom): (usize, &tw_ir::NodeId)| {
                let own = matches!(program.dag.node(atom), Node::Truth(slot) if slots[slot as usize] as usize == event);
                u64::from(own) << bit
            };
            atoms.iter().enumerate().map(happens).sum::<u64>()
        };
        let letters = |word: &[usize]| word.iter().map(|&event| letter(event)).collect::<Vec<u64>>();
        for prefix in words(2) {
            let category = automaton.output(run_state(&automaton, &prefix)).category;
            let mut found = [false; 2];
            for (stem, cycle) in [(0, 1), (1, 1), (2, 1), (3, 1), (0, 2), (1, 2), (2, 2), (1, 3)] {
                for (stem, cycle) in words(stem).flat_map(|stem| words(cycle).map(move |c| (stem.clone(), c)))
                {
                    let stem = letters(&[prefix.clone(), stem].concat());
                    found[usize::from(lasso::holds(program, *goal, &stem, &letters(&cycle)))] = true;
                }
            }
            let expected = match found {
                [true, false] => Some(Category::Violation),
                [false, true] => Some(Category::Validation),
                _ => None,
            };
            assert_eq!(category, expected, "{text} after {prefix:?}");
            told[category.map_or(2, |category| usize::from(category == Category::Validation))] += 1;
        }
    }
    assert!(told.iter().all(|&count| count > 40), "{told:?}");
}

#[test]
fn budgets_end_in_a_message() {
    let ere = format!("(a | b)* a {}", "(a | b) ".repeat(9));
    let long = monitor(&format!("monitor Mo(x) {{ event a(x); event b(x); ere : {ere}; }}"));
    let small = Budget { states: 500, nodes: 100_000 };
    let Err(Stop::Budget(message)) = EventAutomaton::within(&long, small) else { panic!("a budget") };
    assert_eq!(message, "more than 500 states of a regular expression");
    // The tenth event from the end, and the events since the first.
    assert_eq!(EventAutomaton::new(&long).expect("an automaton").len(), 1024);
}
