//! Expressions as the values they can have, each with the valuations that give it.

use super::{Encoder, Refused};
use crate::formats::smv::evaluate::{truth, unary};
use crate::formats::smv::explore::Stop;
use crate::formats::smv::program::{ExprId, Instr, Val};
use crate::formats::smv::syntax::Op;
use crate::symbolic::{Bdd, cube};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Most values of an expression.
const MOST_CASES: usize = 1 << 12;

/// The values of an expression: for each of them the valuations that give it. Of no valuation there are two.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    pub cases: Vec<(Val, Bdd)>,
    /// Where it cannot be computed.
    pub fault: Bdd,
}

impl Default for Guarded {
    fn default() -> Self {
        Self { cases: Vec::new(), fault: Bdd::FALSE }
    }
}

/// A condition whose branches are being evaluated.
struct Choice {
    condition: Guarded,
    end: u32,
    then: Option<Guarded>,
}

/// A list of values in the making.
#[derive(Default)]
struct Gathered {
    places: FxHashMap<Val, usize>,
    value: Guarded,
}

impl Encoder<'_> {
    /// An expression.
    pub(super) fn expression(&mut self, expr: ExprId) -> Result<Rc<Guarded>, Refused> {
        let program = self.program;
        let expr = &program.exprs[expr as usize];
        for &need in &expr.needs {
            let body = program.defines[need as usize / 2].exprs[need as usize % 2];
            if let (None, Some(body)) = (&self.defines[need as usize], body) {
                let body = &program.exprs[body as usize];
                let value = self.run(body.start, body.end)?;
                self.defines[need as usize] = Some(Rc::new(value));
            }
        }
        Ok(Rc::new(self.run(expr.start, expr.end)?))
    }

    /// Where a value is true, where false, and where it is no truth value or none at all.
    pub(super) fn truth(&mut self, value: &Guarded) -> Result<(Bdd, Bdd, Bdd), Refused> {
        let (mut yes, mut no, mut fault) = (Bdd::FALSE, Bdd::FALSE, value.fault);
        for &(value, when) in &value.cases {
            let set = match truth(value, 0) {
                Ok(Some(true)) => &mut yes,
                Ok(_) => &mut no,
                Err(_) => &mut fault,
            };
            *set = self.store.or(*set, when)?;
        }
        Ok((yes, no, fault))
    }

    fn run(&mut self, start: u32, end: u32) -> Result<Guarded, Refused> {
        let program = self.program;
        let mut stack: Vec<Guarded> = Vec::new();
        let mut choices: Vec<Choice> = Vec::new();
        for at in start..=end {
            while let Some(Choice { condition, then: Some(then), .. }) =
                choices.pop_if(|choice| choice.end == at && choice.then.is_some())
            {
                let otherwise = stack.pop().unwrap_or_default();
                stack.push(self.choose(&condition, &then, &otherwise)?);
            }
            if at == end {
                break;
            }
            match program.code[at as usize] {
                Instr::Push(value) => {
                    stack.push(Guarded { cases: vec![(value, Bdd::TRUE)], fault: Bdd::FALSE })
                }
                Instr::Slot(slot) => stack.push(Guarded::clone(&*self.slot(slot)?)),
                Instr::Define(define) => {
                    let value = self.defines[define as usize].as_deref().cloned();
                    stack.push(value.unwrap_or(Guarded { cases: Vec::new(), fault: Bdd::TRUE }));
                }
                Instr::Unary(op) => {
                    let value = stack.pop().unwrap_or_default();
                    let mut gathered = Gathered::default();
                    gathered.value.fault = value.fault;
                    for (value, when) in value.cases {
                        self.add(&mut gathered, unary(op, value, 0), when)?;
                    }
                    stack.push(gathered.value);
                }
                Instr::Binary(op) => {
                    let (right, left) = (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                    stack.push(self.binary(op, &left, &right)?);
                }
                // What the left side decides alone is known to the operator, which comes after the right one.
                Instr::Decides(..) => {}
                Instr::Test(_, end) => {
                    let condition = stack.pop().unwrap_or_default();
                    choices.push(Choice { condition, end, then: None });
                }
                Instr::Jump(_) => {
                    let then = stack.pop();
                    if let Some(choice) = choices.last_mut() {
                        choice.then = then;
                    }
                }
                Instr::Nothing => stack.push(Guarded { cases: Vec::new(), fault: Bdd::TRUE }),
            }
        }
        Ok(stack.pop().unwrap_or_default())
    }

    fn slot(&mut self, slot: u32) -> Result<Rc<Guarded>, Refused> {
        if let Some(known) = &self.slots[slot as usize] {
            return Ok(known.clone());
        }
        let (variable, later) = self.split(slot);
        let program = self.program;
        let known = &program.variables[variable];
        if known.size as usize > MOST_CASES {
            let (name, size) = (&known.name, known.size);
            return Err(Refused::Named(format!("`{name}` has {size} values; {MOST_CASES} are the limit")));
        }
        let mut cases = Vec::with_capacity(known.size as usize);
        for code in 0..known.size {
            let when = cube(&mut self.store, self.bits[variable].levels(code, later))?;
            cases.push((known.value(code), when));
        }
        let value = Rc::new(Guarded { cases, fault: Bdd::FALSE });
        self.slots[slot as usize] = Some(value.clone());
        Ok(value)
    }

    /// Adds a value, or that there is none.
    fn add(&mut self, to: &mut Gathered, value: Result<Val, Stop>, when: Bdd) -> Result<(), Refused> {
        let value = match value {
            Ok(value) => value,
            Err(Stop::At(_)) => {
                to.value.fault = self.store.or(to.value.fault, when)?;
                return Ok(());
            }
            Err(stop) => return Err(stop.into()),
        };
        if when.is_empty() {
            return Ok(());
        }
        match to.places.get(&value) {
            Some(&place) => {
                let known = &mut to.value.cases[place].1;
                *known = self.store.or(*known, when)?;
            }
            None => {
                if to.value.cases.len() >= MOST_CASES {
                    let what = format!("an expression with more than {MOST_CASES} values");
                    return Err(Refused::Named(what));
                }
                to.places.insert(value, to.value.cases.len());
                to.value.cases.push((value, when));
            }
        }
        Ok(())
    }

    fn binary(&mut self, op: Op, left: &Guarded, right: &Guarded) -> Result<Guarded, Refused> {
        let mut gathered = Gathered::default();
        gathered.value.fault = left.fault;
        // Where the left side leaves something to the right one.
        let mut open = Bdd::FALSE;
        for &(l, when) in &left.cases {
            let decided = match (op, truth(l, 0)) {
                (Op::And, Ok(Some(false))) => Some(Val::Bool(false)),
                (Op::Or, Ok(Some(true))) | (Op::Implies, Ok(Some(false))) => Some(Val::Bool(true)),
                _ => None,
            };
            if let Some(decided) = decided {
                self.add(&mut gathered, Ok(decided), when)?;
                continue;
            }
            open = self.store.or(open, when)?;
            for &(r, also) in &right.cases {
                self.machine.spend(1)?;
                let when = self.store.and(when, also)?;
                if !when.is_empty() {
                    let value = self.machine.binary(op, l, r, 0);
                    self.add(&mut gathered, value, when)?;
                }
            }
        }
        let fault = self.store.and(open, right.fault)?;
        gathered.value.fault = self.store.or(gathered.value.fault, fault)?;
        Ok(gathered.value)
    }

    fn choose(
        &mut self,
        condition: &Guarded,
        then: &Guarded,
        otherwise: &Guarded,
    ) -> Result<Guarded, Refused> {
        let (yes, no, fault) = self.truth(condition)?;
        let mut gathered = Gathered::default();
        gathered.value.fault = fault;
        for (branch, chosen) in [(then, yes), (otherwise, no)] {
            for &(value, when) in &branch.cases {
                let when = self.store.and(when, chosen)?;
                self.add(&mut gathered, Ok(value), when)?;
            }
            let fault = self.store.and(branch.fault, chosen)?;
            gathered.value.fault = self.store.or(gathered.value.fault, fault)?;
        }
        Ok(gathered.value)
    }
}
