//! Megabytes of a log that are mined per second of one core, by kind; and what is kept of a log of random words.
//! `cargo bench -p tw-templates`; the load of the machine is printed beside.

#[path = "../tests/kinds/mod.rs"]
mod kinds;

use tw_templates::{Limits, Miner};

/// Seconds that this thread has run, whatever else the machine does.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

fn main() {
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    let mut total = (0.0, 0.0);
    for kind in kinds::KNOWN.iter().chain(kinds::OTHERS) {
        let lines = kind.lines(100_000, 7);
        let bytes: usize = lines.iter().map(|(line, _)| line.len() + 1).sum();
        let best = (0..3)
            .map(|_| {
                let start = processor_seconds();
                let mut miner = Miner::new(Limits::default());
                for (line, _) in &lines {
                    miner.push(line.as_bytes());
                }
                let found = miner.finish();
                assert!(!found.templates.is_empty());
                processor_seconds() - start
            })
            .fold(f64::INFINITY, f64::min);
        total = (total.0 + bytes as f64, total.1 + best);
        println!("{:12} {:6.0} MB/s  {}", kind.name, bytes as f64 / best / 1e6, kind.template(0));
    }
    println!("{:12} {:6.0} MB/s", "all", total.0 / total.1 / 1e6);

    let mut seed = 1u64;
    let mut word = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let letters = (seed >> 20).to_be_bytes();
        letters.iter().map(|byte| char::from(b'a' + byte % 26)).collect::<String>()
    };
    let mut miner = Miner::new(Limits::default());
    let start = processor_seconds();
    let mut bytes = 0;
    for _ in 0..1_000_000 {
        let line = (0..8).map(|_| word()).collect::<Vec<_>>().join(" ");
        bytes += line.len() + 1;
        miner.push(line.as_bytes());
    }
    let found = miner.finish();
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("").to_owned();
    println!(
        "random words {:6.0} MB/s, {} templates, {} compactions; {peak}",
        bytes as f64 / (processor_seconds() - start) / 1e6,
        found.templates.len(),
        found.compactions
    );
}
