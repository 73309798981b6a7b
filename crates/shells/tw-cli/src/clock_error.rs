//! `--clock-error`: how far timestamps may be off.

use crate::context::Failure;
use crate::options::Skew;
use clap::Args;
use tracewise::TimeUnit;
use tracewise::imprecise::ClockError;

/// Timestamps that are accurate up to a known error.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Imprecise clocks")]
pub struct ClockErrorArgs {
    /// Timestamps may be off by up to this much (50ms, or a number in the trace's unit): answer for every execution
    /// that they allow
    #[arg(long, value_name = "ERROR", value_parser = Skew::parse, allow_hyphen_values = true)]
    pub clock_error: Option<Skew>,

    /// Each by its own error: a column of numbers in the trace's unit
    #[arg(long, value_name = "COL", conflicts_with = "clock_error")]
    pub clock_error_column: Option<String>,
}

impl ClockErrorArgs {
    /// The error that was given; `unit` is the trace's.
    pub fn error(&self, unit: TimeUnit) -> Result<Option<ClockError>, Failure> {
        if let Some(column) = &self.clock_error_column {
            return Ok(Some(ClockError::Column(column.clone())));
        }
        let error = self.clock_error.as_ref();
        error.map(|error| Ok(ClockError::Same(error.nanoseconds(unit, "--clock-error")?))).transpose()
    }
}
