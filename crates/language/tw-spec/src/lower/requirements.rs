//! Requirements: queries whose values are compared.

use super::declarations::Declarations;
use super::findings::Findings;
use crate::ast::{DeclarationKind, ExprKind, Tree};
use rustc_hash::FxHashMap;
use tw_core::{TimeUnit, Value};
use tw_diag::Diagnostic;
use tw_ir::{Aggregate, Bound, Node, NodeId, Program, Requirement, Root, RootKind};

/// The requirements of a specification, their queries built.
pub(super) fn requirements(
    tree: &Tree,
    declarations: &Declarations<'_>,
    nodes: &[Option<NodeId>],
    program: &mut Program,
    findings: &mut Findings,
) -> Vec<Requirement> {
    let mut made = Vec::new();
    let mut nodes = nodes.iter();
    for declaration in &tree.declarations {
        let DeclarationKind::Require { name, title, body, op, limit, division } = &declaration.kind else {
            continue;
        };
        let node = nodes.next().copied().flatten().unwrap_or_else(|| program.dag.add(Node::Bool(false)));
        let node = counted(program, node);
        let limit = match limit {
            ExprKind::Int(int) => program.dag.constant(Value::Int(*int)),
            ExprKind::Real(real) => program.dag.constant(Value::Real(*real)),
            ExprKind::Length(length) => match nanoseconds(length) {
                Some(length) => program.dag.length(length),
                None => {
                    let found =
                        Diagnostic::error("number-out-of-range", "this length of time cannot be held");
                    findings.add(found.at(declaration.span, "in this requirement"));
                    program.dag.constant(Value::Null)
                }
            },
            _ => program.dag.constant(Value::Null),
        };
        program.spans.resize(program.dag.len(), None);
        let root = Root {
            name: name.name.clone(),
            title: title.clone(),
            division: declarations.division(division, findings),
            kind: RootKind::Query,
            node,
            span: tree.exprs[body.index()].span,
        };
        made.push(Requirement { root, op: *op, limit });
    }
    made
}

fn nanoseconds(length: &Bound) -> Option<i64> {
    let unit = length.unit.unwrap_or(TimeUnit::Seconds).nanoseconds();
    let scaled = length.billionths.checked_mul(i128::from(unit))?;
    (scaled % 1_000_000_000 == 0).then(|| i64::try_from(scaled / 1_000_000_000).ok()).flatten()
}

/// The query with its own counts 0 where nothing was counted; what other aggregates collect stays as it is.
fn counted(program: &mut Program, root: NodeId) -> NodeId {
    let collects = |node: Node| matches!(node, Node::Collect(..) | Node::CollectWhile(..));
    let mut places: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    let order = {
        let dag = &program.dag;
        program.reachable_until(&[root], |id| collects(dag.node(id)))
    };
    for id in order {
        let node = program.dag.node(id);
        let place = match node {
            Node::Collect(Aggregate::Count, _) | Node::CollectWhile(Aggregate::Count, ..) => {
                let zero = program.dag.constant(Value::Int(0));
                program.dag.add(Node::Default(id, zero))
            }
            // Who says what stands in place of a count means it.
            Node::Default(counted, _) if collects(program.dag.node(counted)) => id,
            _ if collects(node) => id,
            other => program.dag.add(other.with_children(|child| places[&child])),
        };
        program.spans.resize(program.dag.len(), None);
        program.spans[place.index()] = program.spans[place.index()].or(program.spans[id.index()]);
        places.insert(id, place);
    }
    places[&root]
}
