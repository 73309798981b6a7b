//! What is solved together: circles of Boolean equations, and what follows from them.
//!
//! A circle may leave its values open as long as others decide them, or as long as nobody observes them. So the circles and the
//! Boolean streams that follow from them are one system of equations, as far as nothing that is not Boolean stands between.

use crate::graph::Component;
use crate::{Streams, boolean};
use tw_ir::{Node, NodeId, Program, StreamType, What};

impl Streams {
    /// Those members, and all that read them.
    pub(crate) fn followers(&self, members: &[usize]) -> Vec<bool> {
        let derived = &self.graph.derived;
        let mut follows = vec![false; derived.len()];
        members.iter().for_each(|&member| follows[member] = true);
        // What is read stands in an earlier component, or in the same.
        for component in &self.graph.components {
            let reads = |member: &usize| derived[*member].reads.iter().any(|&(read, _)| follows[read]);
            if component.members.iter().any(reads) || component.members.iter().any(|&member| follows[member])
            {
                component.members.iter().for_each(|&member| follows[member] = true);
            }
        }
        follows
    }

    /// Of circles and their followers, those that are one system of Boolean equations; empty if no circle is Boolean.
    pub(crate) fn together(&self, program: &Program, later: &[bool]) -> Vec<usize> {
        let mut inside = vec![false; later.len()];
        let own = |component: &&Component| component.members.iter().any(|&member| later[member]);
        for component in self.graph.components.iter().filter(own) {
            component.members.iter().for_each(|&member| inside[member] = true);
            if !component.members.iter().all(|&member| self.is_equation(program, member, later, &inside)) {
                component.members.iter().for_each(|&member| inside[member] = false);
            }
        }
        (0..later.len()).filter(|&member| inside[member]).collect()
    }

    /// Whether a derived slot can be an equation, given which of those to be found are equations.
    fn is_equation(&self, program: &Program, member: usize, later: &[bool], inside: &[bool]) -> bool {
        let derived = &self.graph.derived[member];
        match &program.slots[derived.slot as usize].what {
            What::Shift(shift) => {
                shift.per.is_none() && derived.reads.iter().all(|&(read, _)| !later[read] || inside[read])
            }
            What::Stream { stream, .. } => {
                let stream = &program.streams[*stream as usize];
                let plain = stream.ty == StreamType::Bool && stream.by.is_none();
                plain && self.is_formula(program, stream.node, later, inside)
            }
            _ => false,
        }
    }

    /// Whether what is to be found stands in a formula as truth values alone.
    fn is_formula(&self, program: &Program, root: NodeId, later: &[bool], inside: &[bool]) -> bool {
        let dag = &program.dag;
        let found = |slot| self.graph.of_slot.get(&slot).copied().filter(|&member| later[member]);
        // An input is known at its own position.
        let input = |id: NodeId| {
            let known = |id: &NodeId| match dag.node(*id) {
                Node::Slot(slot) | Node::Truth(slot) => found(slot).is_none(),
                Node::First | Node::Last => false,
                _ => true,
            };
            program.reachable(&[id]).iter().all(known)
        };
        let inner = |id: NodeId| boolean::is_connective(dag.node(id));
        program.reachable_until(&[root], |id| !inner(id)).into_iter().all(|id| match dag.node(id) {
            Node::Bool(_) | Node::First | Node::Last => true,
            Node::Truth(slot) => found(slot).is_none_or(|member| inside[member]),
            Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_) => input(id),
            _ => inner(id),
        })
    }
}
