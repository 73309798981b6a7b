//! How far a formula looks: as distances in time, and as positions of a trace.

use std::collections::BTreeMap;
use tw_core::{Position, Time};
use tw_ir::{Clock, Node, NodeId, Program, Ticks};
use tw_monitor::{EvaluateOptions, Trace};

/// How far a formula looks back and ahead, in ticks of the clock; `None` is without bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Back.
    pub back: Option<i64>,
    /// Ahead.
    pub ahead: Option<i64>,
    /// Whether it looks at neighbours, however far away in time they are.
    pub neighbours: bool,
}

/// The interval of an operator in ticks; none is from 0 on.
fn ticks(interval: Option<tw_ir::Interval>, options: &EvaluateOptions) -> Ticks {
    let all = Ticks { low: 0, high: i64::MAX };
    interval.map_or(all, |own| own.ticks(options.clock, options.unit).unwrap_or(all))
}

/// The relative interval of a formula. Neighbours without an interval are not counted, but noted.
pub fn reach(program: &Program, root: NodeId, options: &EvaluateOptions) -> Reach {
    let mut known: BTreeMap<NodeId, Reach> = BTreeMap::new();
    let further = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| a.max(b));
    for id in program.reachable(&[root]) {
        let node = program.dag.node(id);
        let mut own = Reach { back: Some(0), ahead: Some(0), neighbours: false };
        for child in node.children().filter_map(|child| known.get(&child)) {
            own.back = further(own.back, child.back);
            own.ahead = further(own.ahead, child.ahead);
            own.neighbours |= child.neighbours;
        }
        own.neighbours |= matches!(node, Node::First | Node::Last);
        if let Some(applied) = node.temporal() {
            own.neighbours |= applied.is_step();
            let Ticks { low, high } = ticks(applied.interval, options);
            let free = applied.is_step() && applied.interval.is_none();
            let far = Some(high).filter(|high| *high != i64::MAX);
            let far = if free { Some(0) } else { far };
            let low = if free { 0 } else { low };
            // What looks the other way begins between the ends of the interval, or at once.
            let begins = if applied.left.is_none() { low } else { 0 };
            let (ahead, back) =
                if applied.past { (&mut own.back, &mut own.ahead) } else { (&mut own.ahead, &mut own.back) };
            *ahead = ahead.zip(far).map(|(ahead, far)| ahead.saturating_add(far));
            *back = back.map(|back| (back - begins).max(0));
        }
        known.insert(id, own);
    }
    known.get(&root).copied().unwrap_or_default()
}

/// An operator that looks at all that was, or at all that comes.
pub fn unbounded(program: &Program, root: NodeId, options: &EvaluateOptions) -> Option<NodeId> {
    let far = |id: &NodeId| {
        let applied = program.dag.node(*id).temporal();
        applied.is_some_and(|own| !own.is_step() && ticks(own.interval, options).high == i64::MAX)
    };
    program.reachable(&[root]).into_iter().rfind(far)
}

/// The first and one past the last of the positions that decide a formula at the positions `of`.
pub fn needed(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    options: &EvaluateOptions,
    of: (Position, Position),
) -> (Position, Position) {
    let last = trace.len.saturating_sub(1);
    if of.0 >= of.1 {
        return of;
    }
    let times = trace.times.as_deref().filter(|_| options.clock != Clock::Index);
    let later = |from: Position, distance: i64| match times {
        _ if distance == i64::MAX => last,
        Some(times) => {
            let until = times[from].saturating_add(distance);
            times.partition_point(|time: &Time| *time <= until).saturating_sub(1).max(from)
        }
        None => from.saturating_add(usize::try_from(distance).unwrap_or(usize::MAX)).min(last),
    };
    let earlier = |from: Position, distance: i64| match times {
        _ if distance == i64::MAX => 0,
        Some(times) => {
            let since = times[from].saturating_sub(distance);
            times.partition_point(|time: &Time| *time < since).min(from)
        }
        None => from.saturating_sub(usize::try_from(distance).unwrap_or(usize::MAX)),
    };
    let nodes = program.reachable(&[root]);
    let mut needs: Vec<Option<(Position, Position)>> = vec![None; nodes.len()];
    let (mut low, mut high) = (of.0, of.1 - 1);
    for place in (0..nodes.len()).rev() {
        if nodes[place] == root {
            needs[place] = Some((low, high));
        }
        let Some((mut from, mut to)) = needs[place] else { continue };
        let node = program.dag.node(nodes[place]);
        match node {
            Node::First => from = from.saturating_sub(1),
            Node::Last => to = (to + 1).min(last),
            _ => {
                if let Some(applied) = node.temporal() {
                    let high = ticks(applied.interval, options).high;
                    match (applied.is_step(), applied.past) {
                        (true, true) => from = from.saturating_sub(1),
                        (true, false) => to = (to + 1).min(last),
                        (false, true) => from = earlier(from, high),
                        (false, false) => to = later(to, high),
                    }
                }
            }
        }
        (low, high) = (low.min(from), high.max(to));
        for child in node.children() {
            if let Ok(at) = nodes.binary_search(&child) {
                let own = needs[at].get_or_insert((from, to));
                *own = (own.0.min(from), own.1.max(to));
            }
        }
    }
    // One more, which shows that time has passed.
    (low, (high + 2).min(trace.len))
}

/// The stretches of positions whose time lies between the same multiples of a length.
pub fn periods(trace: &Trace, clock: Clock, length: i64) -> Vec<(Position, Position)> {
    let times = trace.times.as_deref().filter(|_| clock != Clock::Index);
    let window = |at: Position| match times {
        Some(times) => times[at].div_euclid(length.max(1)),
        None => (at as i64).div_euclid(length.max(1)),
    };
    let mut found: Vec<(Position, Position)> = Vec::new();
    let mut current = None;
    for at in 0..trace.len {
        let own = window(at);
        match found.last_mut() {
            Some((_, end)) if current == Some(own) => *end = at + 1,
            _ => found.push((at, at + 1)),
        }
        current = Some(own);
    }
    found
}
