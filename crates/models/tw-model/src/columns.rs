//! A variable in all states as a column: states take the place of positions, so that predicates over traces are
//! predicates over states.

use crate::{Domain, Model};
use tw_core::{Bits, Column, Value};

impl Model {
    /// A variable in all states, in order.
    pub fn column(&self, variable: usize) -> Column {
        let codes = self.codes(variable);
        match &self.variables[variable].domain {
            Domain::Boolean => {
                let mut bits = Bits::with_capacity(codes.len());
                codes.iter().for_each(|&code| bits.push(code != 0));
                Column::Truth(bits)
            }
            Domain::Range(low, _) => Column::Int {
                valid: Bits::repeat(true, codes.len()),
                values: codes.into_iter().map(|code| low + i64::from(code)).collect(),
            },
            Domain::Values(values) if values.iter().all(|value| matches!(value, Value::Int(_))) => {
                Column::Int {
                    valid: Bits::repeat(true, codes.len()),
                    values: codes
                        .into_iter()
                        .map(|code| if let Value::Int(value) = values[code as usize] { value } else { 0 })
                        .collect(),
                }
            }
            Domain::Values(values) if values.iter().all(|value| matches!(value, Value::Str(_))) => {
                let text =
                    |value: &Value| if let Value::Str(text) = value { text.clone() } else { "".into() };
                let dictionary = tw_core::Dictionary { entries: values.iter().map(text).collect() };
                Column::Text { valid: Bits::repeat(true, codes.len()), ids: codes, dictionary }
            }
            Domain::Values(values) => {
                Column::of_values(codes.into_iter().map(|code| values[code as usize].clone()).collect())
            }
        }
    }
}
