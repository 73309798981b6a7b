//! What temporal operators remember: tables, and windows over facts.

use super::{ALWAYS, Body, Compiler, DISJUNCTS, Scope, slot};
use crate::rules::formula::{Formula, Var, Window};
use crate::rules::steps::{Kind, Step, Target, Watched};
use std::collections::BTreeSet;
use tw_ir::Ticks;

impl Compiler<'_> {
    /// The table of what a literal reads, whether as it was before, and the variables of its columns.
    pub(super) fn table(&mut self, literal: &Formula) -> Option<(usize, bool, Vec<Var>)> {
        let (inner, before) = match literal {
            Formula::Before(of) if matches!(**of, Formula::Since(..)) => (&**of, true),
            Formula::Before(_) => (literal, true),
            other => (other, false),
        };
        let (name, columns) = inner.canonical(&self.whole);
        let table = match self.known.get(&name) {
            Some(known) => *known,
            None => {
                let made = self.make(inner, &columns);
                self.known.insert(name, made);
                made
            }
        };
        table.map(|table| (table, before, columns))
    }

    pub(super) fn make(&mut self, of: &Formula, columns: &[Var]) -> Option<usize> {
        match of {
            Formula::Before(goal) => self.finite(ALWAYS, true, None, goal, columns),
            Formula::Since(ticks, ends, goal) => {
                if ticks.low > 0 && ends.is_some() {
                    return None;
                }
                let grows = *ticks == ALWAYS && ends.is_none();
                if grows
                    && self.as_of
                    && let Some(table) = self.attempt(|own| own.as_it_was(goal, columns))
                {
                    return Some(table);
                }
                let finite = self.attempt(|own| own.finite(*ticks, false, ends.as_deref(), goal, columns));
                if finite.is_some() || !grows {
                    return finite;
                }
                self.attempt(|own| own.signed(goal, columns))
            }
            _ => None,
        }
    }

    /// What was begun is undone where it does not come to an end.
    pub(super) fn attempt(&mut self, f: impl FnOnce(&mut Self) -> Option<usize>) -> Option<usize> {
        let before = self.clone();
        let made = f(self);
        if made.is_none() {
            // What failed inside fails again; what was made there is gone.
            let failed: Vec<Formula> =
                self.known.drain().filter(|(_, made)| made.is_none()).map(|own| own.0).collect();
            *self = before;
            self.known.extend(failed.into_iter().map(|name| (name, None)));
        }
        made
    }

    pub(super) fn finite(
        &mut self,
        ticks: Ticks,
        previous: bool,
        ends: Option<&Formula>,
        goal: &Formula,
        columns: &[Var],
    ) -> Option<usize> {
        let mut scope = Scope::new();
        let bodies = self.bodies(&mut scope, vec![goal.clone()], &BTreeSet::new())?;
        let binds = |body: &Body| columns.iter().all(|var| body.bound.contains(var)) && body.waits.is_empty();
        if !bodies.iter().all(binds) {
            return None;
        }
        let table = self.rules.tables.len();
        let grows = ticks == ALWAYS && ends.is_none() && !previous;
        let arity = columns.len();
        self.rules.tables.push(Kind::Finite { arity, ticks, previous, indexes: Vec::new(), grows });
        for body in bodies {
            self.rule(&mut scope, body, columns, Target::Insert(table))?;
        }
        let Some(ends) = ends else { return Some(table) };
        let vars: Vec<Var> = columns.iter().copied().filter(|var| ends.free().contains(var)).collect();
        if vars.len() < ends.free().len() {
            return None;
        }
        let mut scope = Scope::new();
        if let Some(bodies) = self.bodies(&mut scope, vec![ends.clone()], &BTreeSet::new())
            && bodies.iter().all(|body| vars.iter().all(|var| body.bound.contains(var)))
        {
            let place = |var: &Var| columns.iter().position(|own| own == var);
            let by: Vec<usize> = vars.iter().filter_map(place).collect();
            let target = match by.len() {
                0 => Target::Clear(table),
                count if count == columns.len() => Target::Delete(table, None),
                _ => Target::Delete(table, self.index(table, by)?),
            };
            for body in bodies {
                self.rule(&mut scope, body, &vars, target.clone())?;
            }
            return Some(table);
        }
        // Nothing names the rows that end: each is asked.
        let mut scope: Scope = columns.to_vec();
        let bound = columns.iter().copied().collect();
        for mut body in self.bodies(&mut scope, vec![ends.clone()], &bound)? {
            let binds = (0..columns.len()).map(|at| (at, at)).collect();
            let key = Vec::new();
            body.steps.insert(0, Step::Scan { table, before: true, index: None, key, binds });
            self.rule(&mut scope, body, columns, Target::Delete(table, None))?;
        }
        Some(table)
    }

    /// Events beside a table that only grows and shares no variable with them: how long it was says it all.
    pub(super) fn as_it_was(&mut self, goal: &Formula, columns: &[Var]) -> Option<usize> {
        let Formula::And(all) = goal else { return None };
        let read = |one: &Formula| matches!(one, Formula::Since(..) | Formula::Before(_));
        let alone = |at: usize| {
            let free = all[at].free();
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            !free.is_empty() && others.into_iter().all(|(_, other)| other.free().is_disjoint(&free))
        };
        let at = (0..all.len()).find(|&at| read(&all[at]) && alone(at))?;
        let (of, before, vars) = self.table(&all[at])?;
        if !matches!(self.rules.tables[of], Kind::Finite { grows: true, .. }) {
            return None;
        }
        let others: Vec<Formula> =
            all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| one.clone()).collect();
        let place = |var: &Var| columns.iter().position(|own| own == var);
        let row: Vec<usize> = vars.iter().map(place).collect::<Option<_>>()?;
        let key: Vec<usize> = (0..columns.len()).filter(|at| !row.contains(at)).collect();
        let keys: Vec<Var> = key.iter().map(|at| columns[*at]).collect();
        let mut scope = Scope::new();
        let bodies = self.bodies(&mut scope, others, &BTreeSet::new())?;
        if !bodies.iter().all(|body| keys.iter().all(|var| body.bound.contains(var)))
            || !bodies.iter().all(Body::begun)
        {
            return None;
        }
        let table = self.rules.tables.len();
        self.rules.tables.push(Kind::AsOf { of, key, row });
        for body in bodies {
            self.rule(&mut scope, body, &keys, Target::Stamp { table, before })?;
        }
        Some(table)
    }

    /// Events beside one negated literal whose last variable nothing binds: the values that are left of each key.
    pub(super) fn signed(&mut self, goal: &Formula, columns: &[Var]) -> Option<usize> {
        let mut choices = vec![Vec::new()];
        let all = Formula::conjuncts([goal.clone()])?;
        for one in all {
            let parts = if let Formula::Or(parts) = one { parts } else { vec![one] };
            choices = parts
                .iter()
                .flat_map(|part| choices.iter().map(move |own| own.iter().chain([part]).cloned().collect()))
                .collect();
            if choices.len() > DISJUNCTS {
                return None;
            }
        }
        let alone = |var: &Var| {
            choices.iter().all(|all: &Vec<Formula>| {
                let mut about = all.iter().filter(|one| one.free().contains(var));
                matches!(about.next(), Some(Formula::Not(_))) && about.next().is_none()
            })
        };
        let value = columns.iter().position(alone)?;
        let key: Vec<usize> = (0..columns.len()).filter(|at| *at != value).collect();
        let keys: Vec<Var> = key.iter().map(|at| columns[*at]).collect();
        let mut made = Vec::new();
        for all in choices {
            let mut scope = Scope::new();
            let (about, others): (Vec<Formula>, Vec<Formula>) =
                all.into_iter().partition(|one| one.free().contains(&columns[value]));
            let bodies = self.bodies(&mut scope, others, &BTreeSet::new())?;
            let bound: BTreeSet<Var> = keys.iter().copied().collect();
            let slot = slot(&mut scope, columns[value]);
            let left = about.into_iter().map(Formula::not).collect();
            let left = self.bodies(&mut scope, left, &bound)?;
            if !left.iter().all(|body| body.bound.contains(&columns[value]) && body.waits.is_empty()) {
                return None;
            }
            let left: Vec<Vec<Step>> = left.into_iter().map(|body| body.steps).collect();
            for body in bodies {
                if !bound.is_subset(&body.bound) || !body.waits.is_empty() {
                    return None;
                }
                made.push((scope.clone(), body, left.clone(), slot));
            }
        }
        let table = self.rules.tables.len();
        self.rules.tables.push(Kind::Signed { key, value });
        for (mut scope, body, bodies, value) in made {
            self.rule(&mut scope, body, &keys, Target::Narrow { table, bodies, value })?;
        }
        Some(table)
    }

    /// A window and the variables of its facts.
    pub(super) fn window(&mut self, literal: &Formula) -> Option<(usize, Vec<Var>)> {
        let (name, columns) = literal.canonical(&self.whole);
        let known = match self.watched.get(&name) {
            Some(known) => *known,
            None => {
                let made = self.watch(literal, &columns);
                self.watched.insert(name, made);
                made
            }
        };
        known.map(|window| (window, columns))
    }

    pub(super) fn watch(&mut self, literal: &Formula, columns: &[Var]) -> Option<usize> {
        let Formula::Window(window, goal) = literal else { return None };
        let mut scope = Scope::new();
        let bodies = self.bodies(&mut scope, vec![(**goal).clone()], &BTreeSet::new())?;
        if !bodies.iter().all(|body| columns.iter().all(|var| body.bound.contains(var))) {
            return None;
        }
        let mut made = Vec::new();
        for body in bodies {
            // The number is not known before the windows inside have theirs.
            self.rule(&mut scope, body, columns, Target::Fact(usize::MAX))?;
            made.push(self.rules.rules.len() - 1);
        }
        let number = self.rules.windows.len();
        let mut delay = Some(0i64);
        for rule in made {
            self.rules.rules[rule].target = Target::Fact(number);
            for wait in &self.rules.rules[rule].waits {
                let end = self.rules.windows[wait.window].end();
                delay = delay.zip(end).map(|(delay, end)| delay.max(end));
            }
        }
        // The last fact of each kind is kept: one that is too late would hide those before it.
        if window.high < 0 {
            return None;
        }
        let window = Window { origin: 0, ..*window };
        self.rules.windows.push(Watched { window, arity: columns.len(), delay });
        Some(number)
    }
}
