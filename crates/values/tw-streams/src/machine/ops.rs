//! What is done with cells: one operation on 64 positions at a time, or all operations on one position after the other.
//!
//! A cell is 64 bits: a real, a whole number, or a truth value as all ones or zeros. A real that is null is not a number: readers
//! and arithmetic deliver finite reals alone. Whole numbers have a second cell for whether they are there.

/// One value.
pub(super) type Cell = u64;

/// Positions that are computed at once.
pub(super) const BLOCK: usize = 64;

/// No real.
pub(super) const NULL: Cell = f64::NAN.to_bits();

/// Truth.
pub(super) const TRUE: Cell = u64::MAX;

/// Up to here, whole numbers stand for themselves among reals even after they were added up.
pub(super) const SMALL: u64 = 1 << 40;

/// Up to here, every whole number is a real.
pub(super) const EXACT: u64 = 1 << 53;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Copy,
    Select,
    And,
    Or,
    OrNot,
    Xor,
    Same,
    Not,
    Has,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Neg,
    Abs,
    Lt,
    Le,
    Eq,
    Ne,
    IntAdd,
    IntSub,
    IntMul,
    IntRem,
    IntMin,
    IntMax,
    IntNeg,
    IntAbs,
    IntLt,
    IntLe,
    IntEq,
    IntNe,
    /// A whole number, if its second cell says so, as the nearest real.
    ToReal,
    /// The same of one below [`SMALL`].
    ToRealSmall,
    /// The same of one below [`EXACT`].
    ToRealExact,
    /// A real that is a whole number.
    ToInt,
}

impl Code {
    /// Whether the definition may have to be asked.
    pub fn may_fail(self) -> bool {
        use Code::{IntAbs, IntAdd, IntMul, IntNeg, IntSub, ToInt, ToRealExact, ToRealSmall};
        matches!(self, IntAbs | IntAdd | IntMul | IntNeg | IntSub | ToInt | ToRealExact | ToRealSmall)
    }
}

/// An operation with the places of its cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub code: Code,
    pub out: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

#[inline(always)]
fn mask(holds: bool) -> Cell {
    u64::from(holds).wrapping_neg()
}

#[inline(always)]
fn finite(result: f64) -> Cell {
    if result.abs() < f64::INFINITY { result.to_bits() } else { NULL }
}

/// The result, and bits if the definition has to be asked: a whole number overflows or is too large for a real. Cells are asked
/// for where they are needed.
#[inline(always)]
fn apply(code: Code, cell: impl Fn(usize) -> Cell) -> (Cell, u64) {
    let (a, b) = (|| cell(0), || cell(1));
    let (x, y) = (|| f64::from_bits(cell(0)), || f64::from_bits(cell(1)));
    let (i, j) = (|| cell(0) as i64, || cell(1) as i64);
    let to_real = |most: u64| {
        let (number, valid) = (i(), b());
        let over = valid & mask(number.unsigned_abs() > most);
        (valid & (number as f64).to_bits() | !valid & NULL, over)
    };
    let result = match code {
        Code::Copy => a(),
        Code::Select => {
            let condition = a();
            condition & b() | !condition & cell(2)
        }
        Code::And => a() & b(),
        Code::Or => a() | b(),
        Code::OrNot => a() | !b(),
        Code::Xor => a() ^ b(),
        Code::Same => !(a() ^ b()),
        Code::Not => !a(),
        Code::Has => mask(!x().is_nan()),
        Code::Add => finite(x() + y()),
        Code::Sub => finite(x() - y()),
        Code::Mul => finite(x() * y()),
        Code::Div => finite(x() / y()),
        Code::Rem => finite(x() % y()),
        // The first of equals, and nothing if a side is null.
        Code::Min => {
            let (x, y) = (x(), y());
            (if x <= y || x.is_nan() { x } else { y }).to_bits()
        }
        Code::Max => {
            let (x, y) = (x(), y());
            (if x >= y || x.is_nan() { x } else { y }).to_bits()
        }
        Code::Neg => (-x()).to_bits(),
        Code::Abs => x().abs().to_bits(),
        Code::Lt => mask(x() < y()),
        Code::Le => mask(x() <= y()),
        Code::Eq => mask(x() == y()),
        Code::Ne => {
            let (x, y) = (x(), y());
            mask(x < y) | mask(x > y)
        }
        Code::IntAdd => {
            let (i, j) = (i(), j());
            let sum = i.wrapping_add(j);
            return (sum as u64, (((i ^ sum) & (j ^ sum)) >> 63) as u64);
        }
        Code::IntSub => {
            let (i, j) = (i(), j());
            let difference = i.wrapping_sub(j);
            return (difference as u64, (((i ^ j) & (i ^ difference)) >> 63) as u64);
        }
        Code::IntMul => {
            let (product, over) = i().overflowing_mul(j());
            return (product as u64, mask(over));
        }
        Code::IntRem => match j() {
            0 => 0,
            j => i().wrapping_rem(j) as u64,
        },
        Code::IntMin => i().min(j()) as u64,
        Code::IntMax => i().max(j()) as u64,
        Code::IntNeg => return (i().wrapping_neg() as u64, mask(i() == i64::MIN)),
        Code::IntAbs => return (i().wrapping_abs() as u64, mask(i() == i64::MIN)),
        Code::IntLt => mask(i() < j()),
        Code::IntLe => mask(i() <= j()),
        Code::IntEq => mask(a() == b()),
        Code::IntNe => mask(a() != b()),
        Code::ToReal => to_real(u64::MAX).0,
        Code::ToRealSmall => return to_real(SMALL),
        Code::ToRealExact => return to_real(EXACT),
        Code::ToInt => {
            const LIMIT: f64 = 9_223_372_036_854_775_808.0;
            let x = x();
            let whole = x.is_nan() || x.fract() == 0.0 && x.abs() < LIMIT;
            return ((x as i64) as u64, mask(!whole));
        }
    };
    (result, 0)
}

/// One position: every operation in turn.
#[inline(always)]
fn row(ops: &[Op], file: &mut [Cell], at: usize) -> u64 {
    let mut bad = 0;
    for op in ops {
        let places = [op.a, op.b, op.c];
        let (result, more) = apply(op.code, |part| file[places[part] as usize + at]);
        file[op.out as usize + at] = result;
        bad |= more;
    }
    bad
}

/// A full block: one operation, every position. What is read stands before what is written.
#[inline(always)]
fn block(op: &Op, file: &mut [Cell]) -> u64 {
    let (before, after) = file.split_at_mut(op.out as usize);
    let full = |place: u32| before.get(place as usize..).and_then(|cells| cells.first_chunk::<BLOCK>());
    let (Some(a), Some(b), Some(c)) = (full(op.a), full(op.b), full(op.c)) else { return TRUE };
    let Some(out) = after.first_chunk_mut::<BLOCK>() else { return TRUE };
    let parts = [a, b, c];
    macro_rules! each {
        ($($code:ident)*) => {
            match op.code {
                $(Code::$code => {
                    let mut bad = 0;
                    for i in 0..BLOCK {
                        let (result, more) = apply(Code::$code, |part| parts[part][i]);
                        out[i] = result;
                        bad |= more;
                    }
                    bad
                })*
            }
        };
    }
    each!(Copy Select And Or OrNot Xor Same Not Has Add Sub Mul Div Rem Min Max Neg Abs Lt Le Eq Ne IntAdd IntSub
        IntMul IntRem IntMin IntMax IntNeg IntAbs IntLt IntLe IntEq IntNe ToReal ToRealSmall ToRealExact ToInt)
}

/// Operations of one kind, in their order.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub ops: Vec<Op>,
    /// Whether a position needs what was computed for the one before.
    pub serial: bool,
}

/// Runs everything at `count` positions from `at` on; a full block begins at 0. Not 0 if the definition has to be asked.
pub(super) fn run(segments: &[Segment], file: &mut [Cell], at: usize, count: usize) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if count == BLOCK && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as just detected.
        return unsafe { run_avx2(segments, file, at, count) };
    }
    run_portable(segments, file, at, count)
}

/// The same loops compiled for 256-bit registers; the tests compare both with the definition.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(segments: &[Segment], file: &mut [Cell], at: usize, count: usize) -> u64 {
    run_portable(segments, file, at, count)
}

#[inline(always)]
fn run_portable(segments: &[Segment], file: &mut [Cell], at: usize, count: usize) -> u64 {
    let mut bad = 0;
    if at == 0 && count == BLOCK {
        for segment in segments {
            if segment.serial {
                for at in 0..BLOCK {
                    bad |= row(&segment.ops, file, at);
                }
            } else {
                for op in &segment.ops {
                    bad |= block(op, file);
                }
            }
        }
        return bad;
    }
    for at in at..at + count {
        for segment in segments {
            bad |= row(&segment.ops, file, at);
        }
    }
    bad
}
