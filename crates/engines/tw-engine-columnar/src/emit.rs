//! The steps of each pass, and registers and columns for their results.

use crate::graph::Op;
use crate::order::{NONE, Order, direction_of};
use crate::schedule::{Code, Operand, Pass, Place, Schedule, Sink, Step, Want};
use tw_monitor::Lit;

/// Writes down the steps of every pass.
pub(crate) fn emit(order: &Order<'_>, sinks: &[Sink], segmented: bool) -> Schedule {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); order.passes];
    for index in 0..order.ops.len() {
        if order.pass[index] != NONE {
            members[order.pass[index] as usize].push(index as u32);
        }
    }
    let mut asked: Vec<Vec<u32>> = vec![Vec::new(); order.passes];
    for (index, sink) in sinks.iter().enumerate() {
        asked[order.pass_of_sink(sink) as usize].push(index as u32);
    }
    // On segmented traces two steps read the conjunction.
    let mut fused = vec![false; order.ops.len()];
    for sink in sinks.iter().filter(|sink| sink.want == Want::Violations && !segmented) {
        let op = sink.lit.op();
        fused[op] = order.uses[op] == 1 && matches!(order.ops[op], Op::And(..));
    }
    let mut emitter = Emitter {
        fused,
        order,
        sinks,
        segmented,
        stamp: vec![NONE; order.ops.len()],
        last_read: vec![0; order.ops.len()],
        place: vec![Place::False; order.ops.len()],
        free_columns: Vec::new(),
        schedule: Schedule { outputs: vec![None; sinks.len()], ..Schedule::default() },
        releases: vec![Vec::new(); order.passes],
    };
    for pass in 0..order.passes {
        let members = std::mem::take(&mut members[pass]);
        emitter.pass(pass as u32, members, &mut asked[pass]);
    }
    emitter.schedule
}

struct Emitter<'s, 'g> {
    order: &'s Order<'g>,
    sinks: &'s [Sink],
    segmented: bool,
    /// Conjunctions computed by the only sink that asks for them.
    fused: Vec<bool>,
    /// The pass for which a light operation was last put on the list.
    stamp: Vec<u32>,
    /// Position on the list of the last reader within the pass at hand.
    last_read: Vec<u32>,
    /// Where each value is at the moment.
    place: Vec<Place>,
    free_columns: Vec<u32>,
    schedule: Schedule,
    releases: Vec<Vec<u32>>,
}

/// An entry of a pass before registers are known.
#[derive(Clone, Copy)]
enum Entry {
    Op(u32),
    Sink(u32),
}

impl Emitter<'_, '_> {
    /// Adds the light operations below `lit` that are not yet on the list of this pass.
    fn add_light(&mut self, lit: Lit, pass: u32, list: &mut Vec<u32>) {
        if self.order.ops[lit.op()].is_source() || self.stamp[lit.op()] == pass {
            return;
        }
        let mut todo = vec![lit.op()];
        while let Some(op) = todo.pop() {
            let light = self.order.light[op] && !self.order.ops[op].is_source();
            if light && self.stamp[op] != pass {
                self.stamp[op] = pass;
                list.push(op as u32);
                todo.extend(self.order.ops[op].operands().map(Lit::op));
            }
        }
    }

    fn pass(&mut self, pass: u32, mut members: Vec<u32>, asked: &mut [u32]) {
        let order = self.order;
        for index in 0..members.len() {
            for lit in order.ops[members[index] as usize].operands() {
                self.add_light(lit, pass, &mut members);
            }
        }
        for &sink in asked.iter() {
            self.add_light(self.sinks[sink as usize].lit, pass, &mut members);
        }
        if members.is_empty() && asked.is_empty() {
            return;
        }
        members.sort_unstable();
        asked.sort_by_key(|&sink| self.sinks[sink as usize].lit.op());

        // Each sink right after what it asks about, so that registers die early.
        let mut entries = Vec::with_capacity(members.len() + asked.len());
        let mut next = 0;
        let mut sinks_upto = |op: u32, entries: &mut Vec<Entry>| {
            while next < asked.len() && self.sinks[asked[next] as usize].lit.op() as u32 <= op {
                entries.push(Entry::Sink(asked[next]));
                next += 1;
            }
        };
        for &op in &members {
            entries.push(Entry::Op(op));
            sinks_upto(op, &mut entries);
        }
        sinks_upto(NONE, &mut entries);

        for (at, entry) in entries.iter().enumerate() {
            match *entry {
                Entry::Op(op) => {
                    self.last_read[op as usize] = at as u32;
                    for lit in order.ops[op as usize].operands() {
                        self.last_read[lit.op()] = at as u32;
                    }
                }
                Entry::Sink(sink) => {
                    let op = self.sinks[sink as usize].lit.op();
                    self.last_read[op] = at as u32;
                    if self.fused[op] {
                        for lit in order.ops[op].operands() {
                            self.last_read[lit.op()] = at as u32;
                        }
                    }
                }
            }
        }
        let mut writer = Writer {
            pass: Pass {
                direction: direction_of(pass, order.start),
                steps: Vec::with_capacity(entries.len()),
                registers: 0,
                carries: 0,
                defines: Vec::new(),
                sinks: Vec::new(),
            },
            free: Vec::new(),
        };
        let mut ending: Vec<usize> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            match *entry {
                Entry::Op(op) => self.op(op as usize, pass, &mut writer, &mut ending),
                Entry::Sink(sink) => self.sink(sink, &mut writer),
            }
            self.free_dead(*entry, at as u32, &mut writer);
        }
        // Later passes read what was computed here as a column.
        for op in ending {
            if let Place::Define(define) = self.place[op] {
                self.place[op] = Place::Column(writer.pass.defines[define as usize]);
            }
        }
        self.free_columns.append(&mut self.releases[pass as usize]);
        self.schedule.passes.push(writer.pass);
    }

    fn operand(&self, lit: Lit) -> Operand {
        let op = lit.op();
        let place = match self.order.ops[op] {
            Op::False => Place::False,
            Op::Atom(index) => Place::Atom(index),
            Op::First => Place::First,
            Op::Last => Place::Last,
            _ => self.place[op],
        };
        Operand { place, negated: lit.is_negated() }
    }

    fn column(&mut self) -> u32 {
        self.free_columns.pop().unwrap_or_else(|| {
            self.schedule.columns += 1;
            (self.schedule.columns - 1) as u32
        })
    }

    fn op(&mut self, op: usize, pass: u32, writer: &mut Writer, ending: &mut Vec<usize>) {
        let order = self.order;
        if self.fused[op] {
            return;
        }
        let code = match order.ops[op] {
            Op::And(a, b) => Code::And(self.operand(a), self.operand(b)),
            Op::Xor(a, b) => Code::Xor(self.operand(a).place, self.operand(b).place),
            Op::Shift { direction, body, repeat } => match order.ops[body.op()] {
                Op::Atom(atom) => Code::Neighbour { atom, negated: body.is_negated(), direction, repeat },
                _ => Code::Shift { body: self.operand(body), repeat, carry: writer.carry() },
            },
            Op::Chain { hold, now, weak, .. } => {
                Code::Chain { hold: self.operand(hold), now: self.operand(now), weak, carry: writer.carry() }
            }
            Op::Fill { body, .. } => Code::Fill { body: self.operand(body), carry: writer.carry() },
            Op::False | Op::Atom(_) | Op::First | Op::Last => return,
        };
        let kept = !order.light[op] && order.until[op] > pass;
        let to = if kept {
            let column = self.column();
            self.releases[order.until[op] as usize].push(column);
            writer.pass.defines.push(column);
            ending.push(op);
            Place::Define(writer.pass.defines.len() as u32 - 1)
        } else {
            Place::Register(writer.register())
        };
        self.place[op] = to;
        writer.pass.steps.push(Step { code, to });
    }

    fn sink(&mut self, index: u32, writer: &mut Writer) {
        let sink = self.sinks[index as usize];
        let body = self.operand(sink.lit);
        let local = writer.pass.sinks.len() as u32;
        writer.pass.sinks.push(index);
        let mut push = |code, to| writer.pass.steps.push(Step { code, to });
        match sink.want {
            Want::Violations if self.fused[sink.lit.op()] => {
                if let Op::And(a, b) = self.order.ops[sink.lit.op()] {
                    let (a, b) = (self.operand(a), self.operand(b));
                    push(Code::ViolationsAnd { sink: local, a, b, negated: body.negated }, Place::False);
                }
            }
            Want::Violations => {
                push(Code::Violations { sink: local, body }, Place::False);
                if self.segmented {
                    let carry = writer.carry();
                    let scratch = writer.register();
                    writer.free.push(scratch);
                    let code = Code::Nowhere { sink: local, body, carry };
                    writer.pass.steps.push(Step { code, to: Place::Register(scratch) });
                }
            }
            Want::Starts => push(Code::Starts { sink: local, body }, Place::False),
            Want::Column => {
                let column = self.schedule.columns as u32;
                self.schedule.columns += 1;
                self.schedule.outputs[index as usize] = Some(column);
                writer.pass.defines.push(column);
                let to = Place::Define(writer.pass.defines.len() as u32 - 1);
                writer.pass.steps.push(Step { code: Code::Copy(body), to });
            }
        }
    }

    /// Gives back the registers of values that nothing reads after `at`.
    fn free_dead(&mut self, entry: Entry, at: u32, writer: &mut Writer) {
        let (itself, operands) = match entry {
            Entry::Op(op) => (op as usize, Some(self.order.ops[op as usize])),
            Entry::Sink(sink) => {
                let op = self.sinks[sink as usize].lit.op();
                (op, self.fused[op].then(|| self.order.ops[op]))
            }
        };
        let read = operands.into_iter().flat_map(Op::operands).map(Lit::op).chain([itself]);
        for op in read {
            if self.last_read[op] == at
                && !self.order.ops[op].is_source()
                && let Place::Register(register) = self.place[op]
            {
                writer.free.push(register);
                // Dead: not to be given back twice.
                self.place[op] = Place::False;
            }
        }
    }
}

struct Writer {
    pass: Pass,
    free: Vec<u32>,
}

impl Writer {
    fn register(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.pass.registers += 1;
            (self.pass.registers - 1) as u32
        })
    }

    fn carry(&mut self) -> u32 {
        self.pass.carries += 1;
        (self.pass.carries - 1) as u32
    }
}
