//! Small pieces of wording that commands and reporters share.

use std::time::Duration;
use tracewise::{Approximation, PropertyReport, Step, Value, Verdict, Violation};

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

/// `1.2 ms`, `3.45 s`, `2 min 3 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1e-3 {
        format!("{} µs", time.as_micros())
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 60.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
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
        Value::List(_) | Value::Object(_) => crate::json::value(value),
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

/// The text in lines of at most `width` characters, broken between words where that is possible.
pub fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.map(|width| width.max(20)) else { return vec![text.to_string()] };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
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
    crate::json::value(value)
}

/// Where a violation is, as far as known: `position 6 · time 12.5 · u = "bob"`.
pub fn place(violation: &Violation, separator: &str) -> String {
    let mut parts = Vec::new();
    if let Some(position) = violation.position {
        parts.push(format!("position {position}"));
    }
    if let Some(time) = violation.time {
        parts.push(format!("time {}", time.format()));
    }
    if !violation.bindings.is_empty() {
        parts.push(bindings(&violation.bindings));
    }
    parts.join(separator)
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
pub fn undecided(property: &PropertyReport) -> Option<String> {
    match (&property.guarantee, property.verdict) {
        (Some(guarantee), _) => Some(printable(&guarantee.sentence())),
        (None, Verdict::Unknown) => Some("undecided: the trace settles it neither way".into()),
        (None, _) => None,
    }
}

/// The part of a property's explanation that is news: for `G φ`, whose violation is shown already, why φ fails there.
pub fn core(property: &PropertyReport) -> Option<&Step> {
    match property.explanation.as_ref()? {
        Step { holds: false, because, .. } if property.position.is_some() && because.len() == 1 => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "property"), "1 property");
        assert_eq!(counted(2, "property"), "2 properties");
        assert_eq!(counted(1000, "position"), "1,000 positions");
    }

    #[test]
    fn durations() {
        let cases = [(12e-6, "12 µs"), (0.0012, "1.2 ms"), (3.456, "3.46 s"), (123.0, "2 min 3 s")];
        for (seconds, text) in cases {
            assert_eq!(duration(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn log_lines_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\tc\r\n"), "a␛[31mb c");
    }

    #[test]
    fn clipping_and_wrapping_count_characters() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöüß", 3), "äö…");
        assert_eq!(wrap("a b", None), ["a b"]);
        let lines = wrap("one two three four five six seven", Some(20));
        assert_eq!(lines, ["one two three four", "five six seven"]);
    }
}
