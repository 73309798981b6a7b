//! Models as graphs to draw.
//!
//! States are boxes, transitions carry how often they were seen, and those that were assumed are dashed. Nobody reads
//! a drawing of a thousand states: beyond a limit states are drawn together, and a note says which.

mod group;
#[cfg(test)]
mod tests;

use crate::{Model, State};
use group::Groups;
use rustc_hash::FxHashMap;
use tw_automata::draw::{Edge, Graph, Kind, Sample, Vertex, Weight};
use tw_core::Value;

/// How much a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States up to which each has a box of its own.
    pub states: usize,
    /// Boxes of a picture in which states are drawn together.
    pub boxes: usize,
    /// Arrows; the rarest are left out.
    pub arrows: usize,
}

impl Default for Limits {
    /// What can be read on a screen.
    fn default() -> Self {
        Limits { states: 60, boxes: 24, arrows: 90 }
    }
}

impl Limits {
    /// For programs that lay out large graphs.
    pub const GENEROUS: Limits = Limits { states: 10_000, boxes: 1_000, arrows: 100_000 };
}

/// A model as a graph to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The graph; its title says what the model is and what the picture leaves out.
    pub graph: Graph,
    /// What was drawn together and what was left out; `None` if everything is shown.
    pub note: Option<String>,
}

/// An arrow of a picture: how often its transitions were seen together.
#[derive(Clone, Copy, Default)]
struct Arrow {
    count: u64,
    transitions: u64,
}

/// The model as a graph to draw.
pub fn picture(model: &Model, limits: Limits) -> Picture {
    let groups = Groups::new(model, limits);
    let mut arrows: FxHashMap<(u32, u32), Arrow> = FxHashMap::default();
    for (edge, (from, to)) in model.graph.iter().enumerate() {
        let count = model.record.as_ref().and_then(|record| record.edges.get(edge)).map_or(0, |s| s.count);
        let arrow = arrows.entry((groups.of[from as usize], groups.of[to as usize])).or_default();
        arrow.count = arrow.count.saturating_add(count);
        arrow.transitions += 1;
    }
    let mut arrows: Vec<((u32, u32), Arrow)> = arrows.into_iter().collect();
    arrows.sort_unstable_by_key(|&(ends, _)| ends);
    let left_out = thin(&mut arrows, limits.arrows);
    let mut notes: Vec<String> = groups.note.into_iter().collect();
    notes.extend(left_out);
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    let merged = model.merged.as_ref().map_or(String::new(), |merged| format!("merged by {}: ", merged.keep));
    let mut title = format!("{merged}{} states, {} transitions", model.states(), model.graph.edges());
    if let Some(note) = &note {
        title = format!("{title}\n{note}");
    }
    let vertex =
        |(index, label): (usize, String)| Vertex { name: format!("n{index}"), label, kind: Kind::State };
    let scale = Scale::new(&arrows);
    let edge = |((from, to), arrow): ((u32, u32), Arrow)| Edge {
        from: from as usize,
        to: to as usize,
        label: match (&model.record, arrow.count) {
            (Some(_), 1..) => arrow.count.to_string(),
            (None, _) if arrow.transitions > 1 => format!("{} transitions", arrow.transitions),
            _ => String::new(),
        },
        past: model.record.is_some() && arrow.count == 0,
        weight: scale.weight(arrow.count),
    };
    let mut initial: Vec<usize> =
        model.initial.iter().map(|&state| groups.of[state as usize] as usize).collect();
    initial.sort_unstable();
    initial.dedup();
    let ended = model.record.iter().flat_map(|record| record.ends.iter().enumerate());
    let ended = ended.filter(|(_, count)| **count > 0).filter_map(|(state, _)| groups.of.get(state));
    let mut ends: Vec<usize> = ended.map(|&group| group as usize).collect();
    ends.sort_unstable();
    ends.dedup();
    let graph = Graph {
        title,
        vertices: groups.labels.into_iter().enumerate().map(vertex).collect(),
        legend: legend(model, &scale, &arrows, &ends),
        edges: arrows.into_iter().map(edge).collect(),
        initial,
        ends,
    };
    Picture { graph, note }
}

/// How often arrows were seen, beside each other.
struct Scale {
    /// Arrows seen no more often than this stand out: there are some that were seen much more often.
    rare: Option<u64>,
    most: u64,
}

/// One of so many is rare.
const SELDOM: u64 = 40;

impl Scale {
    fn new(arrows: &[((u32, u32), Arrow)]) -> Self {
        let mut counts: Vec<u64> =
            arrows.iter().map(|(_, arrow)| arrow.count).filter(|&count| count > 0).collect();
        counts.sort_unstable();
        let most = counts.last().copied().unwrap_or(0);
        let middle = counts.get(counts.len() / 2).copied().unwrap_or(0);
        let rare = middle / SELDOM;
        Scale { rare: (counts.first().is_some_and(|&least| least <= rare)).then_some(rare), most }
    }

    fn weight(&self, count: u64) -> Weight {
        match (count, self.rare) {
            (0, _) => Weight::Plain,
            (count, Some(rare)) if count <= rare => Weight::Rare,
            // All alike: nothing to tell apart.
            _ if self.most < 4 => Weight::Plain,
            // By magnitude: the greatest is widest, and each step is a quarter of the way to it.
            (count, _) => {
                let part = (count as f64).ln_1p() / (self.most as f64).ln_1p();
                Weight::Common((part * 4.0).round().clamp(0.0, 4.0) as u8)
            }
        }
    }
}

/// What the lines and borders of a picture mean, as far as they occur.
fn legend(
    model: &Model,
    scale: &Scale,
    arrows: &[((u32, u32), Arrow)],
    ends: &[usize],
) -> Vec<(Sample, String)> {
    let mut legend = Vec::new();
    let Some(record) = &model.record else { return legend };
    if scale.most >= 4 {
        legend.push((Sample::Widths, format!("seen more often: wider, up to {} times", scale.most)));
    }
    if let Some(rare) = scale.rare {
        let count = arrows.iter().filter(|(_, arrow)| arrow.count > 0 && arrow.count <= rare).count();
        let times = if rare == 1 { "once".to_owned() } else { format!("at most {rare} times") };
        legend.push((Sample::Rare, format!("rare: seen {times} ({count} of {} arrows)", arrows.len())));
    }
    if arrows.iter().any(|(_, arrow)| arrow.count == 0) {
        legend.push((Sample::Dashed, "seen in no trace: paths stay where traces have ended".to_owned()));
    }
    if !ends.is_empty() {
        let all: u64 = record.ends.iter().sum();
        let traces = if all == 1 { "the trace ends".to_owned() } else { format!("some of {all} traces end") };
        legend.push((Sample::End, format!("{traces} here")));
    }
    legend
}

/// Keeps the arrows seen most often, at most `most` and all that are as frequent as those, and of each box the most
/// frequent one that enters it, so that nothing stands alone. What was left out, in words.
fn thin(arrows: &mut Vec<((u32, u32), Arrow)>, most: usize) -> Option<String> {
    if arrows.len() <= most {
        return None;
    }
    let mut counts: Vec<u64> = arrows.iter().map(|(_, arrow)| arrow.count).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let least = counts[most] + 1;
    let mut entering: FxHashMap<u32, (u64, u32)> = FxHashMap::default();
    for &((from, to), arrow) in arrows.iter().filter(|((from, to), _)| from != to) {
        let best = entering.entry(to).or_insert((arrow.count, from));
        if arrow.count > best.0 {
            *best = (arrow.count, from);
        }
    }
    let all = arrows.len();
    arrows.retain(|&((from, to), arrow)| {
        arrow.count >= least || entering.get(&to).is_some_and(|&(_, first)| first == from)
    });
    let left_out = all - arrows.len();
    (left_out > 0)
        .then(|| format!("{left_out} arrows for transitions seen fewer than {least} times are left out"))
}

/// What is written on a state: its label and, where the states before it tell it from others, those.
fn label(model: &Model, state: State) -> String {
    let mut label = model.label(state);
    let backs = (1..).map_while(|back| model.variable(&format!("back{back}")));
    let backs = backs.take_while(|_| model.merged.is_some()).map(|back| model.value(back, state));
    let mut before: Vec<String> =
        backs.take_while(|value| *value != Value::Null).map(|value| value.to_string()).collect();
    if !before.is_empty() {
        before.reverse();
        label = format!("{label}\nafter {}", before.join(", "));
    }
    label
}

/// The label of a set of states that are drawn together.
fn together(model: &Model, states: &[State]) -> String {
    if let [state] = states {
        return label(model, *state);
    }
    /// Names that are told.
    const TOLD: usize = 3;
    let mut names: Vec<String> = Vec::new();
    let name = model.variable("state").filter(|_| model.merged.is_some());
    for &state in states {
        let label = name.map_or_else(|| model.label(state), |name| model.value(name, state).to_string());
        if !names.contains(&label) {
            if names.len() == TOLD {
                names.push("…".to_owned());
                break;
            }
            names.push(label);
        }
    }
    format!("{} states: {}", states.len(), names.join(", "))
}
