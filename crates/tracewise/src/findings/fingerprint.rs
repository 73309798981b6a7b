//! What stays the same when a log grows: how tools tell a violation that they know from a new one.

use super::{Item, Report, json};

/// A fingerprint per violation of an item, neighbours taken together (or one, if none is listed): of the rule, the trace, and what the log says
/// there, not of line numbers, which move. Violations that look alike are numbered.
pub fn fingerprints(report: &Report, item: &Item) -> Vec<String> {
    let start = || {
        let mut hasher = blake3::Hasher::new();
        for part in [item.about.name(), &item.name, &report.subject] {
            hasher.update(part.as_bytes()).update(&[0]);
        }
        hasher
    };
    let mut seen = rustc_hash::FxHashMap::default();
    let mut finish = |hasher: blake3::Hasher| {
        let mut text = hasher.finalize().to_hex()[..16].to_string();
        let before = seen.entry(text.clone()).or_insert(0_usize);
        *before += 1;
        text.push_str(&format!(":{before}"));
        text
    };
    let ranges = item.ranges();
    if ranges.is_empty() {
        return vec![finish(start())];
    }
    let each = ranges.iter().map(|range| &range.first).map(|violation| {
        let mut hasher = start();
        hasher.update(json::bindings(&violation.bindings).as_bytes()).update(&[0]);
        match &violation.line {
            Some(line) => hasher.update(line.file.as_bytes()).update(&[0]).update(line.text.as_bytes()),
            None => hasher.update(format!("{:?}", violation.position).as_bytes()),
        };
        finish(hasher)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::LogLine;
    use crate::findings::Violation;

    #[test]
    fn lines_may_move_but_not_change() {
        let at = |number, text: &str| Violation {
            line: Some(LogLine { file: "t".into(), line: number, text: text.into() }),
            ..Violation::default()
        };
        let item = |violations| Item { name: "p".into(), violations, ..Item::default() };
        let report = Report { subject: "t".into(), ..Report::default() };
        let of = |violations| fingerprints(&report, &item(violations));
        assert_eq!(of(vec![at(3, "x")]), of(vec![at(4, "x")]));
        assert_ne!(of(vec![at(3, "x")]), of(vec![at(3, "y")]));
        let twice = of(vec![at(3, "x"), at(4, "x")]);
        assert_ne!(twice[0], twice[1]);
        assert_eq!(of(Vec::new()).len(), 1);
    }
}
