//! Green for the wrong reason: texts that a column never holds, left sides that never held, properties that look at one
//! position alone, `G a -> b` without parentheses. All of them are warnings with a repair; none changes a verdict.

use super::Run;
use super::open::Opened;
use crate::Specification;
use std::collections::BTreeSet;
use tw_core::Value;
use tw_diag::{Diagnostic, Span};
use tw_ir::{CompareOp, Node, NodeId, Path, Program, Root, RootKind, Temporal, What};
use tw_monitor::Trace;

/// Positions looked at for texts to propose, and texts kept.
const LOOKED_AT: u64 = 20_000;
const TEXTS: usize = 200;
/// Texts shown where none is near.
const SHOWN: usize = 5;
/// Characters of a formula that a message repeats.
const QUOTED: usize = 80;

/// Comparisons with a text that their column never holds: the truth of atoms shows it.
pub(crate) fn never_held(spec: &Specification, trace: &Trace, opened: &Opened) -> Vec<Diagnostic> {
    let program = &spec.program;
    let atoms = program.atoms();
    if trace.len == 0 || atoms.len() != trace.atoms.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // What charts read may be given in another way.
    let others = program.roots.iter().filter(|root| program.chart(root.node).is_none());
    let others = program.reachable(&others.map(|root| root.node).collect::<Vec<_>>());
    for (&atom, bits) in atoms.iter().zip(&trace.atoms) {
        if others.binary_search(&atom).is_err() {
            continue;
        }
        let Some((equal, path, text)) = compared(program, atom) else { continue };
        let never = if equal { bits.count_ones() == 0 } else { bits.count_ones() == trace.len };
        if never {
            found.push((atom, equal, path, text));
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let paths: Vec<&Path> = found.iter().map(|(_, _, path, _)| *path).collect();
    let held = texts(opened, &paths);
    let word = |((atom, equal, path, text), held): ((NodeId, bool, &Path, &str), BTreeSet<String>)| {
        let near = tw_core::suggest(text, held.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("; did you mean {}?", tw_ir::quote(near)),
            None if held.is_empty() => String::new(),
            None => {
                let some: Vec<String> = held.iter().take(SHOWN).map(|text| tw_ir::quote(text)).collect();
                let more = if held.len() > SHOWN { ", …" } else { "" };
                format!("; it has {}{more}", some.join(", "))
            }
        };
        let message = format!("`{path}` is nowhere {} in this trace{hint}", tw_ir::quote(text));
        let diagnostic = Diagnostic::warning("text-never-held", message);
        match spec.span(atom) {
            Some(span) => diagnostic.at(span, if equal { "always false here" } else { "never false here" }),
            None => diagnostic,
        }
    };
    found.into_iter().zip(held).map(word).collect()
}

/// The column and the text of `column == "text"` (true) or `!=`.
fn compared(program: &Program, atom: NodeId) -> Option<(bool, &Path, &str)> {
    let dag = &program.dag;
    let Node::Compare(op @ (CompareOp::Eq | CompareOp::Ne), a, b) = dag.node(atom) else { return None };
    let (slot, constant) = match (dag.node(a), dag.node(b)) {
        (Node::Slot(slot), Node::Constant(constant)) | (Node::Constant(constant), Node::Slot(slot)) => {
            (slot, constant)
        }
        _ => return None,
    };
    match (&program.slots[slot as usize].what, &dag.constants[constant as usize]) {
        (What::Variable(path, _), Value::Str(text)) => Some((op == CompareOp::Eq, path, text)),
        _ => None,
    }
}

/// Some texts that columns hold. What cannot be read again is not asked.
fn texts(opened: &Opened, paths: &[&Path]) -> Vec<BTreeSet<String>> {
    let mut held = vec![BTreeSet::new(); paths.len()];
    // What came through a pipe is gone.
    if opened.input.names().any(|name| name == "<stdin>") {
        return held;
    }
    let mut left = LOOKED_AT;
    let _ = tw_trace::read_rows(&opened.input, opened.format, &opened.read, &mut |row| {
        for (path, held) in paths.iter().zip(&mut held) {
            match tw_trace::value_at(row, path) {
                Value::Null => {}
                value if held.len() < TEXTS => {
                    held.insert(value.to_string());
                }
                _ => {}
            }
        }
        left -= 1;
        Ok(left > 0)
    });
    held
}

/// What the text of properties alone shows.
pub(crate) fn as_written(spec: &Specification) -> Vec<Diagnostic> {
    let properties = spec.program.roots.iter().filter(|root| root.kind == RootKind::Property);
    let doubts = properties.flat_map(|root| [one_position(spec, root), loose(spec, root)]).flatten();
    doubts.chain(crate::monitors::doubts(spec)).collect()
}

/// A property without temporal operators.
fn one_position(spec: &Specification, root: &Root) -> Option<Diagnostic> {
    let program = &spec.program;
    let nodes = program.reachable(&[root.node]);
    let temporal = |id: &NodeId| {
        let node = program.dag.node(*id);
        node.is_temporal() || node.is_branching() || matches!(node, Node::First | Node::Last)
    };
    let reads =
        |id: &NodeId| matches!(program.dag.node(*id), Node::Slot(_) | Node::Truth(_) | Node::Pattern(_));
    if nodes.iter().any(temporal) || !nodes.iter().any(reads) {
        return None;
    }
    let message =
        format!("`{}` has no temporal operator: it is judged at position 0 alone", short(&root.name));
    let always = format!("`G ({})` asks it of every position", short(&spec.words(root.node)));
    Some(Diagnostic::warning("one-position", message).at(root.span, "about one position").help(always))
}

/// A formula in a message: one line, not all of a long one.
fn short(words: &str) -> String {
    let line: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// `G a -> b`, which reads `(G a) -> b`.
fn loose(spec: &Specification, root: &Root) -> Option<Diagnostic> {
    let Node::Implies(left, right) = spec.program.dag.node(root.node) else { return None };
    let Node::Unary(Temporal::Globally, interval, body) = spec.program.dag.node(left) else { return None };
    let text = spec.sources.snippet(root.span);
    // Who wrote parentheses meant them; what comes from a pattern or a macro is not written here.
    if text.trim_start().starts_with('(') || spec.span(left)?.start != root.span.start {
        return None;
    }
    let interval = interval.map_or(String::new(), |interval| interval.to_string());
    let (left, right) = (short(&spec.words(body)), short(&spec.words(right)));
    let message =
        format!("`G{interval}` reaches as far as `{left}`: this reads `(G{interval} {left}) -> {right}`");
    let help = format!("write `G{interval} ({left} -> {right})`, or parentheses around the left side");
    Some(
        Diagnostic::warning("loose-always", message)
            .at(root.span, "an implication between two formulas")
            .help(help),
    )
}

impl Run<'_> {
    /// The left side of `G (a -> b)`, where it never held, of a property that is satisfied.
    /// `atoms` are the program's.
    pub fn unasked(&mut self, root: &Root, said: &[Diagnostic], atoms: &[NodeId]) -> Option<Diagnostic> {
        let spec = self.spec;
        let program = &spec.program;
        let (_, mut body) = program.invariant(root.node)?;
        while let Node::Forall(_, inner) = program.dag.node(body) {
            body = inner;
        }
        let Node::Implies(left, right) = program.dag.node(body) else { return None };
        let nodes = program.reachable(&[left]);
        if nodes.iter().any(|id| program.dag.node(*id).is_first_order()) {
            return None;
        }
        let place = spec.span(left).unwrap_or(root.span);
        let inside =
            |span: &Span| span.source == place.source && span.start >= place.start && span.end <= place.end;
        // A name or text that is nowhere was said already.
        if said.iter().any(|warning| warning.labels.first().is_some_and(|(span, _)| inside(span))) {
            return None;
        }
        let held = match somewhere(program, &self.loaded.trace, atoms, left) {
            Some(held) => held,
            None => self.columns(&[left]).ok()?.pop()?.words().iter().any(|&word| word != 0),
        };
        if held {
            return None;
        }
        let (left, right) = (short(&spec.words(left)), short(&spec.words(right)));
        let message = format!("`{left}` never holds in this trace, so nothing was asked of `{right}`");
        let help = "check names and values in it against `tracewise inspect`";
        Some(Diagnostic::warning("vacuous", message).at(place, "never true").help(help))
    }
}

/// Whether a formula about one position holds somewhere, by the truth of its atoms, up to where it does; `None` if it is
/// about more than one position.
fn somewhere(program: &Program, trace: &Trace, atoms: &[NodeId], formula: NodeId) -> Option<bool> {
    /// What to do with the words of the operands, which stand before.
    enum Op<'t> {
        Words(&'t [u64]),
        All(u64),
        Not(usize),
        And(usize, usize),
        Or(usize, usize),
    }
    if trace.atoms.len() != atoms.len() {
        return None;
    }
    let nodes = program.reachable_until(&[formula], |id| atoms.binary_search(&id).is_ok());
    let place = |id: NodeId| nodes.binary_search(&id).ok();
    let op = |&id: &NodeId| match (atoms.binary_search(&id), program.dag.node(id)) {
        (Ok(atom), _) => Some(Op::Words(trace.atoms[atom].words())),
        (_, Node::Bool(value)) => Some(Op::All(if value { u64::MAX } else { 0 })),
        (_, Node::Not(a)) => Some(Op::Not(place(a)?)),
        (_, Node::And(a, b)) => Some(Op::And(place(a)?, place(b)?)),
        (_, Node::Or(a, b)) => Some(Op::Or(place(a)?, place(b)?)),
        _ => None,
    };
    let ops = nodes.iter().map(op).collect::<Option<Vec<Op>>>()?;
    let result = place(formula)?;
    let mut values = vec![0; ops.len()];
    for word in 0..trace.len.div_ceil(64) {
        for (index, op) in ops.iter().enumerate() {
            values[index] = match *op {
                Op::Words(words) => words[word],
                Op::All(words) => words,
                Op::Not(a) => !values[a],
                Op::And(a, b) => values[a] & values[b],
                Op::Or(a, b) => values[a] | values[b],
            };
        }
        let positions = u64::MAX >> (64 - (trace.len - word * 64).min(64));
        if values[result] & positions != 0 {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_core::Bits;

    #[test]
    fn what_holds_somewhere_is_found_in_any_word() {
        let mut program = Program::default();
        let [p, q] = [0, 1].map(|slot| program.dag.add(Node::Truth(slot)));
        let not = program.dag.add(Node::Not(p));
        let both = program.dag.add(Node::And(not, q));
        let either = program.dag.add(Node::Or(both, p));
        let next = program.dag.add(Node::Unary(Temporal::Next, None, p));
        let beyond = program.dag.add(Node::And(p, next));
        for len in [1, 63, 64, 65, 130, 200] {
            for at in [0, len / 2, len - 1] {
                let one = |here: bool| -> Bits { (0..len).map(|position| here && position == at).collect() };
                for (holds_p, holds_q) in [(false, false), (true, false), (false, true), (true, true)] {
                    let atoms = vec![one(holds_p), one(holds_q)];
                    let trace = Trace { len, atoms, ..Trace::default() };
                    let found = |formula| somewhere(&program, &trace, &[p, q], formula);
                    assert_eq!(found(p), Some(holds_p));
                    // Past the end nothing holds, `!p` neither.
                    assert_eq!(found(not), Some(len > 1 || !holds_p));
                    assert_eq!(found(both), Some(holds_q && !holds_p));
                    assert_eq!(found(either), Some(holds_p || holds_q));
                    assert_eq!(found(beyond), None);
                }
            }
        }
    }
}
