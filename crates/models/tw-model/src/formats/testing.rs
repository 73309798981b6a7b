//! Random models with awkward names.

use crate::{Cells, Domain, Graph, Merged, Model, Place, Record, Seen, State, Variable, Written};
use tw_core::Value;
use tw_testkit::Rng;

/// Values that are hard to write.
pub(super) fn awkward() -> Vec<Value> {
    let texts = [
        "a b",
        "a_b",
        "a-b",
        "case",
        "case_",
        "é",
        "",
        "1",
        "01",
        "\"",
        "\n",
        "state",
        "next",
        "TRUE",
        "true",
        "null",
        "null_",
        "-- x is 1",
        "_",
        "time",
        "S",
        "s\\",
        "\u{1F600}",
        "\u{7f}\u{1}",
        "1.5",
        "r1_5",
        "{}",
        "a_b_2",
        "end",
    ];
    let mut values: Vec<Value> = texts.iter().map(|text| Value::text(text)).collect();
    values.extend([1, 0, -3, i64::MAX, i64::MIN].map(Value::Int));
    values.extend([1.5, -0.1, 1.0, 1e300].map(Value::Real));
    values.extend([Value::Null, Value::Bool(true), Value::Bool(false)]);
    values.push(Value::List(vec![Value::Int(1), Value::text("x")]));
    values.push(Value::Object(vec![("k".into(), Value::Null)]));
    values
}

fn domain(random: &mut Rng) -> Domain {
    match random.below(4) {
        0 => Domain::Boolean,
        1 => {
            let low = random.below(9) as i64 - 4;
            Domain::Range(low, low + random.below(4) as i64)
        }
        _ => {
            let mut values = awkward();
            for _ in 0..values.len() {
                let (a, b) = (random.below(values.len()), random.below(values.len()));
                values.swap(a, b);
            }
            values.truncate(1 + random.below(5));
            Domain::Values(values)
        }
    }
}

fn cells(random: &mut Rng, domain: &Domain, count: usize) -> Vec<u32> {
    (0..count).map(|_| random.below(domain.size() as usize) as u32).collect()
}

/// A model of a few states; with a record, or with formulas.
pub(super) fn model(random: &mut Rng) -> Model {
    let names = ["state", "time", "a b", "count", "$x", "next", "x", "initial", "é", "a_b"];
    let states = random.below(7);
    let mut variables: Vec<Variable> = Vec::new();
    let mut own = Vec::new();
    for at in 0..random.below(5) {
        let name = names[(at * 3 + random.below(3)) % names.len()].to_owned();
        if variables.iter().any(|variable| variable.name == name) {
            continue;
        }
        let kind = domain(random);
        let cells = if own.is_empty() || random.below(3) > 0 {
            own.push(variables.len());
            Cells::Own(cells(random, &kind, states))
        } else {
            let other = random.below(variables.len());
            let size = variables[other].domain.size() as usize;
            Cells::Of(other, cells(random, &kind, size).into())
        };
        variables.push(Variable { name, domain: kind, cells });
    }
    let edges: Vec<(State, State)> = (0..if states > 0 { random.below(12) } else { 0 })
        .map(|_| (random.below(states) as State, random.below(states) as State))
        .collect();
    let graph = Graph::from_edges(states, edges.into_iter());
    let initial: Vec<State> = (0..states as State).filter(|_| random.below(3) == 0).collect();
    let mut model = Model { variables, initial, graph, ..Model::default() };
    if random.one_in(2) {
        let traces = 1 + random.below(3);
        let mut seen = || {
            if random.one_in(4) {
                return Seen::default();
            }
            let (first, last) = (random.below(traces) as u32, random.bits() >> 30);
            let first = Place::new(first, last & 7);
            let last = Place::new(traces as u32 - 1, last | 8);
            let count = 1 + random.bits() % 9;
            Seen { count, first, last, traces: 1 + random.below(count as usize) as u32 }
        };
        let record = Record {
            traces: (0..traces).map(|trace| format!("t\"{trace}\n.csv")).collect(),
            states: (0..states).map(|_| seen()).collect(),
            edges: (0..model.graph.edges()).map(|_| seen()).collect(),
            starts: Vec::new(),
            ends: Vec::new(),
        };
        let starts = (0..model.initial.len()).map(|_| random.bits() % 5).collect();
        let ends = (0..states).map(|_| random.bits() % 3).collect();
        model.record = Some(Record { starts, ends, ..record });
        model.merged = random.one_in(2).then(|| Merged {
            keep: "history 2".to_owned(),
            ends: "dead".to_owned(),
            options: vec![("state".to_owned(), "a \"b\"".to_owned()), (String::new(), "\u{e9}".to_owned())],
        });
    }
    if random.one_in(2) {
        model.specifications = vec![
            Written { linear: true, text: "G (p -> \n F \"q\")".to_owned(), line: 7 },
            Written { linear: false, text: "AG true".to_owned(), line: u64::MAX },
        ];
        model.fairness = vec!["x = 1".to_owned(), String::new()];
    }
    model
}

/// The first figure of the paper, merged with instants kept.
pub(super) fn figure() -> Model {
    let own = |name: &str, domain: Domain, cells: &[u32]| Variable {
        name: name.to_owned(),
        domain,
        cells: Cells::Own(cells.to_vec()),
    };
    let names = Domain::Values(vec![Value::text("s1"), Value::text("s2")]);
    Model {
        variables: vec![
            own("state", names, &[0, 1, 0, 1, 0]),
            own("time", Domain::Range(1, 3), &[0, 0, 1, 1, 2]),
        ],
        initial: vec![0, 1],
        graph: Graph::from_edges(5, [(0, 2), (0, 3), (1, 3), (2, 4), (3, 4), (4, 4)].into_iter()),
        ..Model::default()
    }
}
