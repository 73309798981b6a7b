//! The forms that are recognised by looking.

use super::Form;
use std::sync::LazyLock;

/// Seconds (or smaller units, by their size) since 1970.
const EPOCH: &str = "%s";

/// Patterns, in the order in which they are tried at one place: what one of them reads, those after it do not.
const PATTERNS: &[&str] = &[
    "%Y-%m-%d%?T%H:%M:%S%.f%?z",
    "%Y/%m/%d%?T%H:%M:%S%.f%?z",
    "%Y.%m.%d %H:%M:%S%.f%?z",
    "%Y-%m-%d-%H.%M.%S.%f",
    "%Y-%m-%d-%H:%M:%S%.f%?z",
    "%Y%m%d-%H:%M:%S:%f",
    "%Y%m%d-%H:%M:%S%.f%?z",
    "%Y%m%d %H:%M:%S%.f%?z",
    "%Y%m%dT%H%M%S%.f%?z",
    "%a %b %d %H:%M:%S%.f %Y",
    "%a %b %d %H:%M:%S%.f %z %Y",
    "%a, %d %b %Y %H:%M:%S%?z",
    "%d %b %Y %H:%M:%S%.f%?z",
    "%d/%b/%Y:%H:%M:%S%.f%?z",
    "%d-%b-%Y %H:%M:%S%.f%?z",
    "%b %d, %Y %H:%M:%S%.f%?z",
    "%b %d %Y %H:%M:%S%.f%?z",
    "%b %d %H:%M:%S%.f %Y",
    "%d.%m.%Y %H:%M:%S%.f",
    "%y/%m/%d %H:%M:%S%.f",
    "%y%m%d %H%M%S",
    "%y%m%d %H:%M:%S%.f",
    "%b %d %H:%M:%S%.f",
    "%a %b %d %H:%M:%S%.f",
    "%m-%d %H:%M:%S%.f",
    "%m.%d %H:%M:%S%.f",
    EPOCH,
];

/// The known forms.
pub(crate) static KNOWN: LazyLock<Vec<&'static Form>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|pattern| Form::of(pattern).ok()).collect());

/// Whether a form is a plain number.
pub(crate) fn is_epoch(form: &Form) -> bool {
    form.pattern == EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_core::Time;

    /// What known forms make of a text, all of it.
    fn read(text: &str) -> Vec<(&'static str, Time)> {
        let read = |form: &&'static Form| Some((form.pattern.as_str(), form.whole(text.as_bytes()).ok()?));
        KNOWN.iter().filter_map(read).collect()
    }

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(KNOWN.len(), PATTERNS.len());
    }

    #[test]
    fn usual_forms_are_read_and_by_one_form_each() {
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_nanosecond() as Time;
        for (text, time) in [
            ("[Sun Dec 04 04:47:44 2005]", "2005-12-04T04:47:44Z"),
            ("Sun Dec  4 04:47:44 UTC 2005", "2005-12-04T04:47:44Z"),
            ("2015-10-18 18:01:47,978", "2015-10-18T18:01:47.978Z"),
            ("2015-10-18 18:01:47.978", "2015-10-18T18:01:47.978Z"),
            ("2015-10-18T18:01:47+02:00", "2015-10-18T16:01:47Z"),
            ("2015-10-18 18:01:47 -0730", "2015-10-19T01:31:47Z"),
            ("2015-10-18 18:01:47 UTC", "2015-10-18T18:01:47Z"),
            ("2015-10-18T18:01:47.123456789Z", "2015-10-18T18:01:47.123456789Z"),
            ("17/06/09 20:10:40", "2017-06-09T20:10:40Z"),
            ("081109 203615", "2008-11-09T20:36:15Z"),
            ("20171223-22:15:29:606", "2017-12-23T22:15:29.606Z"),
            ("20171224-0:7:20:4", "2017-12-24T00:07:20.4Z"),
            ("03-17 16:13:38.811", "1972-03-17T16:13:38.811Z"),
            ("2005-06-03-15.42.50.675872", "2005-06-03T15:42:50.675872Z"),
            ("[10.30 16:49:06]", "1972-10-30T16:49:06Z"),
            ("10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z"),
            ("[10/Oct/2000:13:55:36 -0700]", "2000-10-10T20:55:36Z"),
            ("Dec 10 06:55:46", "1972-12-10T06:55:46Z"),
            ("Dec  1 6:5:4", "1972-12-01T06:05:04Z"),
            ("Feb 29 00:00:00.5", "1972-02-29T00:00:00.5Z"),
            ("Tue, 1 Jul 2003 10:52:37 +0200", "2003-07-01T08:52:37Z"),
            ("01 Jul 2003 10:52:37 GMT", "2003-07-01T10:52:37Z"),
            ("Fri, 21 Nov 1997 09:55:06 EST", "1997-11-21T14:55:06Z"),
            ("1117838570", "2005-06-03T22:42:50Z"),
            ("1117838570.5", "2005-06-03T22:42:50.5Z"),
            ("1700000000123", "2023-11-14T22:13:20.123Z"),
            ("1700000000123456", "2023-11-14T22:13:20.123456Z"),
            ("1700000000123456789", "2023-11-14T22:13:20.123456789Z"),
        ] {
            let found = read(text);
            assert!(found.len() == 1 && found[0].1 == at(time), "{text}: {found:?}, expected {}", at(time));
        }
        for text in [
            "",
            "soon",
            "12345",
            "2015-10-18",
            "18:01:47",
            "2015-13-18 18:01:47",
            "Foo 10 06:55:46",
            "9999999999999999999",
            "999999999999999999999",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    #[test]
    fn patterns_of_ones_own() {
        for (pattern, text, time) in [
            ("%d.%m.%y %H:%M", "09.11.89 18:53", "1989-11-09T18:53:00Z"),
            ("%m/%d/%Y %I:%M:%S %p", "7/4/2024 12:05:06 AM", "2024-07-04T00:05:06Z"),
            ("%m/%d/%Y %I:%M:%S %p", "7/4/2024 1:05:06 PM", "2024-07-04T13:05:06Z"),
            ("%F_%T.%f", "2024-07-04_01:02:03.5", "2024-07-04T01:02:03.5Z"),
            ("at %s", "at 1700000000", "2023-11-14T22:13:20Z"),
            ("%H:%M:%S", "01:02:03", "1970-01-01T01:02:03Z"),
            ("%-d.%-m.%Y %H:%M %z", "4.7.2024 03:00 +0200", "2024-07-04T01:00:00Z"),
        ] {
            let expected = time.parse::<jiff::Timestamp>().unwrap().as_nanosecond() as Time;
            assert_eq!(Form::of(pattern).unwrap().whole(text.as_bytes()), Ok(expected), "{pattern}");
        }
        for (pattern, said) in [("%Q", "`%Q`"), ("%", "`%`"), ("%p", "neither"), ("", "neither")] {
            let error = Form::of(pattern).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
