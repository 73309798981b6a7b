//! Columns that equations define, filled in before a watcher sees a batch.

use crate::Specification;
use crate::run::streams::Computing;
use tw_core::Batch;
use tw_trace::{Arrival, Receiver, Stamp, TraceError, TraceErrorKind};

/// A receiver of batches with all their columns.
pub(crate) struct Filled<'f, R> {
    pub inner: &'f mut R,
    pub computing: &'f mut Option<Computing>,
    pub spec: &'f Specification,
}

impl<R: Receiver> Receiver for Filled<'_, R> {
    /// Beside what the receiver made of them, how far the equations have come: a batch that is not taken has not been.
    type Mapped = (R::Mapped, Option<Computing>);
    type Error = R::Error;

    fn map(&mut self, mut batch: Batch) -> Result<Self::Mapped, (usize, TraceError)> {
        let Some(computing) = &*self.computing else { return Ok((self.inner.map(batch)?, None)) };
        let mut after = computing.clone();
        after
            .fill(self.spec, &mut batch)
            .map_err(|error| (error.position, TraceError::new(TraceErrorKind::Type, error.message)))?;
        Ok((self.inner.map(batch)?, Some(after)))
    }

    fn take(&mut self, (mapped, after): Self::Mapped, arrival: &Arrival<'_>) -> Result<(), Self::Error> {
        if after.is_some() {
            *self.computing = after;
        }
        self.inner.take(mapped, arrival)
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Self::Error> {
        self.inner.bad_line(error)
    }

    fn left_over(&mut self, lines: u64, first: u64) {
        self.inner.left_over(lines, first);
    }

    fn watermark(&mut self, stamp: Stamp, line: u64) -> Result<(), Self::Error> {
        self.inner.watermark(stamp, line)
    }
}
