//! Requirements: the value of a query, compared with a number.

use crate::{CompareOp, Node, NodeId, Program, Root};
use tw_core::Value;

/// `require p99 : quantile(0.99)[ms] < 500;`.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The query. A count of nothing is 0 there.
    pub root: Root,
    /// How its value is compared.
    pub op: CompareOp,
    /// With what: a constant.
    pub limit: NodeId,
}

impl Requirement {
    /// The number that the value is compared with.
    pub fn limit<'p>(&self, program: &'p Program) -> &'p Value {
        match program.dag.node(self.limit) {
            Node::Constant(constant) => &program.dag.constants[constant as usize],
            _ => &Value::Null,
        }
    }
}
