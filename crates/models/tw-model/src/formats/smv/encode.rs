//! Programs as sets: what must hold of initial states and of transitions becomes decision diagrams over the bits of the
//! variables. An expression is the list of values it can have, each with the valuations that give it (`guarded`).
//!
//! What a search would run into (a value outside a type, a division by 0, no case that applies) is a set too. If a state
//! that can be reached is in it, the program is left to the search, which knows what to say.

mod guarded;

use super::evaluate::Machine;
use super::explore::{Stop, typed};
use super::program::{Check, Define, Generator, Indexed, Plan, Problem, Program, Val};
use super::search::mixed;
use crate::symbolic::{Bdd, Bits, Exhausted, Known, Levels, Relation, Store, Symbolic, cube};
use guarded::Guarded;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Most bits of a state; operations recurse as deep.
const MOST_BITS: u32 = 512;
/// Most rows of a table that is written out.
pub(super) const MOST_ROWS: usize = 20_000;
/// Steps of evaluation.
const WORK: u64 = 50_000_000;

/// Why a program is not told as sets.
#[derive(Debug)]
pub(super) enum Refused {
    /// It can be by a search alone: what stands in the way.
    Named(String),
    /// It has no states at all.
    Empty,
}

impl From<Exhausted> for Refused {
    fn from(_: Exhausted) -> Self {
        Refused::Named("its decision diagrams are larger than the limit".into())
    }
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Self {
        Refused::Named(match stop {
            Stop::At(error) => error.message,
            Stop::TooMuch(message) | Stop::Unfit(message) => message,
        })
    }
}

pub(super) struct Encoder<'p> {
    program: &'p Program,
    machine: Machine<'p>,
    store: Store,
    bits: Vec<Bits>,
    /// Variables by slot, and definitions now and one step later, as far as they were asked for.
    slots: Vec<Option<Rc<Guarded>>>,
    defines: Vec<Option<Rc<Guarded>>>,
    /// Where something cannot be computed, and its place in the text.
    faults: Vec<(Bdd, u32)>,
}

/// The program as sets.
pub(super) fn encode(program: &Program) -> Result<Symbolic, Refused> {
    let mut encoder = Encoder::new(program)?;
    let count = encoder.bits.iter().map(|bits| bits.first + bits.width).max().unwrap_or(0);
    let parts = encoder.problem(&program.init)?;
    let initial = parts.into_iter().try_fold(Bdd::TRUE, |all, part| encoder.store.and(all, part))?;
    encoder.computable(Bdd::TRUE)?;
    if initial.is_empty() {
        return Err(Refused::Empty);
    }
    let parts = encoder.problem(&program.trans)?;
    let relation = Relation::new(&mut encoder.store, parts, &Levels::pairs(count))?;
    let known = program.variables.iter().zip(&encoder.bits).map(|(slot, &bits)| Known {
        name: slot.name.clone(),
        domain: slot.domain.clone(),
        bits: Some(bits),
        sets: Vec::new(),
        of: None,
    });
    let store = std::mem::take(&mut encoder.store);
    let mut space = Symbolic::new(store, known.collect(), initial, relation)?;
    std::mem::swap(&mut encoder.store, &mut space.store);
    encoder.computable(space.states)?;
    for define in program.defines.iter().filter(|define| !define.next) {
        let found = encoder.defined(define, space.states)?;
        space.known.extend(found);
    }
    space.store = encoder.store;
    Ok(space)
}

impl<'p> Encoder<'p> {
    fn new(program: &'p Program) -> Result<Self, Refused> {
        let mut first = 0;
        let bits: Vec<Bits> = program
            .variables
            .iter()
            .map(|slot| {
                let bits = Bits::of(first, slot.size);
                first += bits.width;
                bits
            })
            .collect();
        if first > MOST_BITS {
            return Err(Refused::Named(format!(
                "its states take {first} bits, and {MOST_BITS} are the limit"
            )));
        }
        Ok(Self {
            program,
            machine: Machine::new(program, WORK),
            store: Store::default(),
            bits,
            slots: vec![None; 2 * program.variables.len()],
            defines: vec![None; 2 * program.defines.len()],
            faults: Vec::new(),
        })
    }

    /// That everything can be computed in these states.
    fn computable(&mut self, states: Bdd) -> Result<(), Refused> {
        for (fault, at) in std::mem::take(&mut self.faults) {
            if !self.store.and(fault, states)?.is_empty() {
                let line = self.program.lines.partition_point(|&line| line < at) + 1;
                let what = format!("the expression on line {line} cannot be computed for some values");
                return Err(Refused::Named(what));
            }
        }
        Ok(())
    }

    /// A conjunction of sets: what a problem asks of its variables.
    fn problem(&mut self, problem: &Problem) -> Result<Vec<Bdd>, Refused> {
        let later = problem.base > 0;
        let mut parts = Vec::new();
        for variable in 0..self.bits.len() {
            let valid = self.valid(variable, later)?;
            parts.extend(Some(valid).filter(|&valid| valid != Bdd::TRUE));
        }
        match problem.tables.first().filter(|_| problem.leads) {
            None => parts.extend(self.plan(&problem.common, problem)?),
            Some(table) => {
                let rows = self.rows(&table.shapes)?;
                let mut any = self
                    .plan(&problem.common, problem)?
                    .into_iter()
                    .try_fold(rows, |all, part| self.store.and(all, part))?;
                for plan in &problem.plans {
                    let parts = self.plan(plan, problem)?;
                    let all = parts.into_iter().try_fold(Bdd::TRUE, |all, part| self.store.and(all, part))?;
                    any = self.store.or(any, all)?;
                }
                parts.push(any);
            }
        }
        Ok(parts)
    }

    fn plan(&mut self, plan: &Plan, problem: &Problem) -> Result<Vec<Bdd>, Refused> {
        let mut parts = Vec::new();
        for (&variable, generator) in plan.order.iter().zip(&plan.generators) {
            if let Some(generator) = generator {
                parts.push(self.generated(*generator, variable as usize, problem.base > 0)?);
            }
        }
        // A check stands at each of its variables.
        let mut met = FxHashSet::default();
        for &check in plan.guards.iter().chain(plan.checks.iter().flatten()) {
            if met.insert(check) {
                parts.push(self.check(check, problem)?);
            }
        }
        Ok(parts)
    }

    fn check(&mut self, check: Check, problem: &Problem) -> Result<Bdd, Refused> {
        match check {
            Check::Expr(expr) => {
                let value = self.expression(expr)?;
                let (holds, _, fault) = self.truth(&value)?;
                self.faults.push((fault, self.place(expr)));
                Ok(holds)
            }
            Check::Member(variable, expr) => {
                let generator = Generator { expr, strict: false, single: false, at: self.place(expr) };
                self.generated(generator, variable as usize, problem.base > 0)
            }
            Check::Rows(table) => self.rows(&problem.tables[table as usize].shapes),
        }
    }

    fn place(&self, expr: u32) -> u32 {
        self.program.places[self.program.exprs[expr as usize].start as usize]
    }

    /// That a variable has one of the values that an expression is worth.
    fn generated(&mut self, generator: Generator, variable: usize, later: bool) -> Result<Bdd, Refused> {
        let value = self.expression(generator.expr)?;
        self.faults.push((value.fault, generator.at));
        let slot = &self.program.variables[variable];
        let mut all = Bdd::FALSE;
        for &(value, when) in &value.cases {
            let is_set = matches!(value, Val::Set(..) | Val::Span(..));
            let mut wrong = generator.single && is_set;
            let mut codes = Vec::new();
            for member in self.machine.members(value, generator.at)? {
                match slot.code(member) {
                    Some(code) => codes.push(code),
                    None => wrong |= generator.strict || generator.single && mixed(slot, member),
                }
            }
            if wrong {
                self.faults.push((when, generator.at));
                continue;
            }
            let mut any = Bdd::FALSE;
            for code in codes {
                let one = cube(&mut self.store, self.bits[variable].levels(code, later))?;
                any = self.store.or(any, one)?;
            }
            any = self.store.and(any, when)?;
            all = self.store.or(all, any)?;
        }
        Ok(all)
    }

    /// One of the rows of a table.
    fn rows(&mut self, shapes: &[Indexed]) -> Result<Bdd, Refused> {
        let mut any = Bdd::FALSE;
        for shape in shapes {
            let width = shape.known.len() + shape.filled.len();
            let count = shape.codes.len() / width.max(1);
            if count > MOST_ROWS {
                return Err(Refused::Named(format!("a table of {count} rows; {MOST_ROWS} are the limit")));
            }
            for row in shape.codes.chunks(width.max(1)) {
                let slots = shape.known.iter().chain(&shape.filled);
                let mut levels: Vec<(u32, bool)> = slots
                    .zip(row)
                    .flat_map(|(&slot, &code)| {
                        let (variable, later) = self.split(slot);
                        self.bits[variable].levels(code, later)
                    })
                    .collect();
                levels.sort_unstable();
                let one = cube(&mut self.store, levels.into_iter())?;
                any = self.store.or(any, one)?;
            }
        }
        Ok(any)
    }

    /// The variable of a slot, and whether it is that of the next state.
    fn split(&self, slot: u32) -> (usize, bool) {
        let (slot, count) = (slot as usize, self.bits.len());
        (slot % count, slot >= count)
    }

    /// The valuations in which the bits of a variable are the number of a value.
    fn valid(&mut self, variable: usize, later: bool) -> Result<Bdd, Refused> {
        let size = self.program.variables[variable].size;
        let Some(last) = size.checked_sub(1) else { return Ok(Bdd::FALSE) };
        // From the lowest bit up: at most the bits of the last number.
        let levels: Vec<(u32, bool)> = self.bits[variable].levels(last, later).collect();
        let at_most = levels.into_iter().rev().try_fold(Bdd::TRUE, |rest, (level, one)| {
            let bit = self.store.bit(level)?;
            match one {
                true => {
                    let zero = self.store.not(bit)?;
                    self.store.or(zero, rest)
                }
                false => self.store.minus(rest, bit),
            }
        })?;
        Ok(at_most)
    }

    /// A definition as what is known of states; `None` if it is a set.
    fn defined(&mut self, define: &Define, states: Bdd) -> Result<Option<Known>, Refused> {
        let Some(expr) = define.exprs[0] else { return Ok(None) };
        let value = self.expression(expr)?;
        self.faults.push((value.fault, self.place(expr)));
        self.computable(states)?;
        let (mut values, mut sets) = (Vec::new(), Vec::new());
        for &(value, when) in &value.cases {
            let when = self.store.and(when, states)?;
            match value {
                _ if when.is_empty() => {}
                Val::Set(..) | Val::Span(..) => return Ok(None),
                _ => {
                    values.push(Some(value));
                    sets.push(when);
                }
            }
        }
        let (domain, codes) = typed(&values, self.program);
        let mut by_code = vec![Bdd::FALSE; domain.size() as usize];
        codes.into_iter().zip(sets).for_each(|(code, set)| by_code[code as usize] = set);
        let of = match (&define.table, self.program.exprs[expr as usize].slots.as_slice()) {
            (Some((variable, _)), _) | (None, [variable]) => Some(*variable as usize),
            _ => None,
        };
        let of = of.filter(|&variable| self.program.variables[variable].size <= 1 << 16);
        Ok(Some(Known { name: define.name.clone(), domain, bits: None, sets: by_code, of }))
    }
}
