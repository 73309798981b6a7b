//! What windows aggregate, position by position: terms and formulas over slots, with past operators in them.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use tw_core::codec::{Corrupt, put, put_option, put_signed, take, take_len, take_option, take_signed};
use tw_core::{Time, Value};
use tw_ir::{Applied, Clock, Node, NodeId, Program, SlotId, Ticks};
use tw_monitor::{Ground, truth};

/// How intervals are measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// By which clock; without timestamps, positions are counted.
    pub clock: Clock,
    /// The unit of bare numbers.
    pub unit: tw_core::TimeUnit,
}

impl Default for Measure {
    fn default() -> Self {
        Self { clock: Clock::Stamps, unit: tw_core::TimeUnit::Seconds }
    }
}

/// A term or formula at one position, given what slots and past operators say there.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    node: NodeId,
    formula: bool,
    order: Vec<NodeId>,
    given: Vec<(NodeId, Given)>,
}

#[derive(Clone, Copy, Debug)]
enum Given {
    Slot(SlotId),
    Truth(SlotId),
    First,
    /// A past operator, by its number.
    Past(usize),
}

impl Part {
    fn new(program: &Program, node: NodeId, formula: bool, past: &FxHashMap<NodeId, usize>) -> Self {
        let order = program.reachable_until(&[node], |id| past.contains_key(&id));
        let given = order.iter().filter_map(|&id| {
            let given = match program.dag.node(id) {
                _ if past.contains_key(&id) => Given::Past(past[&id]),
                Node::Slot(slot) => Given::Slot(slot),
                Node::Truth(slot) => Given::Truth(slot),
                Node::First => Given::First,
                _ => return None,
            };
            Some((id, given))
        });
        Self { node, formula, given: given.collect(), order }
    }

    /// The slot that it is, if it is no more than one.
    pub fn slot(&self) -> Option<SlotId> {
        match self.given[..] {
            [(node, Given::Slot(slot) | Given::Truth(slot))] if node == self.node => Some(slot),
            _ => None,
        }
    }

    /// Its value, of a formula whether it holds.
    pub fn value(
        &self,
        program: &Program,
        (first, past): (bool, &[bool]),
        slot: &impl Fn(SlotId) -> Value,
    ) -> Result<Value, String> {
        let read = |given: Given| match given {
            Given::Slot(of) => slot(of),
            Given::Truth(of) => Value::Bool(truth(&slot(of))),
            Given::First => Value::Bool(first),
            Given::Past(number) => Value::Bool(past[number]),
        };
        if let [(node, given)] = self.given[..]
            && node == self.node
        {
            let value = read(given);
            return Ok(if self.formula { Value::Bool(truth(&value)) } else { value });
        }
        let given: Vec<(NodeId, Value)> = self.given.iter().map(|&(id, given)| (id, read(given))).collect();
        let ground = Ground { program, order: &self.order, given: &given };
        if self.formula { ground.truth().map(Value::Bool) } else { ground.value() }
    }

    fn holds(
        &self,
        program: &Program,
        here: (bool, &[bool]),
        slot: &impl Fn(SlotId) -> Value,
    ) -> Result<bool, String> {
        Ok(self.value(program, here, slot)? == Value::Bool(true))
    }
}

/// A past operator.
#[derive(Clone, Debug)]
struct Step {
    applied: Applied,
    left: Option<Part>,
    right: Part,
}

/// Past operators, inner ones first.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    steps: Vec<Step>,
}

/// What one of them knows of the positions before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Of `Y Z`, the operand at the previous position; of others without interval, their own value there.
    before: Option<(bool, i64)>,
    /// With an interval: when what is waited for was, oldest first.
    marks: VecDeque<i64>,
}

impl Past {
    /// The past operators below these nodes, and the nodes as parts over them.
    pub fn new(program: &Program, nodes: &[(NodeId, bool)]) -> (Self, Vec<Part>) {
        let roots: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).collect();
        let mut numbers = FxHashMap::default();
        let mut steps: Vec<Step> = Vec::new();
        for id in program.reachable(&roots) {
            let Some(applied) = program.dag.node(id).temporal() else { continue };
            let part = |node: NodeId| Part::new(program, node, true, &numbers);
            let (left, right) = (applied.left.map(part), part(applied.right));
            steps.push(Step { applied, left, right });
            numbers.insert(id, steps.len() - 1);
        }
        let parts =
            nodes.iter().map(|&(node, formula)| Part::new(program, node, formula, &numbers)).collect();
        (Self { steps }, parts)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether some has an interval, and so keeps the times of what it waits for.
    pub fn is_metric(&self) -> bool {
        self.steps.iter().any(|step| step.applied.interval.is_some())
    }

    /// Nothing seen yet.
    pub fn memory(&self) -> Vec<Memory> {
        vec![Memory::default(); self.steps.len()]
    }

    /// Which of them hold at the next position: the `seen`-th, at this time if there are timestamps.
    pub fn step(
        &self,
        program: &Program,
        memory: &mut [Memory],
        (seen, time, measure): (i64, Option<Time>, Measure),
        slot: &impl Fn(SlotId) -> Value,
    ) -> Result<Vec<bool>, String> {
        let mut values = Vec::with_capacity(self.steps.len());
        let (clock, now) = match time {
            Some(time) if measure.clock != Clock::Index => (measure.clock, time),
            _ => (Clock::Index, seen),
        };
        for (step, memory) in self.steps.iter().zip(memory) {
            let here = (seen == 0, values.as_slice());
            let right = step.right.holds(program, here, slot)?;
            let left = step.left.as_ref().map(|left| left.holds(program, here, slot)).transpose()?;
            let ticks = match step.applied.interval {
                None => None,
                Some(interval) => Some(interval.ticks(clock, measure.unit).map_err(|bad| bad.to_string())?),
            };
            let value = memory.step(&step.applied, (left, right), now, ticks);
            values.push(value);
        }
        Ok(values)
    }
}

impl Memory {
    fn step(
        &mut self,
        applied: &Applied,
        (left, right): (Option<bool>, bool),
        now: i64,
        ticks: Option<Ticks>,
    ) -> bool {
        if applied.is_step() {
            let near = |then: i64| ticks.is_none_or(|ticks| ticks.contains(now.saturating_sub(then)));
            let value = match self.before.replace((right, now)) {
                Some((before, then)) if near(then) => before,
                _ => applied.weak,
            };
            return value;
        }
        let Some(ticks) = ticks else {
            let before = self.before.map_or(applied.weak, |(before, _)| before);
            let value = applied.unfold(left, right, before);
            self.before = Some((value, now));
            return value;
        };
        let Some(way) = applied.way() else { return false };
        // The two operands may have changed their places.
        let of = |node: NodeId| if node == applied.right { right } else { left.unwrap_or(right) };
        let goal = match way.goal {
            (a, None) => of(a),
            (a, Some(b)) if way.dual => of(a) | of(b),
            (a, Some(b)) => of(a) & of(b),
        };
        let hold = way.hold.map(of);
        let (hold, goal) = match way.dual {
            true => (hold.is_none_or(|hold| !hold), !goal),
            false => (hold.unwrap_or(true), goal),
        };
        self.since(hold, goal, now, ticks) != way.dual
    }

    /// `hold S[I] goal`.
    fn since(&mut self, hold: bool, goal: bool, now: i64, ticks: Ticks) -> bool {
        if !hold {
            self.marks.clear();
        }
        if goal {
            // Only the latest is ever near enough, or only the earliest far enough.
            if ticks.low == 0 {
                self.marks.clear();
            }
            if ticks.high < i64::MAX || self.marks.is_empty() {
                self.marks.push_back(now);
            }
        }
        while self.marks.front().is_some_and(|&mark| now.saturating_sub(mark) > ticks.high) {
            self.marks.pop_front();
        }
        self.marks.front().is_some_and(|&mark| now.saturating_sub(mark) >= ticks.low)
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        put_option(self.before.map(|(before, _)| i64::from(before)), out);
        put_option(self.before.map(|(_, then)| then), out);
        put(self.marks.len() as u64, out);
        self.marks.iter().for_each(|&mark| put_signed(mark, out));
    }

    pub fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let before = take_option(from)?.map(|before| before == 1).zip(take_option(from)?);
        let marks = (0..take_len(from)?).map(|_| take_signed(from)).collect::<Result<_, _>>()?;
        Ok(Self { before, marks })
    }

    pub fn heap_bytes(&self) -> usize {
        self.marks.capacity() * 8
    }
}

/// How many past operators a memory is of.
pub(crate) fn take_memories(from: &mut &[u8]) -> Result<Vec<Memory>, Corrupt> {
    (0..take(from)?.min(1 << 20)).map(|_| Memory::load(from)).collect()
}
