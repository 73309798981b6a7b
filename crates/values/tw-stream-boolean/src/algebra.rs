//! Operations on specifications.
use crate::{Builder, Flaw, Node, Specification};

/// Every offset negated.
pub fn reverse(spec: &Specification) -> Result<Specification, Flaw> {
    let mut turned = spec.clone();
    for node in &mut turned.nodes {
        match node {
            Node::Stream { offset, .. } | Node::Outside(offset) => *offset = -*offset,
            _ => {}
        }
    }
    let _ = Builder::new();
    Ok(turned)
}
