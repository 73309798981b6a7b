//! Embedding Tracewise: checks a log against one property and prints where and why it fails.
//!
//! `cargo run -p tracewise --example check -- 'response(created, paid)' examples/tutorial/orders.csv order`

use std::process::ExitCode;
use tracewise::{CheckReport, Error, Session, Specification, Step, Verdict};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [formula, trace, by @ ..] = arguments.as_slice() else {
        eprintln!("usage: check FORMULA TRACE [COLUMN]");
        return ExitCode::from(2);
    };
    match check(formula, trace, by.first()) {
        Ok(report) => print(&report),
        Err(error) => {
            eprint!("{}", error.render(false));
            ExitCode::from(2)
        }
    }
}

fn check(formula: &str, trace: &str, by: Option<&String>) -> Result<CheckReport, Error> {
    let spec = Specification::from_formula(formula)?;
    Session::new().by(by.cloned()).violations(3).check(&spec, &[trace.to_string()])
}

fn print(report: &CheckReport) -> ExitCode {
    let mut violated = false;
    for property in &report.properties {
        println!("{}: {}", property.name, property.verdict.as_str());
        violated |= property.verdict == Verdict::Violated;
        for violation in &property.violations {
            if let Some(line) = &violation.line {
                println!("  {}:{}: {}", line.file, line.line, line.text);
            }
        }
        if let Some(step) = &property.explanation {
            println!("  why: {}", deepest(step).reason);
        }
    }
    ExitCode::from(u8::from(violated))
}

/// An explanation is a tree of steps; its leaves are facts of the trace.
fn deepest(mut step: &Step) -> &Step {
    while let Some(next) = step.because.last() {
        step = next;
    }
    step
}
