//! Bounds of every pending position of one operator over signals that are known up to now.
//!
//! A pending position i of `φ U[a,b] ψ` has two numbers: the *best* way to the goal so far, and the *limit*, what φ was
//! worth at least since i, which no way to a later goal can exceed. Once the best is the limit or more, the position is
//! decided: nothing changes it again. As long as it is not, its best is the greatest goal from `i + a` on (nothing on
//! the way was worth less), so that bests fall from position to position while limits rise; the decided positions come
//! first. A sample therefore changes two runs of positions, which end at the newest: they are found by bisection and
//! filled. `F` and `G` are the case without a limit.
//!
//! O(log w) and the filling per sample, in all O(w) when every sample beats all before it; memory 16 bytes per
//! position.

use crate::clock::Stamps;
use crate::lattice::Lattice;
use tw_ir::Ticks;

/// The pending positions `first..` of an until (or of `F`, that of true), or of their duals.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    ticks: Ticks,
    /// Whether something has to hold on the way.
    holds: bool,
    first: usize,
    /// Pending positions stand from here on; what is before is dropped now and then.
    head: usize,
    best: Vec<f64>,
    /// Of a decided position: its best.
    limit: Vec<f64>,
    /// Places, with what was dropped: up to here decided, ...
    decided: usize,
    /// ... up to here `low` or more behind the newest.
    reached: usize,
}

impl Tracked {
    pub(crate) fn new(ticks: Ticks, holds: bool) -> Self {
        let (best, limit) = (Vec::new(), Vec::new());
        Self { ticks, holds, first: 0, head: 0, best, limit, decided: 0, reached: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.best.len() - self.head
    }

    /// The best so far and the limit of each pending position.
    pub(crate) fn bounds(&self) -> (&[f64], &[f64]) {
        (&self.best[self.head..], &self.limit[self.head..])
    }

    /// Gives up the first pending position: nothing more can reach it.
    pub(crate) fn settle(&mut self) -> f64 {
        let value = self.best[self.head];
        self.head += 1;
        self.first += 1;
        if self.head >= 64 && self.head * 2 > self.best.len() {
            self.best.drain(..self.head);
            self.limit.drain(..self.head);
            self.decided = self.decided.saturating_sub(self.head);
            self.reached = self.reached.saturating_sub(self.head);
            self.head = 0;
        }
        value
    }

    /// The sample at position `n`, which follows the last one. Positions that it cannot reach are settled before.
    pub(crate) fn push<L: Lattice>(&mut self, n: usize, hold: f64, goal: f64, stamps: Stamps<'_>) {
        self.best.push(L::BOTTOM);
        self.limit.push(L::TOP);
        let len = self.best.len();
        self.reached = self.reached.max(self.head);
        self.decided = self.decided.max(self.head);
        let first = self.first - self.head;
        while self.reached < len && stamps.distance(first + self.reached, n) >= self.ticks.low {
            self.reached += 1;
        }
        let (mut decided, reached) = (self.decided, self.reached);
        // The goal is of no use beyond the limit.
        while decided < reached && L::below(self.limit[decided], goal) {
            self.best[decided] = self.limit[decided];
            decided += 1;
        }
        if decided < reached {
            let best = &mut self.best[decided..reached];
            let from = best.partition_point(|&best| !L::below(best, goal));
            best[from..].fill(goal);
        }
        if self.holds {
            let limit = &mut self.limit[decided..];
            let from = limit.partition_point(|&limit| !L::below(hold, limit));
            limit[from..].fill(hold);
        }
        while decided < len && !L::below(self.best[decided], self.limit[decided]) {
            self.limit[decided] = self.best[decided];
            decided += 1;
        }
        self.decided = decided;
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.best.capacity() + self.limit.capacity()) * size_of::<f64>()
    }
}
