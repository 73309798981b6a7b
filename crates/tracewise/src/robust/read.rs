//! From files to what predicates are worth: evaluated on the reading threads, block by block.

use crate::load::{display_name, never_occurs, not_computable, open, trace_error};
use crate::{Diagnostic, Error, Session, Specification};
use std::collections::HashMap;
use std::ops::ControlFlow;
use tw_core::{Batch, Position};
use tw_engine_robust::{Robust, Samples};
use tw_ir::SlotId;
use tw_monitor::PredicateError;
use tw_trace::{Input, Located, Projection, Summary, TraceError, TraceErrorKind, TraceFormat};

/// A trace as its predicates see it, and the way back to its lines.
pub(super) struct Read {
    pub name: String,
    pub samples: Samples,
    /// The slots that were to be kept, as numbers; what is none is NaN.
    pub kept: Vec<Vec<f64>>,
    pub summary: Summary,
    pub warnings: Vec<Diagnostic>,
    input: Input,
    format: &'static dyn TraceFormat,
}

impl Read {
    /// Where positions are in the log. A log that vanished since it was read costs its lines, not the values.
    pub fn locate(&self, session: &Session, positions: &[Position]) -> HashMap<Position, Located> {
        let found = self.summary.locator.locate(&self.input, self.format, &session.read, positions);
        found.unwrap_or_default().into_iter().map(|located| (located.position, located)).collect()
    }
}

struct Part {
    samples: Result<Samples, PredicateError>,
    kept: Vec<Vec<f64>>,
}

/// Reads a whole trace.
pub(super) fn read(
    session: &Session,
    spec: &Specification,
    files: &[String],
    robust: &Robust,
    shown: &[SlotId],
    times: bool,
) -> Result<Read, Error> {
    let (input, format) = open(session, files)?;
    let projection = Projection::new(&spec.program.slots, None, times);
    let map = |batch: Batch| -> Result<Part, TraceError> {
        let kept = shown.iter().map(|&slot| super::signals::numbers(&batch.slots[slot as usize])).collect();
        Ok(Part { samples: robust.samples(&batch), kept })
    };
    let mut samples = Samples::default();
    let mut kept: Vec<Vec<f64>> = vec![Vec::new(); shown.len()];
    let mut wrong = None;
    let mut fold = |part: Part| -> Result<ControlFlow<()>, TraceError> {
        let more = part.samples.map_err(|error| {
            wrong = Some((error.node, samples.len + error.position));
            TraceError::new(TraceErrorKind::Type, error.message)
        })?;
        samples.append(more);
        kept.iter_mut().zip(part.kept).for_each(|(column, more)| column.extend(more));
        if let Some(progress) = &session.progress {
            progress.set(input.bytes_read(), input.size());
        }
        let columns = samples.predicates.len() + kept.len() + usize::from(samples.times.is_some());
        let held = samples.len.saturating_mul(8 * columns);
        match held > session.memory_budget {
            true => Err(TraceError::new(
                TraceErrorKind::Budget,
                format!(
                    "the columns of {} positions take {held} bytes, beyond the memory budget of {} (raise it with \
                     --memory, or read the trace as a stream with --live)",
                    samples.len, session.memory_budget
                ),
            )),
            false => Ok(ControlFlow::Continue(())),
        }
    };
    let scanned = tw_trace::scan(&input, format, &projection, &session.read, &map, &mut fold);
    let name = display_name(files);
    let summary = scanned.map_err(|error| match wrong {
        Some((node, position)) => not_computable(session, spec, &input, format, error, node, position),
        None => trace_error(spec, error.in_file(&name)),
    })?;
    if !summary.timed {
        samples.times = None;
    }
    let warnings = never_occurs(spec, &summary);
    Ok(Read { name, samples, kept, summary, warnings, input, format })
}
