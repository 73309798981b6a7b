//! The parts of a specification, each judged on its own: a property, the queries and requirements together, the monitors
//! together. They are read together, so that a line costs what it costs once; but each part has a state of its own, which goes on
//! when other parts change, and one that cannot go on ends alone.

use super::checkpoint::Checkpoint;
use super::clock::Passed;
use super::halt::{self, BadLines, Halt};
use super::judge::Judge;
use super::state::{bytes, number, put_bytes};
use super::watcher::Watcher;
use super::{LiveSink, WatchReport, WatchSink};
use crate::{Error, Specification};
use std::io;
use tw_core::codec::put;
use tw_core::{Batch, Position};
use tw_ir::{RootKind, fingerprints};
use tw_trace::{Arrival, Progress, Receiver, Stamp, TraceError};

/// What a part means: equal for equal parts, whatever else the specification says.
pub(super) type Meaning = [u8; 32];

/// A part, as it is written.
#[derive(Clone, Debug)]
pub(super) struct PartSpec {
    pub meaning: Meaning,
    /// The specification with this part alone; its columns are those of all.
    pub whole: Specification,
    /// Its properties alone.
    pub own: Specification,
}

/// Divides a specification.
pub(super) fn divide(spec: &Specification) -> Vec<PartSpec> {
    let program = &spec.program;
    // What equations define is part of what every property means.
    let equations = format!(
        "{:?}",
        (&program.streams, &program.slots.iter().filter(|slot| computed(slot)).collect::<Vec<_>>())
    );
    let equations = if program.derives() { equations } else { String::new() };
    let hash = |parts: &[&[u8]]| -> Meaning {
        let mut hash = blake3::Hasher::new();
        for part in parts.iter().copied().chain([equations.as_bytes()]) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        *hash.finalize().as_bytes()
    };
    let none = || {
        let mut none = spec.clone();
        none.program.roots.clear();
        none.program.monitors.clear();
        none.program.requirements.clear();
        none
    };
    let mut parts = Vec::new();
    let part = |meaning, whole: Specification| {
        let own = whole.of_kind(RootKind::Property).into_owned();
        PartSpec { meaning, whole, own }
    };
    let prints = fingerprints(program);
    let mut queries = (Vec::new(), none());
    for (root, print) in program.roots.iter().zip(&prints) {
        if root.kind == RootKind::Query {
            queries.0.extend([&print.0[..], root.name.as_bytes()]);
            queries.1.program.roots.push(root.clone());
            continue;
        }
        let mut whole = none();
        whole.program.roots.push(root.clone());
        parts.push(part(hash(&[b"property", root.name.as_bytes(), &print.0]), whole));
    }
    queries.1.program.requirements.clone_from(&program.requirements);
    if !queries.1.program.roots.is_empty() || !program.requirements.is_empty() {
        let required = program.requirements.iter().map(|own| {
            let root = &own.root;
            let relation = crate::require::relation(spec, own);
            format!("{} {} {relation} {:?}", root.name, spec.words(root.node), root.division)
        });
        let required = required.collect::<Vec<_>>().join("\n");
        queries.0.extend([&b"queries"[..], required.as_bytes()]);
        parts.push(part(hash(&queries.0), queries.1));
    }
    if !program.monitors.is_empty() {
        let mut whole = none();
        whole.program.monitors.clone_from(&program.monitors);
        let meanings: Vec<String> =
            program.monitors.iter().map(|own| crate::monitors::meaning(spec, own)).collect();
        let meanings: Vec<&[u8]> = meanings.iter().map(|meaning| meaning.as_bytes()).collect();
        parts.push(part(hash(&meanings), whole));
    }
    parts
}

fn computed(slot: &tw_ir::Slot) -> bool {
    use tw_ir::What;
    matches!(slot.what, What::Stream { .. } | What::Shift(_) | What::Window(_))
}

/// The parts of a specification on a stream.
pub(super) struct Apart<'j> {
    spec: &'j Specification,
    sink: &'j mut dyn WatchSink,
    parts: Vec<Part<'j>>,
    bad_lines: BadLines,
}

struct Part<'j> {
    meaning: Meaning,
    engine: &'static str,
    /// `None` once it has ended.
    judge: Option<Judge<'j>>,
    /// Why it has.
    stopped: Option<String>,
}

impl Part<'_> {
    fn stop(&mut self, halt: Halt) {
        let Some(mut judge) = self.judge.take() else { return };
        let why = match judge.conclude(halt) {
            Ok(()) => "nothing more is wanted of it".to_string(),
            Err(error) => error.to_string(),
        };
        self.stopped = Some(why);
    }
}

impl<'j> Apart<'j> {
    pub fn new(
        spec: &'j Specification,
        sink: &'j mut dyn WatchSink,
        parts: Vec<(Meaning, Judge<'j>)>,
    ) -> Self {
        let part = |(meaning, judge): (Meaning, Judge<'j>)| {
            let engine = judge.engine;
            Part { meaning, engine, judge: Some(judge), stopped: None }
        };
        Self { spec, sink, parts: parts.into_iter().map(part).collect(), bad_lines: BadLines::default() }
    }

    /// Of each part the bytes it holds, and why it has ended, if it has.
    pub fn states(&self) -> Vec<(usize, Option<&str>)> {
        let bytes = |part: &Part<'_>| part.judge.as_ref().map_or(0, Judge::heap_bytes);
        self.parts.iter().map(|part| (bytes(part), part.stopped.as_deref())).collect()
    }

    /// Ends a part.
    pub fn stop(&mut self, part: usize, why: String) {
        if let Some(part) = self.parts.get_mut(part) {
            part.judge = None;
            part.stopped.get_or_insert(why);
        }
    }

    fn each(&mut self, mut ask: impl FnMut(&mut Judge<'j>) -> Result<(), Halt>) {
        for part in &mut self.parts {
            if let Some(judge) = &mut part.judge
                && let Err(halt) = ask(judge)
            {
                part.stop(halt);
            }
        }
    }

    /// Goes on from what parts of this or another specification kept, of the positions before `next`; the parts that kept nothing
    /// begin there. Says which went on.
    pub fn adopt(&mut self, mut saved: &[u8], next: Position) -> Result<Vec<bool>, String> {
        let from = &mut saved;
        let mut kept: Vec<(Meaning, &str, &[u8], &[u8])> = Vec::new();
        for _ in 0..number(from)? {
            let meaning: Meaning = bytes(from)?.try_into().map_err(|_| "a part has no name")?;
            let engine = std::str::from_utf8(bytes(from)?).map_err(|error| error.to_string())?;
            kept.push((meaning, engine, bytes(from)?, bytes(from)?));
        }
        let mut went_on = Vec::new();
        for part in &mut self.parts {
            let Some(judge) = &mut part.judge else { continue };
            let same = |(meaning, engine, ..): &&(Meaning, &str, &[u8], &[u8])| {
                (*meaning, *engine) == (part.meaning, part.engine)
            };
            let own = kept.iter().find(same);
            went_on.push(own.is_some());
            match own {
                None => judge.begin_at(next),
                Some((.., [], state)) => {
                    let state = Checkpoint::of_bytes(state)?;
                    judge.restore(&state)?;
                    judge.tell_again(state).map_err(|error| error.to_string())?;
                }
                Some((.., stopped, _)) => {
                    part.stopped = Some(String::from_utf8_lossy(stopped).into_owned());
                    part.judge = None;
                }
            }
        }
        Ok(went_on)
    }
}

impl<'j> Receiver for Apart<'j> {
    type Mapped = Vec<Option<<Judge<'j> as Receiver>::Mapped>>;
    type Error = Halt;

    fn map(&mut self, batch: Batch) -> Result<Self::Mapped, (usize, TraceError)> {
        let mut mapped = Vec::with_capacity(self.parts.len());
        for part in &mut self.parts {
            let Some(judge) = &mut part.judge else {
                mapped.push(None);
                continue;
            };
            match judge.map(batch.clone()) {
                Ok(own) => mapped.push(Some(own)),
                Err(error) => {
                    self.bad_lines.fault = judge.bad_lines.fault.take();
                    return Err(error);
                }
            }
        }
        Ok(mapped)
    }

    fn take(&mut self, mapped: Self::Mapped, arrival: &Arrival<'_>) -> Result<(), Halt> {
        for (part, mapped) in self.parts.iter_mut().zip(mapped) {
            if let (Some(judge), Some(mapped)) = (&mut part.judge, mapped)
                && let Err(halt) = judge.take(mapped, arrival)
            {
                part.stop(halt);
            }
        }
        Ok(())
    }

    fn left_over(&mut self, lines: u64, first: u64) {
        self.bad_lines.left_over(lines, first, self.sink);
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Halt> {
        self.bad_lines.leave_out(self.spec, true, error, self.sink)
    }

    fn watermark(&mut self, stamp: Stamp, line: u64) -> Result<(), Halt> {
        self.each(|judge| judge.watermark(stamp, line));
        Ok(())
    }
}

impl Watcher for Apart<'_> {
    fn sink(&mut self) -> &mut dyn LiveSink {
        self.sink
    }

    fn beat(&mut self, passed: Passed) -> Result<(), Halt> {
        self.each(|judge| judge.beat(passed));
        Ok(())
    }

    fn go_on_after(&mut self, read: Progress) {
        self.parts.iter_mut().filter_map(|part| part.judge.as_mut()).for_each(|judge| judge.read = read);
    }

    fn list_pending(&mut self, now: Progress) -> io::Result<()> {
        self.each(|judge| judge.list_pending(now).map_err(Halt::from));
        Ok(())
    }

    fn tell_values(&mut self) -> Result<(), Error> {
        self.each(|judge| judge.tell_values().map_err(Halt::Fault));
        Ok(())
    }

    fn last_words(&mut self, now: Progress) -> Result<(), Error> {
        self.each(|judge| judge.last_words(now).map_err(Halt::Fault));
        Ok(())
    }

    fn conclude(&mut self, halt: Halt) -> Result<(), Error> {
        let fault = self.bad_lines.fault.take();
        halt::conclude(self.spec, halt, fault, |refusal| crate::plan::refused(self.spec, "auto", refusal))
    }

    fn heap_bytes(&self) -> usize {
        self.states().iter().map(|(bytes, _)| bytes).sum()
    }

    fn save(&mut self, state: &mut Checkpoint) {
        state.bad_lines = self.bad_lines.count;
        let out = &mut state.monitor;
        put(self.parts.len() as u64, out);
        for part in &mut self.parts {
            put_bytes(&part.meaning, out);
            put_bytes(part.engine.as_bytes(), out);
            put_bytes(part.stopped.as_deref().unwrap_or_default().as_bytes(), out);
            let mut own = Checkpoint::default();
            if let Some(judge) = &mut part.judge {
                judge.save(&mut own);
            }
            put_bytes(&own.to_bytes(), out);
        }
    }

    fn report(&mut self, ended: bool, positions: u64) -> WatchReport {
        let _ = ended;
        WatchReport {
            positions,
            bad_lines: self.bad_lines.count,
            engine: "auto",
            verdicts: Vec::new(),
            monitors: Vec::new(),
            requirements: Vec::new(),
        }
    }
}
