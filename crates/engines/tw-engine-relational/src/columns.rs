//! The truth of formulas at every position where their variables have given values, and the values that decide quantifiers:
//! what explanations are made of.
//!
//! Events with other values of those variables decide nothing and are left out, so that what is remembered is about the
//! violation at hand. Rules answer where they can, asked for what violates the formula or its negation; else tries.

use crate::gate::Plan;
use crate::key::Key;
use crate::machine::{Fails, Found, Machine};
use crate::{Ending, Relations, Tell, answers, closed, restricted, run, trie, undecided};
use std::sync::Arc;
use tw_core::{Bits, Position, Relation, Value};
use tw_ir::{Node, NodeId, Program};
use tw_monitor::{Bindings, Positions, Trace, Unsupported};

/// The given variables that occur in a formula, where each stands for one quantifier.
fn occurring(program: &Program, node: NodeId, bindings: &Bindings) -> Vec<u32> {
    let mut found = Vec::new();
    for id in program.reachable(&[node]) {
        match program.dag.node(id) {
            Node::Variable(variable) => found.push(variable),
            Node::Pattern(pattern) => found.extend(program.dag.patterns[pattern as usize].variables()),
            _ => {}
        }
    }
    let bound = bindings.pairs().iter().map(|(variable, _)| *variable);
    bound.filter(|variable| found.contains(variable)).collect()
}

/// The tuples whose values are those given.
fn fitting(program: &Program, trace: &Trace, bindings: &Bindings) -> Vec<Relation> {
    let patterns = program.patterns();
    let of = |(relation, node): (&Relation, &NodeId)| {
        let Node::Pattern(pattern) = program.dag.node(*node) else { return relation.clone() };
        let variables = program.dag.patterns[pattern as usize].variables();
        let value =
            |variable| bindings.pairs().iter().find(|(own, _)| *own == variable).map(|(_, value)| value);
        let checks: Vec<(usize, Option<Key>)> = variables
            .enumerate()
            .filter_map(|(column, variable)| Some((column, Key::new(value(variable)?.clone()))))
            .collect();
        if checks.is_empty() {
            return relation.clone();
        }
        let (mut starts, mut kept) = (vec![0u32], Vec::new());
        for at in 0..relation.len() {
            kept.extend(relation.tuples(at).map(|number| number as u32).filter(|number| {
                let own = |column: usize| Key::of(&relation.columns()[column], *number as usize);
                checks.iter().all(|(column, key)| own(*column) == *key)
            }));
            starts.push(kept.len() as u32);
        }
        Relation::new(starts, relation.columns().iter().map(|column| column.gather(&kept)).collect())
    };
    trace.relations.iter().zip(&patterns).map(of).collect()
}

/// Which formulas, of which variables, and whether their negations are meant.
type Questions = (Vec<(NodeId, Vec<u32>)>, bool);

impl Relations<'_> {
    /// A plan by rules alone; where they do not answer all, the numbers of those that they do.
    fn by_rules(&self, (nodes, negated): &Questions) -> Result<Result<Arc<Plan>, Vec<usize>>, Unsupported> {
        let plan = Plan::bound(self.program, nodes, *negated, &self.options)?;
        let ruled: Vec<usize> = (0..nodes.len()).filter(|at| plan.rules.answers[*at]).collect();
        Ok(if ruled.len() == nodes.len() { Ok(Arc::new(plan)) } else { Err(ruled) })
    }

    /// Shows what is found out at each position of a trace whose relations are these.
    fn each_of(
        &self,
        plan: &Arc<Plan>,
        trace: &Trace,
        relations: &[Relation],
        see: &mut dyn FnMut(&mut Machine, &Found) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let positions = Positions { relations, ..trace.positions() };
        for segment in 0..trace.starts().len() {
            let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
            let all = (Ending::Ends, usize::MAX);
            let tell: &mut Tell<'_> =
                &mut |machine, found| found.drain(..).try_for_each(|found| see(machine, &found));
            run(plan, &positions, (start, end), all, (tell, &|_| Ok(())))?;
        }
        Ok(())
    }

    pub(crate) fn truth_of(
        &self,
        trace: &Trace,
        nodes: &[(NodeId, Bindings)],
    ) -> Result<Vec<Bits>, Unsupported> {
        let mut columns: Vec<Option<Bits>> = vec![None; nodes.len()];
        let mut groups: Vec<(&Bindings, Vec<usize>)> = Vec::new();
        for (at, (_, bindings)) in nodes.iter().enumerate() {
            match groups.iter_mut().find(|(own, _)| *own == bindings) {
                Some((_, group)) => group.push(at),
                None => groups.push((bindings, vec![at])),
            }
        }
        for (bindings, mut group) in groups {
            let relations = fitting(self.program, trace, bindings);
            for negated in [false, true] {
                let asked = |group: &[usize]| {
                    let one = |&at: &usize| (nodes[at].0, occurring(self.program, nodes[at].0, bindings));
                    (group.iter().map(one).collect::<Vec<_>>(), negated)
                };
                let mut chosen = group.clone();
                let mut plan = self.by_rules(&asked(&chosen))?;
                if let Err(ruled) = &plan {
                    chosen = ruled.iter().map(|at| group[*at]).collect();
                    plan = self.by_rules(&asked(&chosen))?;
                }
                let Ok(plan) = plan else { continue };
                if chosen.is_empty() {
                    continue;
                }
                chosen.iter().for_each(|at| columns[*at] = Some(Bits::repeat(!negated, trace.len)));
                self.each_of(&plan, trace, &relations, &mut |_, found| {
                    let Fails::Rows(rows) = &found.fails else { return Ok(()) };
                    if rows.iter().any(|row| is(&plan, found.asked, row, bindings))
                        && let Some(column) = &mut columns[chosen[found.asked]]
                    {
                        column.set(found.about, negated);
                    }
                    Ok(())
                })?;
                group.retain(|at| columns[*at].is_none());
            }
            self.by_tries(trace, &relations, nodes, &group, &mut columns)?;
        }
        Ok(columns.into_iter().flatten().collect())
    }

    fn by_tries(
        &self,
        trace: &Trace,
        relations: &[Relation],
        nodes: &[(NodeId, Bindings)],
        group: &[usize],
        columns: &mut [Option<Bits>],
    ) -> Result<(), Unsupported> {
        if group.is_empty() {
            return Ok(());
        }
        let asked: Vec<NodeId> = group.iter().map(|at| nodes[*at].0).collect();
        let plan = Arc::new(Plan::columns(self.program, &asked, &self.options)?);
        let mut found_out = vec![Bits::repeat(false, trace.len); group.len()];
        self.each_of(&plan, trace, relations, &mut |machine, found| {
            let Fails::Set(fails) = &found.fails else { return Ok(()) };
            let fails = restricted(&plan, machine, fails.clone(), &nodes[group[found.asked]].1);
            match closed(&fails) {
                Some(fails) => found_out[found.asked].set(found.about, !fails),
                None => return Err(undecided(&plan, machine, &fails)),
            }
            Ok(())
        })?;
        for (at, column) in group.iter().zip(found_out) {
            columns[*at] = Some(column);
        }
        Ok(())
    }

    pub(crate) fn deciding(
        &self,
        trace: &Trace,
        node: NodeId,
        bindings: &Bindings,
        at: Position,
    ) -> Result<Option<Value>, Unsupported> {
        let (Node::Exists(variable, body) | Node::Forall(variable, body)) = self.program.dag.node(node)
        else {
            return Ok(None);
        };
        let exists = matches!(self.program.dag.node(node), Node::Exists(..));
        let relations = fitting(self.program, trace, bindings);
        let mut value = None;
        let outer = occurring(self.program, body, bindings).into_iter().chain([variable]).collect();
        if let Ok(plan) = self.by_rules(&(vec![(body, outer)], exists))? {
            self.each_of(&plan, trace, &relations, &mut |_, found| {
                let (true, Fails::Rows(rows)) = (found.about == at, &found.fails) else { return Ok(()) };
                let row = rows.iter().find(|row| is(&plan, 0, row, bindings));
                value = row.and_then(|row| row.last()).map(Key::value);
                Ok(())
            })?;
            return Ok(value);
        }
        let plan = Arc::new(Plan::columns(self.program, &[body], &self.options)?);
        let Some(level) = plan.variables.iter().position(|own| *own == variable) else { return Ok(None) };
        self.each_of(&plan, trace, &relations, &mut |machine, found| {
            let (true, Fails::Set(fails)) = (found.about == at, &found.fails) else { return Ok(()) };
            // What is found are the values for which the body fails.
            let read = trie::Plain { negated: exists };
            let wanted = trie::copy(&mut machine.truths, read, fails);
            let wanted = restricted(&plan, machine, wanted, bindings);
            let listed = answers::list(&mut machine.truths, &wanted, &[level as u32]);
            let listed = listed.map_err(|refused| plan.refusal(refused))?;
            value = listed.named.first().map(|(_, key)| key.value());
            Ok(())
        })?;
        Ok(value)
    }
}

/// Whether a row has the values given.
fn is(plan: &Plan, asked: usize, row: &[Key], bindings: &Bindings) -> bool {
    let outer = plan.asked[asked].outer.iter().flatten();
    outer.zip(row).all(|(level, key)| {
        let variable = plan.variables[*level as usize];
        let given = bindings.pairs().iter().find(|(own, _)| *own == variable);
        given.is_none_or(|(_, value)| Key::new(value.clone()).as_ref() == Some(key))
    })
}
