//! Reads generated `jsonl` in memory, in blocks of 1 MB, and prints bytes per second of one thread.
//!
//! `cargo bench -p tw-trace --bench jsonl [-- PART-OF-A-NAME]`

use std::fmt::Write;
use std::time::Instant;
use tw_ir::{Expect, Path, Slot, What};
use tw_testkit::Rng;
use tw_trace::{Block, Projection, ReadOptions, TraceFormat, formats::jsonl::Jsonl};

const BLOCK: usize = 1 << 20;
const TOTAL: usize = 64 << 20;
const ROUNDS: usize = 5;

fn generate(mut line: impl FnMut(&mut String, u64, &mut Rng)) -> String {
    let mut rng = Rng::new(25);
    let mut out = String::with_capacity(TOTAL + 1024);
    for index in 0.. {
        line(&mut out, index, &mut rng);
        if out.len() >= TOTAL {
            break;
        }
    }
    out
}

const EVENTS: [&str; 6] = ["login", "logout", "request", "response", "retry", "error"];
const SERVICES: [&str; 5] = ["gateway", "billing", "search", "auth", "storage-frontend"];
const MESSAGES: [&str; 4] = [
    "request served",
    "cache miss, going to the backend",
    "connection reset by peer",
    "retrying after timeout",
];

fn wide(out: &mut String, index: u64, rng: &mut Rng) {
    let _ = writeln!(
        out,
        concat!(
            r#"{{"time":{}.{:03},"event":"{}","service":"{}","host":"node-{:03}","level":"info","request_id":"{:016x}","#,
            r#""user":{},"status":{},"latency":{}.{},"bytes":{},"queue":{},"retries":{},"cached":{},"ok":{},"#,
            r#""http":{{"method":"GET","code":{}}},"path":"/api/v1/items/{}","message":"{}","region":"eu-west-1","version":"2.{}.1","load":0.{}}}"#
        ),
        1_700_000_000 + index / 100,
        index % 100 * 10,
        EVENTS[rng.below(6)],
        SERVICES[rng.below(5)],
        rng.below(200),
        rng.below(1 << 53),
        rng.below(100_000),
        if rng.below(10) == 0 { 500 } else { 200 },
        rng.below(1000),
        rng.below(1000) + 1,
        rng.below(1_000_000),
        rng.below(100),
        rng.below(3),
        rng.below(2) == 0,
        rng.below(20) != 0,
        200 + rng.below(5),
        rng.below(10_000),
        MESSAGES[rng.below(4)],
        rng.below(30),
        rng.below(10_000) + 1,
    );
}

fn narrow(out: &mut String, index: u64, rng: &mut Rng) {
    let _ = writeln!(
        out,
        r#"{{"time":{},"event":"{}","user":{},"ok":{},"latency":{}}}"#,
        1_000_000 + index,
        EVENTS[rng.below(6)],
        rng.below(10_000),
        rng.below(2) == 0,
        rng.below(10_000),
    );
}

/// With a blank after every colon and comma, as many libraries write by default.
fn spaced(out: &mut String, index: u64, rng: &mut Rng) {
    let start = out.len();
    wide(out, index, rng);
    let line = out.split_off(start);
    out.push_str(&line.replace("\":", "\": ").replace(",\"", ", \""));
}

/// A different set of keys for each event.
fn mixed(out: &mut String, index: u64, rng: &mut Rng) {
    let event = rng.below(6);
    let _ = write!(
        out,
        r#"{{"time":"2024-05-1{}T12:{:02}:{:02}.{:03}Z","event":"{}""#,
        index / 10_000_000,
        index / 60_000 % 60,
        index / 1000 % 60,
        index % 1000,
        EVENTS[event]
    );
    for (field, name) in ["queue", "ok", "latency", "user"].iter().enumerate() {
        if !(event + field).is_multiple_of(3) {
            let _ = match field {
                1 => write!(out, r#","ok":{}"#, rng.below(2) == 0),
                _ => write!(out, r#","{name}":{}"#, rng.below(10_000)),
            };
        }
    }
    let _ = writeln!(out, r#","comment":"naïve café № {}"}}"#, rng.below(1000));
}

fn slot(what: What) -> Slot {
    Slot { what, declared: true, span: Default::default() }
}

fn measure(name: &str, line: fn(&mut String, u64, &mut Rng), slots: &[Slot], key: Option<&str>) {
    if std::env::args().skip(1).any(|argument| !argument.starts_with('-') && !name.contains(&argument)) {
        return;
    }
    let text = generate(line);
    let projection = Projection::new(slots, key, true);
    // The best of each block, so that a busy machine disturbs less.
    let mut best: Vec<f64> = Vec::new();
    let mut rows = 0;
    for _ in 0..ROUNDS {
        let start = Jsonl.blocks(text.as_bytes(), &projection, &ReadOptions::default());
        let start = start.expect("the trace is fine").expect("there is a fast path");
        rows = 0;
        let mut rest = text.as_bytes();
        let mut blocks = 0;
        while !rest.is_empty() {
            let from = BLOCK.min(rest.len()) - 1;
            let end =
                from + rest[from..].iter().position(|&b| b == b'\n').map_or(rest.len() - from, |at| at + 1);
            let (bytes, after) = rest.split_at(end);
            rest = after;
            let clock = Instant::now();
            rows += start
                .reader
                .read(Block { bytes, last: rest.is_empty(), next: rest.first().copied() })
                .expect("the trace is fine")
                .batch
                .len;
            let time = clock.elapsed().as_secs_f64();
            match best.get_mut(blocks) {
                Some(best) => *best = best.min(time),
                None => best.push(time),
            }
            blocks += 1;
        }
    }
    let best: f64 = best.iter().sum();
    println!(
        "{name:<44} {:>6.0} bytes/row {:>7.2} GB/s {:>7.1} ns/row",
        text.len() as f64 / rows as f64,
        text.len() as f64 / best / 1e9,
        best / rows as f64 * 1e9
    );
}

fn main() {
    let number = |name: &str| slot(What::Variable(Path::field(name), Expect::Number));
    let truth = |name: &str| slot(What::Proposition(Path::field(name)));
    let text = |name: &str| slot(What::Variable(Path::field(name), Expect::Text));
    let event = |name: &str| slot(What::Event { name: name.to_string(), arguments: Vec::new(), arity: None });
    let three = [number("queue"), truth("ok"), event("retry")];
    measure("20 fields, 3 used", wide, &three, None);
    measure("20 fields, 3 used, keyed by service", wide, &three, Some("service"));
    measure("20 fields, 2 texts and a nested one", wide, &[text("service"), text("message"), nested()], None);
    measure("20 fields, spaced, 3 used", spaced, &three, None);
    measure("5 fields, 3 used", narrow, &[number("latency"), truth("ok"), event("retry")], None);
    measure("5 fields, 1 used", narrow, &[truth("ok")], None);
    measure("mixed events, RFC 3339, not ASCII, 3 used", mixed, &three, None);
}

fn nested() -> Slot {
    let steps = ["http", "code"].map(|name| tw_ir::PathStep::Field(name.to_string())).to_vec();
    slot(What::Variable(Path { steps }, Expect::Number))
}
