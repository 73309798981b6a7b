//! Truth functions as formulas in the user's words.

use super::obligation::Obligations;
use super::{Deterministic, Tree};
use crate::diagram::{Cube, Diagram, Diagrams, Full};
use rustc_hash::FxHashMap;
use tw_ir::{Node, NodeId, Program, display};

/// Most conjunctions that are written out.
const CUBES: usize = 32;
/// Most nodes of the condition of an edge.
const CONDITION: usize = 1 << 16;

/// A residual: its variables are literals.
pub(super) fn residual(diagrams: &Diagrams, obligations: &Obligations, residual: Diagram) -> String {
    formula(diagrams, residual, &obligations.program, &|variable| obligations.formula(variable))
}

/// The condition on atoms under which one state leads to another.
pub(crate) fn condition(automaton: &Deterministic, from: u32, to: u32) -> String {
    let mut diagrams = Diagrams::new(CONDITION);
    let atoms = automaton.program().atoms();
    let places = automaton.atoms();
    match function(automaton, &mut diagrams, automaton.tree(from), to, &mut FxHashMap::default()) {
        Ok(function) => formula(&diagrams, function, automaton.program(), &|variable| {
            atoms[places[variable as usize] as usize]
        }),
        Err(Full(_)) => "…".to_owned(),
    }
}

/// Where a tree leads to `to`, as a function of the places of atoms. The recursion is as deep as there are atoms.
fn function(
    automaton: &Deterministic,
    diagrams: &mut Diagrams,
    tree: Tree,
    to: u32,
    done: &mut FxHashMap<Tree, Diagram>,
) -> Result<Diagram, Full> {
    let Some(test) = automaton.forest().test(tree) else {
        return Ok(Diagram::constant(tree.state() == Some(to)));
    };
    if let Some(&known) = done.get(&tree) {
        return Ok(known);
    }
    let low = function(automaton, diagrams, test.low, to, done)?;
    let high = function(automaton, diagrams, test.high, to, done)?;
    let place = automaton.atoms().partition_point(|&atom| atom < test.atom);
    let result = diagrams.node(place as u32, low, high)?;
    done.insert(tree, result);
    Ok(result)
}

/// A truth function, by the formulas that its variables stand for.
pub(super) fn formula(
    diagrams: &Diagrams,
    function: Diagram,
    program: &Program,
    meaning: &dyn Fn(u32) -> NodeId,
) -> String {
    if let Some(constant) = function.as_constant() {
        return constant.to_string();
    }
    let (mut scratch, function) = diagrams.alone(function);
    if let Ok(Some(cubes)) = scratch.cover(function, CUBES) {
        return disjunction(cubes, program, meaning);
    }
    let negated = scratch.not(function).and_then(|negated| scratch.cover(negated, CUBES));
    match negated {
        Ok(Some(cubes)) => format!("!({})", disjunction(cubes, program, meaning)),
        _ => {
            let names = scratch.support(function).into_iter().map(|v| literal(program, meaning(v), true));
            format!("some combination of {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// What all conjunctions have in common is written once, in front.
fn disjunction(mut cubes: Vec<Cube>, program: &Program, meaning: &dyn Fn(u32) -> NodeId) -> String {
    let common: Cube =
        cubes[0].iter().copied().filter(|literal| cubes.iter().all(|cube| cube.contains(literal))).collect();
    cubes.iter_mut().for_each(|cube| cube.retain(|literal| !common.contains(literal)));
    let conjunction = |cube: &Cube| -> String {
        let mut cube = cube.clone();
        // The whole before its parts: temporal operators first, the outermost in front.
        cube.sort_by_key(|&(variable, _)| {
            let id = meaning(variable);
            let node = program.dag.node(id);
            (!node.is_temporal(), if node.is_future() { u32::MAX - id.0 } else { id.0 })
        });
        let literals = cube.iter().map(|&(variable, value)| literal(program, meaning(variable), value));
        literals.collect::<Vec<_>>().join(" & ")
    };
    let mut parts = Vec::new();
    if !common.is_empty() {
        parts.push(conjunction(&common));
    }
    let rest: Vec<String> = cubes.iter().filter(|cube| !cube.is_empty()).map(conjunction).collect();
    if rest.len() > 1 && !parts.is_empty() {
        parts.push(format!("({})", rest.join(" | ")));
    } else if !rest.is_empty() {
        parts.push(rest.join(" | "));
    }
    parts.join(" & ")
}

fn literal(program: &Program, id: NodeId, value: bool) -> String {
    let text = display(program, id);
    use Node::*;
    match program.dag.node(id) {
        _ if value => text,
        Binary(..) | Compare(..) | In(..) | Matches(..) => format!("!({text})"),
        _ => format!("!{text}"),
    }
}
