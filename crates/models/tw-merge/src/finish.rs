//! From merged transitions to a model: states and names are numbered as the traces alone decide, not the order in which
//! they were read.

use crate::ends::Rows;
use crate::merger::{Budget, Engine, Merger, TooLarge};
use crate::number;
use crate::{Ends, Keep};
use rustc_hash::FxHashSet;
use tw_core::Value;
use tw_model::{Cells, Codes, Domain, Merged, Model, Place, Record, Seen, State, Variable};

/// What the codes of names stand for.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The name of each code.
    pub values: Vec<Value>,
    /// Further variables, which the name decides: name, values, and for each code of a name the number of the value.
    pub variables: Vec<(String, Domain, Codes)>,
}

/// States in their order, with what is known of them.
#[derive(Default)]
pub(crate) struct Numbered {
    /// Old codes of names in their new order.
    pub order: Vec<u32>,
    /// New code of each state's name.
    pub names: Vec<u32>,
    /// Position of each state; nothing where instants are not kept.
    pub positions: Vec<u32>,
    /// For each name before, and each state: one more than the new code of the name, 0 where there was none.
    pub backs: Vec<Vec<u32>>,
    pub seen: Vec<Seen>,
    /// Initial states, ascending, and how many traces begin there.
    pub initial: Vec<(State, u64)>,
    /// States in which traces end, ascending.
    pub ended: Vec<(State, Seen)>,
}

/// The order in which names first appear, from the first place of each code (`None` if it appears nowhere): old codes in
/// the new order, and new codes by old ones.
pub(crate) fn appearance(first: &[Option<Place>]) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> =
        (0..first.len() as u32).filter(|&code| first[code as usize].is_some()).collect();
    order.sort_unstable_by_key(|&code| first[code as usize]);
    let mut codes = vec![u32::MAX; first.len()];
    for (new, &old) in order.iter().enumerate() {
        codes[old as usize] = new as u32;
    }
    (order, codes)
}

pub(crate) fn finish(
    merger: Merger,
    names: Names,
    ends: Ends,
    traces: Vec<String>,
) -> Result<Model, TooLarge> {
    let Merger { keep, budget, engine, starts, ends: ended, longest, .. } = merger;
    let known = names.values.len();
    let (mut numbered, rows) = match engine {
        Engine::Time(mut layers) => {
            layers.flush(&budget)?;
            number::time::rows(layers, known, &starts, &ended, ends, budget)?
        }
        Engine::Change(mut layers) => {
            layers.flush(&budget)?;
            number::change::rows(layers, known, &starts, &ended, ends, budget)?
        }
        Engine::Chain(chain) => number::chain::rows(chain, known, &starts, &ended, ends, budget)?,
        Engine::Tree(tree) => number::tree::rows(tree, known, &starts, &ended, ends, budget)?,
    };
    let (graph, edges) = rows;
    // Where `end` is a state of its own it has a row, but no name yet.
    let end = graph.states() > numbered.names.len();
    let mut record = Record {
        traces,
        edges,
        starts: numbered.initial.iter().map(|&(_, count)| count).collect(),
        ends: vec![0; graph.states()],
        states: std::mem::take(&mut numbered.seen),
    };
    for (state, seen) in &numbered.ended {
        record.ends[*state as usize] = seen.count;
    }
    if end {
        let mut seen = Seen::default();
        numbered.ended.iter().for_each(|(_, ended)| seen.add(ended));
        record.states.push(seen);
    }
    Ok(Model {
        initial: numbered.initial.iter().map(|&(state, _)| state).collect(),
        variables: variables(keep, numbered, names, longest, end),
        graph,
        record: Some(record),
        merged: Some(Merged { keep: keep.to_string(), ends: ends.to_string(), options: Vec::new() }),
        ..Model::default()
    })
}

/// Ends the rows, with the state `end` if there is to be one.
pub(crate) fn close(
    mut rows: Rows<'_>,
    ends: Ends,
    states: usize,
    budget: Budget,
) -> Result<(tw_model::Graph, Vec<Seen>), TooLarge> {
    let end = ends == Ends::State && states > 0;
    budget.states(states + usize::from(end))?;
    if end {
        rows.end()?;
    }
    Ok(rows.graph())
}

fn variables(keep: Keep, numbered: Numbered, names: Names, longest: u64, end: bool) -> Vec<Variable> {
    let Numbered { order, names: mut codes, positions: mut times, backs, .. } = numbered;
    let mut values: Vec<Value> = order.iter().map(|&code| names.values[code as usize].clone()).collect();
    let before = (!backs.is_empty()).then(|| values.clone());
    if end {
        codes.push(values.len() as u32);
        values.push(unused(&values));
    }
    let states = codes.len();
    let own = |name: String, domain, cells| Variable { name, domain, cells: Cells::Own(cells) };
    let mut variables = vec![own("state".into(), Domain::Values(values), codes)];
    if keep.instants() {
        // The state `end` comes after the longest trace.
        times.extend(end.then_some(longest as u32));
        variables.push(own("time".into(), Domain::Range(1, longest as i64 + i64::from(end)), times));
    }
    if let Some(before) = before {
        // A name may be `null` itself; values of a domain are there once.
        let null = before.iter().position(|value| *value == Value::Null);
        let domain = match null {
            None => Domain::Values(std::iter::once(Value::Null).chain(before).collect()),
            Some(_) => Domain::Values(before),
        };
        for (index, mut cells) in backs.into_iter().enumerate() {
            cells.extend(end.then_some(0));
            if let Some(null) = null {
                cells.iter_mut().for_each(|cell| *cell = cell.checked_sub(1).unwrap_or(null as u32));
            }
            variables.push(own(format!("back{}", index + 1), domain.clone(), cells));
        }
    }
    if keep == Keep::Tree {
        let last = states as i64 - 1;
        variables.push(own("node".into(), Domain::Range(0, last), (0..states as u32).collect()));
    }
    let mut places = vec![u32::MAX; names.values.len()];
    order.iter().zip(0..).for_each(|(&old, new)| places[old as usize] = new);
    for (name, domain, cells) in names.variables {
        let mut cells = cells.ordered(&order, &places);
        let mut domain = domain;
        if end {
            let null = nullable(&mut domain, &mut cells);
            cells.push(null);
        }
        variables.push(Variable { name, domain, cells: Cells::Of(0, cells) });
    }
    variables
}

/// `end`, or `end_2`… if states have that name.
fn unused(values: &[Value]) -> Value {
    let taken: FxHashSet<String> =
        values.iter().map(Value::to_string).filter(|name| name.starts_with("end")).collect();
    let mut names = std::iter::once("end".to_string()).chain((2u64..).map(|number| format!("end_{number}")));
    Value::text(&names.find(|name| !taken.contains(name)).unwrap_or_default())
}

/// Makes room for `null`, which is what a variable is in the state `end`; returns its number.
fn nullable(domain: &mut Domain, cells: &mut Codes) -> u32 {
    let mut values = match domain {
        Domain::Values(values) => std::mem::take(values),
        Domain::Boolean => vec![Value::Bool(false), Value::Bool(true)],
        Domain::Range(..) => {
            // A range may be far larger than what there is of it.
            let used = cells.used();
            *cells = cells.map(|cell| used.binary_search(&cell).map_or(0, |at| at as u32));
            used.into_iter().map(|code| domain.value(code)).collect()
        }
    };
    let null = values.iter().position(|value| *value == Value::Null).unwrap_or_else(|| {
        values.push(Value::Null);
        values.len() - 1
    });
    *domain = Domain::Values(values);
    null as u32
}
