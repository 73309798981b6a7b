//! Columns that equations define, filled in before a watcher sees a batch.
//!
//! Where equations look back and lines come in order, a batch goes through as it is. Otherwise positions wait here: for earlier
//! ones (`sort`), then for later ones (look-ahead), and what the watcher sees is positions in order, complete, a little later.

use super::clock::StreamClock;
use super::halt::Halt;
use super::lines::TEXT;
use super::waiting::{Lines, Waiting};
use crate::Specification;
use crate::run::streams::Computing;
use crate::run::timing::{fill_live, without_time};
use std::time::Instant;
use tw_core::{Batch, Time, TimeUnit};
use tw_monitor::PredicateError;
use tw_trace::{Arrival, Progress, Receiver, Stamp, TimeStyle, TraceError, TraceErrorKind};

/// The equations of a watch, how far they have come, and who waits for them.
#[derive(Clone)]
pub(crate) struct Filling {
    pub computing: Computing,
    unit: TimeUnit,
    /// When the latest position was, of those that equations have seen.
    latest: Option<Time>,
    /// Positions that wait, if they do.
    waits: Option<Box<Waits>>,
}

#[derive(Clone)]
struct Waits {
    /// For earlier ones: how far time has come.
    clock: Option<StreamClock>,
    early: Waiting,
    /// For later ones.
    complete: Waiting,
    style: Option<TimeStyle>,
    /// Positions handed on.
    out: u64,
    memory_budget: usize,
}

impl Filling {
    /// `sort` is how far lines may be out of order, if they may.
    pub fn new(computing: Computing, unit: TimeUnit, sort: Option<Time>, memory_budget: usize) -> Self {
        let waits = (sort.is_some() || !computing.looks_back()).then(|| {
            Box::new(Waits {
                clock: sort.map(|skew| StreamClock::new(unit, Some(skew))),
                early: Waiting::default(),
                complete: Waiting::default(),
                style: None,
                out: 0,
                memory_budget,
            })
        });
        Self { computing, unit, latest: None, waits }
    }

    /// Whether positions wait here.
    pub fn waits(&self) -> bool {
        self.waits.is_some()
    }

    /// Writes how far it has come.
    pub fn save(&self, spec: &Specification, out: &mut Vec<u8>) {
        use super::state::{number_out, signed_out};
        self.computing.save(spec, out);
        number_out(u64::from(self.latest.is_some()), out);
        signed_out(self.latest.unwrap_or(0), out);
        if let Some(waits) = &self.waits {
            number_out(waits.out, out);
            if let Some(clock) = &waits.clock {
                clock.save(out);
            }
            waits.early.save(out);
            waits.complete.save(out);
        }
    }

    /// Reads that again; false if the equations are others.
    pub fn load(&mut self, spec: &Specification, from: &mut &[u8]) -> Result<bool, String> {
        use super::state::{number, signed};
        if !self.computing.load(spec, from).map_err(|corrupt| corrupt.0)? {
            return Ok(false);
        }
        let known = number(from)? == 1;
        self.latest = Some(signed(from)?).filter(|_| known);
        if let Some(waits) = &mut self.waits {
            waits.out = number(from)?;
            if let Some(clock) = &mut waits.clock {
                clock.load(from)?;
            }
            waits.early = Waiting::load(from)?;
            waits.complete = Waiting::load(from)?;
        }
        Ok(true)
    }

    /// Fills the timings of positions in order, which equations may read.
    fn time(&mut self, spec: &Specification, batch: &mut Batch) {
        fill_live(&spec.program, self.unit, batch, self.latest);
        let last = batch.times.as_ref().and_then(|times| times.last().copied());
        self.latest = last.or(self.latest);
    }
}

/// A receiver of batches with all their columns.
pub(crate) struct Filled<'f, R> {
    pub inner: &'f mut R,
    pub filling: &'f mut Option<Filling>,
    pub spec: &'f Specification,
    /// What the stream is called.
    pub name: &'f str,
}

/// A batch on its way.
pub(crate) enum Mapped<M> {
    /// What the receiver made of it, and how far the equations have come: a batch that is not taken has not been.
    Through(M, Option<Box<Filling>>),
    /// It waits.
    Waits(Batch),
}

fn fault(error: PredicateError) -> (usize, TraceError) {
    (error.position, TraceError::new(TraceErrorKind::Type, error.message))
}

impl<R: Receiver<Error = Halt>> Receiver for Filled<'_, R> {
    type Mapped = Mapped<R::Mapped>;
    type Error = Halt;

    fn map(&mut self, mut batch: Batch) -> Result<Self::Mapped, (usize, TraceError)> {
        let Some(filling) = &*self.filling else { return Ok(Mapped::Through(self.inner.map(batch)?, None)) };
        if batch.times.is_none()
            && let Some(error) = without_time(&self.spec.program)
        {
            return Err((0, error));
        }
        if let Some(waits) = &filling.waits {
            if let (Some(clock), Some(times)) = (&waits.clock, &batch.times) {
                clock.check(times)?;
            }
            return Ok(Mapped::Waits(batch));
        }
        let mut after = filling.clone();
        after.time(self.spec, &mut batch);
        after.computing.fill(self.spec, &mut batch).map_err(fault)?;
        Ok(Mapped::Through(self.inner.map(batch)?, Some(Box::new(after))))
    }

    fn take(&mut self, mapped: Self::Mapped, arrival: &Arrival<'_>) -> Result<(), Self::Error> {
        match mapped {
            Mapped::Through(mapped, after) => {
                if let Some(after) = after {
                    *self.filling = Some(*after);
                }
                self.inner.take(mapped, arrival)
            }
            Mapped::Waits(batch) => self.wait(batch, arrival),
        }
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Self::Error> {
        self.inner.bad_line(error)
    }

    fn left_over(&mut self, lines: u64, first: u64) {
        self.inner.left_over(lines, first);
    }

    fn watermark(&mut self, stamp: Stamp, line: u64) -> Result<(), Self::Error> {
        self.inner.watermark(stamp, line)
    }
}

impl<R: Receiver<Error = Halt>> Filled<'_, R> {
    /// Takes positions that may have to wait, and hands on those that need not any more.
    fn wait(&mut self, batch: Batch, arrival: &Arrival<'_>) -> Result<(), Halt> {
        let Some(waits) = self.filling.as_mut().and_then(|filling| filling.waits.as_mut()) else {
            return Ok(());
        };
        waits.style = waits.style.or(arrival.style);
        let lines = Lines { numbers: arrival.lines(), texts: arrival.texts(TEXT) };
        let (batch, lines) = match &mut waits.clock {
            Some(clock) if batch.times.is_some() => {
                clock.write_as(arrival.style);
                clock.arrive(batch.times.as_deref().unwrap_or_default(), Instant::now());
                let up_to = clock.complete();
                waits.early.push(batch, lines);
                waits.early.within(waits.memory_budget, self.name).map_err(Halt::Fault)?;
                waits.early.earliest(up_to)
            }
            _ => (batch, lines),
        };
        self.go_on(batch, lines)
    }

    /// The stream is over: nobody waits any more.
    pub fn finish(&mut self) -> Result<(), Halt> {
        let Some(waits) = self.filling.as_mut().and_then(|filling| filling.waits.as_mut()) else {
            return Ok(());
        };
        let (batch, lines) = waits.early.earliest(None);
        self.go_on(batch, lines)?;
        let Some(filling) = self.filling else { return Ok(()) };
        let Some(waits) = &mut filling.waits else { return Ok(()) };
        let columns = filling.computing.rest(self.spec);
        let columns = columns.map_err(|error| placed(error, waits, self.name))?;
        let ready = waits.complete.first(columns);
        self.hand_on(ready)
    }

    /// Positions in order: what equations say of them, as soon as it is known.
    fn go_on(&mut self, mut batch: Batch, lines: Lines) -> Result<(), Halt> {
        let Some(filling) = self.filling else { return Ok(()) };
        if batch.len == 0 {
            return Ok(());
        }
        filling.time(self.spec, &mut batch);
        let Some(waits) = &mut filling.waits else { return Ok(()) };
        let ready = if filling.computing.looks_back() {
            let line = |at: usize| lines.numbers.get(at).copied();
            let filled = filling.computing.fill(self.spec, &mut batch);
            filled.map_err(|error| at_line(fault(error).1, line(0), self.name))?;
            (batch, lines)
        } else {
            let columns = filling.computing.ahead(self.spec, &batch);
            waits.complete.push(batch, lines);
            let columns = columns.map_err(|error| placed(error, waits, self.name))?;
            waits.complete.first(columns)
        };
        self.hand_on(ready)
    }

    /// Gives positions to the watcher: lines in a row together, since it counts on that.
    fn hand_on(&mut self, (batch, lines): (Batch, Lines)) -> Result<(), Halt> {
        let mut from = 0;
        while from < batch.len {
            let mut to = from + 1;
            while to < batch.len && lines.numbers[to] == lines.numbers[to - 1] + 1 {
                to += 1;
            }
            self.hand_on_part(&batch, &lines, (from, to))?;
            from = to;
        }
        Ok(())
    }

    fn hand_on_part(
        &mut self,
        batch: &Batch,
        lines: &Lines,
        (mut from, to): (usize, usize),
    ) -> Result<(), Halt> {
        while from < to {
            match self.inner.map(part(batch, (from, to))) {
                Ok(mapped) => {
                    self.hand(mapped, lines, (from, to))?;
                    return Ok(());
                }
                // As readers do it: those before it count, and whether it is left out is the watcher's choice.
                Err((index, error)) => {
                    if index > 0
                        && let Ok(mapped) = self.inner.map(part(batch, (from, from + index)))
                    {
                        self.hand(mapped, lines, (from, from + index))?;
                    }
                    from += index;
                    let error = at_line(error, lines.numbers.get(from).copied(), self.name);
                    match error.is_about_a_line() {
                        true => self.inner.bad_line(error)?,
                        false => return Err(error.into()),
                    }
                    from += 1;
                }
            }
        }
        Ok(())
    }

    fn hand(&mut self, mapped: R::Mapped, lines: &Lines, (from, to): (usize, usize)) -> Result<(), Halt> {
        let Some(waits) = self.filling.as_mut().and_then(|filling| filling.waits.as_mut()) else {
            return Ok(());
        };
        let (lines, texts) = (&lines.numbers[from..to], &lines.texts[from..to]);
        let before = lines.first().map_or(0, |line| line.saturating_sub(1));
        let before = Progress { positions: waits.out, lines: before, bytes: 0 };
        waits.out += lines.len() as u64;
        let arrival = Arrival::kept(before, waits.style, (lines, texts));
        self.inner.take(mapped, &arrival)
    }
}

fn part(batch: &Batch, (from, to): (usize, usize)) -> Batch {
    let order: Vec<u32> = (from as u32..to as u32).collect();
    super::waiting::gather(batch, &order)
}

/// An error of equations that look ahead, with the line of its position.
fn placed(error: PredicateError, waits: &Waits, name: &str) -> TraceError {
    let line = usize::try_from(waits.out).ok().and_then(|out| error.position.checked_sub(out));
    let line = line.and_then(|at| waits.complete.lines().get(at).copied());
    at_line(fault(error).1, line, name)
}

fn at_line(mut error: TraceError, line: Option<u64>, name: &str) -> TraceError {
    error.line = error.line.or(line.filter(|line| *line > 0));
    if error.file.is_empty() {
        error.file = name.to_owned();
    }
    error
}
