//! What an engine for queries computes: values. [`Queries`](crate::Queries) makes an [`Engine`](crate::Engine) of it.
//!
//! A query is an experiment over *guards* (formulas, [`Program::guards`]) and *terms* ([`Program::terms`]). Terms are
//! computed when the trace is read ([`crate::Terms`]). Guards are truth columns: an engine names those that it wants to
//! be given, which any formula engine computes, and evaluates the others itself.

use crate::engine::not_live;
use crate::{EvaluateOptions, Positions, Trace, Unsupported, Wanted};
use tw_core::{Bits, Column, Position, Value};
use tw_ir::{NodeId, Program};

/// A value that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Computed {
    /// A value; null if the experiment has none.
    Value(Value),
    /// It cannot be computed, and why: `the sum 9223372036854775808 overflows a 64-bit integer`.
    Error(String),
}

impl Computed {
    /// The value, or why there is none.
    pub fn ok(&self) -> Result<&Value, &str> {
        match self {
            Computed::Value(value) => Ok(value),
            Computed::Error(message) => Err(message),
        }
    }
}

impl From<Result<Value, String>> for Computed {
    fn from(result: Result<Value, String>) -> Self {
        result.map_or_else(Computed::Error, Computed::Value)
    }
}

/// The values of an experiment at consecutive positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Null where it has none; of a formula, `Truth`, which is read as `true` or none.
    pub column: Column,
    /// Positions whose value cannot be computed, ascending, and why. The column is null there.
    pub errors: Vec<(Position, String)>,
}

impl Values {
    /// Of these values, one per position.
    pub fn new(values: Vec<Computed>) -> Self {
        let mut errors = Vec::new();
        let value = |(at, computed)| match computed {
            Computed::Value(value) => value,
            Computed::Error(message) => {
                errors.push((at, message));
                Value::Null
            }
        };
        let column = Column::Any(values.into_iter().enumerate().map(value).collect());
        Self { column, errors }
    }

    /// The value at a position.
    pub fn at(&self, position: Position) -> Computed {
        if let Ok(index) = self.errors.binary_search_by_key(&position, |(at, _)| *at) {
            return Computed::Error(self.errors[index].1.clone());
        }
        Computed::Value(match &self.column {
            Column::Truth(bits) => {
                if bits.get(position) {
                    Value::Bool(true)
                } else {
                    Value::Null
                }
            }
            other => other.value(position),
        })
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Something to be said about a part of a query: that it is approximate, and by how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The aggregate.
    pub node: NodeId,
    /// `rank ±1.33 % with 99 % confidence (KLL)`
    pub bound: String,
}

/// Queries made ready for stored traces, or the refusal.
pub type PlannedQueries<'p> = Result<Box<dyn QueryEvaluator + 'p>, Unsupported>;
/// Queries made ready for a live trace, or the refusal.
pub type PlannedQueryMonitor = Result<Box<dyn QueryMonitor>, Unsupported>;

/// An engine for queries, registered in `tracewise::engines::ENGINES` as [`Queries`](crate::Queries).
pub trait QueryEngine: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;
    /// One line for help and `explain`.
    fn about(&self) -> &'static str;
    /// As [`Engine::published`](crate::Engine::published): the publication whose algorithm it is.
    fn published(&self) -> Option<&'static str> {
        None
    }
    /// Prepares to compute every root, or refuses with the construct that it cannot do. Roots are asked as they
    /// stand: divisions (`by`, `every`) are the caller's business, who hands over segments.
    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedQueries<'p>;
    /// Whether it has a [`QueryEngine::monitor`] for live traces.
    fn reads_forward(&self) -> bool {
        false
    }
    /// Prepares to compute every root on a live trace, or refuses.
    fn monitor(&self, program: &Program, options: &EvaluateOptions) -> PlannedQueryMonitor {
        let _ = (program, options);
        Err(not_live("`forward` reads one position after another"))
    }
}

/// Queries made ready for whole traces.
pub trait QueryEvaluator: Send {
    /// What the trace must hold.
    fn wanted(&self) -> Wanted;
    /// The formulas whose truth it is given, in this order, in each call.
    fn guards(&self) -> &[NodeId];
    /// The value of each root at the first position of each segment.
    fn values(&mut self, trace: &Trace, guards: &[Bits]) -> Result<Vec<Vec<Computed>>, Unsupported>;
    /// The values of the given experiments (or guards) at every position, in the given order. Experiments are nodes
    /// reachable from the roots.
    fn columns(
        &mut self,
        trace: &Trace,
        guards: &[Bits],
        nodes: &[NodeId],
    ) -> Result<Vec<Values>, Unsupported>;
    /// What is to be said about the last values or columns.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
}

/// Queries on a live trace.
pub trait QueryMonitor: Send {
    /// The same queries before the first position of another trace; what does not change is shared.
    fn another(&self) -> Box<dyn QueryMonitor>;
    /// Takes the next positions: atoms in the order of `Program::atoms`, terms in that of `Program::terms`.
    fn push(&mut self, positions: &Positions<'_>) -> Result<(), Unsupported>;
    /// The value of each root, should the trace end here. Costs what is pending, not what has been read.
    fn values(&mut self) -> Result<Vec<Computed>, Unsupported>;
    /// What is to be said about the last values.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
    /// How many atoms its program has.
    fn atoms(&self) -> usize;
    /// Positions taken so far.
    fn position(&self) -> Position;
    /// Bytes held for what is not yet decided.
    fn pending_bytes(&self) -> usize;
    /// Bytes that this trace takes in all; what traces share does not count.
    fn heap_bytes(&self) -> usize {
        self.pending_bytes()
    }
    /// Writes the state, for another process to go on from.
    fn save(&self, out: &mut Vec<u8>);
    /// Goes on from a saved state of the same program.
    fn restore(&mut self, bytes: &mut &[u8]) -> Result<(), crate::Corrupt>;
}
