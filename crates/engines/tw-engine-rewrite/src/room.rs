//! Room for more residuals: those that nobody holds are forgotten.
//!
//! The state of this engine is one formula; the others are kept because they may come again. When the budget is used
//! up, all go but the formula at hand and those whose numbers were given away, and what is needed again is computed
//! again. A run over a stored trace gives away one number per block, so its memory is bounded however many residuals
//! there are.

use crate::goal::{Core, Goal, core_of};
use tw_automata::residual::FormulaId;
use tw_monitor::{State, Unsupported};

impl Goal {
    /// The number of the state is given away, so it has to last.
    pub(crate) fn expose(&mut self, state: State) -> State {
        self.exposed[core_of(state) as usize] = true;
        state
    }

    /// Forgets all residuals but one and those whose numbers were given away, with all transitions: they are computed
    /// again when they are needed. Says whether that was worth the trouble.
    fn forget(&mut self, current: u32) -> bool {
        self.index.clear();
        self.free.clear();
        for number in (0..self.cores.len() as u32).rev() {
            if self.exposed[number as usize] || number == current {
                continue;
            }
            self.free.push(number);
            self.settle.forget(number);
            self.cores[number as usize] = Core { residual: FormulaId::FALSE, memory: 0 };
        }
        let memories = std::mem::take(&mut self.memories);
        self.memories.add(memories.get(0));
        for core in &mut self.cores {
            core.memory = self.memories.add(memories.get(core.memory));
        }
        let residuals = self.cores.iter_mut().map(|core| &mut core.residual);
        self.terms.retain(residuals.chain([&mut self.initial]));
        for number in 0..self.cores.len() as u32 {
            if self.exposed[number as usize] || number == current {
                self.index.insert(self.cores[number as usize], number);
            }
        }
        self.memo.clear();
        self.len() < self.budget / 4 * 3
    }

    /// Does `what` with a core, once more if that fails for want of room that can be made.
    pub(crate) fn with_room(
        &mut self,
        core: u32,
        what: impl Fn(&mut Self) -> Result<State, Unsupported>,
    ) -> Result<State, Unsupported> {
        match what(self) {
            Err(refused) if refused.exhausted && self.forget(core) => what(self),
            done => done,
        }
    }
}
