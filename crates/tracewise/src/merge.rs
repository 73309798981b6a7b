//! `merge`: many traces to one model.
//!
//! Traces are read side by side, each wholly by one thread into that thread's own merger; what the threads have found
//! is added up at the end, which gives the same model whatever their number. Memory is that of the model, not of the
//! traces.

mod divide;
mod lines;
mod names;
mod options;
mod properties;
mod read;
mod splice;

use crate::error::Setting;
use crate::run::open::{Opened, display_name};
use crate::run::order::Aside;
use crate::{Error, Session};
use lines::Lines;
use names::Valuations;
use read::{Source, readable_once};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tw_diag::Diagnostic;
use tw_merge::{Limits, MAX_HISTORY, Merger, TooLarge};
use tw_model::{Model, Place, State};
use tw_trace::{TraceError, TraceErrorKind};

pub use options::{MergeOptions, StateNames};
pub(crate) use splice::origin;
pub use splice::{Origin, Piece};
pub use tw_merge::{Completeness, Coverage, Ends, Estimate, Keep, Point};

/// A merged model, and what it was made of.
#[derive(Clone, Debug)]
pub struct MergeReport {
    /// The model.
    pub model: Model,
    /// How many traces.
    pub traces: usize,
    /// How many positions in all of them.
    pub positions: u64,
    /// Traces that end where others go on, and whose end the model does not show: paths never stay there.
    pub lost_ends: u64,
    /// Positions that belong to no trace, as the column that divides them ([`MergeOptions::by`]) has no value there.
    pub without_key: u64,
    /// What is to be said of the traces: lines left out, timestamps that go back.
    pub warnings: Vec<Diagnostic>,
}

pub(crate) fn merge(
    session: &Session,
    traces: &[Vec<String>],
    options: &MergeOptions,
) -> Result<MergeReport, Error> {
    refuse(traces, options)?;
    let source = source(session, traces, &options.states)?;
    refuse_chosen(&source, options)?;
    let mut parts = match &options.by {
        Some(column) => vec![by_key(session, &source, traces, column, options)?],
        None => side_by_side(session, &source, traces, options)?,
    };
    let Part { mut merger, mut valuations, mut lines, mut positions, without_key, mut aside } =
        parts.pop().unwrap_or_else(|| Part::new(&source, options));
    for part in parts.into_iter().rev() {
        let rename = valuations.absorb(&part.valuations);
        merger.absorb(part.merger, &rename).map_err(too_large)?;
        lines.extend(part.lines);
        positions += part.positions;
        aside.also(part.aside);
    }
    lines.sort_by_key(|lines| lines.trace);
    let names = lines.iter().map(|lines| lines.name.clone()).collect();
    refuse_large(session, &valuations)?;
    let mut model = merger.finish(valuations.finish(), options.ends, names).map_err(too_large)?;
    lines::relocate(session, &mut model, &lines)?;
    if let Some(merged) = &mut model.merged {
        merged.options = options::remember(session, options, traces);
    }
    let lost_ends = lost_ends(&model);
    let all = match traces {
        [one] => display_name(one),
        many => format!("{} traces", many.len()),
    };
    let warnings = aside.warnings(&all);
    Ok(MergeReport { model, traces: lines.len(), positions, lost_ends, without_key, warnings })
}

/// Refuses what cannot be merged, or not that way.
fn refuse(traces: &[Vec<String>], options: &MergeOptions) -> Result<(), Error> {
    if let Keep::History(length) = options.keep
        && !(1..=MAX_HISTORY).contains(&length)
    {
        return Err(Error::refused(format!(
            "a history of {length} states cannot be kept, but one of 1 to {MAX_HISTORY}; `{}` keeps everything \
             before",
            Setting::Keep.to("tree")
        )));
    }
    if traces.iter().any(|files| files.len() > 1) {
        return Err(Error::refused(format!(
            "merging takes each file as a trace, whose steps are told by file and line, so `{0}` does not go with it; \
             write the files into one first: tracewise convert {0} FILE… -o all.jsonl",
            Setting::Concat
        )));
    }
    if traces.iter().flatten().filter(|file| *file == "-").count() > 1 {
        return Err(Error::refused("standard input `-` can be read only once"));
    }
    Ok(())
}

/// Refuses columns and properties that are there twice, or are called as what every model has.
fn refuse_chosen(source: &Source, options: &MergeOptions) -> Result<(), Error> {
    let (what, names) = match source {
        Source::Columns(columns) => ("column", columns.as_slice()),
        Source::Specification(properties) => ("`let`", properties.names.as_slice()),
        _ => return Ok(()),
    };
    if let Some((_, twice)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        return Err(Error::refused(format!("the {what} `{twice}` is there twice; once is enough")));
    }
    match names.iter().find(|name| is_own(name, options.keep)) {
        Some(name) => Err(clash(what, name)),
        None => Ok(()),
    }
}

/// Refuses columns that turned up in a trace and are called as what the model has.
fn refuse_found(source: &Source, valuations: &Valuations, keep: Keep) -> Result<(), Error> {
    let what = match source {
        Source::Everything => "column",
        Source::Events | Source::EventsAlone => "event",
        // The one column that names states is no variable beside them.
        Source::Unknown if !valuations.columns().eq(["state"]) => "column or event",
        _ => return Ok(()),
    };
    match valuations.columns().find(|name| is_own(name, keep)) {
        Some(name) => Err(clash(what, name)),
        None => Ok(()),
    }
}

/// Refuses a model whose variables do not fit into memory, before they are laid out.
fn refuse_large(session: &Session, valuations: &Valuations) -> Result<(), Error> {
    let (bytes, most) = (valuations.model_bytes(), session.evaluate.memory_budget);
    if bytes <= most {
        return Ok(());
    }
    let (columns, states) = (valuations.columns().len(), valuations.len());
    let message = format!(
        "the merged model has {columns} variables, each with a value in {states} states: {} MiB, and the limit is {} MiB; {} \
         names the few that count",
        bytes >> 20,
        most >> 20,
        Setting::StateColumns
    );
    Err(limit_message(&message).into())
}

/// Whether a model that keeps this has a variable of that name of its own. The instant is what `time` means in all of
/// them, whether they keep it or not.
fn is_own(name: &str, keep: Keep) -> bool {
    let back = |length: u32| {
        name.strip_prefix("back").and_then(|number| number.parse().ok()).is_some_and(|n: u32| n <= length)
    };
    match name {
        "state" | "time" => true,
        "node" => keep == Keep::Tree,
        _ => matches!(keep, Keep::History(length) if back(length)),
    }
}

fn clash(what: &str, name: &str) -> Error {
    let instead = match (what, name) {
        ("`let`", _) => "give it another name".to_string(),
        ("event", _) => {
            format!("rename it in the trace, or say with {} what the states are", Setting::StateColumns)
        }
        (_, "state") => {
            let alone = Setting::StateColumns.to("state");
            format!("rename the column, or take it alone with `{alone}`: its value is the state then")
        }
        _ => {
            let (columns, alone) = (Setting::StateColumns, Setting::StateColumns.to(name));
            format!("rename it, leave it out with {columns}, or take it alone with `{alone}`")
        }
    };
    let means = match name {
        "state" => "the name of the state",
        "time" => "the instant",
        "node" => "the number of the state",
        _ => "a state before",
    };
    Error::refused(format!(
        "the {what} `{name}` would be a variable of the model, where `{name}` is {means}; {instead}"
    ))
}

/// How many traces end in states that others leave, without a loop or an end of their own.
pub(crate) fn lost_ends(model: &Model) -> u64 {
    let ends = model.merged.as_ref().and_then(|merged| Ends::parse(&merged.ends));
    let Some(record) = model.record.as_ref().filter(|_| ends == Some(Ends::Dead)) else { return 0 };
    let lost = |&state: &State| {
        let next = model.graph.successors(state);
        !next.is_empty() && !next.contains(&state)
    };
    let ends = |state: State| record.ends.get(state as usize).copied().unwrap_or(0);
    (0..model.states() as State).filter(lost).map(ends).sum()
}

/// What one thread found.
struct Part {
    merger: Merger,
    valuations: Valuations,
    lines: Vec<Lines>,
    positions: u64,
    without_key: u64,
    aside: Aside,
}

impl Part {
    fn new(source: &Source, options: &MergeOptions) -> Self {
        let merger = Merger::new(options.keep, options.limits);
        let (valuations, aside) = (source.valuations(), Aside::default());
        Self { merger, valuations, lines: Vec::new(), positions: 0, without_key: 0, aside }
    }

    /// Reads one trace into the merger.
    fn add(
        &mut self,
        session: &Session,
        source: &Source,
        trace: u32,
        files: &[String],
        keep: Keep,
    ) -> Result<(), Error> {
        let merger = &mut self.merger;
        merger.begin(trace);
        self.valuations.begin(trace);
        let mut states = |codes: &[u32]| merger.extend(codes).map_err(limit);
        let read = read::read(session, source, files, &mut self.valuations, &mut states)?;
        self.merger.end();
        refuse_empty(read.positions, files)?;
        refuse_found(source, &self.valuations, keep)?;
        self.positions += read.positions;
        self.aside.also(read.aside);
        let name = display_name(files);
        self.lines.push(Lines { trace, name, files: files.to_vec(), locator: read.locator, order: None });
        Ok(())
    }
}

fn side_by_side(
    session: &Session,
    source: &Source,
    traces: &[Vec<String>],
    options: &MergeOptions,
) -> Result<Vec<Part>, Error> {
    if traces.len() >= Place::MAX_TRACES {
        return Err(too_many());
    }
    let workers = session.read.threads.clamp(1, traces.len().max(1));
    // With fewer traces than processors, the threads left over read blocks of the same trace.
    let mut own = session.clone();
    own.read.threads = (session.read.threads / workers).max(1);
    own.progress = None;
    let sizes: Vec<u64> = match &session.progress {
        Some(_) => traces.iter().map(|files| size(files)).collect(),
        None => Vec::new(),
    };
    let total: u64 = sizes.iter().sum();
    let (next, read, failed) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let first_error: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let work = || {
        let mut part = Part::new(source, options);
        // Traces are taken in order, so that all before a bad one are read: the first bad one is the one told.
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = traces.get(index) else { break };
            if let Err(error) = part.add(&own, source, index as u32, files, options.keep) {
                failed.store(true, Ordering::Relaxed);
                let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                    *first = Some((index, error));
                }
            }
            if let Some(progress) = &session.progress {
                let size = sizes.get(index).copied().unwrap_or(0);
                progress.set(read.fetch_add(size, Ordering::Relaxed) + size, Some(total).filter(|&t| t > 0));
            }
        }
        part
    };
    let parts = std::thread::scope(|scope| {
        let handles: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut parts = vec![work()];
        for handle in handles {
            match handle.join() {
                Ok(part) => parts.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts
    });
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(parts),
    }
}

/// Each value of a column is a trace of its own.
fn by_key(
    session: &Session,
    source: &Source,
    traces: &[Vec<String>],
    column: &str,
    options: &MergeOptions,
) -> Result<Part, Error> {
    let mut part = Part::new(source, options);
    for files in traces {
        let first = part.lines.len() as u32;
        let (sequences, without_key, aside) =
            divide::divide_counting(session, source, files, Some(column), &mut part.valuations, first)?;
        refuse_found(source, &part.valuations, options.keep)?;
        part.without_key += without_key;
        part.aside.also(aside);
        for (lines, codes) in sequences {
            part.merger.begin(lines.trace);
            part.merger.extend(&codes).map_err(too_large)?;
            part.merger.end();
            part.positions += codes.len() as u64;
            part.lines.push(lines);
        }
    }
    if part.lines.is_empty() {
        return Err(Error::refused(format!(
            "the column `{column}` of {} has no value anywhere in the traces",
            Setting::By
        )));
    }
    Ok(part)
}

/// What the states are: as told or, if nothing is, the column `state`, else all variables, else the events.
fn source(session: &Session, traces: &[Vec<String>], names: &StateNames) -> Result<Source, Error> {
    match names {
        StateNames::Columns(columns) => Ok(match columns.as_slice() {
            // What happens is no variable, but may well be what counts.
            [one] if *one == *session.read.event.as_deref().unwrap_or("event") => Source::Events,
            [one] => Source::Column(one.clone()),
            several => Source::Columns(several.to_vec()),
        }),
        StateNames::Specification(path) => properties::read(path),
        StateNames::Auto => {
            // What can be read once is not looked into; if there is nothing else, it shows while it is read.
            let mut again = traces.iter().filter(|files| !files.iter().any(|file| readable_once(file)));
            let Some(first) = again.next() else {
                return match traces {
                    [_] => Ok(Source::Unknown),
                    _ => Err(Error::refused_instead(
                        "standard input and pipes are read once",
                        format!("say with {} what the states are", Setting::StateColumns),
                    )),
                };
            };
            let mut opened = Opened::new(session, first)?;
            let (columns, events) =
                read::columns_of(&mut opened, "state").map_err(|error| error.in_file(&opened.name))?;
            Ok(match (columns.iter().any(|column| column == "state"), columns.is_empty() && events) {
                (true, _) => Source::Column("state".into()),
                (_, true) => Source::EventsAlone,
                _ => Source::Everything,
            })
        }
    }
}

fn size(files: &[String]) -> u64 {
    files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|data| data.len()).sum()
}

fn refuse_empty(positions: u64, files: &[String]) -> Result<(), Error> {
    if positions > 0 {
        return Ok(());
    }
    let message = "the trace has no positions, so it has no state to begin in";
    Err(TraceError::new(TraceErrorKind::Usage, message).in_file(&display_name(files)).into())
}

fn too_many() -> Error {
    Error::refused(format!("at most {} traces can be merged", Place::MAX_TRACES))
}

fn limit_message(message: &str) -> TraceError {
    TraceError::new(TraceErrorKind::Budget, message.to_string())
}

fn limit(error: TooLarge) -> TraceError {
    limit_message(&error.to_string())
}

fn too_large(error: TooLarge) -> Error {
    limit(error).into()
}
