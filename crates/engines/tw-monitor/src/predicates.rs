//! The truth of a program's atoms on batches of positions, computed once for all engines.
//!
//! What a predicate means:
//!
//! - **Null** makes every comparison false, `!=` included, and every arithmetic result null.
//! - **Numbers** compare by value, exactly, also an integer with a real (no rounding). Integers stay integers under
//!   `+ - * %`, `min`, `max`, `abs` and unary `-`; an overflow is an error. `/` divides reals. With a real on either
//!   side the other is rounded to one. A result that is no finite number, division by zero included, is null.
//!   `%` has the sign of its left side; by zero it is null. `min` and `max` give back one of their sides as it is.
//! - **Text** is ordered by code points.
//! - **Other kinds**: values of different kinds are different (`==` false, `!=` true) and never ordered; booleans,
//!   lists and objects are not ordered. Tuples and lists are equal part by part: `==` asks for every part `==`,
//!   `!=` for some part `!=` or another length. Objects likewise, key by key.
//! - **Several values**: a path with `[*]` stands for any element of its list. A term over such paths has one value
//!   per choice of elements, and a predicate holds when some choice satisfies it.
//! - `x in {1..5, "a"}`: `x` equals a value or is a number from 1 to 5, both inside. `x matches "re"`: `x` is a text
//!   in which the expression is found somewhere.
//! - **Errors** (overflow; arithmetic on what is no number) make the whole predicate an error, except in the branch
//!   that an `if` does not take.
//!
//! Three ways lead there: whole columns for predicates over one slot (`leaf`), 64 positions at a time for arithmetic
//! on numbers (`lanes`), and one position at a time for the rest (`scalar`). All are stateless: one [`Predicates`]
//! serves many threads.

mod lanes;
mod leaf;
mod pack;
mod scalar;
mod terms;
mod value;

use std::fmt;
use tw_core::{Batch, Bits, Column, Position};
use tw_ir::{Node, NodeId, Program};

pub(crate) use scalar::Scalar;
pub use scalar::{Ground, arithmetic, truth};
pub use terms::{Term, Terms};
pub use value::{compare, order};

/// A predicate that has no truth value at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateError {
    /// The atom.
    pub node: NodeId,
    /// The position, counted from the start of the batch.
    pub position: Position,
    /// What went wrong: `9223372036854775807 + 1 overflows a 64-bit integer`.
    pub message: String,
}

impl fmt::Display for PredicateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (position {} of the batch)", self.message, self.position)
    }
}

impl std::error::Error for PredicateError {}

/// The atoms of a program, ready to be evaluated on batches.
///
/// ```
/// use tw_core::{Batch, Bits, Column, Value};
/// use tw_ir::{CompareOp, Expect, Node, Path, Program, Root, Slot, What};
/// use tw_monitor::Predicates;
///
/// // queue > 10
/// let mut program = Program::default();
/// let what = What::Variable(Path::field("queue"), Expect::Number);
/// program.slots.push(Slot { what, declared: false, span: Default::default() });
/// let (queue, ten) = (program.dag.add(Node::Slot(0)), program.dag.constant(Value::Int(10)));
/// let node = program.dag.add(Node::Compare(CompareOp::Gt, queue, ten));
/// let root = Root::property("busy", node);
/// program.roots.push(root);
///
/// let column = Column::Int { values: vec![3, 11, 40], valid: Bits::repeat(true, 3) };
/// let batch = Batch { len: 3, slots: vec![column], times: None };
/// let atoms = Predicates::new(&program).evaluate(&batch).unwrap();
/// assert_eq!(atoms[0].iter_ones().collect::<Vec<_>>(), [1, 2]);
/// ```
#[derive(Clone)]
pub struct Predicates<'p> {
    program: &'p Program,
    atoms: AtomParts,
}

/// What [`Predicates`] found out about a program: for those who own the program and cannot borrow it for long.
#[derive(Clone, Debug)]
pub struct AtomParts(std::sync::Arc<[Atom]>);

#[derive(Debug)]
struct Atom {
    node: NodeId,
    /// The nodes it is made of, ascending, itself last.
    order: Vec<NodeId>,
}

impl<'p> Predicates<'p> {
    /// The atoms of `program`.
    pub fn new(program: &'p Program) -> Self {
        let atoms =
            program.atoms().into_iter().map(|node| Atom { node, order: parts(program, node) }).collect();
        Self { program, atoms: AtomParts(atoms) }
    }

    /// Some formulas of `program` that one position alone decides, whether or not it asks for them.
    pub fn of(program: &'p Program, nodes: &[NodeId]) -> Self {
        let atoms = nodes.iter().map(|&node| Atom { node, order: parts(program, node) }).collect();
        Self { program, atoms: AtomParts(atoms) }
    }

    /// As [`Predicates::new`] for the program that `parts` came from.
    pub fn with_parts(program: &'p Program, parts: AtomParts) -> Self {
        Self { program, atoms: parts }
    }

    /// What was found out about the program.
    pub fn parts(&self) -> AtomParts {
        self.atoms.clone()
    }

    /// The atoms, in the order of the columns that [`Predicates::evaluate`] returns; that of [`Program::atoms`].
    pub fn atoms(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.atoms.0.iter().map(|atom| atom.node)
    }

    /// One column per atom, or the error at the earliest position that has one.
    pub fn evaluate(&self, batch: &Batch) -> Result<Vec<Bits>, PredicateError> {
        let mut columns = Vec::with_capacity(self.atoms.0.len());
        let mut earliest: Option<PredicateError> = None;
        for atom in self.atoms.0.iter() {
            match self.column(atom, batch) {
                Ok(bits) => columns.push(bits),
                Err(error) if earliest.as_ref().is_none_or(|e| error.position < e.position) => {
                    earliest = Some(error)
                }
                Err(_) => {}
            }
        }
        earliest.map_or(Ok(columns), Err)
    }

    /// As [`Predicates::evaluate`], taking truth columns out of the batch instead of copying them.
    pub fn evaluate_owned(&self, mut batch: Batch) -> Result<Vec<Bits>, PredicateError> {
        // Propositions last: another predicate may read the same slot (`if p then …`).
        let slot_of = |atom: &Atom| match self.program.dag.node(atom.node) {
            Node::Truth(slot) if matches!(batch.slots[slot as usize], Column::Truth(_)) => {
                Some(slot as usize)
            }
            _ => None,
        };
        let slots: Vec<Option<usize>> = self.atoms.0.iter().map(slot_of).collect();
        let mut columns = Vec::with_capacity(self.atoms.0.len());
        let mut earliest: Option<PredicateError> = None;
        for (atom, slot) in self.atoms.0.iter().zip(&slots) {
            match slot.map_or_else(|| self.column(atom, &batch), |_| Ok(Bits::new())) {
                Ok(bits) => columns.push(bits),
                Err(error) if earliest.as_ref().is_none_or(|e| error.position < e.position) => {
                    earliest = Some(error)
                }
                Err(_) => {}
            }
        }
        if let Some(error) = earliest {
            return Err(error);
        }
        for (column, slot) in columns.iter_mut().zip(slots) {
            if let Some(slot) = slot
                && let Column::Truth(bits) = &mut batch.slots[slot]
            {
                *column = std::mem::take(bits);
            }
        }
        Ok(columns)
    }

    fn column(&self, atom: &Atom, batch: &Batch) -> Result<Bits, PredicateError> {
        if let Some(bits) = leaf::leaf(self.program, batch, atom.node) {
            return Ok(bits);
        }
        let mut scalar = Scalar::new(self.program, batch, &atom.order);
        if let Some(lanes) = lanes::Lanes::compile(self.program, batch, &atom.order)
            && let Ok(bits) = lanes.run()
        {
            return Ok(bits);
        }
        // Also where the fast path met an error: the slow one words it.
        let mut bits = Bits::with_capacity(batch.len);
        for position in 0..batch.len {
            match scalar.at(position) {
                Ok(holds) => bits.push(holds),
                Err(message) => return Err(PredicateError { node: atom.node, position, message }),
            }
        }
        Ok(bits)
    }
}

/// The nodes below `root` and itself, ascending. Costs what the predicate is large, not what the program is.
pub(crate) fn parts(program: &Program, root: NodeId) -> Vec<NodeId> {
    let mut seen = rustc_hash::FxHashSet::from_iter([root]);
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        todo.extend(program.dag.node(id).children().filter(|&child| seen.insert(child)));
    }
    let mut parts: Vec<NodeId> = seen.into_iter().collect();
    parts.sort_unstable();
    parts
}

#[cfg(test)]
mod tests;
