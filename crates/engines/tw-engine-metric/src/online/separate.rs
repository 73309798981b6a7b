//! Formulas without unbounded future under bounded operators, so that progression reads every row in bounded time.
//!
//! "Online Monitoring of Metric Temporal Logic" (Ho, Ouaknine, Worrell) has sixteen rules for this, for strict operators
//! and timestamps that increase strictly. Here operators are non-strict and timestamps may be equal, and two facts take the
//! place of the rules. Let a bounded operator at i ask for `a U b` at positions j, up to B ticks away. Then for those j
//!
//! * `(a U b)(j) = (a U[0,B] b)(j) | ((G[0,B] a)(j) & V(i))`, where `V(i)` is the truth of `a U b` at the first position
//!   after t_i + B if the operator looks ahead, and at i itself if it looks back. A witness is near to j or beyond the
//!   window, and one beyond the window is one for `V`.
//! * `(a S b)(j) = (a S[0,B] b)(j) | ((H[0,B] a)(j) & (a S b)(i))` if the operator looks ahead, likewise.
//!
//! So the operator is `if V then` itself with bounded operands `else` itself with others, whatever connectives lie between,
//! on either side of `U` and `S`. `V` is untimed: it is `α U β` where α(i) says that a holds at the positions after t_i + B
//! up to t_(i+1) + B, and β(i) that there is b among them with a before it ([`Kind::Beyond`]). Those pieces of time follow
//! each other without a gap and without an overlap, which the paper's rules get from windows of twice the length.
//! `a U[c,inf) b` is `G[0,c) a` and `V` for the last tick before c. Of the published rules and their mirrors only the
//! fourth and the eighth, `H` in a bounded future and `G` in a bounded past, hold with equal timestamps, too: an event of
//! the same time is neither within (0,b) nor beyond it.
//!
//! Not separated, and left as they are: `X` and `Y` without bounds over an unbounded future inside a bounded operator, since
//! the next position may be any time away, and bounded past over an unbounded `S` that looks into the unbounded future.

use super::graph::{ALWAYS, Edge, Graph, Kind};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_ir::Ticks;

/// Operators that separation may add to one part of a property.
const OPERATORS: usize = 1 << 10;
/// Unbounded operators that one bounded operator may ask for: each doubles it.
const LEAVES: usize = 4;
/// Nesting of unbounded operators.
const DEPTH: usize = 16;

/// The same formula without unbounded future under bounded operators; `None` if there is none, or if the result would be
/// too large.
pub(super) fn separate(graph: &mut Graph, edge: Edge) -> Option<Edge> {
    let unbounded = |op: usize| graph.operators[op].delay.is_none();
    let mut open = needed(graph, edge, unbounded);
    open.retain(|&op| unbounded(op));
    if open.iter().all(|&op| unfolds(graph, op)) {
        return None;
    }
    let limit = graph.operators.len() + OPERATORS;
    let (before, mut forms) = (graph.node, FxHashMap::default());
    let mut separation = Separation { graph, limit };
    let mut found = Some(edge);
    for op in open {
        let operator = separation.graph.operators[op];
        separation.graph.node = operator.node;
        let of = |edge: Edge| match forms.get(&edge.op()) {
            Some(&form) => Edge::negate_if(form, edge.negated()),
            None => edge,
        };
        let Some(form) = separation.operator(operator.kind.map(of), 0) else {
            found = None;
            break;
        };
        forms.insert(op, form);
    }
    separation.graph.node = before;
    found.and_then(|edge| forms.get(&edge.op()).map(|form| form.negate_if(edge.negated())))
}

/// An operator and those below it, ascending, not looking below those that are not `opened`. What it costs does not depend
/// on how many operators other properties have.
pub(super) fn needed(graph: &Graph, edge: Edge, opened: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut seen = FxHashSet::from_iter([edge.op()]);
    let mut todo = vec![edge.op()];
    while let Some(op) = todo.pop() {
        if opened(op) {
            let operands = graph.operators[op].kind.operands().map(Edge::op);
            todo.extend(operands.filter(|&operand| seen.insert(operand)));
        }
    }
    let mut found: Vec<usize> = seen.into_iter().collect();
    found.sort_unstable();
    found
}

/// Whether progression unfolds an operator whose verdict may take for ever.
pub(super) fn unfolds(graph: &Graph, op: usize) -> bool {
    let operator = &graph.operators[op];
    operator.delay.is_none()
        && match operator.kind {
            Kind::And(..) | Kind::Xor(..) => true,
            kind => kind.ticks() == Some(ALWAYS),
        }
}

/// Whether an operator is the truer, the falser or neither for an operand's being true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Positive,
    Negative,
    Both,
}

/// Where an operator looks from a position: at it and before, or at it and after, so many ticks. The two differ where there
/// are none, too, as other positions may have the same timestamp.
#[derive(Clone, Copy, Debug)]
enum Window {
    Back(i64),
    Ahead(i64),
}

struct Separation<'g> {
    graph: &'g mut Graph,
    /// Operators there may be.
    limit: usize,
}

impl Separation<'_> {
    fn open(&self, edge: Edge) -> bool {
        self.graph.operators[edge.op()].delay.is_none()
    }

    /// An operator over separated operands, separated.
    fn operator(&mut self, kind: Kind, depth: usize) -> Option<Edge> {
        if depth > DEPTH || self.graph.operators.len() > self.limit {
            return None;
        }
        let unbounded = match kind {
            Kind::And(..) | Kind::Xor(..) => true,
            kind => kind.ticks() == Some(ALWAYS),
        };
        if let Kind::Until(Ticks { low: 1.., high: i64::MAX }, a, b) = kind {
            return self.later(kind.ticks()?.low - 1, a, b, depth);
        }
        if unbounded || !kind.operands().any(|operand| self.open(operand)) {
            return Some(self.graph.build(kind));
        }
        // How far it looks.
        let window = match kind {
            Kind::Until(ticks, ..) | Kind::Next(ticks, _) => Window::Ahead(ticks.high),
            Kind::Since(ticks, ..) | Kind::Previous(ticks, _) => Window::Back(ticks.high),
            Kind::Beyond(ticks, ..) => Window::Ahead(ticks),
            _ => return None,
        };
        if matches!(window, Window::Back(i64::MAX) | Window::Ahead(i64::MAX)) {
            return None;
        }
        let leaves = self.leaves(kind)?;
        // The operator for each choice of the leaves' truth beyond, of the first leaf first.
        let mut choices = vec![FxHashMap::default()];
        let mut conditions = Vec::new();
        for &(leaf, sign) in &leaves {
            let (beyond, near, held) = self.leaf(leaf, window, depth + 1)?;
            let beyond = match kind {
                Kind::Beyond(..) => self.graph.build(Kind::Next(ALWAYS, beyond)),
                _ => beyond,
            };
            conditions.push((beyond, sign));
            let either = self.graph.or(near, held);
            let with = |choice: &FxHashMap<usize, Edge>, value: Edge| {
                let mut choice = choice.clone();
                choice.insert(leaf, value);
                choice
            };
            choices = choices.iter().flat_map(|choice| [with(choice, either), with(choice, near)]).collect();
        }
        let mut values = Vec::with_capacity(choices.len());
        for choice in choices {
            let operands: Vec<Edge> = kind.operands().map(|operand| self.replace(operand, &choice)).collect();
            let mut operands = operands.into_iter();
            // What is near may have unbounded operators in it, which are fewer in each other.
            let kind = kind.map(|edge| operands.next().unwrap_or(edge));
            values.push(self.operator(kind, depth + 1)?);
        }
        for (beyond, sign) in conditions.into_iter().rev() {
            values = values.chunks(2).map(|pair| self.choose(beyond, pair[0], pair[1], sign)).collect();
        }
        values.pop().filter(|_| self.graph.operators.len() <= self.limit)
    }

    /// If `condition` then `high` else `low`, such that what both say is known where the condition is not.
    fn choose(&mut self, condition: Edge, high: Edge, low: Edge, sign: Sign) -> Edge {
        if high == low {
            return high;
        }
        let graph = &mut *self.graph;
        let (with, without) = (graph.and(condition, high), graph.and(!condition, low));
        match sign {
            Sign::Positive => graph.or(low, with),
            Sign::Negative => graph.or(high, without),
            Sign::Both => {
                let (either, both) = (graph.or(with, without), graph.and(high, low));
                graph.or(either, both)
            }
        }
    }

    /// `a U[c,inf) b` where `before` is the last tick before c.
    fn later(&mut self, before: i64, a: Edge, b: Edge, depth: usize) -> Option<Edge> {
        let until = self.operator(Kind::Until(Ticks { low: 0, high: before }, Edge::TRUE, !a), depth + 1)?;
        let beyond = self.beyond(before, a, b, depth + 1)?;
        Some(self.graph.and(!until, beyond))
    }

    /// `a U b` at the first position more than so many ticks later.
    fn beyond(&mut self, ticks: i64, a: Edge, b: Edge, depth: usize) -> Option<Edge> {
        let fails = self.operator(Kind::Beyond(ticks, Edge::TRUE, !a), depth)?;
        let found = self.operator(Kind::Beyond(ticks, a, b), depth)?;
        Some(self.graph.build(Kind::Until(ALWAYS, !fails, found)))
    }

    /// What is asked for beyond the window of an operator, and what of a leaf within it is bounded: true in any case, and
    /// true if it is beyond.
    fn leaf(&mut self, leaf: usize, window: Window, depth: usize) -> Option<(Edge, Edge, Edge)> {
        let (Window::Back(high) | Window::Ahead(high)) = window;
        let ticks = Ticks { low: 0, high };
        match (self.graph.operators[leaf].kind, window) {
            (Kind::Until(ALWAYS, a, b), _) => {
                let beyond = match window {
                    Window::Back(_) => Edge::new(leaf, false),
                    Window::Ahead(ticks) => self.beyond(ticks, a, b, depth)?,
                };
                let near = self.operator(Kind::Until(ticks, a, b), depth)?;
                let fails = self.operator(Kind::Until(ticks, Edge::TRUE, !a), depth)?;
                Some((beyond, near, !fails))
            }
            (Kind::Since(ALWAYS, a, b), Window::Ahead(_)) => {
                let near = self.operator(Kind::Since(ticks, a, b), depth)?;
                let fails = self.operator(Kind::Since(ticks, Edge::TRUE, !a), depth)?;
                Some((Edge::new(leaf, false), near, !fails))
            }
            _ => None,
        }
    }

    /// The unbounded operators that an operator asks for through connectives, and what they do to it.
    fn leaves(&self, kind: Kind) -> Option<Vec<(usize, Sign)>> {
        let mut todo: Vec<(Edge, bool)> = kind.operands().map(|edge| (edge, false)).collect();
        let (mut seen, mut signs) = (FxHashSet::default(), FxHashMap::default());
        while let Some((edge, negated)) = todo.pop() {
            let negated = negated != edge.negated();
            if !self.open(edge) || !seen.insert((edge.op(), negated)) {
                continue;
            }
            match self.graph.operators[edge.op()].kind {
                Kind::And(a, b) => todo.extend([(a, negated), (b, negated)]),
                Kind::Xor(a, b) => todo.extend([(a, negated), (b, negated), (a, !negated), (b, !negated)]),
                _ => {
                    let sign = if negated { Sign::Negative } else { Sign::Positive };
                    let known = signs.entry(edge.op()).or_insert(sign);
                    if *known != sign {
                        *known = Sign::Both;
                    }
                }
            }
        }
        let mut found: Vec<_> = signs.into_iter().collect();
        found.sort_unstable_by_key(|&(op, _)| op);
        (found.len() <= LEAVES).then_some(found)
    }

    /// A formula with some operators replaced, through connectives.
    fn replace(&mut self, edge: Edge, with: &FxHashMap<usize, Edge>) -> Edge {
        let mut done = with.clone();
        let mut todo = vec![edge.op()];
        while let Some(&op) = todo.last() {
            let kind = self.graph.operators[op].kind;
            let connective = matches!(kind, Kind::And(..) | Kind::Xor(..)) && self.open(Edge::new(op, false));
            let missing: Vec<usize> = match connective && !done.contains_key(&op) {
                true => kind.operands().map(Edge::op).filter(|op| !done.contains_key(op)).collect(),
                false => Vec::new(),
            };
            if !missing.is_empty() {
                todo.extend(missing);
                continue;
            }
            todo.pop();
            if !done.contains_key(&op) {
                let of = |edge: Edge| done[&edge.op()].negate_if(edge.negated());
                let edge = if connective { self.graph.build(kind.map(of)) } else { Edge::new(op, false) };
                done.insert(op, edge);
            }
        }
        done[&edge.op()].negate_if(edge.negated())
    }
}
