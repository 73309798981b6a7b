//! Text logs live, in chunks of any size, with readers that take over from others: what they deliver is what rows are.

use super::scanned;
use crate::formats::{combined::Combined, lines::PlainLines, logfmt::Logfmt, strace::Strace, syslog::Syslog};
use crate::{Arrival, Live, Projection, ReadOptions, Receiver, TraceError, TraceFormat};
use tw_core::Batch;
use tw_ir::Expect;
use tw_testkit::Rng;

/// What was delivered, as [`scanned`] writes it, and the lines.
#[derive(Default)]
struct Collect {
    out: String,
    lines: Vec<(String, Option<u64>)>,
    left_over: u64,
}

impl Receiver for Collect {
    type Mapped = Batch;
    type Error = TraceError;

    fn map(&mut self, batch: Batch) -> Result<Batch, (usize, TraceError)> {
        Ok(batch)
    }

    fn take(&mut self, batch: Batch, arrival: &Arrival<'_>) -> Result<(), TraceError> {
        for at in 0..batch.len {
            let time = batch.times.as_ref().map(|times| times[at]);
            self.out.push_str(&format!("{:?} {}\n", time, batch.slots[0].value(at)));
            self.lines.push(("f0".into(), arrival.line(at).0));
        }
        Ok(())
    }

    fn left_over(&mut self, lines: u64, _first: u64) {
        self.left_over += lines;
    }
}

fn projection() -> Projection {
    Projection::new(&[super::variable("text", Expect::Any)], None, true)
}

/// A log of a format; `None` as a form is one without timestamps.
fn log(format: &dyn TraceFormat, rng: &mut Rng) -> String {
    let (form, mut at) = (rng.below(13), 40_000_000u64);
    let mut text = String::new();
    let preamble = if rng.below(3) == 0 { rng.below(3) } else { 0 };
    if format.name() == "lines" && form < 12 {
        (0..preamble).for_each(|_| text.push_str("=== begins ===\n"));
    }
    for _ in 0..2 + rng.below(20) {
        at += [0, 1, 50, 4000, 90_000][rng.below(5)];
        let (month, day) = (at / 2_592_000 % 12 + 1, at / 86_400 % 28 + 1);
        let (hour, minute, second, milli) = (at / 3600 % 24, at / 60 % 60, at % 60, rng.below(1000));
        let year = 2020 + at / 31_104_000;
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let name = MONTHS[month as usize - 1];
        let clock = format!("{hour:02}:{minute:02}:{second:02}");
        let bsd = format!("{name} {day:2} {clock}");
        let says = ["x", "user ann in", "é [7] ok", "a=1", "\"quoted\" text, more", ""][rng.below(6)];
        let line = match (format.name(), form) {
            ("syslog", _) => match form % 2 {
                0 => format!("{bsd} host app[5]: {says}"),
                _ => format!("<34>{bsd} host app: {says}"),
            },
            ("combined", _) => format!(
                "10.0.0.1 - ann [{day:02}/{name}/{year}:{clock} -0700] \"GET /x HTTP/1.1\" 200 {milli} \"-\" \"curl\""
            ),
            ("logfmt", _) => {
                format!("time={year}-{month:02}-{day:02}T{clock}Z level=info n={milli} msg=\"a b\"")
            }
            ("strace", _) => format!("5  {}.{milli:06} read(3, \"x\", 10) = {milli}", 1_700_000_000 + at),
            (_, 0) => format!("{bsd} {says}"),
            (_, 1) => format!("[Sun {name} {day:02} {clock} {year}] {says}"),
            (_, 2) => format!("{year}-{month:02}-{day:02} {clock},{milli:03} {says}"),
            (_, 3) => format!("20/{month:02}/{day:02} {clock} {says}"),
            (_, 4) => format!("20{month:02}{day:02} {hour:02}{minute:02}{second:02} {says}"),
            (_, 5) => format!("{year}{month:02}{day:02}-{hour}:{minute}:{second}:{milli}|{says}"),
            (_, 6) => format!("{month:02}-{day:02} {clock}.{milli:03}  {says}"),
            (_, 7) => {
                format!("R0 {year}-{month:02}-{day:02}-{hour:02}.{minute:02}.{second:02}.{milli:06} {says}")
            }
            (_, 8) => format!("[{month:02}.{day:02} {clock}] {says}"),
            (_, 9) => format!("host - [{day:02}/{name}/{year}:{clock} +0200] {says}"),
            (_, 10) => format!("{} {says}", 1_700_000_000 + at),
            (_, 11) => format!("{year}-{month:02}-{day:02}T{clock}.{milli}Z {says}"),
            _ => format!("no time {says}"),
        };
        text.push_str(&line);
        text.push_str(if rng.below(5) == 0 { "\r\n" } else { "\n" });
        // Numbers are timestamps where most lines begin with one.
        if format.name() == "lines" && form < 12 && form != 10 {
            for _ in 0..[0, 0, 0, 1, 3][rng.below(5)] {
                text.push_str(["  at y(z.java)\n", "Caused by: z\n", "\n", "\ttab\r\n"][rng.below(4)]);
            }
        }
    }
    if rng.below(4) == 0 {
        text.pop();
    }
    text
}

#[test]
fn live_is_stored_however_it_is_cut_and_whoever_takes_over() {
    let formats: [&'static dyn TraceFormat; 5] = [&PlainLines, &Syslog, &Combined, &Logfmt, &Strace];
    for seed in 0..tw_testkit::cases(3000) as u64 {
        let mut rng = Rng::new(seed);
        let format = formats[[0, 0, 0, 1, 2, 3, 4][rng.below(7)]];
        let text = log(format, &mut rng);
        let base = ReadOptions {
            own_lines: rng.below(5) == 0,
            year: Some(2020),
            any_order: rng.below(2) == 0,
            ..ReadOptions::default()
        };
        let options = super::settled(format, text.as_bytes(), &base);
        let expected = scanned(format, &[text.as_bytes()], &options, true);
        let projection = projection();
        let mut collect = Collect::default();
        let mut live = Live::new("f0", format, &projection, &base);
        let (mut at, mut failed) = (0, None);
        while at < text.len() && failed.is_none() {
            let most = [3, 40, 400][rng.below(3)];
            let end = (at + 1 + rng.below(most)).min(text.len());
            failed = live.push(&text.as_bytes()[at..end], false, &mut collect).err();
            at = end;
            if rng.below(6) == 0 && failed.is_none() {
                let mut saved = Vec::new();
                live.save(&mut saved);
                live = Live::new("f0", format, &projection, &base);
                live.restore(&mut saved.as_slice()).unwrap();
                let from = live.progress().bytes as usize;
                failed = live.push(&text.as_bytes()[from..end], false, &mut collect).err();
            }
        }
        let failed = failed.or_else(|| live.push(b"", true, &mut collect).err());
        let found = match failed {
            Some(error) => error.to_string(),
            None => format!("{}{:?}", collect.out, collect.lines),
        };
        assert_eq!(found, expected, "seed {seed}: {} {text:?} {base:?}", format.name());
        assert_eq!(collect.left_over, 0, "seed {seed}");
    }
}

#[test]
fn what_comes_after_silence_is_counted() {
    let projection = projection();
    let mut live = Live::new("f0", &PlainLines, &projection, &ReadOptions::default());
    let mut collect = Collect::default();
    live.push(b"2015-10-18 18:01:47 a\n  at b\n", false, &mut collect).unwrap();
    assert_eq!(collect.lines.len(), 0);
    live.silence(&mut collect).unwrap();
    assert_eq!(collect.lines, [("f0".into(), Some(1))]);
    live.push(b"  at c\n  at d\n2015-10-18 18:01:48 e\n", false, &mut collect).unwrap();
    live.push(b"  at f\n", true, &mut collect).unwrap();
    assert_eq!((collect.left_over, collect.lines.len()), (2, 2));
    assert!(collect.out.ends_with("e\n  at f\n"), "{}", collect.out);
}

#[test]
fn a_given_form_is_waited_for() {
    let given = ReadOptions { time_format: Some("%H.%M Uhr".into()), ..ReadOptions::default() };
    let projection = projection();
    let mut live = Live::new("f0", &PlainLines, &projection, &given);
    let mut collect = Collect::default();
    for line in ["=== begins ===\n", "10.15 Uhr a\n", "10.16 Uhr b\n"] {
        live.push(line.as_bytes(), false, &mut collect).unwrap();
    }
    assert_eq!(collect.lines.len(), 1, "the first is complete when the second comes");
    live.push(b"", true, &mut collect).unwrap();
    let lines: Vec<_> = collect.lines.iter().map(|(_, line)| *line).collect();
    assert_eq!(lines, [Some(2), Some(3)], "{}", collect.out);
}
