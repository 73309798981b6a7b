//! What violates a property, brought into the form that rules are made of: negations at the leaves, quantifiers as far inside
//! as they go, steps back at events and at what is remembered.

use crate::gate::{Edge, Gate, Plan};
use crate::predicate::{Input, Level};
use std::collections::BTreeSet;
use tw_ir::Ticks;

/// A variable of one quantifier: no two have the same.
pub(crate) type Var = u32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Formula {
    /// An event here, by its place in `Program::patterns`: which variable is in which column.
    Atom(usize, Vec<(Var, usize)>),
    /// An atom without variables, here or at the position before.
    Bit(usize, bool),
    First,
    /// A predicate, with the variables that it reads in the order of its inputs.
    Compare(u32, Vec<Var>),
    /// There is a position before, so far away.
    Previous(Ticks),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Exists(Var, Box<Formula>),
    /// At the position before; of an event, or of a since.
    Before(Box<Formula>),
    /// The goal held, so long ago, and since then nothing that ends it.
    Since(Ticks, Option<Box<Formula>>, Box<Formula>),
    Window(Window, Box<Formula>),
}

/// The goal holds at a position whose time is so far from that of the position asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Window {
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) side: Side,
    /// The gate that it was made for: 0 in names that tables are found by.
    pub(crate) origin: u32,
}

/// Which positions of equal time belong to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Any,
    Later,
    Earlier,
}

/// The greatest distance, for windows without end.
pub(crate) const EVER: i64 = i64::MAX;

impl Formula {
    pub(crate) fn not(self) -> Formula {
        match self {
            Formula::Not(inner) => *inner,
            Formula::And(all) => Formula::or(all.into_iter().map(Formula::not)),
            Formula::Or(all) => Formula::and(all.into_iter().map(Formula::not)),
            other => Formula::Not(Box::new(other)),
        }
    }

    pub(crate) fn and(all: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for one in all {
            match one {
                Formula::And(inner) => flat.extend(inner),
                Formula::Or(inner) if inner.is_empty() => return Formula::Or(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.swap_remove(0) } else { Formula::And(flat) }
    }

    /// The parts of a conjunction; `None` if one is false.
    pub(crate) fn conjuncts(all: impl IntoIterator<Item = Formula>) -> Option<Vec<Formula>> {
        match Formula::and(all) {
            Formula::And(all) => Some(all),
            Formula::Or(all) if all.is_empty() => None,
            other => Some(vec![other]),
        }
    }

    pub(crate) fn or(all: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for one in all {
            match one {
                Formula::Or(inner) => flat.extend(inner),
                Formula::And(inner) if inner.is_empty() => return Formula::And(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.swap_remove(0) } else { Formula::Or(flat) }
    }

    pub(crate) fn free(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        self.collect(&mut found);
        found
    }

    fn collect(&self, found: &mut BTreeSet<Var>) {
        match self {
            Formula::Atom(_, columns) => found.extend(columns.iter().map(|(var, _)| *var)),
            Formula::Compare(_, vars) => found.extend(vars),
            Formula::Bit(..) | Formula::First | Formula::Previous(_) => {}
            Formula::Not(of) | Formula::Before(of) | Formula::Window(_, of) => of.collect(found),
            Formula::And(all) | Formula::Or(all) => all.iter().for_each(|one| one.collect(found)),
            Formula::Exists(var, of) => {
                // Every quantifier has its own variable: nothing else that is free is hidden by it.
                of.collect(found);
                found.remove(var);
            }
            Formula::Since(_, ends, goal) => {
                ends.iter().for_each(|ends| ends.collect(found));
                goal.collect(found);
            }
        }
    }

    /// Whether it is false at the first position, since it is about the position before.
    fn needs_before(&self) -> bool {
        match self {
            Formula::Before(_) | Formula::Bit(_, true) => true,
            Formula::And(all) => all.iter().any(Formula::needs_before),
            Formula::Or(all) => all.iter().all(Formula::needs_before),
            Formula::Exists(_, of) => of.needs_before(),
            _ => false,
        }
    }

    /// Whether something after the position decides it.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Formula::Window(..) => true,
            Formula::Atom(..)
            | Formula::Compare(..)
            | Formula::Bit(..)
            | Formula::First
            | Formula::Previous(_) => false,
            Formula::Not(of) | Formula::Before(of) | Formula::Exists(_, of) => of.waits(),
            Formula::And(all) | Formula::Or(all) => all.iter().any(Formula::waits),
            Formula::Since(_, ends, goal) => goal.waits() || ends.as_ref().is_some_and(|ends| ends.waits()),
        }
    }

    /// Some value of a variable; the quantifier goes as far inside as it can.
    fn exists(self, var: Var) -> Formula {
        if !self.free().contains(&var) {
            return self;
        }
        match self {
            Formula::Or(all) => Formula::or(all.into_iter().map(|one| one.exists(var))),
            Formula::And(all) => {
                let (mut inner, outer): (Vec<_>, Vec<_>) =
                    all.into_iter().partition(|one| one.free().contains(&var));
                let inner = match inner.len() {
                    1 => inner.swap_remove(0).exists(var),
                    _ => Formula::Exists(var, Box::new(Formula::And(inner))),
                };
                Formula::and(outer.into_iter().chain([inner]))
            }
            Formula::Since(ticks, ends, goal)
                if !ends.as_ref().is_some_and(|ends| ends.free().contains(&var)) =>
            {
                Formula::Since(ticks, ends, Box::new(goal.exists(var)))
            }
            Formula::Window(window, goal) => Formula::Window(window, Box::new(goal.exists(var))),
            Formula::Before(of) => match of.exists(var) {
                Formula::Exists(var, of) if matches!(*of, Formula::Since(..)) => {
                    Formula::Exists(var, Box::new(Formula::Before(of)))
                }
                other => Formula::Before(Box::new(other)),
            },
            other => Formula::Exists(var, Box::new(other)),
        }
    }

    /// The same with variables numbered in the order in which they are met, and those that are free in that order.
    pub(crate) fn canonical(&self, whole: &[bool]) -> (Formula, Vec<Var>) {
        let mut names: Vec<Var> = Vec::new();
        let free = self.free();
        let named = self.named(&mut |var| {
            let at = names.iter().position(|own| *own == var).unwrap_or_else(|| {
                names.push(var);
                names.len() - 1
            });
            at as Var * 2 + Var::from(whole[var as usize])
        });
        names.retain(|var| free.contains(var));
        (named, names)
    }

    fn named(&self, name: &mut dyn FnMut(Var) -> Var) -> Formula {
        let mut boxed = |of: &Formula| Box::new(of.named(name));
        match self {
            Formula::Bit(..) | Formula::First | Formula::Previous(_) => self.clone(),
            Formula::Atom(place, columns) => {
                Formula::Atom(*place, columns.iter().map(|(var, column)| (name(*var), *column)).collect())
            }
            Formula::Compare(number, vars) => {
                Formula::Compare(*number, vars.iter().map(|var| name(*var)).collect())
            }
            Formula::Not(of) => Formula::Not(boxed(of)),
            Formula::Before(of) => Formula::Before(boxed(of)),
            Formula::Window(window, of) => Formula::Window(Window { origin: 0, ..*window }, boxed(of)),
            Formula::And(all) => Formula::And(all.iter().map(|one| one.named(name)).collect()),
            Formula::Or(all) => Formula::Or(all.iter().map(|one| one.named(name)).collect()),
            Formula::Exists(var, of) => {
                let var = name(*var);
                Formula::Exists(var, Box::new(of.named(name)))
            }
            Formula::Since(ticks, ends, goal) => {
                let ends = ends.as_ref().map(|ends| Box::new(ends.named(name)));
                Formula::Since(*ticks, ends, Box::new(goal.named(name)))
            }
        }
    }
}

/// Parts of a formula that rules are made of; more is left to the tries.
const PARTS: usize = 2_000;

/// Makes formulas of gates.
pub(crate) struct Builder<'p> {
    plan: &'p Plan,
    /// Of each variable, whether its values are whole numbers.
    pub(crate) whole: Vec<bool>,
    parts: usize,
}

impl<'p> Builder<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        let whole = plan.variables.iter().map(|&variable| plan.program.dag.is_whole(variable)).collect();
        Self { plan, whole, parts: 0 }
    }

    /// The formula of an edge; `names` are the variables that stand for the levels inside. `None` where rules do not reach.
    pub(crate) fn formula(&mut self, edge: Edge, names: &[Var]) -> Option<Formula> {
        self.parts += 1;
        if self.parts > PARTS {
            return None;
        }
        let positive = self.gate(edge.gate, names)?;
        Some(if edge.negated { positive.not() } else { positive })
    }

    fn gate(&mut self, gate: u32, names: &[Var]) -> Option<Formula> {
        let plan = self.plan;
        Some(match &plan.gates[gate as usize] {
            Gate::Yes => Formula::And(Vec::new()),
            Gate::First => Formula::First,
            Gate::Atom(place) => Formula::Bit(*place, false),
            Gate::Pattern(place, columns) => {
                let named = columns.iter().map(|(level, column)| (names[*level as usize], *column));
                let mut named: Vec<_> = named.collect();
                // By column, not by variable: what differs in the names of variables alone is one.
                named.sort_unstable_by_key(|(_, column)| *column);
                Formula::Atom(*place, named)
            }
            Gate::Predicate(number) => {
                let variable = |(_, input): &(_, Input)| match input {
                    Input::Variable(level) => Some(Some(names[*level as usize])),
                    Input::Term(_) => Some(None),
                    Input::Tally(_) => None,
                };
                let inputs = &plan.predicates[*number as usize].inputs;
                let vars: Option<Vec<Option<Var>>> = inputs.iter().map(variable).collect();
                Formula::Compare(*number, vars?.into_iter().flatten().collect())
            }
            Gate::And(edges) => {
                let all: Option<Vec<_>> = edges.iter().map(|edge| self.formula(*edge, names)).collect();
                Formula::and(all?)
            }
            Gate::Exists(level, of) => {
                let (var, mut names) = (self.fresh(*level), names.to_vec());
                names[*level as usize] = var;
                self.formula(*of, &names)?.exists(var)
            }
            Gate::Step { past: false, .. } => return None,
            Gate::Step { past: true, ticks, of } => {
                let of = self.formula(*of, names)?;
                let before = self.before(of)?;
                // At the first position nothing was before: that need not be said again.
                if *ticks == (Ticks { low: 0, high: EVER }) && before.needs_before() {
                    return Some(before);
                }
                Formula::and([Formula::Previous(*ticks), before])
            }
            Gate::Until { past: true, ticks, hold, goal } => {
                let goal = self.formula(*goal, names)?;
                let ends = match hold {
                    Some(hold) => Some(self.formula(hold.not(), names)?),
                    None => None,
                };
                self.since(*ticks, ends, goal, gate)?
            }
            Gate::Until { hold: Some(_), .. } => return None,
            Gate::Until { ticks, goal, .. } => {
                let (mut goal, mut side) = (self.formula(*goal, names)?, Side::Later);
                // Something of the same time before a later position is something of that time, whichever comes first.
                match goal {
                    Formula::Since(Ticks { low: 0, high: 0 }, None, inner) => {
                        (goal, side) = (*inner, Side::Any);
                    }
                    Formula::Window(Window { low: 0, high: 0, side: Side::Earlier, .. }, inner) => {
                        (goal, side) = (*inner, Side::Any);
                    }
                    _ => {}
                }
                Formula::Window(
                    Window { low: ticks.low, high: ticks.high, side, origin: gate },
                    Box::new(goal),
                )
            }
        })
    }

    fn since(&self, ticks: Ticks, ends: Option<Formula>, goal: Formula, gate: u32) -> Option<Formula> {
        if !goal.waits() && !ends.as_ref().is_some_and(Formula::waits) {
            return Some(Formula::Since(ticks, ends.map(Box::new), Box::new(goal)));
        }
        if ends.is_some() {
            return None;
        }
        let low = if ticks.high == EVER { i64::MIN } else { -ticks.high };
        let window = |side| Window { low, high: -ticks.low, side, origin: gate };
        Some(match goal {
            Formula::Window(Window { low: 0, high: 0, side: Side::Later, .. }, inner) => {
                Formula::Window(window(Side::Any), inner)
            }
            other => Formula::Window(window(Side::Earlier), Box::new(other)),
        })
    }

    fn fresh(&mut self, level: Level) -> Var {
        self.whole.push(self.whole[level as usize]);
        self.whole.len() as Var - 1
    }

    /// The same at the position before, given that there is one.
    fn before(&self, of: Formula) -> Option<Formula> {
        Some(match of {
            Formula::And(all) => {
                Formula::and(all.into_iter().map(|one| self.before(one)).collect::<Option<Vec<_>>>()?)
            }
            Formula::Or(all) => {
                Formula::or(all.into_iter().map(|one| self.before(one)).collect::<Option<Vec<_>>>()?)
            }
            Formula::Not(of) => self.before(*of)?.not(),
            Formula::Exists(var, of) => match *of {
                atom @ Formula::Atom(..) => Formula::Before(Box::new(Formula::Exists(var, Box::new(atom)))),
                of => self.before(of)?.exists(var),
            },
            Formula::Bit(place, false) => Formula::Bit(place, true),
            of @ Formula::Compare(number, _) => {
                let inputs = &self.plan.predicates[number as usize].inputs;
                // Columns would be those of another position.
                let here = inputs.iter().any(|(_, input)| !matches!(input, Input::Variable(_)));
                (!here).then_some(of)?
            }
            of @ (Formula::Atom(..) | Formula::Since(..)) => Formula::Before(Box::new(of)),
            Formula::First
            | Formula::Bit(..)
            | Formula::Previous(_)
            | Formula::Before(_)
            | Formula::Window(..) => return None,
        })
    }
}
