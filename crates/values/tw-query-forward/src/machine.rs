//! The network at work: each node takes what its operands have emitted and emits what that decides.

use crate::feed::{Window, feed_bits, feed_term};
use crate::plan::{Kept, Op, Part, Plan};
use crate::sink::Sink;
use crate::stream::{Cell, Stream};
use crate::stretch::Statistic;
use crate::truth::BLOCK;
use crate::{experiment, stretch, truth};
use std::sync::Arc;
use tw_core::Value;
use tw_monitor::{Computed, Note, Unsupported, both, either};
use tw_statistics::Bound;

/// What a node remembers: how far it has read its operands, and its truth at the position before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    pub(crate) cursors: [usize; 2],
    pub(crate) carry: bool,
}

/// A network with its state.
#[derive(Clone)]
pub(crate) struct Machine {
    pub(crate) plan: Arc<Plan>,
    pub(crate) position: usize,
    pub(crate) streams: Vec<Stream>,
    pub(crate) states: Vec<State>,
    pub(crate) sinks: Vec<Sink>,
    /// The nodes that some sink still needs.
    active: Vec<usize>,
    /// How far results of statistics over stretches were off, by node.
    bounds: Vec<Option<Bound>>,
    /// The first position that a reader needs, by stream.
    needed: Vec<usize>,
}

impl Machine {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        let parts = plan.parts.len();
        let mut machine = Machine {
            position: 0,
            streams: vec![Stream::default(); parts],
            states: vec![State::default(); parts],
            sinks: Vec::new(),
            active: Vec::new(),
            bounds: vec![None; parts],
            needed: vec![0; parts],
            plan,
        };
        machine.reset();
        machine
    }

    /// Back to before the first position.
    pub(crate) fn reset(&mut self) {
        let plan = self.plan.clone();
        self.position = 0;
        for ((stream, state), part) in self.streams.iter_mut().zip(&mut self.states).zip(&plan.parts) {
            stream.clear();
            let carry = matches!(part.op, Op::Past(Kept { weak: true, .. }) | Op::Previous(true));
            *state = State { cursors: [0; 2], carry };
        }
        self.sinks = plan.sinks.iter().map(|of| Sink::new(&plan, of)).collect();
        self.bounds.fill(None);
        self.retire();
    }

    /// Finds out which nodes are still needed and drops what the others hold.
    pub(crate) fn retire(&mut self) {
        let mut needed = vec![false; self.plan.parts.len()];
        for (of, sink) in self.plan.sinks.iter().zip(&self.sinks) {
            if !sink.done() {
                of.inputs().into_iter().for_each(|input| needed[input] = true);
            }
        }
        for index in (0..needed.len()).rev() {
            if needed[index] {
                if let Some(inputs) = self.plan.parts[index].inputs {
                    inputs.into_iter().for_each(|input| needed[input] = true);
                }
            } else {
                self.streams[index] = Stream::default();
            }
        }
        self.active = (0..needed.len()).filter(|index| needed[*index]).collect();
    }

    pub(crate) fn active(&self) -> &[usize] {
        &self.active
    }

    /// Takes more positions.
    pub(crate) fn push(&mut self, window: &Window<'_>) -> Result<(), Unsupported> {
        let mut from = window.from;
        while from < window.to {
            if self.active.is_empty() {
                self.position += window.to - from;
                break;
            }
            let to = window.to.min(from + BLOCK);
            self.feed(&Window { from, to, ..*window });
            self.position += to - from;
            self.run(None)?;
            from = to;
        }
        Ok(())
    }

    /// The trace ends here.
    pub(crate) fn finish(&mut self) -> Result<(), Unsupported> {
        self.run(Some(self.position))
    }

    /// The input streams take their columns.
    fn feed(&mut self, window: &Window<'_>) {
        for &index in &self.active {
            let stream = &mut self.streams[index];
            match self.plan.parts[index].op {
                Op::Atom(atom) => feed_bits(&window.atoms[atom], window, stream),
                Op::Term(term) => feed_term(&window.terms[term], window, stream),
                _ => {}
            }
        }
    }

    fn run(&mut self, ended: Option<usize>) -> Result<(), Unsupported> {
        loop {
            let mut more = false;
            for index in 0..self.active.len() {
                more |= self.step(self.active[index], ended);
            }
            let mut done = false;
            for sink in self.sinks.iter_mut().filter(|sink| !sink.done()) {
                sink.step(&self.plan, &self.streams, ended)?;
                done |= sink.done();
            }
            if done {
                self.retire();
            }
            self.trim()?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Lets a node emit; whether there is more that it would emit.
    fn step(&mut self, index: usize, ended: Option<usize>) -> bool {
        let (before, rest) = self.streams.split_at_mut(index);
        let (out, state) = (&mut rest[0], &mut self.states[index]);
        let Part { op, inputs, .. } = &self.plan.parts[index];
        let program = &self.plan.program;
        let Some([a, b]) = inputs.map(|inputs| inputs.map(|input| &before[input])) else {
            match op {
                Op::Bool(value) => out.push_run(&truth_cell(*value), self.position - out.end),
                Op::First if out.end == 0 => {
                    out.push_run(&truth_cell(true), self.position.min(1));
                    out.push_run(&truth_cell(false), self.position.saturating_sub(1));
                }
                Op::First => out.push_run(&truth_cell(false), self.position - out.end),
                Op::Last => {
                    out.push_run(&truth_cell(false), self.position.saturating_sub(1 + out.end));
                    let last = ended.is_some() && out.end < self.position;
                    out.push_run(&truth_cell(true), usize::from(last));
                }
                _ => {}
            }
            return false;
        };
        let [first, second] = &mut state.cursors;
        match op {
            Op::Next(at_end) => {
                truth::next(*at_end, first, a, out, ended);
                *second = *first;
                return false;
            }
            Op::NextMap(map) => {
                experiment::next(map, program, first, a, out, ended);
                *second = *first;
                return false;
            }
            Op::Future(kind) => {
                let more = truth::future(*kind, first, a, b, out, ended);
                *second = *first;
                return more;
            }
            Op::UntilMap(map) => {
                let more = experiment::until(map, program, first, a, b, out, ended);
                *second = *first;
                return more;
            }
            Op::While(aggregate) => {
                let bound = std::cell::Cell::new(None);
                let statistic = Statistic { aggregate: *aggregate, limits: self.plan.limits, bound: &bound };
                stretch::during(statistic, second, a, b, out, ended);
                self.bounds[index] = bound.take().or(self.bounds[index]);
                *first = out.end;
                return false;
            }
            Op::Past(kind) => truth::past(*kind, &mut state.carry, a, b, out),
            Op::Previous(_) => truth::previous(&mut state.carry, a, out),
            Op::Emit => experiment::emit(a, b, out),
            Op::EmitConstant(value) => experiment::emit_constant(value, a, out),
            Op::Both(function) => experiment::conjoin(*function, a, b, out),
            Op::Either(function) => experiment::disjoin(*function, a, b, out),
            Op::Fails(constant) => experiment::fails(constant.as_ref(), a, b, out),
            Op::Default(constant) => experiment::default(constant.as_ref(), a, b, out),
            connective => truth::connect(connective, a, b, out),
        }
        state.cursors = [out.end; 2];
        false
    }

    /// Drops what every reader has taken; refuses if what is left is more than the budget.
    fn trim(&mut self) -> Result<(), Unsupported> {
        for &index in &self.active {
            self.needed[index] = self.streams[index].end;
        }
        for &index in &self.active {
            if let Some(inputs) = self.plan.parts[index].inputs {
                for (input, cursor) in inputs.into_iter().zip(self.states[index].cursors) {
                    self.needed[input] = self.needed[input].min(cursor);
                }
            }
        }
        for (of, sink) in self.plan.sinks.iter().zip(&self.sinks).filter(|(_, sink)| !sink.done()) {
            for (input, cursor) in of.inputs().into_iter().zip(sink.cursors()) {
                self.needed[input] = self.needed[input].min(cursor);
            }
        }
        let mut bytes = 0;
        for &index in &self.active {
            let stream = &mut self.streams[index];
            stream.trim(self.needed[index]);
            bytes += stream.bytes();
        }
        if bytes > self.plan.budget { Err(self.too_much(bytes)) } else { Ok(()) }
    }

    /// Names who waits for what.
    fn too_much(&self, bytes: usize) -> Unsupported {
        let largest =
            self.active.iter().copied().max_by_key(|index| self.streams[*index].bytes()).unwrap_or(0);
        let waits = |index: &&usize| {
            let inputs = self.plan.parts[**index].inputs;
            inputs.is_some_and(|inputs| inputs.contains(&largest))
        };
        let slowest = self.active.iter().filter(waits).min_by_key(|index| self.states[**index].cursors);
        let part = &self.plan.parts[slowest.copied().unwrap_or(largest)];
        let text = tw_ir::display(&self.plan.program, part.id);
        let stream = &self.streams[largest];
        let what = format!(
            "`{text}` within the memory budget: {} positions wait for what decides it, {bytes} bytes in all",
            stream.end - stream.live
        );
        let help = "raise the budget, or use another engine on a stored trace";
        Unsupported { node: Some(part.id), ..Unsupported::budget(what).help(help) }
    }

    /// Bytes held for what is not decided.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.active.iter().map(|index| self.streams[*index].pending_bytes()).sum()
    }

    /// Bytes held beside the plan.
    pub(crate) fn heap_bytes(&self) -> usize {
        let parts =
            size_of::<Stream>() + size_of::<State>() + size_of::<Option<Bound>>() + 2 * size_of::<usize>();
        let streams: usize = self.streams.iter().map(Stream::pending_bytes).sum();
        let sinks: usize = self.sinks.iter().map(Sink::heap_bytes).sum();
        self.streams.len() * parts + streams + self.sinks.len() * size_of::<Sink>() + sinks
    }

    /// A machine that can be brought to its end without changing this one.
    pub(crate) fn fork(&self) -> Machine {
        Machine { sinks: self.sinks.iter().map(|sink| sink.fork(&self.plan)).collect(), ..self.clone_state() }
    }

    fn clone_state(&self) -> Machine {
        Machine {
            plan: self.plan.clone(),
            position: self.position,
            streams: self.streams.clone(),
            states: self.states.clone(),
            sinks: Vec::new(),
            active: self.active.clone(),
            bounds: self.bounds.clone(),
            needed: self.needed.clone(),
        }
    }

    /// The value of each root, and what is to be said about it. With `before`, this machine was forked from it.
    pub(crate) fn results(&self, before: Option<&Machine>) -> (Vec<Computed>, Vec<Note>) {
        use crate::plan::Formula;
        let mut notes = Vec::new();
        for (part, bound) in self.plan.parts.iter().zip(&self.bounds) {
            if let Some(bound) = bound {
                notes.push(Note { node: part.id, bound: bound.to_string() });
            }
        }
        let sinks: Vec<Cell> = self
            .sinks
            .iter()
            .enumerate()
            .map(|(index, sink)| sink.result(before.map(|before| &before.sinks[index]), &mut notes))
            .collect();
        let mut cells: Vec<Cell> = Vec::with_capacity(self.plan.formulas.len());
        for formula in &self.plan.formulas {
            let cell = match formula {
                Formula::Sink(sink) => sinks[*sink].clone(),
                // Nothing has a value where there is no position.
                Formula::Constant(_) if self.position == 0 => Ok(Value::Null),
                Formula::Constant(value) => Ok(value.clone()),
                Formula::Both(g, a, b) => experiment::combine(&cells[*a], &cells[*b], |a, b| both(*g, a, b)),
                Formula::Either(g, a, b) => {
                    experiment::combine(&cells[*a], &cells[*b], |a, b| either(*g, a, b))
                }
                Formula::Fails(a, c) => match &cells[*a] {
                    Ok(Value::Null) => cells[*c].clone(),
                    Ok(_) => Ok(Value::Null),
                    error => error.clone(),
                },
                Formula::Default(a, c) => match &cells[*a] {
                    Ok(Value::Null) => cells[*c].clone(),
                    other => other.clone(),
                },
            };
            cells.push(cell);
        }
        let computed = |root: &usize| match &cells[*root] {
            Ok(value) => Computed::Value(value.clone()),
            Err(message) => Computed::Error(message.to_string()),
        };
        (self.plan.roots.iter().map(computed).collect(), notes)
    }
}

fn truth_cell(value: bool) -> Cell {
    Ok(if value { Value::Bool(true) } else { Value::Null })
}
