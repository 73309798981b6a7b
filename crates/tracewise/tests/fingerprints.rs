//! Fingerprints of properties: the same for the same meaning, another for any other.

use std::collections::HashMap;
use tracewise::Specification;
use tw_ir::{Fingerprint, Node, NodeId, Program, Temporal, alone, display, fingerprints};

fn program(text: &str) -> Program {
    match Specification::from_text("s.tw", text) {
        Ok(spec) => spec.program,
        Err(error) => panic!("{}", error.render(false)),
    }
}

fn one(formula: &str) -> Fingerprint {
    fingerprints(&program(&format!("property p : {formula};")))[0]
}

const FORMULAS: &[&str] = &[
    "G (x in {1, 2})",
    "G (x in {7, 8})",
    "G (x in {1, 3})",
    "G (x in {1..2})",
    "G (x in {1.0, 2})",
    "G (x in {\"1\", \"2\"})",
    "G (x == 1)",
    "G (x == 1.0)",
    "G (x == \"1\")",
    "G (x != 1)",
    "G (y == 1)",
    "G (x.y == 1)",
    "G (s matches \"a.*\")",
    "G (s matches \"a.+\")",
    "G (a -> F[0,5s] b)",
    "G (a -> F[0,6s] b)",
    "G (a -> F[0,5] b)",
    "G (a -> F[0,5s) b)",
    "G (a -> F(0,5s] b)",
    "G (a -> F b)",
    "G (a -> X b)",
    "G (b -> F a)",
    "F (a -> F b)",
    "G open(file: 1)",
    "G open(path: 1)",
    "G open(file: 2)",
    "G shut(file: 1)",
    "forall u. G (open(u) -> F shut(u))",
    "exists u. G (open(u) -> F shut(u))",
    "forall u. G (open(u) -> F open(u))",
];

const QUERIES: &[&str] = &[
    "count[a]",
    "sum[a : x]",
    "max[a : x]",
    "max[a : y]",
    "count[a while b]",
    "count[b while a]",
    "count[a] by user",
    "count[a] by host",
    "count[a] every 1m",
    "count[a] every 2m",
    "quantile(0.5)[a : x]",
    "quantile(0.9)[a : x]",
];

/// One file of all formulas.
fn whole() -> String {
    let property = |(at, formula): (usize, &&str)| format!("property p{at} : {formula};\n");
    FORMULAS.iter().enumerate().map(property).collect()
}

#[test]
fn every_part_of_the_meaning_counts() {
    let mut seen: HashMap<Fingerprint, &str> = HashMap::new();
    for formula in FORMULAS {
        if let Some(other) = seen.insert(one(formula), formula) {
            panic!("{formula} and {other}");
        }
    }
    for query in QUERIES {
        let found = fingerprints(&program(&format!("query q : {query};")))[0];
        if let Some(other) = seen.insert(found, query) {
            panic!("{query} and {other}");
        }
    }
}

#[test]
fn nothing_else_does() {
    let expected: Vec<Fingerprint> = FORMULAS.iter().map(|formula| one(formula)).collect();
    assert_eq!(fingerprints(&program(&whole())), expected);
    let turned: String = FORMULAS
        .iter()
        .enumerate()
        .rev()
        .map(|(at, formula)| format!("// a comment\nproperty other{at} \"a title\" :\n   {formula} ;\n"))
        .collect();
    let mut found = fingerprints(&program(&turned));
    found.reverse();
    assert_eq!(found, expected);
    // A variable may have any name.
    assert_eq!(one("forall u. G (open(u) -> F shut(u))"), one("forall v. G (open(v) -> F shut(v))"));
}

#[test]
fn a_property_alone_is_the_property() {
    let whole = program(&whole());
    for (number, root) in whole.roots.iter().enumerate() {
        let alone = alone(&whole, number);
        let program = &alone.program;
        assert_eq!(display(program, program.roots[0].node), display(&whole, root.node));
        assert_eq!(alone.nodes.len(), program.dag.len());
        for (id, &was) in alone.nodes.iter().enumerate() {
            assert_eq!(display(program, NodeId(id as u32)), display(&whole, was));
        }
        for (slot, &was) in program.slots.iter().zip(&alone.slots) {
            assert_eq!(slot, &whole.slots[was as usize]);
        }
    }
}

#[test]
fn depth_is_no_danger() {
    let mut program = program("property p : a;");
    let mut node = program.roots[0].node;
    for _ in 0..200_000 {
        node = program.dag.add(Node::Unary(Temporal::Next, None, node));
    }
    program.roots[0].node = node;
    let one = fingerprints(&program)[0];
    program.roots[0].node = program.dag.add(Node::Unary(Temporal::Next, None, node));
    assert_ne!(fingerprints(&program)[0], one);
}
