//! What an engine is, what it is given, and what it answers.
//!
//! An [`Engine`] looks at a program and either plans to run it or refuses it, naming the subformula. A plan over a
//! stored trace is an [`Evaluator`]: it gets the truth of every atom at every position ([`Trace`]) and puts into a
//! [`Sink`] what each root is worth: truth, a value, robustness, with the bindings of quantified variables. A [`Monitor`]
//! gets the same ([`Positions`]) as it arrives, and puts into the same sink what is settled. Predicates turn batches of slots into atom columns once, for all engines ([`Predicates`]);
//! explanations are built after the fact, once, for all engines ([`explain`]).

mod algebra;
mod circuit;
mod engine;
mod explain;
mod forward;
mod machine;
mod monitor;
mod outcome;
mod positions;
mod predicates;
mod queries;
mod query;
mod slab;

pub use algebra::{Map, both, either};
pub use circuit::{Circuit, Connectives, Gate, Gates, Lit, Lower, Lowered, gate};
pub use engine::{
    Answers, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, PlannedMonitor, Signals, Unsupported,
    Wanted,
};
pub use explain::{Claim, Explanation, Request, Rule, explain, explain_many, violation_request};
pub use forward::{Build, Forward};
pub use machine::{Machine, Run, State, Stretch, Waiting, transpose_eight, words};
pub use monitor::{Monitor, Obligation, Telling, TraceId};
pub use outcome::{Answer, Bindings, Known, Settled, Sink, Worth};
pub use positions::{Positions, Segments, Trace};
pub use predicates::{
    AtomParts, Ground, PredicateError, Predicates, Term, Terms, arithmetic, compare, order, truth,
};
pub use queries::Queries;
pub use query::{
    Computed, Note, PlannedQueries, PlannedQueryMonitor, QueryEngine, QueryEvaluator, QueryMonitor, Values,
};
pub use slab::Slab;
use tw_core::codec::{Corrupt, put, take};
