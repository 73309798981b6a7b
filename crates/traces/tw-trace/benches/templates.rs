//! Gigabytes of lines per second of one core in which twenty and a hundred templates are looked for together, where most lines
//! match and where none does. `cargo bench -p tw-trace --bench templates`; the load of the machine is printed beside.

use std::time::Instant;
use tw_ir::Template;
use tw_trace::Templates;

const WORDS: [&str; 40] = [
    "Failed",
    "Accepted",
    "Received",
    "Verification",
    "Starting",
    "Deleting",
    "Served",
    "Opened",
    "Closed",
    "Rejected",
    "password",
    "block",
    "session",
    "task",
    "request",
    "packet",
    "connection",
    "thread",
    "container",
    "transaction",
    "for",
    "from",
    "of",
    "by",
    "with",
    "to",
    "after",
    "before",
    "under",
    "without",
    "user",
    "size",
    "port",
    "host",
    "state",
    "node",
    "queue",
    "file",
    "address",
    "level",
];

fn template(number: usize) -> String {
    let [a, b, c] = [number % 10, 10 + number / 10 % 10, 20 + number * 7 % 10].map(|at| WORDS[at]);
    let d = WORDS[30 + number * 3 % 10];
    format!("{a} {b} {c} {{user}} {d} {{at}} n{number:03} port {{port:int}}")
}

fn main() {
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    for (count, share) in [(20, 80), (20, 0), (100, 89), (100, 0)] {
        let templates: Vec<Template> =
            (0..count).map(|number| Template::parse(&template(number)).expect("a template")).collect();
        let (mut text, mut ends, mut seed) = (String::new(), Vec::new(), 7u64);
        while text.len() < 64 << 20 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (random, line) = ((seed >> 33) as usize, ends.len());
            text.push_str(&format!(
                "Dec 10 06:{:02}:{:02} host{} app[{}]: ",
                line / 60 % 60,
                line % 60,
                line % 9,
                random % 30000
            ));
            if random % 100 < share {
                let line = template(random / 100 % count)
                    .replace("{user}", &format!("user{}", random % 977))
                    .replace("{at}", &format!("10.0.{}.{}", random % 13, random % 251))
                    .replace("{port:int}", &(random % 65536).to_string());
                text.push_str(&line);
            } else {
                let at = |by: usize| WORDS[(random / by) % 40];
                text.push_str(&format!(
                    "{} {} {} of {} in {} ms with nothing else to say",
                    at(1),
                    at(7),
                    at(49),
                    at(343),
                    random % 999
                ));
            }
            ends.push(text.len() as u32);
        }
        let matcher = Templates::new(&templates);
        let mut found = 0;
        let best = (0..5)
            .map(|_| {
                let start = Instant::now();
                found = matcher.find(&text, &ends).iter().map(Vec::len).sum();
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        println!(
            "{count:3} templates, {:3.0} % match: {:5.2} GB/s ({} bytes per line)",
            100.0 * found as f64 / ends.len() as f64,
            text.len() as f64 / best / 1e9,
            text.len() / ends.len()
        );
    }
}
