//! States in words.

use crate::{Cells, Model, State};
use std::fmt::Write;

impl Model {
    /// A state as people read it: `s1`, `s1 @ 3` where instants are kept, `x = 1, y = 2` where it is a valuation.
    pub fn label(&self, state: State) -> String {
        let name = self.variable("state").filter(|_| self.merged.is_some());
        let Some(name) = name else {
            let mut label = String::new();
            for (index, variable) in self.variables.iter().enumerate() {
                // What another variable decides says nothing new.
                if matches!(variable.cells, Cells::Own(_)) {
                    let comma = if label.is_empty() { "" } else { ", " };
                    let _ = write!(label, "{comma}{} = {}", variable.name, self.value(index, state));
                }
            }
            return label;
        };
        let mut label = self.value(name, state).to_string();
        if let Some(time) = self.variable("time") {
            let _ = write!(label, " @ {}", self.value(time, state));
        }
        label
    }
}
