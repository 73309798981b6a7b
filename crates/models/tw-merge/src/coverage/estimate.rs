//! How many there are, seen and unseen.

use super::observed;
use tw_model::Seen;

/// An estimated number with the interval, around it, in which the true one lies in 95 of 100 cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate; never below what was seen.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// How many were seen, and how many there may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completeness {
    /// How many different ones were seen.
    pub distinct: u64,
    /// How often any was seen; [`u64::MAX`] if more often than that.
    pub observations: u64,
    /// How many were seen exactly once.
    pub once: u64,
    /// How many were seen exactly twice.
    pub twice: u64,
    /// How many were seen in exactly one trace.
    pub one_trace: u64,
    /// How many were seen in exactly two traces.
    pub two_traces: u64,
    /// The chance that the next observation is of one not seen before (Good and Turing): `once / observations`. Nothing
    /// seen says nothing: 1.
    pub unseen_mass: f64,
    /// How many there are, judged by how often each was seen (Chao1). Observations of one trace depend on each other, so
    /// `chao2` is the sounder one where there are many traces. `None` of less than two observations.
    pub chao1: Option<Estimate>,
    /// How many there are, judged by the number of traces that each was seen in (Chao2). `None` of less than two traces:
    /// nothing was seen again or not, so nothing tells how much is missing.
    pub chao2: Option<Estimate>,
}

impl Completeness {
    pub(super) fn of(seen: &[Seen], traces: usize) -> Self {
        let counted =
            |count: fn(&Seen) -> u64, of: u64| observed(seen).filter(|seen| count(seen) == of).count() as u64;
        let occurrences = |seen: &Seen| seen.count;
        let incidences = |seen: &Seen| u64::from(seen.traces);
        // Counts come from files too, and may be anything.
        let observations = observed(seen).fold(0u64, |sum, seen| sum.saturating_add(seen.count));
        let once = counted(occurrences, 1);
        Self {
            distinct: observed(seen).count() as u64,
            observations,
            once,
            twice: counted(occurrences, 2),
            one_trace: counted(incidences, 1),
            two_traces: counted(incidences, 2),
            unseen_mass: if observations == 0 { 1.0 } else { once as f64 / observations as f64 },
            chao1: chao(observed(seen).map(occurrences), observations),
            chao2: chao(observed(seen).map(incidences), traces as u64),
        }
    }
}

/// The estimate of Chao from how often each was seen in that many samples, with the interval of Chao (1987): what is
/// unseen is taken to be distributed as a log-normal, so that the lower end is not below what was seen. One sample has
/// no other to be compared with, and says nothing.
fn chao(counts: impl Iterator<Item = u64> + Clone, samples: u64) -> Option<Estimate> {
    const Z: f64 = 1.959_963_984_540_054;
    let number = |of: u64| counts.clone().filter(|&count| count == of).count() as f64;
    let (seen, f1, f2) = (counts.clone().count() as f64, number(1), number(2));
    if samples < 2 {
        return None;
    }
    if seen == 0.0 {
        return Some(Estimate { value: 0.0, low: 0.0, high: 0.0 });
    }
    let k = (samples as f64 - 1.0) / samples as f64;
    let (unseen, variance) = if f2 > 0.0 {
        let ratio = f1 / f2;
        let variance = f2 * (k / 2.0 * ratio.powi(2) + k * k * ratio.powi(3) + k * k / 4.0 * ratio.powi(4));
        (k * f1 * f1 / (2.0 * f2), variance)
    } else {
        let unseen = k * f1 * (f1 - 1.0) / 2.0;
        let variance = unseen + k * k * f1 * (2.0 * f1 - 1.0).powi(2) / 4.0
            - k * k * f1.powi(4) / (4.0 * (seen + unseen));
        (unseen, variance.max(0.0))
    };
    if unseen > 0.0 {
        let factor = (Z * (variance / (unseen * unseen)).ln_1p().sqrt()).exp();
        return Some(Estimate {
            value: seen + unseen,
            low: seen + unseen / factor,
            high: seen + unseen * factor,
        });
    }
    // Nothing hints at more, so there may be no more than those seen. The upper end is that of the number to be seen, if
    // each were seen as often as chance has it.
    let sum = |term: fn(f64) -> f64| counts.clone().map(|count| term(count as f64)).sum::<f64>();
    let missed = sum(|i| (-i).exp()) / seen;
    let variance = sum(|i| (-i).exp() - (-2.0 * i).exp()) - sum(|i| i * (-i).exp()).powi(2) / samples as f64;
    let (middle, half) = (seen / (1.0 - missed), Z * variance.max(0.0).sqrt() / (1.0 - missed));
    Some(Estimate { value: seen, low: seen, high: seen.max(middle + half) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(estimate: Option<Estimate>, value: f64, low: f64, high: f64) {
        let estimate = estimate.unwrap();
        for (found, expected) in [(estimate.value, value), (estimate.low, low), (estimate.high, high)] {
            assert!(
                (found - expected).abs() < 1e-6 * expected.max(1.0),
                "{estimate:?}: {found} is not {expected}"
            );
        }
    }

    /// Worked by hand: 5 seen once, 2 twice, 3 thrice; 18 observations, so k = 17/18 and unseen = k · 25/4.
    #[test]
    fn with_doubletons() {
        let counts = [1, 1, 1, 1, 1, 2, 2, 3, 3, 3];
        let k = 17.0 / 18.0;
        let unseen: f64 = k * 25.0 / 4.0;
        let variance: f64 = 2.0 * (k / 2.0 * 6.25 + k * k * 15.625 + k * k / 4.0 * 39.0625);
        let factor = (1.959_963_984_540_054 * (1.0 + variance / unseen / unseen).ln().sqrt()).exp();
        near(
            chao(counts.into_iter(), 18),
            10.0 + 5.902_777_777,
            10.0 + unseen / factor,
            10.0 + unseen * factor,
        );
        assert!((variance - 51.198_398_919).abs() < 1e-6, "{variance}");
    }

    /// Without doubletons the form corrected for bias is used: 4 seen once, 1 thrice, 7 observations.
    #[test]
    fn without_doubletons() {
        let k: f64 = 6.0 / 7.0;
        let unseen = k * 4.0 * 3.0 / 2.0;
        let variance = k * 6.0 + k * k * 4.0 * 49.0 / 4.0 - k * k * 256.0 / (4.0 * (5.0 + unseen));
        let factor = (1.959_963_984_540_054 * (1.0 + variance / unseen / unseen).ln().sqrt()).exp();
        let estimate = chao([1, 1, 1, 1, 3].into_iter(), 7);
        near(estimate, 5.0 + 36.0 / 7.0, 5.0 + unseen / factor, 5.0 + unseen * factor);
        assert!(estimate.unwrap().low > 5.0);
    }

    /// All seen so often that nothing is missing; and nothing seen at all.
    #[test]
    fn without_singletons() {
        let estimate = chao([50, 60, 70].into_iter(), 180);
        near(estimate, 3.0, 3.0, 3.0);
        let estimate = chao([2, 2, 2, 2].into_iter(), 8).unwrap();
        assert!(estimate.value == 4.0 && estimate.low == 4.0 && estimate.high > 4.5, "{estimate:?}");
        near(chao([].into_iter(), 2), 0.0, 0.0, 0.0);
    }

    #[test]
    fn one_sample_says_nothing() {
        assert_eq!(chao([].into_iter(), 0), None);
        assert_eq!(chao([1].into_iter(), 1), None);
        assert_eq!(chao([1, 1, 1].into_iter(), 1), None);
    }

    /// All combinations of few species and samples.
    #[test]
    fn an_estimate_lies_in_its_interval() {
        for samples in 2..6u64 {
            for code in 0..samples.pow(5) {
                let counts: Vec<u64> = (0..5).map(|at| code / samples.pow(at) % samples + 1).collect();
                for few in 1..=counts.len() {
                    let estimate = chao(counts[..few].iter().copied(), samples).unwrap();
                    let Estimate { value, low, high } = estimate;
                    let seen = few as f64;
                    assert!(
                        seen <= low && low <= value && value <= high && high.is_finite(),
                        "{counts:?}: {estimate:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn counts_beyond_all_bounds_do_not_overflow() {
        let seen = tw_model::Seen { count: u64::MAX, traces: 2, ..tw_model::Seen::default() };
        let found = Completeness::of(&[seen; 3], 2);
        assert_eq!((found.distinct, found.observations), (3, u64::MAX));
        assert!(found.chao1.is_some_and(|estimate| estimate.high.is_finite()), "{found:?}");
    }
}
