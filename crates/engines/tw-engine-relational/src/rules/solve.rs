//! The solutions of a rule's steps at a position.

use super::memory::{Memory, Now};
use super::steps::{Check, Rules, Slot, Step};
use crate::gate::Plan;
use crate::key::Key;
use crate::predicate::Input;
use crate::truth::Refused;
use tw_core::{Column, Relation, Value};
use tw_monitor::Positions;

/// What a rule reads, and the values of its variables.
pub(crate) struct Solve<'s> {
    pub(crate) plan: &'s Plan,
    pub(crate) rules: &'s Rules,
    pub(crate) tables: &'s [Memory],
    pub(crate) positions: &'s Positions<'s>,
    pub(crate) place: usize,
    pub(crate) now: Now,
    /// The atoms of `Rules::bits` at the position before.
    pub(crate) bits: &'s [bool],
    pub(crate) env: &'s mut Vec<Key>,
    pub(crate) cursors: &'s mut [u32],
    pub(crate) refused: &'s mut Option<Refused>,
}

/// Who is given solutions, and says whether they are enough.
type Emit<'e, 's> = dyn FnMut(&mut Solve<'s>) -> bool + 'e;

impl<'s> Solve<'s> {
    /// Shows every solution until one is enough, and says whether one was.
    pub(crate) fn run(&mut self, steps: &[Step], emit: &mut Emit<'_, 's>) -> bool {
        let Some((step, rest)) = steps.split_first() else { return emit(self) };
        match step {
            Step::Event { place, binds, checks } => {
                let relation = &self.positions.relations[*place];
                'tuples: for number in relation.tuples(self.place) {
                    for (column, slot, whole) in binds {
                        match Key::of(&relation.columns()[*column], number) {
                            Some(key) if !whole || key.is_whole() => self.env[*slot] = key,
                            _ => continue 'tuples,
                        }
                    }
                    if self.same(relation, number, checks) && self.run(rest, emit) {
                        return true;
                    }
                }
                false
            }
            Step::Scan { table, before, index, key, binds } => {
                let Memory::Finite(finite) = &self.tables[*table] else { return false };
                let mut see = |own: &mut Self, row: u32| {
                    if !finite.sees(finite.table.stamp(row), *before, own.now) {
                        return false;
                    }
                    let values = finite.table.row(row);
                    for (column, slot) in binds {
                        own.env[*slot] = values[*column].clone();
                    }
                    own.run(rest, emit)
                };
                match index {
                    Some(index) => {
                        let rows = {
                            let env = &*self.env;
                            finite.table.matching(*index, key.iter().map(|slot| &env[*slot]))
                        };
                        rows.iter().any(|row| see(self, *row))
                    }
                    None => finite.table.all().any(|row| see(self, row)),
                }
            }
            Step::Equals { predicate, slots, slot, level, whole } => {
                let own = &self.plan.predicates[*predicate as usize];
                let Some(values) = self.values(*predicate, slots, Some(*slot)) else { return false };
                let keys = own.names(&self.plan.program, *level, &values).unwrap_or_default();
                for key in keys {
                    if !whole || key.is_whole() {
                        self.env[*slot] = key;
                        if self.run(rest, emit) {
                            return true;
                        }
                    }
                }
                false
            }
            Step::AsOfScan { table, key, row, skip, cursor, .. } => {
                let Memory::AsOf(as_of) = &self.tables[*table] else { return false };
                let Memory::Finite(of) = &self.tables[as_of.of] else { return false };
                let length = {
                    let env = &*self.env;
                    as_of.length(key.iter().map(|slot| &env[*slot]))
                };
                let mut first = 0;
                if let Some((skip, before)) = skip
                    && let Memory::Finite(skipped) = &self.tables[*skip]
                {
                    first = self.cursors[*cursor];
                    while first < of.table.end() && skipped.has(of.table.row(first).iter(), *before, self.now)
                    {
                        first += 1;
                    }
                    self.cursors[*cursor] = first;
                }
                for number in first..length {
                    let values = of.table.row(number);
                    let fits = row.iter().zip(values).all(|((slot, bound), value)| {
                        if *bound {
                            return self.env[*slot] == *value;
                        }
                        self.env[*slot] = value.clone();
                        true
                    });
                    if fits && self.run(rest, emit) {
                        return true;
                    }
                }
                false
            }
            test => self.test(test) && self.run(rest, emit),
        }
    }

    fn keys<'k>(&'k self, slots: &'k [Slot]) -> impl Iterator<Item = &'k Key> + Clone {
        slots.iter().map(|slot| &self.env[*slot])
    }

    fn same(&self, relation: &Relation, number: usize, checks: &[Check]) -> bool {
        checks.iter().all(|(column, slot)| match (&relation.columns()[*column], &self.env[*slot]) {
            (Column::Int { values, .. }, Key::Int(own)) => values[number] == *own,
            (column, own) => Key::of(column, number).as_ref() == Some(own),
        })
    }

    /// The inputs of a predicate here; `open` is the variable that has no value yet.
    fn values(&mut self, predicate: u32, slots: &[Slot], open: Option<Slot>) -> Option<Vec<Option<Value>>> {
        let mut slots = slots.iter();
        let mut values = Vec::new();
        for (_, input) in &self.plan.predicates[predicate as usize].inputs {
            values.push(match input {
                Input::Variable(_) => {
                    let slot = *slots.next()?;
                    (open != Some(slot)).then(|| self.env[slot].value())
                }
                Input::Term(term) => match self.positions.terms[*term].at(self.place) {
                    Ok(value) => Some(value),
                    Err(message) => {
                        self.refused.get_or_insert(Refused::Value(message.to_string()));
                        return None;
                    }
                },
                Input::Tally(_) => return None,
            });
        }
        Some(values)
    }

    fn test(&mut self, step: &Step) -> bool {
        match step {
            Step::Happened { place, checks, negated } => {
                let relation = &self.positions.relations[*place];
                let mut tuples = relation.tuples(self.place);
                tuples.any(|number| self.same(relation, number, checks)) != *negated
            }
            Step::Bit { place, before: false, negated } => {
                self.positions.atoms[*place].get(self.place) != *negated
            }
            Step::Bit { place, negated, .. } => {
                let at = self.rules.bits.iter().position(|own| own == place);
                at.is_some_and(|at| self.bits[at]) != *negated
            }
            Step::First { negated } => (self.now.at == 0) != *negated,
            Step::Previous { ticks, negated } => {
                let distance = self.now.time.saturating_sub(self.now.before);
                (self.now.at > 0 && ticks.contains(distance)) != *negated
            }
            Step::Compare { predicate, slots, negated } => {
                let Some(values) = self.values(*predicate, slots, None) else { return false };
                let values: Vec<Value> = values.into_iter().flatten().collect();
                match self.plan.predicates[*predicate as usize].truth(&self.plan.program, &values) {
                    Ok(holds) => holds != *negated,
                    Err(message) => {
                        self.refused.get_or_insert(Refused::Value(message));
                        false
                    }
                }
            }
            Step::Probe { table, before, row, negated } => {
                let Memory::Finite(finite) = &self.tables[*table] else { return false };
                finite.has(self.keys(row), *before, self.now) != *negated
            }
            Step::Some { bodies, negated } => {
                bodies.iter().any(|steps| self.run(steps, &mut |_| true)) != *negated
            }
            Step::Signed { table, key, value, negated, .. } => {
                let Memory::Signed(signed) = &self.tables[*table] else { return false };
                let taken = signed.of(self.keys(key)).is_some_and(|left| !left.contains(&self.env[*value]));
                taken != *negated
            }
            Step::Meet { tables, value, rest, negated } => self.meet(tables, *value, rest) != *negated,
            Step::AsOf { table, key, row, negated, .. } => {
                let Memory::AsOf(as_of) = &self.tables[*table] else { return false };
                let Memory::Finite(of) = &self.tables[as_of.of] else { return false };
                let length = as_of.length(self.keys(key));
                of.table.find(self.keys(row)).is_some_and(|row| row < length) != *negated
            }
            Step::Event { .. } | Step::Scan { .. } | Step::Equals { .. } | Step::AsOfScan { .. } => false,
        }
    }

    /// Whether some value is left by all signed tables and passes the rest.
    fn meet(&mut self, tables: &[(usize, Vec<Slot>)], value: Slot, rest: &[Step]) -> bool {
        let mut fewest: Option<&'s [Key]> = None;
        for (table, key) in tables {
            let Memory::Signed(signed) = &self.tables[*table] else { return false };
            if let Some(left) = signed.of(self.keys(key))
                && fewest.is_none_or(|few| left.len() < few.len())
            {
                fewest = Some(left);
            }
        }
        // Of the infinitely many values the others exclude finitely many.
        let Some(fewest) = fewest else { return true };
        fewest.iter().any(|key| {
            self.env[value] = key.clone();
            self.run(rest, &mut |_| true)
        })
    }
}
