//! Lowering: from the tree as written to the IR that engines read.
//!
//! Four steps, all of them loops over flat arenas, so that depth costs no stack:
//! 1. [`declarations`]: what is declared, and what is declared twice;
//! 2. [`scopes`], [`whole`], [`expand`], [`calls`], [`events`]: names are resolved and macros expanded, into [`expanded`] items;
//! 3. [`types`], [`experiments`]: what each item means where it stands;
//! 4. [`build`]: nodes and slots; [`streams`]: equations and offsets; [`monitors`]: what is built around their conditions;
//!    [`charts`]: the orders of their events.

mod build;
mod calls;
mod charts;
mod declarations;
mod events;
mod expand;
mod expanded;
mod experiments;
mod findings;
mod monitors;
#[cfg(test)]
mod query_tests;
mod requirements;
mod scopes;
mod streams;
#[cfg(test)]
mod tests;
mod types;
mod whole;
mod windows;

pub(crate) use scopes::{children, map_of};

use crate::ast::{Declaration, DeclarationKind, Tree, Type};
use declarations::Declarations;
use expand::Expander;
use findings::Findings;
use monitors::{Conditions, Lowering};
use tw_diag::{Checked, Diagnostic};
use tw_ir::{Node, Path, Program, Root, RootKind, Temporal};
use types::Sort;

/// What the events of charts are in a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ChartEvents {
    /// The events `send(msg)` and `recv(msg)`, or the columns `dir` and `msg`, whichever a trace has.
    #[default]
    Any,
    /// These columns: whether a message is sent or received, and which it is.
    Columns([Path; 2]),
    /// The events alone.
    Events,
}

/// Limits of lowering, and what it may assume.
#[derive(Clone, Debug)]
pub struct LowerOptions {
    /// What the events of charts are in a trace.
    pub chart_events: ChartEvents,
    /// How many nodes a specification may have once its macros are expanded.
    pub node_budget: usize,
}

impl Default for LowerOptions {
    fn default() -> Self {
        Self { chart_events: ChartEvents::Any, node_budget: 5_000_000 }
    }
}

/// Resolves names, expands macros and patterns, checks types and builds the IR.
///
/// There is always a program, with a root for every property and query, and the monitors without errors; where [`Checked::has_errors`], the roots
/// with errors are `false` and the program must not be run.
pub fn lower(tree: &Tree, options: &LowerOptions) -> Checked<Program> {
    let mut findings = Findings::default();
    let (tree, conditions) = Conditions::collect(tree);
    let tree = tree.as_ref();
    let declarations = Declarations::collect(tree, &mut findings);
    let mut roots: Vec<Root> = Vec::new();
    let mut bodies = Vec::new();
    // Of the properties, those that are reported where they hold.
    let mut triggers: Vec<usize> = Vec::new();
    for declaration in &tree.declarations {
        let whole = tw_ir::Division::default();
        let (kind, name, title, body, division) = match &declaration.kind {
            DeclarationKind::Property { name, title, body } => (RootKind::Property, name, title, body, whole),
            DeclarationKind::Trigger { name, title, body } => {
                triggers.push(roots.len());
                (RootKind::Property, name, title, body, whole)
            }
            DeclarationKind::Query { name, title, body, division } => {
                (RootKind::Query, name, title, body, declarations.division(division, &mut findings))
            }
            _ => continue,
        };
        let span = tree.exprs[body.index()].span;
        roots.push(Root {
            name: name.name.clone(),
            title: title.clone(),
            division,
            kind,
            node: tw_ir::NodeId(0),
            span,
        });
        bodies.push(*body);
    }
    bodies.extend_from_slice(&conditions.bodies);
    let first_stream = bodies.len();
    bodies.extend(declarations.streams.iter().map(|stream| stream.body));
    let first_required = bodies.len();
    bodies.extend(tree.declarations.iter().filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Require { body, .. } => Some(*body),
        _ => None,
    }));
    let other = |d: &Declaration| {
        use DeclarationKind::{Chart, Error, Monitor, Require, Stream};
        matches!(d.kind, Error | Monitor(_) | Stream { .. } | Chart(_) | Require { .. })
    };
    if roots.is_empty() && !tree.declarations.iter().any(other) {
        let mut finding =
            Diagnostic::error("nothing-to-check", "the specification has no property and no query")
                .help("add one, for example `property answered : G (request -> F reply);`");
        if let Some(last) = tree.declarations.last() {
            finding = finding.at(last.span, "the last declaration");
        }
        findings.add(finding);
    }

    let mut expander = Expander::new(tree, &bodies, &declarations, options.node_budget, &mut findings);
    let sort = |index: usize| match roots.get(index).map(|root| root.kind) {
        Some(RootKind::Query) => Sort::Experiment,
        Some(RootKind::Property) => Sort::Formula,
        None if index >= first_required => Sort::Experiment,
        None => match index.checked_sub(first_stream).map(|stream| declarations.streams[stream].ty) {
            None | Some(Type::Bool) => Sort::Formula,
            Some(Type::Int | Type::Real) => Sort::Number,
            Some(Type::Text) => Sort::Text,
        },
    };
    let items: Vec<_> = (0..bodies.len()).map(|index| (expander.root(index), sort(index))).collect();
    let expansion = expander.finish();
    let (mut program, nodes) = build::build(expansion, &items, &declarations, &mut findings);
    let (nodes, of_requirements) = nodes.split_at(first_required);
    let (nodes, of_streams) = nodes.split_at(first_stream);
    let (of_roots, of_conditions) = nodes.split_at(roots.len());
    for (root, node) in roots.iter_mut().zip(of_roots) {
        root.node = node.unwrap_or_else(|| program.dag.add(Node::Bool(false)));
    }
    for root in triggers {
        let never = program.dag.add(Node::Not(roots[root].node));
        roots[root].node = program.dag.add(Node::Unary(Temporal::Globally, None, never));
    }
    program.spans.resize(program.dag.len(), None);
    program.streams = streams::streams(tree, &declarations, of_streams, &mut program, &mut findings);
    program.requirements =
        requirements::requirements(tree, &declarations, of_requirements, &mut program, &mut findings);
    let mut lowering = Lowering {
        tree,
        declarations: &declarations,
        conditions: &conditions,
        nodes: of_conditions,
        options,
        program: &mut program,
        findings: &mut findings,
    };
    let monitors = lowering.monitors();
    program.monitors = monitors;
    program.templates = declarations.text_events();
    program.spans.resize(program.dag.len(), None);
    program.roots = roots;
    charts::charts(tree, &declarations, options, &mut program, &mut findings);
    program.spans.resize(program.dag.len(), None);
    streams::ends_in_terms(&program, &mut findings);
    Checked { value: program, diagnostics: findings.finish() }
}
