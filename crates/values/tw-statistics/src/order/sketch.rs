//! Quantiles of more numbers than fit: KLL (Karnin, Lang and Liberty, FOCS 2016).
//!
//! 30 ns a value; some 12,000 keys at most, 200 KiB. A result sorts what is kept. Which values are kept is a matter of
//! chance: results differ from run to run, inside the bound.

use crate::Bound;
use crate::save::{corrupt, put_checked, take_checked};
use datasketches::common::SearchCriteria::Inclusive;
use datasketches::kll::KllSketch;
use tw_core::codec::Corrupt;

/// A sample of keys with weights.
#[derive(Clone, Debug)]
pub struct Sketch {
    kll: KllSketch<i64>,
}

impl Sketch {
    /// Empty, of a size that suits the budget: about three keys for each of `k`.
    pub fn new(budget: usize) -> Self {
        let k = (budget / 64).clamp(200, 4096) as u16;
        Sketch { kll: KllSketch::new(k).expect("the size is in range") }
    }

    pub fn count(&self) -> u64 {
        self.kll.n()
    }

    pub fn push(&mut self, key: i64) {
        self.kll.update(key);
    }

    pub fn push_many(&mut self, key: i64, times: u64) {
        (0..times).for_each(|_| self.kll.update(key));
    }

    pub fn merge(&mut self, other: &Sketch) {
        // Sketches of all sizes merge; the error is that of the smaller.
        self.kll.merge(&other.kll).expect("sketches of one kind merge");
    }

    /// The quantile `q` in billionths.
    pub fn quantile(&self, q: u32) -> Option<f64> {
        let rank = (f64::from(q) / 1e9).clamp(0.0, 1.0);
        self.kll.quantile(rank, Inclusive).ok().flatten().map(crate::float::from_key)
    }

    /// About the number of values whose key `is_below`, which must hold for a first part of the keys.
    pub fn rank(&self, is_below: impl Fn(i64) -> bool) -> u64 {
        let (Some(least), Some(most)) = (self.kll.min_item(), self.kll.max_item()) else { return 0 };
        // The greatest such key by bisection.
        let (mut low, mut high) = (i128::from(*least) - 1, i128::from(*most));
        while low < high {
            let middle = (low + high + 1).div_euclid(2);
            if is_below(middle as i64) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let Ok(greatest) = i64::try_from(low) else { return 0 };
        let part = self.kll.rank(&greatest, Inclusive).unwrap_or(0.0);
        (part * self.kll.n() as f64).round() as u64
    }

    pub fn ends(&self) -> Option<(f64, f64)> {
        let key = crate::float::from_key;
        Some((key(*self.kll.min_item()?), key(*self.kll.max_item()?)))
    }

    pub fn bound(&self, histogram: bool) -> Bound {
        let (what, error) = if histogram {
            ("share", self.kll.normalized_pmf_error())
        } else {
            ("rank", self.kll.normalized_rank_error())
        };
        Bound { method: "KLL", what, error, confidence: 0.99 }
    }

    pub fn heap_bytes(&self) -> usize {
        self.kll.num_retained() * 8 * 2
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        put_checked(&self.kll.serialize(), out);
    }

    pub fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        match KllSketch::deserialize(take_checked(from)?) {
            Ok(kll) => Ok(Sketch { kll }),
            Err(error) => corrupt(&format!("no KLL sketch: {error}")),
        }
    }
}
