//! Formulas about some values: what they say is said by closed formulas, `exists x. x == 3 & φ`.

use super::{Tables, by_values};
use crate::Definition;
use tw_core::{Bits, Position, Value};
use tw_ir::{CompareOp, Node, NodeId, Program};
use tw_monitor::{Bindings, Evaluator, Trace, Unsupported};

/// That the free variables of a formula are these, and that it is true.
fn closed(program: &mut Program, node: NodeId, bindings: &Bindings) -> NodeId {
    // The first is bound outermost, as in the formula that this one is a part of.
    bindings.pairs().iter().rev().fold(node, |node, (variable, value)| {
        let dag = &mut program.dag;
        let (own, value) = (dag.add(Node::Variable(*variable)), dag.constant(value.clone()));
        let equal = dag.add(Node::Compare(CompareOp::Eq, own, value));
        let both = dag.add(Node::And(equal, node));
        dag.add(Node::Exists(*variable, both))
    })
}

/// The truth of each formula at every position, where its free variables are these.
pub(crate) fn columns(
    definition: &Definition<'_>,
    trace: &Trace,
    nodes: &[(NodeId, Bindings)],
) -> Result<Vec<Bits>, Unsupported> {
    let mut program = definition.program.clone();
    let nodes: Vec<NodeId> =
        nodes.iter().map(|(node, bindings)| closed(&mut program, *node, bindings)).collect();
    Definition { program: &program, options: definition.options.clone() }.columns(trace, &nodes)
}

/// The least of the values seen that decides a quantifier at a position.
pub(crate) fn witness(
    definition: &Definition<'_>,
    trace: &Trace,
    node: NodeId,
    bindings: &Bindings,
    at: Position,
) -> Result<Option<Value>, Unsupported> {
    let (variable, body, some) = match definition.program.dag.node(node) {
        Node::Exists(variable, body) => (variable, body, true),
        Node::Forall(variable, body) => (variable, body, false),
        _ => return Ok(None),
    };
    let mut program = definition.program.clone();
    let whole = closed(&mut program, node, bindings);
    let asked = Definition { program: &program, options: definition.options.clone() };
    let domain = Tables::new(&asked, trace, &[whole])?.domain;
    let places = domain.ranges[variable as usize].iter().filter(|&&place| !domain.stands[place]);
    let mut seen: Vec<Vec<(u32, Value)>> =
        places.map(|&place| vec![(variable, domain.values[place].clone())]).collect();
    seen.sort_by(|a, b| by_values(a, b));
    for (variable, value) in seen.into_iter().flatten() {
        let bound = bindings.with(variable, value.clone());
        if columns(definition, trace, &[(body, bound)])?[0].get(at) == some {
            return Ok(Some(value));
        }
    }
    Ok(None)
}
