//! A watch by hand: whoever has the lines pushes them, asks what is pending and takes the state, when it likes and on one thread.
//! A server with many streams does so; [`Session::watch`] is the loop for one.
//!
//! The parts of a specification ([`apart`](super::apart)) are judged each on its own: one that cannot go on, or holds too much,
//! ends alone, and a state is good for another specification as far as that says the same.

use super::apart::{Apart, PartSpec, divide};
use super::checkpoint::Checkpoint;
use super::clock::Passed;
use super::filled::Filling;
use super::keyed::Keyed;
use super::queries::QueryMonitor;
use super::run::{Run, judge, keyed, names, presorted, reader, watched};
use super::settings::settings;
use super::watcher::Watcher;
use super::{WatchOptions, WatchSink};
use crate::run::open::format_of;
use crate::{Error, Session, Specification, monitors};
use std::time::Duration;
use tw_trace::Live;

/// A specification and how it is watched. What watches borrows it.
#[derive(Clone, Debug)]
pub struct Prepared {
    session: Session,
    whole: Specification,
    parts: Vec<PartSpec>,
    options: WatchOptions,
}

/// A part of a specification at work: a property, the queries and requirements, the monitors; where there is a key, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartState<'w> {
    /// Bytes it holds.
    pub bytes: usize,
    /// Why it has ended, if it has.
    pub stopped: Option<&'w str>,
}

/// A stream that is watched by hand.
pub trait Stepped {
    /// The stream stands after so many lines, which nobody watched. Before the first line alone.
    fn begin_after(&mut self, lines: u64);
    /// Takes bytes of the stream, cut anywhere; tells what their whole lines settle. After an error the watch is over.
    fn push(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// No line has come for so long since the last: time has passed by that, and what was due is told. Lines that are earlier than
    /// that are too late from then on, where time is measured.
    fn pass(&mut self, elapsed: Duration) -> Result<(), Error>;
    /// Lists what is pending, and what queries are worth so far.
    fn tell_pending(&mut self) -> Result<(), Error>;
    /// Positions read.
    fn positions(&self) -> u64;
    /// The parts, in the order of [`Prepared::part_names`].
    fn parts(&self) -> Vec<PartState<'_>>;
    /// Ends a part, for this reason.
    fn stop(&mut self, part: usize, why: &str);
    /// The whole state.
    fn save(&mut self) -> Vec<u8>;
    /// Goes on from a state of this specification or another, before the first line; the next line is the one after those that it
    /// has read. Parts that mean what a part there meant keep its state, the others begin here. What was told before may be told
    /// again. After an error nothing else is to be done with this watch.
    fn restore(&mut self, state: &[u8]) -> Result<(), Error>;
}

impl Prepared {
    pub(crate) fn new(
        session: &Session,
        spec: &Specification,
        options: &WatchOptions,
    ) -> Result<Self, Error> {
        let session = monitors::beside(session, spec)?.into_owned();
        let whole = watched(spec, options)?.into_owned();
        let parts = if options.by.is_some() { Vec::new() } else { divide(&whole) };
        Ok(Self { session, whole, parts, options: options.clone() })
    }

    /// The names of what each part consists of.
    pub fn part_names(&self) -> Vec<Vec<String>> {
        let names = |spec: &Specification| {
            let program = &spec.program;
            let roots = program.roots.iter().chain(program.requirements.iter().map(|own| &own.root));
            let names = roots.map(|root| root.name.clone());
            names.chain(program.monitors.iter().map(|own| own.name.clone())).collect()
        };
        match self.options.by {
            Some(_) => vec![names(&self.whole)],
            None => self.parts.iter().map(|part| names(&part.whole)).collect(),
        }
    }

    /// How many sinks a watch needs: one for each part, and the first for all.
    pub fn sinks(&self) -> usize {
        1 + self.parts.len()
    }

    /// A watch of which no line has come yet, with as many sinks as it needs.
    pub fn begin<'w, S: WatchSink>(&'w self, sinks: &'w mut [S]) -> Result<Box<dyn Stepped + 'w>, Error> {
        let given = sinks.len();
        let Some((first, sinks)) = sinks.split_first_mut().filter(|_| given >= self.sinks()) else {
            return Err(Error::Internal(format!("a watch needs {} sinks, {given} were given", self.sinks())));
        };
        if self.options.by.is_some() {
            let mut run = keyed(&self.session, &self.whole, &self.options, first)?;
            run.prepare_streams(&self.session)?;
            self.compare_columns(&mut run);
            return Ok(Box::new(run));
        }
        let (name, path) = names(&self.options.source);
        let format = format_of(&self.session, path)?;
        let mut parts = Vec::with_capacity(self.parts.len());
        for (part, sink) in self.parts.iter().zip(sinks) {
            let queries = QueryMonitor::open(&self.session, &part.whole)?;
            let specs = [&part.whole, &part.own];
            parts.push((part.meaning, judge(&self.session, specs, &self.options, name, queries, sink)?));
        }
        let live = reader(&self.session, [&self.whole; 2], &self.options, (name, format));
        let apart = Apart::new(&self.whole, first, parts);
        let settings = settings(&self.session, &self.whole, &self.options, format, "");
        let mut run = Run::new(live, apart, &self.options, &self.whole, settings);
        run.presort = presorted(&self.session, &self.whole);
        run.prepare_streams(&self.session)?;
        self.compare_columns(&mut run);
        Ok(Box::new(run))
    }

    /// What two watches have to have in common for one to go on with parts of the other: how lines are read. That the same
    /// columns are read is noted beside.
    fn compare_columns<W>(&self, run: &mut Run<'_, W>) {
        // Which values belong to which requirement of a key is known by its place alone.
        let by_place = self.options.by.is_some() && !self.whole.program.requirements.is_empty();
        run.settings.retain(|(label, _)| {
            by_place && label == "specification" || label != "specification" && label != "engine"
        });
        let mut hash = blake3::Hasher::new();
        for slot in &self.whole.program.slots {
            hash.update(format!("{:?}", slot.what).as_bytes());
        }
        run.settings.push(("columns".into(), hash.finalize().to_hex().to_string()));
    }
}

/// What watches that step differ in.
pub(crate) trait Steps: Watcher {
    fn states(&self) -> Vec<PartState<'_>>;
    fn end_part(&mut self, part: usize, why: &str);
    /// Goes on from a state after so many positions.
    fn go_on(&mut self, state: &Checkpoint, positions: u64) -> Result<(), String>;
}

impl Steps for Keyed<'_> {
    fn states(&self) -> Vec<PartState<'_>> {
        vec![PartState { bytes: self.heap_bytes(), stopped: None }]
    }

    fn end_part(&mut self, _: usize, _: &str) {}

    fn go_on(&mut self, state: &Checkpoint, _: u64) -> Result<(), String> {
        match self.requires() {
            true => self.restore(state),
            false => self.restore_parts(state),
        }
    }
}

impl Steps for Apart<'_> {
    fn states(&self) -> Vec<PartState<'_>> {
        Apart::states(self).into_iter().map(|(bytes, stopped)| PartState { bytes, stopped }).collect()
    }

    fn end_part(&mut self, part: usize, why: &str) {
        self.stop(part, why.to_string());
    }

    fn go_on(&mut self, state: &Checkpoint, positions: u64) -> Result<(), String> {
        let position = usize::try_from(positions).map_err(|_| "it has more positions than fit here")?;
        self.adopt(&state.monitor, position).map(drop)
    }
}

impl<W: Steps> Stepped for Run<'_, W> {
    fn begin_after(&mut self, lines: u64) {
        self.live.begin_at(0, lines);
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Err(halt) = self.take(bytes) {
            // Nothing more is wanted, or something is wrong.
            return self.judge.conclude(halt);
        }
        self.judge_names();
        Ok(())
    }

    fn pass(&mut self, elapsed: Duration) -> Result<(), Error> {
        // Positions that wait for what their streams look ahead to would come after that.
        if self.filling.as_ref().is_some_and(Filling::waits) {
            return Ok(());
        }
        self.judge.beat(Passed::By(elapsed)).or_else(|halt| self.judge.conclude(halt))
    }

    fn tell_pending(&mut self) -> Result<(), Error> {
        let listed = self.judge.list_pending(self.live.progress());
        listed.map_err(super::halt::unwritten)?;
        self.judge.tell_values()
    }

    fn positions(&self) -> u64 {
        self.live.progress().positions
    }

    fn parts(&self) -> Vec<PartState<'_>> {
        self.judge.states()
    }

    fn stop(&mut self, part: usize, why: &str) {
        self.judge.end_part(part, why);
    }

    fn save(&mut self) -> Vec<u8> {
        self.state().to_bytes()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.adopt(state).map_err(|why| Error::refused(format!("cannot go on from a state: {why}")))
    }
}

impl<W: Steps> Run<'_, W> {
    fn adopt(&mut self, state: &[u8]) -> Result<(), String> {
        let state = Checkpoint::of_bytes(state)?;
        let columns = |settings: &[(String, String)]| {
            settings.iter().find(|(label, _)| label == "columns").map(|(_, value)| value.clone())
        };
        let same = columns(&state.settings) == columns(&self.settings);
        let mut compared = state.clone();
        compared.settings.retain(|(label, _)| label != "columns");
        if let Some(why) = compared.differs(&self.settings) {
            return Err(why);
        }
        let mut saved = state.live.as_slice();
        if same {
            self.live.restore(&mut saved).map_err(|unreadable| unreadable.0)?;
        } else {
            let read = Live::progress_of(saved).map_err(|unreadable| unreadable.0)?;
            self.live.begin_after(read);
            saved = &[];
        }
        if let Some(filling) = &mut self.filling {
            let known =
                same && filling.load(self.spec, &mut saved).map_err(|_| "its streams cannot be read")?;
            if !known {
                return Err("the equations of the streams, or what they read, have changed".into());
            }
        }
        if !saved.is_empty() {
            return Err("its parts do not belong together".into());
        }
        let read = self.live.progress();
        self.judge.go_on(&state, read.positions)?;
        self.judge.go_on_after(read);
        Ok(())
    }
}
