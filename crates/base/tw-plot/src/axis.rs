//! What an axis spans, where its ticks are and how they read.

use crate::number::{Decimal, labels, number};
use crate::{Scale, time};

/// Spans narrower than this part of the numbers at their ends cannot be told from rounding.
const NARROWEST: f64 = 1e-11;
/// Spans below this lose their digits.
const SMALLEST: f64 = 1e-290;

/// The numbers that an axis has to show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub low: f64,
    pub high: f64,
    log: bool,
    /// How many have no place on a logarithmic axis.
    pub left_out: u64,
    /// Whether all are integers.
    whole: bool,
}

impl Extent {
    pub fn new(scale: &Scale) -> Self {
        let log = *scale == Scale::Log;
        Extent { low: f64::INFINITY, high: f64::NEG_INFINITY, log, left_out: 0, whole: true }
    }

    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
        } else if self.log && value <= 0.0 {
            self.left_out = self.left_out.saturating_add(1);
        } else {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
            self.whole &= value.fract() == 0.0;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

/// An interval that is not empty, and how it is placed on `[0, 1]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
    pub log: bool,
    /// Whether only integers make sense as ticks.
    pub whole: bool,
}

impl Range {
    /// What shows the extent: never empty, with `zero` inside if asked.
    pub fn new(scale: &Scale, extent: &Extent, zero: bool) -> Self {
        let (low, high) = (extent.low, extent.high);
        match scale {
            Scale::Category(names) => {
                // Numbers beyond the names have a place too, without a label.
                let last = names.len().max(1) as f64 - 0.5;
                let (low, high) = ((low - 0.5).min(-0.5), (high + 0.5).max(last));
                return Range { low, high, log: false, whole: true };
            }
            Scale::Log if extent.is_empty() => {
                return Range { low: 1.0, high: 10.0, log: true, whole: false };
            }
            Scale::Log => {
                // Bars begin at the low end, and the lowest must have some height.
                let (low, high) = if zero { (low / 2.0, high * 1.1) } else { (low, high) };
                let pad = if high / low < 1.0 + 1e-9 { 2.0 } else { 1.0 };
                let low = (low / pad).max(f64::MIN_POSITIVE);
                let high = (high.max(low) * pad).min(f64::MAX);
                let high = if high > low { high } else { low * 10.0 };
                return Range { low, high, log: true, whole: false };
            }
            _ => {}
        }
        if extent.is_empty() {
            return Range { low: 0.0, high: 1.0, log: false, whole: false };
        }
        let (low, high) = if zero { (low.min(0.0), high.max(0.0)) } else { (low, high) };
        // Room for the numbers below bars.
        let low = if zero && low < 0.0 { (low * 1.06 - (high * 0.06)).max(f64::MIN) } else { low };
        let size = low.abs().max(high.abs());
        let span = high - low;
        let pad = if low == high {
            if size < SMALLEST { 1.0 } else { (size * 0.1).max(f64::from(u8::from(extent.whole))) }
        } else if span < size * NARROWEST || span < SMALLEST {
            (size * NARROWEST).max(SMALLEST)
        } else {
            0.0
        };
        // With zero inside, bars still begin at the axis.
        let below = if zero && low == 0.0 && high > 0.0 { 0.0 } else { pad };
        let (low, high) = ((low - below).max(f64::MIN), (high + pad).min(f64::MAX));
        Range { low, high, log: false, whole: extent.whole }
    }

    /// From 0 at the low end to 1 at the high end. `None` for numbers without a place.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        let part = if self.log {
            (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            // Halves, as the span may overflow.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        Some(part.clamp(0.0, 1.0))
    }
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub label: String,
    /// Shown below where it changes.
    pub below: String,
}

/// The marks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub ticks: Vec<Tick>,
    /// Lines without labels between them.
    pub minor: Vec<f64>,
}

impl Ticks {
    /// About `most` ticks within the range, seldom more.
    pub fn new(scale: &Scale, range: &Range, most: usize) -> Self {
        let timed = match scale {
            Scale::Category(names) => Some(categories(names, range, most)),
            Scale::Log => return logarithmic(range, most),
            Scale::Time { origin } => time::instants(*origin, range.low, range.high, most)
                .map(|ticks| ticks.into_iter().map(|(at, label, below)| Tick { at, label, below }).collect()),
            Scale::Duration => time::durations(range.low, range.high, most)
                .map(|ticks| ticks.into_iter().map(|(at, label)| plain(at, label)).collect()),
            Scale::Linear => None,
        };
        let ticks = timed.filter(|ticks| !ticks.is_empty());
        Ticks { ticks: ticks.unwrap_or_else(|| linear(range, most)), minor: Vec::new() }
    }

    /// As `new`, but on a linear scale the range grows to begin and end with a tick.
    pub fn round(scale: &Scale, range: &mut Range, most: usize) -> Self {
        if *scale != Scale::Linear {
            return Ticks::new(scale, range, most);
        }
        let (digit, power) = step(range, most);
        let size = Decimal { digits: digit, power }.value();
        let (low, high) = ((range.low / size + 1e-6).floor(), (range.high / size - 1e-6).ceil());
        let end = |count: f64| Decimal { digits: count as i64 * digit, power }.value();
        if end(low).is_finite() {
            range.low = range.low.min(end(low));
        }
        if end(high).is_finite() {
            range.high = range.high.max(end(high));
        }
        Ticks { ticks: linear(range, most), minor: Vec::new() }
    }
}

fn plain(at: f64, label: String) -> Tick {
    Tick { at, label, below: String::new() }
}

/// The step of at most `most` intervals: a digit 1, 2 or 5 and a power of ten.
fn step(range: &Range, most: usize) -> (i64, i32) {
    let most = most.max(1) as f64;
    // The part of a thousandth: growing to round ends does not double the step.
    let raw = ((range.high / most - range.low / most) * 0.999).min(f64::MAX);
    let raw = if range.whole { raw.max(1.0) } else { raw.max(f64::MIN_POSITIVE) };
    let power = raw.log10().floor() as i32;
    for power in power - 1..=power + 1 {
        for digit in [1, 2, 5] {
            if (Decimal { digits: digit, power }).value() >= raw {
                return (digit, power);
            }
        }
    }
    (1, power + 2)
}

fn linear(range: &Range, most: usize) -> Vec<Tick> {
    let (digit, power) = step(range, most);
    let size = Decimal { digits: digit, power }.value();
    let (first, last) = ((range.low / size - 1e-6).ceil() as i64, (range.high / size + 1e-6).floor() as i64);
    // Never many: the step comes from the span.
    let last = last.min(first.saturating_add(2 * most.max(1) as i64 + 2));
    let decimals: Vec<_> =
        (first..=last).map(|n| Decimal { digits: n.saturating_mul(digit), power }).collect();
    let labels = labels(&decimals);
    let ticks = decimals.iter().zip(labels).map(|(decimal, label)| plain(decimal.value(), label));
    ticks.filter(|tick| tick.at.is_finite()).collect()
}

fn logarithmic(range: &Range, most: usize) -> Ticks {
    let most = most.max(2);
    let (low, high) = (range.low.log10(), range.high.log10());
    let powers = low.floor() as i32..=high.ceil() as i32;
    let inside = |decimal: &Decimal| {
        let value = decimal.value();
        value.is_finite() && value >= range.low * (1.0 - 1e-9) && value <= range.high * (1.0 + 1e-9)
    };
    let with = |digits: &[i64]| -> Vec<Decimal> {
        let all =
            powers.clone().flat_map(|power| digits.iter().map(move |&digits| Decimal { digits, power }));
        all.filter(&inside).collect()
    };
    let decades = with(&[1]);
    let stride = decades.len().div_ceil(most).max(1);
    let mut chosen = decades.clone();
    if stride > 1 {
        // Decades whose power is a multiple, so that they do not depend on where the range begins.
        chosen.retain(|decimal| decimal.power.rem_euclid(stride as i32) == 0);
    } else {
        let all: Vec<i64> = (1..10).collect();
        let finer = [&all[..], &[1, 2, 5], &[1, 3]].into_iter().map(with);
        if let Some(finer) = finer.into_iter().find(|finer| finer.len() > chosen.len() && finer.len() <= most)
        {
            chosen = finer;
        }
    }
    // Plain as far as all can be; otherwise only the small ones.
    let short = |decimal: &Decimal| (-4..7).contains(&decimal.magnitude());
    let all_short = chosen.iter().all(short);
    let written = |decimal: &Decimal| {
        let plainly = all_short || (-2..4).contains(&decimal.magnitude());
        plain(decimal.value(), if plainly { decimal.plain() } else { decimal.scientific() })
    };
    let mut ticks: Vec<Tick> = chosen.iter().map(written).collect();
    if ticks.len() < 2 {
        // Less than a decade: equal differences are close enough to equal distances.
        let linear = linear(&Range { log: false, ..*range }, most);
        ticks = linear.into_iter().filter(|tick| tick.at > 0.0).collect();
    }
    let minor = if high - low <= 6.0 { with(&[2, 3, 4, 5, 6, 7, 8, 9]) } else { decades };
    let minor = minor.iter().map(|decimal| decimal.value());
    Ticks { minor: minor.filter(|at| ticks.iter().all(|tick| tick.at != *at)).collect(), ticks }
}

fn categories(names: &[String], range: &Range, most: usize) -> Vec<Tick> {
    let stride = ((range.high - range.low) / most.max(1) as f64).ceil().max(1.0) as usize;
    let chosen = names.iter().enumerate().step_by(stride);
    chosen.map(|(index, name)| plain(index as f64, name.clone())).collect()
}

/// A single number of an axis, in full.
pub(crate) fn show(scale: &Scale, value: f64) -> String {
    match scale {
        Scale::Linear | Scale::Log => number(value),
        Scale::Time { origin } => time::show_instant(*origin, value),
        Scale::Duration => time::show_duration(value),
        Scale::Category(names) => {
            let name = (value >= 0.0 && value.fract() == 0.0).then(|| names.get(value as usize)).flatten();
            name.cloned().unwrap_or_else(|| number(value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(scale: &Scale, values: &[f64], zero: bool) -> Range {
        let mut extent = Extent::new(scale);
        values.iter().for_each(|&value| extent.add(value));
        Range::new(scale, &extent, zero)
    }

    fn labels(scale: &Scale, values: &[f64], most: usize) -> Vec<String> {
        let ticks = Ticks::new(scale, &range(scale, values, false), most).ticks;
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        let linear = Scale::Linear;
        assert_eq!(labels(&linear, &[0.0, 10.0], 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&linear, &[-0.3, 0.31], 4), ["-0.2", "0", "0.2"]);
        assert_eq!(labels(&linear, &[0.0, 2.0], 9), ["0", "1", "2"], "integers between integers only");
        assert_eq!(labels(&linear, &[0.0, 2.5], 5), ["0", "0.5", "1.0", "1.5", "2.0", "2.5"]);
        assert_eq!(labels(&linear, &[0.0, 3e6], 3), ["0", "1,000,000", "2,000,000", "3,000,000"]);
        assert_eq!(labels(&linear, &[0.0, 3e-9], 3), ["0", "1e-9", "2e-9", "3e-9"]);
        assert_eq!(labels(&linear, &[f64::MIN, f64::MAX], 4), ["-1e308", "0", "1e308"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_finer() {
        let log = Scale::Log;
        assert_eq!(labels(&log, &[1.0, 1000.0], 5), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(&log, &[1.0, 100.0], 8), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(&log, &[0.001, 1e9], 5), ["1e-3", "1", "1,000", "1e6", "1e9"]);
        assert_eq!(labels(&log, &[4.1, 4.9], 5), ["4.2", "4.4", "4.6", "4.8"]);
        assert!(!labels(&log, &[5e-324, 1e308], 6).is_empty());
        assert!(!labels(&log, &[5e-324], 6).is_empty());
        assert!(!labels(&log, &[f64::MAX], 6).is_empty());
    }

    #[test]
    fn numbers_are_placed() {
        let linear = range(&Scale::Linear, &[-10.0, 30.0], false);
        assert_eq!(linear.place(0.0), Some(0.25));
        assert_eq!(linear.place(f64::NAN), None);
        let log = range(&Scale::Log, &[1.0, 10_000.0], false);
        assert_eq!(log.place(100.0), Some(0.5));
        assert_eq!(log.place(0.0), None);
        assert_eq!(log.place(-1.0), None);
        let huge = range(&Scale::Linear, &[f64::MIN, f64::MAX], false);
        assert_eq!(huge.place(0.0), Some(0.5));
        let names = range(&Scale::Category(vec!["a".into(), "b".into()]), &[], false);
        assert_eq!((names.place(0.0), names.place(1.0)), (Some(0.25), Some(0.75)));
    }

    #[test]
    fn ranges_are_never_empty() {
        let values = [0.0, -0.0, 5e-324, 1e-300, 0.1, 3.0, -7.5, 1e15, 1e300, f64::MAX, f64::MIN];
        for scale in [Scale::Linear, Scale::Log, Scale::Duration, Scale::Time { origin: i64::MAX }] {
            for a in values {
                for b in [a, a * (1.0 + f64::EPSILON), a / 2.0, 1.0] {
                    for zero in [false, true] {
                        let mut range = range(&scale, &[a, b], zero);
                        let before = range;
                        assert!(range.low < range.high, "{scale:?} {a} {b}: {range:?}");
                        let ticks = Ticks::round(&scale, &mut range, 6).ticks;
                        assert!(range.low <= before.low && range.high >= before.high, "{scale:?} {a} {b}");
                        assert!(
                            !ticks.is_empty() && ticks.len() <= 20,
                            "{scale:?} {a} {b} {range:?}: {ticks:?}"
                        );
                        assert!(ticks.is_sorted_by(|a, b| a.at < b.at), "{scale:?} {a} {b}: {ticks:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn round_ranges_end_with_ticks() {
        let mut range = range(&Scale::Linear, &[0.3, 9.4], true);
        let ticks = Ticks::round(&Scale::Linear, &mut range, 5).ticks;
        assert_eq!((range.low, range.high), (0.0, 10.0));
        assert_eq!((ticks[0].at, ticks[ticks.len() - 1].at), (0.0, 10.0));
    }
}
