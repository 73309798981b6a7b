//! Properties to rules.
//!
//! A rule is begun by events that happen here, its further literals are ordered so that each finds its variables bound as far
//! as can be: tests first, then events, then rows of tables by an index on what is bound. What no order can bind is left to
//! the tries, the whole property with it.

mod literals;
mod order;
mod tables;

use super::formula::{Builder, EVER, Formula, Var};
use super::steps::{Rule, Rules, Slot, Step, Target, Wait};
use crate::gate::Plan;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use tw_ir::Ticks;

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

/// The columns of one event that give these variables values, if nothing else is asked of it.
fn plain(steps: &[Step], row: &[Slot]) -> Option<(usize, Vec<(usize, bool)>)> {
    let [Step::Event { place, binds, checks }] = steps else { return None };
    // Whole numbers that are asked for are looked at where they are put out.
    let unseen = |(_, slot, whole): &&(usize, Slot, bool)| *whole && !row.contains(slot);
    if !checks.is_empty() || binds.iter().any(|bind| unseen(&bind)) {
        return None;
    }
    let of = |slot: &Slot| binds.iter().find(|(_, own, _)| own == slot).map(|(at, _, whole)| (*at, *whole));
    Some((*place, row.iter().map(of).collect::<Option<_>>()?))
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
        // Which of them are over is a word per solution.
        if body.waits.len() > 32 {
            return None;
        }
        if !body.waits.is_empty() {
            row = row.into_iter().map(&mut keep).collect();
        }
        for (literal, negated) in &body.waits {
            let Formula::Window(window, _) = literal else { return None };
            let (number, vars) = self.window(literal)?;
            let key = vars.iter().map(|var| keep(slot(scope, *var))).collect();
            waits.push(Wait { window: number, key, negated: *negated, origin: window.origin });
        }
        let slots = scope.len();
        // What is left of values is searched for, whatever begins it.
        let plain = match target {
            Target::Narrow { .. } => None,
            _ => plain(&body.steps, if waits.is_empty() { &row } else { &kept }),
        };
        self.rules.rules.push(Rule { plain, steps: body.steps, slots, target, row, waits, kept });
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
}
