//! From files to a stored trace: read in parallel, predicates evaluated block by block as they arrive, so that only
//! the truth of atoms is kept (unless an engine asks for values).

use crate::{Error, Session, Specification, error::trace_code, format_named, formats};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Batch, Bits, Column, GrowingTexts, Position, Time};
use tw_diag::Diagnostic;
use tw_ir::{Clock, NodeId, SlotId};
use tw_monitor::{Predicates, Term, Terms, Trace, Wanted};
use tw_trace::{Input, Locator, Projection, Summary, TraceError, TraceErrorKind, TraceFormat};

/// A trace in memory and the way back to its lines.
pub(crate) struct Loaded {
    pub name: String,
    pub input: Input,
    pub format: &'static dyn TraceFormat,
    pub trace: Trace,
    pub summary: Summary,
    pub keys: Option<Keys>,
    /// The columns of [`Need::kept`].
    pub kept: Vec<Column>,
    pub warnings: Vec<Diagnostic>,
}

/// What is to be taken from a trace beside the truth of atoms.
#[derive(Clone, Copy)]
pub(crate) struct Need<'a> {
    /// What the engine reads.
    pub wanted: Wanted,
    /// Timestamps, whether or not the program measures time.
    pub times: bool,
    /// The `--by` column.
    pub key: Option<&'a str>,
    /// Slots to be kept as they are read.
    pub kept: &'a [SlotId],
}

impl Need<'_> {
    /// What an engine reads, and nothing else.
    pub(crate) fn of(wanted: Wanted) -> Self {
        Need { wanted, times: false, key: None, kept: &[] }
    }
}

/// The `--by` column.
#[derive(Default)]
pub(crate) struct Keys {
    /// Distinct texts, in order of appearance.
    pub names: Vec<Arc<str>>,
    /// Index into `names` per position, `u32::MAX` where the column is null.
    pub ids: Vec<u32>,
}

/// What the trace is called in reports: the file as named, or the first of several and how many more.
pub(crate) fn display_name(files: &[String]) -> String {
    match files {
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} (+{} more)", rest.len()),
        [] => String::new(),
    }
}

/// What to add when a format (or the extension of its files) is known, but not to this build.
fn missing_feature(name: &str) -> &'static str {
    match name {
        "parquet" | "arrow" => " (this build lacks Parquet and Arrow: build with `--features parquet`)",
        _ => "",
    }
}

/// Opens files as one trace and settles their format.
pub(crate) fn open(session: &Session, files: &[String]) -> Result<(Input, &'static dyn TraceFormat), Error> {
    let format = format_of(session, files.first().map_or("-", String::as_str))?;
    Ok((Input::open(files)?, format))
}

/// The format of a file or, with `-`, of standard input.
pub(crate) fn format_of(session: &Session, first: &str) -> Result<&'static dyn TraceFormat, Error> {
    let all = formats();
    let known = || all.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
    if let Some(name) = &session.read.format {
        return format_named(name).ok_or_else(|| {
            let near = tw_core::suggest(name, all.iter().map(|format| format.name()))
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let feature = missing_feature(name);
            Error::Usage(format!("unknown format `{name}`{near}{feature} (formats: {})", known()))
        });
    }
    if first == "-" {
        return Ok(format_named("jsonl").unwrap_or(all[0]));
    }
    if let Some(format) = tw_trace::detect(first, &all) {
        return Ok(format);
    }
    // A missing file is the likelier mistake than an unknown extension.
    Input::open(&[first.to_string()])?;
    let feature = missing_feature(first.rsplit('.').next().unwrap_or(""));
    Err(Error::Usage(format!(
        "cannot tell the format of `{first}` by its name{feature}; say it with --format ({})",
        known()
    )))
}

/// A trace error together with the place of the specification that asks for what is missing.
pub(crate) fn trace_error(spec: &Specification, error: TraceError) -> Error {
    let slot = error.slot.and_then(|slot| spec.program.slots.get(slot as usize));
    let asked = slot.map(|slot| {
        Diagnostic::error(trace_code(&error.kind), error.to_string()).at(slot.span, "asked for here")
    });
    Error::Trace { error: Box::new(error), asked, sources: Box::new(spec.sources.clone()) }
}

/// A term without a value at a position: the line of the trace and the place in the specification.
pub(crate) fn not_computable(
    session: &Session,
    spec: &Specification,
    input: &Input,
    format: &'static dyn TraceFormat,
    mut error: TraceError,
    node: NodeId,
    position: Position,
) -> Error {
    // Sorting moves positions; what was read to find this error is not kept.
    if session.read.sort.is_none()
        && let Ok(found) = Locator::default().locate(input, format, &session.read, &[position])
        && let Some(located) = found.into_iter().next()
    {
        (error.file, error.line) = (located.file, located.line);
    }
    not_computable_at(spec, error, node, position)
}

/// The same, where the error knows its line.
pub(crate) fn not_computable_at(
    spec: &Specification,
    error: TraceError,
    node: NodeId,
    position: Position,
) -> Error {
    let diagnostic = Diagnostic::error(trace_code(&error.kind), error.to_string());
    let asked = match spec.span(node) {
        Some(span) => diagnostic.at(span, format!("computed here, at position {position}")),
        None => diagnostic,
    };
    let asked = asked.help("integers have 64 bits; a real constant such as `1.0` makes the arithmetic real");
    Error::Trace { error: Box::new(error), asked: Some(asked), sources: Box::new(spec.sources.clone()) }
}

/// Whether the program measures time by the trace's timestamps. Continuous time always does: a state lasts from its
/// timestamp to the next.
pub(crate) fn needs_times(session: &Session, spec: &Specification) -> bool {
    match session.clock {
        Clock::Index => false,
        Clock::Dense => true,
        Clock::Stamps => spec.program.dag.nodes().iter().any(|node| node.interval().is_some()),
    }
}

struct Part {
    len: usize,
    atoms: Result<Vec<Bits>, tw_monitor::PredicateError>,
    terms: Vec<Term>,
    times: Option<Vec<Time>>,
    slots: Option<Vec<Column>>,
    kept: Vec<Column>,
    key: Option<Column>,
}

/// Reads a whole trace for a program.
pub(crate) fn load(
    session: &Session,
    spec: &Specification,
    files: &[String],
    need: Need<'_>,
) -> Result<Loaded, Error> {
    let Need { wanted, key, .. } = need;
    let (input, format) = open(session, files)?;
    let (predicates, all_terms) = (Predicates::new(&spec.program), Terms::new(&spec.program));
    let projection = Projection::new(&spec.program.slots, key, need.times || needs_times(session, spec));
    let mut trace = Trace { atoms: vec![Bits::new(); spec.program.atoms().len()], ..Trace::default() };
    let mut slots: Option<Vec<Column>> = None;
    let mut kept: Vec<Column> = Vec::new();
    let mut texts: [Vec<GrowingTexts>; 3] = Default::default();
    let mut times: Vec<Time> = Vec::new();
    let mut keys = Keys::default();
    let mut key_index: FxHashMap<Arc<str>, u32> = FxHashMap::default();

    let map = |mut batch: Batch| -> Result<Part, TraceError> {
        let key = key.and_then(|_| batch.slots.pop());
        let (len, times) = (batch.len, batch.times.take());
        let kept = need.kept.iter().map(|&slot| batch.slots[slot as usize].clone()).collect();
        let terms = if wanted.terms { all_terms.evaluate(&batch) } else { Vec::new() };
        let (atoms, slots) = match wanted.slots {
            false => (predicates.evaluate_owned(batch), None),
            true => (predicates.evaluate(&batch), Some(batch.slots)),
        };
        Ok(Part { len, atoms, terms, times, slots, kept, key })
    };
    let budget = session.memory_budget;
    let mut overflow = None;
    let mut fold = |part: Part| -> Result<ControlFlow<()>, TraceError> {
        let atoms = part.atoms.map_err(|error| {
            overflow = Some((error.node, trace.len + error.position));
            TraceError::new(TraceErrorKind::Type, error.message)
        })?;
        for (column, more) in trace.atoms.iter_mut().zip(&atoms) {
            column.append(more);
        }
        trace.len += part.len;
        if let Some(progress) = &session.progress {
            progress.set(input.bytes_read(), input.size());
        }
        if let Some(more) = part.times {
            times.extend(more);
        }
        if let Some(more) = part.slots {
            append_columns(slots.get_or_insert_default(), more, &mut texts[0]);
        }
        append_columns(&mut kept, part.kept, &mut texts[1]);
        append_terms(&mut trace.terms, part.terms, &mut texts[2]);
        if let Some(column) = part.key {
            add_keys(&mut keys, &mut key_index, &column);
        }
        let columns = trace.terms.iter().map(|term| &term.column).chain(slots.iter().flatten()).chain(&kept);
        let held = trace.atoms.iter().map(Bits::heap_bytes).sum::<usize>()
            + columns.map(Column::heap_bytes).sum::<usize>()
            + times.len() * 8
            + keys.ids.len() * 4;
        if held > budget {
            return Err(TraceError::new(
                TraceErrorKind::Budget,
                format!(
                    "the columns of {} positions take {held} bytes, beyond the memory budget of {budget} (raise it with --memory)",
                    trace.len
                ),
            ));
        }
        Ok(ControlFlow::Continue(()))
    };
    let summary =
        tw_trace::scan(&input, format, &projection, &session.read, &map, &mut fold).map_err(|error| {
            match overflow {
                Some((node, position)) => {
                    not_computable(session, spec, &input, format, error, node, position)
                }
                None => trace_error(spec, error.in_file(&display_name(files))),
            }
        })?;
    trace.times = (summary.timed && projection.times).then_some(times);
    trace.slots = slots.or_else(|| wanted.slots.then(Vec::new));
    let warnings = never_occurs(spec, &summary);
    let (name, keys) = (display_name(files), key.map(|_| keys));
    Ok(Loaded { name, input, format, trace, summary, keys, kept, warnings })
}

/// Names that never occurred, with the place that asks for them.
pub(crate) fn never_occurs(spec: &Specification, summary: &Summary) -> Vec<Diagnostic> {
    let word = |warning: &tw_trace::TraceWarning| {
        let diagnostic = Diagnostic::warning("never-occurs", warning.message.clone());
        match warning.slot.and_then(|slot| spec.program.slots.get(slot as usize)) {
            Some(slot) => diagnostic.at(slot.span, "always false here"),
            None => diagnostic,
        }
    };
    summary.warnings.iter().map(word).collect()
}

fn append_columns(columns: &mut Vec<Column>, more: Vec<Column>, texts: &mut Vec<GrowingTexts>) {
    if columns.is_empty() {
        *columns = more;
        texts.resize(columns.len(), GrowingTexts::default());
        return;
    }
    for ((column, more), texts) in columns.iter_mut().zip(more).zip(texts) {
        texts.append(column, more);
    }
}

fn append_terms(terms: &mut Vec<Term>, more: Vec<Term>, texts: &mut Vec<GrowingTexts>) {
    if terms.is_empty() {
        *terms = more;
        texts.resize(terms.len(), GrowingTexts::default());
        return;
    }
    for ((term, more), texts) in terms.iter_mut().zip(more).zip(texts) {
        term.append_with(texts, more);
    }
}

fn add_keys(keys: &mut Keys, index: &mut FxHashMap<Arc<str>, u32>, column: &Column) {
    let Column::Text { ids, dictionary, valid } = column else { return };
    let numbers: Vec<u32> = dictionary
        .entries
        .iter()
        .map(|text| {
            *index.entry(text.clone()).or_insert_with(|| {
                keys.names.push(text.clone());
                (keys.names.len() - 1) as u32
            })
        })
        .collect();
    if valid.count_ones() == ids.len() {
        keys.ids.extend(ids.iter().map(|&id| numbers[id as usize]));
        return;
    }
    keys.ids.extend(
        ids.iter().enumerate().map(|(at, &id)| if valid.get(at) { numbers[id as usize] } else { u32::MAX }),
    );
}
