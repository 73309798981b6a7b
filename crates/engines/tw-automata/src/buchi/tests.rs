//! Sizes of textbook automata, and languages against the definition on random lassos.

use super::{Buchi, Budget, Obstacle};
use tw_ir::{Node, NodeId, Program, Temporal};
use tw_testkit::{Case, Rng, Shape, cases, lasso};

fn program(text: &str) -> (Program, NodeId) {
    let parsed = tw_spec::parse_formula(text, 0);
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    assert!(!lowered.has_errors(), "{text}: {:?}", lowered.diagnostics);
    let root = lowered.value.roots[0].node;
    (lowered.value, root)
}

/// Whether the automaton accepts a lasso, by trying what can be reached until nothing is new: a position is in the
/// product with a state, and a set of pairs that reach each other with all marks between them accepts.
fn accepts(buchi: &Buchi, program: &Program, stem: &[u64], cycle: &[u64]) -> bool {
    let atoms = program.atoms();
    let word: Vec<u64> = stem.iter().chain(cycle).copied().collect();
    let width = buchi.states.len();
    let total = word.len() * width;
    let holds = |row: u64, letter: u32| {
        let atom = atoms.binary_search(&buchi.letters[letter as usize]).expect("letters are atoms");
        row >> atom & 1 == 1
    };
    let mut edges: Vec<Vec<(usize, u64)>> = vec![Vec::new(); total];
    for (at, &row) in word.iter().enumerate() {
        let next = if at + 1 < word.len() { at + 1 } else { stem.len() };
        for (state, transitions) in buchi.states.iter().enumerate() {
            for transition in transitions.iter().filter(|t| t.reads(|letter| holds(row, letter))) {
                let target = next * width + transition.target as usize;
                edges[at * width + state].push((target, transition.marks));
            }
        }
    }
    let reach = |from: usize| {
        let (mut seen, mut todo) = (vec![false; total], vec![from]);
        while let Some(pair) = todo.pop() {
            for &(target, _) in &edges[pair] {
                if !std::mem::replace(&mut seen[target], true) {
                    todo.push(target);
                }
            }
        }
        seen
    };
    let reached: Vec<Vec<bool>> = (0..total).map(reach).collect();
    (0..total).filter(|&pair| (pair == 0 || reached[0][pair]) && reached[pair][pair]).any(|pair| {
        let inside = (0..total).filter(|&other| reached[pair][other] && reached[other][pair]);
        let marks = inside
            .flat_map(|other| edges[other].iter())
            .filter(|(to, _)| reached[pair][*to] && reached[*to][pair]);
        marks.fold(0, |all, (_, marks)| all | marks) == buchi.all_marks()
    })
}

fn compare(case: &Case, rng: &mut Rng, budget: Budget) -> usize {
    let (program, mut compared) = (&case.program, 0);
    let mask = (1u64 << program.atoms().len().min(63)) - 1;
    for root in &program.roots {
        for negated in [false, true] {
            let buchi = match Buchi::new(program, root.node, negated, budget) {
                Ok(buchi) => buchi,
                Err(obstacle) => {
                    assert!(obstacle.is_budget(), "{obstacle}: {}", tw_ir::display(program, root.node));
                    continue;
                }
            };
            if buchi.states.len() > 60 {
                continue;
            }
            for _ in 0..6 {
                let (stem, cycle) = (rng.below(5), 1 + rng.below(4));
                let mut word = |len| (0..len).map(|_| rng.bits() & rng.bits() & mask).collect::<Vec<u64>>();
                let (stem, cycle) = (word(stem), word(cycle));
                let expected = lasso::holds(program, root.node, &stem, &cycle) != negated;
                let formula = tw_ir::display(program, root.node);
                assert_eq!(
                    accepts(&buchi, program, &stem, &cycle),
                    expected,
                    "seed {}, negated {negated}: {formula}\n{stem:?} {cycle:?}\n{buchi:?}",
                    case.seed
                );
                compared += 1;
            }
        }
    }
    compared
}

const SMALL: Budget = Budget { states: 300, transitions: 5_000, steps: 100 };

#[test]
fn accepts_the_words_that_satisfy_the_formula() {
    let shape = Shape { depth: 4, values: 0, ..Shape::ONLINE };
    let (mut rng, mut compared) = (Rng::new(11), 0);
    let cases = cases(3_000).min(20_000) as u64;
    for seed in 0..cases {
        compared += compare(&Case::new(seed, &shape), &mut rng, SMALL);
    }
    assert!(compared > 10 * cases as usize, "{compared} words compared");
}

/// Future formulas inside past ones.
#[test]
fn past_and_future_mix() {
    let shape = Shape { depth: 4, values: 0, lengths: &[1], ..Shape::SMALL };
    let (mut rng, mut compared) = (Rng::new(12), 0);
    let cases = cases(2_000).min(10_000) as u64;
    for seed in 0..cases {
        compared += compare(&Case::new(seed, &shape), &mut rng, SMALL);
    }
    assert!(compared > 8 * cases as usize, "{compared} words compared");
}

/// States and marks of a formula's automaton, and of its negation's.
#[test]
fn textbook_sizes() {
    for (text, expected) in [
        ("true", ((1, 0), (1, 0))),
        ("p", ((2, 0), (2, 0))),
        ("G p", ((1, 0), (2, 1))),
        ("F p", ((2, 1), (1, 0))),
        ("p U q", ((2, 1), (2, 0))),
        ("X X p", ((4, 0), (4, 0))),
        ("G F p", ((1, 1), (2, 1))),
        ("F G p", ((2, 1), (1, 1))),
        ("G (p -> F q)", ((2, 1), (2, 1))),
        ("G (p -> X q)", ((2, 0), (3, 1))),
        ("G F p & G F q & G F r", ((1, 3), (7, 1))),
        ("G F p -> G F q", ((4, 1), (2, 1))),
        ("G (p -> O q)", ((2, 0), (2, 1))),
        ("G (p -> F[0,3] q)", ((4, 0), (5, 1))),
        ("G F[0,9] p", ((10, 0), (11, 1))),
    ] {
        let (program, root) = program(text);
        let size = |negated| {
            let buchi = Buchi::new(&program, root, negated, Budget::default()).expect(text);
            (buchi.states.len(), buchi.marks)
        };
        assert_eq!((size(false), size(true)), expected, "{text}");
    }
}

/// The lassos with stems and cycles of up to three letters over two atoms.
fn each_lasso(mut with: impl FnMut(&[u64], &[u64])) {
    for (stem, cycle) in [(0, 1), (0, 3), (1, 2), (2, 1), (3, 1), (3, 2)] {
        for bits in 0..1u64 << (2 * (stem + cycle)) {
            let word: Vec<u64> = (0..stem + cycle).map(|at| bits >> (2 * at) & 3).collect();
            with(&word[..stem], &word[stem..]);
        }
    }
}

/// Each formula with intervals, and what it says in other words.
#[test]
fn intervals_count_positions() {
    for (text, words) in [
        ("F[1,2] p & (q | !q)", "X (p | X p) & (q | !q)"),
        ("F[2,inf) p & (q | !q)", "X X F p & (q | !q)"),
        ("F(0,2) p & (q | !q)", "X p & (q | !q)"),
        ("G[1,3] (p | q)", "X ((p | q) & X ((p | q) & X (p | q)))"),
        ("G[1,inf) (p | q)", "X G (p | q)"),
        ("X[1,1] p | X[2,3] q", "X p & (q | !q)"),
        ("N[2,3] p & N[0,1] q", "X q & (p | !p)"),
        ("p U[0,2] q", "q | p & X (q | p & X q)"),
        ("p U[1,2] q", "p & X (q | p & X q)"),
        ("p U[2,inf) q", "p & X (p & X (p U q))"),
        ("p W[0,1] q", "q | p & X (p | q)"),
        ("p W[1,inf) q", "q | X (p W q)"),
        ("p R[0,2] q", "q & (p | X (q & (p | X q)))"),
        ("p R[1,1] q", "p | X q"),
        ("p M[1,2] q", "q & X (p & q | q & X (p & q))"),
        ("G (O[1,2] p | q)", "G (Y p | Y Y p | q)"),
        ("F (H[1,2] p & q)", "F (Z p & Z Z p & q)"),
        ("F (q & X X O[2,inf) p)", "F (q & X X Y Y O p)"),
        ("G F (p S[1,2] q)", "G F (p & Y (q | p & Y q))"),
        ("F (p S[1,inf) q)", "F (p & Y (p S q))"),
        ("X X X (p B[0,1] q)", "X X X (q | p & Z (p | q))"),
        ("X X X (p T[0,2] q)", "X X X (q & (p | Z (q & (p | Z q))))"),
        ("X X X (p T[2,inf) q)", "X X X (p | Z (p | Z (p T q)))"),
        ("X X (Y[1,1] p | Z[2,2] q)", "p | !p | q | !q"),
    ] {
        let (metric, root) = program(text);
        let (plain, other) = program(words);
        let names = |program: &Program| {
            program.atoms().iter().map(|&atom| tw_ir::display(program, atom)).collect::<Vec<_>>()
        };
        // Letters are told by the order of atoms, which is that of writing.
        let swap = names(&metric) != names(&plain);
        let buchi = Buchi::new(&metric, root, false, Budget::default()).expect(text);
        each_lasso(|stem, cycle| {
            let exchange = |row: &u64| if swap { row >> 1 | (row & 1) << 1 } else { *row };
            let (before, again): (Vec<u64>, Vec<u64>) =
                (stem.iter().map(exchange).collect(), cycle.iter().map(exchange).collect());
            let expected = lasso::holds(&plain, other, &before, &again);
            assert_eq!(accepts(&buchi, &metric, stem, cycle), expected, "{text}: {stem:?} {cycle:?}");
        });
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let refuse = |text: &str, budget| {
        let (program, root) = program(text);
        Buchi::new(&program, root, false, budget).expect_err(text)
    };
    let many = (0..5).map(|i| format!("G (p{i} -> F q{i})")).collect::<Vec<_>>().join(" & ");
    let found = refuse(&many, Budget { states: 20, ..Budget::default() });
    assert!(matches!(found, Obstacle::Size("states", 20)), "{found:?}");
    assert_eq!(found.to_string(), "formulas whose Büchi automaton has more than 20 states");
    let found = refuse(&many, Budget { transitions: 100, ..Budget::default() });
    assert!(matches!(found, Obstacle::Size("transitions", 100)), "{found:?}");
    let found = refuse("p & F[0,1000000] q", Budget::default());
    assert!(matches!(found, Obstacle::Window(_, 10_000)), "{found:?}");
    assert!(found.is_budget() && found.node().is_some());
    // What is left of the budget is no number that anyone asked for.
    let found = refuse("F[0,6000] p & F[0,6000] q", Budget::default());
    assert!(matches!(found, Obstacle::Window(_, 10_000)), "{found:?}");
    assert!(found.to_string().contains("10000 transitions, all of the formula together"), "{found}");
    let found = refuse("F[0,2s] q", Budget::default());
    assert!(matches!(found, Obstacle::Interval(..)) && !found.is_budget(), "{found:?}");
    let found = refuse("F[0,0.5] q", Budget::default());
    assert!(found.to_string().contains("finer"), "{found}");
    let many = (0..70).map(|i| format!("F p{i}")).collect::<Vec<_>>().join(" & ");
    let found = refuse(&many, Budget { transitions: 5_000, ..Budget::default() });
    assert!(matches!(found, Obstacle::Size(..)), "{found:?}");
}

/// A chain of nested operators far deeper than any stack of calls, and a state for each.
#[test]
fn deep_formulas_do_not_recurse() {
    let (mut program, a) = program("a");
    let mut node = a;
    for _ in 0..9_000 {
        node = program.dag.add(Node::Unary(Temporal::Next, None, node));
    }
    program.roots[0].node = node;
    let buchi = Buchi::new(&program, node, true, Budget::default()).expect("a chain");
    assert_eq!((buchi.states.len(), buchi.marks), (9_002, 0));
    let found = Buchi::new(&program, node, true, SMALL).expect_err("a chain that is too long");
    assert!(found.is_budget());
}
