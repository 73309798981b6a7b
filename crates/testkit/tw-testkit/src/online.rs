//! A live monitor against its own evaluator and against the reference.
//!
//! The same positions are given to three monitors: one position at a time, in chunks of random sizes, and with a
//! save and restore at a random point. All three must say the same, and what they say must be what the definition
//! says of the whole trace: a settled verdict may not change, and an open one is decided by the end. Three-valued
//! verdicts must be those of random infinite continuations, too. One monitor of several traces must say of each what its
//! own says ([`crate::interleave`]).

use crate::conformance::{Summary, describe};
use crate::{Case, Rng, Shape, interleaved_difference, lasso, shrink};
use std::ops::Range;
use tw_core::Bits;
use tw_engine_reference::Reference;
use tw_ir::{Node, NodeId, Semantics, Temporal};
use tw_monitor::{
    Engine, EvaluateOptions, Known, Monitor, Obligation, Positions, Settled, Sink, Telling, Trace,
    Unsupported, words,
};

/// Compares the monitors of `engine` on the case of every seed; every third is three-valued. Panics on the first
/// difference, with the case made small.
pub fn compare_online(engine: &dyn Engine, seeds: Range<u64>) -> Summary {
    let mut summary = Summary::default();
    for seed in seeds {
        let case = online_case(seed);
        match online_difference(engine, &case) {
            Ok(None) => summary.compared += 1,
            Ok(Some(_)) => {
                let small = shrink(case, |case| matches!(online_difference(engine, case), Ok(Some(_))));
                let what = online_difference(engine, &small).ok().flatten().unwrap_or_default();
                panic!("the monitor of {} is wrong, seed {seed}\n{}{what}", engine.name(), describe(&small));
            }
            Err(_) => summary.refused += 1,
        }
    }
    summary
}

/// The case of a seed as one live trace: no segments.
fn online_case(seed: u64) -> Case {
    let mut case = Case::new(seed, &Shape::ONLINE);
    case.starts = vec![0];
    case.times = (0..case.len() as i64).collect();
    if seed % 3 == 2 {
        case.options.semantics = Semantics::Ltl3;
    }
    case
}

/// What a monitor said of a whole trace.
#[derive(Debug, PartialEq)]
struct Said {
    settled: Vec<Settled>,
    verdicts: Vec<Option<bool>>,
    pending: Vec<Obligation>,
    at_end: Option<Vec<Known>>,
    /// The verdicts about positions that the end decides.
    ended: Vec<Settled>,
}

/// What the monitors say wrongly, or the engine's refusal.
pub fn online_difference(engine: &dyn Engine, case: &Case) -> Result<Option<String>, Unsupported> {
    let refused = |what: String| Unsupported { node: None, what, help: None, exhausted: false };
    let trace = case.trace(false).map_err(|error| refused(error.to_string()))?;
    let mut rng = Rng::new(case.seed ^ 0x6f6e_6c69_6e65);
    let each_position = rng.one_in(2);
    let telling = if each_position { Telling::Positions } else { Telling::Verdicts };
    let new = || engine.monitor(&case.program, &case.options, telling);

    let stepwise = say(new()?, |monitor, out| steps(monitor, &trace, 0..trace.len, out))?;
    let chunked = say(new()?, |monitor, out| chunks(monitor, &trace, 0..trace.len, &mut rng.clone(), out))?;
    if stepwise != chunked {
        return Ok(Some(two("one position at a time", &stepwise, "in chunks", &chunked)));
    }
    let cut = rng.below(trace.len + 1);
    let mut before = Sink::default();
    let mut first = new()?;
    chunks(&mut *first, &trace, 0..cut, &mut rng, &mut before)?;
    let mut saved = Vec::new();
    first.save(&mut saved);
    let mut second = new()?;
    if rng.one_in(2) {
        // A monitor that has read something else must forget it.
        steps(&mut *second, &trace, 0..1, &mut Sink::default())?;
    }
    if let Err(corrupt) = second.restore(&saved) {
        return Ok(Some(format!("saved after {cut} positions, not restored: {corrupt}\n")));
    }
    if second.positions() != cut {
        return Ok(Some(format!("restored at {} instead of {cut}\n", second.positions())));
    }
    let mut resumed = say(second, |monitor, out| steps(monitor, &trace, cut..trace.len, out))?;
    resumed.settled.extend(before.settled);
    resumed.settled.sort_by_key(|settled| (settled.at, settled.root, settled.about));
    if stepwise != resumed {
        return Ok(Some(format!("cut at {cut}\n") + &two("unbroken", &stepwise, "resumed", &resumed)));
    }
    if truncated_is_accepted(engine, case, &saved, telling)? {
        return Ok(Some(format!("saved after {cut} positions, restored without the last byte\n")));
    }
    if let Some(wrong) = interleaved_difference(engine, case)? {
        return Ok(Some(wrong));
    }
    if let Some(wrong) = wrong_roots(engine, case, &trace, &stepwise)? {
        return Ok(Some(wrong));
    }
    if case.options.semantics == Semantics::Ltl3
        && let Some(wrong) = wrong_for_ever(case, &trace, &stepwise, &mut rng)
    {
        return Ok(Some(wrong));
    }
    if !each_position {
        return Ok(None);
    }
    if let Some(wrong) = wrong_violations(engine, case, &trace, &stepwise, &mut rng)? {
        return Ok(Some(wrong));
    }
    wrong_positions(case, &trace, &stepwise)
}

/// A monitor that tells violations alone, against what one tells that reports every position.
fn wrong_violations(
    engine: &dyn Engine,
    case: &Case,
    trace: &Trace,
    said: &Said,
    rng: &mut Rng,
) -> Result<Option<String>, Unsupported> {
    let monitor = engine.monitor(&case.program, &case.options, Telling::Violations)?;
    let alone = say(monitor, |monitor, out| chunks(monitor, trace, 0..trace.len, rng, out))?;
    let invariant = |root: usize| {
        matches!(
            case.program.dag.node(case.program.roots[root].node),
            Node::Unary(Temporal::Globally, None, _)
        )
    };
    // Each event that settles violations: the first of them, and how many.
    let together = |all: &[Settled]| {
        let told = |settled: &&Settled| settled.about.is_none() || settled.fails() && invariant(settled.root);
        let key = |settled: &Settled| (settled.at, settled.root, settled.about.is_some());
        let mut told: Vec<Settled> = all.iter().filter(told).cloned().collect();
        told.sort_by_key(|settled| (key(settled), settled.about));
        told.dedup_by(|next, first| {
            let same = key(next) == key(first) && next.about.is_some();
            first.count += if same { next.count } else { 0 };
            same
        });
        told
    };
    let expected = (together(&said.settled), together(&said.ended));
    let found = (together(&alone.settled), together(&alone.ended));
    let differs = expected != found;
    Ok(differs
        .then(|| format!("violations alone\n  every position {expected:?}\n  alone          {found:?}\n")))
}

/// Whether a saved state that lacks its last byte is taken for a whole one.
fn truncated_is_accepted(
    engine: &dyn Engine,
    case: &Case,
    saved: &[u8],
    telling: Telling,
) -> Result<bool, Unsupported> {
    let mut monitor = engine.monitor(&case.program, &case.options, telling)?;
    Ok(monitor.restore(&saved[..saved.len() - 1]).is_ok())
}

/// Runs a monitor with `feed` and collects all it says.
fn say(
    mut monitor: Box<dyn Monitor>,
    feed: impl FnOnce(&mut dyn Monitor, &mut Sink) -> Result<(), Unsupported>,
) -> Result<Said, Unsupported> {
    let mut told = Sink::default();
    feed(&mut *monitor, &mut told)?;
    let mut settled = told.settled;
    settled.sort_by_key(|settled| (settled.at, settled.root, settled.about));
    let mut end = Sink::default();
    let at_end = monitor.finish(&mut end)?;
    let ended = end.settled;
    Ok(Said { settled, verdicts: monitor.verdicts(), pending: monitor.pending(), at_end, ended })
}

fn steps(
    monitor: &mut dyn Monitor,
    trace: &Trace,
    range: Range<usize>,
    out: &mut Sink,
) -> Result<(), Unsupported> {
    for at in range {
        let mut row = vec![0u64; words(trace.atoms.len())];
        for (atom, column) in trace.atoms.iter().enumerate() {
            row[atom / 64] |= u64::from(column.get(at)) << (atom % 64);
        }
        monitor.step(&row, out)?;
    }
    Ok(())
}

fn chunks(
    monitor: &mut dyn Monitor,
    trace: &Trace,
    range: Range<usize>,
    rng: &mut Rng,
    out: &mut Sink,
) -> Result<(), Unsupported> {
    let mut from = range.start;
    while from < range.end {
        let longest = rng.pick(&[6, 6, 80]);
        let to = range.end.min(from + rng.below(longest));
        let part = |column: &Bits| (from..to).map(|at| column.get(at)).collect();
        let atoms: Vec<Bits> = trace.atoms.iter().map(part).collect();
        let before = out.settled.len();
        monitor.feed(&Positions { len: to - from, atoms: &atoms, ..Positions::default() }, out)?;
        assert!(out.settled[before..].is_sorted_by_key(|settled| (settled.at, settled.root)), "out of order");
        from = to;
    }
    Ok(())
}

/// The truth of formulas by the definition; of three-valued cases, if the trace ended here.
fn defined(case: &Case, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
    let semantics = match case.options.semantics {
        Semantics::Ltl3 => Semantics::Finite,
        other => other,
    };
    let options = EvaluateOptions { semantics, ..case.options.clone() };
    Reference.plan(&case.program, &options)?.columns(trace, nodes)
}

/// Verdicts of the roots against the engine's evaluator and the definition.
fn wrong_roots(
    engine: &dyn Engine,
    case: &Case,
    trace: &Trace,
    said: &Said,
) -> Result<Option<String>, Unsupported> {
    let roots: Vec<NodeId> = case.program.roots.iter().map(|root| root.node).collect();
    let columns = defined(case, trace, &roots)?;
    let answers = engine.plan(&case.program, &case.options)?.evaluate(trace, 0)?;
    let three_valued = case.options.semantics == Semantics::Ltl3;
    for (root, (column, answer)) in columns.iter().zip(&answers).enumerate() {
        let settled: Vec<&Settled> =
            said.settled.iter().filter(|settled| settled.root == root && settled.about.is_none()).collect();
        let verdict = said.verdicts[root];
        let pending = said.pending.iter().any(|obligation| obligation.root == root);
        // A monitor that reports each position may owe verdicts about some when that of the root is settled.
        let open = said.ended.iter().any(|settled| settled.root == root);
        let at_end = said.at_end.as_ref().and_then(|at_end| at_end[root].truth());
        let wrong = if settled.iter().map(|settled| Some(settled.holds())).collect::<Vec<_>>()
            != Vec::from_iter(verdict.map(Some))
        {
            "settled more than once, or not as the verdict says"
        } else if !pending && verdict.is_none() || pending && verdict.is_some() && !open {
            "pending though settled, or neither"
        } else if verdict.or(Some(column.get(0))) != at_end {
            "not the verdict that the definition gives when the trace ends"
        } else if three_valued && answer.open.as_ref().map(|open| open.get(0)) != Some(verdict.is_none()) {
            "open for the monitor and not for the evaluator, or the reverse"
        } else if three_valued && answer.holds.get(0) != (verdict == Some(true)) {
            "true for the monitor and not for the evaluator, or the reverse"
        } else if !three_valued && (answer.open.is_some() || Some(answer.holds.get(0)) != at_end) {
            "not what the evaluator says"
        } else if !three_valued && verdict.is_some_and(|verdict| verdict != column.get(0)) {
            "settled against the definition"
        } else {
            continue;
        };
        return Ok(Some(format!("root {root}: {wrong}\n  monitor {said:?}\n  evaluator {answer:?}\n")));
    }
    Ok(None)
}

/// Three-valued verdicts against some infinite continuations.
fn wrong_for_ever(case: &Case, trace: &Trace, said: &Said, rng: &mut Rng) -> Option<String> {
    // The definition on infinite words knows propositions alone.
    if case.has_values() {
        return None;
    }
    let row = |at| (0..trace.atoms.len()).fold(0, |row, i| row | u64::from(trace.atoms[i].get(at)) << i);
    let prefix: Vec<u64> = (0..trace.len).map(row).collect();
    for _ in 0..4 {
        let (mut stem, more) = (prefix.clone(), rng.below(4));
        stem.extend((0..more).map(|_| rng.bits()));
        let cycle: Vec<u64> = (0..1 + rng.below(4)).map(|_| rng.bits()).collect();
        for settled in said.settled.iter().filter(|settled| settled.about.is_none()) {
            let root = case.program.roots[settled.root].node;
            if lasso::holds(&case.program, root, &stem, &cycle) != settled.holds() {
                return Some(format!("{settled:?} is not so after {stem:?} and {cycle:?} for ever\n"));
            }
        }
    }
    None
}

/// Verdicts about positions: each exactly once, and as the definition says.
fn wrong_positions(case: &Case, trace: &Trace, said: &Said) -> Result<Option<String>, Unsupported> {
    let about = |node: NodeId| match case.program.dag.node(node) {
        Node::Unary(Temporal::Globally, None, body) => body,
        _ => node,
    };
    let nodes: Vec<NodeId> = case.program.roots.iter().map(|root| about(root.node)).collect();
    let columns = defined(case, trace, &nodes)?;
    let mut seen = vec![vec![0; trace.len]; nodes.len()];
    let both = said.settled.iter().map(|settled| (settled, true));
    for (settled, early) in both.chain(said.ended.iter().map(|settled| (settled, false))) {
        let Some(position) = settled.about else { continue };
        seen[settled.root][position] += 1;
        // What is settled for every infinite continuation may differ from what the end would say.
        let comparable = !early || case.options.semantics != Semantics::Ltl3;
        if comparable && settled.holds() != columns[settled.root].get(position) || settled.at < position {
            return Ok(Some(format!("{settled:?} is not what the definition says\n")));
        }
    }
    let missing = |(root, seen): (usize, &Vec<i32>)| {
        let position = seen.iter().position(|&count| count != 1)?;
        Some(format!("root {root}: {} verdicts about position {position}\n", seen[position]))
    };
    Ok(seen.iter().enumerate().find_map(missing))
}

fn two(left_name: &str, left: &Said, right_name: &str, right: &Said) -> String {
    format!("{left_name}\n  {left:?}\n{right_name}\n  {right:?}\n")
}
