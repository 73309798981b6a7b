//! Random trace sets: every way of merging, every treatment of ends, any number of mergers, in any order and any pieces.

use super::{ENDS, KEEPS, naive};
use crate::merger::Engine;
use crate::{Ends, Keep, Limits, Merger, Names, TooLarge};
use std::collections::BTreeSet;
use tw_core::Value;
use tw_model::{Domain, Model};
use tw_testkit::{Rng, cases};

pub(crate) fn traces(rng: &mut Rng) -> (usize, Vec<Vec<u32>>) {
    let names = 1 + rng.below(6);
    let longest = 1 + rng.below(12);
    let stays = rng.below(900);
    let trace = |rng: &mut Rng| {
        let mut name = rng.below(names) as u32;
        let mut trace = Vec::new();
        for _ in 0..rng.below(longest + 1) {
            if !rng.chance(stays) {
                name = rng.below(names) as u32;
            }
            trace.push(name);
        }
        trace
    };
    (names, (0..rng.below(8)).map(|_| trace(rng)).collect())
}

/// Further variables of all kinds, and one name more than appears.
fn random_names(rng: &mut Rng, count: usize) -> Names {
    let mut names = super::names(count + 1);
    let mut codes = |bound: usize| (0..=count).map(|_| rng.below(bound) as u32).collect::<tw_model::Codes>();
    let values = vec![Value::Int(4), Value::Null, Value::text("x")];
    names.variables = vec![
        ("p".into(), Domain::Boolean, codes(2)),
        ("x".into(), Domain::Range(-2, 1 << 40), codes(5)),
        ("y".into(), Domain::Values(values), codes(3)),
        ("z".into(), Domain::Values(vec![Value::Int(1)]), codes(1)),
    ];
    names
}

/// Codes of names as one of several mergers may have them: `codes[name]`, and back.
fn shuffled(rng: &mut Rng, count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut codes: Vec<u32> = (0..count as u32).collect();
    for at in (1..count).rev() {
        codes.swap(at, rng.below(at + 1));
    }
    let mut back = vec![0; count];
    (0u32..).zip(&codes).for_each(|(name, &code)| back[code as usize] = name);
    (codes, back)
}

/// Merges in a random way.
pub(crate) fn merged(
    rng: &mut Rng,
    keep: Keep,
    ends: Ends,
    traces: &[Vec<u32>],
    names: &Names,
    labels: Vec<String>,
) -> Result<Model, TooLarge> {
    merged_within(rng, keep, ends, traces, names, labels, Limits::default())
}

/// A merger that gathers few names.
fn cramped(rng: &mut Rng, keep: Keep, limits: Limits) -> Merger {
    let mut merger = Merger::new(keep, limits);
    match &mut merger.engine {
        Engine::Time(layers) => layers.set_room(1 + rng.below(50)),
        Engine::Change(layers) => layers.set_room(1 + rng.below(50)),
        Engine::Chain(_) | Engine::Tree(_) => {}
    }
    merger
}

fn merged_within(
    rng: &mut Rng,
    keep: Keep,
    ends: Ends,
    traces: &[Vec<u32>],
    names: &Names,
    labels: Vec<String>,
    limits: Limits,
) -> Result<Model, TooLarge> {
    let count = names.values.len();
    let mut parts: Vec<_> =
        (0..1 + rng.below(4)).map(|_| (cramped(rng, keep, limits), shuffled(rng, count))).collect();
    let (order, _) = shuffled(rng, traces.len());
    for index in order {
        let at = rng.below(parts.len());
        let (merger, (codes, _)) = &mut parts[at];
        merger.begin(index);
        let mut rest = &traces[index as usize][..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rng.below(rest.len() + 1));
            merger.extend(&now.iter().map(|&name| codes[name as usize]).collect::<Vec<_>>())?;
            rest = later;
        }
        merger.end();
    }
    while parts.len() > 1 {
        let (other, (_, back)) = parts.swap_remove(rng.below(parts.len()));
        let at = rng.below(parts.len());
        let (merger, (codes, _)) = &mut parts[at];
        let rename: Vec<u32> = back.iter().map(|&name| codes[name as usize]).collect();
        merger.absorb(other, &rename)?;
    }
    let (merger, (_, back)) = parts.pop().expect("one is left");
    let place = |name: &u32| *name as usize;
    let variables = names.variables.iter().map(|(variable, domain, codes)| {
        (variable.clone(), domain.clone(), back.iter().map(|name| codes.get(place(name))).collect())
    });
    let names = Names {
        values: back.iter().map(|name| names.values[place(name)].clone()).collect(),
        variables: variables.collect(),
    };
    merger.finish(names, ends, labels)
}

pub(crate) fn assert_equal(model: &Model, expected: &Model, case: &str) {
    assert_eq!(model.graph, expected.graph, "{case}");
    assert_eq!(model.initial, expected.initial, "{case}");
    assert_eq!(model.variables, expected.variables, "{case}");
    assert_eq!(model.record, expected.record, "{case}");
    assert_eq!(model.merged, expected.merged, "{case}");
}

#[test]
fn mergers_equal_their_definitions() {
    for seed in 0..cases(10_000) {
        let mut rng = Rng::new(seed);
        let (count, traces) = traces(&mut rng);
        let names = random_names(&mut rng, count);
        let labels: Vec<String> = (0..traces.len()).map(|index| format!("{index}.csv")).collect();
        for keep in KEEPS {
            for ends in ENDS {
                let model = merged(&mut rng, keep, ends, &traces, &names, labels.clone()).expect("small");
                let expected = naive::model(keep, ends, &traces, &names, labels.clone());
                assert_equal(&model, &expected, &format!("seed {seed}: {keep}, {ends}, {traces:?}"));
            }
        }
    }
}

/// The naive models above, without ends, are the state-spaces of the paper; and those are within its bounds.
#[test]
fn definitions_equal_the_algorithms_of_the_paper() {
    for seed in 0..cases(10_000).min(10_000) {
        let mut rng = Rng::new(seed);
        let (count, mut traces) = traces(&mut rng);
        traces.retain(|trace| !trace.is_empty());
        for keep in [Keep::State, Keep::Time, Keep::Change] {
            let model = super::merge(keep, Ends::Nothing, &traces);
            let space = naive::paper(keep, &traces);
            let key = |state: u32| -> naive::Key {
                let name = model.value(0, state).to_string();
                let name = name.trim_start_matches('s').parse().ok();
                if keep == Keep::State { vec![name] } else { vec![Some(model.code(1, state) + 1), name] }
            };
            let found = naive::Space {
                states: (0..model.states() as u32).map(key).collect(),
                transitions: model.graph.iter().map(|(from, to)| (key(from), key(to))).collect(),
                initial: model.initial.iter().map(|&state| key(state)).collect(),
            };
            assert_eq!(found, space, "seed {seed}: {keep}, {traces:?}");
            assert_eq!(found.states.len(), model.states());
            let (n, m) = (count, traces.iter().map(Vec::len).max().unwrap_or(0));
            let (states, transitions) = match keep {
                Keep::State => (n, n * n),
                Keep::Time => (n * m, m.saturating_sub(1) * n * n),
                _ => (n * m, n * (n - 1) * m * m.saturating_sub(1) / 2),
            };
            assert!(model.states() <= states && model.graph.edges() <= transitions, "seed {seed}: {keep}");
        }
    }
}

/// Whatever the order of traces, a budget is exceeded or not by the model alone.
#[test]
fn budgets_end_in_a_value() {
    for seed in 0..cases(1_000).min(2_000) {
        let mut rng = Rng::new(seed);
        let (count, traces) = traces(&mut rng);
        let names = super::names(count);
        for keep in KEEPS {
            let ends = rng.pick(&ENDS);
            let whole = super::merge(keep, ends, &traces);
            let (states, edges) = (whole.states(), whole.graph.edges());
            let mut within =
                |limits| merged_within(&mut rng, keep, ends, &traces, &names, Vec::new(), limits);
            assert!(within(Limits { states, edges }).is_ok(), "seed {seed}: {keep}");
            if states > 0 {
                let result = within(Limits { states: states - 1, edges });
                assert!(
                    matches!(result, Err(TooLarge::States(most)) if most == states - 1),
                    "seed {seed}: {keep}"
                );
            }
            if edges > 0 {
                let result = within(Limits { states, edges: edges - 1 });
                assert!(
                    matches!(result, Err(TooLarge::Edges(most)) if most == edges - 1),
                    "seed {seed}: {keep}"
                );
            }
        }
    }
}

/// Layers that are too sparse for a grid, and tables that grow.
#[test]
fn many_names_and_many_instants() {
    for seed in 0..6 {
        let mut rng = Rng::new(seed);
        let names = rng.pick(&[40, 300]);
        let traces: Vec<Vec<u32>> =
            (0..120).map(|_| (0..rng.below(30)).map(|_| rng.below(names) as u32).collect()).collect();
        let labels = vec![String::new(); traces.len()];
        let names = random_names(&mut rng, names);
        for keep in KEEPS {
            let model = merged(&mut rng, keep, Ends::State, &traces, &names, labels.clone()).expect("small");
            let expected = naive::model(keep, Ends::State, &traces, &names, labels.clone());
            assert_equal(&model, &expected, &format!("seed {seed}: {keep}"));
        }
    }
    // Beyond a page of positions.
    let mut rng = Rng::new(9);
    let long: Vec<Vec<u32>> =
        (0..3).map(|_| (0..9_000).map(|_| u32::from(rng.one_in(1_000))).collect()).collect();
    for keep in [Keep::Change, Keep::State, Keep::History(3)] {
        let labels = vec![String::new(); long.len()];
        let names = super::names(2);
        let model = merged(&mut rng, keep, Ends::All, &long, &names, labels.clone()).expect("small");
        assert_equal(&model, &naive::model(keep, Ends::All, &long, &names, labels), "long");
    }
    let time = super::merge(Keep::Time, Ends::Nothing, &long);
    assert_eq!(time.states(), naive::paper(Keep::Time, &long).states.len());
    assert_eq!(time.graph.edges(), naive::paper(Keep::Time, &long).transitions.len());
    assert!(BTreeSet::from_iter(time.codes(1)).len() == 9_000);
    // Positions at which nothing changes take no room.
    let mut merger = Merger::new(Keep::Change, Limits::default());
    merger.begin(0);
    (0..60_000).for_each(|_| merger.extend(&[0; 1_000]).expect("small"));
    merger.extend(&[1]).expect("small");
    merger.end();
    let model = merger.finish(super::names(2), Ends::Dead, vec![String::new()]).expect("small");
    assert_eq!((model.states(), model.label(1)), (2, "s1 @ 60000001".into()));
}
