//! Every pattern against its definition over explicit stretches of explicit traces.

use super::PATTERNS;
use crate::{LowerOptions, lower, parse_formula};
use std::ops::Range;
use tw_ir::{Node, Program, Temporal, What};

/// A trace: for each position the letters that hold, as bits of `p q r s`.
type Trace<'t> = &'t [u8];

fn holds(trace: Trace, letter: char, at: usize) -> bool {
    let bit = "pqrs".find(letter).expect("one of the four letters");
    trace[at] >> bit & 1 == 1
}

/// The stretches that a scope speaks about.
fn stretches(scope: &str, trace: Trace) -> Vec<Range<usize>> {
    let end = trace.len();
    let first = |letter| (0..end).find(|&at| holds(trace, letter, at));
    let from_each_q = |open: bool| {
        let mut found = Vec::new();
        for from in (0..end).filter(|&at| holds(trace, 'q', at) && !holds(trace, 'r', at)) {
            match (from + 1..end).find(|&at| holds(trace, 'r', at)) {
                Some(to) => found.push(from..to),
                None if open => found.push(from..end),
                None => {}
            }
        }
        found
    };
    match scope {
        "" => std::iter::once(0..end).collect(),
        "before" => first('r').map(|to| 0..to).into_iter().collect(),
        "after" => first('q').map(|from| from..end).into_iter().collect(),
        "between" => from_each_q(false),
        "after_until" => from_each_q(true),
        other => panic!("unknown scope {other}"),
    }
}

/// Whether a stretch has the shape.
fn shape(name: &str, trace: Trace, stretch: Range<usize>) -> bool {
    let p = |at: usize| holds(trace, 'p', at);
    let s = |at: usize| holds(trace, 's', at);
    let (from, to) = (stretch.start, stretch.end);
    match name {
        "absence" => !stretch.clone().any(p),
        "existence" => stretch.clone().any(p),
        "universality" => stretch.clone().all(p),
        "response" => (from..to).filter(|&at| p(at)).all(|at| (at..to).any(s)),
        "precedence" => (from..to).filter(|&at| p(at)).all(|at| (from..=at).any(s)),
        "bounded_existence" => (from..to).filter(|&at| p(at) && (at == from || !p(at - 1))).count() <= 2,
        other => panic!("unknown shape {other}"),
    }
}

/// Scope and shape of a pattern's name.
fn parts(name: &'static str) -> (&'static str, &'static str) {
    const SCOPES: [&str; 4] = ["after_until", "between", "before", "after"];
    if let Some(scope) = SCOPES.iter().find(|scope| **scope == name) {
        return ("universality", scope);
    }
    for scope in SCOPES {
        if let Some(shape) = name.strip_suffix(scope).and_then(|rest| rest.strip_suffix('_')) {
            return (shape, scope);
        }
    }
    (name, "")
}

/// The truth of a formula at the first position, by the definitions of the operators.
fn evaluate(program: &Program, trace: Trace) -> bool {
    let n = trace.len();
    let mut table: Vec<Vec<bool>> = Vec::with_capacity(program.dag.len());
    for node in program.dag.nodes() {
        let of = |id: tw_ir::NodeId, at: usize| table[id.index()][at];
        let until = |a: tw_ir::NodeId, b: tw_ir::NodeId, at: usize| {
            (at..n).any(|k| of(b, k) && (at..k).all(|m| of(a, m)))
        };
        let row = (0..n).map(|at| match *node {
            Node::Truth(slot) => match &program.slots[slot as usize].what {
                What::Proposition(path) => holds(trace, path.to_string().chars().next().unwrap(), at),
                other => panic!("{other:?}"),
            },
            Node::Not(a) => !of(a, at),
            Node::And(a, b) => of(a, at) && of(b, at),
            Node::Or(a, b) => of(a, at) || of(b, at),
            Node::Implies(a, b) => !of(a, at) || of(b, at),
            Node::Unary(Temporal::Finally, None, a) => (at..n).any(|k| of(a, k)),
            Node::Unary(Temporal::Globally, None, a) => (at..n).all(|k| of(a, k)),
            Node::Binary(Temporal::Until, None, a, b) => until(a, b, at),
            Node::Binary(Temporal::WeakUntil, None, a, b) => until(a, b, at) || (at..n).all(|k| of(a, k)),
            other => panic!("no pattern needs {other:?}"),
        });
        let row = row.collect();
        table.push(row);
    }
    table[program.roots[0].node.index()][0]
}

#[test]
fn patterns_mean_what_their_names_say() {
    for pattern in PATTERNS {
        let call = format!("{}({})", pattern.name, pattern.parameters.join(", "));
        let parsed = parse_formula(&call, 0);
        let lowered = lower(&parsed.value, &LowerOptions::default());
        assert!(lowered.diagnostics.is_empty(), "{call}: {:?}", lowered.diagnostics);
        let (what, scope) = parts(pattern.name);
        let mask: u8 = pattern.parameters.iter().map(|p| 1 << "pqrs".find(p).unwrap()).sum();
        // All traces over its letters, as long as there are not too many.
        let letters: Vec<u8> = (0..16).filter(|l| l & !mask == 0).collect();
        let longest = [0, 9, 5, 4, 3][pattern.parameters.len()];
        for length in 1..=longest {
            for number in 0..letters.len().pow(length) {
                let mut rest = number;
                let next = || {
                    let letter = letters[rest % letters.len()];
                    rest /= letters.len();
                    letter
                };
                let trace: Vec<u8> = std::iter::repeat_with(next).take(length as usize).collect();
                compare(pattern.name, what, scope, &lowered.value, &trace);
            }
        }
        // And some longer ones, where shapes like "at most two stretches" begin to matter.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for round in 0..3_000 {
            let length = 5 + round % 6;
            let letter = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                letters[(state >> 33) as usize % letters.len()]
            };
            let trace: Vec<u8> = std::iter::repeat_with(letter).take(length).collect();
            compare(pattern.name, what, scope, &lowered.value, &trace);
        }
    }
}

fn compare(name: &str, what: &str, scope: &str, program: &Program, trace: Trace) {
    let expected = stretches(scope, trace).into_iter().all(|stretch| shape(what, trace, stretch));
    assert_eq!(evaluate(program, trace), expected, "{name} on {trace:?} (bits p=1 q=2 r=4 s=8)");
}

#[test]
fn documentation_is_usable() {
    let mut names: Vec<&str> = PATTERNS.iter().map(|p| p.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PATTERNS.len());
    for pattern in PATTERNS {
        for text in [pattern.formula, pattern.example] {
            let parsed = parse_formula(text, 0);
            assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
            let lowered = lower(&parsed.value, &LowerOptions::default());
            assert!(lowered.diagnostics.is_empty(), "{text}: {:?}", lowered.diagnostics);
        }
        assert!(pattern.example.starts_with(pattern.name), "{}", pattern.name);
        assert!(!pattern.meaning.ends_with('.') && pattern.meaning.len() > 10, "{}", pattern.name);
    }
}
