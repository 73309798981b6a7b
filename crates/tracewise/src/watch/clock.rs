//! How far the time of a stream has come: what timestamps, watermarks and the wall clock say.
//!
//! Between events the wall clock goes on for the stream: its time is the latest timestamp plus what has elapsed since
//! that arrived. With `sort` events may be late by the skew, so that much less counts as past. What counts as past is a
//! floor under the timestamps to come; an event below it cannot be taken any more.

use super::state::{number, number_out, signed, signed_out};
use crate::error::Setting;
use std::time::{Duration, Instant};
use tw_core::{Time, TimeUnit};
use tw_trace::{Stamp, TimeStyle, TraceError, TraceErrorKind};

/// Who said that time has come so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Watermark,
    Heartbeat,
    /// Whoever pushes the lines.
    Pusher,
}

/// How far the wall clock has gone on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed {
    /// To this moment.
    To(Instant),
    /// By so much since the latest timestamp, as whoever pushes the lines has counted.
    By(Duration),
}

/// The time of a stream.
#[derive(Clone, Debug)]
pub(super) struct StreamClock {
    unit: TimeUnit,
    /// How far events may be out of order.
    skew: Option<Time>,
    style: Option<TimeStyle>,
    /// The latest timestamp.
    latest: Option<Time>,
    /// When it arrived.
    anchor: Option<Instant>,
    /// No position from now on is earlier.
    floor: Option<(Time, Said)>,
}

impl StreamClock {
    pub fn new(unit: TimeUnit, skew: Option<Time>) -> Self {
        Self { unit, skew, style: None, latest: None, anchor: None, floor: None }
    }

    /// What a bare number of time counts.
    pub fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// The latest timestamp.
    pub fn latest(&self) -> Option<Time> {
        self.latest
    }

    /// Timestamps are written like this; the first to say so is believed.
    pub fn write_as(&mut self, style: Option<TimeStyle>) {
        self.style = self.style.or(style);
    }

    /// A time as the stream writes it.
    pub fn stamp(&self, time: Time) -> Stamp {
        Stamp { time, style: self.style.unwrap_or(TimeStyle::Number(self.unit)) }
    }

    /// Whether these timestamps may arrive next; otherwise the first that may not, and why.
    pub fn check(&self, times: &[Time]) -> Result<(), (usize, TraceError)> {
        if self.floor.is_none() && self.skew.is_none() {
            return Ok(());
        }
        let mut latest = self.latest;
        for (index, &time) in times.iter().enumerate() {
            latest = latest.max(Some(time));
            let shown = |time| self.stamp(time).format();
            let message = match (self.floor, self.skew, latest) {
                (Some((floor, Said::Watermark)), ..) if time < floor => format!(
                    "the timestamp `{}` comes too late: a watermark said that time has come to `{}`",
                    shown(time),
                    shown(floor)
                ),
                (Some((floor, Said::Heartbeat)), ..) if time < floor => format!(
                    "the timestamp `{}` comes too late: no line came for so long that time was taken to have come to \
                     `{}` (`{}`; `{}` waits for late lines)",
                    shown(time),
                    shown(floor),
                    Setting::Heartbeat,
                    Setting::Sort.to("SKEW")
                ),
                (Some((floor, Said::Pusher)), ..) if time < floor => format!(
                    "the timestamp `{}` comes too late: no line came for so long that time was taken to have come to `{}`",
                    shown(time),
                    shown(floor)
                ),
                (_, Some(skew), Some(latest)) if time < latest.saturating_sub(skew) => format!(
                    "the timestamp `{}` comes after `{}`: further out of order than `{}` allows ({} {})",
                    shown(time),
                    shown(latest),
                    Setting::Sort,
                    self.unit.format_number(skew),
                    self.unit.name()
                ),
                _ => continue,
            };
            return Err((index, TraceError::new(TraceErrorKind::Time, message)));
        }
        Ok(())
    }

    /// Events with these timestamps have arrived.
    pub fn arrive(&mut self, times: &[Time], now: Instant) {
        if let Some(&latest) = times.iter().max()
            && Some(latest) >= self.latest
        {
            (self.latest, self.anchor) = (Some(latest), Some(now));
        }
    }

    /// The latest timestamp and when it arrived.
    #[cfg(test)]
    pub fn anchor(&self) -> Option<(Time, Instant)> {
        self.latest.zip(self.anchor)
    }

    /// Goes on from a state that was kept: since nobody knows for how long, from now on.
    pub fn go_on(&mut self, now: Instant) {
        self.anchor = self.latest.map(|_| now);
    }

    /// No position from now on is earlier than this, as far as is known.
    pub fn complete(&self) -> Option<Time> {
        let sorted = self.latest.map(|latest| latest.saturating_sub(self.skew.unwrap_or(0)));
        sorted.max(self.floor.map(|(floor, _)| floor))
    }

    /// The wall clock says that time has come to this.
    pub fn beat(&mut self, passed: Passed) -> Option<Time> {
        let (elapsed, said) = match passed {
            Passed::To(now) => (now.saturating_duration_since(self.anchor?), Said::Heartbeat),
            Passed::By(elapsed) => (elapsed, Said::Pusher),
        };
        let elapsed = i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX);
        let time = self.latest?.saturating_add(elapsed).saturating_sub(self.skew.unwrap_or(0));
        self.raise(time, said)
    }

    /// A line says that time has come to this.
    pub fn watermark(&mut self, stamp: Stamp) -> Option<Time> {
        self.write_as(Some(stamp.style));
        self.raise(stamp.time, Said::Watermark)
    }

    fn raise(&mut self, time: Time, said: Said) -> Option<Time> {
        let news = self.complete().is_none_or(|complete| time > complete);
        if news {
            self.floor = Some((time, said));
        }
        news.then_some(time)
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        number_out(
            match self.style {
                None => 0,
                Some(TimeStyle::Number(_)) => 1,
                Some(TimeStyle::Text) => 2,
            },
            out,
        );
        for time in [self.latest, self.floor.map(|(floor, _)| floor)] {
            number_out(u64::from(time.is_some()), out);
            signed_out(time.unwrap_or(0), out);
        }
        let said = match self.floor {
            Some((_, Said::Heartbeat)) => 1,
            Some((_, Said::Pusher)) => 2,
            _ => 0,
        };
        number_out(said, out);
    }

    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), String> {
        self.style = match number(from)? {
            1 => Some(TimeStyle::Number(self.unit)),
            2 => Some(TimeStyle::Text),
            _ => None,
        };
        let mut time = || Ok::<_, String>((number(from)? == 1, signed(from)?));
        let [latest, floor] = [time()?, time()?].map(|(known, time)| known.then_some(time));
        let said = match number(from)? {
            1 => Said::Heartbeat,
            2 => Said::Pusher,
            _ => Said::Watermark,
        };
        (self.latest, self.floor) = (latest, floor.map(|floor| (floor, said)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(skew: Option<Time>) -> StreamClock {
        StreamClock::new(TimeUnit::Nanoseconds, skew)
    }

    #[test]
    fn the_wall_clock_goes_on_from_the_latest_arrival() {
        let start = Instant::now();
        let after = |nanoseconds| start + Duration::from_nanos(nanoseconds);
        let mut in_order = clock(None);
        assert_eq!(in_order.beat(Passed::To(after(5))), None);
        in_order.arrive(&[3, 10], start);
        assert_eq!(in_order.beat(Passed::To(after(7))), Some(17));
        assert_eq!(in_order.beat(Passed::To(after(7))), None, "no news");
        assert!(in_order.check(&[17]).is_ok());
        let (index, error) = in_order.check(&[17, 16]).unwrap_err();
        assert!(index == 1 && error.message.contains("`16`") && error.message.contains("`17`"));
        in_order.arrive(&[17], after(9));
        assert_eq!(in_order.beat(Passed::To(after(10))), Some(18));

        // Late events do not move the anchor, and the skew is not yet past.
        let mut sorted = clock(Some(4));
        sorted.arrive(&[10], start);
        sorted.arrive(&[8], after(100));
        assert_eq!(sorted.complete(), Some(6));
        assert_eq!(sorted.beat(Passed::To(after(1))), Some(7));
        assert_eq!(sorted.beat(Passed::To(after(3))), Some(9));
        assert_eq!(sorted.beat(Passed::By(Duration::from_nanos(3))), None, "no news");
        assert_eq!(sorted.beat(Passed::By(Duration::from_nanos(4))), Some(10));
        assert_eq!(clock(None).beat(Passed::By(Duration::from_secs(1))), None, "no event has come");
        assert!(sorted.check(&[10]).is_ok() && sorted.check(&[9]).is_err());
    }

    #[test]
    fn watermarks_do_not_go_back() {
        let mut clock = clock(Some(5));
        let mark = |time| Stamp { time, style: TimeStyle::Text };
        assert_eq!(clock.watermark(mark(3)), Some(3));
        assert_eq!(clock.watermark(mark(2)), None);
        clock.arrive(&[20], Instant::now());
        assert_eq!(clock.watermark(mark(15)), None);
        assert_eq!(clock.complete(), Some(15));
        assert_eq!(clock.watermark(mark(19)), Some(19));
        assert!(clock.check(&[18]).unwrap_err().1.message.contains("a watermark said"));
        let mut saved = Vec::new();
        clock.save(&mut saved);
        let mut again = super::StreamClock::new(TimeUnit::Nanoseconds, Some(5));
        again.load(&mut saved.as_slice()).unwrap();
        assert_eq!((again.latest, again.floor, again.style), (clock.latest, clock.floor, clock.style));
        assert_eq!(again.beat(Passed::To(Instant::now())), None, "nothing is known of the time between");
        again.go_on(Instant::now());
        assert!(again.beat(Passed::To(Instant::now() + Duration::from_nanos(10))).is_some());
    }
}
