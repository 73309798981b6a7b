//! Continuous time as an engine.

use crate::Reading;
use crate::formula::Formulas;
use crate::reading::{segment_signals, times};
use tw_core::{Bits, Position};
use tw_ir::{Clock, Node, NodeId, Program, Semantics, Temporal};
use tw_monitor::{
    Answer, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, Sink, Trace, Unsupported, Wanted,
};

/// The engine for `--clock dense`: positions are states that last to the next timestamp.
///
/// A property is asked at the first instant. For `G φ` the violations are the positions during whose stay φ is false at
/// some instant (see [`Reading::States`]), not only at the timestamp: so there are some if and only if the property is
/// violated.
///
/// An operator costs O(changes of its operands), whatever the window and the number of positions between changes; the
/// atoms cost one look at every 64 positions. Memory: 8 bytes per change of each operand still needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dense;

impl Engine for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn about(&self) -> &'static str {
        "continuous time (⟨clock: dense⟩): truth as runs with open and closed ends, whole traces"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        let refuse = |what: &str, help: &str| {
            Err(Unsupported { node: None, what: what.into(), help: Some(help.into()), exhausted: false })
        };
        if options.clock != Clock::Dense {
            return refuse(
                "positions alone: it is for continuous time",
                "use ⟨clock: dense⟩, or ⟨engine: auto⟩",
            );
        }
        if options.semantics == Semantics::Ltl3 {
            return refuse(
                "three-valued verdicts (ltl3) over continuous time",
                "use ⟨semantics: finite⟩, or ⟨clock: stamps⟩",
            );
        }
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        // Each root, and behind them the body of each `G φ`.
        let mut wanted = roots.clone();
        let mut bodies = Vec::with_capacity(roots.len());
        for &root in &roots {
            bodies.push(match program.dag.node(root) {
                Node::Unary(Temporal::Globally, None, body) => {
                    wanted.push(body);
                    Some(wanted.len() - 1)
                }
                _ => None,
            });
        }
        let formulas = Formulas::new(program, &wanted, options.unit, options.memory_budget)?;
        Ok(Box::new(Plan { program, options: options.clone(), formulas, bodies }))
    }
}

struct Plan<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    /// The roots, then the bodies.
    formulas: Formulas,
    /// For each root the place of its body, if it is `G φ`.
    bodies: Vec<Option<usize>>,
}

impl Evaluator for Plan<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let mut answers: Vec<Answer> = self.bodies.iter().map(|_| Answer::default()).collect();
        for index in 0..trace.starts().len() {
            let segment = trace.starts()[index]..trace.segment_end(index);
            let signals = segment_signals(&mut self.formulas, trace, segment.clone(), Reading::States)?;
            let times = times(trace, &segment)?;
            for (root, answer) in answers.iter_mut().enumerate() {
                answer.holds.push(signals[root].at_cell(0));
                let Some(body) = self.bodies[root] else { continue };
                // The states that some run of ¬φ meets: from the one that holds at its beginning to the last that
                // begins before its end. One state may meet several runs.
                let mut counted = 0;
                for (from, to) in signals[body].ranges(false) {
                    let cell = |time: &i64| signals[body].span().cell(*time);
                    let begin = times.partition_point(|time| cell(time) <= from) - 1;
                    let begin = begin.max(counted);
                    let end = begin + times[begin..].partition_point(|time| cell(time) < to);
                    // Of equal timestamps the last has the instant.
                    for at in begin..end {
                        if at + 1 < times.len() && times[at] == times[at + 1] {
                            continue;
                        }
                        answer.violation_count += 1;
                        if answer.violations.len() < sink.limit {
                            answer.violations.push(segment.start + at as Position);
                        }
                    }
                    counted = end.max(counted);
                }
            }
            for signal in signals {
                self.formulas.recycle(signal);
            }
        }
        sink.answers(answers);
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let mut formulas = Formulas::new(self.program, nodes, self.options.unit, self.options.memory_budget)?;
        let mut columns: Vec<Bits> = nodes.iter().map(|_| Bits::with_capacity(trace.len)).collect();
        for index in 0..trace.starts().len() {
            let segment = trace.starts()[index]..trace.segment_end(index);
            let signals = segment_signals(&mut formulas, trace, segment.clone(), Reading::States)?;
            let times = times(trace, &segment)?;
            for (signal, column) in signals.into_iter().zip(&mut columns) {
                signal.sample(times, column);
                formulas.recycle(signal);
            }
        }
        Ok(columns)
    }
}
