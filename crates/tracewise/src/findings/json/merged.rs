//! The object of a merge.

use super::write::Object;
use crate::merge::MergeReport;

/// What was merged; `models` are the files it was written to, `keep` what states remember.
pub fn merged(report: &MergeReport, models: &[String], keep: &str) -> String {
    let model = &report.model;
    let assumed =
        model.record.as_ref().map_or(0, |own| own.edges.iter().filter(|seen| seen.count == 0).count());
    Object::new()
        .field("models", models)
        .field("keep", keep)
        .field("states", model.states())
        .field("transitions", model.graph.edges())
        .field("assumed", assumed)
        .field("initial", model.initial.len())
        .field("traces", report.traces)
        .field("positions", report.positions)
        .field("without_key", report.without_key)
        .end()
}
