//! Why an engine was chosen, and what else is known of a specification before it meets a trace: `explain`.

mod automata;
mod data;
mod latency;
mod residuals;

use crate::imprecise::{self, ClockLabels};
pub use crate::monitors::MonitorReport;
use crate::plan::{Chosen, Who, choose};
use crate::{Error, Session, Specification, engines, robust};
pub use automata::{AutomatonKind, AutomatonSizes};
pub(crate) use automata::{automaton, maude};
pub use data::{DataReport, SlicesReport};
pub(crate) use latency::horizon;
pub use latency::{LiveDelay, LiveReport};
pub(crate) use residuals::rewriting;
pub use residuals::{ResidualReport, ResidualStep};
use std::borrow::Cow;
pub use tw_automata::draw::Graph;
use tw_ir::{Clock, Division, Fragment, Node, Over, Requirement, Root, RootKind, What};
use tw_monitor::{Answers, EvaluateOptions, Telling};

/// What is told of a specification beside its fragments and engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplainOptions {
    /// What verdicts would guarantee when timestamps are off.
    pub clock_error: bool,
}

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
    /// One per monitor.
    pub monitors: Vec<MonitorReport>,
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
    /// What is required of its value, and of which parts of the trace, if it is the query of a requirement: `< 3 by user`.
    pub required: Option<String>,
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
    /// How a property is watched live, and how long verdicts take.
    pub live: Option<LiveReport>,
    /// How large its automata are.
    pub automata: AutomatonSizes,
    /// How far its robustness looks ahead and back, if it compares numbers.
    pub extent: Option<String>,
    /// What it rests on, if it has quantifiers.
    pub data: Option<DataReport>,
    /// How a log is sliced for it, if it is a property.
    pub slices: Option<SlicesReport>,
    /// If asked for, what a verdict would guarantee when clocks err.
    pub labels: Option<ClockLabels>,
}

pub(crate) fn explain(
    session: &Session,
    spec: &Specification,
    asked: ExplainOptions,
) -> Result<SpecReport, Error> {
    let options = session.evaluate_options();
    // Requirements are queries, too: the last ones.
    let (queries, requirements) = (spec.program.roots.len(), &spec.program.requirements);
    let limits: Vec<String> = requirements.iter().map(|own| limit(spec, own)).collect();
    let spec = &match spec.program.requirements.is_empty() {
        true => Cow::Borrowed(spec),
        false => Cow::Owned(spec.with_required(spec.program.roots.clone())),
    };
    let mut alone = Specification::clone(spec);
    let roots = spec
        .program
        .roots
        .iter()
        .enumerate()
        .map(|(number, root)| {
            alone.program.roots = vec![root.clone()];
            let required = number.checked_sub(queries).map(|number| limits[number].clone());
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
                not_live: not_live(&alone, (root, required.is_some()), &options),
                required,
                live: (root.kind == RootKind::Property).then(|| latency::live(session, &alone, root)),
                extent: (root.kind == RootKind::Property)
                    .then(|| robust::extent(session, &alone, root))
                    .flatten(),
                automata: automata::sizes(session, spec, root),
                data: data::data(&alone.program, root, &options),
                slices: (root.kind == RootKind::Property && options.clock != Clock::Dense)
                    .then(|| data::slices(&alone, root, &options)),
                labels: asked.clock_error.then(|| imprecise::labels(spec, root)),
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
        monitors: crate::monitors::explain(spec)?,
        nodes: spec.program.dag.len(),
        atoms: spec.program.atoms().len(),
        reads,
        choice: whole_choice(session, spec, &options, &whole),
        patterns: spec.patterns_used(),
    })
}

/// Which engine would run the property or query of this name, and why.
pub(crate) fn engine_of(session: &Session, spec: &Specification, name: &str) -> Option<EngineChoice> {
    let options = session.evaluate_options();
    let root = spec.program.roots.iter().find(|root| root.name == name)?;
    let alone = spec.with_roots(vec![root.clone()]);
    Some(match root.kind {
        RootKind::Query => query_choice(session, &alone, &options),
        RootKind::Property => choice(session, &alone, &options, &tw_ir::fragment(&spec.program, root.node)),
    })
}

/// The engine for the whole specification: of its properties or, if it has none, of its queries.
fn whole_choice(
    session: &Session,
    spec: &Specification,
    options: &EvaluateOptions,
    fragment: &Fragment,
) -> EngineChoice {
    match spec.properties() {
        Ok(properties) => choice(session, &properties, options, fragment),
        Err(_) => query_choice(session, spec, options),
    }
}

fn query_choice(session: &Session, spec: &Specification, options: &EvaluateOptions) -> EngineChoice {
    told(choose(session, spec, options, Who::Any(Answers::Values)), |chosen| {
        match session.evaluate.engine.as_str() {
            "auto" => format!("the fastest engine for these queries: {}", chosen.about),
            _ => named(chosen),
        }
    })
}

/// Why an engine runs that was asked for.
fn named(chosen: &Chosen<'_>) -> String {
    match chosen.published {
        Some(paper) => format!(
            "you named it; the algorithm of \u{201c}{paper}\u{201d}, kept as published, to be compared with"
        ),
        None => "you named it".into(),
    }
}

/// A choice in words, or the reason why there is none.
fn told(chosen: Result<Chosen<'_>, Error>, reason: impl Fn(&Chosen<'_>) -> String) -> EngineChoice {
    match chosen {
        Ok(chosen) => EngineChoice { engine: Some(chosen.engine), reason: reason(&chosen) },
        Err(Error::Unsupported { diagnostic, .. }) => {
            EngineChoice { engine: None, reason: diagnostic.message }
        }
        Err(other) => EngineChoice { engine: None, reason: other.to_string() },
    }
}

/// The windows that a property or query reads, and how far back each looks.
pub(crate) fn windows(spec: &Specification, root: &Root) -> Vec<(String, String)> {
    let program = &spec.program;
    let mut found = Vec::new();
    for id in program.reachable(&[root.node]) {
        let (Node::Slot(slot) | Node::Truth(slot)) = program.dag.node(id) else { continue };
        let What::Window(window) = &program.slots[slot as usize].what else { continue };
        let back = match window.over {
            Over::Positions(1) => "1 position".to_string(),
            Over::Positions(count) => format!("{count} positions"),
            Over::Time(length) => length.to_string(),
        };
        found.push((window.text.clone(), back));
    }
    found
}

/// What a requirement asks of its query, and of which parts of the trace.
fn limit(spec: &Specification, requirement: &Requirement) -> String {
    let Division { by, every } = &requirement.root.division;
    let by = by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
    let every = every.as_ref().map_or(String::new(), |every| format!(" every {every}"));
    format!("{}{by}{every}", crate::require::relation(spec, requirement))
}

/// Why no engine for queries can read this one forwards. Parts of the trace are judged where they are required to have a value.
fn not_live(
    spec: &Specification,
    (root, required): (&Root, bool),
    options: &EvaluateOptions,
) -> Option<String> {
    if root.kind == RootKind::Property {
        return None;
    }
    if !root.division.is_whole() && !required {
        return Some("it divides the trace (`by`, `every`)".into());
    }
    let mut refusals = engines::giving(Answers::Values)
        .filter(|engine| engine.reads_forward())
        .map(|engine| engine.monitor(&spec.program, options, Telling::Verdicts).err());
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
    told(choose(session, spec, options, Who::Any(Answers::Verdicts)), |chosen| {
        if session.evaluate.engine != "auto" {
            return named(chosen);
        }
        // Engines that refuse the same thing are named together.
        let mut refusals: Vec<(Vec<&str>, String)> = Vec::new();
        for other in engines::giving(Answers::Verdicts).take_while(|other| other.name() != chosen.engine) {
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
        let suffix = if refusals.is_empty() { String::new() } else { format!("; {}", refusals.join("; ")) };
        format!("the fastest engine for {}: {}{suffix}", fragment.name(), chosen.about)
    })
}
