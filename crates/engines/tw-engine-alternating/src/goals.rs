//! What every traversal starts from: the automaton of some formulas, and a reading of labels off a stored trace.

use tw_automata::alternating::{Alternating, ExprId, Label, Options, Refused};
use tw_core::{Bits, Position};
use tw_ir::{Node, NodeId, Program, Semantics, Temporal};
use tw_monitor::{EvaluateOptions, Trace, Unsupported};

/// Formulas and their common automaton.
pub(crate) struct Goals {
    pub(crate) automaton: Alternating,
    /// One expression per formula.
    pub(crate) exprs: Vec<ExprId>,
}

impl Goals {
    /// For a traversal of stored traces, in whatever direction.
    pub(crate) fn stored(
        program: &Program,
        formulas: &[NodeId],
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        options.pointwise()?;
        if options.semantics == Semantics::Ltl3 {
            return Err(Unsupported {
                node: None,
                what: "three-valued verdicts (ltl3)".into(),
                help: Some(
                    "`breadth-first`, `automaton` and `rewrite` know them; or ⟨semantics: finite⟩".into(),
                ),
                exhausted: false,
            });
        }
        let mut automaton = Alternating::new(automaton_options(options));
        let mut exprs = Vec::with_capacity(formulas.len());
        for &formula in formulas {
            exprs.push(automaton.formula(program, formula, false).map_err(refuse)?);
        }
        Ok(Self { automaton, exprs })
    }
}

/// How the automaton is built for the given options.
pub(crate) fn automaton_options(options: &EvaluateOptions) -> Options {
    Options { repeat_last: options.semantics == Semantics::RepeatLast, faithful: options.faithful }
}

/// The refusal of a construct, for the user.
pub(crate) fn refuse(refused: Refused) -> Unsupported {
    Unsupported::construct(refused.node, refused.what)
}

/// φ of a formula `G φ` without interval: where it is false, `G φ` is violated.
pub(crate) fn body(program: &Program, root: NodeId) -> Option<NodeId> {
    match program.dag.node(root) {
        Node::Unary(Temporal::Globally, None, body) => Some(body),
        _ => None,
    }
}

/// The formulas of the roots, then the bodies of those that are `G φ`; and for each root where its body stands.
pub(crate) fn roots_and_bodies(program: &Program) -> (Vec<NodeId>, Vec<Option<usize>>) {
    let mut formulas: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let mut bodies = Vec::with_capacity(formulas.len());
    for root in &program.roots {
        bodies.push(body(program, root.node).map(|body| {
            formulas.push(body);
            formulas.len() - 1
        }));
    }
    (formulas, bodies)
}

/// One of the traces laid end to end.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'t> {
    atoms: &'t [Bits],
    pub(crate) start: Position,
    pub(crate) end: Position,
}

impl<'t> Segment<'t> {
    /// All of them, in order.
    pub(crate) fn all(trace: &'t Trace) -> impl DoubleEndedIterator<Item = Segment<'t>> {
        (0..trace.starts().len()).map(|index| Segment {
            atoms: &trace.atoms,
            start: trace.starts()[index],
            end: trace.segment_end(index),
        })
    }

    /// Whether a label holds at a position.
    #[inline]
    pub(crate) fn holds(&self, label: Label, at: Position) -> bool {
        match label {
            Label::True => true,
            Label::Atom(atom, value) => {
                (self.atoms[atom as usize].words()[at / 64] >> (at % 64) & 1 == 1) == value
            }
            Label::Last(value) => (at + 1 == self.end) == value,
        }
    }
}
