//! Prints the value of a query on a trace, and where it comes from.
//!
//! ```text
//! cargo run -p tracewise --example query -- 'max[ms] by user' examples/statistics/monday.jsonl
//! ```

use std::process::ExitCode;
use tracewise::query::QueryOptions;
use tracewise::{Error, Session, Specification};

/// Prints one line per part of the trace that the query asks about.
fn query(text: &str, trace: &str) -> Result<(), Error> {
    let spec = Specification::from_query(text)?;
    let options = QueryOptions { witness: true, ..QueryOptions::default() };
    let report = Session::new().query(&spec, &[trace.to_string()], &options)?;
    for group in report.queries.iter().flat_map(|query| &query.groups) {
        let key = group.key.as_ref().map_or(String::new(), |key| format!("{key}: "));
        println!("{key}{}", group.value);
        for origin in group.witness.iter().flat_map(|witness| &witness.origins) {
            println!("  {} = {} at positions {} to {}", origin.part, origin.value, origin.from, origin.to);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, trace] = arguments.as_slice() else {
        eprintln!("usage: query QUERY TRACE");
        return ExitCode::from(2);
    };
    match query(text, trace) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{}", error.render(false));
            ExitCode::from(2)
        }
    }
}
