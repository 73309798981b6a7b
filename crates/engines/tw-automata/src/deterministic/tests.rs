//! Sizes, verdicts and trees of automata, against tables and against naive definitions.

use super::*;
use crate::draw;
use std::sync::Arc;
use tw_ir::{NodeId, Temporal};

const BUDGET: Budget = Budget { states: 10_000, nodes: 100_000 };

fn program(text: &str) -> (Arc<Program>, NodeId) {
    let program = tw_testkit::texts::formula(text);
    let goal = program.roots[0].node;
    (Arc::new(program), goal)
}

fn options(semantics: Semantics) -> Options {
    Options { semantics, budget: BUDGET, anywhere: false, verdicts_only: false }
}

fn automaton(text: &str, semantics: Semantics) -> Deterministic {
    let (program, goal) = program(text);
    Deterministic::new(&program, goal, &options(semantics)).unwrap()
}

/// The residual counts of "Monitoring Programs using Rewriting", and the sizes of the minimal automata.
#[test]
fn residuals_are_as_many_as_published() {
    for (formula, residuals, minimal) in [
        ("G (a -> F b)", 2, 2),
        ("F !(G (a -> F b))", 3, 2),
        ("G (a -> X (b U c))", 3, 4),
        ("G (!a -> (!b U c))", 3, 3),
        ("G (b -> (!a U (a U (!a U a))))", 2, 2),
        ("F (G a | G !a)", 3, 1),
    ] {
        let automaton = automaton(formula, Semantics::RepeatLast);
        assert_eq!((automaton.explored().1, automaton.len()), (residuals, minimal), "{formula}");
    }
}

/// All words of atoms up to a length, and the state each leads to.
fn words(automaton: &Deterministic, atoms: usize, length: usize) -> Vec<(Vec<u64>, u32)> {
    let mut all = vec![(Vec::new(), automaton.initial())];
    let mut last = 0..1;
    for _ in 0..length {
        let from = last.clone();
        for index in from {
            for letter in 0..1u64 << atoms {
                let (mut word, state) = all[index].clone();
                word.push(letter);
                all.push((word, automaton.step(state, &[letter])));
            }
        }
        last = last.end..all.len();
    }
    all
}

#[test]
fn three_valued_verdicts_of_textbook_formulas() {
    // Formula, states of the three-valued machine, and verdicts of words; letters are a = 1, b = 2, c = 4 …
    type Verdicts = &'static [(&'static [u64], Option<bool>)];
    let table: &[(&str, usize, Verdicts)] = &[
        ("G a", 2, &[(&[1], None), (&[1, 0], Some(false)), (&[1, 0, 1], Some(false))]),
        ("F a", 2, &[(&[0], None), (&[0, 1], Some(true))]),
        ("a U b", 3, &[(&[1], None), (&[1, 2], Some(true)), (&[1, 0], Some(false)), (&[2], Some(true))]),
        ("G F a", 1, &[(&[0, 1, 0], None)]),
        ("G (a -> F b)", 1, &[(&[1, 2, 1], None)]),
        ("X a", 4, &[(&[0], None), (&[0, 1], Some(true)), (&[0, 0], Some(false))]),
        ("X true", 1, &[(&[0], Some(true))]),
        (
            "(a U b) | G c",
            5,
            &[(&[1], None), (&[4], None), (&[5, 4], None), (&[4, 2], Some(false)), (&[5, 2], Some(true))],
        ),
        ("F (G a | G !a)", 1, &[(&[0, 1], None)]),
        ("F a | G !a", 1, &[(&[0], Some(true))]),
        ("G a & F !a", 1, &[(&[1], Some(false))]),
        ("G (a -> X b)", 3, &[(&[1], None), (&[1, 0], Some(false)), (&[0, 0], None)]),
        ("F last", 1, &[(&[0], Some(false))]),
        ("G (a -> O b)", 3, &[(&[0], None), (&[2, 1], Some(true)), (&[1], Some(false))]),
    ];
    for &(formula, states, verdicts) in table {
        let (program, goal) = program(formula);
        let moore = Options { verdicts_only: true, ..options(Semantics::Ltl3) };
        let machine = Deterministic::new(&program, goal, &moore).unwrap();
        assert_eq!(machine.len(), states, "{formula}");
        for &(word, verdict) in verdicts {
            let state = word.iter().fold(machine.initial(), |state, &letter| machine.step(state, &[letter]));
            assert_eq!(machine.settled(state), verdict, "{formula} after {word:?}");
        }
    }
    let finite = automaton("F (G a | G !a)", Semantics::Finite);
    assert_eq!(finite.settled(finite.step(finite.initial(), &[0])), Some(true));
}

const FORMULAS: &[(&str, usize)] = &[
    ("G (a -> F b)", 2),
    ("(a U b) W (c R a)", 3),
    ("F (a & X (b & X c))", 3),
    ("G (a <-> X X b)", 2),
    ("(a M b) ^ F (b & O a)", 2),
    ("G (last -> a) & F (first & b)", 2),
    ("N (a S b) -> X Y a", 2),
    ("G ((a T b) | X (a B b)) | H a", 2),
];

/// Words that no continuation tells apart are in one state, and no two states are alike.
#[test]
fn automata_are_minimal() {
    for &(formula, atoms) in FORMULAS {
        for semantics in [Semantics::Finite, Semantics::RepeatLast] {
            let automaton = automaton(formula, semantics);
            let states = automaton.len() as u32;
            // Pairs of states that some continuation tells apart, by fixed point over all letters.
            let mut apart = vec![vec![false; states as usize]; states as usize];
            let output = |state| (automaton.holds_at_end(state), automaton.settled(state));
            let mut more = true;
            while std::mem::take(&mut more) {
                for s in 0..states {
                    for t in 0..states {
                        let differ = output(s) != output(t)
                            || (0..1 << atoms).any(|letter| {
                                let (s, t) = (automaton.step(s, &[letter]), automaton.step(t, &[letter]));
                                apart[s as usize][t as usize]
                            });
                        if differ && !apart[s as usize][t as usize] {
                            apart[s as usize][t as usize] = true;
                            more = true;
                        }
                    }
                }
            }
            for s in 0..states {
                for t in 0..s {
                    assert!(apart[s as usize][t as usize], "{formula}: q{s} and q{t} are one");
                }
            }
            let reached: std::collections::BTreeSet<u32> =
                words(&automaton, atoms, 5).into_iter().map(|(_, state)| state).collect();
            assert_eq!(reached.len(), states as usize, "{formula}");
        }
    }
}

/// The minimal automaton against states on demand, which are neither minimised nor shared.
#[test]
fn states_on_demand_have_the_same_ends_and_verdicts() {
    for &(formula, atoms) in FORMULAS {
        for semantics in [Semantics::Finite, Semantics::RepeatLast, Semantics::Ltl3] {
            let (program, goal) = program(formula);
            let automaton = Deterministic::new(&program, goal, &options(semantics)).unwrap();
            let mut lazy = Lazy::new(&program, goal, &options(semantics)).unwrap();
            let origin = lazy.past().origin();
            for (word, state) in words(&automaton, atoms, 4).into_iter().skip(1) {
                let mut other = lazy.enter(&origin).unwrap();
                for letter in word.iter() {
                    other = lazy.step(other, &[*letter]).unwrap();
                }
                let settled = automaton.settled(state);
                if semantics == Semantics::Ltl3 {
                    assert_eq!(lazy.settled(other), settled, "{formula} {word:?}");
                } else {
                    // On demand fewer verdicts are found, none of them wrong.
                    assert!(lazy.settled(other).is_none_or(|v| Some(v) == settled), "{formula} {word:?}");
                }
                if settled.is_none() || semantics != Semantics::Ltl3 {
                    assert_eq!(
                        automaton.holds_at_end(state),
                        Some(lazy.holds_at_end(other)),
                        "{formula} {word:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn states_look_only_at_atoms_that_matter() {
    // One of thirty atoms is awaited after the other; minimising finds that no state waits for two.
    let chain = (0..29).rev().fold("F p29".to_owned(), |rest, n| format!("F (p{n} & X {rest})"));
    let automaton = automaton(&chain, Semantics::Finite);
    assert_eq!((automaton.atoms().len(), automaton.len(), automaton.forest().len()), (30, 31, 30));
    for state in 0..31 {
        assert!(automaton.forest().depth(automaton.tree(state)) <= 1, "{}", automaton.residual(state));
    }
}

#[test]
fn graphs_speak_the_words_of_the_user() {
    let automaton = automaton("G (request -> (!(x > 3) U reply))", Semantics::Finite);
    let graph = draw::deterministic(&automaton, "answered");
    let vertices: Vec<_> =
        graph.vertices.iter().map(|v| (v.name.as_str(), v.label.as_str(), v.kind)).collect();
    assert_eq!(
        vertices,
        [
            ("q0", "G (request -> !(x > 3) U reply)", draw::Kind::Accepting),
            ("q1", "G (request -> !(x > 3) U reply) & !(x > 3) U reply", draw::Kind::Rejecting),
            ("q2", "false", draw::Kind::False),
        ]
    );
    let edges: Vec<_> = graph.edges.iter().map(|e| (e.from, e.to, e.label.as_str())).collect();
    assert_eq!(
        edges,
        [
            (0, 0, "!request | reply"),
            (0, 1, "request & !(x > 3) & !reply"),
            (0, 2, "request & x > 3 & !reply"),
            (1, 0, "reply"),
            (1, 1, "!(x > 3) & !reply"),
            (1, 2, "x > 3 & !reply"),
            (2, 2, "true"),
        ]
    );
    assert_eq!(graph.initial, [0]);
}

#[test]
fn depth_and_budgets() {
    let nested = |depth: usize| {
        let mut program = program("F p0").0.as_ref().clone();
        let mut node = program.atoms()[0];
        for _ in 0..depth {
            node = program.dag.add(tw_ir::Node::Unary(Temporal::Next, None, node));
        }
        program.spans.resize(program.dag.len(), None);
        program.roots[0].node = node;
        (Arc::new(program), node)
    };
    let (program, goal) = nested(4000);
    let automaton = Deterministic::new(&program, goal, &options(Semantics::Finite)).unwrap();
    assert_eq!(automaton.len(), 4003);
    let (program, goal) = nested(100_000);
    let stop = Deterministic::new(&program, goal, &options(Semantics::Finite)).unwrap_err();
    assert_eq!(stop, Stop::Budget("100002 atoms and obligations, more than 4096".into()));
    let (program, goal) = nested(100);
    let few = Options { budget: Budget { states: 50, ..BUDGET }, ..options(Semantics::Finite) };
    let stop = Deterministic::new(&program, goal, &few).unwrap_err();
    assert_eq!(stop, Stop::Budget("more than 50 states of a deterministic automaton".into()));
}

/// Of safe formulas and of negations of safe ones the states tell the verdict, without a question of emptiness; those
/// that are neither are asked about. All of them as enumerated before.
#[test]
fn verdicts_of_safe_formulas_stand_in_the_states() {
    let safe = |text: &str| {
        let (program, goal) = program(text);
        obligation::Obligations::new(&program, &program.atoms(), goal, false).unwrap().safe()
    };
    for (text, expected) in [
        ("a ^ X (b ^ X a)", [true, true]),
        ("G (a -> X b)", [true, false]),
        ("F (a & X b)", [false, true]),
        ("a U b", [false, true]),
        ("a W (b R c)", [true, false]),
        ("!(a M b) & G c", [true, false]),
        ("G (a -> F b)", [false, false]),
        ("G a ^ b", [false, false]),
        ("(F a) -> G (b -> O c)", [true, false]),
    ] {
        assert_eq!(safe(text), expected, "{text}");
        // The other way: the formula beside one that is valid, and that nobody takes for safe.
        let (plain, asked) = (
            automaton(text, Semantics::Ltl3),
            automaton(&format!("({text}) & (G F a | F G !a)"), Semantics::Ltl3),
        );
        for (word, state) in words(&plain, plain.atoms().len(), 3) {
            let other = word.iter().fold(asked.initial(), |state, &letter| asked.step(state, &[letter]));
            assert_eq!(plain.settled(state), asked.settled(other), "{text} after {word:?}");
        }
    }
}

/// `(1 + X)^7` of an atom, whose transitions are doubly many with each step; it took longer than half a minute.
#[test]
fn nested_differences_have_a_small_automaton() {
    let parity = |depth: usize| (0..depth).fold("p".to_string(), |m, _| format!("(({m}) ^ X ({m}))"));
    let automaton = automaton(&format!("G {}", parity(7)), Semantics::Ltl3);
    assert!(automaton.len() < 1_000, "{}", automaton.len());
    // What is neither safe nor the negation of a safe formula may be too much: then there is none, and soon.
    let (program, goal) = program(&format!("F ({} & G F {})", parity(7), parity(6)));
    let found = Deterministic::new(&program, goal, &options(Semantics::Ltl3));
    assert_eq!(found.err(), Some(Stop::Budget(crate::emptiness::gave_up())));
}
