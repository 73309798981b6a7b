//! The Simple Programming Language: parser and simulator of small concurrent programs.
//!
//! SPL is the language of Manna and Pnueli's books: processes that share variables, semaphores and channels, with labels
//! on their statements. Runs of such programs are what the statistics of Finkbeiner, Sankaranarayanan and Sipma
//! ("Collecting Statistics Over Runtime Executions") are shown on.
//!
//! ```
//! use tw_spl::{Simulator, parse};
//! let text = "local r : integer where r = 1
//!             P1 :: l0: loop forever do [l1: noncritical; l2: request r; l3: critical; l4: release r]
//!          || P2 :: m0: loop forever do [m1: noncritical; m2: request r; m3: critical; m4: release r]";
//! let (program, findings) = parse("mux.spl", text);
//! assert!(findings.is_empty());
//! let mut run = Simulator::new(&program, 1, 0).unwrap();
//! for _ in 0..4 {
//!     run.step().unwrap();
//! }
//! let names: Vec<&str> = run.columns().iter().map(|column| &*column.name).collect();
//! assert_eq!(names[..5], ["r", "at_l0", "at_l1", "at_l2", "at_l3"]);
//! assert_eq!(run.state().get(4), Some(tw_core::Value::Bool(true)));
//! ```
//!
//! [`parse`] reads (`lexer`, `parser` to a `tree`) and checks (`lower` to a `machine`); [`Simulator`] runs; [`Lines`]
//! writes states as text. What a step is and who takes it is fixed, so that equal seeds give equal traces everywhere.

mod evaluate;
mod lexer;
mod lines;
mod lower;
mod machine;
mod parser;
mod random;
mod simulator;
mod tree;

pub use lines::{Form, Lines};
pub use machine::{Column, Kind, Program};
pub use simulator::{Simulator, State, Stuck};

use tw_diag::{Diagnostic, Severity};

/// Parses and checks a program; `name` is the file's. Findings point into [`Program::sources`].
pub fn parse(name: &str, text: &str) -> (Program, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tree = parser::parse(text, &mut diagnostics);
    let mut program = Program { name: tree.name.clone(), ..Program::default() };
    program.sources.add(name, text);
    program.broken = diagnostics.iter().any(|found| found.severity == Severity::Error);
    // Half a program declares half of its names: findings of the second pass would be consequences of the first's.
    if !program.broken {
        lower::lower(&tree, &mut program, &mut diagnostics);
    }
    diagnostics.sort_by_key(|found| found.labels.first().map_or(0, |(span, _)| span.start));
    (program, diagnostics)
}
