//! A million violations take no more memory than a thousand.

use crate::trace::format_named;
use crate::watch::run::Run;
use crate::watch::{WatchOptions, WatchSource};
use crate::{Semantics, Session, Specification};

/// Bytes held after so many chunks of a thousand positions, which all settle a violation or two.
fn held(formula: &str, chunks: &[usize], time: fn(usize) -> usize) -> Vec<usize> {
    let spec = Specification::from_text("t.tw", &format!("property a : {formula};")).unwrap();
    let session = Session::new().semantics(Semantics::Ltl3);
    let options = WatchOptions::new(WatchSource::Stdin);
    let mut heard = Silent(0);
    let format = ("t", format_named("props").unwrap());
    let mut run = Run::open(&session, [&spec, &spec], &options, format, None, &mut heard).unwrap();
    let (mut bytes, mut sent) = (Vec::new(), 0);
    for &chunk in chunks {
        while sent < chunk {
            let lines = (0..1000).map(|at| format!("@{} bad\n", time(sent * 1000 + at)));
            assert!(run.live.push(lines.collect::<String>().as_bytes(), false, &mut run.judge).is_ok());
            sent += 1;
        }
        bytes.push(run.judge.heap_bytes());
        assert_eq!(run.judge.told.first.len(), 1);
    }
    assert!(run.judge.told.total() as usize > sent * 900, "{}", run.judge.told.total());
    bytes
}

/// Hears nothing.
struct Silent(usize);

impl crate::watch::LiveSink for Silent {
    fn bad_line(&mut self, _: &crate::Error) {}

    fn note(&mut self, _: &str) {}

    fn warnings(&mut self, _: &[crate::diag::Diagnostic]) {}

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl crate::watch::WatchSink for Silent {
    fn verdict(&mut self, verdict: &crate::watch::WatchVerdict<'_>) -> std::io::Result<()> {
        self.0 += verdict.violation_count as usize;
        Ok(())
    }

    fn value(&mut self, _: &crate::watch::WatchValue) -> std::io::Result<()> {
        Ok(())
    }

    fn pending(&mut self, _: u64, _: &[crate::watch::Pending<'_>]) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_million_violations_do_not_grow_the_heap() {
    for formula in ["G !bad", "G (bad -> X !bad)"] {
        // Times that go on, and some that nobody uses, which start anew again and again.
        for time in [|at| at / 100, |at| at % 3000] {
            let held = held(formula, &[20, 1000], time);
            assert_eq!(held[0], held[1], "{formula}");
        }
    }
    // Within the horizon of an interval.
    let held = held("G (bad -> O[0,1s] good)", &[20, 200], |at| at / 100);
    assert!(held[1] <= held[0] * 2, "{held:?}");
}
