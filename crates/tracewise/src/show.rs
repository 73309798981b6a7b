//! What engines make of a formula: its automata, the rules that rewrite it, and the formula after each event.

use crate::run::columns::{Need, read};
use crate::run::faults::refuse_empty;
use crate::{Error, LogLine, Session, Specification, check, plan};
use tw_automata::algebraic;
use tw_automata::alternating::{Alternating, Options, Refused};
use tw_automata::draw::{Graph, alternating};
use tw_engine_rewrite::residuals;
use tw_ir::{Root, RootKind, Semantics};
use tw_monitor::Unsupported;

/// Which automaton to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomatonKind {
    /// One node per temporal operator and literal.
    Alternating,
    /// Minimal and deterministic; three-valued under `ltl3`.
    Deterministic,
}

impl AutomatonKind {
    /// Every kind with its name on the command line.
    pub const ALL: [(&'static str, AutomatonKind); 2] =
        [("alternating", AutomatonKind::Alternating), ("dfa", AutomatonKind::Deterministic)];
}

/// How large the automata of a formula are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutomatonSizes {
    /// Nodes of the alternating automaton.
    pub alternating: Option<usize>,
    /// The deterministic automaton in words: its number of states, or how it is built instead.
    pub deterministic: Option<String>,
}

/// The formula after an event.
#[derive(Clone, Debug)]
pub struct ResidualStep {
    /// The position.
    pub position: usize,
    /// Its line in the log.
    pub line: Option<LogLine>,
    /// What the rest of the trace owes, in the user's words.
    pub owed: String,
    /// The same as an exclusive or of conjunctions.
    pub canonical: String,
    /// The verdict that no continuation changes.
    pub settled: Option<bool>,
    /// The verdict should the trace end here.
    pub at_end: bool,
}

/// How one property was rewritten along a trace.
#[derive(Clone, Debug)]
pub struct ResidualReport {
    /// The trace as the user named it.
    pub trace: String,
    /// The property.
    pub name: String,
    /// Its formula before the first event.
    pub formula: String,
    /// Up to the event that settles it, or as many as are shown.
    pub steps: Vec<ResidualStep>,
    /// Positions of the trace.
    pub positions: usize,
}

/// Events after which the formula is shown; the rest is left to the verdict.
const SHOWN: usize = 10_000;

/// The automaton of one property, ready to be drawn.
pub(crate) fn automaton(
    session: &Session,
    spec: &Specification,
    root: &Root,
    kind: AutomatonKind,
) -> Result<Graph, Error> {
    let options = session.evaluate_options();
    match kind {
        AutomatonKind::Alternating if root.kind == RootKind::Query => {
            algebraic::graph(&spec.program, root.node, &root.name, Default::default()).map_err(|refused| {
                plan::refused(spec, "alternating", Unsupported::construct(refused.node, refused.what))
            })
        }
        AutomatonKind::Deterministic if root.kind == RootKind::Query => Err(Error::Usage(format!(
            "`{}` is a query: its automaton computes values and is alternating (--automaton alternating)",
            root.name
        ))),
        AutomatonKind::Alternating => {
            let (automaton, expr) = build_alternating(session, spec, root)?;
            Ok(alternating(&spec.program, &automaton, expr, &root.name))
        }
        AutomatonKind::Deterministic => {
            tw_engine_automaton::graph(&spec.program, root.node, &root.name, &options)
                .map_err(|refusal| plan::refused(spec, "automaton", refusal))
        }
    }
}

fn build_alternating(
    session: &Session,
    spec: &Specification,
    root: &Root,
) -> Result<(Alternating, tw_automata::alternating::ExprId), Error> {
    let repeat_last = session.semantics == Semantics::RepeatLast;
    let mut automaton = Alternating::new(Options { repeat_last, faithful: session.faithful });
    match automaton.formula(&spec.program, root.node, false) {
        Ok(expr) => Ok((automaton, expr)),
        Err(Refused { node, what }) => {
            Err(plan::refused(spec, "alternating", Unsupported::construct(node, what)))
        }
    }
}

/// How large the automata of a property are, as far as they exist.
pub(crate) fn sizes(session: &Session, spec: &Specification, root: &Root) -> AutomatonSizes {
    if root.kind == RootKind::Query {
        let mut automaton = algebraic::Algebraic::new(&spec.program, Default::default());
        let query = automaton.query(&spec.program, root.node).ok();
        let nodes = query.map(|query| automaton.reachable(&[query]).len());
        return AutomatonSizes { alternating: nodes, deterministic: None };
    }
    let alternating =
        build_alternating(session, spec, root).ok().map(|(automaton, expr)| automaton.reachable(expr).len());
    let deterministic = alternating
        .and_then(|_| tw_engine_automaton::mode(&spec.program, root.node, &session.evaluate_options()).ok())
        .map(|mode| mode.to_string());
    AutomatonSizes { alternating, deterministic }
}

/// The module and goals for Maude.
pub(crate) fn maude(spec: &Specification) -> Result<String, Error> {
    let formulas: Vec<_> = spec.program.roots.iter().map(|root| root.node).collect();
    tw_engine_rewrite::maude(&spec.program, &formulas, None)
        .map_err(|refusal| plan::refused(spec, "rewrite", refusal))
}

/// Every property, rewritten event by event.
pub(crate) fn rewriting(
    session: &Session,
    spec: &Specification,
    files: &[String],
) -> Result<Vec<ResidualReport>, Error> {
    let spec = &*spec.properties()?;
    let loaded = read(session, spec, files, Need::default(), None)?;
    refuse_empty(&loaded)?;
    let options = session.evaluate_options();
    let mut reports = Vec::with_capacity(spec.program.roots.len());
    for root in &spec.program.roots {
        let steps = residuals(&spec.program, root.node, &loaded.trace, &options, SHOWN)
            .map_err(|refusal| plan::refused(spec, "rewrite", refusal))?;
        let positions: Vec<usize> = steps.iter().map(|step| step.position).collect();
        let lines = loaded.locate(session, &positions);
        let step = |step: tw_engine_rewrite::Residual| ResidualStep {
            position: step.position,
            line: lines.get(&step.position).and_then(check::log_line),
            owed: step.owed,
            canonical: step.canonical,
            settled: step.settled,
            at_end: step.at_end,
        };
        reports.push(ResidualReport {
            trace: loaded.name().to_string(),
            name: root.name.clone(),
            formula: spec.words(root.node),
            steps: steps.into_iter().map(step).collect(),
            positions: loaded.trace.len,
        });
    }
    Ok(reports)
}
