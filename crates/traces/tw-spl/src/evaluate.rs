//! Values of expressions: a stack machine over the slots.

use crate::machine::{Array, Code, Op, Program};
use tw_diag::Span;

/// Elements kept of arrays without end, all together.
const MAX_ELEMENTS: usize = 1 << 24;

/// Why a step cannot be done.
#[derive(Debug)]
pub(crate) struct Fault {
    pub code: &'static str,
    pub message: String,
    pub span: Span,
}

pub(crate) type Done<T> = Result<T, Box<Fault>>;

pub(crate) fn fault<T>(code: &'static str, span: Span, message: impl Into<String>) -> Done<T> {
    Err(Box::new(Fault { code, message: message.into(), span }))
}

/// The values of all variables.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub slots: Vec<i64>,
    /// Elements of arrays without end, from the first one on.
    elements: Vec<Vec<i64>>,
    kept: usize,
    stack: Vec<i64>,
}

impl Memory {
    pub fn new(program: &Program) -> Done<Self> {
        let mut memory = Self {
            slots: vec![0; program.slots as usize],
            elements: vec![Vec::new(); program.arrays.len()],
            kept: 0,
            stack: Vec::new(),
        };
        for &(slot, code) in &program.initial {
            memory.slots[slot as usize] = memory.evaluate(program, code)?;
        }
        for array in &program.arrays {
            let Some((length, slot)) = array.bounded else { continue };
            for offset in 0..length {
                let index = array.low + i64::from(offset);
                memory.slots[(slot + offset) as usize] = memory.unassigned(program, array, index)?;
            }
        }
        Ok(memory)
    }

    /// The value of an expression.
    #[inline]
    pub fn evaluate(&mut self, program: &Program, code: Code) -> Done<i64> {
        if code.end - code.start == 1 {
            match program.ops[code.start as usize] {
                Op::Const(value) => return Ok(value),
                Op::Load(slot) => return Ok(self.slots[slot as usize]),
                _ => {}
            }
        }
        self.run(program, code, 0)
    }

    fn run(&mut self, program: &Program, code: Code, parameter: i64) -> Done<i64> {
        let base = self.stack.len();
        let result = self.steps(program, code, parameter);
        self.stack.truncate(base);
        result
    }

    fn pop(&mut self) -> i64 {
        // Lowering puts operands before operators; there is always one.
        self.stack.pop().unwrap_or_default()
    }

    fn steps(&mut self, program: &Program, code: Code, parameter: i64) -> Done<i64> {
        let mut at = code.start;
        while at < code.end {
            let op = program.ops[at as usize];
            at += 1;
            let value = match op {
                Op::Const(value) => value,
                Op::Load(slot) => self.slots[slot as usize],
                Op::Parameter => parameter,
                Op::Element(array) => {
                    let index = self.pop();
                    self.element(program, array, index, program.spans[at as usize - 1])?
                }
                Op::Not => 1 - self.pop(),
                Op::Negate => {
                    let value = self.pop();
                    match value.checked_neg() {
                        Some(value) => value,
                        None => return overflow(program, at - 1, format!("-({value})")),
                    }
                }
                Op::UnlessTrue(target) | Op::UnlessFalse(target) => {
                    let ends = i64::from(matches!(op, Op::UnlessFalse(_)));
                    match self.stack.last() {
                        Some(&value) if value == ends => at = target,
                        _ => {
                            self.pop();
                        }
                    }
                    continue;
                }
                _ => {
                    let right = self.pop();
                    let left = self.pop();
                    match calculate(op, left, right) {
                        Some(value) => value,
                        None if right == 0 && matches!(op, Op::Divide | Op::Remainder) => {
                            let message = format!("{left} is divided by zero");
                            return fault("division-by-zero", program.spans[at as usize - 1], message);
                        }
                        None => return overflow(program, at - 1, format!("{left} {} {right}", sign(op))),
                    }
                }
            };
            self.stack.push(value);
        }
        Ok(self.pop())
    }

    fn unassigned(&mut self, program: &Program, array: &Array, index: i64) -> Done<i64> {
        array.rule.map_or(Ok(0), |rule| self.run(program, rule, index))
    }

    /// The value of an element.
    pub fn element(&mut self, program: &Program, number: u32, index: i64, span: Span) -> Done<i64> {
        let array = &program.arrays[number as usize];
        let offset = offset(array, index, span)?;
        if let Some((_, slot)) = array.bounded {
            return Ok(self.slots[slot as usize + offset]);
        }
        match self.elements[number as usize].get(offset) {
            Some(value) => Ok(*value),
            None => self.unassigned(program, array, index),
        }
    }

    /// Assigns to an element.
    pub fn set_element(
        &mut self,
        program: &Program,
        number: u32,
        index: i64,
        value: i64,
        span: Span,
    ) -> Done<()> {
        let array = &program.arrays[number as usize];
        let offset = offset(array, index, span)?;
        if let Some((_, slot)) = array.bounded {
            self.slots[slot as usize + offset] = value;
            return Ok(());
        }
        if !array.read {
            return Ok(());
        }
        let length = self.elements[number as usize].len();
        if offset >= length {
            if offset - length >= MAX_ELEMENTS - self.kept {
                let message = format!(
                    "`{}[{index}]` is one element too many: arrays without end may hold {MAX_ELEMENTS} together",
                    array.name
                );
                return fault("program-limit", span, message);
            }
            self.kept += offset + 1 - length;
            for between in length..=offset {
                let value = self.unassigned(program, array, array.low + between as i64)?;
                self.elements[number as usize].push(value);
            }
        }
        self.elements[number as usize][offset] = value;
        Ok(())
    }
}

fn offset(array: &Array, index: i64, span: Span) -> Done<usize> {
    let length = array.bounded.map_or(i64::MAX, |(length, _)| i64::from(length));
    match index.checked_sub(array.low) {
        Some(offset) if offset >= 0 && offset < length => Ok(offset as usize),
        _ => {
            let high = array.bounded.map_or(String::new(), |_| (array.low + length - 1).to_string());
            let message = format!("the index {index} is outside `{}[{}..{high}]`", array.name, array.low);
            fault("index-range", span, message)
        }
    }
}

#[inline]
fn calculate(op: Op, left: i64, right: i64) -> Option<i64> {
    Some(match op {
        Op::Add => left.checked_add(right)?,
        Op::Subtract => left.checked_sub(right)?,
        Op::Multiply => left.checked_mul(right)?,
        Op::Divide => left.checked_div(right)?,
        Op::Remainder => left.checked_rem(right)?,
        Op::Eq => i64::from(left == right),
        Op::Ne => i64::from(left != right),
        Op::Lt => i64::from(left < right),
        Op::Le => i64::from(left <= right),
        Op::Gt => i64::from(left > right),
        _ => i64::from(left >= right),
    })
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Subtract => "-",
        Op::Multiply => "*",
        Op::Divide => "/",
        _ => "%",
    }
}

fn overflow<T>(program: &Program, at: u32, what: String) -> Done<T> {
    fault("overflow", program.spans[at as usize], format!("{what} does not fit an integer of 64 bits"))
}
