//! Embedding Tracewise: checks a log against one formula, per value of a column, and prints where and why it fails.
//!
//! `cargo run -p tracewise --example check -- 'response(created, paid)' examples/tutorial/orders.csv order`

use std::process::ExitCode;
use tracewise::check::{CheckOptions, Step};
use tracewise::{Error, Session, Specification, Verdict};

/// Whether the formula is violated.
fn check(formula: &str, trace: &str, column: &str) -> Result<bool, Error> {
    let spec = Specification::from_formula(formula)?;
    let options = CheckOptions { by: Some(column.to_string()), violations: 3, ..CheckOptions::default() };
    let report = Session::new().check(&spec, &[trace.to_string()], &options)?;
    let mut violated = false;
    for property in &report.properties {
        println!("{}: {}", property.name, property.verdict.as_str());
        violated |= property.verdict == Verdict::Violated;
        for violation in &property.violations {
            if let Some(line) = &violation.line {
                println!("  {}:{}: {}", line.file, line.line, line.text);
            }
        }
        property.explanation.as_ref().into_iter().for_each(print_steps);
    }
    Ok(violated)
}

/// An explanation is a tree of steps; its leaves are facts of the trace.
fn print_steps(root: &Step) {
    let mut open = vec![(root, 1)];
    while let Some((step, depth)) = open.pop() {
        println!("{}{}: {}", "  ".repeat(depth), step.formula, step.reason);
        open.extend(step.because.iter().rev().map(|step| (step, depth + 1)));
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [formula, trace, column] = arguments.as_slice() else {
        eprintln!("usage: check FORMULA TRACE COLUMN");
        return ExitCode::from(2);
    };
    match check(formula, trace, column) {
        Ok(violated) => ExitCode::from(u8::from(violated)),
        Err(error) => {
            eprint!("{}", error.render(false));
            ExitCode::from(2)
        }
    }
}
