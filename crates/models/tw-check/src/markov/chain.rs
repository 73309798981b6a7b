//! From counts to a Markov chain.

use crate::Checker;
use std::borrow::Cow;
use tw_core::Bits;
use tw_model::{Graph, State};
use tw_monitor::Unsupported;

/// The chain: transitions of positive probability both ways, each with its weight, which is its probability times the
/// weight of its state.
pub(super) struct Chain<'c> {
    pub graph: Cow<'c, Graph>,
    pub reverse: Cow<'c, Graph>,
    weights: Vec<u64>,
    totals: Vec<u64>,
    starts: &'c [u64],
    traces: u64,
}

fn refuse(what: &str) -> Unsupported {
    Unsupported { node: None, what: what.to_owned(), help: None, exhausted: false }
}

impl<'c> Chain<'c> {
    pub fn new(checker: &'c Checker) -> Result<Self, Unsupported> {
        let model = checker.model;
        let Some(record) = &model.record else {
            return Err(refuse("probabilities on a model without counts")
                .help("merge traces into a `.json` model: it keeps how often each transition was seen"));
        };
        if !checker.fair_sets().is_empty() {
            return Err(refuse("probabilities under fairness constraints"));
        }
        if record.edges.len() != model.graph.edges() || record.starts.len() != model.initial.len() {
            return Err(refuse("probabilities on a model whose counts do not fit its transitions"));
        }
        let too_many = || refuse("counts beyond 64 bits");
        let add = |sum: u64, count: u64| sum.checked_add(count).ok_or_else(too_many);
        let traces = record.starts.iter().try_fold(0, |sum, &count| add(sum, count))?;
        if traces == 0 {
            return Err(refuse("probabilities on a model in which no trace begins"));
        }
        let graph = checker.graph();
        let (mut weights, mut totals) = (Vec::with_capacity(graph.edges()), Vec::new());
        totals.reserve_exact(graph.states());
        for state in 0..graph.states() as State {
            let row = &record.edges[range(model.graph.row(state))];
            let total = row.iter().try_fold(0, |sum, seen| add(sum, seen.count))?;
            if total == 0 {
                // Nothing seen: what was assumed, by the merger or by the checker.
                let assumed = graph.successors(state).len();
                weights.resize(weights.len() + assumed, 1);
                totals.push(assumed as u64);
            } else {
                weights.extend(row.iter().map(|seen| seen.count));
                totals.push(total);
            }
        }
        let (mut graph, mut reverse) = (Cow::Borrowed(graph), Cow::Borrowed(checker.reverse()));
        if weights.contains(&0) {
            let mut offsets = Vec::with_capacity(graph.states() + 1);
            offsets.push(0);
            let mut targets = Vec::with_capacity(weights.len());
            for state in 0..graph.states() as State {
                let taken = graph.row(state).filter(|&edge| weights[edge as usize] > 0);
                targets.extend(taken.map(|edge| graph.target(edge)));
                offsets.push(targets.len() as u32);
            }
            weights.retain(|&weight| weight > 0);
            let taken = Graph::from_rows(offsets, targets);
            (reverse, graph) = (Cow::Owned(taken.reverse()), Cow::Owned(taken));
        }
        Ok(Chain { graph, reverse, weights, totals, starts: &record.starts, traces })
    }

    pub fn states(&self) -> usize {
        self.graph.states()
    }

    /// The states that follow, each with its weight.
    pub fn row(&self, state: State) -> impl Iterator<Item = (State, u64)> + Clone + '_ {
        let weights = &self.weights[range(self.graph.row(state))];
        self.graph.successors(state).iter().copied().zip(weights.iter().copied())
    }

    /// The sum of the weights of a state.
    pub fn total(&self, state: State) -> u64 {
        self.totals[state as usize]
    }

    /// How many traces begin in each initial state.
    pub fn starts(&self) -> &[u64] {
        self.starts
    }

    /// How many traces there are.
    pub fn traces(&self) -> u64 {
        self.traces
    }

    /// The states from which some path leads to `goal` by way of states in `through` alone, and `goal` itself.
    pub fn backwards(&self, goal: &Bits, through: impl Fn(usize) -> bool) -> Bits {
        let mut found = goal.clone();
        let mut open: Vec<State> = goal.iter_ones().map(|state| state as State).collect();
        while let Some(state) = open.pop() {
            for &before in self.reverse.successors(state) {
                if !found.get(before as usize) && through(before as usize) {
                    found.set(before as usize, true);
                    open.push(before);
                }
            }
        }
        found
    }
}

fn range(row: std::ops::Range<u32>) -> std::ops::Range<usize> {
    row.start as usize..row.end as usize
}
