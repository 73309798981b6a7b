//! Choosing an engine for a program, a stored trace or a live one.

mod monitor;
mod reasons;
mod several;

use crate::{Error, Session, Specification, engine, engines};
pub(crate) use monitor::{answers, choose_monitor, live_options, refuse_division, unknown};
pub(crate) use reasons::explain;
pub use reasons::{EngineChoice, RootReport, SpecReport};
use several::{Evaluators, divide};
use tw_core::Bits;
use tw_diag::Diagnostic;
use tw_ir::{Clock, IntervalError, NodeId, Program};
use tw_monitor::{Answer, Answers, Engine, EvaluateOptions, Evaluator, Trace, Unsupported};

/// An engine ready to run a program, and what is to be said about the choice.
pub(crate) struct Chosen<'p> {
    pub engine: &'static dyn Engine,
    pub evaluator: Box<dyn Evaluator + 'p>,
    /// That another engine had to step in.
    pub notes: Vec<Diagnostic>,
    /// Whether other engines run some of the properties.
    pub divided: bool,
}

impl<'p> Chosen<'p> {
    /// What each root is worth. Where the engine's budget runs out, another answers, and a note says so.
    pub(crate) fn evaluate(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        trace: &Trace,
        limit: usize,
    ) -> Result<Vec<Answer>, Error> {
        self.run(spec, options, |evaluator| evaluator.evaluate(trace, limit))
    }

    /// The truth of a formula at every position, likewise.
    pub(crate) fn column(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        trace: &Trace,
        node: NodeId,
    ) -> Result<Bits, Error> {
        self.run(spec, options, |evaluator| Ok(evaluator.columns(trace, &[node])?.pop().unwrap_or_default()))
    }

    /// The truth of several formulas at every position, likewise.
    pub(crate) fn columns(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        trace: &Trace,
        nodes: &[NodeId],
    ) -> Result<Vec<Bits>, Error> {
        self.run(spec, options, |evaluator| evaluator.columns(trace, nodes))
    }

    fn run<T>(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        run: impl Fn(&mut dyn Evaluator) -> Result<T, Unsupported>,
    ) -> Result<T, Error> {
        let refusal = match run(self.evaluator.as_mut()) {
            Ok(answer) => return Ok(answer),
            Err(refusal) => refusal,
        };
        let Some(other) = stand_in(spec, options, self.engine.name(), &refusal) else {
            return Err(refused(spec, self.engine.name(), refusal));
        };
        *self = other;
        run(self.evaluator.as_mut()).map_err(|refusal| refused(spec, self.engine.name(), refusal))
    }
}

/// Another engine for one whose budget ran out.
fn stand_in<'p>(
    spec: &'p Specification,
    options: &EvaluateOptions,
    exhausted: &str,
    refusal: &Unsupported,
) -> Option<Chosen<'p>> {
    if !refusal.exhausted {
        return None;
    }
    let others = engines(Answers::Verdicts).filter(|engine| engine.name() != exhausted);
    let (engine, evaluator) =
        others.filter_map(|engine| Some((engine, engine.plan(&spec.program, options).ok()?))).next()?;
    let message = format!("engine `{exhausted}` gave up ({}); `{}` ran instead", refusal.what, engine.name());
    let notes = vec![Diagnostic::warning("engine-gave-up", message)];
    Some(Chosen { engine, evaluator, notes, divided: false })
}

/// The engine for the session's program: the named one, or the first that accepts.
pub(crate) fn choose<'p>(
    session: &Session,
    spec: &'p Specification,
    options: &EvaluateOptions,
) -> Result<Chosen<'p>, Error> {
    if options.clock == Clock::Index {
        refuse_units(spec, options, "`--clock index` counts positions")?;
    }
    refuse_empty(spec, options)?;
    let chosen = |engine, evaluator| Chosen { engine, evaluator, notes: Vec::new(), divided: false };
    // Continuous time has one engine, whose reasons are the informative ones.
    let name = match (session.engine.as_str(), options.clock) {
        ("auto", Clock::Dense) => "dense",
        (name, _) => name,
    };
    if name != "auto" {
        let engine = named(name)?;
        return match engine.plan(&spec.program, options) {
            Ok(evaluator) => Ok(chosen(engine, evaluator)),
            Err(refusal) => stand_in(spec, options, engine.name(), &refusal)
                .ok_or_else(|| refused(spec, engine.name(), refusal)),
        };
    }
    let mut refusals = Vec::new();
    for engine in engines(Answers::Verdicts) {
        match engine.plan(&spec.program, options) {
            Ok(evaluator) => return Ok(chosen(engine, evaluator)),
            Err(refusal) => refusals.push(refusal),
        }
    }
    let accepts =
        |alone: &Program| engines(Answers::Verdicts).find(|engine| engine.plan(alone, options).is_ok());
    if let Some(shares) = divide(&spec.program, accepts)
        && let Some(engine) = shares.last().map(|share| share.engine)
        && let Ok(evaluators) = Evaluators::new(shares, options)
    {
        return Ok(Chosen { engine, evaluator: Box::new(evaluators), notes: Vec::new(), divided: true });
    }
    // The last engine is the reference, which refuses least: its reason is the informative one, unless it refuses the
    // semantics altogether and another engine got as far as a subformula.
    let last = refusals.pop();
    let informative = match &last {
        Some(refusal) if refusal.node.is_none() => refusals.into_iter().find(|other| other.node.is_some()),
        _ => None,
    };
    match informative.or(last) {
        Some(refusal) => Err(refusal_error(spec, "no engine of this build can run", refusal)),
        None => Err(Error::Usage("this build has no engines".into())),
    }
}

/// What explains verdicts: the fastest engine for the columns of subformulas, under the two-valued semantics.
pub(crate) fn explainer<'p>(
    session: &Session,
    spec: &'p Specification,
    options: &EvaluateOptions,
) -> Option<Box<dyn Evaluator + 'p>> {
    let session = session.clone().engine("auto");
    choose(&session, spec, options).ok().map(|chosen| chosen.evaluator)
}

fn named(name: &str) -> Result<&'static dyn Engine, Error> {
    engine(name).ok_or_else(|| unknown(name, Answers::Verdicts))
}

/// Intervals that cannot count positions are the specification's fault, not an engine's; `why` says why they must.
pub(crate) fn refuse_units(spec: &Specification, options: &EvaluateOptions, why: &str) -> Result<(), Error> {
    let roots: Vec<NodeId> = spec.program.roots.iter().map(|root| root.node).collect();
    for id in spec.program.reachable(&roots) {
        let Some(interval) = spec.program.dag.node(id).interval() else { continue };
        let (what, help) = match interval.ticks(Clock::Index, options.unit) {
            Err(IntervalError::UnitWithoutTime) => (
                "has a unit of time",
                "leave the unit out to count positions, or name the column of timestamps with `--time COL`",
            ),
            Err(IntervalError::TooFine) => ("has a fraction of a position", "write whole numbers"),
            _ => continue,
        };
        let mut diagnostic = Diagnostic::error("bad-interval", format!("this interval {what}, but {why}"));
        match spec.span(id) {
            Some(span) => diagnostic = diagnostic.at(span, "on this operator"),
            None => diagnostic.message.push_str(&format!(" (in `{}`)", spec.words(id))),
        }
        let sources = Box::new(spec.sources.clone());
        return Err(Error::Unsupported { diagnostic: diagnostic.help(help), sources });
    }
    Ok(())
}

/// Intervals between neighbouring ticks hold no distance between timestamps or positions; in continuous time they hold
/// some, so only who knows the clock can tell.
fn refuse_empty(spec: &Specification, options: &EvaluateOptions) -> Result<(), Error> {
    let ticks = match options.clock {
        Clock::Stamps => "nanoseconds",
        Clock::Index => "positions",
        Clock::Dense => return Ok(()),
    };
    let roots: Vec<NodeId> = spec.program.roots.iter().map(|root| root.node).collect();
    for id in spec.program.reachable(&roots) {
        let Some(interval) = spec.program.dag.node(id).interval() else { continue };
        if interval.ticks(options.clock, options.unit) != Err(IntervalError::Empty) {
            continue;
        }
        let message = format!("the interval `{interval}` is empty: no whole number of {ticks} lies inside");
        let mut diagnostic = Diagnostic::error("empty-interval", message);
        if let Some(span) = spec.span(id) {
            diagnostic = diagnostic.at(span, "on this operator");
        }
        let help =
            "close an end with `[` or `]`; in continuous time (`--clock dense`) there are instants inside";
        return Err(Error::Unsupported {
            diagnostic: diagnostic.help(help),
            sources: Box::new(spec.sources.clone()),
        });
    }
    Ok(())
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
