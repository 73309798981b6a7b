//! The definitions, executed naively.

use crate::{Ends, Keep, Names};
use std::collections::{BTreeMap, BTreeSet};
use tw_core::Value;
use tw_model::{Cells, Domain, Graph, Merged, Model, Place, Record, Seen, State, Variable};

/// A state as its definition has it: instant and name, the last few names, or all names so far. Names that were not there
/// yet are `None`.
pub(crate) type Key = Vec<Option<u32>>;

/// A state-space as the paper has it.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Space {
    pub states: BTreeSet<Key>,
    pub transitions: BTreeSet<(Key, Key)>,
    pub initial: BTreeSet<Key>,
}

/// Algorithms 1 to 3 of the paper, line by line. Traces have at least one state; instants start at 1.
pub(crate) fn paper(keep: Keep, traces: &[Vec<u32>]) -> Space {
    let mut space = Space::default();
    let longest = traces.iter().map(Vec::len).max().unwrap_or(0);
    let state = |t: usize, i: usize| traces[t][i - 1];
    let extended = |name: u32, i: usize| -> Key { vec![Some(i as u32), Some(name)] };
    let all = 0..traces.len();
    match keep {
        Keep::State => {
            for t in all {
                space.initial.insert(vec![Some(state(t, 1))]);
                space.states.extend(traces[t].iter().map(|&name| vec![Some(name)]));
                for i in 1..traces[t].len() {
                    space.transitions.insert((vec![Some(state(t, i))], vec![Some(state(t, i + 1))]));
                }
            }
        }
        Keep::Time => {
            for t in all.clone() {
                space.initial.insert(extended(state(t, 1), 1));
                space.states.insert(extended(state(t, 1), 1));
            }
            for i in 1..longest {
                for t in all.clone().filter(|&t| traces[t].len() > i) {
                    let y = extended(state(t, i + 1), i + 1);
                    space.states.insert(y.clone());
                    space.transitions.insert((extended(state(t, i), i), y));
                }
            }
        }
        Keep::Change => {
            let mut p: Vec<Key> = all.clone().map(|t| extended(state(t, 1), 1)).collect();
            space.initial.extend(p.iter().cloned());
            space.states.extend(p.iter().cloned());
            for i in 1..longest {
                for t in all.clone().filter(|&t| traces[t].len() > i) {
                    if Some(state(t, i + 1)) != p[t][1] {
                        let y = extended(state(t, i + 1), i + 1);
                        space.states.insert(y.clone());
                        space.transitions.insert((p[t].clone(), y.clone()));
                        p[t] = y;
                    }
                }
            }
        }
        Keep::History(_) | Keep::Tree => panic!("not in the paper"),
    }
    space
}

/// The states that a trace goes through, with their positions.
pub(crate) fn moments(keep: Keep, trace: &[u32]) -> Vec<(Key, u64)> {
    let name = |at: usize| Some(trace[at]);
    let moment = |at: usize| -> Key {
        match keep {
            Keep::State => vec![name(at)],
            Keep::Time | Keep::Change => vec![Some(at as u32 + 1), name(at)],
            Keep::History(k) => {
                (0..=k as usize).rev().map(|back| at.checked_sub(back).and_then(name)).collect()
            }
            Keep::Tree => trace[..=at].iter().copied().map(Some).collect(),
        }
    };
    (0..trace.len())
        .filter(|&at| keep != Keep::Change || at == 0 || trace[at] != trace[at - 1])
        .map(|at| (moment(at), at as u64))
        .collect()
}

fn observe<K: Ord + Clone>(seen: &mut BTreeMap<K, Seen>, keys: impl Iterator<Item = (K, u64)>, trace: u32) {
    let keys: Vec<(K, u64)> = keys.collect();
    for (key, position) in &keys {
        let place = Place::new(trace, *position);
        let seen = seen.entry(key.clone()).or_insert(Seen { count: 0, first: place, last: place, traces: 0 });
        seen.count += 1;
        seen.first = seen.first.min(place);
        seen.last = seen.last.max(place);
    }
    let distinct: BTreeSet<&K> = keys.iter().map(|(key, _)| key).collect();
    distinct.into_iter().for_each(|key| seen.get_mut(key).expect("just seen").traces += 1);
}

/// The model that a merger must make of traces (in the order of their indices; empty ones are ignored).
pub(crate) fn model(
    keep: Keep,
    ends: Ends,
    traces: &[Vec<u32>],
    names: &Names,
    labels: Vec<String>,
) -> Model {
    let (mut states, mut edges) = (BTreeMap::<Key, Seen>::new(), BTreeMap::<(Key, Key), Seen>::new());
    let (mut starts, mut last) = (BTreeMap::<Key, u64>::new(), BTreeMap::<Key, Seen>::new());
    let mut order: Vec<u32> = Vec::new();
    for (index, trace) in (0u32..).zip(traces).filter(|(_, trace)| !trace.is_empty()) {
        for &name in trace {
            if !order.contains(&name) {
                order.push(name);
            }
        }
        let moments = moments(keep, trace);
        observe(&mut states, moments.iter().cloned(), index);
        let pairs = moments.windows(2).map(|pair| ((pair[0].0.clone(), pair[1].0.clone()), pair[1].1));
        observe(&mut edges, pairs, index);
        *starts.entry(moments[0].0.clone()).or_default() += 1;
        let end = moments.last().expect("a trace has a first state").0.clone();
        observe(&mut last, std::iter::once((end, trace.len() as u64 - 1)), index);
    }
    let code = |name: Option<u32>| order.iter().position(|&other| Some(other) == name).map(|at| at as u32);
    let mut list: Vec<Key> = states.keys().cloned().collect();
    if keep.instants() {
        list.sort_by_key(|key| (key[0], code(key[1])));
    } else if keep == Keep::State {
        list.sort_by_key(|key| code(key[0]));
    } else {
        list.sort_by_key(|key| states[key].first);
    }
    let number = |key: &Key| list.iter().position(|other| other == key).expect("a state") as State;
    let mut rows: BTreeMap<(State, State), Seen> =
        edges.iter().map(|((from, to), &seen)| ((number(from), number(to)), seen)).collect();
    let real = rows.clone();
    let end = (ends == Ends::State && !list.is_empty()).then_some(list.len() as State);
    for key in &list {
        let state = number(key);
        let dead = !real.keys().any(|&(from, _)| from == state);
        if ends == Ends::Dead && dead || ends == Ends::All && last.contains_key(key) {
            rows.entry((state, state)).or_default();
        }
        if let (Some(end), Some(&seen)) = (end, last.get(key)) {
            rows.insert((state, end), seen);
        }
    }
    if let Some(end) = end {
        rows.insert((end, end), Seen::default());
    }
    let total = list.len() + usize::from(end.is_some());
    let mut record = Record {
        traces: labels,
        states: list.iter().map(|key| states[key]).collect(),
        edges: rows.values().copied().collect(),
        starts: Vec::new(),
        ends: list.iter().map(|key| last.get(key).map_or(0, |seen| seen.count)).collect(),
    };
    if end.is_some() {
        let mut seen = Seen::default();
        last.values().for_each(|ended| seen.add(ended));
        record.states.push(seen);
        record.ends.push(0);
    }
    let mut initial: Vec<(State, u64)> = starts.iter().map(|(key, &count)| (number(key), count)).collect();
    initial.sort_unstable();
    record.starts = initial.iter().map(|&(_, count)| count).collect();

    let mut values: Vec<Value> = order.iter().map(|&name| names.values[name as usize].clone()).collect();
    let mut backs = vec![Value::Null];
    backs.extend(values.iter().cloned());
    let mut cells: Vec<u32> =
        list.iter().map(|key| code(*key.last().expect("not empty")).expect("a name")).collect();
    if end.is_some() {
        cells.push(values.len() as u32);
        values.push(Value::text("end"));
    }
    let own = |name: &str, domain, cells| Variable { name: name.into(), domain, cells: Cells::Own(cells) };
    let mut variables = vec![own("state", Domain::Values(values), cells)];
    let longest = traces.iter().map(Vec::len).max().unwrap_or(0) as u32;
    let with_end = |mut cells: Vec<u32>, of_end: u32| {
        cells.extend(end.map(|_| of_end));
        cells
    };
    if keep.instants() {
        let cells = list.iter().map(|key| key[0].expect("an instant") - 1).collect();
        let domain = Domain::Range(1, i64::from(longest) + i64::from(end.is_some()));
        variables.push(own("time", domain, with_end(cells, longest)));
    }
    if let Keep::History(k) = keep {
        for back in 1..=k as usize {
            let cells =
                list.iter().map(|key| code(key[k as usize - back]).map_or(0, |code| code + 1)).collect();
            variables.push(own(&format!("back{back}"), Domain::Values(backs.clone()), with_end(cells, 0)));
        }
    }
    if keep == Keep::Tree {
        variables.push(own("node", Domain::Range(0, total as i64 - 1), (0..total as u32).collect()));
    }
    for (name, domain, codes) in &names.variables {
        let mut cells: Vec<u32> = order.iter().map(|&name| codes.get(name as usize)).collect();
        let mut domain = domain.clone();
        if end.is_some() {
            let mut values: Vec<Value> = match &domain {
                Domain::Range(..) => {
                    let used: BTreeSet<u32> = cells.iter().copied().collect();
                    used.into_iter().map(|code| domain.value(code)).collect()
                }
                _ => (0..domain.size() as u32).map(|code| domain.value(code)).collect(),
            };
            let place = |value: Value| values.iter().position(|other| *other == value);
            cells = cells.iter().map(|&cell| place(domain.value(cell)).expect("a value") as u32).collect();
            let null = place(Value::Null).unwrap_or(values.len());
            if null == values.len() {
                values.push(Value::Null);
            }
            cells.push(null as u32);
            domain = Domain::Values(values);
        }
        variables.push(Variable { name: name.clone(), domain, cells: Cells::Of(0, cells.into()) });
    }
    Model {
        variables,
        initial: initial.iter().map(|&(state, _)| state).collect(),
        graph: Graph::from_edges(total, rows.keys().copied().collect::<Vec<_>>().into_iter()),
        record: Some(record),
        merged: Some(Merged { keep: keep.to_string(), ends: ends.to_string(), options: Vec::new() }),
        ..Model::default()
    }
}
