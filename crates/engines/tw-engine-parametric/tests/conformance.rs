//! The engine against the definition: whole, in pieces of every size, saved and loaded, by one thread and by several.

use std::sync::Arc;
use tw_core::{Batch, Column, Value};
use tw_engine_parametric::{Found, Monitors, Plan};
use tw_ir::Program;
use tw_ir::monitor::Category;
use tw_slicing::monitor::reports;
use tw_testkit::parametric::{Case, case};
use tw_testkit::{Rng, cases};

/// Position, values and category.
type Told = (Option<u64>, Vec<Option<Value>>, Category);

fn told(found: Vec<Found>) -> Vec<Told> {
    found.into_iter().map(|found| (found.position, found.bindings, found.category)).collect()
}

fn defined(program: &Program, batch: &Batch) -> Vec<Told> {
    let found = reports(program, &program.monitors[0], batch).expect("an automaton");
    found
        .into_iter()
        .map(|found| (found.position.map(|at| at as u64), found.bindings, found.category))
        .collect()
}

/// Positions of a batch.
fn part(batch: &Batch, from: usize, len: usize) -> Batch {
    let order: Vec<u32> = (from as u32..(from + len) as u32).collect();
    let column = |column: &Column| column.gather(&order);
    Batch { len, slots: batch.slots.iter().map(column).collect(), times: None }
}

/// What the engine says, in pieces of random sizes, going on from saved states now and then.
fn found(plan: &Arc<Plan>, batch: &Batch, threads: usize, mut random: Option<&mut Rng>) -> Vec<Told> {
    let mut monitors = Monitors::new(plan, usize::MAX, threads);
    let mut found = Vec::new();
    let mut from = 0;
    while from < batch.len {
        let rest = batch.len - from;
        let len = random.as_mut().map_or(rest, |random| 1 + random.below(rest));
        monitors.feed(&part(batch, from, len), &mut found).expect("no budget");
        from += len;
        if random.as_mut().is_some_and(|random| random.one_in(2)) {
            monitors.sweep();
        }
        if random.as_mut().is_some_and(|random| random.one_in(3)) {
            let mut saved = Vec::new();
            monitors.save(&mut saved);
            monitors = Monitors::new(plan, usize::MAX, threads);
            let mut rest = &saved[..];
            monitors.restore(&mut rest).expect("what was saved");
            assert!(rest.is_empty());
        }
    }
    monitors.finish(&mut found);
    told(found)
}

/// Two things of one name may report different categories at one moment, in any order.
fn sorted(mut told: Vec<Told>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    while !told.is_empty() {
        let same = told.iter().take_while(|other| (&other.0, &other.1) == (&told[0].0, &told[0].1)).count();
        let mut group: Vec<String> = told.drain(..same).map(|one| format!("{one:?}")).collect();
        group.sort();
        lines.extend(group);
    }
    lines
}

fn compare(case: &Case, seed: u64) -> usize {
    let batch = case.log.batch(&case.program);
    let plan = Arc::new(Plan::new(&case.program).expect("automata"));
    let defined = sorted(defined(&case.program, &batch));
    let mut random = Rng::new(seed);
    assert_eq!(sorted(found(&plan, &batch, 1, None)), defined, "seed {seed}\n{case}");
    assert_eq!(sorted(found(&plan, &batch, 1, Some(&mut random))), defined, "in pieces, seed {seed}\n{case}");
    if plan.shapes()[0].shard_parameter().is_some() && seed.is_multiple_of(16) {
        assert_eq!(
            sorted(found(&plan, &batch, 3, Some(&mut random))),
            defined,
            "divided, seed {seed}\n{case}"
        );
    }
    defined.len()
}

#[test]
fn the_engine_reports_what_the_definition_does() {
    let mut reported = 0;
    for seed in 0..cases(20_000) {
        reported += usize::from(compare(&case(seed), seed) > 0);
    }
    assert!(reported as u64 * 5 > cases(20_000), "{reported}");
}

/// Batches of one event per position, arguments as given.
fn stream(program: &Program, events: &[(&str, Vec<i64>)]) -> Batch {
    let mut log = tw_testkit::first_order::Log::default();
    for (at, (name, arguments)) in events.iter().enumerate() {
        log.times.push(at as i64);
        log.events.push(vec![(name.to_string(), arguments.iter().map(|&own| Value::Int(own)).collect())]);
    }
    log.batch(program)
}

#[test]
fn what_has_ended_takes_no_memory() {
    let text = "monitor Open(f) { event open(f); event use(f); event close(f); end close(f); ltl : open -> F close; }";
    let program = tw_testkit::texts::specification(text);
    let plan = Arc::new(Plan::new(&program).expect("automata"));
    let mut monitors = Monitors::new(&plan, 16 << 20, 1);
    let mut found = Vec::new();
    for round in 0..100i64 {
        let event = |at: i64| [("open", vec![round * 5000 + at]), ("close", vec![round * 5000 + at])];
        let events: Vec<_> = (0..5000).flat_map(event).collect();
        monitors.feed(&stream(&program, &events), &mut found).expect("memory enough");
    }
    assert!(found.is_empty() && monitors.held(0).bindings < 10_000, "{:?}", monitors.held(0));
    assert_eq!(monitors.held(0).created, 500_000);
}

#[test]
fn a_budget_names_the_monitor() {
    let text = "monitor Few(a) { event f(a); event g(a); ere : f g; } monitor Many(a) { event h(a); event i(a); ere : h i; }";
    let program = tw_testkit::texts::specification(text);
    let plan = Arc::new(Plan::new(&program).expect("automata"));
    let mut monitors = Monitors::new(&plan, 100_000, 1);
    let events: Vec<_> = (0..50_000).map(|at| ("h", vec![at])).collect();
    let over = monitors.feed(&stream(&program, &events), &mut Vec::new()).expect_err("too many");
    // It stops long before the last event.
    assert_eq!(over.monitor, 1);
    assert!(over.bindings < 10_000 && over.bytes < 300_000, "{over:?}");
}

/// What RV-Monitor's spec says of its running example.
#[test]
fn the_running_example_has_few_domains() {
    let text = "monitor Unsafe(m, c, i) { creation event getC(m, c); event getI(c, i); event modifyM(m); event modifyC(c); event useI(i);
        ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI; }";
    let plan = Plan::new(&tw_testkit::texts::specification(text)).expect("automata");
    let bound: Vec<Vec<u32>> = plan.shapes()[0].trees().into_iter().map(|(bound, _)| bound).collect();
    assert_eq!(bound, [vec![0, 1], vec![0, 1, 2]]);
    assert_eq!(plan.shapes()[0].shard_parameter(), None);
}
