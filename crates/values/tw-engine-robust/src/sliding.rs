//! Windows that slide along a stream: two stacks.

use crate::lattice::Monoid;

/// What the positions `from..to` are worth, while both ends move forward: two stacks. The front one holds what each
/// suffix of `from..middle` is worth, the back one is a single item for `middle..to`. Every position is looked at
/// twice in all. The items themselves are the caller's, who keeps those from `from` on.
pub(crate) struct Sliding<M: Monoid> {
    /// What `k..middle` is worth, for k from `middle - 1` down to `from`: the last is that of `from`.
    front: Vec<M::Item>,
    middle: usize,
    back: M::Item,
    to: usize,
}

impl<M: Monoid> Clone for Sliding<M> {
    fn clone(&self) -> Self {
        Self { front: self.front.clone(), middle: self.middle, back: self.back, to: self.to }
    }
}

impl<M: Monoid> Sliding<M> {
    /// No positions, at `start`.
    pub(crate) fn new(start: usize) -> Self {
        Self { front: Vec::new(), middle: start, back: M::EMPTY, to: start }
    }

    /// What `from..to` is worth. Neither may be less than before; with `from >= to` it is what nothing is worth.
    #[inline]
    pub(crate) fn slide(&mut self, from: usize, to: usize, item: impl Fn(usize) -> M::Item) -> M::Item {
        while self.to < to {
            // Positions that no window will reach are not even looked at.
            if self.to >= from {
                self.back = M::cat(self.back, item(self.to));
            }
            self.to += 1;
        }
        if from < self.middle {
            self.front.truncate(self.middle - from);
        } else {
            self.turn(from, item);
        }
        match self.front.last() {
            Some(&front) => M::cat(front, self.back),
            None => self.back,
        }
    }

    /// The back becomes the front.
    #[inline(never)]
    fn turn(&mut self, from: usize, item: impl Fn(usize) -> M::Item) {
        self.front.clear();
        let mut all = M::EMPTY;
        self.front.extend((from..self.to).rev().map(|k| {
            all = M::cat(item(k), all);
            all
        }));
        self.middle = self.to.max(from);
        self.to = self.middle;
        self.back = M::EMPTY;
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.front.capacity() * size_of::<M::Item>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::{Down, Joined, Met, Sinces, Untils, Up, Way};
    use tw_testkit::Rng;

    fn windows<M: Monoid>(item: impl Fn(&mut Rng) -> M::Item, same: impl Fn(M::Item, M::Item) -> bool) {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let items: Vec<M::Item> = (0..60).map(|_| item(&mut rng)).collect();
            let (mut sliding, mut from, mut to) = (Sliding::<M>::new(0), 0, 0);
            for _ in 0..60 {
                from = (from + rng.below(4)).min(60);
                to = (to + rng.below(4)).min(60);
                let expected = (from..to).fold(M::EMPTY, |all, k| M::cat(all, items[k]));
                let found = sliding.slide(from, to, |k| items[k]);
                assert!(same(expected, found), "seed {seed}: {from}..{to}");
                // The window never moves back, so an empty one that lies ahead forgets what is behind.
                to = to.max(from);
            }
        }
    }

    #[test]
    fn sliding_windows_are_worth_what_their_items_are() {
        let number = |rng: &mut Rng| rng.below(20) as f64;
        let way = |rng: &mut Rng| Way { hold: rng.below(20) as f64, goal: rng.below(20) as f64 };
        windows::<Joined<Up>>(number, |a, b| a == b);
        windows::<Met<Up>>(number, |a, b| a == b);
        windows::<Untils<Up>>(way, |a, b| a == b);
        windows::<Untils<Down>>(way, |a, b| a == b);
        windows::<Sinces<Up>>(way, |a, b| a == b);
        windows::<Sinces<Down>>(way, |a, b| a == b);
    }
}
