//! `stream`: the columns that equations define, as values.

mod live;
mod made;
mod questions;

pub(crate) use live::live;
pub use live::{StreamAlarm, StreamLive, StreamLiveReport, StreamRow, StreamSink};
pub use made::{AutomatonForm, StreamOperation};
pub(crate) use made::{combine, from_automaton, from_ltl, normalise, to_automaton};
pub use questions::{Rows, Shown, StreamAnalysis, StreamAnswer, StreamMemory, StreamQuestion};
pub(crate) use questions::{accepts, analyse, ask};

use crate::run::columns::{self, Need};
use crate::run::faults;
use crate::{Error, Session, Specification, Value};
use tw_core::{Column, Position};
use tw_diag::{Diagnostic, Sources};
use tw_ir::{SlotId, StreamType};
use tw_stream_boolean::Passes;

/// The streams of a specification on a trace.
#[derive(Clone, Debug)]
pub struct StreamReport {
    /// The trace as the user named it.
    pub trace: String,
    /// Name and type of each stream that is observed, in the order written.
    pub streams: Vec<(String, StreamType)>,
    columns: Vec<Column>,
    /// How many positions there are.
    pub positions: usize,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
    /// What they point into.
    pub sources: Sources,
}

impl StreamReport {
    /// What a stream is worth at a position.
    pub fn value(&self, stream: usize, position: Position) -> Value {
        self.columns[stream].value(position)
    }
}

/// What a specification without streams is told.
pub(crate) fn refuse_none(spec: &Specification) -> Result<(), Error> {
    match spec.program.streams.is_empty() {
        false => Ok(()),
        true => Err(Error::refused_instead(
            "the specification has no stream",
            "define one, for example `stream total: int = total[-1|0] + 1;`",
        )),
    }
}

/// How Boolean streams are computed, where that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPasses {
    /// Two passes over an automaton of all equations.
    Two,
    /// One pass more than directions alternate.
    Classic,
}

pub(crate) fn run(
    session: &Session,
    spec: &Specification,
    files: &[String],
    passes: Option<StreamPasses>,
) -> Result<StreamReport, Error> {
    match passes {
        Some(StreamPasses::Two) => return questions::run_by(session, spec, files, Passes::Two),
        Some(StreamPasses::Classic) => return questions::run_by(session, spec, files, Passes::Classic),
        None => {}
    }
    refuse_none(spec)?;
    let spec = &spec.with_roots(Vec::new());
    let observed = || spec.program.streams.iter().filter(|stream| stream.observed);
    let kept: Vec<SlotId> = observed().map(|stream| stream.slot).collect();
    let need = Need { kept: &kept, ..Need::default() };
    let loaded = columns::read(session, spec, files, need, None, None)?;
    faults::refuse_empty(&loaded)?;
    let mut warnings = spec.warnings.clone();
    warnings.extend(loaded.warnings.iter().cloned());
    Ok(StreamReport {
        trace: loaded.name().to_string(),
        streams: observed().map(|stream| (stream.name.clone(), stream.ty)).collect(),
        positions: loaded.trace.len,
        columns: loaded.kept,
        warnings,
        sources: spec.sources.clone(),
    })
}
