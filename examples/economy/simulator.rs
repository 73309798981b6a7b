//! A fictitious economy: inflation, activity and standard of living, step by step. The rules are in README.md beside.
//!
//!   cargo run --release --example economy -- --traces 200 --steps 100 --seed 1 -o DIR
//!
//! writes one CSV file per trace; the same seed gives the same files everywhere.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A linear congruential generator; the upper bits are used.
struct Random(u64);

impl Random {
    /// A number from 0 up to, and not including, `bound`.
    fn below(&mut self, bound: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound) as i64
    }
}

#[derive(Clone, Copy)]
struct Economy {
    /// 0 to 100.
    inflation: i64,
    /// −60 (nothing works) to 60.
    activity: i64,
    /// Standard of living, 0 to 100.
    living: i64,
}

impl Economy {
    fn start(random: &mut Random) -> Self {
        let inflation = 20 + random.below(41);
        let activity = random.below(61) - 30;
        let living = 30 + random.below(41);
        Economy { inflation, activity, living }
    }

    /// The state of interest it is in.
    fn state(&self) -> &'static str {
        match *self {
            Economy { activity: 20.., inflation: ..=40, living: 55.. } => "g1",
            Economy { activity: 20.., .. } => "g2",
            Economy { activity: ..=-20, inflation: 60.., living: ..=45 } => "d1",
            Economy { activity: ..=-20, .. } => "d2",
            Economy { activity: -5..=5, .. } => "stagnation",
            _ => "other",
        }
    }

    fn step(&mut self, random: &mut Random) {
        let dear = if self.inflation > 60 { 2 } else { 0 };
        self.activity += random.below(21) - 10 - self.activity.signum() - dear;
        self.activity = self.activity.clamp(-60, 60);
        let heat = i64::from(self.activity > 20) - i64::from(self.activity < -20);
        self.inflation = (self.inflation + random.below(11) - 5 + heat).clamp(0, 100);
        self.living = (self.living + self.activity.signum() + random.below(5) - 2).clamp(0, 100);
    }
}

struct Options {
    traces: usize,
    steps: usize,
    seed: u64,
    output: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut options = Options { traces: 200, steps: 100, seed: 1, output: PathBuf::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name}: expected a value"))?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{name}: {text} is not a number"));
        match name.as_str() {
            "--traces" => options.traces = number(&value)? as usize,
            "--steps" => options.steps = number(&value)? as usize,
            "--seed" => options.seed = number(&value)?,
            "-o" => options.output = value.into(),
            _ => return Err(format!("{name}: expected --traces, --steps, --seed or -o")),
        }
    }
    if options.output.as_os_str().is_empty() {
        return Err("expected -o DIR, where the traces go".to_owned());
    }
    Ok(options)
}

fn write_trace(path: &Path, steps: usize, random: &mut Random) -> io::Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    writeln!(out, "inflation,activity,living,state")?;
    let mut economy = Economy::start(random);
    for _ in 0..steps {
        let Economy { inflation, activity, living } = economy;
        writeln!(out, "{inflation},{activity},{living},{}", economy.state())?;
        economy.step(random);
    }
    out.flush()
}

fn main() -> ExitCode {
    let run = || -> Result<(), String> {
        let Options { traces, steps, seed, output } = options()?;
        let named = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(&output).map_err(|error| named(&output, error))?;
        // One generator for all traces.
        let mut random = Random(seed);
        let digits = traces.to_string().len();
        for trace in 1..=traces {
            let path = output.join(format!("trace-{trace:0digits$}.csv"));
            write_trace(&path, steps, &mut random).map_err(|error| named(&path, error))?;
        }
        Ok(())
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("economy: {message}");
            ExitCode::from(2)
        }
    }
}
