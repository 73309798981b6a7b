//! Which nodes are computed in which walk over the trace.
//!
//! Passes are numbered; even ones walk backwards and compute future nodes, odd ones walk forwards and compute past
//! nodes. A node belongs to the first pass of its direction in which everything that it rests on is known: computed
//! in the same pass, or kept as a column by an earlier one. A formula without past is one backward pass that keeps
//! nothing, which is the published algorithm.

use rustc_hash::FxHashMap;
use tw_automata::alternating::{Alternating, Direction, Expr, ExprId, Label, NodeIndex};

/// One instruction per expression; its result is the register of its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Constant(bool),
    /// A literal.
    Label(NodeIndex, Label),
    /// A node of this pass: its label here, the register of its next automaton at the neighbouring position.
    Step {
        node: NodeIndex,
        label: Label,
        delta: u32,
        accepting: bool,
        stays: bool,
    },
    /// A node of an earlier pass, by its column.
    Kept(u32),
    And(u32, u32),
    Or(u32, u32),
}

/// One walk over the trace.
#[derive(Debug, Default)]
pub(super) struct Pass {
    pub(super) backward: bool,
    pub(super) ops: Vec<Op>,
    /// Registers that later passes read, and their columns.
    pub(super) keeps: Vec<(u32, u32)>,
    /// Columns that no later pass reads.
    pub(super) drops: Vec<u32>,
    /// Goals and their registers.
    pub(super) goals: Vec<(usize, u32)>,
}

/// All walks, in order.
pub(super) struct Passes {
    pub(super) passes: Vec<Pass>,
    pub(super) columns: usize,
}

/// The first backward (even) and the first forward (odd) pass that can compute an expression.
#[derive(Clone, Copy)]
struct Ready {
    backward: u32,
    forward: u32,
}

impl Ready {
    const AT_ONCE: Ready = Ready { backward: 0, forward: 1 };

    fn max(self, other: Ready) -> Ready {
        Ready { backward: self.backward.max(other.backward), forward: self.forward.max(other.forward) }
    }
}

/// The pass of each temporal node, and when each expression can be computed.
struct Levels {
    nodes: Vec<u32>,
    exprs: Vec<Ready>,
}

impl Levels {
    fn new(automaton: &Alternating) -> Self {
        let mut levels = Levels { nodes: vec![0; automaton.nodes().len()], exprs: Vec::new() };
        for (index, &expr) in automaton.exprs().iter().enumerate() {
            let ready = match expr {
                Expr::True | Expr::False => Ready::AT_ONCE,
                Expr::And(a, b) | Expr::Or(a, b) => levels.exprs[a.index()].max(levels.exprs[b.index()]),
                Expr::Node(node) => levels.node(automaton, node, ExprId(index as u32)),
            };
            levels.exprs.push(ready);
        }
        levels
    }

    fn node(&mut self, automaton: &Alternating, index: NodeIndex, own: ExprId) -> Ready {
        let node = automaton.node(index);
        let mut rests = Ready::AT_ONCE;
        // Of the next automaton only what closes the loop was made after the node.
        let mut todo = vec![node.delta];
        while let Some(id) = todo.pop() {
            if id < own {
                rests = rests.max(self.exprs[id.index()]);
            } else if let Expr::And(a, b) | Expr::Or(a, b) = automaton.expr(id) {
                todo.extend([a, b]);
            }
        }
        match node.direction {
            Direction::State => Ready::AT_ONCE,
            Direction::Future => {
                self.nodes[index.index()] = rests.backward;
                Ready { backward: rests.backward, forward: rests.backward + 1 }
            }
            Direction::Past => {
                self.nodes[index.index()] = rests.forward;
                Ready { backward: rests.forward + 1, forward: rests.forward }
            }
        }
    }
}

impl Passes {
    pub(super) fn new(automaton: &Alternating, goals: &[ExprId]) -> Self {
        let levels = Levels::new(automaton);
        let when = |goal: &ExprId| {
            let ready = levels.exprs[goal.index()];
            ready.backward.min(ready.forward)
        };
        let count = goals.iter().map(when).max().map_or(0, |last| last as usize + 1);
        let mut wanted: Vec<Vec<NodeIndex>> = vec![Vec::new(); count];
        let mut places: Vec<Vec<(usize, ExprId)>> = vec![Vec::new(); count];
        for (index, goal) in goals.iter().enumerate() {
            places[when(goal) as usize].push((index, *goal));
        }
        let mut node_exprs = vec![automaton.falsity(); automaton.nodes().len()];
        for (index, &expr) in automaton.exprs().iter().enumerate() {
            if let Expr::Node(node) = expr {
                node_exprs[node.index()] = ExprId(index as u32);
            }
        }
        let mut columns: FxHashMap<NodeIndex, u32> = FxHashMap::default();
        let mut passes = Vec::with_capacity(count);
        // From the last to the first, since a pass keeps what later ones turn out to read.
        for level in (0..count).rev() {
            let kept = std::mem::take(&mut wanted[level]);
            let seeds = places[level].iter().map(|&(_, expr)| expr);
            let seeds: Vec<ExprId> = seeds.chain(kept.iter().map(|node| node_exprs[node.index()])).collect();
            let exprs = closure(automaton, &levels, level as u32, &seeds);
            let register = |expr: ExprId| exprs.binary_search(&expr).unwrap_or_default() as u32;
            let mut pass = Pass { backward: level % 2 == 0, ..Pass::default() };
            for &id in &exprs {
                let op = match automaton.expr(id) {
                    Expr::True => Op::Constant(true),
                    Expr::False => Op::Constant(false),
                    Expr::And(a, b) => Op::And(register(a), register(b)),
                    Expr::Or(a, b) => Op::Or(register(a), register(b)),
                    Expr::Node(index) => {
                        let node = automaton.node(index);
                        let own = levels.nodes[index.index()] as usize;
                        if node.direction == Direction::State {
                            Op::Label(index, node.label)
                        } else if own == level {
                            let (label, accepting, stays) = (node.label, node.accepting, node.stays);
                            Op::Step { node: index, label, delta: register(node.delta), accepting, stays }
                        } else {
                            let next = columns.len() as u32;
                            let column = *columns.entry(index).or_insert_with(|| {
                                wanted[own].push(index);
                                // Going backwards, the first to read it is the last.
                                pass.drops.push(next);
                                next
                            });
                            Op::Kept(column)
                        }
                    }
                };
                pass.ops.push(op);
            }
            pass.keeps =
                kept.iter().map(|node| (register(node_exprs[node.index()]), columns[node])).collect();
            pass.goals = places[level].iter().map(|&(goal, expr)| (goal, register(expr))).collect();
            passes.push(pass);
        }
        passes.reverse();
        passes.retain(|pass| !pass.ops.is_empty());
        Passes { passes, columns: columns.len() }
    }
}

/// The expressions that a pass computes, ascending: operands before what is made of them.
fn closure(automaton: &Alternating, levels: &Levels, level: u32, seeds: &[ExprId]) -> Vec<ExprId> {
    let mut seen: rustc_hash::FxHashSet<ExprId> = seeds.iter().copied().collect();
    let mut todo: Vec<ExprId> = seen.iter().copied().collect();
    while let Some(id) = todo.pop() {
        let below = match automaton.expr(id) {
            Expr::True | Expr::False => [None, None],
            Expr::And(a, b) | Expr::Or(a, b) => [Some(a), Some(b)],
            Expr::Node(index) => {
                let node = automaton.node(index);
                let here = node.direction != Direction::State && levels.nodes[index.index()] == level;
                [here.then_some(node.delta), None]
            }
        };
        todo.extend(below.into_iter().flatten().filter(|&id| seen.insert(id)));
    }
    let mut exprs: Vec<ExprId> = seen.into_iter().collect();
    exprs.sort_unstable();
    exprs
}
