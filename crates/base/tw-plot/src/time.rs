//! Dates, times of day and durations along an axis.

use crate::number::{Decimal, number};

const SECOND: i128 = 1_000_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;
/// The first Monday after 1970 began: weeks start there.
const MONDAY: i128 = 4 * DAY;
/// Instants further than this from 1970 (some eleven thousand years) are not shown as dates.
const FURTHEST: i128 = 350_000_000_000 * SECOND;

/// The distance of two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nanoseconds(i128),
    Months(i128),
}

/// A place on the axis, its label, and what is shown below it where it changes: the date of a time of day.
pub(crate) type TimeTick = (f64, String, String);

/// At most about `most` round instants between `low` and `high`, which are nanoseconds after `origin`. `None` if they
/// are too far from today to be dates.
pub(crate) fn instants(origin: i64, low: f64, high: f64, most: usize) -> Option<Vec<TimeTick>> {
    let (from, to) = (instant(origin, low)?, instant(origin, high)?);
    let step = instant_step(to - from, most.max(1) as i128);
    let at = |instant: i128| (instant - i128::from(origin)) as f64;
    let ticks = match step {
        Step::Nanoseconds(step) => {
            let phase = if step % (7 * DAY) == 0 { MONDAY } else { 0 };
            let first = (from - phase).div_euclid(step) * step + phase;
            let all = (0..).map(move |n| first + n * step).skip_while(|&tick| tick < from);
            let all = all.take_while(|&tick| tick <= to);
            all.map(|tick| labelled(at(tick), tick, step)).collect()
        }
        Step::Months(step) => {
            let (year, month, _) = civil(from.div_euclid(DAY));
            let first = (year * 12 + month - 1).div_euclid(step) * step;
            let all = (0..).map(move |n| first + n * step);
            let all = all.map(|month| (month, days(month.div_euclid(12), month.rem_euclid(12) + 1) * DAY));
            let all = all.skip_while(|&(_, tick)| tick < from).take_while(|&(_, tick)| tick <= to);
            all.map(|(month, tick)| {
                let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
                let label = if step >= 12 { format!("{year:04}") } else { format!("{year:04}-{month:02}") };
                (at(tick), label, String::new())
            })
            .collect()
        }
    };
    Some(ticks)
}

fn instant(origin: i64, offset: f64) -> Option<i128> {
    let limit = FURTHEST as f64;
    let instant =
        i128::from(origin) + if offset.abs() < limit { offset.round() as i128 } else { return None };
    (instant.abs() < FURTHEST).then_some(instant)
}

/// The smallest round step that cuts `span` into at most `most` parts.
fn instant_step(span: i128, most: i128) -> Step {
    let fits = |step: &i128| span <= *step * most;
    let fractions = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i128.pow(power)));
    let seconds = [1, 2, 5, 10, 15, 30].map(|n| n * SECOND);
    let minutes = [1, 2, 5, 10, 15, 30].map(|n| n * MINUTE);
    let hours = [1, 2, 3, 6, 12].map(|n| n * HOUR);
    let days = [1, 2, 7, 14].map(|n| n * DAY);
    let below_month = fractions.chain(seconds).chain(minutes).chain(hours).chain(days);
    if let Some(step) = below_month.into_iter().find(fits) {
        return Step::Nanoseconds(step);
    }
    let years = (0..6).flat_map(|power| [1, 2, 5].map(|digit| 12 * digit * 10_i128.pow(power)));
    let mut months = [1, 2, 3, 6].into_iter().chain(years);
    Step::Months(months.find(|&n| fits(&(n * 30 * DAY))).unwrap_or(12_000_000))
}

fn labelled(at: f64, instant: i128, step: i128) -> TimeTick {
    let (year, month, day) = civil(instant.div_euclid(DAY));
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time = instant.rem_euclid(DAY);
    let (hour, minute) = (time / HOUR, time % HOUR / MINUTE);
    if step >= DAY {
        (at, date, String::new())
    } else if step >= MINUTE {
        (at, format!("{hour:02}:{minute:02}"), date)
    } else if step >= SECOND {
        (at, format!("{hour:02}:{minute:02}:{:02}", time % MINUTE / SECOND), date)
    } else {
        // Seconds and their fraction; the minute stands below.
        let places = places(step);
        let unit = 10_i128.pow(9 - places);
        let seconds = time % MINUTE / SECOND;
        let fraction = time % SECOND / unit;
        let label = format!("{seconds:02}.{fraction:0places$}", places = places as usize);
        (at, label, format!("{date} {hour:02}:{minute:02}"))
    }
}

/// Decimal places of seconds that a step below one needs.
fn places(step: i128) -> u32 {
    let mut places = 9;
    let mut step = step;
    while places > 0 && step % 10 == 0 {
        (places, step) = (places - 1, step / 10);
    }
    places
}

/// An instant in full.
pub(crate) fn show_instant(origin: i64, offset: f64) -> String {
    let Some(instant) = instant(origin, offset) else { return number(offset) };
    let (year, month, day) = civil(instant.div_euclid(DAY));
    let time = instant.rem_euclid(DAY);
    let (hour, minute, second) = (time / HOUR, time % HOUR / MINUTE, time % MINUTE / SECOND);
    let fraction = format!(".{:09}", time % SECOND);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}")
}

/// Units of durations in nanoseconds, and the steps that are round in each.
const UNITS: [(&str, i128, &[i128]); 7] = [
    ("ns", 1, &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    ("µs", 1_000, &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    ("ms", 1_000_000, &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    ("s", SECOND, &[1, 2, 5, 10, 15, 30]),
    ("min", MINUTE, &[1, 2, 5, 10, 15, 30]),
    ("h", HOUR, &[1, 2, 3, 6, 12]),
    ("d", DAY, &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000]),
];

/// At most about `most` round durations between `low` and `high`. `None` below a nanosecond and beyond millennia.
pub(crate) fn durations(low: f64, high: f64, most: usize) -> Option<Vec<(f64, String)>> {
    let (from, to) = (instant(0, low.floor())?, instant(0, high.ceil())?);
    if high - low < 2.0 {
        return None;
    }
    let most = most.max(1) as i128;
    let all =
        UNITS.iter().flat_map(|&(name, unit, steps)| steps.iter().map(move |step| (name, unit, step * unit)));
    let (name, unit, step) = all.into_iter().find(|&(_, _, step)| to - from <= step * most)?;
    let first = from.div_euclid(step) * step;
    let ticks = (0..).map(|n| first + n * step).take_while(|&tick| tick <= to);
    let within = |tick: &i128| (low..=high).contains(&(*tick as f64));
    let label = |tick: i128| {
        let count = i64::try_from(tick / unit).unwrap_or(i64::MAX);
        format!("{} {name}", Decimal { digits: count, power: 0 }.plain())
    };
    Some(ticks.filter(within).map(|tick| (tick as f64, label(tick))).collect())
}

/// A duration in the largest unit of which it has one.
pub(crate) fn show_duration(nanoseconds: f64) -> String {
    let unit = UNITS.iter().rev().find(|(_, unit, _)| nanoseconds.abs() >= *unit as f64);
    match unit {
        Some((name, unit, _)) => format!("{} {name}", number(nanoseconds / *unit as f64)),
        None => format!("{} ns", number(nanoseconds)),
    }
}

/// Year, month and day of a day since 1970, in the proleptic Gregorian calendar. Years are counted from March, so that
/// the leap day is the last; 400 of them have 146,097 days.
fn civil(day: i128) -> (i128, i128, i128) {
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i128::from(month <= 2), month, date)
}

/// The day since 1970 on which a month begins.
fn days(year: i128, month: i128) -> i128 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = if month > 2 { month - 3 } else { month + 9 };
    era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_millennia_has_its_date() {
        let (mut year, mut month, mut day) = (1600, 1, 1);
        for number in days(1600, 1)..days(2600, 1) {
            assert_eq!(civil(number), (year, month, day));
            if day == 1 {
                assert_eq!(days(year, month), number);
            }
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length =
                [31, 28 + i128::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(-1), (1969, 12, 31));
    }

    fn labels(origin: i64, high: f64, most: usize) -> Vec<String> {
        let ticks = instants(origin, 0.0, high, most).unwrap();
        ticks.into_iter().map(|(_, label, below)| format!("{label}|{below}")).collect()
    }

    #[test]
    fn instants_are_round() {
        // 2024-02-28 23:50:00
        let origin = 1_709_164_200 * 1_000_000_000;
        let second = 1e9;
        assert_eq!(
            labels(origin, 1_200.0 * second, 5),
            [
                "23:50|2024-02-28",
                "23:55|2024-02-28",
                "00:00|2024-02-29",
                "00:05|2024-02-29",
                "00:10|2024-02-29"
            ]
        );
        assert_eq!(labels(origin, 2.0 * second, 4)[1], "00.5|2024-02-28 23:50");
        assert_eq!(
            labels(origin, 4.0, 3),
            [
                "00.000000000|2024-02-28 23:50",
                "00.000000002|2024-02-28 23:50",
                "00.000000004|2024-02-28 23:50"
            ]
        );
        assert_eq!(labels(origin, 86_400.0 * 3.0 * second, 4), ["2024-02-29|", "2024-03-01|", "2024-03-02|"]);
        assert_eq!(
            labels(origin, 86_400.0 * 100.0 * second, 5),
            ["2024-03|", "2024-04|", "2024-05|", "2024-06|"]
        );
        assert_eq!(labels(origin, 86_400.0 * 3_000.0 * second, 5), ["2026|", "2028|", "2030|", "2032|"]);
        assert_eq!(instants(0, 0.0, 1e30, 5), None);
        assert_eq!(instants(i64::MAX, 0.0, 1e18, 4).unwrap().len(), 3);
        assert_eq!(instants(i64::MIN, -1e18, 0.0, 4).unwrap().len(), 3);
    }

    #[test]
    fn weeks_start_on_monday() {
        let origin = 1_709_164_200 * 1_000_000_000;
        let ticks = labels(origin, 86_400.0e9 * 30.0, 6);
        assert_eq!(ticks[0], "2024-03-04|", "a Monday");
    }

    #[test]
    fn durations_are_round() {
        let labels = |low: f64, high: f64| -> Vec<String> {
            durations(low, high, 5).unwrap().into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(0.0, 90e9), ["0 s", "30 s", "60 s", "90 s"]);
        assert_eq!(labels(-2e6, 2e6), ["-2 ms", "-1 ms", "0 ms", "1 ms", "2 ms"]);
        assert_eq!(labels(0.0, 36.0 * 3_600e9), ["0 h", "12 h", "24 h", "36 h"]);
        assert_eq!(show_duration(1_500.0), "1.5 µs");
        assert_eq!(show_duration(0.25), "0.25 ns");
        assert_eq!(show_duration(-7_200e9), "-2 h");
    }

    #[test]
    fn instants_in_full() {
        assert_eq!(show_instant(0, 0.0), "1970-01-01 00:00:00");
        assert_eq!(show_instant(1_709_164_200_000_000_001, 249_999_999.0), "2024-02-28 23:50:00.25");
    }
}
