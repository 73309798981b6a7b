//! The formula after each event, for people who want to watch it being rewritten.

use crate::machine::Rewriter;
use tw_automata::residual::Syntax;
use tw_core::Position;
use tw_ir::{NodeId, Program};
use tw_monitor::{EvaluateOptions, Machine, State, Stretch, Trace, Unsupported};

/// What is owed after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residual {
    /// The position that was read.
    pub position: Position,
    /// What the rest of the trace owes, in the user's words.
    pub owed: String,
    /// The same in canonical form: `G (true ^ a ^ a & F b)`.
    pub canonical: String,
    /// The verdict that no continuation changes.
    pub settled: Option<bool>,
    /// The verdict should the trace end here.
    pub at_end: bool,
}

/// A formula that is rewritten event by event.
pub struct Rewriting {
    machine: Rewriter,
    state: State,
    position: Position,
}

impl Rewriting {
    /// Before the first event.
    pub fn new(program: &Program, formula: NodeId, options: &EvaluateOptions) -> Result<Self, Unsupported> {
        let mut machine = Rewriter::build(program, &[formula], options)?;
        let origin = machine.origin();
        let state = machine.enter(0, origin)?;
        Ok(Self { machine, state, position: 0 })
    }

    /// The canonical form of what is owed now.
    pub fn canonical(&self) -> String {
        let goal = self.machine.goal(0);
        let residual = goal.core_at(self.state).residual;
        goal.terms.print(residual, self.machine.program(), Syntax::Specification)
    }

    /// Rewrites it under the atoms of the next position, packed 64 to a word.
    pub fn step(&mut self, atoms: &[u64]) -> Result<Residual, Unsupported> {
        self.state = self.machine.step(0, self.state, atoms)?;
        let position = self.position;
        self.position += 1;
        Ok(Residual {
            position,
            owed: self.machine.residual(0, self.state),
            canonical: self.canonical(),
            settled: self.machine.settled(0, self.state),
            at_end: self.machine.holds_at_end(0, self.state),
        })
    }

    /// How many residuals (each with what past operators remember) were met, those included that were only looked at
    /// in search of a verdict.
    pub fn residuals_met(&self) -> usize {
        self.machine.goal(0).len()
    }
}

/// The formula after each event of the first `limit` positions of a trace (of its first segment), up to the one that
/// settles it.
pub fn residuals(
    program: &Program,
    formula: NodeId,
    trace: &Trace,
    options: &EvaluateOptions,
    limit: usize,
) -> Result<Vec<Residual>, Unsupported> {
    /// Rows are made from columns in blocks, so that a verdict early in a long trace costs little.
    const BLOCK: usize = 1 << 10;
    let mut rewriting = Rewriting::new(program, formula, options)?;
    let len = trace.segment_end(0).min(limit);
    let mut out = Vec::new();
    for block in (0..len).step_by(BLOCK) {
        let stretch = Stretch::new(&trace.atoms, block, BLOCK.min(len - block));
        for at in 0..stretch.len() {
            let residual = rewriting.step(stretch.row(at))?;
            let settled = residual.settled.is_some();
            out.push(residual);
            if settled {
                return Ok(out);
            }
        }
    }
    Ok(out)
}
