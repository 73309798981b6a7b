use super::{Each, MetricMonitor, Online, Prefixes};
use tw_core::{Bits, TimeUnit};
use tw_engine_reference::Reference;
use tw_ir::{Clock, NodeId, Program, Semantics};
use tw_monitor::{Engine, EvaluateOptions, Monitor, PlannedEvaluator, Unsupported};
use tw_testkit::conformance::describe;
use tw_testkit::texts::properties as program;
use tw_testkit::{Case, Rng, Shape, cases, shrink};

mod absence;
mod damage;
mod earliness;
mod formulas;
mod long;
mod observers;
mod pending;
mod separate;
mod traces;
mod vectors;

/// A case as one trace whose times never go back.
fn one_trace(seed: u64, shape: &Shape) -> Case {
    let mut case = Case::new(seed, shape);
    let mut rng = Rng::new(seed ^ 0x7469_6d65);
    let mut now = rng.below(5) as i64 - 2;
    case.starts = vec![0];
    for time in &mut case.times {
        now += rng.pick(&[0, 0, 1, 1, 2, 5]);
        *time = now;
    }
    case
}

/// The atoms of a position, packed.
fn row(atoms: &[Bits], at: usize) -> Vec<u64> {
    let mut row = vec![0; tw_monitor::words(atoms.len())];
    for (atom, column) in atoms.iter().enumerate() {
        row[atom / 64] |= u64::from(column.get(at)) << (atom % 64);
    }
    row
}

fn root_nodes(case: &Case) -> Vec<NodeId> {
    case.program.roots.iter().map(|root| root.node).collect()
}

/// Whether time or positions have been enough for the truth at `at` to be settled.
fn is_due(times: &[i64], read: usize, passed: Option<i64>, at: usize, delay: super::Delay) -> bool {
    let mut at = at;
    for left in (0..=delay.positions).rev() {
        let due = times[at].saturating_add(delay.ticks);
        match (at + 1..read).find(|&k| times[k] > due) {
            Some(later) => at = later,
            None => return left == 0 && passed.is_some_and(|passed| passed >= due),
        }
    }
    true
}

/// What a live run says wrongly.
fn wrong(case: &Case) -> Option<String> {
    let trace = case.trace(false).ok()?;
    let nodes = root_nodes(case);
    let expected = Reference.plan(&case.program, &case.options).ok()?.columns(&trace, &nodes).ok()?;
    let mut rng = Rng::new(case.seed ^ 0x6c69_7665);
    let new = |each| Online::new(&case.program, &case.options, each).map_err(|refusal| refusal.what);
    let mut live = [new(Each::Root).ok()?, new(Each::Nothing).ok()?];
    // Without stamps, each position is its own time, and the next one is later.
    let index = case.options.clock == Clock::Index;
    let times: Vec<i64> =
        if index { (0..case.len() as i64).collect() } else { trace.times.clone().unwrap_or_default() };
    let mut told = vec![0; nodes.len()];
    let mut passed = None;
    for at in 0..=case.len() {
        for online in &mut live {
            if at < case.len() {
                if let Err(refusal) = online.step(Some(times[at]), &row(&trace.atoms, at)) {
                    return Some(format!("refused at {at}: {}\n", refusal.what));
                }
            } else {
                online.end().ok()?;
            }
        }
        if index {
            passed = Some(at as i64);
        } else if rng.one_in(3) && at < case.len() {
            // A heartbeat before the next position.
            let next = times.get(at + 1).map_or(times[at] + 9, |next| next - 1);
            let time = next.min(times[at] + rng.below(9) as i64);
            passed = passed.max(Some(time));
            live.iter_mut().for_each(|online| online.advance(time).unwrap());
        }
        if rng.one_in(8) {
            let mut saved = Vec::new();
            live[0].save(&mut saved);
            let mut again = new(Each::Root).ok()?;
            let mut from = &saved[..];
            if let Err(corrupt) = again.load(&mut from) {
                return Some(format!("not loaded after {at}: {corrupt}\n"));
            }
            if !from.is_empty() {
                return Some("more was saved than loaded\n".into());
            }
            live[0] = again;
        }
        for (root, expected) in expected.iter().enumerate() {
            let (now, last) = (live[0].now(root), at.min(case.len() - 1));
            if now.is_some_and(|now| now != expected.get(last)) {
                return Some(format!("root {root} is {now:?} at {last} after {at}\n"));
            }
            while let Some((position, holds)) = live[0].next_settled(root) {
                if position != told[root] || holds != expected.get(position) {
                    return Some(format!("root {root} said {holds} of {position} after {at}\n"));
                }
                told[root] += 1;
            }
            if let Some(delay) = live[0].delay(root)
                && told[root] < (at + 1).min(case.len())
                && is_due(&times, at + 1, passed, told[root], delay)
            {
                return Some(format!("root {root}: {} is late after {at}, {delay:?}\n", told[root]));
            }
            let verdicts = [live[0].verdict(root), live[1].verdict(root)];
            if verdicts[0] != verdicts[1] || verdicts[0].is_some_and(|verdict| verdict != expected.get(0)) {
                return Some(format!("root {root} has verdicts {verdicts:?} after {at}\n"));
            }
            let open = verdicts[1].is_none() && live[1].pending(root).len() > at + 1000;
            if at == case.len() && (told[root] != case.len() || verdicts[0].is_none()) || open {
                return Some(format!("root {root} is open at the end\n"));
            }
        }
        let ends = live[1].at_end();
        if at + 1 == case.len() && ends != Some(expected.iter().map(|column| column.get(0)).collect()) {
            return Some(format!("the end would be {ends:?}\n"));
        }
    }
    None
}

#[test]
fn each_position_is_settled_as_defined() {
    for seed in 0..cases(10_000) {
        let case = one_trace(seed, &Shape::METRIC);
        if wrong(&case).is_some() {
            let small = shrink(case, |case| wrong(case).is_some());
            panic!("seed {seed}\n{}{:?}\n{}", describe(&small), small.times, wrong(&small).unwrap());
        }
    }
}

/// Bare numbers are nanoseconds.
fn options(semantics: Semantics, clock: Clock) -> EvaluateOptions {
    EvaluateOptions { semantics, clock, unit: TimeUnit::Nanoseconds, ..EvaluateOptions::default() }
}

/// Live runs as an engine, to be compared as engines are.
struct Live;

impl Engine for Live {
    fn name(&self) -> &'static str {
        "metric, live"
    }

    fn about(&self) -> &'static str {
        "for tests"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Ok(Box::new(Prefixes::new(program, options)?))
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(
        &self,
        program: &Program,
        options: &EvaluateOptions,
        telling: tw_monitor::Telling,
    ) -> Result<Box<dyn Monitor>, Unsupported> {
        Ok(Box::new(MetricMonitor::new(program, options, telling)?))
    }
}

#[test]
fn live_runs_over_stored_traces_agree_with_the_reference() {
    let cases = cases(3_000);
    let summary = tw_testkit::conformance::compare(&Live, &Shape::METRIC, 0..cases);
    assert_eq!((summary.compared, summary.refused), (cases, 0));
}

#[test]
fn the_monitor_is_one() {
    let cases = cases(3_000);
    let summary = tw_testkit::compare_online(&Live, 0..cases);
    assert_eq!((summary.compared, summary.refused), (cases, 0));
}
