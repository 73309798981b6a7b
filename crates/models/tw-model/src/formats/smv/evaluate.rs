//! Evaluation with three truth values: what depends on variables without a value is unknown.

use super::explore::Stop;
use super::program::{ExprId, Instr, Program, Val};
use super::syntax::{Error, Op};

/// Stands for a variable without a value.
pub(super) const UNSET: u32 = u32::MAX;

/// Most members of a set that are told one by one.
const MOST_MEMBERS: usize = 1 << 20;

/// Evaluates expressions of a program.
pub(super) struct Machine<'p> {
    pub program: &'p Program,
    /// Steps that may still be taken.
    pub work: u64,
    stack: Vec<Val>,
    members: Vec<Val>,
    faults: Vec<Error>,
    defines: Vec<Val>,
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, work: u64) -> Self {
        let defines = vec![Val::Unknown; 2 * program.defines.len()];
        Self { program, work, stack: Vec::new(), members: Vec::new(), faults: Vec::new(), defines }
    }

    /// Takes a number of steps.
    pub fn spend(&mut self, steps: u64) -> Result<(), Stop> {
        self.work = self.work.checked_sub(steps).ok_or(Stop::work())?;
        Ok(())
    }

    /// What an expression is worth.
    pub fn value(&mut self, expr: ExprId, slots: &[u32]) -> Result<Val, Stop> {
        let program = self.program;
        let expr = &program.exprs[expr as usize];
        self.members.clear();
        self.faults.clear();
        for &define in &expr.needs {
            let body = program.defines[define as usize / 2].exprs[define as usize % 2];
            let body = &program.exprs[body.unwrap_or(0) as usize];
            self.defines[define as usize] = match self.run(body.start, body.end, slots) {
                Ok(value) => value,
                // It matters if it is asked for.
                Err(Stop::At(error)) => {
                    self.faults.push(error);
                    Val::Fault(self.faults.len() as u32 - 1)
                }
                Err(stop) => return Err(stop),
            };
        }
        self.run(expr.start, expr.end, slots)
    }

    /// Whether an expression holds; `None` if that is not known yet.
    pub fn truth(&mut self, expr: ExprId, slots: &[u32]) -> Result<Option<bool>, Stop> {
        let at = self.program.places[self.program.exprs[expr as usize].start as usize];
        let value = self.value(expr, slots)?;
        truth(value, at)
    }

    /// The members of a set, or the value itself.
    pub fn members(&mut self, value: Val, at: u32) -> Result<Vec<Val>, Stop> {
        Ok(match value {
            Val::Set(start, count) => self.members[start as usize..][..count as usize].to_vec(),
            Val::Span(low, high) => {
                let size = (i128::from(high) - i128::from(low) + 1).max(0);
                if size > MOST_MEMBERS as i128 {
                    return Err(fault(
                        at,
                        format!("found a set of {size} values, expected at most {MOST_MEMBERS}"),
                    ));
                }
                self.spend(size as u64)?;
                (low..=high).map(Val::Int).collect()
            }
            value => vec![value],
        })
    }

    fn run(&mut self, start: u32, end: u32, slots: &[u32]) -> Result<Val, Stop> {
        let bottom = self.stack.len();
        let result = self.steps(start, end, slots);
        let value = self.pop();
        self.stack.truncate(bottom);
        result.map(|()| value)
    }

    fn steps(&mut self, start: u32, end: u32, slots: &[u32]) -> Result<(), Stop> {
        let program = self.program;
        let mut at = start;
        while at < end {
            self.spend(1)?;
            let place = program.places[at as usize];
            let instr = program.code[at as usize];
            at += 1;
            match instr {
                Instr::Push(value) => self.stack.push(value),
                Instr::Slot(slot) => {
                    let variable = &program.variables[slot as usize % program.variables.len()];
                    let code = slots[slot as usize];
                    self.stack.push(if code == UNSET { Val::Unknown } else { variable.value(code) });
                }
                Instr::Define(define) => match self.defines[define as usize] {
                    Val::Fault(index) => {
                        let error = &self.faults[index as usize];
                        return Err(fault(error.at, error.message.clone()));
                    }
                    value => self.stack.push(value),
                },
                Instr::Unary(op) => {
                    let value = self.pop();
                    self.stack.push(unary(op, value, place)?);
                }
                Instr::Binary(op) => {
                    let (right, left) = (self.pop(), self.pop());
                    let value = self.binary(op, left, right, place)?;
                    self.stack.push(value);
                }
                Instr::Decides(op, target) => {
                    let left = truth(self.pop(), place)?;
                    let decided = match (op, left) {
                        (Op::And, Some(false)) => Some(false),
                        (Op::Or, Some(true)) | (Op::Implies, Some(false)) => Some(true),
                        _ => None,
                    };
                    self.stack.push(decided.or(left).map_or(Val::Unknown, Val::Bool));
                    if decided.is_some() {
                        at = target;
                    }
                }
                Instr::Test(otherwise, done) => match truth(self.pop(), place)? {
                    Some(true) => {}
                    Some(false) => at = otherwise,
                    None => {
                        self.stack.push(Val::Unknown);
                        at = done;
                    }
                },
                Instr::Jump(target) => at = target,
                Instr::Nothing => {
                    return Err(fault(place, "found no case that applies, expected one, as `TRUE : …`"));
                }
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> Val {
        self.stack.pop().unwrap_or(Val::Unknown)
    }

    pub fn binary(&mut self, op: Op, left: Val, right: Val, at: u32) -> Result<Val, Stop> {
        use Op::{
            Add, And, Div, Eq, Ge, Gt, Iff, Implies, In, Le, Lt, Mod, Mul, Ne, Or, Range, Sub, Union, Xnor,
            Xor,
        };
        match op {
            And | Or | Implies | Xor | Xnor | Iff => {
                let (left, right) = (truth(left, at)?, truth(right, at)?);
                let value = match op {
                    And => and(left, right),
                    Or => and(left.map(|l| !l), right.map(|r| !r)).map(|both| !both),
                    Implies => and(left, right.map(|r| !r)).map(|both| !both),
                    Xor => left.zip(right).map(|(l, r)| l != r),
                    _ => left.zip(right).map(|(l, r)| l == r),
                };
                Ok(value.map_or(Val::Unknown, Val::Bool))
            }
            Eq | Ne => {
                Ok(equal(left, right, at)?.map_or(Val::Unknown, |equal| Val::Bool(equal == (op == Eq))))
            }
            In => self.member(left, right, at),
            Union => self.union(left, right, at),
            _ => {
                if left == Val::Unknown || right == Val::Unknown {
                    return Ok(Val::Unknown);
                }
                let (l, r) = (int(left, at)?, int(right, at)?);
                let result = match op {
                    Lt => return Ok(Val::Bool(l < r)),
                    Le => return Ok(Val::Bool(l <= r)),
                    Gt => return Ok(Val::Bool(l > r)),
                    Ge => return Ok(Val::Bool(l >= r)),
                    Range => return Ok(Val::Span(l, r)),
                    Add => l.checked_add(r),
                    Sub => l.checked_sub(r),
                    Mul => l.checked_mul(r),
                    Div | Mod if r == 0 => {
                        return Err(fault(at, "found a division by 0, expected another divisor"));
                    }
                    Div => l.checked_div(r),
                    Mod => l.checked_rem(r),
                    _ => None,
                };
                let beyond = || fault(at, "found a number beyond 64 bits, expected a smaller one");
                Ok(Val::Int(result.ok_or_else(beyond)?))
            }
        }
    }

    fn member(&mut self, value: Val, set: Val, at: u32) -> Result<Val, Stop> {
        match (value, set) {
            (Val::Unknown, _) | (_, Val::Unknown) => Ok(Val::Unknown),
            (Val::Int(value), Val::Span(low, high)) => Ok(Val::Bool((low..=high).contains(&value))),
            (Val::Set(..) | Val::Span(..), _) => {
                // A set is in another when each of its members is.
                for member in self.members(value, at)? {
                    if self.member(member, set, at)? == Val::Bool(false) {
                        return Ok(Val::Bool(false));
                    }
                }
                Ok(Val::Bool(true))
            }
            _ => {
                for member in self.members(set, at)? {
                    self.spend(1)?;
                    if equal(value, member, at)? == Some(true) {
                        return Ok(Val::Bool(true));
                    }
                }
                Ok(Val::Bool(false))
            }
        }
    }

    fn union(&mut self, left: Val, right: Val, at: u32) -> Result<Val, Stop> {
        if left == Val::Unknown || right == Val::Unknown {
            return Ok(Val::Unknown);
        }
        let right = self.members(right, at)?;
        // A set that was made last grows in place: `{a, b, …}` is linear.
        let start = match left {
            Val::Set(start, count) if (start + count) as usize == self.members.len() => start as usize,
            _ => {
                let left = self.members(left, at)?;
                let start = self.members.len();
                self.spend(left.len() as u64)?;
                self.members.extend(left);
                start
            }
        };
        self.spend(right.len() as u64)?;
        self.members.extend(right);
        if self.members.len() > 4 * MOST_MEMBERS {
            return Err(fault(at, format!("found a set of many values, expected at most {MOST_MEMBERS}")));
        }
        Ok(Val::Set(start as u32, (self.members.len() - start) as u32))
    }
}

/// An error with a place.
pub(super) fn fault(at: u32, message: impl Into<String>) -> Stop {
    Stop::At(Error::new(at, message))
}

fn kind(value: Val) -> &'static str {
    match value {
        Val::Unknown | Val::Fault(_) => "nothing known",
        Val::Bool(_) => "a truth value",
        Val::Int(_) => "a number",
        Val::Symbol(_) => "a symbol",
        Val::Set(..) | Val::Span(..) => "a set",
    }
}

pub(super) fn truth(value: Val, at: u32) -> Result<Option<bool>, Stop> {
    match value {
        Val::Bool(value) => Ok(Some(value)),
        Val::Int(value @ (0 | 1)) => Ok(Some(value == 1)),
        Val::Unknown => Ok(None),
        _ => Err(fault(at, format!("found {}, expected a truth value", kind(value)))),
    }
}

fn int(value: Val, at: u32) -> Result<i64, Stop> {
    match value {
        Val::Int(value) => Ok(value),
        _ => Err(fault(at, format!("found {}, expected a number", kind(value)))),
    }
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Whether two values are one; 0 and 1 are also truth values.
fn equal(left: Val, right: Val, at: u32) -> Result<Option<bool>, Stop> {
    match (left, right) {
        (Val::Unknown, _) | (_, Val::Unknown) => Ok(None),
        (Val::Bool(truth), Val::Int(number)) | (Val::Int(number), Val::Bool(truth)) => {
            Ok(Some(number == i64::from(truth)))
        }
        (Val::Bool(_), Val::Symbol(_)) | (Val::Symbol(_), Val::Bool(_)) => {
            Err(fault(at, "found a symbol compared with a truth value, expected values of one type"))
        }
        (Val::Set(..) | Val::Span(..), _) | (_, Val::Set(..) | Val::Span(..)) => {
            Err(fault(at, "found a set, expected one value; `in` asks for a member"))
        }
        _ => Ok(Some(left == right)),
    }
}

pub(super) fn unary(op: Op, value: Val, at: u32) -> Result<Val, Stop> {
    if op == Op::Not {
        return Ok(truth(value, at)?.map_or(Val::Unknown, |value| Val::Bool(!value)));
    }
    if value == Val::Unknown {
        return Ok(Val::Unknown);
    }
    let negated = int(value, at)?.checked_neg();
    Ok(Val::Int(negated.ok_or_else(|| fault(at, "found a number beyond 64 bits, expected a smaller one"))?))
}
