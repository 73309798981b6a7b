//! The traces that are not selected, side by side.

use super::Tokens;
use crate::{State, TraceId};
use rustc_hash::FxHashSet;
use tw_core::Position;

/// One column per field, one row of `roots` entries per trace.
pub(super) struct Traces {
    roots: usize,
    followed: usize,
    positions: Vec<Position>,
    histories: Vec<State>,
    states: Vec<State>,
    since: Vec<Position>,
    verdicts: Vec<Option<bool>>,
    /// Empty where no runs from each position are followed.
    tokens: Vec<Tokens>,
    closed: Vec<u32>,
}

/// The positions of a closed trace: no trace has as many.
const CLOSED: Position = Position::MAX;

impl Traces {
    /// With the trace 0, which is selected.
    pub(super) fn new(roots: usize, followed: usize) -> Self {
        Self {
            roots,
            followed,
            positions: vec![0],
            histories: vec![0],
            states: vec![0; roots],
            since: vec![0; roots],
            verdicts: vec![None; roots],
            tokens: (0..followed).map(|_| Tokens::default()).collect(),
            closed: Vec::new(),
        }
    }

    /// Traces that there is room for.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(super) fn is_open(&self, trace: usize) -> bool {
        self.positions.get(trace).is_some_and(|&positions| positions != CLOSED)
    }

    /// A trace in these states.
    pub(super) fn open(&mut self, states: &[State], history: State) -> TraceId {
        if let Some(number) = self.closed.pop() {
            let (trace, row) = (number as usize, self.row(number as usize));
            (self.positions[trace], self.histories[trace]) = (0, history);
            self.states[row.clone()].copy_from_slice(states);
            self.since[row.clone()].fill(0);
            self.verdicts[row].fill(None);
            return TraceId(number);
        }
        self.positions.push(0);
        self.histories.push(history);
        self.states.extend_from_slice(states);
        self.since.resize(self.since.len() + self.roots, 0);
        self.verdicts.resize(self.verdicts.len() + self.roots, None);
        self.tokens.extend((0..self.followed).map(|_| Tokens::default()));
        TraceId(self.positions.len() as u32 - 1)
    }

    /// Closes a trace, if it is open.
    pub(super) fn close(&mut self, trace: usize) -> bool {
        if !self.is_open(trace) {
            return false;
        }
        self.positions[trace] = CLOSED;
        for tokens in &mut self.tokens[trace * self.followed..(trace + 1) * self.followed] {
            *tokens = Tokens::default();
        }
        self.closed.push(trace as u32);
        true
    }

    fn row(&self, trace: usize) -> std::ops::Range<usize> {
        trace * self.roots..(trace + 1) * self.roots
    }

    /// Puts down the trace that was selected, unless it was closed.
    #[inline]
    pub(super) fn store(
        &mut self,
        trace: usize,
        (positions, history): (Position, State),
        states: &[State],
        since: &[Position],
        verdicts: &[Option<bool>],
    ) {
        if self.is_open(trace) {
            let row = self.row(trace);
            (self.positions[trace], self.histories[trace]) = (positions, history);
            self.states[row.clone()].copy_from_slice(states);
            self.since[row.clone()].copy_from_slice(since);
            self.verdicts[row].copy_from_slice(verdicts);
        }
    }

    /// Takes up a trace: its positions and its history.
    #[inline]
    pub(super) fn load(
        &self,
        trace: usize,
        states: &mut [State],
        since: &mut [Position],
        verdicts: &mut [Option<bool>],
    ) -> (Position, State) {
        let row = self.row(trace);
        states.copy_from_slice(&self.states[row.clone()]);
        since.copy_from_slice(&self.since[row.clone()]);
        verdicts.copy_from_slice(&self.verdicts[row]);
        (self.positions[trace], self.histories[trace])
    }

    /// Exchanges the runs of the selected trace for those of another.
    pub(super) fn swap_tokens(&mut self, trace: usize, each: &mut [Tokens]) {
        self.tokens[trace * self.followed..(trace + 1) * self.followed].swap_with_slice(each);
    }

    /// Adds the states and histories in use, but for those of the selected trace.
    pub(super) fn states(
        &self,
        selected: usize,
        live: &mut FxHashSet<(usize, State)>,
        histories: &mut FxHashSet<State>,
    ) {
        for trace in (0..self.len()).filter(|&trace| trace != selected && self.is_open(trace)) {
            histories.insert(self.histories[trace]);
            let row = self.row(trace);
            let roots = self.states[row.clone()].iter().zip(&self.verdicts[row]).enumerate();
            live.extend(
                roots.filter(|(_, (_, verdict))| verdict.is_none()).map(|(goal, (&state, _))| (goal, state)),
            );
            let tokens = &self.tokens[trace * self.followed..(trace + 1) * self.followed];
            for (index, tokens) in tokens.iter().enumerate() {
                live.extend(tokens.states().map(|state| (self.roots + index, state)));
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let numbers =
            self.positions.capacity() * 8 + (self.histories.capacity() + self.closed.capacity()) * 4;
        let roots = self.states.capacity() * 4 + self.since.capacity() * 8 + self.verdicts.capacity();
        let tokens = self.tokens.capacity() * size_of::<Tokens>();
        numbers + roots + tokens + self.tokens.iter().map(Tokens::heap_bytes).sum::<usize>()
    }
}
