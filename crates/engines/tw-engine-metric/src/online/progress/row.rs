//! One row: the functions after it from those before.

use super::{Progress, Step};
use crate::online::graph::Edge;
use crate::online::network::Network;
use rustc_hash::FxHashMap;
use tw_automata::diagram::{Diagram, Diagrams, Full};

/// Rows that are looked at before they are complete.
const ROWS: usize = 4;
/// Atoms of theirs that may be unknown.
const UNKNOWN: usize = 32;

impl Progress {
    /// Notes the verdict if the next rows settle it whatever those of their atoms are that are not known.
    #[inline(never)]
    pub(super) fn peek(&mut self, network: &Network) {
        let (mut rows, mut unknown) = (Vec::with_capacity(ROWS), 0);
        for row in (self.row..network.len).take(ROWS) {
            let (mut known, mut truth) = (0u64, 0);
            for (number, &atom) in self.atoms.iter().enumerate() {
                if let Some(value) = network.known(atom, row) {
                    known |= 1 << number;
                    truth |= u64::from(value) << number;
                }
            }
            unknown += self.atoms.len() - known.count_ones() as usize;
            if unknown > UNKNOWN {
                break;
            }
            rows.push((row, known, truth));
        }
        if self.peeked == rows {
            return;
        }
        let mut state = self.state().to_vec();
        for offset in 0..rows.len() {
            let variable = self.variables.len() + offset * self.atoms.len();
            // Without room for it, the row is read when it is complete.
            let Ok(after) = self.after(network, &state, self.row + offset as u64, variable as u32) else {
                break;
            };
            state = after;
            self.verdict = state[0].as_constant();
            if self.verdict.is_some() {
                break;
            }
        }
        self.peeked = rows;
    }

    /// The state after the row. Atoms that are not known are variables from `unknown` on.
    pub(super) fn after(
        &mut self,
        network: &Network,
        state: &[Diagram],
        row: u64,
        unknown: u32,
    ) -> Result<Vec<Diagram>, Full> {
        let (steps, variables) = (&self.steps, &self.variables);
        let diagrams = &mut self.states.diagrams;
        let mut values: Vec<Diagram> = Vec::with_capacity(steps.len());
        let mut done = FxHashMap::default();
        let mut next = vec![Diagram::FALSE; 1 + self.kept];
        // A function of the variables is about the next position, which is this one.
        let replace = |values: &[Diagram], variable: u32| {
            let at = variables[variable as usize];
            match steps[at] {
                Step::Next(a, _) if a.negated() => (values[a.op()], true),
                Step::Next(a, _) => (values[a.op()], false),
                Step::Until(..) => (values[at], false),
                _ => (Diagram::FALSE, false),
            }
        };
        let mut now = |diagrams: &mut Diagrams, values: &[Diagram], old: Diagram| {
            // Negations are made beforehand: a replacement cannot make nodes.
            let mut ready: FxHashMap<u32, Diagram> = FxHashMap::default();
            for variable in diagrams.support(old) {
                if variable as usize >= variables.len() {
                    ready.insert(variable, diagrams.variable(variable)?);
                    continue;
                }
                let (value, negated) = replace(values, variable);
                ready.insert(variable, if negated { diagrams.not(value)? } else { value });
            }
            diagrams.compose(old, &|variable| ready[&variable], &mut done)
        };
        let of = |diagrams: &mut Diagrams, values: &[Diagram], edge: Edge| match edge.negated() {
            true => diagrams.not(values[edge.op()]),
            false => Ok(values[edge.op()]),
        };
        for step in steps {
            let value = match *step {
                Step::True => Diagram::TRUE,
                Step::Atom(atom) => match network.known(self.atoms[atom], row) {
                    Some(value) => Diagram::constant(value),
                    None => diagrams.variable(unknown + atom as u32)?,
                },
                Step::And(a, b) => {
                    let (a, b) = (of(diagrams, &values, a)?, of(diagrams, &values, b)?);
                    diagrams.and(a, b)?
                }
                Step::Xor(a, b) => {
                    let (a, b) = (of(diagrams, &values, a)?, of(diagrams, &values, b)?);
                    diagrams.xor(a, b)?
                }
                Step::Next(_, variable) | Step::Last(variable) => diagrams.variable(variable)?,
                Step::Until(a, b, variable) => {
                    let (a, b) = (of(diagrams, &values, a)?, of(diagrams, &values, b)?);
                    let later = diagrams.variable(variable)?;
                    let later = diagrams.and(a, later)?;
                    diagrams.or(b, later)?
                }
                Step::Since(a, b, kept) => {
                    let before = match row {
                        0 => Diagram::FALSE,
                        _ => now(diagrams, &values, state[kept])?,
                    };
                    let (a, b) = (of(diagrams, &values, a)?, of(diagrams, &values, b)?);
                    let before = diagrams.and(a, before)?;
                    next[kept] = diagrams.or(b, before)?;
                    next[kept]
                }
                Step::Previous(a, kept) => {
                    next[kept] = of(diagrams, &values, a)?;
                    match row {
                        0 => Diagram::FALSE,
                        _ => now(diagrams, &values, state[kept])?,
                    }
                }
            };
            values.push(value);
        }
        next[0] = match row {
            0 => of(diagrams, &values, self.root)?,
            _ => now(diagrams, &values, state[0])?,
        };
        if self.repeat {
            // What `X` is worth should this be the last position.
            for &at in variables {
                if let Step::Next(a, _) = steps[at] {
                    next.push(of(diagrams, &values, a)?);
                }
            }
        }
        Ok(next)
    }
}
