//! Choosing engines for live traces.

use super::several::{Monitors, divide};
use super::{Who, choose, named, refusal_error, refused};
use crate::error::Setting;
use crate::run::clock::{counts_positions, refuse_units};
use crate::{Error, Session, Specification, engines};
use tw_diag::Diagnostic;
use tw_ir::{Clock, NodeId, Program, Root, RootKind, Semantics};
use tw_monitor::{Answers, Engine, EvaluateOptions, Telling, Unsupported};

/// What monitors tell beside verdicts.
#[derive(Clone, Copy)]
pub(crate) struct Tell {
    /// Those of programs without quantified variables.
    pub plain: Telling,
    /// Those of programs with some.
    pub quantified: Telling,
}

impl From<Telling> for Tell {
    fn from(telling: Telling) -> Self {
        Self { plain: telling, quantified: telling }
    }
}

impl Tell {
    pub(in crate::plan) fn of(self, program: &Program) -> Telling {
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let quantified = |id: NodeId| program.dag.node(id).is_first_order();
        match self.plain == self.quantified || !program.reachable(&roots).into_iter().any(quantified) {
            true => self.plain,
            false => self.quantified,
        }
    }
}

/// The engine for live traces: the named one, or the first that reads forward and accepts; of a specification of properties
/// and queries, each goes to one that gives its kind of answer. `note` is told which engines refused before it, and why.
pub(crate) fn choose_monitor(
    session: &Session,
    spec: &Specification,
    telling: impl Into<Tell>,
    note: &mut dyn FnMut(&str),
) -> Result<(&'static dyn Engine, Box<dyn tw_monitor::Monitor>), Error> {
    let tell: Tell = telling.into();
    let telling = tell.of(&spec.program);
    let options = session.evaluate_options();
    if options.clock == Clock::Dense {
        return Err(Error::refused_instead(
            format!("continuous time (`{}`) is for stored traces", Setting::Clock.to("dense")),
            format!("`tracewise check`, or {}", Setting::Clock.to("stamps")),
        ));
    }
    if options.clock == Clock::Index {
        refuse_units(spec, &options, &counts_positions())?;
    }
    if let Some(root) = spec.program.roots.iter().find(|root| !root.division.is_whole()) {
        return Err(refuse_division(spec, root));
    }
    let kind = spec.program.roots.first().map_or(Answers::Verdicts, answers);
    let mixed = spec.program.roots.iter().any(|root| answers(root) != kind);
    let name = session.evaluate.engine.as_str();
    if name != "auto" && !mixed {
        let engine = named(kind, name)?;
        return match engine.monitor(&spec.program, &live_options(kind, &options), telling) {
            Ok(monitor) => Ok((engine, monitor)),
            Err(refusal) => Err(refused(spec, engine.name(), refusal)),
        };
    }
    // A name is that of an engine for properties where there are both.
    let forced = if name == "auto" { None } else { Some(named(Answers::Verdicts, name)?) };
    let forward = |kind: Answers| {
        let fits = move |engine: &&'static dyn Engine| match forced {
            Some(forced) if kind == Answers::Verdicts => engine.name() == forced.name(),
            _ => engine.reads_forward(),
        };
        engines::giving(kind).filter(fits)
    };
    // The first refusal of an engine that reads forward is the informative one, as it is the fastest that might; but for
    // one that could, had it more budget.
    let mut first_refusal: Option<Unsupported> = None;
    let mut refusals: Vec<String> = Vec::new();
    if !mixed {
        for engine in forward(kind) {
            match engine.monitor(&spec.program, &live_options(kind, &options), telling) {
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
                    if first_refusal.as_ref().is_none_or(|first| refusal.exhausted && !first.exhausted) {
                        first_refusal = Some(refusal);
                    }
                }
            }
        }
    }
    let accepts = |alone: &Program| {
        let kind = answers(alone.roots.first()?);
        let options = live_options(kind, &options);
        forward(kind).find(|engine| engine.monitor(alone, &options, tell.of(alone)).is_ok())
    };
    if let Some(shares) = divide(&spec.program, accepts)
        && let Some(engine) = shares.last().map(|share| share.engine)
        && let Ok(monitors) = Monitors::new(shares, &options, tell)
    {
        return Ok((engine, Box::new(monitors)));
    }
    if first_refusal.is_none() {
        first_refusal = spec.program.roots.iter().find_map(|root| {
            let alone = Program { roots: vec![root.clone()], ..spec.program.clone() };
            accepts(&alone).is_none().then(|| {
                let (kind, options) = (answers(root), live_options(answers(root), &options));
                forward(kind).find_map(|engine| engine.monitor(&alone, &options, tell.of(&alone)).err())
            })?
        });
    }
    match first_refusal {
        Some(mut refusal) => {
            let stored = || "`tracewise check` runs it on a stored trace".to_string();
            if !refusal.exhausted
                && choose(session, spec, &EvaluateOptions::default(), Who::Any(kind)).is_ok()
            {
                refusal.help.get_or_insert_with(stored);
            }
            Err(refusal_error(spec, "no engine of this build can watch", refusal))
        }
        None => Err(Error::refused("this build has no engine that reads live events")),
    }
}

/// The engine for queries on a live trace, the first that reads forward and accepts.
pub(crate) fn choose_query_monitor(
    spec: &Specification,
    options: &EvaluateOptions,
) -> Result<(&'static str, Box<dyn tw_monitor::Monitor>), Error> {
    let mut refusal = None;
    for engine in engines::giving(Answers::Values).filter(|engine| engine.reads_forward()) {
        match engine.monitor(&spec.program, options, Telling::Verdicts) {
            Ok(monitor) => return Ok((engine.name(), monitor)),
            Err(found) => {
                refusal.get_or_insert((engine.name(), found));
            }
        }
    }
    Err(match refusal {
        Some((engine, refusal)) => refused(spec, engine, refusal),
        None => Error::refused("this build has no engine that watches queries"),
    })
}

/// A query that divides the trace has several values at each moment, which no monitor keeps apart.
pub(crate) fn refuse_division(spec: &Specification, root: &Root) -> Error {
    let diagnostic = Diagnostic::error(
        "engine-refuses",
        "a query that divides the trace (`by`, `every`) cannot be watched",
    )
    .at(root.span, "this query")
    .help("`tracewise query` computes it on a stored trace");
    Error::unsupported(spec, diagnostic)
}

/// What an engine for a root answers with.
pub(crate) fn answers(root: &Root) -> Answers {
    match root.kind {
        RootKind::Property => Answers::Verdicts,
        RootKind::Query => Answers::Values,
    }
}

/// The options for roots of one kind on a live trace. A value is that of the positions that were read, whatever comes after
/// them, so that queries know no third value.
pub(crate) fn live_options(kind: Answers, options: &EvaluateOptions) -> EvaluateOptions {
    match (kind, options.semantics) {
        (Answers::Values, Semantics::Ltl3) => {
            EvaluateOptions { semantics: Semantics::Finite, ..options.clone() }
        }
        _ => options.clone(),
    }
}
