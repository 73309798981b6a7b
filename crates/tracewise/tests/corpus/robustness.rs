//! Robustness: of the stored trace, and of the same trace as a stream.

use super::Case;
use std::io;
use tracewise::diag::Diagnostic;
use tracewise::robust::{RobustLive, RobustOptions, RobustSink, RobustTold, RobustValue};
use tracewise::watch::{Control, LiveSink, WatchSource};
use tracewise::{Error, Session, Specification};

/// How many properties were compared.
pub fn run(case: &Case, session: &Session, trace: &str) -> usize {
    let spec = Specification::from_text("corpus", &case.spec)
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let mut ran = 0;
    for (_, expected) in case.expected.iter().filter(|(kind, _)| kind == "robustness") {
        for line in expected.lines() {
            let (name, expected) = line.split_once(':').unwrap();
            let mut one = spec.clone();
            one.program.roots.retain(|root| root.name == name);
            let options = RobustOptions { everywhere: true, ..RobustOptions::default() };
            let report = session
                .robust(&one, &[trace.to_string()], &options)
                .unwrap_or_else(|error| panic!("{} {name}: {error}", case.name));
            let property = &report.properties[0];
            let everywhere = property.everywhere.clone().unwrap();
            let values: Vec<f64> = everywhere.into_iter().map(|(_, value)| value).collect();
            assert_eq!(shown(&values), expected.trim(), "{} {name}", case.name);
            assert_eq!(property.value, values[0], "{} {name}", case.name);
            let mut settled = Settled(Vec::new());
            let live = RobustLive::new(WatchSource::File(trace.to_string()));
            session
                .robust_live(&one, &live, &Control::new(), &mut settled)
                .unwrap_or_else(|error| panic!("{} {name}: {error}", case.name));
            assert_eq!(shown(&settled.0), expected.trim(), "{} {name} as a stream", case.name);
            ran += 1;
        }
    }
    ran
}

fn shown(values: &[f64]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The settled values of a stream, which come in order.
struct Settled(Vec<f64>);

impl LiveSink for Settled {
    fn bad_line(&mut self, error: &Error) {
        panic!("{error}");
    }

    fn note(&mut self, note: &str) {
        panic!("{note}");
    }

    fn warnings(&mut self, _: &[Diagnostic]) {}

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RobustSink for Settled {
    fn told(&mut self, told: &RobustTold<'_>) -> io::Result<()> {
        assert_eq!(told.position, self.0.len());
        if let RobustValue::Settled(value) = told.value {
            self.0.push(value);
        }
        Ok(())
    }
}
