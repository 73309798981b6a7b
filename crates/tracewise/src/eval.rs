//! `eval`: the truth of a formula at every position.

use crate::plan::Who;
use crate::run::{Asked, Run};
use crate::{Error, EvalReport, Session, Specification};
use tw_ir::Semantics;
use tw_monitor::Answers;

pub(crate) fn eval(session: &Session, spec: &Specification, files: &[String]) -> Result<EvalReport, Error> {
    if session.semantics == Semantics::Ltl3 {
        return Err(Error::Usage(
            "eval gives two truth values: use --semantics finite or repeat-last".into(),
        ));
    }
    let mut run = Run::new(session, spec, files, Who::Any(Answers::Verdicts), Asked::default())?;
    let Some(root) = spec.program.roots.first() else {
        return Err(Error::Usage("there is no formula to evaluate".into()));
    };
    let values = run.columns(&[root.node])?.pop().unwrap_or_default();
    let warnings = run.warnings();
    Ok(EvalReport { trace: run.loaded.name().to_string(), engine: run.chosen.engine, values, warnings })
}
