//! Instants and durations, exact to the nanosecond.

use crate::Value;
use std::fmt;

/// Nanoseconds: since the epoch for a timestamp given as text, since whatever the log counts from for a number.
pub type Time = i64;

/// The unit of a bare number of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// Days of 24 hours.
    Days,
}

impl TimeUnit {
    /// Every unit with its name in the specification language and on the command line.
    pub const ALL: [(&'static str, TimeUnit); 7] = [
        ("ns", TimeUnit::Nanoseconds),
        ("us", TimeUnit::Microseconds),
        ("ms", TimeUnit::Milliseconds),
        ("s", TimeUnit::Seconds),
        ("m", TimeUnit::Minutes),
        ("h", TimeUnit::Hours),
        ("d", TimeUnit::Days),
    ];

    /// The unit called `name`.
    pub fn parse(name: &str) -> Option<TimeUnit> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, unit)| *unit)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, u)| *u == self).map_or("s", |(n, _)| n)
    }

    /// Nanoseconds in one of it.
    pub fn nanoseconds(self) -> i64 {
        match self {
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Minutes => 60_000_000_000,
            TimeUnit::Hours => 3_600_000_000_000,
            TimeUnit::Days => 86_400_000_000_000,
        }
    }

    /// Reads a decimal number of this unit (`12`, `-0.25`, `1.5e3`) exactly.
    pub fn parse_number(self, text: &str) -> Result<Time, TimeError> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().map_err(|_| TimeError::NotANumber)?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.as_bytes().first() {
            Some(b'-') => (true, &mantissa[1..]),
            Some(b'+') => (false, &mantissa[1..]),
            _ => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty()
            || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
        {
            return Err(TimeError::NotANumber);
        }
        // value = all digits × 10^(exponent − fraction length) × nanoseconds; kept in i128, then checked.
        let mut scaled: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            scaled = scaled
                .checked_mul(10)
                .and_then(|s| s.checked_add(i128::from(digit - b'0')))
                .ok_or(TimeError::OutOfRange)?;
        }
        scaled = scaled.checked_mul(i128::from(self.nanoseconds())).ok_or(TimeError::OutOfRange)?;
        let mut power = exponent - fraction.len() as i32;
        while power < 0 && scaled != 0 {
            if scaled % 10 != 0 {
                return Err(TimeError::TooFine);
            }
            scaled /= 10;
            power += 1;
        }
        while power > 0 && scaled != 0 {
            scaled = scaled.checked_mul(10).ok_or(TimeError::OutOfRange)?;
            power -= 1;
        }
        i64::try_from(if negative { -scaled } else { scaled }).map_err(|_| TimeError::OutOfRange)
    }

    /// So many nanoseconds as a number of this unit: whole where it is, else the nearest real.
    pub fn value(self, nanoseconds: i128) -> Value {
        /// Whole numbers up to here are reals without loss.
        const EXACT: u128 = 1 << 53;
        let unit = i128::from(self.nanoseconds());
        if nanoseconds % unit == 0
            && let Ok(whole) = i64::try_from(nanoseconds / unit)
        {
            return Value::Int(whole);
        }
        if nanoseconds.unsigned_abs() <= EXACT {
            return Value::Real(nanoseconds as f64 / unit as f64);
        }
        // Two roundings could differ from the number as it is written, by which columns are compared with it.
        match i64::try_from(nanoseconds).map(|time| self.format_number(time).parse()) {
            Ok(Ok(real)) => Value::Real(real),
            _ => Value::Real(nanoseconds as f64 / unit as f64),
        }
    }

    /// Writes `time` as a decimal number of this unit, without trailing zeros.
    pub fn format_number(self, time: Time) -> String {
        let unit = i128::from(self.nanoseconds());
        let magnitude = i128::from(time).abs();
        let (whole, mut rest) = (magnitude / unit, magnitude % unit);
        let mut out = format!("{}{whole}", if time < 0 { "-" } else { "" });
        if rest != 0 {
            out.push('.');
            // Minutes and longer do not divide into decimals; nine places below the unit are enough to tell apart.
            for _ in 0..18 {
                rest *= 10;
                out.push(char::from(b'0' + (rest / unit) as u8));
                rest %= unit;
                if rest == 0 {
                    break;
                }
            }
        }
        out
    }
}

/// Why a text is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeError {
    /// Not a decimal number.
    NotANumber,
    /// Finer than a nanosecond.
    TooFine,
    /// Beyond what 64 bits of nanoseconds can hold.
    OutOfRange,
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeError::NotANumber => "not a number",
            TimeError::TooFine => "finer than a nanosecond",
            TimeError::OutOfRange => "beyond the range of 64-bit nanoseconds (about ±292 years)",
        })
    }
}

impl std::error::Error for TimeError {}

/// A time, exact: whole minutes, hours and days as such, seconds with a fraction, less in smaller units.
pub fn duration(time: Time) -> String {
    use TimeUnit::*;
    let whole = |unit: &TimeUnit| time != 0 && time % unit.nanoseconds() == 0;
    let reached = |unit: &TimeUnit| time.unsigned_abs() >= unit.nanoseconds().unsigned_abs();
    let unit = [Days, Hours, Minutes].into_iter().find(whole);
    let smaller = || [Seconds, Milliseconds, Microseconds, Nanoseconds].into_iter().find(reached);
    let unit = unit.or_else(smaller).unwrap_or(Seconds);
    format!("{}{}", unit.format_number(time), unit.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let s = TimeUnit::Seconds;
        assert_eq!(s.parse_number("0.1"), Ok(100_000_000));
        assert_eq!(s.parse_number("-1.000000001"), Ok(-1_000_000_001));
        assert_eq!(s.parse_number("1.5e3"), Ok(1_500_000_000_000));
        assert_eq!(s.parse_number("1700000000.123456789"), Ok(1_700_000_000_123_456_789));
        assert_eq!(s.parse_number("0.0000000001"), Err(TimeError::TooFine));
        assert_eq!(s.parse_number("1e30"), Err(TimeError::OutOfRange));
        assert_eq!(s.parse_number("1e-400000"), Err(TimeError::TooFine));
        for bad in ["", "-", ".", "x", "1e", "nan", "1_0", "0x1"] {
            assert_eq!(s.parse_number(bad), Err(TimeError::NotANumber), "{bad}");
        }
    }

    #[test]
    fn printing_reads_back() {
        for (unit, time) in
            [(TimeUnit::Seconds, -1_500_000_000), (TimeUnit::Milliseconds, 1), (TimeUnit::Nanoseconds, 42)]
        {
            assert_eq!(unit.parse_number(&unit.format_number(time)), Ok(time));
        }
        assert_eq!(TimeUnit::Seconds.format_number(100_000_000), "0.1");
    }

    #[test]
    fn values_are_the_numbers_written() {
        let s = TimeUnit::Seconds;
        assert_eq!(s.value(3_000_000_000), Value::Int(3));
        assert_eq!(s.value(-250_000_000), Value::Real(-0.25));
        assert_eq!(s.value(1_700_000_000_123_456_789), Value::Real(1_700_000_000.123_456_7));
        assert_eq!(TimeUnit::Milliseconds.value(1_500_000), Value::Real(1.5));
        assert_eq!(TimeUnit::Nanoseconds.value(i128::from(i64::MAX) * 2), Value::Real(2f64.powi(64)));
    }

    #[test]
    fn durations_are_exact_and_short() {
        let cases = [
            (0, "0s"),
            (5_500_000_000, "5.5s"),
            (90_000_000_000, "90s"),
            (120_000_000_000, "2m"),
            (7_200_000_000_000, "2h"),
            (1, "1ns"),
            (2_500_000, "2.5ms"),
            (-1_500, "-1.5us"),
            (i64::MAX, "9223372036.854775807s"),
        ];
        for (time, text) in cases {
            assert_eq!(duration(time), text);
        }
    }
}
