//! Figures in Prometheus' text format.

use crate::server::Shared;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the latency histogram, in seconds.
const BOUNDS: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0];

/// Figures of requests.
#[derive(Debug, Default)]
pub struct Figures {
    buckets: [AtomicU64; BOUNDS.len()],
    count: AtomicU64,
    nanos: AtomicU64,
    /// Requests that were turned away because there was too much to do.
    pub turned_away: AtomicU64,
}

impl Figures {
    /// A request with events was answered after so long.
    pub fn ingested(&self, after: Duration) {
        let seconds = after.as_secs_f64();
        if let Some(bucket) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(after.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// A name in quotes, as labels have it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// All figures.
pub fn text(shared: &Shared) -> String {
    let mut out = String::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: &[(String, f64)]| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(out, "{name}{labels} {value}");
        }
    };
    let streams = shared.streams();
    let per_stream = |figure: &dyn Fn(&crate::stream::Stream) -> u64| -> Vec<(String, f64)> {
        let row = |stream: &std::sync::Arc<crate::stream::Stream>| {
            (format!("{{stream={}}}", quoted(&stream.name)), figure(stream) as f64)
        };
        streams.iter().map(row).collect()
    };
    family(
        "tracewise_events_total",
        "counter",
        "Events taken since the server began.",
        &per_stream(&|stream| stream.taken.load(Ordering::Relaxed)),
    );
    family(
        "tracewise_lines_refused_total",
        "counter",
        "Lines refused, or left out.",
        &per_stream(&|stream| stream.refused.load(Ordering::Relaxed)),
    );
    family(
        "tracewise_lag_lines",
        "gauge",
        "Lines taken and not judged yet.",
        &per_stream(&|stream| stream.behind()),
    );
    family(
        "tracewise_log_bytes",
        "gauge",
        "Bytes of the log on disk.",
        &per_stream(&|stream| stream.log.bytes()),
    );
    family(
        "tracewise_log_lines",
        "counter",
        "Lines of the log, deleted ones included.",
        &per_stream(&|s| s.log.end()),
    );
    let sources = shared.sources();
    if !sources.is_empty() {
        let per_source = |figure: &dyn Fn(&crate::sources::Source) -> u64| -> Vec<(String, f64)> {
            let row = |source: &std::sync::Arc<crate::sources::Source>| {
                let labels = (quoted(&source.config.name), source.config.kind.name());
                (format!("{{source={},kind=\"{}\"}}", labels.0, labels.1), figure(source) as f64)
            };
            sources.iter().map(row).collect()
        };
        family(
            "tracewise_source_connected",
            "gauge",
            "Whether a source is connected to its broker.",
            &per_source(&|source| source.state().connected.into()),
        );
        family(
            "tracewise_source_messages_total",
            "counter",
            "Messages of a source on disk since the server began.",
            &per_source(&|source| source.messages.load(Ordering::Relaxed)),
        );
        family(
            "tracewise_source_left_out_total",
            "counter",
            "Messages and lines of a source that cannot be read.",
            &per_source(&|source| source.left_out.load(Ordering::Relaxed)),
        );
        family(
            "tracewise_source_failures_total",
            "counter",
            "How often a source had to connect again.",
            &per_source(&|source| source.failures.load(Ordering::Relaxed)),
        );
    }
    let (mut violations, mut pending, mut left_out, mut memory) = (vec![], vec![], vec![], vec![]);
    let mut stopped = Vec::new();
    for stream in &streams {
        for watched in stream.judge.watched() {
            let place = format!("stream={},spec={}", quoted(&stream.name), quoted(&watched.spec));
            for own in watched.properties().iter() {
                let labels = format!("{{{place},property={}}}", quoted(&own.name));
                violations.push((labels.clone(), own.violations as f64));
                pending.push((labels, own.pending_count as f64));
            }
            let labels = format!("{{{place}}}");
            left_out.push((labels.clone(), watched.left_out.load(Ordering::Relaxed) as f64));
            memory.push((labels.clone(), watched.bytes.load(Ordering::Relaxed) as f64));
            stopped.push((labels, f64::from(u8::from(watched.stopped().is_some()))));
        }
    }
    family("tracewise_violations_total", "counter", "Violations found.", &violations);
    family("tracewise_pending", "gauge", "Obligations that are open, as of the last look.", &pending);
    family(
        "tracewise_lines_left_out_total",
        "counter",
        "Lines that a specification could not read.",
        &left_out,
    );
    family(
        "tracewise_memory_bytes",
        "gauge",
        "Bytes that a specification holds, as of the last look.",
        &memory,
    );
    family("tracewise_stopped", "gauge", "Whether a specification was stopped.", &stopped);
    let away = shared.figures.turned_away.load(Ordering::Relaxed) as f64;
    family(
        "tracewise_turned_away_total",
        "counter",
        "Requests answered 429 or 503.",
        &[(String::new(), away)],
    );
    let figures = &shared.figures;
    let _ = writeln!(
        out,
        "# HELP tracewise_ingest_seconds From the head of a request with events to its answer.\n\
         # TYPE tracewise_ingest_seconds histogram"
    );
    let mut below = 0;
    for (bound, bucket) in BOUNDS.iter().zip(&figures.buckets) {
        below += bucket.load(Ordering::Relaxed);
        let _ = writeln!(out, "tracewise_ingest_seconds_bucket{{le=\"{bound}\"}} {below}");
    }
    let count = figures.count.load(Ordering::Relaxed);
    let sum = figures.nanos.load(Ordering::Relaxed) as f64 / 1e9;
    let _ = writeln!(
        out,
        "tracewise_ingest_seconds_bucket{{le=\"+Inf\"}} {count}\n\
         tracewise_ingest_seconds_sum {sum}\ntracewise_ingest_seconds_count {count}"
    );
    out
}
