//! Writes a `props` stream for measuring `tracewise watch`: requests and answers of ten kinds, two propositions a line.
//!
//! ```sh
//! watch_stream spec > ten.tw                      # ten properties that stay open
//! watch_stream events 100000000 | tracewise watch ten.tw --format props
//! watch_stream events 100000000 > events.props
//! ```

use std::io::{self, Write};

/// Lines of the stretch that is written over and over.
const STRETCH: usize = 1 << 16;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["spec"] => {
            spec();
            Ok(())
        }
        ["events", count] => match count.parse() {
            Ok(count) => events(count),
            Err(_) => Err(io::Error::other(format!("expected a number of events, found {count}"))),
        },
        _ => Err(io::Error::other("usage: watch_stream spec | events N")),
    }
}

/// Ten properties that no event settles: every event is a step of each.
fn spec() {
    for kind in 0..4 {
        println!("property answered{kind} : G (r{kind} -> F a{kind});");
        println!("property alternate{kind} : G (r{kind} -> X (!r{kind} W a{kind}) | F a{kind});");
    }
    println!("property earlier : G (a0 -> (!r1 S r0) | F r2);");
    println!("property fair : G F (r1 | r2);");
}

fn events(count: u64) -> io::Result<()> {
    let mut text = String::new();
    let mut ends = Vec::with_capacity(STRETCH);
    let mut rng = tw_testkit::Rng::new(1);
    for _ in 0..STRETCH {
        let (kind, other) = (rng.below(4), rng.below(4));
        text.push_str(&format!("r{kind} a{other}\n"));
        ends.push(text.len());
    }
    let mut out = io::stdout().lock();
    let mut left = count;
    while left > 0 {
        let lines = left.min(STRETCH as u64);
        out.write_all(&text.as_bytes()[..ends[lines as usize - 1]])?;
        left -= lines;
    }
    out.flush()
}
