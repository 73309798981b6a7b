//! The values of a program's terms on batches of positions, computed once for all engines of queries.

use super::lanes::Lanes;
use super::leaf::ranges_over_lists;
use super::{AtomParts, Scalar, parts};
use tw_core::{Batch, Bits, Column, GrowingTexts, Position, Value};
use tw_ir::{Node, Program};

/// The values of a term at consecutive positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Null where it has no value. Truth values stand as values (`Column::Any`).
    pub column: Column,
    /// Positions whose value cannot be computed, ascending, and why: an error for those alone who ask for it, since
    /// in `φ : e` the term counts only where φ holds. The column is null there.
    pub errors: Vec<(Position, String)>,
}

impl Term {
    /// Appends the positions of `other`.
    pub fn append(&mut self, other: Term) {
        self.append_with(&mut GrowingTexts::default(), other);
    }

    /// The same, for a term that `texts` has appended to from its beginning.
    pub fn append_with(&mut self, texts: &mut GrowingTexts, other: Term) {
        let before = self.column.len();
        self.errors.extend(other.errors.into_iter().map(|(at, message)| (before + at, message)));
        texts.append(&mut self.column, other.column);
    }

    /// The value at a position.
    pub fn at(&self, position: Position) -> Result<Value, &str> {
        match self.errors.binary_search_by_key(&position, |(at, _)| *at) {
            Ok(index) => Err(&self.errors[index].1),
            Err(_) => Ok(self.column.value(position)),
        }
    }

    /// The positions `order`, in that order.
    #[must_use]
    pub fn gather(&self, order: &[u32]) -> Term {
        let errors = match self.errors.is_empty() {
            true => Vec::new(),
            false => {
                let at = order.iter().enumerate().filter_map(|(new, old)| {
                    let index = self.errors.binary_search_by_key(&(*old as usize), |(at, _)| *at).ok()?;
                    Some((new, self.errors[index].1.clone()))
                });
                at.collect()
            }
        };
        Term { column: self.column.gather(order), errors }
    }
}

/// The terms of a program, ready to be evaluated on batches; stateless, as [`super::Predicates`] is.
#[derive(Clone)]
pub struct Terms<'p> {
    program: &'p Program,
    terms: AtomParts,
}

impl<'p> Terms<'p> {
    /// The terms of `program`.
    pub fn new(program: &'p Program) -> Self {
        let terms = program.terms().into_iter();
        let terms = terms.map(|node| super::Atom { node, order: parts(program, node) }).collect();
        Self { program, terms: AtomParts(terms) }
    }

    /// As [`Terms::new`] for the program that `parts` came from.
    pub fn with_parts(program: &'p Program, parts: AtomParts) -> Self {
        Self { program, terms: parts }
    }

    /// What was found out about the program.
    pub fn parts(&self) -> AtomParts {
        self.terms.clone()
    }

    /// One column per term, in the order of [`Program::terms`].
    pub fn evaluate(&self, batch: &Batch) -> Vec<Term> {
        self.terms.0.iter().map(|term| self.column(&term.order, batch)).collect()
    }

    fn column(&self, order: &[tw_ir::NodeId], batch: &Batch) -> Term {
        if let Some(&id) = order.last()
            && let Node::Slot(slot) = self.program.dag.node(id)
            && !ranges_over_lists(self.program, slot)
        {
            let column = match &batch.slots[slot as usize] {
                Column::Truth(bits) => {
                    Column::Any((0..bits.len()).map(|at| Value::Bool(bits.get(at))).collect())
                }
                other => other.clone(),
            };
            return Term { column, errors: Vec::new() };
        }
        if let Some(lanes) = Lanes::compile(self.program, batch, order)
            && let Some(Ok(column)) = lanes.numbers()
        {
            return Term { column, errors: Vec::new() };
        }
        let mut scalar = Scalar::new(self.program, batch, order);
        let mut errors = Vec::new();
        let values = (0..batch.len).map(|position| {
            scalar.value(position).unwrap_or_else(|message| {
                errors.push((position, message));
                Value::Null
            })
        });
        let column = typed(values.collect());
        Term { column, errors }
    }
}

/// The tightest column for values.
fn typed(values: Vec<Value>) -> Column {
    let all = |test: fn(&Value) -> bool| values.iter().all(|value| value.is_null() || test(value));
    if all(|value| matches!(value, Value::Int(_))) {
        let valid: Bits = values.iter().map(|value| !value.is_null()).collect();
        let ints = values.iter().map(|value| if let Value::Int(i) = value { *i } else { 0 });
        Column::Int { values: ints.collect(), valid }
    } else if all(|value| matches!(value, Value::Real(_))) {
        let valid: Bits = values.iter().map(|value| !value.is_null()).collect();
        let reals = values.iter().map(|value| if let Value::Real(r) = value { *r } else { 0.0 });
        Column::Real { values: reals.collect(), valid }
    } else {
        Column::Any(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_ir::{ArithmeticOp, Expect, NodeId, Path, Root, Slot, What};

    /// `true : x + x`, with `x` an integer or whatever the batch holds.
    fn doubled() -> (Program, NodeId) {
        let mut program = Program::default();
        let what = What::Variable(Path::field("x"), Expect::Number);
        program.slots.push(Slot { what, declared: false, span: Default::default() });
        let x = program.dag.add(Node::Slot(0));
        let sum = program.dag.add(Node::Arithmetic(ArithmeticOp::Add, x, x));
        let always = program.dag.add(Node::Bool(true));
        let node = program.dag.add(Node::Emit(always, sum));
        program.roots.push(Root::query("q", node));
        (program, sum)
    }

    fn batch(column: Column) -> Batch {
        Batch { len: column.len(), slots: vec![column], times: None }
    }

    #[test]
    fn columns_keep_their_kind() {
        let (program, sum) = doubled();
        assert_eq!(program.terms(), [sum]);
        let terms = Terms::new(&program);
        let valid: Bits = (0..70).map(|i| i % 3 != 0).collect();
        let ints = Column::Int { values: (0..70).collect(), valid: valid.clone() };
        let found = terms.evaluate(&batch(ints)).pop().unwrap();
        assert!(matches!(found.column, Column::Int { .. }));
        assert_eq!((found.at(4), found.at(3)), (Ok(Value::Int(8)), Ok(Value::Null)));
        let reals = Column::Real { values: vec![0.25, f64::MAX], valid: Bits::repeat(true, 2) };
        let found = terms.evaluate(&batch(reals)).pop().unwrap();
        assert_eq!((found.at(0), found.at(1)), (Ok(Value::Real(0.5)), Ok(Value::Null)));
        let mixed = Column::Any(vec![Value::Int(1), Value::Real(0.5), Value::Null]);
        let found = terms.evaluate(&batch(mixed)).pop().unwrap();
        assert_eq!(found.column, Column::Any(vec![Value::Int(2), Value::Real(1.0), Value::Null]));
    }

    #[test]
    fn errors_stay_where_they_are() {
        let (program, _) = doubled();
        let terms = Terms::new(&program);
        let ints = |values: Vec<i64>| {
            let valid = Bits::repeat(true, values.len());
            terms.evaluate(&batch(Column::Int { values, valid })).pop().unwrap()
        };
        let mut found = ints(vec![1, i64::MAX]);
        found.append(ints(vec![i64::MIN, 3]));
        assert_eq!((found.at(0), found.at(3)), (Ok(Value::Int(2)), Ok(Value::Int(6))));
        assert!(found.at(1).is_err() && found.at(2).is_err());
        let picked = found.gather(&[3, 2]);
        assert_eq!(picked.at(0), Ok(Value::Int(6)));
        assert!(picked.at(1).unwrap_err().contains("overflows"));
    }
}
