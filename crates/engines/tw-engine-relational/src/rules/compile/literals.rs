//! Literals of a rule: when each may come, and the steps that it is.

use super::{Compiler, Scope, slot};
use crate::predicate::Input;
use crate::rules::formula::{Formula, Var};
use crate::rules::steps::{Kind, Slot, Step};
use std::collections::BTreeSet;
use tw_ir::{CompareOp, Node};

impl Compiler<'_> {
    /// How soon a literal should come, if it can come at all when these are bound.
    pub(super) fn rank(&mut self, literal: &Formula, bound: &BTreeSet<Var>) -> Option<u32> {
        if literal.waits() {
            return None;
        }
        let (inner, negated) = match literal {
            Formula::Not(of) => (&**of, true),
            other => (other, false),
        };
        let free = inner.free();
        let open = free.difference(bound).count();
        if negated && open > 0 {
            return None;
        }
        let some = free.len() > open;
        match inner {
            Formula::Bit(..) | Formula::First | Formula::Previous(_) => Some(0),
            Formula::Compare(number, _) if open == 0 => Some(if self.simple(*number) { 1 } else { 60 }),
            Formula::Compare(number, vars) if open == 1 => {
                let var = *free.difference(bound).next()?;
                self.names(*number, vars, var).map(|_| 20)
            }
            Formula::Atom(..) if open == 0 => Some(2 + u32::from(negated)),
            Formula::Atom(..) => Some(if some { 30 } else { 31 }),
            Formula::Since(..) | Formula::Before(_) => {
                let (table, _, columns) = self.table(inner)?;
                match &self.rules.tables[table] {
                    _ if open == 0 => Some(10 + u32::from(negated)),
                    Kind::Finite { .. } => Some(if some { 40 } else { 50 }),
                    Kind::AsOf { key, .. } => {
                        key.iter().all(|at| bound.contains(&columns[*at])).then_some(45)
                    }
                    Kind::Signed { .. } => None,
                }
            }
            Formula::Exists(..) | Formula::Or(_) if open == 0 => Some(24 + u32::from(negated)),
            _ => None,
        }
    }

    /// Whether a predicate compares variables and constants as they are, which never fails.
    pub(super) fn simple(&self, number: u32) -> bool {
        let dag = &self.plan.program.dag;
        let plain = |id| matches!(dag.node(id), Node::Variable(_) | Node::Constant(_));
        matches!(dag.node(self.plan.predicates[number as usize].node), Node::Compare(_, a, b) if plain(a) && plain(b))
    }

    /// The level of a variable that an equality gives a value to.
    pub(super) fn names(&self, number: u32, vars: &[Var], var: Var) -> Option<u32> {
        let (program, predicate) = (&self.plan.program, &self.plan.predicates[number as usize]);
        let levels = predicate.inputs.iter().filter_map(|(id, input)| match input {
            Input::Variable(level) => Some((*id, *level)),
            _ => None,
        });
        let mut own = levels.zip(vars).filter(|(_, own)| **own == var);
        let (Some(((id, level), _)), None) = (own.next(), own.next()) else { return None };
        match program.dag.node(predicate.node) {
            Node::Compare(CompareOp::Eq, a, b) if a == id || b == id => {
                let other = if a == id { b } else { a };
                (!program.reachable(&[other]).contains(&id)).then_some(level)
            }
            Node::In(a, _) if a == id && predicate.generates(program) => Some(level),
            _ => None,
        }
    }

    /// The steps of a literal, and what they bind.
    pub(super) fn step(
        &mut self,
        scope: &mut Scope,
        literal: Formula,
        bound: &mut BTreeSet<Var>,
        later: &[Formula],
    ) -> Option<Vec<Step>> {
        let (inner, negated) = match literal {
            Formula::Not(of) => (*of, true),
            other => (other, false),
        };
        let open = inner.free().difference(bound).count();
        let step = match inner {
            Formula::Bit(place, before) => {
                if before && !self.rules.bits.contains(&place) {
                    self.rules.bits.push(place);
                }
                Step::Bit { place, before, negated }
            }
            Formula::First => Step::First { negated },
            Formula::Previous(ticks) => Step::Previous { ticks, negated },
            Formula::Compare(predicate, vars) => {
                let slots = vars.iter().map(|var| slot(scope, *var)).collect();
                match vars.iter().find(|var| !bound.contains(var)) {
                    None => Step::Compare { predicate, slots, negated },
                    Some(&var) => {
                        let level = self.names(predicate, &vars, var)?;
                        bound.insert(var);
                        let whole = self.whole[var as usize];
                        Step::Equals { predicate, slots, slot: slot(scope, var), level, whole }
                    }
                }
            }
            Formula::Atom(place, columns) => {
                let (mut binds, mut checks) = (Vec::new(), Vec::new());
                for (var, column) in columns {
                    let slot = slot(scope, var);
                    if bound.insert(var) {
                        binds.push((column, slot, self.whole[var as usize]));
                    } else {
                        checks.push((column, slot));
                    }
                }
                match open {
                    0 => Step::Happened { place, checks, negated },
                    _ => Step::Event { place, binds, checks },
                }
            }
            literal @ (Formula::Since(..) | Formula::Before(_)) => {
                return self.read(scope, &literal, bound, negated, later).map(|step| vec![step]);
            }
            Formula::Or(choices) => {
                let mut found = Vec::new();
                for choice in choices {
                    found.extend(self.solved(scope, choice, bound)?);
                }
                Step::Some { bodies: found, negated }
            }
            Formula::Exists(var, of) => match self.solved(scope, (*of).clone(), bound) {
                Some(bodies) => Step::Some { bodies, negated },
                None => self.meet(scope, var, *of, bound, negated)?,
            },
            Formula::Not(_) | Formula::And(_) | Formula::Window(..) => return None,
        };
        Some(vec![step])
    }

    /// The ways to solve a formula for a test.
    pub(super) fn solved(
        &mut self,
        scope: &mut Scope,
        of: Formula,
        bound: &BTreeSet<Var>,
    ) -> Option<Vec<Vec<Step>>> {
        let bodies = self.bodies(scope, vec![of], bound)?;
        bodies.into_iter().map(|body| body.waits.is_empty().then_some(body.steps)).collect()
    }

    /// A literal that reads a table.
    pub(super) fn read(
        &mut self,
        scope: &mut Scope,
        literal: &Formula,
        bound: &mut BTreeSet<Var>,
        negated: bool,
        later: &[Formula],
    ) -> Option<Step> {
        let (table, before, columns) = self.table(literal)?;
        let slots: Vec<Slot> = columns.iter().map(|var| slot(scope, *var)).collect();
        let all = columns.iter().all(|var| bound.contains(var));
        match self.rules.tables[table].clone() {
            Kind::Finite { .. } if all => Some(Step::Probe { table, before, row: slots, negated }),
            Kind::Finite { .. } => {
                let known = |at: &usize| bound.contains(&columns[*at]);
                let by: Vec<usize> = (0..columns.len()).filter(known).collect();
                let key = by.iter().map(|at| slots[*at]).collect();
                let index = self.index(table, by)?;
                let open = (0..columns.len()).filter(|at| !known(at));
                let binds = open.map(|at| (at, slots[at])).collect();
                bound.extend(columns);
                Some(Step::Scan { table, before, index, key, binds })
            }
            Kind::Signed { key, value } => {
                let value = slots[value];
                let key = key.iter().map(|at| slots[*at]).collect();
                all.then_some(Step::Signed { table, before, key, value, negated })
            }
            Kind::AsOf { key, row, .. } => {
                let key = key.iter().map(|at| slots[*at]).collect();
                if all {
                    let row = row.iter().map(|at| slots[*at]).collect();
                    return Some(Step::AsOf { table, before, key, row, negated });
                }
                let vars: Vec<Var> = row.iter().map(|at| columns[*at]).collect();
                let mut skip = None;
                for one in later {
                    let Formula::Not(other) = one else { continue };
                    if !matches!(**other, Formula::Since(..) | Formula::Before(_)) {
                        continue;
                    }
                    if let Some((other, before, columns)) = self.table(other)
                        && matches!(self.rules.tables[other], Kind::Finite { grows: true, .. })
                        && columns == vars
                    {
                        skip = Some((other, before));
                    }
                }
                let row = row.iter().map(|at| (slots[*at], bound.contains(&columns[*at]))).collect();
                bound.extend(columns);
                let cursor = self.rules.cursors;
                self.rules.cursors += 1;
                Some(Step::AsOfScan { table, before, key, row, skip, cursor })
            }
        }
    }

    /// An index of a table on some columns; none stands for all rows.
    pub(super) fn index(&mut self, table: usize, by: Vec<usize>) -> Option<Option<usize>> {
        let Kind::Finite { indexes, .. } = &mut self.rules.tables[table] else { return None };
        if by.is_empty() {
            return Some(None);
        }
        let known = indexes.iter().position(|own| *own == by);
        Some(Some(known.unwrap_or_else(|| {
            indexes.push(by);
            indexes.len() - 1
        })))
    }

    /// Some value of a variable that stands in negated literals alone: finitely many are excluded, or those are left that a
    /// signed table names.
    pub(super) fn meet(
        &mut self,
        scope: &mut Scope,
        var: Var,
        of: Formula,
        bound: &BTreeSet<Var>,
        negated: bool,
    ) -> Option<Step> {
        let all = Formula::conjuncts([of])?;
        let (about, tests): (Vec<Formula>, Vec<Formula>) =
            all.into_iter().partition(|one| one.free().contains(&var));
        let mut tables = Vec::new();
        for one in &about {
            let Formula::Not(literal) = one else { return None };
            match &**literal {
                Formula::Atom(..) => {}
                Formula::Since(..) | Formula::Before(_) => {
                    let (table, before, columns) = self.table(literal)?;
                    match self.rules.tables[table].clone() {
                        Kind::Finite { .. } => {}
                        Kind::Signed { key, value } if columns[value] == var && !before => {
                            let vars: Vec<Var> = key.iter().map(|at| columns[*at]).collect();
                            if !vars.iter().all(|var| bound.contains(var)) {
                                return None;
                            }
                            tables.push((table, vars.iter().map(|var| slot(scope, *var)).collect()));
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            }
            // The other variables must have values, or infinitely many might be excluded.
            if !one.free().iter().all(|own| *own == var || bound.contains(own)) {
                return None;
            }
        }
        let mut tests = self.solved(scope, Formula::and(tests), bound)?;
        if !tables.is_empty() {
            let value = slot(scope, var);
            let inside = bound.iter().copied().chain([var]).collect();
            let mut rest = self.solved(scope, Formula::and(about), &inside)?;
            if rest.len() != 1 {
                return None;
            }
            let rest = rest.swap_remove(0);
            for steps in &mut tests {
                let (tables, rest) = (tables.clone(), rest.clone());
                steps.push(Step::Meet { tables, value, rest, negated: false });
            }
        }
        Some(Step::Some { bodies: tests, negated })
    }
}
