//! Streams: what equations may hold, and the slots of values at other positions.

use super::declarations::Declarations;
use super::events::type_name;
use super::expand::Expander;
use super::expanded::{ItemId, Kind};
use super::findings::Findings;
use crate::ast::{DeclarationKind, Expr, ExprKind, Tree, Type};
use tw_core::Value;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Expect, Node, NodeId, Path, Program, Slot, SlotId, Stream, StreamType, What};

impl Expander<'_, '_> {
    /// `x[-1|0]`.
    pub(super) fn shift(&mut self, of: ItemId, by: i32, default: &Expr, span: Span) -> Kind {
        let value = match &default.kind {
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Int(value) => Value::Int(*value),
            ExprKind::Real(value) => Value::Real(*value),
            ExprKind::Text(text) => Value::Str(text.clone()),
            ExprKind::Null => Value::Null,
            ExprKind::Error => return Kind::Error,
            _ => {
                let found = Diagnostic::error("bad-offset", "a length of time is no default");
                self.findings
                    .add(found.at(default.span, "").help("write a number, a text, `true` or `false`"));
                return Kind::Error;
            }
        };
        let (path, declared) = match self.out.item(of).kind {
            Kind::Error => return Kind::Error,
            Kind::Path(path) => {
                let used = &self.out.paths[path as usize];
                (used.path.clone(), used.declared)
            }
            Kind::Timing(measure) => (Path::field(measure.name()), None),
            // A constant is itself where there is such a position, and its default where there is none.
            Kind::Bool(constant) => match value {
                Value::Bool(default) if default == constant => return Kind::Bool(constant),
                Value::Bool(_) => {
                    let nowhere = self.out.path(&Path::field(""), true, || Some((Type::Bool, span)));
                    let of = self.out.add(Kind::Path(nowhere), span, None);
                    let beyond = Kind::Shift(of, by, self.out.constant(Value::Bool(true)));
                    return match constant {
                        false => beyond,
                        true => Kind::Not(self.out.add(beyond, span, None)),
                    };
                }
                _ => {
                    let found = Diagnostic::error("default-type", "the default of a truth value is one, too");
                    self.findings.add(found.at(default.span, "").help("write `true` or `false`"));
                    return Kind::Error;
                }
            },
            _ => {
                let found =
                    Diagnostic::error("bad-offset", "an offset follows the name of a column or stream");
                let help =
                    "give this a name of its own: `stream busy: bool = queue > 10;`, then `busy[-1|false]`";
                self.findings.add(found.at(span, "this is something else").help(help));
                return Kind::Error;
            }
        };
        if path.has_each() {
            let found = Diagnostic::error("bad-offset", format!("`{path}` is a list, and has no offset"));
            self.findings
                .add(found.at(span, "").help("an offset follows a name that has one value at each position"));
            return Kind::Error;
        }
        let fits = match (declared.map(|(ty, _)| ty), &value) {
            (None, _) => true,
            (Some(Type::Bool), Value::Bool(_)) => true,
            (Some(Type::Bool), _) => false,
            (Some(_), Value::Null) => true,
            (Some(Type::Int), Value::Int(_)) => true,
            (Some(Type::Real), Value::Int(_) | Value::Real(_)) => true,
            (Some(Type::Text), Value::Str(_)) => true,
            _ => false,
        };
        if let Some((ty, place)) = declared.filter(|_| !fits) {
            let ty = type_name(ty);
            let message = format!("`{path}` is declared `{ty}`, and its default is another type");
            let example = match ty {
                "bool" => "false",
                "string" => "\"\"",
                _ => "0",
            };
            self.findings.add(
                Diagnostic::error("default-type", message)
                    .at(default.span, "beyond the ends of the trace it would be this")
                    .at(place, format!("declared `{ty}` here"))
                    .help(format!("write a default of that type: `{path}[{by:+}|{example}]`")),
            );
            return Kind::Error;
        }
        Kind::Shift(of, by, self.out.constant(value))
    }
}

/// The streams of a specification, their equations built.
pub(super) fn streams(
    tree: &Tree,
    declarations: &Declarations<'_>,
    nodes: &[Option<NodeId>],
    program: &mut Program,
    findings: &mut Findings,
) -> Vec<Stream> {
    let observed = observed(tree, declarations, findings);
    let mut streams = Vec::new();
    for (number, (stream, node)) in declarations.streams.iter().zip(nodes).enumerate() {
        let ty = match stream.ty {
            Type::Bool => StreamType::Bool,
            Type::Int => StreamType::Int,
            Type::Real => StreamType::Real,
            Type::Text => StreamType::Text,
        };
        let mut node = node.unwrap_or_else(|| program.dag.add(Node::Bool(false)));
        program.spans.resize(program.dag.len(), None);
        let bad = program.reachable(&[node]).into_iter().find(|&id| {
            let node = program.dag.node(id);
            node.is_temporal() || node.is_first_order() || node.is_experiment() || node.is_branching()
        });
        if let Some(bad) = bad {
            let operator = program.dag.node(bad).operator();
            let span = program.spans[bad.index()].unwrap_or(tree.exprs[stream.body.index()].span);
            findings.add(
                Diagnostic::error("temporal-in-stream", format!("an equation holds no `{operator}`"))
                    .at(span, "this needs more than the current position")
                    .help("other positions are read with offsets: `x[-1|false]`, `x[+1|false]`"),
            );
        }
        let by = stream.by.map(|column| column.path.clone());
        if let Some(path) = &by {
            key_slot(program, path, stream.by.map_or(Span::default(), |column| column.span));
            node = program.per_key(node, path, true);
        }
        let observed = observed.is_empty() || observed.contains(&stream.name.name.as_str());
        let (name, span) = (stream.name.name.clone(), stream.name.span);
        streams.push(Stream { name, ty, node, slot: number as SlotId, by, observed, span });
    }
    streams
}

/// The names that are observed.
fn observed<'t>(tree: &'t Tree, declarations: &Declarations<'_>, findings: &mut Findings) -> Vec<&'t str> {
    let mut observed = Vec::new();
    for declaration in &tree.declarations {
        let DeclarationKind::Observe { names } = &declaration.kind else { continue };
        for name in names {
            let known = || declarations.streams.iter().map(|stream| stream.name.name.as_str());
            if !known().any(|stream| stream == name.name) {
                let near = tw_core::suggest(&name.name, known());
                let found =
                    Diagnostic::error("unknown-stream", format!("there is no stream `{}`", name.name));
                findings.add(found.at(name.span, "observed here").help(match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "streams are declared with `stream y: bool = …;`".to_owned(),
                }));
            }
            observed.push(name.name.as_str());
        }
    }
    observed
}

/// The slot of a key, which is read whether or not an equation has it.
fn key_slot(program: &mut Program, path: &Path, span: Span) {
    let what = What::Variable(path.clone(), Expect::Any);
    if !program.slots.iter().any(|slot| slot.what == what) {
        program.slots.push(Slot { what, declared: false, span });
    }
}

/// `first` and `last` in terms that are not of equations: they have no value there.
pub(super) fn ends_in_terms(program: &Program, findings: &mut Findings) {
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    // Of each node, the end that stands below it.
    let mut ends: Vec<Option<NodeId>> = vec![None; program.dag.len()];
    for id in program.reachable(&roots) {
        let node = program.dag.node(id);
        let below = node.children().find_map(|child| ends[child.index()]);
        if let (Node::IfThenElse(..), Some(end)) = (node, below) {
            let found = Diagnostic::error(
                "temporal-in-term",
                "a formula inside a term may only read the current position",
            );
            let span = program.spans[end.index()].or(program.spans[id.index()]).unwrap_or_default();
            let help = "take it out of the term: `(φ & x > 1) | (!φ & x > 2)`, or define a stream";
            findings.add(found.at(span, "this needs more than the current position").help(help));
            return;
        }
        ends[id.index()] = if matches!(node, Node::First | Node::Last) { Some(id) } else { below };
    }
}
