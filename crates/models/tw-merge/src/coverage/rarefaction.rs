//! How many are to be expected after k of T traces in random order.
//!
//! One that is in t of the T traces is missed by k of them with the chance C(T − t, k) / C(T, k).

use super::observed;
use tw_model::Seen;

/// How many there are in each number of traces.
pub(super) struct Rarefaction {
    traces: usize,
    /// Number of traces, and how many are in that many.
    groups: Vec<(usize, f64)>,
}

impl Rarefaction {
    pub fn of(seen: &[Seen], traces: usize) -> Self {
        let mut counts = vec![0u64; traces + 1];
        for seen in observed(seen) {
            counts[(seen.traces as usize).min(traces)] += 1;
        }
        let groups = counts.into_iter().enumerate().filter(|&(_, count)| count > 0);
        Self { traces, groups: groups.map(|(incidence, count)| (incidence, count as f64)).collect() }
    }

    /// How many are to be expected after that many traces.
    pub fn after(&self, traces: usize) -> f64 {
        self.groups
            .iter()
            .map(|&(incidence, count)| count * (1.0 - missed(self.traces, incidence, traces)))
            .sum()
    }
}

/// The chance that none of `drawn` of the `all` traces is one of `incidence` of them.
fn missed(all: usize, incidence: usize, drawn: usize) -> f64 {
    if incidence + drawn > all {
        return 0.0;
    }
    // The product of (all − incidence − j) / (all − j) over j below `drawn`; the two numbers may be exchanged.
    let (few, many) = (incidence.min(drawn), incidence.max(drawn));
    if few <= 64 {
        return (0..few).map(|j| (all - many - j) as f64 / (all - j) as f64).product();
    }
    let choose = ln_factorial(all - incidence) - ln_factorial(all - incidence - drawn);
    (choose - ln_factorial(all) + ln_factorial(all - drawn)).exp()
}

/// ln n!, by Stirling's series; the first term left out is below 1e-14 from 16 on.
fn ln_factorial(n: usize) -> f64 {
    if n < 16 {
        return (2..=n).map(|i| i as f64).product::<f64>().ln();
    }
    let x = n as f64;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5))
        - 1.0 / (1680.0 * x.powi(7));
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials() {
        let mut sum = 0.0;
        for n in 1..2_000usize {
            sum += (n as f64).ln();
            assert!((ln_factorial(n) - sum).abs() < 1e-12 * sum.max(1.0), "{n}");
        }
    }

    /// The two ways to the same number, and the definition by running products.
    #[test]
    fn chances_of_missing() {
        for (all, incidence, drawn) in
            [(1_000, 3, 200), (1_000, 65, 70), (5_000, 100, 300), (10, 4, 6), (10, 4, 7)]
        {
            let product: f64 = (0..drawn)
                .map(|j| (all as f64 - incidence as f64 - f64::from(j)) / (all as f64 - f64::from(j)))
                .map(|factor| factor.max(0.0))
                .product();
            let found = missed(all, incidence, drawn as usize);
            assert!(
                (found - product).abs() < 1e-10 * product.max(1e-3),
                "{all} {incidence} {drawn}: {found} {product}"
            );
        }
    }
}
