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
    if plan.shapes()[0].shard_parameter().is_some() && seed % 16 == 0 {
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
