//! `eval`: the truth of a formula at every position.

use crate::error::Setting;
use crate::plan::Who;
use crate::run::{Asked, Run};
use crate::{Error, Session, Specification};
use tw_core::Bits;
use tw_diag::Diagnostic;
use tw_ir::Semantics;
use tw_monitor::Answers;

/// The truth of one formula at every position.
#[derive(Clone, Debug)]
pub struct EvalReport {
    /// The trace as the user named it.
    pub trace: String,
    /// Engine that ran.
    pub engine: &'static str,
    /// Truth per position.
    pub values: Bits,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
}

pub(crate) fn eval(session: &Session, spec: &Specification, files: &[String]) -> Result<EvalReport, Error> {
    if session.evaluate.semantics == Semantics::Ltl3 {
        return Err(Error::refused_instead(
            "eval gives two truth values",
            format!("use {} or repeat-last", Setting::Semantics.to("finite")),
        ));
    }
    let mut run = Run::new(session, spec, files, Who::Any(Answers::Verdicts), Asked::default())?;
    let Some(root) = spec.program.roots.first() else {
        return Err(Error::refused("there is no formula to evaluate"));
    };
    let values = run.columns(&[root.node])?.pop().unwrap_or_default();
    let warnings = run.warnings();
    Ok(EvalReport { trace: run.loaded.name().to_string(), engine: run.chosen.engine, values, warnings })
}
