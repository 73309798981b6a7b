//! One run over a stored trace: the corridor that every command goes through.
//!
//! Choose an engine ([`plan`](crate::plan)), open the files ([`open`]), read the columns that the engine asks for while progress is
//! noted and faults are worded ([`columns`], [`faults`]), settle which clock measures intervals ([`clock`]), divide the
//! trace by a key or by windows ([`divide`]), evaluate, and find the lines of positions again. A command folds over what
//! a [`Run`] holds; it opens, scans and divides nothing itself.

pub(crate) mod beside;
pub(crate) mod clock;
pub(crate) mod columns;
pub(crate) mod divide;
pub(crate) mod faults;
pub(crate) mod hints;
pub(crate) mod open;
pub(crate) mod order;
pub(crate) mod repair;
pub(crate) mod streams;
pub(crate) mod timing;
pub(crate) mod vacuous;
pub(crate) mod windows;

use crate::plan::{self, Chosen, Who};
use crate::{Error, Session, Specification};
use columns::{Loaded, Need, Taker};
use divide::{Divided, Labels, Order};
use std::borrow::Cow;
use std::collections::HashMap;
use tw_core::{Bits, Position};
use tw_ir::{Division, NodeId, Path, SlotId};
use tw_monitor::{Answer, EvaluateOptions};
use tw_trace::{Located, Stamp};

/// What a command wants of a run, beside the trace as the engine reads it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked<'a> {
    /// Timestamps, whether or not the program measures time.
    pub times: bool,
    /// The column (or nested path) whose values are read as keys.
    pub by: Option<&'a str>,
    /// Slots to be kept as they are read.
    pub kept: &'a [SlotId],
    /// Whether a trace without positions has an answer, too.
    pub nothing: bool,
}

/// A trace that was read for a program, divided, and the engine that runs on it.
pub(crate) struct Run<'p> {
    pub session: &'p Session,
    pub spec: &'p Specification,
    pub loaded: Loaded,
    pub chosen: Chosen<'p>,
    /// How to evaluate, now that it is known whether the trace has timestamps.
    pub options: EvaluateOptions,
    pub order: Order,
    pub labels: Labels,
}

impl<'p> Run<'p> {
    /// The whole way up to evaluation, divided by the column that was asked for.
    pub fn new(
        session: &'p Session,
        spec: &'p Specification,
        files: &[String],
        who: Who<'_>,
        asked: Asked<'_>,
    ) -> Result<Self, Error> {
        Self::fed(session, spec, files, who, asked, None)
    }

    /// The same, with somebody who takes the columns that would be kept.
    pub fn fed(
        session: &'p Session,
        spec: &'p Specification,
        files: &[String],
        who: Who<'_>,
        asked: Asked<'_>,
        taker: Option<&mut dyn Taker>,
    ) -> Result<Self, Error> {
        let mut run = Self::open(session, spec, files, who, asked, (asked.by.is_some(), taker))?;
        if let Some(column) = asked.by {
            let division = Division { by: Some(Path::parse(column)), every: None };
            // The trace as it was read is not needed any more: what is gathered takes its place.
            let trace = std::mem::take(&mut run.loaded.trace);
            let divided = Divided::new(&division, None, &run.loaded, Cow::Owned(trace), &run.options)?;
            (run.order, run.labels) = (divided.order, divided.labels);
            run.loaded.trace = divided.trace.into_owned();
        }
        Ok(run)
    }

    /// The same, with the trace as it was read, for who divides it in several ways.
    pub fn read(
        session: &'p Session,
        spec: &'p Specification,
        files: &[String],
        who: Who<'_>,
        asked: Asked<'_>,
    ) -> Result<Self, Error> {
        Self::open(session, spec, files, who, asked, (false, None))
    }

    fn open(
        session: &'p Session,
        spec: &'p Specification,
        files: &[String],
        who: Who<'_>,
        asked: Asked<'_>,
        (divided, taker): (bool, Option<&mut dyn Taker>),
    ) -> Result<Self, Error> {
        let chosen = plan::choose(session, spec, &session.evaluate_options(), who)?;
        let (wanted, key) = (chosen.evaluator.wanted(), asked.by);
        let kept = asked.kept;
        let need = Need { wanted, times: asked.times, key, divided, kept, ..Need::default() };
        let loaded = columns::read(session, spec, files, need, chosen.evaluator.signals(), taker)?;
        if !asked.nothing {
            faults::refuse_empty(&loaded)?;
        }
        let (chosen, options) = clock::settle(session, spec, &loaded, chosen, who)?;
        Ok(Self { session, spec, loaded, chosen, options, order: Order::default(), labels: Labels::Whole })
    }

    /// What each property is worth. Where the engine's budget runs out, another answers, and a note says so.
    pub fn answers(&mut self, limit: usize) -> Result<Vec<Answer>, Error> {
        self.chosen.answers(self.spec, &self.options, &self.loaded.trace, limit)
    }

    /// The truth of formulas at every position, likewise.
    pub fn columns(&mut self, nodes: &[NodeId]) -> Result<Vec<Bits>, Error> {
        self.chosen.columns(self.spec, &self.options, &self.loaded.trace, nodes)
    }

    /// The timestamp of a position of the divided trace, where they were read.
    pub fn stamp(&self, position: Position) -> Option<Stamp> {
        let times = self.loaded.trace.times.as_ref()?;
        Some(Stamp { time: *times.get(position)?, style: self.loaded.summary.style? })
    }

    /// Where positions of the log are.
    pub fn locate(&self, positions: &[Position]) -> HashMap<Position, Located> {
        self.loaded.locate(positions)
    }

    /// What is to be said beside the answers: about the specification, the trace and the choice of engine.
    pub fn warnings(&mut self) -> Vec<tw_diag::Diagnostic> {
        let mut warnings = self.spec.warnings.clone();
        warnings.append(&mut self.loaded.warnings);
        warnings.append(&mut self.chosen.notes);
        warnings
    }
}
