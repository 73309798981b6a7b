//! A whole trace at once: component by component, forward or backward.

use crate::boolean::{Boolean, Input};
use crate::column::column;
use crate::equation::{Ends, Equation};
use crate::graph::{Component, Direction};
use crate::keys::{Keys, NONE, column_of};
use crate::windows::{self, Here, States};
use crate::{StreamError, Streams, absent};
use tw_core::{Batch, Bits, Position, Value};
use tw_ir::{Program, What};
use tw_monitor::truth;
use tw_stream_boolean::{Limits, Passes, Unsolved, Word};

/// The positions of each value of a column.
struct Parts {
    key: Vec<u32>,
    rank: Vec<u32>,
    positions: Vec<Vec<u32>>,
}

struct Filling<'a> {
    streams: &'a Streams,
    program: &'a Program,
    batch: &'a Batch,
    parts: Vec<Parts>,
    values: Vec<Vec<Value>>,
    /// Members whose values were found together with others'.
    solved: Vec<bool>,
}

impl Streams {
    /// Fills the computed columns of a whole trace. Boolean equations around a cycle of weight 0 are solved.
    pub fn whole(&self, program: &Program, batch: &mut Batch) -> Result<(), StreamError> {
        let parts = self.keys.iter().map(|(_, slot)| {
            let mut keys = Keys::default();
            let key = match slot {
                Some(slot) => keys.column(column_of(batch, *slot)),
                None => vec![NONE; batch.len],
            };
            let mut positions: Vec<Vec<u32>> = vec![Vec::new(); keys.names.len()];
            let mut rank = vec![0; batch.len];
            for (at, &key) in key.iter().enumerate().filter(|(_, key)| **key != NONE) {
                rank[at] = positions[key as usize].len() as u32;
                positions[key as usize].push(at as u32);
            }
            Parts { key, rank, positions }
        });
        let values = vec![Vec::new(); self.graph.derived.len()];
        let solved = vec![false; self.graph.derived.len()];
        let mut filling = Filling { parts: parts.collect(), streams: self, program, batch, values, solved };
        filling.all().map_err(Unfilled::error)?;
        let values = std::mem::take(&mut filling.values);
        for (derived, values) in self.graph.derived.iter().zip(values) {
            batch.slots[derived.slot as usize] = column(program, derived.slot, values);
        }
        Ok(())
    }
}

/// Why there are no values.
enum Unfilled {
    /// Equations do not have exactly one solution, or one that can be found.
    Unsolved(Unsolved, StreamError),
    /// Anything else.
    Failed(StreamError),
}

impl Unfilled {
    fn error(self) -> StreamError {
        match self {
            Unfilled::Unsolved(_, error) | Unfilled::Failed(error) => error,
        }
    }
}

impl From<StreamError> for Unfilled {
    fn from(error: StreamError) -> Self {
        Unfilled::Failed(error)
    }
}

impl Filling<'_> {
    /// All components.
    fn all(&mut self) -> Result<(), Unfilled> {
        let streams = self.streams;
        let mut done = vec![false; streams.graph.components.len()];
        // Where some streams do not matter, circles by themselves may have several values.
        let apart = self.program.streams.iter().all(|stream| stream.observed);
        loop {
            let mut left = if apart { Vec::new() } else { self.circles(&done) };
            let mut later = streams.followers(&left);
            let mut why = None;
            for (component, done) in streams.graph.components.iter().zip(&mut done) {
                if *done || component.members.iter().any(|&member| later[member]) {
                    continue;
                }
                match self.component(component) {
                    Ok(()) => *done = true,
                    // What a circle alone determines, all determine, at less cost. What it does not is left to all.
                    Err(
                        error @ Unfilled::Unsolved(Unsolved::NoModel { .. } | Unsolved::Several { .. }, _),
                    ) => {
                        left.extend(&component.members);
                        later = streams.followers(&left);
                        why.get_or_insert(error);
                    }
                    Err(error) => return Err(error),
                }
            }
            let Some(&circle) = left.first() else { return Ok(()) };
            // Every round solves a circle at least.
            let together = streams.together(self.program, &later);
            match (together.is_empty(), why) {
                (false, _) => self.solve(&together)?,
                (true, Some(error)) => return Err(error),
                (true, None) => {
                    let own = streams.graph.components.iter().find(|own| own.members.contains(&circle));
                    own.map_or(Ok(()), |component| self.component(component))?;
                }
            }
        }
    }

    /// The members of circles that are not solved.
    fn circles(&self, done: &[bool]) -> Vec<usize> {
        let unsolved = |&member: &usize| self.stream(member).is_some() && !self.solved[member];
        let components = self.streams.graph.components.iter().zip(done);
        let circular =
            components.filter(|(component, done)| !**done && component.direction == Direction::Circular);
        let open = circular.filter(|(component, _)| component.members.iter().any(unsolved));
        open.flat_map(|(component, _)| component.members.iter().copied()).collect()
    }

    fn component(&mut self, component: &Component) -> Result<(), Unfilled> {
        let len = self.batch.len;
        let circular = component.direction == Direction::Circular;
        if circular
            && component.members.iter().any(|&member| self.stream(member).is_some() && !self.solved[member])
        {
            self.solve(&component.members)?;
        }
        for &member in &component.members {
            if self.values[member].is_empty() {
                self.values[member] = vec![Value::Null; len];
            }
        }
        // Windows look back: components that go backward have none.
        let mut states = vec![States::new(); self.streams.windows.len()];
        let longest = component.delays.iter().copied().max().unwrap_or(0);
        if longest > 0
            && let Some(keys) = self.keys(component.members[0])
        {
            return Ok(self.each_key(component, keys, longest, &mut states)?);
        }
        for step in 0..len as i64 + longest {
            for (&member, &delay) in component.members.iter().zip(&component.delays) {
                let at = step - delay;
                if !(0..len as i64).contains(&at) || self.solved[member] {
                    continue;
                }
                let at = match component.direction {
                    Direction::Backward => len - 1 - at as usize,
                    _ => at as usize,
                };
                self.values[member][at] = self.next(&mut states[member], member, at)?;
            }
        }
        Ok(())
    }

    /// The column of keys whose positions a derived slot counts, if not all.
    fn keys(&self, member: usize) -> Option<usize> {
        let path = self.streams.graph.derived[member].per.as_ref()?;
        self.streams.keys.iter().position(|(known, _)| known == path)
    }

    /// A component that reads both ways on the positions of each key: each is a trace of its own.
    fn each_key(
        &mut self,
        component: &Component,
        keys: usize,
        longest: i64,
        states: &mut [States],
    ) -> Result<(), StreamError> {
        let mut traces = self.parts[keys].positions.clone();
        let nobody = |at: &u32| self.parts[keys].key[*at as usize] == NONE;
        let rest: Vec<u32> = (0..self.batch.len as u32).filter(nobody).collect();
        traces.push(rest);
        for own in traces {
            for step in 0..own.len() as i64 + longest {
                for (&member, &delay) in component.members.iter().zip(&component.delays) {
                    let Some(rank) = usize::try_from(step - delay).ok().filter(|rank| *rank < own.len())
                    else {
                        continue;
                    };
                    let at = match component.direction {
                        Direction::Backward => own[own.len() - 1 - rank],
                        _ => own[rank],
                    };
                    self.values[member][at as usize] = self.next(&mut states[member], member, at as usize)?;
                }
            }
        }
        Ok(())
    }

    /// Which stream a derived slot is, if it is one.
    fn stream(&self, member: usize) -> Option<u32> {
        match self.program.slots[self.streams.graph.derived[member].slot as usize].what {
            What::Stream { stream, .. } => Some(stream),
            _ => None,
        }
    }

    /// Finds the values of Boolean streams that are defined by each other at the same position.
    fn solve(&mut self, together: &[usize]) -> Result<(), Unfilled> {
        let members: Vec<u32> = together.iter().filter_map(|&member| self.stream(member)).collect();
        let first = members.first().map(|&stream| &self.program.streams[stream as usize]);
        let failed = |position: Position, message: String| {
            let node = first.map_or(tw_ir::NodeId(0), |stream| stream.node);
            StreamError { node, position, message }
        };
        // A stream matters if somebody else reads it, observed or not.
        let mut program = self.program.clone();
        for &member in together.iter().filter(|member| self.is_read(**member, together)) {
            if let Some(stream) = self.stream(member) {
                program.streams[stream as usize].observed = true;
            }
        }
        let boolean = Boolean::exactly(&program, &members).map_err(|not| failed(0, not.message(&program)))?;
        let ends = |at: Position| Ends { first: at == 0, last: at + 1 == self.batch.len };
        let mut columns = Vec::new();
        for input in boolean.inputs() {
            let equation = match input {
                Input::Slot(_) => None,
                Input::Formula(node) => Some(Equation::of(self.program, node)),
            };
            let mut bits = Bits::with_capacity(self.batch.len);
            for at in 0..self.batch.len {
                let value = match (&equation, input) {
                    (Some(equation), _) => equation.value(self.program, ends(at), |slot| self.slot(slot, at)),
                    (None, Input::Slot(slot)) => Ok(Value::Bool(truth(&self.slot(slot, at)))),
                    (None, Input::Formula(_)) => Ok(Value::Null),
                };
                bits.push(value.map_err(|message| failed(at, message))? == Value::Bool(true));
            }
            columns.push(bits);
        }
        let word = Word { len: self.batch.len, columns };
        let unsolved = |unsolved: Unsolved| {
            let position = match unsolved {
                Unsolved::NoModel { position } | Unsolved::Several { position } => position,
                _ => 0,
            };
            let error = failed(position, unsolved.to_string());
            Unfilled::Unsolved(unsolved, error)
        };
        let program =
            tw_stream_boolean::Program::new(boolean.specification(), Passes::Auto).map_err(unsolved)?;
        let found = program.run(&word, &Limits::default()).map_err(unsolved)?;
        for &member in together {
            let Some(own) =
                self.stream(member).and_then(|own| members.iter().position(|&other| other == own))
            else {
                continue;
            };
            self.values[member] = match &found[own] {
                Some(bits) => (0..bits.len()).map(|at| Value::Bool(bits.get(at))).collect(),
                // Not observed, and perhaps not unique.
                None => vec![Value::Null; self.batch.len],
            };
            self.solved[member] = true;
        }
        Ok(())
    }

    /// Whether somebody beside these equations reads a member, or the one whose values it is at other positions.
    fn is_read(&self, member: usize, together: &[usize]) -> bool {
        let derived = &self.streams.graph.derived;
        let shifted = |at: usize| match &self.program.slots[derived[at].slot as usize].what {
            What::Shift(shift) => self.streams.graph.of_slot.get(&shift.slot) == Some(&member),
            _ => false,
        };
        let own = |at: usize| at == member || shifted(at);
        let shown = self.streams.shown.as_ref();
        let by_formulas = shown.is_some_and(|shown| (0..derived.len()).any(|at| own(at) && shown[at]));
        let outside = |at: usize| !together.contains(&at) && !shifted(at);
        let by_others = |at: usize| derived[at].reads.iter().any(|&(read, _)| own(read));
        by_formulas || (0..derived.len()).any(|at| outside(at) && by_others(at))
    }

    /// The parts whose positions a member counts.
    fn part(&self, member: usize) -> Option<&Parts> {
        self.keys(member).map(|keys| &self.parts[keys])
    }

    /// The value at the next position.
    fn next(&self, states: &mut States, member: usize, at: Position) -> Result<Value, StreamError> {
        match self.streams.windows[member] {
            Some(_) => self.window(states, member, at),
            None => self.value(member, at),
        }
    }

    /// The value of a window at the next position.
    fn window(&self, states: &mut States, member: usize, at: Position) -> Result<Value, StreamError> {
        let key = self.part(member).map_or(0, |part| part.key[at]);
        let Some(plan) = self.streams.windows[member].as_ref().filter(|_| key != NONE) else {
            return Ok(Value::Null);
        };
        let here = Here { time: windows::time(self.batch, at), measure: self.streams.measure };
        plan.value(self.program, plan.of_key(states, key), here, &|slot| self.slot(slot, at))
            .map_err(|message| Streams::failed(plan, at, message))
    }

    fn value(&self, member: usize, at: Position) -> Result<Value, StreamError> {
        let derived = &self.streams.graph.derived[member];
        let part = self.part(member);
        let what = &self.program.slots[derived.slot as usize].what;
        match what {
            What::Shift(shift) => {
                let source = match part {
                    None => Some(at as i64 + i64::from(shift.by))
                        .filter(|at| (0..self.batch.len as i64).contains(at)),
                    Some(part) if part.key[at] == NONE => return Ok(Value::Null),
                    Some(part) => {
                        let own = &part.positions[part.key[at] as usize];
                        let rank = i64::from(part.rank[at]) + i64::from(shift.by);
                        usize::try_from(rank).ok().and_then(|rank| own.get(rank)).map(|&at| at.into())
                    }
                };
                Ok(source.map_or_else(
                    || shift.default.clone(),
                    |source| self.slot(shift.slot, source as Position),
                ))
            }
            What::Stream { stream, .. } => {
                let of = &self.program.streams[*stream as usize];
                let ends = match part {
                    None => Ends { first: at == 0, last: at + 1 == self.batch.len },
                    Some(part) if part.key[at] == NONE => return Ok(absent(of.ty)),
                    Some(part) => {
                        let own = part.positions[part.key[at] as usize].len();
                        Ends { first: part.rank[at] == 0, last: part.rank[at] as usize + 1 == own }
                    }
                };
                self.streams.value(self.program, *stream, (at, ends), |slot| self.slot(slot, at))
            }
            _ => Ok(Value::Null),
        }
    }

    fn slot(&self, slot: tw_ir::SlotId, at: Position) -> Value {
        match self.streams.graph.of_slot.get(&slot) {
            Some(&member) => self.values[member][at].clone(),
            None => self.batch.slots[slot as usize].value(at),
        }
    }
}
