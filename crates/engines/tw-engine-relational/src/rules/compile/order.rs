//! Violations that stand, and the order in which a position runs everything.

use super::{ALWAYS, Compiler, Scope, slot};
use crate::predicate::Input;
use crate::rules::formula::{EVER, Formula, Var};
use crate::rules::steps::{Kind, Op, Rules, Standing, Target, Watch};
use std::collections::BTreeSet;
use tw_ir::Ticks;

impl Compiler<'_> {
    /// Violations that nothing here begins: kept as they are until what they hang on changes.
    pub(super) fn stand(&mut self, asked: usize, outer: &[Var], violated: &Formula) -> Option<()> {
        let Formula::And(all) = violated else { return None };
        let lasting = |one: &Formula| matches!(one, Formula::Since(ALWAYS, None, _));
        let (positive, _): (Vec<Formula>, Vec<Formula>) = all.iter().cloned().partition(lasting);
        // Nothing violates before some row is there.
        if positive.is_empty() {
            return None;
        }
        let bound: BTreeSet<Var> = positive.iter().flat_map(Formula::free).collect();
        if !outer.iter().all(|var| bound.contains(var)) || bound.len() != outer.len() {
            return None;
        }
        let mut literals = Vec::new();
        if !all.iter().all(|one| self.lasts(one, &mut literals)) {
            return None;
        }
        let mut scope: Scope = outer.to_vec();
        let test = self.solved(&mut scope, violated.clone(), &outer.iter().copied().collect())?;
        let mut watches = Vec::new();
        for literal in literals {
            let (table, _, columns) = self.table(&literal)?;
            let columns: Vec<(usize, Var)> = match &self.rules.tables[table] {
                Kind::Finite { .. } => columns.into_iter().enumerate().collect(),
                Kind::Signed { key, .. } => key.iter().map(|at| columns[*at]).enumerate().collect(),
                Kind::AsOf { .. } => return None,
            };
            let (mut binds, mut known) = (Vec::new(), BTreeSet::new());
            for (at, var) in columns.into_iter().filter(|(_, var)| outer.contains(var)) {
                known.insert(var);
                binds.push((at, slot(&mut scope, var)));
            }
            let candidates = self.solved(&mut scope, Formula::and(positive.clone()), &known)?;
            watches.push(Watch { table, binds, candidates });
        }
        let row = (0..outer.len()).collect();
        let slots = scope.len();
        self.rules.standing.push(Standing { asked, slots, row, watches, test });
        Some(())
    }

    /// Whether a formula changes only where some row of a table does; all literals that read tables.
    fn lasts(&mut self, of: &Formula, literals: &mut Vec<Formula>) -> bool {
        match of {
            Formula::Since(Ticks { low: 0, high: EVER }, ..) => {
                literals.push(of.clone());
                self.table(of).is_some()
            }
            Formula::Not(of) | Formula::Exists(_, of) => self.lasts(of, literals),
            Formula::And(all) | Formula::Or(all) => all.iter().all(|one| self.lasts(one, literals)),
            Formula::Compare(number, _) => {
                let inputs = &self.plan.predicates[*number as usize].inputs;
                inputs.iter().all(|(_, input)| matches!(input, Input::Variable(_)))
            }
            _ => false,
        }
    }

    /// An order in which everything is read as it should be; `None` if there is none.
    pub(super) fn order(&self) -> Option<Vec<Op>> {
        let Rules { tables, windows, rules, standing, .. } = &self.rules;
        let mut ops: Vec<Op> = (0..rules.len()).map(Op::Rule).collect();
        ops.extend((0..tables.len()).map(Op::Commit));
        ops.extend((0..windows.len()).map(Op::Deliver));
        ops.extend((0..standing.len()).map(Op::Stand));
        let number = |op: Op| ops.iter().position(|own| *own == op);
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); ops.len()];
        let mut edge = |first: Op, then: Op| -> Option<()> {
            before[number(then)?].insert(number(first)?);
            Some(())
        };
        for (at, rule) in rules.iter().enumerate() {
            let mut read = Vec::new();
            rule.steps.iter().for_each(|step| step.reads(&mut read));
            match &rule.target {
                Target::Insert(table) | Target::Delete(table, _) | Target::Clear(table) => {
                    edge(Op::Rule(at), Op::Commit(*table))?;
                }
                Target::Narrow { table, bodies, .. } => {
                    bodies.iter().flatten().for_each(|step| step.reads(&mut read));
                    edge(Op::Rule(at), Op::Commit(*table))?;
                }
                Target::Stamp { table, before } => {
                    if let Kind::AsOf { of, .. } = &tables[*table] {
                        read.push((*of, *before));
                    }
                    edge(Op::Rule(at), Op::Commit(*table))?;
                }
                Target::Fact(window) => edge(Op::Rule(at), Op::Deliver(*window))?,
                Target::Violation(_) => {}
            }
            for (table, before) in read {
                match before {
                    true => edge(Op::Rule(at), Op::Commit(table))?,
                    false => edge(Op::Commit(table), Op::Rule(at))?,
                }
            }
            for wait in &rule.waits {
                // Who waits is there before the facts of the position are.
                edge(Op::Rule(at), Op::Deliver(wait.window))?;
                if let Target::Fact(window) = rule.target {
                    edge(Op::Deliver(wait.window), Op::Deliver(window))?;
                }
            }
        }
        for (at, standing) in standing.iter().enumerate() {
            for watch in &standing.watches {
                edge(Op::Commit(watch.table), Op::Stand(at))?;
            }
        }
        let mut done = vec![false; ops.len()];
        let mut order = Vec::new();
        while order.len() < ops.len() {
            let next = (0..ops.len()).find(|&at| !done[at] && before[at].iter().all(|own| done[*own]))?;
            done[next] = true;
            order.push(ops[next]);
        }
        Some(order)
    }
}
