//! A report as one object, for programs that take it whole.

use super::write::{Object, array};
use super::{Lines, lines};
use crate::findings::{Report, Statistics};

/// What was examined, how, each item's objects as they stand on lines, and the warnings about the run.
pub fn document(report: &Report) -> String {
    // Warnings about the run stand beside the items here, not in the first of them.
    let items = lines(report, Lines { told: report.warnings.clone() });
    Object::new()
        .field("command", report.command)
        .field("subject", report.subject.as_str())
        .raw("statistics", &statistics(&report.statistics))
        .raw("items", &array(items))
        .raw("warnings", &array(report.warnings.iter().map(|warning| warning.object.to_string())))
        .field("skipped", report.skipped)
        .end()
}

fn statistics(statistics: &Statistics) -> String {
    let mut object = Object::new()
        .maybe("positions", statistics.positions)
        .maybe("bytes", statistics.bytes)
        .maybe("engine", statistics.engine)
        .maybe("semantics", statistics.semantics);
    if let Some((column, values)) = &statistics.by {
        let by = Object::new().field("column", column.as_str()).field("values", *values);
        object = object.raw("by", &by.end());
    }
    for (name, count) in &statistics.counts {
        object = object.field(name, *count);
    }
    object.field("seconds", statistics.elapsed.as_secs_f64()).end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Item, Warning};
    use tw_diag::Diagnostic;

    #[test]
    fn a_document_has_all_in_one_object() {
        let warning = Warning::new(Diagnostic::warning("never-occurs", "look"), &Default::default());
        let report = Report {
            command: "check",
            subject: "t.csv".into(),
            items: vec![Item { name: "a".into(), ..Item::default() }],
            statistics: Statistics { counts: vec![("threads", 2)], ..Statistics::default() },
            warnings: vec![warning],
            skipped: 1,
            ..Report::default()
        };
        let parsed: serde_json::Value = serde_json::from_str(&document(&report)).unwrap();
        assert_eq!((&parsed["command"], &parsed["items"][0]["property"]), (&"check".into(), &"a".into()));
        assert_eq!(parsed["warnings"][0]["code"], "never-occurs");
        assert!(parsed["items"][0]["warnings"].is_null(), "{parsed}");
        assert_eq!((&parsed["skipped"], &parsed["statistics"]["threads"]), (&1.into(), &2.into()));
    }
}
