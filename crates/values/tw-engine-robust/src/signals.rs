//! What each predicate is worth at each position, from the values of the slots.
//!
//! - `e1 > e2` and `e1 >= e2` are worth e1 − e2; `<` and `<=` e2 − e1; `==` −|e1 − e2|, `!=` its negation. Whole
//!   numbers are subtracted exactly and rounded once.
//! - A comparison with **null** is false, hence −inf, whatever the operator; so is its negation +inf.
//! - Comparisons of anything but two numbers, `in`, `matches` and propositions are true or false: ±inf.
//! - A path with `[*]` stands for any element of its list: the greatest of what the choices are worth.

mod numbers;

use crate::lattice::negate;
use numbers::{differences, first_error, truths};
use tw_core::{Batch, Value};
use tw_ir::{CompareOp, Node, NodeId, Program, Root, What};
use tw_monitor::{AtomParts, PredicateError, Predicates, Terms};

/// The predicates of a program, ready to be evaluated on batches; stateless.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    /// The program, its roots replaced by the predicates that are true or false and by the operands of the others.
    program: Program,
    atoms: AtomParts,
    terms: AtomParts,
    predicates: Vec<Predicate>,
}

#[derive(Clone, Debug)]
enum Predicate {
    /// Index among the atoms.
    Truth(usize),
    Compare(NodeId, CompareOp, Operand, Operand),
}

#[derive(Clone, Debug)]
struct Operand {
    source: Source,
    /// Its lists are choices.
    several: bool,
}

#[derive(Clone, Debug)]
enum Source {
    Constant(Value),
    Slot(usize),
    /// Index among the terms.
    Term(usize),
}

/// What `a op b` is worth.
pub(crate) fn worth(op: CompareOp, a: &Value, b: &Value) -> f64 {
    let difference = match (a, b) {
        (Value::Int(a), Value::Int(b)) => whole(*a, *b),
        (Value::Int(a), Value::Real(b)) => *a as f64 - b,
        (Value::Real(a), Value::Int(b)) => a - *b as f64,
        (Value::Real(a), Value::Real(b)) => a - b,
        _ => return truth(tw_monitor::compare(op, a, b)),
    };
    signed(op, difference)
}

/// a − b, rounded once.
#[inline(always)]
fn whole(a: i64, b: i64) -> f64 {
    match a.checked_sub(b) {
        Some(difference) => difference as f64,
        None => (i128::from(a) - i128::from(b)) as f64,
    }
}

#[inline(always)]
fn signed(op: CompareOp, difference: f64) -> f64 {
    match op {
        // −0.0 − 0.0 is −0.0; adding 0.0 makes it 0.0.
        CompareOp::Gt | CompareOp::Ge => difference + 0.0,
        CompareOp::Lt | CompareOp::Le => negate(difference),
        CompareOp::Eq => negate(difference.abs()),
        CompareOp::Ne => difference.abs(),
    }
}

/// A truth value as a number.
#[inline(always)]
pub(crate) fn truth(holds: bool) -> f64 {
    if holds { f64::INFINITY } else { f64::NEG_INFINITY }
}

impl Signals {
    pub(crate) fn new(program: &Program, predicates: &[NodeId]) -> Self {
        let mut own = Program { roots: Vec::new(), ..program.clone() };
        let always = own.dag.add(Node::Bool(true));
        for &id in predicates {
            let asked: Vec<NodeId> = match compared(program, id) {
                None => vec![id],
                Some((_, a, b)) => {
                    let computed = |id: &NodeId| source(program, *id).is_none();
                    let emits = [a, b].into_iter().filter(computed);
                    emits.map(|term| own.dag.add(Node::Emit(always, term))).collect()
                }
            };
            own.roots.extend(asked.into_iter().map(|node| Root::query("", node)));
        }
        let (atoms, terms) = (own.atoms(), own.terms());
        let place = |list: &[NodeId], id: NodeId| list.binary_search(&id).unwrap_or_default();
        let operand = |id: NodeId| Operand {
            source: source(program, id).unwrap_or_else(|| Source::Term(place(&terms, id))),
            several: offers_choices(program, id),
        };
        let predicates = predicates.iter().map(|&id| match compared(program, id) {
            None => Predicate::Truth(place(&atoms, id)),
            Some((op, a, b)) => Predicate::Compare(id, op, operand(a), operand(b)),
        });
        let predicates = predicates.collect();
        let (atoms, terms) = (Predicates::new(&own).parts(), Terms::new(&own).parts());
        Self { program: own, atoms, terms, predicates }
    }

    /// One column per predicate, or the error at the earliest position that has one.
    pub(crate) fn evaluate(&self, batch: &Batch) -> Result<Vec<Vec<f64>>, PredicateError> {
        let atoms = Predicates::with_parts(&self.program, self.atoms.clone()).evaluate(batch)?;
        let terms = Terms::with_parts(&self.program, self.terms.clone()).evaluate(batch);
        let mut columns = Vec::with_capacity(self.predicates.len());
        let mut earliest: Option<PredicateError> = None;
        for predicate in &self.predicates {
            match predicate {
                Predicate::Truth(atom) => columns.push(truths(&atoms[*atom])),
                Predicate::Compare(node, op, a, b) => {
                    for error in [a, b].into_iter().filter_map(|side| first_error(side, &terms)) {
                        if earliest.as_ref().is_none_or(|e| error.0 < e.position) {
                            let (position, message) = error.clone();
                            earliest = Some(PredicateError { node: *node, position, message });
                        }
                    }
                    columns.push(differences(batch, &terms, *op, a, b));
                }
            }
        }
        earliest.map_or(Ok(columns), Err)
    }
}

/// The operands, if the predicate is a comparison whose choices can be told from lists.
fn compared(program: &Program, id: NodeId) -> Option<(CompareOp, NodeId, NodeId)> {
    let Node::Compare(op, a, b) = program.dag.node(id) else { return None };
    let clear = |id: NodeId| {
        // A tuple over choices, or an `if` between a list and choices, is worth a list either way.
        !offers_choices(program, id)
            || program.reachable(&[id]).iter().all(|&part| {
                matches!(
                    program.dag.node(part),
                    Node::Constant(_) | Node::Slot(_) | Node::Negate(_) | Node::Abs(_) | Node::Arithmetic(..)
                )
            })
    };
    (clear(a) && clear(b)).then_some((op, a, b))
}

/// Whether the term reads a path with `[*]`.
fn offers_choices(program: &Program, id: NodeId) -> bool {
    program.reachable(&[id]).iter().any(|&part| match program.dag.node(part) {
        Node::Slot(slot) => {
            matches!(&program.slots[slot as usize].what, What::Variable(path, _) if path.has_each())
        }
        _ => false,
    })
}

/// Where the operand's values are, if they need not be computed.
fn source(program: &Program, id: NodeId) -> Option<Source> {
    match program.dag.node(id) {
        Node::Constant(constant) => Some(Source::Constant(program.dag.constants[constant as usize].clone())),
        Node::Slot(slot) => Some(Source::Slot(slot as usize)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worth_of_comparisons() {
        use CompareOp::*;
        let (three, half, null, text) = (Value::Int(3), Value::Real(0.5), Value::Null, Value::text("bob"));
        assert_eq!(
            [Gt, Ge, Lt, Le, Eq, Ne].map(|op| worth(op, &three, &half)),
            [2.5, 2.5, -2.5, -2.5, -2.5, 2.5]
        );
        for op in [Gt, Ge, Lt, Le, Eq, Ne] {
            assert_eq!(worth(op, &three, &null), f64::NEG_INFINITY);
            assert_eq!(worth(op, &null, &null), f64::NEG_INFINITY);
            assert_eq!(worth(op, &three, &three).to_bits(), 0.0f64.to_bits());
        }
        assert_eq!(worth(Eq, &text, &text), f64::INFINITY);
        assert_eq!(worth(Ne, &text, &three), f64::INFINITY);
        assert_eq!(worth(Lt, &Value::Int(i64::MIN), &Value::Int(i64::MAX)), 18446744073709551615.0);
    }
}
