//! Which states are drawn together.

use super::{Limits, label, together};
use crate::{Model, State};
use tw_core::{Components, Value};

/// Which box each state is drawn in.
pub(super) struct Groups {
    pub of: Vec<u32>,
    pub labels: Vec<String>,
    /// What was drawn together; `None` if each state has its own box.
    pub note: Option<String>,
}

impl Groups {
    pub fn new(model: &Model, limits: Limits) -> Self {
        if model.states() <= limits.states {
            let labels = (0..model.states() as State).map(|state| label(model, state)).collect();
            return Groups { of: (0..model.states() as u32).collect(), labels, note: None };
        }
        Self::by_component(model, limits)
            .or_else(|| Self::by_time(model, limits))
            .or_else(|| Self::by_name(model, limits))
            .unwrap_or_else(|| Self::most_seen(model, limits))
    }

    /// Strongly connected components, unless they are too many, or nearly everything is one.
    fn by_component(model: &Model, limits: Limits) -> Option<Self> {
        let Components { of, count } = model.graph.components(None);
        if count > limits.boxes {
            return None;
        }
        let mut states: Vec<Vec<State>> = vec![Vec::new(); count];
        of.iter().enumerate().for_each(|(state, &group)| states[group as usize].push(state as State));
        if states.iter().any(|group| 2 * group.len() > model.states()) {
            return None;
        }
        let labels = states.iter().map(|group| together(model, group)).collect();
        let note = "each box is a strongly connected component: its states can reach each other".to_owned();
        Some(Groups { of, labels, note: Some(note) })
    }

    /// States of the same name in a few instants that follow each other.
    fn by_time(model: &Model, limits: Limits) -> Option<Self> {
        model.merged.as_ref()?;
        let (name, time) = (model.variable("state")?, model.variable("time")?);
        let instants: Vec<i64> = (0..model.states() as State)
            .map(|state| match model.value(time, state) {
                Value::Int(instant) => Some(instant),
                _ => None,
            })
            .collect::<Option<_>>()?;
        let (&first, &last) = (instants.iter().min()?, instants.iter().max()?);
        let names = model.codes(name);
        let size = usize::try_from(model.variables[name].domain.size()).ok()?;
        let buckets = limits.boxes / size;
        if buckets < 2 {
            return None;
        }
        let width = last.abs_diff(first) / buckets as u64 + 1;
        let bucket = |instant: i64| instant.abs_diff(first) / width;
        let mut boxes = Boxes::new(size * buckets);
        let of = (0..model.states()).map(|state| {
            let bucket = bucket(instants[state]);
            boxes.of(bucket as usize * size + names[state] as usize, || {
                let from = first.wrapping_add_unsigned(bucket * width);
                let to = last.min(from.saturating_add_unsigned(width - 1));
                let name = model.variables[name].domain.value(names[state]);
                if from == to { format!("{name} @ {from}") } else { format!("{name} @ {from}–{to}") }
            })
        });
        let of = of.collect();
        let note = format!("each box is a state in {width} instants that follow each other");
        Some(Groups { of, labels: boxes.labels, note: Some(note) })
    }

    /// States of the same name.
    fn by_name(model: &Model, limits: Limits) -> Option<Self> {
        model.merged.as_ref()?;
        let name = model.variable("state")?;
        let domain = &model.variables[name].domain;
        if domain.size() > limits.boxes as u64 || domain.size() < 2 {
            return None;
        }
        let mut boxes = Boxes::new(domain.size() as usize);
        let codes = model.codes(name);
        let of =
            codes.iter().map(|&code| boxes.of(code as usize, || domain.value(code).to_string())).collect();
        let note = "states of the same name are one box".to_owned();
        Some(Groups { of, labels: boxes.labels, note: Some(note) })
    }

    /// The states seen most often each, all others together. Without counts: those with most transitions.
    fn most_seen(model: &Model, limits: Limits) -> Self {
        let mut weights: Vec<u64> = match &model.record {
            Some(record) if record.states.len() == model.states() => {
                record.states.iter().map(|seen| seen.count).collect()
            }
            _ => (0..model.states() as State).map(|s| model.graph.successors(s).len() as u64).collect(),
        };
        // Where paths begin comes first.
        let few = model.initial.len() < limits.boxes / 2;
        model.initial.iter().filter(|_| few).for_each(|&state| weights[state as usize] = u64::MAX);
        let mut order: Vec<State> = (0..model.states() as State).collect();
        order.sort_by_key(|&state| std::cmp::Reverse(weights[state as usize]));
        order.truncate(limits.boxes.max(2) - 1);
        let rest = order.len() as u32;
        let mut of = vec![rest; model.states()];
        for (group, &state) in order.iter().enumerate() {
            of[state as usize] = group as u32;
        }
        let mut labels: Vec<String> = order.iter().map(|&state| label(model, state)).collect();
        let others = model.states() - order.len();
        labels.push(format!("… {others} other states"));
        let which = if model.record.is_some() { "seen most often" } else { "with most transitions" };
        let note = format!("the {} states {which}; the {others} others are one box", order.len());
        Groups { of, labels, note: Some(note) }
    }
}

/// Boxes in the order in which they are met.
struct Boxes {
    numbers: Vec<u32>,
    labels: Vec<String>,
}

impl Boxes {
    fn new(keys: usize) -> Self {
        Boxes { numbers: vec![u32::MAX; keys], labels: Vec::new() }
    }

    fn of(&mut self, key: usize, label: impl FnOnce() -> String) -> u32 {
        if self.numbers[key] == u32::MAX {
            self.numbers[key] = self.labels.len() as u32;
            self.labels.push(label());
        }
        self.numbers[key]
    }
}
