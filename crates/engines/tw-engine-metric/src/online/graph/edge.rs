//! References to operators.

/// An operator, perhaps negated. Operator 0 is `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::online) struct Edge(u32);

impl Edge {
    pub(in crate::online) const TRUE: Edge = Edge(0);
    pub(in crate::online) const FALSE: Edge = Edge(1);

    pub(in crate::online) fn new(op: usize, negated: bool) -> Self {
        Edge((op as u32) << 1 | u32::from(negated))
    }

    pub(in crate::online) fn op(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(in crate::online) fn negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Negated if `negate`.
    pub(in crate::online) fn negate_if(self, negate: bool) -> Self {
        Edge(self.0 ^ u32::from(negate))
    }
}

impl std::ops::Not for Edge {
    type Output = Edge;

    fn not(self) -> Edge {
        self.negate_if(true)
    }
}
