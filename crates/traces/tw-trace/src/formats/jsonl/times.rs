//! Timestamps in place.

use super::plan::Plan;
use super::scalar::{Bytes, Number, digits_value};
use crate::formats::json_value::Parser;
use tw_core::Time;

const DAY: i64 = 86_400_000_000_000;

/// The time of a number that is not negative, exactly.
#[inline(always)]
pub(super) fn number(plan: &Plan, bytes: Bytes, at: usize, number: Number) -> Option<Time> {
    if number.odd || number.whole > 18 || number.fraction > 18 {
        return any(plan, bytes.slice(at, number.end));
    }
    let whole = (digits_value(bytes, at, number.whole) as i64).checked_mul(plan.scale[0]);
    if number.fraction == 0 {
        return whole;
    }
    let scale = plan.scale[number.fraction as usize];
    if scale == 0 {
        return any(plan, bytes.slice(at, number.end));
    }
    let fraction = digits_value(bytes, at + number.whole as usize + 1, number.fraction) as i64;
    // Less than one unit, so only the sum can be too large.
    whole?.checked_add(fraction * scale)
}

/// The time of any number or text (with its quotes).
#[inline(never)]
pub(super) fn any(plan: &Plan, raw: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(raw).ok()?;
    if text.starts_with('"') {
        let text = Parser::new(text, "").string("").ok()?;
        plan.keys.stamps.parse(&text).ok().map(|stamp| stamp.time)
    } else {
        plan.keys.stamps.number(text).ok().map(|stamp| stamp.time)
    }
}

/// The day of the last text: most lines of a log are of the same one.
#[derive(Default)]
pub(super) struct Day {
    /// `YYYY-MM-`.
    month: u64,
    /// `DDT`, as the low three bytes.
    day: u32,
    /// Its first nanosecond.
    start: Time,
}

impl Day {
    /// The time of `YYYY-MM-DDTHH:MM:SSZ` with or without a fraction of up to nine digits, between `at` and `end`.
    #[inline(always)]
    pub(super) fn text(&mut self, bytes: Bytes, at: usize, end: usize) -> Option<Time> {
        let len = end - at;
        if !(20..=30).contains(&len) || len == 21 || bytes.byte(end - 1) != b'Z' {
            return None;
        }
        let (month, day) = (bytes.eight(at), bytes.four(at + 8).to_le() & 0x00FF_FFFF);
        if month != self.month || day != self.day {
            self.start = first_nanosecond(bytes.slice(at, at + 11))?;
            (self.month, self.day) = (month, day);
        }
        // Digits become their values, colons become 0; anything else leaves a byte above 9.
        let clock = bytes.eight(at + 11) ^ u64::from_le_bytes(*b"00:00:00");
        if (clock.wrapping_add(0x7676_7676_7676_7676) | clock) & 0x8080_8080_8080_8080 != 0
            || clock & 0x0000_FF00_00FF_0000 != 0
        {
            return None;
        }
        let digit = |index: u32| (clock >> (8 * index) & 0xFF) as i64;
        let (hour, minute, second) =
            (digit(0) * 10 + digit(1), digit(3) * 10 + digit(4), digit(6) * 10 + digit(7));
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let mut time = self.start + ((hour * 60 + minute) * 60 + second) * 1_000_000_000;
        if len > 20 {
            let digits = bytes.slice(at + 20, end - 1);
            if bytes.byte(at + 19) != b'.' || !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let fraction = digits_value(bytes, at + 20, digits.len() as u32) as i64;
            time += fraction * 10_i64.pow(9 - digits.len() as u32);
        }
        Some(time)
    }
}

/// The first nanosecond of the day `YYYY-MM-DDT`, from 1970 to 2261 (all of which 64 bits can hold).
#[inline(never)]
fn first_nanosecond(text: &[u8]) -> Option<Time> {
    let number = |range: std::ops::Range<usize>| {
        text.get(range)?
            .iter()
            .try_fold(0i64, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if text.get(4) != Some(&b'-') || text.get(7) != Some(&b'-') || text.get(10) != Some(&b'T') {
        return None;
    }
    if !(1970..=2261).contains(&year) || !(1..=days).contains(&day) {
        return None;
    }
    // Days since 1970 in a calendar whose year starts in March, so that the leap day is the last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1 - 719_468;
    Some(days * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_stamp;
    use tw_core::TimeUnit;

    #[test]
    fn texts_are_what_the_definition_says() {
        let mut day = Day::default();
        let mut fast = 0;
        for text in [
            "1970-01-01T00:00:00Z",
            "2024-02-29T23:59:59.999999999Z",
            "2023-02-29T00:00:00Z",
            "2100-02-28T12:34:56.7Z",
            "2100-03-01T12:34:56.70Z",
            "2261-12-31T23:59:59Z",
            "2262-12-31T23:59:59Z",
            "1969-12-31T23:59:59Z",
            "2024-02-28T24:00:00Z",
            "2024-02-28T23:60:00Z",
            "2024-02-28T23:59:60Z",
            "2024-02-28T23:5a:00Z",
            "2024-02-28T2/:50:00Z",
            "2024-02-28T23;50:00Z",
            "2024-02-28T23:50:00.Z",
            "2024-02-28T23:50:00,5Z",
            "2024-02-28T23:50:00.x5Z",
            "2024-02-28 23:50:00Z",
            "2024-02-28T23:50:00+01:00",
            "2024-13-28T23:50:00Z",
            "2024-00-28T23:50:00Z",
            "2024-01-00T23:50:00Z",
            "2024-01-32T23:50:00Z",
        ] {
            let padded = format!("{text}{}", "\n".repeat(65));
            // SAFETY: the text is followed by a newline and 64 more bytes.
            let bytes = unsafe { Bytes::new(padded.as_bytes()) };
            if let Some(time) = day.text(bytes, 0, text.len()) {
                assert_eq!(parse_stamp(text, TimeUnit::Seconds).map(|stamp| stamp.time), Ok(time), "{text}");
                fast += 1;
            }
        }
        assert_eq!(fast, 5);
    }
}
