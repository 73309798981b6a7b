//! Small models are drawn whole; of large ones nothing is lost that the note does not say.

use super::*;
use crate::formats::of_file;
use crate::{Cells, Domain, Graph as Rows, Merged, Record, Seen, Variable};
use tw_core::Value;
use tw_testkit::{Rng, cases};

/// A merged model with the given names (and instants) of states.
fn merged(names: &[&str], cells: Vec<u32>, times: Option<Vec<i64>>, edges: &[(u32, u32, u64)]) -> Model {
    let values = names.iter().map(|&name| Value::Str(name.into())).collect();
    let states = cells.len();
    let mut variables =
        vec![Variable { name: "state".into(), domain: Domain::Values(values), cells: Cells::Own(cells) }];
    if let Some(times) = times {
        let last = *times.iter().max().unwrap();
        let cells = Cells::Own(times.iter().map(|time| (time - 1) as u32).collect());
        variables.push(Variable { name: "time".into(), domain: Domain::Range(1, last), cells });
    }
    let graph = Rows::from_edges(states, edges.iter().map(|&(from, to, _)| (from, to)));
    let mut seen = vec![Seen::default(); graph.edges()];
    for &(from, to, count) in edges {
        seen[graph.edge(from, to).unwrap() as usize].count += count;
    }
    let of = |state: u32| edges.iter().filter(|edge| edge.1 == state).map(|edge| edge.2).sum();
    let states = (0..states as u32).map(|state| Seen { count: of(state), ..Seen::default() }).collect();
    let record = Record { edges: seen, states, starts: vec![1], ..Record::default() };
    let keep = if variables.len() > 1 { "time" } else { "state" };
    Model {
        variables,
        initial: vec![0],
        graph,
        record: Some(record),
        merged: Some(Merged { keep: keep.into(), ..Merged::default() }),
        ..Model::default()
    }
}

fn edges(picture: &Picture) -> Vec<(&str, &str, &str, bool)> {
    let label = |index: usize| picture.graph.vertices[index].label.as_str();
    picture.graph.edges.iter().map(|e| (label(e.from), label(e.to), e.label.as_str(), e.past)).collect()
}

#[test]
fn a_small_model_is_drawn_whole() {
    let edges_ = [(0, 2, 1), (0, 3, 1), (1, 3, 1), (2, 4, 1), (3, 4, 2), (4, 4, 0)];
    let model = merged(&["s1", "s2"], vec![0, 1, 0, 1, 0], Some(vec![1, 1, 2, 2, 3]), &edges_);
    let picture = picture(&model, Limits::default());
    assert_eq!((picture.note.as_deref(), &picture.graph.initial[..]), (None, &[0][..]));
    assert_eq!(picture.graph.title, "merged by time: 5 states, 6 transitions");
    assert_eq!(
        edges(&picture),
        [
            ("s1 @ 1", "s1 @ 2", "1", false),
            ("s1 @ 1", "s2 @ 2", "1", false),
            ("s2 @ 1", "s2 @ 2", "1", false),
            ("s1 @ 2", "s1 @ 3", "1", false),
            ("s2 @ 2", "s1 @ 3", "2", false),
            ("s1 @ 3", "s1 @ 3", "", true),
        ]
    );
    let written = |name: &str| {
        let mut out = Vec::new();
        (of_file(name).expect(name).write)(&model, &mut out).expect(name);
        String::from_utf8(out).expect("text")
    };
    let dot = written("m.dot");
    assert!(dot.starts_with("// 5 states, 6 transitions\ndigraph"), "{dot}");
    assert!(dot.contains("\"n4\" -> \"n4\" [style=dashed];"), "{dot}");
    let svg = written("m.SVG");
    assert!(svg.contains(">s2 @ 2<") && svg.contains("seen in no trace"), "{svg}");
    // The loop, and what the legend says of it.
    assert_eq!(svg.matches("class=\"edge past\"").count(), 2, "{svg}");
}

#[test]
fn states_told_apart_by_their_past_say_it() {
    let mut model = merged(&["a", "b"], vec![0, 1, 0], None, &[(0, 1, 1), (1, 2, 1), (2, 2, 0)]);
    let domain = Domain::Values(vec![Value::Null, Value::Str("a".into()), Value::Str("b".into())]);
    for (name, cells) in [("back1", vec![0, 1, 2]), ("back2", vec![0, 0, 1])] {
        model.variables.push(Variable {
            name: name.into(),
            domain: domain.clone(),
            cells: Cells::Own(cells),
        });
    }
    let labels: Vec<String> =
        picture(&model, Limits::default()).graph.vertices.into_iter().map(|vertex| vertex.label).collect();
    assert_eq!(labels, ["a", "b\nafter a", "a\nafter a, b"]);
}

/// What a picture of a large model is made of: its note, its boxes, and all that was seen on its arrows.
fn large(model: &Model, limits: Limits) -> (String, Vec<String>, u64) {
    let picture = picture(model, limits);
    let labels = picture.graph.vertices.iter().map(|vertex| vertex.label.clone()).collect();
    let seen = picture.graph.edges.iter().filter_map(|edge| edge.label.parse::<u64>().ok()).sum();
    (picture.note.expect("too large"), labels, seen)
}

#[test]
fn large_models_are_drawn_by_component() {
    // Rings of five, each leading to the next.
    let mut edges = Vec::new();
    for ring in 0..4u32 {
        edges.extend((0..5).map(|at| (5 * ring + at, 5 * ring + (at + 1) % 5, 2)));
        if ring > 0 {
            edges.push((5 * ring - 1, 5 * ring, 7));
        }
    }
    let names = ["a", "b", "c", "d", "e"];
    let model = merged(&names, (0..20).map(|at| at % 5).collect(), None, &edges);
    let limits = Limits { states: 10, boxes: 8, arrows: 100 };
    let (note, labels, seen) = large(&model, limits);
    assert!(note.contains("strongly connected component"), "{note}");
    assert_eq!(labels, vec!["5 states: a, b, c, …"; 4]);
    assert_eq!(seen, 4 * 10 + 3 * 7);
}

#[test]
fn large_models_are_drawn_by_instants_by_name_or_by_count() {
    let limits = Limits { states: 10, boxes: 8, arrows: 100 };
    // A line of 30 instants in which two names take turns.
    let line: Vec<(u32, u32, u64)> = (1..30).map(|at| (at - 1, at, 3)).collect();
    let model = merged(&["a", "b"], (0..30).map(|at| at % 2).collect(), Some((1..=30).collect()), &line);
    let (note, labels, seen) = large(&model, limits);
    assert_eq!(note, "each box is a state in 8 instants that follow each other");
    assert_eq!(labels.len(), 8);
    assert_eq!((labels[0].as_str(), labels[7].as_str(), seen), ("a @ 1–8", "b @ 25–30", 29 * 3));
    // The same without instants.
    let model = merged(&["a", "b"], (0..30).map(|at| at % 2).collect(), None, &line);
    let (note, labels, seen) = large(&model, limits);
    assert_eq!(
        (note.as_str(), labels, seen),
        ("states of the same name are one box", vec!["a".into(), "b".into()], 29 * 3)
    );
    // As many names as states.
    let names: Vec<String> = (0..30).map(|at| format!("s{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut busy = line.clone();
    busy.push((20, 20, 50));
    let model = merged(&names, (0..30).collect(), None, &busy);
    let (note, labels, seen) = large(&model, limits);
    assert_eq!(note, "the 7 states seen most often; the 23 others are one box");
    assert_eq!(
        (labels[0].as_str(), labels[1].as_str(), labels[7].as_str()),
        ("s0", "s20", "… 23 other states")
    );
    assert_eq!(seen, 29 * 3 + 50);
}

#[test]
fn rare_arrows_are_left_out_and_said_to_be() {
    let edges: Vec<(u32, u32, u64)> =
        (0..6u32).flat_map(|from| (0..6).map(move |to| (from, to, u64::from(1 + from * 6 + to)))).collect();
    let model = merged(&["a", "b", "c", "d", "e", "f"], (0..6).collect(), None, &edges);
    let picture = picture(&model, Limits { arrows: 3, ..Limits::default() });
    assert_eq!(
        picture.note.as_deref(),
        Some("29 arrows for transitions seen fewer than 34 times are left out")
    );
    // The three most frequent, and of `a`, `b`, `c` and `f` the most frequent that comes from elsewhere.
    assert_eq!(picture.graph.edges.len(), 7);
    for vertex in 0..6 {
        assert!(picture.graph.edges.iter().any(|edge| edge.to == vertex && edge.from != vertex), "{vertex}");
    }
}

#[test]
fn counts_are_widths_and_what_is_rare_stands_out() {
    let mut model = merged(
        &["a", "b", "c", "d"],
        vec![0, 1, 2, 3],
        None,
        &[(0, 1, 10_000), (1, 2, 9_000), (2, 0, 4_000), (1, 3, 3), (3, 0, 300), (2, 3, 500)],
    );
    model.record.as_mut().unwrap().ends = vec![0, 0, 0, 2];
    let picture = picture(&model, Limits::default());
    let weight = |from: usize, to: usize| {
        picture.graph.edges.iter().find(|edge| (edge.from, edge.to) == (from, to)).unwrap().weight
    };
    assert_eq!(weight(1, 3), Weight::Rare);
    assert_eq!((weight(0, 1), weight(3, 0)), (Weight::Common(4), Weight::Common(2)));
    assert_eq!(picture.graph.ends, [3]);
    let legend: Vec<&str> = picture.graph.legend.iter().map(|(_, said)| said.as_str()).collect();
    assert_eq!(
        legend,
        [
            "seen more often: wider, up to 10000 times",
            "rare: seen at most 100 times (1 of 6 arrows)",
            "some of 2 traces end here"
        ]
    );
    let svg = picture.graph.to_svg().unwrap();
    assert!(svg.contains("class=\"edge rare\"") && svg.contains("stroke-width:4.6"), "{svg}");
    let dot = picture.graph.to_dot();
    assert!(dot.contains("penwidth=4.6") && dot.contains("peripheries=2"), "{dot}");
    // Where all are seen about as often, nothing stands out.
    let even = merged(&["a", "b"], vec![0, 1], None, &[(0, 1, 7), (1, 0, 9)]);
    assert!(super::picture(&even, Limits::default()).graph.legend.len() == 1);
}

#[test]
fn pictures_stay_within_their_limits() {
    let mut rng = Rng::new(3);
    for case in 0..cases(300).min(1_000) {
        let states = 1 + rng.below(60) as u32;
        let names: Vec<String> = (0..1 + rng.below(12)).map(|at| format!("s{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let times = rng.one_in(2).then(|| (0..states).map(|_| 1 + rng.below(40) as i64).collect());
        let cells = (0..states).map(|_| rng.below(names.len()) as u32).collect();
        let edges: Vec<(u32, u32, u64)> = (0..rng.below(200))
            .map(|_| {
                (rng.below(states as usize) as u32, rng.below(states as usize) as u32, rng.below(9) as u64)
            })
            .collect();
        let mut model = merged(&names, cells, times, &edges);
        if rng.one_in(4) {
            (model.record, model.merged) = (None, None);
        }
        let limits = Limits { states: 20, boxes: 2 + rng.below(15), arrows: 10 + rng.below(100) };
        let picture = picture(&model, limits);
        let boxes = picture.graph.vertices.len();
        assert_eq!(
            boxes == states as usize && picture.graph.edges.len() == model.graph.edges(),
            picture.note.is_none(),
            "case {case}"
        );
        assert!(boxes <= limits.boxes.max(20), "case {case}");
        assert!(picture.graph.edges.len() <= limits.arrows + boxes, "case {case}");
        assert!(picture.graph.edges.iter().all(|edge| edge.from < boxes && edge.to < boxes));
        assert_eq!(picture.graph.initial.len(), 1);
        picture.graph.to_svg().expect("small");
    }
}
