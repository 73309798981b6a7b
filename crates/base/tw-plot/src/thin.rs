//! Long signals made short enough to draw, with their extremes.

/// One value of a signal, and when it came.
#[derive(Clone, Copy, Debug)]
struct Point {
    order: u64,
    x: f64,
    value: f64,
}

/// What a pixel column needs of its values.
#[derive(Clone, Copy, Debug)]
struct Values {
    first: Point,
    least: Point,
    greatest: Point,
    last: Point,
}

/// A stretch of the signal. Gaps between its values are narrower than a pixel and are forgotten.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    values: Option<Values>,
    /// The first ⊥ before its values, or the first of all if it has none.
    gap_before: Option<f64>,
    /// The first ⊥ after its values.
    gap_after: Option<f64>,
}

impl Bucket {
    fn push(&mut self, order: u64, x: f64, value: Option<f64>) {
        let Some(value) = value else {
            let gap = if self.values.is_some() { &mut self.gap_after } else { &mut self.gap_before };
            gap.get_or_insert(x);
            return;
        };
        let point = Point { order, x, value };
        match &mut self.values {
            Some(values) => {
                values.last = point;
                if value < values.least.value {
                    values.least = point;
                }
                if value > values.greatest.value {
                    values.greatest = point;
                }
            }
            None => self.values = Some(Values { first: point, least: point, greatest: point, last: point }),
        }
        self.gap_after = None;
    }

    /// This stretch and the next as one.
    fn join(self, next: Bucket) -> Bucket {
        match (self.values, next.values) {
            (None, _) => Bucket { gap_before: self.gap_before.or(next.gap_before), ..next },
            (Some(_), None) => Bucket { gap_after: self.gap_after.or(next.gap_before), ..self },
            (Some(a), Some(b)) => {
                let least = if b.least.value < a.least.value { b.least } else { a.least };
                let greatest = if b.greatest.value > a.greatest.value { b.greatest } else { a.greatest };
                let values = Some(Values { first: a.first, least, greatest, last: b.last });
                Bucket { values, gap_before: self.gap_before, gap_after: next.gap_after }
            }
        }
    }

    fn write(self, out: &mut Vec<(f64, Option<f64>)>) {
        out.extend(self.gap_before.map(|x| (x, None)));
        if let Some(Values { first, least, greatest, last }) = self.values {
            let mut points = [first, least, greatest, last];
            points.sort_by_key(|point| point.order);
            let mut before = None;
            for point in points {
                if before != Some(point.order) {
                    out.push((point.x, Some(point.value)));
                }
                before = Some(point.order);
            }
        }
        out.extend(self.gap_after.map(|x| (x, None)));
    }
}

/// Keeps the first, least, greatest and last value of every pixel column of a signal that is pushed from left to right,
/// in memory for some columns only. The length of the signal need not be known. Short signals are kept as they are.
///
/// ```
/// let mut thinner = tw_plot::Thinner::new(100);
/// thinner.extend((0..1_000_000).map(|i| (i as f64, Some(if i == 567_891 { 1.0 } else { 0.0 }))));
/// let points = thinner.finish();
/// assert!(points.len() < 1_000);
/// assert!(points.contains(&(567_891.0, Some(1.0))));
/// ```
#[derive(Clone, Debug)]
pub struct Thinner {
    columns: usize,
    order: u64,
    /// Everything, as long as it is little.
    exact: Vec<(f64, Option<f64>)>,
    buckets: Vec<Bucket>,
    /// The left end of the first bucket, and half the width of each: the width itself may overflow.
    origin: f64,
    half: f64,
    /// The bucket of the last point and half the place where it ends, which saves most divisions.
    current: usize,
    half_end: f64,
}

impl Thinner {
    /// For a picture with this many pixel columns.
    pub fn new(columns: usize) -> Self {
        let columns = columns.clamp(1, 1 << 20);
        Thinner {
            columns,
            order: 0,
            exact: Vec::new(),
            buckets: Vec::new(),
            origin: 0.0,
            half: 0.0,
            current: 0,
            half_end: f64::NEG_INFINITY,
        }
    }

    /// Adds a value, or ⊥, at `x`, which is not left of those before. Infinite values and those that are not numbers
    /// count as ⊥; such places are left out.
    pub fn push(&mut self, x: f64, value: Option<f64>) {
        if !x.is_finite() {
            return;
        }
        let value = value.filter(|value| value.is_finite());
        if self.buckets.is_empty() {
            self.exact.push((x, value));
            if self.exact.len() > 4 * self.columns {
                self.start();
            }
        } else {
            self.place(x, value);
        }
    }

    /// The points to draw, from left to right.
    pub fn finish(self) -> Vec<(f64, Option<f64>)> {
        let mut out = self.exact;
        self.buckets.into_iter().for_each(|bucket| bucket.write(&mut out));
        out
    }

    /// Changes from all points to buckets.
    fn start(&mut self) {
        let exact = std::mem::take(&mut self.exact);
        let (first, last) = (exact[0].0, exact[exact.len() - 1].0);
        self.origin = first;
        self.half = ((last / 2.0 - first / 2.0) / self.columns as f64).max(f64::MIN_POSITIVE);
        self.buckets.push(Bucket::default());
        exact.into_iter().for_each(|(x, value)| self.place(x, value));
    }

    fn place(&mut self, x: f64, value: Option<f64>) {
        if x / 2.0 >= self.half_end {
            let mut index = (x / 2.0 - self.origin / 2.0) / self.half;
            while index >= (2 * self.columns) as f64 {
                self.widen();
                index /= 2.0;
            }
            self.current = index as usize;
            if self.current >= self.buckets.len() {
                self.buckets.resize(self.current + 1, Bucket::default());
            }
            self.half_end = self.origin / 2.0 + (self.current + 1) as f64 * self.half;
        }
        self.buckets[self.current].push(self.order, x, value);
        self.order += 1;
    }

    /// Joins the buckets in pairs.
    fn widen(&mut self) {
        self.half *= 2.0;
        let joined = self.buckets.chunks(2).map(|pair| pair.iter().copied().reduce(Bucket::join));
        self.buckets = joined.map(Option::unwrap_or_default).collect();
    }
}

impl Extend<(f64, Option<f64>)> for Thinner {
    fn extend<T: IntoIterator<Item = (f64, Option<f64>)>>(&mut self, points: T) {
        points.into_iter().for_each(|(x, value)| self.push(x, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::{Rng, cases};

    fn thin(columns: usize, points: &[(f64, Option<f64>)]) -> Vec<(f64, Option<f64>)> {
        let mut thinner = Thinner::new(columns);
        thinner.extend(points.iter().copied());
        thinner.finish()
    }

    #[test]
    fn few_points_are_kept() {
        let points: Vec<_> = (0..40).map(|i| (f64::from(i), (i % 3 > 0).then_some(f64::from(i)))).collect();
        assert_eq!(thin(10, &points), points);
    }

    #[test]
    fn long_gaps_stay_and_begin_where_they_began() {
        let points: Vec<_> =
            (0..10_000).map(|i| (f64::from(i), (!(2_000..6_000).contains(&i)).then_some(1.0))).collect();
        let thinned = thin(50, &points);
        assert!(thinned.contains(&(2_000.0, None)));
        let in_gap = |point: &&(f64, Option<f64>)| point.1.is_some() && (2_000.0..6_000.0).contains(&point.0);
        assert_eq!(thinned.iter().filter(in_gap).count(), 0);
        assert!(thinned.contains(&(6_000.0, Some(1.0))) && thinned.contains(&(1_999.0, Some(1.0))));
    }

    /// What is kept is a part of the signal in its order, with the extremes of every stretch of two columns.
    #[test]
    fn extremes_of_random_signals_stay() {
        for seed in 0..cases(200) {
            let mut rng = Rng::new(seed);
            let columns = 1 + rng.below(30);
            let spread = rng.pick(&[0.0, 1.0, 1e-300, 1e250]);
            let mut x = rng.pick(&[0.0, -1e250, 5.0]);
            let points: Vec<_> = (0..rng.below(3_000))
                .map(|_| {
                    x += spread * rng.below(1_000) as f64;
                    let value = rng.below(2_000) as f64 - 1_000.0;
                    let value = rng.pick(&[Some(value), Some(value), Some(value), None, Some(f64::NAN)]);
                    (x, value)
                })
                .collect();
            let thinned = thin(columns, &points);
            assert!(thinned.len() <= 12 * columns, "seed {seed}: {} points", thinned.len());
            let real: Vec<_> =
                points.iter().map(|&(x, value)| (x, value.filter(|value| !value.is_nan()))).collect();
            let mut rest = real.iter();
            assert!(thinned.iter().all(|point| rest.any(|other| other == point)), "seed {seed}: not a part");
            let extremes = |points: &[(f64, Option<f64>)]| {
                let values = points.iter().filter_map(|point| point.1);
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)))
            };
            assert_eq!(extremes(&thinned), extremes(&real), "seed {seed}");
            if let (Some(first), Some(last)) = (real.first(), real.last()) {
                // Whatever window of two columns is looked at, its extremes are those of the signal there or near.
                let width = (last.0 / 2.0 - first.0 / 2.0) / columns as f64 * 2.0;
                for &(x, value) in real.iter().filter(|point| point.1.is_some()) {
                    let near = |point: &&(f64, Option<f64>)| (point.0 / 2.0 - x / 2.0).abs() <= width;
                    let near: Vec<_> = thinned.iter().filter(near).copied().collect();
                    let (low, high) = extremes(&near);
                    assert!(low <= value.unwrap() && value.unwrap() <= high, "seed {seed} at {x}");
                }
            }
        }
    }

    #[test]
    fn places_without_number_are_left_out() {
        assert_eq!(
            thin(4, &[(f64::NAN, Some(1.0)), (f64::INFINITY, Some(1.0)), (1.0, Some(2.0))]),
            [(1.0, Some(2.0))]
        );
    }
}
