//! Theorem 6: a well-defined specification has an equivalent one that is well-formed and changes direction once.
//!
//! The sets of states of the forward pass are numbered and written in binary by streams that look back; the state that the
//! backward pass chooses, by streams that look ahead; an output is what the choice at two neighbouring positions says.
//! That may be doubly exponential, so it is guarded by size.

use crate::analysis::{analyse, labelled};
use crate::nfa::{GaveUp, Nfa};
use crate::{Budget, Builder, Flaw, Id, Named, Specification};
use rustc_hash::FxHashMap;
use std::fmt;

/// Why there is no normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoNormalForm {
    /// Only well-defined specifications have one.
    NotWellDefined,
    /// It would be too large.
    TooLarge(GaveUp),
    /// Something is wrong with names.
    Flaw(Flaw),
}

impl fmt::Display for NoNormalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoNormalForm::NotWellDefined => write!(f, "the specification is not well-defined"),
            NoNormalForm::TooLarge(gave_up) => write!(f, "the normal form is too large: {gave_up}"),
            NoNormalForm::Flaw(flaw) => flaw.fmt(f),
        }
    }
}

impl std::error::Error for NoNormalForm {}

impl From<Flaw> for NoNormalForm {
    fn from(flaw: Flaw) -> Self {
        NoNormalForm::Flaw(flaw)
    }
}

impl From<GaveUp> for NoNormalForm {
    fn from(gave_up: GaveUp) -> Self {
        NoNormalForm::TooLarge(gave_up)
    }
}

/// Tables beyond so many variables are not written as equations.
const MOST_VARIABLES: usize = 14;

/// The normal form: equal in the observed outputs, well-formed, of alternation depth 1 at most. One that is so already is
/// returned as it is.
pub fn normalise(spec: &Specification, budget: &Budget) -> Result<Specification, NoNormalForm> {
    let analysis = analyse(spec, budget);
    match analysis.well_defined {
        Some(true) if analysis.alternation.is_some_and(|depth| depth <= 1) => return Ok(spec.clone()),
        Some(true) => {}
        Some(false) => return Err(NoNormalForm::NotWellDefined),
        None => return Err(NoNormalForm::TooLarge(analysis.gave_up.unwrap_or(GaveUp { states: 0 }))),
    }
    let labels = spec.observed();
    let nfa = labelled(spec, &spec.inputs, &labels, budget)?;
    let sets = Sets::new(&nfa, 1 << MOST_VARIABLES)?;
    let mut build = Builder::new();
    let mut inputs = Vec::new();
    for name in &spec.inputs {
        inputs.push(build.input(name)?);
    }
    let mut outputs = Vec::new();
    for &output in &labels {
        outputs.push(build.output(&spec.outputs[output])?);
    }
    let set = code(&mut build, "set", sets.all.len())?;
    let state = code(&mut build, "state", nfa.states())?;
    let too_large = NoNormalForm::TooLarge(GaveUp { states: sets.all.len() });
    let most = [set.len(), 2 * state.len(), set.len() + state.len()].into_iter().max().unwrap_or(0);
    if most + nfa.bits > MOST_VARIABLES {
        return Err(too_large);
    }
    let now: Vec<Id> = inputs.iter().map(|&input| build.now(input)).collect();

    // The set after a position, from the set before it and the letter; the start has number 0.
    let mut variables = shifted(&mut build, &set, -1)?;
    variables.extend(&now);
    for (bit, &stream) in set.iter().enumerate() {
        let mut table = vec![None; 1 << variables.len()];
        for (&(from, letter), &to) in &sets.steps {
            table[from | letter << set.len()] = Some(to >> bit & 1 == 1);
        }
        let equation = express(&mut build, &variables, &table);
        build.define(stream, equation)?;
    }

    // The chosen state of the set: at the end one that accepts, else one that leads to the choice after it.
    let set_now: Vec<Id> = set.iter().map(|&stream| build.now(stream)).collect();
    let mut variables = set_now.clone();
    variables.extend(shifted(&mut build, &state, 1)?);
    variables.extend(shifted(&mut build, &inputs, 1)?);
    let mut chosen: Vec<Option<u32>> = vec![None; 1 << variables.len()];
    for &(from, letter) in sets.steps.keys() {
        for &member in &sets.all[from] {
            for &(to, _) in nfa.edges(member, letter) {
                let place = from | (to as usize) << set.len() | letter << (set.len() + state.len());
                chosen[place].get_or_insert(member);
            }
        }
    }
    let accepting: Vec<Option<u32>> = (0..1usize << set.len())
        .map(|number| {
            let members = sets.all.get(number)?.iter();
            members.copied().find(|&member| nfa.accepting[member as usize])
        })
        .collect();
    let last = build.last();
    for (bit, &stream) in state.iter().enumerate() {
        let bits = |table: &[Option<u32>]| -> Vec<Option<bool>> {
            table.iter().map(|state| state.map(|state| state >> bit & 1 == 1)).collect()
        };
        let (at_end, before) = (bits(&accepting), bits(&chosen));
        let at_end = express(&mut build, &set_now, &at_end);
        let before = express(&mut build, &variables, &before);
        let equation = build.choose(last, at_end, before);
        build.define(stream, equation)?;
    }

    // What the move between two choices says.
    let mut variables = shifted(&mut build, &state, -1)?;
    variables.extend(state.iter().map(|&stream| build.now(stream)).collect::<Vec<_>>());
    variables.extend(&now);
    for (bit, &output) in outputs.iter().enumerate() {
        let mut table = vec![None; 1 << variables.len()];
        for from in 0..nfa.states() {
            for letter in 0..nfa.letters() {
                for &(to, label) in nfa.edges(from as u32, letter) {
                    let place = from | (to as usize) << state.len() | letter << (2 * state.len());
                    table[place] = Some(label >> bit & 1 == 1);
                }
            }
        }
        let equation = express(&mut build, &variables, &table);
        build.define(output, equation)?;
        build.observe(output)?;
    }
    Ok(build.finish()?)
}

/// The sets of states that the forward pass may meet.
struct Sets {
    all: Vec<Vec<u32>>,
    steps: FxHashMap<(usize, usize), usize>,
}

impl Sets {
    fn new(nfa: &Nfa, limit: usize) -> Result<Self, GaveUp> {
        let mut sets = Sets { all: vec![vec![0]], steps: FxHashMap::default() };
        let mut numbers: FxHashMap<Vec<u32>, usize> = FxHashMap::from_iter([(vec![0], 0)]);
        let mut at = 0;
        while at < sets.all.len() {
            for letter in 0..nfa.letters() {
                let next = nfa.step(&sets.all[at], letter);
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    sets.all.push(next);
                    sets.all.len() - 1
                });
                sets.steps.insert((at, letter), number);
            }
            if sets.all.len() > limit {
                return Err(GaveUp { states: sets.all.len() });
            }
            at += 1;
        }
        Ok(sets)
    }
}

/// Streams for the bits of a number below `count`.
fn code(build: &mut Builder, name: &str, count: usize) -> Result<Vec<Named>, Flaw> {
    let bits = usize::BITS - count.saturating_sub(1).leading_zeros();
    (0..bits).map(|bit| build.output(&build.fresh(&format!("{name}_{bit}")))).collect()
}

/// The streams at a neighbouring position; beyond the ends they are false, the number 0.
fn shifted(build: &mut Builder, streams: &[Named], offset: i64) -> Result<Vec<Id>, Flaw> {
    streams.iter().map(|&stream| build.at(stream, offset, false)).collect()
}

/// A table over variables (the first in the lowest bit) as an expression; where it says nothing, either value does.
fn express(build: &mut Builder, variables: &[Id], table: &[Option<bool>]) -> Id {
    let mut values = table.iter().flatten();
    let first = values.next().copied().unwrap_or(false);
    if values.all(|value| *value == first) {
        return build.constant(first);
    }
    // Not constant, so there is a variable; the recursion is as deep as there are variables.
    let (low, high) = table.split_at(table.len() / 2);
    let rest = variables.len() - 1;
    let same = low.iter().zip(high).all(|(low, high)| low.is_none() || high.is_none() || low == high);
    if same {
        let both: Vec<Option<bool>> = low.iter().zip(high).map(|(low, high)| low.or(*high)).collect();
        return express(build, &variables[..rest], &both);
    }
    let no = express(build, &variables[..rest], low);
    let yes = express(build, &variables[..rest], high);
    build.choose(variables[rest], yes, no)
}
