//! What is easy is taken off before the hard part is looked at.
//!
//! A component whose cycles all look one way has exactly one solution for each value of what it depends on. So outputs
//! before every zero cycle are *known* as functions of the inputs, and those that no zero cycle depends on *follow* from
//! the rest. What remains between is the *core*: there alone may models be missing or several. Its parts that share no
//! output are solved apart.

use crate::graph::{Graph, Sign};
use crate::{Builder, Flaw, Node, Specification};

/// Where an output stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A function of the inputs, by well-formed equations.
    Known,
    /// On a zero cycle, or between two.
    Core,
    /// A function of the inputs and the core, which the core does not depend on.
    Follows,
}

/// The part of each output.
pub fn split(graph: &Graph) -> Vec<Part> {
    let count = graph.members.len();
    let hard = |component: usize| graph.signs[component] == Sign::Zero;
    let others = |component: usize| {
        graph.edges[component].iter().map(|edge| graph.component[edge.to]).filter(move |&to| to != component)
    };
    let mut after = vec![false; count];
    for component in 0..count {
        after[component] = hard(component) || others(component).any(|other| after[other]);
    }
    let mut needed = vec![false; count];
    for component in (0..count).rev() {
        needed[component] |= hard(component);
        if needed[component] {
            others(component).for_each(|other| needed[other] = true);
        }
    }
    let part = |&component: &usize| match (after[component], needed[component]) {
        (false, _) => Part::Known,
        (true, true) => Part::Core,
        (true, false) => Part::Follows,
    };
    graph.component.iter().map(part).collect()
}

/// The core's outputs, divided into groups that do not refer to each other.
pub fn groups(graph: &Graph, parts: &[Part]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..parts.len()).collect();
    fn root(group: &mut [usize], mut at: usize) -> usize {
        while group[at] != at {
            group[at] = group[group[at]];
            at = group[at];
        }
        at
    }
    let core = |output: usize| parts[output] == Part::Core;
    for edge in graph.edges.iter().flatten().filter(|edge| core(edge.from) && core(edge.to)) {
        let (from, to) = (root(&mut group, edge.from), root(&mut group, edge.to));
        group[from.max(to)] = from.min(to);
    }
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for output in (0..parts.len()).filter(|&output| core(output)) {
        let root = root(&mut group, output);
        found[root].push(output);
    }
    found.retain(|group| !group.is_empty());
    found
}

/// Some equations of a specification alone: `outputs` stay, whatever else they refer to becomes an input.
///
/// The inputs of the result are the streams given in `inputs`, in that order.
pub fn cut(spec: &Specification, inputs: &[u32], outputs: &[usize]) -> Result<Specification, Flaw> {
    let mut build = Builder::new();
    let mut named = vec![None; spec.inputs.len() + spec.outputs.len()];
    for &stream in inputs {
        named[stream as usize] = Some(build.input(spec.name(stream))?);
    }
    for &output in outputs {
        named[spec.output(output) as usize] = Some(build.output(&spec.outputs[output])?);
    }
    for &output in outputs {
        let stream = spec.output(output);
        let root = build.copy(spec, spec.equations[output], |build, node| match node {
            Node::Stream { stream, offset, default } => match named[stream as usize] {
                Some(stream) => build.at(stream, offset.into(), default),
                None => Err(Flaw::Undefined(spec.name(stream).to_string())),
            },
            Node::Outside(offset) => build.constant_at(false, offset.into(), true),
            _ => Ok(build.constant(false)),
        })?;
        if let Some(named) = named[stream as usize] {
            build.define(named, root)?;
        }
    }
    build.finish()
}

/// The same specification with a stream of its own, after all others, for each largest expression in the core's equations
/// that reads no more than what is known; nothing if there is none. The core then reads these, which may be fewer.
pub fn name_known(spec: &Specification, parts: &[Part]) -> Result<Option<Specification>, Flaw> {
    let core = || (0..parts.len()).filter(|&output| parts[output] == Part::Core);
    let mut known: rustc_hash::FxHashMap<u32, bool> = Default::default();
    let mut named: Vec<u32> = Vec::new();
    for output in core() {
        let root = spec.equations[output];
        let below = spec.below(root);
        for &id in &below {
            let is = match spec.nodes[id as usize] {
                Node::Stream { stream, .. } => {
                    spec.as_output(stream).is_none_or(|output| parts[output] == Part::Known)
                }
                node => node.children().all(|child| known[&child]),
            };
            known.insert(id, is);
        }
        // What a node that is not known all through is made of; a mere reference needs no name.
        let inner = below.iter().filter(|id| !known[*id]).flat_map(|&id| spec.nodes[id as usize].children());
        let worth = |id: &u32| known[id] && spec.nodes[*id as usize].children().next().is_some();
        let reads =
            |id: u32| spec.below(id).iter().any(|&id| matches!(spec.nodes[id as usize], Node::Stream { .. }));
        named.extend(inner.filter(worth).filter(|&id| reads(id)));
    }
    named.sort_unstable();
    named.dedup();
    if named.is_empty() {
        return Ok(None);
    }
    let mut more = spec.clone();
    for (nth, &id) in named.iter().enumerate() {
        // No name of a language has a space, so that this one is new.
        more.outputs.push(format!("known {nth}"));
        more.equations.push(id);
        more.observed.push(true);
    }
    // The core's equations over the new streams: made anew, since nodes are shared with what keeps its form.
    let mut build = Builder::new();
    let mut streams = Vec::new();
    for name in &more.inputs {
        streams.push(build.input(name)?);
    }
    for name in &more.outputs {
        streams.push(build.output(name)?);
    }
    for output in 0..more.outputs.len() {
        let leaf = |build: &mut Builder, node: Node| match node {
            Node::Stream { stream, offset, default } => {
                build.at(streams[stream as usize], offset.into(), default)
            }
            Node::Outside(offset) => build.constant_at(false, offset.into(), true),
            _ => Ok(build.constant(false)),
        };
        let is_core = parts.get(output) == Some(&Part::Core);
        let root = build.copy_until(&more, more.equations[output], leaf, |build, id| {
            let place = named.binary_search(&id).ok().filter(|_| is_core)?;
            Some(build.now(streams[spec.inputs.len() + spec.outputs.len() + place]))
        })?;
        let stream = streams[spec.inputs.len() + output];
        build.define(stream, root)?;
        if more.observed[output] {
            build.observe(stream)?;
        }
    }
    build.finish().map(Some)
}
