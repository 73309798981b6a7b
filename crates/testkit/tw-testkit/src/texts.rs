//! Programs from text, for tests: what does not parse or lower is the test's own mistake.

use tw_diag::Checked;
use tw_ir::Program;
use tw_spec::ast::Tree;
use tw_spec::{LowerOptions, lower, parse, parse_branching, parse_formula};

/// The program whose only root is a formula.
pub fn formula(text: &str) -> Program {
    lowered(text, parse_formula(text, 0))
}

/// The program whose only root is a formula of branching time.
pub fn branching(text: &str) -> Program {
    lowered(text, parse_branching(text, 0))
}

/// The program of a specification.
pub fn specification(text: &str) -> Program {
    lowered(text, parse(text, 0))
}

/// A property for each formula, in their order.
pub fn properties(formulas: &[&str]) -> Program {
    specification(&roots("property", formulas))
}

/// The queries, in their order.
pub fn queries(queries: &[&str]) -> Program {
    specification(&roots("query", queries))
}

fn roots(kind: &str, bodies: &[&str]) -> String {
    bodies.iter().enumerate().map(|(number, body)| format!("{kind} r{number} : {body};\n")).collect()
}

fn lowered(text: &str, tree: Checked<Tree>) -> Program {
    assert!(!tree.has_errors(), "{text}: {:?}", tree.diagnostics);
    let program = lower(&tree.value, &LowerOptions::default());
    assert!(!program.has_errors(), "{text}: {:?}", program.diagnostics);
    program.value
}
