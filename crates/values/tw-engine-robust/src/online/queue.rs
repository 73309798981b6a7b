//! The settled values of a formula that somebody will read again.

/// Values of consecutive positions, of which the first are dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue<T> {
    pub base: usize,
    pub values: Vec<T>,
}

impl<T: Copy> Queue<T> {
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> T {
        self.values[at - self.base]
    }

    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.base + self.values.len()
    }

    /// Drops what stands before `to`; now and then, so that it costs O(1) each.
    pub(super) fn trim(&mut self, to: usize) {
        let dead = to.saturating_sub(self.base).min(self.values.len());
        if dead >= 64 && dead * 2 > self.values.len() {
            self.values.drain(..dead);
            self.base += dead;
        }
    }
}
