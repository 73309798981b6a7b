//! A specification tried on the past: the stored lines of a stream are judged by it, nothing of that is kept.

use crate::judge::{Collected, PropertyState, Teller, Watched};
use crate::specs::Spec;
use crate::stream::Stream;
use crate::words;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Lines before the first.
    pub since: u64,
    /// Violations that are told; the others are counted.
    pub told: usize,
    /// When it is enough.
    pub time: Duration,
    /// Bytes that the specification may hold.
    pub memory: usize,
}

/// What a specification would have found.
#[derive(Debug, Default)]
pub struct Tried {
    /// Lines before the first that was judged …
    pub from: u64,
    /// … and before the first that was not.
    pub to: u64,
    /// Whether those are all that there are.
    pub whole: bool,
    /// Positions judged.
    pub positions: u64,
    /// Lines that it could not read, and what was wrong with the last.
    pub left_out: (u64, Option<String>),
    /// Why it could not go on.
    pub stopped: Option<String>,
    /// What its properties came to.
    pub properties: Vec<PropertyState>,
    /// The first violations, as JSON.
    pub violations: Vec<String>,
}

/// Judges what is stored of a stream.
pub fn run(spec: &Spec, stream: &Stream, extent: Extent) -> io::Result<Tried> {
    let since = extent.since.max(stream.log.start());
    let mut tried = Tried { from: since, to: since, ..Tried::default() };
    let prepared = match spec.prepare(&stream.name, extent.memory) {
        Ok(prepared) => prepared,
        Err(error) => {
            tried.stopped = Some(words::error(&error));
            return Ok(tried);
        }
    };
    let watched = Arc::new(Watched::new(&stream.name, &spec.name, &spec.specification));
    let collected = Rc::new(RefCell::new(Collected::default()));
    let teller = || Teller::new(watched.clone(), since, &stream.log, collected.clone());
    let mut tellers: Vec<Teller> = (0..prepared.sinks()).map(|_| teller()).collect();
    let mut watch = match prepared.begin(&mut tellers) {
        Ok(watch) => watch,
        Err(error) => {
            tried.stopped = Some(words::error(&error));
            return Ok(tried);
        }
    };
    watch.begin_after(since);
    let (mut reader, end, until) =
        (stream.log.read_from(since), stream.log.end(), Instant::now() + extent.time);
    while tried.to < end && Instant::now() < until {
        let Some(record) = reader.next()? else { break };
        let bytes = crate::judge::part(&record, since.max(record.before), record.after());
        if let Err(error) = watch.push(bytes) {
            tried.stopped = Some(words::error(&error));
            break;
        }
        tried.to = record.after();
        let told = std::mem::take(&mut collected.borrow_mut().told);
        let room = extent.told - tried.violations.len();
        let violations = told.into_iter().filter(|told| told.kind == "violation").map(|told| told.json);
        tried.violations.extend(violations.take(room));
    }
    // What is pending, and what queries are worth.
    if tried.stopped.is_none() {
        tried.stopped = watch.tell_pending().err().map(|error| words::error(&error));
    }
    tried.positions = watch.positions();
    tried.whole = tried.to >= end && since == stream.log.start();
    tried.left_out = (watched.left_out.load(Ordering::Relaxed), watched.last_left_out());
    tried.properties = watched.properties().clone();
    Ok(tried)
}
