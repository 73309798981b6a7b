//! Depth-first traversal: the definition of runs, followed from the first position.
//!
//! DEPTH-FIRST of "Checking Finite Traces using Alternating Automata": an expression is searched operand by operand
//! until it is decided, a node by its label here and its next automaton at the neighbouring position. Past and future
//! may be nested in any way.
//!
//! **State kept.** A stack of what is left to do (the recursion of the paper, which would be as deep as the trace is
//! long), and by default the value of every node that was searched at a position, so that none is searched twice.
//!
//! **Cost.** With that memory O(|φ|) per position at most, and often far less, since searches stop early; 1 byte per
//! temporal node and position that was searched and 24 bytes per step of the deepest path. The published form
//! (`faithful`) remembers nothing and tries loops before local operands: O(n^d) for d nested temporal operators.

mod memo;
mod search;

pub(crate) use search::Search;

use crate::goals::{Goals, Segment, roots_and_bodies};
use crate::semiring::Boolean;
use tw_core::Bits;
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Answer, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, Sink, Trace, Unsupported, Wanted,
};

/// The engine `depth-first`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DepthFirst;

impl Engine for DepthFirst {
    fn name(&self) -> &'static str {
        "depth-first"
    }

    fn about(&self) -> &'static str {
        "alternating automaton, searched from the first position until it is decided; past and future mixed"
    }

    fn published(&self) -> Option<&'static str> {
        Some("Checking Finite Traces using Alternating Automata")
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        let (formulas, bodies) = roots_and_bodies(program);
        let goals = Goals::stored(program, &formulas, options)?;
        Ok(Box::new(Plan { program, options: options.clone(), goals, bodies }))
    }
}

struct Plan<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    /// The roots, then the bodies of roots `G φ`.
    goals: Goals,
    bodies: Vec<Option<usize>>,
}

fn search<'a>(
    goals: &'a Goals,
    options: &EvaluateOptions,
    trace: &Trace,
) -> Result<Search<'a, Boolean>, Unsupported> {
    Search::new(&goals.automaton, &Boolean, trace.len, !options.faithful, options.memory_budget)
}

impl Evaluator for Plan<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let mut search = search(&self.goals, &self.options, trace)?;
        for (root, body) in self.bodies.iter().enumerate() {
            let mut answer = Answer::default();
            for segment in Segment::all(trace) {
                let holds = search.value(&segment, self.goals.exprs[root], segment.start)?;
                answer.holds.push(holds);
                let Some(body) = body.filter(|_| !holds) else { continue };
                for at in segment.start..segment.end {
                    if !search.value(&segment, self.goals.exprs[body], at)? {
                        answer.violation_count += 1;
                        if answer.violations.len() < sink.limit {
                            answer.violations.push(at);
                        }
                    }
                }
            }
            sink.answers([answer]);
        }
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let goals = Goals::stored(self.program, nodes, &self.options)?;
        let mut search = search(&goals, &self.options, trace)?;
        let mut columns = Vec::with_capacity(nodes.len());
        for &expr in &goals.exprs {
            let mut column = Bits::with_capacity(trace.len);
            for segment in Segment::all(trace) {
                for at in segment.start..segment.end {
                    column.push(search.value(&segment, expr, at)?);
                }
            }
            columns.push(column);
        }
        Ok(columns)
    }
}
