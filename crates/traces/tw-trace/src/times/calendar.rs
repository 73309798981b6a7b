//! Years of timestamps that are written without one.

use tw_core::Time;

/// The year in which timestamps without a year are read: it has a 29 February.
pub(super) const FRAME: i64 = 1972;
/// Nanoseconds of a day.
pub(super) const DAY: i64 = 86_400_000_000_000;
/// The year of a first timestamp without one, if nobody says another.
const FIRST: i64 = 1970;

/// Days from 1970-01-01 to a day of the Gregorian calendar; months and days count from 1.
pub(super) fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// How many days a month has.
pub(super) fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The year in which the next timestamp without one stands: it goes up when the month falls by more than six.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// The year.
    pub year: i64,
    /// Month of the timestamp before, from 1; 0 if there is none.
    pub month: u8,
}

/// What a block of timestamps without years went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Months {
    /// Before its first, as far as the reader knew.
    pub before: Calendar,
    /// Month of its first.
    pub first: u8,
    /// After its last.
    pub after: Calendar,
}

impl Calendar {
    /// Before the first timestamp.
    pub fn new(year: Option<i32>) -> Self {
        Self { year: year.map_or(FIRST, i64::from), month: 0 }
    }

    /// The same, if the next timestamp is of `month`.
    #[must_use]
    #[inline]
    pub fn at(self, month: u8) -> Self {
        Self { year: self.year + i64::from(self.month > month + 6), month }
    }

    /// The time that was read in the frame's year, in its own. `Err` is 29 February in a year without one.
    #[inline]
    pub fn resolve(&mut self, framed: Time) -> Result<Time, i64> {
        *self = self.at(month_of(framed));
        shift(framed, self.year).ok_or(self.year)
    }
}

/// The first moments of the frame's months.
static MONTHS: [Time; 12] = {
    const LENGTHS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut starts = [0; 12];
    let mut day = 730;
    let mut month = 0;
    while month < 12 {
        starts[month] = day * DAY;
        day += LENGTHS[month];
        month += 1;
    }
    starts
};

/// The month of a time in the frame's year, from 1.
pub(super) fn month_of(framed: Time) -> u8 {
    MONTHS.iter().rposition(|&start| framed >= start).map_or(1, |at| at as u8 + 1)
}

/// A time of the frame's year in another one; `None` for a day that that one lacks, or beyond what can be held.
#[inline]
fn shift(framed: Time, year: i64) -> Option<Time> {
    let leap = is_leap(year);
    let march = MONTHS[2];
    if !leap && framed >= march - DAY && framed < march {
        return None;
    }
    let first = days(year, 1, 1) - days(FRAME, 1, 1) - i64::from(!leap && framed >= march);
    first.checked_mul(DAY)?.checked_add(framed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (year, month, day) in [
            (1970, 1, 1),
            (1972, 2, 29),
            (2000, 2, 29),
            (2000, 3, 1),
            (1900, 3, 1),
            (2262, 4, 11),
            (1678, 1, 1),
        ] {
            let date = jiff::civil::date(year, month, day);
            let expected = date.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_second() / 86_400;
            assert_eq!(days(year.into(), month.into(), day.into()), expected, "{date}");
        }
        assert_eq!(MONTHS[2], days(FRAME, 3, 1) * DAY);
        assert_eq!(month_of(days(FRAME, 12, 31) * DAY), 12);
    }

    #[test]
    fn years_turn_when_the_month_falls_by_more_than_six() {
        let mut calendar = Calendar::new(Some(2023));
        let mut at = |month, day| calendar.resolve(days(FRAME, month, day) * DAY);
        assert_eq!(at(12, 31), Ok(days(2023, 12, 31) * DAY));
        assert_eq!(at(1, 1), Ok(days(2024, 1, 1) * DAY));
        assert_eq!(at(2, 29), Ok(days(2024, 2, 29) * DAY));
        assert_eq!(at(3, 1), Ok(days(2024, 3, 1) * DAY));
        // Back by six months is the same year, and so is forward by any number.
        assert_eq!(at(9, 1), Ok(days(2024, 9, 1) * DAY));
        assert_eq!(at(3, 1), Ok(days(2024, 3, 1) * DAY));
        assert_eq!(at(12, 1), Ok(days(2024, 12, 1) * DAY));
        assert_eq!(at(2, 29), Err(2025));
        assert_eq!(at(3, 1), Ok(days(2025, 3, 1) * DAY));
    }
}
