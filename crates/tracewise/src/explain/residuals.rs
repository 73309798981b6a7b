//! The formula after each event: what the rest of a trace owes.

use crate::check::{self, LogLine};
use crate::run::columns::{Need, read};
use crate::run::faults::refuse_empty;
use crate::{Error, Session, Specification, plan};

/// The formula after an event.
#[derive(Clone, Debug)]
pub struct ResidualStep {
    /// The position.
    pub position: usize,
    /// Its line in the log.
    pub line: Option<LogLine>,
    /// What the rest of the trace owes, in the user's words.
    pub owed: String,
    /// The same as an exclusive or of conjunctions.
    pub canonical: String,
    /// The verdict that no continuation changes.
    pub settled: Option<bool>,
    /// The verdict should the trace end here.
    pub at_end: bool,
}

/// How one property was rewritten along a trace.
#[derive(Clone, Debug)]
pub struct ResidualReport {
    /// The trace as the user named it.
    pub trace: String,
    /// The property.
    pub name: String,
    /// Its formula before the first event.
    pub formula: String,
    /// Up to the event that settles it, or as many as are shown.
    pub steps: Vec<ResidualStep>,
    /// Positions of the trace.
    pub positions: usize,
}

/// Events after which the formula is shown; the rest is left to the verdict.
const SHOWN: usize = 10_000;

/// Every property, rewritten event by event.
pub(crate) fn rewriting(
    session: &Session,
    spec: &Specification,
    files: &[String],
) -> Result<Vec<ResidualReport>, Error> {
    let spec = &*spec.properties()?;
    let loaded = read(session, spec, files, Need::default(), None, None)?;
    refuse_empty(&loaded)?;
    let options = session.evaluate_options();
    let mut reports = Vec::with_capacity(spec.program.roots.len());
    for root in &spec.program.roots {
        let steps = tw_engine_rewrite::residuals(&spec.program, root.node, &loaded.trace, &options, SHOWN)
            .map_err(|refusal| plan::refused(spec, "rewrite", refusal))?;
        let positions: Vec<usize> = steps.iter().map(|step| step.position).collect();
        let lines = loaded.locate(&positions);
        let step = |step: tw_engine_rewrite::Residual| ResidualStep {
            position: step.position,
            line: lines.get(&step.position).and_then(check::log_line),
            owed: step.owed,
            canonical: step.canonical,
            settled: step.settled,
            at_end: step.at_end,
        };
        reports.push(ResidualReport {
            trace: loaded.name().to_string(),
            name: root.name.clone(),
            formula: spec.words(root.node),
            steps: steps.into_iter().map(step).collect(),
            positions: loaded.trace.len,
        });
    }
    Ok(reports)
}
