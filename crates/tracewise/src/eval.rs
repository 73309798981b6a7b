//! `eval`: the truth of a formula at every position.

use crate::load::{Need, load};
use crate::{Error, EvalReport, Session, Specification, check, plan};
use tw_ir::Semantics;

pub(crate) fn eval(session: &Session, spec: &Specification, files: &[String]) -> Result<EvalReport, Error> {
    if session.semantics == Semantics::Ltl3 {
        return Err(Error::Usage(
            "eval gives two truth values: use --semantics finite or repeat-last".into(),
        ));
    }
    let chosen = plan::choose(session, spec, &session.evaluate_options())?;
    let loaded = load(session, spec, files, Need::of(chosen.evaluator.wanted()))?;
    check::refuse_empty(&loaded)?;
    let (mut chosen, options) = check::replan(session, spec, &loaded, chosen)?;
    let Some(root) = spec.program.roots.first() else {
        return Err(Error::Usage("there is no formula to evaluate".into()));
    };
    let values = chosen.column(spec, &options, &loaded.trace, root.node)?;
    let mut warnings = spec.warnings.clone();
    warnings.extend(loaded.warnings);
    warnings.extend(chosen.notes);
    Ok(EvalReport { trace: loaded.name, engine: chosen.engine.name(), values, warnings })
}
