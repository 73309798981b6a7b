//! Arithmetic over whole numbers and reals, 64 positions at a time.
//!
//! A predicate such as `x + 2*y <= 3` becomes a list of steps over registers of 64 values. Beside its values a
//! register knows which are not null and which could not be computed (integer overflow): a branch of `if` that is
//! not taken raises no error, so errors are masks that flow like values do.

use super::leaf::{leaf, ranges_over_lists};
use super::pack::{gather, word};
use super::value::{accepts, order_int_real};
use tw_core::{Batch, Bits, Column, Position, Value};
use tw_ir::{ArithmeticOp, CompareOp, Node, NodeId, Program};

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Int,
    Real,
    Truth,
}

struct Register {
    kind: Kind,
    /// Which values are not null; of a truth value, the truth.
    word: u64,
    /// Which could not be computed.
    error: u64,
    ints: [i64; 64],
    reals: [f64; 64],
}

enum Step<'b> {
    /// Set once, before the first word.
    Constant,
    Ints(&'b [i64], &'b Bits),
    Reals(&'b [f64], &'b Bits),
    Leaf(Bits),
    Negate(usize),
    Abs(usize),
    Arithmetic(ArithmeticOp, usize, usize),
    Select(usize, usize, usize),
    Compare(CompareOp, usize, usize),
    /// Truth table: bit `2·a + b` is the result.
    Connect(u8, usize, usize),
}

/// A predicate compiled for the columns of one batch.
pub(super) struct Lanes<'b> {
    len: usize,
    steps: Vec<Step<'b>>,
    registers: Vec<Register>,
}

impl<'b> Lanes<'b> {
    /// Compiles the predicate that `order` lists (children first, itself last); `None` if it needs text, lists,
    /// or a mixture of kinds whose result has no one kind.
    pub(super) fn compile(program: &Program, batch: &'b Batch, order: &[NodeId]) -> Option<Self> {
        // A register takes a kilobyte: a term of enormous size goes one position at a time.
        const MOST_REGISTERS: usize = 1000;
        if order.len() > MOST_REGISTERS {
            return None;
        }
        let dag = &program.dag;
        let mut leaves: Vec<Option<Bits>> = order.iter().map(|_| None).collect();
        let mut needed = vec![false; order.len()];
        *needed.last_mut()? = true;
        for i in (0..order.len()).rev() {
            if needed[i] {
                leaves[i] = leaf(program, batch, order[i]);
                if leaves[i].is_none() {
                    for child in dag.node(order[i]).children() {
                        needed[order.binary_search(&child).ok()?] = true;
                    }
                }
            }
        }
        let mut lanes = Lanes { len: batch.len, steps: Vec::new(), registers: Vec::new() };
        let mut register_of = vec![usize::MAX; order.len()];
        for (i, &id) in order.iter().enumerate().filter(|(i, _)| needed[*i]) {
            register_of[i] = lanes.steps.len();
            if let Some(bits) = leaves[i].take() {
                lanes.add(Kind::Truth, Step::Leaf(bits));
                continue;
            }
            let register = |id: NodeId| order.binary_search(&id).map_or(usize::MAX, |i| register_of[i]);
            lanes.compile_node(program, batch, dag.node(id), register)?;
        }
        Some(lanes)
    }

    fn compile_node(
        &mut self,
        program: &Program,
        batch: &'b Batch,
        node: Node,
        register: impl Fn(NodeId) -> usize,
    ) -> Option<()> {
        let unary = |a: NodeId| register(a);
        let kind = |lanes: &Self, r: usize| lanes.registers[r].kind;
        match node {
            Node::Constant(constant) => match program.dag.constants[constant as usize] {
                Value::Int(value) => {
                    self.add(Kind::Int, Step::Constant).ints = [value; 64];
                }
                Value::Real(value) => {
                    self.add(Kind::Real, Step::Constant).reals = [value; 64];
                }
                _ => return None,
            },
            Node::Slot(slot) if !ranges_over_lists(program, slot) => match &batch.slots[slot as usize] {
                Column::Int { values, valid } => {
                    self.add(Kind::Int, Step::Ints(values, valid));
                }
                Column::Real { values, valid } => {
                    self.add(Kind::Real, Step::Reals(values, valid));
                }
                _ => return None,
            },
            Node::Negate(a) | Node::Abs(a) => {
                let a = unary(a);
                let kind = kind(self, a);
                let step = if matches!(node, Node::Negate(_)) { Step::Negate(a) } else { Step::Abs(a) };
                (kind != Kind::Truth).then(|| self.add(kind, step))?;
            }
            Node::Arithmetic(op, a, b) => {
                let (a, b) = (register(a), register(b));
                let kind = match (op, kind(self, a), kind(self, b)) {
                    (_, Kind::Truth, _) | (_, _, Kind::Truth) => return None,
                    (ArithmeticOp::Div, ..) => Kind::Real,
                    (_, x, y) if x == y => x,
                    // The smaller of an integer and a real keeps its own kind, which differs by position.
                    (ArithmeticOp::Min | ArithmeticOp::Max, ..) => return None,
                    _ => Kind::Real,
                };
                self.add(kind, Step::Arithmetic(op, a, b));
            }
            Node::IfThenElse(condition, a, b) => {
                let (condition, a, b) = (register(condition), register(a), register(b));
                let kinds = (kind(self, condition), kind(self, a), kind(self, b));
                if kinds.0 != Kind::Truth || kinds.1 != kinds.2 {
                    return None;
                }
                self.add(kinds.1, Step::Select(condition, a, b));
            }
            Node::Compare(op, a, b) => {
                let (a, b) = (register(a), register(b));
                if kind(self, a) == Kind::Truth || kind(self, b) == Kind::Truth {
                    return None;
                }
                self.add(Kind::Truth, Step::Compare(op, a, b));
            }
            Node::Bool(value) => {
                self.add(Kind::Truth, Step::Constant).word = if value { u64::MAX } else { 0 };
            }
            Node::Not(a) => self.connect(0b0011, unary(a), unary(a))?,
            Node::And(a, b) => self.connect(0b1000, register(a), register(b))?,
            Node::Or(a, b) => self.connect(0b1110, register(a), register(b))?,
            Node::Xor(a, b) => self.connect(0b0110, register(a), register(b))?,
            Node::Implies(a, b) => self.connect(0b1011, register(a), register(b))?,
            Node::Iff(a, b) => self.connect(0b1001, register(a), register(b))?,
            _ => return None,
        }
        Some(())
    }

    fn add(&mut self, kind: Kind, step: Step<'b>) -> &mut Register {
        self.steps.push(step);
        self.registers.push(Register { kind, word: u64::MAX, error: 0, ints: [0; 64], reals: [0.0; 64] });
        self.registers.last_mut().expect("just pushed")
    }

    fn connect(&mut self, table: u8, a: usize, b: usize) -> Option<()> {
        let truths = self.registers[a].kind == Kind::Truth && self.registers[b].kind == Kind::Truth;
        truths.then(|| self.add(Kind::Truth, Step::Connect(table, a, b))).map(|_| ())
    }

    /// The truth of the predicate at every position, or the first position where it cannot be computed.
    pub(super) fn run(self) -> Result<Bits, Position> {
        self.widest(&mut |_| ())
    }

    /// The values of a term of numbers at every position. Errors end it, as in [`Lanes::run`]; `None` if the term is
    /// a truth value.
    pub(super) fn numbers(self) -> Option<Result<Column, Position>> {
        let (kind, len) = (self.registers.last()?.kind, self.len);
        let full = len.div_ceil(64) * 64;
        match kind {
            Kind::Truth => None,
            Kind::Int => {
                let mut values = Vec::with_capacity(full);
                let valid = self.widest(&mut |register| values.extend_from_slice(&register.ints));
                values.truncate(len);
                Some(valid.map(|valid| Column::Int { values, valid }))
            }
            Kind::Real => {
                let mut values = Vec::with_capacity(full);
                let valid = self.widest(&mut |register| values.extend_from_slice(&register.reals));
                values.truncate(len);
                Some(valid.map(|valid| Column::Real { values, valid }))
            }
        }
    }

    fn widest(self, each: &mut impl FnMut(&Register)) -> Result<Bits, Position> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as just detected.
            return unsafe { self.run_avx2(each) };
        }
        self.run_portable(each)
    }

    /// The same loops compiled for 256-bit registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(self, each: &mut impl FnMut(&Register)) -> Result<Bits, Position> {
        self.run_portable(each)
    }

    /// Bits of the result (truth, or which values there are); `each` sees the result's register after every word.
    #[inline(always)]
    fn run_portable(mut self, each: &mut impl FnMut(&Register)) -> Result<Bits, Position> {
        let mut words = Vec::with_capacity(self.len.div_ceil(64));
        for at in 0..self.len.div_ceil(64) {
            for (i, step) in self.steps.iter().enumerate() {
                let (before, after) = self.registers.split_at_mut(i);
                after[0].compute(step, before, at);
            }
            let rest = self.len - at * 64;
            let inside = if rest < 64 { (1 << rest) - 1 } else { u64::MAX };
            let Some(result) = self.registers.last() else { break };
            let error = result.error & inside;
            if error != 0 {
                return Err(at * 64 + error.trailing_zeros() as usize);
            }
            words.push(result.word & inside);
            each(result);
        }
        Ok(Bits::from_words(words, self.len))
    }
}

impl Register {
    #[inline(always)]
    fn compute(&mut self, step: &Step<'_>, before: &[Register], at: usize) {
        match *step {
            Step::Constant => {}
            Step::Ints(values, valid) => {
                load(&mut self.ints, values, at);
                self.word = valid.words()[at];
            }
            Step::Reals(values, valid) => {
                load(&mut self.reals, values, at);
                self.word = valid.words()[at];
            }
            Step::Leaf(ref bits) => self.word = bits.words()[at],
            Step::Negate(a) | Step::Abs(a) => {
                let a = &before[a];
                self.word = a.word;
                self.error = a.error;
                let abs = matches!(step, Step::Abs(_));
                if self.kind == Kind::Int {
                    for (out, &x) in self.ints.iter_mut().zip(&a.ints) {
                        *out = if abs { x.wrapping_abs() } else { x.wrapping_neg() };
                    }
                    self.error |= word(&a.ints, |x| x == i64::MIN) & a.word;
                } else {
                    for (out, &x) in self.reals.iter_mut().zip(&a.reals) {
                        *out = if abs { x.abs() } else { -x };
                    }
                }
            }
            Step::Arithmetic(op, a, b) => self.arithmetic(op, &before[a], &before[b]),
            Step::Select(condition, a, b) => {
                let (condition, a, b) = (&before[condition], &before[a], &before[b]);
                let choose = |yes: u64, no: u64| condition.word & yes | !condition.word & no;
                self.word = choose(a.word, b.word);
                self.error = condition.error | choose(a.error, b.error);
                for i in 0..64 {
                    let from = if condition.word >> i & 1 == 1 { a } else { b };
                    self.ints[i] = from.ints[i];
                    self.reals[i] = from.reals[i];
                }
            }
            Step::Compare(op, a, b) => {
                let (a, b) = (&before[a], &before[b]);
                let truth = match (a.kind, b.kind) {
                    (Kind::Int, Kind::Int) => ordered(op, &a.ints, &b.ints),
                    // Integers of this size are reals, too.
                    (Kind::Int, _) | (_, Kind::Int) if a.ints_are_reals() && b.ints_are_reals() => {
                        ordered(op, &a.as_reals(), &b.as_reals())
                    }
                    (Kind::Int, _) => each(|i| accepts(op, order_int_real(a.ints[i], b.reals[i]))),
                    (_, Kind::Int) => each(|i| accepts(op, order_int_real(b.ints[i], a.reals[i]).reverse())),
                    _ => ordered(op, &a.reals, &b.reals),
                };
                self.error = a.error | b.error;
                self.word = truth & a.word & b.word;
            }
            Step::Connect(table, a, b) => {
                let (x, y) = (before[a].word, before[b].word);
                let row = |index: u32, word: u64| if table >> index & 1 == 1 { word } else { 0 };
                self.word = row(0, !x & !y) | row(1, !x & y) | row(2, x & !y) | row(3, x & y);
                self.error = before[a].error | before[b].error;
            }
        }
    }

    #[inline(always)]
    fn arithmetic(&mut self, op: ArithmeticOp, a: &Register, b: &Register) {
        self.word = a.word & b.word;
        self.error = a.error | b.error;
        if self.kind == Kind::Int {
            let mut overflow = [0u8; 64];
            // One loop per operation: a choice inside the loop would keep it from being vectorised.
            macro_rules! each_int {
                (|$a:ident, $b:ident| $result:expr) => {
                    for (i, overflow) in overflow.iter_mut().enumerate() {
                        let ($a, $b) = (a.ints[i], b.ints[i]);
                        let (value, over) = $result;
                        self.ints[i] = value;
                        *overflow = u8::from(over);
                    }
                };
            }
            match op {
                ArithmeticOp::Add => each_int!(|a, b| a.overflowing_add(b)),
                ArithmeticOp::Sub => each_int!(|a, b| a.overflowing_sub(b)),
                ArithmeticOp::Mul => each_int!(|a, b| a.overflowing_mul(b)),
                ArithmeticOp::Min => each_int!(|a, b| (a.min(b), false)),
                ArithmeticOp::Max => each_int!(|a, b| (a.max(b), false)),
                // Division never has whole numbers as its result; what is left is the remainder.
                ArithmeticOp::Rem | ArithmeticOp::Div => {
                    each_int!(|a, b| (if b == 0 { 0 } else { a.wrapping_rem(b) }, false));
                    self.word &= !word(&b.ints, |b| b == 0);
                }
            }
            self.error |= gather(&overflow) & self.word;
        } else {
            let (a, b) = (a.as_reals(), b.as_reals());
            macro_rules! each_real {
                (|$a:ident, $b:ident| $result:expr) => {
                    for i in 0..64 {
                        let ($a, $b) = (a[i], b[i]);
                        self.reals[i] = $result;
                    }
                };
            }
            match op {
                ArithmeticOp::Add => each_real!(|a, b| a + b),
                ArithmeticOp::Sub => each_real!(|a, b| a - b),
                ArithmeticOp::Mul => each_real!(|a, b| a * b),
                ArithmeticOp::Div => each_real!(|a, b| a / b),
                ArithmeticOp::Rem => each_real!(|a, b| a % b),
                ArithmeticOp::Min => each_real!(|a, b| if b < a { b } else { a }),
                ArithmeticOp::Max => each_real!(|a, b| if b > a { b } else { a }),
            }
            self.word &= word(&self.reals, f64::is_finite);
        }
    }

    /// Whether converting this register's integers to reals is exact (it holds none, or small ones).
    #[inline(always)]
    fn ints_are_reals(&self) -> bool {
        self.ints.iter().fold(0, |large, i| large | i.unsigned_abs()) < 1 << 53
    }

    #[inline(always)]
    fn as_reals(&self) -> [f64; 64] {
        if self.kind == Kind::Int { self.ints.map(|i| i as f64) } else { self.reals }
    }
}

fn load<T: Copy>(into: &mut [T; 64], values: &[T], at: usize) {
    let from = &values[at * 64..values.len().min(at * 64 + 64)];
    into[..from.len()].copy_from_slice(from);
}

#[inline(always)]
fn each(test: impl Fn(usize) -> bool) -> u64 {
    let mut bytes = [0u8; 64];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from(test(i));
    }
    gather(&bytes)
}

#[inline(always)]
fn ordered<T: PartialOrd + Copy>(op: CompareOp, a: &[T; 64], b: &[T; 64]) -> u64 {
    match op {
        CompareOp::Eq => each(|i| a[i] == b[i]),
        CompareOp::Ne => each(|i| a[i] != b[i]),
        CompareOp::Lt => each(|i| a[i] < b[i]),
        CompareOp::Le => each(|i| a[i] <= b[i]),
        CompareOp::Gt => each(|i| a[i] > b[i]),
        CompareOp::Ge => each(|i| a[i] >= b[i]),
    }
}
