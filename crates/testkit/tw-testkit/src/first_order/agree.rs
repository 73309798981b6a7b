//! An engine for quantifiers against the definition.

use super::{Case, Class, case};
use crate::Rng;
use std::ops::Range;
use tw_core::Value;
use tw_engine_reference::Reference;
use tw_monitor::{Answer, Bindings, Engine, Known, Monitor, Sink, Telling, Trace, Unsupported};

/// How many cases there were, by class ([`Class::ALL`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Both answered, and alike.
    pub compared: [u64; 3],
    /// The engine refused what the definition answers.
    pub refused: [u64; 3],
    /// The definition refuses: a number too large, or infinitely many values to compute with.
    pub undefined: [u64; 3],
    /// Compared live, too: in chunks, and saved and restored on the way.
    pub live: u64,
}

/// Compares `engine` with the definition on the case of every seed: verdicts, violations and bindings of the stored log, and
/// the final verdict of a live one. Panics on the first difference.
pub fn agree(engine: &dyn Engine, seeds: Range<u64>) -> Summary {
    let mut summary = Summary::default();
    for seed in seeds {
        let case = case(seed);
        // Roots without variables are for engines that have none.
        let quantified = |node: tw_ir::NodeId| {
            case.program.reachable(&[node]).iter().any(|&id| case.program.dag.node(id).is_first_order())
        };
        if !case.program.roots.iter().all(|root| quantified(root.node)) {
            continue;
        }
        let class = Class::ALL.iter().position(|class| *class == case.class).unwrap_or(0);
        match difference(engine, &case) {
            Some(Ok(Some(wrong))) => {
                panic!("{} differs from the definition, seed {seed}\n{case}{wrong}", engine.name())
            }
            Some(Ok(None)) => {
                summary.compared[class] += 1;
                summary.live += u64::from(is_live(engine, &case));
            }
            Some(Err(_)) => summary.refused[class] += 1,
            None => summary.undefined[class] += 1,
        }
    }
    summary
}

/// What the engine answers differently, or its refusal; `None` where the definition refuses.
pub fn difference(engine: &dyn Engine, case: &Case) -> Option<Result<Option<String>, Unsupported>> {
    let trace = case.trace().ok()?;
    let mut reference = Reference.plan(&case.program, &case.options()).ok()?;
    let expected = reference.evaluate(&trace, usize::MAX).ok()?;
    Some(compare(engine, case, &trace, &expected))
}

fn compare(
    engine: &dyn Engine,
    case: &Case,
    trace: &Trace,
    expected: &[Answer],
) -> Result<Option<String>, Unsupported> {
    let answers = engine.plan(&case.program, &case.options())?.evaluate(trace, usize::MAX)?;
    let (expected, answers) = (plain(expected), plain(&answers));
    if expected != answers {
        return Ok(Some(format!("  definition {expected:?}\n  engine     {answers:?}\n")));
    }
    // A trace and its parts are told apart by how many are listed, not by what there is.
    let limit = case.seed as usize % 4;
    let few = engine.plan(&case.program, &case.options())?.evaluate(trace, limit)?;
    for (all, few) in expected.iter().zip(plain(&few)) {
        let cut = all.violations.iter().copied().take(limit).collect::<Vec<_>>();
        if (few.violation_count, &few.violations) != (all.violation_count, &cut) {
            return Ok(Some(format!("  all {all:?}\n  at most {limit}: {few:?}\n")));
        }
    }
    if !is_live(engine, case) {
        return Ok(None);
    }
    let new = || engine.monitor(&case.program, &case.options(), Telling::Verdicts);
    let mut rng = Rng::new(case.seed);
    let cut = rng.below(trace.len + 1);
    let mut first = new()?;
    feed(&mut *first, trace, 0..cut, &mut rng)?;
    let mut saved = Vec::new();
    first.save(&mut saved);
    feed(&mut *first, trace, cut..trace.len, &mut rng)?;
    let mut second = new()?;
    if let Err(corrupt) = second.restore(&saved) {
        return Ok(Some(format!("  saved after {cut} positions, not restored: {corrupt}\n")));
    }
    feed(&mut *second, trace, cut..trace.len, &mut rng)?;
    for (how, monitor) in [("live", &mut first), ("restored", &mut second)] {
        let found = monitor.finish(&mut Sink::default())?.unwrap_or_default();
        let truth: Vec<Option<bool>> = found.iter().map(Known::truth).collect();
        let wanted: Vec<Option<bool>> = expected.iter().map(|answer| Some(answer.holds.get(0))).collect();
        if truth != wanted {
            return Ok(Some(format!("  definition {wanted:?}\n  {how}, cut at {cut}: {truth:?}\n")));
        }
    }
    Ok(None)
}

fn is_live(engine: &dyn Engine, case: &Case) -> bool {
    engine.reads_forward() && engine.monitor(&case.program, &case.options(), Telling::Verdicts).is_ok()
}

/// Feeds positions in chunks of random sizes.
fn feed(
    monitor: &mut dyn Monitor,
    trace: &Trace,
    range: Range<usize>,
    rng: &mut Rng,
) -> Result<(), Unsupported> {
    let mut from = range.start;
    while from < range.end {
        let to = range.end.min(from + rng.below(4));
        let places: Vec<u32> = (from as u32..to as u32).collect();
        if !places.is_empty() {
            monitor.feed(&trace.gather(&places, vec![0]).positions(), &mut Sink::default())?;
        }
        from = to;
    }
    Ok(())
}

/// Answers in which equal numbers look alike: 1 and 1.0 are one value, whichever of them was seen first.
fn plain(answers: &[Answer]) -> Vec<Answer> {
    let number = |value: &Value| match value {
        Value::Int(int) => Value::Real(*int as f64),
        other => other.clone(),
    };
    let bound = |bindings: &Bindings| {
        let pairs = bindings.pairs().iter().map(|(variable, value)| (*variable, number(value))).collect();
        if bindings.infinite() { Bindings::infinitely(pairs) } else { Bindings::new(pairs) }
    };
    let answer = |answer: &Answer| {
        let bindings: Vec<Bindings> = answer.bindings.iter().map(bound).collect();
        // Where no variables are bound at all there may be none.
        let bare = bindings.iter().all(|bindings| *bindings == Bindings::default());
        Answer { bindings: if bare { Vec::new() } else { bindings }, ..answer.clone() }
    };
    answers.iter().map(answer).collect()
}
