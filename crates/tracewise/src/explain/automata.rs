//! What engines make of a formula: its automata, and the rules that rewrite it.

use crate::error::Setting;
use crate::{Error, Session, Specification, plan};
use tw_automata::algebraic;
use tw_automata::alternating::{Alternating, Options, Refused};
use tw_automata::draw::{Graph, alternating};
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
        AutomatonKind::Deterministic if root.kind == RootKind::Query => Err(Error::refused_instead(
            format!("`{}` is a query", root.name),
            format!(
                "its automaton computes values and is alternating ({})",
                Setting::Automaton.to("alternating")
            ),
        )),
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
    let repeat_last = session.evaluate.semantics == Semantics::RepeatLast;
    let mut automaton = Alternating::new(Options { repeat_last, faithful: session.evaluate.faithful });
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
