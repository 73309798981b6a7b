//! Gigabytes of a text log that are read per second of one core, in memory: its lines with their timestamps, and with twenty and a
//! hundred templates looked for in them, those of the log (most lines match) and those of other logs (few do).
//!
//! `cargo bench -p tw-templates --bench reading [-- PART-OF-A-NAME]`; the load of the machine is printed beside. Time is that of
//! the processor, so that others on the machine change little.

#[path = "../tests/kinds/mod.rs"]
mod kinds;

use kinds::Kind;
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Batch, Column};
use tw_ir::{Path, Slot, Template, TextEvent, What};
use tw_templates::{Limits, Miner};
use tw_trace::formats::lines::PlainLines;
use tw_trace::{Input, Projection, ReadOptions, scan};

/// Bytes of each log.
const TOTAL: usize = 200 << 20;
const ROUNDS: usize = 3;

/// Seconds that this thread has run.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

/// The templates of a kind, as they are found in it.
fn templates(kind: &Kind) -> Vec<Template> {
    let mut miner = Miner::new(Limits::default());
    kind.lines(4000, 3).iter().for_each(|(line, _)| miner.push(line.as_bytes()));
    let found = miner.finish();
    // A template of gaps alone is in every line.
    let says = |text: &String| text.split(['{', '}']).step_by(2).any(|part| part.trim().len() > 3);
    let texts = found.templates.into_iter().map(|own| own.text).filter(says);
    texts.filter_map(|text| Template::parse(&text).ok()).collect()
}

/// What a specification asks for that has an event for each of these templates.
fn projection(templates: &[Template]) -> Projection {
    let name = |number: usize| format!("e{number}");
    let event = |(number, template): (usize, &Template)| TextEvent {
        name: name(number),
        source: Path::parse("text"),
        template: template.clone(),
        span: Default::default(),
    };
    let slot = |number| Slot {
        what: What::Event { name: name(number), arguments: Vec::new(), arity: None },
        declared: true,
        span: Default::default(),
    };
    let slots: Vec<Slot> = (0..templates.len()).map(slot).collect();
    let events: Vec<TextEvent> = templates.iter().enumerate().map(event).collect();
    Projection { templates: events.into(), ..Projection::new(&slots, None, true) }
}

/// Gigabytes per second, and the share of lines with an event.
fn measure(bytes: &Arc<[u8]>, projection: &Projection, options: &ReadOptions) -> (f64, f64) {
    let mut share = 0.0;
    let best = (0..ROUNDS)
        .map(|_| {
            let input = Input::from_bytes("log", bytes.clone());
            let (mut hits, mut lines) = (0, 0);
            let start = processor_seconds();
            let map = |batch: Batch| {
                let mut any = vec![0; batch.len.div_ceil(64)];
                for slot in &batch.slots {
                    if let Column::Truth(bits) = slot {
                        any.iter_mut().zip(bits.words()).for_each(|(any, word)| *any |= word);
                    }
                }
                Ok((any.iter().map(|word: &u64| word.count_ones() as usize).sum(), batch.len))
            };
            let mut fold = |(some, all): (usize, usize)| {
                (hits, lines) = (hits + some, lines + all);
                Ok(ControlFlow::Continue(()))
            };
            scan(&input, &PlainLines, projection, options, &map, &mut fold).expect("a log");
            share = hits as f64 / lines as f64;
            processor_seconds() - start
        })
        .fold(f64::INFINITY, f64::min);
    (bytes.len() as f64 / best / 1e9, share)
}

fn main() {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    println!("GB/s         lines | 20 own    20 other | 100 own   100 other | bytes a line, stamp");
    let all: Vec<&Kind> = kinds::KNOWN.iter().chain(kinds::OTHERS).collect();
    let mined: Vec<Vec<Template>> = all.iter().map(|kind| templates(kind)).collect();
    // Some logs end lines with two bytes.
    let returns = "servicing";
    let mut seconds = [0.0; 5];
    let mut gigabytes = 0.0;
    for (number, kind) in all.iter().enumerate().filter(|(_, kind)| kind.name.contains(&wanted)) {
        let lines = kind.lines(40_000, 7);
        let end = if kind.name == returns { "\r\n" } else { "\n" };
        let mut text: String = lines.iter().map(|(line, _)| line.clone() + end).collect();
        let each = text.len() / lines.len();
        text = text.repeat(TOTAL.div_ceil(text.len()));
        let bytes: Arc<[u8]> = text.into_bytes().into();
        // Time goes back where the log is repeated.
        let mut options = ReadOptions { threads: 1, any_order: true, ..ReadOptions::default() };
        let settled = options.settle(&PlainLines, &bytes[..1 << 16]);
        let others: Vec<Template> =
            (1..all.len()).flat_map(|by| mined[(number + by * 7) % all.len()].iter().cloned()).collect();
        let own = |count: usize| {
            let mut own: Vec<Template> = mined[number].iter().take(count).cloned().collect();
            own.extend(others.iter().take(count - own.len()).cloned());
            own
        };
        let asked = [
            projection(&[]),
            projection(&own(20)),
            projection(&others[others.len() - 20..]),
            projection(&own(100)),
            projection(&others[others.len() - 100..]),
        ];
        let found = asked.map(|projection| measure(&bytes, &projection, &options));
        gigabytes += bytes.len() as f64 / 1e9;
        found.iter().zip(&mut seconds).for_each(|((speed, _), sum)| *sum += bytes.len() as f64 / 1e9 / speed);
        let cell = |at: usize| format!("{:4.2} ({:3.0} %)", found[at].0, 100.0 * found[at].1);
        println!(
            "{:12} {:5.2} | {} {} | {} {} | {each}, {}",
            kind.name,
            found[0].0,
            cell(1),
            cell(2),
            cell(3),
            cell(4),
            settled.written.map_or("none".into(), |written| written.whereabouts())
        );
    }
    let [a, b, c, d, e] = seconds.map(|seconds| gigabytes / seconds);
    println!("{:12} {a:5.2} | {b:4.2}         {c:4.2}        | {d:4.2}         {e:4.2}", "all");
}
