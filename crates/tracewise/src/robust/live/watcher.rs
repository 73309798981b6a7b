//! From positions to values: the receiver of a live trace.

use super::sorted::Sorted;
use super::{Least, RobustLive, RobustLiveReport, RobustSink, RobustTold, RobustValue, Telling};
use crate::error::Setting;
use crate::robust::{below_always, engine, engine_without_times, signals};
use crate::run::timing::{fill_live, measures, without_time};
use crate::trace::{Stamp, TimeStyle};
use crate::watch::halt::{self, BadLines, Halt};
use crate::watch::watcher::Watcher;
use crate::watch::{LiveSink, WatchReport};
use crate::{Error, Session, Specification};
use std::collections::VecDeque;
use tw_core::{Batch, Position, Time, TimeUnit};
use tw_engine_robust::{Online, Robust, Samples};
use tw_ir::{NodeId, SlotId};
use tw_monitor::EvaluateOptions;
use tw_trace::{Arrival, Progress, Receiver, TraceError, TraceErrorKind};

/// A property on its way through the stream.
struct Followed<'t> {
    name: &'t str,
    /// It is `G φ`, and what is computed is φ.
    always: bool,
    least: Option<Least>,
}

/// Reads positions and tells what they settle.
pub(super) struct RobustWatcher<'t> {
    spec: &'t Specification,
    options: &'t RobustLive,
    evaluate: EvaluateOptions,
    name: &'t str,
    sink: &'t mut dyn RobustSink,
    robust: Robust,
    online: Online,
    nodes: Vec<NodeId>,
    followed: Vec<Followed<'t>>,
    shown: Vec<SlotId>,
    /// One sample at a time, where each is told of.
    one: Samples<'static>,
    /// Timestamps from `base` on: of what is pending.
    times: VecDeque<Time>,
    base: Position,
    style: Option<TimeStyle>,
    /// Time between the last two samples that were apart.
    period: Option<i64>,
    /// Samples that wait for earlier ones, with `sort`.
    sorted: Option<Sorted>,
    bad_lines: BadLines,
    /// Whether a negative value ended it.
    stopped: bool,
}

impl<'t> RobustWatcher<'t> {
    pub fn new(
        session: &Session,
        spec: &'t Specification,
        options: &'t RobustLive,
        name: &'t str,
        sink: &'t mut dyn RobustSink,
    ) -> Result<Self, Error> {
        let evaluate = session.evaluate_options();
        if evaluate.clock == tw_ir::Clock::Dense {
            return Err(Error::refused_instead(
                "a stream tells values at its samples",
                format!("use {} or index", Setting::Clock.to("stamps")),
            ));
        }
        if session.read.sort.is_some() && measures(&spec.program) {
            return Err(Error::refused(format!(
                "`time` and `elapsed` are read as lines come, before `{}` puts them in order",
                Setting::Sort
            )));
        }
        let robust = engine(spec, &evaluate)?;
        let roots = &spec.program.roots;
        let nodes: Vec<NodeId> =
            roots.iter().map(|root| below_always(spec, root).unwrap_or(root.node)).collect();
        let online = start(spec, &robust, &nodes, options)?;
        let followed = roots
            .iter()
            .zip(&nodes)
            .map(|(root, node)| Followed { name: &root.name, always: *node != root.node, least: None })
            .collect();
        let shown = if options.signals { signals::shown(spec) } else { Vec::new() };
        if options.signals {
            let names: Vec<String> =
                signals::named(spec, &shown).into_iter().map(|signal| signal.name).collect();
            sink.signals(&names);
        }
        Ok(Self {
            spec,
            options,
            evaluate,
            name,
            sink,
            robust,
            online,
            nodes,
            followed,
            shown,
            one: Samples::default(),
            times: VecDeque::new(),
            base: 0,
            style: None,
            period: options.period,
            sorted: session.read.sort.map(Sorted::new),
            bad_lines: BadLines::default(),
            stopped: false,
        })
    }

    /// The stream is over: every position is settled, windows cut at its end.
    pub fn end(&mut self) -> Result<(), Halt> {
        if let Some(rest) = self.sorted.as_mut().and_then(|sorted| sorted.ready(true)) {
            self.feed(&rest)?;
        }
        if self.online.seen() == 0 {
            return Ok(());
        }
        self.online.finish();
        self.settled()?;
        Ok(())
    }

    pub fn report(&self) -> RobustLiveReport {
        RobustLiveReport {
            positions: self.online.seen() as u64,
            bad_lines: self.bad_lines.count,
            least: self.followed.iter().map(|one| (one.name.to_string(), one.least)).collect(),
            stopped: self.stopped,
        }
    }

    /// Tells what is settled and was not told.
    fn settled(&mut self) -> Result<(), Halt> {
        let newest = self.online.seen().saturating_sub(1);
        let now = matches!(self.options.telling, Telling::Now(_));
        for (index, followed) in self.followed.iter_mut().enumerate() {
            let (first, values) = self.online.drain(index);
            if now {
                continue;
            }
            for (position, &value) in (first..).zip(values) {
                let time = self.times.get(position - self.base);
                let time = time.zip(self.style).map(|(&time, style)| Stamp { time, style });
                Least::update(&mut followed.least, value, position, time);
                let minimum = followed.least.map(|least| least.value).filter(|_| followed.always);
                let value = RobustValue::Settled(value);
                let told =
                    RobustTold { index, property: followed.name, position, time, value, minimum, newest };
                self.sink.told(&told)?;
                if self.options.stop_on_negative && negative(value) {
                    return Err(Halt::Enough);
                }
                if self.sink.closed() {
                    return Err(Halt::Enough);
                }
            }
        }
        let pending = (0..self.followed.len()).map(|index| self.online.pending(index)).min().unwrap_or(0);
        // The newest is told of again, with its prediction.
        let drop = pending.min(newest).saturating_sub(self.base).min(self.times.len());
        if drop >= 64 || drop * 2 > self.times.len() {
            self.times.drain(..drop);
            self.base += drop;
        }
        Ok(())
    }

    /// Tells what is not settled.
    fn pending(&mut self) -> Result<(), Halt> {
        let newest = self.online.seen() - 1;
        for index in 0..self.followed.len() {
            match self.options.telling {
                Telling::Exact => {}
                Telling::Interval => {
                    let Some((oldest, lower, upper)) = self.online.oldest(index) else { continue };
                    self.tell(index, oldest, RobustValue::Bounds(lower, upper))?;
                    if oldest < newest {
                        let bounds = self.online.bounds(index);
                        let last = bounds.lower.last().zip(bounds.upper.last());
                        if let Some((&lower, &upper)) = last {
                            self.tell(index, newest, RobustValue::Bounds(lower, upper))?;
                        }
                    }
                }
                Telling::Now(predictor) => {
                    let settled = self.online.pending(index) > newest;
                    let period = self.period.unwrap_or(0);
                    // Before a second sample nobody knows how far apart they come.
                    let predictor =
                        if period > 0 || !self.robust.needs_times() { predictor } else { Default::default() };
                    let value = self.online.predict(index, predictor, period.max(1))?;
                    let Some(value) = value else { continue };
                    let value =
                        if settled { RobustValue::Settled(value) } else { RobustValue::Predicted(value) };
                    self.tell(index, newest, value)?;
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, index: usize, position: Position, value: RobustValue) -> Result<(), Halt> {
        let time = self.times.get(position - self.base);
        let time = time.zip(self.style).map(|(&time, style)| Stamp { time, style });
        let newest = self.online.seen() - 1;
        let followed = &mut self.followed[index];
        if let RobustValue::Settled(value) | RobustValue::Predicted(value) = value {
            Least::update(&mut followed.least, value, position, time);
        }
        let told =
            RobustTold { index, property: followed.name, position, time, value, minimum: None, newest };
        self.sink.told(&told)?;
        let enough = self.options.stop_on_negative && negative(value) || self.sink.closed();
        if enough { Err(Halt::Enough) } else { Ok(()) }
    }

    /// The first positions are here: whether they have timestamps, and how these are written.
    fn begin(&mut self, taken: &Taken, arrival: &Arrival<'_>) -> Result<(), Halt> {
        let first = taken.samples.times.as_ref().and_then(|times| times.first());
        match first {
            Some(&time) => {
                let (_, text) = arrival.line(0);
                self.style = Some(style(time, text.as_deref(), self.evaluate.unit));
            }
            None if self.robust.needs_times() => {
                self.robust =
                    engine_without_times(self.spec, &self.evaluate, self.name).map_err(Halt::Fault)?;
                self.online =
                    start(self.spec, &self.robust, &self.nodes, self.options).map_err(Halt::Fault)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Takes samples in the order of time.
    fn feed(&mut self, taken: &Taken) -> Result<(), Halt> {
        let (samples, from) = (&taken.samples, self.online.seen());
        if self.options.telling == Telling::Exact {
            self.times.extend(samples.times.iter().flat_map(|times| times.iter().copied()));
            self.online.push(samples)?;
        }
        for at in 0..samples.len {
            if self.options.signals {
                let values: Vec<f64> = taken.signals.iter().map(|column| column[at]).collect();
                self.sink.sample(from + at, &values);
            }
            if self.options.telling == Telling::Exact {
                continue;
            }
            let time = samples.times.as_ref().map(|times| times[at]);
            if let (Some(time), Some(before)) = (time, self.times.back())
                && self.options.period.is_none()
                && time > *before
            {
                self.period = Some(time - before);
            }
            self.times.extend(time);
            self.one.len = 1;
            self.one.times = time.map(|time| vec![time].into());
            let own = self.one.predicates.to_mut();
            own.resize(samples.predicates.len(), vec![0.0]);
            let pairs = own.iter_mut().zip(samples.predicates.iter());
            pairs.for_each(|(one, column)| one[0] = column[at]);
            self.online.push(&self.one)?;
            self.settled()?;
            self.pending()?;
        }
        match self.options.telling {
            Telling::Exact => self.settled(),
            _ => Ok(()),
        }
    }

    fn too_late(&self, time: Time, latest: Time, line: Option<u64>) -> TraceError {
        let style = self.style.unwrap_or(TimeStyle::Number(self.evaluate.unit));
        let shown = |time: Time| Stamp { time, style }.format();
        let message = format!(
            "the timestamp `{}` comes after `{}`: further out of order than `{}` allows",
            shown(time),
            shown(latest),
            Setting::Sort
        );
        let mut error = TraceError::new(TraceErrorKind::Time, message).in_file(self.name);
        error.line = line;
        error
    }
}

/// The formulas on a stream.
fn start(
    spec: &Specification,
    robust: &Robust,
    nodes: &[NodeId],
    options: &RobustLive,
) -> Result<Online, Error> {
    let mut online = robust.online(nodes).map_err(|refusal| crate::robust::refused(spec, refusal))?;
    if options.telling == Telling::Interval {
        online.track();
    }
    Ok(online)
}

/// Whether a value is below zero whatever comes.
fn negative(value: RobustValue) -> bool {
    match value {
        RobustValue::Settled(value) | RobustValue::Predicted(value) => value < 0.0,
        RobustValue::Bounds(_, upper) => upper < 0.0,
    }
}

/// How a trace writes its timestamps: a date, if its first line holds one that is that time.
fn style(time: Time, line: Option<&str>, unit: TimeUnit) -> TimeStyle {
    let parts = line.unwrap_or_default().split(['"', '\'', ',', ';', '\t', '{', '}', '[', ']']);
    let dated = parts.map(str::trim).any(|part| {
        let stamp = tw_trace::parse_stamp(part, unit);
        stamp.is_ok_and(|stamp| stamp.style == TimeStyle::Text && stamp.time == time)
    });
    if dated { TimeStyle::Text } else { TimeStyle::Number(unit) }
}

/// What predicates are worth at positions that were read, and the signals.
pub(super) struct Taken {
    pub samples: Samples<'static>,
    pub signals: Vec<Vec<f64>>,
}

impl Receiver for RobustWatcher<'_> {
    type Mapped = Taken;
    type Error = Halt;

    fn map(&mut self, mut batch: Batch) -> Result<Taken, (usize, TraceError)> {
        if let (None, Some(error)) = (&batch.times, without_time(&self.spec.program)) {
            return Err((0, error));
        }
        fill_live(&self.spec.program, self.evaluate.unit, &mut batch, self.times.back().copied());
        let signals = self.shown.iter().map(|&slot| signals::numbers(&batch.slots[slot as usize])).collect();
        match self.robust.samples(&batch) {
            Ok(samples) => Ok(Taken { samples, signals }),
            Err(error) => {
                self.bad_lines.fault = Some((error.node, self.online.seen() + error.position));
                Err((error.position, TraceError::new(TraceErrorKind::Type, error.message)))
            }
        }
    }

    fn take(&mut self, taken: Taken, arrival: &Arrival<'_>) -> Result<(), Halt> {
        if arrival.before.positions == 0 {
            self.begin(&taken, arrival)?;
        }
        let (Some(sorted), Some(times)) = (&mut self.sorted, &taken.samples.times) else {
            return self.feed(&taken);
        };
        if let Err((at, latest)) = sorted.add(&taken, times) {
            return Err(self.too_late(times[at], latest, arrival.line(at).0).into());
        }
        match sorted.ready(false) {
            Some(ready) => self.feed(&ready),
            None => Ok(()),
        }
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Halt> {
        self.bad_lines.leave_out(self.spec, self.options.skip_bad_lines, error, self.sink)
    }
}

impl Watcher for RobustWatcher<'_> {
    fn sink(&mut self) -> &mut dyn LiveSink {
        self.sink
    }

    fn release(&mut self) -> Result<(), Halt> {
        self.end()
    }

    fn last_words(&mut self, _: Progress) -> Result<(), Error> {
        Ok(())
    }

    fn conclude(&mut self, halt: Halt) -> Result<(), Error> {
        self.stopped |= matches!(halt, Halt::Enough);
        let fault = self.bad_lines.fault.take();
        halt::conclude(self.spec, halt, fault, |refusal| crate::robust::refused(self.spec, refusal))
    }

    fn report(&mut self, _: bool, positions: u64) -> WatchReport {
        WatchReport {
            requirements: Vec::new(),
            positions,
            bad_lines: self.bad_lines.count,
            engine: "robust",
            verdicts: Vec::new(),
            monitors: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_numbers() {
        let unit = TimeUnit::Seconds;
        let date = 1_709_164_800_000_000_000;
        for line in ["2024-02-29T00:00:00Z,1", r#"{"x": 1, "time": "2024-02-29 00:00:00"}"#] {
            assert_eq!(style(date, Some(line), unit), TimeStyle::Text, "{line}");
        }
        for line in ["1709164800,1", "2024-02-28T00:00:00Z,1709164800"] {
            assert_eq!(style(date, Some(line), unit), TimeStyle::Number(unit), "{line}");
        }
        assert_eq!(style(date, None, unit), TimeStyle::Number(unit));
    }
}
