//! The engine against the definition: whole, in pieces of every size, saved and loaded, by one thread and by several.

use std::sync::Arc;
use tw_core::{Batch, Column, Value};
use tw_engine_parametric::{Found, Monitors, Plan};
use tw_ir::Program;
use tw_ir::monitor::Category;
use tw_slicing::monitor::reports;
use tw_testkit::parametric::{Case, case, several};
use tw_testkit::{Rng, cases};

/// Position, values and category.
type Told = (Option<u64>, Vec<Option<Value>>, Category);

fn told(found: Vec<Found>) -> Vec<Told> {
    found.into_iter().map(|found| (found.position, found.bindings, found.category)).collect()
}

fn defined(program: &Program, number: usize, batch: &Batch) -> Vec<Told> {
    let found = reports(program, &program.monitors[number], batch).expect("an automaton");
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
fn all_found(plan: &Arc<Plan>, batch: &Batch, threads: usize, mut random: Option<&mut Rng>) -> Vec<Found> {
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
    found
}

fn found(plan: &Arc<Plan>, batch: &Batch, threads: usize, random: Option<&mut Rng>) -> Vec<Told> {
    told(all_found(plan, batch, threads, random))
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
    let defined = sorted(defined(&case.program, 0, &batch));
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

/// Monitors over the same events share their records; what each reports is what it would alone, in the order of positions.
#[test]
fn monitors_side_by_side_report_what_each_does() {
    let (mut shared, mut reported) = (0, 0);
    for seed in 0..cases(5_000) {
        let case = several(seed, 2 + seed as usize % 3);
        let batch = case.log.batch(&case.program);
        let plan = Arc::new(Plan::new(&case.program).expect("automata"));
        let mut random = Rng::new(seed);
        let monitors = 0..case.program.monitors.len();
        let defined: Vec<Vec<String>> =
            monitors.map(|number| sorted(defined(&case.program, number, &batch))).collect();
        shared += usize::from(plan.groups() < case.program.monitors.len());
        reported += usize::from(defined.iter().any(|own| !own.is_empty()));
        for (threads, whole) in [(1, true), (1, false), (3, true), (2, false)] {
            let found = all_found(&plan, &batch, threads, (!whole).then_some(&mut random));
            let place = |found: &Found| (found.position.unwrap_or(u64::MAX), found.monitor);
            assert!(found.is_sorted_by_key(place), "seed {seed}\n{case}");
            for (number, defined) in defined.iter().enumerate() {
                let own = found.iter().filter(|one| one.monitor == number).cloned().collect();
                assert_eq!(
                    &sorted(told(own)),
                    defined,
                    "monitor {number}, {threads} threads, seed {seed}\n{case}"
                );
            }
        }
    }
    assert!(shared as u64 * 3 > cases(5_000) && reported as u64 * 3 > cases(5_000), "{shared} {reported}");
}

/// Long logs, which are read in stretches and by threads of their own, with values of every kind.
#[test]
fn long_logs_do_not_depend_on_pieces_and_threads() {
    let text = "monitor Next(i) { event hasnext(i); event next(i); ere : (hasnext+ next)* next; }
        monitor Again(i) { event hasnext(i); event next(i); ere : (hasnext next)* (hasnext hasnext | next); }
        monitor Lock(l, t) { event lock(l, t); event unlock(l, t); end free(l); ere : (lock unlock)* (lock lock | unlock); }
        monitor Both(l, i) { event lock(l, i); event next(i); ere : lock next next; }";
    let program = tw_testkit::texts::specification(text);
    let plan = Arc::new(Plan::new(&program).expect("automata"));
    assert_eq!(plan.groups(), 3);
    let random = &mut Rng::new(5);
    let value = |random: &mut Rng| match random.below(6) {
        0 => Value::text(&format!("thing {}", random.below(300))),
        1 => Value::Real(random.below(300) as f64 / 2.0),
        2 => Value::Int(i64::MIN + random.below(50) as i64),
        3 => Value::Int(random.below(300) as i64 * 0x1234_5678_9abc),
        _ => Value::Int(random.below(1_000_000) as i64 % 5_000),
    };
    let mut log = tw_testkit::first_order::Log::default();
    for at in 0..30_000 {
        log.times.push(at);
        let one = |random: &mut Rng| match random.below(9) {
            0..3 => ("hasnext".to_owned(), vec![value(random)]),
            3..6 => ("next".to_owned(), vec![value(random)]),
            6 => ("free".to_owned(), vec![value(random)]),
            7 => ("lock".to_owned(), vec![value(random), Value::Int(random.below(3) as i64)]),
            _ => ("unlock".to_owned(), vec![value(random), Value::Int(random.below(3) as i64)]),
        };
        let count = random.pick(&[0, 1, 1, 1, 2]);
        log.events.push((0..count).map(|_| one(random)).collect());
    }
    let batch = log.batch(&program);
    let whole = all_found(&plan, &batch, 1, None);
    assert!((0..4).all(|monitor| whole.iter().any(|found| found.monitor == monitor)), "{}", whole.len());
    for threads in [1, 2, 3] {
        assert_eq!(all_found(&plan, &batch, threads, Some(random)), whole, "{threads} threads, in pieces");
        assert_eq!(all_found(&plan, &batch, threads, None), whole, "{threads} threads");
    }
    let apart = Arc::new(Plan::apart(&program).expect("automata"));
    assert_eq!(all_found(&apart, &batch, 2, None), whole);
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
