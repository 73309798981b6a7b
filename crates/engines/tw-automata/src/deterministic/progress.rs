//! What one position does to obligations.

use super::obligation::{Kind, Obligations};
use crate::diagram::{Diagram, Diagrams, Full};
use crate::past::Algebra;

/// The progress of every literal, the value of each at the end, and what is remembered.
pub(super) struct Progress {
    pub(super) literals: Vec<Diagram>,
    pub(super) ends: Vec<Diagram>,
    pub(super) memory: Vec<Diagram>,
}

impl Obligations {
    /// What a position does to every literal, where atoms are the given functions and so are past operators, and what
    /// is remembered after it.
    pub(super) fn progress(
        &self,
        diagrams: &mut Diagrams,
        owed: &[Diagram],
        atom: &dyn Fn(&mut Diagrams, u32) -> Result<Diagram, Full>,
        memory: &[bool],
    ) -> Result<Progress, Full> {
        let memory: Vec<Diagram> = memory.iter().map(|&bit| Diagram::constant(bit)).collect();
        let mut algebra = Fallible { diagrams, full: None };
        let by_program = |algebra: &mut Fallible<'_>, of_program: u32| {
            let variable = self.atoms.partition_point(|&other| other < of_program) as u32;
            let value = atom(algebra.diagrams, variable);
            algebra.keep(value)
        };
        let (now, remembered) = self.past.evaluate(&mut algebra, by_program, &memory);
        if let Some(full) = algebra.full {
            return Err(full);
        }
        let mut progress: Vec<Diagram> = Vec::with_capacity(self.formulas.len());
        let mut end: Vec<Diagram> = Vec::with_capacity(self.formulas.len());
        for (index, formula) in self.formulas.iter().enumerate() {
            let (next, last) = match formula.kind {
                Kind::Atom(variable) => {
                    let value = atom(diagrams, variable)?;
                    (value, value)
                }
                Kind::Past(memory) => (now[memory], now[memory]),
                Kind::Last => (Diagram::FALSE, Diagram::TRUE),
                Kind::Next(a, weak) => {
                    (owed[a], if self.repeat_last { end[a] } else { Diagram::constant(weak) })
                }
                Kind::Until(f, g, weak) => {
                    let stays = f.map_or(Ok(owed[index]), |f| diagrams.and(progress[f], owed[index]))?;
                    let last = if weak { f.map_or(Diagram::TRUE, |f| end[f]) } else { Diagram::FALSE };
                    (diagrams.or(progress[g], stays)?, diagrams.or(end[g], last)?)
                }
                Kind::Release(f, g, weak) => {
                    let stays = f.map_or(Ok(owed[index]), |f| diagrams.or(progress[f], owed[index]))?;
                    let last = if weak { Diagram::TRUE } else { f.map_or(Diagram::FALSE, |f| end[f]) };
                    (diagrams.and(progress[g], stays)?, diagrams.and(end[g], last)?)
                }
                kind => (connective(diagrams, kind, &progress)?, connective(diagrams, kind, &end)?),
            };
            progress.push(next);
            end.push(last);
        }
        let of_literals = |values: &[Diagram]| self.literals.iter().map(|&index| values[index]).collect();
        Ok(Progress { literals: of_literals(&progress), ends: of_literals(&end), memory: remembered })
    }
}

/// A connective, given what its operands are worth.
pub(super) fn connective(diagrams: &mut Diagrams, kind: Kind, operands: &[Diagram]) -> Result<Diagram, Full> {
    match kind {
        Kind::Constant(value) => Ok(Diagram::constant(value)),
        Kind::Not(a) => diagrams.not(operands[a]),
        Kind::And(a, b) => diagrams.and(operands[a], operands[b]),
        Kind::Or(a, b) => diagrams.or(operands[a], operands[b]),
        Kind::Xor(a, b) => diagrams.xor(operands[a], operands[b]),
        Kind::Implies(a, b) => diagrams.choose(operands[a], operands[b], Diagram::TRUE),
        Kind::Iff(a, b) => {
            let differ = diagrams.xor(operands[a], operands[b])?;
            diagrams.not(differ)
        }
        _ => unreachable!("an atom or a temporal operator"),
    }
}

/// Diagrams as truth values of past operators; the first failure is kept.
struct Fallible<'a> {
    diagrams: &'a mut Diagrams,
    full: Option<Full>,
}

impl Fallible<'_> {
    fn keep(&mut self, result: Result<Diagram, Full>) -> Diagram {
        result.unwrap_or_else(|full| {
            self.full = Some(full);
            Diagram::FALSE
        })
    }
}

impl Algebra for Fallible<'_> {
    type Value = Diagram;
    fn constant(&mut self, value: bool) -> Diagram {
        Diagram::constant(value)
    }
    fn not(&mut self, a: &Diagram) -> Diagram {
        let result = self.diagrams.not(*a);
        self.keep(result)
    }
    fn and(&mut self, a: &Diagram, b: &Diagram) -> Diagram {
        let result = self.diagrams.and(*a, *b);
        self.keep(result)
    }
    fn or(&mut self, a: &Diagram, b: &Diagram) -> Diagram {
        let result = self.diagrams.or(*a, *b);
        self.keep(result)
    }
    fn xor(&mut self, a: &Diagram, b: &Diagram) -> Diagram {
        let result = self.diagrams.xor(*a, *b);
        self.keep(result)
    }
}
