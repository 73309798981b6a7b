//! From equations to operations on cells.
//!
//! A component of the graph is compiled if its columns are numbers or truth values and look back only; what it reads must be
//! compiled as well, or come from the trace. Whoever is left is computed by the definition, from the same columns.
//!
//! Values keep the kinds that the definition gives them. A real may stand where the definition has a whole number (`if c then 0
//! else x`): that is the same number as long as it is small, so the largest magnitude it can have there is known as its `whole`.

use super::ops::{Code, NULL, SMALL, TRUE};
use super::{At, Kind, Load, Register, Val};
use crate::Streams;
use crate::graph::{Component, Direction};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_core::Value;
use tw_ir::{CompareOp, Node, NodeId, Program, SetItem, SlotId, StreamType, What};

/// How far back cells are held in place.
const FARTHEST: u32 = 4096;

/// An operation before its cells have places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    /// Even where whole blocks go through it, odd where positions do.
    pub stage: u32,
    pub code: Code,
    pub out: u32,
    pub parts: [At; 3],
}

/// Operations under construction.
#[derive(Default)]
pub(super) struct Compiler<'p> {
    kinds: &'p [Option<Kind>],
    pub registers: Vec<Register>,
    /// When each register is known.
    stages: Vec<u32>,
    pub drafts: Vec<Draft>,
    pub loads: Vec<(Load, Val)>,
    /// Values of slots, and of nodes.
    pub slots: FxHashMap<SlotId, Val>,
    nodes: FxHashMap<NodeId, Val>,
    constants: FxHashMap<u64, u32>,
    /// Further copies of a register that begin otherwise.
    copies: FxHashMap<(u32, u64), u32>,
    /// Slots and nodes since the component began, to be forgotten if it fails, and its first draft.
    journal: (Vec<SlotId>, Vec<NodeId>, usize),
    /// The stage of what depends on the component itself, while there is such a thing: not known before its end.
    serial: Option<Serial>,
}

#[derive(Default)]
struct Serial {
    /// When everything it reads is known.
    after: u32,
    ops: Vec<usize>,
    /// Copies of what the component computes, for later positions.
    copies: FxHashSet<u32>,
    /// Where streams have their values.
    targets: FxHashSet<u32>,
}

/// Not known yet: computed with the component.
const OPEN: u32 = u32::MAX;

impl<'p> Compiler<'p> {
    pub fn new(kinds: &'p [Option<Kind>]) -> Self {
        Self { kinds, ..Self::default() }
    }

    /// Tries a component; whether it could be done.
    pub fn component(&mut self, program: &Program, streams: &Streams, component: &Component) -> bool {
        let before = (self.registers.len(), self.drafts.len(), self.loads.len());
        self.journal = (Vec::new(), Vec::new(), self.drafts.len());
        let done = match component.direction {
            Direction::Free => component.members.iter().try_for_each(|&member| {
                let slot = streams.graph.derived[member].slot;
                self.member(program, streams, slot, None)
            }),
            Direction::Forward if component.delays.iter().all(|&delay| delay == 0) => {
                self.cycle(program, streams, component)
            }
            _ => None,
        };
        self.serial = None;
        if done.is_some() {
            return true;
        }
        let (registers, drafts, loads) = before;
        self.registers.truncate(registers);
        self.stages.truncate(registers);
        self.drafts.truncate(drafts);
        self.loads.truncate(loads);
        let kept = |register: &u32| (*register as usize) < registers;
        self.constants.retain(|_, register| kept(register));
        self.copies.retain(|(from, _), register| kept(from) && kept(register));
        let (slots, nodes, _) = std::mem::take(&mut self.journal);
        let (slots, nodes) = (FxHashSet::from_iter(slots), FxHashSet::from_iter(nodes));
        self.slots.retain(|slot, _| !slots.contains(slot));
        self.nodes.retain(|node, _| !nodes.contains(node));
        false
    }

    /// Equations that read their own past.
    fn cycle(&mut self, program: &Program, streams: &Streams, component: &Component) -> Option<()> {
        let slots = || component.members.iter().map(|&member| streams.graph.derived[member].slot);
        self.serial = Some(Serial::default());
        for slot in slots() {
            let What::Stream { stream, .. } = program.slots[slot as usize].what else { continue };
            let open = |compiler: &mut Self| At { register: compiler.register(OPEN), back: 0 };
            let val = match program.streams[stream as usize].ty {
                StreamType::Bool => Val::Truth(open(self)),
                StreamType::Real => Val::Real { value: open(self), whole: None },
                StreamType::Int => Val::Int { value: open(self), valid: open(self) },
                StreamType::Text => return None,
            };
            if let Some(serial) = &mut self.serial {
                serial.targets.extend(val.registers());
            }
            self.keep_slot(slot, val);
        }
        for slot in slots() {
            let target = self.slots.get(&slot).copied();
            self.member(program, streams, slot, target)?;
        }
        let serial = self.serial.take()?;
        // The next stage of positions that is not before what is read.
        let stage = serial.after | 1;
        for op in serial.ops {
            self.drafts[op].stage = stage;
            self.stages[self.drafts[op].out as usize] = stage;
        }
        // What is copied has to be computed first.
        let late = |draft: &Draft| serial.copies.contains(&draft.out);
        self.drafts[self.journal.2..].sort_by_key(late);
        Some(())
    }

    fn keep_slot(&mut self, slot: SlotId, val: Val) {
        if self.slots.insert(slot, val).is_none() {
            self.journal.0.push(slot);
        }
    }

    /// One derived slot; a stream around a cycle has its registers already.
    fn member(
        &mut self,
        program: &Program,
        streams: &Streams,
        slot: SlotId,
        target: Option<Val>,
    ) -> Option<()> {
        let derived = &streams.graph.derived[*streams.graph.of_slot.get(&slot)?];
        if derived.per.is_some() {
            return None;
        }
        match &program.slots[slot as usize].what {
            What::Shift(shift) => {
                let by = shift.by.checked_neg().and_then(|by| u32::try_from(by).ok());
                let by = by.filter(|by| (1..=FARTHEST).contains(by))?;
                let source = self.slot(program, streams, shift.slot)?;
                let val = self.shifted(source, by, &shift.default)?;
                self.keep_slot(slot, val);
            }
            What::Stream { stream, .. } => {
                let stream = &program.streams[*stream as usize];
                let mut val = None;
                for id in program.reachable(&[stream.node]) {
                    val = self.nodes.get(&id).copied();
                    if val.is_none() {
                        val = self.node(program, streams, id);
                        // What cannot be computed here may be part of a formula that the trace decides alone.
                        val = val.or_else(|| self.leaf(program, streams, id));
                        if let Some(val) = val {
                            self.nodes.insert(id, val);
                            self.journal.1.push(id);
                        }
                    }
                }
                let val = self.typed(stream.ty, val?)?;
                let val = self.owned(val, target)?;
                self.keep_slot(slot, val);
            }
            _ => return None,
        }
        Some(())
    }

    /// A value of the stream's type.
    fn typed(&mut self, ty: StreamType, val: Val) -> Option<Val> {
        Some(match (ty, val) {
            (StreamType::Bool, Val::Truth(_)) | (StreamType::Int, Val::Int { .. }) => val,
            (StreamType::Real, Val::Real { value, .. }) => Val::Real { value, whole: None },
            (StreamType::Real, Val::Int { .. }) => {
                Val::Real { value: self.real(val, Code::ToReal)?, whole: None }
            }
            (StreamType::Int, Val::Real { value, .. }) => {
                let valid = self.op(Code::Has, &[value]);
                Val::Int { value: self.op(Code::ToInt, &[value]), valid }
            }
            (StreamType::Real, Val::Null) => Val::Real { value: self.constant(NULL), whole: None },
            (StreamType::Int, Val::Null) => Val::Int { value: self.constant(0), valid: self.constant(0) },
            _ => return None,
        })
    }

    /// The value in registers that can be looked back into; those that a cycle reads, if it is part of one.
    fn owned(&mut self, val: Val, target: Option<Val>) -> Option<Val> {
        Some(match (val, target) {
            (Val::Truth(at), None) => Val::Truth(self.here(at)),
            (Val::Truth(at), Some(Val::Truth(to))) => Val::Truth(self.retarget(at, to)),
            (Val::Real { value, .. }, None) => Val::Real { value: self.here(value), whole: None },
            (Val::Real { value, .. }, Some(Val::Real { value: to, .. })) => {
                Val::Real { value: self.retarget(value, to), whole: None }
            }
            (Val::Int { value, valid }, None) => {
                Val::Int { value: self.here(value), valid: self.here(valid) }
            }
            (Val::Int { value, valid }, Some(Val::Int { value: to, valid: to_valid })) => {
                Val::Int { value: self.retarget(value, to), valid: self.retarget(valid, to_valid) }
            }
            _ => return None,
        })
    }

    fn here(&mut self, at: At) -> At {
        if at.back == 0 { at } else { self.op(Code::Copy, &[at]) }
    }

    /// Lets what computes `at` write to `to`; where others write it or it is somewhere else, it is copied.
    fn retarget(&mut self, at: At, to: At) -> At {
        let first = self.journal.2;
        let writer = (first..self.drafts.len()).find(|&draft| self.drafts[draft].out == at.register);
        let taken = self.serial.as_ref().is_none_or(|serial| serial.targets.contains(&at.register));
        match writer.filter(|&draft| at.back == 0 && !taken && self.drafts[draft].stage == OPEN) {
            Some(writer) => {
                self.drafts[writer].out = to.register;
                let replace = |part: &mut At| {
                    if part.register == at.register {
                        part.register = to.register;
                    }
                };
                self.drafts[first..].iter_mut().flat_map(|draft| &mut draft.parts).for_each(replace);
                for node in &self.journal.1 {
                    match self.nodes.get_mut(node) {
                        Some(Val::Truth(at)) | Some(Val::Real { value: at, .. }) => replace(at),
                        Some(Val::Int { value, valid }) => [value, valid].into_iter().for_each(replace),
                        _ => {}
                    }
                }
            }
            None => {
                self.drafts.push(Draft { stage: OPEN, code: Code::Copy, out: to.register, parts: [at; 3] });
                let stage = self.stages[at.register as usize];
                if let Some(serial) = &mut self.serial {
                    serial.ops.push(self.drafts.len() - 1);
                    serial.after = serial.after.max(if stage == OPEN { 0 } else { stage });
                }
            }
        }
        to
    }

    /// What a slot holds here.
    fn slot(&mut self, program: &Program, streams: &Streams, slot: SlotId) -> Option<Val> {
        if let Some(&val) = self.slots.get(&slot) {
            return Some(val);
        }
        let list = matches!(&program.slots[slot as usize].what, What::Variable(path, _) if path.has_each());
        if streams.graph.of_slot.contains_key(&slot) || list {
            return None;
        }
        let kind = self.kinds[slot as usize]?;
        let mut at = || At { register: self.register(0), back: 0 };
        let val = match kind {
            Kind::Truth => Val::Truth(at()),
            Kind::Int => Val::Int { value: at(), valid: at() },
            Kind::Real => Val::Real { value: at(), whole: None },
            Kind::Mixed => Val::Real { value: at(), whole: Some(SMALL) },
        };
        self.loads.push((Load::Slot(slot), val));
        self.keep_slot(slot, val);
        Some(val)
    }

    /// A formula that reads the trace alone, evaluated as predicates are.
    fn leaf(&mut self, program: &Program, streams: &Streams, id: NodeId) -> Option<Val> {
        let node = program.dag.node(id);
        if !matches!(
            node,
            Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_) | Node::Truth(_)
        ) {
            return None;
        }
        let given = |&id: &NodeId| match program.dag.node(id) {
            Node::Slot(slot) | Node::Truth(slot) => !streams.graph.of_slot.contains_key(&slot),
            Node::First | Node::Last => false,
            _ => true,
        };
        if !program.reachable(&[id]).iter().all(given) {
            return None;
        }
        let val = Val::Truth(At { register: self.register(0), back: 0 });
        self.loads.push((Load::Formula(id), val));
        Some(val)
    }

    fn shifted(&mut self, source: Val, by: u32, default: &Value) -> Option<Val> {
        Some(match (source, default) {
            (Val::Truth(at), Value::Bool(truth)) => {
                Val::Truth(self.back(at, by, if *truth { TRUE } else { 0 }))
            }
            (Val::Int { value, valid }, Value::Int(number)) => {
                Val::Int { value: self.back(value, by, *number as u64), valid: self.back(valid, by, TRUE) }
            }
            (Val::Int { value, valid }, Value::Null) => {
                Val::Int { value: self.back(value, by, 0), valid: self.back(valid, by, 0) }
            }
            (Val::Real { value, whole }, Value::Null) => {
                Val::Real { value: self.back(value, by, NULL), whole }
            }
            (Val::Real { value, whole }, Value::Real(number)) => {
                Val::Real { value: self.back(value, by, number.to_bits()), whole }
            }
            (Val::Real { value, whole }, Value::Int(number)) => {
                let size = number.unsigned_abs();
                if size > SMALL {
                    return None;
                }
                let whole = Some(whole.unwrap_or(0).max(size));
                Val::Real { value: self.back(value, by, (*number as f64).to_bits()), whole }
            }
            _ => return None,
        })
    }

    /// A register some positions ago; before the first, `default`.
    fn back(&mut self, at: At, by: u32, default: u64) -> At {
        let register = &mut self.registers[at.register as usize];
        let own = match register.before {
            None => {
                register.before = Some(default);
                true
            }
            Some(before) => before == default,
        };
        let number = match (own, self.copies.get(&(at.register, default))) {
            (true, _) => at.register,
            (false, Some(&copy)) => copy,
            (false, None) => {
                let copy = self.op(Code::Copy, &[at]).register;
                self.registers[copy as usize].before = Some(default);
                self.copies.insert((at.register, default), copy);
                if let (OPEN, Some(serial)) = (self.stages[at.register as usize], &mut self.serial) {
                    serial.copies.insert(copy);
                }
                copy
            }
        };
        let register = &mut self.registers[number as usize];
        register.history = register.history.max(by);
        At { register: number, back: by }
    }

    fn register(&mut self, stage: u32) -> u32 {
        self.registers.push(Register::default());
        self.stages.push(stage);
        self.registers.len() as u32 - 1
    }

    pub(super) fn constant(&mut self, cell: u64) -> At {
        let known = self.constants.get(&cell).copied();
        let register = known.unwrap_or_else(|| {
            let register = self.register(0);
            self.registers[register as usize] = Register { constant: true, before: Some(cell), history: 0 };
            self.constants.insert(cell, register);
            register
        });
        At { register, back: 0 }
    }

    pub(super) fn op(&mut self, code: Code, parts: &[At]) -> At {
        let stage = parts.iter().map(|part| self.stages[part.register as usize]);
        // What reads the component's own values is computed with it.
        let open = stage.clone().any(|stage| stage == OPEN);
        let after = stage.filter(|&stage| stage != OPEN).max().unwrap_or(0);
        let stage = match &mut self.serial {
            Some(serial) if open => {
                serial.after = serial.after.max(after);
                serial.ops.push(self.drafts.len());
                OPEN
            }
            _ => after + after % 2,
        };
        let out = self.register(stage);
        let first = parts.first().copied().unwrap_or(At { register: out, back: 0 });
        let part = |at: usize| parts.get(at).copied().unwrap_or(first);
        self.drafts.push(Draft { stage, code, out, parts: [part(0), part(1), part(2)] });
        At { register: out, back: 0 }
    }

    fn node(&mut self, program: &Program, streams: &Streams, id: NodeId) -> Option<Val> {
        let dag = &program.dag;
        let node = dag.node(id);
        if let Node::Slot(slot) | Node::Truth(slot) = node {
            let val = self.slot(program, streams, slot)?;
            return match (node, val) {
                (Node::Slot(_), val) => Some(val),
                (_, Val::Truth(_)) => Some(val),
                _ => None,
            };
        }
        let of = |compiler: &Self, id: NodeId| compiler.nodes.get(&id).copied();
        let truth = |compiler: &Self, id: NodeId| match of(compiler, id) {
            Some(Val::Truth(at)) => Some(at),
            _ => None,
        };
        let connected = |compiler: &mut Self, code: Code, a: NodeId, b: NodeId| {
            let (a, b) = (truth(compiler, a)?, truth(compiler, b)?);
            Some(Val::Truth(compiler.op(code, &[a, b])))
        };
        match node {
            Node::Bool(value) => Some(Val::Truth(self.constant(if value { TRUE } else { 0 }))),
            Node::Constant(constant) => Some(match &dag.constants[constant as usize] {
                Value::Null => Val::Null,
                Value::Int(number) => {
                    Val::Int { value: self.constant(*number as u64), valid: self.constant(TRUE) }
                }
                Value::Real(number) if !number.is_nan() => {
                    Val::Real { value: self.constant(number.to_bits()), whole: None }
                }
                _ => return None,
            }),
            Node::First => {
                let val = Val::Truth(At { register: self.register(0), back: 0 });
                self.loads.push((Load::First, val));
                Some(val)
            }
            Node::Not(a) => {
                let a = truth(self, a)?;
                Some(Val::Truth(self.op(Code::Not, &[a])))
            }
            Node::And(a, b) => connected(self, Code::And, a, b),
            Node::Or(a, b) => connected(self, Code::Or, a, b),
            Node::Xor(a, b) => connected(self, Code::Xor, a, b),
            Node::Implies(a, b) => connected(self, Code::OrNot, b, a),
            Node::Iff(a, b) => connected(self, Code::Same, a, b),
            Node::Has(a) => Some(Val::Truth(match of(self, a)? {
                Val::Truth(_) => self.constant(TRUE),
                Val::Null => self.constant(0),
                Val::Int { valid, .. } => valid,
                Val::Real { value, .. } => self.op(Code::Has, &[value]),
            })),
            Node::Negate(a) => match of(self, a)? {
                val @ Val::Int { value, valid } => match self.literal(val).and_then(i64::checked_neg) {
                    Some(number) => Some(Val::Int { value: self.constant(number as u64), valid }),
                    None => Some(Val::Int { value: self.op(Code::IntNeg, &[value]), valid }),
                },
                Val::Real { value, whole: None } => {
                    Some(Val::Real { value: self.op(Code::Neg, &[value]), whole: None })
                }
                // The opposite of the whole number 0 is 0, of the real one -0.
                _ => None,
            },
            Node::Abs(a) => match of(self, a)? {
                Val::Int { value, valid } => Some(Val::Int { value: self.op(Code::IntAbs, &[value]), valid }),
                Val::Real { value, whole } => Some(Val::Real { value: self.op(Code::Abs, &[value]), whole }),
                _ => None,
            },
            Node::Arithmetic(op, a, b) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                self.arithmetic(op, a, b)
            }
            Node::IfThenElse(condition, a, b) => {
                let (condition, a, b) = (truth(self, condition)?, of(self, a)?, of(self, b)?);
                self.select(condition, a, b)
            }
            Node::Compare(op, a, b) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                Some(Val::Truth(self.compare(op, a, b)?))
            }
            Node::In(a, set) => {
                let a = of(self, a)?;
                let mut found = self.constant(0);
                for item in &dag.sets[set as usize] {
                    let (low, high) = match item {
                        SetItem::Range(low, high) => (Value::Int(*low), Value::Int(*high)),
                        SetItem::Value(value) => (value.clone(), value.clone()),
                    };
                    let (low, high) = (self.number(&low)?, self.number(&high)?);
                    let (from, to) =
                        (self.compare(CompareOp::Ge, a, low)?, self.compare(CompareOp::Le, a, high)?);
                    let both = self.op(Code::And, &[from, to]);
                    found = self.op(Code::Or, &[found, both]);
                }
                Some(Val::Truth(found))
            }
            _ => None,
        }
    }

    /// The operations that these values need.
    pub fn needed(&self, values: impl Iterator<Item = Val>) -> Vec<Draft> {
        let mut writers: FxHashMap<u32, usize> = FxHashMap::default();
        writers.extend(self.drafts.iter().enumerate().map(|(at, draft)| (draft.out, at)));
        // What may go wrong does so even where only its being there is asked for.
        let may_fail = self.drafts.iter().filter(|draft| draft.code.may_fail()).map(|draft| draft.out);
        let mut todo: Vec<u32> = values.flat_map(Val::registers).chain(may_fail).collect();
        let mut needed = vec![false; self.drafts.len()];
        while let Some(register) = todo.pop() {
            if let Some(&writer) = writers.get(&register)
                && !std::mem::replace(&mut needed[writer], true)
            {
                todo.extend(self.drafts[writer].parts.iter().map(|part| part.register));
            }
        }
        let mut drafts: Vec<Draft> =
            self.drafts.iter().zip(needed).filter(|(_, needed)| *needed).map(|(draft, _)| *draft).collect();
        drafts.sort_by_key(|draft| draft.stage);
        drafts
    }
}
