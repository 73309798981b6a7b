//! Why the reading of a stream ends early.

use crate::run::faults::{not_computable_at, trace_error};
use crate::watch::LiveSink;
use crate::{Error, Specification};
use std::io;
use tw_ir::NodeId;
use tw_monitor::Unsupported;
use tw_trace::TraceError;

pub(crate) enum Halt {
    Trace(TraceError),
    Refused(Unsupported),
    Output(io::Error),
    /// Something cannot be told.
    Fault(Error),
    /// Nothing more is wanted.
    Enough,
}

impl From<TraceError> for Halt {
    fn from(error: TraceError) -> Self {
        Halt::Trace(error)
    }
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Halt::Output(error)
    }
}

impl From<Unsupported> for Halt {
    fn from(refusal: Unsupported) -> Self {
        Halt::Refused(refusal)
    }
}

/// The output cannot be written.
pub(crate) fn unwritten(error: io::Error) -> Error {
    Error::io("cannot write the output", error)
}

/// What is wrong with a line: its bytes, or a term that has no value there.
pub(crate) fn wrong(spec: &Specification, error: TraceError, fault: Option<(NodeId, usize)>) -> Error {
    match fault {
        Some((node, position)) => not_computable_at(spec, error, node, position),
        None => trace_error(spec, error),
    }
}

/// Lines that cannot be read.
#[derive(Debug, Default)]
pub(crate) struct BadLines {
    /// How many were left out.
    pub count: u64,
    /// Whether a line that came too late was told of.
    told: bool,
    /// Where a term has no value, of the line that is read.
    pub fault: Option<(NodeId, usize)>,
}

impl BadLines {
    /// Lines that continue one which was complete: after silence, or behind a line that was left out. They count as left out, and
    /// the first is told of.
    pub fn left_over(&mut self, lines: u64, first: u64, sink: &mut dyn LiveSink) {
        if !std::mem::replace(&mut self.told, true) {
            sink.note(&format!(
                "line {first} continues one that was complete, because nothing came for a second or it could not be read; \
                 such lines are left out and counted"
            ));
        }
        self.count += lines;
    }

    /// One more, which ends the stream, or is left out and told of where that was asked for.
    pub fn leave_out(
        &mut self,
        spec: &Specification,
        skip: bool,
        error: TraceError,
        sink: &mut dyn LiveSink,
    ) -> Result<(), Halt> {
        if !skip {
            return Err(error.into());
        }
        self.count += 1;
        sink.bad_line(&wrong(spec, error, self.fault.take()));
        Ok(())
    }
}

/// An early end as an error, unless it is none; `refused` words a refusal of the engine that ran.
pub(crate) fn conclude(
    spec: &Specification,
    halt: Halt,
    fault: Option<(NodeId, usize)>,
    refused: impl FnOnce(Unsupported) -> Error,
) -> Result<(), Error> {
    match halt {
        Halt::Enough => Ok(()),
        Halt::Fault(error) => Err(error),
        Halt::Trace(error) => Err(wrong(spec, error, fault)),
        Halt::Refused(refusal) => Err(refused(refusal)),
        Halt::Output(error) => Err(unwritten(error)),
    }
}
