//! Formulas from text, events by name, and the paper's slow definition of satisfaction.

#![allow(dead_code)]

use tw_automata::past::Past;
use tw_automata::residual::{Event, FormulaId, Limits, Terms};
use tw_core::Bits;
use tw_ir::{Node, NodeId, Program, Temporal, display};
use tw_monitor::{Trace, words};
use tw_spec::{LowerOptions, lower, parse};

/// The program with one property per formula.
pub fn program(formulas: &[&str]) -> Program {
    let text: String =
        formulas.iter().enumerate().map(|(at, formula)| format!("property p{at} : {formula};\n")).collect();
    let parsed = parse(&text, 0);
    assert!(parsed.diagnostics.is_empty(), "{text}{:?}", parsed.diagnostics);
    let lowered = lower(&parsed.value, &LowerOptions::default());
    assert!(lowered.diagnostics.is_empty(), "{text}{:?}", lowered.diagnostics);
    lowered.value
}

/// The canonical forms of some formulas, with the last state repeated.
pub fn canonical(program: &Program) -> (Terms, Vec<FormulaId>) {
    let mut terms = Terms::new(true, Limits::default());
    let translate =
        |root: &tw_ir::Root| terms.translate(program, &Past::default(), root.node).expect("a small formula");
    let formulas = program.roots.iter().map(translate).collect();
    (terms, formulas)
}

/// An event by the names of the atoms that hold (`a b`; `nil` is none), packed.
pub fn row(program: &Program, event: &str) -> Vec<u64> {
    let atoms = program.atoms();
    let mut row = vec![0; words(atoms.len())];
    for name in event.split_whitespace().filter(|name| *name != "nil") {
        // An atom that no formula mentions may hold too.
        if let Some(at) = atoms.iter().position(|&atom| display(program, atom) == name) {
            row[at / 64] |= 1 << (at % 64);
        }
    }
    row
}

/// A trace, events separated by commas.
pub fn trace(program: &Program, events: &str) -> Trace {
    let rows: Vec<Vec<u64>> = events.split(',').map(|event| row(program, event)).collect();
    let column =
        |atom: usize| rows.iter().map(|row| row[atom / 64] >> (atom % 64) & 1 == 1).collect::<Bits>();
    let atoms = (0..program.atoms().len()).map(column).collect();
    Trace { len: rows.len(), atoms, ..Trace::default() }
}

/// An event for [`Terms`].
pub fn event<'a>(program: &Program, row: &'a [u64]) -> Event<'a> {
    Event { row, atoms: program.atoms().len() as u32, past: &[] }
}

/// `T |= X` by the paper's recursion, over the positions from `at`: exponential, and nothing shared with the engine.
pub fn satisfies(program: &Program, trace: &Trace, formula: NodeId, at: usize) -> bool {
    use Node::*;
    let holds = |formula: NodeId, at: usize| satisfies(program, trace, formula, at);
    let last = at + 1 == trace.len;
    match program.dag.node(formula) {
        Bool(value) => value,
        Last => last,
        Not(a) => !holds(a, at),
        And(a, b) => holds(a, at) && holds(b, at),
        Or(a, b) => holds(a, at) || holds(b, at),
        Xor(a, b) => holds(a, at) != holds(b, at),
        Implies(a, b) => !holds(a, at) || holds(b, at),
        Iff(a, b) => holds(a, at) == holds(b, at),
        Unary(Temporal::Globally, _, a) => holds(a, at) && (last || holds(formula, at + 1)),
        Unary(Temporal::Finally, _, a) => holds(a, at) || (!last && holds(formula, at + 1)),
        Binary(Temporal::Until, _, a, b) => holds(b, at) || (!last && holds(a, at) && holds(formula, at + 1)),
        Binary(Temporal::WeakUntil, _, a, b) => {
            holds(b, at) || (holds(a, at) && (last || holds(formula, at + 1)))
        }
        Binary(Temporal::Release, _, a, b) => {
            holds(b, at) && (last || holds(a, at) || holds(formula, at + 1))
        }
        Binary(Temporal::StrongRelease, _, a, b) => {
            holds(b, at) && (holds(a, at) || (!last && holds(formula, at + 1)))
        }
        Unary(Temporal::Next, _, a) | Unary(Temporal::WeakNext, _, a) => {
            holds(a, if last { at } else { at + 1 })
        }
        _ => {
            let atom = program.atoms().binary_search(&formula).expect("an atom");
            trace.atoms[atom].get(at)
        }
    }
}
