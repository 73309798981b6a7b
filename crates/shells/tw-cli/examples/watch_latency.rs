//! Measures how long a line takes through `tracewise watch --listen`: from the moment a client writes it to the moment
//! its verdict stands on standard output.
//!
//! ```sh
//! watch_latency path/to/tracewise [ROUNDS [LINES_PER_SECOND]]
//! ```
//!
//! Each round sends the line that settles one property of as many, and waits for its verdict. With a rate given,
//! another connection sends lines that settle nothing all the while.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(program) = arguments.first() else {
        return Err(io::Error::other("usage: watch_latency TRACEWISE [ROUNDS [LINES_PER_SECOND]]"));
    };
    let number = |index: usize, default: usize| {
        arguments.get(index).map_or(Ok(default), |text| text.parse().map_err(io::Error::other))
    };
    let (rounds, rate) = (number(1, 1000)?, number(2, 0)?);

    let mut spec = std::env::temp_dir();
    spec.push(format!("watch-latency-{}.tw", std::process::id()));
    let properties: String = (0..rounds).map(|round| format!("property p{round} : F e{round};\n")).collect();
    std::fs::write(&spec, properties)?;
    let mut watch = Command::new(program)
        .args(["watch", "--listen", "127.0.0.1:0", "--format", "props", "--output", "json"])
        .arg(&spec)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (Some(out), Some(err)) = (watch.stdout.take(), watch.stderr.take()) else {
        return Err(io::Error::other("no pipes"));
    };
    let (mut out, mut err) = (BufReader::new(out), BufReader::new(err));
    let mut line = String::new();
    err.read_line(&mut line)?;
    let address = line.split("tcp:").nth(1).map(|rest| rest.trim_end_matches(['"', '}', '\n']).to_string());
    let address = address.ok_or_else(|| io::Error::other(line.clone()))?;

    // Whoever does not read what it says on standard error holds it up.
    std::thread::spawn(move || io::copy(&mut err, &mut io::sink()));

    let over = Arc::new(AtomicBool::new(false));
    let background = (rate > 0).then(|| {
        let (over, stream) = (Arc::clone(&over), TcpStream::connect(&address));
        std::thread::spawn(move || background(stream, rate, &over))
    });
    let mut client = TcpStream::connect(&address)?;
    client.set_nodelay(true)?;
    let mut times = Vec::with_capacity(rounds);
    for round in 0..rounds {
        std::thread::sleep(Duration::from_micros(500));
        let text = format!("e{round}\n");
        let start = Instant::now();
        client.write_all(text.as_bytes())?;
        line.clear();
        out.read_line(&mut line)?;
        times.push(start.elapsed());
        assert!(line.contains(&format!("\"p{round}\"")), "{line}");
    }
    over.store(true, Ordering::SeqCst);
    if let Some(background) = background {
        let _ = background.join();
    }
    watch.kill()?;
    watch.wait()?;
    std::fs::remove_file(&spec)?;
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{rounds} rounds, {rate} other lines a second");
    println!("p50 {:?}  p90 {:?}  p99 {:?}  max {:?}", at(0.5), at(0.9), at(0.99), at(1.0));
    Ok(())
}

fn background(stream: io::Result<TcpStream>, rate: usize, over: &AtomicBool) -> io::Result<()> {
    let mut stream = stream?;
    let burst = "x y z\n".repeat(rate.div_ceil(1000));
    while !over.load(Ordering::SeqCst) {
        stream.write_all(burst.as_bytes())?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
