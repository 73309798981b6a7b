//! Forgetting states that nobody uses, so that memory does not grow with the trace.

use super::intern::Interned;
use super::machine::{Key, NONE, Slices};
use super::table::Table;
use tw_monitor::State;

impl Slices {
    /// Whether there are so many states that it is worth forgetting some.
    pub(super) fn is_crowded(&self) -> bool {
        self.index.len() > self.crowd.0 || self.bytes + self.heap_bytes_shared() > self.crowd.1
    }

    /// Forgets all states but those to keep, whose numbers stay the same; with them the slices that only they had, and
    /// all transitions. Histories are kept.
    pub(super) fn forget(&mut self, keep: impl Fn(State, &Key) -> bool) {
        let (slices, sets) = (std::mem::take(&mut self.slices), std::mem::take(&mut self.sets));
        let mut unused = vec![false; self.states.len()];
        self.free.drain(..).for_each(|state| unused[state as usize] = true);
        self.index.clear();
        self.entered.clear();
        self.successors.clear();
        self.texts.borrow_mut().clear();
        self.histories.iter_mut().for_each(Table::clear);
        self.transitions = 0;
        self.bytes = self.histories.len() * (size_of::<Table>() + self.reads.len() * 8);
        for (state, unused) in unused.into_iter().enumerate() {
            let mut key = self.states[state].key;
            if unused || !keep(state as State, &key) {
                self.states[state].table = Table::new(Box::default());
                self.free.push(state as State);
                continue;
            }
            key.slices = self.moved(&slices, &sets, key.slices);
            if key.negation != NONE {
                key.negation = self.moved(&slices, &sets, key.negation);
            }
            self.states[state].key = key;
            self.states[state].table.clear();
            self.index.insert(key, state as State);
            self.bytes += self.state_bytes();
        }
        // Twice what is in use, lest the next position forgets again.
        let bytes = self.bytes + self.heap_bytes_shared();
        self.crowd =
            ((2 * self.index.len()).max(self.limits.slices), (2 * bytes).max(self.memory_budget / 2));
    }

    /// The number of a set of slices, now that old numbers no longer count.
    fn moved(&mut self, slices: &Interned, sets: &Interned, set: u32) -> u32 {
        let ids: Vec<u32> = sets.get(set).iter().map(|&slice| self.slices.add(slices.get(slice))).collect();
        self.sets.add(&ids)
    }
}
