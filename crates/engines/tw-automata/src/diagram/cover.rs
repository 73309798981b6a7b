//! A truth function as a disjunction of few conjunctions, to be read by people and asked about one by one.

use super::{Diagram, Diagrams, Full};
use rustc_hash::FxHashMap;

/// A conjunction of literals: variables with the values they must have, ascending.
pub type Cube = Vec<(u32, bool)>;

impl Diagrams {
    /// Conjunctions whose disjunction is the function: irredundant, and prime, so none can lose a literal. `None`
    /// when there are more than `limit`.
    ///
    /// The algorithm of Minato and Morreale: what needs the topmost variable false, what needs it true, and then the
    /// rest, which is covered without it.
    pub fn cover(&mut self, diagram: Diagram, limit: usize) -> Result<Option<Vec<Cube>>, Full> {
        let mut covering = Covering { diagrams: self, done: FxHashMap::default(), limit };
        Ok(covering.between(diagram, diagram)?.map(|(_, cubes)| cubes))
    }

    /// Up to `limit` conjunctions that imply the function: its first paths to true.
    pub fn paths(&self, diagram: Diagram, limit: usize) -> Vec<Cube> {
        let (mut todo, mut found) = (vec![(diagram, Cube::new())], Vec::new());
        while let Some((diagram, path)) = todo.pop()
            && found.len() < limit
        {
            match self.branches(diagram) {
                None if diagram == Diagram::TRUE => found.push(path),
                None => {}
                Some((variable, low, high)) => {
                    for (next, value) in [(high, true), (low, false)] {
                        let mut longer = path.clone();
                        longer.push((variable, value));
                        todo.push((next, longer));
                    }
                }
            }
        }
        found
    }
}

/// A function and the cubes that make it up.
type Covered = Option<(Diagram, Vec<Cube>)>;

struct Covering<'a> {
    diagrams: &'a mut Diagrams,
    done: FxHashMap<(Diagram, Diagram), Covered>,
    limit: usize,
}

impl Covering<'_> {
    /// Some function that holds at least where `lower` does and at most where `upper` does, with few cubes.
    fn between(&mut self, lower: Diagram, upper: Diagram) -> Result<Covered, Full> {
        if lower == Diagram::FALSE {
            return Ok(Some((Diagram::FALSE, Vec::new())));
        }
        if upper == Diagram::TRUE {
            return Ok(Some((Diagram::TRUE, vec![Cube::new()])));
        }
        if let Some(known) = self.done.get(&(lower, upper)) {
            return Ok(known.clone());
        }
        let covered = self.split(lower, upper)?;
        self.done.insert((lower, upper), covered.clone());
        Ok(covered)
    }

    fn split(&mut self, lower: Diagram, upper: Diagram) -> Result<Covered, Full> {
        let top = self.diagrams.top(lower).min(self.diagrams.top(upper));
        let part = |diagrams: &Diagrams, value| {
            (diagrams.cofactor(lower, top, value), diagrams.cofactor(upper, top, value))
        };
        let (lower0, upper0) = part(self.diagrams, false);
        let (lower1, upper1) = part(self.diagrams, true);
        let must0 = self.without(lower0, upper1)?;
        let Some((function0, cubes0)) = self.between(must0, upper0)? else { return Ok(None) };
        let must1 = self.without(lower1, upper0)?;
        let Some((function1, cubes1)) = self.between(must1, upper1)? else { return Ok(None) };
        let (rest0, rest1) = (self.without(lower0, function0)?, self.without(lower1, function1)?);
        let (rest, upper) = (self.diagrams.or(rest0, rest1)?, self.diagrams.and(upper0, upper1)?);
        let Some((function, cubes)) = self.between(rest, upper)? else { return Ok(None) };
        if cubes0.len() + cubes1.len() + cubes.len() > self.limit {
            return Ok(None);
        }
        let (low, high) = (self.diagrams.or(function, function0)?, self.diagrams.or(function, function1)?);
        let whole = self.diagrams.node(top, low, high)?;
        let mut all = Vec::new();
        for (value, cubes) in [(true, cubes1), (false, cubes0)] {
            all.extend(cubes.into_iter().map(|mut cube| {
                cube.insert(0, (top, value));
                cube
            }));
        }
        all.extend(cubes);
        Ok(Some((whole, all)))
    }

    fn without(&mut self, f: Diagram, g: Diagram) -> Result<Diagram, Full> {
        let negated = self.diagrams.not(g)?;
        self.diagrams.and(f, negated)
    }
}
