//! Watches bytes that the program has itself: of a message queue, say.

use std::io;
use tracewise::diag::Diagnostic;
use tracewise::watch::{
    Control, LiveSink, Pending, WatchOptions, WatchSink, WatchValue, WatchVerdict, watch_channel,
};
use tracewise::{Error, Evaluating, Semantics, Session, Specification};

/// Prints verdicts.
struct Printed;

impl LiveSink for Printed {
    fn bad_line(&mut self, error: &Error) {
        eprintln!("{error}");
    }

    fn note(&mut self, note: &str) {
        eprintln!("{note}");
    }

    fn warnings(&mut self, _: &[Diagnostic]) {}

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WatchSink for Printed {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        println!("{} {} by position {}", verdict.property, verdict.verdict.as_str(), verdict.position);
        Ok(())
    }

    fn value(&mut self, _: &WatchValue) -> io::Result<()> {
        Ok(())
    }

    fn pending(&mut self, _: u64, _: &[Pending<'_>]) -> io::Result<()> {
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let spec = Specification::from_text("bus.tw", "property quiet : G !alarm;")?;
    let (sender, source) = watch_channel("bus");
    let sending = std::thread::spawn(move || {
        // Cut anywhere; an error says that the watch is over.
        for piece in ["{\"event\":\"start\"}\n{\"ev", "ent\":\"alarm\"}\n"] {
            if sender.send(piece).is_err() {
                return;
            }
        }
        sender.end();
    });
    let evaluating = Evaluating { semantics: Semantics::Ltl3, ..Evaluating::default() };
    let session = Session::new().evaluating(evaluating);
    let report = session.watch(&spec, &WatchOptions::new(source), &Control::new(), &mut Printed)?;
    println!("{} positions", report.positions);
    let _ = sending.join();
    Ok(())
}
