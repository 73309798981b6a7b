//! A formula made ready for one set of rules: which parts of its tree can be kept, and which of them look the same wherever
//! they stand.
//!
//! A part whose tree depends on its truth value alone is *fixed*: its name is computed here, once, and nothing below it is
//! looked at on any trace. Under the default rules most parts of most formulas are.

use crate::columns::Lifted;
use crate::formula::{CellId, Formula, Kind};
use crate::name::{self, List, NIL, Name};
use crate::rules::Rules;
use crate::truth::{Kleene, Mask, Truth, connective};
use tw_ir::{Form, Program};
use tw_monitor::Unsupported;

/// Parts of a tree, by place: a part of the formula that is written twice is there twice, so that each is asked for from one
/// side alone, position after position in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub cell: CellId,
    /// Children, in the order of the formula's operands; none below the last level.
    pub children: Vec<u32>,
    /// Whether it is on the last level that is kept.
    pub cut: bool,
    /// The name of its label.
    pub label: Name,
    /// Its name, where the truth value says all; by truth value.
    pub fixed: [Option<Name>; 3],
    /// Whether it is asked for from the first position on; otherwise from the last one back.
    pub ascending: bool,
}

/// A formula and the rules by which its holograms are pruned.
#[derive(Clone, Debug)]
pub struct Plan<'f> {
    pub(crate) formula: &'f Formula,
    pub(crate) rules: Rules,
    /// Parents before children; the first is the root.
    pub(crate) places: Vec<Place>,
    /// By cell, whether its truth is looked at.
    needed: Vec<bool>,
}

/// Parts of a tree's pattern.
const MOST_PLACES: usize = 200_000;
/// Levels of a tree. Names are computed by calls as deep as the tree is.
const DEEPEST: u32 = 1_000;

impl<'f> Plan<'f> {
    /// For a formula.
    pub fn new(formula: &'f Formula, rules: Rules) -> Result<Self, Unsupported> {
        let mut plan = Plan { formula, rules, places: Vec::new(), needed: vec![false; formula.cells.len()] };
        plan.expand()?;
        for at in (0..plan.places.len()).rev() {
            let fixed = Truth::ALL.map(|truth| plan.fixed(at, truth));
            plan.places[at].fixed = fixed;
        }
        plan.need();
        Ok(plan)
    }

    /// The tree of the formula, breadth first.
    fn expand(&mut self) -> Result<(), Unsupported> {
        let deepest = self.rules.truncate.unwrap_or(u32::MAX);
        let mut level = 1;
        self.add(self.formula.root, deepest == 1, false);
        let (mut from, mut to) = (0, 1);
        while from < to {
            level += 1;
            for at in from..to {
                if self.places[at].cut {
                    continue;
                }
                let cell = &self.formula.cells[self.places[at].cell as usize];
                let ascending = match &cell.kind {
                    Kind::Walk(applied) => applied.past,
                    _ => self.places[at].ascending,
                };
                for &child in &cell.children {
                    let place = self.add(child, level >= deepest, ascending);
                    self.places[at].children.push(place);
                }
                if self.places.len() > MOST_PLACES {
                    return Err(too_large(format!("a tree with more than {MOST_PLACES} parts")));
                }
            }
            (from, to) = (to, self.places.len());
            if level > DEEPEST && from < to {
                return Err(too_large(format!("a formula nested deeper than {DEEPEST} levels")));
            }
        }
        Ok(())
    }

    fn add(&mut self, cell: CellId, cut: bool, ascending: bool) -> u32 {
        let own = &self.formula.cells[cell as usize];
        let label = name::text(if self.rules.equalities { &own.plain } else { &own.label });
        let cut = cut || own.children.is_empty();
        self.places.push(Place { cell, children: Vec::new(), cut, label, fixed: [None; 3], ascending });
        self.places.len() as u32 - 1
    }

    pub(crate) fn kind(&self, place: usize) -> &'f Kind {
        &self.formula.cells[self.places[place].cell as usize].kind
    }

    pub(crate) fn possible(&self, place: u32) -> Mask {
        self.formula.cells[self.places[place as usize].cell as usize].possible
    }

    /// Whether a child of that value is kept below a connective, a quantifier or an operator of that value. `nth` is the
    /// place among the operands.
    pub(crate) fn keeps(&self, kind: &Kind, truth: Truth, nth: usize, child: Truth) -> bool {
        if !self.rules.polarity {
            return true;
        }
        match (kind, truth) {
            (Kind::Not | Kind::Xor | Kind::Iff | Kind::Step(_) | Kind::Leaf(_), _) => true,
            (Kind::Walk(_), _) | (_, Truth::Unknown) => child == truth,
            (Kind::And, Truth::False) | (Kind::Or, Truth::True) => child == truth,
            (Kind::And, _) | (Kind::Or, _) => true,
            (Kind::Implies, Truth::True) => child == Truth::from(nth == 1),
            (Kind::Implies, _) => true,
            (Kind::Quantifier { forall, .. }, _) => *forall == (truth == Truth::True) || child == truth,
        }
    }

    /// The name of a place with that value, if nothing else has a say. Those of its children are known.
    fn fixed(&self, at: usize, truth: Truth) -> Option<Name> {
        let place = &self.places[at];
        if !self.possible(at as u32).has(truth) {
            return None;
        }
        if place.cut {
            return Some(name::tree(place.label, truth, NIL));
        }
        let kind = self.kind(at);
        let child =
            |nth: usize, truth: Truth| self.places[place.children[nth] as usize].fixed[truth as usize];
        let list = match kind {
            Kind::Step(applied) if applied.interval.is_none() => {
                let below = self.possible(place.children[0]).has(truth);
                let edge = if applied.past { Truth::from(applied.weak) } else { Truth::Unknown };
                match (below, edge == truth) {
                    (true, false) => single(child(0, truth)?),
                    (false, true) => NIL,
                    _ => return None,
                }
            }
            Kind::Walk(applied) if applied.left.is_none() && self.rules.polarity => {
                let decided = Truth::from(applied.form == Form::Until);
                if !self.possible(place.children[0]).has(truth) {
                    NIL
                } else if truth == decided && self.rules.fail_fast {
                    single(child(0, truth)?)
                } else {
                    return None;
                }
            }
            Kind::Leaf(_) | Kind::Step(_) | Kind::Walk(_) | Kind::Quantifier { .. } => return None,
            _ => {
                // All values of the operands that make it so must leave the same.
                let mut found = None;
                let last = place.children.len() - 1;
                for a in self.possible(place.children[0]).iter() {
                    for b in self.possible(place.children[last]).iter() {
                        if connective(kind, a, b) != truth || (last == 0 && a != b) {
                            continue;
                        }
                        let mut list = List::EMPTY;
                        for (nth, own) in [(1, b), (0, a)].into_iter().filter(|(nth, _)| *nth <= last) {
                            if self.keeps(kind, truth, nth, own) {
                                list.push(child(nth, own)?);
                            }
                        }
                        if found.is_some_and(|found| found != list.name()) {
                            return None;
                        }
                        found = Some(list.name());
                    }
                }
                found?
            }
        };
        Some(name::tree(place.label, truth, list))
    }

    /// Whether the root's truth is found from its children's: that of a formula is looked at once per trace.
    pub(crate) fn decides_root(&self) -> bool {
        let root = &self.places[0];
        let plain =
            matches!(self.kind(0), Kind::Walk(applied) if !applied.past && applied.interval.is_none());
        plain && !root.cut
    }

    /// Marks the cells whose truth is looked at.
    fn need(&mut self) {
        let mut todo = vec![0u32];
        while let Some(at) = todo.pop() {
            let place = &self.places[at as usize];
            let own = self.possible(at).iter().any(|truth| place.fixed[truth as usize].is_none());
            let root = at == 0 && self.decides_root();
            self.needed[place.cell as usize] |= !root;
            if let Kind::Quantifier { values, .. } = self.kind(at as usize) {
                values.iter().for_each(|(_, guard)| self.needed[*guard as usize] = true);
            }
            if own || root {
                todo.extend(self.places[at as usize].children.iter().copied());
            }
        }
    }

    /// The formula.
    pub fn formula(&self) -> &'f Formula {
        self.formula
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What an engine has to be asked for, added to the program.
    pub fn lifted(&self, program: &mut Program) -> Lifted {
        Lifted::new(program, self.formula, &self.needed)
    }
}

fn single(name: Name) -> Name {
    let mut list = List::EMPTY;
    list.push(name);
    list.name()
}

fn too_large(what: String) -> Unsupported {
    Unsupported::budget(what).help("`truncate=N` keeps the first levels alone")
}
