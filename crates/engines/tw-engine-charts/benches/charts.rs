//! Nanoseconds per event: ten charts of 6 + 6 events, on different events or on the same ones, stored, live, and by events
//! alone; the fastest of several runs.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{check, program};
use std::hint::black_box;
use std::time::Instant;
use tw_core::Bits;
use tw_engine_charts::{Bank, Charts};
use tw_ir::chart::{Check, Condition, Matching, Reading};
use tw_ir::{Node, Program};
use tw_monitor::{Engine, EvaluateOptions, Sink, Telling, Trace};
use tw_testkit::Rng;

const EVENTS: usize = 1 << 22;
const CHARTS: usize = 10;
const SIDE: usize = 6;

/// Messages one after the other between two lifelines: each is sent, then received.
fn order() -> Vec<u64> {
    (0..SIDE).map(|at| if at == 0 { 0 } else { 1 << (at - 1) }).collect()
}

fn charts(reading: Reading, iterate: Option<Matching>, same: bool) -> Vec<(Check, Vec<usize>)> {
    let before: Vec<u64> = order().into_iter().chain(order()).collect();
    let one = |chart: usize| {
        let from = if same { 0 } else { chart * 2 * SIDE };
        // On the same events charts differ in where they begin.
        let events = (0..2 * SIDE).map(|at| from + if same { (at + chart) % (2 * SIDE) } else { at });
        (check(Condition::Necessary, reading, iterate, SIDE, &before), events.collect())
    };
    (0..CHARTS).map(one).collect()
}

/// Charts in their order, chart by chart, with some noise; no event twice at a position.
fn word(same: bool) -> Vec<usize> {
    let mut rng = Rng::new(7);
    let mut word = Vec::with_capacity(EVENTS);
    while word.len() < EVENTS {
        let from = if same { 0 } else { rng.below(CHARTS) * 2 * SIDE };
        word.extend(from..from + 2 * SIDE);
        if rng.one_in(10) {
            word.push(from + rng.below(2 * SIDE));
        }
    }
    word.truncate(EVENTS);
    word
}

fn trace(program: &Program, word: &[usize]) -> Trace {
    let atoms = program.atoms();
    let slot = |node| match program.dag.node(node) {
        Node::Truth(slot) => slot as usize,
        _ => unreachable!("events are propositions"),
    };
    let columns = atoms.iter().map(|&atom| {
        let own = slot(atom);
        word.iter().map(|&event| event == own).collect::<Bits>()
    });
    Trace { len: word.len(), atoms: columns.collect(), ..Trace::default() }
}

/// Nanoseconds on the processor, where the system tells: others may use it too.
fn spent() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn best(mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let (started, before) = (Instant::now(), spent());
        run();
        let wall = started.elapsed().as_nanos() as f64;
        let used = spent().zip(before).map_or(wall, |(after, before)| after - before);
        used.min(wall) / EVENTS as f64
    };
    (0..9).map(|_| once(&mut run)).fold(f64::INFINITY, f64::min)
}

fn measure(name: &str, charts: &[(Check, Vec<usize>)], same: bool, states: usize) {
    let program = program(charts);
    let word = word(same);
    let trace = trace(&program, &word);
    let options = EvaluateOptions { state_budget: states, ..EvaluateOptions::default() };
    let mut evaluator = Charts.plan(&program, &options).expect("accepted");
    let stored = best(|| {
        black_box(evaluator.evaluate(&trace, 10).expect("evaluated"));
    });
    let width = tw_monitor::words(trace.atoms.len());
    let mut rows = vec![0u64; width * EVENTS];
    for (atom, bits) in trace.atoms.iter().enumerate() {
        for at in (0..EVENTS).filter(|&at| bits.get(at)) {
            rows[at * width + atom / 64] |= 1 << (atom % 64);
        }
    }
    let mut monitor = Charts.monitor(&program, &options, Telling::Violations).expect("accepted");
    let mut sink = Sink::default();
    let live = best(|| {
        for row in rows.chunks_exact(width) {
            monitor.step(row, &mut sink).expect("stepped");
        }
        sink.settled.clear();
    });
    let checks = program.roots.iter().enumerate().filter_map(|(root, own)| {
        let (_, check, events) = program.chart(own.node)?;
        Some((root, check, events))
    });
    let mut bank = Bank::new(checks, states);
    let numbers: Vec<usize> = {
        let slot = |node| match program.dag.node(node) {
            Node::Truth(slot) => slot as usize,
            _ => usize::MAX,
        };
        let slots: Vec<usize> = bank.events.iter().map(|&node| slot(node)).collect();
        word.iter().map(|event| slots.iter().position(|slot| slot == event).expect("an event")).collect()
    };
    let mut states = bank.fresh();
    let alone = best(|| {
        let mut found = 0usize;
        for &event in &numbers {
            bank.event(&mut states, event, &mut |_| found += 1);
        }
        black_box(found);
    });
    println!("{name:<44} stored {stored:6.2}  live {live:6.2}  events alone {alone:6.2} ns per event");
}

fn main() {
    let most = 100_000;
    for (same, on) in [(false, "each event in one"), (true, "all on the same events")] {
        measure(&format!("segment, {on}"), &charts(Reading::Segment, None, same), same, most);
        measure(&format!("segment without automaton, {on}"), &charts(Reading::Segment, None, same), same, 1);
        measure(&format!("ltl, {on}"), &charts(Reading::Ltl, None, same), same, most);
        measure(
            &format!("iterated, {on}"),
            &charts(Reading::Segment, Some(Matching::Paper), same),
            same,
            most,
        );
    }
}
