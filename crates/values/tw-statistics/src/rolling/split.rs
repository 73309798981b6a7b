//! Numbers parted at a rank, so that a quantile is read off at the seam.

use crate::float::from_key;
use std::collections::BTreeMap;

/// The keys up to the rank of the quantile, and those above.
#[derive(Clone, Debug)]
pub(super) struct Split {
    billionths: u32,
    low: BTreeMap<i64, u64>,
    high: BTreeMap<i64, u64>,
    /// How many are in each.
    below: u64,
    above: u64,
}

impl Split {
    pub fn new(billionths: u32) -> Self {
        Self { billionths, low: BTreeMap::new(), high: BTreeMap::new(), below: 0, above: 0 }
    }

    pub fn add(&mut self, key: i64) {
        match self.low.last_key_value() {
            Some((&last, _)) if key <= last => {
                *self.low.entry(key).or_default() += 1;
                self.below += 1;
            }
            _ => {
                *self.high.entry(key).or_default() += 1;
                self.above += 1;
            }
        }
        self.balance();
    }

    /// Takes back one that was added.
    pub fn remove(&mut self, key: i64) {
        if take(&mut self.low, key) {
            self.below -= 1;
        } else if take(&mut self.high, key) {
            self.above -= 1;
        }
        self.balance();
    }

    /// A number more or less moves the rank by one at most.
    fn balance(&mut self) {
        let count = self.below + self.above;
        let wanted = match count {
            0 => 0,
            count => (u128::from(count - 1) * u128::from(self.billionths) / 1_000_000_000) as u64 + 1,
        };
        while self.below > wanted {
            let Some((&key, _)) = self.low.last_key_value() else { return };
            take(&mut self.low, key);
            *self.high.entry(key).or_default() += 1;
            (self.below, self.above) = (self.below - 1, self.above + 1);
        }
        while self.below < wanted {
            let Some((&key, _)) = self.high.first_key_value() else { return };
            take(&mut self.high, key);
            *self.low.entry(key).or_default() += 1;
            (self.below, self.above) = (self.below + 1, self.above - 1);
        }
    }

    /// Between the two neighbours of rank (n−1)·q; nothing of nothing.
    pub fn quantile(&self) -> Option<f64> {
        let low = from_key(*self.low.last_key_value()?.0);
        let last = u128::from(self.below + self.above - 1);
        let rest = (last * u128::from(self.billionths) % 1_000_000_000) as u32;
        let high = self.high.first_key_value().map_or(low, |(key, _)| from_key(*key));
        Some(if rest == 0 || low == high {
            low
        } else if rest == 500_000_000 {
            low / 2.0 + high / 2.0
        } else {
            low + f64::from(rest) / 1e9 * (high - low)
        })
    }
}

/// Takes one of a key; false if there is none.
fn take(keys: &mut BTreeMap<i64, u64>, key: i64) -> bool {
    match keys.get_mut(&key) {
        None => return false,
        Some(1) => {
            keys.remove(&key);
        }
        Some(times) => *times -= 1,
    }
    true
}
