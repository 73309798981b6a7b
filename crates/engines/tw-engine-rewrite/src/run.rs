//! Many positions at a time.

use crate::goal::{Goal, core_of};
use crate::memo::{Memo, STOP};
use tw_ir::Program;
use tw_monitor::{Run, State, Stretch, Unsupported};

impl Goal {
    /// As `Machine::run`, by columns where there are few atoms; `None` where there are many.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        mut state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Option<Result<Run, Unsupported>> {
        let (mut at, mut changed) = (from, None);
        loop {
            let Memo::Flat(flat) = &self.memo else { return None };
            let Some(letter) = flat.follow(stretch, &mut state, &mut at, to, &mut changed) else {
                return Some(Ok(Run { state, end: to, changed }));
            };
            let core = core_of(state);
            let next = match self.with_room(core, |goal| goal.look(core, letter)) {
                Ok(next) => next,
                Err(refused) => return Some(Err(refused)),
            };
            let settled = self.settled(program, next).is_some();
            if let Memo::Flat(flat) = &mut self.memo {
                *flat.entry(core, letter) = if settled { next | STOP } else { next };
            }
            if next != state {
                (state, changed) = (next, Some(at));
            }
            at += 1;
            if settled {
                return Some(Ok(Run { state, end: at, changed }));
            }
        }
    }

    /// As [`Goal::run`], position by position.
    pub(crate) fn run_by_rows(
        &mut self,
        program: &Program,
        mut state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Result<Run, Unsupported> {
        let mut changed = None;
        for at in from..to {
            let next = self.step(state, stretch.row(at))?;
            // A state that stays was asked before, but for the first.
            let asked = next == state && at > from;
            if next != state {
                (state, changed) = (next, Some(at));
            }
            if !asked && self.settled(program, state).is_some() {
                return Ok(Run { state, end: at + 1, changed });
            }
        }
        Ok(Run { state, end: to, changed })
    }
}
