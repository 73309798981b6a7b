//! The state of one conjunct, written and read back.

use super::{NOWHERE, Progress, Step};
use tw_automata::diagram::Diagram;
use tw_core::codec::{Corrupt, put, take};

impl Progress {
    pub(in crate::online) fn save(&self, out: &mut Vec<u8>) {
        put(self.row, out);
        match self.verdict {
            Some(verdict) => return put(u64::from(verdict), out),
            None => put(2, out),
        }
        put(self.state().len() as u64, out);
        for &diagram in self.state() {
            match diagram.as_constant() {
                Some(value) => put(u64::from(value), out),
                None => {
                    let tests = self.states.diagrams.write(diagram);
                    put(2 + tests.len() as u64, out);
                    for (variable, low, high) in tests {
                        [variable, low, high].iter().for_each(|&number| put(u64::from(number), out));
                    }
                }
            }
        }
    }

    /// Reads back what [`Progress::save`] wrote when `read` positions had been read.
    pub(in crate::online) fn load(&mut self, read: u64, from: &mut &[u8]) -> Result<(), Corrupt> {
        let wrong = || Corrupt("the saved state of a property is damaged".into());
        self.enter(NOWHERE);
        self.peeked.clear();
        self.row = take(from)?;
        self.verdict = match take(from)? {
            2 => None,
            verdict => Some(verdict == 1),
        };
        if self.row > read || (read == 0 && self.verdict.is_some()) {
            return Err(wrong());
        }
        if self.verdict.is_some() {
            return Ok(());
        }
        let size = take(from)?;
        if size != if self.row == 0 { 0 } else { self.size() as u64 } {
            return Err(wrong());
        }
        let mut state = Vec::new();
        for value in 0..size as usize {
            let below = 0..self.below(value);
            let diagram = match take(from)? {
                constant @ 0..2 => Diagram::constant(constant == 1),
                count => {
                    let mut tests = Vec::new();
                    for _ in 2..count {
                        let mut number = || take(from)?.try_into().map_err(|_| wrong());
                        tests.push((number()?, number()?, number()?));
                    }
                    self.states.diagrams.read(&tests, below).ok_or_else(wrong)?
                }
            };
            state.push(diagram);
        }
        if self.row > 0 {
            let number = self.states.number(state);
            self.enter(number);
        }
        Ok(())
    }

    /// Variables that a value of a state may depend on. What a past operator keeps is asked for before the steps above
    /// it have a value.
    fn below(&self, value: usize) -> u32 {
        let keeps = |step: &Step| match *step {
            Step::Since(.., kept) | Step::Previous(_, kept) => kept == value,
            _ => false,
        };
        let step = self.steps.iter().position(keeps).unwrap_or(self.steps.len());
        self.variables.partition_point(|&at| at < step) as u32
    }

    /// Values of a state.
    fn size(&self) -> usize {
        let nexts = self.variables.iter().filter(|&&at| matches!(self.steps[at], Step::Next(..))).count();
        1 + self.kept + if self.repeat { nexts } else { 0 }
    }
}
