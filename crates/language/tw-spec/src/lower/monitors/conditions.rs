//! The conditions of monitors, as formulas to be lowered with the others.

use super::super::scopes::children;
use super::Lowering;
use crate::ast::monitor::ItemKind;
use crate::ast::{DeclarationKind, Expr, ExprId, ExprKind, Ident, Tree};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use tw_diag::Diagnostic;
use tw_ir::monitor::Condition;
use tw_ir::{Node, PathStep, is_keyword};

/// Which formula stands for the condition of which line, and which parameters it is quantified over.
#[derive(Default)]
pub(in crate::lower) struct Conditions {
    /// The formulas, in the order of [`Conditions::index`]'s values.
    pub bodies: Vec<ExprId>,
    parameters: Vec<Vec<u32>>,
    /// By declaration and line.
    index: FxHashMap<(usize, usize), usize>,
}

impl Conditions {
    /// The conditions of all monitors, and the tree with the quantifiers around them.
    pub fn collect(tree: &Tree) -> (Cow<'_, Tree>, Self) {
        let mut conditions = Self::default();
        let mut whole = Cow::Borrowed(tree);
        for (declaration, written) in tree.declarations.iter().enumerate() {
            let DeclarationKind::Monitor(monitor) = &written.kind else { continue };
            for (line, item) in monitor.items.iter().enumerate() {
                let (body, names, about_trace) = match &item.kind {
                    ItemKind::Where(body) => (*body, &monitor.parameters, false),
                    ItemKind::Event { event, .. } | ItemKind::End(event) => match event.when {
                        Some(when) => (when, &event.parameters, true),
                        None => continue,
                    },
                    _ => continue,
                };
                let mentioned = unquote(&mut whole.to_mut().exprs, body, names, about_trace);
                let parameters = mentioned.iter().filter_map(|name| {
                    monitor.parameters.iter().position(|parameter| parameter.name == name.name)
                });
                conditions.parameters.push(parameters.map(|number| number as u32).collect());
                conditions.index.insert((declaration, line), conditions.bodies.len());
                let exprs = &mut whole.to_mut().exprs;
                let span = exprs[body.index()].span;
                conditions.bodies.push(if mentioned.is_empty() {
                    body
                } else {
                    exprs.push(Expr {
                        kind: ExprKind::Quantifier { forall: false, variables: mentioned, range: None, body },
                        span,
                    });
                    ExprId((exprs.len() - 1) as u32)
                });
            }
        }
        (whole, conditions)
    }
}

/// The names among `names` that an expression mentions. Backquotes around one of them make it no column where nothing but
/// parameters can stand, or where the word is one that needs them.
fn unquote(exprs: &mut [Expr], body: ExprId, names: &[Ident], about_trace: bool) -> Vec<Ident> {
    let mut mentioned: Vec<Ident> = Vec::new();
    let mut todo = vec![body];
    while let Some(id) = todo.pop() {
        children(&exprs[id.index()].kind, |child| todo.push(child));
        let ExprKind::Path { path, quoted } = &mut exprs[id.index()].kind else { continue };
        let Some(PathStep::Field(first)) = path.steps.first() else { continue };
        let Some(known) = names.iter().find(|name| name.name == *first) else { continue };
        if *quoted && about_trace && !is_keyword(first) {
            continue;
        }
        *quoted = false;
        if !mentioned.iter().any(|other| other.name == known.name) {
            mentioned.push(known.clone());
        }
    }
    // In the order of declaration, whatever the order of use.
    mentioned.sort_by_key(|name| names.iter().position(|other| other.name == name.name));
    mentioned
}

impl Lowering<'_, '_> {
    /// The condition of a line, without the quantifiers around it. `None` where it could not be lowered, or is about more than
    /// one position; that is reported.
    pub(super) fn condition(&mut self, line: (usize, usize)) -> Option<Condition> {
        let Lowering { conditions, nodes, program, findings, .. } = self;
        let index = *conditions.index.get(&line)?;
        let mut node = nodes[index]?;
        let mut variables = Vec::new();
        for &parameter in &conditions.parameters[index] {
            let Node::Exists(variable, body) = program.dag.node(node) else { break };
            variables.push((variable, parameter));
            node = body;
        }
        for id in program.reachable(&[node]) {
            let inner = program.dag.node(id);
            let alien = inner.is_temporal()
                || matches!(inner, Node::First | Node::Last)
                || inner.is_first_order() && !matches!(inner, Node::Variable(_));
            if alien {
                let span = program.spans.get(id.index()).copied().flatten();
                let span = span.unwrap_or(self.tree.exprs[conditions.bodies[index].index()].span);
                let message = "this condition is about one position, without other events and quantifiers";
                let help = "in a monitor, what comes before or after is said by `ere`, `fsm` or `ltl`";
                findings
                    .add(Diagnostic::error("bad-monitor", message).at(span, "not possible here").help(help));
                return None;
            }
        }
        Some(Condition { node, variables })
    }
}
