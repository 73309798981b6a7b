//! What a property about data rests on: the events that bind its variables, how far it reaches, and what is held for it.

use crate::Specification;
use crate::slicing::derived;
use std::collections::BTreeSet;
use tw_core::duration;
use tw_ir::{Clock, Node, NodeId, Program, Root};
use tw_log_slices::{Analysis, guards, reach};
use tw_monitor::EvaluateOptions;

/// What `explain` says of a property with quantifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataReport {
    /// Of each outer variable, what binds it, if something does.
    pub binds: Vec<(String, Option<String>)>,
    /// How far it looks back and ahead, in words.
    pub reach: String,
    /// What windows hold, in words: one per temporal operator over variables.
    pub holds: Vec<String>,
    /// The variables, outer and inner, that nothing binds in their scope. Where there are none, no log is refused.
    pub unbound: Vec<String>,
}

/// What `explain` says of slices of a log for a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlicesReport {
    /// The variable that divides the log, if there is one.
    pub variable: Option<String>,
    /// The events that are in every slice, as patterns.
    pub duplicated: Vec<String>,
    /// The part of the property that looks at all of the log, because of which there are no slices in time.
    pub unbounded: Option<String>,
    /// Whether positions at which nothing happens are left out.
    pub filtered: bool,
    /// Whether positions with equal timestamps may be evaluated as one.
    pub collapsible: bool,
    /// Why there are no slices at all.
    pub refused: Option<String>,
    /// Why there are none as files (`split`), if there are some.
    pub unsplit: Option<String>,
}

pub(super) fn slices(spec: &Specification, root: &Root, options: &EvaluateOptions) -> SlicesReport {
    let program = &spec.program;
    let text = |node: &NodeId| tw_ir::display(program, *node);
    let Some(analysis) = Analysis::new(program, root.node, options) else {
        let why = "only `G φ`, also under outer `forall`s, is violated at positions that can be divided";
        let (variable, duplicated, unbounded) = (None, Vec::new(), None);
        let (filtered, collapsible, refused, unsplit) = (false, false, Some(why.into()), None);
        return SlicesReport { variable, duplicated, unbounded, filtered, collapsible, refused, unsplit };
    };
    let chosen = analysis.choose(program, None);
    let unbounded = analysis.unbounded.as_ref().map(text);
    let refused = match (chosen, &unbounded) {
        (None, Some(far)) => Some(format!(
            "no event binds an outer variable where it is violated, and `{far}` looks at all of the log"
        )),
        _ => None,
    };
    let mut duplicated: Vec<String> =
        chosen.map(|own| own.duplicated.iter().map(text).collect()).unwrap_or_default();
    duplicated.dedup();
    SlicesReport {
        variable: chosen.map(|own| program.dag.variables[own.variable as usize].clone()),
        duplicated,
        unbounded,
        filtered: analysis.filterable,
        collapsible: analysis.collapsible.is_ok(),
        refused,
        unsplit: derived(spec).map(|node| format!("`{}` is computed from other positions", spec.words(node))),
    }
}

/// The variables that nothing binds where it matters: outer ones where the property is violated, inner ones in their scope.
fn unbound(program: &Program, outer: &[u32], body: NodeId) -> Vec<String> {
    let dag = &program.dag;
    let bound = guards(program, body, false);
    let mut found: Vec<u32> = outer.iter().copied().filter(|own| !bound.contains_key(own)).collect();
    for id in program.reachable(&[body]) {
        let (variables, below, truth) = match dag.node(id) {
            Node::Exists(variable, below) => (vec![variable], below, true),
            Node::Forall(variable, below) => (vec![variable], below, false),
            Node::Tally(_, bound, _, below) => (dag.bound[bound as usize].clone(), below, true),
            _ => continue,
        };
        let bound = guards(program, below, truth);
        found.extend(variables.into_iter().filter(|own| !bound.contains_key(own)));
    }
    found.iter().map(|own| dag.variables[*own as usize].clone()).collect()
}

pub(super) fn data(program: &Program, root: &Root, options: &EvaluateOptions) -> Option<DataReport> {
    let unit = options.unit;
    let nodes = program.reachable(&[root.node]);
    if !nodes.iter().any(|&id| program.dag.node(id).is_first_order()) {
        return None;
    }
    let (outer, body) = program.invariant(root.node).unwrap_or((Vec::new(), root.node));
    let bound = guards(program, body, false);
    let by = |variable: &u32| {
        let texts = bound.get(variable)?.nodes.iter().map(|node| tw_ir::display(program, *node));
        let mut texts: Vec<String> = texts.collect();
        texts.dedup();
        Some(texts.join(" | "))
    };
    let name = |variable: &u32| program.dag.variables[*variable as usize].clone();
    let binds = outer.iter().map(|variable| (name(variable), by(variable))).collect();
    let stamps = EvaluateOptions { clock: Clock::Stamps, ..options.clone() };
    let own = reach(program, body, &stamps);
    let (back, ahead) = (own.back, own.ahead);
    let far = |distance: Option<i64>, way: &str| match distance {
        Some(0) => format!("nothing {way}"),
        Some(distance) => format!("{} {way}", duration(distance)),
        None => format!("without bound {way}"),
    };
    let mut holds = Vec::new();
    for id in program.reachable(&[body]) {
        let Some(applied) = program.dag.node(id).temporal() else { continue };
        let free: Vec<String> = free(program, id).iter().map(name).collect();
        if free.is_empty() {
            continue;
        }
        let ticks = applied.interval.and_then(|interval| interval.ticks(Clock::Stamps, unit).ok());
        let length = match (applied.way(), ticks.map(|ticks| ticks.high)) {
            (None, _) => "one position".to_string(),
            (_, None | Some(i64::MAX)) => "all the time".to_string(),
            (_, Some(high)) => duration(high),
        };
        holds.push(format!(
            "`{}`: values of {} within {length}",
            tw_ir::display(program, id),
            free.join(", ")
        ));
    }
    let neighbours = if own.neighbours { ", and its neighbours" } else { "" };
    let reach = format!("{}, {}{neighbours}", far(back, "back"), far(ahead, "ahead"));
    Some(DataReport { binds, reach, holds, unbound: unbound(program, &outer, body) })
}

/// The free variables of a formula.
fn free(program: &Program, node: NodeId) -> BTreeSet<u32> {
    let dag = &program.dag;
    let (mut found, mut hidden) = (BTreeSet::new(), BTreeSet::new());
    for id in program.reachable(&[node]) {
        match dag.node(id) {
            Node::Variable(variable) => _ = found.insert(variable),
            Node::Pattern(pattern) => found.extend(dag.patterns[pattern as usize].variables()),
            Node::Exists(variable, _) | Node::Forall(variable, _) => _ = hidden.insert(variable),
            Node::Tally(_, bound, ..) => hidden.extend(&dag.bound[bound as usize]),
            _ => {}
        }
    }
    // Every quantifier has a variable of its own.
    found.difference(&hidden).copied().collect()
}
