//! Which predicates run straight where their signals do.

use crate::Robust;
use tw_core::Value;
use tw_ir::{ArithmeticOp, CompareOp, Node, NodeId};
use tw_monitor::Unsupported;

/// How a term depends on the signals.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Shape {
    Constant,
    Straight,
    Bent,
}

impl Robust {
    /// Refuses predicates that bend or curve between samples although their signals run straight: of these
    /// [`Interpolation::Linear`](crate::Interpolation::Linear) would join what they are worth at the samples.
    pub fn straight(&self, nodes: &[NodeId]) -> Result<(), Unsupported> {
        let dag = &self.program.dag;
        let mut shapes = vec![Shape::Constant; dag.len()];
        for id in self.program.reachable(nodes) {
            let of = |id: NodeId| shapes[id.index()];
            let joined = |a: NodeId, b: NodeId| if of(a) > of(b) { of(a) } else { of(b) };
            // Straight only if nothing in it is a signal.
            let bent = |shape: Shape| if shape == Shape::Constant { shape } else { Shape::Bent };
            shapes[id.index()] = match dag.node(id) {
                Node::Constant(_) => Shape::Constant,
                Node::Slot(_) => Shape::Straight,
                Node::Negate(a) => of(a),
                Node::Arithmetic(ArithmeticOp::Add | ArithmeticOp::Sub, a, b) => joined(a, b),
                Node::Arithmetic(ArithmeticOp::Mul, a, b) if of(a) == Shape::Constant => of(b),
                Node::Arithmetic(ArithmeticOp::Mul | ArithmeticOp::Div, a, b) if of(b) == Shape::Constant => {
                    of(a)
                }
                Node::Arithmetic(_, a, b) => bent(joined(a, b)),
                Node::Abs(a) => bent(of(a)),
                Node::IfThenElse(..) => Shape::Bent,
                Node::Compare(op, a, b) => {
                    let text = |id| matches!(dag.node(id), Node::Constant(at) if matches!(dag.constants[at as usize], Value::Str(_)));
                    let equal = matches!(op, CompareOp::Eq | CompareOp::Ne) && !text(a) && !text(b);
                    let shape = joined(a, b);
                    if shape == Shape::Bent || (equal && shape == Shape::Straight) {
                        let what =
                            "a predicate that does not run straight between samples (⟨interpolate: linear⟩)";
                        return Err(Unsupported::construct(id, what).help(
                            "write `abs(x) < 2` as `x < 2 & x > -2`, `x == 1` as `x <= 1 & x >= 1`, `max(x, y) > 0` as \
                             `x > 0 | y > 0`; products of signals can be read with ⟨interpolate: step⟩",
                        ));
                    }
                    Shape::Constant
                }
                _ => Shape::Constant,
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bends_is_refused() {
        let straight = |formula: &str| {
            let tree = tw_spec::parse_formula(formula, 0);
            let program = tw_spec::lower(&tree.value, &Default::default()).value;
            let robust = Robust::new(&program, &Default::default()).unwrap();
            robust.straight(&[program.roots[0].node]).is_ok()
        };
        for fine in ["F x > 1", "G 2 * x - y / 4 >= -(3 - x)", "p & mode == \"on\"", "x < max(1, 2) * y"] {
            assert!(straight(fine), "{fine}");
        }
        for bent in
            ["x == 1", "G x != y", "abs(x - 1) > 0", "max(x, y) < 1", "x * x < 2", "1 / x < 2", "x % 2 < 1"]
        {
            assert!(!straight(bent), "{bent}");
        }
    }
}
