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
                        return Err(self.crooked(id, [a, b]));
                    }
                    Shape::Constant
                }
                _ => Shape::Constant,
            };
        }
        Ok(())
    }

    /// Names what bends in a predicate.
    fn crooked(&self, predicate: NodeId, sides: [NodeId; 2]) -> Unsupported {
        let dag = &self.program.dag;
        let signal = |id: NodeId| {
            self.program.reachable(&[id]).iter().any(|&part| matches!(dag.node(part), Node::Slot(_)))
        };
        for id in self.program.reachable(&sides) {
            let what = match dag.node(id) {
                Node::Arithmetic(ArithmeticOp::Mul, a, b) if signal(a) && signal(b) => "a product of signals",
                Node::Arithmetic(ArithmeticOp::Div, _, b) if signal(b) => "a division by a signal",
                Node::Arithmetic(ArithmeticOp::Rem, a, b) if signal(a) || signal(b) => {
                    "a remainder of a signal"
                }
                Node::IfThenElse(..) => "a choice between terms",
                _ => continue,
            };
            return Unsupported::construct(id, format!("{what}, which bends between samples (⟨interpolate: linear⟩)"))
                .help("values at the samples alone need no ⟨interpolate⟩; ⟨interpolate: step⟩ holds each sample until the next");
        }
        let what = "an equality of what may not be numbers, between samples (⟨interpolate: linear⟩)";
        Unsupported::construct(predicate, what)
            .help("write `x == y` of numbers as `x <= y & x >= y`, or declare them: `var x: real;`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bends_is_written_straight_or_refused() {
        let straight = |formula: &str| {
            let tree = tw_spec::parse_formula(formula, 0);
            let program = tw_spec::lower(&tree.value, &Default::default()).value;
            let program = super::super::straighten(&program).unwrap();
            let robust = Robust::new(&program, &Default::default()).unwrap();
            robust.straight(&[program.roots[0].node]).map_err(|refusal| refusal.what)
        };
        for fine in [
            "F x > 1",
            "G 2 * x - y / 4 >= -(3 - x)",
            "p & mode == \"on\"",
            "x < max(1, 2) * y",
            "x == 1",
            "G x + 0 != y",
            "abs(x - 1) > 0",
            "max(x, y) < 1",
            "abs(max(x, -2 * abs(y))) - min(x, y) / 3 == 1",
        ] {
            assert_eq!(straight(fine), Ok(()), "{fine}");
        }
        for (bent, what) in [
            ("x * x < 2", "a product of signals"),
            ("abs(x) * max(x, y) < 2", "a product of signals"),
            ("abs(1 / x) < 2", "a division by a signal"),
            ("x % 2 < 1", "a remainder of a signal"),
            ("(if p then x else y) < 2", "a choice"),
            ("x == y", "an equality"),
        ] {
            assert!(straight(bent).unwrap_err().starts_with(what), "{bent}");
        }
    }
}
