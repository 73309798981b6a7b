//! Sets stored once, and the ring of formulas over them: exclusive or is addition, conjunction multiplication.

use super::{Atom, AtomId, Entry, Exceeded, FormulaId, Terms};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_ir::NodeId;

/// Ascending sets of numbers, each stored once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    items: Vec<Arc<[u32]>>,
    index: FxHashMap<Arc<[u32]>, u32>,
    /// Members over all sets.
    members: usize,
}

impl Sets {
    pub(super) fn add(&mut self, set: &[u32]) -> u32 {
        if let Some(&id) = self.index.get(set) {
            return id;
        }
        let id = self.items.len() as u32;
        let set: Arc<[u32]> = set.into();
        self.members += set.len();
        self.items.push(set.clone());
        self.index.insert(set, id);
        id
    }

    pub(super) fn get(&self, id: u32) -> &[u32] {
        &self.items[id as usize]
    }

    /// As [`Sets::get`], for a caller that goes on to add sets.
    fn share(&self, id: u32) -> Arc<[u32]> {
        self.items[id as usize].clone()
    }

    fn size(&self) -> usize {
        self.members + self.items.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.members * 4 + self.items.capacity() * (16 + 16 + 40)
    }
}

impl Terms {
    /// The atom as a formula, made if it is new.
    pub(super) fn atom_formula(&mut self, atom: Atom, origin: NodeId) -> FormulaId {
        if let Some(id) = self.atom_index.get(&atom) {
            return self.atoms[id.index()].formula;
        }
        let id = AtomId(self.atoms.len() as u32);
        let monomial = self.monomials.add(&[id.0]);
        let formula = FormulaId(self.formulas.add(&[monomial]));
        let within = atom.arguments().flat_map(|argument| self.atoms_of(argument));
        let deepest = within.map(|atom| self.atoms[atom.index()].depth).max().unwrap_or(0);
        let depth = deepest + u32::from(atom.arguments().next().is_some());
        self.atoms.push(Entry { atom, origin, formula, depth });
        self.atom_index.insert(atom, id);
        self.values.push(FormulaId::FALSE);
        self.ends.push(false);
        self.marks.push(0);
        formula
    }

    /// The formula of the given monomials; those that occur an even number of times cancel.
    pub(super) fn sum(&mut self, mut monomials: Vec<u32>) -> Result<FormulaId, Exceeded> {
        cancel(&mut monomials);
        let limit = self.limits.monomials;
        if monomials.len() > limit {
            return Err(Exceeded::Monomials { found: monomials.len(), limit });
        }
        if self.formulas.size() + self.monomials.size() > self.limits.terms {
            return Err(Exceeded::Terms { limit: self.limits.terms });
        }
        Ok(FormulaId(self.formulas.add(&monomials)))
    }

    /// Adds the monomials of a formula to `into`.
    pub(super) fn append(&self, formula: FormulaId, into: &mut Vec<u32>) {
        into.extend_from_slice(self.formulas.get(formula.0));
    }

    /// Adds the monomials of a product to `into`, before cancelling.
    fn multiply(&mut self, a: FormulaId, b: FormulaId, into: &mut Vec<u32>) -> Result<(), Exceeded> {
        match (a, b) {
            (FormulaId::FALSE, _) | (_, FormulaId::FALSE) => {}
            (FormulaId::TRUE, other) | (other, FormulaId::TRUE) => self.append(other, into),
            _ => {
                let (a, b) = (self.formulas.share(a.0), self.formulas.share(b.0));
                // Much may cancel, so the product may be wider than a formula; it may not be without bound.
                let (found, limit) = (a.len().saturating_mul(b.len()), self.limits.monomials);
                if found > limit.saturating_mul(64) {
                    return Err(Exceeded::Monomials { found, limit });
                }
                if self.monomials.size() + found > self.limits.terms {
                    return Err(Exceeded::Terms { limit: self.limits.terms });
                }
                let mut both = Vec::new();
                for &x in a.iter() {
                    for &y in b.iter() {
                        if x == y {
                            into.push(x);
                            continue;
                        }
                        union(self.monomials.get(x), self.monomials.get(y), &mut both);
                        into.push(self.monomials.add(&both));
                    }
                }
            }
        }
        Ok(())
    }

    /// Conjunction.
    pub fn and(&mut self, a: FormulaId, b: FormulaId) -> Result<FormulaId, Exceeded> {
        if a == b || b == FormulaId::TRUE {
            return Ok(a);
        }
        if a == FormulaId::TRUE {
            return Ok(b);
        }
        let mut product = Vec::new();
        self.multiply(a, b, &mut product)?;
        self.sum(product)
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: FormulaId, b: FormulaId) -> Result<FormulaId, Exceeded> {
        let mut sum = Vec::new();
        self.append(a, &mut sum);
        self.append(b, &mut sum);
        self.sum(sum)
    }

    /// Negation: `true ^ a`.
    pub fn not(&mut self, a: FormulaId) -> Result<FormulaId, Exceeded> {
        self.xor(FormulaId::TRUE, a)
    }

    /// Disjunction: `a & b ^ a ^ b`.
    pub fn or(&mut self, a: FormulaId, b: FormulaId) -> Result<FormulaId, Exceeded> {
        if a == b || b == FormulaId::FALSE {
            return Ok(a);
        }
        if a == FormulaId::TRUE || b == FormulaId::TRUE {
            return Ok(FormulaId::TRUE);
        }
        let mut sum = Vec::new();
        self.multiply(a, b, &mut sum)?;
        self.append(a, &mut sum);
        self.append(b, &mut sum);
        self.sum(sum)
    }

    /// Implication: `true ^ a ^ a & b`.
    pub fn implies(&mut self, a: FormulaId, b: FormulaId) -> Result<FormulaId, Exceeded> {
        let mut sum = Vec::new();
        self.multiply(a, b, &mut sum)?;
        self.append(a, &mut sum);
        self.append(FormulaId::TRUE, &mut sum);
        self.sum(sum)
    }

    /// The formula in which every atom is replaced by its entry in `values`.
    pub(super) fn substitute(
        &mut self,
        formula: FormulaId,
        values: &[FormulaId],
    ) -> Result<FormulaId, Exceeded> {
        let mut sum = Vec::new();
        // Factors that are one conjunction are joined at once, without storing the steps on the way.
        let (mut joined, mut wide) = (Vec::new(), Vec::new());
        'monomials: for &monomial in self.formulas.share(formula.0).iter() {
            joined.clear();
            wide.clear();
            for &atom in self.monomials.get(monomial) {
                match self.formulas.get(values[atom as usize].0) {
                    [] => continue 'monomials,
                    [single] => joined.extend_from_slice(self.monomials.get(*single)),
                    _ => wide.push(values[atom as usize]),
                }
            }
            joined.sort_unstable();
            joined.dedup();
            let single = self.monomials.add(&joined);
            if wide.is_empty() {
                sum.push(single);
                continue;
            }
            wide.sort_by_key(|&factor| self.size(factor));
            let mut product = self.sum(vec![single])?;
            for &factor in &wide {
                product = self.and(product, factor)?;
            }
            self.append(product, &mut sum);
            if sum.len() > 64 * self.limits.monomials {
                cancel(&mut sum);
                let (found, limit) = (sum.len(), self.limits.monomials);
                if found > 32 * limit {
                    return Err(Exceeded::Monomials { found, limit });
                }
            }
        }
        self.sum(sum)
    }

    /// Forgets every formula but the arguments of atoms and those in `keep`, which get new ids.
    pub fn retain<'a>(&mut self, keep: impl Iterator<Item = &'a mut FormulaId>) {
        let (monomials, formulas) = (std::mem::take(&mut self.monomials), std::mem::take(&mut self.formulas));
        self.add_constants();
        let mut moved = |formula: FormulaId| {
            let of = formulas.get(formula.0);
            let mut ids: Vec<u32> = of.iter().map(|&id| self.monomials.add(monomials.get(id))).collect();
            ids.sort_unstable();
            FormulaId(self.formulas.add(&ids))
        };
        self.atom_index.clear();
        for (number, entry) in self.atoms.iter_mut().enumerate() {
            entry.atom = entry.atom.map(&mut moved);
            entry.formula = moved(entry.formula);
            self.atom_index.insert(entry.atom, AtomId(number as u32));
        }
        keep.for_each(|formula| *formula = moved(*formula));
    }

    /// `false` and `true` have the first ids.
    pub(super) fn add_constants(&mut self) {
        let one = self.monomials.add(&[]);
        self.formulas.add(&[]);
        self.formulas.add(&[one]);
    }
}

/// Sorts, and leaves one of each number that occurs an odd number of times.
fn cancel(numbers: &mut Vec<u32>) {
    numbers.sort_unstable();
    let mut kept = 0;
    for at in 0..numbers.len() {
        if kept > 0 && numbers[kept - 1] == numbers[at] {
            kept -= 1;
        } else {
            numbers[kept] = numbers[at];
            kept += 1;
        }
    }
    numbers.truncate(kept);
}

/// The union of two ascending sets.
fn union(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        out.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
}
