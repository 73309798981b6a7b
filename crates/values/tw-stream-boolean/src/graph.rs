//! The dependency graph of the outputs: an edge from `y` to `z` of weight k for each `z[k|d]` in the equation of `y`.
//!
//! A specification is *well-formed* if no closed walk has weight 0; then every input has exactly one model. That is so if
//! and only if in each strongly connected component all cycles look back (their weights are negative), or all look ahead.

use crate::{Specification, Stream};
use tw_core::Components;

/// Which way the cycles of a strongly connected component lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// No cycle: one output that does not depend on itself.
    Free,
    /// Every cycle looks back.
    Back,
    /// Every cycle looks ahead.
    Ahead,
    /// There is a closed walk of weight 0.
    Zero,
}

/// An edge: the equation of `from` refers to `to`, so far away. Both are outputs, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The output that depends.
    pub from: usize,
    /// The output it depends on.
    pub to: usize,
    /// How far away.
    pub weight: i64,
}

/// Why a specification is not well-formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZeroCycle {
    /// A closed walk of weight 0, shortest in edges.
    Walk(Vec<Edge>),
    /// Two cycles of one component, one that looks back and one that looks ahead: walked often enough they make up for
    /// each other. Told so where the walk would be too long to write.
    Both(Vec<Edge>, Vec<Edge>),
}

/// The dependency graph, its components in an order in which each stands after those it depends on.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The edges between outputs, by the component of the output that depends.
    pub edges: Vec<Vec<Edge>>,
    /// The component of each output.
    pub component: Vec<usize>,
    /// The outputs of each component.
    pub members: Vec<Vec<usize>>,
    /// Which way each component's cycles lead.
    pub signs: Vec<Sign>,
}

impl Graph {
    /// The graph of a specification.
    pub fn new(spec: &Specification) -> Self {
        let count = spec.outputs.len();
        let mut edges = Vec::new();
        let mut start = Vec::with_capacity(count + 1);
        for from in 0..count {
            start.push(edges.len());
            let references = spec.references(from).into_iter();
            let mut own: Vec<Edge> = references
                .filter_map(|(stream, offset, _)| {
                    Some(Edge { from, to: spec.as_output(stream)?, weight: offset.into() })
                })
                .collect();
            own.sort_unstable();
            own.dedup();
            edges.extend(own);
        }
        start.push(edges.len());
        let found = Components::new(count, None, |node, nth| {
            let at = start[node as usize] + nth;
            (at < start[node as usize + 1]).then(|| edges[at].to as u32)
        });
        let component: Vec<usize> = found.of.iter().map(|&component| component as usize).collect();
        let mut members = vec![Vec::new(); found.count];
        (0..count).for_each(|output| members[component[output]].push(output));
        let mut divided: Vec<Vec<Edge>> = vec![Vec::new(); found.count];
        edges.iter().for_each(|edge| divided[component[edge.from]].push(*edge));
        let mut graph = Graph { edges: divided, component, members, signs: Vec::new() };
        graph.signs = (0..found.count).map(|component| sign(&graph.inside(component))).collect();
        graph
    }

    /// The edges of a component that stay in it.
    fn inside(&self, component: usize) -> Vec<Edge> {
        let edges = self.edges[component].iter();
        edges.filter(|edge| self.component[edge.to] == component).copied().collect()
    }

    /// Whether no closed walk has weight 0.
    pub fn is_well_formed(&self) -> bool {
        !self.signs.contains(&Sign::Zero)
    }

    /// A closed walk of weight 0, if there is one.
    pub fn zero_cycle(&self) -> Option<ZeroCycle> {
        let components = (0..self.members.len()).filter(|&at| self.signs[at] == Sign::Zero);
        let found =
            components.map(|component| closed_walk(&self.inside(component), &self.members[component]));
        found.flatten().min_by_key(|cycle| match cycle {
            ZeroCycle::Walk(edges) => edges.len(),
            ZeroCycle::Both(..) => usize::MAX,
        })
    }

    /// Most changes of direction on a path: nothing if not well-formed.
    pub fn alternation(&self) -> Option<usize> {
        if !self.is_well_formed() {
            return None;
        }
        // Of paths from a component on: the most changes, if the direction before it was back, or ahead.
        let mut most = vec![[0usize; 2]; self.members.len()];
        let mut deepest = 0;
        for component in 0..self.members.len() {
            let own = match self.signs[component] {
                Sign::Back => Some(0),
                Sign::Ahead => Some(1),
                _ => None,
            };
            let mut next = [0usize; 2];
            for edge in &self.edges[component] {
                let below = most[self.component[edge.to]];
                if self.component[edge.to] != component {
                    next = [next[0].max(below[0]), next[1].max(below[1])];
                }
            }
            most[component] = match own {
                Some(direction) => {
                    deepest = deepest.max(next[direction]);
                    [next[direction] + direction, next[direction] + 1 - direction]
                }
                None => next,
            };
        }
        Some(deepest)
    }

    /// These outputs and all that they depend on.
    pub(crate) fn needed(&self, outputs: &[bool]) -> Vec<bool> {
        let mut needed = outputs.to_vec();
        for component in (0..self.members.len()).rev() {
            if self.members[component].iter().any(|&output| needed[output]) {
                self.members[component].iter().for_each(|&output| needed[output] = true);
                self.edges[component].iter().for_each(|edge| needed[edge.to] = true);
            }
        }
        needed
    }

    /// How many positions later each output is known than its own: nothing where a cycle looks ahead, for then that is
    /// the end of the trace. References to inputs count from the position at which the input arrives, unless the inputs
    /// are all there (`stored`).
    pub fn delays(&self, spec: &Specification, stored: bool) -> Option<Vec<i64>> {
        if self.signs.iter().any(|sign| matches!(sign, Sign::Ahead | Sign::Zero)) {
            return None;
        }
        let mut delays = vec![0i64; self.component.len()];
        if !stored {
            for (output, delay) in delays.iter_mut().enumerate() {
                *delay = spec.ahead(output);
            }
        }
        for component in 0..self.members.len() {
            self.settle(component, &mut delays);
        }
        Some(delays)
    }

    /// Longest paths into one component; it has no cycle of positive weight, so that as many rounds as it has members do.
    pub(crate) fn settle(&self, component: usize, delays: &mut [i64]) {
        for _ in 0..=self.members[component].len() {
            for edge in &self.edges[component] {
                delays[edge.from] = delays[edge.from].max(delays[edge.to] + edge.weight);
            }
        }
    }

    /// The members of a component in an order in which each stands after those it needs at the same moment, when each
    /// output is computed so much later than its position.
    pub(crate) fn order(&self, members: &[usize], delays: &[i64]) -> Vec<usize> {
        let place: rustc_hash::FxHashMap<usize, usize> =
            members.iter().enumerate().map(|(at, &member)| (member, at)).collect();
        let mut needs: Vec<Vec<u32>> = vec![Vec::new(); members.len()];
        for edge in members.iter().flat_map(|&member| &self.edges[self.component[member]]) {
            if let (Some(&from), Some(&to)) = (place.get(&edge.from), place.get(&edge.to))
                && delays[edge.from] == delays[edge.to] + edge.weight
            {
                needs[from].push(to as u32);
            }
        }
        // Without a zero cycle each member is a component of its own, and they are numbered dependencies first.
        let sorted = Components::new(members.len(), None, |node, nth| needs[node as usize].get(nth).copied());
        let mut order = members.to_vec();
        order.sort_unstable_by_key(|member| sorted.of[place[member]]);
        order
    }
}

/// A closed walk of weight 0 among nodes that all depend on each other, if there is one.
pub fn closed_walk(edges: &[Edge], members: &[usize]) -> Option<ZeroCycle> {
    if sign(edges) != Sign::Zero {
        return None;
    }
    shortest_walk(edges, members).or_else(|| {
        let negated: Vec<Edge> = edges.iter().map(|edge| Edge { weight: -edge.weight, ..*edge }).collect();
        let restore = |edge: Edge| Edge { weight: -edge.weight, ..edge };
        let (ahead, back) = (cycle_above(edges)?, cycle_above(&negated)?);
        Some(ZeroCycle::Both(back.into_iter().map(restore).collect(), ahead))
    })
}

/// The sign of a component from the edges inside it.
fn sign(edges: &[Edge]) -> Sign {
    if edges.is_empty() {
        return Sign::Free;
    }
    let negated: Vec<Edge> = edges.iter().map(|edge| Edge { weight: -edge.weight, ..*edge }).collect();
    match (cycle_above(edges), cycle_above(&negated)) {
        (None, _) => Sign::Back,
        (_, None) => Sign::Ahead,
        _ => Sign::Zero,
    }
}

/// A cycle whose weight is not negative, by longest paths: with weights made a little larger such a cycle is positive.
fn cycle_above(edges: &[Edge]) -> Option<Vec<Edge>> {
    let mut place: rustc_hash::FxHashMap<usize, usize> = Default::default();
    for edge in edges {
        let next = place.len();
        place.entry(edge.from).or_insert(next);
    }
    let outputs = place.len();
    let scale = outputs as i128 + 1;
    let mut longest = vec![0i128; outputs];
    let mut by: Vec<Option<Edge>> = vec![None; outputs];
    let mut changed = None;
    for _ in 0..=outputs {
        changed = None;
        for edge in edges {
            let (from, to) = (place[&edge.from], place[&edge.to]);
            let length = longest[from] + i128::from(edge.weight) * scale + 1;
            if length > longest[to] {
                longest[to] = length;
                by[to] = Some(*edge);
                changed = Some(to);
            }
        }
        changed?;
    }
    let mut at = changed?;
    for _ in 0..outputs {
        at = place[&by[at]?.from];
    }
    let (start, mut cycle) = (at, Vec::new());
    loop {
        let edge = by[at]?;
        cycle.push(edge);
        at = place[&edge.from];
        if at == start {
            cycle.reverse();
            return Some(cycle);
        }
    }
}

/// Pairs of an output and a weight to look at when searching for the shortest walk.
const MOST_PAIRS: usize = 1 << 17;

/// A closed walk of weight 0 with fewest edges, by breadth from all members in turn: not every one is on such a walk.
fn shortest_walk(edges: &[Edge], members: &[usize]) -> Option<ZeroCycle> {
    type Pair = (usize, i64);
    struct From {
        start: usize,
        seen: rustc_hash::FxHashMap<Pair, (Edge, Pair)>,
        layer: Vec<Pair>,
    }
    let mut searches: Vec<From> = members
        .iter()
        .map(|&start| From { start, seen: Default::default(), layer: vec![(start, 0)] })
        .collect();
    let mut pairs = 0;
    while pairs < MOST_PAIRS {
        for search in &mut searches {
            let mut next = Vec::new();
            for &(at, weight) in &search.layer {
                for edge in edges.iter().filter(|edge| edge.from == at) {
                    let to = (edge.to, weight + edge.weight);
                    if to == (search.start, 0) {
                        let (mut walk, mut back) = (vec![*edge], (at, weight));
                        while let Some((edge, before)) = search.seen.get(&back) {
                            walk.push(*edge);
                            back = *before;
                        }
                        walk.reverse();
                        return Some(ZeroCycle::Walk(walk));
                    }
                    search.seen.entry(to).or_insert_with(|| {
                        next.push(to);
                        (*edge, (at, weight))
                    });
                }
            }
            pairs += next.len() + 1;
            search.layer = next;
        }
    }
    None
}

/// What the live engine keeps of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Which stream.
    pub stream: Stream,
    /// How many of its last values.
    pub values: u64,
}

impl Kept {
    /// The bytes that takes.
    pub fn bytes(&self) -> u64 {
        crate::live::ring_bytes(self.values)
    }
}

/// How many values of each stream a live run keeps: as far back as the references reach, counted from when the
/// referring output is computed. Nothing if the specification cannot run live.
pub fn kept(spec: &Specification, graph: &Graph) -> Option<Vec<Kept>> {
    let delays = graph.delays(spec, false)?;
    let mut values = vec![0i64; spec.inputs.len() + spec.outputs.len()];
    for (output, delay) in delays.iter().enumerate() {
        for (stream, offset, _) in spec.references(output) {
            let known = spec.as_output(stream).map_or(0, |output| delays[output]);
            let place = &mut values[stream as usize];
            *place = (*place).max(delay - known - i64::from(offset));
        }
    }
    // What is known before the slowest output waits for it, so that rows leave whole.
    let slowest = delays.iter().copied().max().unwrap_or(0);
    for (output, delay) in delays.iter().enumerate() {
        let place = &mut values[spec.inputs.len() + output];
        *place = (*place).max(slowest - delay);
    }
    Some((0..).zip(values).map(|(stream, values)| Kept { stream, values: values as u64 }).collect())
}
