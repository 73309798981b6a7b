//! What can be said of equations before they run, and of two specifications.

use super::{StreamReport, refuse_none};
use crate::run::columns::{self, Need};
use crate::run::faults;
use crate::{Error, Session, Specification};
use tw_core::{Bits, Column, Value};
use tw_diag::Diagnostic;
use tw_ir::{Expect, NodeId, Path, Program, Root, Slot, SlotId, StreamType, What};
use tw_stream_boolean::{
    Answer, Budget, GaveUp, Kept, Kind, Limits, Model, Passes, Specification as Equations, Unsolved, Witness,
    Word,
};
use tw_streams::{Boolean, Held, Input, NotBoolean, Streams};
use tw_trace::{TraceError, TraceErrorKind};

/// A few positions, as rows of names and truth values.
pub type Rows = Vec<Vec<(String, bool)>>;

/// An input that shows something, with models or values of outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What it shows.
    pub kind: &'static str,
    /// The input, a row per position.
    pub input: Rows,
    /// Models of it, or the values that only one side allows.
    pub models: Vec<Rows>,
}

/// What is known of the streams of a specification.
#[derive(Clone, Debug, Default)]
pub struct StreamAnalysis {
    /// No stream depends on itself at the same position.
    pub well_formed: bool,
    /// The streams that do.
    pub cycle: Vec<String>,
    /// What is read around the cycle: each stream refers to the next so many positions away, which together is no distance.
    pub walk: Vec<(String, i64)>,
    /// Every input has exactly one model; `None` if the budget ran out.
    pub well_defined: Option<bool>,
    /// Some input has two.
    pub under_defined: Option<bool>,
    /// Some input has none.
    pub over_defined: Option<bool>,
    /// Changes of direction.
    pub alternation: Option<usize>,
    /// Sweeps over a stored trace.
    pub passes: usize,
    /// Why so many.
    pub reason: String,
    /// Whether values are known a bounded number of positions later.
    pub online: Option<bool>,
    /// That number.
    pub look_ahead: Option<usize>,
    /// Bytes that one pass carries, per key where streams have keys.
    pub state_bytes: Option<usize>,
    /// What a run keeps of each stream, and of what it reads at other positions.
    pub memory: Vec<StreamMemory>,
    /// Shortest inputs that show what is wrong.
    pub witnesses: Vec<Shown>,
    /// States looked at when the budget ran out.
    pub gave_up: Option<usize>,
}

/// What a run keeps of a stream, or of a column that streams read at other positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamMemory {
    /// Its name; of what a Boolean specification reads, the text of it.
    pub name: String,
    /// The type of a stream.
    pub ty: Option<StreamType>,
    /// Bytes are per value of this column.
    pub by: Option<String>,
    /// How many positions back it is read at most.
    pub look_back: usize,
    /// How many positions later it is known; `None` where that depends on all that follows.
    pub look_ahead: Option<usize>,
    /// Bytes kept, the characters of texts left out; `None` where there is no bound but the length of the trace, or the number of
    /// events within a window of time.
    pub bytes: Option<usize>,
    /// Of a rolling window, the bytes that each event inside takes.
    pub bytes_per_event: Option<usize>,
}

/// The answer to a question about specifications; `None` if the budget ran out.
#[derive(Clone, Debug)]
pub struct StreamAnswer {
    /// Yes or no.
    pub answer: Option<bool>,
    /// A shortest input that shows it.
    pub witness: Option<Shown>,
}

pub(crate) fn analyse(spec: &Specification, states: Option<usize>) -> Result<StreamAnalysis, Error> {
    refuse_none(spec)?;
    let program = &spec.program;
    let Some(streams) = Streams::new(program) else { return Ok(StreamAnalysis::default()) };
    let shape = streams.shape(program);
    // What goes in a circle is Boolean, or cannot be: whatever else there is follows from it and from the input.
    let circle = shape.cycle.as_ref().filter(|cycle| cycle.boolean).map(|_| streams.circle(program));
    let asked = Boolean::all(program).or_else(|not| match circle {
        Some(streams) => Boolean::new(program, &streams),
        None => Err(not),
    });
    let boolean = match asked {
        Ok(boolean) => boolean,
        Err(not) => {
            if let Some(cycle) = &shape.cycle {
                return Err(match cycle.boolean {
                    true => not_boolean(spec, &not),
                    false => crate::run::streams::circular(spec, cycle),
                });
            }
            return Ok(StreamAnalysis {
                well_formed: true,
                well_defined: Some(true),
                under_defined: Some(false),
                over_defined: Some(false),
                alternation: shape.alternation,
                passes: shape.alternation.map_or(1, |alternation| alternation + 1),
                reason: match shape.alternation {
                    Some(0) | None => "one pass: the equations are well-formed and look one way".to_owned(),
                    Some(depth) => {
                        format!("{} passes: the equations are well-formed and alternate", depth + 1)
                    }
                },
                online: shape.online,
                look_ahead: shape.look_ahead,
                state_bytes: shape.held,
                memory: memory(program, &streams),
                ..StreamAnalysis::default()
            });
        }
    };
    let own = boolean.specification();
    let found = tw_stream_boolean::analyse(own, &budget(states));
    let kind = |kind: Kind| match kind {
        Kind::TwoModels => "two models",
        Kind::NoModel => "no model",
    };
    let shown = |witness: &Witness| Shown {
        kind: kind(witness.kind),
        input: rows(own.inputs(), &witness.input.columns, witness.input.len),
        models: witness.models.iter().map(|model| rows(own.outputs(), model, witness.input.len)).collect(),
    };
    let memory = bits(memory(program, &streams), own, found.kept.as_deref());
    let prepared = tw_stream_boolean::Program::new(own, Passes::Auto);
    let (cycle, walk) = shape.cycle.map(|cycle| (cycle.names, cycle.walk)).unwrap_or_default();
    Ok(StreamAnalysis {
        well_formed: found.well_formed,
        cycle,
        walk,
        well_defined: found.well_defined,
        under_defined: found.under_defined,
        over_defined: found.over_defined,
        alternation: found.alternation,
        passes: found.passes,
        reason: prepared.map_or_else(|unsolved| unsolved.to_string(), |program| program.reason().to_owned()),
        online: found.online,
        look_ahead: found.look_ahead.map(|ahead| ahead as usize),
        state_bytes: carried(found.state_bytes, &memory),
        memory,
        witnesses: found.witnesses.iter().map(shown).collect(),
        gave_up: found.gave_up.map(|gave_up| gave_up.states),
    })
}

fn memory(program: &Program, streams: &Streams) -> Vec<StreamMemory> {
    let row = |held: Held| StreamMemory {
        bytes: held.bytes,
        bytes_per_event: held.per_value,
        name: held.name,
        ty: held.ty,
        by: held.per.map(|path| path.to_string()),
        look_back: held.look_back,
        look_ahead: held.look_ahead,
    };
    streams.memory(program).into_iter().map(row).collect()
}

/// The same of a Boolean specification, which keeps a bit a value.
fn bits(memory: Vec<StreamMemory>, own: &Equations, kept: Option<&[Kept]>) -> Vec<StreamMemory> {
    let Some(kept) = kept else { return memory };
    let (inputs, outputs) = kept.split_at(own.inputs().len());
    let bytes = |kept: &Kept| Some(kept.bytes() as usize);
    let known = |name: &str| memory.iter().find(|row| row.name == name);
    let output = |(name, kept): (&String, &Kept)| StreamMemory {
        name: name.clone(),
        ty: Some(StreamType::Bool),
        by: None,
        look_back: known(name).map_or(0, |row| row.look_back),
        look_ahead: known(name).and_then(|row| row.look_ahead),
        bytes: bytes(kept),
        bytes_per_event: None,
    };
    let input = |(name, kept): (&String, &Kept)| StreamMemory {
        name: name.clone(),
        ty: None,
        by: None,
        look_back: known(name).map_or(0, |row| row.look_back),
        look_ahead: Some(0),
        bytes: bytes(kept),
        bytes_per_event: None,
    };
    let outputs = own.outputs().iter().zip(outputs).map(output);
    let windows = memory.iter().filter(|row| row.bytes_per_event.is_some()).cloned();
    outputs.chain(own.inputs().iter().zip(inputs).map(input)).chain(windows).collect()
}

/// What Boolean equations carry, and the windows beside them; nothing where one of those has no bound.
fn carried(bits: Option<u64>, memory: &[StreamMemory]) -> Option<usize> {
    let windows = memory.iter().filter(|row| row.bytes_per_event.is_some());
    windows.fold(bits.map(|bytes| bytes as usize), |all, row| Some(all?.saturating_add(row.bytes?)))
}

pub(super) fn budget(states: Option<usize>) -> Budget {
    let usual = Budget::default();
    states.map_or(usual, |states| Budget { states, moves: states.saturating_mul(8) })
}

fn rows(names: &[String], columns: &[Bits], len: usize) -> Rows {
    let row =
        |at: usize| names.iter().zip(columns).map(|(name, bits)| (name.clone(), bits.get(at))).collect();
    (0..len).map(row).collect()
}

/// The equations of a specification all of whose streams are Boolean.
pub(crate) fn boolean(spec: &Specification) -> Result<Boolean, Error> {
    refuse_none(spec)?;
    Boolean::all(&spec.program).map_err(|not| not_boolean(spec, &not))
}

fn not_boolean(spec: &Specification, not: &NotBoolean) -> Error {
    let streams = &spec.program.streams;
    let (message, span) = match not {
        NotBoolean::Type(stream) => {
            let own = &streams[*stream as usize];
            (
                format!("`{}` is `{}`, and this is asked of Boolean streams", own.name, own.ty.name()),
                Some(own.span),
            )
        }
        NotBoolean::Keyed(stream) => {
            let own = &streams[*stream as usize];
            (
                format!("`{}` has an instance per key, and this is asked of one input", own.name),
                Some(own.span),
            )
        }
        NotBoolean::Term(node) => (not.message(&spec.program), spec.span(*node)),
        NotBoolean::Flaw(_) => (not.message(&spec.program), None),
    };
    let mut diagnostic = Diagnostic::error("not-boolean", message);
    if let Some(span) = span {
        diagnostic = diagnostic.at(span, "");
    }
    let help = "let all streams be `bool`, and use them as truth values";
    Error::Unsupported {
        diagnostic: diagnostic.help(help),
        sources: Box::new(spec.sources.clone()),
        exhausted: false,
    }
}

/// A question about one specification, or two.
#[derive(Clone, Debug)]
pub enum StreamQuestion<'s> {
    /// Do both allow the same values of these outputs (of all, if none is named) on every input?
    Equal(&'s Specification, &'s Specification, Vec<String>),
    /// Does the first accept every input that the second accepts?
    Includes(&'s Specification, &'s Specification),
    /// Has no input a model?
    Empty(&'s Specification),
    /// Has every input a model?
    Universal(&'s Specification),
}

pub(crate) fn ask(question: &StreamQuestion<'_>, states: Option<usize>) -> Result<StreamAnswer, Error> {
    let budget = budget(states);
    let given_up = StreamAnswer { answer: None, witness: None };
    let answered =
        |found: Result<Answer, GaveUp>, kind: &'static str, names: &[String], outputs: &[String]| {
            let Ok(found) = found else { return given_up.clone() };
            let shown = |input: &Word| Shown {
                kind,
                input: rows(names, &input.columns, input.len),
                models: found.model.iter().map(|model: &Model| rows(outputs, model, input.len)).collect(),
            };
            StreamAnswer { answer: Some(found.answer), witness: found.input.as_ref().map(shown) }
        };
    Ok(match question {
        StreamQuestion::Empty(spec) => {
            let own = boolean(spec)?;
            let own = own.specification();
            answered(tw_stream_boolean::is_empty(own, &budget), "accepted", own.inputs(), own.outputs())
        }
        StreamQuestion::Universal(spec) => {
            let own = boolean(spec)?;
            let own = own.specification();
            answered(tw_stream_boolean::is_universal(own, &budget), "no model", own.inputs(), own.outputs())
        }
        StreamQuestion::Includes(a, b) => {
            let (a, b) = (boolean(a)?, boolean(b)?);
            let (a, b) = (a.specification(), b.specification());
            let found = tw_stream_boolean::includes(a, b, &budget);
            answered(found, "accepted by the second alone", &both(a.inputs(), b.inputs()), b.outputs())
        }
        StreamQuestion::Equal(a, b, on) => {
            let (a, b) = (boolean(a)?, boolean(b)?);
            let (a, b) = (a.specification(), b.specification());
            let on: Vec<String> = match on.is_empty() {
                true => a.observed().into_iter().map(|output| a.outputs()[output].clone()).collect(),
                false => on.clone(),
            };
            let found = tw_stream_boolean::equal(a, b, &on, &budget);
            let found = found.map_err(|missing| {
                Error::refused_instead(
                    format!("one of the two has no stream `{}`", missing.0),
                    "name streams that both have",
                )
            })?;
            match found {
                Err(_) => given_up,
                Ok(None) => StreamAnswer { answer: Some(true), witness: None },
                Ok(Some(difference)) => {
                    let kind = if difference.first {
                        "allowed by the first alone"
                    } else {
                        "allowed by the second alone"
                    };
                    let len = difference.input.len;
                    let input = rows(&both(a.inputs(), b.inputs()), &difference.input.columns, len);
                    let witness = Shown { kind, input, models: vec![rows(&on, &difference.values, len)] };
                    StreamAnswer { answer: Some(false), witness: Some(witness) }
                }
            }
        }
    })
}

/// The names of both, those of the first first.
fn both(a: &[String], b: &[String]) -> Vec<String> {
    let more = b.iter().filter(|name| !a.contains(name));
    a.iter().chain(more).cloned().collect()
}

/// A trace as an input of Boolean equations: their columns, and what was read of it.
fn word(
    session: &Session,
    spec: &Specification,
    own: &Boolean,
    files: &[String],
) -> Result<(columns::Loaded, Word), Error> {
    let slot = |input: Input| match input {
        Input::Slot(slot) => Some(slot),
        Input::Formula(_) => None,
    };
    let slots: Vec<SlotId> = own.inputs().filter_map(slot).collect();
    let formula = |input: Input| match input {
        Input::Slot(_) => None,
        Input::Formula(node) => Some(Root::property(String::new(), node)),
    };
    // The equations are not computed here: their columns are those of the trace alone. Comparisons are read as what properties
    // would be about.
    let mut inputs = spec.with_roots(own.inputs().filter_map(formula).collect());
    inputs.program.streams.clear();
    let is_stream = |slot: SlotId| matches!(spec.program.slots[slot as usize].what, What::Stream { .. });
    for slot in &mut inputs.program.slots {
        let equation = match &slot.what {
            What::Stream { .. } => true,
            What::Shift(shift) => is_stream(shift.slot),
            _ => false,
        };
        if equation {
            *slot =
                Slot { what: What::Variable(Path::field(""), Expect::Bool), declared: true, ..slot.clone() };
        }
    }
    let need = Need { kept: &slots, ..Need::default() };
    let mut loaded = columns::read(session, &inputs, files, need, None, None)?;
    faults::refuse_empty(&loaded)?;
    let bits = |column: Column| match column {
        Column::Truth(bits) => bits,
        other => (0..other.len()).map(|at| other.value(at) == Value::Bool(true)).collect(),
    };
    let mut kept = std::mem::take(&mut loaded.kept).into_iter().map(bits);
    let atoms = inputs.program.atoms();
    let column = |input: Input| match input {
        Input::Slot(_) => kept.next(),
        Input::Formula(node) => atoms.binary_search(&node).ok().map(|at| loaded.trace.atoms[at].clone()),
    };
    let columns: Option<Vec<Bits>> = own.inputs().map(column).collect();
    let refused = || {
        Error::refused_instead(
            "these equations have inputs that no position alone decides",
            "let the trace have columns of `true` and `false`",
        )
    };
    let word = Word { len: loaded.trace.len, columns: columns.ok_or_else(refused)? };
    Ok((loaded, word))
}

/// Whether a trace has a model.
pub(crate) fn accepts(
    session: &Session,
    spec: &Specification,
    files: &[String],
) -> Result<StreamAnswer, Error> {
    let own = boolean(spec)?;
    let (_, word) = word(session, spec, &own, files)?;
    let answer = tw_stream_boolean::accepts(own.specification(), &word, &Limits::default());
    Ok(StreamAnswer { answer: answer.ok(), witness: None })
}

/// The streams of a specification by passes over an automaton, or by the classic ones.
pub(crate) fn run_by(
    session: &Session,
    spec: &Specification,
    files: &[String],
    passes: Passes,
) -> Result<StreamReport, Error> {
    let own = boolean(spec)?;
    let (loaded, word) = word(session, spec, &own, files)?;
    let cycle = Streams::new(&spec.program).and_then(|streams| streams.cycle(&spec.program));
    let failed = |unsolved: Unsolved| match (&unsolved, &cycle) {
        (&(Unsolved::NoModel { position } | Unsolved::Several { position }), _) => {
            let first = || spec.program.streams.first().map_or(NodeId(0), |stream| stream.node);
            let node = cycle.as_ref().map_or_else(first, |cycle| cycle.node);
            let error = TraceError::new(TraceErrorKind::Type, unsolved.to_string());
            let error = match loaded.locate(&[position]).remove(&position) {
                Some(located) => TraceError { file: located.file, line: located.line, ..error },
                None => error.in_file(loaded.name()),
            };
            faults::not_computable_at(spec, error, node, position)
        }
        (Unsolved::NotWellFormed, Some(cycle)) => crate::run::streams::circular(spec, cycle),
        _ => Error::refused(format!("{}: {unsolved}", loaded.name())),
    };
    let program = tw_stream_boolean::Program::new(own.specification(), passes).map_err(failed)?;
    let found = program.run(&word, &Limits::default()).map_err(failed)?;
    let streams = spec.program.streams.iter().zip(found);
    let observed = streams.filter(|(stream, _)| stream.observed);
    let (streams, columns) = observed
        .map(|(stream, bits)| {
            let bits = bits.unwrap_or_else(|| Bits::repeat(false, word.len));
            ((stream.name.clone(), stream.ty), Column::Truth(bits))
        })
        .unzip();
    Ok(StreamReport {
        trace: loaded.name().to_string(),
        streams,
        columns,
        threads: session.read.threads,
        positions: word.len,
        warnings: loaded.warnings.clone(),
        sources: spec.sources.clone(),
    })
}
