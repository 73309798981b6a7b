//! Budgets, and what is said of results that had to do with less.

use std::fmt;

/// How much may be kept before an exact statistic becomes a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one accumulator. Some thousand numbers are kept in any case.
    pub exact_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { exact_bytes: 256 << 20 }
    }
}

/// How far an approximate result may be off, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The sketch: `KLL`, `HyperLogLog`, `frequent items`.
    pub method: &'static str,
    /// What may be off: `rank` (the result is the exact quantile of a fraction this near) and `share` (of each bin) are
    /// parts of the number of values, `relative` is a part of the result, `count` a number of values (no value is more
    /// frequent than the result by more).
    pub what: &'static str,
    /// By how much at most.
    pub error: f64,
    /// The chance that it is not off by more.
    pub confidence: f64,
}

/// `rank ±1.33 % with 99 % confidence (KLL)`
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            "count" => write!(f, "count ±{}", self.error)?,
            what => write!(f, "{what} ±{} %", rounded_up(self.error * 100.0))?,
        }
        if self.confidence < 1.0 {
            write!(f, " with {} % confidence", rounded_up(self.confidence * 100.0))?;
        }
        write!(f, " ({})", self.method)
    }
}

/// Three digits that count, not less than the number.
fn rounded_up(percent: f64) -> f64 {
    if percent <= 0.0 {
        return 0.0;
    }
    let scale = 10f64.powi(2 - percent.log10().floor() as i32);
    // A little is forgiven, lest 0.99 · 100 become 99.1.
    (percent * scale - 1e-6).ceil() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_in_words() {
        let rank = Bound { method: "KLL", what: "rank", error: 0.013_300_1, confidence: 0.99 };
        assert_eq!(rank.to_string(), "rank ±1.34 % with 99 % confidence (KLL)");
        let rank = Bound { error: 0.0007, ..rank };
        assert_eq!(rank.to_string(), "rank ±0.07 % with 99 % confidence (KLL)");
        let count = Bound { method: "frequent items", what: "count", error: 17.0, confidence: 1.0 };
        assert_eq!(count.to_string(), "count ±17 (frequent items)");
        let relative = Bound { method: "HyperLogLog", what: "relative", error: 0.02, confidence: 0.997 };
        assert_eq!(relative.to_string(), "relative ±2 % with 99.7 % confidence (HyperLogLog)");
    }
}
