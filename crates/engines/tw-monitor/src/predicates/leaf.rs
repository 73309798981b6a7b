//! Predicates over plain slots, whole columns at a time: `p`, `x > 3`, `name == "bob"`, `x in {…}`,
//! `name matches "…"`, `user == owner`.

use super::pack::pack;
use super::value::{accepts, compare, contains, mirrored, order_int_real};
use tw_core::{Batch, Bits, Column, Dictionary, Value};
use tw_ir::{CompareOp, Node, NodeId, Program, SetItem, SlotId, What};

/// The truth of the node at every position, if it is a predicate of this simple shape.
pub(super) fn leaf(program: &Program, batch: &Batch, id: NodeId) -> Option<Bits> {
    let dag = &program.dag;
    let plain = |id: NodeId| match dag.node(id) {
        Node::Slot(slot) if !ranges_over_lists(program, slot) => Some(&batch.slots[slot as usize]),
        _ => None,
    };
    let constant = |id: NodeId| match dag.node(id) {
        Node::Constant(constant) => Some(&dag.constants[constant as usize]),
        _ => None,
    };
    match dag.node(id) {
        Node::Truth(slot) => match &batch.slots[slot as usize] {
            Column::Truth(bits) => Some(bits.clone()),
            _ => None,
        },
        Node::Compare(op, a, b) => {
            if let (Some(column), Some(value)) = (plain(a), constant(b)) {
                Some(compare_column(op, column, value))
            } else if let (Some(value), Some(column)) = (constant(a), plain(b)) {
                Some(compare_column(mirrored(op), column, value))
            } else {
                compare_columns(op, plain(a)?, plain(b)?)
            }
        }
        Node::In(a, set) => Some(in_column(plain(a)?, &dag.sets[set as usize])),
        Node::Matches(a, regex) => match plain(a)? {
            Column::Text { ids, dictionary, valid } => {
                let regex = &dag.regexes[regex as usize];
                Some(by_entry(ids, dictionary, valid, |text| regex.is_match(text)))
            }
            Column::Any(values) => {
                let regex = &dag.regexes[regex as usize];
                Some(values.iter().map(|v| matches!(v, Value::Str(text) if regex.is_match(text))).collect())
            }
            other => Some(Bits::repeat(false, other.len())),
        },
        Node::Has(a) => match plain(a)? {
            Column::Int { valid, .. } | Column::Real { valid, .. } | Column::Text { valid, .. } => {
                Some(valid.clone())
            }
            column => Some((0..column.len()).map(|at| !column.value(at).is_null()).collect()),
        },
        _ => None,
    }
}

/// Whether the slot's path has a `[*]`, so that its lists stand for several values.
pub(super) fn ranges_over_lists(program: &Program, slot: SlotId) -> bool {
    matches!(&program.slots[slot as usize].what, What::Variable(path, _) if path.has_each())
}

fn compare_column(op: CompareOp, column: &Column, constant: &Value) -> Bits {
    match (column, constant) {
        (Column::Int { values, valid }, _) => match IntTest::new(op, constant) {
            IntTest::Never => Bits::repeat(false, values.len()),
            IntTest::Always => valid.clone(),
            IntTest::Compare(op, k) => match op {
                CompareOp::Eq => pack(values, valid, |x| x == k),
                CompareOp::Ne => pack(values, valid, |x| x != k),
                CompareOp::Lt => pack(values, valid, |x| x < k),
                CompareOp::Le => pack(values, valid, |x| x <= k),
                CompareOp::Gt => pack(values, valid, |x| x > k),
                CompareOp::Ge => pack(values, valid, |x| x >= k),
            },
        },
        (Column::Real { values, valid }, Value::Real(k)) => compare_reals(op, values, valid, *k),
        (Column::Real { values, valid }, Value::Int(k)) => {
            if i128::from(*k) == (*k as f64) as i128 {
                compare_reals(op, values, valid, *k as f64)
            } else {
                pack(values, valid, |x| accepts(op, order_int_real(*k, x).reverse()))
            }
        }
        (Column::Text { ids, dictionary, valid }, Value::Str(text)) => match op {
            CompareOp::Eq | CompareOp::Ne => {
                let id = dictionary.entries.iter().position(|entry| entry == text);
                match (id.and_then(|id| u32::try_from(id).ok()), op) {
                    (Some(id), CompareOp::Eq) => pack(ids, valid, |x| x == id),
                    (Some(id), _) => pack(ids, valid, |x| x != id),
                    (None, CompareOp::Eq) => Bits::repeat(false, ids.len()),
                    (None, _) => valid.clone(),
                }
            }
            _ => by_entry(ids, dictionary, valid, |entry| accepts(op, entry.as_bytes().cmp(text.as_bytes()))),
        },
        (Column::Any(values), _) => values.iter().map(|value| compare(op, value, constant)).collect(),
        // Different kinds: never ordered, and different unless one is null.
        (Column::Real { valid, .. } | Column::Text { valid, .. }, _)
            if op == CompareOp::Ne && !constant.is_null() =>
        {
            valid.clone()
        }
        (Column::Truth(bits), _) => {
            let [no, yes] = [false, true].map(|truth| compare(op, &Value::Bool(truth), constant));
            (0..bits.len()).map(|at| if bits.get(at) { yes } else { no }).collect()
        }
        (other, _) => Bits::repeat(false, other.len()),
    }
}

/// Two names compared with each other; numbers are left to the lanes.
fn compare_columns(op: CompareOp, a: &Column, b: &Column) -> Option<Bits> {
    match (a, b) {
        (Column::Any(a), Column::Any(b)) => Some(a.iter().zip(b).map(|(a, b)| compare(op, a, b)).collect()),
        (Column::Any(a), b) => {
            Some(a.iter().enumerate().map(|(at, a)| compare(op, a, &b.value(at))).collect())
        }
        (a, Column::Any(b)) => {
            Some(b.iter().enumerate().map(|(at, b)| compare(op, &a.value(at), b)).collect())
        }
        (Column::Text { .. }, Column::Text { .. }) => {
            Some((0..a.len()).map(|at| compare(op, &a.value(at), &b.value(at))).collect())
        }
        _ => None,
    }
}

fn compare_reals(op: CompareOp, values: &[f64], valid: &Bits, k: f64) -> Bits {
    match op {
        CompareOp::Eq => pack(values, valid, |x| x == k),
        CompareOp::Ne => pack(values, valid, |x| x != k),
        CompareOp::Lt => pack(values, valid, |x| x < k),
        CompareOp::Le => pack(values, valid, |x| x <= k),
        CompareOp::Gt => pack(values, valid, |x| x > k),
        CompareOp::Ge => pack(values, valid, |x| x >= k),
    }
}

/// A comparison of a whole number with a constant, turned into one of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum IntTest {
    Never,
    Always,
    Compare(CompareOp, i64),
}

impl IntTest {
    fn new(op: CompareOp, constant: &Value) -> IntTest {
        use CompareOp::*;
        let real = match constant {
            Value::Int(k) => return IntTest::Compare(op, *k),
            Value::Real(real) => *real,
            Value::Null => return IntTest::Never,
            _ => return if op == Ne { IntTest::Always } else { IntTest::Never },
        };
        // x < 2.5 is x < 3, x > 2.5 is x > 2.
        let whole = match op {
            Lt | Ge => real.ceil(),
            _ => real.floor(),
        };
        const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2⁶³
        let (above, below) = (whole >= LIMIT, whole < -LIMIT);
        let exact = whole == real && !above && !below;
        match op {
            Eq if !exact => IntTest::Never,
            Ne if !exact => IntTest::Always,
            Lt | Le if above => IntTest::Always,
            Lt | Le if below => IntTest::Never,
            Gt | Ge if above => IntTest::Never,
            Gt | Ge if below => IntTest::Always,
            _ => IntTest::Compare(op, whole as i64),
        }
    }
}

fn in_column(column: &Column, set: &[SetItem]) -> Bits {
    match column {
        Column::Int { values, valid } => {
            let ranges: Vec<(i64, i64)> = set
                .iter()
                .filter_map(|item| match item {
                    SetItem::Range(low, high) => Some((*low, *high)),
                    SetItem::Value(value) => match IntTest::new(CompareOp::Eq, value) {
                        IntTest::Compare(_, k) => Some((k, k)),
                        _ => None,
                    },
                })
                .collect();
            if ranges.len() > 8 {
                return pack(values, valid, |x| ranges.iter().any(|&(low, high)| low <= x && x <= high));
            }
            // A pass per range vectorises, a loop over ranges within the pass does not.
            let mut bits = Bits::repeat(false, values.len());
            for (low, high) in ranges {
                let more = pack(values, valid, |x| low <= x && x <= high);
                for (word, more) in bits.words_mut().iter_mut().zip(more.words()) {
                    *word |= more;
                }
            }
            bits
        }
        Column::Real { values, valid } => pack(values, valid, |x| contains(set, &Value::Real(x))),
        Column::Text { ids, dictionary, valid } => by_entry(ids, dictionary, valid, |text| {
            set.iter().any(|item| matches!(item, SetItem::Value(Value::Str(member)) if **member == *text))
        }),
        Column::Any(values) => values.iter().map(|value| contains(set, value)).collect(),
        Column::Words(words) => {
            (0..words.len()).map(|at| contains(set, &Value::text(words.get(at)))).collect()
        }
        Column::Truth(bits) => {
            let [no, yes] = [false, true].map(|truth| contains(set, &Value::Bool(truth)));
            (0..bits.len()).map(|at| if bits.get(at) { yes } else { no }).collect()
        }
        // No term is made of them.
        Column::Tuples(relation) => Bits::repeat(false, relation.len()),
    }
}

/// Tests each distinct text once. The id of a null is unspecified and may lie outside the dictionary.
fn by_entry(ids: &[u32], dictionary: &Dictionary, valid: &Bits, test: impl Fn(&str) -> bool) -> Bits {
    let table: Vec<bool> = dictionary.entries.iter().map(|entry| test(entry)).collect();
    pack(ids, valid, |id| table.get(id as usize).copied().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The turned comparison agrees with the exact one around every kind of boundary.
    #[test]
    fn real_bounds_on_whole_numbers() {
        use CompareOp::*;
        let two63 = 9_223_372_036_854_775_808.0f64;
        let reals = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            2.5,
            -2.5,
            3.0,
            two63,
            -two63,
            two63 * 2.0,
            -two63 * 2.0,
            two63 - 1024.0,
            1e300,
        ];
        let ints = [0, 1, -1, 2, -2, 3, -3, i64::MAX, i64::MIN, i64::MAX - 1023, i64::MIN + 1];
        for real in reals {
            for int in ints {
                for op in [Eq, Ne, Lt, Le, Gt, Ge] {
                    let turned = match IntTest::new(op, &Value::Real(real)) {
                        IntTest::Never => false,
                        IntTest::Always => true,
                        IntTest::Compare(op, k) => accepts(op, int.cmp(&k)),
                    };
                    assert_eq!(
                        turned,
                        compare(op, &Value::Int(int), &Value::Real(real)),
                        "{int} {op:?} {real}"
                    );
                }
            }
        }
    }
}
