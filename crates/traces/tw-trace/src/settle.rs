//! What can be told only from the beginning of a trace, and has to be known before it is read: the unit of timestamps that
//! are numbers, where nobody says it.

use crate::times::{KNOWN, is_epoch};
use crate::{Form, ReadOptions, Row, TimeStyle, TraceErrorKind, TraceFormat, Written};
use std::sync::Arc;
use tw_core::TimeUnit;

/// What was found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Timestamps are numbers of this unit, as the size of the first one shows.
    pub epoch: Option<TimeUnit>,
    /// The lines of a text log write their timestamps like this.
    pub written: Option<Written>,
    /// So many lines stand before the first timestamp, and are skipped.
    pub preamble: u64,
}

impl ReadOptions {
    /// Finds out from `head`, the beginning of a trace of this format, what the options leave open. Seconds since 1970
    /// have ten digits; a first number of twelve or more counts smaller units.
    pub fn settle(&mut self, format: &dyn TraceFormat, head: &[u8]) -> Settled {
        let mut settled = Settled::default();
        if self.written.is_none() && self.form.is_none() {
            self.settle_form(format, head, &mut settled);
        }
        if !self.leaves_open() {
            return settled;
        }
        if let Some(unit) = format.numbers() {
            self.numbers = Some(unit);
            return settled;
        }
        let epoch = self.first_number(format, head).and_then(|number| match number {
            100_000_000_000_000_000.. => Some(TimeUnit::Nanoseconds),
            100_000_000_000_000.. => Some(TimeUnit::Microseconds),
            100_000_000_000.. => Some(TimeUnit::Milliseconds),
            _ => None,
        });
        self.numbers = Some(epoch.unwrap_or(self.unit));
        Settled { epoch, ..settled }
    }

    /// Finds out how timestamps are written that are dates.
    fn settle_form(&mut self, format: &dyn TraceFormat, head: &[u8], settled: &mut Settled) {
        let given = self.given_form();
        self.written = format.written(head, given);
        if let Some(written) = &self.written {
            let rows = || {
                let bytes: Arc<[u8]> = head.into();
                let mut row = Row::default();
                let mut rows = format.rows(Box::new(std::io::Cursor::new(bytes)), self).ok()?;
                rows.next(&mut row).ok()?.then_some(row.line - 1)
            };
            settled.preamble = rows().unwrap_or(0);
            settled.written = Some(written.clone());
            return;
        }
        self.form = given;
        if given.is_none() && self.first_fault(format, head, None) == Some(TraceErrorKind::Time) {
            // What is read neither as a number nor as RFC 3339 may be a date of another form.
            let reads = |form: &&&'static Form| {
                !is_epoch(form) && self.first_fault(format, head, Some(form)).is_none()
            };
            self.form = KNOWN.iter().find(reads).copied();
        }
    }

    /// What is wrong with the first record, if timestamps are of this form.
    fn first_fault(
        &self,
        format: &dyn TraceFormat,
        head: &[u8],
        form: Option<&'static Form>,
    ) -> Option<TraceErrorKind> {
        let options = ReadOptions { form, ..self.clone() };
        let bytes: Arc<[u8]> = head.into();
        let rows = format.rows(Box::new(std::io::Cursor::new(bytes)), &options);
        rows.and_then(|mut rows| rows.next(&mut Row::default())).err().map(|error| error.kind)
    }

    /// The form of timestamps that is given as a pattern.
    pub(crate) fn given_form(&self) -> Option<&'static Form> {
        self.time_format.as_ref().and_then(|pattern| Form::of(pattern).ok())
    }

    /// Whether something is to be found out.
    pub fn leaves_open(&self) -> bool {
        self.numbers.is_none() && self.unit == TimeUnit::Seconds
    }

    /// Whether the form of timestamps is to be found out.
    pub(crate) fn leaves_form_open(&self) -> bool {
        self.written.is_none() && self.form.is_none()
    }

    /// Whether `head` holds a record, or what cannot be one.
    pub(crate) fn has_record(&self, format: &dyn TraceFormat, head: &[u8]) -> bool {
        let bytes: Arc<[u8]> = head.into();
        match format.rows(Box::new(std::io::Cursor::new(bytes)), self) {
            Ok(mut rows) => rows.next(&mut Row::default()).unwrap_or(true),
            Err(_) => true,
        }
    }

    /// The first timestamp, if it is a number, without its decimals.
    fn first_number(&self, format: &dyn TraceFormat, head: &[u8]) -> Option<i64> {
        // In nanoseconds a number is itself; one with decimals is not, so coarser units are tried.
        [TimeUnit::Nanoseconds, TimeUnit::Microseconds, TimeUnit::Seconds].into_iter().find_map(|unit| {
            let options = ReadOptions { numbers: Some(unit), ..self.clone() };
            let bytes: Arc<[u8]> = head.into();
            let mut rows = format.rows(Box::new(std::io::Cursor::new(bytes)), &options).ok()?;
            let mut row = Row::default();
            let read = rows.next(&mut row).ok()?;
            let stamp = row.time.filter(|stamp| read && matches!(stamp.style, TimeStyle::Number(_)))?;
            Some(stamp.time / unit.nanoseconds())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{csv::Csv, jsonl::Jsonl, monpoly::Monpoly, strace::Strace};

    #[test]
    fn the_first_number_shows_its_unit() {
        let cases: [(&str, Option<TimeUnit>); 9] = [
            ("99999999999", None),
            ("1700000000", None),
            ("1700000000.25", None),
            ("100000000000", Some(TimeUnit::Milliseconds)),
            ("1700000000123", Some(TimeUnit::Milliseconds)),
            ("1700000000123.5", Some(TimeUnit::Milliseconds)),
            ("1700000000123456", Some(TimeUnit::Microseconds)),
            ("1700000000123456789", Some(TimeUnit::Nanoseconds)),
            ("-5", None),
        ];
        for (number, epoch) in cases {
            let texts: [(&dyn TraceFormat, String); 4] = [
                (&Csv, format!("time,p\n{number},1\n")),
                (&Jsonl, format!("{{\"time\": {number}}}\n")),
                (&Jsonl, format!("{{\"time\": \"{number}\"}}\n")),
                (&Monpoly, format!("@{number} p\n")),
            ];
            for (format, text) in texts {
                let mut options = ReadOptions::default();
                assert_eq!(options.settle(format, text.as_bytes()).epoch, epoch, "{text}");
                assert_eq!(options.stamps().numbers, epoch.unwrap_or(TimeUnit::Seconds));
                assert_eq!(options.unit, TimeUnit::Seconds);
            }
        }
        // A format that says it is believed.
        let mut options = ReadOptions::default();
        let settled = options.settle(&Strace, b"7 1700000000.123456 close(3) = 0\n");
        assert_eq!((settled, options.numbers), (Settled::default(), Some(TimeUnit::Seconds)));
        // Who says the unit is not second-guessed, and what is no number has none.
        let given = ReadOptions { numbers: Some(TimeUnit::Seconds), ..ReadOptions::default() };
        for (mut options, text) in [
            (given, "time\n1700000000123\n"),
            (ReadOptions { unit: TimeUnit::Milliseconds, ..ReadOptions::default() }, "time\n1700000000123\n"),
            (ReadOptions::default(), "time\n2024-05-01T12:00:00Z\n"),
            (ReadOptions::default(), "p\n1700000000123\n"),
            (ReadOptions::default(), ""),
        ] {
            assert_eq!(options.settle(&Csv, text.as_bytes()), Settled::default(), "{text}");
        }
    }
}
