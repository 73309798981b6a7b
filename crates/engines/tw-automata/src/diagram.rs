//! Reduced ordered binary decision diagrams, small ones: the truth functions that residuals and transitions are.
//!
//! A diagram is a node ⟨variable, low, high⟩ or a constant; variables grow from the root down, no node has equal
//! branches and equal nodes are stored once. Two diagrams are therefore the same function exactly when they are the
//! same number, which is what makes residuals comparable ("Monitoring Programs using Rewriting" uses exclusive-or of
//! conjunctions for that purpose; those grow exponentially on wide disjunctions, diagrams do not).
//!
//! Every operation that may make nodes ends in [`Full`] when there would be more than the limit. Recursion is on
//! variables, of which there are at most [`VARIABLES`].

mod copy;
mod cover;

pub use cover::Cube;

use rustc_hash::FxHashMap;

/// Variables are below this number, which bounds the depth of recursion.
pub const VARIABLES: usize = 4096;

/// A truth function. Equal functions of the same [`Diagrams`] are equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Diagram(u32);

impl Diagram {
    /// False everywhere.
    pub const FALSE: Diagram = Diagram(0);
    /// True everywhere.
    pub const TRUE: Diagram = Diagram(1);

    /// A constant.
    pub fn constant(value: bool) -> Self {
        Diagram(u32::from(value))
    }

    /// The value of a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }
}

/// There would be more nodes than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full(pub usize);

/// The variable, and the functions where it is false and where it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    low: Diagram,
    high: Diagram,
}

/// Constants stand below all variables.
const BELOW: u32 = u32::MAX;

/// An arena of diagrams. Branches stand before the nodes that have them.
#[derive(Clone, Debug)]
pub struct Diagrams {
    nodes: Vec<Node>,
    unique: FxHashMap<Node, Diagram>,
    choices: FxHashMap<(Diagram, Diagram, Diagram), Diagram>,
    limit: usize,
}

impl Diagrams {
    /// An arena for at most `limit` nodes.
    pub fn new(limit: usize) -> Self {
        let constant = |value| Node { variable: BELOW, low: value, high: value };
        let nodes = vec![constant(Diagram::FALSE), constant(Diagram::TRUE)];
        Self { nodes, unique: FxHashMap::default(), choices: FxHashMap::default(), limit }
    }

    /// Number of nodes, constants included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are constants only.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 2
    }

    /// The topmost variable with the functions below it; `None` for constants.
    pub fn branches(&self, diagram: Diagram) -> Option<(u32, Diagram, Diagram)> {
        let Node { variable, low, high } = self.nodes[diagram.0 as usize];
        (variable != BELOW).then_some((variable, low, high))
    }

    /// The topmost variable; larger than any for constants.
    pub fn top(&self, diagram: Diagram) -> u32 {
        self.nodes[diagram.0 as usize].variable
    }

    /// What is left of a function once a variable, which is not below its topmost one, is known.
    pub fn cofactor(&self, diagram: Diagram, variable: u32, value: bool) -> Diagram {
        let node = self.nodes[diagram.0 as usize];
        debug_assert!(node.variable >= variable);
        match (node.variable == variable, value) {
            (false, _) => diagram,
            (true, false) => node.low,
            (true, true) => node.high,
        }
    }

    /// If `variable` then `high` else `low`; both are functions of larger variables.
    pub fn node(&mut self, variable: u32, low: Diagram, high: Diagram) -> Result<Diagram, Full> {
        debug_assert!((variable as usize) < VARIABLES);
        debug_assert!(variable < self.top(low) && variable < self.top(high));
        if low == high {
            return Ok(low);
        }
        let node = Node { variable, low, high };
        if let Some(&known) = self.unique.get(&node) {
            return Ok(known);
        }
        if self.nodes.len() >= self.limit {
            return Err(Full(self.limit));
        }
        let diagram = Diagram(self.nodes.len() as u32);
        self.nodes.push(node);
        self.unique.insert(node, diagram);
        Ok(diagram)
    }

    /// A variable.
    pub fn variable(&mut self, variable: u32) -> Result<Diagram, Full> {
        self.node(variable, Diagram::FALSE, Diagram::TRUE)
    }

    /// If `f` then `g` else `h`: every connective is one of these.
    pub fn choose(&mut self, f: Diagram, g: Diagram, h: Diagram) -> Result<Diagram, Full> {
        match (f, g, h) {
            (Diagram::TRUE, _, _) => return Ok(g),
            (Diagram::FALSE, _, _) => return Ok(h),
            (_, Diagram::TRUE, Diagram::FALSE) => return Ok(f),
            _ if g == h => return Ok(g),
            _ => {}
        }
        // `f & g` and `f | h` in one order only.
        let key = match (f, g, h) {
            (f, g, Diagram::FALSE) if g < f => (g, f, Diagram::FALSE),
            (f, Diagram::TRUE, h) if h < f => (h, Diagram::TRUE, f),
            key => key,
        };
        if let Some(&known) = self.choices.get(&key) {
            return Ok(known);
        }
        let (f, g, h) = key;
        let top = self.top(f).min(self.top(g)).min(self.top(h));
        let mut part = |value| {
            let (f, g, h) =
                (self.cofactor(f, top, value), self.cofactor(g, top, value), self.cofactor(h, top, value));
            self.choose(f, g, h)
        };
        let (low, high) = (part(false)?, part(true)?);
        let result = self.node(top, low, high)?;
        // What is remembered is bounded as the nodes are; losing it costs time only.
        if self.choices.len() > 2 * self.limit {
            self.choices.clear();
        }
        self.choices.insert(key, result);
        Ok(result)
    }

    /// Negation.
    pub fn not(&mut self, f: Diagram) -> Result<Diagram, Full> {
        self.choose(f, Diagram::FALSE, Diagram::TRUE)
    }

    /// Conjunction.
    pub fn and(&mut self, f: Diagram, g: Diagram) -> Result<Diagram, Full> {
        self.choose(f, g, Diagram::FALSE)
    }

    /// Disjunction.
    pub fn or(&mut self, f: Diagram, g: Diagram) -> Result<Diagram, Full> {
        self.choose(f, Diagram::TRUE, g)
    }

    /// Exclusive or.
    pub fn xor(&mut self, f: Diagram, g: Diagram) -> Result<Diagram, Full> {
        let negated = self.not(g)?;
        self.choose(f, negated, g)
    }

    /// Every variable replaced by a function, all at once. `done` remembers the results for the same replacement.
    pub fn compose(
        &mut self,
        diagram: Diagram,
        replacement: &dyn Fn(u32) -> Diagram,
        done: &mut FxHashMap<Diagram, Diagram>,
    ) -> Result<Diagram, Full> {
        let Some((variable, low, high)) = self.branches(diagram) else { return Ok(diagram) };
        if let Some(&known) = done.get(&diagram) {
            return Ok(known);
        }
        let low = self.compose(low, replacement, done)?;
        let high = self.compose(high, replacement, done)?;
        let result = self.choose(replacement(variable), high, low)?;
        done.insert(diagram, result);
        Ok(result)
    }

    /// The value where the variables have the given ones.
    pub fn evaluate(&self, mut diagram: Diagram, value: impl Fn(u32) -> bool) -> bool {
        while let Some((variable, low, high)) = self.branches(diagram) {
            diagram = if value(variable) { high } else { low };
        }
        diagram == Diagram::TRUE
    }

    /// The variables that matter, ascending.
    pub fn support(&self, diagram: Diagram) -> Vec<u32> {
        let mut variables: Vec<u32> =
            self.below(&[diagram]).into_iter().map(|index| self.nodes[index].variable).collect();
        variables.sort_unstable();
        variables.dedup();
        variables
    }

    /// Number of nodes of one diagram.
    pub fn size(&self, diagram: Diagram) -> usize {
        self.below(&[diagram]).len()
    }

    /// Indices of the nodes below some, constants left out.
    fn below(&self, roots: &[Diagram]) -> Vec<usize> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = roots.to_vec();
        let mut found = Vec::new();
        while let Some(diagram) = todo.pop() {
            if let Some((_, low, high)) = self.branches(diagram)
                && seen.insert(diagram)
            {
                found.push(diagram.0 as usize);
                todo.extend([low, high]);
            }
        }
        found
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.unique.capacity() * 20 + self.choices.capacity() * 20
    }
}

#[cfg(test)]
mod tests;
