//! Figures in Prometheus' text format.

use crate::server::Shared;
use crate::tokens::{Rights, Role};
use crate::webhooks::Status;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the latency histogram, in seconds.
const BOUNDS: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0];

/// How long a stream may take to say what it holds.
const PATIENCE: Duration = Duration::from_millis(50);

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
pub fn text(shared: &Shared, rights: &Rights) -> String {
    let mut out = String::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: &[(String, f64)]| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(out, "{name}{labels} {value}");
        }
    };
    let mut streams = shared.streams();
    streams.retain(|stream| rights.may(Role::Read, &stream.name));
    // What is pending and held is looked at now; a stream that is busy tells what it knew.
    for stream in &streams {
        stream.judge.ask_pending(PATIENCE);
    }
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
    let (mut states, mut each) = (vec![], vec![]);
    let mut stopped = Vec::new();
    for stream in &streams {
        for watched in stream.judge.watched() {
            let place = format!("stream={},spec={}", quoted(&stream.name), quoted(&watched.spec));
            for own in watched.properties().iter() {
                let labels = format!("{{{place},property={}}}", quoted(&own.name));
                violations.push((labels.clone(), own.violations as f64));
                each.push((labels.clone(), own.bytes as f64));
                let stopped = watched.stopped().is_some();
                let now = if stopped { "stopped" } else { own.state() };
                for state in ["open", "satisfied", "violated", "stopped"] {
                    let own = labels.trim_end_matches('}');
                    states.push((format!("{own},state=\"{state}\"}}"), f64::from(u8::from(state == now))));
                }
                pending.push((labels, own.pending_count as f64));
            }
            let labels = format!("{{{place}}}");
            left_out.push((labels.clone(), watched.left_out.load(Ordering::Relaxed) as f64));
            memory.push((labels.clone(), watched.bytes.load(Ordering::Relaxed) as f64));
            stopped.push((labels, f64::from(u8::from(watched.stopped().is_some()))));
        }
    }
    family("tracewise_violations_total", "counter", "Violations found.", &violations);
    family("tracewise_state", "gauge", "Verdicts: 1 for the state that a property is in.", &states);
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
    family(
        "tracewise_property_memory_bytes",
        "gauge",
        "Bytes that a property holds, together with what it is judged with, as of the last look.",
        &each,
    );
    family("tracewise_stopped", "gauge", "Whether a specification was stopped.", &stopped);
    let sources = shared.listening.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    let per_source = |figure: &dyn Fn(&crate::listen::Figures) -> u64| -> Vec<(String, f64)> {
        let row = |own: &std::sync::Arc<crate::listen::Source>| {
            let labels =
                format!("{{source={},stream={}}}", quoted(&own.open.to_string()), quoted(&own.open.stream));
            (labels, figure(&own.figures) as f64)
        };
        sources.iter().map(row).collect()
    };
    family(
        "tracewise_source_lines_total",
        "counter",
        "Lines and messages that came by a socket.",
        &per_source(&|figures| figures.arrived.load(Ordering::Relaxed)),
    );
    family(
        "tracewise_source_lost_total",
        "counter",
        "Those of them that were left out.",
        &per_source(&|figures| figures.lost.load(Ordering::Relaxed)),
    );
    family(
        "tracewise_source_connections",
        "gauge",
        "Connections of sockets that are open.",
        &per_source(&|figures| figures.connections.load(Ordering::Relaxed) as u64),
    );
    let away = shared.figures.turned_away.load(Ordering::Relaxed) as f64;
    family(
        "tracewise_turned_away_total",
        "counter",
        "Requests answered 429 or 503.",
        &[(String::new(), away)],
    );
    let hook = |figure: fn(&Status) -> &AtomicU64| -> Vec<(String, f64)> {
        let row = |(name, _, status): &crate::server::Hook| {
            (format!("{{webhook={}}}", quoted(name)), figure(status).load(Ordering::Relaxed) as f64)
        };
        shared.hooks().iter().map(row).collect()
    };
    family(
        "tracewise_webhook_taken_total",
        "counter",
        "Requests of a webhook that were taken.",
        &hook(|own| &own.taken),
    );
    family("tracewise_webhook_failed_total", "counter", "Those that were not.", &hook(|own| &own.failed));
    family("tracewise_webhook_waiting", "gauge", "Violations that wait.", &hook(|own| &own.waiting));
    family(
        "tracewise_webhook_silenced_total",
        "counter",
        "Violations that were silenced.",
        &hook(|own| &own.silenced),
    );
    family(
        "tracewise_webhook_missed_total",
        "counter",
        "Violations that were deleted before they were told.",
        &hook(|own| &own.missed),
    );
    family(
        "tracewise_bodies_bytes",
        "gauge",
        "Bytes that large bodies and answers hold.",
        &[(String::new(), shared.budget.held() as f64)],
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
