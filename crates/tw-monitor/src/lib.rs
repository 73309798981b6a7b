//! What an engine is, what it is given, and what it answers.
//!
//! An [`Engine`] looks at a program and either plans to run it or refuses it, naming the subformula. A plan over a
//! stored trace is an [`Evaluator`]: it gets the truth of every atom at every position ([`Trace`]) and answers what
//! each root is worth. Predicates turn batches of slots into atom columns once, for all engines ([`Predicates`]);
//! explanations are built after the fact, once, for all engines ([`explain`]).

mod algebra;
mod engine;
mod explain;
mod forward;
mod machine;
mod monitor;
mod predicates;
mod query;
mod trace;

pub use algebra::{Map, both, either};
pub use engine::{Answer, Engine, EvaluateOptions, Evaluator, Unsupported, Wanted};
pub use explain::{Claim, Explanation, Rule, explain, explain_many};
pub use forward::{Build, Forward};
pub use machine::{Corrupt, Machine, Run, State, Stretch, put, take, transpose_eight, words};
pub use monitor::{Chunk, Monitor, Obligation, Settled};
pub use predicates::{AtomParts, PredicateError, Predicates, Term, Terms, arithmetic, compare, order};
pub use query::{Computed, Live, Note, QueryEngine, QueryEvaluator, QueryMonitor, Values};
pub use trace::{Segments, Trace};
