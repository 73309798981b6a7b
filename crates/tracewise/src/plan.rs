//! Choosing engines for a program: for a stored trace or a live one, for verdicts or for values.

mod monitor;
mod several;
mod stored;

use crate::engines;
use crate::{Error, Specification};
pub(crate) use monitor::{
    Tell, answers, choose_monitor, choose_query_monitor, live_options, refuse_division,
};
pub(crate) use stored::{Chosen, Who, choose, explainer, restrict};
use tw_diag::Diagnostic;
use tw_monitor::{Answers, Engine, Unsupported};

/// The engine of that name which gives this kind of answer.
pub(crate) fn named(answers: Answers, name: &str) -> Result<&'static dyn Engine, Error> {
    if let Some(engine) = engines::named(answers, name) {
        return Ok(engine);
    }
    let known: Vec<&str> = engines::giving(answers).map(|engine| engine.name()).collect();
    let known_list = known.join(", ");
    if answers == Answers::Values && engines::named(Answers::Verdicts, name).is_some() {
        return Err(Error::refused(format!(
            "engine `{name}` gives verdicts, not values (engines for queries: auto, {known_list})"
        )));
    }
    let near = tw_core::suggest(name, known.iter().copied())
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Error::refused(format!("unknown engine `{name}`{near} (engines: auto, {known_list})")))
}

/// A refusal as an error that points at the subformula.
pub(crate) fn refused(spec: &Specification, engine: &str, refusal: Unsupported) -> Error {
    refusal_error(spec, &format!("engine `{engine}` cannot run"), refusal)
}

pub(crate) fn refusal_error(spec: &Specification, who: &str, refusal: Unsupported) -> Error {
    let mut diagnostic = Diagnostic::error("engine-refuses", format!("{who} {}", refusal.what));
    if let Some(node) = refusal.node {
        if let Some(span) = spec.span(node) {
            diagnostic = diagnostic.at(span, "this part");
        } else {
            diagnostic.message.push_str(&format!(" (in `{}`)", spec.words(node)));
        }
    }
    if let Some(help) = refusal.help {
        diagnostic = diagnostic.help(help);
    }
    let exhausted = refusal.exhausted;
    Error::Unsupported { diagnostic, sources: Box::new(spec.sources.clone()), exhausted }
}
