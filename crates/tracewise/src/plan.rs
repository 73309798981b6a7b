//! Choosing an engine, and saying why.

use crate::{
    AutomatonSizes, ENGINES, Error, QUERY_ENGINES, Session, Specification, check, engine, query, show,
};
use tw_core::Bits;
use tw_diag::Diagnostic;
use tw_ir::{Clock, Fragment, IntervalError, NodeId, Root, RootKind};
use tw_monitor::{Answer, Engine, EvaluateOptions, Evaluator, Trace, Unsupported};

/// An engine and the reason for it.
#[derive(Clone, Debug)]
pub struct EngineChoice {
    /// Engine name; `None` when no engine accepts.
    pub engine: Option<&'static str>,
    /// Why this one; or what the engines refuse.
    pub reason: String,
}

/// What `explain` says of a specification.
#[derive(Clone, Debug)]
pub struct SpecReport {
    /// One per property and query.
    pub roots: Vec<RootReport>,
    /// Distinct nodes of the whole specification.
    pub nodes: usize,
    /// Predicates evaluated once per position.
    pub atoms: usize,
    /// What is read from the trace, by name.
    pub reads: Vec<String>,
    /// The engine for the whole specification.
    pub choice: EngineChoice,
    /// Pattern-library calls used: call name and meaning.
    pub patterns: Vec<(String, String)>,
}

/// What `explain` says of one property or query.
#[derive(Clone, Debug)]
pub struct RootReport {
    /// Name.
    pub name: String,
    /// Title.
    pub title: Option<String>,
    /// Whether it is a query.
    pub query: bool,
    /// The formula, macros expanded, canonical.
    pub formula: String,
    /// Its fragment.
    pub fragment: Fragment,
    /// Distinct nodes.
    pub nodes: usize,
    /// The engine for it alone.
    pub choice: EngineChoice,
    /// Why a query cannot be watched live, if it cannot.
    pub not_live: Option<String>,
    /// How large its automata are.
    pub automata: AutomatonSizes,
}

/// An engine ready to run a program, and what is to be said about the choice.
pub(crate) struct Chosen<'p> {
    pub engine: &'static dyn Engine,
    pub evaluator: Box<dyn Evaluator + 'p>,
    /// That another engine had to step in.
    pub notes: Vec<Diagnostic>,
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
    let others = ENGINES.iter().filter(|engine| engine.name() != exhausted);
    let (engine, evaluator) =
        others.filter_map(|engine| Some((*engine, engine.plan(&spec.program, options).ok()?))).next()?;
    let message = format!("engine `{exhausted}` gave up ({}); `{}` ran instead", refusal.what, engine.name());
    Some(Chosen { engine, evaluator, notes: vec![Diagnostic::warning("engine-gave-up", message)] })
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
    let chosen = |engine, evaluator| Chosen { engine, evaluator, notes: Vec::new() };
    if session.engine != "auto" {
        let engine = named(&session.engine)?;
        return match engine.plan(&spec.program, options) {
            Ok(evaluator) => Ok(chosen(engine, evaluator)),
            Err(refusal) => stand_in(spec, options, engine.name(), &refusal)
                .ok_or_else(|| refused(spec, engine.name(), refusal)),
        };
    }
    let mut refusals = Vec::new();
    for engine in ENGINES {
        match engine.plan(&spec.program, options) {
            Ok(evaluator) => return Ok(chosen(*engine, evaluator)),
            Err(refusal) => refusals.push(refusal),
        }
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

/// The engine for a live trace: the named one, or the first that reads forward and accepts. `note` is told which engines
/// refused before it, and why.
pub(crate) fn choose_monitor(
    session: &Session,
    spec: &Specification,
    each_position: bool,
    note: &mut dyn FnMut(&str),
) -> Result<(&'static dyn Engine, Box<dyn tw_monitor::Monitor>), Error> {
    let options = session.evaluate_options();
    if session.engine != "auto" {
        let engine = named(&session.engine)?;
        return match engine.monitor(&spec.program, &options, each_position) {
            Ok(monitor) => Ok((engine, monitor)),
            Err(refusal) => Err(refused(spec, engine.name(), refusal)),
        };
    }
    // The first refusal of an engine that reads forward is the informative one: it is the fastest that might.
    let mut first_refusal = None;
    let mut refusals: Vec<String> = Vec::new();
    for engine in ENGINES.iter().filter(|engine| engine.reads_forward()) {
        match engine.monitor(&spec.program, &options, each_position) {
            Ok(monitor) => {
                if !refusals.is_empty() {
                    note(&format!("{}; `{}` runs instead", refusals.join("; "), engine.name()));
                }
                return Ok((*engine, monitor));
            }
            Err(refusal) => {
                refusals.push(format!("engine `{}` cannot run {}", engine.name(), refusal.what));
                first_refusal.get_or_insert(refusal);
            }
        }
    }
    match first_refusal {
        Some(mut refusal) => {
            let stored = || "`tracewise check` runs it on a stored trace".to_string();
            if !refusal.exhausted && choose(session, spec, &EvaluateOptions::default()).is_ok() {
                refusal.help.get_or_insert_with(stored);
            }
            Err(refusal_error(spec, "no engine of this build can watch", refusal))
        }
        None => Err(Error::Usage("this build has no engine that reads live events".into())),
    }
}

fn named(name: &str) -> Result<&'static dyn Engine, Error> {
    engine(name).ok_or_else(|| {
        let known: Vec<&str> = ENGINES.iter().map(|engine| engine.name()).collect();
        let near = tw_core::suggest(name, known.iter().copied())
            .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Error::Usage(format!("unknown engine `{name}`{near} (engines: auto, {})", known.join(", ")))
    })
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

pub(crate) fn explain(session: &Session, spec: &Specification) -> Result<SpecReport, Error> {
    let options = session.evaluate_options();
    let mut alone = spec.clone();
    let roots = spec
        .program
        .roots
        .iter()
        .map(|root| {
            alone.program.roots = vec![root.clone()];
            let fragment = tw_ir::fragment(&spec.program, root.node);
            RootReport {
                name: root.name.clone(),
                title: root.title.clone(),
                query: root.kind == RootKind::Query,
                formula: tw_ir::display(&spec.program, root.node),
                nodes: fragment.nodes,
                choice: match root.kind {
                    RootKind::Query => query_choice(session, &alone, &options),
                    RootKind::Property => choice(session, &alone, &options, &fragment),
                },
                not_live: not_live(&alone, root, &options),
                automata: show::sizes(session, spec, root),
                fragment,
            }
        })
        .collect();
    let whole = spec.program.roots.iter().fold(Fragment::default(), |whole, root| {
        let one = tw_ir::fragment(&spec.program, root.node);
        Fragment {
            future: whole.future | one.future,
            past: whole.past | one.past,
            metric: whole.metric | one.metric,
            first_order: whole.first_order | one.first_order,
            experiments: whole.experiments | one.experiments,
            temporal_depth: whole.temporal_depth.max(one.temporal_depth),
            nodes: whole.nodes + one.nodes,
        }
    });
    let mut reads: Vec<String> =
        spec.program.slots.iter().map(|slot| tw_trace::describe(&slot.what)).collect();
    reads.sort();
    reads.dedup();
    Ok(SpecReport {
        roots,
        nodes: spec.program.dag.len(),
        atoms: spec.program.atoms().len(),
        reads,
        choice: whole_choice(session, spec, &options, &whole),
        patterns: spec.patterns_used(),
    })
}

/// The engine for the whole specification: of its properties or, if it has none, of its queries.
fn whole_choice(
    session: &Session,
    spec: &Specification,
    options: &EvaluateOptions,
    fragment: &Fragment,
) -> EngineChoice {
    match check::properties_of(spec) {
        Ok(properties) => choice(session, &properties, options, fragment),
        Err(_) => query_choice(session, spec, options),
    }
}

fn query_choice(session: &Session, spec: &Specification, options: &EvaluateOptions) -> EngineChoice {
    match query::choose(session, spec, options) {
        Ok((engine, _)) => {
            let reason = match session.engine.as_str() {
                "auto" => format!("the fastest engine for these queries: {}", engine.about()),
                _ => "you named it".to_string(),
            };
            EngineChoice { engine: Some(engine.name()), reason }
        }
        Err(Error::Unsupported { diagnostic, .. }) => {
            EngineChoice { engine: None, reason: diagnostic.message }
        }
        Err(other) => EngineChoice { engine: None, reason: other.to_string() },
    }
}

/// Why no engine for queries can read this one forwards.
fn not_live(spec: &Specification, root: &Root, options: &EvaluateOptions) -> Option<String> {
    if root.kind == RootKind::Property {
        return None;
    }
    if !root.division.is_whole() {
        return Some("it divides the trace (`by`, `every`)".into());
    }
    let mut refusals = QUERY_ENGINES
        .iter()
        .filter(|engine| engine.reads_forward())
        .map(|engine| engine.monitor(&spec.program, options).err());
    // One that accepts is enough.
    let first = refusals.next().unwrap_or_default()?;
    if refusals.any(|refusal| refusal.is_none()) { None } else { Some(first.what) }
}

fn choice(
    session: &Session,
    spec: &Specification,
    options: &EvaluateOptions,
    fragment: &Fragment,
) -> EngineChoice {
    match choose(session, spec, options) {
        Ok(Chosen { engine, .. }) => {
            let reason = if session.engine != "auto" {
                "you named it".to_string()
            } else {
                // Engines that refuse the same thing are named together.
                let mut refusals: Vec<(Vec<&str>, String)> = Vec::new();
                for other in ENGINES.iter().take_while(|other| other.name() != engine.name()) {
                    let Err(refusal) = other.plan(&spec.program, options) else { continue };
                    match refusals.iter_mut().find(|(_, what)| *what == refusal.what) {
                        Some((names, _)) => names.push(other.name()),
                        None => refusals.push((vec![other.name()], refusal.what)),
                    }
                }
                let refusals: Vec<String> = refusals
                    .into_iter()
                    .map(|(names, what)| {
                        let verb = if names.len() == 1 { "refuses" } else { "refuse" };
                        format!("{} {verb} {what}", names.join(", "))
                    })
                    .collect();
                let suffix =
                    if refusals.is_empty() { String::new() } else { format!("; {}", refusals.join("; ")) };
                format!("the fastest engine for {}: {}{suffix}", fragment.name(), engine.about())
            };
            EngineChoice { engine: Some(engine.name()), reason }
        }
        Err(Error::Unsupported { diagnostic, .. }) => {
            EngineChoice { engine: None, reason: diagnostic.message }
        }
        Err(other) => EngineChoice { engine: None, reason: other.to_string() },
    }
}
