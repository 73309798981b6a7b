//! Positions with equal timestamps as one, where a property cannot tell.
//!
//! What happens at such positions is taken to happen at one. Of each subformula it is computed whether its value there is that of one of
//! them, of all of them, or the same at each; a property is violated at the one if and only if it is violated at some of them. Which
//! these are is told by a second look, in which they alone are positions of their own again ([`Collapsed::leaving`]): as long as a
//! formula cannot tell whether others are one, its value at those that are not is the right one.

use std::collections::BTreeMap;
use tw_core::{Bits, Position, Relation, Time};
use tw_ir::{Applied, Clock, Node, NodeId, Program, Semantics};
use tw_monitor::{Answer, EvaluateOptions, Trace};

/// What is known of where a formula is true (or false) among positions with equal timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Side {
    /// It is so where they are one if and only if it is so at one of them.
    some: bool,
    /// If it is so at one of them, then at the first.
    first: bool,
    /// If it is so at one of them, then at the last.
    last: bool,
}

impl Side {
    const SURE: Side = Side { some: true, first: true, last: true };

    /// Where one of two is so.
    fn or(self, other: Side) -> Side {
        let Side { some, first, last } = self;
        Side { some: some && other.some, first: first && other.first, last: last && other.last }
    }

    /// Where both are so: at one and the same position, which the first is, or the last, or any if one of them is the same at each.
    fn and(self, other: Side, same: bool) -> Side {
        let both = self.or(other);
        Side { some: both.some && (same || both.first || both.last), ..both }
    }
}

/// What is known of a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Labels {
    yes: Side,
    no: Side,
}

impl Labels {
    const SAME: Labels = Labels { yes: Side::SURE, no: Side::SURE };

    /// Whether it has the same value at each of them, and where they are one.
    fn same(self) -> bool {
        self.yes.some && self.no.some
    }

    fn not(self) -> Labels {
        Labels { yes: self.no, no: self.yes }
    }

    fn or(self, other: Labels) -> Labels {
        let same = self.same() || other.same();
        match self.same() && other.same() {
            true => Labels::SAME,
            false => Labels { yes: self.yes.or(other.yes), no: self.no.and(other.no, same) },
        }
    }

    fn and(self, other: Labels) -> Labels {
        self.not().or(other.not()).not()
    }

    /// `exists`.
    fn exists(self) -> Labels {
        match self.same() {
            true => Labels::SAME,
            // False for all values at one position: which one must not depend on the value.
            false => Labels { no: self.no.and(self.no, false), ..self },
        }
    }
}

/// Why positions with equal timestamps may not be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Intervals count positions.
    Counted,
    /// The last position is taken to be repeated, and which one is last would change.
    Repeated,
    /// This part can tell.
    Part(NodeId),
}

/// Whether a property whose violations are those of `body` can tell positions with equal timestamps from one.
pub fn collapsible(program: &Program, body: NodeId, options: &EvaluateOptions) -> Result<(), Apart> {
    if options.clock != Clock::Stamps {
        return Err(Apart::Counted);
    }
    if options.semantics != Semantics::Finite {
        return Err(Apart::Repeated);
    }
    let atoms = program.atoms();
    let nodes = program.reachable(&[body]);
    let mut known: BTreeMap<NodeId, Labels> = BTreeMap::new();
    for &id in &nodes {
        let of = |id: NodeId| known.get(&id).copied().unwrap_or_default();
        let node = program.dag.node(id);
        let happens = Labels { yes: Side { some: true, ..Side::default() }, no: Side::default() };
        let own = match node {
            Node::Pattern(_) => happens,
            _ if atoms.binary_search(&id).is_ok() => happens,
            Node::Bool(_) | Node::Constant(_) | Node::Variable(_) => Labels::SAME,
            // A column has a value at each of them; which is the first, or the last, changes.
            Node::Slot(_) | Node::First | Node::Last | Node::Chart(..) => Labels::default(),
            Node::Not(a) => of(a).not(),
            Node::And(a, b) => of(a).and(of(b)),
            Node::Or(a, b) => of(a).or(of(b)),
            Node::Implies(a, b) => of(a).not().or(of(b)),
            Node::Iff(a, b) => either(of(a), of(b)).not(),
            Node::Xor(a, b) => either(of(a), of(b)),
            Node::Exists(_, a) => of(a).exists(),
            Node::Forall(_, a) => of(a).not().exists().not(),
            _ => match node.temporal() {
                Some(applied) => temporal(applied, &of, options),
                // Comparisons and terms of what is the same are the same.
                None if node.children().all(|child| of(child).same()) => Labels::SAME,
                None => Labels::default(),
            },
        };
        known.insert(id, own);
    }
    let labels = |id: &NodeId| known.get(id).copied().unwrap_or_default();
    if labels(&body).no.some {
        return Ok(());
    }
    // The smallest part of which nothing is known is to blame.
    let nothing = |id: &&NodeId| labels(id) == Labels::default();
    Err(Apart::Part(nodes.iter().find(nothing).copied().unwrap_or(body)))
}

/// Exactly one of the two.
fn either(a: Labels, b: Labels) -> Labels {
    a.and(b.not()).or(a.not().and(b))
}

fn temporal(applied: Applied, of: &impl Fn(NodeId) -> Labels, options: &EvaluateOptions) -> Labels {
    let Some(way) = applied.way() else { return Labels::default() };
    let side = |labels: Labels| if way.dual { labels.not() } else { labels };
    let hold = way.hold.map(|hold| side(of(hold)));
    let goal = match way.goal {
        (one, None) => side(of(one)),
        (one, Some(other)) => side(of(one)).and(side(of(other))),
    };
    // Between the goal and where the formula is asked, the goal's own positions are the fewer the nearer it is.
    let (near, far) =
        if applied.past { (goal.yes.last, goal.yes.first) } else { (goal.yes.first, goal.yes.last) };
    let held = hold.is_none_or(|hold| hold.same() && near);
    let now = match applied.interval.map(|own| own.ticks(options.clock, options.unit)) {
        None => true,
        Some(Ok(ticks)) => ticks.low == 0,
        Some(Err(_)) => return Labels::default(),
    };
    let own = if !goal.yes.some || !held {
        Labels::default()
    } else if !now || goal.same() || (hold.is_none() && far) {
        // Only other times matter, or what is there at each of them.
        Labels::SAME
    } else {
        // At the last of them, all of them are past; at the first, future.
        let (own_far, own_near) = (far, hold.is_none() || near);
        let (first, last) = if applied.past { (own_far, own_near) } else { (own_near, own_far) };
        Labels { yes: Side { some: true, first, last }, no: Side::default() }
    };
    side(own)
}

/// A trace in which positions with equal timestamps are one, but for some.
#[derive(Clone, Debug)]
pub struct Collapsed {
    /// The trace.
    pub trace: Trace,
    /// The first position of each of its positions.
    pub order: Vec<u32>,
    /// Whether each stands for several.
    pub several: Bits,
}

impl Collapsed {
    /// All of them; nothing where there are no timestamps, or where no two are equal.
    pub fn new(trace: &Trace) -> Option<Collapsed> {
        let times = timed(trace)?;
        times.windows(2).any(|pair| pair[0] == pair[1]).then(|| Self::leaving(trace, &[]))
    }

    /// All but those at `times`, which ascend.
    pub fn leaving(trace: &Trace, times: &[Time]) -> Collapsed {
        let stamps = timed(trace).unwrap_or_default();
        let begins = |at: Position| {
            at == 0
                || stamps.is_empty()
                || stamps[at] != stamps[at - 1]
                || times.binary_search(&stamps[at]).is_ok()
        };
        let order: Vec<u32> = (0..trace.len).filter(|&at| begins(at)).map(|at| at as u32).collect();
        let end = |nth: usize| order.get(nth + 1).map_or(trace.len, |&next| next as usize);
        let ranges = || order.iter().enumerate().map(|(nth, &from)| from as usize..end(nth));
        let happens = |atom: &Bits| ranges().map(|mut range| range.any(|at| atom.get(at))).collect::<Bits>();
        // Tuples lie in the order of positions: those of several stand together.
        let joined = |own: &Relation| {
            let starts = own.starts();
            let from = order.iter().map(|&at| starts[at as usize]);
            Relation::new(from.chain(starts.last().copied()).collect(), own.columns().to_vec())
        };
        let own = Trace {
            len: order.len(),
            atoms: trace.atoms.iter().map(happens).collect(),
            times: trace.times.as_ref().map(|times| order.iter().map(|&at| times[at as usize]).collect()),
            relations: trace.relations.iter().map(joined).collect(),
            until: trace.until,
            ..Trace::default()
        };
        let several = ranges().map(|range| range.len() > 1).collect();
        Collapsed { trace: own, order, several }
    }
}

/// The answer of a property that cannot tell positions with equal timestamps from one: they are evaluated as one, and those that are
/// violated once more each by itself. `evaluate` gives the answer of a trace with at most so many violations listed, or nothing.
pub fn as_one<E>(
    trace: &Trace,
    limit: usize,
    mut evaluate: impl FnMut(&Trace, usize) -> Result<Option<Answer>, E>,
) -> Result<Option<Answer>, E> {
    let Some(collapsed) = Collapsed::new(trace) else { return evaluate(trace, limit) };
    let Some(first) = evaluate(&collapsed.trace, usize::MAX)? else { return Ok(None) };
    let times = collapsed.trace.times.as_deref().unwrap_or_default();
    let several = first.violations.iter().filter(|at| collapsed.several.get(**at));
    let mut violated: Vec<Time> = several.map(|at| times[*at]).collect();
    violated.dedup();
    let (answer, order) = match violated.is_empty() {
        true => (Some(first), collapsed.order),
        false => {
            let apart = Collapsed::leaving(trace, &violated);
            (evaluate(&apart.trace, limit)?, apart.order)
        }
    };
    Ok(answer.map(|mut answer| {
        answer.violations.truncate(limit);
        answer.bindings.truncate(limit);
        answer.violations.iter_mut().for_each(|at| *at = order[*at] as usize);
        answer
    }))
}

/// The timestamps of a trace that may be collapsed: one of which no values of columns are asked.
fn timed(trace: &Trace) -> Option<&[Time]> {
    let plain = trace.slots.is_none() && trace.terms.is_empty() && trace.segments.is_none();
    trace.times.as_deref().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_core::TimeUnit;
    use tw_testkit::texts::specification;

    fn apart(text: &str) -> Result<(), String> {
        let program = specification(&format!("property a : {text};"));
        let (_, body) = program.invariant(program.roots[0].node).unwrap();
        let options = EvaluateOptions { unit: TimeUnit::Seconds, ..EvaluateOptions::default() };
        collapsible(&program, body, &options).map_err(|apart| match apart {
            Apart::Part(node) => tw_ir::display(&program, node).to_string(),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn what_looks_at_whole_moments_cannot_tell() {
        for text in [
            "G forall c, t. auth(c, t) -> 1000 < t",
            "G forall c, t. auth(c, t) -> O[0,3d] F[0,0] upd_success(c)",
            "G forall c, s. login(c, s) & (F[1m,20m] net(c)) & (G[0,1d] H[0,0] (net(c) -> F[1m,20m] net(c))) -> F[0,1d] O[0,0] logout(c, s)",
            "G forall c. upd_skip(c) -> O[0,1d] F[0,0] upd_success(c)",
            "G forall x. p(x) -> O[1,5] q(x)",
            "G forall x. p(x) -> F[1,5] q(x)",
            "G forall x. p(x) -> (F[1,5] q(x)) S[1,9] (O F[0,0] p(x))",
            "G !(a & F[1,3] b)",
            "G (a -> F[0,0] O[0,0] b)",
        ] {
            assert_eq!(apart(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_looks_at_the_order_within_a_moment_can() {
        for (text, blamed) in [
            ("G forall x. p(x) -> F[0,5] q(x)", "p(x) -> F[0,5] q(x)"),
            ("G forall x. p(x) -> O q(x)", "p(x) -> O q(x)"),
            ("G forall x. p(x) -> X q(x)", "X q(x)"),
            ("G forall x. p(x) & Y q(x) -> O[1,2] p(x)", "Y q(x)"),
            ("G (a -> first | O[1,3] b)", "first"),
            ("G !(a & b)", "a & b"),
            ("G forall x. p(x) -> (a U[0,3] q(x))", "a U[0,3] q(x)"),
            ("G forall u. u = user -> O[1,3] p(u)", "user"),
        ] {
            assert_eq!(apart(text), Err(blamed.to_string()), "{text}");
        }
    }
}
