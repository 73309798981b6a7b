//! `eval`: the truth of a formula at every position.

use crate::load::load;
use crate::{Error, EvalReport, Session, Specification, check, plan};

pub(crate) fn eval(session: &Session, spec: &Specification, files: &[String]) -> Result<EvalReport, Error> {
    let (engine, evaluator) = plan::choose(session, spec, &session.evaluate_options())?;
    let loaded = load(session, spec, files, evaluator.wanted(), false, None)?;
    check::refuse_empty(&loaded)?;
    let (engine, mut evaluator) = check::replan(session, spec, &loaded, engine, evaluator)?;
    let Some(root) = spec.program.roots.first() else {
        return Err(Error::Usage("there is no formula to evaluate".into()));
    };
    let values = evaluator
        .columns(&loaded.trace, &[root.node])
        .map_err(|refusal| plan::refused(spec, engine.name(), refusal))?
        .pop()
        .unwrap_or_default();
    let mut warnings = spec.warnings.clone();
    warnings.extend(loaded.warnings);
    Ok(EvalReport { trace: loaded.name, engine: engine.name(), values, warnings })
}
