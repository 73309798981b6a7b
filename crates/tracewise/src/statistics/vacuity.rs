//! Which parts of a satisfied property did not matter.
//!
//! A part is vacuous when the property still holds with the part replaced by the constant that makes the property
//! harder to satisfy: `false` for a part that stands positively, `true` for one under a negation. A part that stands
//! both ways (under `^` or `<->`) is vacuous when the property holds with either constant.

use super::{Part, part};
use crate::plan::Who;
use crate::{Error, Session, Specification, plan};
use rustc_hash::FxHashMap;
use tw_ir::{Node, NodeId, Program, Root};
use tw_monitor::{Answers, Trace};

/// Parts that are tried; a larger formula is looked at from the top down to so many.
const PARTS: usize = 500;

pub(super) fn vacuous(
    session: &Session,
    spec: &Specification,
    root: &Root,
    trace: &Trace,
) -> Result<Vec<(Part, bool)>, Error> {
    let mut variants = spec.clone();
    let atoms = spec.program.atoms();
    let polarity = polarities(&spec.program, root.node);
    let mut tried: Vec<(NodeId, bool)> = Vec::new();
    variants.program.roots.clear();
    // The root itself is no part, and a constant is what parts are replaced by.
    let parts = polarity.iter().rev().filter(|(id, _)| **id != root.node);
    let parts = parts.filter(|(id, _)| !matches!(spec.program.dag.node(**id), Node::Bool(_)));
    for (&id, &(positive, negative)) in parts.take(PARTS) {
        for (stands, constant) in [(positive, false), (negative, true)] {
            if stands {
                let node = replaced(&mut variants.program, &atoms, root.node, id, constant);
                tried.push((id, constant));
                variants.program.roots.push(Root { node, ..root.clone() });
            }
        }
    }
    if tried.is_empty() {
        return Ok(Vec::new());
    }
    variants.program.spans.resize(variants.program.dag.len(), None);
    // Replacing may leave atoms unread: the columns are those of the atoms that remain.
    let shown = plan::restrict(trace, &spec.program, &variants.program);
    let options = session.evaluate_options();
    let mut chosen = plan::choose(session, &variants, &options, Who::Any(Answers::Verdicts))?;
    let answers = chosen.answers(&variants, &options, &shown, 0)?;
    let holds: FxHashMap<(NodeId, bool), bool> = tried
        .iter()
        .copied()
        .zip(answers.iter().map(|answer| answer.holds.count_ones() == answer.holds.len()))
        .collect();
    let is_vacuous = |id: NodeId| {
        let (positive, negative) = polarity[&id];
        let with = |stands: bool, constant| !stands || holds.get(&(id, constant)) == Some(&true);
        with(positive, false) && with(negative, true)
    };
    // The parts of a vacuous part do not matter either: the largest are said.
    let mut said = Vec::new();
    let mut todo = vec![root.node];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        if id != root.node && holds.keys().any(|key| key.0 == id) && is_vacuous(id) {
            said.push((part(spec, root, id, false), !polarity[&id].0));
        } else if atoms.binary_search(&id).is_err() {
            todo.extend(spec.program.dag.node(id).children());
        }
    }
    said.sort_by_key(|(part, _)| part.place);
    Ok(said)
}

/// How each subformula stands in the formula: positively, negatively, or both.
fn polarities(program: &Program, root: NodeId) -> std::collections::BTreeMap<NodeId, (bool, bool)> {
    let atoms = program.atoms();
    let mut polarity = std::collections::BTreeMap::from([(root, (true, false))]);
    let reachable = program.reachable(&[root]);
    for &id in reachable.iter().rev() {
        let Some(&(positive, negative)) = polarity.get(&id) else { continue };
        if atoms.binary_search(&id).is_ok() {
            continue;
        }
        let mut note = |id: NodeId, (positive, negative): (bool, bool)| {
            let entry = polarity.entry(id).or_insert((false, false));
            *entry = (entry.0 | positive, entry.1 | negative);
        };
        match program.dag.node(id) {
            Node::Not(a) => note(a, (negative, positive)),
            Node::Implies(a, b) => {
                note(a, (negative, positive));
                note(b, (positive, negative));
            }
            Node::Xor(a, b) | Node::Iff(a, b) => [a, b].into_iter().for_each(|id| note(id, (true, true))),
            node => node.children().for_each(|child| note(child, (positive, negative))),
        }
    }
    polarity
}

/// The formula with a subformula replaced by a constant.
fn replaced(program: &mut Program, atoms: &[NodeId], root: NodeId, part: NodeId, constant: bool) -> NodeId {
    let mut new: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    for id in program.reachable(&[root]) {
        let made = if id == part {
            program.dag.add(Node::Bool(constant))
        } else if atoms.binary_search(&id).is_ok() {
            id
        } else {
            let node = program.dag.node(id);
            program.dag.add(node.with_children(|child| new.get(&child).copied().unwrap_or(child)))
        };
        new.insert(id, made);
    }
    new[&root]
}
