//! Weights of parts of a specification.

use crate::{Error, Specification};
use rustc_hash::FxHashMap;
use tw_ir::NodeId;
use tw_spec::ast::DeclarationKind;

/// What parts weigh; all others weigh one.
pub(super) struct Weights {
    roots: FxHashMap<usize, f64>,
    parts: FxHashMap<NodeId, f64>,
}

impl Weights {
    /// The weight of a node of a root, where it differs from that of what stands around it.
    pub fn of(&self, number: usize, root: NodeId, node: NodeId) -> Option<f64> {
        let whole = || self.roots.get(&number).copied().filter(|_| node == root);
        self.parts.get(&node).copied().or_else(whole)
    }
}

/// Finds the properties and macros that are named.
pub(super) fn resolve(spec: &Specification, named: &[(String, f64)]) -> Result<Weights, Error> {
    let mut weights = Weights { roots: FxHashMap::default(), parts: FxHashMap::default() };
    let lets = || {
        spec.tree.declarations.iter().filter_map(|declaration| match &declaration.kind {
            DeclarationKind::Let { name, .. } => Some(name.name.as_str()),
            _ => None,
        })
    };
    for (name, weight) in named {
        let roots = spec.program.roots.iter().enumerate().filter(|(_, root)| root.name == *name);
        let before = weights.roots.len();
        weights.roots.extend(roots.map(|(number, _)| (number, *weight)));
        if weights.roots.len() > before {
            continue;
        }
        let known = spec.program.roots.iter().map(|root| root.name.as_str()).chain(lets());
        if !lets().any(|own| own == name) {
            let near = tw_core::suggest(name, known);
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(Error::refused(format!(
                "a weight for `{name}`: the specification has no property and no `let` of that name{near}"
            )));
        }
        weights.parts.insert(spec.node_of(name)?, *weight);
    }
    Ok(weights)
}
