//! Choosing engines for a program: for a stored trace or a live one, for verdicts or for values.

mod reasons;
mod several;
mod stored;

use crate::registry::{engine, engines};
use crate::run::clock::refuse_units;
use crate::{Error, Session, Specification};
pub(crate) use reasons::explain;
pub use reasons::{EngineChoice, RootReport, SpecReport};
use several::{Monitors, divide};
pub(crate) use stored::{Chosen, Who, choose, explainer, restrict};
use tw_diag::Diagnostic;
use tw_ir::{Clock, Program};
use tw_monitor::{Answers, Engine, EvaluateOptions, Telling, Unsupported};

/// The engine for a live trace: the named one, or the first that reads forward and accepts. `note` is told which engines
/// refused before it, and why.
pub(crate) fn choose_monitor(
    session: &Session,
    spec: &Specification,
    telling: Telling,
    note: &mut dyn FnMut(&str),
) -> Result<(&'static dyn Engine, Box<dyn tw_monitor::Monitor>), Error> {
    let options = session.evaluate_options();
    if options.clock == Clock::Dense {
        let message =
            "continuous time (`--clock dense`) is for stored traces: `tracewise check`, or --clock stamps";
        return Err(Error::Usage(message.into()));
    }
    if options.clock == Clock::Index {
        refuse_units(spec, &options, "`--clock index` counts positions")?;
    }
    if session.engine != "auto" {
        let engine = named(Answers::Verdicts, &session.engine)?;
        return match engine.monitor(&spec.program, &options, telling) {
            Ok(monitor) => Ok((engine, monitor)),
            Err(refusal) => Err(refused(spec, engine.name(), refusal)),
        };
    }
    // The first refusal of an engine that reads forward is the informative one: it is the fastest that might.
    let mut first_refusal = None;
    let mut refusals: Vec<String> = Vec::new();
    for engine in engines(Answers::Verdicts).filter(|engine| engine.reads_forward()) {
        match engine.monitor(&spec.program, &options, telling) {
            Ok(monitor) => {
                if !refusals.is_empty() {
                    note(&format!("{}; `{}` runs instead", refusals.join("; "), engine.name()));
                }
                return Ok((engine, monitor));
            }
            Err(refusal) => {
                // That another engine is made for a construct needs no mention; that one gave up does.
                if refusal.exhausted {
                    refusals.push(format!("engine `{}` cannot run {}", engine.name(), refusal.what));
                }
                first_refusal.get_or_insert(refusal);
            }
        }
    }
    let forward = || engines(Answers::Verdicts).filter(|engine| engine.reads_forward());
    let accepts = |alone: &Program| forward().find(|engine| engine.monitor(alone, &options, telling).is_ok());
    if let Some(shares) = divide(&spec.program, accepts)
        && let Some(engine) = shares.last().map(|share| share.engine)
        && let Ok(monitors) = Monitors::new(shares, &options, telling)
    {
        return Ok((engine, Box::new(monitors)));
    }
    match first_refusal {
        Some(mut refusal) => {
            let stored = || "`tracewise check` runs it on a stored trace".to_string();
            if !refusal.exhausted
                && choose(session, spec, &EvaluateOptions::default(), Who::Any(Answers::Verdicts)).is_ok()
            {
                refusal.help.get_or_insert_with(stored);
            }
            Err(refusal_error(spec, "no engine of this build can watch", refusal))
        }
        None => Err(Error::Usage("this build has no engine that reads live events".into())),
    }
}

fn named(answers: Answers, name: &str) -> Result<&'static dyn Engine, Error> {
    if let Some(engine) = engine(answers, name) {
        return Ok(engine);
    }
    let known: Vec<&str> = engines(answers).map(|engine| engine.name()).collect();
    let known_list = known.join(", ");
    if answers == Answers::Values && engine(Answers::Verdicts, name).is_some() {
        return Err(Error::Usage(format!(
            "engine `{name}` gives verdicts, not values (engines for queries: auto, {known_list})"
        )));
    }
    let near = tw_core::suggest(name, known.iter().copied())
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Error::Usage(format!("unknown engine `{name}`{near} (engines: auto, {known_list})")))
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
    Error::Unsupported { diagnostic, sources: Box::new(spec.sources.clone()) }
}
