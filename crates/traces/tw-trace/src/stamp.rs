//! Timestamps as logs write them.

use crate::{Form, Miss};
use tw_core::{Time, TimeError, TimeUnit};

/// How a trace writes its timestamps; output follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeStyle {
    /// Decimal numbers of a unit.
    Number(TimeUnit),
    /// RFC 3339 / ISO 8601 text.
    Text,
}

/// A timestamp and how it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds.
    pub time: Time,
    /// Style.
    pub style: TimeStyle,
}

impl Stamp {
    /// As the trace would write it.
    pub fn format(self) -> String {
        match self.style {
            TimeStyle::Number(unit) => unit.format_number(self.time),
            TimeStyle::Text => jiff::Timestamp::from_nanosecond(i128::from(self.time))
                .map_or_else(|_| TimeUnit::Nanoseconds.format_number(self.time), |t| t.to_string()),
        }
    }
}

/// How a trace writes its timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// The trace's unit: what intervals count in, and what numbers are shown in.
    pub unit: TimeUnit,
    /// The unit that numbers are written in.
    pub numbers: TimeUnit,
    /// How they are written, where they are neither numbers nor RFC 3339.
    pub form: Option<&'static Form>,
}

impl Stamps {
    /// Numbers of this unit.
    pub fn of(unit: TimeUnit) -> Self {
        Self { unit, numbers: unit, form: None }
    }

    /// What messages say they should be.
    pub(crate) fn expected(self) -> String {
        match self.form {
            None => format!("a timestamp: a number ({}) or RFC 3339 text", self.numbers.name()),
            Some(form) => format!("a timestamp of the form `{}`, as others have", form.shown()),
        }
    }

    /// Nanoseconds of the unit that numbers are written in.
    pub fn nanoseconds(self) -> i64 {
        self.numbers.nanoseconds()
    }

    /// How numbers are shown.
    pub fn style(self) -> TimeStyle {
        TimeStyle::Number(self.unit)
    }

    /// Reads a number.
    pub fn number(self, text: &str) -> Result<Stamp, TimeError> {
        self.numbers.parse_number(text).map(|time| Stamp { time, style: self.style() })
    }

    /// Reads a number, or RFC 3339 / ISO 8601 text (without an offset: UTC).
    pub fn parse(self, text: &str) -> Result<Stamp, TimeError> {
        let Some(form) = self.form else { return parse(text, self) };
        match form.whole(text.as_bytes()) {
            Ok(time) => Ok(Stamp { time, style: TimeStyle::Text }),
            Err(Miss::OutOfRange) => Err(TimeError::OutOfRange),
            Err(_) => Err(TimeError::NotANumber),
        }
    }
}

/// As [`Stamps::parse`], with numbers of `unit`.
pub fn parse_stamp(text: &str, unit: TimeUnit) -> Result<Stamp, TimeError> {
    parse(text, Stamps::of(unit))
}

fn parse(text: &str, stamps: Stamps) -> Result<Stamp, TimeError> {
    match stamps.number(text) {
        Ok(stamp) => Ok(stamp),
        Err(TimeError::NotANumber) => {
            let nanoseconds = match text.parse::<jiff::Timestamp>() {
                Ok(stamp) => stamp.as_nanosecond(),
                Err(_) => {
                    let civil: jiff::civil::DateTime = text.parse().map_err(|_| TimeError::NotANumber)?;
                    civil
                        .to_zoned(jiff::tz::TimeZone::UTC)
                        .map_err(|_| TimeError::OutOfRange)?
                        .timestamp()
                        .as_nanosecond()
                }
            };
            let time = i64::try_from(nanoseconds).map_err(|_| TimeError::OutOfRange)?;
            Ok(Stamp { time, style: TimeStyle::Text })
        }
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        let s = TimeUnit::Seconds;
        assert_eq!(parse_stamp("1.5", s).unwrap().time, 1_500_000_000);
        for text in [
            "1970-01-01T00:00:01Z",
            "1970-01-01T01:00:01+01:00",
            "1970-01-01T00:00:01",
            "1970-01-01 00:00:01",
        ] {
            assert_eq!(parse_stamp(text, s).unwrap().time, 1_000_000_000, "{text}");
        }
        assert_eq!(parse_stamp("1970-01-01T00:00:00.25Z", s).unwrap().format(), "1970-01-01T00:00:00.25Z");
        assert_eq!(parse_stamp("soon", s), Err(TimeError::NotANumber));
        assert_eq!(parse_stamp("9999-01-01T00:00:00Z", s), Err(TimeError::OutOfRange));
    }
}
