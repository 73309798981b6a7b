//! Small pieces of wording that findings, commands and reporters share.

use super::query::edge;
use super::{Item, Violation, ViolationRange, json};
use crate::check::Step;
use crate::query::Approximation;
use crate::require::Required;
use crate::robust::{Reason, WeakestLink};
use crate::{Value, Verdict};
use tw_diag::{Sources, Span};

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 position`, `2 positions`, `3 properties`.
pub fn counted(number: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{} {stem}ies", count(number)),
        None => format!("{} {noun}s", count(number)),
    }
}

/// A value as a person writes it: `5` for 5.0, `(1, null)` for a pair.
pub fn value(value: &Value) -> String {
    match value {
        Value::Real(real) if real.fract() == 0.0 && real.abs() < 1e15 => format!("{}", *real as i64),
        Value::List(items) if items.iter().all(|item| !matches!(item, Value::List(_) | Value::Object(_))) => {
            let items: Vec<String> = items.iter().map(self::value).collect();
            format!("({})", items.join(", "))
        }
        // Nested data may be as deep as a log line is long.
        Value::List(_) | Value::Object(_) => json::value(value),
        other => other.to_string(),
    }
}

/// What is approximate, and how far off it may be.
pub fn bounds(parts: &[Approximation]) -> String {
    let each: Vec<String> = parts.iter().map(|part| format!("{}: {}", part.part, part.bound)).collect();
    each.join("; ")
}

/// The text with control characters made visible: a log line must not steer the terminal.
pub fn printable(text: &str) -> String {
    text.trim_end_matches(['\r', '\n'])
        .chars()
        .map(|c| match c {
            '\t' => ' ',
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('·'),
            '\u{7f}' => '\u{2421}',
            '\u{80}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => '·',
            c => c,
        })
        .collect()
}

/// The text, cut with `…` if it is longer than `width` characters.
pub fn clip(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_string(),
        Some(_) => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// `u = "bob", n = 3`
pub fn bindings(pairs: &[(String, Value)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name} = {}", clip(&printable(&quoted(value)), 80)))
        .collect();
    pairs.join(", ")
}

/// A value as a formula would write it: text in quotes.
pub fn quoted(value: &Value) -> String {
    json::value(value)
}

/// Where a violation is, as far as known: `position 6 · time 12.5 · u = "bob"`.
pub fn place(violation: &Violation, separator: &str) -> String {
    let mut parts = Vec::new();
    if let Some(position) = violation.position {
        parts.push(format!("position {position}"));
    } else if violation.category.is_some() {
        parts.push("the end of the trace".to_owned());
    }
    if let Some(time) = violation.time {
        parts.push(format!("time {}", time.format()));
    }
    if !violation.bindings.is_empty() {
        parts.push(bindings(&violation.bindings));
    }
    if violation.infinite {
        parts.push("infinitely many valuations".to_owned());
    }
    parts.join(separator)
}

/// Where a range of violations is: `positions 6 to 9 · time 12 to 18 · u = "bob"`.
pub fn range(range: &ViolationRange, separator: &str) -> String {
    let Some((last, last_time, _)) = &range.last else { return place(&range.first, separator) };
    let mut parts = Vec::new();
    if let Some(first) = range.first.position {
        parts.push(format!("positions {first} to {last}"));
    }
    if let (Some(first), Some(last)) = (range.first.time, last_time) {
        parts.push(format!("time {} to {}", first.format(), last.format()));
    }
    let rest = Violation { position: None, time: None, ..range.first.clone() };
    parts.extend(Some(place(&rest, separator)).filter(|rest| !rest.is_empty()));
    parts.join(separator)
}

/// The lines of a range: `t.csv:7`, `t.csv:7–9`; nothing if they are not known.
pub fn lines(range: &ViolationRange) -> String {
    let Some(line) = &range.first.line else { return String::new() };
    match &range.last {
        Some((.., Some((file, last)))) if *file == line.file && *last > line.line => {
            format!("{file}:{}–{last}", line.line)
        }
        Some((.., Some((file, last)))) if *file != line.file => {
            format!("{}:{} to {file}:{last}", line.file, line.line)
        }
        _ => format!("{}:{}", line.file, line.line),
    }
}

/// The variables that decide an item, as its explanation names them.
pub fn focus(item: &Item) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = Vec::new();
    let at = item.position;
    for (_, step) in item.explanation.iter().flat_map(steps).filter(|(_, step)| Some(step.from) == at) {
        for (name, value) in &step.values {
            if found.iter().all(|(known, _)| known != name) {
                found.push((name.clone(), value.clone()));
            }
        }
    }
    found
}

/// Where a line has a field: `"status": 500`, `status=500`, or the value alone between characters that are no part of
/// it.
pub fn field(line: &str, name: &str, value: &Value) -> Option<std::ops::Range<usize>> {
    let last = name.rsplit('.').next().unwrap_or(name).trim_matches('`');
    let key = format!("\"{last}\"");
    let part = |c: char| c.is_alphanumeric() || c == '_';
    // To the end of a text in quotes, or to what ends a bare value.
    let end = |from: usize, stop: &[char]| {
        let rest = &line[from..];
        match rest.strip_prefix('"') {
            Some(text) => text.find('"').map_or(line.len(), |quote| from + quote + 2),
            None => rest.find(stop).map_or(line.len(), |stop| from + stop),
        }
    };
    for (start, _) in line.match_indices(&key) {
        let rest = line[start + key.len()..].trim_start();
        if let Some(rest) = rest.strip_prefix(':') {
            let from = line.len() - rest.trim_start().len();
            return Some(start..end(from, &[',', '}', ']', '\n']));
        }
    }
    for (start, found) in line.match_indices(last).filter(|_| !last.is_empty()) {
        let rest = start + found.len();
        if line[rest..].starts_with('=') && !line[..start].ends_with(part) {
            return Some(start..end(rest + 1, &[' ', '\t', ',', '\n']));
        }
    }
    let text = match value {
        Value::Null => return None,
        Value::Str(text) => text.to_string(),
        other => self::value(other),
    };
    let mut found = line.match_indices(&text).filter(|_| !text.is_empty());
    let alone =
        |start: usize| !line[..start].ends_with(part) && !line[start + text.len()..].starts_with(part);
    found.find(|(start, _)| alone(*start)).map(|(start, _)| start..start + text.len())
}

/// The text cut to `width` characters, so that the first of the fields is seen.
pub fn around(text: &str, width: usize, focus: &[(String, Value)]) -> String {
    let length = text.chars().count();
    let found = focus.iter().find_map(|(name, value)| field(text, name, value));
    let Some(found) = found.filter(|_| length > width && width > 8) else { return clip(text, width) };
    let (start, end) = (text[..found.start].chars().count(), text[..found.end].chars().count());
    if end < width {
        return clip(text, width);
    }
    // The field in the middle, its beginning in any case; two characters are for what is left out.
    let room = width - 2;
    let from = (start.saturating_sub(room.saturating_sub(end - start) / 2)).min(length - room);
    let shown: String = text.chars().skip(from).take(room).collect();
    let after = if from + room < length { "…" } else { "" };
    format!("…{shown}{after}")
}

/// One step of an explanation in words: the formula, where, why.
pub fn step(step: &Step) -> String {
    let formula = clip(&printable(&step.formula), 160);
    let reason = printable(&step.reason);
    // A sentence that names the formula or the position itself is not made to say so twice.
    let at = match (step.from, step.to) {
        (from, to) if from != to => format!(" at {from}–{to}"),
        (from, _) if reason.contains(&format!("position {from}")) => String::new(),
        (from, _) => format!(" at {from}"),
    };
    let mut text = match reason.starts_with(&format!("`{formula}`")) && step.from != step.to {
        true => reason,
        false => format!("{formula}{at}: {reason}"),
    };
    if let Some(since) = step.pending_since
        && !step.reason.contains("pending")
    {
        text.push_str(&format!("; pending since position {since}"));
    }
    // That an event which does not occur is null says nothing that "it is not so" does not.
    let telling = |(name, value): &&(String, Value)| !(value.is_null() && *name == step.formula);
    let values: Vec<(String, Value)> = step.values.iter().filter(telling).cloned().collect();
    if !values.is_empty() {
        text.push_str(&format!(" ({})", bindings(&values)));
    }
    text
}

/// What is to be said of a verdict that is not plain: it is open, or about executions that imprecise timestamps allow.
pub fn undecided(item: &Item) -> Option<String> {
    match (&item.guarantee, item.verdict) {
        (Some(guarantee), _) => Some(printable(&guarantee.sentence())),
        (None, Some(Verdict::Unknown)) => Some("undecided: the trace settles it neither way".into()),
        (None, _) => None,
    }
}

/// The value of a requirement and what is required of it: `ip = a: 7, required <= 3`.
pub fn required(found: &Required) -> String {
    let key = found.by.as_ref().map(|(column, key)| format!("{column} = {}", value(key)));
    let window = found.window.map(|(from, to)| format!("{} to {}", edge(from), edge(to)));
    let part = [key, window].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let part = if part.is_empty() { part } else { format!("{part}: ") };
    match (&found.value, &found.missing) {
        (Value::Null, Some(missing)) => format!("{part}no value ({missing}), required {}", found.relation),
        (Value::Null, None) => format!("{part}no value, required {}", found.relation),
        (known, _) => format!("{part}{}, required {}", value(known), found.relation),
    }
}

/// The part of an item's explanation that is news: for `G φ`, whose violation is shown already, why φ fails there.
pub fn core(item: &Item) -> Option<&Step> {
    match item.explanation.as_ref()? {
        // What a monitor says stands in the first step.
        whole if item.violations.first().is_some_and(|found| found.text.is_some()) => Some(whole),
        Step { holds: false, because, .. } if item.position.is_some() && because.len() == 1 => {
            because.first()
        }
        whole => Some(whole),
    }
}

/// The steps of an explanation in the order they are read, each with its depth and whether it is the last of its
/// siblings, for every level down to it.
pub fn steps(root: &Step) -> Vec<(Vec<bool>, &Step)> {
    let mut list = Vec::new();
    let mut stack: Vec<(Vec<bool>, &Step)> = vec![(Vec::new(), root)];
    while let Some((levels, step)) = stack.pop() {
        for (index, child) in step.because.iter().enumerate().rev() {
            let mut below = levels.clone();
            below.push(index + 1 == step.because.len());
            stack.push((below, child));
        }
        list.push((levels, step));
    }
    list
}

/// An explanation as plain indented text.
pub fn explanation(root: &Step) -> String {
    let mut text = String::new();
    for (levels, each) in steps(root) {
        let mark = if each.holds { "✓" } else { "✗" };
        text.push_str(&format!("{}{mark} {}\n", "  ".repeat(levels.len()), step(each)));
    }
    text
}

/// `a`, `b` and `c`
pub fn names<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{}`", printable(name))).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

/// A robustness with at most nine digits: what floating point adds beyond is noise to a reader.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 => "0".into(),
        1e-5..1e15 => format!("{rounded}"),
        _ => format!("{rounded:e}"),
    }
}

/// `decided by x < 3 at position 4, time 0.4 (x = 2.5)`.
pub fn decided(link: &WeakestLink, value: f64) -> String {
    let formula = clip(&printable(&link.formula), 160);
    let time = link.time.map_or(String::new(), |time| format!(", time {}", time.format()));
    let at = format!("at position {}{time}", link.position);
    match link.reason {
        Reason::Predicate => {
            let values = match link.values.is_empty() {
                true => String::new(),
                false => format!(" ({})", bindings(&link.values)),
            };
            // Below a negation the predicate is worth the opposite.
            let worth = match link.value == value {
                true => String::new(),
                false => format!(", worth {} there", number(link.value)),
            };
            format!("decided by `{formula}` {at}{values}{worth}")
        }
        Reason::Constant => format!("decided by `{formula}` {at}, which is always worth that"),
        Reason::Empty => format!("decided by `{formula}` {at}, whose interval holds no sample"),
    }
}

/// The file that a span is in, and its line, from 1.
pub(crate) fn source(span: Span, sources: &Sources) -> (String, u64) {
    let source = sources.get(span.source);
    let before = source.text.as_bytes().iter().take(span.start as usize);
    (source.name.clone(), before.filter(|byte| **byte == b'\n').count() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "property"), "1 property");
        assert_eq!(counted(2, "property"), "2 properties");
        assert_eq!(counted(1000, "position"), "1,000 positions");
    }

    #[test]
    fn log_lines_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\tc\r\n"), "a␛[31mb c");
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöüß", 3), "äö…");
    }

    #[test]
    fn fields_are_found_in_lines() {
        let status = |line: &str| field(line, "http.status", &Value::Int(500)).map(|at| line[at].to_string());
        assert_eq!(status(r#"{"a":500,"status": 500, "b":1}"#).as_deref(), Some(r#""status": 500"#));
        assert_eq!(status(r#"{"status":"a b","b":1}"#).as_deref(), Some(r#""status":"a b""#));
        assert_eq!(status("substatus=1 status=500 b=1").as_deref(), Some("status=500"));
        assert_eq!(status("1500,15000,500,x").as_deref(), Some("500"));
        assert_eq!(status("1500,é,50").as_deref(), None);
        assert_eq!(field("", "a", &Value::text("")), None);
    }

    #[test]
    fn long_lines_are_cut_around_what_matters() {
        let line = format!("{{\"pad\":\"{}\",\"x\":7,\"more\":\"{}\"}}", "ä".repeat(100), "b".repeat(100));
        let focus = [("x".to_string(), Value::Int(7))];
        for width in [9, 20, 40, 100, 150, 200] {
            let shown = around(&line, width, &focus);
            assert!(shown.chars().count() <= width, "{width}: {shown}");
            assert!(width < 20 || shown.contains("\"x\":7"), "{width}: {shown}");
        }
        assert_eq!(around("short", 20, &focus), "short");
        assert_eq!(around("a,b,c", 3, &[]), "a,…");
    }

    #[test]
    fn numbers_without_noise() {
        let cases = [
            (0.1 + 0.2, "0.3"),
            (-0.0, "0"),
            (2.0, "2"),
            (-1.5, "-1.5"),
            (1e-7, "1e-7"),
            (123456789.0, "123456789"),
            (1e20, "1e20"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
