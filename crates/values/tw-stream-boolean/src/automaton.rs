//! Automata over inputs: from specifications and back, as JSON, HOA and DOT.

mod cover;
mod hoa;
mod json;

use crate::analysis::language;
use crate::nfa::GaveUp;
use crate::{Budget, Builder, Flaw, Id, Named, Specification};
use cover::cover;
use std::fmt::Write as _;

pub use cover::Cube;

/// An edge, on all letters of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// From this state,
    pub from: u32,
    /// to that one,
    pub to: u32,
    /// on these letters.
    pub when: Cube,
}

/// A nondeterministic automaton on finite words that are not empty, over valuations of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Automaton {
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The states in which a word may begin.
    pub initial: Vec<u32>,
    /// Whether a word may end in each state.
    pub accepting: Vec<bool>,
    /// All edges.
    pub edges: Vec<Edge>,
}

/// Why a text is no automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}

/// More inputs than that make too many letters.
pub const MOST_INPUTS: usize = 16;

/// More states than that are not read: an edge of a few bytes could otherwise ask for any amount of memory.
pub const MOST_STATES: usize = 1 << 20;

impl Automaton {
    /// The automaton of the inputs that have a model: its accepting runs on an input are its models, as far as they
    /// differ in more than what follows from the rest.
    pub fn of(spec: &Specification, budget: &Budget) -> Result<Self, GaveUp> {
        let nfa = language(spec, &spec.inputs, budget)?;
        let mut edges = Vec::new();
        for state in 0..nfa.states() as u32 {
            let mut to: Vec<(u32, u32)> = (0..nfa.letters())
                .flat_map(|letter| nfa.edges(state, letter).iter().map(move |edge| (edge.0, letter as u32)))
                .collect();
            to.sort_unstable();
            to.dedup();
            for same in to.chunk_by(|a, b| a.0 == b.0) {
                let mut letters = vec![false; nfa.letters()];
                same.iter().for_each(|(_, letter)| letters[*letter as usize] = true);
                let cubes = cover(&letters);
                edges.extend(cubes.into_iter().map(|when| Edge { from: state, to: same[0].0, when }));
            }
        }
        Ok(Automaton { inputs: spec.inputs.clone(), initial: vec![0], accepting: nfa.accepting, edges })
    }

    /// Whether it accepts a word of letters (the first input in the lowest bit).
    pub fn accepts(&self, letters: &[u64]) -> bool {
        let mut now: Vec<u32> = self.initial.clone();
        for &letter in letters {
            let edges = self.edges.iter().filter(|edge| edge.when.holds(letter) && now.contains(&edge.from));
            let mut next: Vec<u32> = edges.map(|edge| edge.to).collect();
            next.sort_unstable();
            next.dedup();
            now = next;
        }
        !letters.is_empty() && now.iter().any(|&state| self.accepting[state as usize])
    }

    /// A specification that accepts what the automaton accepts: a stream per state, of which exactly one is true, and a
    /// stream `control` that has a value if they are a run. The last position's demand is for the last position alone (a
    /// correction to the printed construction).
    pub fn specification(&self) -> Result<Specification, Flaw> {
        let mut build = Builder::new();
        let mut inputs = Vec::new();
        for name in &self.inputs {
            inputs.push(build.input(name)?);
        }
        let mut states = Vec::new();
        for state in 0..self.accepting.len() {
            let name = build.fresh(&format!("q{state}"));
            states.push(build.output(&name)?);
        }
        let name = build.fresh("control");
        let control = build.output(&name)?;
        let now: Vec<Id> = states.iter().map(|&state| build.now(state)).collect();
        for (&state, &now) in states.iter().zip(&now) {
            build.define(state, now)?;
        }
        let mut demands = vec![build.any(now.clone())];
        for (nth, &one) in now.iter().enumerate() {
            // At most one: none of the later ones beside it.
            let others = build.any(now[nth + 1..].to_vec());
            let none = build.not(others);
            demands.push(build.implies(one, none));
        }
        let first = build.first();
        let begins = self.initial.iter().map(|&state| now[state as usize]).collect();
        let begins = build.any(begins);
        demands.push(build.implies(first, begins));
        let last = build.last();
        let mut ends = Vec::new();
        let mut edges = self.edges.clone();
        edges.sort_unstable();
        for (state, &here) in now.iter().enumerate() {
            let own: Vec<&Edge> = edges.iter().filter(|edge| edge.from as usize == state).collect();
            // Letters with the same targets make one demand.
            let mut classes: Vec<(Vec<u32>, Vec<bool>)> = Vec::new();
            for letter in 0..1usize << self.inputs.len() {
                let reached = own.iter().filter(|edge| edge.when.holds(letter as u64));
                let mut to: Vec<u32> = reached.map(|edge| edge.to).collect();
                to.sort_unstable();
                to.dedup();
                let class = classes.iter().position(|(targets, _)| *targets == to).unwrap_or_else(|| {
                    classes.push((to, vec![false; 1 << self.inputs.len()]));
                    classes.len() - 1
                });
                classes[class].1[letter] = true;
            }
            for (targets, letters) in classes {
                let guard = guard(&mut build, &inputs, &letters);
                let when = build.and(here, guard);
                let mut next = Vec::new();
                for &target in &targets {
                    next.push(build.at(states[target as usize], 1, true)?);
                }
                let next = build.any(next);
                demands.push(build.implies(when, next));
                if targets.iter().any(|&target| self.accepting[target as usize]) {
                    ends.push(when);
                }
            }
        }
        let ends = build.any(ends);
        demands.push(build.implies(last, ends));
        let demand = build.all(demands);
        build.demand(control, demand)?;
        build.finish()
    }

    /// As a picture in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph automaton {\n  rankdir=LR;\n");
        for (state, accepting) in self.accepting.iter().enumerate() {
            let shape = if *accepting { "doublecircle" } else { "circle" };
            let _ = writeln!(text, "  {state} [shape={shape}];");
        }
        for (nth, state) in self.initial.iter().enumerate() {
            let _ = writeln!(text, "  start{nth} [shape=point];\n  start{nth} -> {state};");
        }
        let mut edges = self.edges.clone();
        edges.sort_unstable();
        for same in edges.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
            let name = |input: usize| self.inputs[input].clone();
            let labels: Vec<String> =
                same.iter().map(|edge| edge.when.text(&name, self.inputs.len())).collect();
            let label = labels.join(" | ").replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(text, "  {} -> {} [label=\"{label}\"];", same[0].from, same[0].to);
        }
        text.push_str("}\n");
        text
    }
}

/// The letters as an expression.
fn guard(build: &mut Builder, inputs: &[Named], letters: &[bool]) -> Id {
    let mut cubes = Vec::new();
    for cube in cover(letters) {
        let mut literals = Vec::new();
        for (bit, &input) in inputs.iter().enumerate().filter(|(bit, _)| cube.mask >> bit & 1 == 1) {
            let now = build.now(input);
            literals.push(if cube.value >> bit & 1 == 1 { now } else { build.not(now) });
        }
        cubes.push(build.all(literals));
    }
    build.any(cubes)
}
