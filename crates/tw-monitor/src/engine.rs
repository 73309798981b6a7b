//! The engine interface.

use crate::{Monitor, Trace};
use tw_core::{Bits, Position, TimeUnit};
use tw_ir::{Clock, NodeId, Program, Semantics};

/// What an engine reads beside atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Truth of atoms alone.
    Atoms,
    /// Values of terms too (`Trace::terms`).
    Terms,
    /// Slot values too (`Trace::slots`).
    Values,
}

/// How to evaluate.
#[derive(Clone, Debug)]
pub struct EvaluateOptions {
    /// How the end of the trace is read.
    pub semantics: Semantics,
    /// Where time comes from (already `Index` when the trace has no timestamps).
    pub clock: Clock,
    /// The trace's unit.
    pub unit: TimeUnit,
    /// Threads to use.
    pub threads: usize,
    /// Bytes the engine may hold beside the trace; more is a clear refusal.
    pub memory_budget: usize,
    /// Positions per block, a multiple of 64; `None` lets the engine choose. Tests vary it.
    pub block: Option<usize>,
    /// States a machine may keep; more are built again when they are needed, or end in a refusal.
    pub state_budget: usize,
    /// Keep the published behaviour where it differs in cost alone (order of operands, no memo), so that published
    /// experiments can be redone.
    pub faithful: bool,
}

impl Default for EvaluateOptions {
    fn default() -> Self {
        Self {
            semantics: Semantics::Finite,
            clock: Clock::Stamps,
            unit: TimeUnit::Seconds,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_budget: 4 << 30,
            block: None,
            state_budget: 10_000,
            faithful: false,
        }
    }
}

impl EvaluateOptions {
    /// For engines that go from position to position: refuses continuous time, where more happens than at positions.
    /// Some formulas mean the same there, but that is not for each engine to find out.
    pub fn pointwise(&self) -> Result<(), Unsupported> {
        match self.clock {
            Clock::Stamps | Clock::Index => Ok(()),
            Clock::Dense => Err(Unsupported {
                node: None,
                what: "continuous time (`--clock dense`)".into(),
                help: Some("use --engine auto or dense, or --clock stamps".into()),
                exhausted: false,
            }),
        }
    }
}

/// A refusal: which construct, where, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// The node the engine cannot run, if one is to blame.
    pub node: Option<NodeId>,
    /// What it cannot do: "intervals on temporal operators".
    pub what: String,
    /// What to try.
    pub help: Option<String>,
    /// Whether a budget ran out: another engine may still answer. Otherwise the engine cannot run the construct at all.
    pub exhausted: bool,
}

impl Unsupported {
    /// A construct that the engine cannot run.
    pub fn construct(node: NodeId, what: impl Into<String>) -> Self {
        Self { node: Some(node), what: what.into(), help: None, exhausted: false }
    }

    /// A budget that ran out: `"more than 10,000 states"`.
    pub fn budget(what: impl Into<String>) -> Self {
        Self { node: None, what: what.into(), help: None, exhausted: true }
    }

    /// Adds what to try.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// What one root is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Truth at the first position of each segment (one bit for a plain trace).
    pub holds: Bits,
    /// Which segments leave the verdict open; `None` under a two-valued semantics. Where set, `holds` is not.
    pub open: Option<Bits>,
    /// For a root `G φ` without interval: the positions where φ is false within the trace (all segments), at most
    /// `limit` of them, ascending. Empty otherwise.
    pub violations: Vec<Position>,
    /// How many there are in all.
    pub violation_count: usize,
}

/// Registered in `tracewise::ENGINES`.
pub trait Engine: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;
    /// One line for help and `explain`.
    fn about(&self) -> &'static str;
    /// Prepares to run every root, or refuses with the construct that it cannot do.
    fn plan<'p>(
        &self,
        program: &'p Program,
        options: &EvaluateOptions,
    ) -> Result<Box<dyn Evaluator + 'p>, Unsupported>;
    /// Whether it has a [`Engine::monitor`] for live traces.
    fn reads_forward(&self) -> bool {
        false
    }
    /// Prepares to run every root on a live trace, or refuses. With `each_position` the monitor reports the verdict
    /// about every position: of φ for a root `G φ` without interval, of the root itself otherwise.
    fn monitor(
        &self,
        program: &Program,
        options: &EvaluateOptions,
        each_position: bool,
    ) -> Result<Box<dyn Monitor>, Unsupported> {
        let _ = (program, options, each_position);
        Err(Unsupported {
            node: None,
            what: "a live trace: it needs all of it at once".into(),
            help: Some("`automaton`, `rewrite` and `breadth-first` read one position after another".into()),
            exhausted: false,
        })
    }
}

/// A program made ready for whole traces.
pub trait Evaluator: Send {
    /// What the trace must hold.
    fn wanted(&self) -> Wanted;
    /// What each root is worth, in the program's order. `limit` bounds how many violations are listed per root.
    fn evaluate(&mut self, trace: &Trace, limit: usize) -> Result<Vec<Answer>, Unsupported>;
    /// The truth of the given nodes at every position, in the given order.
    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported>;
}
