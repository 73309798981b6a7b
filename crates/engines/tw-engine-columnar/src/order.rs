//! Which operation is computed in which pass.

use crate::graph::{Direction, Graph, Op};
use crate::schedule::Sink;

/// No pass.
pub(crate) const NONE: u32 = u32::MAX;
/// Formulas about one position with at most this many operations are computed anew in each pass that needs them:
/// cheaper than writing a column and reading it back.
const LIGHT: u8 = 6;

/// Where each operation stands.
pub(crate) struct Order<'g> {
    pub(crate) ops: &'g [Op],
    /// Computed anew wherever needed.
    pub(crate) light: Vec<bool>,
    /// The pass each other needed operation is computed in, or `NONE`.
    pub(crate) pass: Vec<u32>,
    /// The last pass that reads it.
    pub(crate) until: Vec<u32>,
    /// How many operations and sinks read it (many are counted as 255).
    pub(crate) uses: Vec<u8>,
    pub(crate) start: Direction,
    pub(crate) passes: usize,
}

/// Passes alternate.
pub(crate) fn direction_of(pass: u32, start: Direction) -> Direction {
    match (pass.is_multiple_of(2), start) {
        (true, start) => start,
        (false, Direction::Forward) => Direction::Backward,
        (false, Direction::Backward) => Direction::Forward,
    }
}

/// The direction in which an operation has to be computed, if it matters.
fn bound_direction(ops: &[Op], op: Op) -> Option<Direction> {
    match op {
        Op::Shift { body, .. } if matches!(ops[body.op()], Op::Atom(_)) => None,
        _ => op.direction(),
    }
}

/// The earliest pass of each needed operation when the first pass goes in direction `start`, and the last of them.
fn earliest(ops: &[Op], needed: &[bool], start: Direction) -> (Vec<u32>, u32) {
    let mut level = vec![0u32; ops.len()];
    let mut last = 0;
    for (index, op) in ops.iter().enumerate() {
        if !needed[index] {
            continue;
        }
        let below = op.operands().map(|lit| level[lit.op()]).max().unwrap_or(0);
        level[index] = match bound_direction(ops, *op) {
            Some(direction) if direction_of(below, start) != direction => below + 1,
            _ => below,
        };
        last = last.max(level[index]);
    }
    (level, last)
}

impl<'g> Order<'g> {
    pub(crate) fn new(graph: &'g Graph, sinks: &[Sink]) -> Self {
        let ops = graph.ops();
        let mut needed = vec![false; ops.len()];
        let mut uses = vec![0u8; ops.len()];
        for sink in sinks {
            needed[sink.lit.op()] = true;
            uses[sink.lit.op()] = uses[sink.lit.op()].saturating_add(1);
        }
        for index in (0..ops.len()).rev() {
            if needed[index] {
                for lit in ops[index].operands() {
                    needed[lit.op()] = true;
                    uses[lit.op()] = uses[lit.op()].saturating_add(1);
                }
            }
        }
        let mut weight = vec![0u8; ops.len()];
        for (index, op) in ops.iter().enumerate() {
            weight[index] = match op {
                _ if op.is_source() => 0,
                Op::And(..) | Op::Xor(..) => {
                    op.operands().fold(1u8, |sum, lit| sum.saturating_add(weight[lit.op()]))
                }
                _ if bound_direction(ops, *op).is_none() => 1,
                _ => u8::MAX,
            };
        }
        let light: Vec<bool> = weight.iter().map(|&weight| weight <= LIGHT).collect();

        let way = |start| Order::going(ops, sinks, &needed, &light, &uses, start);
        let (forward, backward) = (way(Direction::Forward), way(Direction::Backward));
        // Few walks over the trace, then few columns that wait from one walk to another.
        let cost = |order: &Order<'_>| (order.passes, order.kept());
        if cost(&backward) < cost(&forward) { backward } else { forward }
    }

    /// With a first pass in that direction.
    fn going(
        ops: &'g [Op],
        sinks: &[Sink],
        needed: &[bool],
        light: &[bool],
        uses: &[u8],
        start: Direction,
    ) -> Self {
        let (level, last) = earliest(ops, needed, start);
        // As late as the users allow: a value then waits for as few passes as possible.
        let mut pass = vec![NONE; ops.len()];
        let mut need = vec![NONE; ops.len()];
        for sink in sinks {
            need[sink.lit.op()] = level[sink.lit.op()].min(need[sink.lit.op()]);
        }
        for index in (0..ops.len()).rev() {
            if !needed[index] || light[index] {
                continue;
            }
            let latest = need[index];
            pass[index] = match bound_direction(ops, ops[index]) {
                Some(direction) if direction_of(latest, start) != direction => latest - 1,
                _ => latest,
            };
            for lit in ops[index].operands() {
                need[lit.op()] = need[lit.op()].min(pass[index]);
            }
        }
        // Connectives right beside their last operand: one column is kept instead of two.
        for index in 0..ops.len() {
            if pass[index] != NONE && bound_direction(ops, ops[index]).is_none() {
                let latest =
                    ops[index].operands().map(|lit| pass[lit.op()]).filter(|&pass| pass != NONE).max();
                pass[index] = latest.unwrap_or(pass[index]);
            }
        }
        let mut order = Order {
            ops,
            light: light.to_vec(),
            pass,
            until: vec![0; ops.len()],
            uses: uses.to_vec(),
            start,
            passes: last as usize + 1,
        };
        order.find_last_uses();
        order
    }

    /// How many values wait for a later pass.
    fn kept(&self) -> usize {
        let waits = |(&pass, &until): (&u32, &u32)| pass != NONE && until > pass;
        self.pass.iter().zip(&self.until).filter(|pair| waits(*pair)).count()
    }

    /// Light operations read their operands in the pass of whoever needs them; sources are always there, so only
    /// the operands of operations with a pass matter.
    fn find_last_uses(&mut self) {
        for index in 0..self.ops.len() {
            if self.pass[index] == NONE {
                continue;
            }
            self.until[index] = self.until[index].max(self.pass[index]);
            for lit in self.ops[index].operands() {
                self.until[lit.op()] = self.until[lit.op()].max(self.pass[index]);
            }
        }
    }

    /// The pass that answers a sink.
    pub(crate) fn pass_of_sink(&self, sink: &Sink) -> u32 {
        match self.pass[sink.lit.op()] {
            NONE => 0,
            pass => pass,
        }
    }
}
