//! Why a binding was reported: the events of its trace, and what each did to the automaton.

use crate::Plan;
use crate::route::Act;
use crate::scan::Scan;
use tw_core::{Batch, Column, Value};
use tw_ir::CompareOp;
use tw_ir::monitor::Category;

/// Positions that are read together.
const STRETCH: usize = 1 << 12;

/// An event of a binding's trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it happened.
    pub position: usize,
    /// Which event of the monitor it was.
    pub event: usize,
    /// The state before and after.
    pub from: u32,
    /// The state after it.
    pub to: u32,
}

impl Plan {
    /// The trace of a binding in a batch up to a position (or to the end), from its creation on. Where things of one name have
    /// ended, it is the shortest that comes to the category.
    pub fn trace(
        &self,
        batch: &Batch,
        monitor: usize,
        bindings: &[Option<Value>],
        position: Option<usize>,
        category: Category,
    ) -> Vec<Line> {
        let shape = &self.shapes[monitor];
        // Events of the slice, and behind which of them one of the things ended.
        let mut slice: Vec<(usize, usize)> = Vec::new();
        let mut cuts: Vec<usize> = vec![0];
        let mut acts: Vec<(usize, usize, usize, &Act)> = Vec::new();
        let slots: Vec<usize> =
            (0..self.routes.len()).filter(|&slot| self.routes[slot].acts(monitor).next().is_some()).collect();
        let end = position.map_or(batch.len, |last| batch.len.min(last + 1));
        let mut scan = Scan::default();
        for from in (0..end).step_by(STRETCH) {
            if !scan.read(batch, slots.iter().map(|&slot| (slot, slot, None)), from..end.min(from + STRETCH))
            {
                continue;
            }
            let mut happenings = Vec::new();
            scan.each(&mut happenings);
            for happening in happenings {
                let at = happening.position as usize;
                let slot = happening.slot as usize;
                for act in self.routes[slot].acts(monitor) {
                    let own = |tuple: &usize| self.concerns(batch, slot, at, *tuple, act, bindings);
                    acts.extend(happening.tuples().filter(own).map(|tuple| (at, act.number, tuple, act)));
                }
            }
        }
        acts.sort_by_key(|&(at, number, tuple, _)| (at, number, tuple));
        for (at, number, _, act) in acts {
            match act.end {
                false => slice.push((at, number)),
                true if Some(at) != position => cuts.push(slice.len()),
                true => {}
            }
        }
        let run = |from: usize| {
            let creates =
                |&(_, event): &(usize, usize)| shape.monitor.strict || shape.enables.creation[event];
            let rest = &slice[from..];
            let begin = rest.iter().position(creates).unwrap_or(rest.len());
            let mut state = 0;
            let line = |&(position, event): &(usize, usize)| {
                let before = state;
                state = shape.automaton.step(state, event);
                Line { position, event, from: before, to: state }
            };
            rest[begin..].iter().map(line).collect::<Vec<Line>>()
        };
        let fits = |lines: &Vec<Line>| {
            let output = lines.last().map(|line| shape.automaton.output(line.to));
            output.is_some_and(|output| output.category == Some(category) || output.violated_at_end)
        };
        cuts.dedup();
        cuts.iter().rev().map(|&from| run(from)).find(fits).unwrap_or_else(|| run(0))
    }

    /// Whether a tuple is about nothing but what the binding binds; of an end, about one of its things.
    fn concerns(
        &self,
        batch: &Batch,
        slot: usize,
        at: usize,
        tuple: usize,
        act: &Act,
        bindings: &[Option<Value>],
    ) -> bool {
        let same = |parameter: u32, column: usize| match (&batch.slots[slot], &bindings[parameter as usize]) {
            (Column::Tuples(relation), Some(bound)) => {
                tw_monitor::compare(CompareOp::Eq, &relation.columns()[column].value(tuple), bound)
            }
            _ => false,
        };
        let about = match act.end {
            false => act.columns.iter().all(|&(parameter, column)| same(parameter, column)),
            true => act.columns.iter().any(|&(parameter, column)| same(parameter, column)),
        };
        let value = |column: usize| match &batch.slots[slot] {
            Column::Tuples(relation) => relation.columns()[column].value(tuple),
            _ => Value::Null,
        };
        about
            && act.equal.iter().all(|&(a, b)| tw_monitor::compare(CompareOp::Eq, &value(a), &value(b)))
            && act.when.as_ref().is_none_or(|when| when.holds(&self.program, batch, at, slot, tuple))
    }

    /// The slots that the monitors read, ascending.
    pub fn slots(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = Vec::new();
        for (slot, route) in self.routes.iter().enumerate() {
            if route.is_used() {
                slots.push(slot as u32);
                slots.extend(route.conditions());
            }
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}
