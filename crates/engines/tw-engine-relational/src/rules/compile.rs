//! Properties to rules.
//!
//! A rule is begun by events that happen here, its further literals are ordered so that each finds its variables bound as far
//! as can be: tests first, then events, then rows of tables by an index on what is bound. What no order can bind is left to
//! the tries, the whole property with it.

use super::formula::{Builder, EVER, Formula, Var, Window};
use super::steps::{Kind, Op, Rule, Rules, Slot, Standing, Step, Target, Wait, Watch, Watched};
use crate::gate::Plan;
use crate::predicate::Input;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use tw_ir::{CompareOp, Node, Ticks};

const ALWAYS: Ticks = Ticks { low: 0, high: EVER };
/// Disjuncts that one formula may be taken apart into.
const DISJUNCTS: usize = 32;

/// A way to solve a formula.
#[derive(Clone, Debug)]
struct Body {
    steps: Vec<Step>,
    bound: BTreeSet<Var>,
    waits: Vec<(Formula, bool)>,
}

impl Body {
    /// Whether something that happens here begins it.
    fn begun(&self) -> bool {
        let here =
            |step: &Step| matches!(step, Step::Event { .. } | Step::Happened { .. } | Step::Bit { .. });
        self.steps.iter().any(here)
    }
}

#[derive(Clone)]
struct Compiler<'p> {
    plan: &'p Plan,
    whole: Vec<bool>,
    known: FxHashMap<Formula, Option<usize>>,
    watched: FxHashMap<Formula, Option<usize>>,
    rules: Rules,
    /// Whether tables may be remembered as what they were.
    as_of: bool,
}

/// The variables of a rule, in the order of their slots.
type Scope = Vec<Var>;

fn slot(scope: &mut Scope, var: Var) -> Slot {
    scope.iter().position(|own| *own == var).unwrap_or_else(|| {
        scope.push(var);
        scope.len() - 1
    })
}

/// Rules for those questions that they reach.
pub(crate) fn compile(plan: &Plan) -> Rules {
    let mut builder = Builder::new(plan);
    let names: Vec<Var> = (0..plan.variables.len() as Var).collect();
    let mut compiler = Compiler {
        plan,
        whole: Vec::new(),
        known: FxHashMap::default(),
        watched: FxHashMap::default(),
        rules: Rules { answers: vec![false; plan.asked.len()], ..Rules::default() },
        as_of: true,
    };
    for (asked, question) in plan.asked.iter().enumerate() {
        let Some(outer) = &question.outer else { continue };
        let Some(violated) = builder.formula(question.edge.not(), &names) else { continue };
        if plan.repeat && violated.waits() {
            continue;
        }
        compiler.whole.clone_from(&builder.whole);
        for as_of in [true, false] {
            let mut own = compiler.clone();
            own.as_of = as_of;
            if own.violations(asked, outer, &violated).is_some()
                && let Some(order) = own.order()
            {
                own.rules.order = order;
                own.rules.answers[asked] = true;
                compiler = own;
                break;
            }
        }
    }
    compiler.rules
}

impl Compiler<'_> {
    fn violations(&mut self, asked: usize, outer: &[Var], violated: &Formula) -> Option<()> {
        let mut scope = Scope::new();
        let bodies = self.bodies(&mut scope, vec![violated.clone()], &BTreeSet::new())?;
        if !bodies.iter().all(|body| outer.iter().all(|var| body.bound.contains(var))) {
            return None;
        }
        let begun = |body: &Body| {
            body.steps
                .iter()
                .any(|step| matches!(step, Step::Event { .. } | Step::Happened { .. } | Step::Bit { .. }))
        };
        if !bodies.iter().all(Body::begun) && self.stand(asked, outer, violated).is_some() {
            return Some(());
        }
        for body in bodies {
            self.rule(&mut scope, body, outer, Target::Violation(asked))?;
        }
        Some(())
    }

    fn rule(&mut self, scope: &mut Scope, body: Body, row: &[Var], target: Target) -> Option<()> {
        let mut row: Vec<Slot> = row.iter().map(|var| slot(scope, *var)).collect();
        let (mut waits, mut kept) = (Vec::new(), Vec::new());
        let mut keep = |slot: Slot| {
            kept.iter().position(|own| *own == slot).unwrap_or_else(|| {
                kept.push(slot);
                kept.len() - 1
            })
        };
        if !body.waits.is_empty() {
            row = row.into_iter().map(&mut keep).collect();
        }
        for (literal, negated) in &body.waits {
            let Formula::Window(window, _) = literal else { return None };
            let (number, vars) = self.window(literal)?;
            let key = vars.iter().map(|var| keep(slot(scope, *var))).collect();
            waits.push(Wait { window: number, key, negated: *negated, origin: window.origin });
        }
        let trigger = body.steps.iter().find_map(|step| match step {
            Step::Event { place, .. } => Some(*place),
            _ => None,
        });
        let slots = scope.len();
        self.rules.rules.push(Rule { trigger, steps: body.steps, slots, target, row, waits, kept });
        Some(())
    }

    /// The ways to solve all of some formulas, given that some variables are bound.
    fn bodies(&mut self, scope: &mut Scope, todo: Vec<Formula>, bound: &BTreeSet<Var>) -> Option<Vec<Body>> {
        let Some(mut todo) = Formula::conjuncts(todo) else { return Some(Vec::new()) };
        let all = todo.clone();
        let mut body = Body { steps: Vec::new(), bound: bound.clone(), waits: Vec::new() };
        while !todo.is_empty() {
            let ranks = (0..todo.len()).filter_map(|at| Some((self.rank(&todo[at], &body.bound)?, at)));
            let ranks: Vec<(u32, usize)> = ranks.collect();
            if let Some((_, at)) = ranks.into_iter().min() {
                let literal = todo.remove(at);
                let steps = self.step(scope, literal, &mut body.bound, &todo)?;
                body.steps.extend(steps);
                continue;
            }
            let window = |one: &Formula| match one {
                Formula::Window(..) => true,
                Formula::Not(of) => matches!(**of, Formula::Window(..)),
                _ => false,
            };
            if todo.iter().all(|one| window(one) && one.free().is_subset(&body.bound)) {
                body.waits = todo
                    .drain(..)
                    .map(|one| match one {
                        Formula::Not(of) => (*of, true),
                        other => (other, false),
                    })
                    .collect();
                break;
            }
            // A quantifier whose variables are not bound gives values to them; so does each disjunct.
            if let Some(at) = todo.iter().position(|one| matches!(one, Formula::Exists(..))) {
                let Formula::Exists(_, inner) = todo.swap_remove(at) else { return None };
                let Some(flat) = Formula::conjuncts([*inner]) else { return Some(Vec::new()) };
                todo.extend(flat);
                continue;
            }
            let at = todo.iter().position(|one| matches!(one, Formula::Or(_)))?;
            let Formula::Or(choices) = &todo[at] else { return None };
            let place = all.iter().position(|one| one == &todo[at]);
            let mut found = Vec::new();
            for choice in choices {
                // From the beginning where it can be: the disjunct may be what should come first.
                let mut rest = if place.is_some() { all.clone() } else { todo.clone() };
                rest[place.unwrap_or(at)] = choice.clone();
                if place.is_some() {
                    found.extend(self.bodies(scope, rest, bound)?);
                } else {
                    for more in self.bodies(scope, rest, &body.bound)? {
                        let steps = body.steps.iter().cloned().chain(more.steps).collect();
                        found.push(Body { steps, ..more });
                    }
                }
                if found.len() > DISJUNCTS {
                    return None;
                }
            }
            return Some(found);
        }
        Some(vec![body])
    }

    /// How soon a literal should come, if it can come at all when these are bound.
    fn rank(&mut self, literal: &Formula, bound: &BTreeSet<Var>) -> Option<u32> {
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
    fn simple(&self, number: u32) -> bool {
        let dag = &self.plan.program.dag;
        let plain = |id| matches!(dag.node(id), Node::Variable(_) | Node::Constant(_));
        matches!(dag.node(self.plan.predicates[number as usize].node), Node::Compare(_, a, b) if plain(a) && plain(b))
    }

    /// The level of a variable that an equality gives a value to.
    fn names(&self, number: u32, vars: &[Var], var: Var) -> Option<u32> {
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
    fn step(
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
    fn solved(&mut self, scope: &mut Scope, of: Formula, bound: &BTreeSet<Var>) -> Option<Vec<Vec<Step>>> {
        let bodies = self.bodies(scope, vec![of], bound)?;
        bodies.into_iter().map(|body| body.waits.is_empty().then_some(body.steps)).collect()
    }

    /// A literal that reads a table.
    fn read(
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
    fn index(&mut self, table: usize, by: Vec<usize>) -> Option<Option<usize>> {
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
    fn meet(
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

    /// The table of what a literal reads, whether as it was before, and the variables of its columns.
    fn table(&mut self, literal: &Formula) -> Option<(usize, bool, Vec<Var>)> {
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

    fn make(&mut self, of: &Formula, columns: &[Var]) -> Option<usize> {
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
    fn attempt(&mut self, f: impl FnOnce(&mut Self) -> Option<usize>) -> Option<usize> {
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

    fn finite(
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
    fn as_it_was(&mut self, goal: &Formula, columns: &[Var]) -> Option<usize> {
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
    fn signed(&mut self, goal: &Formula, columns: &[Var]) -> Option<usize> {
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
    fn window(&mut self, literal: &Formula) -> Option<(usize, Vec<Var>)> {
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

    fn watch(&mut self, literal: &Formula, columns: &[Var]) -> Option<usize> {
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

    /// Violations that nothing here begins: kept as they are until what they hang on changes.
    fn stand(&mut self, asked: usize, outer: &[Var], violated: &Formula) -> Option<()> {
        let Formula::And(all) = violated else { return None };
        let lasting = |one: &Formula| matches!(one, Formula::Since(ALWAYS, None, _));
        let (positive, _): (Vec<Formula>, Vec<Formula>) = all.iter().cloned().partition(lasting);
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
    fn order(&self) -> Option<Vec<Op>> {
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
