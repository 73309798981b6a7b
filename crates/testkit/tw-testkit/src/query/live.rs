//! The monitors of an engine for queries against the reference.

use super::{QueryCase, QueryShape, describe, reference_values, same, shrink};
use crate::Rng;
use crate::conformance::Summary;
use std::ops::Range;
use tw_core::Bits;
use tw_monitor::{Computed, Positions, QueryEngine, QueryMonitor, Term, Trace, Unsupported};

/// Compares the monitors of `engine` on the case of every seed: positions come in random chunks, values are asked after
/// random prefixes and must be those of the reference on that prefix, and the state is saved and restored on the way.
/// Panics on the first difference, with the case made small.
pub fn compare_live(engine: &dyn QueryEngine, shape: &QueryShape, seeds: Range<u64>) -> Summary {
    let mut summary = Summary::default();
    for seed in seeds {
        let mut case = QueryCase::new(seed, shape);
        case.starts = vec![0];
        match live_difference(engine, &case) {
            Ok(None) => summary.compared += 1,
            Ok(Some(_)) => {
                let small = shrink(case, |case| matches!(live_difference(engine, case), Ok(Some(_))));
                let what = live_difference(engine, &small).ok().flatten().unwrap_or_default();
                panic!("the monitor of {} is wrong, seed {seed}\n{}{what}", engine.name(), describe(&small));
            }
            Err(_) => summary.refused += 1,
        }
    }
    summary
}

/// What a monitor computes wrongly, or its refusal.
pub fn live_difference(engine: &dyn QueryEngine, case: &QueryCase) -> Result<Option<String>, Unsupported> {
    let mut rng = Rng::new(case.seed ^ 0x6c69_7665);
    let trace = case.trace().map_err(|error| Unsupported::budget(error.to_string()))?;
    let new = || engine.monitor(&case.program, &case.options);
    let mut monitor = new()?;
    let (mut at, mut asked) = (0, 0);
    let longest = rng.pick(&[1, 6, 80]);
    while at < case.len() {
        let to = case.len().min(at + rng.below(longest + 1));
        push(&mut *monitor, &trace, at..to)?;
        at = to;
        if monitor.position() != at {
            return Ok(Some(format!("{} positions taken of {at}\n", monitor.position())));
        }
        let ask = at == case.len() || at > 0 && asked < 4 && rng.one_in(1 + case.len() / (longest * 3));
        if ask {
            asked += 1;
            let prefix = case.prefix(at);
            let there = prefix.trace().map_err(|error| Unsupported::budget(error.to_string()))?;
            let expected = reference_values(&prefix, &there)?;
            // Asking changes nothing, so it may be done twice.
            for _ in 0..1 + rng.below(2) {
                let found = monitor.values()?;
                if let Some(wrong) = wrong(&expected, &found) {
                    return Ok(Some(format!("after {at} positions\n{wrong}")));
                }
            }
        }
        if rng.one_in(1 + case.len() / longest / 2) {
            let mut saved = Vec::new();
            monitor.save(&mut saved);
            monitor = new()?;
            if rng.one_in(2) {
                // A monitor that has read something else must forget it.
                push(&mut *monitor, &trace, 0..1)?;
            }
            let mut rest = saved.as_slice();
            match monitor.restore(&mut rest) {
                Err(_) => return Ok(Some(format!("saved after {at} positions, not restored\n"))),
                Ok(()) if !rest.is_empty() => {
                    return Ok(Some(format!("saved after {at} positions, {} bytes left over\n", rest.len())));
                }
                Ok(()) => {}
            }
            let mut short = &saved[..saved.len().saturating_sub(1)];
            if new()?.restore(&mut short).is_ok() {
                return Ok(Some(format!("saved after {at} positions, restored without the last byte\n")));
            }
        }
    }
    Ok(None)
}

fn push(monitor: &mut dyn QueryMonitor, trace: &Trace, range: Range<usize>) -> Result<(), Unsupported> {
    let order: Vec<u32> = range.clone().map(|at| at as u32).collect();
    let atoms: Vec<Bits> =
        trace.atoms.iter().map(|column| range.clone().map(|at| column.get(at)).collect()).collect();
    let terms: Vec<Term> = trace.terms.iter().map(|term| term.gather(&order)).collect();
    let times = trace.times.as_ref().map(|times| &times[range.clone()]);
    monitor.push(&Positions { len: range.len(), atoms: &atoms, terms: &terms, times, ..Positions::default() })
}

fn wrong(expected: &[Vec<Computed>], found: &[Computed]) -> Option<String> {
    let expected: Vec<&Computed> = expected.iter().map(|segments| &segments[0]).collect();
    let alike = expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| same(a, b));
    (!alike).then(|| format!("  reference {expected:?}\n  monitor   {found:?}\n"))
}
