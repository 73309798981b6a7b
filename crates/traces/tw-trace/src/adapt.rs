//! What is made of rows behind any format's back: years of timestamps that are written without one, and texts that mean
//! nothing (`N/A`).

use crate::{
    Arguments, Calendar, ReadOptions, Reading, Row, RowSource, Stamp, TraceError, TraceErrorKind, TraceFormat,
};
use std::sync::Arc;
use tw_core::Value;

/// Whether rows of this format need more than the format does.
pub(crate) fn is_needed(format: &dyn TraceFormat, options: &ReadOptions) -> bool {
    options.null.is_some() || options.form.is_some() && !format.resolves_years()
}

/// Whether rows of this format need more than its blocks do.
pub(crate) fn is_beyond_blocks(format: &dyn TraceFormat, options: &ReadOptions) -> bool {
    // Years turn in the order of the trace.
    let turning = options.form.is_some_and(|form| !form.has_year) && !format.resolves_years();
    is_needed(format, options) && (turning || !format.blocks_adapt())
}

/// Rows as the options want them.
pub(crate) fn adapted<'a>(format: &dyn TraceFormat, rows: Reading<'a>, options: &ReadOptions) -> Reading<'a> {
    if !is_needed(format, options) {
        return rows;
    }
    let turning = options.form.is_some_and(|form| !form.has_year) && !format.resolves_years();
    let calendar = options.calendar.unwrap_or_else(|| Calendar::new(options.year));
    let (inner, null) = (rows?, options.null.as_deref().map(Arc::from));
    Ok(Box::new(Adapted { inner, null, calendar: turning.then_some(calendar) }))
}

struct Adapted<'a> {
    inner: Box<dyn RowSource + Send + 'a>,
    null: Option<Arc<str>>,
    calendar: Option<Calendar>,
}

impl RowSource for Adapted<'_> {
    fn next(&mut self, row: &mut Row) -> Result<bool, TraceError> {
        if !self.inner.next(row)? {
            return Ok(false);
        }
        if let (Some(stamp), Some(calendar)) = (row.time, &mut self.calendar) {
            let time = calendar.resolve(stamp.time).map_err(|year| no_leap_day(year).at(row.line, 1))?;
            row.time = Some(Stamp { time, ..stamp });
        }
        if let Some(null) = &self.null {
            empty(row, null);
        }
        Ok(true)
    }

    fn header(&self) -> Option<Vec<Arc<str>>> {
        self.inner.header()
    }

    fn has_events(&self) -> bool {
        self.inner.has_events()
    }

    fn calendar(&self) -> Option<Calendar> {
        self.calendar.filter(|calendar| calendar.month > 0).or_else(|| self.inner.calendar())
    }

    fn place(&self, variable: &str) -> Option<(u64, u64)> {
        self.inner.place(variable)
    }
}

/// Makes nothing of the texts that say so.
pub(crate) fn empty(row: &mut Row, null: &str) {
    let variables = row.variables.iter_mut().map(|(_, value)| value);
    let arguments = row.events.iter_mut().flat_map(|event| match &mut event.arguments {
        Arguments::Positional(values) => values.as_mut_slice(),
        Arguments::OfRow => &mut [],
    });
    for value in variables.chain(arguments) {
        if matches!(value, Value::Str(text) if **text == *null) {
            *value = Value::Null;
        }
    }
}

/// The error for 29 February in a year without one.
pub(crate) fn no_leap_day(year: i64) -> TraceError {
    let message =
        format!("found 29 February, but {year} has none; `⟨year: N⟩` says the year of the first timestamp");
    TraceError::new(TraceErrorKind::Time, message)
}
