//! Reverse traversal: from the last position to the first, with one value per node.
//!
//! REVERSE of "Checking Finite Traces using Alternating Automata": the value of a node at a position follows from its
//! label there and the values at the next position, so one walk backwards over the trace computes them all. The last
//! position is where the walk starts (it is processed once; the published loop would do so twice). Past nodes follow
//! from the previous position in the same way, by a walk forwards; where past and future are nested, walks alternate,
//! innermost operators first, and keep the truth of a node as a column for the walks that read it.
//!
//! **State kept.** One value per node, here and at the neighbouring position; for nested directions n/8 bytes per
//! node that a later walk reads, until it has.
//!
//! **Cost.** O(|φ|) per position and walk, whatever the trace; one walk per change of direction in the nesting.

mod passes;
mod sweep;

pub(crate) use sweep::{Place, Sweep};

use crate::goals::{Goals, roots_and_bodies};
use crate::semiring::Boolean;
use std::collections::VecDeque;
use tw_core::{Bits, Position};
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Answer, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, Sink, Trace, Unsupported, Wanted,
};

/// The engine `reverse`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reverse;

impl Engine for Reverse {
    fn name(&self) -> &'static str {
        "reverse"
    }

    fn about(&self) -> &'static str {
        "alternating automaton, walked from the last position to the first; memory for the formula alone"
    }

    fn published(&self) -> Option<&'static str> {
        Some("Checking Finite Traces using Alternating Automata")
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        let (formulas, bodies) = roots_and_bodies(program);
        let goals = Goals::stored(program, &formulas, options)?;
        let sweep = Sweep::new(&goals.automaton, &goals.exprs);
        Ok(Box::new(Plan { program, options: options.clone(), sweep, bodies }))
    }
}

struct Plan<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    /// For the roots, then the bodies of roots `G φ`.
    sweep: Sweep,
    bodies: Vec<Option<usize>>,
}

/// Positions where a body is false, however the walk meets them.
#[derive(Default)]
struct Violations {
    first: VecDeque<Position>,
    count: usize,
}

impl Violations {
    /// Walking backwards, the positions met last are the first; walking forwards, those met first.
    fn add(&mut self, at: Position, backward: bool, limit: usize) {
        self.count += 1;
        if backward {
            self.first.push_front(at);
            self.first.truncate(limit);
        } else if self.first.len() < limit {
            self.first.push_back(at);
        }
    }
}

impl Evaluator for Plan<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let limit = sink.limit;
        let roots = self.bodies.len();
        let segments = trace.starts().len();
        let mut holds = vec![Bits::repeat(false, segments); roots];
        let mut violations: Vec<Violations> = self.bodies.iter().map(|_| Violations::default()).collect();
        let mut owner = vec![0; roots];
        owner.extend((0..roots).filter(|&root| self.bodies[root].is_some()));
        // Segments are told one after another, from the last if the walk goes backwards.
        let mut told = vec![0; roots];
        let found = |goal: usize, place: Place, value: &bool| {
            if goal >= roots {
                if !value {
                    violations[owner[goal]].add(place.at, place.backward, limit);
                }
            } else if place.first {
                let segment = if place.backward { segments - 1 - told[goal] } else { told[goal] };
                holds[goal].set(segment, *value);
                told[goal] += 1;
            }
        };
        self.sweep.run(&Boolean, trace, self.options.memory_budget, found)?;
        let answer = |(holds, violations): (Bits, Violations)| Answer {
            holds,
            violations: violations.first.into(),
            violation_count: violations.count,
            ..Answer::default()
        };
        sink.answers(holds.into_iter().zip(violations).map(answer));
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let goals = Goals::stored(self.program, nodes, &self.options)?;
        let sweep = Sweep::new(&goals.automaton, &goals.exprs);
        let mut columns = vec![Bits::repeat(false, trace.len); nodes.len()];
        let found = |goal: usize, place: Place, value: &bool| {
            if *value {
                columns[goal].set(place.at, true);
            }
        };
        sweep.run(&Boolean, trace, self.options.memory_budget, found)?;
        Ok(columns)
    }
}
