//! Truth on infinite words, by definition: the oracle of three-valued verdicts.
//!
//! The words are lassos, a stem and a cycle repeated for ever. A satisfiable formula is satisfied by some lasso, so
//! trying all short ones tells what a continuation can do, as long as formulas are small. Many lassos of one shape are
//! tried together, one in each bit of a word.

use tw_ir::{Node, NodeId, Program};

/// How long lassos are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Longest stem.
    pub stem: usize,
    /// Longest cycle, at least 1.
    pub cycle: usize,
    /// Longest stem and cycle together.
    pub total: usize,
}

/// Whether the formula holds at the first position of the stem followed by the cycle for ever. A position is a word
/// with bit `i` for the atom `Program::atoms()[i]`.
pub fn holds(program: &Program, root: NodeId, stem: &[u64], cycle: &[u64]) -> bool {
    let definition = Definition::new(program, root);
    let spread = |row: &u64| {
        (0..definition.atoms).map(|atom| if row >> atom & 1 == 1 { u64::MAX } else { 0 }).collect()
    };
    let rows: Vec<Vec<u64>> = stem.iter().chain(cycle).map(spread).collect();
    definition.truth(rows, stem.len()) & 1 == 1
}

/// Whether on some continuation of the prefix within bounds the formula is worth `value` at the first position:
/// lassos over the program's atoms, shortest first.
pub fn exists(program: &Program, root: NodeId, value: bool, prefix: &[u64], bounds: Bounds) -> bool {
    let definition = Definition::new(program, root);
    let mut found = false;
    for total in 1..=bounds.total {
        for cycle in 1..=total.min(bounds.cycle) {
            let stem = total - cycle;
            if stem <= bounds.stem && !found {
                each_word(definition.atoms, prefix, total, |rows, valid| {
                    let truth = definition.truth(rows, prefix.len() + stem);
                    found = (if value { truth } else { !truth }) & valid != 0;
                    !found
                });
            }
        }
    }
    found
}

/// Whether some continuation of the prefix within bounds satisfies the formula, and whether some violates it.
pub fn naive_ltl3(program: &Program, root: NodeId, prefix: &[u64], bounds: Bounds) -> (bool, bool) {
    (exists(program, root, true, prefix, bounds), exists(program, root, false, prefix, bounds))
}

/// Calls `with` on all words of `len` letters after the prefix, 64 at a time: rows of atoms, and which bits are words.
/// Stops when told to.
fn each_word(atoms: usize, prefix: &[u64], len: usize, mut with: impl FnMut(Vec<Vec<u64>>, u64) -> bool) {
    /// Bit `i` of the numbers 0..64, as columns.
    const COUNTING: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    let bits = atoms * len;
    assert!(bits < 40, "too many words to try: {atoms} atoms, {len} letters");
    let all = |bit: bool| if bit { u64::MAX } else { 0 };
    for block in 0..1u64 << bits.saturating_sub(6) {
        let letter =
            |bit: usize| COUNTING.get(bit).copied().unwrap_or_else(|| all(block >> (bit - 6) & 1 == 1));
        let before = prefix.iter().map(|row| (0..atoms).map(|atom| all(row >> atom & 1 == 1)).collect());
        let after = (0..len).map(|at| (0..atoms).map(|atom| letter(at * atoms + atom)).collect());
        let valid = if bits >= 6 { u64::MAX } else { (1 << (1 << bits)) - 1 };
        if !with(before.chain(after).collect(), valid) {
            return;
        }
    }
}

/// A formula, to be read on 64 lassos of one shape at a time.
struct Definition<'p> {
    program: &'p Program,
    /// Subformulas, operands first, and which atom each is.
    parts: Vec<(NodeId, Option<usize>)>,
    atoms: usize,
    /// Past operators.
    past: usize,
}

impl<'p> Definition<'p> {
    fn new(program: &'p Program, root: NodeId) -> Self {
        let atoms = program.atoms();
        let nodes = program.reachable(&[root]).into_iter();
        let parts: Vec<_> = nodes.map(|id| (id, atoms.binary_search(&id).ok())).collect();
        let is_past = |node: Node| node.is_past() || node == Node::First;
        let past = parts.iter().filter(|(id, _)| is_past(program.dag.node(*id))).count();
        Definition { program, parts, atoms: atoms.len(), past }
    }

    /// The truth of the formula at the first position, one bit for each lasso: `rows` hold one word per atom, and after
    /// the last comes position `back`.
    fn truth(&self, mut rows: Vec<Vec<u64>>, mut back: usize) -> u64 {
        // Operators that look back may tell the first rounds of a cycle apart, one more round for each that is nested
        // in another: the cycle is written out that often before it repeats.
        let cycle: Vec<Vec<u64>> = rows[back..].to_vec();
        for _ in 0..self.past {
            back = rows.len();
            rows.extend(cycle.iter().cloned());
        }
        let places = Places { len: rows.len(), back };
        let mut columns: Vec<Vec<u64>> = vec![Vec::new(); self.program.dag.len()];
        for &(id, atom) in &self.parts {
            columns[id.index()] = match atom {
                Some(atom) => rows.iter().map(|row| row[atom]).collect(),
                None => places.column(self.program.dag.node(id), &columns),
            };
        }
        self.parts.last().map_or(0, |(root, _)| columns[root.index()][0])
    }
}

/// The positions of a lasso.
struct Places {
    len: usize,
    /// The position after the last.
    back: usize,
}

impl Places {
    fn next(&self, at: usize) -> usize {
        if at + 1 < self.len { at + 1 } else { self.back }
    }

    fn column(&self, node: Node, columns: &[Vec<u64>]) -> Vec<u64> {
        use Node::*;
        const NO: u64 = 0;
        const YES: u64 = u64::MAX;
        let of = |id: NodeId, at: usize| columns[id.index()][at];
        let here = |value: &dyn Fn(usize) -> u64| (0..self.len).map(value).collect();
        if let Some(operator) = node.temporal() {
            let edge = if operator.weak { YES } else { NO };
            // The least or the greatest solution of the operator's own equation.
            let equation = |at: usize, neighbour: u64| {
                let left = operator.left.map(|left| of(left, at));
                operator.unfold(left, of(operator.right, at), neighbour)
            };
            let right = operator.right;
            return match (operator.is_step(), operator.past) {
                (true, false) => here(&|at| of(right, self.next(at))),
                (true, true) => here(&|at| if at == 0 { edge } else { of(right, at - 1) }),
                (false, false) => self.future(edge, equation),
                (false, true) => self.past(edge, equation),
            };
        }
        match node {
            Bool(value) => here(&|_| if value { YES } else { NO }),
            First => here(&|at| if at == 0 { YES } else { NO }),
            Last => here(&|_| NO),
            Not(a) => here(&|at| !of(a, at)),
            And(a, b) => here(&|at| of(a, at) & of(b, at)),
            Or(a, b) => here(&|at| of(a, at) | of(b, at)),
            Xor(a, b) => here(&|at| of(a, at) ^ of(b, at)),
            Implies(a, b) => here(&|at| !of(a, at) | of(b, at)),
            Iff(a, b) => here(&|at| !(of(a, at) ^ of(b, at))),
            _ => panic!("{} has no truth on a lasso", node.operator()),
        }
    }

    fn future(&self, start: u64, equation: impl Fn(usize, u64) -> u64) -> Vec<u64> {
        let mut column = vec![start; self.len];
        loop {
            let mut changed = false;
            for at in (0..column.len()).rev() {
                let value = equation(at, column[self.next(at)]);
                changed |= std::mem::replace(&mut column[at], value) != value;
            }
            if !changed {
                return column;
            }
        }
    }

    fn past(&self, start: u64, equation: impl Fn(usize, u64) -> u64) -> Vec<u64> {
        let mut before = start;
        let step = |at| {
            before = equation(at, before);
            before
        };
        (0..self.len).map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_ir::{Path, Root, RootKind, Slot, Temporal, What};

    /// A program over the propositions a (bit 0) and b (bit 1) whose root is what `make` makes of them.
    fn program(make: impl FnOnce(&mut tw_ir::Dag, NodeId, NodeId) -> Node) -> (Program, NodeId) {
        let mut program = Program::default();
        for name in ["a", "b"] {
            let what = What::Proposition(Path::field(name));
            program.slots.push(Slot { what, declared: false, span: Default::default() });
        }
        let (a, b) = (program.dag.add(Node::Truth(0)), program.dag.add(Node::Truth(1)));
        let made = make(&mut program.dag, a, b);
        let made = program.dag.add(made);
        // Both propositions occur, so that both are atoms.
        let unread = program.dag.add(Node::And(a, b));
        for node in [made, unread] {
            let (name, span) = (String::new(), Default::default());
            program.roots.push(Root {
                name,
                title: None,
                division: Default::default(),
                kind: RootKind::Property,
                node,
                span,
            });
        }
        (program, made)
    }

    const BOUNDS: Bounds = Bounds { stem: 2, cycle: 2, total: 4 };

    #[test]
    fn operators_on_a_lasso() {
        // a, then b for ever and a every other time.
        let (stem, cycle) = ([1], [2, 3]);
        let check = |expected: bool, make: &dyn Fn(&mut tw_ir::Dag, NodeId, NodeId) -> Node| {
            let (program, root) = program(make);
            assert_eq!(holds(&program, root, &stem, &cycle), expected, "{}", tw_ir::display(&program, root));
        };
        check(true, &|_, a, b| Node::Binary(Temporal::Until, None, a, b));
        check(false, &|_, _, b| Node::Unary(Temporal::Globally, None, b));
        check(true, &|dag, a, _| {
            let often = dag.add(Node::Unary(Temporal::Finally, None, a));
            Node::Unary(Temporal::Globally, None, often)
        });
        check(false, &|dag, a, _| {
            let always = dag.add(Node::Unary(Temporal::Globally, None, a));
            Node::Unary(Temporal::Finally, None, always)
        });
        check(true, &|dag, _, b| {
            let next = dag.add(Node::Unary(Temporal::Globally, None, b));
            Node::Unary(Temporal::Next, None, next)
        });
        // Position 2 has b and b before it; every later one, too.
        check(true, &|dag, _, b| {
            let before = dag.add(Node::Unary(Temporal::Previous, None, b));
            let always = dag.add(Node::Unary(Temporal::Globally, None, before));
            Node::Unary(Temporal::Finally, None, always)
        });
        check(false, &|dag, _, b| {
            let since = dag.add(Node::Unary(Temporal::Historically, None, b));
            Node::Unary(Temporal::Finally, None, since)
        });
        check(true, &|dag, _, _| {
            let first = dag.add(Node::First);
            let not = dag.add(Node::Not(first));
            let always = dag.add(Node::Unary(Temporal::Globally, None, not));
            Node::Unary(Temporal::Next, None, always)
        });
    }

    #[test]
    fn rounds_of_a_cycle_may_differ() {
        // On a^ω, `Y Y a` fails at 0 and 1 and holds from then on: the cycle is one position long.
        let (program, root) = program(|dag, a, _| {
            let one = dag.add(Node::Unary(Temporal::Previous, None, a));
            let two = dag.add(Node::Unary(Temporal::Previous, None, one));
            let three = dag.add(Node::Unary(Temporal::Next, None, two));
            Node::Unary(Temporal::Next, None, three)
        });
        assert!(holds(&program, root, &[], &[1]));
        assert!(!holds(&program, root, &[], &[2]));
    }

    #[test]
    fn continuations_decide_what_is_open() {
        let (program, root) = program(|_, a, b| Node::Binary(Temporal::Until, None, a, b));
        assert_eq!(naive_ltl3(&program, root, &[], BOUNDS), (true, true));
        assert_eq!(naive_ltl3(&program, root, &[1, 1], BOUNDS), (true, true));
        assert_eq!(naive_ltl3(&program, root, &[1, 2], BOUNDS), (true, false));
        assert_eq!(naive_ltl3(&program, root, &[1, 0], BOUNDS), (false, true));
    }
}
