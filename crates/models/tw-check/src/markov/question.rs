//! What is asked of the chain: every formula that is understood becomes an until, or the negation of one.

use rustc_hash::FxHashMap;
use tw_core::{Bits, TimeUnit};
use tw_ir::{Clock, Interval, Node, NodeId, Program, Ticks, Way};
use tw_monitor::Unsupported;

/// A formula about paths, and whether it is asked for the contrary.
pub(super) struct Question {
    pub negated: bool,
    pub holds: Path,
}

pub(super) enum Path {
    /// The path begins in such a state.
    State(Bits),
    /// It comes to a state in `right`, within bounds if there are any, and is in `left` until then.
    Until { left: Bits, right: Bits, bounds: Option<Ticks> },
}

impl Question {
    pub fn new<'t>(
        program: &Program,
        root: NodeId,
        states: usize,
        truth: &dyn Fn(NodeId) -> Option<&'t Bits>,
    ) -> Result<Self, Unsupported> {
        let (mut id, mut negated) = (root, false);
        loop {
            match program.dag.node(id) {
                Node::AllPaths(path) | Node::SomePath(path) => id = path,
                Node::Not(contrary) => (id, negated) = (contrary, !negated),
                _ => break,
            }
        }
        let bounds = |interval: Option<Interval>| match interval {
            None => Ok(None),
            Some(interval) => interval
                .ticks(Clock::Index, TimeUnit::Seconds)
                .map(|ticks| Some(ticks).filter(|ticks| (ticks.low, ticks.high) != (0, i64::MAX)))
                .map_err(|error| Unsupported::construct(id, error.to_string())),
        };
        let node = program.dag.node(id);
        let operands: Vec<NodeId> = if node.is_future() { node.children().collect() } else { vec![id] };
        let sets = Sets { program, states, truth }.of(&operands)?;
        let Some(operator) = node.temporal().filter(|operator| !operator.past) else {
            return Ok(Question { negated, holds: Path::State(sets[&id].clone()) });
        };
        let dual = operator.way().map_or(operator.weak, |way| way.dual);
        let set = |id: NodeId| if dual { not(&sets[&id]) } else { sets[&id].clone() };
        let all = || Bits::repeat(true, states);
        let bounds = bounds(operator.interval)?;
        let holds = match operator.way() {
            // One transition is a distance of 1; bounds that exclude it make X false and N true.
            None => {
                let within = bounds.is_none_or(|ticks| ticks.contains(1));
                let right = if within { set(operator.right) } else { Bits::repeat(false, states) };
                Path::Until { left: all(), right, bounds: Some(Ticks { low: 1, high: 1 }) }
            }
            Some(Way { hold, goal: (goal, beside), .. }) => {
                let right = beside.map_or(set(goal), |beside| both(&set(goal), &set(beside), |a, b| a & b));
                Path::Until { left: hold.map_or_else(all, set), right, bounds }
            }
        };
        Ok(Question { negated: negated != dual, holds })
    }
}

fn not(set: &Bits) -> Bits {
    Bits::from_words(set.words().iter().map(|word| !word).collect(), set.len())
}

fn both(a: &Bits, b: &Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
    Bits::from_words(a.words().iter().zip(b.words()).map(|(a, b)| f(*a, *b)).collect(), a.len())
}

/// The states that satisfy formulas about states.
struct Sets<'a, 't> {
    program: &'a Program,
    states: usize,
    truth: &'a dyn Fn(NodeId) -> Option<&'t Bits>,
}

impl Sets<'_, '_> {
    fn of(&self, wanted: &[NodeId]) -> Result<FxHashMap<NodeId, Bits>, Unsupported> {
        let mut sets = FxHashMap::default();
        // What is known already is asked no further, so that path quantifiers hide what is below them.
        let (mut open, mut missing) = (wanted.to_vec(), std::collections::BTreeSet::new());
        while let Some(id) = open.pop() {
            if sets.contains_key(&id) || missing.contains(&id) {
                continue;
            }
            match (self.truth)(id) {
                Some(set) => {
                    sets.insert(id, set.clone());
                }
                None => {
                    missing.insert(id);
                    open.extend(self.parts(id)?);
                }
            }
        }
        // Children stand before parents.
        for id in missing {
            let of = |child: NodeId| &sets[&child];
            let set = match self.program.dag.node(id) {
                Node::Bool(value) => Bits::repeat(value, self.states),
                Node::Not(a) => not(of(a)),
                Node::And(a, b) => both(of(a), of(b), |a, b| a & b),
                Node::Or(a, b) => both(of(a), of(b), |a, b| a | b),
                Node::Xor(a, b) => both(of(a), of(b), |a, b| a ^ b),
                Node::Implies(a, b) => both(of(a), of(b), |a, b| !a | b),
                Node::Iff(a, b) => both(of(a), of(b), |a, b| !(a ^ b)),
                // Paths do not end.
                _ => Bits::repeat(false, self.states),
            };
            sets.insert(id, set);
        }
        Ok(sets)
    }

    /// The operands of a connective; an error if it is none.
    fn parts(&self, id: NodeId) -> Result<Vec<NodeId>, Unsupported> {
        let node = self.program.dag.node(id);
        let operator = node.operator();
        let refuse = |what: String| Err(Unsupported::construct(id, what));
        match node {
            Node::Bool(_)
            | Node::Last
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Xor(..)
            | Node::Implies(..)
            | Node::Iff(..) => Ok(node.children().collect()),
            _ if node.is_past() || node == Node::First => {
                refuse(format!("the probability of a formula about the past (`{operator}`)"))
            }
            _ if node.is_future() => {
                let what = format!("the probability of a formula with `{operator}` inside another operator");
                Err(Unsupported::construct(id, what).help(format!(
                    "one temporal operator over formulas about states can be asked; `A{operator}` and \
                     `E{operator}` are about states"
                )))
            }
            _ => refuse(format!("the probability of a formula with `{operator}`")),
        }
    }
}
