//! One step: from a claim about a position to the claims about its parts that justify it.

use super::Rule;
use super::walk::{Walk, Window};
use crate::{Bindings, EvaluateOptions, Trace, Unsupported};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use tw_core::{Bits, Position};
use tw_ir::{Form, Node, NodeId, Program, Semantics};

/// A claim still without its reasons.
pub(super) struct Part {
    pub(super) node: NodeId,
    pub(super) range: (Position, Position),
    pub(super) holds: bool,
}

/// The formulas whose truth a step from `node` asks for. Predicates are not taken apart.
pub(super) fn parts(program: &Program, node: NodeId) -> impl Iterator<Item = NodeId> {
    let node = program.dag.node(node);
    let taken_apart = node.is_temporal()
        || matches!(
            node,
            Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Xor(..) | Node::Implies(..) | Node::Iff(..)
        );
    node.children().filter(move |_| taken_apart)
}

/// Truth columns by formula and number of bindings.
pub(super) type Columns<'a> = FxHashMap<(NodeId, u32), Cow<'a, Bits>>;

/// Those under some bindings.
pub(super) struct Known<'k, 'a> {
    pub(super) columns: &'k Columns<'a>,
    pub(super) bound: u32,
}

/// What is true where.
pub(super) trait Truths {
    /// The truth of a formula at a position.
    fn get(&self, node: NodeId, at: Position) -> bool;
    /// The first offset of a walk from `low` to `high` where it is `value`.
    fn find(&self, walk: &Walk<'_>, node: NodeId, value: bool, low: usize, high: usize) -> Option<usize>;
}

impl Truths for Known<'_, '_> {
    fn get(&self, node: NodeId, at: Position) -> bool {
        self.columns[&(node, self.bound)].get(at)
    }

    fn find(&self, walk: &Walk<'_>, node: NodeId, value: bool, low: usize, high: usize) -> Option<usize> {
        walk.find(&self.columns[&(node, self.bound)], value, low, high)
    }
}

/// Where an explanation takes what is true from.
pub(super) trait Source {
    /// The truth of what is explained.
    fn root(&mut self, node: NodeId, bindings: &Bindings, at: Position) -> Result<bool, Unsupported>;
    /// These claims are taken apart next, in an explanation of so many levels.
    fn ask(&mut self, level: &[(NodeId, &Bindings)], depth_limit: usize) -> Result<(), Unsupported>;
    /// Why a formula is true or not; a value of a variable that decides is added to the bindings.
    fn reasons(
        &mut self,
        node: NodeId,
        bindings: &mut Bindings,
        at: Position,
        holds: bool,
    ) -> Result<(Rule, Vec<Part>), Unsupported>;
    /// Whether all that was said is so.
    fn knows(&self) -> bool {
        true
    }
}

/// The rule and the claims by which `node` is `holds` at `at`.
pub(super) fn justify(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    truths: &dyn Truths,
    id: NodeId,
    at: Position,
    holds: bool,
) -> Result<(Rule, Vec<Part>), Unsupported> {
    let node = program.dag.node(id);
    let here = |node: NodeId| Part { node, range: (at, at), holds: truths.get(node, at) };
    let side = |a: NodeId, b: NodeId, deciding: bool| {
        // One side with the deciding truth is enough, and the left one is read first.
        let (rule, node) = if truths.get(a, at) == deciding { (Rule::Left, a) } else { (Rule::Right, b) };
        (rule, vec![here(node)])
    };
    let both = |a: NodeId, b: NodeId| (Rule::Both, vec![here(a), here(b)]);
    let Some(operator) = node.temporal() else {
        return Ok(match node {
            Node::Not(a) => (Rule::Negation, vec![here(a)]),
            Node::And(a, b) => {
                if holds {
                    both(a, b)
                } else {
                    side(a, b, false)
                }
            }
            Node::Or(a, b) => {
                if holds {
                    side(a, b, true)
                } else {
                    both(a, b)
                }
            }
            Node::Xor(a, b) | Node::Iff(a, b) => both(a, b),
            Node::Implies(a, _) if holds && !truths.get(a, at) => (Rule::Left, vec![here(a)]),
            Node::Implies(_, b) if holds => (Rule::Right, vec![here(b)]),
            Node::Implies(a, b) => both(a, b),
            _ => (Rule::Atom, Vec::new()),
        });
    };
    let (left, right) = (operator.left, operator.right);
    let walk = Walk::new(trace, options, at, !operator.past);
    let window = walk.window(program, options, id)?;
    if operator.is_step() {
        return Ok(neighbour(&walk, &window, options.semantics, !operator.past, here(right), |k| Part {
            node: right,
            range: (k, k),
            holds: truths.get(right, k),
        }));
    }
    let (low, high, open) = match window {
        Window::Offsets { low, high, open } => (low, high, open),
        Window::Empty { open } => return Ok((Rule::NoPosition { pending: open }, Vec::new())),
    };
    let ranging = Ranging { walk: &walk, truths, low, high, open };
    let (rule, parts) = match (operator.form, operator.weak, left) {
        (Form::Release, true, None) => ranging.globally(right, holds),
        (Form::Release, true, Some(left)) => ranging.release(left, right, holds),
        (Form::Release, false, Some(left)) => ranging.strong_release(left, right, holds),
        (_, true, Some(left)) => ranging.weak_until(left, right, holds),
        (_, _, left) => ranging.until(left, right, holds),
    };
    Ok((rule, parts.into_iter().flatten().collect()))
}

/// `X N Y Z`: the same rules whether strong or weak, since the missing neighbour is its own reason.
fn neighbour(
    walk: &Walk<'_>,
    window: &Window,
    semantics: Semantics,
    forward: bool,
    here: Part,
    there: impl Fn(Position) -> Part,
) -> (Rule, Vec<Part>) {
    let inside = |offset: usize| matches!(window, Window::Offsets { low, high, .. } if (*low..=*high).contains(&offset));
    match walk.neighbour() {
        Some(k) if inside(1) => (Rule::Neighbour, vec![there(k)]),
        None if forward && semantics == Semantics::RepeatLast && inside(0) => (Rule::RepeatsLast, vec![here]),
        None if !forward => (Rule::NoPrevious, Vec::new()),
        None if semantics != Semantics::RepeatLast => (Rule::NoNext, Vec::new()),
        _ => (Rule::OutsideInterval, Vec::new()),
    }
}

/// An operator that ranges over the offsets `low..=high`; `open` if the trace's end is what ends them.
struct Ranging<'a> {
    walk: &'a Walk<'a>,
    truths: &'a dyn Truths,
    low: usize,
    high: usize,
    open: bool,
}

type Reasons = (Rule, [Option<Part>; 2]);

impl Ranging<'_> {
    fn find(&self, node: NodeId, value: bool, low: usize, end: usize) -> Option<usize> {
        end.checked_sub(1).and_then(|high| self.truths.find(self.walk, node, value, low, high))
    }

    /// `goal` does not come: it is still awaited, comes too late or too early, or not at all.
    fn never(&self, goal: NodeId) -> Rule {
        if self.open {
            return Rule::Never { pending: true };
        }
        let find = |low, high| self.truths.find(self.walk, goal, true, low, high);
        let late = find(self.high + 1, self.walk.reach());
        let early = || self.low.checked_sub(1).and_then(|high| find(0, high));
        match late.or_else(early) {
            Some(offset) => Rule::Missed { at: self.walk.place(offset) },
            None => Rule::Never { pending: false },
        }
    }

    /// Until and since; without `hold`, finally and once.
    fn until(&self, hold: Option<NodeId>, goal: NodeId, holds: bool) -> Reasons {
        let (walk, low, end) = (self.walk, self.low, self.high + 1);
        if holds {
            let k = self.find(goal, true, low, end).unwrap_or(self.high);
            let before = hold.and_then(|hold| walk.stretch(hold, 0, k, true));
            return (Rule::Witness { at: walk.place(k) }, [Some(walk.point(goal, k, true)), before]);
        }
        if let Some(hold) = hold
            && let Some(m) = self.find(hold, false, 0, end)
        {
            let never = walk.stretch(goal, low, m + 1, false);
            return (Rule::BrokenAt { at: walk.place(m) }, [Some(walk.point(hold, m, false)), never]);
        }
        let held = hold.and_then(|hold| walk.stretch(hold, 0, end, true));
        (self.never(goal), [walk.stretch(goal, low, end, false), held])
    }

    fn globally(&self, body: NodeId, holds: bool) -> Reasons {
        let (walk, low, end) = (self.walk, self.low, self.high + 1);
        match self.find(body, false, low, end) {
            Some(k) if !holds => {
                (Rule::FailsAt { at: walk.place(k) }, [Some(walk.point(body, k, false)), None])
            }
            _ => (Rule::Everywhere, [walk.stretch(body, low, end, true), None]),
        }
    }

    /// Weak until and back-to.
    fn weak_until(&self, hold: NodeId, goal: NodeId, holds: bool) -> Reasons {
        let (walk, low, end) = (self.walk, self.low, self.high + 1);
        if !holds {
            let k = self.find(hold, false, low, end).unwrap_or(self.high);
            let never = walk.stretch(goal, 0, k + 1, false);
            return (Rule::BrokenAt { at: walk.place(k) }, [Some(walk.point(hold, k, false)), never]);
        }
        match self.find(goal, true, 0, end) {
            Some(j) => {
                let before = walk.stretch(hold, low, j, true);
                (Rule::Witness { at: walk.place(j) }, [Some(walk.point(goal, j, true)), before])
            }
            None => (Rule::Everywhere, [walk.stretch(hold, low, end, true), None]),
        }
    }

    /// Release and trigger.
    fn release(&self, release: NodeId, hold: NodeId, holds: bool) -> Reasons {
        let (walk, low, end) = (self.walk, self.low, self.high + 1);
        if !holds {
            let k = self.find(hold, false, low, end).unwrap_or(self.high);
            let never = walk.stretch(release, 0, k, false);
            return (Rule::BrokenAt { at: walk.place(k) }, [Some(walk.point(hold, k, false)), never]);
        }
        // A release at the last position in question releases nothing.
        match self.find(release, true, 0, self.high) {
            Some(j) => {
                let until = walk.stretch(hold, low, j + 1, true);
                (Rule::ReleasedAt { at: walk.place(j) }, [Some(walk.point(release, j, true)), until])
            }
            None => (Rule::Everywhere, [walk.stretch(hold, low, end, true), None]),
        }
    }

    fn strong_release(&self, release: NodeId, hold: NodeId, holds: bool) -> Reasons {
        let (walk, low, end) = (self.walk, self.low, self.high + 1);
        if holds {
            let k = self.find(release, true, low, end).unwrap_or(self.high);
            let until = walk.stretch(hold, 0, k + 1, true);
            return (Rule::Witness { at: walk.place(k) }, [Some(walk.point(release, k, true)), until]);
        }
        match self.find(hold, false, 0, end) {
            Some(m) => {
                let never = walk.stretch(release, low, m, false);
                (Rule::BrokenAt { at: walk.place(m) }, [Some(walk.point(hold, m, false)), never])
            }
            None => {
                let held = walk.stretch(hold, 0, end, true);
                (self.never(release), [walk.stretch(release, low, end, false), held])
            }
        }
    }
}
