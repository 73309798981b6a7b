//! Several traces of one monitor.

use super::{Live, one_trace, options, program};
use tw_ir::{Clock, Semantics};
use tw_monitor::{Engine, Monitor, Sink, Telling, TraceId};
use tw_testkit::conformance::describe;
use tw_testkit::{Shape, cases, interleaved_difference, shrink};

#[test]
fn traces_do_not_know_of_each_other() {
    for seed in 0..cases(3_000) {
        let case = one_trace(seed, &Shape::METRIC);
        let wrong = |case: &_| interleaved_difference(&Live, case).ok().flatten();
        if wrong(&case).is_some() {
            let small = shrink(case, |case| wrong(case).is_some());
            panic!("seed {seed}\n{}{:?}\n{}", describe(&small), small.times, wrong(&small).unwrap());
        }
    }
}

/// `G (a -> F[0,5s] b)` on many traces that wait for b.
fn many(traces: usize) -> (Box<dyn Monitor>, Vec<TraceId>) {
    let program = program(&["G (a -> F[0,5s] b)"]);
    let options = options(Semantics::Ltl3, Clock::Stamps);
    let mut monitor = Live.monitor(&program, &options, Telling::Verdicts).unwrap();
    let ids: Vec<TraceId> = (0..traces).map(|_| monitor.open()).collect();
    for (at, &id) in ids.iter().enumerate() {
        monitor.select(id);
        monitor.step_at(Some(at as i64), &[0b01], &mut Sink::default()).unwrap();
    }
    (monitor, ids)
}

#[test]
fn a_trace_costs_what_it_owns() {
    let (few, many) = (many(100).0.heap_bytes(), many(10_100).0.heap_bytes());
    let each = (many - few) / 10_000;
    println!("{each} bytes for each trace");
    assert!(each < 1_100, "{each} bytes for each trace");
}

#[test]
fn deadlines_are_named_and_pass() {
    let (mut monitor, ids) = many(3);
    let mut sink = Sink::default();
    for (at, &id) in ids.iter().enumerate() {
        monitor.select(id);
        assert_eq!(monitor.next_deadline(), Some(at as i64 + 5_000_000_000));
    }
    monitor.advance(4_999_999_999, &mut sink).unwrap();
    assert!(sink.settled.is_empty());
    monitor.select(ids[0]);
    monitor.advance(5_000_000_000, &mut sink).unwrap();
    assert!(sink.settled.len() == 1 && sink.settled[0].fails());
    assert_eq!(monitor.next_deadline(), None);
    monitor.select(ids[1]);
    assert_eq!((monitor.next_deadline(), monitor.verdicts()), (Some(5_000_000_001), vec![None]));
}
