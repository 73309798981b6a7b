//! What makes two watches the same, so that one can go on where the other stopped.

use super::WatchOptions;
use crate::{Session, Specification};
use std::fmt::Write;
use tw_trace::TraceFormat;

/// Labels and values. The program counts as engines see it: comments and layout of its text do not.
pub(super) fn settings(
    session: &Session,
    spec: &Specification,
    options: &WatchOptions,
    format: &dyn TraceFormat,
    engine: &str,
) -> Vec<(String, String)> {
    let mut program = blake3::Hasher::new();
    let mut text = String::new();
    let mut note = |part: &dyn std::fmt::Debug| {
        text.clear();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{part:?}");
        program.update(text.as_bytes());
    };
    spec.program.dag.nodes().iter().for_each(|node| note(node));
    spec.program.dag.constants.iter().for_each(|constant| note(constant));
    spec.program.slots.iter().for_each(|slot| note(&(&slot.what, slot.declared)));
    spec.program.roots.iter().for_each(|root| note(&(&root.name, &root.title, root.node)));
    let read = &session.read;
    let on = |flag: bool| if flag { "on" } else { "off" }.to_string();
    let column = |name: &Option<String>, default: &str| name.clone().unwrap_or(default.into());
    [
        ("specification", program.finalize().to_hex().to_string()),
        ("engine", engine.to_string()),
        ("semantics", session.semantics.name().to_string()),
        ("format", format.name().to_string()),
        ("--each-position", on(options.each_position)),
        ("--observers", on(options.observers)),
        ("--first", on(options.first)),
        ("--watermark", options.watermark.clone().unwrap_or("off".into())),
        ("--skip-bad-lines", on(options.skip_bad_lines)),
        ("--time", column(&read.time, "time")),
        ("--event", column(&read.event, "event")),
        ("--time-unit", read.unit.name().to_string()),
        ("--timed", on(read.timed)),
        ("--sort", read.sort.map_or("off".into(), |skew| format!("{skew} ns"))),
        ("--clock", format!("{:?}", session.clock).to_lowercase()),
    ]
    .map(|(label, value)| (label.to_string(), value))
    .into()
}
