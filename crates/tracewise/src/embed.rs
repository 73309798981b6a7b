//! Monitoring from code: a program feeds positions and gets verdicts the moment they are settled.
//!
//! ```
//! use tracewise::embed::RowMonitor;
//! use tracewise::Specification;
//! # fn main() -> Result<(), tracewise::Error> {
//! let spec = Specification::from_text("door.tw", "property closed : G (moving -> !open);")?;
//! let mut monitor = RowMonitor::new(&spec)?;
//! let (moving, open) = (monitor.slot("moving")?, monitor.slot("open")?);
//! let mut row = monitor.row();
//! row.set(moving, true);
//! assert!(monitor.push(&row)?.is_empty());
//! row.set(open, true);
//! let settled = monitor.push(&row)?;
//! assert!(!settled[0].holds() && settled[0].at == 1);
//! # Ok(())
//! # }
//! ```
//!
//! Two ways lead in. [`RowMonitor::push`] takes a [`Row`] whose slots were looked up before: a proposition is one bit, so
//! ten automata over propositions cost some nanoseconds per position. [`RowMonitor::event`] takes an event by name with
//! its arguments, as a line of JSON would give it.
//!
//! Properties that measure time are given it: [`RowMonitor::push_at`] and [`RowMonitor::event_at`] say when a position is, and
//! [`RowMonitor::advance`] that time has passed though nothing happened, so that what did not come is told.
//!
//! ```
//! use tracewise::embed::RowMonitor;
//! use tracewise::Specification;
//! # fn main() -> Result<(), tracewise::Error> {
//! let spec = Specification::from_text("s.tw", "property answered : G (req -> F[0,5s] ack);")?;
//! let mut monitor = RowMonitor::new(&spec)?;
//! let second = 1_000_000_000;
//! assert!(monitor.event_at(10 * second, "req", &[])?.is_empty());
//! assert_eq!(monitor.pending()[0].deadline, Some(15 * second));
//! assert!(monitor.advance(15 * second - 1)?.is_empty());
//! // Beyond this time no `ack` can be soon enough.
//! assert!(!monitor.advance(15 * second)?[0].holds());
//! # Ok(())
//! # }
//! ```
//!
//! Properties about data are given events by name. Of `G forall x. φ` every violation is told, with the values that violate it:
//!
//! ```
//! use tracewise::embed::RowMonitor;
//! use tracewise::{Specification, Value};
//! # fn main() -> Result<(), tracewise::Error> {
//! let text = "property approved : G forall r. publish(report: r) -> O approve(report: r);";
//! let spec = Specification::from_text("reports.tw", text)?;
//! let mut monitor = RowMonitor::new(&spec)?;
//! assert!(monitor.event("approve", &[("report", Value::Int(160))])?.is_empty());
//! assert!(monitor.event("publish", &[("report", Value::Int(160))])?.is_empty());
//! let settled = monitor.event("publish", &[("report", Value::Int(163))])?.to_vec();
//! assert_eq!(monitor.bindings(&settled[0]), [("r".to_string(), Value::Int(163))]);
//! # Ok(())
//! # }
//! ```
//!
//! Monitors are given events by name, too; what they report at a position stands in [`RowMonitor::reports`]:
//!
//! ```
//! use tracewise::embed::RowMonitor;
//! use tracewise::{Specification, Value};
//! # fn main() -> Result<(), tracewise::Error> {
//! let text = "monitor Twice(file) { event open(file); event close(file); fsm : shut [ open -> ready ] ready [ close -> shut ]; }";
//! let mut monitor = RowMonitor::new(&Specification::from_text("files.tw", text)?)?;
//! let file = [("file", Value::text("a.txt"))];
//! monitor.event("open", &file)?;
//! assert!(monitor.reports().is_empty());
//! monitor.event("open", &file)?;
//! assert_eq!(monitor.reports()[0].to_string(), "Twice reports `fail` at position 1 with file = \"a.txt\"");
//! # Ok(())
//! # }
//! ```

mod bound;
pub(crate) mod cells;
mod reports;
pub(crate) mod row;

pub use reports::Report;
pub use row::{Row, SlotHandle};

use crate::findings::words;
use crate::run::faults::trace_error;
use crate::run::streams::Computing;
use crate::run::timing::{elapsed, measures, reads_times};
use crate::{Error, Session, Specification, monitors, plan};
use bound::Bound;
use cells::Cells;
use reports::Parametric;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put_bytes, take_bytes};
use tw_core::{Column, Time, TimeUnit, Value};
use tw_ir::{Measure, Semantics};
pub use tw_monitor::{Bindings, Known, Obligation, Settled};
use tw_monitor::{Predicates, Sink, Telling, Unsupported};
use tw_trace::{Arguments, Event, Projection, SlotBuilder, TraceError, TraceErrorKind, Vocabulary};

/// A specification at work on a live trace, owned by the program that it watches.
pub struct RowMonitor {
    spec: Specification,
    engine: &'static str,
    inner: Box<dyn tw_monitor::Monitor>,
    cells: Cells,
    atoms: Vec<u64>,
    sink: Sink,
    /// Whether positions need a time.
    timed: bool,
    /// Whether a row's bits are all that the monitor reads.
    bits_alone: bool,
    /// What properties with quantified variables read beside.
    bound: Option<Bound>,
    /// The monitors, if there are some.
    parametric: Option<Parametric>,
    projection: Projection,
    /// Whether terms read the time of positions, in which unit, and when the latest was.
    measures: bool,
    unit: TimeUnit,
    latest: Option<Time>,
    /// What computes streams, if there are some.
    computing: Option<Computing>,
}

impl RowMonitor {
    /// Watches every property, `ltl3`, with the engine that suits it.
    pub fn new(spec: &Specification) -> Result<Self, Error> {
        Session::new().semantics(Semantics::Ltl3).monitor(spec)
    }

    pub(crate) fn with(session: &Session, spec: &Specification) -> Result<Self, Error> {
        let session = &*monitors::beside(session, spec)?;
        let spec = spec.properties()?;
        let spec = &*spec.counted_in(session.read.unit);
        let computing = Computing::at_once(session, spec)?;
        // Which values violate is told by violations alone.
        let telling = plan::Tell { quantified: Telling::Violations, ..Telling::Verdicts.into() };
        let (engine, inner) = plan::choose_monitor(session, spec, telling, &mut |_| {})?;
        let cells = Cells::new(&spec.program);
        let bound = Bound::new(&spec.program);
        let parametric = Parametric::new(session, spec)?;
        let bits_alone = cells.are_bits() && bound.is_none() && parametric.is_none();
        let atoms = vec![0; tw_monitor::words(spec.program.atoms().len())];
        let timed = reads_times(session, spec);
        let (spec, engine) = (spec.clone(), engine.name());
        let projection = Projection::of(&spec.program, None, false);
        let sink = Sink::default();
        let (unit, latest, measures) = (session.read.unit, None, measures(&spec.program));
        Ok(Self {
            unit,
            latest,
            measures,
            computing,
            spec,
            engine,
            inner,
            cells,
            atoms,
            sink,
            timed,
            bits_alone,
            bound,
            parametric,
            projection,
        })
    }

    /// The engine at work.
    pub fn engine(&self) -> &'static str {
        self.engine
    }

    /// The specification.
    pub fn specification(&self) -> &Specification {
        &self.spec
    }

    /// The names that the specification reads, in the order of its slots.
    pub fn names(&self) -> Vec<String> {
        self.spec.program.slots.iter().map(|slot| tw_trace::describe(&slot.what)).collect()
    }

    /// The slot for a name of the specification.
    pub fn slot(&self, name: &str) -> Result<SlotHandle, Error> {
        if self.spec.program.streams.iter().any(|stream| stream.name == name) {
            return Err(Error::refused(format!("`{name}` is a stream: its equation gives it its values")));
        }
        let names = self.names();
        let mut found = names.iter().enumerate().filter(|(_, other)| *other == name);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(self.handle(index)),
            (Some(_), Some(_)) => Err(Error::refused(format!(
                "the specification uses `{name}` in several ways (as an event with arguments, say): give events by name"
            ))),
            (None, _) => {
                let near = tw_core::suggest(name, names.iter().map(String::as_str))
                    .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                Err(Error::refused(format!("the specification does not use `{name}`{near}")))
            }
        }
    }

    fn handle(&self, index: usize) -> SlotHandle {
        SlotHandle { index: index as u32, bit: self.cells.bit(index) }
    }

    /// A position where nothing holds.
    pub fn row(&self) -> Row {
        Row { atoms: vec![0; self.atoms.len()], values: vec![Value::Null; self.spec.program.slots.len()] }
    }

    /// The next position. Returns what it settles.
    #[inline]
    pub fn push(&mut self, row: &Row) -> Result<&[Settled], Error> {
        if self.timed {
            return Err(no_time());
        }
        self.push_row(None, row)
    }

    /// The next position, at a time that is not before that of the position before. Returns what it settles.
    #[inline]
    pub fn push_at(&mut self, time: Time, row: &Row) -> Result<&[Settled], Error> {
        self.push_row(Some(time), row)
    }

    #[inline]
    fn push_row(&mut self, time: Option<Time>, row: &Row) -> Result<&[Settled], Error> {
        self.sink.settled.clear();
        let measured;
        let mut row = row;
        if self.measures || self.computing.is_some() {
            measured = self.measured(time, row)?;
            row = &measured;
        }
        let done = if self.bits_alone {
            self.inner.step_at(time, &row.atoms, &mut self.sink)
        } else {
            if self.parametric.is_some() {
                return Err(Error::refused(
                    "monitors are about the arguments of events, so events are given by name: `event` or `event_at` \
                     instead of `push` or `push_at`",
                ));
            }
            self.bound.as_ref().map_or(Ok(()), Bound::accepts_rows)?;
            self.atoms.copy_from_slice(&row.atoms);
            if let Err(error) = self.cells.fill(&self.spec.program, &row.values, &mut self.atoms) {
                return Err(self.fault(error));
            }
            match &self.bound {
                None => self.inner.step_at(time, &self.atoms, &mut self.sink),
                Some(bound) => {
                    let batch = cells::batch(&self.spec.program, &row.values);
                    let batch = batch.map_err(|error| self.fault(error))?;
                    let beside = bound.read(&self.spec.program, &batch);
                    bound.step(&beside, &mut *self.inner, time, &self.atoms, &mut self.sink)
                }
            }
        };
        self.settled_by(done)
    }

    /// The row with what its time says, and what equations say of it.
    fn measured(&mut self, time: Option<Time>, row: &Row) -> Result<Row, Error> {
        let mut row = Row { atoms: row.atoms.clone(), values: row.values.clone() };
        for (slot, timing) in self.spec.program.timings() {
            row.values[slot as usize] = self.timing(timing.measure, time);
        }
        self.latest = time.or(self.latest);
        if let Some(computing) = &mut self.computing
            && let Err(error) = computing.row(&self.spec, time, &mut row.values)
        {
            return Err(self.fault(not_computable(error)));
        }
        Ok(row)
    }

    fn timing(&self, measure: Measure, time: Option<Time>) -> Value {
        match (measure, time) {
            (_, None) => Value::Null,
            (Measure::Time, Some(time)) => self.unit.value(time.into()),
            (Measure::Elapsed, Some(time)) => elapsed(time, self.latest, self.unit),
        }
    }

    /// The next position: an event and its arguments, by name. Returns what it settles.
    pub fn event(&mut self, name: &str, arguments: &[(&str, Value)]) -> Result<&[Settled], Error> {
        if self.timed {
            return Err(no_time());
        }
        self.push_event(None, name, arguments)
    }

    /// The same, at a time that is not before that of the position before.
    pub fn event_at(
        &mut self,
        time: Time,
        name: &str,
        arguments: &[(&str, Value)],
    ) -> Result<&[Settled], Error> {
        self.push_event(Some(time), name, arguments)
    }

    fn push_event(
        &mut self,
        time: Option<Time>,
        name: &str,
        arguments: &[(&str, Value)],
    ) -> Result<&[Settled], Error> {
        let variables =
            arguments.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect::<Vec<_>>();
        let events = vec![Event { name: name.into(), arguments: Arguments::OfRow }];
        let row = tw_trace::Row { variables, events, typed: true, ..Default::default() };
        let mut builder = SlotBuilder::new(&self.projection);
        let mut vocabulary = Vocabulary::new(self.spec.program.slots.len());
        if let Err(error) = builder.push(&row, &mut vocabulary) {
            return Err(self.fault(error));
        }
        let predicates = Predicates::with_parts(&self.spec.program, self.cells.parts());
        let mut batch = builder.finish(false);
        if self.measures {
            for (slot, timing) in self.spec.program.timings() {
                batch.slots[slot as usize] = Column::of_values(vec![self.timing(timing.measure, time)]);
            }
            self.latest = time.or(self.latest);
        }
        if let Some(computing) = &mut self.computing
            && let Err(error) = computing.fill_at(&self.spec, time, &mut batch)
        {
            return Err(self.fault(not_computable(error)));
        }
        let beside = self.bound.as_ref().map(|bound| bound.read(&self.spec.program, &batch));
        let monitors = self.parametric.as_ref().map(|own| own.read(&batch));
        let columns = predicates.evaluate_owned(batch).map_err(not_computable);
        let columns = columns.map_err(|error| self.fault(error))?;
        self.atoms.fill(0);
        for (atom, column) in columns.iter().enumerate() {
            self.atoms[atom / 64] |= u64::from(column.get(0)) << (atom % 64);
        }
        self.sink.settled.clear();
        let done = match self.bound.as_ref().zip(beside) {
            None => self.inner.step_at(time, &self.atoms, &mut self.sink),
            Some((bound, beside)) => bound.step(&beside, &mut *self.inner, time, &self.atoms, &mut self.sink),
        };
        if let (Some(own), Some(read), Ok(())) = (&mut self.parametric, monitors, &done) {
            own.take(&self.spec, &read)?;
        }
        self.settled_by(done)
    }

    /// What monitors reported at the last position.
    pub fn reports(&self) -> &[Report] {
        self.parametric.as_ref().map_or(&[], |own| &own.told)
    }

    /// What they report beside that if the trace ends here.
    pub fn last_reports(&self) -> Vec<Report> {
        self.parametric.as_ref().map_or(Vec::new(), |own| own.finish(&self.spec))
    }

    /// Of each monitor whether it has reported something, in the order of the specification.
    pub fn reported(&self) -> &[bool] {
        self.parametric.as_ref().map_or(&[], |own| &own.reported)
    }

    /// Time has passed strictly beyond `time` though nothing happened: no later position is at `time` or before. Returns
    /// what that settles.
    pub fn advance(&mut self, time: Time) -> Result<&[Settled], Error> {
        self.sink.settled.clear();
        let done = self.inner.advance(time, &mut self.sink);
        if let Some(bound) = &self.bound {
            bound.once(&mut self.sink);
        }
        self.settled_by(done)
    }

    /// What can be said at once about the last position: of φ for a property `G φ`, of the property otherwise; `None`
    /// is that it depends on what comes.
    pub fn now(&self, property: usize) -> Option<bool> {
        self.inner.now(property)
    }

    /// What a step settled, or why it could not be taken.
    #[inline]
    fn settled_by(&self, done: Result<(), Unsupported>) -> Result<&[Settled], Error> {
        match done {
            Ok(()) => Ok(&self.sink.settled),
            Err(refusal) => Err(plan::refused(&self.spec, self.engine, refusal)),
        }
    }

    fn fault(&self, error: TraceError) -> Error {
        let place = format!("position {}", self.inner.positions());
        trace_error(&self.spec, error.in_file(&place))
    }

    /// How many positions were pushed.
    pub fn positions(&self) -> usize {
        self.inner.positions()
    }

    /// The verdict of each property that is settled, in the order of the specification.
    pub fn verdicts(&self) -> Vec<Option<bool>> {
        self.inner.verdicts()
    }

    /// What each property that is not settled still waits for.
    pub fn pending(&self) -> Vec<Obligation> {
        self.inner.pending()
    }

    /// Whether each property holds if the trace ends here; `None` before the first position.
    pub fn finish(&mut self) -> Option<Vec<bool>> {
        let known = self.inner.finish(&mut Sink::default()).ok()??;
        Some(known.iter().map(|known| *known == Known::Truth(true)).collect())
    }

    /// The state, for another process with the same specification to [`RowMonitor::restore`].
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.inner.save(&mut bytes);
        let Some(own) = &self.parametric else { return bytes };
        let mut both = Vec::new();
        put_bytes(&bytes, &mut both);
        own.save(&mut both);
        both
    }

    /// Goes on from a saved state.
    pub fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        let mut saved = saved;
        let refused = |corrupt: Corrupt| Error::refused(format!("cannot resume: {corrupt}"));
        let Some(own) = &mut self.parametric else { return self.inner.restore(saved).map_err(refused) };
        let properties = take_bytes(&mut saved).map_err(refused)?;
        self.inner.restore(properties).map_err(refused)?;
        own.restore(saved).map_err(refused)
    }

    /// What quantified variables are, where something was settled for some values: names and values, in the order of the
    /// quantifiers.
    pub fn bindings(&self, settled: &Settled) -> Vec<(String, Value)> {
        let names = &self.spec.program.dag.variables;
        let pairs = settled.bindings.pairs().iter();
        pairs.map(|(variable, value)| (names[*variable as usize].clone(), value.clone())).collect()
    }

    /// A verdict in words: the property, its sentence and formula, the position that settled it, and for which values.
    pub fn describe(&self, settled: &Settled) -> String {
        let root = &self.spec.program.roots[settled.root];
        let title = root.title.as_ref().map_or(String::new(), |title| format!(" ({title})"));
        let verdict = if settled.holds() { "satisfied" } else { "violated" };
        let formula = self.spec.words(root.node);
        let formula = if formula == root.name { String::new() } else { format!(": {formula}") };
        let place = match settled.about {
            None => format!("since position {}", settled.at),
            Some(about) => format!("at position {about}"),
        };
        let with = match self.bindings(settled).as_slice() {
            [] => String::new(),
            bindings => format!(" with {}", words::bindings(bindings)),
        };
        format!("{}{title} is {verdict} {place}{with}{formula}", root.name)
    }
}

/// A position without a time, for properties that measure it.
#[cold]
fn no_time() -> Error {
    Error::refused(
        "a property measures time, so every position needs one: `push_at` or `event_at` instead of `push` or `event`",
    )
}

/// A term without a value, as an error of the position.
fn not_computable(error: tw_monitor::PredicateError) -> TraceError {
    TraceError::new(TraceErrorKind::Type, error.message)
}

#[cfg(test)]
mod tests;
