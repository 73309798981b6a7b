//! Modules made ready to be explored.

use super::syntax::{Op, Spec};
use super::table::Rows;
use crate::Domain;
use rustc_hash::FxHashMap;
use tw_core::Value;

/// What an expression is worth while some variables have no value yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Val {
    /// It depends on variables without a value.
    Unknown,
    Bool(bool),
    Int(i64),
    /// A symbol by number.
    Symbol(u32),
    /// Values in the evaluator's list: where, how many.
    Set(u32, u32),
    /// Whole numbers from one to another.
    Span(i64, i64),
    /// It cannot be computed; a number in the evaluator's list of faults.
    Fault(u32),
}

/// One step of an evaluation on a stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instr {
    Push(Val),
    /// A variable: slots of current variables come before those of next ones.
    Slot(u32),
    /// A definition: twice its number, and one more for its next value.
    Define(u32),
    Unary(Op),
    Binary(Op),
    /// After the left side of `&`, `|` or `->`: on to there if that decides.
    Decides(Op, u32),
    /// After a condition: on to the first if it is false, to the second (with nothing known) if it is unknown.
    Test(u32, u32),
    Jump(u32),
    /// No case applies.
    Nothing,
}

/// An expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Expr {
    pub start: u32,
    pub end: u32,
    /// Definitions that it stands on, those that others stand on first.
    pub needs: Vec<u32>,
    /// Slots that it depends on, ascending.
    pub slots: Vec<u32>,
}

/// Index of an [`Expr`].
pub(super) type ExprId = u32;

/// A variable.
#[derive(Debug)]
pub(super) struct Slot {
    pub name: String,
    pub domain: Domain,
    pub size: u32,
    /// Values by number, for enumerations.
    pub values: Vec<Val>,
    pub codes: FxHashMap<Val, u32>,
}

impl Slot {
    pub fn value(&self, code: u32) -> Val {
        match self.domain {
            Domain::Boolean => Val::Bool(code != 0),
            Domain::Range(low, _) => Val::Int(low + i64::from(code)),
            Domain::Values(_) => self.values[code as usize],
        }
    }

    /// The number of a value; 0 and 1 are also truth values.
    pub fn code(&self, value: Val) -> Option<u32> {
        match (&self.domain, value) {
            (Domain::Boolean, Val::Bool(value)) => Some(u32::from(value)),
            (Domain::Boolean, Val::Int(value @ (0 | 1))) => Some(value as u32),
            (Domain::Range(low, high), Val::Int(value)) if (*low..=*high).contains(&value) => {
                Some((i128::from(value) - i128::from(*low)) as u32)
            }
            (Domain::Range(..) | Domain::Values(_), Val::Bool(value)) => {
                self.code(Val::Int(i64::from(value)))
            }
            (Domain::Values(_), value) => self.codes.get(&value).copied(),
            _ => None,
        }
    }
}

/// Values by the numbers of a variable's values: of some, and of the rest if something is said of it.
#[derive(Debug, Default)]
pub(super) struct Cases {
    pub of: FxHashMap<u32, Val>,
    pub rest: Option<Val>,
}

impl Cases {
    pub fn get(&self, code: u32) -> Option<Val> {
        self.of.get(&code).copied().or(self.rest)
    }
}

/// A definition.
#[derive(Debug)]
pub(super) struct Define {
    pub name: String,
    /// Now, and one step later; `None` if it cannot be asked then.
    pub exprs: [Option<ExprId>; 2],
    /// It is a list of cases over one variable: the variable, and the value for each of its values.
    pub table: Option<(u32, Cases)>,
    /// Whether it speaks of next states.
    pub next: bool,
}

/// Where the values to try for a variable come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generator {
    pub expr: ExprId,
    /// An assignment: a value outside the variable's type is an error rather than no value.
    pub strict: bool,
    /// An equation: there is one value, and sets are an error.
    pub single: bool,
    pub at: u32,
}

/// What has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Check {
    Expr(ExprId),
    /// The value of a variable is in this set.
    Member(u32, ExprId),
    /// One of the rows of a table.
    Rows(u32),
}

/// How to find the valuations that satisfy a conjunction.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What must hold before any variable has a value.
    pub guards: Vec<Check>,
    /// Variables in the order in which they get values.
    pub order: Vec<u32>,
    /// By place in the order.
    pub generators: Vec<Option<Generator>>,
    /// What to check once the variable at a place has a value.
    pub checks: Vec<Vec<Check>>,
}

impl Plan {
    /// Whether every valuation will do.
    pub fn is_free(&self) -> bool {
        self.guards.is_empty()
            && self.generators.iter().all(Option::is_none)
            && self.checks.iter().all(Vec::is_empty)
    }
}

/// The search for initial states, or for the states that follow one.
#[derive(Debug, Default)]
pub(super) struct Problem {
    /// The slot of the first variable that gets a value.
    pub base: u32,
    /// Tables, ready to be asked; the first leads the search if `leads`.
    pub tables: Vec<Table>,
    pub leads: bool,
    /// What rows of the leading table are completed by.
    pub common: Plan,
    /// Alternatives.
    pub plans: Vec<Plan>,
}

/// Rows by what they say of slots that have values.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub shapes: Vec<Indexed>,
}

/// A shape, indexed.
#[derive(Debug, Default)]
pub(super) struct Indexed {
    /// Slots that have values before the search.
    pub known: Vec<u32>,
    /// Slots that get values.
    pub filled: Vec<u32>,
    /// Rows: known slots, then filled ones.
    pub codes: Vec<u32>,
    /// Rows by hash of their known part.
    pub order: Vec<u32>,
    /// Hash: where in the order its rows begin and end.
    pub places: FxHashMap<u64, (u32, u32)>,
}

/// The hash of some codes.
pub(super) fn hash(codes: impl Iterator<Item = u32>) -> u64 {
    let mixed = codes.fold(0x9e37_79b9_7f4a_7c15_u64, |hash, code| {
        (hash.rotate_left(5) ^ u64::from(code)).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    mixed ^ mixed >> 32
}

impl Table {
    /// Indexes rows. For initial states (`base` 0) nothing is known before.
    pub fn new(rows: Rows, base: u32) -> Self {
        let shapes = rows.shapes.into_iter().map(|shape| {
            let width = shape.width();
            let (known, filled) = if base == 0 {
                (Vec::new(), shape.current)
            } else {
                (shape.current, shape.next.iter().map(|variable| variable + base).collect())
            };
            let count = shape.codes.len() / width.max(1);
            let of = |row: u32| {
                let start = row as usize * width;
                hash(shape.codes[start..start + known.len()].iter().copied())
            };
            let mut keyed: Vec<(u64, u32)> = (0..count as u32).map(|row| (of(row), row)).collect();
            keyed.sort_unstable();
            let mut places = FxHashMap::default();
            let mut start = 0;
            for end in 1..=keyed.len() {
                if end == keyed.len() || keyed[end].0 != keyed[start].0 {
                    places.insert(keyed[start].0, (start as u32, end as u32));
                    start = end;
                }
            }
            let order = keyed.into_iter().map(|(_, row)| row).collect();
            Indexed { known, filled, codes: shape.codes, order, places }
        });
        Self { shapes: shapes.collect() }
    }
}

impl Indexed {
    /// The rows that agree with what is known: the codes of their filled slots.
    pub fn matching<'s>(&'s self, slots: &'s [u32]) -> impl Iterator<Item = &'s [u32]> + 's {
        let key = hash(self.known.iter().map(|&slot| slots[slot as usize]));
        let (start, end) = self.places.get(&key).copied().unwrap_or((0, 0));
        let width = self.known.len() + self.filled.len();
        self.order[start as usize..end as usize].iter().filter_map(move |&row| {
            let row = &self.codes[row as usize * width..][..width];
            let (known, filled) = row.split_at(self.known.len());
            self.known.iter().zip(known).all(|(&slot, &code)| slots[slot as usize] == code).then_some(filled)
        })
    }
}

/// A module made ready.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub variables: Vec<Slot>,
    /// Symbols: what they stand for.
    pub symbols: Vec<Value>,
    pub code: Vec<Instr>,
    /// Where each step stands in the text.
    pub places: Vec<u32>,
    pub exprs: Vec<Expr>,
    pub defines: Vec<Define>,
    pub init: Problem,
    pub trans: Problem,
    pub fairness: Vec<Spec>,
    pub specs: Vec<Spec>,
    /// Where lines begin, to tell where specifications stand.
    pub lines: Vec<u32>,
}
