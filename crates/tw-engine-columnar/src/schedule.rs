//! Which operation is computed in which pass, and where its words are kept.
//!
//! A pass walks the trace once, block by block, in one direction. Everything that can be computed on the way is: past
//! operations in forward passes, future operations in backward passes, connectives in any. What a later pass needs is
//! kept as a whole column and given back after its last use; everything else lives in block-sized registers that are
//! reused as soon as their value is dead.

use crate::graph::{Direction, Graph, Lit, Op};

/// Where the words of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// False everywhere.
    False,
    /// A column of the trace.
    Atom(u32),
    /// First positions.
    First,
    /// Last positions.
    Last,
    /// A column that an earlier pass has computed.
    Column(u32),
    /// A column that this pass computes: index in [`Pass::defines`].
    Define(u32),
    /// A block-sized register.
    Register(u32),
}

/// A value or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) place: Place,
    pub(crate) negated: bool,
}

/// What is done to one block. `carry` numbers the bit that is handed from block to block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    And(Operand, Operand),
    Xor(Place, Place),
    Shift {
        body: Operand,
        repeat: bool,
        carry: u32,
    },
    Chain {
        hold: Operand,
        now: Operand,
        weak: bool,
        carry: u32,
    },
    Fill {
        body: Operand,
        carry: u32,
    },
    /// Counts and lists the positions where the operand holds.
    Violations {
        sink: u32,
        body: Operand,
    },
    /// The same for a conjunction (or its negation) nobody else needs.
    ViolationsAnd {
        sink: u32,
        a: Operand,
        b: Operand,
        negated: bool,
    },
    /// Per segment: whether the operand holds nowhere in it.
    Nowhere {
        sink: u32,
        body: Operand,
        carry: u32,
    },
    /// Per segment: the operand at its first position.
    Starts {
        sink: u32,
        body: Operand,
    },
    /// The operand as it is.
    Copy(Operand),
}

/// One step of a pass; `to` is where the result goes, [`Place::False`] if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) code: Code,
    pub(crate) to: Place,
}

/// One walk over the trace.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub(crate) direction: Direction,
    pub(crate) steps: Vec<Step>,
    pub(crate) registers: usize,
    pub(crate) carries: usize,
    /// Columns computed here.
    pub(crate) defines: Vec<u32>,
    /// Sinks answered here; steps refer to them by their index in this list.
    pub(crate) sinks: Vec<u32>,
}

/// What is asked of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Where it holds, counted and listed, and whether it holds nowhere (per segment).
    Violations,
    /// Its value at the first position (per segment).
    Starts,
    /// All of it, as this output column.
    Column,
}

/// A question about an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sink {
    pub(crate) lit: Lit,
    pub(crate) want: Want,
}

/// The whole plan. Columns are numbered by storage: a number may serve one value after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) passes: Vec<Pass>,
    /// Number of storage columns, that is, the most that are alive at once.
    pub(crate) columns: usize,
    /// For each sink that wants a column: its storage.
    pub(crate) outputs: Vec<Option<u32>>,
}

const NONE: u32 = u32::MAX;
/// Formulas about one position with at most this many operations are computed anew in each pass that needs them:
/// cheaper than writing a column and reading it back.
const LIGHT: u8 = 6;

/// Plans the sinks. `segmented` traces need one more step per violation sink.
pub(crate) fn schedule(graph: &Graph, sinks: &[Sink], segmented: bool) -> Schedule {
    Scheduler::new(graph, sinks).emit(sinks, segmented)
}

struct Scheduler<'g> {
    ops: &'g [Op],
    /// Computed anew wherever needed.
    light: Vec<bool>,
    /// The pass each other needed operation is computed in, or `NONE`.
    pass: Vec<u32>,
    /// The last pass that reads it.
    until: Vec<u32>,
    /// How many operations and sinks read it (saturating at 2).
    uses: Vec<u8>,
    start: Direction,
    passes: usize,
}

fn direction_of(pass: u32, start: Direction) -> Direction {
    match (pass.is_multiple_of(2), start) {
        (true, start) => start,
        (false, Direction::Forward) => Direction::Backward,
        (false, Direction::Backward) => Direction::Forward,
    }
}

/// The earliest pass of each needed operation when the first pass goes in direction `start`, and the last of them.
fn earliest(ops: &[Op], needed: &[bool], start: Direction) -> (Vec<u32>, u32) {
    let mut level = vec![0u32; ops.len()];
    let mut last = 0;
    for (index, op) in ops.iter().enumerate() {
        if !needed[index] {
            continue;
        }
        let below = op.operands().map(|lit| level[lit.op()]).max().unwrap_or(0);
        level[index] = match op.direction() {
            Some(direction) if direction_of(below, start) != direction => below + 1,
            _ => below,
        };
        last = last.max(level[index]);
    }
    (level, last)
}

impl<'g> Scheduler<'g> {
    fn new(graph: &'g Graph, sinks: &[Sink]) -> Self {
        let ops = graph.ops();
        let mut needed = vec![false; ops.len()];
        let mut uses = vec![0u8; ops.len()];
        for sink in sinks {
            needed[sink.lit.op()] = true;
            uses[sink.lit.op()] = uses[sink.lit.op()].saturating_add(1);
        }
        for index in (0..ops.len()).rev() {
            if needed[index] {
                for lit in ops[index].operands() {
                    needed[lit.op()] = true;
                    uses[lit.op()] = uses[lit.op()].saturating_add(1);
                }
            }
        }
        let mut weight = vec![0u8; ops.len()];
        for (index, op) in ops.iter().enumerate() {
            weight[index] = match op {
                _ if op.is_source() => 0,
                Op::And(..) | Op::Xor(..) => {
                    op.operands().fold(1u8, |sum, lit| sum.saturating_add(weight[lit.op()]))
                }
                _ => u8::MAX,
            };
        }
        let light: Vec<bool> = weight.iter().map(|&weight| weight <= LIGHT).collect();

        let forward = earliest(ops, &needed, Direction::Forward);
        let backward = earliest(ops, &needed, Direction::Backward);
        let (start, (level, last)) = if backward.1 < forward.1 {
            (Direction::Backward, backward)
        } else {
            (Direction::Forward, forward)
        };

        // As late as the users allow: a value then waits for as few passes as possible.
        let mut pass = vec![NONE; ops.len()];
        let mut need = vec![NONE; ops.len()];
        for sink in sinks {
            need[sink.lit.op()] = level[sink.lit.op()].min(need[sink.lit.op()]);
        }
        for index in (0..ops.len()).rev() {
            if !needed[index] || light[index] {
                continue;
            }
            let latest = need[index];
            pass[index] = match ops[index].direction() {
                Some(direction) if direction_of(latest, start) != direction => latest - 1,
                _ => latest,
            };
            for lit in ops[index].operands() {
                need[lit.op()] = need[lit.op()].min(pass[index]);
            }
        }
        // Connectives right beside their last operand: one column is kept instead of two.
        for index in 0..ops.len() {
            if pass[index] != NONE && ops[index].direction().is_none() {
                let latest =
                    ops[index].operands().map(|lit| pass[lit.op()]).filter(|&pass| pass != NONE).max();
                pass[index] = latest.unwrap_or(pass[index]);
            }
        }
        let mut scheduler =
            Scheduler { ops, light, pass, until: vec![0; ops.len()], uses, start, passes: last as usize + 1 };
        scheduler.find_last_uses();
        scheduler
    }

    /// Light operations read their operands in the pass of whoever needs them; sources are always there, so only
    /// the operands of operations with a pass matter.
    fn find_last_uses(&mut self) {
        for index in 0..self.ops.len() {
            if self.pass[index] == NONE {
                continue;
            }
            self.until[index] = self.until[index].max(self.pass[index]);
            for lit in self.ops[index].operands() {
                self.until[lit.op()] = self.until[lit.op()].max(self.pass[index]);
            }
        }
    }

    fn pass_of_sink(&self, sink: &Sink) -> u32 {
        match self.pass[sink.lit.op()] {
            NONE => 0,
            pass => pass,
        }
    }

    fn emit(&self, sinks: &[Sink], segmented: bool) -> Schedule {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.passes];
        for index in 0..self.ops.len() {
            if self.pass[index] != NONE {
                members[self.pass[index] as usize].push(index as u32);
            }
        }
        let mut asked: Vec<Vec<u32>> = vec![Vec::new(); self.passes];
        for (index, sink) in sinks.iter().enumerate() {
            asked[self.pass_of_sink(sink) as usize].push(index as u32);
        }
        // On segmented traces two steps read the conjunction.
        let mut fused = vec![false; self.ops.len()];
        for sink in sinks.iter().filter(|sink| sink.want == Want::Violations && !segmented) {
            let op = sink.lit.op();
            fused[op] = self.uses[op] == 1 && matches!(self.ops[op], Op::And(..));
        }
        let mut emitter = Emitter {
            fused,
            scheduler: self,
            sinks,
            segmented,
            stamp: vec![NONE; self.ops.len()],
            last_read: vec![0; self.ops.len()],
            place: vec![Place::False; self.ops.len()],
            free_columns: Vec::new(),
            schedule: Schedule { outputs: vec![None; sinks.len()], ..Schedule::default() },
            releases: vec![Vec::new(); self.passes],
        };
        for pass in 0..self.passes {
            let members = std::mem::take(&mut members[pass]);
            emitter.pass(pass as u32, members, &mut asked[pass]);
        }
        emitter.schedule
    }
}

struct Emitter<'s, 'g> {
    scheduler: &'s Scheduler<'g>,
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
        let mut todo = vec![lit.op()];
        while let Some(op) = todo.pop() {
            let light = self.scheduler.light[op] && !self.scheduler.ops[op].is_source();
            if light && self.stamp[op] != pass {
                self.stamp[op] = pass;
                list.push(op as u32);
                todo.extend(self.scheduler.ops[op].operands().map(Lit::op));
            }
        }
    }

    fn pass(&mut self, pass: u32, mut members: Vec<u32>, asked: &mut [u32]) {
        let scheduler = self.scheduler;
        for index in 0..members.len() {
            for lit in scheduler.ops[members[index] as usize].operands() {
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
                    for lit in scheduler.ops[op as usize].operands() {
                        self.last_read[lit.op()] = at as u32;
                    }
                }
                Entry::Sink(sink) => {
                    let op = self.sinks[sink as usize].lit.op();
                    self.last_read[op] = at as u32;
                    if self.fused[op] {
                        for lit in scheduler.ops[op].operands() {
                            self.last_read[lit.op()] = at as u32;
                        }
                    }
                }
            }
        }
        let mut writer = Writer {
            pass: Pass {
                direction: direction_of(pass, scheduler.start),
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
        let place = match self.scheduler.ops[op] {
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
        let scheduler = self.scheduler;
        if self.fused[op] {
            return;
        }
        let code = match scheduler.ops[op] {
            Op::And(a, b) => Code::And(self.operand(a), self.operand(b)),
            Op::Xor(a, b) => Code::Xor(self.operand(a).place, self.operand(b).place),
            Op::Shift { body, repeat, .. } => {
                Code::Shift { body: self.operand(body), repeat, carry: writer.carry() }
            }
            Op::Chain { hold, now, weak, .. } => {
                Code::Chain { hold: self.operand(hold), now: self.operand(now), weak, carry: writer.carry() }
            }
            Op::Fill { body, .. } => Code::Fill { body: self.operand(body), carry: writer.carry() },
            Op::False | Op::Atom(_) | Op::First | Op::Last => return,
        };
        let kept = !scheduler.light[op] && scheduler.until[op] > pass;
        let to = if kept {
            let column = self.column();
            self.releases[scheduler.until[op] as usize].push(column);
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
                if let Op::And(a, b) = self.scheduler.ops[sink.lit.op()] {
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
            Entry::Op(op) => (op as usize, Some(self.scheduler.ops[op as usize])),
            Entry::Sink(sink) => {
                let op = self.sinks[sink as usize].lit.op();
                (op, self.fused[op].then(|| self.scheduler.ops[op]))
            }
        };
        let read = operands.into_iter().flat_map(Op::operands).map(Lit::op).chain([itself]);
        for op in read {
            if self.last_read[op] == at
                && !self.scheduler.ops[op].is_source()
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
