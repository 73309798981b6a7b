//! `stream`: the columns that equations define, as values.

mod live;
mod made;
mod questions;

pub(crate) use live::live;
pub use live::{StreamAlarm, StreamLive, StreamLiveReport, StreamRow, StreamSink};
pub use made::{AutomatonForm, StreamOperation};
pub(crate) use made::{combine, from_automaton, from_ltl, normalise, to_automaton};
pub use questions::{Rows, Shown, StreamAnalysis, StreamAnswer, StreamMemory, StreamQuestion};
pub(crate) use questions::{accepts, analyse, ask};

use crate::findings::json::{self, Outlet};
use crate::run::columns::{self, Need};
use crate::run::faults;
use crate::{Error, Session, Specification, Value};
use std::io;
use std::ops::Range;
use tw_core::{Column, Position};
use tw_diag::{Diagnostic, Sources};
use tw_ir::{Expect, Program, Slot, SlotId, StreamType, What};
use tw_stream_boolean::Passes;
pub use tw_streams::RowForm as StreamForm;
use tw_streams::RowWriter;

/// The streams of a specification on a trace.
#[derive(Clone, Debug)]
pub struct StreamReport {
    /// The trace as the user named it.
    pub trace: String,
    /// Name and type of each stream that is observed, in the order written.
    pub streams: Vec<(String, StreamType)>,
    columns: Vec<Column>,
    /// How many positions there are.
    pub positions: usize,
    threads: usize,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
    /// What they point into.
    pub sources: Sources,
}

impl StreamReport {
    /// What a stream is worth at a position.
    pub fn value(&self, stream: usize, position: Position) -> Value {
        self.columns[stream].value(position)
    }

    /// Writes all positions as rows, several threads at a time.
    pub fn write<O: Outlet>(&self, form: StreamForm, out: &mut O) -> io::Result<()> {
        let StreamRows(writer) = StreamRows::new(form, &self.streams);
        out.write_all(writer.header().as_bytes())?;
        let threads = self.threads.max(1);
        let mut texts = vec![Vec::new(); threads];
        let fill = |text: &mut Vec<u8>, positions: Range<Position>| {
            text.clear();
            writer.rows(&self.columns, positions, &json::value, text);
        };
        for round in (0..self.positions).step_by(ROWS * threads) {
            let part = |thread: usize| {
                let edge = |at: usize| (round + at * ROWS).min(self.positions);
                edge(thread)..edge(thread + 1)
            };
            let (own, others) = texts.split_at_mut(1);
            std::thread::scope(|scope| {
                for (text, thread) in others.iter_mut().zip(1..) {
                    let (fill, positions) = (&fill, part(thread));
                    if !positions.is_empty() {
                        scope.spawn(move || fill(text, positions));
                    }
                }
                fill(&mut own[0], part(0));
            });
            for (text, thread) in texts.iter().zip(0..) {
                if !part(thread).is_empty() {
                    out.write_all(text)?;
                }
            }
            if out.closed() {
                break;
            }
        }
        Ok(())
    }
}

/// Rows that a thread writes before they are put in order.
const ROWS: usize = 1 << 13;

/// Writes the rows of streams.
#[derive(Clone, Debug)]
pub struct StreamRows(RowWriter);

impl StreamRows {
    /// Of these streams.
    pub fn new(form: StreamForm, streams: &[(String, StreamType)]) -> Self {
        let names = streams.iter().map(|(name, _)| name.as_str());
        Self(RowWriter::new(form, names, |name| serde_json::Value::from(name).to_string()))
    }

    /// The line before the first row, if there is one.
    pub fn header(&self) -> &str {
        self.0.header()
    }

    /// Appends a row.
    pub fn row(&self, position: Position, values: &[Value], out: &mut Vec<u8>) {
        self.0.row(position, values, &json::value, out);
    }
}

/// References around a cycle as they are written, where some look at other positions: "`n[-1]`, `m[+1]`".
pub fn walk_text(walk: &[(String, i64)]) -> Option<String> {
    // More than a line of them tells nobody anything.
    const MOST: usize = 12;
    let one =
        |(name, by): &(String, i64)| if *by == 0 { format!("`{name}`") } else { format!("`{name}[{by:+}]`") };
    if walk.iter().all(|(_, by)| *by == 0) {
        return None;
    }
    let mut shown: Vec<String> = walk.iter().take(MOST).map(one).collect();
    if walk.len() > MOST {
        shown.push(format!("and {} more", walk.len() - MOST));
    }
    Some(shown.join(", "))
}

/// What a specification without streams is told.
pub(crate) fn refuse_none(spec: &Specification) -> Result<(), Error> {
    match spec.program.streams.is_empty() {
        false => Ok(()),
        true => Err(Error::refused_instead(
            "the specification has no stream",
            "define one, for example `stream total: int = total[-1|0] + 1;`",
        )),
    }
}

/// How streams are computed, where that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPasses {
    /// Two passes over an automaton of all equations, which are Boolean.
    Two,
    /// One pass more than directions alternate, of equations that are well-formed.
    Classic,
}

/// How streams are run.
#[derive(Clone, Copy, Debug)]
pub struct StreamOptions {
    /// How streams are computed; nothing leaves that to what suits them.
    pub passes: Option<StreamPasses>,
    /// Whether values are kept. Without, it is only told whether there are some: a report of no streams.
    pub values: bool,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self { passes: None, values: true }
    }
}

/// The column of the keys of a Boolean stream that has an instance for each: formulas take its truth, false where the key is null, but
/// as a value it is null there like those of other types.
fn key_slot(program: &Program, stream: &tw_ir::Stream) -> Option<SlotId> {
    let path = stream.by.as_ref().filter(|_| stream.ty == StreamType::Bool)?;
    let same = |slot: &Slot| matches!(&slot.what, What::Variable(own, Expect::Any) if own == path);
    program.slots.iter().position(same).map(|slot| slot as SlotId)
}

/// Makes a column null where the key is.
fn without_keys(column: &mut Column, key: &Column) {
    if (0..key.len()).any(|at| key.value(at).is_null()) {
        let value = |at| if key.value(at).is_null() { Value::Null } else { column.value(at) };
        *column = Column::of_values((0..column.len()).map(value).collect());
    }
}

/// Whether classic passes over a specification are those of every run: over values of any type, where it is not all Boolean.
/// What is not well-formed has none.
fn classic_elsewhere(spec: &Specification) -> Result<bool, Error> {
    if tw_streams::Boolean::all(&spec.program).is_ok() {
        return Ok(false);
    }
    let cycle = tw_streams::Streams::new(&spec.program).and_then(|streams| streams.cycle(&spec.program));
    cycle.map_or(Ok(true), |cycle| Err(crate::run::streams::circular(spec, &cycle)))
}

pub(crate) fn run(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &StreamOptions,
) -> Result<StreamReport, Error> {
    match options.passes {
        Some(StreamPasses::Two) => return questions::run_by(session, spec, files, Passes::Two),
        Some(StreamPasses::Classic) if !classic_elsewhere(spec)? => {
            return questions::run_by(session, spec, files, Passes::Classic);
        }
        Some(StreamPasses::Classic) | None => {}
    }
    refuse_none(spec)?;
    let spec = &spec.with_roots(Vec::new());
    let observed = || spec.program.streams.iter().filter(|stream| stream.observed && options.values);
    let mut kept: Vec<SlotId> = observed().map(|stream| stream.slot).collect();
    let streams = kept.len();
    for key in observed().filter_map(|stream| key_slot(&spec.program, stream)) {
        if !kept[streams..].contains(&key) {
            kept.push(key);
        }
    }
    let need = Need { kept: &kept, computed: true, ..Need::default() };
    let mut loaded = columns::read(session, spec, files, need, None, None)?;
    faults::refuse_empty(&loaded)?;
    let keys = loaded.kept.split_off(streams.min(loaded.kept.len()));
    for (stream, column) in observed().zip(&mut loaded.kept) {
        let key = key_slot(&spec.program, stream);
        let place = key.and_then(|key| kept[streams..].iter().position(|own| *own == key));
        if let Some(key) = place.and_then(|place| keys.get(place)) {
            without_keys(column, key);
        }
    }
    let mut warnings = spec.warnings.clone();
    warnings.extend(loaded.warnings.iter().cloned());
    Ok(StreamReport {
        trace: loaded.name().to_string(),
        streams: observed().map(|stream| (stream.name.clone(), stream.ty)).collect(),
        positions: loaded.trace.len,
        columns: loaded.kept,
        threads: session.read.threads,
        warnings,
        sources: spec.sources.clone(),
    })
}
