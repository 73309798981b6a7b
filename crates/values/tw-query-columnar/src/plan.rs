//! What is computed where: at every position of the trace, or at the first positions of segments alone.
//!
//! A root is asked for at first positions. So are the operands of an operator that looks at one position, and what an
//! aggregate `agg[ψ]` needs there is all of ψ, but its own value at that position only: it is a *sink* that is folded
//! as the walk goes by. Everything below a sink or a temporal operator is computed at every position, block by block.

use crate::function::Applied;
use crate::stretch;
use std::collections::HashMap;
use tw_core::Value;
use tw_ir::{Aggregate, Function, Node, NodeId, Program};

/// A term of the trace or of the program.
#[derive(Clone, Debug)]
pub(crate) enum TermRef {
    Constant(Value),
    /// Index in `Trace::terms`.
    Column(usize),
}

/// An experiment. Operands are node numbers.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Index in the guards.
    Guard(usize),
    /// Index in the guards.
    Emit(usize, TermRef),
    Both(Function, usize, usize),
    Either(Function, usize, usize),
    Fails(usize, TermRef),
    Default(usize, TermRef),
    Next(usize, Applied),
    Until(usize, usize, Applied),
    Collect(Aggregate, usize),
    While(Aggregate, usize, usize),
}

impl Op {
    pub(crate) fn operands(&self) -> impl Iterator<Item = usize> {
        let (a, b) = match self {
            Op::Guard(_) | Op::Emit(..) => (None, None),
            Op::Fails(a, _) | Op::Default(a, _) | Op::Next(a, _) | Op::Collect(_, a) => (Some(*a), None),
            Op::Both(_, a, b) | Op::Either(_, a, b) | Op::Until(a, b, _) | Op::While(_, a, b) => {
                (Some(*a), Some(*b))
            }
        };
        [a, b].into_iter().flatten()
    }

    /// Whether it looks at one position alone.
    fn is_local(&self) -> bool {
        !matches!(self, Op::Next(..) | Op::Until(..) | Op::Collect(..) | Op::While(..))
    }
}

/// One step of the walk over a block.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Computes a node at every position.
    Compute(usize),
    /// Folds the values of a node (second) for the aggregate (first).
    Sink(usize, usize),
    /// Folds `count[p while q]` for an aggregate: the aggregate, p, q.
    Stretch(usize, usize, usize),
    /// Keeps a node's values at first positions.
    Gather(usize),
    /// Keeps all of a node.
    Output(usize),
    /// A node's values are no longer needed.
    Free(usize),
}

/// Experiments by node number; `None` for nodes that are no experiments or are not reached.
pub(crate) struct Ops(pub(crate) Vec<Option<Op>>);

impl Ops {
    /// The experiments and guards below `roots`.
    pub(crate) fn new(program: &Program, roots: &[NodeId], guards: &[NodeId]) -> Self {
        let dag = &program.dag;
        let terms = program.terms();
        let mut ops: Vec<Option<Op>> = (0..dag.len()).map(|_| None).collect();
        let guard = |id: NodeId| guards.binary_search(&id).unwrap_or_default();
        let term = |id: NodeId| match dag.node(id) {
            Node::Constant(constant) => TermRef::Constant(dag.constants[constant as usize].clone()),
            _ => TermRef::Column(terms.binary_search(&id).unwrap_or_default()),
        };
        // A program says the same function again and again, `v => v` above all.
        let mut functions: HashMap<(NodeId, u32), Applied> = HashMap::new();
        let mut function = |result, parameter| {
            let new = || Applied::new(program, result, parameter);
            functions.entry((result, parameter)).or_insert_with(new).clone()
        };
        for (index, id) in guards.iter().enumerate() {
            ops[id.index()] = Some(Op::Guard(index));
        }
        for id in program.reachable(roots) {
            let op = match dag.node(id) {
                Node::Emit(formula, value) => Op::Emit(guard(formula), term(value)),
                Node::Both(function, a, b) => Op::Both(function, a.index(), b.index()),
                Node::Either(function, a, b) => Op::Either(function, a.index(), b.index()),
                Node::Fails(a, value) => Op::Fails(a.index(), term(value)),
                Node::Default(a, value) => Op::Default(a.index(), term(value)),
                Node::NextMap { body, result, parameter } => {
                    Op::Next(body.index(), function(result, parameter))
                }
                Node::UntilMap { pair, result, parameter } => {
                    let mut pair = dag.node(pair).children();
                    let (Some(a), Some(b)) = (pair.next(), pair.next()) else { continue };
                    Op::Until(a.index(), b.index(), function(result, parameter))
                }
                Node::Collect(aggregate, a) => Op::Collect(aggregate, a.index()),
                Node::CollectWhile(aggregate, a, phi) => Op::While(aggregate, a.index(), phi.index()),
                _ => continue,
            };
            ops[id.index()] = Some(op);
        }
        Ops(ops)
    }
}

/// What a walk does.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// Nodes whose values at first positions come out of the walk (sinks and gathered nodes), ascending.
    pub(crate) found: Vec<usize>,
    /// Nodes computed at first positions alone, ascending.
    pub(crate) starts: Vec<usize>,
    /// The most nodes that are alive at once.
    pub(crate) alive: usize,
    /// Number of aggregates.
    pub(crate) aggregates: usize,
    /// Whether one of them keeps its values.
    pub(crate) keeps_values: bool,
}

impl Plan {
    /// `roots` are asked for at first positions, `outputs` everywhere.
    pub(crate) fn new(ops: &Ops, roots: &[usize], outputs: &[usize]) -> Self {
        let ops = &ops.0;
        let mut everywhere = vec![false; ops.len()];
        let mut at_starts = vec![false; ops.len()];
        // Aggregates that would like to fold this `count[p while q]` without computing it.
        let mut fused: Vec<Vec<usize>> = vec![Vec::new(); ops.len()];
        let mut sinks = vec![false; ops.len()];
        roots.iter().for_each(|root| at_starts[*root] = true);
        let mut asked = vec![false; ops.len()];
        for output in outputs {
            (everywhere[*output], asked[*output]) = (true, true);
        }
        // Parents come after their children, so all that is asked of a node is known when it is reached.
        for id in (0..ops.len()).rev() {
            let Some(op) = &ops[id] else { continue };
            if at_starts[id] && !everywhere[id] {
                match op {
                    Op::Collect(aggregate, a) => {
                        sinks[id] = true;
                        match ops[*a] {
                            Some(Op::While(Aggregate::Count, ..))
                                if stretch::Wanted::of(*aggregate).is_some() =>
                            {
                                fused[*a].push(id);
                            }
                            _ => everywhere[*a] = true,
                        }
                    }
                    _ if op.is_local() => op.operands().for_each(|operand| at_starts[operand] = true),
                    _ => everywhere[id] = true,
                }
            }
            if everywhere[id] || !fused[id].is_empty() {
                op.operands().for_each(|operand| everywhere[operand] = true);
            }
        }
        let mut plan = Plan::default();
        for (id, op) in ops.iter().enumerate() {
            let Some(op) = op else { continue };
            if everywhere[id] {
                plan.steps.push(Step::Compute(id));
                if at_starts[id] {
                    plan.steps.push(Step::Gather(id));
                    plan.found.push(id);
                }
                if asked[id] {
                    plan.steps.push(Step::Output(id));
                }
            } else if sinks[id] {
                let Op::Collect(_, a) = op else { continue };
                plan.steps.push(match ops[*a] {
                    Some(Op::While(_, p, q)) if !everywhere[*a] => Step::Stretch(id, p, q),
                    _ => Step::Sink(id, *a),
                });
                plan.found.push(id);
            } else if at_starts[id] {
                plan.starts.push(id);
            }
            if let Op::Collect(aggregate, ..) | Op::While(aggregate, ..) = op
                && (everywhere[id] || sinks[id])
            {
                use Aggregate::{Distinct, Histogram, Median, Mode, Quantile};
                plan.aggregates += 1;
                plan.keeps_values |=
                    matches!(aggregate, Median | Quantile(_) | Histogram(_) | Mode | Distinct);
            }
        }
        plan.free_early(ops);
        plan
    }

    /// Adds steps that let go of a node after its last use.
    fn free_early(&mut self, ops: &[Option<Op>]) {
        let uses = |step: &Step| -> Vec<usize> {
            match step {
                Step::Compute(id) => {
                    ops[*id].iter().flat_map(|op| op.operands().collect::<Vec<_>>()).chain([*id]).collect()
                }
                Step::Sink(_, a) | Step::Gather(a) | Step::Output(a) => vec![*a],
                Step::Stretch(_, p, q) => vec![*p, *q],
                Step::Free(_) => Vec::new(),
            }
        };
        let mut freed = vec![false; ops.len()];
        let mut backwards = Vec::with_capacity(self.steps.len() * 2);
        let mut alive: usize = 0;
        while let Some(step) = self.steps.pop() {
            for id in uses(&step) {
                if !std::mem::replace(&mut freed[id], true) {
                    backwards.push(Step::Free(id));
                    alive += 1;
                    self.alive = self.alive.max(alive);
                }
            }
            if let Step::Compute(_) = step {
                alive -= 1;
            }
            backwards.push(step);
        }
        backwards.reverse();
        self.steps = backwards;
    }
}
