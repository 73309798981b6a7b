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

/// The form in which programs write most timestamps, `2026-01-31T12:00:00.123Z`, read at a tenth of the cost; `None` for all else,
/// what is wrong with it included.
fn usual(text: &[u8]) -> Option<Time> {
    let (front, back) = text.split_first_chunk::<19>()?;
    let (marks, expected) = ([front[4], front[7], front[10], front[13], front[16]], *b"--T::");
    if marks != expected || *back.last()? != b'Z' {
        return None;
    }
    let number = |digits: &[u8]| {
        digits
            .iter()
            .try_fold(0_i64, |all, digit| digit.is_ascii_digit().then(|| all * 10 + i64::from(digit - b'0')))
    };
    let (year, month, day) = (number(&front[..4])?, number(&front[5..7])?, number(&front[8..10])?);
    let (hour, minute, second) = (number(&front[11..13])?, number(&front[14..16])?, number(&front[17..])?);
    // Nanoseconds of these years fit 64 bits, and every month has so many days.
    let plain = (1970..2262).contains(&year) && (1..=12).contains(&month) && (1..=28).contains(&day);
    if !plain || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos = match &back[..back.len() - 1] {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            number(digits)? * 10_i64.pow(9 - digits.len() as u32)
        }
        _ => return None,
    };
    // Years begin in March, so that the day that leap years have more is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000_000 + nanos)
}

fn parse(text: &str, stamps: Stamps) -> Result<Stamp, TimeError> {
    if let Some(time) = usual(text.as_bytes()) {
        return Ok(Stamp { time, style: TimeStyle::Text });
    }
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

    /// The short cut and the library agree, wherever the short cut says something.
    #[test]
    fn the_usual_form_is_read_as_any_other() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut read = 0;
        for _ in 0..20_000 {
            let (year, month, day) = (1960 + next(310), next(14), next(33));
            let (hour, minute, second) = (next(25), next(61), next(61));
            let fraction =
                ["", ".", ".5", ".000000001", ".123456789", ".1234567891", ".12a", ",5"][next(8) as usize];
            let end = ["Z", "Z", "Z", "z", "", "+01:00"][next(6) as usize];
            let text = format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{end}");
            let Some(time) = usual(text.as_bytes()) else { continue };
            let stamp: jiff::Timestamp = text.parse().unwrap();
            assert_eq!(i128::from(time), stamp.as_nanosecond(), "{text}");
            read += 1;
        }
        assert!(read > 2000, "{read}");
    }

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
