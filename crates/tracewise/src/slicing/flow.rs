//! A log that does not fit into memory: it is cut while it is read, and each slice flows through a live monitor of its own. What is
//! held is what the monitors hold, the windows of the properties, and the batches on their way.

use super::partial::{listed, told};
use super::{Slicing, Way, decide, jobs, refuse};
use crate::check::{CheckOptions, CheckReport, Violation, log_line, newlines};
use crate::error::{Budget, Setting};
use crate::plan::{refused, restrict};
use crate::run::clock::needs_times;
use crate::run::columns::{self, Need, Passing, Taker, Untaken};
use crate::{Error, Session, Specification, engines};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tw_core::{Column, Position};
use tw_diag::Diagnostic;
use tw_ir::Clock;
use tw_log_slices::{Piece, Shard, Sliced, cut, merge};
use tw_monitor::{
    Answer, Answers, Bindings, EvaluateOptions, Monitor, Sink, Telling, Trace, Unsupported, Wanted,
};

/// Batches that may wait for a thread: enough that one that is slow for a while does not keep who reads, and by that the others, waiting.
const WAITING: usize = 2;
/// Violations that are kept beyond those listed before the latest are dropped.
const SPARE: usize = 1 << 12;

/// Whether a log is better not held: it is about twice as large in memory as on disk, at most.
pub(crate) fn is_large(session: &Session, files: &[String]) -> bool {
    let size = |file: &String| std::fs::metadata(file).map_or(0, |meta| meta.len());
    files.iter().map(size).sum::<u64>() > session.evaluate.memory_budget as u64 / 2
}

/// One property on its way.
struct Flowing {
    alone: Specification,
    way: Way,
}

/// What a thread gets of a batch: the pieces of its slices.
struct Message {
    start: Position,
    pieces: Vec<(usize, usize, Piece)>,
}

/// A slice's monitor and what it has found.
struct Slice {
    monitor: Box<dyn Monitor>,
    shard: Shard,
    sink: Sink,
    found: Vec<(Position, Bindings)>,
    count: usize,
}

impl Slice {
    fn keep(&mut self, limit: usize) {
        for settled in self.sink.settled.drain(..) {
            let Some(at) = settled.about.filter(|_| settled.fails()) else { continue };
            if self.shard.owns(at, &settled.bindings) {
                self.count += settled.count as usize;
                self.found.push((at, settled.bindings));
            }
        }
        if self.found.len() > limit.saturating_add(SPARE) {
            self.found.sort_by_key(|(at, _)| *at);
            // Several of one position stay together: which come first is told by their values, later.
            let last = self.found[limit].0;
            self.found.retain(|(at, _)| *at <= last);
        }
    }
}

/// What one thread found, or why an engine gave up.
type Done = Result<Vec<(usize, Sliced)>, (usize, Unsupported)>;

fn worker(
    flowing: &[Flowing],
    options: &EvaluateOptions,
    limit: usize,
    messages: &Receiver<Message>,
) -> Done {
    let mut slices: HashMap<(usize, usize), Slice> = HashMap::new();
    let mut failed = None;
    for Message { start, pieces } in messages {
        for (root, slice, piece) in pieces {
            // Who reads must not be left waiting.
            if failed.is_some() {
                continue;
            }
            let mut feed = || {
                let numbers: Vec<Position> = piece.order.iter().map(|&at| start + at as Position).collect();
                let own = match slices.entry((root, slice)) {
                    std::collections::hash_map::Entry::Occupied(own) => own.into_mut(),
                    std::collections::hash_map::Entry::Vacant(place) => {
                        let monitor = monitor(&flowing[root].alone, options)?;
                        let (shard, sink, found) = (piece.shard.clone(), Sink::default(), Vec::new());
                        place.insert(Slice { monitor, shard, sink, found, count: 0 })
                    }
                };
                own.monitor.feed_numbered(&piece.trace.positions(), &numbers, &mut own.sink)?;
                own.keep(limit);
                Ok(())
            };
            failed = feed().err().map(|refusal| (root, refusal));
        }
    }
    if let Some(failed) = failed {
        return Err(failed);
    }
    let mut done = Vec::new();
    for ((root, _), mut slice) in slices {
        slice.monitor.finish(&mut slice.sink).map_err(|refusal| (root, refusal))?;
        slice.keep(limit);
        slice.found.sort_by_key(|(at, _)| *at);
        let order: Vec<u32> = slice.found.iter().map(|(at, _)| *at as u32).collect();
        let bindings: Vec<Bindings> = slice.found.into_iter().map(|(_, bindings)| bindings).collect();
        let violations = (0..order.len()).collect();
        let answer = Answer { violations, bindings, violation_count: slice.count, ..Answer::default() };
        // What a slice owns was looked at as it was found.
        done.push((root, Sliced { shard: slice.shard, order, answer, exact: true }));
    }
    Ok(done)
}

fn monitor(alone: &Specification, options: &EvaluateOptions) -> Result<Box<dyn Monitor>, Unsupported> {
    let mut first = None;
    for engine in engines::giving(Answers::Verdicts).filter(|engine| engine.reads_forward()) {
        match engine.monitor(&alone.program, options, Telling::Violations) {
            Ok(monitor) => return Ok(monitor),
            Err(refusal) => _ = first.get_or_insert(refusal),
        }
    }
    Err(first.unwrap_or_else(|| Unsupported::budget("a log that is read once")))
}

/// Hands pieces to the threads of their slices.
struct Sending<'a> {
    threads: &'a [SyncSender<Message>],
    timed: bool,
    untimed: bool,
}

impl Taker for Sending<'_> {
    fn take(&mut self, _: Vec<Column>, _: Passing<'_>) -> Result<(), Untaken> {
        Ok(())
    }

    fn pieces(&mut self, pieces: Vec<Vec<Piece>>, start: Position) -> Result<(), Budget> {
        let mut shares: Vec<Vec<(usize, usize, Piece)>> = self.threads.iter().map(|_| Vec::new()).collect();
        for (root, pieces) in pieces.into_iter().enumerate() {
            for (slice, piece) in pieces.into_iter().enumerate().filter(|(_, piece)| !piece.order.is_empty())
            {
                self.untimed |= self.timed && piece.trace.times.is_none();
                shares[slice % self.threads.len()].push((root, slice, piece));
            }
        }
        for (thread, pieces) in self.threads.iter().zip(shares).filter(|(_, pieces)| !pieces.is_empty()) {
            // A thread that ended has said why.
            let _ = thread.send(Message { start, pieces });
        }
        Ok(())
    }
}

pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &CheckOptions,
    slicing: &Slicing,
) -> Result<CheckReport, Error> {
    let evaluate = session.evaluate_options();
    refuse(&evaluate, slicing)?;
    let mut flowing = Vec::new();
    for root in &spec.program.roots {
        let alone = spec.with_roots(vec![root.clone()]);
        // Time slices are for what is in memory; here, what has passed is forgotten anyway. That equal timestamps may be one is looked
        // at, and not used: which of their positions are violated takes a second look.
        let slicing = Slicing { period: None, ..slicing.clone() };
        let way = decide(&alone, None, &evaluate, &slicing).map_err(|reason| {
            Error::refused_instead(
                format!("`{}` is not sliced, and the log does not fit into memory: {reason}", root.name),
                format!("raise {}, or leave it out with {}", Setting::Memory, Setting::Only),
            )
        })?;
        flowing.push(Flowing { alone, way });
    }
    let cutting = |trace: Trace| -> Vec<Vec<Piece>> {
        let one = |own: &Flowing| {
            let trace = restrict(&trace, &spec.program, &own.alone.program);
            cut(&own.alone.program, &trace, (0, trace.len), &own.way.divisions, own.way.filter)
        };
        flowing.iter().map(one).collect()
    };
    let limit = options.violations.max(1);
    let wanted = Wanted { terms: true, relations: true, ..Wanted::ATOMS };
    let need = Need { wanted, cutting: Some(&cutting), ..Need::default() };
    let timed = needs_times(session, spec);
    let options_of = EvaluateOptions { threads: 1, ..evaluate.clone() };
    let (loaded, untimed, done) = std::thread::scope(|scope| {
        let (mut threads, mut handles) = (Vec::new(), Vec::new());
        for _ in 0..jobs(session, slicing) {
            let (sender, receiver) = sync_channel(WAITING);
            threads.push(sender);
            let (flowing, options) = (&flowing, &options_of);
            handles.push(scope.spawn(move || worker(flowing, options, limit, &receiver)));
        }
        let mut sending = Sending { threads: &threads, timed, untimed: false };
        let loaded = columns::read(session, spec, files, need, None, Some(&mut sending));
        let untimed = sending.untimed;
        drop(threads);
        let done: Vec<Done> = handles.into_iter().filter_map(|handle| handle.join().ok()).collect();
        (loaded, untimed, done)
    });
    let loaded = loaded?;
    crate::run::faults::refuse_empty(&loaded)?;
    if untimed && evaluate.clock != Clock::Index {
        return Err(Error::refused_instead(
            format!("{} has no timestamps and does not fit into memory", loaded.name()),
            format!("use {}", Setting::Clock.to("index")),
        ));
    }
    let mut found: Vec<Vec<Sliced>> = flowing.iter().map(|_| Vec::new()).collect();
    for done in done {
        let slices = done.map_err(|(root, refusal)| refused(&flowing[root].alone, "relational", refusal))?;
        slices.into_iter().for_each(|(root, sliced)| found[root].push(sliced));
    }
    let answers: Vec<Answer> = found.into_iter().map(|slices| merge(slices, limit)).collect();
    Ok(report(session, spec, loaded, options, &answers))
}

fn report(
    session: &Session,
    spec: &Specification,
    mut loaded: columns::Loaded,
    options: &CheckOptions,
    answers: &[Answer],
) -> CheckReport {
    let newlines = newlines(spec);
    let positions: Vec<Position> = {
        let listed = answers.iter().flat_map(|answer| answer.violations.iter().take(crate::check::LOCATED));
        let mut all: Vec<Position> = listed.copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let lines = loaded.locate(&positions);
    let located: HashMap<Position, Violation> = lines
        .iter()
        .map(|(at, own)| (*at, Violation { time: own.time, line: log_line(own), ..Violation::default() }))
        .collect();
    let properties: Vec<_> = spec
        .program
        .roots
        .iter()
        .zip(answers)
        .map(|(root, answer)| {
            let violations = listed(spec, answer, &located);
            told(spec, root, &newlines, answer, violations, options)
        })
        .collect();
    let mut warnings = spec.warnings.clone();
    warnings.append(&mut loaded.warnings);
    if options.explain && answers.iter().any(|answer| answer.violation_count > 0) {
        let message = "violations are not explained: the log does not fit into memory";
        warnings.push(Diagnostic::warning("not-explained", message));
    }
    CheckReport {
        trace: loaded.name().to_string(),
        positions: loaded.summary.positions,
        bytes: loaded.summary.bytes,
        skipped: loaded.summary.skipped,
        engine: "relational",
        semantics: session.evaluate.semantics.name(),
        by: None,
        properties,
        warnings,
        slicing: Vec::new(),
        ticks: Vec::new(),
    }
}
