//! Observer pairs: what is said at once of each position, and what is settled of it later.

use super::vectors::{packed, settled};
use super::{one_trace, options, program, root_nodes, row};
use crate::online::{Each, MetricMonitor, Online};
use tw_engine_reference::Reference;
use tw_ir::{Clock, Node, NodeId, Semantics, Temporal, Ticks};
use tw_monitor::{Engine, Monitor, Telling};
use tw_testkit::conformance::describe;
use tw_testkit::{Case, Shape, cases};

/// What is said of each position at once.
fn now(formula: &str, names: &str, columns: &[&str]) -> Vec<Option<bool>> {
    let program = program(&[formula]);
    let mut monitor =
        MetricMonitor::new(&program, &options(Semantics::Finite, Clock::Index), Telling::Positions).unwrap();
    let say = |at: usize| {
        monitor.step(&packed(names, columns, at), &mut tw_monitor::Sink::default()).unwrap();
        monitor.now(0)
    };
    (0..columns[0].len()).map(say).collect()
}

const MAYBE: Option<bool> = None;

/// A column of 0 and 1, 1 where it should be.
fn column(len: usize, one: impl Fn(usize) -> bool) -> String {
    (0..len).map(|at| if one(at) { '1' } else { '0' }).collect()
}

#[test]
fn a_take_off_that_fails() {
    let formula = "G (c -> F[0,40] h)";
    let (c, h) = (column(60, |at| at == 5), column(60, |_| false));
    let found = now(formula, "ch", &[&c, &h]);
    let expected: Vec<_> = (0..60).map(|at| if at == 5 { MAYBE } else { Some(true) }).collect();
    assert_eq!(found, expected);
    // Settled in order: 5 when its window is over, those after it with it.
    let found = settled("c -> F[0,40] h", "ch", &[&c, &h]);
    let expected = |at: usize| (at, at != 5, if at < 5 { at } else { at.max(45) });
    assert_eq!(found, (0..60).map(expected).collect::<Vec<_>>());
    // It is reached at 30, commanded from 1 to 50.
    let (c, h) = (column(60, |at| (1..=50).contains(&at)), column(60, |at| at >= 30));
    let found = settled("c -> F[0,40] h", "ch", &[&c, &h]);
    assert_eq!(found[..31], (0..31).map(|at| (at, true, if at == 0 { 0 } else { 30 })).collect::<Vec<_>>());
    assert_eq!(now(formula, "ch", &[&c, &h])[29..31], [MAYBE, Some(true)]);
    // No command, nothing owed.
    let never = column(9, |_| false);
    assert_eq!(now(formula, "ch", &[&never, &never]), [Some(true); 9]);
}

#[test]
fn windows() {
    let mut expected = [MAYBE; 10];
    expected[3] = Some(false);
    assert_eq!(now("G[0,3] p", "p", &["1110111111"]), expected);
    let mut expected = [MAYBE; 12];
    expected[3] = Some(false);
    assert_eq!(now("p U[2,4] q", "pq", &["111011111111", "000100000001"]), expected);
    // Two or more at 10, three at 20.
    let (two, three) = (column(60, |at| at == 10 || at == 20), column(60, |at| at == 20));
    let mut expected = [MAYBE; 60];
    expected[20] = Some(false);
    assert_eq!(now("!(F[0,30] p & F[0,100] q)", "pq", &[&two, &three]), expected);
    // A window of one position, the past, and what neither decides.
    assert_eq!(now("F[0,0] p", "p", &["10"]), [Some(true), Some(false)]);
    assert_eq!(now("O[1,2] p & F[0,9] q", "pq", &["1000", "0000"]), [Some(false), MAYBE, MAYBE, Some(false)]);
    assert_eq!(now("H (p | F[0,9] q)", "pq", &["110", "000"]), [Some(true), Some(true), MAYBE]);
    assert_eq!(
        now("p S[1,9] (F[0,9] q)", "pq", &["1100", "0000"]),
        [Some(false), MAYBE, Some(false), Some(false)]
    );
}

/// The published rules, which look at the present position alone; the past is taken from the definition.
fn rules(case: &Case, at: usize, atoms: &[u64], truth: &[Option<bool>]) -> Vec<Option<bool>> {
    let (program, index) = (&case.program, case.options.clock == Clock::Index);
    let numbers = program.atoms();
    let not = |a: Option<bool>| a.map(|a| !a);
    let and = |a, b| match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    let until = |ticks: Ticks, a: Option<bool>, b: Option<bool>| {
        if ticks.low == 0 && b == Some(true) {
            Some(true)
        } else if a == Some(false) && (ticks.low > 0 || b == Some(false)) {
            Some(false)
        } else if ticks.high == 0 && index {
            b
        } else {
            None
        }
    };
    let mut values = vec![None; program.dag.len()];
    // Whether nothing below looks into the future.
    let mut past = vec![true; program.dag.len()];
    for id in case.formulas() {
        let node = program.dag.node(id);
        let ticks = node.interval().map_or(Ticks { low: 0, high: i64::MAX }, |interval| {
            interval.ticks(case.options.clock, case.options.unit).unwrap()
        });
        let of = |part: NodeId| values[part.index()];
        let atom = numbers.binary_search(&id).ok();
        if atom.is_none() {
            past[id.index()] = node.children().all(|child| past[child.index()]);
        }
        let value = match node {
            _ if atom.is_some() => atom.map(|atom| atoms[atom / 64] >> (atom % 64) & 1 == 1),
            Node::Bool(value) => Some(value),
            Node::First => Some(at == 0),
            Node::Not(a) => not(of(a)),
            Node::And(a, b) => and(of(a), of(b)),
            Node::Or(a, b) => not(and(not(of(a)), not(of(b)))),
            Node::Implies(a, b) => not(and(of(a), not(of(b)))),
            Node::Xor(a, b) => of(a).zip(of(b)).map(|(a, b)| a != b),
            Node::Iff(a, b) => of(a).zip(of(b)).map(|(a, b)| a == b),
            Node::Unary(Temporal::Finally, _, a) => until(ticks, Some(true), of(a)),
            Node::Unary(Temporal::Globally, _, a) => not(until(ticks, Some(true), not(of(a)))),
            Node::Binary(Temporal::Until, _, a, b) => until(ticks, of(a), of(b)),
            Node::Binary(Temporal::Release, _, a, b) => not(until(ticks, not(of(a)), not(of(b)))),
            Node::Binary(Temporal::WeakUntil, _, a, b) => {
                not(until(ticks, not(of(b)), and(not(of(a)), not(of(b)))))
            }
            Node::Binary(Temporal::StrongRelease, _, a, b) => until(ticks, of(b), and(of(a), of(b))),
            Node::Unary(Temporal::Next, ..) | Node::Unary(Temporal::WeakNext, ..) | Node::Last => None,
            // Past operators are exact.
            _ if past[id.index()] => truth[id.index()],
            _ => None,
        };
        let future = matches!(
            node,
            Node::Unary(Temporal::Finally, ..)
                | Node::Unary(Temporal::Globally, ..)
                | Node::Binary(Temporal::Until, ..)
                | Node::Binary(Temporal::Release, ..)
                | Node::Binary(Temporal::WeakUntil, ..)
                | Node::Binary(Temporal::StrongRelease, ..)
                | Node::Unary(Temporal::Next, ..)
                | Node::Unary(Temporal::WeakNext, ..)
                | Node::Last
        );
        past[id.index()] &= !future;
        values[id.index()] = value;
    }
    values
}

/// At least what the published rules say is said, and it is confirmed.
#[test]
fn what_is_said_at_once_is_confirmed() {
    let (mut said, mut open) = (0, 0);
    for seed in 0..cases(3_000) {
        let case = one_trace(seed, &Shape::METRIC);
        let Ok(trace) = case.trace(false) else { continue };
        let formulas = case.formulas();
        let columns =
            Reference.plan(&case.program, &case.options).unwrap().columns(&trace, &formulas).unwrap();
        let mut online = Online::new(&case.program, &case.options, Each::Root).unwrap();
        for at in 0..case.len() {
            let atoms = row(&trace.atoms, at);
            online.step(Some(case.times[at]), &atoms).unwrap();
            let mut truth = vec![None; case.program.dag.len()];
            for (id, column) in formulas.iter().zip(&columns) {
                truth[id.index()] = Some(column.get(at));
            }
            let rules = rules(&case, at, &atoms, &truth);
            for (root, node) in root_nodes(&case).into_iter().enumerate() {
                let now = online.now(root);
                assert!(
                    now.is_none() || now == truth[node.index()],
                    "seed {seed}, root {root} at {at}\n{}{:?}",
                    describe(&case),
                    case.times
                );
                assert!(
                    rules[node.index()].is_none() || now == rules[node.index()],
                    "seed {seed}, root {root} at {at}: {now:?}, rules {:?}\n{}",
                    rules[node.index()],
                    describe(&case)
                );
                *if now.is_some() { &mut said } else { &mut open } += 1;
            }
        }
    }
    assert!(said > 0 && open > 0);
}
