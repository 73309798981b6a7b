//! Tracewise as a library: one way from bytes to an explained verdict.
//!
//! ```no_run
//! use tracewise::{Session, Specification};
//! # fn main() -> Result<(), tracewise::Error> {
//! let spec = Specification::from_formula("G (req -> F ack)")?;
//! let report = Session::new().check(&spec, &["requests.csv".to_string()])?;
//! for property in &report.properties {
//!     println!("{}: {}", property.name, property.verdict.as_str());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Specification`] is a parsed, checked and lowered text; [`Session`] holds the options and runs it over a trace:
//! bytes → batches (`tw-trace`) → atoms (`tw-monitor`) → an engine → a [`CheckReport`]. [`ENGINES`] and [`formats`]
//! are the registries. [`findings`] has the reports of all commands in one shape, and as JSON.

#[cfg(feature = "parquet")]
mod batches;
mod check;
mod convert;
mod delay;
mod error;
mod eval;
pub mod findings;
mod import;
mod imprecise;
mod inspect;
pub mod live;
mod merge;
mod model;
mod monitor;
mod narrate;
mod narrate_dense;
mod plan;
mod query;
mod races;
mod registry;
mod report;
mod robust;
mod run;
mod session;
mod show;
mod specification;
mod statistics;
mod watch;

pub use convert::ConvertReport;
pub use delay::{LiveDelay, LiveReport};
pub use error::Error;
pub use import::import;
pub use imprecise::{ClockError, ClockLabels, Guarantee, Obstacle, Stretch};
pub use inspect::{ColumnSummary, InspectReport};
pub use merge::{MergeOptions, MergeReport, Origin as PathOrigin, Piece, StateNames};
pub use model::{
    Failing, FormulaReport, Logic, ModelOptions, ModelReport, Question, Told, TracePath, TraceStep,
    questions_in, read_model, write_model,
};
pub use monitor::{Monitor, Row, SlotHandle};
pub use plan::{EngineChoice, RootReport, SpecReport};
pub use query::{Approximation, Group, Origin, QueryReport, QueryResult, Total, Totals, Witness};
pub use races::RacesReport;
pub use registry::{ENGINES, engine, engines, format_named, formats};
pub use report::{CheckReport, EvalReport, LogLine, PropertyReport, Step, Violation};
pub use robust::{
    Contribution, Contributions, Interpolation, Least, Level, Predictor, Reason, RobustAlgorithm, RobustLive,
    RobustLiveReport, RobustOptions, RobustReport, RobustSink, RobustTold, RobustValue, Robustness, Signal,
    Telling, WeakestLink,
};
pub use run::divide::Edge;
pub use session::{Progress, Session};
pub use show::{AutomatonKind, AutomatonSizes, ResidualReport, ResidualStep};
pub use specification::Specification;
pub use statistics::{Part, Statistic, StatisticReport, Wait};
pub use watch::{
    Address, Checkpoints, Control, Deadline, Due, Every, LiveSink, Observation, Pending, Pushed,
    WatchOptions, WatchOver, WatchReport, WatchSender, WatchSink, WatchSource, WatchValue, WatchVerdict,
    watch_channel,
};

#[cfg(feature = "parquet")]
pub use tw_arrow::{Reader as RecordReader, Records, arrow};
pub use tw_automata::draw::Graph;
pub use tw_check::markov::{Method as ProbabilityMethod, Probability};
pub use tw_core::{Time, TimeUnit, Value, Verdict};
pub use tw_diag::{Diagnostic, Severity, Sources, render, to_json};
pub use tw_engine_dense::{Label, Outcome as GuaranteeKind};
pub use tw_import::{FORMATS as IMPORT_FORMATS, Options as ImportOptions, guess as guess_import};
pub use tw_ir::{Clock, Semantics};
pub use tw_merge::{Completeness, Coverage, Ends, Estimate, Keep, Point as CoveragePoint};
pub use tw_model::{FORMATS as MODEL_FORMATS, Model};
pub use tw_monitor::{Answers, Bindings, Engine, Known, Obligation, Settled};
pub use tw_races::{
    Deadlock, Fields as RaceFields, Limits as RaceLimits, Oddity, OddityKind, Place, Race, Turn, Use,
};
pub use tw_spec::{PATTERNS, PatternDoc};
pub use tw_trace::{Projection, ReadOptions, Stamp, Table, TimeStyle, TraceError};
