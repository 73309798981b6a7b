//! Timestamps that differ from the one before in seconds alone, as most do: what stands before the seconds and behind them is
//! compared as bytes.

use super::find::skip_to_word;
use super::form::{Decimals, Reading, Seconds, fraction};
use super::{Found, Written};
use tw_core::Time;

/// The timestamp read last.
#[derive(Debug, Default)]
pub(crate) struct Near {
    /// What stands before its seconds; empty if there is none to compare with.
    prefix: Vec<u8>,
    /// What stands behind them and their decimals.
    suffix: Vec<u8>,
    /// Its time without seconds and decimals.
    minute: Time,
    seconds: Option<Seconds>,
}

impl Near {
    /// Keeps a timestamp that was read in full, at the start of `text`.
    #[cold]
    pub fn learn(&mut self, text: &[u8], found: Found, written: &Written) {
        self.prefix.clear();
        self.suffix.clear();
        if written.word.is_none() {
            return;
        }
        let Some((before, seconds, behind)) = written.form.around_seconds(text) else { return };
        let Some((part, len)) = part(&text[before..], seconds) else { return };
        if before + len + behind != found.len {
            return;
        }
        self.prefix.extend_from_slice(&text[..before]);
        self.suffix.extend_from_slice(&text[before + len..found.len]);
        self.minute = found.time - part;
        self.seconds = Some(seconds);
    }

    /// The time of a line whose timestamp is like the last but for its seconds; none also where something is odd.
    #[inline]
    pub fn read(&self, line: &[u8], written: &Written) -> Option<Time> {
        let seconds = self.seconds?;
        if self.prefix.is_empty() {
            return None;
        }
        let mut line = line;
        if let Some(word @ 1..) = written.word {
            line = &line[skip_to_word(line, word.into())?..];
        }
        // Brackets may stand before it.
        while let [b'[' | b'(' | b'<' | b'{' | b'"' | b'\'', rest @ ..] = line {
            line = rest;
        }
        let rest = line.strip_prefix(self.prefix.as_slice())?;
        let (part, len) = part(rest, seconds)?;
        let mut rest = &rest[len..];
        // The comparison of nothing, which has no place in memory, may cost more than all the rest.
        if !self.suffix.is_empty() {
            rest = rest.strip_prefix(self.suffix.as_slice())?;
        }
        let ends = match rest {
            [] | [b']' | b'|' | b')', ..] => true,
            [b' ' | b'\t', ..] => {
                !seconds.zone || !self.suffix.is_empty() || Reading::default().perhaps_zone(rest) == 0
            }
            [b',' | b';' | b':', next, ..] => !next.is_ascii_digit(),
            _ => false,
        };
        ends.then_some(self.minute + part)
    }
}

/// Nanoseconds of the seconds and decimals that a text begins with, and their bytes.
#[inline]
fn part(text: &[u8], seconds: Seconds) -> Option<(Time, usize)> {
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10);
    let first = digit(0)?;
    let (value, mut len) = match digit(1) {
        Some(second) => (first * 10 + second, 2),
        None if seconds.least == 1 => (first, 1),
        None => return None,
    };
    if value >= 60 || digit(len).is_some() {
        return None;
    }
    let mut time = Time::from(value) * 1_000_000_000;
    let behind = match (seconds.fraction, text.get(len)) {
        (Decimals::Perhaps, Some(b'.' | b',')) => digit(len + 1).is_some(),
        (Decimals::Behind(point), next) => {
            if next != Some(&point) {
                return None;
            }
            true
        }
        _ => false,
    };
    if behind {
        let (decimals, digits) = fraction(&text[len + 1..])?;
        time += decimals;
        len += 1 + digits;
        if digit(len).is_some() {
            return None;
        }
    }
    Some((time, len))
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;
    use crate::Form;

    /// What is read by comparison with the line before is what is read in full.
    #[test]
    fn near_is_whole() {
        for (pattern, word, lines) in [
            (
                "%b %d %H:%M:%S%.f",
                0,
                ["Dec 10 06:55:46 host", "Dec 10 06:55:47 host", "Dec 10 06:55:48.5: x"],
            ),
            (
                "%Y-%m-%d%?T%H:%M:%S%.f%?z",
                0,
                ["2015-10-18 18:01:47,978 INFO", "2015-10-18 18:01:48,1 INFO", "2015-10-18 18:01:59 Mine"],
            ),
            (
                "%Y-%m-%d%?T%H:%M:%S%.f%?z",
                0,
                [
                    "2015-10-18 18:01:47 UTC [1]",
                    "2015-10-18 18:01:48 UTC [1]",
                    "2015-10-18 18:01:59.000000001 UTC",
                ],
            ),
            (
                "%a %b %d %H:%M:%S%.f %Y",
                0,
                [
                    "[Sun Dec 04 04:47:44 2005] [notice]",
                    "[Sun Dec 04 04:47:45 2005] [notice]",
                    "[Sun Dec 04 04:47:59 2005]",
                ],
            ),
            ("%y%m%d %H%M%S", 0, ["081109 203615 148", "081109 203616 9", "081109 203659"]),
            (
                "%Y%m%d-%H:%M:%S:%f",
                0,
                ["20171223-22:15:29:606|Step", "20171223-22:15:3:1|Step", "20171223-22:15:59:60|x"],
            ),
            (
                "%Y-%m-%d-%H.%M.%S.%f",
                2,
                [
                    "- R02-M1 2005-06-03-15.42.50.675872 R02",
                    "-  R1  2005-06-03-15.42.51.1 R02",
                    "a\tb [2005-06-03-15.42.52.1]",
                ],
            ),
            (
                "%d/%b/%Y:%H:%M:%S%.f%?z",
                1,
                [
                    "h [10/Oct/2000:13:55:36 -0700] \"GET\"",
                    "h [10/Oct/2000:13:55:37 -0700] \"GET\"",
                    "host|[10/Oct/2000:13:55:59 -0700]",
                ],
            ),
        ] {
            let written = Written { form: Form::of(pattern).unwrap(), word: Some(word), example: "".into() };
            let place = |line: &str| match written.place(line.as_bytes()) {
                Place::Stamp(at, found) => (at, found),
                other => panic!("{line}: {other:?}"),
            };
            let mut near = Near::default();
            let (at, found) = place(lines[0]);
            near.learn(&lines[0].as_bytes()[at..], found, &written);
            for line in lines {
                assert_eq!(near.read(line.as_bytes(), &written), Some(place(line).1.time), "{line}");
            }
        }
    }

    #[test]
    fn what_is_odd_is_left_to_the_whole() {
        let pattern = "%Y-%m-%d%?T%H:%M:%S%.f%?z";
        let written = Written { form: Form::of(pattern).unwrap(), word: Some(0), example: "".into() };
        let line = b"2015-10-18 18:01:47 INFO";
        let Place::Stamp(at, found) = written.place(line) else { panic!("no timestamp") };
        let mut near = Near::default();
        near.learn(&line[at..], found, &written);
        for odd in [
            "2015-10-18 18:01:47 UTC",
            "2015-10-18 18:01:47 +0200",
            "2015-10-18 18:01:47Z",
            "2015-10-18 18:01:60 x",
            "2015-10-18 18:01:475 x",
            "2015-10-18 18:01:47:5",
            "2015-10-18 18:01:4x",
            "2015-10-18 18:01:",
            "2015-10-18 18:02:47 x",
            "2015-10-18 18:01:47.1234567891 x",
            "",
        ] {
            assert_eq!(near.read(odd.as_bytes(), &written), None, "{odd}");
        }
    }
}
