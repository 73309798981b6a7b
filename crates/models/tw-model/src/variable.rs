//! What is known of states.

use crate::{Codes, Model, State};
use tw_core::Value;

/// A variable of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it can be.
    pub domain: Domain,
    /// What it is in each state.
    pub cells: Cells,
}

/// The values a variable can have; each has a number, from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// `false` is 0, `true` is 1.
    Boolean,
    /// From the first number to the last, both inside; the first is 0.
    Range(i64, i64),
    /// These, each once; `null` where a trace says nothing.
    Values(Vec<Value>),
}

/// The number of a variable's value in each state.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// One per state.
    Own(Vec<u32>),
    /// It depends on another variable (by index), one per value of that one: so `x` depends on the state's name where
    /// names stand for valuations, and a model of many instants holds it once.
    Of(usize, Codes),
}

impl Domain {
    /// How many values it has; [`u64::MAX`] of the one range that has one more.
    pub fn size(&self) -> u64 {
        match self {
            Domain::Boolean => 2,
            Domain::Range(low, high) => {
                let size = (i128::from(*high) - i128::from(*low) + 1).max(0);
                u64::try_from(size).unwrap_or(u64::MAX)
            }
            Domain::Values(values) => values.len() as u64,
        }
    }

    /// The value of that number.
    pub fn value(&self, code: u32) -> Value {
        match self {
            Domain::Boolean => Value::Bool(code != 0),
            Domain::Range(low, _) => Value::Int(low + i64::from(code)),
            Domain::Values(values) => values[code as usize].clone(),
        }
    }

    /// The number of a value.
    pub fn code(&self, value: &Value) -> Option<u32> {
        match (self, value) {
            (Domain::Boolean, Value::Bool(value)) => Some(u32::from(*value)),
            (Domain::Range(low, high), Value::Int(value)) if (low..=high).contains(&value) => {
                u32::try_from(i128::from(*value) - i128::from(*low)).ok()
            }
            (Domain::Values(values), _) => values.iter().position(|known| known == value).map(|at| at as u32),
            _ => None,
        }
    }
}

impl Model {
    /// The number of a variable's value in a state.
    pub fn code(&self, variable: usize, state: State) -> u32 {
        match &self.variables[variable].cells {
            Cells::Own(codes) => codes[state as usize],
            Cells::Of(other, codes) => codes.get(self.code(*other, state) as usize),
        }
    }

    /// A variable's value in a state.
    pub fn value(&self, variable: usize, state: State) -> Value {
        self.variables[variable].domain.value(self.code(variable, state))
    }

    /// The numbers of a variable's values in all states.
    pub fn codes(&self, variable: usize) -> Vec<u32> {
        match &self.variables[variable].cells {
            Cells::Own(codes) => codes.clone(),
            Cells::Of(other, codes) => {
                self.codes(*other).into_iter().map(|code| codes.get(code as usize)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_do_not_wrap() {
        assert_eq!(Domain::Range(i64::MIN, i64::MAX).size(), u64::MAX);
        assert_eq!(Domain::Range(i64::MIN, i64::MAX - 1).size(), u64::MAX);
        assert_eq!(Domain::Range(-2, 3).size(), 6);
        assert_eq!(Domain::Range(3, -2).size(), 0);
    }
}
