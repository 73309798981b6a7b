//! Nanoseconds per event, from tuples in memory to violations, on one thread: `cargo bench -p tw-engine-relational`.

use std::time::Instant;
use tw_core::{Column, Relation};
use tw_engine_relational::Relational;
use tw_ir::{
    ArgumentKey, Bound, Interval, Node, NodeId, Pattern, PatternArgument, Program, Root, Slot, Temporal, What,
};
use tw_monitor::{Engine, EvaluateOptions, Trace};

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn pattern(program: &mut Program, name: &str, variables: &[u32]) -> NodeId {
    let keys: Vec<ArgumentKey> = (0..variables.len()).map(ArgumentKey::Index).collect();
    let arguments =
        keys.iter().cloned().zip(variables.iter().map(|&own| PatternArgument::Variable(own))).collect();
    let arity = Some(variables.len());
    let what = What::Tuples { name: name.into(), constants: Vec::new(), arity, arguments: keys };
    program.slots.push(Slot { what, declared: false, span: Default::default() });
    let slot = program.slots.len() as u32 - 1;
    program.dag.patterns.push(Pattern { name: name.into(), arguments, arity, slot });
    program.dag.add(Node::Pattern(program.dag.patterns.len() as u32 - 1))
}

fn window(seconds: i128) -> Option<Interval> {
    let bound = |n: i128| Bound { billionths: n * 1_000_000_000, unit: None, open: false };
    Some(Interval { low: bound(0), high: Some(bound(seconds)) })
}

/// One event per position, of the n-th pattern with these values.
fn trace(events: &[(usize, Vec<i64>)], arities: &[usize], per_second: usize) -> Trace {
    let mut relations = Vec::new();
    for (event, &arity) in arities.iter().enumerate() {
        let (mut starts, mut columns) = (vec![0u32], vec![Vec::new(); arity]);
        for (own, values) in events {
            if *own == event {
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(*value));
            }
            starts.push(columns[0].len() as u32);
        }
        let column = |values: Vec<i64>| {
            let valid = tw_core::Bits::repeat(true, values.len());
            Column::Int { values, valid }
        };
        relations.push(Relation::new(starts, columns.into_iter().map(column).collect()));
    }
    let times = (0..events.len()).map(|at| (at / per_second) as i64 * 1_000_000_000).collect();
    Trace { len: events.len(), times: Some(times), relations, ..Trace::default() }
}

fn measure(name: &str, program: &Program, trace: &Trace) {
    let mut best = f64::MAX;
    let mut count = 0;
    for _ in 0..3 {
        let mut plan = Relational.plan(program, &EvaluateOptions::default()).unwrap();
        let start = Instant::now();
        count = plan.evaluate(trace, 10).unwrap()[0].violation_count;
        best = best.min(start.elapsed().as_nanos() as f64 / trace.len as f64);
    }
    println!("{name:40} {best:8.1} ns/event  {count} violations");
}

/// A million values in the window of `publish(r) -> O[0,600] approve(r)`, and as many requests that wait for an answer.
fn live() {
    for (name, ahead) in [("live, publish after approve", false), ("live, request and answer", true)] {
        let mut program = Program::default();
        program.dag.variables.push("r".into());
        let (first, then) = (pattern(&mut program, "first", &[0]), pattern(&mut program, "then", &[0]));
        let operator = if ahead { Temporal::Finally } else { Temporal::Once };
        let temporal = program.dag.add(Node::Unary(operator, window(600), then));
        let body = program.dag.add(Node::Implies(first, temporal));
        let all = program.dag.add(Node::Forall(0, body));
        let root = program.dag.add(Node::Unary(Temporal::Globally, None, all));
        program.roots.push(Root::property("it", root));
        let mut state = 3;
        let events: Vec<(usize, Vec<i64>)> = (0..3_000_000)
            .map(|_| (random(&mut state) as usize & 1, vec![(random(&mut state) % 100_000_000) as i64]))
            .collect();
        pauses(name, &program, &trace(&events, &[1, 1], 4_000));
    }
}

/// Live, one event after the other: what most take, what one in a thousand takes at least, and the longest. Of each event the
/// least of several runs, since the machine has other things to do, too.
fn pauses(name: &str, program: &Program, trace: &Trace) {
    let mut least = vec![u32::MAX; trace.len];
    let mut held = 0;
    for _ in 0..3 {
        let mut monitor = Relational
            .monitor(program, &EvaluateOptions::default(), tw_monitor::Telling::Violations)
            .unwrap();
        let mut sink = tw_monitor::Sink::default();
        for (at, least) in least.iter_mut().enumerate() {
            let part = trace.gather(&[at as u32], vec![0]);
            let start = Instant::now();
            monitor.feed(&part.positions(), &mut sink).unwrap();
            *least = (*least).min(start.elapsed().as_nanos() as u32);
            sink.settled.clear();
        }
        held = monitor.heap_bytes();
    }
    least.sort_unstable();
    let part = |share: f64| least[(least.len() as f64 * share) as usize] as f64 / 1_000.0;
    println!(
        "{name:40} half within {:.2} us, 99.9 % within {:.2} us, all within {:.1} us; {} MB held",
        part(0.5),
        part(0.999),
        least[least.len() - 1] as f64 / 1_000.0,
        held >> 20
    );
}

fn main() {
    let len = 1_000_000;
    for (values, per_second) in [(5_000, 3), (1_000_000, 3), (1_000_000, 2_000)] {
        let mut program = Program::default();
        program.dag.variables.push("r".into());
        let publish = pattern(&mut program, "publish", &[0]);
        let approve = pattern(&mut program, "approve", &[0]);
        let once = program.dag.add(Node::Unary(Temporal::Once, window(600), approve));
        let body = program.dag.add(Node::Implies(publish, once));
        let all = program.dag.add(Node::Forall(0, body));
        let root = program.dag.add(Node::Unary(Temporal::Globally, None, all));
        program.roots.push(Root::property("it", root));
        let mut state = 1;
        let events: Vec<(usize, Vec<i64>)> = (0..len)
            .map(|_| (random(&mut state) as usize & 1, vec![(random(&mut state) % values) as i64]))
            .collect();
        let trace = trace(&events, &[1, 1], per_second);
        measure(&format!("publish, {values} values, {per_second}/s"), &program, &trace);
    }
    live();
    // open(f), access(u, f): with since; close; and a request that is answered within ten minutes.
    let mut program = Program::default();
    program.dag.variables.extend(["u".into(), "f".into()]);
    let access = pattern(&mut program, "access", &[0, 1]);
    let login = pattern(&mut program, "login", &[0]);
    let logout = pattern(&mut program, "logout", &[0]);
    let open = pattern(&mut program, "open", &[1]);
    let close = pattern(&mut program, "close", &[1]);
    let since = |program: &mut Program, stop: NodeId, start: NodeId| {
        let going = program.dag.add(Node::Not(stop));
        program.dag.add(Node::Binary(Temporal::Since, None, going, start))
    };
    let (inside, opened) = (since(&mut program, logout, login), since(&mut program, close, open));
    let both = program.dag.add(Node::And(inside, opened));
    let body = program.dag.add(Node::Implies(access, both));
    let inner = program.dag.add(Node::Forall(1, body));
    let all = program.dag.add(Node::Forall(0, inner));
    let root = program.dag.add(Node::Unary(Temporal::Globally, None, all));
    program.roots.push(Root::property("it", root));
    let mut state = 7;
    let events: Vec<(usize, Vec<i64>)> = (0..len)
        .map(|_| {
            let (u, f) = ((random(&mut state) % 5_000) as i64, (random(&mut state) % 5_000) as i64);
            match random(&mut state) % 6 {
                0 => (1, vec![u]),
                1 => (2, vec![u]),
                2 => (3, vec![f]),
                3 => (4, vec![f]),
                _ => (0, vec![u, f]),
            }
        })
        .collect();
    measure("access, logged in and open", &program, &trace(&events, &[2, 1, 1, 1, 1], 3));

    let mut program = Program::default();
    program.dag.variables.push("r".into());
    let request = pattern(&mut program, "request", &[0]);
    let answer = pattern(&mut program, "answer", &[0]);
    let soon = program.dag.add(Node::Unary(Temporal::Finally, window(600), answer));
    let body = program.dag.add(Node::Implies(request, soon));
    let all = program.dag.add(Node::Forall(0, body));
    let root = program.dag.add(Node::Unary(Temporal::Globally, None, all));
    program.roots.push(Root::property("it", root));
    let events: Vec<(usize, Vec<i64>)> = (0..len)
        .map(|_| (random(&mut state) as usize & 1, vec![(random(&mut state) % 5_000) as i64]))
        .collect();
    measure("request, answered within 600 s", &program, &trace(&events, &[1, 1], 3));
}
