//! How initial states and next states are to be found.
//!
//! What has to hold is a conjunction. Its largest disjunction leads the search, alternative by alternative; of the
//! alternatives, those that are plain valuations are rows of a table. The rest is checked as soon as the variables in it
//! have values, and what says `next(x) = e` outright is where the values of `x` come from.

use super::compile::{Compiler, Meaning};
use super::program::{Check, Generator, Plan, Problem, Table};
use super::syntax::{Constraint, Error, Id, Op, When};
use super::table::{Literal, Rows};

/// A conjunct, and whether it is asked one step later.
type Conjunct = (Id, bool);

/// Most conjuncts that alternatives repeat; beyond, the disjunction is checked as a whole.
const MOST_REPEATED: usize = 4_000_000;

/// Plans both searches.
pub(super) fn problems(compiler: &mut Compiler<'_>) -> Result<(), Error> {
    let (init, trans) =
        (std::mem::take(&mut compiler.module.init), std::mem::take(&mut compiler.module.trans));
    let invar = compiler.module.invar.clone();
    let count = compiler.program.variables.len() as u32;
    let mut problem = Planner::new(compiler, 0)?;
    problem.add(init, false);
    invar.iter().for_each(|&id| problem.conjuncts(id, false));
    let init = problem.plan()?;
    let mut problem = Planner::new(compiler, count)?;
    problem.add(trans, false);
    invar.iter().for_each(|&id| problem.conjuncts(id, true));
    let trans = problem.plan()?;
    compiler.program.init = init;
    compiler.program.trans = trans;
    Ok(())
}

struct Planner<'c, 't> {
    compiler: &'c mut Compiler<'t>,
    base: u32,
    conjuncts: Vec<Conjunct>,
    tables: Vec<Rows>,
    /// By variable: assignments.
    assigned: Vec<Option<Generator>>,
}

/// A conjunction in the making.
#[derive(Clone, Default)]
struct Parts {
    generators: Vec<Option<Generator>>,
    checks: Vec<Check>,
}

impl<'c, 't> Planner<'c, 't> {
    fn new(compiler: &'c mut Compiler<'t>, base: u32) -> Result<Self, Error> {
        let count = compiler.program.variables.len();
        let mut assigned = vec![None; count];
        let initial = base == 0;
        for at in 0..compiler.module.assigns.len() {
            let assign = compiler.module.assigns[at];
            let Meaning::Variable(variable) = compiler.meaning(assign.name, assign.at)? else {
                return Err(Error::new(
                    assign.at,
                    "found an assignment to what is no variable, expected a variable",
                ));
            };
            let expr = match (assign.when, initial) {
                (When::Init, true) | (When::Always, true) => {
                    compiler.expression(assign.value, false, false)?
                }
                (When::Next, false) => compiler.expression(assign.value, false, true)?,
                (When::Always, false) => compiler.expression(assign.value, true, true)?,
                _ => continue,
            };
            let place: &mut Option<Generator> = &mut assigned[variable as usize];
            if place.is_some() {
                return Err(Error::new(
                    assign.at,
                    "found a second assignment to this variable, expected one",
                ));
            }
            *place = Some(Generator { expr, strict: true, single: false, at: assign.at });
        }
        let mut conjuncts = Vec::new();
        for (at, assigned) in assigned.iter().enumerate() {
            let variable = &compiler.module.variables[at];
            if variable.frozen && !initial {
                let (name, place) = (variable.name, variable.at);
                if assigned.is_some() {
                    let message = "found a frozen variable that is assigned, expected only init of it";
                    return Err(Error::new(place, message));
                }
                let id = compiler.module.push(Op::Name, place, name, 0, 0);
                let next = compiler.module.push(Op::Next, place, id, 0, 0);
                conjuncts.push((compiler.module.push(Op::Eq, place, next, id, 0), false));
            }
        }
        Ok(Self { compiler, base, conjuncts, tables: Vec::new(), assigned })
    }

    fn add(&mut self, constraints: Vec<Constraint>, shifted: bool) {
        for constraint in constraints {
            match constraint {
                Constraint::Formula(id) => self.conjuncts(id, shifted),
                Constraint::Rows(rows) => self.tables.push(rows),
            }
        }
    }

    /// Adds the conjuncts of a formula.
    fn conjuncts(&mut self, id: Id, shifted: bool) {
        let parts = self.flat(id, Op::And);
        self.conjuncts.extend(parts.into_iter().map(|id| (id, shifted)));
    }

    /// The operands of a chain of one operator, in order.
    fn flat(&self, id: Id, op: Op) -> Vec<Id> {
        let (mut parts, mut stack) = (Vec::new(), vec![id]);
        while let Some(id) = stack.pop() {
            let node = self.compiler.module.node(id);
            if node.op == op {
                stack.extend([node.b, node.a]);
            } else if !(op == Op::And && node.op == Op::True) {
                parts.push(id);
            }
        }
        parts
    }

    /// The literal that a conjunct is: `None` if it is none, `Some(None)` if it is one that cannot hold.
    fn literal(&self, id: Id) -> Option<Option<Literal>> {
        let module = &self.compiler.module;
        let node = module.node(id);
        let term = |id: Id| {
            let node = module.node(id);
            let next = node.op == Op::Next;
            Some((next, self.compiler.variable(if next { node.a } else { id })?))
        };
        if node.op != Op::Eq {
            return None;
        }
        let (place, value) = match (term(node.a), self.compiler.constant(node.b)) {
            (Some(place), Some(value)) => (place, value),
            _ => (term(node.b)?, self.compiler.constant(node.a)?),
        };
        if place.0 && self.base == 0 {
            return None;
        }
        let code = self.compiler.program.variables[place.1 as usize].code(value);
        Some(code.map(|code| (place.0, place.1, code)))
    }

    /// The conjunct with most alternatives, the first of them; `None` if there is no disjunction.
    fn longest(&self) -> Option<usize> {
        let lengths = self.conjuncts.iter().map(|&(id, _)| match self.compiler.module.node(id).op {
            Op::Or => self.flat(id, Op::Or).len(),
            _ => 1,
        });
        let longest = lengths.enumerate().max_by_key(|&(at, length)| (length, usize::MAX - at));
        longest.filter(|&(_, length)| length > 1).map(|(at, _)| at)
    }

    /// The alternatives of a disjunction: those that are plain valuations, and the others.
    fn alternatives(&self, (id, shifted): Conjunct) -> (Rows, Vec<Vec<Conjunct>>) {
        let (mut rows, mut others) = (Rows::default(), Vec::new());
        for id in self.flat(id, Op::Or) {
            let parts = self.flat(id, Op::And);
            let literals: Option<Vec<Option<Literal>>> =
                if shifted { None } else { parts.iter().map(|&part| self.literal(part)).collect() };
            let written = match literals.map(|literals| literals.into_iter().collect::<Option<Vec<_>>>()) {
                Some(Some(mut literals)) => rows.push(&mut literals),
                // One of them cannot hold.
                Some(None) => true,
                None => false,
            };
            if !written {
                others.push(parts.into_iter().map(|id| (id, shifted)).collect());
            }
        }
        (rows, others)
    }

    fn plan(mut self) -> Result<Problem, Error> {
        let mut problem = Problem { base: self.base, ..Problem::default() };
        let mut alternatives: Vec<Vec<Conjunct>> = Vec::new();
        // The leading disjunction: a table that was read as one, or the longest of those that were written out.
        if let Some(table) = (0..self.tables.len()).max_by_key(|&at| self.tables[at].len()) {
            self.tables.swap(0, table);
            problem.leads = true;
        } else if let Some(at) = self.longest() {
            let (rows, others) = self.alternatives(self.conjuncts[at]);
            let repeated = self.conjuncts.len() + 8 * self.compiler.program.variables.len();
            if others.len().saturating_mul(repeated) < MOST_REPEATED {
                self.conjuncts.remove(at);
                self.tables.push(rows);
                alternatives = others;
                problem.leads = true;
            }
        }
        let tables = std::mem::take(&mut self.tables);
        problem.tables = tables.into_iter().map(|rows| Table::new(rows, self.base)).collect();

        let mut parts = Parts { generators: self.assigned.clone(), checks: Vec::new() };
        for at in 0..self.conjuncts.len() {
            self.part(self.conjuncts[at], &mut parts)?;
        }
        for at in usize::from(problem.leads)..problem.tables.len() {
            parts.checks.push(Check::Rows(at as u32));
        }
        for alternative in alternatives {
            let mut own = parts.clone();
            for conjunct in alternative {
                self.part(conjunct, &mut own)?;
            }
            problem.plans.push(self.finish(own, &problem.tables));
        }
        problem.common = self.finish(parts, &problem.tables);
        Ok(problem)
    }

    /// Adds a conjunct: where values come from, or what is checked.
    fn part(&mut self, (id, shifted): Conjunct, parts: &mut Parts) -> Result<(), Error> {
        let next = self.base > 0;
        let node = self.compiler.module.node(id);
        if matches!(node.op, Op::Eq | Op::In) {
            let sides = [(node.a, node.b), (node.b, node.a)];
            for (target, value) in sides.into_iter().take(if node.op == Op::Eq { 2 } else { 1 }) {
                let Some(variable) = self.target(target, shifted) else { continue };
                if parts.generators[variable as usize].is_some() {
                    continue;
                }
                let expr = self.compiler.expression(value, shifted, next)?;
                let slot = self.base + variable;
                if self.compiler.program.exprs[expr as usize].slots.binary_search(&slot).is_err() {
                    let (single, at) = (node.op == Op::Eq, node.at);
                    parts.generators[variable as usize] = Some(Generator { expr, strict: false, single, at });
                    return Ok(());
                }
            }
        }
        parts.checks.push(Check::Expr(self.compiler.expression(id, shifted, next)?));
        Ok(())
    }

    /// The variable that gets a value and is named here.
    fn target(&self, id: Id, shifted: bool) -> Option<u32> {
        let node = self.compiler.module.node(id);
        match (self.base > 0, shifted, node.op) {
            (true, false, Op::Next) => self.compiler.variable(node.a),
            (true, true, _) | (false, false, _) => self.compiler.variable(id),
            _ => None,
        }
    }

    /// Orders variables: those whose values come from somewhere as soon as that is known, small types before large.
    fn finish(&self, parts: Parts, tables: &[Table]) -> Plan {
        let count = self.compiler.program.variables.len();
        let Parts { mut generators, mut checks } = parts;
        let exprs = &self.compiler.program.exprs;
        let base = self.base;
        let own = |slots: &[u32]| -> Vec<u32> {
            slots
                .iter()
                .filter(|&&slot| slot >= base && slot < base + count as u32)
                .map(|slot| slot - base)
                .collect()
        };
        let mut waits = vec![0usize; count];
        let mut frees: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (variable, generator) in generators.iter().enumerate() {
            for other in generator.iter().flat_map(|generator| own(&exprs[generator.expr as usize].slots)) {
                waits[variable] += 1;
                frees[other as usize].push(variable as u32);
            }
        }
        let mut all: Vec<u32> = (0..count as u32).collect();
        all.sort_by_key(|&variable| {
            std::cmp::Reverse((self.compiler.program.variables[variable as usize].size, variable))
        });
        let (mut stuck, mut free): (Vec<u32>, Vec<u32>) =
            all.into_iter().partition(|&variable| generators[variable as usize].is_some());
        let mut ready: Vec<u32> = stuck.iter().copied().filter(|&v| waits[v as usize] == 0).collect();
        let mut placed = vec![usize::MAX; count];
        let mut plan = Plan::default();
        // First those with a source, then those without, last those whose sources wait for each other.
        while plan.order.len() < count {
            let next = ready.pop().or_else(|| free.pop()).or_else(|| stuck.pop());
            let Some(variable) = next else { break };
            if placed[variable as usize] != usize::MAX {
                continue;
            }
            if waits[variable as usize] > 0
                && let Some(generator) = generators[variable as usize].take()
            {
                checks.push(Check::Member(variable, generator.expr));
            }
            placed[variable as usize] = plan.order.len();
            plan.order.push(variable);
            for &other in &frees[variable as usize] {
                waits[other as usize] -= 1;
                if waits[other as usize] == 0 && generators[other as usize].is_some() {
                    ready.push(other);
                }
            }
        }
        plan.generators = plan.order.iter().map(|&variable| generators[variable as usize]).collect();
        plan.checks = vec![Vec::new(); count];
        for check in checks {
            let mut variables = match check {
                Check::Expr(expr) => own(&exprs[expr as usize].slots),
                Check::Member(variable, expr) => {
                    let mut variables = own(&exprs[expr as usize].slots);
                    variables.push(variable);
                    variables
                }
                Check::Rows(table) => {
                    tables[table as usize].shapes.iter().flat_map(|shape| own(&shape.filled)).collect()
                }
            };
            variables.sort_unstable();
            variables.dedup();
            if variables.is_empty() {
                plan.guards.push(check);
            }
            variables.iter().for_each(|&variable| plan.checks[placed[variable as usize]].push(check));
        }
        plan
    }
}
