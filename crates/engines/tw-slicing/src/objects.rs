//! Values by number: two that `==` calls equal are one thing.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use tw_core::Value;
use tw_monitor::order;

/// A thing that variables are bound to.
pub type Object = u32;

/// The values of a trace and of a specification, each once.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    values: Vec<Value>,
    index: FxHashMap<String, Object>,
}

/// One text for equal values: 1 and 1.0 are equal, 1 and "1" are not.
fn name(value: &Value) -> String {
    match value {
        Value::Int(int) => format!("{int}"),
        // Whole numbers of this size are exact in both.
        Value::Real(real) if real.fract() == 0.0 && real.abs() < 9e15 => format!("{}", *real as i64),
        Value::Real(real) => format!("{real:?}"),
        Value::List(items) => format!("[{}]", items.iter().map(name).collect::<Vec<_>>().join(",")),
        other => format!("{other:?}"),
    }
}

impl Objects {
    /// The number of a value.
    pub fn of(&mut self, value: &Value) -> Object {
        *self.index.entry(name(value)).or_insert_with(|| {
            self.values.push(value.clone());
            (self.values.len() - 1) as Object
        })
    }

    /// The value with that number, as it was first seen.
    pub fn value(&self, object: Object) -> &Value {
        &self.values[object as usize]
    }
}

impl Objects {
    /// Of each thing its place in the order in which bindings are told.
    pub fn ranks(&self) -> Vec<u32> {
        let one = |object: &u32| [Some(self.value(*object).clone())];
        let mut order: Vec<u32> = (0..self.values.len() as u32).collect();
        order.sort_by(|a, b| by_values(&one(a), &one(b)));
        let mut ranks = vec![0; order.len()];
        let mut rank = 0;
        for (place, &object) in order.iter().enumerate() {
            if place > 0 && by_values(&one(&order[place - 1]), &one(&object)).is_ne() {
                rank = place as u32;
            }
            ranks[object as usize] = rank;
        }
        ranks
    }
}

/// The order in which bindings are told: by the values of their variables, what is not bound first, numbers before texts.
pub fn by_values(a: &[Option<Value>], b: &[Option<Value>]) -> Ordering {
    let rank = |value: &Option<Value>| match value {
        None => 0,
        Some(Value::Int(_) | Value::Real(_)) => 1,
        Some(Value::Bool(_)) => 2,
        Some(Value::Str(_)) => 3,
        Some(_) => 4,
    };
    let one = |(a, b): (&Option<Value>, &Option<Value>)| {
        let same = a.as_ref().zip(b.as_ref()).and_then(|(a, b)| order(a, b));
        rank(a).cmp(&rank(b)).then(same.unwrap_or(Ordering::Equal))
    };
    a.iter().zip(b).map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
