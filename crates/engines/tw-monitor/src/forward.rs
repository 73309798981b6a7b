//! Any [`Machine`] as an evaluator of stored traces and as a live monitor.
//!
//! One run from the first position gives a verdict: one step per position and root. The truth of a formula at *every*
//! position (violations of `G φ`, columns, `--each-position`) is one run from each position; runs that reach the same
//! state have the same future and are merged ([`tokens`]), so a position costs as many steps as there are distinct
//! open states, not as there are open positions.

mod live;
mod tokens;

use crate::{
    Answer, EvaluateOptions, Evaluator, Machine, Monitor, Sink, State, Stretch, Telling, Trace, Unsupported,
    Wanted,
};
use tokens::{Scratch, Tokens};
use tw_core::{Bits, Position};
use tw_ir::{Node, NodeId, Program, Semantics, Temporal};

/// Positions whose atoms are packed at a time.
const BLOCK: usize = 1 << 14;

/// Steps of a stored trace that may build states.
const MISSES: usize = 2_000;

/// Builds a machine for the given goals.
pub type Build<M> = fn(&Program, &[NodeId], &EvaluateOptions) -> Result<M, Unsupported>;

/// A machine at work on a program.
pub struct Forward<'p, M> {
    program: &'p Program,
    options: EvaluateOptions,
    build: Build<M>,
    machine: M,
}

impl<'p, M: Machine + 'p> Forward<'p, M> {
    /// An evaluator of stored traces.
    pub fn evaluator(
        program: &'p Program,
        options: &EvaluateOptions,
        build: Build<M>,
    ) -> Result<Box<dyn Evaluator + 'p>, Unsupported> {
        options.pointwise()?;
        let goals: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let machine = build(program, &goals, options)?;
        Ok(Box::new(Self { program, options: options.clone(), build, machine }))
    }
}

impl<M: Machine + 'static> Forward<'static, M> {
    /// A monitor of a live trace.
    pub fn monitor(
        program: &Program,
        options: &EvaluateOptions,
        telling: Telling,
        build: Build<M>,
    ) -> Result<Box<dyn Monitor>, Unsupported> {
        options.pointwise()?;
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let mut goals = roots.clone();
        // The roots that runs from each position are about, and the goals of those runs.
        let mut followed = Vec::new();
        for (number, &root) in roots.iter().enumerate() {
            let goal = match telling {
                Telling::Verdicts => None,
                Telling::Violations => body(program, root),
                Telling::Positions => Some(body(program, root).unwrap_or(root)),
            };
            if let Some(goal) = goal {
                followed.push(number);
                goals.push(goal);
            }
        }
        let machine = build(program, &goals, options)?;
        Ok(Box::new(live::Live::new(machine, roots.len(), followed, telling)?))
    }
}

/// φ of a formula `G φ` without interval.
fn body(program: &Program, root: NodeId) -> Option<NodeId> {
    match program.dag.node(root) {
        Node::Unary(Temporal::Globally, None, body) => Some(body),
        _ => None,
    }
}

/// Gives up on a machine that builds states all the time: engines that need none are faster then.
fn check_misses<M: Machine>(machine: &M, options: &EvaluateOptions) -> Result<(), Unsupported> {
    // Three-valued verdicts have no engine that needs no states.
    let three_valued = options.semantics == Semantics::Ltl3;
    let limit = if three_valued { options.state_budget.max(MISSES) } else { MISSES } as u64;
    if machine.misses() <= limit {
        return Ok(());
    }
    Err(Unsupported::budget(format!("more than {limit} steps that had to build the state they led to")))
}

/// Refuses where a verdict was left open that may be settled.
fn decided<M: Machine>(machine: &M) -> Result<(), Unsupported> {
    machine.undecided().map_or(Ok(()), Err)
}

impl<M: Machine> Forward<'_, M> {
    /// Whether each segment settles the root, and how. `None` is open (three-valued semantics only).
    fn verdicts(&mut self, trace: &Trace, goal: usize) -> Result<Vec<Option<bool>>, Unsupported> {
        let three_valued = self.options.semantics == Semantics::Ltl3;
        let mut verdicts = Vec::with_capacity(trace.starts().len());
        let mut segment = 0;
        let mut state = Err(());
        for block in (0..trace.len).step_by(BLOCK) {
            let block_end = (block + BLOCK).min(trace.len);
            let stretch = Stretch::new(&trace.atoms, block, block_end - block);
            while let Some(&start) = trace.starts().get(segment)
                && start < block_end
            {
                let end = trace.segment_end(segment);
                let from = start.max(block);
                if from == start {
                    let origin = self.machine.origin();
                    state = Ok(self.machine.enter(goal, origin)?);
                }
                let to = end.min(block_end);
                // A settled segment is settled for its later blocks too.
                if let Ok(now) = state {
                    let next = self.machine.run(goal, now, &stretch, from - block, to - block)?.state;
                    state = Ok(next);
                    check_misses(&self.machine, &self.options)?;
                    if let Some(verdict) = self.machine.settled(goal, next) {
                        verdicts.push(Some(verdict));
                        state = Err(());
                    } else {
                        decided(&self.machine)?;
                        if to == end {
                            verdicts.push((!three_valued).then(|| self.machine.holds_at_end(goal, next)));
                        }
                    }
                }
                if to < end {
                    break;
                }
                segment += 1;
            }
            if segment == trace.starts().len() || (verdicts.len() == trace.starts().len()) {
                break;
            }
        }
        Ok(verdicts)
    }

    /// The truth of each goal of `machine` at every position; under a three-valued semantics, whether it is settled
    /// to hold.
    fn truths(
        options: &EvaluateOptions,
        machine: &mut M,
        goals: usize,
        trace: &Trace,
        value: bool,
    ) -> Result<Vec<Bits>, Unsupported> {
        let three_valued = options.semantics == Semantics::Ltl3;
        let mut columns = vec![Bits::repeat(!value, trace.len); goals];
        let mut tokens: Vec<Tokens> = (0..goals).map(|_| Tokens::default()).collect();
        let mut scratch = Scratch::default();
        let mut history = machine.origin();
        let mut segment = 0;
        for block in (0..trace.len).step_by(BLOCK) {
            let stretch = Stretch::new(&trace.atoms, block, BLOCK.min(trace.len - block));
            for offset in 0..stretch.len() {
                let (at, row) = (block + offset, stretch.row(offset));
                let last = at + 1 == trace.segment_end(segment);
                for (goal, (tokens, column)) in tokens.iter_mut().zip(&mut columns).enumerate() {
                    let mut settle = |from: Position, to: Position, verdict: bool| {
                        if verdict == value {
                            (from..to).for_each(|position| column.set(position, value));
                        }
                    };
                    tokens.step(machine, goal, history, (at, row), &mut scratch, &mut settle)?;
                    if last {
                        tokens.end(machine, goal, three_valued, &mut settle);
                    }
                }
                if machine.crowded() {
                    let live = |(goal, tokens): (usize, &Tokens)| -> Vec<(usize, State)> {
                        tokens.states().map(|state| (goal, state)).collect()
                    };
                    let live: Vec<(usize, State)> = tokens.iter().enumerate().flat_map(live).collect();
                    machine.retain(&live, &[history]);
                }
                check_misses(machine, options)?;
                history = machine.remember(history, row)?;
                if last {
                    segment += 1;
                    history = machine.origin();
                }
            }
        }
        decided(machine)?;
        Ok(columns)
    }
}

impl<M: Machine> Evaluator for Forward<'_, M> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let limit = sink.limit;
        for (goal, root) in self.program.roots.iter().enumerate() {
            let verdicts = self.verdicts(trace, goal)?;
            let holds: Bits = verdicts.iter().map(|verdict| *verdict == Some(true)).collect();
            let open = (self.options.semantics == Semantics::Ltl3)
                .then(|| verdicts.iter().map(Option::is_none).collect::<Bits>());
            let (mut violations, mut violation_count) = (Vec::new(), 0);
            // Only then is it worth a run from every position.
            if verdicts.contains(&Some(false))
                && let Some(body) = body(self.program, root.node)
            {
                let mut machine = (self.build)(self.program, &[body], &self.options)?;
                let violated = Self::truths(&self.options, &mut machine, 1, trace, false)?.remove(0);
                violation_count = trace.len - violated.count_ones();
                let mut at = 0;
                while violations.len() < limit
                    && let Some(position) = violated.find(false, at)
                {
                    violations.push(position);
                    at = position + 1;
                }
            }
            sink.answers([Answer { holds, open, violations, violation_count, ..Answer::default() }]);
        }
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let mut machine = (self.build)(self.program, nodes, &self.options)?;
        Self::truths(&self.options, &mut machine, nodes.len(), trace, true)
    }
}
