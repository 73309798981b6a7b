//! Samples out of order by up to a skew: each waits until none before it can come.

use super::watcher::Taken;
use std::collections::BTreeMap;
use tw_core::Time;
use tw_engine_robust::Samples;

/// Samples that wait for earlier ones. Memory is that of the samples within the skew.
pub(super) struct Sorted {
    skew: i64,
    latest: Option<Time>,
    arrived: u64,
    /// By time, and of equal times in the order of arrival: what predicates are worth, and the signals.
    waiting: BTreeMap<(Time, u64), (Vec<f64>, Vec<f64>)>,
}

impl Sorted {
    pub fn new(skew: i64) -> Self {
        Self { skew, latest: None, arrived: 0, waiting: BTreeMap::new() }
    }

    /// Before this no sample is accepted any more.
    fn complete(&self) -> Time {
        self.latest.map_or(Time::MIN, |latest| latest.saturating_sub(self.skew))
    }

    /// Takes samples; the index of the first that comes too late, and the time that it comes after.
    pub fn add(&mut self, taken: &Taken, times: &[Time]) -> Result<(), (usize, Time)> {
        let row = |columns: &[Vec<f64>], at: usize| columns.iter().map(|column| column[at]).collect();
        for (at, &time) in times.iter().enumerate() {
            if time < self.complete() {
                return Err((at, self.latest.unwrap_or(time)));
            }
            self.latest = Some(self.latest.map_or(time, |latest| latest.max(time)));
            let values = (row(&taken.samples.predicates, at), row(&taken.signals, at));
            self.waiting.insert((time, self.arrived), values);
            self.arrived += 1;
        }
        Ok(())
    }

    /// The samples that nothing comes before, in order; at the end all.
    pub fn ready(&mut self, end: bool) -> Option<Taken> {
        let rest = match end {
            true => BTreeMap::new(),
            // One at just that time may be joined by others, which come after it.
            false => self.waiting.split_off(&(self.complete().saturating_add(1), 0)),
        };
        let ready = std::mem::replace(&mut self.waiting, rest);
        let (_, (predicates, signals)) = ready.first_key_value()?;
        let columns = |count: usize| vec![Vec::with_capacity(ready.len()); count];
        let mut taken = Taken {
            samples: Samples {
                len: ready.len(),
                predicates: columns(predicates.len()).into(),
                ..Samples::default()
            },
            signals: columns(signals.len()),
        };
        let mut times = Vec::with_capacity(ready.len());
        for ((time, _), (predicates, signals)) in ready {
            times.push(time);
            let own = taken.samples.predicates.to_mut().iter_mut();
            own.zip(predicates).for_each(|(column, value)| column.push(value));
            taken.signals.iter_mut().zip(signals).for_each(|(column, value)| column.push(value));
        }
        taken.samples.times = Some(times.into());
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(times: &[Time]) -> Taken {
        let column: Vec<f64> = times.iter().map(|&time| time as f64).collect();
        let samples = Samples { len: times.len(), predicates: vec![column].into(), ..Samples::default() };
        Taken { samples, signals: Vec::new() }
    }

    #[test]
    fn samples_leave_in_order_and_no_earlier_than_they_may() {
        let mut sorted = Sorted::new(3);
        let mut add = |times: &[Time]| {
            sorted.add(&taken(times), times)?;
            Ok(sorted
                .ready(false)
                .map_or(Vec::new(), |ready| ready.samples.times.unwrap_or_default().into_owned()))
        };
        assert_eq!(add(&[5, 3]), Ok(vec![]));
        assert_eq!(add(&[4, 7, 5]), Ok(vec![3, 4]));
        assert_eq!(add(&[20]), Ok(vec![5, 5, 7]));
        assert_eq!(add(&[18, 16]), Err((1, 20)));
        let rest = sorted.ready(true).map(|ready| ready.samples);
        assert_eq!(rest.as_ref().and_then(|rest| rest.times.clone()), Some(vec![18, 20].into()));
        assert_eq!(rest.map(|rest| rest.predicates), Some(vec![vec![18.0, 20.0]].into()));
        assert!(sorted.ready(true).is_none());
    }
}
