//! Open obligations and their deadlines.

use super::{one_trace, options, program, row};
use crate::online::{Each, MetricMonitor, OBLIGATIONS, Online};
use tw_core::Position;
use tw_ir::{Clock, Semantics};
use tw_monitor::{Monitor, Telling};
use tw_testkit::conformance::describe;
use tw_testkit::{Shape, cases};

/// Obligations after the positions: what, since when, until when.
fn owed(formula: &str, each: bool, trace: &[(i64, u64)]) -> Vec<(String, Position, Option<i64>)> {
    let program = program(&[formula]);
    let telling = if each { Telling::Positions } else { Telling::Verdicts };
    let mut monitor =
        MetricMonitor::new(&program, &options(Semantics::Finite, Clock::Stamps), telling).unwrap();
    for &(time, row) in trace {
        monitor.step_at(Some(time), &[row], &mut tw_monitor::Sink::default()).unwrap();
    }
    monitor.pending().into_iter().map(|owed| (owed.residual, owed.since, owed.deadline)).collect()
}

#[test]
fn the_most_urgent_comes_first() {
    let formula = "G ((p -> F[0,9] q) & (r -> F[0,3] s))";
    let (p, r) = (1, 4);
    let trace = [(10, p), (11, p), (12, r), (13, 0)];
    let expected = [
        ("F[0,3] s".to_owned(), 2, Some(15)),
        ("F[0,9] q".to_owned(), 0, Some(19)),
        ("F[0,9] q".to_owned(), 1, Some(20)),
    ];
    for each in [false, true] {
        let found: Vec<_> = owed(formula, each, &trace).into_iter().filter(|owed| owed.2.is_some()).collect();
        assert_eq!(found, expected, "{each}");
    }
    // Behind many others of one operator, that of another is found.
    let mut trace: Vec<_> = (0..300).map(|time| (time, p)).collect();
    trace.push((300, r));
    for each in [false, true] {
        let found = owed("G ((p -> F[0,9999] q) & (r -> F[0,3] s))", each, &trace);
        assert_eq!(found[0], ("F[0,3] s".to_owned(), 300, Some(303)));
        assert_eq!(found[1], ("F[0,9999] q".to_owned(), 0, Some(9999)));
        assert_eq!(found.len(), OBLIGATIONS);
    }
}

#[test]
fn nested_windows_add_up_and_unbounded_ones_have_no_deadline() {
    assert_eq!(owed("F[0,5] G[0,3] p", false, &[(10, 1)]), [("F[0,5] G[0,3] p".to_owned(), 0, Some(18))]);
    assert_eq!(
        owed("G (p -> F q)", true, &[(10, 1), (12, 1)]).iter().map(|o| o.1).collect::<Vec<_>>(),
        [0, 1]
    );
    // Without each position, what is left of the property.
    let found = owed("G (p -> F q)", false, &[(10, 1), (12, 0)]);
    assert_eq!(found[0].0, "F q");
    assert!(found.iter().all(|owed| owed.2.is_none()));
    // A property that is violated owes nothing; its positions do.
    assert_eq!(owed("G (p -> F[0,5] q)", false, &[(10, 1), (20, 1)]), []);
    assert_eq!(owed("G (p -> F[0,5] q)", true, &[(10, 1), (20, 1)]), [("F[0,5] q".to_owned(), 1, Some(25))]);
}

/// Obligations are listed exactly while something is open, in order, and are gone when their deadline has passed.
#[test]
fn deadlines_are_kept() {
    let mut deadlines = 0;
    for seed in 0..cases(3_000) {
        let case = one_trace(seed, &Shape::METRIC);
        let Ok(trace) = case.trace(false) else { continue };
        let each = [Each::Root, Each::Nothing][seed as usize % 2];
        let mut online = Online::new(&case.program, &case.options, each).unwrap();
        let mut told = vec![0; case.program.roots.len()];
        for at in 0..case.len() {
            online.step(Some(case.times[at]), &row(&trace.atoms, at)).unwrap();
            for (root, told) in told.iter_mut().enumerate() {
                while online.next_settled(root).is_some() {
                    *told += 1;
                }
                let pending = online.pending(root);
                let key =
                    |owed: &crate::online::Open| (owed.deadline.is_none(), owed.deadline, owed.position);
                let sound = pending.is_sorted_by_key(key)
                    && pending.len() <= OBLIGATIONS
                    && pending.iter().all(|owed| owed.position <= at);
                let open = match each {
                    Each::Nothing => online.verdict(root).is_none(),
                    _ => *told <= at,
                };
                assert!(
                    sound
                        && (open || pending.is_empty())
                        && (each == Each::Nothing || open != pending.is_empty()),
                    "seed {seed}, root {root} after {at}: {pending:?}\n{}",
                    describe(&case)
                );
                let Some(first) = pending.first().filter(|_| case.options.clock == Clock::Stamps) else {
                    continue;
                };
                if let Some(deadline) = first.deadline {
                    deadlines += 1;
                    let mut later = online.clone();
                    later.advance(deadline).unwrap();
                    while later.next_settled(root).is_some() {}
                    let left = later.pending(root);
                    let gone = left.iter().all(|owed| owed.deadline.is_none_or(|time| time > deadline));
                    assert!(gone, "seed {seed}: {first:?}, then {left:?}\n{}", describe(&case));
                }
            }
        }
    }
    assert!(deadlines > 0);
}
