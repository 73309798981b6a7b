//! What the paper prints, and its erratum.

use super::{merge, trace};
use crate::{Ends, Keep, Limits, Merger, Names};
use std::collections::BTreeSet;
use tw_core::Value;
use tw_model::{Model, Place, Seen};

/// Figure 1, as its figures 2 to 5 decide it.
fn figure() -> Vec<Vec<u32>> {
    ["s1 s1 s1", "s1 s2 s1", "s2 s2 s1"].into_iter().map(trace).collect()
}

fn transitions(model: &Model) -> BTreeSet<String> {
    model.graph.iter().map(|(from, to)| format!("{} -> {}", model.label(from), model.label(to))).collect()
}

fn check(keep: Keep, states: &[&str], initial: &[&str], expected: &[&str]) {
    let model = merge(keep, Ends::Dead, &figure());
    let labels: Vec<String> = (0..model.states() as u32).map(|state| model.label(state)).collect();
    assert_eq!(labels, states, "{keep}");
    assert_eq!(model.initial.iter().map(|&state| model.label(state)).collect::<Vec<_>>(), initial);
    assert_eq!(transitions(&model), expected.iter().map(ToString::to_string).collect());
}

#[test]
fn figures_2_to_4() {
    check(Keep::State, &["s1", "s2"], &["s1", "s2"], &["s1 -> s1", "s1 -> s2", "s2 -> s1", "s2 -> s2"]);
    check(
        Keep::Time,
        &["s1 @ 1", "s2 @ 1", "s1 @ 2", "s2 @ 2", "s1 @ 3"],
        &["s1 @ 1", "s2 @ 1"],
        &[
            "s1 @ 1 -> s1 @ 2",
            "s1 @ 1 -> s2 @ 2",
            "s2 @ 1 -> s2 @ 2",
            "s1 @ 2 -> s1 @ 3",
            "s2 @ 2 -> s1 @ 3",
            "s1 @ 3 -> s1 @ 3",
        ],
    );
    check(
        Keep::Change,
        &["s1 @ 1", "s2 @ 1", "s2 @ 2", "s1 @ 3"],
        &["s1 @ 1", "s2 @ 1"],
        &["s1 @ 1 -> s2 @ 2", "s2 @ 2 -> s1 @ 3", "s2 @ 1 -> s1 @ 3", "s1 @ 3 -> s1 @ 3"],
    );
}

#[test]
fn a_single_trace_that_changes_twice() {
    let model = merge(Keep::Change, Ends::Nothing, &[trace("s1 s1 s1 s2 s1")]);
    let expected = ["s1 @ 1 -> s2 @ 4", "s2 @ 4 -> s1 @ 5"];
    assert_eq!(transitions(&model), expected.iter().map(ToString::to_string).collect());
}

/// What was seen of the first transition of figure 3 and of the changed state.
#[test]
fn what_was_seen() {
    let model = merge(Keep::Time, Ends::State, &figure());
    let record = model.record.as_ref().expect("merged");
    let edge = model.graph.edge(3, 4).expect("s2 @ 2 -> s1 @ 3");
    let seen = Seen { count: 2, first: Place::new(1, 2), last: Place::new(2, 2), traces: 2 };
    assert_eq!(record.edges[edge as usize], seen);
    assert_eq!((&record.starts[..], &record.ends[..]), (&[2, 1][..], &[0, 0, 0, 0, 3, 0][..]));
    assert_eq!(model.label(5), "end @ 4");
    let end = model.graph.edge(4, 5).expect("s1 @ 3 -> end");
    let seen = Seen { count: 3, first: Place::new(0, 2), last: Place::new(2, 2), traces: 3 };
    assert_eq!((record.edges[end as usize], record.states[5]), (seen, seen));
    let looped = model.graph.edge(5, 5).expect("end loops");
    assert_eq!(record.edges[looped as usize], Seen::default());
}

/// All traces over n states of length m: the tight bounds of the change-preserving merger.
#[test]
fn bounds_of_changes_are_reached() {
    for (n, m, expected) in [(2u32, 3u32, 6), (2, 4, 12), (3, 3, 18), (3, 4, 36)] {
        let digit = |number: u32, at: u32| number / n.pow(at) % n;
        let traces: Vec<Vec<u32>> =
            (0..n.pow(m)).map(|number| (0..m).map(|at| digit(number, at)).collect()).collect();
        let model = merge(Keep::Change, Ends::Nothing, &traces);
        assert_eq!(model.graph.edges(), expected);
        assert_eq!(expected as u32, n * (n - 1) * m * (m - 1) / 2);
        assert_eq!(merge(Keep::Time, Ends::Nothing, &traces).graph.edges() as u32, (m - 1) * n * n);
        assert_eq!(merge(Keep::State, Ends::Nothing, &traces).graph.edges() as u32, n * n);
    }
}

#[test]
fn an_end_whose_name_is_taken() {
    let names = |values: &[&str]| Names {
        values: values.iter().copied().map(Value::text).collect(),
        variables: Vec::new(),
    };
    let end = |values: &[&str]| {
        let mut merger = Merger::new(Keep::State, Limits::default());
        merger.begin(0);
        merger.extend(&(0..values.len() as u32).collect::<Vec<_>>()).expect("small");
        merger.end();
        let model = merger.finish(names(values), Ends::State, vec![]).expect("small");
        model.label(model.states() as u32 - 1)
    };
    assert_eq!(end(&["a", "ending"]), "end");
    assert_eq!(end(&["end"]), "end_2");
    assert_eq!(end(&["end_2", "end", "end_4"]), "end_3");
}

/// A name that is `null` itself is in the domain of the names before it once.
#[test]
fn null_as_a_name() {
    let mut merger = Merger::new(Keep::History(1), Limits::default());
    merger.begin(0);
    merger.extend(&[0, 1]).expect("small");
    merger.end();
    let names = Names { values: vec![Value::Int(7), Value::Null], variables: Vec::new() };
    let model = merger.finish(names, Ends::Dead, vec![]).expect("small");
    assert_eq!(model.variables[1].domain.size(), 2);
    assert_eq!((model.value(1, 0), model.value(1, 1)), (Value::Null, Value::Int(7)));
}

#[test]
fn nothing_is_a_model_without_states() {
    for keep in super::KEEPS {
        for ends in super::ENDS {
            let model = merge(keep, ends, &[vec![], vec![]]);
            assert_eq!(
                (model.states(), model.graph.edges(), model.initial.len()),
                (0, 0, 0),
                "{keep}, {ends}"
            );
        }
    }
}
