//! Canonical formulas as text: in the specification language, or for Maude.
//!
//! The walk keeps its own stack and stops with `…` after [`LIMIT`] bytes: shared subformulas are written out each time.

use super::{Atom, AtomId, FormulaId, Terms};
use std::borrow::Cow;
use tw_ir::{Form, Node, NodeId, Program, Temporal, display};

/// Longest output, in bytes.
pub(super) const LIMIT: usize = 1 << 20;

// How tightly things bind, loosest first.
pub(super) const XOR: u8 = 0;
pub(super) const AND: u8 = 2;
pub(super) const UNTIL: u8 = 3;
pub(super) const PREFIX: u8 = 4;
pub(super) const NAME: u8 = 5;

/// How propositions are called.
pub trait Names {
    /// The name of a proposition, or of a combination of propositions that is kept whole, and whether it needs
    /// parentheses as an operand.
    fn name(&self, terms: &Terms, atom: AtomId) -> (String, bool);
}

/// The words of the program.
impl Names for Program {
    fn name(&self, terms: &Terms, atom: AtomId) -> (String, bool) {
        let node = terms.origin(atom);
        (display(self, node), !stands_alone(self, node))
    }
}

/// Whether a formula needs no parentheses anywhere.
pub(super) fn stands_alone(program: &Program, node: NodeId) -> bool {
    matches!(program.dag.node(node), Node::Truth(_) | Node::Bool(_) | Node::First | Node::Last)
}

/// How operators are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The specification language: `G (true ^ a ^ a & F b)`.
    Specification,
    /// The notation of the rewriting paper, which Maude reads: `[] (true ++ a ++ a /\ <> b)`.
    Maude,
}

impl Syntax {
    /// A temporal operator.
    pub fn operator(self, operator: Temporal) -> &'static str {
        let row = operator.row();
        match (self, row.form) {
            (Syntax::Maude, Form::Step) => "o",
            (Syntax::Maude, Form::Until) if row.prefix => "<>",
            (Syntax::Maude, Form::Release) if row.prefix => "[]",
            _ => row.letter,
        }
    }

    fn and(self) -> &'static str {
        if self == Syntax::Maude { r" /\ " } else { " & " }
    }

    fn xor(self) -> &'static str {
        if self == Syntax::Maude { " ++ " } else { " ^ " }
    }

    /// How tightly the operand of a prefix operator must bind.
    fn operand(self) -> u8 {
        if self == Syntax::Maude { NAME } else { PREFIX }
    }
}

enum Task {
    Text(Cow<'static, str>),
    /// What to print, and how tightly it must bind to go without parentheses.
    Formula(FormulaId, u8),
    Atom(AtomId, u8),
}

impl Terms {
    /// The canonical form of a formula as text.
    pub fn print(&self, formula: FormulaId, names: &dyn Names, syntax: Syntax) -> String {
        let mut out = String::new();
        let mut stack = vec![Task::Formula(formula, XOR)];
        let mut next = Vec::new();
        while let Some(task) = stack.pop() {
            if out.len() > LIMIT {
                out.push('…');
                break;
            }
            match task {
                Task::Text(text) => out.push_str(&text),
                Task::Formula(formula, level) => self.print_formula(formula, level, syntax, &mut next),
                Task::Atom(atom, level) => self.print_atom(atom, level, names, syntax, &mut next),
            }
            stack.extend(next.drain(..).rev());
        }
        out
    }

    fn print_formula(&self, formula: FormulaId, level: u8, syntax: Syntax, out: &mut Vec<Task>) {
        if let Some(constant) = formula.as_constant() {
            out.push(Task::Text(if constant { "true" } else { "false" }.into()));
            return;
        }
        let monomials = self.monomials(formula);
        if let [[atom]] = monomials[..] {
            out.push(Task::Atom(AtomId(*atom), level));
            return;
        }
        let own = if monomials.len() > 1 { XOR } else { AND };
        out.push(Task::Text(if own < level { "(" } else { "" }.into()));
        for (place, monomial) in monomials.iter().enumerate() {
            if place > 0 {
                out.push(Task::Text(syntax.xor().into()));
            }
            if monomial.is_empty() {
                out.push(Task::Text("true".into()));
            }
            for (place, &atom) in self.reading_order(monomial).iter().enumerate() {
                if place > 0 {
                    out.push(Task::Text(syntax.and().into()));
                }
                out.push(Task::Atom(atom, AND + 1));
            }
        }
        out.push(Task::Text(if own < level { ")" } else { "" }.into()));
    }

    /// Propositions first, then the temporal operators, outer ones before those that they may contain.
    pub(super) fn reading_order(&self, atoms: &[u32]) -> Vec<AtomId> {
        let mut order: Vec<AtomId> = atoms.iter().copied().map(AtomId).collect();
        order.sort_by_key(|&atom| {
            let depth = self.atoms[atom.index()].depth;
            (depth > 0, std::cmp::Reverse(depth), atom)
        });
        order
    }

    fn print_atom(&self, id: AtomId, level: u8, names: &dyn Names, syntax: Syntax, out: &mut Vec<Task>) {
        let atom = self.atom(id);
        let (operator, left, right) = match atom {
            Atom::Last => return out.push(Task::Text("last".into())),
            Atom::Proposition(_) | Atom::State(_) => {
                let (name, compound) = names.name(self, id);
                let name = if compound && level > XOR { format!("({name})") } else { name };
                return out.push(Task::Text(name.into()));
            }
            Atom::Temporal(operator, left, right) => (syntax.operator(operator), left, right),
        };
        let own = if left.is_none() { PREFIX } else { UNTIL };
        out.push(Task::Text(if own < level { "(" } else { "" }.into()));
        // Either side in parentheses when it is an until again: both ways of reading it are in use.
        let operand = if left.is_none() { syntax.operand() } else { UNTIL + 1 };
        if let Some(left) = left {
            out.push(Task::Formula(left, operand));
            out.push(Task::Text(" ".into()));
        }
        out.push(Task::Text(format!("{operator} ").into()));
        out.push(Task::Formula(right, operand));
        out.push(Task::Text(if own < level { ")" } else { "" }.into()));
    }
}
