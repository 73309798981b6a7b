//! How long eventualities wait.
//!
//! An eventuality (`F g`, `f U g`, `f M g`, and negated `G`, `W`, `R`) waits where it is *asked for*, which follows
//! from the whole formula and the trace: `F ack` in `G (req -> F ack)` is asked for at each position with `req`. A
//! conjunction asks for both sides; a disjunction asks for a side that holds, one without temporal operators first,
//! and for both where neither holds. The wait is the number of positions until the goal is met: 0 if it is met at once.

use super::{Part, part};
use crate::Specification;
use std::collections::BTreeMap;
use tw_core::{Bits, Position, Time, TimeUnit};
use tw_ir::{Form, Node, NodeId, Root};
use tw_monitor::{Evaluator, Trace, Unsupported};

/// The waits of one eventuality.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The eventuality.
    pub part: Part,
    /// How often it was asked for.
    pub asked: usize,
    /// How often it was met; the rest waited until the trace ended.
    pub met: usize,
    /// Shortest and longest wait of those met.
    pub range: Option<(usize, usize)>,
    /// Mean wait of those met.
    pub mean: Option<f64>,
    /// The same in time, where positions have timestamps.
    pub elapsed: Option<Elapsed>,
    /// Where the longest wait began: the first that was never met, else the longest that was.
    pub longest_from: Option<Position>,
}

/// Waits in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// The shortest wait of those met.
    pub shortest: Time,
    /// The longest.
    pub longest: Time,
    /// Their mean.
    pub mean: Time,
    /// The trace's unit.
    pub unit: TimeUnit,
}

/// A subformula or its negation.
type Literal = (NodeId, bool);

/// A temporal operator, of the given polarity, as a loop.
struct Loop {
    /// What must hold until the goal is met.
    hold: Option<Literal>,
    /// What the goal is: all of these. None: there is no goal, the loop goes on to the end.
    goal: Vec<Literal>,
    /// Whether the goal must be met.
    strong: bool,
}

pub(super) fn waits(
    spec: &Specification,
    root: &Root,
    trace: &Trace,
    unit: TimeUnit,
    evaluator: &mut dyn Evaluator,
) -> Result<Vec<Wait>, Unsupported> {
    let program = &spec.program;
    let atoms = program.atoms();
    let mut formulas: Vec<NodeId> = Vec::new();
    let mut todo = vec![root.node];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(id) = todo.pop() {
        if seen.insert(id) {
            formulas.push(id);
            let node = program.dag.node(id);
            if atoms.binary_search(&id).is_err() && !node.is_past() {
                todo.extend(node.children());
            }
        }
    }
    formulas.sort_unstable();
    let columns = evaluator.columns(trace, &formulas)?;
    let truth = Truth { formulas: &formulas, columns: &columns };
    let local = |id: NodeId| {
        atoms.binary_search(&id).is_ok()
            || !program.reachable(&[id]).iter().any(|&id| program.dag.node(id).is_future())
    };

    let mut first = Bits::repeat(false, trace.len);
    trace.starts().iter().for_each(|&start| first.set(start, true));
    let mut asked: BTreeMap<Literal, Bits> = BTreeMap::from([((root.node, false), first)]);
    let mut waits = Vec::new();
    // Parents have larger numbers than children, so all that asks for a formula comes before it.
    while let Some(((id, negated), demand)) = asked.pop_last() {
        let node = program.dag.node(id);
        if atoms.binary_search(&id).is_ok() || node.is_past() {
            continue;
        }
        let looping = as_loop(node, negated);
        // What is never asked for is listed too.
        let operands = match (&looping, node) {
            (Some(looping), _) => looping.hold.into_iter().chain(looping.goal.iter().copied()).collect(),
            (None, Node::Not(a)) => vec![(a, !negated)],
            (None, Node::Implies(a, b)) => vec![(a, !negated), (b, negated)],
            (None, Node::Xor(..) | Node::Iff(..)) => vec![],
            (None, node) => node.children().map(|child| (child, negated)).collect(),
        };
        for operand in operands {
            asked.entry(operand).or_insert_with(|| Bits::repeat(false, trace.len));
        }
        let mut ask = |(id, negated): Literal, at: Position| {
            let bits = asked.entry((id, negated)).or_insert_with(|| Bits::repeat(false, trace.len));
            bits.set(at, true);
        };
        if let Some(looping) = looping {
            let wait = run_loop(unit, (id, negated), &looping, &truth, trace, &demand, &mut ask);
            if looping.strong {
                waits.push(Wait { part: part(spec, root, id, negated), ..wait });
            }
            continue;
        }
        for at in demand.iter_ones() {
            match node {
                Node::Not(a) => ask((a, !negated), at),
                Node::Unary(operator, _, a)
                    if operator.row().form == Form::Step && at + 1 < trace.segment_of(at).1 =>
                {
                    ask((a, negated), at + 1);
                }
                Node::Xor(a, b) | Node::Iff(a, b) => {
                    // Each side is asked for as it is.
                    ask((a, !truth.at((a, false), at)), at);
                    ask((b, !truth.at((b, false), at)), at);
                }
                Node::And(a, b) | Node::Or(a, b) | Node::Implies(a, b) => {
                    let a = (a, negated != matches!(node, Node::Implies(..)));
                    let b = (b, negated);
                    let (holds_a, holds_b) = (truth.at(a, at), truth.at(b, at));
                    let both = matches!(node, Node::And(..)) != negated;
                    let alone_a = !both && holds_a && (local(a.0) || !holds_b);
                    let alone_b = !both && !alone_a && holds_b && (local(b.0) || !holds_a);
                    if !alone_b {
                        ask(a, at);
                    }
                    if !alone_a {
                        ask(b, at);
                    }
                }
                _ => {}
            }
        }
    }
    // In the order of the text.
    waits.sort_by_key(|wait| wait.part.place);
    Ok(waits)
}

/// Truth columns by formula.
struct Truth<'a> {
    formulas: &'a [NodeId],
    columns: &'a [Bits],
}

impl Truth<'_> {
    fn at(&self, (id, negated): Literal, at: Position) -> bool {
        self.formulas.binary_search(&id).is_ok_and(|index| self.columns[index].get(at) != negated)
    }
}

fn as_loop(node: Node, negated: bool) -> Option<Loop> {
    let operator = node.temporal().filter(|operator| !operator.past && !operator.is_step())?;
    let lit = |id: NodeId| (id, negated);
    let right = lit(operator.right);
    // The dual of until is release, and that of a weak operator is strong.
    let until = (operator.form == Form::Until) != negated;
    let strong = operator.weak == negated;
    let (hold, goal) = match (operator.left.map(lit), until) {
        (None, true) => (None, vec![right]),
        (None, false) => (Some(right), vec![]),
        (left, true) => (left, vec![right]),
        // f R g = g W (f & g), f M g = g U (f & g)
        (Some(left), false) => (Some(right), vec![left, right]),
    };
    Some(Loop { hold, goal, strong })
}

/// Follows a loop from every position that asks for it; asks for its operands, and measures the waits.
fn run_loop(
    unit: TimeUnit,
    whole: Literal,
    looping: &Loop,
    truth: &Truth<'_>,
    trace: &Trace,
    demand: &Bits,
    ask: &mut dyn FnMut(Literal, Position),
) -> Wait {
    let part = Part { formula: String::new(), place: None };
    let mut wait =
        Wait { part, asked: 0, met: 0, range: None, mean: None, elapsed: None, longest_from: None };
    // What goes back does not tell how long something took.
    let sorted = |times: &&Vec<Time>| {
        (0..trace.starts().len())
            .all(|segment| times[trace.starts()[segment]..trace.segment_end(segment)].is_sorted())
    };
    let times = trace.times.as_ref().filter(sorted);
    let mut passed: Option<(Time, Time, i128)> = None;
    let (mut total, mut longest, mut unmet) = (0usize, None::<usize>, None);
    let (mut held_to, mut segment) = (0, 0);
    // The next goal at or after a position moves forward with the positions.
    let mut goal_from = 0;
    for at in demand.iter_ones() {
        while trace.segment_end(segment) <= at {
            segment += 1;
        }
        let end = trace.segment_end(segment);
        goal_from = goal_from.max(at);
        while goal_from < end
            && (looping.goal.is_empty() || !looping.goal.iter().all(|&goal| truth.at(goal, goal_from)))
        {
            goal_from += 1;
        }
        // A goal that comes after what had to hold until then has failed does not count.
        let met = goal_from < end && truth.at(whole, at);
        if let Some(hold) = looping.hold {
            (held_to.max(at)..goal_from).for_each(|position| ask(hold, position));
            held_to = goal_from.max(held_to);
        }
        wait.asked += 1;
        if met {
            looping.goal.iter().for_each(|&goal| ask(goal, goal_from));
            let waited = goal_from - at;
            wait.met += 1;
            total += waited;
            if longest.is_none_or(|longest| waited > longest) {
                longest = Some(waited);
                wait.longest_from = unmet.or(Some(at));
            }
            let (low, high) = wait.range.unwrap_or((waited, waited));
            wait.range = Some((low.min(waited), high.max(waited)));
            if let Some(times) = times {
                let waited = times[goal_from].saturating_sub(times[at]);
                let (low, high, sum) = passed.unwrap_or((waited, waited, 0));
                passed = Some((low.min(waited), high.max(waited), sum + i128::from(waited)));
            }
        } else if unmet.is_none() {
            unmet = Some(at);
            wait.longest_from = unmet;
        }
    }
    wait.elapsed = passed.map(|(shortest, longest, sum)| {
        let mean = i64::try_from(sum / wait.met.max(1) as i128).unwrap_or(Time::MAX);
        Elapsed { shortest, longest, mean, unit }
    });
    wait.mean = (wait.met > 0).then(|| total as f64 / wait.met as f64);
    wait
}
