//! Propositions under names that Maude accepts, and formulas and traces in its syntax.

use super::one_line;
use std::borrow::Cow;
use std::fmt::Write;
use tw_automata::residual::{Atom, AtomId, Names, Syntax, Terms};
use tw_ir::{Node, NodeId, Program, display};
use tw_monitor::{Trace, Unsupported};

/// Longest formula that is written, in bytes: shared subformulas are written out each time.
const LIMIT: usize = 1 << 20;

/// Words that mean something to Maude or to the rewriting system.
const RESERVED: &[&str] = &[
    "and",
    "assoc",
    "ceq",
    "class",
    "comm",
    "ctor",
    "ditto",
    "do",
    "ei",
    "else",
    "endfm",
    "endm",
    "eq",
    "ex",
    "extending",
    "false",
    "fi",
    "fmod",
    "id",
    "if",
    "implies",
    "in",
    "including",
    "inc",
    "is",
    "last",
    "load",
    "mb",
    "memo",
    "metadata",
    "mod",
    "nil",
    "not",
    "o",
    "on",
    "off",
    "op",
    "ops",
    "or",
    "owise",
    "prec",
    "pr",
    "protecting",
    "q",
    "quit",
    "red",
    "reduce",
    "rew",
    "rl",
    "set",
    "show",
    "sort",
    "sorts",
    "special",
    "strat",
    "subsort",
    "subsorts",
    "such",
    "that",
    "then",
    "to",
    "true",
    "var",
    "vars",
    "view",
    "xor",
];

/// The atoms of some formulas.
pub(super) struct Atoms {
    /// For each of the program's atoms that a formula uses, its node and its name.
    names: Vec<Option<(NodeId, String)>>,
}

impl Atoms {
    pub(super) fn new(program: &Program, reachable: &[NodeId]) -> Self {
        let atoms = program.atoms();
        let used = |id: &NodeId| reachable.binary_search(id).is_ok();
        let own: Vec<String> = atoms.iter().map(|&id| display(program, id)).collect();
        let mut names: Vec<Option<(NodeId, String)>> = Vec::with_capacity(atoms.len());
        for (index, &id) in atoms.iter().enumerate() {
            let safe = is_safe(&own[index]);
            // A made-up name must not be one that the user chose for something else.
            let mut name = if safe { own[index].clone() } else { format!("p{index}") };
            while !safe && own.contains(&name) {
                name.push('p');
            }
            names.push(used(&id).then_some((id, name)));
        }
        Self { names }
    }

    /// Declares the atoms as constants, with what they stand for.
    pub(super) fn declare(&self, program: &Program, out: &mut String) {
        for (node, name) in self.names.iter().flatten() {
            let own = one_line(&display(program, *node));
            let _ = write!(out, "  op {name} : -> Atom .");
            let _ = if own == *name { writeln!(out) } else { writeln!(out, " *** {own}") };
        }
    }

    /// The first segment of a trace, as events.
    pub(super) fn trace(&self, trace: &Trace) -> String {
        let event = |at: usize| {
            let held = self.names.iter().zip(&trace.atoms).filter(|(_, column)| column.get(at));
            let names: Vec<&str> =
                held.filter_map(|(name, _)| name.as_ref()).map(|(_, name)| &name[..]).collect();
            if names.is_empty() { "nil".to_owned() } else { names.join(" ") }
        };
        (0..trace.segment_end(0)).map(event).collect::<Vec<String>>().join(", ")
    }

    /// A formula as it was written, in parentheses throughout.
    pub(super) fn formula(&self, program: &Program, formula: NodeId) -> Result<String, Unsupported> {
        enum Task {
            Text(Cow<'static, str>),
            Node(NodeId),
        }
        let text = |text: &'static str| Task::Text(Cow::Borrowed(text));
        let mut out = String::new();
        let mut stack = vec![Task::Node(formula)];
        while let Some(task) = stack.pop() {
            if out.len() > LIMIT {
                return Err(Unsupported::budget(format!(
                    "a formula of more than {LIMIT} characters for Maude"
                )));
            }
            let id = match task {
                Task::Text(text) => {
                    out.push_str(&text);
                    continue;
                }
                Task::Node(id) => id,
            };
            if let Some((_, name)) = self.names.iter().flatten().find(|(node, _)| *node == id) {
                out.push_str(name);
                continue;
            }
            use Node::*;
            let (operator, a, b) = match program.dag.node(id) {
                Bool(value) => {
                    out.push_str(if value { "true" } else { "false" });
                    continue;
                }
                Not(a) => ("!", a, None),
                And(a, b) => (r"/\", a, Some(b)),
                Or(a, b) => (r"\/", a, Some(b)),
                Xor(a, b) => ("++", a, Some(b)),
                Implies(a, b) => ("->", a, Some(b)),
                Iff(a, b) => ("<->", a, Some(b)),
                Unary(operator, None, a) => (Syntax::Maude.operator(operator), a, None),
                Binary(operator, None, a, b) => (Syntax::Maude.operator(operator), a, Some(b)),
                // Everything else was refused when the formula was translated.
                _ => {
                    out.push_str("last");
                    continue;
                }
            };
            match b {
                Some(b) => stack.extend([
                    text(")"),
                    Task::Node(b),
                    text(" "),
                    text(operator),
                    text(" "),
                    Task::Node(a),
                    text("("),
                ]),
                None => stack.extend([text(")"), Task::Node(a), text(" "), text(operator), text("(")]),
            }
        }
        Ok(out)
    }

    /// The names as the printer of canonical formulas wants them.
    pub(super) fn naming<'a>(&'a self, program: &'a Program) -> Naming<'a> {
        Naming { atoms: self, program }
    }
}

/// Names of propositions; combinations that are kept whole are written out.
pub(super) struct Naming<'a> {
    atoms: &'a Atoms,
    program: &'a Program,
}

impl Names for Naming<'_> {
    fn name(&self, terms: &Terms, atom: AtomId) -> (String, bool) {
        match terms.atom(atom) {
            Atom::Proposition(index) => {
                let name = self.atoms.names.get(index as usize).and_then(Option::as_ref);
                (name.map_or_else(|| "nil".to_owned(), |(_, name)| name.clone()), false)
            }
            _ => (
                self.atoms.formula(self.program, terms.origin(atom)).unwrap_or_else(|_| "…".to_owned()),
                false,
            ),
        }
    }
}

/// Whether Maude reads the text as one name that is free.
fn is_safe(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        && !RESERVED.contains(&name)
}
