//! Whole traces at once, 64 positions per machine word.
//!
//! After section 3.3 of "Checking Finite Traces using Alternating Automata" (Finkbeiner, Sipma), where the truth of
//! every subformula is computed from the end of the trace back; here past operators are computed the other way,
//! so that any nesting of past and future works, and 64 positions are computed together.
//!
//! * A past operator needs one bit from the word before, a future operator one bit from the word after. Within a
//!   word, `p S q` is an addition: adding `q` to `p | q` lets a carry run from each `q` through the `p` that follow
//!   it. `p U q` is the same from the other end.
//! * State kept: one bit per temporal operator, block-sized registers for the values at hand, and one bit per
//!   position for each value that a walk in the other direction needs later; two more bits per position mark first
//!   and last positions if there are segments.
//! * Cost: an operator takes a few instructions per word, with AVX-512 a dozen or two per eight words, so that it
//!   is about 0.01 ns per position; beyond a handful of atoms the time is that of reading them from memory.
//!   `F`, `G`, `O`, `H` on a plain trace read nothing once they are decided.
//! * Traces laid end to end (`Trace::segments`) are cut by masks of their first and last positions, so that a
//!   million short traces cost little more than a long one.
//! * Threads cut the trace into stretches that begin with guessed carries and are repaired where the guess was wrong.
//!
//! ```
//! use tw_core::Bits;
//! use tw_ir::{Node, Program, Root, Temporal};
//! use tw_engine_columnar::Columnar;
//! use tw_monitor::{Engine, EvaluateOptions, Trace};
//!
//! let mut program = Program::default();
//! let a = program.dag.add(Node::Truth(0));
//! let always = program.dag.add(Node::Unary(Temporal::Globally, None, a));
//! program.roots.push(Root::property("always a", always));
//! let trace = Trace { len: 3, atoms: vec![Bits::from_words(vec![0b101], 3)], ..Trace::default() };
//! let mut evaluator = Columnar.plan(&program, &EvaluateOptions::default()).unwrap();
//! let answers = evaluator.evaluate(&trace, 10).unwrap();
//! assert!(!answers[0].holds.get(0));
//! assert_eq!(answers[0].violations, [1]);
//! ```
//!
//! Read on in `graph` (what is computed), `schedule` (when and where), `worker` (one walk), `kernels` (one block).

mod emit;
mod evaluate;
mod findings;
mod graph;
mod grid;
mod kernels;
mod operators;
mod order;
mod schedule;
#[cfg(test)]
mod tests;
mod worker;

use evaluate::{Found, evaluate};
use graph::Graph;
use kernels::Kernels;
use schedule::{Schedule, Sink, Want, schedule};
use std::collections::HashMap;
use tw_core::Bits;
use tw_ir::{Node, NodeId, Program, Semantics, Temporal};
use tw_monitor::{
    Answer, Engine, EvaluateOptions, Evaluator, Lowered, PlannedEvaluator, Trace, Unsupported, Wanted,
};

/// The columnar engine: propositional formulas with future and past operators, without intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columnar;

impl Engine for Columnar {
    fn name(&self) -> &'static str {
        "columnar"
    }

    fn about(&self) -> &'static str {
        "64 positions per machine word over stored traces; LTL with past, no intervals"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        match Planned::new(program, options, kernels::best()) {
            Ok(planned) => Ok(Box::new(planned)),
            Err(refusal) => Err(for_quantifiers(program, refusal)),
        }
    }
}

/// A refusal whose advice helps where there are quantifiers too, which the engine for intervals has no place for.
fn for_quantifiers(program: &Program, mut refusal: Unsupported) -> Unsupported {
    let timed = refusal.node.is_some_and(|node| program.dag.node(node).interval().is_some());
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let quantified = |id: NodeId| program.dag.node(id).is_first_order();
    if timed && program.reachable(&roots).into_iter().any(quantified) {
        refusal.help = Some("use the engine for quantifiers and intervals (`⟨engine: relational⟩`)".into());
    }
    refusal
}

/// A program made ready.
struct Planned<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    kernels: &'static Kernels,
    lowered: Lowered<'p, Graph>,
    /// What is asked, each thing once.
    sinks: Vec<Sink>,
    /// For each root, which of them answers it.
    asked: Vec<usize>,
    /// Schedules for a plain and for a segmented trace, made when first needed.
    schedules: [Option<Schedule>; 2],
}

impl<'p> Planned<'p> {
    fn new(
        program: &'p Program,
        options: &EvaluateOptions,
        kernels: &'static Kernels,
    ) -> Result<Self, Unsupported> {
        options.pointwise()?;
        if options.semantics == Semantics::Ltl3 {
            return Err(Unsupported {
                node: None,
                what: "three-valued verdicts (`⟨semantics: ltl3⟩`)".into(),
                help: Some("use `⟨semantics: finite⟩`, or an engine that looks at all continuations".into()),
                exhausted: false,
            });
        }
        let mut lowered = Lowered::new(program, Graph::new(options.semantics == Semantics::RepeatLast));
        // For `G φ` it is φ that is looked at, position by position.
        let looked_at: Vec<(NodeId, bool)> = program
            .roots
            .iter()
            .map(|root| match program.dag.node(root.node) {
                Node::Unary(Temporal::Globally, None, body) => (body, true),
                _ => (root.node, false),
            })
            .collect();
        let lits = lowered.lower(&looked_at.iter().map(|(id, _)| *id).collect::<Vec<_>>())?;
        let mut sinks = Vec::new();
        let mut known = HashMap::new();
        let asked = lits.into_iter().zip(looked_at).map(|(lit, (_, globally))| {
            *known.entry((lit, globally)).or_insert_with(|| {
                sinks.push(match globally {
                    true => Sink { lit: !lit, want: Want::Violations },
                    false => Sink { lit, want: Want::Starts },
                });
                sinks.len() - 1
            })
        });
        let asked = asked.collect();
        let schedules = [None, None];
        Ok(Planned { program, options: options.clone(), kernels, lowered, sinks, asked, schedules })
    }

    fn check_atoms(&self, trace: &Trace) -> Result<(), Unsupported> {
        let atoms = self.lowered.atoms();
        if trace.atoms.len() == atoms {
            return Ok(());
        }
        Err(Unsupported {
            node: None,
            what: format!("a trace with {} atoms for a program with {atoms}", trace.atoms.len()),
            help: None,
            exhausted: false,
        })
    }
}

impl Evaluator for Planned<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut tw_monitor::Sink) -> Result<(), Unsupported> {
        self.check_atoms(trace)?;
        let segmented = trace.segments.is_some();
        let schedule = self.schedules[usize::from(segmented)]
            .get_or_insert_with(|| schedule(&self.lowered.circuit, &self.sinks, segmented));
        let found = evaluate(schedule, trace, &self.options, sink.limit, self.kernels)?;
        let answer = |&asked: &usize| {
            let (found, sink): (&Found, &Sink) = (&found[asked], &self.sinks[asked]);
            Answer {
                // On a plain trace the count says all.
                holds: match sink.want {
                    Want::Violations if !segmented => Bits::repeat(found.violation_count == 0, 1),
                    _ => found.holds.clone(),
                },
                violations: found.violations.clone(),
                violation_count: found.violation_count,
                ..Answer::default()
            }
        };
        sink.answers(self.asked.iter().map(answer));
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        self.check_atoms(trace)?;
        if let Some(&unknown) = nodes.iter().find(|id| id.index() >= self.program.dag.len()) {
            return Err(Unsupported {
                node: Some(unknown),
                what: "a node of another program".into(),
                help: None,
                exhausted: false,
            });
        }
        let lits = self.lowered.lower(nodes)?;
        let sinks: Vec<Sink> = lits.into_iter().map(|lit| Sink { lit, want: Want::Column }).collect();
        let schedule = schedule(&self.lowered.circuit, &sinks, trace.segments.is_some());
        let found = evaluate(&schedule, trace, &self.options, 0, self.kernels)?;
        Ok(found
            .into_iter()
            .map(|found| found.column.unwrap_or_else(|| Bits::repeat(false, trace.len)))
            .collect())
    }
}
