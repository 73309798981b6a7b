//! Finds valuations: variables get values one after another, and what can no longer hold is given up at once.

use super::evaluate::{Machine, UNSET, fault};
use super::explore::Stop;
use super::program::{Check, Generator, Plan, Problem, Program, Slot, Table, Val};
use crate::Domain;

/// Takes a valuation that was found.
pub(super) type Found<'f> = dyn FnMut(&[u32]) -> Result<(), Stop> + 'f;

/// Values to try for the variable at a place.
enum Source {
    Codes(u32, u32),
    List(Vec<u32>),
}

pub(super) struct Search<'p> {
    pub machine: Machine<'p>,
    /// Current variables, then next ones.
    pub slots: Vec<u32>,
    /// Values that a row gives, by variable.
    fixed: Vec<u32>,
    sources: Vec<Source>,
}

impl<'p> Search<'p> {
    pub fn new(program: &'p Program, work: u64) -> Self {
        let count = program.variables.len();
        Self {
            machine: Machine::new(program, work),
            slots: vec![UNSET; 2 * count],
            fixed: vec![UNSET; count],
            sources: Vec::new(),
        }
    }

    /// Finds all valuations of the problem's variables.
    pub fn solve(&mut self, problem: &Problem, found: &mut Found<'_>) -> Result<(), Stop> {
        let base = problem.base as usize;
        let count = self.fixed.len();
        self.slots[base..base + count].fill(UNSET);
        let Some(table) = problem.tables.first().filter(|_| problem.leads) else {
            return self.complete(&problem.common, problem, found);
        };
        let free = problem.common.is_free();
        for shape in &table.shapes {
            let known = self.slots.clone();
            for row in shape.matching(&known) {
                self.machine.spend(1)?;
                for (&slot, &code) in shape.filled.iter().zip(row) {
                    self.slots[slot as usize] = code;
                    self.fixed[slot as usize - base] = code;
                }
                if free && row.len() == count {
                    found(&self.slots[base..base + count])?;
                } else {
                    self.complete(&problem.common, problem, found)?;
                }
                for &slot in &shape.filled {
                    self.slots[slot as usize] = UNSET;
                    self.fixed[slot as usize - base] = UNSET;
                }
            }
        }
        problem.plans.iter().try_for_each(|plan| self.complete(plan, problem, found))
    }

    fn complete(&mut self, plan: &Plan, problem: &Problem, found: &mut Found<'_>) -> Result<(), Stop> {
        if !self.holds(&plan.guards, problem)? {
            return Ok(());
        }
        let base = problem.base as usize;
        let count = plan.order.len();
        if count == 0 {
            return found(&[]);
        }
        self.sources.clear();
        self.open(plan, base, 0)?;
        while let Some(source) = self.sources.last_mut() {
            let code = match source {
                Source::Codes(next, end) => (*next < *end).then(|| {
                    *next += 1;
                    *next - 1
                }),
                Source::List(codes) => codes.pop(),
            };
            let depth = self.sources.len() - 1;
            let variable = plan.order[depth] as usize;
            let Some(code) = code else {
                self.slots[base + variable] = self.fixed[variable];
                self.sources.pop();
                continue;
            };
            self.slots[base + variable] = code;
            self.machine.spend(1)?;
            if !self.holds(&plan.checks[depth], problem)? {
                continue;
            }
            if depth + 1 == count {
                found(&self.slots[base..base + count])?;
            } else {
                self.open(plan, base, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The values to try at a place.
    fn open(&mut self, plan: &Plan, base: usize, depth: usize) -> Result<(), Stop> {
        let variable = plan.order[depth] as usize;
        let fixed = self.fixed[variable];
        let source = match plan.generators[depth] {
            Some(generator) => {
                // While its own value is unset, so that nothing depends on what was tried before.
                let mut codes = self.generated(generator, variable)?;
                if fixed != UNSET {
                    codes.retain(|&code| code == fixed);
                    codes.truncate(1);
                }
                codes.reverse();
                Source::List(codes)
            }
            None if fixed != UNSET => Source::Codes(fixed, fixed + 1),
            None => Source::Codes(0, self.machine.program.variables[variable].size),
        };
        debug_assert!(fixed == UNSET || self.slots[base + variable] == fixed);
        self.sources.push(source);
        Ok(())
    }

    fn generated(&mut self, generator: Generator, variable: usize) -> Result<Vec<u32>, Stop> {
        let value = self.machine.value(generator.expr, &self.slots)?;
        let at = generator.at;
        let slot = &self.machine.program.variables[variable];
        match value {
            Val::Unknown => {
                return Err(fault(at, "found a value that depends on itself, expected one that does not"));
            }
            Val::Set(..) | Val::Span(..) if generator.single => {
                return Err(fault(at, "found a set, expected one value; `in` asks for a member"));
            }
            _ => {}
        }
        let members = self.machine.members(value, at)?;
        let mut codes = Vec::with_capacity(members.len());
        for member in members {
            match slot.code(member) {
                Some(code) => codes.push(code),
                None if generator.strict => {
                    let found = match member {
                        Val::Bool(truth) => if truth { "TRUE" } else { "FALSE" }.to_owned(),
                        Val::Int(number) => number.to_string(),
                        Val::Symbol(symbol) => self.machine.program.symbols[symbol as usize].to_string(),
                        _ => "a set".to_owned(),
                    };
                    let message = format!("found {found} for `{}`, expected a value of its type", slot.name);
                    return Err(fault(at, message));
                }
                None if generator.single && mixed(slot, member) => {
                    let message = "found a symbol compared with a truth value, expected values of one type";
                    return Err(fault(at, message));
                }
                None => {}
            }
        }
        Ok(codes)
    }

    /// Whether nothing of this is false as far as is known.
    fn holds(&mut self, checks: &[Check], problem: &Problem) -> Result<bool, Stop> {
        for &check in checks {
            let truth = match check {
                Check::Expr(expr) => self.machine.truth(expr, &self.slots)?,
                Check::Member(variable, expr) => {
                    let slot = problem.base as usize + variable as usize;
                    match (self.slots[slot], self.machine.value(expr, &self.slots)?) {
                        (UNSET, _) | (_, Val::Unknown) => None,
                        (code, value) => {
                            let members = self.machine.members(value, 0)?;
                            let variable = &self.machine.program.variables[variable as usize];
                            Some(members.into_iter().any(|member| variable.code(member) == Some(code)))
                        }
                    }
                }
                Check::Rows(table) => self.rows(&problem.tables[table as usize])?,
            };
            if truth == Some(false) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether some row agrees with the values: false, or perhaps. Once all have values, perhaps is certain.
    fn rows(&mut self, table: &Table) -> Result<Option<bool>, Stop> {
        for shape in &table.shapes {
            let slots = &self.slots;
            let mut tried = 0;
            let agrees = shape.matching(slots).any(|row| {
                tried += 1;
                shape.filled.iter().zip(row).all(|(&slot, &code)| {
                    matches!(slots[slot as usize], UNSET) || slots[slot as usize] == code
                })
            });
            self.machine.spend(tried)?;
            if agrees {
                return Ok(None);
            }
        }
        Ok(Some(false))
    }
}

/// Whether a variable and a value cannot be compared.
pub(super) fn mixed(slot: &Slot, value: Val) -> bool {
    match value {
        Val::Symbol(_) => slot.domain == Domain::Boolean,
        Val::Bool(_) => slot.values.iter().any(|value| matches!(value, Val::Symbol(_))),
        _ => false,
    }
}
