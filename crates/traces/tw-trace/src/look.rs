//! Which format a trace has, where its name does not say: by what its first lines look like.

use crate::TraceFormat;

/// Most bytes that are looked at.
pub(crate) const SEEN: usize = 64 << 10;
/// Lines that a format looks at: enough to be sure, few enough to be cheap.
const LINES: usize = 32;
/// Extensions that traces of many formats have.
const SHARED: &[&str] = &["log", "txt", "out"];

/// How much the beginning of a trace looks like one of a format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// Not at all.
    #[default]
    No,
    /// It cannot be ruled out: text of any kind.
    Perhaps,
    /// Other formats may look like this, but seldom do.
    Likely,
    /// Nothing else begins like this.
    Sure,
}

/// The format of `formats` that a trace looks like that begins with `head`; of equals the first.
pub fn recognise<'f>(head: &[u8], formats: &[&'f dyn TraceFormat]) -> Option<&'f dyn TraceFormat> {
    let lines = whole_lines(head);
    if lines.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let mut best: Option<(Likeness, &dyn TraceFormat)> = None;
    for &format in formats {
        let likeness = format.look(lines);
        if likeness > best.map_or(Likeness::No, |(likeness, _)| likeness) {
            best = Some((likeness, format));
        }
    }
    best.map(|(_, format)| format)
}

/// The format for a file name among `formats` by extension, compression and rotation (`.gz`, `.1`) left aside.
pub fn detect<'f>(name: &str, formats: &[&'f dyn TraceFormat]) -> Option<&'f dyn TraceFormat> {
    let extension = extension(name)?;
    formats.iter().copied().find(|format| format.card().extensions.contains(&extension.as_str()))
}

/// Whether the extension of a file alone does not say its format, because many have it or none.
pub fn is_ambiguous(name: &str) -> bool {
    extension(name).is_none_or(|extension| SHARED.contains(&extension.as_str()))
}

/// The extension that says what is inside.
fn extension(name: &str) -> Option<String> {
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let mut name = name;
    // Rotated logs have a number or a date behind their own extension.
    while let Some((before, last)) = name.rsplit_once('.')
        && !last.is_empty()
        && last.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        name = before;
    }
    Some(name.rsplit_once('.')?.1.to_ascii_lowercase())
}

/// The lines that `head` holds whole; all of it, if it is short enough to be the whole trace or one long line.
fn whole_lines(head: &[u8]) -> &[u8] {
    let head = &head[..head.len().min(SEEN)];
    match memchr::memrchr(b'\n', head) {
        Some(end) => &head[..=end],
        None => head,
    }
}

/// The first lines that are not blank, without their ends.
pub(crate) fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    all_lines(head).take(LINES)
}

/// The lines that are not blank, without their ends.
pub(crate) fn all_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let trimmed = |line| <[u8]>::strip_suffix(line, b"\r").unwrap_or(line);
    head.split(|&byte| byte == b'\n').map(trimmed).filter(|line| !line.iter().all(u8::is_ascii_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FORMATS;

    fn look(head: &str) -> Option<&'static str> {
        recognise(head.as_bytes(), FORMATS).map(|format| format.name())
    }

    #[test]
    fn formats_are_known_by_their_first_lines() {
        for (head, format) in [
            ("{\"a\": 1}\n{\"a\": 2}\n", "jsonl"),
            ("\n  {\"a\": 1}\n", "jsonl"),
            ("[{\"a\": 1},\n", "json"),
            ("[\n  {\"a\": 1}\n]\n", "json"),
            ("@12 p (a,b)\n@13 q ()\n", "monpoly"),
            ("time,event,user\n1,login,bob\n2,logout,bob\n", "csv"),
            ("Zeit;Druck;Ventil\n1;2,5;N/A\n", "csv"),
            ("a\tb\n1\t2\n", "csv"),
            ("\"a, b\",c\n1,2\n", "csv"),
        ] {
            assert_eq!(look(head), Some(format), "{head}");
        }
        for head in ["", "\n \n", "PAR1\0\0\0"] {
            assert_eq!(look(head).filter(|name| *name != "lines"), None, "{head}");
        }
        // Commas alone make no table.
        for head in
            ["2015-10-18 18:01:47,978 INFO started\n2015-10-18 18:01:48,112 WARN late\n", "one, two\nthree\n"]
        {
            assert_ne!(look(head), Some("csv"), "{head}");
        }
    }

    #[test]
    fn names_say_what_they_can() {
        let by_name = |name: &str| detect(name, FORMATS).map(|format| format.name());
        assert_eq!(by_name("a/b.csv"), Some("csv"));
        assert_eq!(by_name("b.tsv.gz"), Some("csv"));
        assert_eq!(by_name("jobs.jsonl.1.gz"), Some("jsonl"));
        assert_eq!(by_name("jobs.jsonl.2024-05-01"), Some("jsonl"));
        assert_eq!(by_name("a.d/plain"), None);
        assert!(is_ambiguous("access.log.1.gz") && is_ambiguous("app.txt") && is_ambiguous("plain"));
        assert!(!is_ambiguous("a.csv") && !is_ambiguous("a.csv.3"));
    }
}
