//! The state as bytes, for another process to go on from.

use crate::encode::{corrupt, flag, load_error, load_stream, place, save_error, save_stream};
use crate::machine::Machine;
use crate::nested::{Nested, Stretch};
use crate::plan::Op;
use crate::sink::{Running, Sink};
use tw_core::codec::{Corrupt, put, put_value, take, take_fixed, take_value};
use tw_statistics::Accumulator;

const VERSION: u64 = 1;

impl Machine {
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        put(VERSION, out);
        put(self.plan.fingerprint(), out);
        put(self.position as u64, out);
        for sink in &self.sinks {
            save_sink(sink, out);
        }
        for &index in self.active() {
            let state = &self.states[index];
            put(state.cursors[0] as u64, out);
            put(state.cursors[1] as u64, out);
            put(u64::from(state.carry), out);
            save_stream(&self.streams[index], out);
        }
    }

    /// Goes on from what was saved; on an error the machine is as before its first position.
    pub(crate) fn restore(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        self.reset();
        let restored = self.load(from);
        if restored.is_err() {
            self.reset();
        }
        restored
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        if take(from)? != VERSION {
            return Err(corrupt("is of another version"));
        }
        if take(from)? != self.plan.fingerprint() {
            return Err(corrupt("belongs to another specification"));
        }
        self.position = place(from)?;
        let plan = self.plan.clone();
        for sink in &mut self.sinks {
            load_sink(sink, &plan, from)?;
        }
        self.retire();
        for index in self.active().to_vec() {
            let state = &mut self.states[index];
            state.cursors = [place(from)?, place(from)?];
            state.carry = flag(from)?;
            self.streams[index] = load_stream(from)?;
        }
        if self.consistent() { Ok(()) } else { Err(corrupt("contradicts itself")) }
    }

    /// Whether positions are as reading leaves them; what is restored may come from anywhere.
    fn consistent(&self) -> bool {
        let within = |input: usize, cursor: usize| {
            let stream = &self.streams[input];
            stream.live <= cursor && cursor <= stream.end
        };
        let nodes = self.active().iter().all(|&index| {
            let (part, stream) = (&self.plan.parts[index], &self.streams[index]);
            let ([first, second], end) = (self.states[index].cursors, stream.end);
            let Some(inputs) = part.inputs else {
                return match part.op {
                    Op::Last => end == self.position.saturating_sub(1),
                    _ => end == self.position,
                };
            };
            let order = match part.op {
                Op::Next(_) => first == second && end == first,
                Op::NextMap(_) => first == second && end == first.saturating_sub(1),
                Op::Future(_) | Op::UntilMap(_) => first == second && end <= first,
                Op::While(_) => first == end && end <= second,
                _ => first == end && second == end,
            };
            end <= self.position && order && within(inputs[0], first) && within(inputs[1], second)
        });
        let open = self.plan.sinks.iter().zip(&self.sinks).filter(|(_, sink)| !sink.done());
        let sinks = open.map(|(of, sink)| {
            let ([a, b], [first, second]) = (of.inputs(), sink.cursors());
            let stretch = match sink {
                Sink::Nested(nested) => match &nested.stretch {
                    Some(stretch) => stretch.start <= stretch.known && stretch.known <= nested.cursor,
                    None => true,
                },
                _ => true,
            };
            stretch && within(a, first) && within(b, second)
        });
        nodes && sinks.into_iter().all(|fine| fine)
    }
}

fn save_sink(sink: &Sink, out: &mut Vec<u8>) {
    match sink {
        Sink::First { cell, .. } => {
            put(u64::from(cell.is_some()), out);
            if let Some(cell) = cell {
                save_error(cell.as_ref().err(), out);
                if let Ok(value) = cell {
                    put_value(value, out);
                }
            }
        }
        Sink::Running(running) => {
            put(running.cursor as u64, out);
            put(u64::from(running.closed), out);
            save_error(running.error.as_ref(), out);
            running.accumulator.save(out);
        }
        Sink::Nested(nested) => save_nested(nested, out),
        // Live traces have none.
        Sink::Gather(_) => {}
    }
}

fn load_sink(sink: &mut Sink, plan: &crate::plan::Plan, from: &mut &[u8]) -> Result<(), Corrupt> {
    match sink {
        Sink::First { cell, .. } => {
            *cell = if flag(from)? {
                Some(match load_error(from)? {
                    Some(error) => Err(error),
                    None => Ok(take_value(from)?),
                })
            } else {
                None
            };
        }
        Sink::Running(Running { cursor, closed, error, accumulator, aggregate, .. }) => {
            *cursor = place(from)?;
            *closed = flag(from)?;
            *error = load_error(from)?;
            *accumulator = Accumulator::load(*aggregate, plan.limits, from)?;
        }
        Sink::Nested(nested) => load_nested(nested, plan, from)?,
        Sink::Gather(_) => {}
    }
    Ok(())
}

fn save_nested(nested: &Nested, out: &mut Vec<u8>) {
    put(nested.cursor as u64, out);
    put(nested.count, out);
    out.extend_from_slice(&nested.total.to_le_bytes());
    put(u64::from(nested.reals), out);
    save_error(nested.error.as_ref(), out);
    nested.accumulator.save(out);
    put(u64::from(nested.stretch.is_some()), out);
    if let Some(stretch) = &nested.stretch {
        put(stretch.start as u64, out);
        put(stretch.known as u64, out);
        for number in [stretch.high, stretch.low, stretch.sum] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        put_value(&stretch.last, out);
        put(u64::from(stretch.held), out);
        put(u64::from(stretch.mixed), out);
    }
}

fn load_nested(nested: &mut Nested, plan: &crate::plan::Plan, from: &mut &[u8]) -> Result<(), Corrupt> {
    // Sums of all that can be read stay below this.
    let number = |from: &mut &[u8]| {
        let number = i128::from_le_bytes(take_fixed(from)?);
        if number.unsigned_abs() >> 126 == 0 { Ok(number) } else { Err(corrupt("is damaged")) }
    };
    nested.cursor = place(from)?;
    nested.count = place(from)? as u64;
    nested.total = number(from)?;
    nested.reals = flag(from)?;
    nested.error = load_error(from)?;
    nested.accumulator = Accumulator::load(Nested::kept(nested.outer), plan.limits, from)?;
    nested.stretch = None;
    if flag(from)? {
        let (start, known) = (place(from)?, place(from)?);
        let (high, low) = (number(from)?, number(from)?);
        let sum = i128::from_le_bytes(take_fixed(from)?);
        let last = take_value(from)?;
        let (held, mixed) = (flag(from)?, flag(from)?);
        if mixed && !held {
            return Err(corrupt("is damaged"));
        }
        nested.stretch = Some(Stretch { start, known, high, low, sum, last, held, mixed });
    }
    Ok(())
}
