//! Truth columns of the whole trace, from whichever engine computes them.

use super::Rule;
use super::step::{self, Part, Source};
use crate::{Bindings, EvaluateOptions, Evaluator, Trace, Unsupported};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use tw_core::Position;
use tw_ir::{Node, NodeId, Program};

/// Takes what is true from columns, fetched level by level.
pub(super) struct ByColumns<'c, 'a> {
    pub(super) columns: &'c mut Columns<'a>,
    pub(super) program: &'c Program,
    pub(super) options: &'c EvaluateOptions,
    /// Those of a level are given back before the next.
    pub(super) forget: bool,
}

impl Source for ByColumns<'_, '_> {
    fn root(&mut self, node: NodeId, bindings: &Bindings, at: Position) -> Result<bool, Unsupported> {
        let own = self.columns.number(bindings);
        self.columns.fetch([(node, own)].into_iter())?;
        Ok(self.columns.known[&(node, own)].get(at))
    }

    fn ask(&mut self, level: &[(NodeId, &Bindings)], depth_limit: usize) -> Result<(), Unsupported> {
        let (columns, seen) = (&mut *self.columns, FxHashSet::default());
        if self.forget {
            columns.known.clear();
        }
        let mut parts = Vec::new();
        for (node, bindings) in level {
            let own = columns.number(bindings);
            let mut below = Vec::new();
            // Under bindings every request costs a pass of its own: what may be needed is asked for at once.
            let together = own > 0
                && !self.forget
                && columns.nearby(self.program, *node, depth_limit, &seen, TOGETHER, &mut below);
            if !together {
                below.clear();
            }
            below.extend(step::parts(self.program, *node));
            parts.extend(below.into_iter().map(|part| (part, own)));
        }
        columns.fetch(parts.into_iter())
    }

    fn reasons(
        &mut self,
        node: NodeId,
        bindings: &mut Bindings,
        at: Position,
        holds: bool,
    ) -> Result<(Rule, Vec<Part>), Unsupported> {
        let (columns, program) = (&mut *self.columns, self.program);
        let (Node::Exists(variable, body) | Node::Forall(variable, body)) = program.dag.node(node) else {
            let own = columns.number(bindings);
            let known = step::Known { columns: &columns.known, bound: own };
            return step::justify(program, columns.trace, self.options, &known, node, at, holds);
        };
        let exists = matches!(program.dag.node(node), Node::Exists(..));
        if exists != holds {
            return Ok((Rule::Nobody, Vec::new()));
        }
        match columns.evaluator.witness(columns.trace, node, bindings, at)? {
            Some(value) => {
                *bindings = bindings.with(variable, value);
                Ok((Rule::Instance, vec![Part { node: body, range: (at, at), holds }]))
            }
            None => Ok((Rule::Unnamed, Vec::new())),
        }
    }
}

/// Columns under bindings that are asked for at once.
const TOGETHER: usize = 100;

/// The truth columns asked for so far. Those of atoms are the trace's own.
pub(super) struct Columns<'a> {
    pub(super) trace: &'a Trace,
    pub(super) evaluator: &'a mut dyn Evaluator,
    pub(super) atoms: FxHashMap<NodeId, usize>,
    /// By formula and by the number of its bindings.
    pub(super) known: step::Columns<'a>,
    /// Bindings by number; the first are none.
    pub(super) bound: Vec<Bindings>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(program: &Program, trace: &'a Trace, evaluator: &'a mut dyn Evaluator) -> Self {
        let atoms = program.atoms().into_iter().enumerate().map(|(index, node)| (node, index));
        // A trace made for an engine that reads values may lack them.
        let atoms =
            atoms.filter(|&(_, index)| trace.atoms.get(index).is_some_and(|bits| bits.len() == trace.len));
        let bound = vec![Bindings::default()];
        Self { trace, evaluator, atoms: atoms.collect(), known: FxHashMap::default(), bound }
    }

    /// The number of bindings.
    pub(super) fn number(&mut self, bindings: &Bindings) -> u32 {
        let known = self.bound.iter().position(|own| own == bindings);
        known.unwrap_or_else(|| {
            self.bound.push(bindings.clone());
            self.bound.len() - 1
        }) as u32
    }

    pub(super) fn fetch(&mut self, nodes: impl Iterator<Item = (NodeId, u32)>) -> Result<(), Unsupported> {
        let mut missing: Vec<(NodeId, u32)> = nodes.filter(|node| !self.known.contains_key(node)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|own| match self.atoms.get(&own.0) {
            Some(&index) => {
                self.known.insert(*own, Cow::Borrowed(&self.trace.atoms[index]));
                false
            }
            None => true,
        });
        if !missing.is_empty() {
            let bound: Vec<(NodeId, Bindings)> =
                missing.iter().map(|(node, bound)| (*node, self.bound[*bound as usize].clone())).collect();
            let columns = self.evaluator.columns_bound(self.trace, &bound)?;
            self.known.extend(missing.into_iter().zip(columns.into_iter().map(Cow::Owned)));
        }
        Ok(())
    }

    /// The formulas up to `depth` levels below `node` that are not in `seen` and have to be computed; false if they
    /// are more than `most`.
    pub(super) fn nearby(
        &self,
        program: &Program,
        node: NodeId,
        depth: usize,
        seen: &FxHashSet<NodeId>,
        most: usize,
        into: &mut Vec<NodeId>,
    ) -> bool {
        let mut reached: FxHashSet<NodeId> = FxHashSet::default();
        let mut level = vec![node];
        for _ in 0..=depth {
            level.retain(|&node| reached.insert(node));
            into.extend(level.iter().filter(|&node| !seen.contains(node) && !self.atoms.contains_key(node)));
            if into.len() > most {
                return false;
            }
            level = level.iter().flat_map(|&node| step::parts(program, node)).collect();
        }
        true
    }
}
