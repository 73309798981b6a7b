//! What an event turns a formula into.

use super::{Atom, AtomId, Exceeded, FormulaId, Terms};
use tw_ir::{Form, Row};

/// The propositions at one position.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The program's atoms, packed 64 to a word.
    pub row: &'a [u64],
    /// How many atoms the program has.
    pub atoms: u32,
    /// What each past operator is worth.
    pub past: &'a [bool],
}

impl Event<'_> {
    /// Whether a proposition holds.
    pub fn holds(&self, proposition: u32) -> bool {
        if proposition < self.atoms {
            self.row[proposition as usize / 64] >> (proposition % 64) & 1 == 1
        } else {
            self.past[(proposition - self.atoms) as usize]
        }
    }
}

impl Terms {
    /// The atoms that a formula rests on, ascending; arguments of an atom are entered if `enter` says so.
    pub(super) fn needed(&mut self, formula: FormulaId, enter: impl Fn(Atom) -> bool) -> Vec<AtomId> {
        self.walk += 1;
        let (mut found, mut todo) = (Vec::new(), vec![formula]);
        while let Some(formula) = todo.pop() {
            for &monomial in self.formulas.get(formula.0) {
                for &atom in self.monomials.get(monomial) {
                    let mark = &mut self.marks[atom as usize];
                    if std::mem::replace(mark, self.walk) == self.walk {
                        continue;
                    }
                    found.push(AtomId(atom));
                    let atom = self.atoms[atom as usize].atom;
                    if enter(atom) {
                        todo.extend(atom.arguments());
                    }
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The obligation that remains after an event that is not the last: `φ{e}`.
    pub fn after(&mut self, formula: FormulaId, event: &Event<'_>) -> Result<FormulaId, Exceeded> {
        let needed = self.needed(formula, |atom| !atom.is_step());
        let mut values = std::mem::take(&mut self.values);
        let mut result = Ok(());
        for id in needed {
            match self.atom_after(id, event, &values) {
                Ok(value) => values[id.index()] = value,
                Err(exceeded) => {
                    result = Err(exceeded);
                    break;
                }
            }
        }
        let formula = result.and_then(|()| self.substitute(formula, &values));
        self.values = values;
        formula
    }

    /// As [`Terms::after`] for one atom; `values` are those of smaller atoms.
    fn atom_after(
        &mut self,
        id: AtomId,
        event: &Event<'_>,
        values: &[FormulaId],
    ) -> Result<FormulaId, Exceeded> {
        let itself = self.atoms[id.index()].formula;
        match self.atom(id) {
            Atom::Proposition(proposition) => Ok(FormulaId::constant(event.holds(proposition))),
            Atom::Last => Ok(FormulaId::FALSE),
            Atom::State(_) => Ok(FormulaId::constant(self.codes[&id].holds(event, false))),
            Atom::Temporal(operator, left, right) => {
                let form = operator.row().form;
                if form == Form::Step {
                    return Ok(right);
                }
                let left = left.map(|left| self.substitute(left, values)).transpose()?;
                let right = self.substitute(right, values)?;
                match (form, left) {
                    (Form::Release, Some(left)) => {
                        let released = self.or(left, itself)?;
                        self.and(right, released)
                    }
                    (Form::Release, None) => self.and(itself, right),
                    (_, Some(left)) => {
                        let stay = self.and(left, itself)?;
                        self.or(right, stay)
                    }
                    (_, None) => self.or(itself, right),
                }
            }
        }
    }

    /// The verdict after an event that is the last: `φ{e*}`.
    pub fn at_end(&mut self, formula: FormulaId, event: &Event<'_>) -> bool {
        let repeat_last = self.repeat_last;
        let needed = self.needed(formula, |atom| repeat_last || !atom.is_step());
        let mut ends = std::mem::take(&mut self.ends);
        for id in needed {
            let end = |formula: FormulaId| self.evaluate(formula, &ends);
            ends[id.index()] = match self.atom(id) {
                Atom::Proposition(proposition) => event.holds(proposition),
                Atom::Last => true,
                Atom::State(_) => self.codes[&id].holds(event, true),
                Atom::Temporal(operator, left, right) => {
                    let Row { form, weak, .. } = *operator.row();
                    match form {
                        Form::Step if repeat_last => end(right),
                        Form::Step => weak,
                        // What is left of `g | f & …` and `g & (f | …)` at the end.
                        Form::Until => end(right) || (weak && left.is_some_and(end)),
                        Form::Release => end(right) && (weak || left.is_some_and(end)),
                    }
                }
            };
        }
        let verdict = self.evaluate(formula, &ends);
        self.ends = ends;
        verdict
    }

    /// The value of a formula whose atoms have the given ones.
    pub(super) fn evaluate(&self, formula: FormulaId, values: &[bool]) -> bool {
        let holds =
            |monomial: &&u32| self.monomials.get(**monomial).iter().all(|&atom| values[atom as usize]);
        self.formulas.get(formula.0).iter().filter(holds).count() % 2 == 1
    }

    /// The propositions that decide what an event turns the formula into, ascending: as a rest, and as an end.
    pub fn support(&mut self, formula: FormulaId) -> Vec<u32> {
        let repeat_last = self.repeat_last;
        let needed = self.needed(formula, |atom| repeat_last || !atom.is_step());
        let mut support = Vec::new();
        for id in needed {
            match self.atom(id) {
                Atom::Proposition(proposition) => support.push(proposition),
                Atom::State(_) => support.extend(self.codes[&id].support()),
                _ => {}
            }
        }
        support.sort_unstable();
        support.dedup();
        support
    }
}
