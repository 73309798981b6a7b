//! The engine interface.

use crate::{Answer, Bindings, Monitor, Note, PredicateError, Sink, Telling, Trace, Values};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tw_core::{Batch, Bits, Column, Position, TimeUnit, Value};
use tw_ir::{Clock, NodeId, Program, Semantics};

/// What an engine reads beside the truth of atoms and timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Values of terms ([`Trace::terms`]).
    pub terms: bool,
    /// The values of slots themselves ([`Trace::slots`]).
    pub slots: bool,
    /// Tuples of event patterns with variables ([`Trace::relations`]).
    pub relations: bool,
    /// What predicates are worth ([`Trace::signals`]), computed by what [`Evaluator::signals`] gives.
    pub signals: bool,
}

impl Wanted {
    /// Truth of atoms alone.
    pub const ATOMS: Wanted = Wanted { terms: false, slots: false, relations: false, signals: false };
    /// Values of terms too.
    pub const TERMS: Wanted = Wanted { terms: true, ..Wanted::ATOMS };
    /// All that a definition needs: the values as they were read.
    pub const VALUES: Wanted = Wanted { terms: true, slots: true, relations: true, signals: false };
    /// What predicates are worth, instead of whether they hold.
    pub const SIGNALS: Wanted = Wanted { signals: true, ..Wanted::ATOMS };
}

/// What kind of answer an engine gives: what it can be chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Verdicts of properties.
    Verdicts,
    /// Values of queries.
    Values,
    /// By how much properties hold.
    Robustness,
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
    /// Whether nobody waits for the answer any more: an engine that takes long looks at it now and then, and gives up.
    pub stop: Option<Arc<AtomicBool>>,
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
            stop: None,
        }
    }
}

impl EvaluateOptions {
    /// Whether to give up.
    pub fn stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// For engines that go from position to position: refuses continuous time, where more happens than at positions.
    /// Some formulas mean the same there, but that is not for each engine to find out.
    pub fn pointwise(&self) -> Result<(), Unsupported> {
        match self.clock {
            Clock::Stamps | Clock::Index => Ok(()),
            Clock::Dense => Err(Unsupported {
                node: None,
                what: "continuous time (`⟨clock: dense⟩`)".into(),
                help: Some("use ⟨engine: auto⟩ or dense, or ⟨clock: stamps⟩".into()),
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

/// A program made ready for stored traces, or the refusal.
pub type PlannedEvaluator<'p> = Result<Box<dyn Evaluator + 'p>, Unsupported>;
/// A program made ready for a live trace, or the refusal.
pub type PlannedMonitor = Result<Box<dyn Monitor>, Unsupported>;

/// Registered in `tracewise::engines::ENGINES`.
pub trait Engine: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;
    /// One line for help and `explain`.
    fn about(&self) -> &'static str;
    /// The publication whose algorithm it is, for an engine that is kept as published: to be compared with, not for speed.
    fn published(&self) -> Option<&'static str> {
        None
    }
    /// Prepares to run every root, or refuses with the construct that it cannot do.
    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p>;
    /// What it answers.
    fn answers(&self) -> Answers {
        Answers::Verdicts
    }
    /// Whether it has a [`Engine::monitor`] for live traces.
    fn reads_forward(&self) -> bool {
        false
    }
    /// Prepares to run every root on a live trace, or refuses.
    fn monitor(&self, program: &Program, options: &EvaluateOptions, telling: Telling) -> PlannedMonitor {
        let _ = (program, options, telling);
        Err(not_live("`automaton`, `rewrite` and `breadth-first` read one position after another"))
    }
}

/// The refusal of an engine that needs all of a trace at once.
pub(crate) fn not_live(help: &str) -> Unsupported {
    Unsupported {
        node: None,
        what: "a live trace: it needs all of it at once".into(),
        help: Some(help.into()),
        exhausted: false,
    }
}

/// What predicates are worth on a batch: one column per predicate.
pub trait Signals: Send + Sync {
    /// The columns, or the first value that cannot be computed.
    fn signals(&self, batch: &Batch) -> Result<Vec<Vec<f64>>, PredicateError>;
}

/// A program made ready for whole traces.
pub trait Evaluator: Send {
    /// What the trace must hold.
    fn wanted(&self) -> Wanted;
    /// The formulas whose truth at every position it has to be given ([`Evaluator::give`]) before it runs.
    fn guards(&self) -> &[NodeId] {
        &[]
    }
    /// The truth of [`Evaluator::guards`] at every position of the trace that comes next.
    fn give(&mut self, guards: Vec<Bits>) {
        let _ = guards;
    }
    /// Of an engine that wants [`Trace::signals`]: what computes them, batch by batch, on the reading threads.
    fn signals(&self) -> Option<Arc<dyn Signals>> {
        None
    }
    /// Puts into the sink what each root is worth, in the program's order.
    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported>;
    /// The truth of the given nodes at every position, in the given order.
    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported>;
    /// The truth of the given formulas at every position, each where its free variables are these, in the given order.
    fn columns_bound(
        &mut self,
        trace: &Trace,
        nodes: &[(NodeId, Bindings)],
    ) -> Result<Vec<Bits>, Unsupported> {
        if let Some((node, _)) = nodes.iter().find(|(_, bindings)| !bindings.is_empty()) {
            return Err(Unsupported::construct(*node, "the truth of a formula for one value of a variable"));
        }
        let nodes: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).collect();
        self.columns(trace, &nodes)
    }
    /// A value of a quantifier's variable that decides it at a position: that makes `exists` true, `forall` false. The
    /// least, of those that something names; `None` if there is none of that kind.
    fn witness(
        &mut self,
        trace: &Trace,
        node: NodeId,
        bindings: &Bindings,
        at: Position,
    ) -> Result<Option<Value>, Unsupported> {
        let _ = (trace, node, bindings, at);
        Ok(None)
    }
    /// The values of the given experiments (or guards) at every position, in the given order: of an engine that answers
    /// with values. Experiments are nodes reachable from the roots.
    fn values(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Values>, Unsupported> {
        let columns = self.columns(trace, nodes)?.into_iter();
        Ok(columns.map(|bits| Values { column: Column::Truth(bits), errors: Vec::new() }).collect())
    }
    /// By how much the given formulas hold at every position: of an engine that measures that.
    fn robustness(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Vec<f64>>, Unsupported> {
        let _ = trace;
        let what = "robustness: it says whether formulas hold, not by how much";
        Err(Unsupported { node: nodes.first().copied(), what: what.into(), help: None, exhausted: false })
    }
    /// What is to be said about the last answers.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
    /// [`Evaluator::run`], for verdicts alone.
    fn evaluate(&mut self, trace: &Trace, limit: usize) -> Result<Vec<Answer>, Unsupported> {
        let mut sink = Sink::with_limit(limit);
        self.run(trace, &mut sink)?;
        Ok(sink.into_answers())
    }
}
