//! A form of timestamps: a pattern, and how text is read by it.

use super::calendar::{DAY, FRAME, days, days_of};
use std::sync::{Mutex, PoisonError};
use tw_core::Time;

/// How timestamps are written.
#[derive(Debug)]
pub struct Form {
    /// The pattern.
    pub pattern: String,
    items: Vec<Item>,
    /// Whether it says the year.
    pub has_year: bool,
    /// Whether it says the day.
    pub has_day: bool,
}

/// A piece of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// This byte.
    Byte(u8),
    /// One blank or more.
    Blank,
    /// Digits of a field, so many at least and at most.
    Digits(Field, u8, u8),
    MonthName,
    Weekday,
    Meridiem,
    /// Digits behind the decimal point; with the point or comma and all, if there.
    Fraction,
    PointFraction,
    /// An offset from UTC, and one that may be missing.
    Zone,
    PerhapsZone,
    /// `T`, a blank or an underscore.
    Between,
    /// Seconds since 1970.
    Epoch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    ShortYear,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// How a form writes seconds and what follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seconds {
    /// Digits at least.
    pub least: u8,
    pub fraction: Decimals,
    /// Whether an offset may follow that need not be there.
    pub zone: bool,
}

/// Decimals of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decimals {
    None,
    /// Behind a point or comma, if there.
    Perhaps,
    /// Behind this byte.
    Behind(u8),
}

/// Why text is no timestamp of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It is not written like this.
    Other,
    /// It is, but there is no such day.
    NoSuchDay,
    /// It is, but too far from 1970 to be held in nanoseconds.
    OutOfRange,
}

/// A timestamp at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its time; in the frame's year if the form has none.
    pub time: Time,
    /// Its bytes.
    pub len: usize,
}

const MONTHS: [&[u8]; 12] = [
    b"january",
    b"february",
    b"march",
    b"april",
    b"may",
    b"june",
    b"july",
    b"august",
    b"september",
    b"october",
    b"november",
    b"december",
];
const WEEKDAYS: [&[u8]; 7] =
    [b"monday", b"tuesday", b"wednesday", b"thursday", b"friday", b"saturday", b"sunday"];
/// Zones by name, with their hours; others mean different things in different places.
const ZONES: [(&[u8], i64); 13] = [
    (b"UTC", 0),
    (b"GMT", 0),
    (b"UT", 0),
    (b"EST", -5),
    (b"EDT", -4),
    (b"CST", -6),
    (b"CDT", -5),
    (b"MST", -7),
    (b"MDT", -6),
    (b"PST", -8),
    (b"PDT", -7),
    (b"CEST", 2),
    (b"CET", 1),
];

impl Form {
    /// The form of a pattern, kept for good: programs read by few patterns. `Err` says what is wrong with it.
    pub fn of(pattern: &str) -> Result<&'static Form, String> {
        static FORMS: Mutex<Vec<&'static Form>> = Mutex::new(Vec::new());
        let mut forms = FORMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(form) = forms.iter().find(|form| form.pattern == pattern) {
            return Ok(form);
        }
        let form: &'static Form = Box::leak(Box::new(compile(pattern)?));
        forms.push(form);
        Ok(form)
    }

    /// The pattern as it is said to people.
    pub fn shown(&self) -> String {
        self.pattern.replace("%?T", " ").replace("%?z", "%z").replace("%.f", ".%f")
    }

    /// Whether timestamps can begin with this byte; quick, to pass words by.
    #[inline]
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        match self.items.first() {
            Some(Item::Byte(first)) => *first == byte,
            Some(Item::Digits(..) | Item::Epoch) => byte.is_ascii_digit(),
            Some(Item::MonthName | Item::Weekday) => byte.is_ascii_alphabetic(),
            _ => true,
        }
    }

    /// Reads a text that is a timestamp and nothing else.
    pub(crate) fn whole(&self, text: &[u8]) -> Result<Time, Miss> {
        let text = text.trim_ascii();
        let inner = match text {
            [b'[', inner @ .., b']'] => inner,
            _ => text,
        };
        for text in [text, inner] {
            let found = self.start(text);
            match found {
                Ok(found) if found.len == text.len() => return Ok(found.time),
                Err(Miss::NoSuchDay | Miss::OutOfRange) => return found.map(|found| found.time),
                _ => {}
            }
        }
        Err(Miss::Other)
    }

    /// How many bytes of a timestamp stand before its seconds, how seconds are written, and how many bytes stand behind
    /// them; none where that is not so simple.
    pub(super) fn around_seconds(&self, text: &[u8]) -> Option<(usize, Seconds, usize)> {
        let at = self.items.iter().position(|item| matches!(item, Item::Digits(Field::Second, ..)))?;
        let Item::Digits(_, least, _) = self.items[at] else { return None };
        let (fraction, after) = match self.items[at + 1..] {
            [Item::PointFraction, ..] => (Decimals::Perhaps, at + 2),
            [Item::Byte(point), Item::Fraction, ..] => (Decimals::Behind(point), at + 3),
            _ => (Decimals::None, at + 1),
        };
        let plain = |item: &Item| {
            matches!(item, Item::PerhapsZone | Item::Zone | Item::Blank | Item::Byte(_))
                || matches!(item, Item::Digits(Field::Year, ..))
        };
        if !self.items[after..].iter().all(plain) || self.items.contains(&Item::Meridiem) {
            return None;
        }
        let mut reading = Reading::default();
        let mut ends = [0, 0, 0];
        for (end, items) in
            [&self.items[..at], &self.items[at..after], &self.items[after..]].iter().enumerate()
        {
            let mut len = if end == 0 { 0 } else { ends[end - 1] };
            for &item in *items {
                len += reading.item(item, &text[len..])?;
            }
            ends[end] = len;
        }
        let open = self.items.last() == Some(&Item::PerhapsZone);
        Some((ends[0], Seconds { least, fraction, zone: open }, ends[2] - ends[1]))
    }

    /// Reads the timestamp at the start of a text. What follows must not be more of it.
    pub(crate) fn start(&self, text: &[u8]) -> Result<Found, Miss> {
        let mut reading = Reading::default();
        let mut at = 0;
        for &item in &self.items {
            at += reading.item(item, &text[at..]).ok_or(Miss::Other)?;
        }
        match text[at..] {
            [next, ..] if next.is_ascii_alphanumeric() || next == b'_' => return Err(Miss::Other),
            [b':' | b'.' | b',' | b'/' | b'-', next, ..] if next.is_ascii_digit() => return Err(Miss::Other),
            _ => {}
        }
        Ok(Found { time: reading.time(self)?, len: at })
    }
}

/// What was read so far.
pub(super) struct Reading {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: i64,
    /// Seconds that clocks there are ahead of UTC.
    ahead: i64,
    afternoon: Option<bool>,
    epoch: Option<i64>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            year: FRAME,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            nanoseconds: 0,
            ahead: 0,
            afternoon: None,
            epoch: None,
        }
    }
}

/// A number of between so many digits, and how many there are; none if it is beyond 64 bits.
#[inline]
fn number(text: &[u8], least: usize, most: usize) -> Option<(i64, usize)> {
    let (mut value, mut at) = (0i64, 0);
    while at < most
        && let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
    {
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
        at += 1;
    }
    (at >= least).then_some((value, at))
}

/// Nanoseconds of decimals, and how many digits they have; digits beyond nanoseconds are zeros.
pub(super) fn fraction(text: &[u8]) -> Option<(i64, usize)> {
    let (value, digits) = number(text, 1, 9)?;
    let zeros = text[digits..].iter().take_while(|&&byte| digits == 9 && byte == b'0').count();
    Some((value * 10i64.pow(9 - digits as u32), digits + zeros))
}

/// Which of `names` the text begins with, in full or by three letters, and how many bytes that is.
fn name(text: &[u8], names: &[&[u8]]) -> Option<(usize, usize)> {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let word = &text[..letters];
    let is = |name: &&[u8]| word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..3]);
    Some((names.iter().position(is)?, letters))
}

/// An offset from UTC in seconds, and its bytes.
fn zone(text: &[u8]) -> Option<(i64, usize)> {
    let (sign, rest) = match text {
        [b'Z' | b'z', ..] => return Some((0, 1)),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => {
            let letters = text.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
            let (_, hours) = ZONES.iter().find(|(name, _)| *name == &text[..letters])?;
            return Some((hours * 3600, letters));
        }
    };
    let (hours, _) = number(rest, 2, 2)?;
    let (minutes, len) = match rest.get(2) {
        Some(b':') => (number(&rest[3..], 2, 2)?.0, 6),
        Some(byte) if byte.is_ascii_digit() => (number(&rest[2..], 2, 2)?.0, 5),
        _ => (0, 3),
    };
    (hours <= 18 && minutes < 60).then_some((sign * (hours * 3600 + minutes * 60), len))
}

impl Reading {
    /// Reads one piece; how many bytes it has.
    #[inline]
    fn item(&mut self, item: Item, text: &[u8]) -> Option<usize> {
        match item {
            Item::Byte(byte) => (text.first() == Some(&byte)).then_some(1),
            Item::Blank => {
                let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                (blanks > 0).then_some(blanks)
            }
            Item::Between => matches!(text.first()?, b'T' | b't' | b' ' | b'_').then_some(1),
            Item::Digits(field, least, most) => {
                let (value, len) = number(text, least.into(), most.into())?;
                self.set(field, value).then_some(len)
            }
            Item::MonthName => {
                let (month, len) = name(text, &MONTHS)?;
                self.month = month as i64 + 1;
                Some(len)
            }
            Item::Weekday => name(text, &WEEKDAYS).map(|(_, len)| len),
            Item::Meridiem => {
                self.afternoon = Some(match text.get(..2)? {
                    b"AM" | b"am" => false,
                    b"PM" | b"pm" => true,
                    _ => return None,
                });
                Some(2)
            }
            Item::Fraction => {
                let (nanoseconds, len) = fraction(text)?;
                self.nanoseconds = nanoseconds;
                Some(len)
            }
            Item::PointFraction => Some(match text {
                [b'.' | b',', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => {
                    1 + self.item(Item::Fraction, rest)?
                }
                _ => 0,
            }),
            Item::Zone => {
                let (ahead, len) = zone(text)?;
                self.ahead = ahead;
                Some(len)
            }
            Item::PerhapsZone => Some(self.perhaps_zone(text)),
            Item::Epoch => {
                let (value, len) = number(text, 9, 19)?;
                let (unit, scale) = match value {
                    100_000_000_000_000_000.. => (1, 1_000_000_000),
                    100_000_000_000_000.. => (1_000, 1_000_000),
                    100_000_000_000.. => (1_000_000, 1_000),
                    _ => (1_000_000_000, 1),
                };
                let (part, decimals) = match &text[len..] {
                    [b'.', rest @ ..] => {
                        fraction(rest).map_or((0, 0), |(part, digits)| (part / scale, digits + 1))
                    }
                    _ => (0, 0),
                };
                self.epoch = value.checked_mul(unit).and_then(|time| time.checked_add(part));
                self.epoch.map(|_| len + decimals)
            }
        }
    }

    /// A zone right here, or behind a blank, if it is one for certain.
    #[inline]
    pub(super) fn perhaps_zone(&mut self, text: &[u8]) -> usize {
        // Most often a word follows that is none.
        if let [b' ', next, ..] = text
            && !matches!(next, b'+' | b'-' | b'U' | b'G' | b'E' | b'C' | b'M' | b'P')
        {
            return 0;
        }
        let (blank, rest) = match text {
            [b' ', rest @ ..] if rest.first().is_some_and(|byte| !matches!(byte, b'Z' | b'z')) => (1, rest),
            _ => (0, text),
        };
        match zone(rest) {
            // A short offset behind a blank may be any number.
            Some((_, 3)) if blank == 1 && !rest[0].is_ascii_alphabetic() => 0,
            Some((ahead, len)) if !rest.get(len).is_some_and(|next| next.is_ascii_alphanumeric()) => {
                self.ahead = ahead;
                blank + len
            }
            _ => 0,
        }
    }

    fn set(&mut self, field: Field, value: i64) -> bool {
        let (place, low, high) = match field {
            Field::Year => (&mut self.year, 0, 9999),
            Field::ShortYear => {
                self.year = if value < 69 { 2000 + value } else { 1900 + value };
                return true;
            }
            Field::Month => (&mut self.month, 1, 12),
            Field::Day => (&mut self.day, 1, 31),
            Field::Hour => (&mut self.hour, 0, 23),
            Field::Minute => (&mut self.minute, 0, 59),
            Field::Second => (&mut self.second, 0, 60),
        };
        *place = value;
        (low..=high).contains(&value)
    }

    fn time(&self, form: &Form) -> Result<Time, Miss> {
        if let Some(time) = self.epoch {
            return Ok(time);
        }
        if self.day > days_of(self.year, self.month) {
            return Err(Miss::NoSuchDay);
        }
        // A time of day alone is one of the first day.
        let year = if form.has_day { self.year } else { 1970 };
        let hour = match self.afternoon {
            Some(after) => self.hour % 12 + 12 * i64::from(after),
            None => self.hour,
        };
        let seconds = hour * 3600 + self.minute * 60 + self.second - self.ahead;
        let day = days(year, self.month, self.day).checked_mul(DAY).ok_or(Miss::OutOfRange)?;
        day.checked_add(seconds * 1_000_000_000 + self.nanoseconds).ok_or(Miss::OutOfRange)
    }
}

/// The pieces of a pattern.
fn compile(pattern: &str) -> Result<Form, String> {
    let mut items = Vec::new();
    let expanded = pattern
        .replace("%T", "%H:%M:%S")
        .replace("%F", "%Y-%m-%d")
        .replace("%R", "%H:%M")
        .replace("%D", "%m/%d/%y")
        // Leading zeros may be missing anyway.
        .replace("%-", "%")
        .replace("%_", "%");
    let mut rest = expanded.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte == b' ' || *byte == b'\t' {
            if items.last() != Some(&Item::Blank) {
                items.push(Item::Blank);
            }
            continue;
        }
        if *byte != b'%' {
            items.push(Item::Byte(*byte));
            continue;
        }
        let two = |field| Item::Digits(field, 1, 2);
        let (item, len) = match rest {
            [b'.', b'f', ..] => (Item::PointFraction, 2),
            [b'?', b'z', ..] => (Item::PerhapsZone, 2),
            [b'?', b'T', ..] => (Item::Between, 2),
            [b'Y', ..] => (Item::Digits(Field::Year, 4, 4), 1),
            [b'y', ..] => (Item::Digits(Field::ShortYear, 2, 2), 1),
            [b'm', ..] => (two(Field::Month), 1),
            [b'b' | b'B' | b'h', ..] => (Item::MonthName, 1),
            [b'd' | b'e', ..] => (two(Field::Day), 1),
            [b'a' | b'A', ..] => (Item::Weekday, 1),
            [b'H' | b'k' | b'I' | b'l', ..] => (two(Field::Hour), 1),
            [b'M', ..] => (two(Field::Minute), 1),
            [b'S', ..] => (two(Field::Second), 1),
            [b'p' | b'P', ..] => (Item::Meridiem, 1),
            [b'f' | b'N' | b'L', ..] => (Item::Fraction, 1),
            [b'z' | b'Z', ..] => (Item::Zone, 1),
            [b's', ..] => (Item::Epoch, 1),
            [b'%', ..] => (Item::Byte(b'%'), 1),
            _ => {
                let found: String = String::from_utf8_lossy(rest).chars().take(1).collect();
                return Err(format!(
                    "found `%{found}`, expected one of `%Y %y %m %b %d %a %H %I %p %M %S %f %z %s %T %F %%` in the form of timestamps"
                ));
            }
        };
        items.push(item);
        rest = &rest[len..];
    }
    fix_widths(&mut items);
    let has = |wanted: &[Field]| {
        items.iter().any(|item| {
            matches!(item, Item::Digits(field, ..) if wanted.contains(field)) || *item == Item::Epoch
        })
    };
    if !has(&[Field::Hour, Field::Day, Field::Month]) {
        return Err(format!("the form `{pattern}` says neither a day nor an hour"));
    }
    let has_year = has(&[Field::Year, Field::ShortYear]);
    let has_day = has(&[Field::Day, Field::Month]);
    Ok(Form { pattern: pattern.to_string(), items, has_year: has_year || !has_day, has_day })
}

/// Fields without anything between them have all their digits.
fn fix_widths(items: &mut [Item]) {
    let is_digits = |item: Option<&Item>| matches!(item, Some(Item::Digits(..)));
    for at in 0..items.len() {
        let beside = is_digits(items.get(at + 1)) || at > 0 && is_digits(items.get(at - 1));
        if let Item::Digits(field, 1, 2) = items[at]
            && beside
        {
            items[at] = Item::Digits(field, 2, 2);
        }
    }
}
