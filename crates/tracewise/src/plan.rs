//! Choosing an engine, and saying why.

use crate::{ENGINES, Error, Session, Specification, engine};
use tw_diag::Diagnostic;
use tw_ir::{Clock, Fragment, IntervalError, NodeId, RootKind};
use tw_monitor::{Engine, Evaluator, Unsupported};

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
}

/// The engine for the session's program: the named one, or the first that accepts.
pub(crate) fn choose<'p>(
    session: &Session,
    spec: &'p Specification,
    options: &tw_monitor::EvaluateOptions,
) -> Result<(&'static dyn Engine, Box<dyn Evaluator + 'p>), Error> {
    if options.clock == Clock::Index {
        refuse_units(spec, options, "`--clock index` counts positions")?;
    }
    if session.engine != "auto" {
        let Some(engine) = engine(&session.engine) else {
            let known: Vec<&str> = ENGINES.iter().map(|engine| engine.name()).collect();
            let near = tw_core::suggest(&session.engine, known.iter().copied())
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(Error::Usage(format!(
                "unknown engine `{}`{near} (engines: auto, {})",
                session.engine,
                known.join(", ")
            )));
        };
        return match engine.plan(&spec.program, options) {
            Ok(plan) => Ok((engine, plan)),
            Err(refusal) => Err(refused(spec, engine.name(), refusal)),
        };
    }
    let mut last_refusal = None;
    for engine in ENGINES {
        match engine.plan(&spec.program, options) {
            Ok(plan) => return Ok((*engine, plan)),
            Err(refusal) => last_refusal = Some(refusal),
        }
    }
    // The last engine is the reference, which refuses least: its reason is the informative one.
    match last_refusal {
        Some(refusal) => Err(refusal_error(spec, "no engine of this build can run", refusal)),
        None => Err(Error::Usage("this build has no engines".into())),
    }
}

/// Intervals that cannot count positions are the specification's fault, not an engine's; `why` says why they must.
pub(crate) fn refuse_units(
    spec: &Specification,
    options: &tw_monitor::EvaluateOptions,
    why: &str,
) -> Result<(), Error> {
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

fn refusal_error(spec: &Specification, who: &str, refusal: Unsupported) -> Error {
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
                choice: choice(session, &alone, &options, &fragment),
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
        choice: choice(session, spec, &options, &whole),
        patterns: spec.patterns_used(),
    })
}

fn choice(
    session: &Session,
    spec: &Specification,
    options: &tw_monitor::EvaluateOptions,
    fragment: &Fragment,
) -> EngineChoice {
    match choose(session, spec, options) {
        Ok((engine, _)) => {
            let reason = if session.engine != "auto" {
                "you named it".to_string()
            } else {
                let refusals: Vec<String> = ENGINES
                    .iter()
                    .take_while(|other| other.name() != engine.name())
                    .filter_map(|other| {
                        let refusal = other.plan(&spec.program, options).err()?;
                        Some(format!("{} refuses {}", other.name(), refusal.what))
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
