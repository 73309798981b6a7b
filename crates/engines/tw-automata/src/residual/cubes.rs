//! A formula split into disjoint conjunctions of atoms and their negations.

use super::{AtomId, FormulaId, Terms};

/// Conjunctions, each with the value that the formula has under it; together they are all there is.
///
/// The sets are split on one atom after the other, outside of [`Terms`]: what is on the way is needed once.
#[derive(Clone, Debug)]
pub struct Cubes {
    todo: Vec<(Vec<Vec<u32>>, Cube)>,
}

/// A conjunction: atoms, and whether each holds.
pub type Cube = Vec<(AtomId, bool)>;

impl Terms {
    /// The cubes of a formula.
    pub fn cubes(&self, formula: FormulaId) -> Cubes {
        let monomials = self.monomials(formula).into_iter().map(<[u32]>::to_vec).collect();
        Cubes { todo: vec![(monomials, Vec::new())] }
    }
}

impl Iterator for Cubes {
    type Item = (bool, Cube);

    fn next(&mut self) -> Option<(bool, Cube)> {
        loop {
            let (monomials, cube) = self.todo.pop()?;
            let Some(atom) = most_frequent(&monomials) else {
                return Some((!monomials.is_empty(), cube));
            };
            for value in [false, true] {
                let mut cube = cube.clone();
                cube.push((AtomId(atom), value));
                self.todo.push((assign(&monomials, atom, value), cube));
            }
        }
    }
}

/// The atom in most monomials: to fix it simplifies most. `None` for a constant.
fn most_frequent(monomials: &[Vec<u32>]) -> Option<u32> {
    let mut atoms: Vec<u32> = monomials.iter().flatten().copied().collect();
    atoms.sort_unstable();
    let runs = atoms.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map(|run| run[0])
}

/// The formula in which one atom is a constant.
fn assign(monomials: &[Vec<u32>], atom: u32, value: bool) -> Vec<Vec<u32>> {
    let mut rest: Vec<Vec<u32>> = Vec::with_capacity(monomials.len());
    for monomial in monomials {
        if value || !monomial.contains(&atom) {
            rest.push(monomial.iter().copied().filter(|&other| other != atom).collect());
        }
    }
    rest.sort_unstable();
    // What occurs twice cancels; one atom makes no more than two equal.
    let odd = rest.chunk_by(|a, b| a == b).filter(|equal| equal.len() % 2 == 1);
    odd.map(|equal| equal[0].clone()).collect()
}
