//! What makes two watches the same, so that one can go on where the other stopped.

use super::WatchOptions;
use crate::error::Setting;
use crate::{Session, Specification};
use tw_trace::TraceFormat;

/// Labels and values. The program counts as engines see it: comments and layout of its text do not.
pub(super) fn settings(
    session: &Session,
    spec: &Specification,
    options: &WatchOptions,
    format: &dyn TraceFormat,
    engine: &str,
) -> Vec<(String, String)> {
    // What a property means, and what it is called: a checkpoint tells its verdicts by name.
    let mut program = blake3::Hasher::new();
    for (root, fingerprint) in spec.program.roots.iter().zip(tw_ir::fingerprints(&spec.program)) {
        program.update(&fingerprint.0);
        for text in [&root.name, root.title.as_ref().unwrap_or(&String::new())] {
            program.update(&(text.len() as u64).to_le_bytes());
            program.update(text.as_bytes());
        }
    }
    for monitor in &spec.program.monitors {
        program.update(crate::monitors::meaning(spec, monitor).as_bytes());
    }
    let read = &session.read;
    let on = |flag: bool| if flag { "on" } else { "off" }.to_string();
    let column = |name: &Option<String>, default: &str| name.clone().unwrap_or(default.into());
    let plain = [
        ("specification", program.finalize().to_hex().to_string()),
        ("engine", engine.to_string()),
        ("semantics", session.evaluate.semantics.name().to_string()),
        ("format", format.name().to_string()),
    ];
    let set = [
        (Setting::EachPosition, on(options.each_position)),
        (Setting::Observers, on(options.observers)),
        (Setting::First, on(options.first)),
        (Setting::By, options.by.clone().unwrap_or("off".into())),
        (Setting::Until, options.until.clone().unwrap_or("off".into())),
        (Setting::Idle, options.idle.map_or("off".into(), |idle| format!("{} ns", idle.as_nanos()))),
        (Setting::Watermark, options.watermark.clone().unwrap_or("off".into())),
        (Setting::SkipBadLines, on(options.skip_bad_lines)),
        (Setting::Time, column(&read.time, "time")),
        (Setting::Event, column(&read.event, "event")),
        (Setting::TimeUnit, read.unit.name().to_string()),
        (
            Setting::Delimiter,
            read.delimiter.map_or("by the header".into(), |byte| format!("{:?}", char::from(byte))),
        ),
        (Setting::TimeFormat, column(&read.time_format, "by look")),
        (Setting::Year, read.year.map_or("1970".into(), |year| year.to_string())),
        (Setting::Null, column(&read.null, "empty")),
        (Setting::Continuation, if read.own_lines { "own" } else { "join" }.to_string()),
        (Setting::Timed, on(read.timed)),
        (Setting::Sort, read.sort.map_or("off".into(), |skew| format!("{skew} ns"))),
        (Setting::Clock, format!("{:?}", session.evaluate.clock).to_lowercase()),
    ];
    let plain = plain.map(|(label, value)| (label.to_string(), value));
    plain.into_iter().chain(set.map(|(setting, value)| (setting.to_string(), value))).collect()
}
