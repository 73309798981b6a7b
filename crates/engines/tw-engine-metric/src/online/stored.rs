//! Stored traces read as live ones: what their prefixes settle.

use super::{Each, Online};
use tw_core::{Bits, Position};
use tw_ir::{Node, NodeId, Program, Semantics, Temporal};
use tw_monitor::{Answer, EvaluateOptions, Evaluator, Sink, Stretch, Trace, Unsupported, Wanted};

/// An evaluator of stored traces by [`Online`]. Under `ltl3` verdicts are those of informative prefixes, and what the
/// trace leaves open stays open.
pub struct Prefixes<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    online: Online,
}

impl<'p> Prefixes<'p> {
    /// Prepares to run every root, or refuses with the construct that it cannot do.
    pub fn new(program: &'p Program, options: &EvaluateOptions) -> Result<Self, Unsupported> {
        let online = Online::new(program, options, Each::Body)?;
        Ok(Self { program, options: options.clone(), online })
    }

    fn three_valued(&self) -> bool {
        self.options.semantics == Semantics::Ltl3
    }

    /// Runs a fresh copy over each segment. `told` hears of positions in order, and of each segment's verdicts.
    fn replay(&self, fresh: &Online, trace: &Trace, mut told: impl FnMut(Told)) -> Result<(), Unsupported> {
        let roots = fresh.roots.len();
        let mut online = fresh.clone();
        // Before the first position no state is held, so that copies of it are as good as new ones.
        let first = online.copy();
        let (mut segment, mut start) = (0, 0);
        for block in (0..trace.len).step_by(BLOCK) {
            let stretch = Stretch::new(&trace.atoms, block, BLOCK.min(trace.len - block));
            for offset in 0..stretch.len() {
                let at = block + offset;
                online.step(trace.times.as_ref().map(|times| times[at]), stretch.row(offset))?;
                let last = at + 1 == trace.segment_end(segment);
                if last && !self.three_valued() {
                    online.end()?;
                } else if let (true, Some(beyond)) =
                    (last, trace.until.and_then(|until| until.checked_sub(1)))
                {
                    // The log went on: what was due before its end is missed.
                    online.advance(beyond)?;
                }
                for root in 0..roots {
                    while let Some((position, holds)) = online.next_settled(root) {
                        told(Told::Position { root, at: start + position, holds });
                    }
                    if last {
                        told(Told::Verdict { root, verdict: online.verdict(root) });
                    }
                }
                if last {
                    (segment, start) = (segment + 1, at + 1);
                    online.put(first.clone());
                }
            }
        }
        Ok(())
    }
}

/// What a run tells.
enum Told {
    Position { root: usize, at: Position, holds: bool },
    Verdict { root: usize, verdict: Option<bool> },
}

/// Positions whose atoms are packed at a time.
const BLOCK: usize = 1 << 14;

impl Evaluator for Prefixes<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let limit = sink.limit;
        let three_valued = self.three_valued();
        let globally = |node| matches!(self.program.dag.node(node), Node::Unary(Temporal::Globally, None, _));
        let globally: Vec<bool> = self.program.roots.iter().map(|root| globally(root.node)).collect();
        let empty = || Answer { open: three_valued.then(Bits::new), ..Answer::default() };
        let mut answers: Vec<Answer> = globally.iter().map(|_| empty()).collect();
        self.replay(&self.online, trace, |told| match told {
            Told::Position { root, at, holds: false } if globally[root] => {
                let answer = &mut answers[root];
                answer.violation_count += 1;
                if answer.violations.len() < limit {
                    answer.violations.push(at);
                }
            }
            Told::Position { .. } => {}
            Told::Verdict { root, verdict } => {
                answers[root].holds.push(verdict == Some(true));
                if let Some(open) = &mut answers[root].open {
                    open.push(verdict.is_none());
                }
            }
        })?;
        sink.answers(answers);
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let online = Online::of(self.program, nodes, &self.options, Each::Root)?;
        let mut columns = vec![Bits::repeat(false, trace.len); nodes.len()];
        self.replay(&online, trace, |told| {
            if let Told::Position { root, at, holds: true } = told {
                columns[root].set(at, true);
            }
        })?;
        Ok(columns)
    }
}
