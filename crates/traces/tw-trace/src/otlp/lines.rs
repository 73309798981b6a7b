//! Positions as lines of JSON: the time as RFC 3339, the event, then the fields that are something.

use super::any::{base64, hexadecimal};
use super::{Any, Positions};
use crate::formats::write_text;
use std::io::Write;
use tw_core::Time;

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// Positions as lines of JSON.
#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Each line's time, and where it ends.
    ends: Vec<(Time, usize)>,
    /// The latest time may be before the one of an earlier line.
    back: bool,
    /// Days since 1970, and how that day is written.
    day: (i64, [u8; 11]),
}

impl Default for Lines {
    fn default() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), back: false, day: (0, *b"1970-01-01T") }
    }
}

impl Lines {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes they are.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of the longest line behind so many.
    pub fn longest_after(&self, count: usize) -> usize {
        let start = |at: usize| at.checked_sub(1).map_or(0, |before| self.ends[before].1);
        (count..self.ends.len()).map(|at| self.ends[at].1 - start(at)).max().unwrap_or(0)
    }

    /// Forgets all but so many of the first, which were so many bytes.
    pub fn back_to(&mut self, count: usize, size: usize) {
        self.ends.truncate(count);
        self.bytes.truncate(size);
    }

    /// All of them, in the order of time.
    pub fn in_order(self) -> Vec<u8> {
        if !self.back {
            return self.bytes;
        }
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        let mut lines: Vec<(Time, usize, usize)> =
            starts.zip(&self.ends).map(|(start, (time, end))| (*time, start, *end)).collect();
        // Those at the same time stay as they are.
        lines.sort_by_key(|(time, ..)| *time);
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for (_, start, end) in lines {
            bytes.extend_from_slice(&self.bytes[start..end]);
        }
        bytes
    }

    fn write_time(&mut self, time: Time) {
        let (day, within) = (time.div_euclid(DAY), time.rem_euclid(DAY));
        if day != self.day.0 {
            self.day = (day, written(day));
        }
        let (seconds, nanos) = (within / SECOND, within % SECOND);
        let two = |number: i64| [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        let ([h, i], [m, n], [s, t]) = (two(seconds / 3600), two(seconds / 60 % 60), two(seconds % 60));
        self.bytes.extend_from_slice(&self.day.1);
        self.bytes.extend_from_slice(&[h, i, b':', m, n, b':', s, t]);
        if nanos > 0 {
            let mut digits = [b'0'; 10];
            digits[0] = b'.';
            let mut rest = nanos;
            for digit in digits[1..].iter_mut().rev() {
                *digit += (rest % 10) as u8;
                rest /= 10;
            }
            let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
            self.bytes.extend_from_slice(&digits[..10 - zeros]);
        }
        self.bytes.push(b'Z');
    }
}

/// A day of the calendar: years have four digits as long as nanoseconds since 1970 fit 64 bits.
fn written(day: i64) -> [u8; 11] {
    let nanoseconds = i128::from(day) * i128::from(DAY);
    let stamp = jiff::Timestamp::from_nanosecond(nanoseconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let mut text = *b"1970-01-01T";
    for (to, from) in text.iter_mut().zip(stamp.to_string().bytes().take(11)) {
        *to = from;
    }
    text
}

impl Positions for Lines {
    fn position(&mut self, time: Time, event: &'static str, fields: &[(&'static str, &Any<'_>)]) {
        self.bytes.extend_from_slice(b"{\"time\":\"");
        self.write_time(time);
        self.bytes.extend_from_slice(b"\",\"event\":\"");
        self.bytes.extend_from_slice(event.as_bytes());
        self.bytes.push(b'"');
        for (name, value) in fields {
            if !value.is_nothing() {
                self.bytes.extend_from_slice(b",\"");
                self.bytes.extend_from_slice(name.as_bytes());
                self.bytes.extend_from_slice(b"\":");
                write(value, &mut self.bytes);
            }
        }
        self.bytes.extend_from_slice(b"}\n");
        self.back |= self.ends.last().is_some_and(|(last, _)| time < *last);
        self.ends.push((time, self.bytes.len()));
    }
}

fn write(value: &Any<'_>, out: &mut Vec<u8>) {
    match value {
        Any::Null => out.extend_from_slice(b"null"),
        Any::Bool(bool) => out.extend_from_slice(if *bool { b"true" } else { b"false" }),
        // Writing to memory does not fail.
        Any::Int(int) => drop(write!(out, "{int}")),
        Any::Real(real) if !real.is_finite() => out.extend_from_slice(b"null"),
        Any::Real(real) => drop(write!(out, "{real:?}")),
        Any::Text(text) => write_text(out, text),
        Any::Id(bytes) => quoted(bytes, hexadecimal, out),
        Any::Bytes(bytes) => quoted(bytes, base64, out),
        Any::List(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Any::Fields(fields) => {
            out.push(b'{');
            for (index, (key, item)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_text(out, key);
                out.push(b':');
                write(item, out);
            }
            out.push(b'}');
        }
    }
}

fn quoted(bytes: &[u8], write: fn(&[u8], &mut Vec<u8>), out: &mut Vec<u8>) {
    out.push(b'"');
    write(bytes, out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stamp, TimeStyle};

    fn time_of(time: Time) -> String {
        let mut lines = Lines::default();
        lines.write_time(time);
        String::from_utf8(lines.bytes).unwrap()
    }

    /// The library that reads them again agrees.
    #[test]
    fn times_are_written_as_elsewhere() {
        let mut random = 7_u64;
        let fixed = [0, 1, SECOND, DAY - 1, DAY, 951_868_800 * SECOND, i64::MAX, 1_700_000_000_123_000_000];
        let random = std::iter::repeat_with(move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 1) as i64 / [1, 1000, SECOND][(random >> 9) as usize % 3]
        });
        for time in fixed.into_iter().chain(random.take(1000)) {
            assert_eq!(time_of(time), Stamp { time, style: TimeStyle::Text }.format());
        }
    }

    #[test]
    fn lines_are_in_the_order_of_time() {
        let mut lines = Lines::default();
        let name = Any::Text("a\"b");
        for (time, event) in [(2, "b"), (1, "a"), (2, "c")] {
            lines.position(time * SECOND, event, &[("name", &name), ("status", &Any::Null)]);
        }
        assert_eq!(lines.count(), 3);
        let text = String::from_utf8(lines.in_order()).unwrap();
        let line = |time, event: &str| {
            format!("{{\"time\":\"1970-01-01T00:00:0{time}Z\",\"event\":\"{event}\",\"name\":\"a\\\"b\"}}\n")
        };
        assert_eq!(text, line(1, "a") + &line(2, "b") + &line(2, "c"));
    }
}
