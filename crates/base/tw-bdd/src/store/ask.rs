//! What a set is asked.

use super::{Bdd, Store};
use rustc_hash::{FxHashMap, FxHashSet};

impl Store {
    /// One of the valuations: the bits that it must have, all others are free.
    pub fn pick(&self, set: Bdd) -> Option<Vec<(u32, bool)>> {
        let (mut bits, mut at) = (Vec::new(), set.0);
        while at > 1 {
            let node = self.nodes[at as usize];
            let one = node.low == 0;
            bits.push((node.level, one));
            at = if one { node.high } else { node.low };
        }
        (at == 1).then_some(bits)
    }

    /// Whether a valuation is a member.
    pub fn has(&self, set: Bdd, bit: impl Fn(u32) -> bool) -> bool {
        let mut at = set.0;
        while at > 1 {
            let node = self.nodes[at as usize];
            at = if bit(node.level) { node.high } else { node.low };
        }
        at == 1
    }

    /// The levels that a set depends on, ascending.
    pub fn support(&self, set: Bdd) -> Vec<u32> {
        let mut levels: Vec<u32> = self.below(set).into_iter().map(|node| self.level(node)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// How many nodes a set has.
    pub fn size(&self, set: Bdd) -> usize {
        self.below(set).len()
    }

    fn below(&self, set: Bdd) -> Vec<u32> {
        let mut met = FxHashSet::default();
        let (mut found, mut todo) = (Vec::new(), vec![set.0]);
        while let Some(node) = todo.pop() {
            if node > 1 && met.insert(node) {
                found.push(node);
                todo.extend([self.nodes[node as usize].low, self.nodes[node as usize].high]);
            }
        }
        found
    }

    /// How many valuations of some bits, given by their levels, ascending, a set has; it depends on no others. The largest
    /// number stands for more.
    pub fn count(&self, set: Bdd, levels: &[u32]) -> u128 {
        let depth = |node: u32| {
            let level = self.level(node);
            levels.partition_point(|&known| known < level)
        };
        let times = |count: u128, bits: usize| {
            let factor = u32::try_from(bits).ok().and_then(|bits| 1u128.checked_shl(bits));
            count.saturating_mul(factor.unwrap_or(u128::MAX))
        };
        // Those below a node come later: from the deepest level up.
        let mut nodes = self.below(set);
        nodes.sort_unstable_by_key(|&node| std::cmp::Reverse(self.level(node)));
        let mut counts = FxHashMap::default();
        counts.extend([(0, 0), (1, 1u128)]);
        for node in nodes {
            let own = depth(node);
            let below = |child: u32| times(counts[&child], depth(child) - own - 1);
            let known = self.nodes[node as usize];
            let count = below(known.low).saturating_add(below(known.high));
            counts.insert(node, count);
        }
        times(counts[&set.0], depth(set.0))
    }
}
