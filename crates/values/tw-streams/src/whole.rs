//! A whole trace at once: component by component, forward or backward.

use crate::boolean::{Boolean, Input};
use crate::column::column;
use crate::equation::{Ends, Equation};
use crate::graph::{Component, Direction};
use crate::keys::{Keys, NONE, column_of};
use crate::windows::{self, Here, States};
use crate::{StreamError, Streams, absent};
use tw_core::{Batch, Bits, Position, Value};
use tw_ir::{Program, StreamType, What};
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
        let joint = self.joint(program);
        let solved = vec![false; self.graph.derived.len()];
        let mut filling = Filling { parts: parts.collect(), streams: self, program, batch, values, solved };
        // Everything that is solved together reads comes before it.
        let later = self.followers(&joint);
        let of = |component: &&Component| component.members.iter().any(|&member| later[member]);
        for component in self.graph.components.iter().filter(|component| !of(component)) {
            filling.component(component)?;
        }
        if !joint.is_empty() {
            filling.solve(&joint)?;
        }
        for component in self.graph.components.iter().filter(of) {
            filling.component(component)?;
        }
        let values = std::mem::take(&mut filling.values);
        for (derived, values) in self.graph.derived.iter().zip(values) {
            batch.slots[derived.slot as usize] = column(program, derived.slot, values);
        }
        Ok(())
    }
}

impl Streams {
    /// What is solved together because some streams do not matter: a circle may have several values as long as what is observed has
    /// one. These are the Boolean streams around circles and those that follow from them; none if all matter, or if other streams
    /// stand between.
    fn joint(&self, program: &Program) -> Vec<usize> {
        let derived = &self.graph.derived;
        let circular = |component: &&Component| component.direction == Direction::Circular;
        let circles: Vec<usize> =
            self.graph.components.iter().filter(circular).flat_map(|own| own.members.clone()).collect();
        if circles.is_empty() || program.streams.iter().all(|stream| stream.observed) {
            return Vec::new();
        }
        let later = self.followers(&circles);
        let kind = |member: usize| match &program.slots[derived[member].slot as usize].what {
            What::Stream { stream, .. } => Some(&program.streams[*stream as usize]),
            _ => None,
        };
        let boolean = |stream: &tw_ir::Stream| stream.ty == StreamType::Bool && stream.by.is_none();
        let follows = |member: &usize| later[*member];
        let joint: Vec<usize> =
            (0..derived.len()).filter(follows).filter(|&member| kind(member).is_some_and(boolean)).collect();
        // A shift of one of them is part of the equations; whatever else follows from them may not lead back.
        let inside = |member: usize| match &program.slots[derived[member].slot as usize].what {
            What::Shift(shift) => self.graph.of_slot.get(&shift.slot).is_some_and(|own| joint.contains(own)),
            _ => joint.contains(&member),
        };
        let leads_back =
            |member: &usize| derived[*member].reads.iter().any(|&(read, _)| later[read] && !inside(read));
        if joint.iter().any(leads_back) { Vec::new() } else { joint }
    }

    /// Those members, and all that read them.
    fn followers(&self, members: &[usize]) -> Vec<bool> {
        let derived = &self.graph.derived;
        let mut follows = vec![false; derived.len()];
        members.iter().for_each(|&member| follows[member] = true);
        // What is read stands in an earlier component, or in the same.
        for component in &self.graph.components {
            let reads = |member: &usize| derived[*member].reads.iter().any(|&(read, _)| follows[read]);
            if component.members.iter().any(reads) || component.members.iter().any(|&member| follows[member])
            {
                component.members.iter().for_each(|&member| follows[member] = true);
            }
        }
        follows
    }
}

impl Filling<'_> {
    fn component(&mut self, component: &Component) -> Result<(), StreamError> {
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
            return self.each_key(component, keys, longest, &mut states);
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
    fn solve(&mut self, together: &[usize]) -> Result<(), StreamError> {
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
        let boolean = Boolean::new(&program, &members).map_err(|not| failed(0, not.message(&program)))?;
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
            failed(position, unsolved.to_string())
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
