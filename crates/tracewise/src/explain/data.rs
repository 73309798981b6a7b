//! What a property about data rests on: the events that bind its variables, how far it reaches, and what is held for it.

use std::collections::{BTreeMap, BTreeSet};
use tw_core::{TimeUnit, duration};
use tw_ir::{Clock, CompareOp, Node, NodeId, Program, Root};

/// What `explain` says of a property with quantifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataReport {
    /// Of each outer variable, what binds it, if something does.
    pub binds: Vec<(String, Option<String>)>,
    /// How far it looks back and ahead, in words.
    pub reach: String,
    /// What windows hold, in words: one per temporal operator over variables.
    pub holds: Vec<String>,
}

pub(super) fn data(program: &Program, root: &Root, unit: TimeUnit) -> Option<DataReport> {
    let nodes = program.reachable(&[root.node]);
    if !nodes.iter().any(|&id| program.dag.node(id).is_first_order()) {
        return None;
    }
    let (outer, body) = program.invariant(root.node).unwrap_or((Vec::new(), root.node));
    let bound = binding(program, body, false);
    let name = |variable: &u32| program.dag.variables[*variable as usize].clone();
    let binds = outer.iter().map(|variable| (name(variable), bound.get(variable).cloned())).collect();
    let (back, ahead) = reach(program, body, unit);
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
    Some(DataReport { binds, reach: format!("{}, {}", far(back, "back"), far(ahead, "ahead")), holds })
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

/// The variables that have finitely many values where a formula is true (or false), and what says which.
type Binding = BTreeMap<u32, String>;

fn binding(program: &Program, root: NodeId, truth: bool) -> Binding {
    let dag = &program.dag;
    // What is said where it is false, and where it is true; children stand before their parents.
    let mut known: BTreeMap<NodeId, [Binding; 2]> = BTreeMap::new();
    for id in program.reachable(&[root]) {
        let of = |id: NodeId, truth: bool| {
            known.get(&id).map(|own| own[usize::from(truth)].clone()).unwrap_or_default()
        };
        let all = |mut a: Binding, b: Binding| {
            b.into_iter().for_each(|(variable, text)| _ = a.entry(variable).or_insert(text));
            a
        };
        let either = |mut a: Binding, b: Binding| {
            a.retain(|variable, _| b.contains_key(variable));
            a
        };
        let own = [false, true].map(|truth| match (dag.node(id), truth) {
            (Node::Pattern(pattern), true) => {
                let text = tw_ir::display(program, id);
                dag.patterns[pattern as usize].variables().map(|variable| (variable, text.clone())).collect()
            }
            (Node::Compare(CompareOp::Eq, a, b), true) => match (dag.node(a), dag.node(b)) {
                (Node::Variable(_), Node::Variable(_)) => Binding::new(),
                (Node::Variable(variable), _) | (_, Node::Variable(variable)) => {
                    Binding::from([(variable, tw_ir::display(program, id))])
                }
                _ => Binding::new(),
            },
            (Node::Not(a), _) => of(a, !truth),
            (Node::And(a, b), true) | (Node::Or(a, b), false) => all(of(a, truth), of(b, truth)),
            (Node::And(a, b), false) | (Node::Or(a, b), true) => either(of(a, truth), of(b, truth)),
            (Node::Implies(a, b), false) => all(of(a, true), of(b, false)),
            (Node::Implies(a, b), true) => either(of(a, false), of(b, true)),
            (Node::Exists(_, a), true) | (Node::Forall(_, a), false) => of(a, truth),
            (node, _) => match node.temporal().map(|applied| (applied, applied.way())) {
                // What is awaited, or fails to hold on, has the values.
                Some((_, Some(way))) if way.dual != truth => of(way.goal.0, truth),
                Some((applied, None)) if applied.weak != truth => of(applied.right, truth),
                _ => Binding::new(),
            },
        });
        known.insert(id, own);
    }
    known
        .remove(&root)
        .map(|own| own.into_iter().nth(usize::from(truth)).unwrap_or_default())
        .unwrap_or_default()
}

/// How far a formula looks back and ahead; `None` is without bound.
fn reach(program: &Program, root: NodeId, unit: TimeUnit) -> (Option<i64>, Option<i64>) {
    let mut known: BTreeMap<NodeId, (Option<i64>, Option<i64>)> = BTreeMap::new();
    let further = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| a.max(b));
    for id in program.reachable(&[root]) {
        let node = program.dag.node(id);
        let (mut back, mut ahead) = (Some(0), Some(0));
        for own in node.children().filter_map(|child| known.get(&child)) {
            (back, ahead) = (further(back, own.0), further(ahead, own.1));
        }
        if let Some(applied) = node.temporal() {
            let ticks = applied.interval.and_then(|interval| interval.ticks(Clock::Stamps, unit).ok());
            let own = ticks.map(|ticks| ticks.high).filter(|high| *high != i64::MAX);
            let far = if applied.past { &mut back } else { &mut ahead };
            *far = far.zip(own).map(|(far, own)| far.saturating_add(own));
        }
        known.insert(id, (back, ahead));
    }
    known.get(&root).copied().unwrap_or((Some(0), Some(0)))
}
