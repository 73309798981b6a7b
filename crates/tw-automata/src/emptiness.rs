//! Whether some infinite continuation satisfies what is still owed.

use crate::past::Past;
use tw_ir::{NodeId, Program};

/// Decides satisfiability over infinite words, remembering what it found.
#[derive(Clone, Debug)]
pub struct Emptiness {}

impl Emptiness {
    /// For formulas of `program`; `past` are the past operators in them. `budget` bounds the configurations explored
    /// per question.
    pub fn new(program: &Program, past: &Past, budget: usize) -> Self {
        let _ = (program, past, budget);
        Self {}
    }

    /// Whether some infinite word, read after a prefix that left `memory` (of `past`), satisfies all of `owed` at its
    /// first position: each a formula and whether it is negated. `None` when the budget runs out.
    pub fn satisfiable(
        &mut self,
        program: &Program,
        owed: &[(NodeId, bool)],
        memory: &[bool],
    ) -> Option<bool> {
        let _ = (program, owed, memory);
        None
    }
}
