//! Many events: memory, and how long they take.

use super::{options, program};
use crate::online::{Each, Online};
use tw_ir::{Clock, Semantics};
use tw_testkit::{Rng, cases};

/// Nanoseconds that this thread has run, where the system tells.
fn used() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Bytes held after a tenth of the events and after all, and nanoseconds per event.
fn run(formula: &str, atoms: usize, each: Each, events: u64) -> (usize, usize, f64) {
    let options = options(Semantics::Ltl3, Clock::Stamps);
    let mut online = Online::new(&program(&[formula]), &options, each).unwrap();
    let mut rng = Rng::new(1);
    let rows: Vec<[u64; 1]> = (0..1024).map(|_| [rng.bits() & rng.bits() & ((1 << atoms) - 1)]).collect();
    let (mut early, start) = (0, used());
    for at in 0..events {
        online.step(Some(at as i64), &rows[at as usize % 1024]).unwrap();
        while online.next_settled(0).is_some() {}
        if at == events / 10 {
            early = online.heap_bytes();
        }
    }
    (early, online.heap_bytes(), (used() - start) as f64 / events as f64)
}

/// Past operators keep what does not grow with the trace; bounded future ones what their window holds.
#[test]
fn memory_is_flat() {
    let events = cases(1_000_000).clamp(100_000, 1_000_000);
    for (formula, each) in [
        ("(s -> O[3,10] p) & !(!s S[10,inf) p)", Each::Root),
        ("H (O[0,1000] q -> (!p S q))", Each::Root),
        ("G (s -> O[900,1000] p)", Each::Nothing),
        ("G (p -> F[0,1000] q)", Each::Body),
        ("G (p -> F q) & F G !p", Each::Nothing),
        ("G (p -> (p S[2,inf) q) | F[10,100] q)", Each::Nothing),
    ] {
        let (early, late, time) = run(formula, 2, each, events);
        println!("{formula}: {late} bytes, {time:.1} ns per event");
        assert!(late <= early + early / 4 && late < 100_000, "{formula}: {early} bytes, then {late}");
    }
}
