//! What a watch does every so many positions or so often.

use super::{Every, WatchOptions};
use std::time::{Duration, Instant};

/// How long a line waits for what may continue it.
const SILENCE: Duration = Duration::from_secs(1);
/// How long violations that were told may wait to be kept.
const SOON: Duration = Duration::from_secs(1);

/// What is due when.
pub(super) struct Timers {
    /// To list what is pending.
    pub pending: Timer,
    /// To tell the values of queries.
    pub values: Timer,
    /// To keep the state.
    pub checkpoint: Timer,
    /// To let time go on though no event comes.
    pub heartbeat: Heartbeat,
    /// When a line that waits for what follows waits no longer.
    pub silence: Option<Instant>,
    /// When lines that were told have to be kept at the latest.
    owed: Option<Instant>,
    /// When the state was last kept.
    kept: Option<Instant>,
}

impl Timers {
    pub fn new(options: &WatchOptions) -> Self {
        let checkpoint = options.checkpoints.as_ref().and_then(|checkpoints| checkpoints.every);
        // Values after so many positions are told just there, by whoever counts them.
        let values = options.values_every.filter(|every| matches!(every, Every::Time(_)));
        let (pending, values) = (Timer::new(options.pending_every), Timer::new(values));
        let heartbeat = Heartbeat::new(options.heartbeat);
        Self {
            pending,
            values,
            checkpoint: Timer::new(checkpoint),
            heartbeat,
            silence: None,
            owed: None,
            kept: None,
        }
    }

    /// When the next is due by time.
    pub fn instant(&self) -> Option<Instant> {
        let timers = [&self.pending, &self.values, &self.checkpoint].map(|timer| timer.at);
        timers.into_iter().chain([self.heartbeat.at, self.silence, self.owed]).flatten().min()
    }

    /// More has come; something waits for what follows, or not.
    pub fn heard(&mut self, waits: bool) {
        self.silence = if waits { Instant::now().checked_add(SILENCE) } else { None };
    }

    /// Whether it has been silent long enough.
    pub fn is_silent(&self) -> bool {
        self.silence.is_some_and(|at| at <= Instant::now())
    }

    /// Something was told that is to be kept soon: forcing every line to disk would hold up the stream.
    pub fn soon(&mut self) {
        self.owed = self.owed.or_else(|| Instant::now().checked_add(SOON));
    }

    /// It could not be kept: once more, after a while.
    pub fn later(&mut self) {
        self.owed = Instant::now().checked_add(SOON);
    }

    /// Whether it has to be kept now.
    pub fn overdue(&self) -> bool {
        self.owed.is_some_and(|owed| owed <= Instant::now())
    }

    /// Whether the state was kept a moment ago.
    pub fn just_kept(&self) -> bool {
        self.kept.is_some_and(|kept| kept.elapsed() < SOON)
    }

    /// The state was kept.
    pub fn kept(&mut self, positions: u64) {
        self.owed = None;
        self.kept = Some(Instant::now());
        self.checkpoint.done(positions);
    }
}

/// Due when nothing has come for a while.
pub(super) struct Heartbeat {
    every: Option<Duration>,
    at: Option<Instant>,
    overslept: bool,
}

impl Heartbeat {
    fn new(every: Option<Duration>) -> Self {
        let mut beat = Self { every, at: None, overslept: false };
        beat.rest(Instant::now());
        beat
    }

    /// Something has come.
    pub fn rest(&mut self, now: Instant) {
        self.at = self.every.and_then(|every| now.checked_add(every.max(Duration::from_millis(1))));
    }

    /// Whether it is due. Who has slept for much longer (a process that was stopped, say) may find that events have come
    /// meanwhile and are about to be read: they are given another while, once.
    pub fn due(&mut self, now: Instant) -> bool {
        let Some(at) = self.at.filter(|&at| at <= now) else { return false };
        let late = now.saturating_duration_since(at) > self.every.unwrap_or_default();
        self.overslept = late && !self.overslept;
        self.rest(now);
        !self.overslept
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
    fn a_heart_beats_when_nothing_comes() {
        let mut beat = Heartbeat::new(Some(Duration::from_millis(10)));
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        beat.rest(start);
        assert!(!beat.due(after(9)));
        assert!(beat.due(after(10)));
        assert!(!beat.due(after(19)));
        beat.rest(after(19));
        assert!(!beat.due(after(28)) && beat.due(after(29)));
        // Overslept: once more, then for good.
        assert!(!beat.due(after(500)) && beat.due(after(520)));
        assert!(!beat.due(after(900)) && beat.due(after(990)));
        assert!(!Heartbeat::new(None).due(after(1_000_000)));
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
