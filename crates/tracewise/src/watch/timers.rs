//! What a watch does every so many positions or so often.

use super::{Every, WatchOptions};
use std::time::{Duration, Instant};

/// What is due when.
pub(super) struct Timers {
    /// To list what is pending.
    pub pending: Timer,
    /// To tell the values of queries.
    pub values: Timer,
    /// To keep the state.
    pub checkpoint: Timer,
}

impl Timers {
    pub fn new(options: &WatchOptions) -> Self {
        let checkpoint = options.checkpoints.as_ref().and_then(|checkpoints| checkpoints.every);
        // Values after so many positions are told just there, by whoever counts them.
        let values = options.values_every.filter(|every| matches!(every, Every::Time(_)));
        let (pending, values) = (Timer::new(options.pending_every), Timer::new(values));
        Self { pending, values, checkpoint: Timer::new(checkpoint) }
    }

    /// When the next is due by time.
    pub fn instant(&self) -> Option<Instant> {
        [&self.pending, &self.values, &self.checkpoint].into_iter().filter_map(|timer| timer.at).min()
    }
}

/// One of them.
pub(super) struct Timer {
    every: Option<Every>,
    positions: u64,
    at: Option<Instant>,
}

impl Timer {
    fn new(every: Option<Every>) -> Self {
        let mut timer = Self { every, positions: 0, at: None };
        timer.done(0);
        timer
    }

    /// Whether it is due, which it is then no more.
    pub fn due(&mut self, positions: u64) -> bool {
        let due = match self.every {
            None => false,
            Some(Every::Positions(_)) => positions >= self.positions,
            Some(Every::Time(_)) => self.at.is_some_and(|at| at <= Instant::now()),
        };
        if due {
            self.done(positions);
        }
        due
    }

    /// Starts it anew.
    pub fn done(&mut self, positions: u64) {
        match self.every {
            Some(Every::Positions(every)) => self.positions = (positions / every.max(1) + 1) * every.max(1),
            Some(Every::Time(every)) => {
                self.at = Instant::now().checked_add(every.max(Duration::from_millis(1)))
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_once_for_each_stretch_of_positions() {
        let mut timer = Timer::new(Some(Every::Positions(10)));
        let due: Vec<u64> = [0, 9, 10, 11, 19, 35, 36, 40].into_iter().filter(|&at| timer.due(at)).collect();
        assert_eq!(due, [10, 35, 40]);
        assert!(!Timer::new(None).due(u64::MAX));
    }

    #[test]
    fn due_when_the_time_has_come() {
        let mut timer = Timer::new(Some(Every::Time(Duration::from_millis(20))));
        assert!(!timer.due(1_000_000));
        std::thread::sleep(Duration::from_millis(25));
        assert!(timer.due(0));
        assert!(timer.at.is_some_and(|at| at > Instant::now()));
    }
}
