//! Formulas and traces for the tests of this crate, written as text.

use crate::goals::Goals;
use std::collections::BTreeSet;
use tw_automata::alternating::NodeIndex;
use tw_core::Bits;
use tw_ir::{Program, display};
use tw_monitor::{EvaluateOptions, Trace};
use tw_spec::{LowerOptions, lower, parse_formula};

/// A program whose one root is the formula.
pub(crate) fn program(formula: &str) -> Program {
    let parsed = parse_formula(formula, 0);
    let lowered = lower(&parsed.value, &LowerOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{formula}: {:?}", parsed.diagnostics);
    assert!(!lowered.value.roots.is_empty(), "{formula}: {:?}", lowered.diagnostics);
    lowered.value
}

/// One position per comma, with the propositions that are true there: `"a b,,c"`.
pub(crate) fn trace(program: &Program, text: &str) -> Trace {
    let positions: Vec<Vec<&str>> = text.split(',').map(|at| at.split_whitespace().collect()).collect();
    let column = |atom| -> Bits {
        let name = display(program, atom);
        positions.iter().map(|here| here.contains(&name.as_str())).collect()
    };
    let atoms = program.atoms().into_iter().map(column).collect();
    Trace { len: positions.len(), atoms, ..Trace::default() }
}

/// Nodes by what they stand for, in the order in which the worked examples number them.
pub(crate) struct Numbered {
    pub(crate) goals: Goals,
    pub(crate) nodes: Vec<NodeIndex>,
}

impl Numbered {
    /// `names` are n0, n1, …: the formula of each node, with `!` before it if it is negated.
    pub(crate) fn new(program: &Program, options: &EvaluateOptions, names: &[&str]) -> Self {
        let goals = Goals::stored(program, &[program.roots[0].node], options).unwrap();
        let name = |node: &tw_automata::alternating::Node| {
            let (formula, negated) = node.origin;
            format!("{}{}", if negated { "!" } else { "" }, display(program, formula))
        };
        let all: Vec<String> = goals.automaton.nodes().iter().map(name).collect();
        assert_eq!(BTreeSet::from_iter(all.iter().map(String::as_str)), names.iter().copied().collect());
        let place = |name: &&str| all.iter().position(|other| other == name).unwrap();
        let nodes = names.iter().map(|name| NodeIndex(place(name) as u32)).collect();
        Self { goals, nodes }
    }

    /// Slices by the numbers of the example: `"01 02 034"`.
    pub(crate) fn slices<'a>(&self, slices: impl Iterator<Item = &'a Vec<u32>>) -> String {
        let number = |index: &u32| self.nodes.iter().position(|node| node.0 == *index).unwrap();
        let spell = |slice: &Vec<u32>| {
            let numbers: BTreeSet<usize> = slice.iter().map(number).collect();
            numbers.into_iter().map(|number| number.to_string()).collect::<String>()
        };
        let sorted: BTreeSet<String> = slices.map(spell).collect();
        Vec::from_iter(sorted).join(" ")
    }
}
