//! Statistics: the worked examples, laws, and the traversals against each other.

use super::*;
use crate::sample::{program, trace};
use tw_ir::display;

fn names(program: &Program, origins: &[(NodeId, bool)]) -> Vec<String> {
    let name = |&(formula, negated): &(NodeId, bool)| {
        format!("{}{}", if negated { "!" } else { "" }, display(program, formula))
    };
    let mut names: Vec<String> = origins.iter().map(name).collect();
    names.sort();
    names
}

/// `!a -> (!b U c)`: one way is free of rejecting nodes on the first trace; on the second, every run waits once.
#[test]
fn statistics_of_a_response() {
    let program = program("!a -> !b U c");
    let root = program.roots[0].node;
    let options = EvaluateOptions::default();
    let waiting: &[&str] = &["!b", "!b U c", "c"];
    let cases = [("a,a c", Some(0), Some([].as_slice())), (",c", Some(1), Some(waiting)), (",", None, None)];
    for (positions, visits, covered) in cases {
        let trace = trace(&program, positions);
        for traversal in Traversal::ALL {
            assert_eq!(rejecting(&program, root, &trace, &options, traversal).unwrap(), visits);
            let coverage = coverage(&program, root, &trace, &options, traversal).unwrap();
            assert_eq!(coverage.as_ref().map(|found| names(&program, &found.covered)), covered.map(own));
            if let Some(coverage) = coverage {
                assert_eq!(names(&program, &coverage.all), ["!b", "!b U c", "a", "c"]);
            }
        }
    }
}

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Breadth-first, slice by slice: ({},0), ({c},1) and ({!b, loop},2) are what the second position has.
#[test]
fn annotated_slices_of_a_response() {
    let program = program("!a -> !b U c");
    let trace = trace(&program, "a,a c");
    let goals = Goals::stored(&program, &[program.roots[0].node], &EvaluateOptions::default()).unwrap();
    let semiring = Rejecting::new(&goals.automaton);
    let limits = Limits { minimal: true, slices: 100 };
    let mut stored = Stored::new(&goals.automaton, &semiring, goals.exprs[0], limits).unwrap();
    let mut rows = Vec::new();
    let segment = Segment::all(&trace).next().unwrap();
    let name = |slice: &Vec<u32>| {
        let origin = |&number: &u32| goals.automaton.nodes()[number as usize].origin;
        names(&program, &slice.iter().map(origin).collect::<Vec<_>>()).join(" ")
    };
    let mut watch = |_, _: &Stored<'_, Rejecting>, slices: &Vec<(Vec<u32>, Fewest)>, kept: &[bool]| {
        for ((slice, value), kept) in slices.iter().zip(kept) {
            let Fewest::Count(value) = value else { panic!("a slice without a count") };
            rows.push(format!("{{{}}} {value} {}", name(slice), if *kept { "kept" } else { "dropped" }));
        }
        rows.push("-".into());
    };
    assert_eq!(stored.run(&segment, goals.exprs[0], &mut watch).unwrap(), Fewest::Count(0));
    rows.sort_by_key(|row| row.clone());
    let expected = [
        "-",
        "-",
        "{!b !b U c} 1 kept",
        "{!b !b U c} 2 dropped",
        "{a} 0 kept",
        "{c} 0 dropped",
        "{c} 1 kept",
        "{} 0 kept",
    ];
    assert_eq!(rows, expected);
}

/// Waiting runs share their slices: the tree counts ten visits where the slices have seven.
#[test]
fn slices_count_less_than_trees() {
    let program = program("G F a");
    let trace = trace(&program, ",,,,a");
    let visits = |traversal| {
        let options = EvaluateOptions::default();
        rejecting(&program, program.roots[0].node, &trace, &options, traversal).unwrap()
    };
    assert_eq!(Traversal::ALL.map(visits), [Some(10), Some(7), Some(10)]);
}

/// `F a`: one run per position where a holds. `F a & F a'` of independent parts multiply.
#[test]
fn runs_are_counted() {
    for (formula, positions, expected) in [
        ("F a", "a,,a,a", 3),
        ("F a & F b", "a,b,a b,a", 6),
        ("G (a | b)", "a b,a b,a b", 8),
        ("G a", "a,a,", 0),
        ("O a", "a", 1),
    ] {
        let program = program(formula);
        let trace = trace(&program, positions);
        for traversal in [Traversal::DepthFirst, Traversal::Reverse] {
            let options = EvaluateOptions::default();
            let runs = runs(&program, program.roots[0].node, &trace, &options, traversal).unwrap();
            assert_eq!(runs, expected, "{formula}");
        }
    }
}

/// Nested loops multiply visits: the count ends in a refusal, not in a wrong number.
#[test]
fn too_many_visits_are_an_error() {
    let program = program(&("G N ".repeat(12) + "F a"));
    let trace = trace(&program, &(",".repeat(3000) + "a"));
    let options = EvaluateOptions::default();
    for traversal in [Traversal::DepthFirst, Traversal::Reverse] {
        let refusal = rejecting(&program, program.roots[0].node, &trace, &options, traversal).unwrap_err();
        assert!(refusal.exhausted, "{refusal:?}");
    }
}

/// Sums of the values of segments.
#[test]
fn segments_go_together() {
    let program = program("F a");
    let mut trace = trace(&program, ",a,,,a");
    trace.segments = Some(tw_monitor::Segments { starts: vec![0, 2] });
    for traversal in Traversal::ALL {
        let options = EvaluateOptions::default();
        let found = rejecting(&program, program.roots[0].node, &trace, &options, traversal).unwrap();
        assert_eq!(found, Some(1 + 2), "{traversal:?}");
    }
}

/// The laws that joining equal slices and skipping operands rely on.
#[test]
fn instances_are_semirings() {
    fn check<S: Semiring>(semiring: &S, values: &[S::Value])
    where
        S::Value: std::fmt::Debug,
    {
        let (bottom, top) = (semiring.bottom(), semiring.top());
        for a in values {
            assert_eq!(semiring.join(a, &bottom), *a);
            assert_eq!(semiring.meet(a, &top), *a);
            assert_eq!(semiring.meet(a, &bottom), bottom);
            if *a != bottom {
                let node = tw_automata::alternating::NodeIndex(0);
                assert_eq!(semiring.update(a, node), semiring.meet(a, &semiring.update(&top, node)));
            }
            for b in values {
                assert_eq!(semiring.join(a, b), semiring.join(b, a));
                assert_eq!(semiring.meet(a, b), semiring.meet(b, a));
                if semiring.absorbs(a) {
                    assert_eq!(semiring.join(a, b), *a);
                }
                for c in values {
                    let (left, right) = (
                        semiring.meet(a, &semiring.join(b, c)),
                        semiring.join(&semiring.meet(a, b), &semiring.meet(a, c)),
                    );
                    assert_eq!(left, right);
                }
            }
        }
    }
    let program = program("F a");
    let goals = Goals::stored(&program, &[program.roots[0].node], &EvaluateOptions::default()).unwrap();
    check(&Boolean, &[false, true]);
    let counts = [0, 1, 7, u64::MAX - 1, u64::MAX].map(Fewest::Count);
    let counts: Vec<Fewest> = counts.into_iter().chain([Fewest::Overflow, Fewest::None]).collect();
    check(&Rejecting::new(&goals.automaton), &counts);
    let sets: Vec<Option<Box<[u64]>>> = vec![None, Some([0].into()), Some([1].into()), Some([6].into())];
    check(&Covered::new(&goals.automaton), &sets);
    check(&Runs, &[0, 1, 2, 3, u64::MAX / 2, u64::MAX]);
}
